//! Rows: how to get from the registers of a frame to those of its caller.

use crate::arch::{CALLEE_SAVED, CALLEE_SAVED_BITS, PC, REGISTERS, SP};

/// Registers of one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    /// By their DWARF numbers.
    pub values: [u64; REGISTERS],
    /// Which of them are known, a bit for each.
    pub known: u64,
}

impl Registers {
    pub(crate) fn get(&self, register: usize) -> Option<u64> {
        (register < REGISTERS && self.known >> register & 1 == 1).then(|| self.values[register])
    }

    pub(crate) fn set(&mut self, register: usize, value: u64) {
        self.values[register] = value;
        self.known |= 1 << register;
    }

    /// Makes these the caller's registers: of the others those stay known that the callee had to give back.
    pub(crate) fn enter_caller(&mut self, sp: u64, ip: u64) {
        self.known &= CALLEE_SAVED_BITS;
        self.set(SP, sp);
        self.set(PC, ip);
    }
}

/// Why the caller of a frame could not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The memory at this address was not copied.
    Missing(u64),
    /// The rule needs a register that is not known, or makes no sense.
    Unusable,
}

/// Where the canonical frame address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cfa {
    /// register + offset
    Register { register: u8, offset: i32 },
    /// *(register + offset) + add
    Deref { register: u8, offset: i32, add: i32 },
    /// In a procedure linkage table: one word above the stack pointer, two once `rip & 15` has reached the push.
    Plt { limit: u8 },
}

/// Where a register of the caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// Unchanged.
    Same,
    /// *(CFA + offset)
    Saved(i32),
    /// *(register + offset), as functions do that realign their stack.
    SavedAt { register: u8, offset: i32 },
    /// Unknown.
    Lost,
}

/// How to get to the caller of the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Apply `cfa`, `ra` and `rules`.
    Plain,
    /// Nothing called this code.
    Root,
    /// The code returns from a signal: the kernel's frame is at the stack pointer.
    Signal,
    /// The rules do not fit into a row: they have to be evaluated ([`Table::evaluate`](crate::cfi::Table::evaluate)).
    Evaluate,
    /// Go: only code of other languages, or a signal, calls this code.
    Outermost,
    /// Go: the code runs its callee on another stack. It `starts` that stack's own work, or it waits on the old stack, to
    /// which the frame pointer still leads: to the code's own frame if it is `framed`, else to its caller's.
    Switch { starts: bool, framed: bool },
    /// No unwind information.
    Uncovered,
}

/// One row of unwind information, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub kind: Kind,
    /// The entry ends one byte on: a return address there may belong to other code.
    pub last: bool,
    /// By the instructions: no path that was followed returns, all only jump to other functions.
    pub jumps: bool,
    /// By the instructions: registers beside [`CALLEE_SAVED`] that are unchanged in the caller, a bit for each.
    pub kept: u16,
    /// Bytes before and from the address that was asked for in which the row holds too.
    pub reach: [u32; 2],
    pub cfa: Cfa,
    /// The return address is at CFA + this; none: it is in the register that a call leaves it in.
    pub ra: Option<i32>,
    /// For [`CALLEE_SAVED`].
    pub rules: [Rule; CALLEE_SAVED.len()],
}

impl Row {
    pub(crate) const UNCOVERED: Row = Row {
        kind: Kind::Uncovered,
        last: false,
        jumps: false,
        kept: 0,
        reach: [0; 2],
        cfa: Cfa::Plt { limit: 0 },
        ra: None,
        rules: [Rule::Lost; CALLEE_SAVED.len()],
    };
}
