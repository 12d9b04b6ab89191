//! Code that runtimes made: what walks lack of it is asked for, and told to those that come after.

use std::{collections::HashMap, mem, sync::Arc};

use flametop_kernel::record::Head;
use flametop_runtimes::{Attached, Found, Lack, Names};

use crate::{
    budget::Budget,
    identity::ProcessKey,
    os,
    prober::{Prober, What, Whom},
    tasks::{Process, Tasks},
    waiting::Awaited,
};

/// Pieces of code a second that are read of a process, some 20 µs of the prober's work each; and of all processes of a user.
const LOOKS: u64 = 4_000;
const LOOKS_OF_USER: u64 = 8_000;
/// So many of them a question for holders of locks costs: all threads are looked at, once for all that are blocked.
const HOLDERS: u64 = 100;

/// Asks for code, and has the names of functions in it.
pub struct Codes {
    /// Names of functions, of all processes.
    pub names: Names,
    prober: Arc<Prober>,
    looks: Budget,
    /// Processes of which holders are to be asked for, and their runtimes.
    gathered: HashMap<ProcessKey, (Whom, Attached)>,
}

impl Codes {
    /// Nothing known yet. `prober`: reads the code.
    pub fn new(prober: Arc<Prober>) -> Codes {
        Codes {
            names: Names::default(),
            prober,
            looks: Budget::new(LOOKS, LOOKS_OF_USER),
            gathered: HashMap::new(),
        }
    }

    /// Asks for what the last walk of this process lacked, and for what is to be read again; of holders it takes note. Returns the kind of
    /// answer that may make the walk better.
    pub fn ask(
        &mut self,
        head: &Head,
        process: &mut Process,
        attached: &Attached,
    ) -> Option<Awaited> {
        if !process.code.wants() {
            return None;
        }
        let whom = Whom::of(head);
        if self.looks.left(process.looks, whom.uid, os::monotonic()) > 0 {
            let asks = process.code.take_asks();
            if !asks.is_empty() {
                let cost = asks.len() as u64;
                self.send(whom, process, attached.clone(), asks, cost);
            }
        }
        let holder = process.code.is_holder_awaited();
        if holder {
            let runtime = || (whom, attached.clone());
            self.gathered.entry(whom.key).or_insert_with(runtime);
        }
        match process.code.is_awaited() {
            true => Some(Awaited::Code),
            false => holder.then_some(Awaited::Holder),
        }
    }

    /// Asks for the holders of which note was taken, for all of a process at once. Returns the processes of which none will come.
    pub fn ask_holders(&mut self, tasks: &mut Tasks) -> Vec<ProcessKey> {
        let mut refused = Vec::new();
        for (key, (whom, attached)) in mem::take(&mut self.gathered) {
            let Some(process) = tasks.process(key) else {
                refused.push(key);
                continue;
            };
            let mut asks = process.code.take_holders();
            while !asks.is_empty() {
                if !self.send(whom, process, attached.clone(), asks, HOLDERS) {
                    refused.push(key);
                }
                asks = process.code.take_holders();
            }
        }
        refused
    }

    /// Returns false if nobody will answer.
    fn send(
        &mut self,
        whom: Whom,
        process: &mut Process,
        attached: Attached,
        asks: Vec<Lack>,
        cost: u64,
    ) -> bool {
        let now = os::monotonic();
        let looks = &mut process.looks;
        self.looks.spend(looks, whom.uid, now, cost);
        let what = What::Code(Box::new(attached), asks.clone());
        let sent = self.prober.ask(whom, what);
        if !sent {
            process.code.come(&asks, None, &mut self.names, now);
        }
        sent
    }

    /// Takes what was read of a process; none: it could not be read.
    pub fn come(&mut self, process: &mut Process, asks: &[Lack], found: Option<Vec<Found>>) {
        let now = os::monotonic();
        process.code.come(asks, found, &mut self.names, now);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flametop_stream::Encoder;

    use super::*;
    use crate::{boot::BootClock, cgroups::Cgroups, tasks::tests::head};

    /// Threads that are blocked, of one process.
    struct Threads {
        codes: Codes,
        tasks: Tasks,
        heads: Vec<Head>,
    }

    impl Threads {
        fn new() -> Threads {
            let prober = Prober::new(Path::new("/nonexistent")).expect("a prober");
            Threads {
                codes: Codes::new(Arc::new(prober)),
                tasks: Tasks::new(0, BootClock::default(), Cgroups::default()),
                heads: (100..140).map(|tid| head(tid, 60)).collect(),
            }
        }

        /// What a walk of each thread is to wait for.
        fn walk(&mut self) -> Vec<Option<Awaited>> {
            let attached = Attached::HotSpot(Box::default());
            let mut out = Encoder::new();
            let walk = |head: &Head| {
                self.tasks.see(head, 1, &mut out);
                let process = self.tasks.process(ProcessKey::of(head)).expect("seen");
                process.code.begin(os::monotonic());
                process.code.holder(head.tid, head.nvcsw, head.ktime);
                self.codes.ask(head, process, &attached)
            };
            self.heads.iter().map(walk).collect()
        }

        fn gathered(&mut self) -> usize {
            let process = self.tasks.process(ProcessKey::of(&self.heads[0]));
            process.expect("seen").code.take_holders().len()
        }
    }

    #[test]
    fn ask_holders_of_many_threads_are_gathered_until_they_are_asked_for_together() {
        let mut threads = Threads::new();
        let all = vec![Some(Awaited::Holder); threads.heads.len()];
        assert_eq!(threads.walk(), all);
        assert!(threads.codes.ask_holders(&mut threads.tasks).is_empty());
        assert_eq!(threads.walk(), all, "on their way");
        assert_eq!(threads.gathered(), 0);
        for head in &mut threads.heads {
            head.nvcsw += 1;
        }
        assert_eq!(threads.walk(), all);
        assert_eq!(threads.gathered(), threads.heads.len());
    }

    #[test]
    fn ask_holders_refused_no_walk_waits_for_them() {
        let mut threads = Threads::new();
        let whom = Whom::of(&threads.heads[0]);
        while threads.codes.prober.ask(whom, What::CommandLine) {}
        threads.walk();
        assert_eq!(threads.codes.ask_holders(&mut threads.tasks), [whom.key]);
        assert_eq!(threads.walk(), vec![None; threads.heads.len()]);
    }

    #[test]
    fn ask_holders_of_a_process_that_is_gone_are_refused() {
        let mut threads = Threads::new();
        threads.walk();
        let mut others = Threads::new().tasks;
        let key = ProcessKey::of(&threads.heads[0]);
        assert_eq!(threads.codes.ask_holders(&mut others), [key]);
    }

    #[test]
    fn ask_more_holders_than_the_budget_has_no_walk_waits_for_them() {
        let mut threads = Threads::new();
        // Each is answered; all together are many times those of the seconds that are saved up.
        let waited = (0..10 * LOOKS / HOLDERS).map(|_| {
            let waits = threads.walk()[0].is_some();
            threads.codes.ask_holders(&mut threads.tasks);
            let heads = threads.heads.iter_mut();
            let asks = heads.map(|head| {
                head.nvcsw += 1;
                Lack::Holder(head.tid, 0, head.nvcsw - 1)
            });
            let asks: Vec<Lack> = asks.collect();
            let process = threads.tasks.process(ProcessKey::of(&threads.heads[0]));
            let process = process.expect("seen");
            threads.codes.come(process, &asks, Some(Vec::new()));
            waits
        });
        let waited: Vec<bool> = waited.collect();
        assert!(waited[0] && waited.contains(&false));
    }
}
