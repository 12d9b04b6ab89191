//! How many stacks of a source are copied: R, which follows a budget.

use super::EventTotals;
use crate::abi;

/// What all sources together may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Stacks a second.
    pub stacks: f64,
    /// The share of one CPU; it is kept to where the kernel counts how long programs run.
    pub share: f64,
}

/// The part of a budget that one source has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    stacks: f64,
    share: f64,
}

impl Budget {
    /// The part of each of so many sources.
    pub fn of_each(&self, sources: usize) -> Share {
        let sources = sources.max(1) as f64;
        Share {
            stacks: self.stacks / sources,
            share: self.share / sources,
        }
    }
}

impl Share {
    /// Stacks that each of so many CPUs may copy in 10 ms: twice what is due in the mean, and no fewer than two.
    pub fn most(&self, cpus: u64) -> u64 {
        ((2.0 * self.stacks / 100.0 / cpus as f64) as u64).max(2)
    }
}

/// How a source came along until now.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Hits, weight, taken, ns of the programs, and when they were seen (ns).
    before: Option<(u64, u64, u64, u64, u64)>,
    /// By how much fewer stacks are copied than the budget allows by their number, since they cost more than it allows.
    dear: f64,
}

/// Stacks a second that a source has in any case: they cost some 0.02 % of a CPU. Fewer stacks make nothing cheaper where
/// counting alone costs more than the source may.
const LEAST: f64 = 20.0;

/// The most R.
const LARGEST: f64 = (1u64 << 50) as f64;

impl Pace {
    /// Whether there were hits since the last look.
    pub fn has_more(&self, totals: &EventTotals) -> bool {
        self.before.is_none_or(|(hits, ..)| totals.hits > hits)
    }

    /// R for the next second, by the totals of now (ns).
    pub fn next(&mut self, totals: &EventTotals, now: u64, share: &Share) -> u64 {
        let seen = (totals.hits, totals.weight, totals.taken, totals.nanos, now);
        let Some(before) = self.before.replace(seen) else {
            return totals.rate;
        };
        let seconds = now.saturating_sub(before.4) as f64 / 1e9;
        if seconds <= 0.0 {
            return totals.rate;
        }
        let a_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let hits = a_second(totals.hits, before.0);
        let weight = a_second(totals.weight, before.1);
        let taken = a_second(totals.taken, before.2);
        let spent = a_second(totals.nanos, before.3) / 1e9;
        self.dear = self.dear.max(1.0);
        if spent > share.share && taken > 1.0 {
            self.dear *= (spent / share.share).min(4.0);
        } else if spent < share.share / 2.0 {
            self.dear = (self.dear / 2.0).max(1.0);
        }
        self.dear = self.dear.min((share.stacks / LEAST).max(1.0));
        // Of at least one stack a second something is seen.
        let stacks = (share.stacks / self.dear).max(1.0);
        if hits <= stacks {
            return 0;
        }
        (weight / stacks).clamp(1.0, LARGEST) as u64
    }
}

/// Logarithms to the base 2 of 1, 1 + 1/256 … 2, times 2^32: the programs interpolate them.
pub fn logarithms() -> [u64; abi::FT_LOGARITHMS as usize + 1] {
    let steps = f64::from(abi::FT_LOGARITHMS);
    std::array::from_fn(|step| ((1.0 + step as f64 / steps).log2() * 2f64.powi(32)).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(hits: u64, weight: u64, taken: u64, nanos: u64) -> EventTotals {
        EventTotals {
            hits,
            weight,
            taken,
            limited: hits - taken,
            missed: 0,
            lost: 0,
            idle: 0,
            passed_over: 0,
            bytes: 0,
            weights: [0; super::super::WEIGHTS],
            nanos,
            runs: hits,
            rate: 7,
        }
    }

    const BUDGET: Budget = Budget {
        stacks: 400.0,
        share: 0.01,
    };

    #[test]
    fn next_few_hits_are_all_taken_and_many_share_the_budget() {
        let share = BUDGET.of_each(2);
        let mut pace = Pace::default();
        assert_eq!(
            pace.next(&totals(0, 0, 0, 0), 0, &share),
            7,
            "nothing known"
        );
        let second = 1_000_000_000;
        assert_eq!(pace.next(&totals(100, 100, 100, 0), second, &share), 0);
        let many = totals(1_000_100, 1_000_100, 300, 0);
        assert_eq!(pace.next(&many, 2 * second, &share), 5000);
        assert!(!pace.has_more(&many));
        let heavy = totals(1_001_100, 1_000_100 + 2_000_000, 300, 0);
        assert_eq!(pace.next(&heavy, 3 * second, &share), 10_000);
    }

    #[test]
    fn next_source_that_costs_too_much_gets_fewer_stacks_and_more_when_it_is_cheap_again() {
        let share = BUDGET.of_each(1);
        let second = 1_000_000_000;
        let mut pace = Pace::default();
        pace.next(&totals(0, 0, 0, 0), 0, &share);
        let dear = pace.next(&totals(40_000, 40_000, 400, second / 50), second, &share);
        assert_eq!(dear, 200, "half the stacks at twice the cost");
        let cheap = pace.next(
            &totals(80_000, 80_000, 600, second / 50),
            2 * second,
            &share,
        );
        assert_eq!(cheap, 100);
    }

    #[test]
    fn next_source_whose_counting_costs_too_much_keeps_some_stacks() {
        let share = BUDGET.of_each(2);
        let second = 1_000_000_000;
        let mut pace = Pace::default();
        pace.next(&totals(0, 0, 0, 0), 0, &share);
        let mut rate = 0;
        for n in 1..=30 {
            let hits = n * 100_000;
            rate = pace.next(
                &totals(hits, hits, n * 20, n * second / 50),
                n * second,
                &share,
            );
        }
        assert_eq!(rate, 100_000 / 20);
    }

    #[test]
    fn most_of_a_small_share_is_two() {
        assert_eq!(BUDGET.of_each(100).most(2), 2);
        assert_eq!(BUDGET.of_each(1).most(1), 8);
    }

    #[test]
    fn logarithms_go_from_none_to_one_whole() {
        let table = logarithms();
        assert_eq!((table[0], table[256]), (0, 1 << 32));
        assert!(table.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
