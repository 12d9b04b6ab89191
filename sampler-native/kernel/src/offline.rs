//! The time that CPUs were offline, which is neither busy nor idle.

use std::collections::HashMap;

/// By CPU: the time to leave out of its sums. Sums are told in rounds; a CPU that has no sums in a round was offline since the round before.
#[derive(Default)]
pub struct OfflineTimes {
    round: u64,
    cpus: HashMap<u32, OfflineTime>,
}

/// The time that one CPU was offline, and the sums without that time.
#[derive(Default)]
struct OfflineTime {
    /// Left out of the elapsed and of the idle time, ns.
    elapsed: u64,
    idle: u64,
    /// As told last, ns.
    told: Option<(u64, u64)>,
    /// The round in which that was.
    round: u64,
}

impl OfflineTimes {
    /// Begins a round: the sums of each online CPU are told once.
    pub fn next_round(&mut self) {
        self.round += 1;
    }

    /// The elapsed and the idle time of an online CPU, without the time that the CPU was offline.
    pub fn leave_out(&mut self, cpu: u32, elapsed: u64, idle: u64) -> (u64, u64) {
        let time = self.cpus.entry(cpu).or_default();
        if let Some((told_elapsed, told_idle)) = time.told
            && time.round + 1 < self.round
        {
            time.elapsed = elapsed.saturating_sub(told_elapsed);
            time.idle = idle.saturating_sub(told_idle);
        }
        time.round = self.round;
        let left = (
            elapsed.saturating_sub(time.elapsed),
            idle.saturating_sub(time.idle),
        );
        time.told = Some(left);
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_out_cpu_that_had_no_sums_in_a_round_stood_still_meanwhile() {
        let mut times = OfflineTimes::default();
        times.next_round();
        assert_eq!(times.leave_out(0, 100, 40), (100, 40));
        assert_eq!(times.leave_out(1, 100, 50), (100, 50));
        // CPU 1 is offline.
        for elapsed in [200, 300] {
            times.next_round();
            assert_eq!(times.leave_out(0, elapsed, 90), (elapsed, 90));
        }
        times.next_round();
        assert_eq!(times.leave_out(0, 400, 90), (400, 90));
        assert_eq!(times.leave_out(1, 400, 350), (100, 50));
        times.next_round();
        assert_eq!(times.leave_out(1, 500, 360), (200, 60));
        // Offline again.
        times.next_round();
        times.next_round();
        assert_eq!(times.leave_out(1, 700, 460), (200, 60));
    }

    #[test]
    fn leave_out_cpu_that_comes_online_for_the_first_time_has_its_whole_sums() {
        let mut times = OfflineTimes::default();
        times.next_round();
        times.next_round();
        times.next_round();
        assert_eq!(times.leave_out(3, 70, 20), (70, 20));
    }
}
