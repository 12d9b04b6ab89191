//! Names for frames. blazesym maps files that somebody else may own: one that is truncated raises SIGBUS, one that is
//! damaged on purpose may exhaust memory or never end. So all of it happens in a disposable process,
//! `flametop-symbolizer`, which this crate starts, asks, limits and restarts.
//!
//! # Threads
//! Nothing here blocks its caller: a thread of its own starts the helper process, asks it and waits for it.
//!
//! # Errors
//! Every query is answered, with or without a symbol. What went wrong is told by [`Symbolizer::take_notices`].

use std::fs::File;
use std::path::Path;

/// Where an answer comes from.
pub use flametop_stream::NameSource as Source;

/// What a module is, and where its symbols are.
#[derive(Debug)]
pub enum Subject {
    /// The running kernel and its modules; offsets are addresses.
    Kernel,
    /// An ELF file; offsets are virtual addresses in it.
    File {
        /// The file, open for reading. It need not be a regular file: what cannot be read has no symbols.
        file: File,
        /// Its path as the kernel names it. It is never opened, its last part names frames without a symbol.
        path: Vec<u8>,
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
    /// At most [`NAME_MAX`] bytes. Raw: neither cleaned nor always UTF-8.
    pub name: Vec<u8>,
}

/// Longest name, in bytes.
pub const NAME_MAX: usize = 1024;

/// The client of one helper process at a time.
#[derive(Debug)]
pub struct Symbolizer {}

impl Symbolizer {
    /// A client of `program`, which is started at the first question.
    pub fn start(program: &Path) -> Symbolizer {
        let _ = program;
        Symbolizer {}
    }

    /// Tells what `module` is. Adding it again replaces it.
    pub fn add_module(&mut self, module: u32, subject: Subject) {
        let _ = (module, subject);
    }

    /// Asks for names. Each query is answered once, in any order.
    pub fn ask(&mut self, queries: &[Query]) {
        let _ = queries;
    }

    /// The answers that have come since the last call.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        Vec::new()
    }

    /// The helper process that runs now: not to be sampled.
    pub fn pid(&self) -> Option<u32> {
        None
    }

    /// What went wrong since the last call: what happened, to which thing, what mends it.
    pub fn take_notices(&mut self) -> Vec<String> {
        Vec::new()
    }
}
