//! The kernel side as its caller has it: all programs, loaded.

use std::{
    cell::{Cell, RefCell},
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard},
};

use anyhow::{Context, Result};
use libbpf_rs::MapCore;

use crate::{
    Chain, CpuChange, CpuCycles, CpuUsage, IdleStateFacts, IdleUsage, KernelCounters, NOT_COUNTED,
    OpenError, OpenErrorKind, PassCounts, ProgramTime, Rings, Settings, abi, check,
    clock::Clock,
    cpus,
    cycles::Cycles,
    events::Events,
    idle::{self, Idle},
    life::Life,
    load, namespace,
    offline::OfflineTimes,
    passes::Passes,
    record::Record,
    sys,
};

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
    offline: RefCell<OfflineTimes>,
    /// What is dear to ask for, as of when (ns).
    asked: Cell<u64>,
    stat: RefCell<Vec<cpus::StatLine>>,
    programs: RefCell<Vec<ProgramTime>>,
    /// While this is open the kernel counts how long programs run; `None` if the kernel does not allow it.
    program_time: Option<OwnedFd>,
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
                "in a container: only its own tasks are seen; with --pid=host all of them are"
                    .to_owned(),
            );
        }
        let mut optional = |what: &str, error| notices.push(told(what, error));
        let failed = |error: anyhow::Error| OpenError {
            kind: OpenErrorKind::Failed,
            message: format!("{error:#}"),
        };
        let mut clock = Clock::open(settings, Some(passes.chains()))
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

    /// What is sampled, and by whom.
    pub fn settings(&self) -> &Settings {
        &self.settings
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

    /// Has all that copies stacks copy this chain with each stack of the thread from now on. Of 16,384 threads, those that were seen
    /// last are kept.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn follow(&self, chain: &Chain) -> Result<()> {
        self.passes.follow(chain)
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
        offline.next_round();
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
            let (elapsed, idle) = offline.leave_out(line.cpu, elapsed, idle);
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
