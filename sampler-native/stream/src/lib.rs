//! The stream: the native side sends it to Java, `record --format flametop` writes it to a file, and `--replay` reads that file. This
//! crate is the definition of the stream; the Java reader decodes the same golden file.
//!
//! All numbers are little-endian. Times are nanoseconds of `CLOCK_MONOTONIC` unless said otherwise, and at most 2^61.
//! Sums and counters are totals since the stream began, never deltas.
//!
//! # File
//! ```text
//! magic     8 bytes  "FLAMETOP"
//! version   u32      2
//! length    u32      bytes of the facts that follow
//! crc       u32      CRC-32 (IEEE) of the facts
//! facts     UTF-8    lines of `key=value`, `\n` after each; values hold no control characters
//! batches   until the end of the file
//! ```
//! Facts: `host`, `kernel`, `arch`, `version` (of flametop), `cpus` (comma list of the CPU numbers), `hz.pass`, `hz.cpu`
//! (as started), `target` (`all`, `pid 1,2`, `tid 3` or `cgroup /a/b`), `time.monotonic` and `time.wall` (ns, the same moment),
//! `time.boot_offset` (`CLOCK_BOOTTIME` − `CLOCK_MONOTONIC`, ns), `own` (comma list of flametop's tgids as started, which are
//! not sampled; the symbolizer is not sampled either, but may be started anew at any time),
//! `idle.CPU.STATE` (`name|exit latency µs|target residency µs`), `idle.missing` (why there are no idle states, if there are none),
//! `frequency.missing` and `cycles.missing` (why *CPU cycles* has no frequencies, or no cycles, if so), `blocked.missing` (why there was no
//! *task blocked* at the start, if so).
//! A reader ignores facts that it does not know.
//!
//! # Batch
//! ```text
//! length    u32   bytes of the whole batch, this field included
//! crc       u32   CRC-32 (IEEE) of everything after this field
//! time      u64   when the pass began, or the batch was filled if it holds none
//! sequence  u32   0, 1, 2, … ; a gap means damage
//! flags     u16   PASS: ends a pass of the task iterator; MORE: the pass goes on in the next batch
//! reserved  u16   0
//! records   until the end of the batch
//! ```
//! A pass that does not fit into one batch is split: every batch but the last has MORE, only the last has PASS, and all have the time of
//! the pass.
//!
//! # Record
//! ```text
//! kind      u16   one of [`Kind`]
//! reserved  u16   0
//! length    u32   bytes of the body that follows
//! body
//! ```
//! A reader skips records of a kind that it does not know, by their length, and says so; it ignores bytes after the part of a body that
//! it knows. Numbers that stand for something ([`State`], [`End`], [`ModuleKind`], [`NameSource`], [`Level`]) are open: a reader keeps
//! a number that it does not know, and shows the number. A reader skips a *forgotten* of a space of ids that it does not know.
//! `str` is `u16 length` and that many bytes: raw bytes of the kernel or of a file, *not* cleaned and perhaps not UTF-8.
//! Ids are dense and start at 0, in each space; a record that names an id comes after the record that introduces the id.
//! No record names a *forgotten* id, until a later record introduces the id anew, for another thing. A thing that names another is
//! forgotten first: a stack before its frames, a frame before its module, a task before its process.
//!
//! | kind | body |
//! |---|---|
//! | 1 counters | `u16 n`, `n × u64`: see [`Counter`] for the order |
//! | 2 process seen | `u32 process`, `u32 tgid`, `u64 start_boottime`, `u32 self_exec_id`, `u32 uid`, `u64 cgroup` (its id in its hierarchy; 0: not known), `u8 kthread`, `str comm`, `str cmdline` (NULs as they are) ; again for the same id when something changed |
//! | 3 task seen | `u32 task`, `u32 process`, `u32 tid`, `u64 start` (monotonic), `u8 fresh` (1: started since sampling began, so all its sums are ours), `str comm` ; again for the same id when comm or process (exec) changed |
//! | 4 task gone | `u32 task`, `u64 time`, `u64 run`, `u64 wait`, `u8 exact` (1: sums are the last ones, at its end) |
//! | 5 module seen | `u32 module`, `u8 kind` ([`ModuleKind`]), `str path` (as the kernel names it), `str build_id` (raw bytes, may be empty) |
//! | 6 frame seen | `u32 frame`, `u32 module`, `u64 offset` (file: virtual address in the ELF file; kernel: address; jit, unknown: address; jit with the highest bit, python, php and ruby: a number of the function and line that its runtime told), `u8 flags` ([`FRAME_GUESSED`]) ; the offset lies *in* the call, already moved back for return addresses |
//! | 7 stack seen | `u32 stack`, `u8 end` ([`End`]), `u8 reserved`, `u16 user`, `u16 kernel`, `(user + kernel) × u32 frame`: outermost first, user frames then kernel frames, leaf last. What is missing of a short stack is outside of its outermost user frame |
//! | 8 task changed | head |
//! | 9 CPU sample | head |
//! | 10 CPU usage | `u32 cpu`, `u64 idle` (ns, open interval included), `u64 elapsed` (ns that `idle` is of), `u64 wakeups` (idle exits), `u64 own_wakeups` (those made by the CPU clock's timer), `u64 user`, `u64 nice`, `u64 system`, `u64 irq`, `u64 softirq`, `u64 steal` (ns by `/proc/stat`; all ones where the kernel does not count it) |
//! | 11 idle state | `u32 cpu`, `u32 state`, `u64 residency` (ns, open interval included), `u64 entries`, `u64 too_short`, `u64 too_long` |
//! | 12 name | `u32 frame`, `u8 how` ([`NameSource`]), `str name` (≤ 1,024 bytes) |
//! | 13 notice | `u8 level` ([`Level`]), `str text`: what happened, to which thing, what mends it; since version 2 `u32 process` (all ones: none): the notice is of this process alone, and holds until that is forgotten |
//! | 14 host usage | `u32 load1`, `u32 load5`, `u32 load15` (× 100), `u32 pass_hz`, `u32 cpu_hz` (now), `u64 own_cpu` (ns of CPU that flametop costs: its processes, and its BPF programs in others' time) |
//! | 15 forgotten | `u8 space` ([`Space`]), `u8 0`, `u16 0`, `u32 n`, `n × u32 id`: these ids may be given anew |
//! | 16 own usage | `u16 n`, n × (`str part`, `u64 ns` of CPU): parts of `own_cpu`, which do not overlap; `u16 n`, n × (`str process`, `u64 bytes` resident now) |
//! | 17 place | `u32 frame`, `u16 n`, `n × (str function, str file, u32 line)`, `str missing`: on demand. The function that the frame is in and what was inlined into it there, outermost first; the last has the line that runs, the others that of a call. Unknown: empty, line 0. If `n` is 0, `missing` says why and what mends it |
//! | 18 CPU cycles | `u32 cpu`, `u64 frequency` (Hz now), `u64 offered` (cycles that passed at its frequencies, used or not), `u64 cycles` (that it ran, by its hardware counter); all ones where there is none. Utilisation by cycles is the growth of `cycles` over that of `offered` |
//! | 19 cgroup | `u32 process`, `str path` (≤ 1,024 bytes; empty: not known): the control group of the process's first thread, from the root that flametop sees, `/` itself included; follows its *process seen*, again when it moved. Without one it is not known |
//! | 20 task blocked | `u32 task`, `u64 ns`: in uninterruptible sleep (state D) since the task began, the sleep that goes on included; all ones: no longer counted. Comes before the next sight of the task, which it is of; not again while it stays the same. Without one it is not counted |
//! | 21 CPU changed | `u32 cpu`, `u8 online` (1: came online, 0: went offline), `u16 n`, n × (`u32 state`, `str name`, `u64 exit latency`, `u64 target residency`, both µs): a CPU that came or went after the header was written, and all of its idle states. Nothing is told of a CPU that is offline, whose time is neither busy nor idle |
//! | 22 source seen | `u32 source` (a number that the writer chose), `u8 state` ([`SourceState`]), `u8 unit` ([`Unit`]), `u16 0`, `str spec` (as it was asked for), `str why` (why it is missing, or counts only a part, and what mends that; else empty): a source of events; again for the same number when something changed |
//! | 23 source totals | `u32 source`, `u64 hits` (events of the target), `u64 weight` (of all of them), `u64 taken` (stacks that were copied of them), `u64 lost` (… that found no room), `u64 missed` (events that came while another of the same CPU was looked at, which are not in `hits`; all ones where the kernel does not count them), `u64 rate` (weight between stacks, now; 0: each event has a stack), `u64 nanos` (that its programs ran; all ones where the kernel does not count it), `u16 n`, n × (`u64` hits that weighed less than 2, less than 4, less than 8 …) |
//! | 24 event | head, `u32 source`, `u64 weight` (of the event), `u64 rate` (weight between stacks when it was taken): it stands for weight ÷ (1 − e^(−weight ÷ rate)), and for its weight alone if the rate is 0. The stack of a wait that ended (source `wake`) is of two tasks: behind the innermost kernel frame of the waiter come a frame `--`, the frames of the waker from the innermost outwards, and one with the name of its thread, or `[interrupt]`; behind that, each after another `--`, who woke the waker during the wait, and so on. Frames that are words are in modules of the kind unknown |
//! | 25 parent | `u32 process`, `u32 parent`: the process that started this one, or of a new image of a process the image before; follows its *process seen* or comes later, once. Where the parent ended unseen, its own parent is told. Without one the parent is not known, or is no task of the target |
//!
//! Record 1 is in every batch that ends a pass. It, 10, 11, 14, 18 and 23 (if there is any of it) come at least four times a second; 16 about once a second.
//!
//! # Head of *task changed*, *CPU sample* and *event*
//! ```text
//! time      u64   when the kernel looked
//! task      u32
//! stack     u32   all ones: none (a running task, an idle kernel thread, nothing could be read)
//! run       u64   ns on a CPU since the task began
//! wait      u64   ns waiting for a CPU since the task began
//! nvcsw     u64   voluntary switches
//! nivcsw    u64   involuntary switches
//! cpu       u32
//! state     u8    one of [`State`]
//! why       u8    [`End`] if there is no stack or it is short, else 0
//! flags     u16   CPU sample, event: 1 = in user mode
//! ```
//! A task that is off the CPU and has no *task changed* in a pass was found unchanged: same state, same stack, same sums; or
//! the task had ended before the pass, and *task gone* comes later.
//! Every task of the target has a *task changed* in the first pass that sees the task.
//!
//! # Versions
//! A reader opens each older version, and refuses a newer version by its number. Version 2 has the layout of version 1, and a new promise
//! to writers: a reader of version 1 takes a number that it does not know for damage, a reader of version 2 does not.
//!
//! # Text
//! [`text`] turns a stream into lines, one for each fact, batch and record. `golden/v1.txt` is the text of `golden/v1.flametop`,
//! `golden/v2.txt` is the text of `golden/v2.flametop`, and tests hold that every reader of the stream gives the same text:
//! ```text
//! file version=1
//! fact KEY=VALUE
//! batch time= sequence= pass= more=
//! counters totals=U64,…
//! process id= tgid= start= exec= uid= cgroup= kthread= comm= cmdline=
//! task id= process= tid= start= fresh= comm=
//! gone task= time= run= wait= exact=
//! module id= kind= path= build_id=
//! frame id= module= offset= guessed=
//! stack id= end= user= frames=U32,…
//! changed time= task= stack= run= wait= nvcsw= nivcsw= cpu= state= why=
//! sample time= task= stack= run= wait= nvcsw= nivcsw= cpu= state= why= user=
//! cpu cpu= idle= elapsed= wakeups= own_wakeups= user= nice= system= irq= softirq= steal=
//! idle cpu= state= residency= entries= too_short= too_long=
//! name frame= source= name=
//! notice level= text= [process=]
//! host load1= load5= load15= pass_hz= cpu_hz= own_cpu=
//! forgotten space= ids=U32,…
//! own cpu="PART":U64,… rss="PROCESS":U64,…
//! place frame= calls=FUNCTION@FILE:LINE,… missing=
//! cycles cpu= frequency= offered= cycles=
//! cgroup process= path=
//! blocked task= ns=
//! came cpu= online= idle=STATE:"NAME":EXIT:TARGET,…
//! source id= state= unit= spec= why=
//! totals source= hits= weight= taken= lost= missed= rate= nanos= histogram=U64,…
//! event time= task= stack= run= wait= nvcsw= nivcsw= cpu= state= why= user= source= weight= rate=
//! parent process= parent=
//! unknown kind= bytes=
//! ```
//! Fields are separated by one space. Numbers are unsigned decimal, enums their numbers, flags `0` or `1`;
//! no stack and a figure that is not counted are `none`; an empty list is empty. `build_id` is lower-case hexadecimal.
//! A `str` stands in double quotes: bytes 0x20–0x7e as they are except `"` and `\`, every other byte as `\xHH` (lower-case).
//! Bytes behind the known part of a body are not in the text.

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod reader;
mod record;
pub mod rules;
pub mod text;

