//! Events: hits of a source, each counted with its weight, and few of them with the stack of their task.
//!
//! A source has a BPF object of its own (`bpf/events.bpf.c`), so that a source that this kernel refuses takes no other along, and the
//! kernel tells what each source costs. The objects share the CPU clock's ring and the maps that say what is copied of a stack.
//!
//! How many stacks are copied follows a [`Budget`] in two steps. [`Events::steer`] sets R of each source from the weight of the last
//! second; what comes meanwhile is braked in the kernel, where each CPU doubles its own R. R is in each record, so sums stay right.

mod attacher;
mod counter;
mod function;
mod kprobes;
mod loader;
mod rate;
pub mod source;
mod stretch;
mod tracepoint;
mod user;
mod wake;

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
};

use anyhow::{Context, Result};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, skel::Skel};

use crate::{
    Settings, abi, cpus, load,
    skeletons::{EventsSkel, layout},
    sys,
};
pub use attacher::Attacher;
pub use kprobes::check as check_functions;
pub use rate::Budget;
use rate::Pace;
pub use source::{
    Argument, ArgumentPlace, Comparison, Counter, Field, FieldKind, Hook, Next, Predicate,
    ProbedFile, Register, Site, SourceSpec, Test, Weight,
};

/// Classes of weights: class 0 has the hits of weight 0, class n those from 2^(n−1) to below 2^n.
pub const WEIGHTS: usize = abi::FT_WEIGHTS as usize;

/// A source that is attached, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// Exact sums of one source since it was attached. `hits = taken + limited + missed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTotals {
    /// Hits of the target's tasks.
    pub hits: u64,
    /// Their weight.
    pub weight: u64,
    /// Hits whose stack was copied, lost ones too.
    pub taken: u64,
    /// Hits whose stack was not due.
    pub limited: u64,
    /// Hits whose stack was due, but others were being copied on their CPU.
    pub missed: u64,
    /// Hits of `taken` whose stack found no room in the ring.
    pub lost: u64,
    /// Beside the hits: interrupts of idle CPUs, which are of no task.
    pub idle: u64,
    /// Beside the hits: how often the kernel did not run the program, of whatever task, since another program ran on that CPU.
    pub passed_over: u64,
    /// Bytes of user stacks in the ring.
    pub bytes: u64,
    /// Hits by class of their weight ([`WEIGHTS`]); all 0 where all hits weigh the same.
    pub weights: [u64; WEIGHTS],
    /// ns that the programs ran, and how often: counted while the kernel counts it.
    pub nanos: u64,
    /// See `nanos`.
    pub runs: u64,
    /// R that the reader has set.
    pub rate: u64,
}

/// What the objects of all sources share with the CPU clock.
pub(crate) struct Shared {
    pub ring: MapHandle,
    pub ring_bytes: u32,
    pub steps: MapHandle,
    pub reaches: MapHandle,
    pub pages: MapHandle,
    pub images: MapHandle,
    pub chains: MapHandle,
    pub targets: MapHandle,
    pub own: MapHandle,
    pub settings: Settings,
}

/// The attached sources. All of them are detached when this is dropped.
pub struct Events {
    attacher: Attacher,
    sources: BTreeMap<SourceId, Source>,
    next: u32,
    /// When the online CPUs were asked for last, ns.
    asked: u64,
    /// ns that the programs of detached sources ran.
    spent: u64,
}

/// How often the counters look for CPUs that came online or went offline, ns.
const CPUS_PERIOD: u64 = 1_000_000_000;

/// An attached source. It is detached when this is dropped. Links are dropped before the programs that they hold.
pub struct Source {
    links: Vec<Link>,
    /// Counters of CPUs.
    counters: Vec<counter::OfCpu>,
    skel: EventsSkel<'static>,
    spec: SourceSpec,
    pace: Pace,
    /// What counters of CPUs that went offline had counted.
    counted: u64,
}

