//! Runtimes that make code while they run, or run code that the processor does not see: how their frames are walked and named.
//!
//! Each runtime has one file or folder here and implements [`Runtime`]. Two sides use it. A process that may wait reads the memory of
//! others: it *attaches* once, and later *reads* the code that walks came to. The thread that walks copied stacks asks nobody: it *steps*
//! from frame to frame by what was read before ([`Known`]), and notes what it lacks ([`Lack`]).
//!
//! This room never knows how a process is opened, how a stack was copied, how native code is walked, or where names go. All memory
//! belongs to others and may say anything: every read is bounded, every chain and size is checked, and a frame that is not certain is
//! none.
#![forbid(unsafe_code)]

use std::{
    io,
    ops::{Deref, Range},
};

use registers::REGISTERS;
use serde::{Deserialize, Serialize};

mod chain;
mod code;
mod elf;
#[doc(hidden)]
pub mod fuzzed;
mod hotspot;
mod known;
mod memory;
mod names;
mod parted;
mod php;
pub mod python;
pub mod registers;
mod ruby;
mod v8;

pub use chain::FULL;
pub use code::{Code, Method};
pub use hotspot::HotSpot;
pub use known::Known;
pub use memory::{Memory, Pages};
pub use names::{Function, Name, NameId, Names};
pub use php::Php;
pub use python::Python;
pub use ruby::Ruby;
pub use v8::V8;

pub(crate) use code::{Kind, OUTERMOST, Scope, UNKNOWN};

/// One kind of runtime: what it tells of a process in which it runs.
pub trait Runtime {
    /// Whether this file is the program or library of the runtime.
    fn recognise(path: &[u8]) -> bool
    where
        Self: Sized;

    /// Reads what walks need, of a process in which the library lies at `base`.
    ///
    /// # Errors
    /// It is starting, or of a kind or version that does not tell of itself.
    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<Self>
    where
        Self: Sized;

    /// Reads what walks lacked.
    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found>;

    /// Whether code at this address, which the runtime made, keeps frame pointers.
    fn keeps_frame_pointer(&self, pc: u64) -> bool;

    /// From a frame to its caller. The frame's functions are put into `called`, which is empty.
    fn step(
        &self,
        _known: &mut Known,
        _at: &Place,
        _stack: &dyn Stack,
        _called: &mut Called,
    ) -> Step {
        Step::Foreign
    }

    /// Takes note of a word of the stack: it may be the address of code that the walk will come to.
    fn glance(&self, _known: &mut Known, _word: u64) {}

    /// Returns whether a sleeping thread whose innermost function is this one may be blocked on a lock of which the runtime tells the
    /// holder ([`Known::holder`]).
    fn may_block(&self, _innermost: &Name) -> bool {
        false
    }

    /// Code of an interpreter of this runtime whose functions have no frames of their own on the stack.
    fn interpreter(&self) -> Option<Range<u64>> {
        None
    }

    /// The other part of that code, if the compiler has parted it.
    fn interpreter_part(&self) -> Option<Part> {
        None
    }

    /// How the frames of a thread are found that the interpreter keeps outside of the stack.
    fn chain(&self, _thread: &Thread) -> Option<Chain> {
        None
    }

    /// How the frames of all threads of the process and of its forks are found, as this one thread shows. The chain's `thread` is the offset
    /// from the thread pointer to a word that has the thread's address. None: that offset is not known.
    fn chain_of_all(&self, thread: &Thread) -> Option<Chain> {
        let chain = self.chain(thread)?;
        (thread.from_pointer != 0).then_some(Chain {
            thread: thread.from_pointer.into(),
            ..chain
        })
    }

    /// The wait of a thread that sleeps, if it waits for the interpreter's lock. `address`: what it gave to the kernel to sleep on.
    fn wait(&self, _known: &Known, _copied: &Interpreted<'_>, _address: u64) -> Option<Wait> {
        None
    }

    /// An address in the file whose own code has frames that [`Runtime::step_in_file`] knows.
    fn file(&self) -> Option<u64> {
        None
    }

