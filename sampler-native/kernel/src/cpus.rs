//! The CPUs as `/proc/stat` and sysfs tell of them.

use std::fs;

use anyhow::{Context, Result};

use crate::sys;

const ONLINE: &str = "/sys/devices/system/cpu/online";

const PRESENT: &str = "/sys/devices/system/cpu/present";

/// Numbers of the online CPUs, ascending.
pub fn online() -> Result<Vec<u32>> {
    list(ONLINE)
}

/// Numbers of the CPUs that are there, online or not, ascending.
pub fn present() -> Result<Vec<u32>> {
    list(PRESENT)
}

fn list(path: &str) -> Result<Vec<u32>> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {path}"))?;
    parse_list(&text).with_context(|| format!("{path} is not a list of CPUs: {}", text.trim()))
}

/// `0-3,8` → 0 1 2 3 8.
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

/// One `cpuN` line of `/proc/stat`, in ns since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatLine {
    pub cpu: u32,
    pub user: u64,
    pub nice: u64,
    pub system: u64,
    /// idle and iowait
    pub idle: u64,
    pub irq: u64,
    pub softirq: u64,
    pub steal: u64,
}

/// The lines of the online CPUs; empty where there is no `/proc/stat`.
pub fn stat() -> Vec<StatLine> {
    fs::read_to_string("/proc/stat")
        .map(|text| parse_stat(&text, sys::ticks_per_second()))
        .unwrap_or_default()
}

fn parse_stat(text: &str, ticks_per_second: u64) -> Vec<StatLine> {
    let tick = 1_000_000_000 / ticks_per_second;
    text.lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("cpu")?.split(' ');
            let cpu = words.next()?.parse().ok()?;
            let mut column = || {
                words
                    .next()
                    .and_then(|w| w.parse::<u64>().ok())
                    .unwrap_or(0)
                    * tick
            };
            let (user, nice, system, idle, iowait) =
                (column(), column(), column(), column(), column());
            let (irq, softirq, steal) = (column(), column(), column());
            Some(StatLine {
                cpu,
                user,
                nice,
                system,
                idle: idle + iowait,
                irq,
                softirq,
                steal,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_list_ranges_and_single_numbers() {
        assert_eq!(parse_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_list("0\n"), Some(vec![0]));
        assert_eq!(parse_list("x\n"), None);
    }

    #[test]
    fn parse_stat_skips_the_sum_and_reads_each_cpu() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 5\n";
        let line = StatLine {
            cpu: 1,
            user: 10,
            nice: 20,
            system: 30,
            idle: 90,
            irq: 60,
            softirq: 70,
            steal: 80,
        };
        let nanos = |line: StatLine| StatLine {
            cpu: 1,
            user: line.user * 1_000_000,
            nice: line.nice * 1_000_000,
            system: line.system * 1_000_000,
            idle: line.idle * 1_000_000,
            irq: line.irq * 1_000_000,
            softirq: line.softirq * 1_000_000,
            steal: line.steal * 1_000_000,
        };
        assert_eq!(parse_stat(text, 100), [nanos(line)]);
    }
}
