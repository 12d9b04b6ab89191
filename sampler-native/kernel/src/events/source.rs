//! What a source is: the place that is hit, the weight of a hit, and which hits count.

use std::{fmt, fs::File, os::fd::AsRawFd, path::PathBuf, sync::Arc};

use anyhow::{Result, bail, ensure};

use crate::{abi, skeletons::layout};

/// A source of events, all of whose names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    /// The place that is hit.
    pub hook: Hook,
    /// What a hit weighs.
    pub weight: Weight,
    /// Of a tracepoint: the hits that count. Empty: all.
    pub filter: Vec<Predicate>,
}

/// The place that is hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hook {
    /// A counter of the kernel or of the processor: a hit after each `period` of it.
    Counter {
        /// The counter.
        counter: Counter,
        /// At least 1; each fault and each switch is a hit of its own where it is 1.
        period: u64,
    },
    /// A tracepoint, by its number in tracefs.
    Tracepoint {
        /// The number.
        id: u64,
    },
    /// Functions or USDT probes of a program or of a library.
    User {
        /// The file that is mapped.
        file: ProbedFile,
        /// The places of it.
        sites: Vec<Site>,
        /// A hit is the return of the function, rather than its entry.
        returns: bool,
    },
    /// Jumps out of functions (longjmp). A hit is the call that jumps.
    Jumps {
        /// The file that is mapped.
        file: ProbedFile,
        /// Where the functions begin that fill a buffer (setjmp).
        fills: Vec<Site>,
        /// … and those that jump by it.
        jumps: Vec<Site>,
    },
    /// Functions of the kernel.
    Kernel {
        /// Their names.
        functions: Vec<String>,
        /// A hit is the return of the function, rather than its entry.
        returns: bool,
    },
    /// The ends of waits: a hit is of the task that waited. The record of each stack comes after one of the waker's.
    Wake,
    /// The ends of waits for locks of the kernel.
    Lock {
        /// Number of the tracepoint where a wait begins.
        begin: u64,
        /// … and where it ends.
        end: u64,
    },
    /// The ends of stretches in which a CPU takes no interrupts, or does not leave its task, or both.
    Off {
        /// Numbers of the tracepoints where interrupts are switched off and on, if the kernel has them.
        interrupts: Option<[u64; 2]>,
        /// … and where preemption is.
        preemption: Option<[u64; 2]>,
    },
}

impl Hook {
    /// How many things a hit stands for.
    pub(super) fn period(&self) -> u64 {
        match self {
            Hook::Counter { period, .. } => *period,
            _ => 1,
        }
    }
}

/// A program or library that is open: what is probed is this file, whatever its path leads to by now.
#[derive(Clone, Debug)]
pub struct ProbedFile {
    name: String,
    file: Arc<File>,
}

impl ProbedFile {
    /// `name`: its path, for people.
    pub fn new(file: File, name: impl Into<String>) -> ProbedFile {
        ProbedFile {
            name: name.into(),
            file: Arc::new(file),
        }
    }

    /// A path of this process that leads to the open file.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }
}

impl PartialEq for ProbedFile {
    fn eq(&self, other: &ProbedFile) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

impl Eq for ProbedFile {}

impl fmt::Display for ProbedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A place in the code of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Offset in the file.
    pub offset: u64,
    /// A function begins there.
    pub entry: bool,
    /// A five-byte nop is there.
    pub nop5: bool,
    /// Offset in the file of the number that says how often the probe is watched; 0: there is none.
    pub semaphore: u64,
    /// Of a USDT probe: where the argument is that weighs.
    pub argument: Option<Argument>,
}

/// Where an argument of a USDT probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What kind of place it is.
    pub place: ArgumentPlace,
    /// Bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The number may be below 0.
    pub signed: bool,
}

/// A register, by its place in the kernel's `struct pt_regs`, in words of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(pub u8);

/// A kind of place of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentPlace {
    /// It is always this number.
    Constant(i64),
    /// In a register.
    Register(Register),
    /// In memory, so many bytes from the address in the register; perhaps another register, times a power of two, is added.
    Memory(Register, i64, Option<(Register, u8)>),
}

impl Argument {
    /// As `struct usdt_argument` of the BPF program.
    pub(super) fn bytes(&self) -> [u8; 16] {
        const NONE: u8 = 0xff;
        let (kind, value, register, index) = match self.place {
            ArgumentPlace::Constant(value) => (0, value, Register(0), None),
            ArgumentPlace::Register(register) => (1, 0, register, None),
            ArgumentPlace::Memory(register, value, index) => (2, value, register, index),
        };
        let (index, shift) = index.map_or((NONE, 0), |(index, shift)| (index.0, shift));
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&value.to_ne_bytes());
        let unused = 64 - 8 * self.bytes;
        bytes[8..14].copy_from_slice(&[
            kind,
            register.0,
            index,
            shift,
            unused,
            u8::from(self.signed),
        ]);
        bytes
    }
}

