//! When the CPU clock ticks: at random periods, so that the clock is in step with no program.
//!
//! A perf event keeps its period until it is given another one, and starts again then. So each CPU gets another period right
//! after a tick, every few ticks. The period is drawn evenly from half to one and a half of the mean. So, of a cycle whose length
//! fits into the mean period, ticks hit phases that are pairwise independent: the spread is that of plain counting.
//!
//! The number of ticks that a period lasts does not depend on the period, and the time between a tick and the change is taken off
//! the next ticks. So the mean is exact: `n` ticks take `n` times the period that was drawn.

/// Most changes a second of all CPUs: each is an interrupt on one of them.
const MOST_CHANGES: u64 = 100;
/// … and of one CPU.
const CHANGES_PER_CPU: u64 = 10;
const SECOND: u64 = 1_000_000_000;
/// A change comes at least this long after the tick that it follows, ns: the change's interrupt must not overtake the tick.
const MOST_BEHIND: u64 = 200_000;

/// Draws numbers, which need not be secret.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Evenly from 0 to below `bound`, which is not 0 (splitmix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(bound)) >> 64) as u64
    }
}

/// The pace that all CPUs share.
#[derive(Clone, Copy)]
pub struct Pace {
    /// Mean period, ns.
    mean: u64,
    /// Ticks after which a period is drawn.
    ticks: u64,
    /// From a tick to the change that follows it, ns.
    behind: u64,
}

impl Pace {
    /// `hz` is not 0.
    pub fn new(hz: u32, cpus: usize) -> Pace {
        let hz = u64::from(hz);
        let all = (hz * cpus as u64).div_ceil(MOST_CHANGES);
        let mean = SECOND / hz;
        Pace {
            mean,
            ticks: all.max(hz.div_ceil(CHANGES_PER_CPU)),
            behind: MOST_BEHIND.min(mean / 8),
        }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        self.mean / 2 + random.below(self.mean + 1)
    }
}

/// The clock of one CPU. Times are ns of one clock.
#[derive(Clone, Copy, Default)]
pub struct Beat {
    /// When the period in force began …
    since: u64,
    period: u64,
    /// … and how long after the last tick that was.
    age: u64,
    /// The drawn period; the period in force makes up for `age` and `debt` besides.
    drawn: u64,
    /// How much later ticks came than the drawn periods say.
    debt: i64,
    /// When the next change is due; `None` while nothing runs on the CPU.
    due: Option<u64>,
    /// `activity` at the last change.
    seen: u64,
}

impl Beat {
    /// A clock that starts now, with this first period.
    pub fn start(pace: &Pace, random: &mut Random) -> (Beat, u64) {
        let drawn = pace.draw(random);
        let beat = Beat {
            period: drawn,
            drawn,
            ..Beat::default()
        };
        (beat, drawn)
    }

    /// The clock has started.
    pub fn started(&mut self, pace: &Pace, now: u64) {
        self.since = now;
        self.plan(pace);
    }

    fn plan(&mut self, pace: &Pace) {
        self.due = Some(self.since + pace.ticks * self.period + pace.behind);
    }

    /// When to look next; `None` while nothing runs on the CPU: then any time will do.
    pub fn due(&self) -> Option<u64> {
        self.due
    }