pub use encode::{Encoder, batch, file_header, whole_records};
pub use reader::{Batch, Damage, Header, Reader, Records};
pub use record::{Call, Head, IdleFacts, Record, SourceTotals};

/// `FLAMETOP`
pub const MAGIC: [u8; 8] = *b"FLAMETOP";
/// The version that this crate writes; the crate reads every older version.
pub const VERSION: u32 = 2;
/// Bytes of a batch before its records.
pub const BATCH_HEADER: usize = 24;
/// Bytes of a record before its body.
const RECORD_HEADER: usize = 8;
/// A reader takes a batch that claims more bytes than this for damage.
pub const MAX_BATCH: usize = 64 << 20;
/// Most bytes of a name; the writer cuts longer names.
pub const MAX_NAME: usize = 1024;
/// Most bytes of the path of a cgroup.
pub const MAX_CGROUP: usize = 1024;
/// Batch flag: this batch ends a pass.
pub const BATCH_PASS: u16 = 1;
/// Batch flag: the pass goes on in the next batch.
pub const BATCH_MORE: u16 = 2;
/// A notice that is of no process.
pub const NO_PROCESS: u32 = u32::MAX;
/// No stack.
pub const NO_STACK: u32 = u32::MAX;
/// Frame flag: found by frame pointer or scan, not by unwind information.
pub const FRAME_GUESSED: u8 = 1;
/// Head flag of a CPU sample: the CPU was in user mode.
pub const SAMPLE_USER: u16 = 1;
/// A figure that the kernel does not count.
pub const NOT_COUNTED: u64 = u64::MAX;

