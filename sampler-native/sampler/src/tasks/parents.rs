//! Who started which process: remembered from the fork on, since nothing says it once the parent has ended.

use std::collections::HashMap;

use flametop_kernel::record::Head;

use super::MEMORY;
use crate::identity::ProcessKey;

/// Parents that ended unseen are passed over up to so many at once.
const MOST_UNSEEN: usize = 32;

#[derive(Debug)]
struct Birth {
    start: u64,
    parent: u32,
    /// When that was told, ns.
    time: u64,
}

/// The parents of processes that live, or ended a moment ago.
#[derive(Default)]
pub(super) struct Parents {
    births: HashMap<u32, Birth>,
    /// Children by the number of a parent that was not told of yet.
    waiting: HashMap<u32, Vec<ProcessKey>>,
}

impl Parents {
    /// A process was forked.
    pub fn forked(&mut self, key: ProcessKey, head: &Head) {
        let birth = Birth {
            start: key.start(),
            parent: head.parent,
            time: head.ktime,
        };
        self.births.insert(key.tgid(), birth);
    }

    /// A process was seen with a parent; what its fork said counts, if that is known.
    pub fn seen(&mut self, key: ProcessKey, head: &Head) {
        let known = self.births.get(&key.tgid());
        if known.is_none_or(|birth| birth.start != key.start()) {
            self.forked(key, head);
        }
    }

    /// The nearest process above this one that was told of, by the last images of all; if there is none yet, the process waits.
    pub fn nearest(
        &mut self,
        key: &ProcessKey,
        last: &HashMap<u32, ProcessKey>,
    ) -> Option<ProcessKey> {
        let (mut tgid, mut start) = (key.tgid(), key.start());
        for _ in 0..MOST_UNSEEN {
            let birth = self.births.get(&tgid).filter(|b| b.start == start);
            let parent = birth?.parent;
            if parent == 0 {
                return None;
            }
            // A process that began later has the number of the parent, not the parent.
            if let Some(told) = last.get(&parent).filter(|told| told.start() <= start) {
                return Some(*told);
            }
            let Some(above) = self.births.get(&parent).filter(|b| b.start <= start) else {
                self.waiting.entry(parent).or_default().push(*key);
                return None;
            };
            (tgid, start) = (parent, above.start);
        }
        None
    }

    /// Takes the processes that waited for this one.
    pub fn take_waiting(&mut self, key: &ProcessKey) -> Vec<ProcessKey> {
        self.waiting.remove(&key.tgid()).unwrap_or_default()
    }

    /// Forgets processes that are not among the last images of all, unless they began a moment ago.
    pub fn forget(&mut self, now: u64, last: &HashMap<u32, ProcessKey>) {
        self.births.retain(|tgid, birth| {
            last.get(tgid).is_some_and(|k| k.start() == birth.start) || birth.time + MEMORY > now
        });
        self.waiting.retain(|_, children| {
            children.retain(|child| last.get(&child.tgid()) == Some(child));
            !children.is_empty()
        });
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.births.len() + self.waiting.len()
    }
}
