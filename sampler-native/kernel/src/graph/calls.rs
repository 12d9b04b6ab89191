//! From calls and returns of the kernel's functions to the time that each path of calls took by itself.

use std::collections::HashMap;

use super::pages::{Traced, What};

/// Paths that are told apart. A call on a further one is part of its caller.
const MOST_PATHS: usize = 1 << 16;
/// Threads whose calls may go on at a time: more than a machine has that runs no fork bomb.
const MOST_THREADS: usize = 1 << 17;
/// The tracer's address of a function lies so many bytes behind its start, at most.
const INTO_FUNCTION: u64 = 16;
/// The path that has no call.
const NO_PATH: u32 = u32::MAX;

/// What a thread spent in a function, called on one path, and not in what that called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The thread.
    pub tid: u32,
    /// Addresses of the functions, the innermost first.
    pub path: Vec<u64>,
    /// The time.
    pub nanos: u64,
    /// When it was seen last, by the clock of the ring.
    pub time: u64,
}

/// A call of one of the functions whose graphs are drawn, from its begin to its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The thread.
    pub tid: u32,
    /// How long it took.
    pub nanos: u64,
}

/// A path of calls: the function that was called last, and who called it.
#[derive(Debug)]
struct Path {
    caller: u32,
    function: u64,
}

/// A call that goes on.
#[derive(Debug)]
struct Open {
    path: u32,
    depth: u32,
    began: u64,
    /// Time of the calls within it.
    inner: u64,
}

/// The calls of all threads.
#[derive(Debug, Default)]
pub struct Calls {
    /// Where the functions begin whose graphs are drawn, sorted.
    roots: Vec<u64>,
    /// Calls within each other that are told apart; none: all.
    depth: Option<u32>,
    paths: Vec<Path>,
    known: HashMap<(u32, u64), u32>,
    open: HashMap<u32, Vec<Open>>,
    /// Time and last moment of a thread on a path.
    sums: HashMap<(u32, u32), (u64, u64)>,
    whole: Vec<Whole>,
    lost: u64,
}

impl Calls {
    /// No call was seen yet. `roots`: where the functions begin whose graphs are drawn.
    pub fn of(mut roots: Vec<u64>, depth: Option<u32>) -> Calls {
        roots.sort_unstable();
        Calls {
            roots,
            depth,
            ..Calls::default()
        }
    }

    /// Takes the next record; those of one thread in the order of time.
    pub fn take(&mut self, record: &Traced) {
        match record.what {
            // A thread of each CPU has this number: that which idles.
            _ if record.tid == 0 && !matches!(record.what, What::Missed(_)) => {}
            What::Begin => self.begin(record),
            What::End => self.end(record),
            What::Missed(count) => {
                self.lost += count;
                self.open.clear();
            }
        }
    }

    /// Calls whose begin or return was not told.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Time on each path since the last call.
    pub fn take_spent(&mut self) -> Vec<Spent> {
        let sums = std::mem::take(&mut self.sums);
        let spent = |((tid, path), (nanos, time))| Spent {
            tid,
            path: self.functions(path),
            nanos,
            time,
        };
        sums.into_iter().map(spent).collect()
    }

    /// Calls of the functions whose graphs are drawn that have returned since the last call.
    pub fn take_whole(&mut self) -> Vec<Whole> {
        std::mem::take(&mut self.whole)
    }

    fn functions(&self, mut path: u32) -> Vec<u64> {
        let mut functions = Vec::new();
        while let Some(known) = self.paths.get(path as usize) {
            functions.push(known.function);
            path = known.caller;
        }
        functions
    }

    fn is_root(&self, function: u64) -> bool {
        let behind = self.roots.partition_point(|root| *root <= function);
        behind > 0 && function - self.roots[behind - 1] < INTO_FUNCTION
    }

    /// The path of this function, called on that path; none: there are too many.
    fn path(&mut self, caller: u32, function: u64) -> Option<u32> {
        let next = self.paths.len();
        let known = self.known.get(&(caller, function)).copied();
        if known.is_some() || next >= MOST_PATHS {
            return known;
        }
        self.paths.push(Path { caller, function });
        self.known.insert((caller, function), next as u32);
        Some(next as u32)
    }

    fn begin(&mut self, record: &Traced) {
        // Calls at this depth or deeper are over, though nobody told.
        let open = self.open.get_mut(&record.tid);
        let (caller, depth) = open.map_or((NO_PATH, 0), |open| {
            while open.pop_if(|call| call.depth >= record.depth).is_some() {
                self.lost += 1;
            }
            (open.last().map_or(NO_PATH, |call| call.path), open.len())
        });
        if caller == NO_PATH && !self.is_root(record.function)
            || self.depth.is_some_and(|most| depth >= most as usize)
        {
            return;
        }
        let Some(path) = self.path(caller, record.function) else {
            return;
        };
        if self.open.len() >= MOST_THREADS {
            self.lost += self
                .open
                .values()
                .map(|open| open.len() as u64)
                .sum::<u64>();
            self.open.clear();
        }
        self.open.entry(record.tid).or_default().push(Open {
            path,
            depth: record.depth,
            began: record.time,
            inner: 0,
        });
    }

