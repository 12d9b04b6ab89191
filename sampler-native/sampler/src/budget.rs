//! The work that may be done for a process, and for all processes of a user: so many units a second, which are saved up for some
//! seconds; debts are forgiven after the same time. So no process and no user takes work away from others.

use std::collections::HashMap;

/// Unused units are saved up for so long, and a debt is forgiven after it, ns.
const SAVED: u64 = 2_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// With more users than these, those who owe nothing are forgotten.
const USERS_KEPT: usize = 1024;

/// The units that a process or user has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Purse {
    /// The units up to this moment are used, ns.
    used: u64,
}

impl Purse {
    fn left(self, now: u64, rate: u64) -> u64 {
        let nanos = now.saturating_sub(self.used).min(SAVED);
        (u128::from(nanos) * u128::from(rate) / u128::from(SECOND)) as u64
    }

    fn spend(&mut self, now: u64, rate: u64, units: u64) {
        let nanos = u128::from(units) * u128::from(SECOND) / u128::from(rate);
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        let used = self.used.max(now.saturating_sub(SAVED));
        self.used = used.saturating_add(nanos).min(now + SAVED);
    }
}

/// The rates of one kind of work, and the units that users have used.
#[derive(Debug)]
pub struct Budget {
    of_process: u64,
    of_user: u64,
    users: HashMap<u32, Purse>,
}

impl Budget {
    /// Units a second, of one process and of all of a user.
    pub fn new(of_process: u64, of_user: u64) -> Budget {
        Budget {
            of_process,
            of_user,
            users: HashMap::new(),
        }
    }

    /// The units that are left for a process of that user.
    pub fn left(&self, process: Purse, user: u32, now: u64) -> u64 {
        let of_user = self.users.get(&user).copied().unwrap_or_default();
        let of_user = of_user.left(now, self.of_user);
        process.left(now, self.of_process).min(of_user)
    }

    /// Notes units of work that was done for a process of that user.
    pub fn spend(&mut self, process: &mut Purse, user: u32, now: u64, units: u64) {
        if units == 0 {
            return;
        }
        process.spend(now, self.of_process, units);
        if self.users.len() >= USERS_KEPT && !self.users.contains_key(&user) {
            self.users.retain(|_, purse| purse.used + SAVED > now);
        }
        let of_user = self.users.entry(user).or_default();
        of_user.spend(now, self.of_user, units);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 100 * SECOND;

    #[test]
    fn left_what_was_saved_up_is_used_and_comes_back_with_time() {
        let mut budget = Budget::new(1000, 4000);
        let mut process = Purse::default();
        assert_eq!(budget.left(process, 1, NOW), 2000);
        budget.spend(&mut process, 1, NOW, 2000);
        assert_eq!(budget.left(process, 1, NOW), 0);
        assert_eq!(budget.left(process, 1, NOW + SECOND / 10), 100);
        assert_eq!(budget.left(Purse::default(), 1, NOW), 2000, "another one");
    }

    #[test]
    fn spend_far_more_than_there_is_is_forgiven_after_a_while() {
        let mut budget = Budget::new(1000, 4000);
        let mut process = Purse::default();
        budget.spend(&mut process, 1, NOW, u64::MAX);
        assert_eq!(budget.left(process, 1, NOW + SAVED), 0);
        assert_eq!(budget.left(process, 1, NOW + SAVED + SECOND), 1000);
    }

    #[test]
    fn left_many_processes_of_one_user_share_and_another_user_has_all() {
        let mut budget = Budget::new(1000, 4000);
        for _ in 0..10 {
            let mut process = Purse::default();
            let left = budget.left(process, 1, NOW);
            budget.spend(&mut process, 1, NOW, left);
        }
        assert_eq!(budget.left(Purse::default(), 1, NOW), 0);
        assert_eq!(budget.left(Purse::default(), 2, NOW), 2000);
    }

    #[test]
    fn spend_little_very_often_is_not_lost() {
        let mut budget = Budget::new(SECOND / 1000, SECOND);
        let mut process = Purse::default();
        for step in 0..3_000_000 {
            budget.spend(&mut process, 1, NOW + step * 500, 1);
        }
        assert_eq!(budget.left(process, 1, NOW + 1_500_000_000), 500_000);
    }
}
