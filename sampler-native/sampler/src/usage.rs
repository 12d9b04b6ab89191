//! The CPU time and memory that the host and flametop itself use.

use std::{collections::HashMap, fs};

use flametop_kernel::{CpuChange, IdleStateFacts, Kernel};
use flametop_stream::{Encoder, IdleFacts, NOT_COUNTED, Record};

use crate::{os, own::Own};

/// Usage records and what they are relative to.
pub struct Usage {
    /// Ticks of `/proc/stat` when the stream began, by CPU.
    ticks_before: HashMap<u32, [u64; 6]>,
    /// flametop itself.
    pub own: Own,
}

impl Usage {
    /// Counts from now on. `launchers`: processes that are flametop's beside this one.
    pub fn new(launchers: &[u32]) -> Usage {
        Usage {
            ticks_before: HashMap::new(),
            own: Own::new(launchers),
        }
    }

    /// Tells usage of the CPUs, their idle states, their speed and the host.
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
        for c in kernel.cycles() {
            out.put(&Record::CpuCycles {
                cpu: c.cpu,
                frequency: c.frequency,
                offered: c.offered,
                cycles: c.cycles,
            });
        }
        let programs = kernel.programs();
        out.put(&Record::HostUsage {
            load: load_averages(),
            pass_hz,
            cpu_hz,
            own_cpu: self.own.cpu(&programs),
        });
        self.own.tell(os::monotonic(), &programs, out);
    }
}

/// Tells of a CPU that came online or went offline.
pub fn tell_cpu_change(change: &CpuChange, out: &mut Encoder) {
    out.put(&Record::CpuChanged {
        cpu: change.cpu,
        online: change.online,
        idle: change.idle_states.iter().map(idle_facts).collect(),
    });
}

fn idle_facts(state: &IdleStateFacts) -> IdleFacts<'_> {
    IdleFacts {
        state: state.state,
        name: state.name.as_bytes(),
        exit_latency: state.exit_latency_us,
        target_residency: state.target_residency_us,
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