    /// The clock's next period, if it is to have another one, and how many ticks were due since the last one. `activity` grows
    /// whenever a tick finds that a task ran; on a CPU where none runs no period is drawn, since each change would wake the CPU.
    pub fn change(
        &mut self,
        pace: &Pace,
        random: &mut Random,
        now: u64,
        activity: u64,
    ) -> Option<(u64, u64)> {
        let passed = now.saturating_sub(self.since) / self.period;
        let Some(due) = self.due else {
            if activity != self.seen {
                self.due = Some(self.since + (passed + 1) * self.period + pace.behind);
            }
            return None;
        };
        if now < due {
            return None;
        }
        let last = passed * self.period;
        // those too many, since the change comes late, are more the shorter the period is: else the mean would be too
        let due =
            passed.min(pace.ticks) * self.drawn + passed.saturating_sub(pace.ticks) * pace.mean;
        self.debt += (self.age + last) as i64 - due as i64;
        // ticks that a sleeping machine has missed are not made up for
        let most = ((4 + pace.ticks / 4) * pace.mean) as i64;
        self.debt = self.debt.clamp(-most, most);
        self.age = now - self.since - last;
        let runs = activity != self.seen;
        self.seen = activity;
        // where nothing runs, a period is in force for an unknown time: only for the mean itself this does not matter
        self.drawn = if runs { pace.draw(random) } else { pace.mean };
        self.due = None;
        self.since = now;
        self.period = self.drawn;
        if runs {
            let over = (self.age as i64 + self.debt) / pace.ticks as i64;
            let mean = pace.mean as i64;
            self.period = (self.drawn as i64 - over).clamp(mean / 4, 2 * mean) as u64;
            self.plan(pace);
        }
        Some((self.period, passed))
    }

