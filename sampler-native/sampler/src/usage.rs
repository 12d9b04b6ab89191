//! What the host and flametop itself use.

use std::{collections::HashMap, fs};

use flametop_kernel::Kernel;
use flametop_stream::{Encoder, NOT_COUNTED, Record};

use crate::os;

/// Usage records and what they are relative to.
pub struct Usage {
    /// Ticks of `/proc/stat` when the stream began, by CPU.
    ticks_before: HashMap<u32, [u64; 6]>,
    /// CPU ns of flametop's other processes, by tgid: (at first sight, now).
    others: HashMap<u32, (u64, u64)>,
    /// CPU ns of those that ended.
    retired: u64,
    before: u64,
}

impl Usage {
    /// Counts from now on.
    pub fn new(own: &[u32]) -> Usage {
        let mut usage = Usage {
            ticks_before: HashMap::new(),
            others: HashMap::new(),
            retired: 0,
            before: os::own_process_cpu(),
        };
        own.iter().for_each(|tgid| usage.add_own(*tgid));
        usage
    }

    /// Counts this process as flametop's.
    pub fn add_own(&mut self, tgid: u32) {
        if tgid != std::process::id() {
            let now = process_cpu(tgid).unwrap_or(0);
            self.others.entry(tgid).or_insert((now, now));
        }
    }

    /// That process ended; its number may soon be another's.
    pub fn retire_own(&mut self, tgid: u32) {
        if let Some((before, last)) = self.others.remove(&tgid) {
            self.retired += last - before;
        }
    }

    /// CPU ns of flametop's processes since this began.
    fn own_cpu(&mut self) -> u64 {
        let mut sum = os::own_process_cpu() - self.before + self.retired;
        for (tgid, (before, last)) in &mut self.others {
            *last = process_cpu(*tgid).unwrap_or(0).max(*last);
            sum += *last - *before;
        }
        sum
    }

    /// Tells usage of the CPUs, their idle states and the host.
    pub fn tell(&mut self, kernel: &Kernel, pass_hz: u32, cpu_hz: u32, out: &mut Encoder) {
        for c in kernel.cpus() {
            let mut ticks = [c.user, c.nice, c.system, c.irq, c.softirq, c.steal];
            let before = self.ticks_before.entry(c.cpu).or_insert(ticks);
            for (ns, before) in ticks.iter_mut().zip(before) {
                if *ns != NOT_COUNTED {
                    // A figure that was not counted at first was 0.
                    *ns = ns.saturating_sub(if *before == NOT_COUNTED { 0 } else { *before });
                }
            }
            out.put(&Record::CpuUsage {
                cpu: c.cpu,
                idle: c.idle,
                elapsed: c.elapsed,
                wakeups: c.wakeups,
                own_wakeups: c.own_wakeups,
                ticks,
            });
        }
        for s in kernel.idle() {
            out.put(&Record::IdleState {
                cpu: s.cpu,
                state: s.state,
                residency: s.residency,
                entries: s.entries,
                too_short: s.too_short,
                too_long: s.too_long,
            });
        }
        out.put(&Record::HostUsage {
            load: load_averages(),
            pass_hz,
            cpu_hz,
            own_cpu: self.own_cpu(),
        });
    }
}

/// Load averages × 100.
fn load_averages() -> [u32; 3] {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut load = [0; 3];
    for (load, word) in load.iter_mut().zip(text.split_ascii_whitespace()) {
        *load = (word.parse().unwrap_or(0.0) * 100.0_f64).round() as u32;
    }
    load
}

/// CPU ns of all threads of a process.
fn process_cpu(tgid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{tgid}/stat")).ok()?;
    // The comm, in parentheses, may hold anything; utime and stime are the 12th and 13th field after it.
    let after = stat.iter().rposition(|b| *b == b')')? + 1;
    let fields = std::str::from_utf8(&stat[after..]).ok()?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) * os::tick())
}
