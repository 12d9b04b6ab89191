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

use std::fmt;

mod beat;
mod chain;
mod check;
mod clock;
mod cpus;
mod cycles;
pub mod events;
mod figures;
#[doc(hidden)]
pub mod fuzzed;
pub mod graph;
mod idle;
mod kernel;
mod life;
mod load;
mod mappings;
mod namespace;
mod offline;
mod passes;
pub mod record;
mod rings;
mod skeletons;
mod sys;
mod target;

pub use chain::{Array, Chain};
pub use check::check;
pub use cpus::online as online_cpus;
pub use figures::{
    CheckLine, CpuChange, CpuCycles, CpuUsage, IdleStateFacts, IdleUsage, KernelCounters,
    NOT_COUNTED, PassCounts, ProgramTime,
};
pub use kernel::Kernel;
pub use mappings::{Mapping, MappingChange, MappingEvent, Mappings};
pub use rings::{Reach, Rings, Step, Whose};

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