    /// When the change was over.
    pub fn changed(&mut self, pace: &Pace, now: u64) {
        self.age += now - self.since;
        self.since = now;
        if self.due.is_some() {
            self.plan(pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the ticks of one clock through so many changes, where whoever changes it comes at most `late` ns late.
    fn ticks(hz: u32, cpus: usize, changes: usize, late: u64) -> Vec<u64> {
        let pace = Pace::new(hz, cpus);
        let (mut random, mut chance) = (Random::new(1), Random::new(2));
        let (mut beat, mut period) = Beat::start(&pace, &mut random);
        beat.started(&pace, 7_000);
        let (mut began, mut all) = (4_000, Vec::new());
        for activity in 1..=changes as u64 {
            let due = beat.due().expect("something runs there");
            assert_eq!(beat.change(&pace, &mut random, due - 1, activity), None);
            let now = due + chance.below(late + 1);
            let next = beat.change(&pace, &mut random, now, activity);
            // the event begins anew while the change is made, nobody knows when
            let over = now + 1 + chance.below(8_000);
            let begins = now + chance.below(over - now);
            beat.changed(&pace, over);
            all.extend(
                (1..)
                    .map(|n| began + n * period)
                    .take_while(|t| *t < begins),
            );
            (began, period) = (begins, next.expect("it is due").0);
        }
        all
    }

    #[test]
    fn change_any_rate_and_lateness_the_mean_is_the_rate() {
        for hz in [1, 7, 19, 49, 99, 199, 499, 2000] {
            for cpus in [1, 8] {
                for late in [0, 100_000, 5_000_000] {
                    let ticks = ticks(hz, cpus, 30_000, late);
                    let seconds = (ticks[ticks.len() - 1] - ticks[0]) as f64 / 1e9;
                    let rate = (ticks.len() - 1) as f64 / seconds;
                    let off = rate / f64::from(hz) - 1.0;
                    // 30,000 draws: the standard error is 0.17 %
                    assert!(off.abs() < 0.006, "{hz} Hz, {cpus} CPUs, {late}: {off:+.4}");
                }
            }
        }
    }

    #[test]
    fn change_in_time_gaps_are_even_from_half_to_one_and_a_half_of_the_mean() {
        let ticks = ticks(99, 2, 50_000, 100_000);
        let mut tenths = [0.0; 10];
        for pair in ticks.windows(2) {
            let gap = (pair[1] - pair[0]) as f64 * 99.0 / 1e9;
            assert!((0.48..1.55).contains(&gap), "{gap}");
            tenths[(((gap - 0.5) * 10.0) as usize).min(9)] += 1.0;
        }
        // ten gaps share a draw: of 50,000 draws each tenth has 5,000 ± 67, and the edges are blurred a little
        for tenth in tenths {
            assert!((4500.0..5500.0).contains(&(tenth / 10.0)), "{tenths:?}");
        }
    }

    #[test]
    fn change_cycles_that_fit_into_the_mean_their_phases_are_even_and_independent() {
        for (hz, cpus, of) in [
            (99, 2, 1),
            (99, 2, 2),
            (99, 2, 7),
            (99, 64, 1),
            (19, 2, 1),
            (499, 2, 3),
        ] {
            let cycle = 1e9 / f64::from(hz) / f64::from(of);
            let phases: Vec<f64> = ticks(hz, cpus, 40_000, 100_000)
                .iter()
                .map(|t| (*t as f64 / cycle).fract())
                .collect();
            let n = phases.len() as f64;
            let wave = |phase: &f64| (std::f64::consts::TAU * phase).cos();
            let mean = phases.iter().map(wave).sum::<f64>() / n;
            // cos has the variance 1/2
            assert!(mean.abs() < 5.0 * (0.5 / n).sqrt(), "{hz}/{of}: {mean}");
            for lag in [1, 2, 3, 5, 8] {
                let pairs = phases.iter().zip(&phases[lag..]);
                let together = pairs.map(|(a, b)| wave(a) * wave(b)).sum::<f64>() / n / 0.5;
                assert!(together.abs() < 0.03, "{hz}/{of}, {lag} apart: {together}");
            }
        }
    }

    #[test]
    fn change_program_in_step_its_share_spreads_as_by_plain_counting() {
        let ticks = ticks(99, 2, 200_000, 100_000);
        for share in [0.1, 0.5] {
            let hit = |t: &u64| u32::from((*t as f64 * 99.0 / 1e9).fract() < share);
            // of 10 s each
            let shares: Vec<f64> = ticks
                .chunks_exact(990)
                .map(|ticks| f64::from(ticks.iter().map(hit).sum::<u32>()) / 990.0)
                .collect();
            let n = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / n;
            let variance = shares.iter().map(|s| (s - share).powi(2)).sum::<f64>() / n;
            let counting = share * (1.0 - share) / 990.0;
            assert!((mean - share).abs() < 5.0 * (counting / n).sqrt(), "{mean}");
            // of a thousand windows the variance is known to 4.5 %
            assert!(
                (0.8..1.25).contains(&(variance / counting)),
                "{share}: {}",
                variance / counting
            );
        }
    }

    #[test]
    fn change_nothing_runs_the_mean_stays_until_something_does() {
        let pace = Pace::new(99, 2);
        let mut random = Random::new(3);
        let (mut beat, _) = Beat::start(&pace, &mut random);
        beat.started(&pace, 0);
        let due = beat.due().unwrap();
        assert!(beat.change(&pace, &mut random, due, 5).is_some());
        beat.changed(&pace, due);
        let due = beat.due().unwrap();
        assert_eq!(
            beat.change(&pace, &mut random, due, 5),
            Some((pace.mean, 10))
        );
        beat.changed(&pace, due);
        assert_eq!(beat.due(), None);
        let later = due + 1000 * SECOND;
        assert_eq!(beat.change(&pace, &mut random, later, 5), None);
        assert_eq!(beat.due(), None);
        // right after the next tick
        assert_eq!(beat.change(&pace, &mut random, later, 6), None);
        let next = beat.due().unwrap();
        assert_eq!((next - pace.behind - due) % pace.mean, 0);
        assert!((later..=later + pace.mean + pace.behind).contains(&next));
        assert!(beat.change(&pace, &mut random, next, 6).is_some());
    }

    #[test]
    fn new_many_cpus_changes_are_bounded() {
        for (hz, cpus) in [(99, 1), (99, 2), (99, 64), (499, 1024), (10_000, 8)] {
            let pace = Pace::new(hz, cpus);
            let changes = cpus as u64 * u64::from(hz) / pace.ticks;
            assert!(changes <= MOST_CHANGES, "{hz} Hz, {cpus} CPUs: {changes}");
        }
    }
}
