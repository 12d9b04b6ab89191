//! Idle time of each CPU: the object `cpu_idle`, and the idle states that sysfs lists.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use libbpf_rs::{
    Link,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    IdleStateFacts, IdleUsage, abi, cpus, load,
    skeletons::{CpuIdleSkel, CpuIdleSkelBuilder, layout},
    sys,
};

pub struct Idle {
    /// Goes before the program that it holds.
    _link: Option<Link>,
    skel: CpuIdleSkel<'static>,
    started: u64,
}

/// Idle time of one CPU.
pub struct Stay {
    pub idle: u64,
    pub elapsed: u64,
    pub wakeups: u64,
}

impl Idle {
    pub fn open(states: &[IdleStateFacts]) -> Result<Idle> {
        load::patiently(|| {
            let mut open = CpuIdleSkelBuilder::default().open(load::place())?;
            let rodata = open
                .maps
                .rodata_data
                .as_deref()
                .context("cpu_idle has no constants")?;
            load::check_abi("cpu_idle", rodata.abi)?;
            let started = sys::monotonic_nanos();
            let bss = open
                .maps
                .bss_data
                .as_deref_mut()
                .context("cpu_idle has no variables")?;
            bss.started = started;
            let skel = open.load()?;
            let mut idle = Idle {
                _link: None,
                skel,
                started,
            };
            idle.aim(states);
            idle._link = Some(idle.skel.progs.cpu_idle.attach()?);
            wake_each_cpu();
            Ok(idle)
        })
    }

    /// Tells the program the target residencies of idle states, by which it judges stays that end from now on. `states`: of each
    /// CPU all, by depth.
    pub fn aim(&mut self, states: &[IdleStateFacts]) {
        let Some(bss) = self.skel.maps.bss_data.as_deref_mut() else {
            return;
        };
        for (i, state) in states.iter().enumerate() {
            let cpu = bss.cpus.get_mut(state.cpu as usize);
            let Some(place) = cpu.and_then(|cpu| cpu.states.get_mut(state.state as usize)) else {
                continue;
            };
            let deeper = states[i + 1..].iter().find(|next| next.cpu == state.cpu);
            let deeper = deeper.map_or(0, |next| next.target_residency_us * 1000);
            sys::write_shared(&mut place.target_ns, state.target_residency_us * 1000);
            sys::write_shared(&mut place.deeper_target_ns, deeper);
        }
    }

    /// Totals of one CPU since opening, the open stay included.
    pub fn stay(&self, cpu: u32) -> Option<Stay> {
        let (counted, now) = self.read(cpu)?;
        let open = if counted.since == 0 {
            0
        } else {
            now.saturating_sub(counted.since)
        };
        let elapsed = now.saturating_sub(self.started);
        Some(Stay {
            idle: (counted.idle_ns + open).min(elapsed),
            elapsed,
            wakeups: counted.wakeups,
        })
    }

    /// Totals of one idle state of one CPU since opening, the open stay included.
    pub fn state(&self, cpu: u32, state: u32) -> Option<IdleUsage> {
        let (counted, now) = self.read(cpu)?;
        let of = counted.states.get(state as usize)?;
        let open = counted.since != 0 && counted.state == state;
        let open = if open {
            now.saturating_sub(counted.since)
        } else {
            0
        };
        Some(IdleUsage {
            cpu,
            state,
            residency: of.residency_ns + open,
            entries: of.entries,
            too_short: of.too_short,
            too_long: of.too_long,
        })
    }

    /// Returns true while CPU `cpu` is idle.
    pub fn is_idle(&self, cpu: u32) -> bool {
        let cpu = self
            .skel
            .maps
            .bss_data
            .as_deref()
            .and_then(|bss| bss.cpus.get(cpu as usize));
        cpu.is_some_and(|cpu| sys::read_shared(&cpu.since) != 0)
    }

    pub fn object(&self) -> &libbpf_rs::Object {
        self.skel.object()
    }

    /// A consistent copy, and a time not before it.
    fn read(&self, cpu: u32) -> Option<(layout::ft_idle, u64)> {
        let shared = self.skel.maps.bss_data.as_deref()?.cpus.get(cpu as usize)?;
        Some(sys::read_consistent(shared, |idle| &idle.sequence))
    }
}

/// Makes every CPU leave its idle state once, so that its open stay is known from the start. A CPU that we may not use
/// stays unknown, and counts as busy, until it next leaves its idle state.
fn wake_each_cpu() {
    let visit = std::thread::spawn(|| {
        for cpu in cpus::online().unwrap_or_default() {
            let _ = sys::move_to_cpu(cpu);
        }
    });
    let _ = visit.join();
}

/// The idle states of all online CPUs that may be used, or why there are none.
pub fn states() -> (Vec<IdleStateFacts>, Option<String>) {
    let online = cpus::online().unwrap_or_default();
    let all: Vec<_> = online.into_iter().flat_map(states_of).collect();
    let none = all.is_empty().then(|| {
        "no idle states: the kernel has no cpuidle driver here, as in most virtual machines; idle time is counted all the same"
            .to_owned()
    });
    (all, none)
}

/// The idle states of a CPU that may be used, by depth.
pub fn states_of(cpu: u32) -> Vec<IdleStateFacts> {
    let read = |state| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}");
        read_state(Path::new(&path), cpu, state)
    };
    (0..abi::FT_IDLE_STATES).filter_map(read).collect()
}

fn read_state(path: &Path, cpu: u32, state: u32) -> Option<IdleStateFacts> {
    let text = |file: &str| {
        fs::read_to_string(path.join(file))
            .ok()
            .map(|text| text.trim().to_owned())
    };
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    if number("disable").unwrap_or(0) != 0 {
        return None;
    }
    Some(IdleStateFacts {
        cpu,
        state,
        name: text("name")?,
        exit_latency_us: number("latency").unwrap_or(0),
        target_residency_us: number("residency").unwrap_or(0),
    })
}
