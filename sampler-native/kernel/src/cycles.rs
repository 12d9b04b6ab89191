//! The speed of each CPU, and the share of it that is used: frequencies by sysfs and the object `cpu_frequency`, cycles by a hardware
//! counter.

use std::{
    fs::File,
    io::{Error, ErrorKind, Read},
    os::unix::fs::FileExt,
};

use anyhow::{Context, Result};
use libbpf_rs::{
    Link,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    CpuCycles, NOT_COUNTED, cpus, load,
    skeletons::{CpuFrequencySkel, CpuFrequencySkelBuilder, layout::ft_frequency},
    sys,
};

/// Frequencies that no tracepoint tells are read this often, ns: a driver may have to ask the CPU.
const READ_PERIOD: u64 = 1_000_000_000;

pub struct Cycles {
    frequencies: Vec<Frequency>,
    traced: Option<Traced>,
    counters: Vec<Counter>,
    no_frequency: Option<String>,
    no_counter: Option<String>,
}

/// The tracepoint.
pub struct Traced {
    /// The link goes before the program it holds.
    _link: Link,
    skel: CpuFrequencySkel<'static>,
}

struct Frequency {
    cpu: u32,
    file: File,
    /// The frequency that was last read from the file, kHz, and when.
    khz: u64,
    read: u64,
    /// Cycles that passed until `counted`, ns.
    offered: u64,
    counted: u64,
    /// … of them: cycles that the tracepoint tells of.
    traced: u64,
}

struct Counter {
    cpu: u32,
    event: File,
}

impl Cycles {
    /// Opens the tracepoint and the counters; each may be missing for a reason of its own.
    pub fn open() -> Cycles {
        let online = cpus::online().unwrap_or_default();
        let now = sys::monotonic_nanos();
        let frequencies: Vec<_> = online
            .iter()
            .filter_map(|cpu| Frequency::open(*cpu, now))
            .collect();
        let no_frequency = frequencies.is_empty().then(|| {
            "no frequencies: the kernel has no cpufreq driver, as in most virtual machines"
                .to_owned()
        });
        // Without the tracepoint there are only the files.
        let traced = (!frequencies.is_empty())
            .then(|| Traced::open(&frequencies, now).ok())
            .flatten();
        let counters: std::io::Result<Vec<_>> = online
            .iter()
            .map(|cpu| {
                Ok(Counter {
                    cpu: *cpu,
                    event: sys::open_cycles(*cpu)?.into(),
                })
            })
            .collect();
        let no_counter = counters.as_ref().err().map(why_not);
        Cycles {
            frequencies,
            traced,
            counters: counters.unwrap_or_default(),
            no_frequency,
            no_counter,
        }
    }

    /// Why there are no frequencies, and why no cycles.
    pub fn missing(&self) -> (Option<String>, Option<String>) {
        (self.no_frequency.clone(), self.no_counter.clone())
    }

    /// The known figures of each online CPU; empty if there are none.
    pub fn tell(&mut self) -> Vec<CpuCycles> {
        let mut all: Vec<_> = self
            .frequencies
            .iter_mut()
            .map(|frequency| {
                let traced = self.traced.as_ref().and_then(|t| t.of(frequency.cpu));
                frequency.tell(traced, sys::monotonic_nanos())
            })
            .collect();
        for counter in &mut self.counters {
            let cycles = counter.read().unwrap_or(NOT_COUNTED);
            match all.iter_mut().find(|told| told.cpu == counter.cpu) {
                Some(told) => told.cycles = cycles,
                None => all.push(CpuCycles {
                    cpu: counter.cpu,
                    frequency: NOT_COUNTED,
                    offered: NOT_COUNTED,
                    cycles,
                }),
            }
        }
        all
    }

    pub fn object(&self) -> Option<&libbpf_rs::Object> {
        self.traced.as_ref().map(|traced| traced.skel.object())
    }
}

fn why_not(error: &Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            "no cycles: the kernel does not permit hardware counters; run it as root (sudo)"
                .to_owned()
        }
        ErrorKind::NotFound => {
            "no cycles: no hardware counters here, as in most virtual machines".to_owned()
        }
        _ => match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) => {
                "no cycles: no hardware counter of this machine counts them".to_owned()
            }
            _ => format!("no cycles: a hardware counter cannot be opened: {error}"),
        },
    }
}

