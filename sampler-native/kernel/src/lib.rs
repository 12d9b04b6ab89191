//! The kernel side of flametop: loads the BPF programs, makes passes over all tasks, drains the rings of the CPU
//! clock and of task ends, and counts idle time.
//!
//! There is one BPF object per job, so that an object which a kernel refuses does not take the others along. Only the passes must
//! work; [`Kernel::notices`] tells which other objects are missing.
//!
//! # Threads
//! [`Kernel`] belongs to the thread that makes the passes, [`Rings`] to another one, which also has the CPU clock tick
//! unevenly while it polls; both are `Send`. Requests
//! ([`Kernel::want`], [`Kernel::exclude`]) take `&self`.
//!
//! # Errors
//! [`Kernel::open`] gives an [`OpenError`]: one line for people, with the remedy. Nothing is written to stderr.
//! Everything else fails only if the kernel takes back what it allowed at opening.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard},
};

use anyhow::{Context, Result};
use libbpf_rs::MapCore;

mod beat;
mod check;
mod clock;
mod cpus;
mod cycles;
pub mod events;
#[cfg(fuzzing)]
pub mod fuzzed;
mod idle;
mod life;
mod load;
mod mappings;
mod namespace;
mod passes;
pub mod record;
mod rings;
mod skeletons;
mod sys;
mod target;

pub use check::check;
pub use cpus::online as online_cpus;
pub use mappings::{Mapping, MappingChange, MappingEvent, Mappings};
pub use rings::{Reach, Rings, Step, Whose};
use {
    clock::Clock, cycles::Cycles, events::Events, idle::Idle, life::Life, passes::Passes,
    record::Record,
};

/// Constants of `bpf/flametop.h`.
pub mod abi {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

/// The tasks to sample. Fixed when the kernel side is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Every task.
    #[default]
    All,
    /// All threads of these processes; not their children.
    Processes(Vec<u32>),
    /// These threads.
    Threads(Vec<u32>),
    /// All tasks of the control group with this id in the default hierarchy, and of groups below it.
    Cgroup(u64),
}

/// The hierarchy of the control groups in records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 2.
    #[default]
    Default,
    /// Of version 1: the one that the memory controller is in.
    Memory,
    /// Of version 1: the one that the pids controller is in.
    Pids,
}

/// How to open the kernel side.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The tasks to sample.
    pub target: Target,
    /// The hierarchy whose groups records have.
    pub hierarchy: Hierarchy,
    /// Samples a second of each CPU, in the mean; 0: the CPU clock is off until [`Kernel::set_cpu_hz`].
    pub cpu_hz: u32,
    /// tgids that are never sampled: flametop's own.
    pub own: Vec<u32>,
}

/// What kind of failure it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenErrorKind {
    /// This kernel or these privileges do not allow it.
    NotPossible,
    /// The target does not exist.
    TargetGone,
    /// Anything else.
    Failed,
}

/// Why the kernel side could not be opened: one line for people, with the remedy.
#[derive(Clone, Debug)]
pub struct OpenError {
    /// Decides the exit code.
    pub kind: OpenErrorKind,
    /// One line.
    pub message: String,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenError {}

/// Tasks of one pass, each in exactly one of the parts:
/// `visited = written + unchanged + on_cpu + idle_kthreads + failed_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassCounts {
    /// Tasks of the target that the iterator visited.
    pub visited: u64,
    /// A whole record.
    pub written: u64,
    /// Off the CPU and unchanged: no record.
    pub unchanged: u64,
    /// On a CPU: head only; without a CPU clock with the user stack of the last kernel entry (`FT_LAST_ENTRY`).
    pub on_cpu: u64,
    /// Idle kernel threads: head if one had run, else no record.
    pub idle_kthreads: u64,
    /// No user stack since mmap_lock was held.
    pub failed_mm_busy: u64,
    /// The task ran while it was read.
    pub failed_torn: u64,
    /// The user stack could not be read.
    pub failed_faulted: u64,
    /// The task was exiting and had no memory any more.
    pub failed_exited: u64,
}

/// Totals since opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounters {
    /// Samples that the CPU clock took of the target, dropped ones too.
    pub cpu_samples: u64,
    /// … of them: lost, since the ring was full.
    pub cpu_dropped: u64,
    /// Ticks of the CPU clock that were due and did not come, or found another BPF program running.
    pub ticks_missed: u64,
    /// Exit and exec records lost.
    pub life_dropped: u64,
    /// Bytes of user stack memory copied into records.
    pub bytes_copied: u64,
    /// ns that the BPF programs ran, up to a fifth of a second ago; 0 where the kernel does not count it.
    pub program_nanos: u64,
}

