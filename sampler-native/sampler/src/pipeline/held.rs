//! Frames that say who holds the lock that a task is blocked on.
//!
//! The holder may change while the task sleeps and its stack stays the same. So a task that has such a frame is copied at each pass, and
//! its holder is read again; tasks that are too many for that have no such frame.

use flametop_runtimes::{Holder, Wait};

/// Most tasks in so long a time, ns, that have such frames: a pass has one of each, and most passes are further apart.
const MOST: usize = 64;
const TIME: u64 = 40_000_000;

/// How many holders are shown.
#[derive(Default)]
pub struct Held {
    since: u64,
    shown: usize,
}

impl Held {
    /// Returns whether one more holder may be shown, of a task that a pass saw at this time, ns.
    pub fn may_show(&mut self, seen: u64) -> bool {
        if seen >= self.since.saturating_add(TIME) {
            (self.since, self.shown) = (seen, 0);
        }
        self.shown += 1;
        self.shown <= MOST
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
        let at = |held: &mut Held, time| (0..MOST + 9).filter(|_| held.may_show(time)).count();
        assert_eq!(at(&mut held, 7 * TIME), MOST);
        assert_eq!(at(&mut held, 8 * TIME - 1), 0);
        assert_eq!(at(&mut held, 8 * TIME), MOST);
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
