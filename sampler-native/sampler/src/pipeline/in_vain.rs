//! Samples that waited for an answer of the prober and were placed without it.

use std::{collections::VecDeque, mem};

/// A prober that was lost is replaced within this time, ns.
const LONGEST_LOSS: u64 = 20_000_000_000;
/// Most tasks that are shown again then.
const MOST: usize = 4096;

/// The tasks of these samples. A task that sleeps is shown once: one that was shown while the prober was lost is shown again to the
/// prober's successor.
#[derive(Default)]
pub struct InVain {
    /// When a sample was placed, and what shows its task again: the thread, and a place of its stack.
    tasks: VecDeque<(u64, (u32, u64))>,
    /// See [`Prober::started`](crate::prober::Prober::started).
    probers: u64,
}

impl InVain {
    /// Adds a task.
    pub fn add(&mut self, now: u64, shown_by: (u32, u64)) {
        self.tasks.push_back((now, shown_by));
    }

    /// The tasks to show again, if another prober has started since. `started`: probers that have started.
    pub fn again(&mut self, now: u64, started: u64) -> Vec<(u32, u64)> {
        let old = now.saturating_sub(LONGEST_LOSS);
        while let Some((time, _)) = self.tasks.front()
            && (*time < old || self.tasks.len() > MOST)
        {
            self.tasks.pop_front();
        }
        if started <= mem::replace(&mut self.probers, started) {
            return Vec::new();
        }
        self.tasks.drain(..).map(|(_, shown_by)| shown_by).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn again_after_another_prober_has_started_is_each_task_once_and_no_old_one() {
        let mut in_vain = InVain::default();
        assert_eq!(in_vain.again(1, 1), []);
        in_vain.add(1, (7, 70));
        in_vain.add(LONGEST_LOSS + 5, (8, 80));
        assert_eq!(in_vain.again(LONGEST_LOSS + 5, 1), [], "the same prober");
        assert_eq!(in_vain.again(LONGEST_LOSS + 5, 2), [(8, 80)]);
        assert_eq!(in_vain.again(LONGEST_LOSS + 6, 3), []);
        for task in 0..2 * MOST as u32 {
            in_vain.add(LONGEST_LOSS + 7, (task, 0));
        }
        assert_eq!(in_vain.again(LONGEST_LOSS + 8, 4).len(), MOST);
    }
}
