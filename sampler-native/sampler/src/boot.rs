//! From boot time, in which the kernel says when tasks began, to monotonic time, which all other times are in. The two move apart
//! while the machine is suspended.

use crate::os;

/// Two differences that are less than this apart are two readings of one, ns.
const JITTER: u64 = 50_000_000;

/// The two clocks side by side, since sampling began.
#[derive(Clone, Debug, Default)]
pub struct BootClock {
    /// The differences of boot time and monotonic time, each behind the boot time from which on it holds; in the order of time, ns.
    offsets: Vec<(u64, u64)>,
}

impl BootClock {
    /// Both clocks as they are now.
    pub fn now() -> BootClock {
        let mut clock = BootClock::default();
        clock.look();
        clock
    }

    /// Looks at both clocks; to be called now and then. Returns for how long the machine was suspended since the last look, ns.
    pub fn look(&mut self) -> Option<u64> {
        // If the three readings are far apart, the next look may be better.
        let (before, boot, after) = (os::monotonic(), os::boottime(), os::monotonic());
        match after - before < JITTER / 2 || self.offsets.is_empty() {
            true => self.read(boot, before),
            false => None,
        }
    }

    fn read(&mut self, boot: u64, monotonic: u64) -> Option<u64> {
        let offset = boot.saturating_sub(monotonic);
        let Some((_, last)) = self.offsets.last() else {
            self.offsets.push((0, offset));
            return None;
        };
        let suspended = offset.checked_sub(*last).filter(|ns| *ns > JITTER)?;
        self.offsets.push((boot, offset));
        Some(suspended)
    }

    /// Boot time − monotonic time now, ns.
    pub fn offset(&self) -> u64 {
        self.offsets.last().map_or(0, |(_, offset)| *offset)
    }

    /// The monotonic time of a boot time that was not later than `seen`, which is monotonic.
    pub fn monotonic(&self, boot: u64, seen: u64) -> u64 {
        let held = self.offsets.iter().rfind(|(from, _)| *from <= boot);
        let offset = held.map_or(0, |(_, offset)| *offset);
        // Just after a suspension that no look has found yet, the time would lie ahead.
        boot.saturating_sub(offset).min(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_suspension_is_told_once_and_parts_the_tasks_of_before_and_after() {
        let mut clock = BootClock::default();
        assert_eq!(clock.read(110 * SECOND, 100 * SECOND), None);
        assert_eq!(clock.read(120 * SECOND + 1000, 110 * SECOND), None);
        assert_eq!(clock.read(190 * SECOND, 120 * SECOND), Some(60 * SECOND));
        assert_eq!(clock.read(191 * SECOND, 121 * SECOND), None);
        assert_eq!(clock.offset(), 70 * SECOND);
        let far = u64::MAX;
        assert_eq!(clock.monotonic(50 * SECOND, far), 40 * SECOND);
        assert_eq!(clock.monotonic(125 * SECOND, far), 115 * SECOND);
        assert_eq!(clock.monotonic(190 * SECOND, far), 120 * SECOND);
    }

    #[test]
    fn a_task_that_began_before_the_suspension_was_found_begins_no_later_than_it_was_seen() {
        let mut clock = BootClock::default();
        clock.read(110 * SECOND, 100 * SECOND);
        assert_eq!(clock.monotonic(180 * SECOND, 111 * SECOND), 111 * SECOND);
    }
}