    /// As [`Runtime::step`], of code of the file that has the address of [`Runtime::file`].
    fn step_in_file(
        &self,
        _known: &mut Known,
        _at: &Place,
        _stack: &dyn Stack,
        _called: &mut Called,
    ) -> Step {
        Step::Foreign
    }

    /// The functions that the interpreter runs on this stack, put into `runs`, which is empty. False: they are not certain, or something
    /// is noted as lacking.
    fn interpreted(
        &self,
        _known: &mut Known,
        _copied: &Interpreted<'_>,
        _stack: &dyn Stack,
        _runs: &mut Runs,
    ) -> bool {
        false
    }
}

/// Kinds of runtimes. Of several in a process the first one is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RuntimeKind {
    /// See [`HotSpot`].
    HotSpot,
    /// See [`Python`].
    Python,
    /// See [`Php`].
    Php,
    /// See [`Ruby`].
    Ruby,
    /// See [`V8`].
    V8,
}

/// A runtime that was attached to, whichever it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attached {
    /// A JVM.
    HotSpot(Box<HotSpot>),
    /// CPython.
    Python(Box<Python>),
    /// PHP.
    Php(Box<Php>),
    /// Ruby.
    Ruby(Box<Ruby>),
    /// V8.
    V8(Box<V8>),
}

/// The runtime that a mapping of this file says is in the process.
pub fn recognise(path: &[u8]) -> Option<RuntimeKind> {
    if cfg!(feature = "unread") {
        None
    } else if HotSpot::recognise(path) {
        Some(RuntimeKind::HotSpot)
    } else if Python::recognise(path) {
        Some(RuntimeKind::Python)
    } else if Php::recognise(path) {
        Some(RuntimeKind::Php)
    } else if Ruby::recognise(path) {
        Some(RuntimeKind::Ruby)
    } else if V8::recognise(path) {
        Some(RuntimeKind::V8)
    } else {
        None
    }
}

/// Attaches to the runtime whose library or program is mapped at `base`.
///
/// # Errors
/// As [`Runtime::attach`].
pub fn attach(kind: RuntimeKind, memory: &Pages<'_>, base: u64) -> io::Result<Attached> {
    if let Some(why) = lacks_on(kind, std::env::consts::ARCH) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    Ok(match kind {
        RuntimeKind::HotSpot => Attached::HotSpot(Box::new(HotSpot::attach(memory, base)?)),
        RuntimeKind::Python => Attached::Python(Box::new(Python::attach(memory, base)?)),
        RuntimeKind::Php => Attached::Php(Box::new(Php::attach(memory, base)?)),
        RuntimeKind::Ruby => Attached::Ruby(Box::new(Ruby::attach(memory, base)?)),
        RuntimeKind::V8 => Attached::V8(Box::new(V8::attach(memory, base)?)),
    })
}

/// Why the frames of such a runtime are not known on an architecture: they are those of machine code, and not only of memory.
fn lacks_on(kind: RuntimeKind, architecture: &str) -> Option<&'static str> {
    match kind {
        RuntimeKind::Python | RuntimeKind::Php | RuntimeKind::Ruby => None,
        _ if architecture == "x86_64" => None,
        RuntimeKind::HotSpot => Some("Java is not known on arm64"),
        RuntimeKind::V8 => Some("V8 is not known on arm64"),
    }
}

impl Attached {
    /// Which one it is.
    pub fn kind(&self) -> RuntimeKind {
        match self {
            Attached::HotSpot(_) => RuntimeKind::HotSpot,
            Attached::Python(_) => RuntimeKind::Python,
            Attached::Php(_) => RuntimeKind::Php,
            Attached::Ruby(_) => RuntimeKind::Ruby,
            Attached::V8(_) => RuntimeKind::V8,
        }
    }
}

impl Deref for Attached {
    type Target = dyn Runtime;