/// How long the programs of one object ran since opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTime {
    /// Name of the object, as in `bpf/`.
    pub name: &'static str,
    /// ns; 0 where the kernel does not count it.
    pub nanos: u64,
    /// The programs run in the time of any task; else within a pass, in the time of the thread that makes it.
    pub elsewhere: bool,
}

/// Time of one online CPU: totals since opening. Times of `/proc/stat` are totals since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUsage {
    /// Number of the CPU.
    pub cpu: u32,
    /// ns idle, the open stay included.
    pub idle: u64,
    /// ns over which `idle` was counted.
    pub elapsed: u64,
    /// Ends of idle stays.
    pub wakeups: u64,
    /// … made by the CPU clock: its timer, or a change of the timer's period.
    pub own_wakeups: u64,
    /// `/proc/stat`, ns.
    pub user: u64,
    /// `/proc/stat`, ns.
    pub nice: u64,
    /// `/proc/stat`, ns.
    pub system: u64,
    /// `/proc/stat`, ns; [`NOT_COUNTED`] if no CPU ever had any.
    pub irq: u64,
    /// `/proc/stat`, ns.
    pub softirq: u64,
    /// `/proc/stat`, ns.
    pub steal: u64,
}

/// A figure that the kernel does not count.
pub const NOT_COUNTED: u64 = u64::MAX;

/// Speed of one online CPU. Utilisation by cycles is `cycles` over `offered`, each by how much it grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuCycles {
    /// Number of the CPU.
    pub cpu: u32,
    /// Hz now; [`NOT_COUNTED`] where there is none.
    pub frequency: u64,
    /// Cycles that passed at its frequencies since opening, used or not; [`NOT_COUNTED`] without frequencies.
    pub offered: u64,
    /// Cycles that it ran since opening, by its hardware counter; [`NOT_COUNTED`] without one.
    pub cycles: u64,
}

/// Stays of one CPU in one idle state: totals since opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleUsage {
    /// Number of the CPU.
    pub cpu: u32,
    /// Index of the state.
    pub state: u32,
    /// ns in it, the open stay included.
    pub residency: u64,
    /// Stays that ended.
    pub entries: u64,
    /// … shorter than the target residency of the state.
    pub too_short: u64,
    /// … long enough for the next deeper state.
    pub too_long: u64,
}

/// A CPU that came online or went offline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuChange {
    /// Number of the CPU.
    pub cpu: u32,
    /// It came online; else it went offline.
    pub online: bool,
    /// The idle states of a CPU that came online, by depth.
    pub idle_states: Vec<IdleStateFacts>,
}

/// One idle state of one CPU, as sysfs describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleStateFacts {
    /// Number of the CPU.
    pub cpu: u32,
    /// Index of the state.
    pub state: u32,
    /// Its name; raw text of the driver.
    pub name: String,
    /// µs.
    pub exit_latency_us: u64,
    /// µs.
    pub target_residency_us: u64,
}

/// One line of `flametop check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckLine {
    /// The thing is as it should be.
    pub ok: bool,
    /// Without the thing nothing works.
    pub needed: bool,
    /// The thing that was looked at.
    pub what: String,
    /// The finding.
    pub detail: String,
    /// The remedy; empty if none is needed.
    pub remedy: String,
}

/// The loaded programs.
pub struct Kernel {
    passes: Passes,
    /// The thread of the rings changes its periods.
    clock: Option<Arc<Mutex<Clock>>>,
    life: Option<Life>,
    idle: Option<Arc<Mutex<Idle>>>,
    idle_states: Vec<IdleStateFacts>,
    no_idle_states: Option<String>,
    settings: Settings,
    events: Option<Events>,
    cycles: RefCell<Cycles>,
    notices: Vec<String>,
    /// `/proc/stat` at opening: idle time is counted from there if the tracepoint does not work.
    opened_stat: Vec<cpus::StatLine>,
    opened: u64,
    /// By CPU: time that it was offline, and sums as told last.
    offline: RefCell<HashMap<u32, Offline>>,
    /// What is dear to ask for, as of when (ns).
    asked: Cell<u64>,
    stat: RefCell<Vec<cpus::StatLine>>,
    programs: RefCell<Vec<ProgramTime>>,
    /// While this is open the kernel counts how long programs run; `None` if the kernel does not allow it.
    program_time: Option<OwnedFd>,
}

