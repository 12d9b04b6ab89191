//! The kernel side of flametop: loads the BPF programs, makes passes over all tasks, drains the rings of the CPU
//! clock and of task ends, and counts idle time.

use std::{fmt, time::Duration};

use anyhow::Result;

pub mod record;
mod skeletons;

/// Constants of `bpf/flametop.h`.
pub mod abi {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

use record::Record;

/// Whom to sample. Fixed when the kernel side is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Every task.
    All,
    /// All threads of these processes; not their children.
    Processes(Vec<u32>),
    /// These threads.
    Threads(Vec<u32>),
}

/// How to open the kernel side.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whom to sample.
    pub target: Target,
    /// Samples a second of each CPU; 0: the CPU clock is off until [`Kernel::set_cpu_hz`].
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
    /// Record with all that there is.
    pub written: u64,
    /// Off the CPU and unchanged: no record.
    pub unchanged: u64,
    /// On a CPU: head only.
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
    /// Exit and exec records lost.
    pub life_dropped: u64,
    /// Bytes of user stack memory copied into records.
    pub bytes_copied: u64,
    /// ns that the BPF programs ran; 0 unless `kernel.bpf_stats_enabled` is set.
    pub program_nanos: u64,
}

/// Time of one online CPU: totals since opening. Times of `/proc/stat` are totals since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUsage {
    /// Number of the CPU.
    pub cpu: u32,
    /// ns idle, the open stay included.
    pub idle: u64,
    /// ns that `idle` is of.
    pub elapsed: u64,
    /// Ends of idle stays.
    pub wakeups: u64,
    /// … made by the timer of the CPU clock.
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
    /// It is as it should be.
    pub ok: bool,
    /// Without it nothing works.
    pub needed: bool,
    /// What was looked at.
    pub what: String,
    /// What was found.
    pub detail: String,
    /// What mends it; empty if nothing needs mending.
    pub remedy: String,
}

/// What this kernel and these privileges allow.
pub fn check() -> Vec<CheckLine> {
    todo!()
}

/// The loaded programs.
pub struct Kernel {}

/// The rings of the CPU clock and of task ends. Lives on a thread of its own.
pub struct Rings {}

#[allow(unused_variables)]
impl Kernel {
    /// Loads and attaches the programs.
    pub fn open(settings: &Settings) -> Result<(Kernel, Rings), OpenError> {
        todo!()
    }
    /// One walk over all tasks of the target; `on_record` is called for each record as it is read.
    /// `marks`: tasks without a record of their own get one of kind `FT_KIND_MARK`, head only.
    pub fn pass(&mut self, marks: bool, on_record: &mut dyn FnMut(Record<'_>)) -> Result<PassCounts> {
        todo!()
    }
    /// Asks for the memory at `address`, up to 8 KiB, in the task's record of the next pass.
    pub fn want(&self, tid: u32, address: u64) -> Result<()> {
        todo!()
    }
    /// Lets the CPU clock copy 24 KiB rather than 8 KiB of this thread's stack.
    pub fn raise_cpu_stack(&self, tid: u32) -> Result<()> {
        todo!()
    }
    /// Never samples this process.
    pub fn exclude(&self, tgid: u32) -> Result<()> {
        todo!()
    }
    /// Changes the rate of the CPU clock; 0 switches it off.
    pub fn set_cpu_hz(&mut self, hz: u32) -> Result<()> {
        todo!()
    }
    /// Totals since opening.
    pub fn counters(&self) -> KernelCounters {
        todo!()
    }
    /// Usage of each online CPU.
    pub fn cpus(&self) -> Vec<CpuUsage> {
        todo!()
    }
    /// Stays in each idle state of each online CPU.
    pub fn idle(&self) -> Vec<IdleUsage> {
        todo!()
    }
    /// The idle states there are, or why there are none.
    pub fn idle_states(&self) -> (Vec<IdleStateFacts>, Option<String>) {
        todo!()
    }
    /// What could not be had, each with the remedy.
    pub fn notices(&self) -> Vec<String> {
        todo!()
    }
}

impl Rings {
    /// Sleeps until there is something worth waking for, at most `timeout`, then hands over every record there is.
    /// Returns how many there were.
    pub fn poll(&mut self, timeout: Duration, on_record: &mut dyn FnMut(Record<'_>)) -> Result<usize> {
        let _ = (timeout, on_record);
        todo!()
    }
}