    fn end(&mut self, record: &Traced) {
        let Some(open) = self.open.get_mut(&record.tid) else {
            return;
        };
        while open.pop_if(|call| call.depth > record.depth).is_some() {
            self.lost += 1;
        }
        let paths = &self.paths;
        let is_this = |call: &mut Open| {
            let path = paths.get(call.path as usize);
            call.depth == record.depth && path.is_some_and(|path| path.function == record.function)
        };
        if let Some(call) = open.pop_if(is_this) {
            let nanos = record.time.saturating_sub(call.began);
            let own = nanos.saturating_sub(call.inner);
            let (sum, time) = self.sums.entry((record.tid, call.path)).or_default();
            *sum += own;
            *time = record.time;
            match open.last_mut() {
                Some(caller) => caller.inner += nanos,
                None => self.whole.push(Whole {
                    tid: record.tid,
                    nanos,
                }),
            }
        }
        if open.is_empty() {
            self.open.remove(&record.tid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::pages::tests, *};

    const ROOT: u64 = 0xffff_ffff_8100_0000;

    fn record(time: u64, tid: u32, number: u64, depth: u32, what: What) -> Traced {
        Traced {
            time,
            tid,
            function: ROOT + 64 * number + 4,
            depth,
            what,
        }
    }

    fn calls(depth: Option<u32>) -> Calls {
        Calls::of(vec![ROOT], depth)
    }

    /// Numbers of the functions on each path, the outermost first, and the time.
    fn spent(calls: &mut Calls) -> Vec<(u32, Vec<u64>, u64)> {
        let number = |address: &u64| (address - ROOT) / 64;
        let mut all: Vec<_> = calls
            .take_spent()
            .into_iter()
            .map(|s| (s.tid, s.path.iter().rev().map(number).collect(), s.nanos))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn each_path_has_the_time_that_its_last_function_took_by_itself() {
        let mut calls = calls(None);
        for (time, number, depth, what) in [
            (100, 5, 3, What::Begin), // of nobody's graph
            (101, 5, 3, What::End),
            (110, 0, 3, What::Begin),
            (120, 1, 4, What::Begin),
            (150, 1, 4, What::End),
            (160, 1, 4, What::Begin),
            (165, 2, 5, What::Begin),
            (167, 2, 5, What::End),
            (170, 1, 4, What::End),
            (210, 0, 3, What::End),
        ] {
            calls.take(&record(time, 7, number, depth, what));
        }
        let all = spent(&mut calls);
        assert_eq!(
            all,
            [
                (7, vec![0], 100 - 30 - 10),
                (7, vec![0, 1], 30 + 8),
                (7, vec![0, 1, 2], 2)
            ]
        );
        assert_eq!(calls.take_whole(), [Whole { tid: 7, nanos: 100 }]);
        assert_eq!((calls.lost(), calls.open.len()), (0, 0));
        assert!(spent(&mut calls).is_empty());
    }

    #[test]
    fn calls_beyond_the_depth_are_part_of_their_caller() {
        let mut calls = calls(Some(1));
        for (time, number, depth, what) in [
            (0, 0, 0, What::Begin),
            (10, 1, 1, What::Begin),
            (20, 1, 1, What::End),
            (50, 0, 0, What::End),
        ] {
            calls.take(&record(time, 7, number, depth, what));
        }
        assert_eq!(spent(&mut calls), [(7, vec![0], 50)]);
        assert_eq!(calls.lost(), 0);
    }

    #[test]
    fn what_was_not_told_is_counted_and_wrongs_no_other_call() {
        let mut calls = calls(None);
        for (time, number, depth, what) in [
            (0, 0, 0, What::Begin),
            (10, 1, 1, What::Begin), // whose return is not told
            (30, 0, 0, What::End),
            (40, 0, 0, What::Begin),
            (45, 0, 0, What::Missed(9)),
            (50, 0, 0, What::End),
            (60, 0, 0, What::Begin),
            (70, 0, 0, What::End),
        ] {
            calls.take(&record(time, 7, number, depth, what));
        }
        assert_eq!(spent(&mut calls), [(7, vec![0], 40)]);
        assert_eq!(calls.lost(), 10);
    }

    /// Threads that call each other's functions in any order: the times of all paths add up to those of the whole calls, and each page
    /// gives back what was written to it.
    #[test]
    fn times_add_up_to_those_of_whole_calls_whatever_is_called() {
        let mut seed = 0x2545_f491_4f6c_dd1du64;
        let mut random = move |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for _ in 0..200 {
            let mut records = Vec::new();
            let mut stacks: [Vec<u64>; 3] = Default::default();
            let mut time = random(1 << 40);
            for step in 0..300 {
                let bits = random(29);
                time += random(1 << bits) + 1;
                let thread = random(3) as usize;
                let stack = &mut stacks[thread];
                let tid = thread as u32 + 10;
                let returns = !stack.is_empty() && (step > 250 || random(2) == 0);
                if returns {
                    let number = stack.pop().expect("a call");
                    let depth = stack.len() as u32;
                    records.push(record(time, tid, number, depth, What::End));
                } else if step < 250 {
                    let number = if stack.is_empty() { 0 } else { random(4) };
                    let depth = stack.len() as u32;
                    stack.push(number);
                    records.push(record(time, tid, number, depth, What::Begin));
                }
            }
            for (thread, stack) in stacks.iter_mut().enumerate() {
                while let Some(number) = stack.pop() {
                    time += random(1000);
                    let depth = stack.len() as u32;
                    records.push(record(time, thread as u32 + 10, number, depth, What::End));
                }
            }
            let mut calls = calls(None);
            for part in records.chunks(60) {
                let page = tests::page(part);
                super::super::pages::read(&page, &tests::FORMAT, &mut |r| calls.take(&r))
                    .expect("a whole page");
            }
            let sum: u64 = calls.take_spent().iter().map(|spent| spent.nanos).sum();
            let whole = calls.take_whole();
            let of_whole: u64 = whole.iter().map(|whole| whole.nanos).sum();
            assert!(!whole.is_empty() && sum == of_whole, "{sum} of {of_whole}");
            assert_eq!((calls.lost(), calls.open.len()), (0, 0));
        }
    }
}
