//! Counters as sources: one perf event for each CPU that is online.

use std::{
    io::Error,
    os::fd::{AsFd, OwnedFd},
};

use anyhow::{Context, Result, anyhow};
use libbpf_rs::Link;

use super::{Counter, Hook, Source, given};
use crate::{cpus, skeletons::EventsSkel, sys};

/// The counter of one CPU. The link is dropped before the event.
pub struct OfCpu {
    _link: Link,
    event: OwnedFd,
    cpu: u32,
}

impl OfCpu {
    fn open(counter: Counter, period: u64, cpu: u32, skel: &EventsSkel<'_>) -> Result<OfCpu> {
        let (kind, config) = counter.event();
        let event = sys::open_counter(kind, config, period, cpu)
            .map_err(|error| explain(counter, &error))?;
        // Attaching starts the event.
        let link = skel
            .progs
            .hit_counter
            .attach_perf_event(given(event.try_clone()?))
            .with_context(|| format!("{} of CPU {cpu} cannot be watched", counter.name()))?;
        Ok(OfCpu {
            _link: link,
            event,
            cpu,
        })
    }

    /// How much it has counted.
    pub fn count(&self) -> u64 {
        sys::read_counter(self.event.as_fd()).unwrap_or(0)
    }
}

fn explain(counter: Counter, error: &Error) -> anyhow::Error {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) if counter.is_of_hardware() => {
            anyhow!(
                "this machine has no counter of {}: its processor, or the host of this virtual machine, gives none; page faults and \
             switches are counted by the kernel everywhere (fault, switch)",
                counter.name()
            )
        }
        Some(libc::EACCES | libc::EPERM) => anyhow!(
            "the kernel does not permit to watch {} of all tasks; run it as root (sudo), in a container add CAP_PERFMON and allow \
             perf_event_open",
            counter.name()
        ),
        Some(libc::EBUSY) => anyhow!(
            "another program has the processor's counters of {} for itself; end that program",
            counter.name()
        ),
        _ => anyhow!("{} cannot be counted: {error}", counter.name()),
    }
}

/// Watches the counter on every CPU.
pub fn attach(source: &mut Source) -> Result<()> {
    let Hook::Counter { counter, period } = source.spec.hook else {
        return Ok(());
    };
    for cpu in cpus::online()? {
        let of_cpu = OfCpu::open(counter, period, cpu, &source.skel)?;
        source.counters.push(of_cpu);
    }
    Ok(())
}

/// Closes counters of CPUs that went offline, and opens those of CPUs that came.
pub fn follow(source: &mut Source, online: &[u32]) {
    let Hook::Counter { counter, period } = source.spec.hook else {
        return;
    };
    let gone = source
        .counters
        .extract_if(.., |of| !online.contains(&of.cpu));
    source.counted += gone.map(|of| of.count()).sum::<u64>();
    for cpu in online {
        if source.counters.iter().all(|of| of.cpu != *cpu)
            // The CPU may be gone again.
            && let Ok(of_cpu) = OfCpu::open(counter, period, *cpu, &source.skel)
        {
            source.counters.push(of_cpu);
        }
    }
}
