//! Walks copied user stacks of x86-64 or arm64 processes by their call frame information (CFI).
//!
//! Three things work together. [`ProcessMaps`] has the mappings of a process, [`Modules`] has
//! the files behind them, each opened once no matter how many processes map it, and [`Unwinder`] turns registers
//! and copied stack memory into frames of (module, offset). Only a [`Prober`] reads the `/proc` files of a process and opens the
//! files that it has mapped; a caller may have to wait for the prober. Files are read, never mapped, so
//! that a file which shrinks meanwhile is an error and not a signal.
//!
//! # Threads
//! Every type is `Send`; each belongs to one thread at a time.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::ops::Range;

mod arch;
mod budget;
mod cfi;
#[cfg_attr(target_arch = "aarch64", path = "arm64_code.rs")]
mod code;
mod elf;
mod file;
mod folder;
#[doc(hidden)]
pub mod fuzzed;
mod go;
mod history;
#[cfg(all(test, target_arch = "x86_64"))]
mod hostile;
mod line;
mod maps;
mod module;
mod mounts;
mod probe;
mod rooted;
mod row;
mod runtime;
mod walk;

pub use budget::WALK_UNITS;
pub use file::{ClosedFile, FileFacts, FileKey, OpenFile};
pub use flametop_runtimes::registers;
pub use folder::ProcessFolder;
pub use history::MapHistory;
pub use line::NewMapping;
pub use maps::ProcessMaps;
pub use module::{Module, ModuleKind, Modules, Sign};
pub use probe::{ProbedMaps, Prober, Seen, WantedMapping};
pub use runtime::{RuntimeKnown, number_in_own_namespace, read_code};
pub use walk::{NAMED, Unwinder};

/// Names one module for the life of its [`Modules`]: dense, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The module that the code belongs to.
    pub module: ModuleId,
    /// File and vDSO: virtual address in the ELF file; otherwise the address. Of a caller it lies in the
    /// call, one byte before the return address. From [`NAMED`] on it is no address, but the number of a function and its line.
    pub offset: u64,
    /// The frame was found by the look of a word on the stack: it may not have been there. Frame pointers of code made at run time,
    /// which keeps one, are no such guess.
    pub guessed: bool,
}

/// Memory copied from a process.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Address of the first byte.
    pub address: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The input of a walk.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// The thread's registers by their DWARF numbers.
    pub regs: &'a [u64; registers::REGISTERS],
    /// The mapping that holds the stack pointer.
    pub mapping: Range<u64>,
    /// The copied stack, first the piece that starts at the stack pointer.
    pub pieces: &'a [Piece<'a>],
}

/// How a walk gets from some code to its caller, as far as the stack pointer and `rbp` are concerned. The caller's other registers
/// are left out: these two are enough to find the frames of a stack, but not to walk it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The module that the code belongs to.
    pub module: ModuleId,
    /// Offsets of the code, as [`Frame::offset`].
    pub code: Range<u64>,
    /// None: nothing called the code.
    pub caller: Option<Caller>,
}

/// See [`Hop`]. The return address lies right below the caller's stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The caller's stack pointer is relative to `rbp`, else to `rsp`.
    pub by_rbp: bool,
    /// The caller's stack pointer is this far from that register …
    pub offset: i32,
    /// … or the address that is stored at that place is this far from it.
    pub add: Option<i32>,
    /// The caller's `rbp`.
    pub rbp: CallersRbp,
}

/// The place of a caller's `rbp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallersRbp {
    /// In `rbp`.
    Same,
    /// In memory this far from the caller's stack pointer.
    Saved(i32),
    /// In memory this far from the address in `rbp`.
    SavedAt(i32),
}

/// How a walk ended. Everything but [`End::Root`] says why the outer part of the stack is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum End {
    /// Whole.
    Root,
    /// The stack goes on past what was copied.
    Truncated,
    /// The stack goes on in another mapping: alternate signal stack, goroutine, coroutine.
    OtherStack,
    /// No unwind information and nothing to guess from.
    NoUnwindInfo,
    /// Code made at run time, without frame pointers.
    Jit,
    /// More frames than [`MAX_FRAMES`], or more work than [`Modules::allow`] allows.
    Limit,
    /// Code of a file that could not be read, or may not be read, since another user's program serves it; or code that may not have
    /// been there at that moment.
    Unreadable,
    /// Code of a 32-bit process.
    Narrow,
}

/// Frames after which a walk gives up.
pub const MAX_FRAMES: usize = 512;

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// For [`End::Truncated`] and [`End::OtherStack`]: copy from here, add the piece, walk again.
    pub want: Option<u64>,
    /// This address had no executable mapping: ask what is there now, and repeat the walk.
    pub unknown_address: Option<u64>,
}
