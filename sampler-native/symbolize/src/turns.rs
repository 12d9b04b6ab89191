//! Whose question is put next, where files of several users wait: first by user, then by file, that which has taken the least time
//! lately. So files that are made to take long hold up those of their own user at most, and a large file none but itself.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A user has one part of so many of the time, beyond the time that is saved up. So has a file.
const SHARE: u32 = 8;
/// Time of that share that a user may be ahead by, times two; who is further has to wait, so that nobody keeps a CPU busy for ever.
/// Files that took long leave the second half of that time to the user's other files.
const AHEAD: Duration = Duration::from_secs(60);
/// A file took long if that file is further ahead.
const FILE_AHEAD: Duration = Duration::from_secs(2);
/// Users or files that are known before those are forgotten that have nothing to wait for.
const KEPT: usize = 1024;

/// The time that users and their files have taken.
#[derive(Debug, Default)]
pub struct Turns {
    users: Used,
    files: Used,
}

impl Turns {
    /// The order of a user's file: the earliest comes first.
    pub fn order(&self, user: u32, file: u32, now: Instant) -> (Instant, Instant) {
        (self.users.until(user, now), self.files.until(file, now))
    }

    /// How long a user's file has to wait still.
    pub fn wait(&self, user: u32, file: u32, now: Instant) -> Duration {
        let took_long = self.files.ahead(file, now) > FILE_AHEAD;
        let may = if took_long { AHEAD } else { 2 * AHEAD };
        self.users.ahead(user, now).saturating_sub(may)
    }

    /// A file of the user took so long.
    pub fn charge(&mut self, user: u32, file: u32, took: Duration, now: Instant) {
        self.users.charge(user, took, now);
        self.files.charge(file, took, now);
    }
}

/// Until when the share of each is used up.
#[derive(Debug, Default)]
struct Used(HashMap<u32, Instant>);

impl Used {
    fn until(&self, whose: u32, now: Instant) -> Instant {
        self.0.get(&whose).map_or(now, |used| (*used).max(now))
    }

    fn ahead(&self, whose: u32, now: Instant) -> Duration {
        self.until(whose, now) - now
    }

    fn charge(&mut self, whose: u32, took: Duration, now: Instant) {
        if self.0.len() >= KEPT && !self.0.contains_key(&whose) {
            self.0.retain(|_, used| *used > now);
        }
        let used = self.until(whose, now) + took * SHARE;
        self.0.insert(whose, used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_the_time_that_users_took_lately() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        turns.charge(1, 10, Duration::from_secs(1), now);
        turns.charge(2, 20, Duration::from_millis(10), now);
        assert!(turns.order(3, 30, now) < turns.order(2, 21, now));
        assert!(turns.order(2, 21, now) < turns.order(1, 11, now));
        let later = now + Duration::from_secs(8);
        assert_eq!(turns.order(1, 10, later), turns.order(3, 30, later));
    }

    #[test]
    fn order_of_one_users_files_is_by_the_time_that_each_took_lately() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        turns.charge(1, 10, Duration::from_secs(1), now);
        turns.charge(1, 11, Duration::from_millis(10), now);
        assert!(turns.order(1, 12, now) < turns.order(1, 11, now));
        assert!(turns.order(1, 11, now) < turns.order(1, 10, now));
    }

    #[test]
    fn wait_is_for_who_takes_all_the_time_there_is() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        for _ in 0..7 {
            turns.charge(1, 10, Duration::from_secs(1), now);
            assert_eq!(turns.wait(1, 10, now), Duration::ZERO);
        }
        turns.charge(1, 10, Duration::from_secs(2), now);
        assert_eq!(turns.wait(1, 10, now), Duration::from_secs(12));
        assert_eq!(turns.wait(2, 20, now), Duration::ZERO);
        let later = now + Duration::from_secs(12);
        assert_eq!(turns.wait(1, 10, later), Duration::ZERO);
    }

    #[test]
    fn wait_of_a_file_that_took_little_is_none_until_the_second_half_is_used_too() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        turns.charge(1, 10, Duration::from_secs(9), now);
        assert_eq!(turns.wait(1, 11, now), Duration::ZERO);
        for file in 100..300 {
            turns.charge(1, file, Duration::from_millis(40), now);
        }
        assert_eq!(turns.wait(1, 11, now), Duration::from_secs(16));
        assert_eq!(turns.wait(2, 20, now), Duration::ZERO);
    }
}