/// Defines a number of the stream that stands for something. The set of values is open: a number without a name stays a number.
macro_rules! open {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $value:ident = $number:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub u8);

        #[allow(missing_docs, non_upper_case_globals)]
        impl $name {
            $($(#[$of])* pub const $value: $name = $name($number);)+

            /// Whether the number has a name here.
            pub fn is_known(self) -> bool {
                matches!(self, $($name::$value)|+)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match *self {
                    $($name::$value => f.write_str(stringify!($value)),)+
                    $name(number) => write!(f, "{} {number}", stringify!($name)),
                }
            }
        }
    };
}

/// Kinds of record.
#[allow(missing_docs)] // described in the table above
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    Counters = 1,
    ProcessSeen = 2,
    TaskSeen = 3,
    TaskGone = 4,
    ModuleSeen = 5,
    FrameSeen = 6,
    StackSeen = 7,
    TaskChanged = 8,
    CpuSample = 9,
    CpuUsage = 10,
    IdleState = 11,
    Name = 12,
    Notice = 13,
    HostUsage = 14,
    Forgotten = 15,
    OwnUsage = 16,
    Place = 17,
    CpuCycles = 18,
    Cgroup = 19,
    TaskBlocked = 20,
    CpuChanged = 21,
    SourceSeen = 22,
    SourceTotals = 23,
    Event = 24,
    Parent = 25,
}

