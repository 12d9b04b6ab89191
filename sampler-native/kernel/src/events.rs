//! Events: hits of a source, each counted with its weight, and few of them with the stack of their task.
//!
//! A source has a BPF object of its own (`bpf/events.bpf.c`), so that a source that this kernel refuses takes no other along, and the
//! kernel tells what each source costs. The objects share the CPU clock's ring and the maps that say what is copied of a stack.
//!
//! How many stacks are copied follows a [`Budget`] in two steps. [`Events::steer`] sets R of each source from the weight of the last
//! second; what comes meanwhile is braked in the kernel, where each CPU doubles its own R. R is in each record, so sums stay right.

mod counter;
mod function;
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
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, ProgramAttachType,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    Settings, Target, abi, cpus, load,
    skeletons::{EventsSkel, EventsSkelBuilder, OpenEventsSkel, layout},
    sys, target,
};
pub use function::check_functions;
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
    pub targets: MapHandle,
    pub own: MapHandle,
    pub settings: Settings,
}

/// The attached sources. All of them are detached when this is dropped.
pub struct Events {
    shared: Shared,
    /// Samples that are being filled; the first source makes the map.
    scratch: Option<MapHandle>,
    sources: BTreeMap<SourceId, Source>,
    next: u32,
    /// When the online CPUs were asked for last, ns.
    asked: u64,
    /// Most bytes of one stack.
    most_stack: u64,
    /// ns that the programs of detached sources ran.
    spent: u64,
}

/// More functions or places than these are attached only where one link has all of them: one by one they take seconds.
const MOST_ONE_BY_ONE: usize = 512;
/// How often the counters look for CPUs that came online or went offline, ns.
const CPUS_PERIOD: u64 = 1_000_000_000;

/// An attached source. Links are dropped before the programs that they hold.
struct Source {
    links: Vec<Link>,
    /// Counters of CPUs.
    counters: Vec<counter::OfCpu>,
    skel: EventsSkel<'static>,
    spec: SourceSpec,
    pace: Pace,
    /// What counters of CPUs that went offline had counted.
    counted: u64,
}

/// The program that counts hits of a source, and how it is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Counter,
    Tracepoint,
    Function,
    Return,
    Usdt,
    Wake,
    Stretch,
}

impl Program {
    fn of(spec: &SourceSpec) -> Program {
        match &spec.hook {
            Hook::Counter { .. } => Program::Counter,
            Hook::Tracepoint { .. } => Program::Tracepoint,
            Hook::User { .. } if spec.is_usdt() => Program::Usdt,
            Hook::User { returns: false, .. } | Hook::Kernel { returns: false, .. } => {
                Program::Function
            }
            Hook::User { .. } | Hook::Kernel { .. } => Program::Return,
            Hook::Wake => Program::Wake,
            Hook::Lock { .. } | Hook::Off { .. } => Program::Stretch,
        }
    }
}

/// How many links probes of functions get, which is decided when their programs are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    /// One for all functions of a file.
    PerFile,
    /// One for all functions of the kernel.
    Kernel,
    /// One for each function; also of sources that are no functions.
    PerSite,
}

/// The number 0: the program is attached in none of the newer ways.
const NO_ATTACH_TYPE: ProgramAttachType = ProgramAttachType::CgroupInetIngress;

impl Events {
    pub(crate) fn new(shared: Shared, most_stack: u64) -> Events {
        Events {
            shared,
            scratch: None,
            sources: BTreeMap::new(),
            next: 0,
            asked: sys::monotonic_nanos(),
            most_stack,
            spent: 0,
        }
    }

    /// Attaches a source: from now on its hits are counted, and its records have this number. The stack of each hit is copied, until
    /// it is told otherwise ([`Events::steer`], [`Events::set_rate`]).
    ///
    /// # Errors
    /// Why this kernel, these privileges or the file do not allow it.
    pub fn attach(&mut self, number: u32, spec: SourceSpec) -> Result<SourceId> {
        spec.check()?;
        let source = match &spec.hook {
            Hook::Counter { .. } => {
                let mut source = self.load(number, &spec, Links::PerSite)?;
                counter::attach(&mut source)?;
                source
            }
            Hook::Tracepoint { id } => {
                let mut source = self.load(number, &spec, Links::PerSite)?;
                tracepoint::attach(&mut source, *id)?;
                source
            }
            Hook::User { .. } => user::attach(self, number, &spec)?,
            Hook::Kernel { .. } => function::attach_kernel(self, number, &spec)?,
            Hook::Lock { .. } | Hook::Off { .. } => {
                let mut source = self.load(number, &spec, Links::PerSite)?;
                stretch::attach(&mut source)?;
                source
            }
            Hook::Wake => {
                wake::check()?;
                let mut source = self.load(number, &spec, Links::PerSite)?;
                wake::attach(&mut source)?;
                source
            }
        };
        let id = SourceId(self.next);
        self.next += 1;
        self.sources.insert(id, source);
        Ok(id)
    }