impl Events {
    pub(crate) fn new(shared: Shared, most_stack: u64) -> Events {
        Events {
            attacher: Attacher::new(shared, most_stack),
            sources: BTreeMap::new(),
            next: 0,
            asked: sys::monotonic_nanos(),
            spent: 0,
        }
    }

    /// Attaches sources, on any thread.
    pub fn attacher(&self) -> Attacher {
        self.attacher.clone()
    }

    /// Attaches a source at once: see [`Attacher::attach`] and [`Events::add`].
    ///
    /// # Errors
    /// Why this kernel, these privileges or the file do not allow it.
    pub fn attach(&mut self, number: u32, spec: SourceSpec) -> Result<SourceId> {
        let source = self.attacher.attach(number, spec)?;
        Ok(self.add(source))
    }

    /// Takes a source that is attached: from now on it is steered.
    pub fn add(&mut self, source: Source) -> SourceId {
        let id = SourceId(self.next);
        self.next += 1;
        self.sources.insert(id, source);
        id
    }

    /// Gives a source away, which is still attached; nothing if there is none of this number.
    pub fn remove(&mut self, id: SourceId) -> Option<Source> {
        let source = self.sources.remove(&id)?;
        self.spent += load::program_nanos(source.skel.object());
        Some(source)
    }

    /// Detaches a source, and returns its last totals; nothing if it is not attached.
    pub fn detach(&mut self, id: SourceId) -> Option<EventTotals> {
        self.remove(id)?.detach()
    }

    /// The attached sources.
    pub fn attached(&self) -> impl Iterator<Item = (SourceId, &SourceSpec)> {
        self.sources.iter().map(|(id, source)| (*id, &source.spec))
    }

    /// Sets R of a source, in the unit of its weight; 0: the stack of each hit is copied.
    pub fn set_rate(&mut self, id: SourceId, rate: u64) {
        if let Some(source) = self.sources.get_mut(&id) {
            source.set_rate(rate);
        }
    }

    /// How many stacks of a source a CPU may copy in 10 ms before the kernel raises R by itself; 0: any number.
    pub fn set_most(&mut self, id: SourceId, most: u64) {
        if let Some(source) = self.sources.get_mut(&id) {
            source.control(|control| control.most = most);
        }
    }

    /// Sets R of each source by what came since the last call, so that all of them keep to the budget; call it about once a second.
    /// `seen`: see [`Events::all_totals`].
    pub fn steer(&mut self, budget: &Budget, seen: &[(SourceId, EventTotals)]) {
        let now = sys::monotonic_nanos();
        let active = seen.iter().filter(|(id, totals)| {
            let source = self.sources.get(id);
            source.is_some_and(|source| source.pace.has_more(totals))
        });
        let share = budget.of_each(active.count());
        let cpus = cpus::online().map_or(1, |cpus| cpus.len().max(1) as u64);
        for (id, totals) in seen {
            if let Some(source) = self.sources.get_mut(id) {
                let rate = source.pace.next(totals, now, &share);
                let most = share.most(cpus);
                source.control(|control| control.most = most);
                source.set_rate(rate);
            }
        }
    }

    /// Exact sums of all sources, as far as they can be read.
    pub fn all_totals(&self) -> Vec<(SourceId, EventTotals)> {
        let sources = self.sources.iter();
        sources
            .filter_map(|(id, source)| Some((*id, source.totals().ok()?)))
            .collect()
    }

    /// Exact sums of a source.
    ///
    /// # Errors
    /// If it is not attached.
    pub fn totals(&self, id: SourceId) -> Result<EventTotals> {
        let source = self.sources.get(&id).context("no such source")?;
        source.totals()
    }

    /// Closes counters of CPUs that went offline, and opens those of CPUs that came. Call it about once a second.
    pub fn follow_cpus(&mut self) {
        let now = sys::monotonic_nanos();
        if now < self.asked + CPUS_PERIOD {
            return;
        }
        self.asked = now;
        let Ok(online) = cpus::online() else {
            return;
        };
        for source in self.sources.values_mut() {
            counter::follow(source, &online);
        }
    }