open! {
    /// States of a task; the same numbers as `enum ft_state`.
    State {
        Run = 0,
        Queued = 1,
        Sleep = 2,
        Disk = 3,
        Stopped = 4,
        Zombie = 5,
        Parked = 6,
        IdleKthread = 7,
    }
}

open! {
    /// How a walk ended. Everything but `Root` is the reason why a stack is short.
    End {
        /// Whole: it ends in a root, or the task has no user half.
        Root = 0,
        /// The stack goes on beyond the copied part.
        Truncated = 1,
        /// The stack goes on in another mapping (alternate signal stack, goroutine).
        OtherStack = 2,
        /// No unwind information and nothing to guess from.
        NoUnwindInfo = 3,
        /// Compiled code without frame pointers.
        Jit = 4,
        /// mmap_lock was held.
        MmBusy = 5,
        /// The task ran while it was read.
        Torn = 6,
        /// The stack memory could not be read.
        Faulted = 7,
        /// The process was gone before its mappings were read.
        Exited = 8,
        /// Too many frames, or too many requests.
        Limit = 9,
        /// Code of a file that could not be read, or may not be (a filesystem in user space).
        Unreadable = 10,
        /// Code of a 32-bit process.
        Narrow = 11,
        /// The stack goes on in memory that was not there: on swap, or in a file or with another process, which would have to bring the memory.
        Absent = 12,
    }
}

impl End {
    /// The words that stand in brackets where the rest of a short stack is missing; none for a whole one.
    pub fn reason(self) -> &'static str {
        match self {
            End::Root => "",
            End::Truncated => "truncated",
            End::OtherStack => "other stack",
            End::NoUnwindInfo => "no unwind info",
            End::Jit => "jit without frame pointers",
            End::MmBusy => "mm busy",
            End::Torn => "torn",
            End::Faulted => "faulted",
            End::Exited => "exited",
            End::Limit => "limit",
            End::Unreadable => "file not readable",
            End::Narrow => "32-bit code",
            End::Absent => "not in memory",
            _ => "other reason",
        }
    }
}