/// The time that a CPU was offline, which is neither busy nor idle: sums of the CPU leave it out.
#[derive(Default)]
struct Offline {
    /// Left out of the elapsed and of the idle time, ns.
    elapsed: u64,
    idle: u64,
    /// As told last, ns.
    told: Option<(u64, u64)>,
    /// The CPU was not among those that are online when they were told last.
    now: bool,
}

impl Offline {
    /// The elapsed and the idle time without those that the CPU was offline.
    fn leave_out(&mut self, elapsed: u64, idle: u64) -> (u64, u64) {
        if let (true, Some((told_elapsed, told_idle))) = (self.now, self.told) {
            self.elapsed = elapsed.saturating_sub(told_elapsed);
            self.idle = idle.saturating_sub(told_idle);
        }
        self.now = false;
        let left = (
            elapsed.saturating_sub(self.elapsed),
            idle.saturating_sub(self.idle),
        );
        self.told = Some(left);
        left
    }
}

/// `/proc/stat` counts in ticks, and is the longer the more CPUs and interrupts there are: it and the programs' run time are
/// asked for no more often than this, ns.
const ASK_PERIOD: u64 = 200_000_000;

impl Kernel {
    /// Loads and attaches the programs, and starts the CPU clock.
    ///
    /// # Errors
    /// If tasks cannot be sampled at all, or the target does not exist.
    pub fn open(settings: &Settings) -> Result<(Kernel, Rings), OpenError> {
        load::silence();
        check::refuse_impossible()?;
        check::refuse_missing_target(&settings.target)?;
        let mut settings = settings.clone();
        settings.own.push(std::process::id());
        let settings = &settings;

        let told = |what: &str, error: anyhow::Error| {
            let (why, remedy) = check::explain(&error);
            format!("{what}: {why}; {remedy}")
        };
        let mut passes = Passes::open(settings).map_err(|error| OpenError {
            kind: OpenErrorKind::NotPossible,
            message: told("tasks cannot be sampled", error),
        })?;
        let mut notices = Vec::from_iter(check::stacks_fall_short());
        notices.extend(check::no_run_queue_time());
        if !passes.takes_no_faults() {
            notices.push(
                "stacks are copied through page faults, since this kernel lets nobody read its memory: who remaps a stack in \
                 the very moment of the copy can hold up the passes"
                    .to_owned(),
            );
        }
        if !namespace::is_initial() {
            notices.push(
                "in a container: only its own tasks are seen; run it with the host's pid namespace (--pid=host)"
                    .to_owned(),
            );
        }
        let mut optional = |what: &str, error| notices.push(told(what, error));
        let failed = |error: anyhow::Error| OpenError {
            kind: OpenErrorKind::Failed,
            message: format!("{error:#}"),
        };
        let mut clock = Clock::open(settings)
            .map_err(|e| {
                optional(
                    "no CPU clock: running tasks have the stack of their last kernel entry",
                    e,
                )
            })
            .ok();
        if clock.is_none() {
            passes.take_running_stacks();
        }
        let life = Life::open(settings)
            .map_err(|e| optional("ends of tasks are seen late", e))
            .ok();
        let (idle_states, no_idle_states) = idle::states();
        let idle = Idle::open(&idle_states)
            .map_err(|e| optional("idle time is rough, by /proc/stat", e))
            .ok()
            .map(|idle| Arc::new(Mutex::new(idle)));
        if let Some(clock) = &mut clock {
            clock.idle = idle.clone();
        }

        let rings = life.iter().map(|life| life.ring() as &dyn MapCore);
        let rings = rings.chain(clock.iter().map(|clock| clock.ring() as &dyn MapCore));
        let learned = clock.as_ref().map(Clock::learned).transpose();
        let mut rings = Rings::open(rings, learned.map_err(failed)?).map_err(failed)?;
        let clock = clock.map(|clock| Arc::new(Mutex::new(clock)));
        rings.vary(clock.as_ref());
        let mut kernel = Kernel {
            passes,
            clock,
            life,
            idle,
            idle_states,
            no_idle_states,
            settings: settings.clone(),
            events: None,
            cycles: RefCell::new(Cycles::open()),
            notices,
            opened_stat: cpus::stat(),
            opened: sys::monotonic_nanos(),
            offline: RefCell::default(),
            asked: Cell::new(0),
            stat: RefCell::default(),
            programs: RefCell::default(),
            program_time: None,
        };
        kernel.set_cpu_hz(settings.cpu_hz).map_err(failed)?;
        Ok((kernel, rings))
    }

