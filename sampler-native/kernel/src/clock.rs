//! The CPU clock: the object `cpu_stacks`, and one perf event for each CPU that is online now.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd},
    sync::{Arc, Mutex},
};

use anyhow::{Context, Result, bail};
use libbpf_rs::{
    Link, MapCore, MapHandle,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    Settings, abi,
    beat::{Beat, Pace, Random},
    cpus, events,
    idle::Idle,
    load,
    skeletons::{CpuStacksSkel, CpuStacksSkelBuilder, layout},
    sys, target,
};

/// Bytes of the ring for each CPU: a busy one fills them in a tenth of a second.
const RING_BYTES_PER_CPU: usize = 1024 * 1024;
const LEAST_RING: usize = 4 * 1024 * 1024;
const LARGEST_RING: usize = 64 * 1024 * 1024;
/// Most bytes of user stacks a second that a CPU copies, while that leaves each of them [`LEAST_REACH`].
const STACK_BYTES_PER_CPU: u64 = 10 * 1024 * 1024;
const LEAST_REACH: u64 = 24 * 1024;
const HIGHEST_HZ: u32 = 10_000;
/// Period of a clock that is off.
const OFF_HZ: u32 = 99;
/// How often the clock looks for CPUs that came online or went offline, ns.
const CPUS_PERIOD: u64 = 1_000_000_000;

/// The maps of the CPU clock that say what is copied.
pub struct Learned {
    /// The maps that say how much is copied of which stack.
    pub reaches: MapHandle,
    /// How code gets past its frames.
    pub steps: MapHandle,
    /// The steps of each page of code.
    pub pages: MapHandle,
}

pub struct Clock {
    events: Vec<Event>,
    skel: CpuStacksSkel<'static>,
    /// `None`: it is off.
    pace: Option<Pace>,
    hz: u32,
    random: Random,
    /// When the online CPUs were asked for last, ns.
    asked: u64,
    /// By CPU: idle stays that changes of the period ended.
    woken: HashMap<u32, u64>,
    missed: u64,
    /// CPUs that went offline (false) and came online (true), in order.
    changes: Vec<(u32, bool)>,
    /// Says whether a change of a period wakes a CPU. Is locked while the clock is locked, never the other way round.
    pub idle: Option<Arc<Mutex<Idle>>>,
}

/// The clock of one CPU.
struct Event {
    fd: OwnedFd,
    /// Is dropped before the program that it holds.
    _link: Link,
    cpu: u32,
    beat: Beat,
    /// Ticks that the program had counted when the present period began.
    ticks: u64,
    /// When the last period ended, one tick less had come than was due: it may have been on its way.
    owed: bool,
}

impl Event {
    /// A clock that does not tick yet.
    fn open(cpu: u32, skel: &CpuStacksSkel<'_>) -> Result<Event> {
        let fd = sys::open_cpu_clock(cpu, period(OFF_HZ))
            .with_context(|| format!("failed to open the CPU clock of CPU {cpu}"))?;
        let link = skel
            .progs
            .cpu_stacks
            .attach_perf_event(fd.try_clone()?.into_raw_fd())?;
        // attaching starts the event
        sys::enable(fd.as_fd(), false)?;
        Ok(Event {
            fd,
            _link: link,
            cpu,
            beat: Beat::default(),
            ticks: 0,
            owed: false,
        })
    }

    /// Has it tick from now on.
    fn start(&mut self, pace: &Pace, random: &mut Random, ticks: u64) -> Result<()> {
        let (beat, period) = Beat::start(pace, random);
        self.beat = beat;
        self.ticks = ticks;
        self.owed = false;
        sys::set_period(self.fd.as_fd(), period)
            .context("failed to change the period of the CPU clock")
    }

