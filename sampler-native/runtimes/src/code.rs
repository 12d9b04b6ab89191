//! Facts about functions that a runtime has compiled or interprets.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Name;

/// A piece of code that a runtime made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Addresses of the instructions.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) kind: Kind,
    /// Grows with each compilation.
    pub(crate) number: u64,
    /// Words of a frame, its return address included.
    pub(crate) frame: u32,
    /// Offset from which the frame is there.
    pub(crate) complete: u32,
    /// Offsets behind the pushing of the frame pointer and behind the making of the rest of the frame; 0: none was found.
    pub(crate) pushed: u32,
    pub(crate) made: u32,
    /// Offsets from and to which the frame is gone but for its return address.
    pub(crate) exits: Box<[(u32, u32)]>,
    /// Where the place of a deoptimised frame returns to, and where in the frame its true place lies.
    pub(crate) deopt: u64,
    pub(crate) deopt_slot: u32,
    /// Offsets that calls return to, or at which it may stop, in their order; and the scope of each.
    pub(crate) stops: Box<[u32]>,
    pub(crate) stop_scopes: Box<[u16]>,
    /// Functions that are inlined in one another.
    pub(crate) scopes: Box<[Scope]>,
    /// Offsets from and to which code that runs is in another scope than the next stop.
    pub(crate) leaves: Box<[(u32, u32, u16)]>,
    /// First the name of the whole, then those of functions that are inlined.
    pub(crate) names: Box<[Name]>,
}

/// A function that is inlined in another one, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    /// The place of its name in [`Code::names`].
    pub name: u16,
    /// The scope that it is in.
    pub sender: u16,
    /// The line that runs; 0: it is not known.
    pub line: u16,
}

/// In place of a scope: there is none around it.
pub(crate) const OUTERMOST: u16 = u16::MAX;
/// In place of a scope: it is not known.
pub(crate) const UNKNOWN: u16 = u16::MAX - 1;

impl fmt::Debug for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.names.first();
        let name = name.map(|name| String::from_utf8_lossy(&name.function));
        write!(
            formatter,
            "Code({name:?} {:#x}-{:#x} {:?} frame {} complete {} pushed {} made {} exits {} stops {} scopes {} names {})",
            self.begin,
            self.end,
            self.kind,
            self.frame,
            self.complete,
            self.pushed,
            self.made,
            self.exits.len(),
            self.stops.len(),
            self.scopes.len(),
            self.names.len()
        )
    }
}

/// Kinds of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A compiled function.
    Compiled,
    /// Code that calls a native function.
    Native,
    /// The interpreter.
    Interpreter,
    /// It has no frame of its own.
    Frameless,
    /// A helper that returns to whoever called it.
    Stub,
    /// The frames behind it are not on this stack.
    Elsewhere,
}

/// A function that is interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    pub(crate) name: Name,
    /// HotSpot: its bytecodes; empty: it is native. Others: two words by which it is known again.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Ruby: where its instructions are.
    pub(crate) start: u64,
    /// HotSpot: offsets of bytecodes, in their order, and the lines that begin there. Others: numbers of instructions.
    pub(crate) lines: Box<[(u16, u16)]>,
    /// PHP and Ruby: it is written in C.
    pub(crate) is_native: bool,
    /// It is known by its two words, wherever it lies.
    pub(crate) is_by_words: bool,
}
