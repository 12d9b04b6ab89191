//! Figures and facts that the kernel side hands on.

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