    /// How many ticks are missing of those that were due since the period began.
    fn missing(&mut self, due: u64, ticks: u64) -> u64 {
        let came = ticks.saturating_sub(std::mem::replace(&mut self.ticks, ticks));
        let owed = u64::from(std::mem::take(&mut self.owed));
        let missing = (due + owed).saturating_sub(came);
        // One may only have been on its way.
        if due > came && missing > 0 {
            self.owed = true;
            return missing - 1;
        }
        missing
    }
}

impl Clock {
    /// Loads the program and prepares the clock of every CPU; none ticks before [`Clock::set_hz`].
    /// The program copies what `chains` tells of.
    pub fn open(settings: &Settings, chains: Option<BorrowedFd<'_>>) -> Result<Clock> {
        load::patiently(|| {
            let online = cpus::online()?;
            let ring_bytes = (online.len() * RING_BYTES_PER_CPU)
                .next_power_of_two()
                .clamp(LEAST_RING, LARGEST_RING) as u32;
            let mut open = CpuStacksSkelBuilder::default().open(load::place())?;
            let rodata = target::aim!(open, "cpu_stacks", settings);
            rodata.ring_bytes = ring_bytes;
            open.maps.ring.set_max_entries(ring_bytes)?;
            // CPUs that may come online, too
            let present = cpus::present().unwrap_or_default();
            let cpus = online
                .iter()
                .chain(&present)
                .max()
                .map_or(1, |last| last + 1);
            open.maps.scratch.set_max_entries(cpus)?;
            if let Some(chains) = chains {
                open.maps.chains.reuse_fd(chains)?;
            }
            load::keep_probe_read_user(open.open_object())?;
            let skel = open.load()?;
            target::set(&skel.maps.targets, &skel.maps.own, settings)?;
            let events: Result<Vec<Event>> = online
                .into_iter()
                .map(|cpu| Event::open(cpu, &skel))
                .collect();
            Ok(Clock {
                events: events?,
                skel,
                pace: None,
                hz: 0,
                random: Random::new(RandomState::new().hash_one(0)),
                asked: sys::monotonic_nanos(),
                woken: HashMap::new(),
                missed: 0,
                changes: Vec::new(),
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
        let bss = self.skel.maps.bss_data.as_deref();
        for event in &mut self.events {
            if let Some(pace) = &pace {
                event.start(pace, &mut self.random, ticks(bss, event.cpu))?;
            }
            if pace.is_some() != self.pace.is_some() {
                sys::enable(event.fd.as_fd(), pace.is_some())
                    .context("failed to switch the CPU clock")?;
            }
            if let Some(pace) = &pace {
                event.beat.started(pace, sys::monotonic_nanos());
            }
        }
        self.pace = pace;
        self.hz = hz;
        Ok(())
    }

    /// Closes the clocks of CPUs that went offline, since these clocks stay dead if their CPUs come back, and starts clocks for CPUs
    /// that came.
    fn follow_cpus(&mut self) {
        let Ok(online) = cpus::online() else {
            return;
        };
        let before = self.events.len();
        for event in self
            .events
            .extract_if(.., |event| !online.contains(&event.cpu))
        {
            self.changes.push((event.cpu, false));
        }
        let mut changed = self.events.len() != before;
        let places = self.skel.maps.scratch.max_entries();
        for cpu in online.into_iter().filter(|cpu| *cpu < places) {
            if self.events.iter().all(|event| event.cpu != cpu)
                // the CPU may be gone again
                && let Ok(mut event) = Event::open(cpu, &self.skel)
            {
                let before = ticks(self.skel.maps.bss_data.as_deref(), cpu);
                if let Some(pace) = &self.pace
                    && event.start(pace, &mut self.random, before).is_ok()
                    && sys::enable(event.fd.as_fd(), true).is_ok()
                {
                    event.beat.started(pace, sys::monotonic_nanos());
                }
                self.events.push(event);
                self.changes.push((cpu, true));
                changed = true;
            }
        }
        if changed && self.pace.is_some() {
            // the number of CPUs decides how often periods change
            self.pace = Some(Pace::new(self.hz, self.events.len()));
        }
    }

    /// When [`Clock::vary`] is to be called next (ns), if the clock of some CPU needs it.
    pub fn due(&self) -> Option<u64> {
        self.pace?;
        self.events
            .iter()
            .filter_map(|event| event.beat.due())
            .min()
    }

    /// Changes the periods that are due, and follows the CPUs that come and go.
    pub fn vary(&mut self) {
        let now = sys::monotonic_nanos();
        if now >= self.asked + CPUS_PERIOD {
            self.asked = now;
            self.follow_cpus();
        }
        let (Some(pace), Some(bss)) = (&self.pace, self.skel.maps.bss_data.as_deref()) else {
            return;
        };
        for event in &mut self.events {
            let activity = bss.activity.get(event.cpu as usize);
            let activity = activity.map_or(0, sys::read_shared);
            let now = sys::monotonic_nanos();
            let change = event.beat.change(pace, &mut self.random, now, activity);
            let Some((period, due)) = change else {
                continue;
            };
            self.missed += event.missing(due, ticks(Some(bss), event.cpu));
            let idle = self.idle.as_ref();
            let wakes = idle.is_some_and(|idle| sys::locked(idle).is_idle(event.cpu));
            *self.woken.entry(event.cpu).or_default() += u64::from(wakes);
            // the CPU may have gone offline meanwhile
            if sys::set_period(event.fd.as_fd(), period).is_ok() {
                event.beat.changed(pace, sys::monotonic_nanos());
            }
        }
    }

    pub fn exclude(&self, tgid: u32) -> Result<()> {
        target::insert(&self.skel.maps.own, tgid)
    }

    pub fn readmit(&self, tgid: u32) -> Result<()> {
        target::remove(&self.skel.maps.own, tgid)
    }

    /// Takes the CPUs that went offline (false) and came online (true) since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<(u32, bool)> {
        std::mem::take(&mut self.changes)
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

    /// Ticks that were due and did not come, or did not run the program, since another BPF program ran on their CPU. Virtual machines
    /// miss ticks while their host takes a CPU away.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Idle stays of this CPU that its timer ended, or a change of its period.
    pub fn own_wakeups(&self, cpu: u32) -> u64 {
        let bss = self.skel.maps.bss_data.as_deref();
        let ticks = bss.and_then(|bss| bss.own_wakeups.get(cpu as usize));
        ticks.map_or(0, sys::read_shared) + self.woken.get(&cpu).copied().unwrap_or(0)
    }

    pub fn ring(&self) -> &impl MapCore {
        &self.skel.maps.ring
    }

    /// The maps that the sources of events share with the clock.
    pub fn shared(&self, settings: &Settings) -> Result<events::Shared> {
        let maps = &self.skel.maps;
        let keep = |map| MapHandle::try_from(map).context("failed to keep a map of the CPU clock");
        Ok(events::Shared {
            ring: keep(&maps.ring)?,
            ring_bytes: maps.ring.max_entries(),
            steps: keep(&maps.steps)?,
            reaches: keep(&maps.reaches)?,
            pages: keep(&maps.pages)?,
            images: keep(&maps.images)?,
            chains: keep(&maps.chains)?,
            targets: keep(&maps.targets)?,
            own: keep(&maps.own)?,
            settings: settings.clone(),
        })
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

/// How often the timer of a CPU has run the program.
fn ticks(bss: Option<&layout::clock_counts>, cpu: u32) -> u64 {
    let ticks = bss.and_then(|bss| bss.ticks.get(cpu as usize));
    ticks.map_or(0, sys::read_shared)
}

/// Most bytes of one stack in a sample.
fn most_stack(hz: u32) -> u64 {
    (STACK_BYTES_PER_CPU / u64::from(hz)).clamp(LEAST_REACH, u64::from(abi::FT_CPU_STACK))
}

fn period(hz: u32) -> u64 {
    1_000_000_000 / u64::from(hz)
}