    /// Detaches a source, and returns its last totals; nothing if it is not attached.
    pub fn detach(&mut self, id: SourceId) -> Option<EventTotals> {
        let mut source = self.sources.remove(&id)?;
        source.detach();
        let totals = source.totals().ok()?;
        self.spent += totals.nanos;
        Some(totals)
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
    pub fn steer(&mut self, budget: &Budget) {
        let now = sys::monotonic_nanos();
        let seen: Vec<_> = self
            .sources
            .iter()
            .filter_map(|(id, source)| Some((*id, source.totals().ok()?)))
            .collect();
        let active = seen.iter().filter(|(id, totals)| {
            let source = self.sources.get(id);
            source.is_some_and(|source| source.pace.has_more(totals))
        });
        let share = budget.of_each(active.count());
        let cpus = cpus::online().map_or(1, |cpus| cpus.len().max(1) as u64);
        for (id, totals) in seen {
            if let Some(source) = self.sources.get_mut(&id) {
                let rate = source.pace.next(&totals, now, &share);
                let most = share.most(cpus);
                source.control(|control| control.most = most);
                source.set_rate(rate);
            }
        }
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

    /// Loads the programs of a source.
    fn load(&mut self, number: u32, spec: &SourceSpec, links: Links) -> Result<Source> {
        let skel = load::patiently(|| {
            let mut open = EventsSkelBuilder::default().open(load::place())?;
            self.aim(&mut open, number, spec)?;
            choose(&mut open, spec, links);
            load::keep_probe_read_user(open.open_object())?;
            Ok(open.load()?)
        })
        .map_err(|error| match load::reason() {
            Some(reason) => error.context(reason),
            None => error,
        })?;
        if self.scratch.is_none() {
            self.scratch = Some(MapHandle::try_from(&skel.maps.scratch)?);
        }
        let mut source = Source {
            links: Vec::new(),
            counters: Vec::new(),
            skel,
            spec: spec.clone(),
            pace: Pace::default(),
            counted: 0,
        };
        if let Some(bss) = source.skel.maps.bss_data.as_deref_mut() {
            sys::write_shared(&mut bss.most_stack, self.most_stack);
        }
        Ok(source)
    }

    /// Sets the constants of an open object, and has it use the maps of the CPU clock.
    fn aim(&self, open: &mut OpenEventsSkel<'_>, number: u32, spec: &SourceSpec) -> Result<()> {
        let shared = &self.shared;
        let present = cpus::present()?
            .into_iter()
            .max()
            .map_or(1, |last| last + 1);
        let slots = present * abi::FT_EVENT_SLOTS;
        let rodata = target::aim!(open, "events", &shared.settings);
        rodata.ring_bytes = shared.ring_bytes;
        rodata.source = number;
        rodata.logarithms = rate::logarithms();
        spec.describe(rodata)?;
        let arguments = spec.sites().iter().filter(|site| site.argument.is_some());
        let arguments = arguments.count().max(1) as u32;
        open.maps.arguments.set_max_entries(arguments)?;
        open.maps.ring.reuse_fd(shared.ring.as_fd())?;
        open.maps.steps.reuse_fd(shared.steps.as_fd())?;
        open.maps.reaches.reuse_fd(shared.reaches.as_fd())?;
        open.maps.pages.reuse_fd(shared.pages.as_fd())?;
        open.maps.images.reuse_fd(shared.images.as_fd())?;
        open.maps.targets.reuse_fd(shared.targets.as_fd())?;
        open.maps.own.reuse_fd(shared.own.as_fd())?;
        match &self.scratch {
            Some(scratch) => open.maps.scratch.reuse_fd(scratch.as_fd())?,
            None => open.maps.scratch.set_max_entries(slots)?,
        }
        Ok(())
    }

    /// The processes to which probes of programs are limited; none: to no process.
    fn processes(&self) -> &[u32] {
        match &self.shared.settings.target {
            Target::Processes(ids) => ids,
            _ => &[],
        }
    }
}

/// Has the object load the programs that the source needs, and no other.
fn choose(open: &mut OpenEventsSkel<'_>, spec: &SourceSpec, links: Links) {
    let wanted = Program::of(spec);
    let timed = wanted == Program::Return && spec.weight == Weight::Duration;
    let progs = &mut open.progs;
    wake::choose(progs, wanted == Program::Wake);
    stretch::choose(progs, &spec.hook);
    progs.hit_counter.set_autoload(wanted == Program::Counter);
    progs
        .hit_tracepoint
        .set_autoload(wanted == Program::Tracepoint);
    for (program, wanted) in [
        (&mut progs.hit_usdt, wanted == Program::Usdt),
        (&mut progs.hit_function, wanted == Program::Function),
        (&mut progs.hit_return, wanted == Program::Return),
        (&mut progs.begin_call, timed),
    ] {
        program.set_autoload(wanted);
        match links {
            // As the sections of the programs say.
            Links::PerFile => {}
            Links::Kernel => program.set_attach_type(ProgramAttachType::KprobeMulti),
            Links::PerSite => program.set_attach_type(NO_ATTACH_TYPE),
        }
    }
}

impl Source {
    /// Ends all hits.
    fn detach(&mut self) {
        self.links.clear();
        self.counted += self.counters.iter().map(counter::OfCpu::count).sum::<u64>();
        self.counters.clear();
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