open! {
    /// Kinds of module.
    ModuleKind {
        Kernel = 0,
        File = 1,
        Vdso = 2,
        Jit = 3,
        Unknown = 4,
        /// Functions that CPython interprets, of all processes.
        Python = 5,
        /// Functions that PHP interprets, of all processes.
        Php = 6,
        /// Functions that Ruby interprets, of all processes.
        Ruby = 7,
    }
}

open! {
    /// The things that have ids.
    Space {
        Process = 0,
        Task = 1,
        Module = 2,
        Frame = 3,
        Stack = 4,
    }
}

open! {
    /// The source of a name.
    NameSource {
        /// A symbol.
        Symbol = 0,
        /// No symbol; the name is the start of the function by its unwind information, `fn@0x…`.
        FunctionStart = 1,
        /// No symbol and no start; the name is the address, `0x…`, or `[jit]` for code made at run time.
        Unknown = 2,
        /// CFI says that nothing called this code: `[thread start]`, `[process start]`.
        Root = 3,
        /// The name is a reason why the outer part of the stack is missing, and stands in place of the word for [`End`]: `[mm busy: COMM TID]`,
        /// the thread that held the mmap_lock.
        Reason = 4,
        /// No symbol, since to read the symbols would cost more than one file, process or user may have; the name is as of
        /// [`Self::FunctionStart`] or [`Self::Unknown`].
        Limit = 5,
    }
}

open! {
    /// What a source of events does.
    SourceState {
        /// It counts, and copies stacks.
        On = 0,
        /// The user switched it off.
        Off = 1,
        /// It cannot be had, or has ended.
        Missing = 2,
        /// The files that the source is in are looked into, or the kernel attaches the source.
        Opening = 3,
    }
}

open! {
    /// What the weight of an event is counted in.
    Unit {
        /// Events, or another plain number.
        Count = 0,
        Bytes = 1,
        Nanos = 2,
        /// Nanoseconds of waits, which exports tell in µs, as they tell the time of tasks.
        Waits = 3,
    }
}

open! {
    /// The weight of a notice.
    Level {
        /// Good to know.
        Told = 0,
        /// Something does not work; the rest does.
        Trouble = 1,
    }
}

/// Order of the counters. Identities (checked at each batch):
/// `PassesDue = PassesLate + PassesMade`;
/// `TaskPasses = Written + Unchanged + OnCpu + IdleKthreads + Failed*`;
/// `CpuSamples = CpuPlaced + CpuFailed + CpuDropped + CpuWaiting`.
/// `DebugWanted` is the sum of cached, fetched, absent and failed files, once all are done and their names are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Passes whose deadline came.
    PassesDue = 0,
    /// Passes due that were not made.
    PassesLate,
    /// Passes made.
    PassesMade,
    /// Tasks × passes made: tasks of the target that the iterator visited.
    TaskPasses,
    /// … of them: stack written.
    Written,
    /// … of them: off the CPU and unchanged.
    Unchanged,
    /// … of them: on a CPU, head only.
    OnCpu,
    /// … of them: idle kernel threads.
    IdleKthreads,
    /// … of them: no user stack since mmap_lock was held.
    FailedMmBusy,
    /// … of them: the task ran while it was read.
    FailedTorn,
    /// … of them: the copy faulted.
    FailedFaulted,
    /// … of them: exited midway.
    FailedExited,
    /// Tasks of the target at the last pass.
    Tasks,
    /// Samples that the CPU clock took of the target.
    CpuSamples,
    /// … of them: walked and in the stream.
    CpuPlaced,
    /// … of them: no stack at all, in the stream without one.
    CpuFailed,
    /// … of them: lost, the ring was full.
    CpuDropped,
    /// … of them: still in the ring.
    CpuWaiting,
    /// Stacks walked (pass and CPU clock).
    Walked,
    /// … of them: short, for any reason.
    Short,
    /// Exit and exec records lost.
    LifeDropped,
    /// Bytes of stack memory copied.
    BytesCopied,
    /// ns that the BPF programs ran (0 where the kernel does not count it).
    ProgramNanos,
    /// Debug files that were looked for; without servers only those in the cache.
    DebugWanted,
    /// … of them: in the cache.
    DebugCached,
    /// … of them: fetched from a server.
    DebugFetched,
    /// … of them: that no server has.
    DebugAbsent,
    /// … of them: not to be had.
    DebugFailed,
    /// Bytes that were fetched.
    DebugBytes,
    /// Ticks of the CPU clock that were due and did not come, or found another BPF program running, on any CPU.
    TicksMissed,
    /// How many counters there are.
    Count,
}

/// Number of counters of this version.
pub const COUNTERS: usize = Counter::Count as usize;
