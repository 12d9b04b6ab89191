//! Walks copied user stacks of x86-64 processes by their call frame information (CFI).
//!
//! Three things work together. [`ProcessMaps`] knows what a process has mapped where, [`Modules`] knows
//! the files behind it, each opened once however many processes map it, and [`Unwinder`] turns registers
//! and copied stack memory into frames of (module, offset). Only a [`Prober`] touches the process that is
//! walked, by its `/proc` files, and opens what that has mapped; whoever asks it may have to wait. Files are read, never mapped, so
//! that a file which shrinks meanwhile is an error and not a signal.
//!
//! # Threads
//! Every type is `Send`; each belongs to one thread at a time.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::ops::Range;

mod budget;
mod cfi;
mod code;
mod elf;
#[cfg(fuzzing)]
pub mod fuzzed;
mod go;
mod history;
#[cfg(test)]
mod hostile;
mod hotspot;
mod maps;
mod module;
mod mounts;
mod probe;
mod rooted;
mod walk;

pub use budget::WALK_UNITS;
pub use history::MapHistory;
pub use hotspot::HotSpot;
pub use maps::{NewMapping, ProcessMaps};
pub use module::{Module, ModuleKind, Modules, Sign};
pub use probe::{
    ClosedFile, FileFacts, FileKey, OpenFile, ProbedMaps, Prober, ProcessFolder, RuntimeKnown,
    Seen, WantedMapping,
};
pub use walk::Unwinder;

/// Names one module for the life of its [`Modules`]: dense, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Whose code it is.
    pub module: ModuleId,
    /// File and vDSO: virtual address in the ELF file; otherwise the address. Of a caller it lies in the
    /// call, one byte before the return address.
    pub offset: u64,
    /// Found by frame pointer or scan, not by unwind information.
    pub guessed: bool,
}

/// Memory copied from a process.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Of the first byte.
    pub address: u64,
    /// What was there.
    pub bytes: &'a [u8],
}

/// What a walk starts from.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// In DWARF order: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip.
    pub regs: &'a [u64; 17],
    /// The mapping that holds the stack pointer.
    pub mapping: Range<u64>,
    /// The copied stack, first the piece that starts at the stack pointer.
    pub pieces: &'a [Piece<'a>],
}

/// How a walk gets from some code to its caller, as far as that is a matter of the stack pointer and `rbp`. What else a
/// caller's registers are is left out: with these alone the frames of a stack can be found, not walked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Whose code it is.
    pub module: ModuleId,
    /// As [`Frame::offset`].
    pub code: Range<u64>,
    /// None: nothing called it.
    pub caller: Option<Caller>,
}

/// See [`Hop`]. The return address lies right below the caller's stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The caller's stack pointer is told by `rbp`, else by `rsp`.
    pub by_rbp: bool,
    /// It is this far from there …
    pub offset: i32,
    /// … or that place holds what is this far from it.
    pub add: Option<i32>,
    /// The caller's `rbp`.
    pub rbp: CallersRbp,
}

/// Where a caller's `rbp` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallersRbp {
    /// In `rbp`.
    Same,
    /// In memory this far from the caller's stack pointer.
    Saved(i32),
    /// In memory this far from where `rbp` leads to.
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
    /// More than [`MAX_FRAMES`], or more work than it may be: [`Modules::allow`].
    Limit,
    /// Code of a file that could not be read, or may not be: one that somebody else's program serves; or of which it is not
    /// known whether it was there at that moment.
    Unreadable,
    /// Code of a 32-bit process.
    Narrow,
}

/// Frames after which a walk gives up.
pub const MAX_FRAMES: usize = 512;

/// What a walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// For [`End::Truncated`] and [`End::OtherStack`]: copy from here, add the piece, walk again.
    pub want: Option<u64>,
    /// An address had no executable mapping: refresh the maps and walk again.
    pub unknown_address: bool,
}
