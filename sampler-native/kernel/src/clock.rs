//! The CPU clock: the object `cpu_stacks`, and one perf event per online CPU.

use std::{
    hash::{BuildHasher, RandomState},
    os::fd::{AsFd, IntoRawFd, OwnedFd},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use libbpf_rs::{
    Link, MapCore, MapHandle,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    Settings, abi,
    beat::{Beat, Pace, Random},
    cpus,
    idle::Idle,
    load,
    rings::Learned,
    skeletons::{CpuStacksSkel, CpuStacksSkelBuilder},
    sys,
};

/// Of the ring: what a busy CPU fills in a tenth of a second.
const RING_BYTES_PER_CPU: usize = 1024 * 1024;
const LEAST_RING: usize = 4 * 1024 * 1024;
const LARGEST_RING: usize = 64 * 1024 * 1024;
/// Most bytes of user stacks a second that a CPU copies, while that leaves each of them [`LEAST_REACH`].
const STACK_BYTES_PER_CPU: u64 = 10 * 1024 * 1024;
const LEAST_REACH: u64 = 24 * 1024;
const HIGHEST_HZ: u32 = 10_000;
/// Period of a clock that is off.
const OFF_HZ: u32 = 99;

pub struct Clock {
    events: Vec<Event>,
    skel: CpuStacksSkel<'static>,
    /// `None`: it is off.
    pace: Option<Pace>,
    random: Random,
    /// Says whether a change of a period wakes a CPU.
    pub idle: Option<Arc<Idle>>,
}

/// The clock of one CPU.
struct Event {
    fd: OwnedFd,
    /// Goes before the program that it holds.
    _link: Link,
    cpu: u32,
    beat: Beat,
    /// Idle stays that changes of the period ended.
    woken: u64,
}

impl Clock {
    /// Loads the program and prepares the clock of every CPU; none ticks before [`Clock::set_hz`].
    pub fn open(settings: &Settings) -> Result<Clock> {
        load::patiently(|| {
            let online = cpus::online()?;
            let ring_bytes = (online.len() * RING_BYTES_PER_CPU)
                .next_power_of_two()
                .clamp(LEAST_RING, LARGEST_RING) as u32;
            let mut open = CpuStacksSkelBuilder::default().open(load::place())?;
            let rodata = load::aim!(open, "cpu_stacks", settings);
            rodata.ring_bytes = ring_bytes;
            open.maps.ring.set_max_entries(ring_bytes)?;
            let cpus = online.iter().max().map_or(1, |last| last + 1);
            open.maps.scratch.set_max_entries(cpus)?;
            load::keep_probe_read_user(open.open_object())?;
            let skel = open.load()?;
            load::set_target(&skel.maps.targets, &skel.maps.own, settings)?;
            let mut events = Vec::new();
            for cpu in online {
                let event = sys::open_cpu_clock(cpu, period(OFF_HZ))
                    .with_context(|| format!("failed to open the CPU clock of CPU {cpu}"))?;
                let link = skel
                    .progs
                    .cpu_stacks
                    .attach_perf_event(event.try_clone()?.into_raw_fd())?;
                // attaching starts it
                sys::enable(event.as_fd(), false)?;
                events.push(Event {
                    fd: event,
                    _link: link,
                    cpu,
                    beat: Beat::default(),
                    woken: 0,
                });
            }
            Ok(Clock {
                events,
                skel,
                pace: None,
                random: Random::new(RandomState::new().hash_one(0)),
                idle: None,
            })
        })
    }

    pub fn set_hz(&mut self, hz: u32) -> Result<()> {
        if hz > HIGHEST_HZ {
            bail!("the CPU clock cannot tick {hz} times a second: at most {HIGHEST_HZ}");
        }
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut()
            && hz > 0
        {
            sys::write_shared(&mut bss.most_stack, most_stack(hz));
        }
        let pace = (hz > 0).then(|| Pace::new(hz, self.events.len()));
        for event in &mut self.events {
            let fd = event.fd.as_fd();
            if let Some(pace) = &pace {
                let (beat, period) = Beat::start(pace, &mut self.random);
                event.beat = beat;
                sys::set_period(fd, period)
                    .context("failed to change the period of the CPU clock")?;
            }
            if pace.is_some() != self.pace.is_some() {
                sys::enable(fd, pace.is_some()).context("failed to switch the CPU clock")?;
            }
            if let Some(pace) = &pace {
                event.beat.started(pace, sys::monotonic_nanos());
            }
        }
        self.pace = pace;
        Ok(())
    }

    /// When [`Clock::vary`] is to be called next (ns), if the clock of some CPU needs it.
    pub fn due(&self) -> Option<u64> {
        self.pace?;
        self.events
            .iter()
            .filter_map(|event| event.beat.due())
            .min()
    }

    /// Changes the periods that are due.
    pub fn vary(&mut self) {
        let (Some(pace), Some(bss)) = (&self.pace, self.skel.maps.bss_data.as_deref()) else {
            return;
        };
        for event in &mut self.events {
            let activity = bss.activity.get(event.cpu as usize);
            let activity = activity.map_or(0, sys::read_shared);
            let now = sys::monotonic_nanos();
            let Some(period) = event.beat.change(pace, &mut self.random, now, activity) else {
                continue;
            };
            let idle = self.idle.as_ref();
            event.woken += u64::from(idle.is_some_and(|idle| idle.is_idle(event.cpu)));
            // of a CPU that went offline meanwhile it need not work
            if sys::set_period(event.fd.as_fd(), period).is_ok() {
                event.beat.changed(pace, sys::monotonic_nanos());
            }
        }
    }

    pub fn exclude(&self, tgid: u32) -> Result<()> {
        load::insert(&self.skel.maps.own, tgid)
    }

    pub fn readmit(&self, tgid: u32) -> Result<()> {
        load::remove(&self.skel.maps.own, tgid)
    }

    /// Samples taken, samples dropped, bytes of user stacks copied.
    pub fn totals(&self) -> (u64, u64, u64) {
        let Some(bss) = self.skel.maps.bss_data.as_deref() else {
            return (0, 0, 0);
        };
        // dropped before taken: a sample is taken before it can be dropped
        let dropped = sys::read_shared(&bss.dropped);
        (
            sys::read_shared(&bss.taken),
            dropped,
            sys::read_shared(&bss.copied),
        )
    }

    /// Idle stays of this CPU that its timer ended, or a change of its period.
    pub fn own_wakeups(&self, cpu: u32) -> u64 {
        let bss = self.skel.maps.bss_data.as_deref();
        let ticks = bss.and_then(|bss| bss.own_wakeups.get(cpu as usize));
        let event = self.events.iter().find(|event| event.cpu == cpu);
        ticks.map_or(0, sys::read_shared) + event.map_or(0, |event| event.woken)
    }

    pub fn ring(&self) -> &impl MapCore {
        &self.skel.maps.ring
    }

    /// The maps that say what is copied of whom.
    pub fn learned(&self) -> Result<Learned> {
        let keep = |map| MapHandle::try_from(map).context("failed to keep a map of the CPU clock");
        Ok(Learned {
            reaches: keep(&self.skel.maps.reaches)?,
            steps: keep(&self.skel.maps.steps)?,
            pages: keep(&self.skel.maps.pages)?,
        })
    }

    pub fn object(&self) -> &libbpf_rs::Object {
        self.skel.object()
    }
}

/// Most bytes of one stack in a sample.
fn most_stack(hz: u32) -> u64 {
    (STACK_BYTES_PER_CPU / u64::from(hz)).clamp(LEAST_REACH, u64::from(abi::FT_CPU_STACK))
}

fn period(hz: u32) -> u64 {
    1_000_000_000 / u64::from(hz)
}