/// Counters of the kernel, and of the processor where it has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Page faults.
    Faults,
    /// Page faults that waited for a disk.
    MajorFaults,
    /// Times that a task left its CPU.
    Switches,
    /// Times that a task went to another CPU.
    Migrations,
    /// Cycles of the processor.
    Cycles,
    /// Instructions.
    Instructions,
    /// Accesses of memory that no cache had.
    CacheMisses,
    /// Branches that went another way than was guessed.
    BranchMisses,
}

impl Counter {
    /// The plural, for people.
    pub fn name(self) -> &'static str {
        match self {
            Counter::Faults => "page faults",
            Counter::MajorFaults => "major page faults",
            Counter::Switches => "context switches",
            Counter::Migrations => "migrations",
            Counter::Cycles => "cycles",
            Counter::Instructions => "instructions",
            Counter::CacheMisses => "cache misses",
            Counter::BranchMisses => "branch misses",
        }
    }

    /// Type and number of the perf event.
    pub(super) fn event(self) -> (u32, u64) {
        use libbpf_sys as sys;
        let (kind, config) = match self {
            Counter::Faults => (sys::PERF_TYPE_SOFTWARE, sys::PERF_COUNT_SW_PAGE_FAULTS),
            Counter::MajorFaults => (sys::PERF_TYPE_SOFTWARE, sys::PERF_COUNT_SW_PAGE_FAULTS_MAJ),
            Counter::Switches => (sys::PERF_TYPE_SOFTWARE, sys::PERF_COUNT_SW_CONTEXT_SWITCHES),
            Counter::Migrations => (sys::PERF_TYPE_SOFTWARE, sys::PERF_COUNT_SW_CPU_MIGRATIONS),
            Counter::Cycles => (sys::PERF_TYPE_HARDWARE, sys::PERF_COUNT_HW_CPU_CYCLES),
            Counter::Instructions => (sys::PERF_TYPE_HARDWARE, sys::PERF_COUNT_HW_INSTRUCTIONS),
            Counter::CacheMisses => (sys::PERF_TYPE_HARDWARE, sys::PERF_COUNT_HW_CACHE_MISSES),
            Counter::BranchMisses => (sys::PERF_TYPE_HARDWARE, sys::PERF_COUNT_HW_BRANCH_MISSES),
        };
        (kind, u64::from(config))
    }

    /// Whether the processor counts, rather than the kernel.
    pub fn is_of_hardware(self) -> bool {
        self.event().0 == libbpf_sys::PERF_TYPE_HARDWARE
    }
}

/// What a hit weighs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Each hit the same, of a counter for each of its period.
    Each(u64),
    /// A field of the tracepoint.
    Field(Field),
    /// An argument of a function: one of the first six, which are passed in registers.
    Argument(u32),
    /// The argument of a USDT probe that each site tells ([`Site::argument`]).
    Probe,
    /// The value that the function returned.
    Returned,
    /// The ns from the entry of the function to its return. A call within a call of the same functions is part of it. Of waits and stretches: their ns.
    Duration,
}

/// A field of a tracepoint's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Where the field begins.
    pub offset: u16,
    /// Bytes of a number: 1, 2, 4 or 8.
    pub bytes: u8,
    /// What it holds.
    pub kind: FieldKind,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A number.
    Unsigned,
    /// A number that may be below 0.
    Signed,
    /// A text, within the field.
    Text,
    /// A text, whose place the field tells.
    Dynamic,
}

/// A test, and which one comes next: the index of a later one, or the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The field that is looked at.
    pub field: Field,
    /// What it is asked.
    pub test: Test,
    /// Where to go on if it is so.
    pub yes: Next,
    /// Where to go on if not.
    pub no: Next,
}

/// What comes after a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The test with this index, which is higher.
    Test(u8),
    /// The hit counts.
    Accept,
    /// The hit does not count.
    Reject,
}

/// What a field is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A number is compared with this one.
    Number(Comparison, i64),
    /// A text is this one (true), or is not; 15 bytes at most.
    Text(bool, Vec<u8>),
}

/// How numbers are compared.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// Any of the bits is set.
    Bits,
}

impl SourceSpec {
    /// The places of a program or library that are hit.
    pub(super) fn sites(&self) -> &[Site] {
        match &self.hook {
            Hook::User { sites, .. } => sites,
            _ => &[],
        }
    }

