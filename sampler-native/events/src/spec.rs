//! How a user asks for a source of events: `KIND[:WHERE][/FILTER/][,OPTION=VALUE…]`.

mod read;

use std::fmt;

use crate::pattern::Pattern;

/// A source of events, and how its events weigh.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As the user wrote it: the name of the source on the screen.
    pub text: String,
    /// The events.
    pub source: Source,
    /// The weight of an event.
    pub weight: Weight,
    /// The unit of the weight.
    pub unit: Unit,
}

/// Events of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A counter of the kernel or of the processor; a sample of it each `period` events, or as the budget allows.
    Counter {
        /// Which one.
        counter: Counter,
        /// Events between samples.
        period: Option<u64>,
    },
    /// A probe that the author of a program put into it.
    Usdt {
        /// The file; none: any that the target process has mapped.
        file: Option<String>,
        /// Who made the probe.
        provider: Pattern,
        /// Its name.
        name: Pattern,
    },
    /// A function of a program, or its return.
    User {
        /// The program or library.
        file: String,
        /// Where in it.
        place: Place,
        /// At the return of the function.
        returns: bool,
    },
    /// Jumps out of functions, by longjmp.
    Jumps {
        /// The program or library that has the functions; none: any that the target process has mapped, else the C library.
        file: Option<String>,
    },
    /// A function of the kernel, or its return.
    Kernel {
        /// Where.
        place: Place,
        /// At the return of the function.
        returns: bool,
    },
    /// An event that the kernel's authors named.
    Tracepoint {
        /// Group of events.
        category: Pattern,
        /// The event.
        name: Pattern,
        /// A condition on its fields, in the kernel's own words.
        filter: Option<String>,
    },
    /// All that a kernel function calls, with the time of each call.
    Graph {
        /// The function.
        function: Pattern,
        /// Most calls inside each other; none: all.
        depth: Option<u32>,
    },
    /// Who wakes a sleeper.
    Wake,
    /// Stretches with interrupts or preemption off.
    IrqsOff,
    /// Waits for locks of the kernel.
    Lock,
}

/// Functions, or an offset in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which functions.
    pub function: Pattern,
    /// Bytes from the start of the function.
    pub offset: u64,
}

/// A counter that the kernel keeps by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Page faults.
    Fault,
    /// Page faults that waited for a disk.
    MajorFault,
    /// Switches to another task.
    Switch,
    /// Tasks that went to another CPU.
    Migrate,
    /// Cycles of the processor.
    Cycles,
    /// Instructions.
    Instructions,
    /// Misses of the last cache.
    CacheMiss,
    /// Branches that were predicted wrongly.
    BranchMiss,
}

impl Counter {
    /// All.
    pub const ALL: [Counter; 8] = [
        Counter::Fault,
        Counter::MajorFault,
        Counter::Switch,
        Counter::Migrate,
        Counter::Cycles,
        Counter::Instructions,
        Counter::CacheMiss,
        Counter::BranchMiss,
    ];

    /// As the user writes it.
    pub fn name(self) -> &'static str {
        match self {
            Counter::Fault => "fault",
            Counter::MajorFault => "major-fault",
            Counter::Switch => "switch",
            Counter::Migrate => "migrate",
            Counter::Cycles => "cycles",
            Counter::Instructions => "instructions",
            Counter::CacheMiss => "cache-miss",
            Counter::BranchMiss => "branch-miss",
        }
    }

    /// The processor counts it, and not the kernel.
    pub fn is_of_hardware(self) -> bool {
        match self {
            Counter::Fault | Counter::MajorFault | Counter::Switch | Counter::Migrate => false,
            Counter::Cycles | Counter::Instructions | Counter::CacheMiss | Counter::BranchMiss => {
                true
            }
        }
    }

    /// One sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Counter::Fault => "page faults: where memory grows",
            Counter::MajorFault => "page faults that waited for a disk",
            Counter::Switch => "switches to another task",
            Counter::Migrate => "moves of a task to another CPU",
            Counter::Cycles => "cycles of the processor",
            Counter::Instructions => "instructions",
            Counter::CacheMiss => "misses of the last cache",
            Counter::BranchMiss => "branches that were predicted wrongly",
        }
    }
}

/// The weight of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Each event weighs 1.
    Hits,
    /// An argument of the probe or function, from 0 on.
    Argument(u8),
    /// A field of the tracepoint.
    Field(String),
    /// From the call of the function to its return, ns; the stretch or wait, ns.
    Duration,
    /// The value that the function returned.
    Returned,
    /// Bytes of the memory that the page fault brought.
    Bytes,
}

/// The unit of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Events, or another plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Nanoseconds of waits: exports have µs.
    Waits,
}

impl Unit {
    /// As the user writes it, and as exports have it.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count => "events",
            Unit::Bytes => "bytes",
            Unit::Nanos => "ns",
            Unit::Waits => "us",
        }
    }
}

/// Why a text is no [`Spec`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// Characters before the one that cannot be read, and one.
    pub column: usize,
    /// What is wrong, and what mends it.
    pub message: String,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for SpecError {}
