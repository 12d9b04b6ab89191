//! Loading the programs of a source. It takes its time, since the verifier checks them; so any thread may do it, beside passes.

use std::{
    os::fd::AsFd,
    sync::{Arc, Mutex},
};

use anyhow::{Context, Result};
use libbpf_rs::{
    MapHandle, ProgramAttachType,
    skel::{OpenSkel, SkelBuilder},
};

use super::{
    Hook, Shared, Source, SourceSpec, Weight,
    rate::{self, Budget, Pace},
    stretch, wake,
};
use crate::{
    Target, abi, cpus, load,
    skeletons::{EventsSkelBuilder, OpenEventsSkel},
    sys, target,
};

/// More functions or places than these are attached only where one link has all of them: one by one they take seconds.
pub const MOST_ONE_BY_ONE: usize = 512;

/// The program that counts hits of a source, and how it is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Counter,
    Tracepoint,
    Function,
    Return,
    Usdt,
    Jumps,
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
            Hook::Jumps { .. } => Program::Jumps,
            Hook::Wake => Program::Wake,
            Hook::Lock { .. } | Hook::Off { .. } => Program::Stretch,
        }
    }
}

/// How many links probes of functions get, which is decided when their programs are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// One for all functions of a file.
    PerFile,
    /// One for all functions of the kernel.
    Kernel,
    /// One for each function; also of sources that are no functions.
    PerSite,
}

/// The number 0: the program is attached in none of the newer ways.
const NO_ATTACH_TYPE: ProgramAttachType = ProgramAttachType::CgroupInetIngress;

/// Loads the programs of sources. All of its copies are the same.
#[derive(Clone)]
pub(super) struct Loader {
    shared: Arc<Shared>,
    /// Samples that are being filled; the first source makes the map.
    scratch: Arc<Mutex<Option<MapHandle>>>,
    /// Most bytes of one stack.
    most_stack: u64,
    /// Of a source that was not steered yet: stacks that a CPU may copy in 10 ms.
    most: u64,
}

impl Loader {
    pub(super) fn new(shared: Shared, most_stack: u64) -> Loader {
        Loader {
            shared: Arc::new(shared),
            scratch: Arc::default(),
            most_stack,
            most: 0,
        }
    }

    /// From now on, sources are braked by the kernel from their first hit on, as if they shared the budget with none.
    pub fn brake(&mut self, budget: &Budget) {
        let cpus = cpus::online().map_or(1, |cpus| cpus.len().max(1) as u64);
        self.most = budget.of_each(1).most(cpus);
    }

    /// Loads the programs of a source.
    pub(super) fn load(&self, number: u32, spec: &SourceSpec, links: Links) -> Result<Source> {
        let mut scratch = sys::locked(&self.scratch);
        let skel = load::patiently(|| {
            let mut open = EventsSkelBuilder::default().open(load::place())?;
            self.aim(&mut open, number, spec, scratch.as_ref())?;
            choose(&mut open, spec, links);
            load::keep_probe_read_user(open.open_object())?;
            Ok(open.load()?)
        })
        .map_err(|error| match load::reason() {
            Some(reason) => error.context(reason),
            None => error,
        })?;
        if scratch.is_none() {
            *scratch = Some(MapHandle::try_from(&skel.maps.scratch)?);
        }
        drop(scratch);
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
        source.control(|control| control.most = self.most);
        Ok(source)
    }

    /// Sets the constants of an open object, and has it use the maps of the CPU clock.
    fn aim(
        &self,
        open: &mut OpenEventsSkel<'_>,
        number: u32,
        spec: &SourceSpec,
        scratch: Option<&MapHandle>,
    ) -> Result<()> {
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
        open.maps.chains.reuse_fd(shared.chains.as_fd())?;
        open.maps.targets.reuse_fd(shared.targets.as_fd())?;
        open.maps.own.reuse_fd(shared.own.as_fd())?;
        match scratch {
            Some(scratch) => open.maps.scratch.reuse_fd(scratch.as_fd())?,
            None => open.maps.scratch.set_max_entries(slots)?,
        }
        Ok(())
    }

    /// The processes to which probes of programs are limited; none: to no process.
    pub(super) fn processes(&self) -> &[u32] {
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
        (&mut progs.fill_jump_buffer, wanted == Program::Jumps),
        (&mut progs.hit_jump, wanted == Program::Jumps),
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
