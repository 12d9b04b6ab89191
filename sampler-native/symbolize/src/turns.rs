//! Whose question is put next, where files of several users wait: that of the user whose files have taken the least time lately. So
//! files that are made to take long hold up those of their own user, and no others.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A user has one part of so many of the time, beyond what is saved up.
const SHARE: u32 = 8;
/// Time of that share that a user may be ahead by; who is further has to wait, so that nobody keeps a CPU busy for ever.
const AHEAD: Duration = Duration::from_secs(60);
/// Users that are known before those are forgotten that have nothing to wait for.
const USERS_KEPT: usize = 1024;

/// What users' files have taken.
#[derive(Debug, Default)]
pub struct Turns {
    /// Until then a user's share is used up.
    used: HashMap<u32, Instant>,
}

impl Turns {
    /// The order of a user: the earliest comes first.
    pub fn order(&self, user: u32, now: Instant) -> Instant {
        self.used.get(&user).map_or(now, |used| (*used).max(now))
    }

    /// How long a user has to wait still.
    pub fn wait(&self, user: u32, now: Instant) -> Duration {
        let ahead = self.order(user, now) - now;
        ahead.saturating_sub(AHEAD)
    }

    /// A file of the user took so long.
    pub fn charge(&mut self, user: u32, took: Duration, now: Instant) {
        if self.used.len() >= USERS_KEPT && !self.used.contains_key(&user) {
            self.used.retain(|_, used| *used > now);
        }
        let used = self.order(user, now) + took * SHARE;
        self.used.insert(user, used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_what_was_taken_lately() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        turns.charge(1, Duration::from_secs(1), now);
        turns.charge(2, Duration::from_millis(10), now);
        assert!(turns.order(3, now) < turns.order(2, now));
        assert!(turns.order(2, now) < turns.order(1, now));
        let later = now + Duration::from_secs(8);
        assert_eq!(turns.order(1, later), turns.order(3, later));
    }

    #[test]
    fn wait_is_for_who_takes_all_the_time_there_is() {
        let (mut turns, now) = (Turns::default(), Instant::now());
        for _ in 0..7 {
            turns.charge(1, Duration::from_secs(1), now);
            assert_eq!(turns.wait(1, now), Duration::ZERO);
        }
        turns.charge(1, Duration::from_secs(2), now);
        assert_eq!(turns.wait(1, now), Duration::from_secs(12));
        assert_eq!(turns.wait(2, now), Duration::ZERO);
        assert_eq!(turns.wait(1, now + Duration::from_secs(12)), Duration::ZERO);
    }
}
