//! Names for frames. blazesym maps files that somebody else may own: one that is truncated raises
//! SIGBUS, one that is damaged on purpose may exhaust memory or never end. So all of it happens in
//! a disposable process, `flametop-symbolizer`, which this crate starts, asks, limits and restarts.
//! Debug files of servers ([`Debuginfod`]) are fetched by yet another process of that program.
//!
//! # Threads
//!
//! Nothing here blocks its caller: a thread of its own starts the helper process, asks it and waits
//! for it.
//!
//! # Errors
//!
//! Every query is answered, with or without a symbol. What went wrong is told by
//! [`Symbolizer::take_notices`].

mod client;
mod debug;
mod debuginfod;
mod demangle;
mod fetch;
mod find;
mod found;
#[doc(hidden)]
pub mod fuzzed;
mod go;
mod helper;
mod kernel;
mod languages;
mod lines;
mod places;
mod process;
mod protocol;
mod readable;
mod sys;
mod turns;
mod weight;

use std::fs::File;

pub use client::Symbolizer;
pub use debuginfod::{DebugFileCounts, DebugFilesCome, Debuginfod};
pub use find::{
    Argument, ArgumentPlace, FindQuery, Finder, FinderProcess, FoundSite, FoundSites, Wanted,
};
use flametop_prober::Whom;
/// Where an answer comes from.
pub use flametop_stream::NameSource as Source;
pub use helper::run as run_helper;
pub use places::{PlaceAnswer, PlaceQuery};
pub use process::Looker;

/// Longest name, in bytes.
pub const NAME_MAX: usize = 1024;

/// Open files that are kept; a module beyond that is without symbols until it is added again.
pub const MAX_FILES: usize = 256;

/// Most calls of one [`PlaceAnswer`]; of a longer chain the outermost are left out.
pub const CALLS_MAX: usize = 24;
/// Longest function and file of a [`Call`], in bytes.
pub const TEXT_MAX: usize = 512;

/// One function of the chain that the compiler inlined into one place, and the line where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Empty where it is not known. Raw.
    pub function: Vec<u8>,
    /// As the compiler was told; of a longer one the end. Empty where it is not known. Raw.
    pub file: Vec<u8>,
    /// 0: not known.
    pub line: u32,
}

/// What a module is, and where its symbols are.
#[derive(Debug)]
pub enum Subject {
    /// The running kernel and its modules; offsets are addresses.
    Kernel,
    /// An ELF file; offsets are virtual addresses in it.
    File {
        /// The file, open for reading. It need not be a regular file: what cannot be read has no
        /// symbols.
        file: File,
        /// Its path as the kernel names it. It is never opened; its last part names frames without
        /// a symbol, and a debug file may lie beside it.
        path: Vec<u8>,
        /// A process that maps it, if one is known: its root may have a debug file.
        process: Option<Whom>,
        /// Its build id, by which debug files are known; empty: it has none.
        build_id: Vec<u8>,
    },
    /// A copy of the vDSO, an ELF file in memory; offsets are virtual addresses in it.
    Vdso {
        /// The bytes of the whole mapping.
        image: Vec<u8>,
    },
}

/// A frame that wants a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Comes back in the answer.
    pub frame: u32,
    /// A module that was added before.
    pub module: u32,
    /// The frame's place in the module, *in* the call.
    pub offset: u64,
    /// Where the function begins by unwind information, if there is any.
    pub function_start: Option<u64>,
    /// The search for this start, or for a root, was broken off, since it would have cost too much.
    pub limited: bool,
    /// Unwind information says that nothing called this frame: the name to give it.
    pub root: Option<&'static str>,
}

/// The name of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The frame of the query.
    pub frame: u32,
    /// Where the name comes from.
    pub source: Source,
    /// `read`; `libc.so.6+fn@0x88e60` without a symbol; `libc.so.6+0x88e6f` without unwind
    /// information either; the root's name. At most [`NAME_MAX`] bytes. Raw: control characters are
    /// still in it.
    pub name: Vec<u8>,
}