    /// Refuses what makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let fits = match (&self.hook, &self.weight) {
            (Hook::Wake | Hook::Lock { .. } | Hook::Off { .. }, weight) => {
                *weight == Weight::Duration
            }
            (_, Weight::Each(_)) => true,
            (Hook::Tracepoint { .. }, Weight::Field(field)) => {
                ensure!(
                    [1, 2, 4, 8].contains(&field.bytes)
                        && matches!(field.kind, FieldKind::Unsigned | FieldKind::Signed),
                    "only a field that is one number can be a weight"
                );
                true
            }
            (
                Hook::User { returns, .. } | Hook::Kernel { returns, .. },
                Weight::Argument(number),
            ) => {
                ensure!(*number < 6, "only the first six arguments are in registers");
                !returns
            }
            (
                Hook::User { returns, .. } | Hook::Kernel { returns, .. },
                Weight::Returned | Weight::Duration,
            ) => *returns,
            (Hook::User { sites, .. }, Weight::Probe) => {
                sites.iter().all(|site| site.argument.is_some())
            }
            _ => false,
        };
        ensure!(fits, "a hit of this source has no such weight");
        if let Hook::Counter { period, .. } = self.hook {
            ensure!(period > 0, "the period of a counter is 1 at least");
        }
        ensure!(
            self.filter.is_empty() || matches!(self.hook, Hook::Tracepoint { .. }),
            "only a tracepoint has fields to filter by"
        );
        Ok(())
    }

    /// Whether the source weighs an event by an argument of a USDT probe.
    pub(super) fn is_usdt(&self) -> bool {
        self.weight == Weight::Probe
    }

    /// Sets the constants of the object.
    pub(super) fn describe(&self, rodata: &mut layout::event_constants) -> Result<()> {
        rodata.weighed_by = match &self.weight {
            Weight::Each(_) => abi::FT_WEIGHT_UNIT,
            Weight::Field(_) => abi::FT_WEIGHT_FIELD,
            Weight::Argument(_) | Weight::Probe => abi::FT_WEIGHT_ARGUMENT,
            Weight::Returned => abi::FT_WEIGHT_RETURNED,
            Weight::Duration => abi::FT_WEIGHT_DURATION,
        };
        match &self.weight {
            Weight::Each(unit) => {
                rodata.unit = unit.saturating_mul(self.hook.period());
            }
            Weight::Field(field) => rodata.field = layout::ft_predicate::from(*field),
            Weight::Argument(number) => rodata.number = *number,
            Weight::Probe | Weight::Returned | Weight::Duration => {}
        }
        if self.filter.len() > rodata.filter.len() {
            bail!(
                "the filter has {} comparisons, {} at most are possible",
                self.filter.len(),
                rodata.filter.len()
            );
        }
        rodata.predicates = self.filter.len() as u32;
        for (place, predicate) in rodata.filter.iter_mut().zip(&self.filter) {
            *place = predicate.constant()?;
        }
        Ok(())
    }
}

impl From<Field> for layout::ft_predicate {
    fn from(field: Field) -> layout::ft_predicate {
        let kind = match field.kind {
            FieldKind::Unsigned => abi::FT_FIELD_UNSIGNED,
            FieldKind::Signed => abi::FT_FIELD_SIGNED,
            FieldKind::Text => abi::FT_FIELD_TEXT,
            FieldKind::Dynamic => abi::FT_FIELD_DYNAMIC,
        };
        layout::ft_predicate {
            offset: field.offset,
            bytes: field.bytes,
            kind: kind as u8,
            ..Default::default()
        }
    }
}

impl Predicate {
    fn constant(&self) -> Result<layout::ft_predicate> {
        let mut constant = layout::ft_predicate::from(self.field);
        let is_text = matches!(self.field.kind, FieldKind::Text | FieldKind::Dynamic);
        let how = match &self.test {
            Test::Number(how, value) => {
                ensure!(!is_text, "a text is compared with a text");
                constant.value = *value as u64;
                match how {
                    Comparison::Equal => abi::FT_EQUAL,
                    Comparison::Unequal => abi::FT_UNEQUAL,
                    Comparison::Less => abi::FT_LESS,
                    Comparison::AtMost => abi::FT_AT_MOST,
                    Comparison::More => abi::FT_MORE,
                    Comparison::AtLeast => abi::FT_AT_LEAST,
                    Comparison::Bits => abi::FT_BITS,
                }
            }
            Test::Text(equal, text) => {
                ensure!(is_text, "a number is compared with a number");
                ensure!(
                    text.len() < constant.text.len(),
                    "a text of more than {} bytes cannot be compared",
                    constant.text.len() - 1
                );
                constant.text[..text.len()].copy_from_slice(text);
                if *equal {
                    abi::FT_EQUAL
                } else {
                    abi::FT_UNEQUAL
                }
            }
        };
        constant.how = how as u8;
        let next = |next| match next {
            Next::Test(number) => number,
            Next::Accept => abi::FT_ACCEPT as u8,
            Next::Reject => abi::FT_REJECT as u8,
        };
        constant.yes = next(self.yes);
        constant.no = next(self.no);
        Ok(constant)
    }
}