    /// The sources of events, none at first. Their records come from [`Rings`] with the samples of the CPU clock.
    ///
    /// # Errors
    /// Where there is no CPU clock, whose ring they use.
    pub fn events(&mut self) -> Result<&mut Events> {
        if self.events.is_none() {
            let clock = self.clock();
            let clock = clock.context(
                "without a CPU clock there are no events: flametop check says why there is none",
            )?;
            let shared = clock.shared(&self.settings)?;
            drop(clock);
            self.events = Some(Events::new(shared, u64::from(abi::FT_CPU_STACK)));
        }
        self.events.as_mut().context("there are events")
    }

    fn clock(&self) -> Option<MutexGuard<'_, Clock>> {
        self.clock.as_deref().map(sys::locked)
    }

    fn idle_time(&self) -> Option<MutexGuard<'_, Idle>> {
        self.idle.as_deref().map(sys::locked)
    }

    /// One walk over all tasks of the target; `on_record` is called for each record as it is read.
    /// `marks`: tasks that need no record of their own get one of kind `FT_KIND_MARK`, head only.
    ///
    /// # Errors
    /// If the kernel refuses the walk. Tasks of the part that was made are remembered as seen.
    pub fn pass(
        &mut self,
        marks: bool,
        on_record: &mut dyn FnMut(Record<'_>),
    ) -> Result<PassCounts> {
        self.passes.pass(marks, on_record)
    }

    /// Asks for the memory at `address`, at most 8 KiB, in the task's record of the next pass that finds it off the
    /// CPU; that record is written even if nothing changed. One request a task: a later one replaces it. Within 16 passes
    /// after the last request, else it may be forgotten.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn want(&self, tid: u32, address: u64) -> Result<()> {
        self.passes.want(tid, address)
    }

    /// Never samples this process from now on. The process that opened the kernel side is excluded from the start.
    ///
    /// # Errors
    /// If there are more than 256 such processes.
    pub fn exclude(&self, tgid: u32) -> Result<()> {
        self.passes.exclude(tgid)?;
        self.clock().map_or(Ok(()), |clock| clock.exclude(tgid))?;
        self.life.as_ref().map_or(Ok(()), |life| life.exclude(tgid))
    }

    /// Takes back [`Kernel::exclude`]: the process is gone, and another one may soon have its number.
    ///
    /// # Errors
    /// If it was not excluded.
    pub fn readmit(&self, tgid: u32) -> Result<()> {
        self.passes.readmit(tgid)?;
        self.clock().map_or(Ok(()), |clock| clock.readmit(tgid))?;
        self.life.as_ref().map_or(Ok(()), |life| life.readmit(tgid))
    }

    /// Changes the rate of the CPU clock; 0 switches it off. Does nothing where there is no CPU clock.
    ///
    /// # Errors
    /// If the rate is above 10,000.
    pub fn set_cpu_hz(&mut self, hz: u32) -> Result<()> {
        self.clock().map_or(Ok(()), |mut clock| clock.set_hz(hz))
    }

    /// Takes the CPUs that went offline and came online since the last call, in order. From then on [`Kernel::idle`] tells of the
    /// idle states of a CPU that came online.
    pub fn take_cpu_changes(&mut self) -> Vec<CpuChange> {
        let changes = self
            .clock()
            .map_or_else(Vec::new, |mut clock| clock.take_changes());
        let follow = |(cpu, online)| {
            let idle_states = if online {
                idle::states_of(cpu)
            } else {
                Vec::new()
            };
            if let Some(idle) = self.idle.as_deref().filter(|_| online) {
                sys::locked(idle).aim(&idle_states);
                self.idle_states.retain(|state| state.cpu != cpu);
                self.idle_states.extend(idle_states.iter().cloned());
            }
            CpuChange {
                cpu,
                online,
                idle_states,
            }
        };
        changes.into_iter().map(follow).collect()
    }

    /// Totals since opening.
    pub fn counters(&self) -> KernelCounters {
        let (cpu_samples, cpu_dropped, cpu_bytes) =
            self.clock().map_or((0, 0, 0), |clock| clock.totals());
        self.ask();
        KernelCounters {
            cpu_samples,
            cpu_dropped,
            ticks_missed: self.clock().map_or(0, |clock| clock.missed()),
            life_dropped: self.life.as_ref().map_or(0, Life::dropped),
            bytes_copied: self.passes.bytes_copied() + cpu_bytes,
            program_nanos: self
                .programs
                .borrow()
                .iter()
                .map(|program| program.nanos)
                .sum(),
        }
    }

    /// Asks for the expensive figures, unless that was done a moment ago.
    fn ask(&self) {
        let now = sys::monotonic_nanos();
        if self.asked.get() != 0 && now < self.asked.get() + ASK_PERIOD {
            return;
        }
        self.asked.set(now);
        self.stat.replace(cpus::stat());
        let cycles = self.cycles.borrow();
        let clock = self.clock();
        let idle = self.idle_time();
        let objects = [
            ("task_stacks", Some(self.passes.object()), false),
            ("cpu_stacks", clock.as_deref().map(Clock::object), true),
            ("task_life", self.life.as_ref().map(Life::object), true),
            ("cpu_idle", idle.as_deref().map(Idle::object), true),
            ("cpu_frequency", cycles.object(), true),
        ];
        let time = |(name, object, elsewhere): (_, Option<&libbpf_rs::Object>, _)| {
            let nanos = load::program_nanos(object?);
            Some(ProgramTime {
                name,
                nanos,
                elsewhere,
            })
        };
        let events = self.events.as_ref().map(|events| ProgramTime {
            name: "events",
            nanos: events.program_nanos(),
            elsewhere: true,
        });
        self.programs
            .replace(objects.into_iter().filter_map(time).chain(events).collect());
    }

    /// Has the kernel count how long programs run, or not: it costs every program of this host some 70 ns a run. Where it may
    /// not be had, it stays at 0.
    pub fn count_program_time(&mut self, wanted: bool) {
        self.program_time = wanted.then(sys::count_program_time).and_then(Result::ok);
    }

    /// How long the loaded programs ran, up to a fifth of a second ago.
    pub fn programs(&self) -> Vec<ProgramTime> {
        self.ask();
        self.programs.borrow().clone()
    }

    /// Usage of each online CPU. Times of `/proc/stat` may be a fifth of a second old.
    pub fn cpus(&self) -> Vec<CpuUsage> {
        self.ask();
        let stat = self.stat.borrow();
        // the column is there on every kernel; without CONFIG_IRQ_TIME_ACCOUNTING nothing ever adds to it
        let irq_counted = stat.iter().any(|line| line.irq > 0);
        let clock = self.clock();
        let idle_time = self.idle_time();
        let mut offline = self.offline.borrow_mut();
        for (cpu, of) in offline.iter_mut() {
            of.now |= stat.iter().all(|line| line.cpu != *cpu);
        }
        let usage = |line: &cpus::StatLine| {
            let counted = idle_time.as_ref().and_then(|idle| idle.stay(line.cpu));
            let (idle, elapsed, wakeups) = match counted {
                Some(stay) => (stay.idle, stay.elapsed, stay.wakeups),
                None => {
                    let opened = self
                        .opened_stat
                        .iter()
                        .find(|at| at.cpu == line.cpu)
                        .map_or(0, |at| at.idle);
                    let elapsed = sys::monotonic_nanos() - self.opened;
                    (line.idle.saturating_sub(opened).min(elapsed), elapsed, 0)
                }
            };
            let (elapsed, idle) = offline
                .entry(line.cpu)
                .or_default()
                .leave_out(elapsed, idle);
            CpuUsage {
                cpu: line.cpu,
                idle,
                elapsed,
                wakeups,
                own_wakeups: clock
                    .as_ref()
                    .map_or(0, |clock| clock.own_wakeups(line.cpu)),
                user: line.user,
                nice: line.nice,
                system: line.system,
                irq: if irq_counted { line.irq } else { NOT_COUNTED },
                softirq: line.softirq,
                steal: line.steal,
            }
        };
        stat.iter().map(usage).collect()
    }

    /// Stays in each idle state of each online CPU; empty where they cannot be counted.
    pub fn idle(&self) -> Vec<IdleUsage> {
        let Some(idle) = self.idle_time() else {
            return Vec::new();
        };
        self.idle_states
            .iter()
            .filter_map(|facts| idle.state(facts.cpu, facts.state))
            .collect()
    }

    /// The idle states of CPUs that are or were online, by depth, or why there are none.
    pub fn idle_states(&self) -> (Vec<IdleStateFacts>, Option<String>) {
        (self.idle_states.clone(), self.no_idle_states.clone())
    }

    /// Speed of each online CPU, as far as it is known.
    pub fn cycles(&self) -> Vec<CpuCycles> {
        self.cycles.borrow_mut().tell()
    }

    /// Why there are no frequencies, and why no cycles; `None` where there are.
    pub fn cycles_missing(&self) -> (Option<String>, Option<String>) {
        self.cycles.borrow().missing()
    }

    /// The things that do not work, each one line with the remedy.
    pub fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }
}