    /// ns that the programs of all sources ran, of those that are detached, too.
    pub(crate) fn program_nanos(&self) -> u64 {
        let objects = self.sources.values();
        let attached = objects.map(|source| load::program_nanos(source.skel.object()));
        self.spent + attached.sum::<u64>()
    }
}

impl Source {
    /// Detaches it, on any thread, and returns its last totals. It takes its time: the kernel waits for all CPUs.
    pub fn detach(mut self) -> Option<EventTotals> {
        self.links.clear();
        self.counted += self.counters.iter().map(counter::OfCpu::count).sum::<u64>();
        self.counters.clear();
        self.totals().ok()
    }

    fn control(&mut self, set: impl FnOnce(&mut layout::ft_event_control)) {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            let mut control = sys::read_shared(&bss.control);
            set(&mut control);
            sys::write_shared(&mut bss.control, control);
        }
    }

    fn set_rate(&mut self, rate: u64) {
        self.control(|control| {
            control.rate = rate;
            // Each CPU's own R ends here.
            control.generation = control.generation.wrapping_add(1);
        });
    }

    fn totals(&self) -> Result<EventTotals> {
        // Before the runs: each of them is of something that was counted before.
        let counted = self.counted + self.counters.iter().map(counter::OfCpu::count).sum::<u64>();
        let key = 0u32.to_ne_bytes();
        let cpus = self
            .skel
            .maps
            .counts
            .lookup_percpu(&key, MapFlags::ANY)
            .context("failed to read the counts of a source")?
            .unwrap_or_default();
        let mut sums = vec![0u64; size_of::<layout::ft_event_counts>() / 8];
        for cpu in &cpus {
            for (sum, word) in sums.iter_mut().zip(cpu.chunks_exact(8)) {
                let word = word.try_into().unwrap_or_default();
                *sum = sum.wrapping_add(u64::from_ne_bytes(word));
            }
        }
        macro_rules! sum {
            ($field:ident) => {
                sums[std::mem::offset_of!(layout::ft_event_counts, $field) / 8]
            };
        }
        let mut weights = [0; WEIGHTS];
        let first = std::mem::offset_of!(layout::ft_event_counts, weights) / 8;
        weights.copy_from_slice(&sums[first..first + WEIGHTS]);
        // A hit that goes on at this moment is not told yet, so that the parts add up.
        let hits = sum!(taken) + sum!(limited) + sum!(missed);
        let weight = match self.spec.weight {
            Weight::Each(unit) => hits.saturating_mul(unit.saturating_mul(self.spec.hook.period())),
            _ => sum!(weight),
        };
        let mut totals = EventTotals {
            hits,
            weight,
            taken: sum!(taken),
            limited: sum!(limited),
            missed: sum!(missed),
            lost: sum!(lost),
            idle: sum!(idle),
            passed_over: 0,
            bytes: sum!(bytes),
            weights,
            nanos: 0,
            runs: 0,
            rate: self
                .skel
                .maps
                .bss_data
                .as_deref()
                .map_or(0, |bss| sys::read_shared(&bss.control.rate)),
        };
        for program in self.skel.object().progs() {
            let counts = sys::program_counts(program.as_fd()).unwrap_or_default();
            totals.nanos += counts.nanos;
            totals.runs += counts.runs;
            totals.passed_over += counts.passed_over;
        }
        if let Hook::Counter { period, .. } = self.spec.hook {
            totals.passed_over = (counted / period).saturating_sub(sum!(runs));
        }
        Ok(totals)
    }

    /// Holds a link as long as the source is attached.
    fn keep(&mut self, link: Link) {
        self.links.push(link);
    }
}

/// A descriptor that libbpf takes over.
fn given(fd: OwnedFd) -> i32 {
    std::os::fd::IntoRawFd::into_raw_fd(fd)
}
