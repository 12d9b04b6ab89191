//! Records, as they are written and read.

use std::borrow::Cow;

use crate::{COUNTERS, End, Level, ModuleKind, NameSource, SourceState, Space, State, Unit};

/// One record; the table of the crate describes the fields.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Totals by [`Counter`](crate::Counter).
    Counters([u64; COUNTERS]),
    ProcessSeen {
        process: u32,
        tgid: u32,
        start_boottime: u64,
        self_exec_id: u32,
        uid: u32,
        cgroup: u64,
        kthread: bool,
        comm: &'a [u8],
        cmdline: &'a [u8],
    },
    TaskSeen {
        task: u32,
        process: u32,
        tid: u32,
        start: u64,
        fresh: bool,
        comm: &'a [u8],
    },
    TaskGone {
        task: u32,
        time: u64,
        run: u64,
        wait: u64,
        exact: bool,
    },
    /// `ns`: [`NOT_COUNTED`](crate::NOT_COUNTED) where the kernel does not count it.
    TaskBlocked {
        task: u32,
        ns: u64,
    },
    ModuleSeen {
        module: u32,
        kind: ModuleKind,
        path: &'a [u8],
        build_id: &'a [u8],
    },
    FrameSeen {
        frame: u32,
        module: u32,
        offset: u64,
        guessed: bool,
    },
    /// `frames` are outermost first: `user` user frames, then kernel frames.
    StackSeen {
        stack: u32,
        end: End,
        user: u16,
        frames: Cow<'a, [u32]>,
    },
    TaskChanged(Head),
    CpuSample(Head),
    /// `ticks`: user, nice, system, irq, softirq, steal.
    CpuUsage {
        cpu: u32,
        idle: u64,
        elapsed: u64,
        wakeups: u64,
        own_wakeups: u64,
        ticks: [u64; 6],
    },
    IdleState {
        cpu: u32,
        state: u32,
        residency: u64,
        entries: u64,
        too_short: u64,
        too_long: u64,
    },
    Name {
        frame: u32,
        source: NameSource,
        name: &'a [u8],
    },
    Notice {
        level: Level,
        text: &'a [u8],
        process: Option<u32>,
    },
    /// `load`: averages over 1, 5 and 15 minutes, × 100.
    HostUsage {
        load: [u32; 3],
        pass_hz: u32,
        cpu_hz: u32,
        own_cpu: u64,
    },
    Forgotten {
        space: Space,
        ids: Cow<'a, [u32]>,
    },
    /// `cpu`: parts and their ns; `resident`: processes and their bytes.
    OwnUsage {
        cpu: Vec<(&'a [u8], u64)>,
        resident: Vec<(&'a [u8], u64)>,
    },
    /// `calls` are outermost first; without any `missing` says why.
    Place {
        frame: u32,
        calls: Vec<Call<'a>>,
        missing: &'a [u8],
    },
    CpuCycles {
        cpu: u32,
        frequency: u64,
        offered: u64,
        cycles: u64,
    },
    Cgroup {
        process: u32,
        path: &'a [u8],
    },
    CpuChanged {
        cpu: u32,
        online: bool,
        idle: Vec<IdleFacts<'a>>,
    },
    SourceSeen {
        source: u32,
        state: SourceState,
        unit: Unit,
        spec: &'a [u8],
        why: &'a [u8],
    },
    SourceTotals(SourceTotals),
    Event {
        head: Head,
        source: u32,
        weight: u64,
        rate: u64,
    },
    Parent {
        process: u32,
        parent: u32,
    },
    /// A record of a kind that this version does not know, or a *forgotten* of a space of ids that it does not know.
    Unknown {
        kind: u16,
        body: &'a [u8],
    },
}

/// One idle state of a *CPU changed* record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleFacts<'a> {
    /// Number of the state.
    pub state: u32,
    /// The driver's name of the state.
    pub name: &'a [u8],
    /// µs.
    pub exit_latency: u64,
    /// µs.
    pub target_residency: u64,
}

/// One function of a *place* record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// Empty where it is not known.
    pub function: &'a [u8],
    /// The path that the compiler was given; empty where it is not known.
    pub file: &'a [u8],
    /// 0: not known.
    pub line: u32,
}

/// Totals of a source of events since it was switched on first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTotals {
    /// Number of the source.
    pub source: u32,
    /// Events of the target.
    pub hits: u64,
    /// Of all hits.
    pub weight: u64,
    /// Stacks that were copied, lost ones too.
    pub taken: u64,
    /// Stacks that found no room.
    pub lost: u64,
    /// Events that are not in `hits`, since their CPU was looking at another one; [`NOT_COUNTED`](crate::NOT_COUNTED) where the
    /// kernel does not count them.
    pub missed: u64,
    /// Weight between stacks now; 0: each event has a stack.
    pub rate: u64,
    /// ns that the programs of the source ran; [`NOT_COUNTED`](crate::NOT_COUNTED) where the kernel does not count it.
    pub nanos: u64,
    /// Hits by the power of two of their weight: those below 2, below 4, below 8 …
    pub histogram: Vec<u64>,
}

/// Head of *task changed*, *CPU sample* and *event*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The moment when the kernel looked.
    pub time: u64,
    /// Task id.
    pub task: u32,
    /// Stack id.
    pub stack: Option<u32>,
    /// ns on a CPU since the task began.
    pub run: u64,
    /// ns waiting for a CPU since the task began.
    pub wait: u64,
    /// Voluntary switches.
    pub nvcsw: u64,
    /// Involuntary switches.
    pub nivcsw: u64,
    /// CPU number.
    pub cpu: u32,
    /// State of the task.
    pub state: State,
    /// The reason why there is no stack, or why the stack is short.
    pub why: End,
    /// CPU sample, event: taken in user mode.
    pub user_mode: bool,
}