    fn deref(&self) -> &(dyn Runtime + 'static) {
        match self {
            Attached::HotSpot(hotspot) => &**hotspot,
            Attached::Python(python) => &**python,
            Attached::Php(php) => &**php,
            Attached::Ruby(ruby) => &**ruby,
            Attached::V8(v8) => &**v8,
        }
    }
}

/// How the frames of one thread are found that an interpreter keeps outside of the stack: nodes of a list, each of which leads to the
/// object that it runs. All but the address are offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Address of what the interpreter knows of the thread.
    pub thread: u64,
    /// Address of two words that are copied of a sleeping thread too: who holds the interpreter's lock, and whether it is held; 0: of none.
    pub lock: u64,
    /// There: a word by which the thread is known again …
    pub identity: u16,
    /// … and the pointer to the first node …
    pub first: u16,
    /// … or to what has the pointer to the first node here.
    pub through: Option<u16>,
    /// In a node: the pointer to the next one …
    pub next: u16,
    /// … the pointer to the object …
    pub object: u16,
    /// … of which these bits are no part of the address …
    pub tags: u16,
    /// … a word of flags …
    pub flags: u16,
    /// … and where the object's code runs.
    pub place: u16,
    /// In an object: words by which the object is known again.
    pub names: [u16; 2],
    /// The nodes are an array, not a list.
    pub array: Option<Array>,
}

/// An array of nodes, as Ruby has it: what is told of its memory lies where the pointer to the first node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Bytes of a node.
    pub stride: u16,
    /// In a node: the pointer to its environment. This leads to the method of a function, which is the second of the words by which the
    /// function is known again.
    pub environment: u16,
}

/// A copy of a [`Chain`], made at the same moment as the copy of the stack.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreted<'a> {
    /// The thread's number.
    pub thread: u32,
    /// Six words (address and identity of the thread, the pointer that is there, the node behind the last one, who holds the lock and
    /// whether it is held), then six words for each node: its address, object, flags and place, and the two words of the object. Empty: no copy was made.
    pub copied: &'a [u8],
}

/// The functions that an interpreter runs: each call of the interpreter's own code has a run of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// All functions, the innermost first.
    pub functions: Vec<Function>,
    /// Of each run, the innermost first: an address within the interpreter's own frame on the stack, and the end of the run in
    /// `functions`. The address is 0 where runs are told apart by their order.
    pub ends: Vec<(u64, usize)>,
    /// How runs and calls belong together.
    pub order: Order,
    /// Behind the last end there are functions of the next run, of which the outer ones were not copied.
    pub is_cut: bool,
}

impl Runs {
    /// The runs have no function, or one whose name was read.
    pub(crate) fn is_read(&self) -> bool {
        let mut functions = self.functions.iter();
        self.functions.is_empty() || functions.any(|function| function.name != NameId::UNREAD)
    }
}

/// How runs of functions and calls of the interpreter belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the address that each run has.
    #[default]
    Addressed,
    /// One by one: all runs of the stack are told, the last one is that of the outermost call.
    Whole,
    /// One by one: some of the inner runs are told.
    Inner,
}

/// Where a compiler has put the other part of the interpreter's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// An address in it.
    pub address: u64,
    /// So many bytes it has at least.
    pub least: u64,
    /// Whatever code of the same file calls it does nothing else, and has a frame of its own.
    pub has_caller: bool,
}

/// The copied memory of a stack.
pub trait Stack {
    /// The word at an address; none if it was not copied.
    fn word(&self, address: u64) -> Option<u64>;
}

/// A frame that a walk is at.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Registers by their DWARF numbers; the last is the program counter, of a caller its return address.
    pub registers: [u64; REGISTERS],
    /// Which of them are known, a bit for each.
    pub known: u64,
    /// The program counter is a return address.
    pub is_return: bool,
}

impl Place {
    /// A register, if it is known.
    pub fn get(&self, register: usize) -> Option<u64> {
        (register < REGISTERS && self.known >> register & 1 == 1).then(|| self.registers[register])
    }
}