impl Traced {
    fn open(frequencies: &[Frequency], now: u64) -> Result<Traced> {
        load::patiently(|| {
            let mut open = CpuFrequencySkelBuilder::default().open(load::place())?;
            let rodata = open
                .maps
                .rodata_data
                .as_deref()
                .context("cpu_frequency has no constants")?;
            load::check_abi("cpu_frequency", rodata.abi)?;
            let bss = open
                .maps
                .bss_data
                .as_deref_mut()
                .context("cpu_frequency has no variables")?;
            for frequency in frequencies {
                if let Some(place) = bss.cpus.get_mut(frequency.cpu as usize) {
                    (place.khz, place.since) = (frequency.khz as u32, now);
                }
            }
            let skel = open.load()?;
            let link = skel.progs.cpu_frequency.attach()?;
            Ok(Traced { _link: link, skel })
        })
    }

    /// kHz now, and the cycles that passed, of a CPU whose changes the tracepoint tells.
    fn of(&self, cpu: u32) -> Option<(u64, u64)> {
        let shared = self.skel.maps.bss_data.as_deref()?.cpus.get(cpu as usize)?;
        let (told, now) = sys::read_consistent(shared, |told| &told.sequence);
        (told.events > 0).then(|| (u64::from(told.khz), passed(&told, now)))
    }
}

/// Cycles until now.
fn passed(told: &ft_frequency, now: u64) -> u64 {
    told.cycles + cycles(now.saturating_sub(told.since), u64::from(told.khz))
}

/// Cycles in so many ns at so many kHz.
fn cycles(nanos: u64, khz: u64) -> u64 {
    nanos / 1000 * khz / 1000
}

impl Frequency {
    fn open(cpu: u32, now: u64) -> Option<Frequency> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        let file = File::open(path).ok()?;
        let khz = read_number(&file)?;
        Some(Frequency {
            cpu,
            file,
            khz,
            read: now,
            offered: 0,
            counted: now,
            traced: 0,
        })
    }

    /// `traced`: kHz now and all cycles that passed, by the tracepoint.
    fn tell(&mut self, traced: Option<(u64, u64)>, now: u64) -> CpuCycles {
        match traced {
            Some((khz, passed)) => {
                // Cycles before the first event were counted by the file.
                self.offered = match self.traced {
                    0 => self.offered.max(passed),
                    before => self.offered + passed.saturating_sub(before),
                };
                (self.khz, self.traced) = (khz, passed);
            }
            None => {
                self.offered += cycles(now.saturating_sub(self.counted), self.khz);
                if now >= self.read + READ_PERIOD {
                    self.read = now;
                    self.khz = read_number(&self.file).unwrap_or(self.khz);
                }
            }
        }
        self.counted = now;
        CpuCycles {
            cpu: self.cpu,
            frequency: self.khz * 1000,
            offered: self.offered,
            cycles: NOT_COUNTED,
        }
    }
}

/// The number in a file of sysfs, read from its start.
fn read_number(file: &File) -> Option<u64> {
    let mut text = [0; 24];
    let length = file.read_at(&mut text, 0).ok()?;
    str::from_utf8(&text[..length]).ok()?.trim().parse().ok()
}

impl Counter {
    /// Cycles since the counter was opened; scaled up for the time in which it shared its place in the hardware.
    fn read(&mut self) -> Option<u64> {
        let mut bytes = [0; 24];
        self.event.read_exact(&mut bytes).ok()?;
        let word = |i: usize| u64::from_ne_bytes(std::array::from_fn(|b| bytes[8 * i + b]));
        Some(scaled(word(0), word(1), word(2)))
    }
}

