//! JVMs: processes that may be one are looked at by the prober, and a JVM is asked to write a map of its compiled code.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicBool, mpsc::Sender},
    thread,
    time::{Duration, Instant},
};

use super::{Question, subject::Subject};
use crate::{
    attach,
    prober::{Jvm, Prober},
};

/// A JVM is asked for another map after this time.
const ASKING: Duration = Duration::from_secs(10);
/// A process is asked again after this time if it refused, and forgotten if it is gone.
pub const REFUSED: Duration = Duration::from_secs(60);
/// Most JVMs that are asked at a time, and most of one user: JVMs that do not answer hold up no other user's.
const MOST_ASKED: usize = 64;
const MOST_OF_USER: usize = 8;

/// The questions to JVMs.
pub struct Jvms {
    /// Whether JVMs are asked at all.
    pub wanted: bool,
    prober: Arc<Prober>,
    /// The user of each process that the prober looks at now, or that is asked as a JVM.
    asked: HashMap<u32, u32>,
    /// Threads that ask JVMs.
    threads: usize,
    own: Sender<Question>,
    stop: Arc<AtomicBool>,
}

impl Jvms {
    /// None asked yet. The answer of a JVM goes to `own`.
    pub fn new(
        prober: Arc<Prober>,
        wanted: bool,
        own: Sender<Question>,
        stop: Arc<AtomicBool>,
    ) -> Jvms {
        Jvms {
            wanted,
            prober,
            asked: HashMap::new(),
            threads: 0,
            own,
            stop,
        }
    }

    /// Has the prober look at processes that may be JVMs and are to write maps.
    pub fn look(&mut self, processes: &mut HashMap<u32, Subject>, now: Instant) {
        if !self.wanted {
            return;
        }
        for (tgid, subject) in processes {
            let due = subject.jvm != Some(false)
                && !subject.gone
                && subject.start != 0
                && subject.wants_map
                && subject.ask_due <= now
                && !self.asked.contains_key(tgid);
            let of_user = self.asked.values().filter(|user| **user == subject.user);
            if !due || of_user.count() >= MOST_OF_USER || self.asked.len() >= MOST_ASKED {
                continue;
            }
            if self.prober.ask_jvm(*tgid, subject.start, subject.user) {
                subject.wants_map = false;
                subject.ask_due = now + REFUSED;
                self.asked.insert(*tgid, subject.user);
            }
        }
    }

    /// Asks a JVM, which the prober has looked at, for a map. None: the process is no JVM.
    pub fn ask(&mut self, tgid: u32, jvm: Option<Box<Jvm>>) {
        let Some(jvm) = jvm else {
            return self.forget(tgid);
        };
        let (own, stop) = (self.own.clone(), Arc::clone(&self.stop));
        // A thread of its own, since it takes on the JVM's user.
        let thread = thread::Builder::new()
            .name("flametop-attach".to_owned())
            .spawn(move || {
                let result = attach::write_map(tgid, &jvm, &stop);
                let _ = own.send(Question::Mapped(tgid, result));
            });
        match thread {
            Ok(_) => self.threads += 1,
            Err(_) => self.forget(tgid),
        }
    }

    /// One of the threads has ended.
    pub fn answered(&mut self) {
        self.threads -= 1;
    }

    /// Whether threads ask JVMs now.
    pub fn are_asked(&self) -> bool {
        self.threads > 0
    }

    /// The question to this process is over.
    pub fn forget(&mut self, tgid: u32) {
        self.asked.remove(&tgid);
    }
}

/// A process is not asked again for so long, after its answer.
pub fn pause(written: bool) -> Duration {
    if written { ASKING } else { REFUSED }
}