/// Numbers of registers of x86-64 in [`Place::registers`].
pub(crate) mod register {
    pub const RBX: usize = 3;
    pub const RDI: usize = 5;
    pub const RBP: usize = 6;
    pub const RSP: usize = 7;
    pub const R13: usize = 13;
    pub const RIP: usize = 16;
}

/// What is known of a caller: its return address, and these two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The return address.
    pub pc: u64,
    /// The caller's stack pointer.
    pub sp: u64,
    /// The caller's frame pointer.
    pub rbp: Option<u64>,
}

/// The functions that a frame is of: more than one if some are inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// These, leaf first.
    pub functions: Vec<Function>,
    /// So many of these, from the leaf on, may not be there: the frame is somewhere between two places for which it is told.
    pub guessed: usize,
}

/// One step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The runtime did not make this code.
    Foreign,
    /// The caller.
    Caller(Caller),
    /// The caller, if something that is noted as lacking turns out as expected: the frame has no name yet.
    Perhaps(Caller),
    /// What is needed for the step is noted as lacking.
    Lacking,
    /// Memory of the stack at this address is needed.
    Missing(u64),
    /// The callers are not on this stack.
    Elsewhere,
    /// No caller is certain.
    Unsure,
}

/// Something of a process that a walk came to and that was not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Lack {
    /// The code at an address.
    Code(u64),
    /// The code at an address, which was read before and had this number.
    Again(u64, u64),
    /// The method at an address.
    Method(u64),
    /// The function at an address, which belongs to the method at the other one; 0: to none.
    MethodOf(u64, u64),
    /// The thread of this number, and its number in its own namespace; 0: that is not known.
    Thread(u32, u32),
    /// The holder of the lock that the thread of this number is blocked on; its number in its own namespace, 0: that is not known; and
    /// how often it had left its CPU when it fell asleep.
    Holder(u32, u32, u64),
}

/// What was read for a [`Lack`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// Code; none: there is none at the address that was asked for.
    Code(u64, Option<Box<Code>>),
    /// It is what it was.
    Same(u64),
    /// A method; none: there is none.
    Method(u64, Option<Box<Method>>),
    /// There is nothing of what was lacking.
    Absent(Lack),
    /// A thread, by its number, as the runtime knows it; none: the runtime does not know the thread.
    Thread(u32, Option<Thread>),
    /// What a thread is blocked on, by the first and last of its numbers in [`Lack::Holder`].
    Holder(u32, u64, Blocked),
}

/// What a sleeping thread is blocked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blocked {
    /// On no lock of which the runtime tells the holder, as long as the thread sleeps.
    Not,
    /// Nobody holds the lock for certain, or the thread is not known.
    Unsure,
    /// On a lock of this holder.
    By(Holder),
}

/// A thread that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its number; of a runtime's answer that in its own namespace.
    pub number: u32,
    /// Its name, as the kernel has it; empty: nobody looked.
    pub name: Box<[u8]>,
}

/// A thread as a runtime knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Address of the runtime's own structure for the thread.
    pub(crate) address: u64,
    /// The thread's number in its own namespace, as the structure has it.
    pub(crate) identity: u64,
    /// Address of the interpreter's lock that the thread takes; 0: none is known.
    pub(crate) lock: u64,
    /// From the thread pointer of each thread to a word that has the thread's `address`; 0: none is known.
    pub(crate) from_pointer: u16,
}

/// The wait of a thread for the interpreter's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of the thread that holds the lock; none: nobody does, or that thread is not known.
    pub holder: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lacks_on_another_architecture_what_is_machine_code() {
        use RuntimeKind::{HotSpot, Php, Python, Ruby, V8};
        for kind in [HotSpot, Php, Python, Ruby, V8] {
            assert_eq!(lacks_on(kind, "x86_64"), None);
            let code = [HotSpot, V8].contains(&kind);
            let why = lacks_on(kind, "aarch64");
            assert_eq!(why.is_some_and(|why| why.contains("arm64")), code);
        }
    }
}