fn scaled(value: u64, enabled: u64, running: u64) -> u64 {
    if running == 0 || running >= enabled {
        return value;
    }
    (u128::from(value) * u128::from(enabled) / u128::from(running)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::ProgramInput;

    fn frequency(khz: u64) -> Frequency {
        Frequency {
            cpu: 3,
            file: File::open("/dev/null").unwrap(),
            khz,
            read: 0,
            offered: 0,
            counted: 0,
            traced: 0,
        }
    }

    #[test]
    fn cycles_of_long_spans_do_not_overflow() {
        assert_eq!(cycles(1_000_000_000, 2_400_000), 2_400_000_000);
        let day = 86_400 * 1_000_000_000;
        assert_eq!(cycles(30 * day, 5_000_000), 30 * 86_400 * 5_000_000_000);
    }

    #[test]
    fn scaled_counter_that_shared_its_place_is_scaled_up() {
        assert_eq!(scaled(1_000, 50, 50), 1_000);
        assert_eq!(scaled(1_000, 100, 25), 4_000);
        assert_eq!(scaled(0, 100, 0), 0);
        assert_eq!(scaled(u64::MAX / 4, 1 << 40, 1 << 39), u64::MAX / 4 * 2);
    }

    #[test]
    fn tell_polled_frequency_counts_the_time_at_it() {
        let mut frequency = frequency(2_000_000);
        let told = frequency.tell(None, 500_000_000);
        assert_eq!(
            (told.frequency, told.offered),
            (2_000_000_000, 1_000_000_000)
        );
        let told = frequency.tell(None, 1_000_000_000);
        assert_eq!((told.offered, told.cycles), (2_000_000_000, NOT_COUNTED));
    }

    #[test]
    fn tell_tracepoint_fires_later_offered_goes_on_from_there() {
        let mut frequency = frequency(2_000_000);
        frequency.tell(None, 1_000_000_000);
        let told = frequency.tell(Some((1_000_000, 2_500_000_000)), 1_500_000_000);
        assert_eq!(
            (told.frequency, told.offered),
            (1_000_000_000, 2_500_000_000)
        );
        let told = frequency.tell(Some((1_000_000, 3_000_000_000)), 2_000_000_000);
        assert_eq!(told.offered, 3_000_000_000);
    }

    #[test]
    fn why_not_says_what_is_missing_and_what_mends_it() {
        let said = |errno| why_not(&Error::from_raw_os_error(errno));
        assert!(said(libc::ENOENT).contains("no hardware counters here"));
        assert!(said(libc::EACCES).contains("run it as root"));
        assert!(said(libc::EOPNOTSUPP).contains("no hardware counter of this machine"));
        assert!(said(libc::EMFILE).contains("open files"));
    }

    #[test]
    fn open_tells_of_each_cpu_or_says_why_not() {
        let mut opened = Cycles::open();
        let (no_frequency, no_counter) = opened.missing();
        let told = opened.tell();
        assert_eq!(
            told.is_empty(),
            no_frequency.is_some() && no_counter.is_some()
        );
        for cpu in told {
            assert_eq!(cpu.frequency == NOT_COUNTED, no_frequency.is_some());
            assert!(no_counter.is_none() || cpu.cycles == NOT_COUNTED);
        }
        println!("{no_frequency:?} {no_counter:?}");
    }

    /// Runs the program as the tracepoint would.
    #[test]
    fn traced_changes_are_counted_with_the_time_between_them() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        let begin = sys::monotonic_nanos();
        let traced = Traced::open(&[frequency(3_000_000)], begin).unwrap();
        assert_eq!(traced.of(3), None, "no change was told");
        let change = |khz: u64, cpu: u64| {
            let mut context: Vec<u8> = [khz, cpu].iter().flat_map(|w| w.to_ne_bytes()).collect();
            let input = ProgramInput {
                context_in: Some(&mut context),
                ..Default::default()
            };
            traced.skel.progs.cpu_frequency.test_run(input).unwrap();
        };
        change(1_000_000, 3);
        let changed = sys::monotonic_nanos();
        change(9_000_000, 1 << 20);
        let (khz, passed) = traced.of(3).unwrap();
        let end = sys::monotonic_nanos();
        assert_eq!(khz, 1_000_000);
        assert!(passed <= cycles(changed - begin, 3_000_000) + cycles(end - begin, 1_000_000));
        change(0, 3);
        let (khz, stopped) = traced.of(3).unwrap();
        assert!(khz == 0 && stopped >= passed);
        assert_eq!(traced.of(3), Some((0, stopped)), "nothing passes at 0 kHz");
        assert_eq!(traced.of(1 << 20), None);
    }
}
