//! Frames that say who holds the lock that a task is blocked on.
//!
//! The holder may change while the task sleeps and its stack stays the same. So a task that has such a frame is copied at each pass, and
//! its holder is read again; tasks that are too many for that have no such frame.

use std::collections::{BTreeMap, HashSet};

use flametop_runtimes::{Holder, Wait};

/// Most tasks of a pass that have such frames.
const MOST: usize = 64;
/// Passes whose samples may wait still: those of older passes have no such frames.
const PASSES: usize = 16;

/// Which tasks have such frames.
#[derive(Default)]
pub struct Held {
    /// The threads, by the number of the pass that saw them.
    shown: BTreeMap<u64, HashSet<u32>>,
}

impl Held {
    /// Returns whether a thread that this pass saw may have such a frame; if so, it may at each later walk of the sample too.
    pub fn may_show(&mut self, pass: u64, thread: u32) -> bool {
        let threads = self.shown.entry(pass).or_default();
        let may = threads.contains(&thread) || threads.len() < MOST;
        if may {
            threads.insert(thread);
        }
        if self.shown.len() > PASSES {
            let oldest = self.shown.pop_first();
            return may && oldest.is_none_or(|(oldest, _)| oldest != pass);
        }
        may
    }
}

/// The text of the frame that names the holder of a monitor.
pub fn label(holder: &Holder) -> Vec<u8> {
    let mut label = b"[monitor held by ".to_vec();
    label.extend(&holder.name);
    label.extend(format!(" {}]", holder.number).bytes());
    label
}

/// The texts of the frames that say that a thread waits for the lock of Python's interpreter, and who holds the lock; the innermost last. A
/// waiting thread wakes every some ms, so the holder is of this pass.
pub fn labels_of_wait(wait: Wait) -> impl Iterator<Item = Vec<u8>> {
    let holder = |number| format!("[GIL held by {number}]").into_bytes();
    [b"[waits for the GIL]".to_vec()]
        .into_iter()
        .chain(wait.holder.map(holder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn may_show_more_than_a_pass_can_copy_again_is_false_until_the_next_pass() {
        let mut held = Held::default();
        let all = 1..=MOST as u32 + 9;
        for pass in [7, 8] {
            let may = all.clone().filter(|thread| held.may_show(pass, *thread));
            assert_eq!(may.count(), MOST);
        }
    }

    #[test]
    fn may_show_sample_that_is_walked_again_counts_once_and_is_as_before() {
        let mut held = Held::default();
        let all = 1..=MOST as u32 + 9;
        let may = |held: &mut Held, pass| -> Vec<u32> {
            let threads = all.clone();
            threads
                .filter(|thread| held.may_show(pass, *thread))
                .collect()
        };
        let first = may(&mut held, 7);
        assert!(held.may_show(8, 1), "a later pass");
        assert_eq!(may(&mut held, 7), first);
        assert_eq!(may(&mut held, 8).len(), MOST);
    }

    #[test]
    fn may_show_sample_of_a_pass_long_ago_is_false_and_harms_no_later_one() {
        let mut held = Held::default();
        for pass in 1..=PASSES as u64 + 1 {
            assert!(held.may_show(pass, 5));
        }
        assert!(!held.may_show(1, 5));
        assert!(held.may_show(2, 5) && held.may_show(2, 6));
        assert_eq!(held.shown.len(), PASSES);
    }

    #[test]
    fn label_has_name_and_number() {
        let holder = Holder {
            number: 12,
            name: (*b"worker-3").into(),
        };
        assert_eq!(label(&holder), b"[monitor held by worker-3 12]");
    }
}
