//! Where the fields of CPython's structures are.

use std::io;

use serde::{Deserialize, Serialize};

use super::gil::{self, Gil};
use crate::{
    Chain, Thread,
    memory::{Pages, strange},
};

/// Offsets of fields; of words in which a smaller field lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// In the runtime: the first interpreter.
    pub interpreters: u16,
    /// In an interpreter: the next one, and the first thread.
    pub next_interpreter: u16,
    pub threads: u16,
    /// How the lock of an interpreter is found.
    pub gil: Gil,
    /// In a thread: the next one, its number (see [`Layout::tid`]), and the pointer that leads to its innermost frame.
    pub next_thread: u16,
    pub identity: u16,
    pub first: u16,
    /// How that pointer leads there.
    pub levels: Levels,
    /// In a frame: the one that called it, its code object, where that runs, and a word of flags.
    pub previous: u16,
    pub code: u16,
    pub place: u16,
    pub flags: u16,
    /// Bits of the pointer to the code object that are no part of the address.
    pub tags: u16,
    /// The place of the owner in the word of flags, as a shift.
    pub owner: u8,
    /// Bytes by which the number of an instruction counts, if that says where a frame runs; none: an address says so.
    pub numbers: Option<u8>,
    /// In a code object: the texts of its file and of its name, its first line, the table of its lines, and its instructions.
    pub file: u16,
    pub name: u16,
    pub first_line: u16,
    pub lines: u16,
    pub table: Table,
    pub instructions: u16,
    /// Bytes of the header of an object, which ends with the object's type.
    pub header: u16,
    /// In a text: where its characters begin, if all are ASCII, and if not.
    pub ascii: u16,
    pub wide: u16,
}

/// How one call of the interpreter says which frames it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Levels {
    /// 3.9 and 3.10: each call runs one frame, and the thread leads to the innermost one.
    One,
    /// 3.11: a thread leads to a structure on the stack, which has the innermost frame and the structure of the call before; the
    /// outermost frame of the run has a sign.
    Linked,
    /// 3.12: as before; and the outermost frame is followed by one that lies on the stack itself.
    Through,
    /// 3.13 and 3.14: the thread leads to the innermost frame itself.
    Direct,
}

/// How the table of the lines of a code object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Table {
    /// 3.9: after so many bytes of instructions the line is so much further.
    Steps,
    /// 3.10: so many bytes of instructions are of a line that is so much further.
    Ranges,
    /// 3.11 and newer: entries of several forms.
    Forms,
}

/// Where 3.11 and 3.12 have the innermost frame in the structure on the stack, and 3.11 the structure of the call before.
pub const LINKED_FRAME: u16 = 8;
pub const LINKED_NEXT: u16 = 16;
const THROUGH_FRAME: u16 = 0;

/// The sign of 3.11 that a frame is the outermost of its run, as a shift in the word of flags.
const ENTRY_SHIFT: u32 = 32;
/// Owners: thread, generator, frame object, and the stack.
const STACK: u8 = 3;

/// Where the table `_Py_DebugOffsets` has the places of fields: numbers of its words.
struct Told {
    /// In an interpreter: the pointer to its lock.
    gil: u64,
    /// In a thread: the next one; the pointer to the innermost frame, and the thread's number.
    thread: [u64; 3],
    /// In a frame: the one that called it, its code object, where that runs, and its owner.
    frame: [u64; 4],
    /// In a code object: the texts of its file and of its name, the table of its lines, its first line, and its instructions.
    code: [u64; 5],
    /// The size of a text without its characters, if all are ASCII.
    ascii: u64,
    /// Bits of references to code objects that say who counts them.
    tags: u16,
    /// Whether frames of a free-threaded build (3.13t) are known. Those of 3.14t lead into copies of the instructions, one for each thread.
    free_threaded: bool,
}

const TOLD_3_13: Told = Told {
    gil: 14,
    thread: [21, 23, 25],
    frame: [29, 30, 31, 33],
    code: [35, 37, 38, 39, 43],
    ascii: 70,
    tags: 0,
    free_threaded: true,
};

const TOLD_3_14: Told = Told {
    gil: 15,
    thread: [24, 26, 28],
    frame: [32, 33, 34, 36],
    code: [40, 42, 43, 44, 48],
    ascii: 80,
    tags: 3,
    free_threaded: false,
};

/// Bytes of the header of an object; a free-threaded build has there also which thread owns the object, and a lock of the object.
const HEADER: u16 = 16;
const HEADER_OF_FREE_THREADED: u16 = 32;
/// From the header's end of a text to its characters that are not all ASCII.
const WIDE: u16 = 40;

/// Bytes of an instruction.
pub const INSTRUCTION: u64 = 2;

/// 3.9 and 3.10 number a thread by the address of glibc's structure of the thread. That structure has its own address at one place, and
/// the thread's number in its namespace at another one.
const GLIBC_SELF: u64 = 16;
const GLIBC_TID: u64 = 720;

/// Places of fields in 3.9, by its `Include`: the same from 3.9.0 to 3.9.18.
const V3_9: Layout = Layout {
    place: 104,
    numbers: Some(INSTRUCTION as u8),
    table: Table::Steps,
    ..V3_10
};

/// Places of fields in 3.10, by its `Include`.
const V3_10: Layout = Layout {
    interpreters: 32,
    next_interpreter: 0,
    threads: 8,
    gil: Gil::OfRuntime(352),
    next_thread: 8,
    identity: 176,
    first: 24,
    levels: Levels::One,
    previous: 24,
    code: 32,
    place: 96,
    flags: 32,
    tags: 0,
    owner: 0,
    numbers: Some(1),
    file: 104,
    name: 112,
    first_line: 40,
    lines: 120,
    table: Table::Ranges,
    instructions: 0,
    header: HEADER,
    ascii: 48,
    wide: 72,
};

/// Places of fields in 3.11, by its `Include/internal`: the same from 3.11.0 to 3.11.14.
const V3_11: Layout = Layout {
    interpreters: 40,
    next_interpreter: 0,
    threads: 16,
    gil: Gil::OfRuntime(360),
    next_thread: 8,
    identity: 160,
    first: 56,
    levels: Levels::Linked,
    previous: 48,
    code: 32,
    place: 56,
    flags: 64,
    tags: 0,
    owner: 40,
    numbers: None,
    file: 112,
    name: 128,
    first_line: 72,
    lines: 136,
    table: Table::Forms,
    instructions: 184,
    header: HEADER,
    ascii: 48,
    wide: 72,
};

/// Places of fields in 3.12, by its `Include/internal`.
const V3_12: Layout = Layout {
    interpreters: 40,
    next_interpreter: 0,
    threads: 72,
    gil: Gil::OfInterpreter(384),
    next_thread: 8,
    identity: 144,
    first: 56,
    levels: Levels::Through,
    previous: 8,
    code: 0,
    place: 56,
    flags: 64,
    tags: 0,
    owner: 48,
    numbers: None,
    file: 112,
    name: 128,
    first_line: 68,
    lines: 136,
    table: Table::Forms,
    instructions: 192,
    header: HEADER,
    ascii: 40,
    wide: 56,
};

/// The part that a frame plays in the run of one call of the interpreter, by the frame's flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It runs a function that others of the run called.
    Inner,
    /// It runs the first function of the run.
    Outermost,
    /// It lies on the stack, and the run ends before it.
    OnStack,
    /// It is all that a call runs.
    Only,
}

impl Layout {
    /// The layout of a version, as `Py_Version` has it, whose runtime is at an address.
    pub fn read(memory: &Pages<'_>, runtime: u64, version: u64) -> io::Result<Layout> {
        let [_, _, minor, major, ..] = version.to_le_bytes();
        match (major, minor) {
            (3, 9) => Ok(V3_9),
            (3, 10) => Ok(V3_10),
            (3, 11) => Ok(V3_11),
            (3, 12) => Ok(V3_12),
            (3, 13) => Layout::told(memory, runtime, version, &TOLD_3_13),
            (3, 14) => Layout::told(memory, runtime, version, &TOLD_3_14),
            _ => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("CPython {major}.{minor} is not known"),
            )),
        }
    }

    /// As CPython tells from 3.13 on in the table `_Py_DebugOffsets`, with which its runtime begins.
    fn told(memory: &Pages<'_>, runtime: u64, version: u64, told: &Told) -> io::Result<Layout> {
        let word = |index: u64| memory.u64(runtime.wrapping_add(8 * index));
        if word(0)?.to_le_bytes() != *b"xdebugpy" || word(1)? & 0xffff_ffff != version & 0xffff_ffff
        {
            return Err(strange("CPython does not tell where its fields are"));
        }
        let is_free_threaded = word(2)? != 0;
        if is_free_threaded && !told.free_threaded {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "free-threaded CPython 3.14 is not known",
            ));
        }
        let (header, lock): (u16, fn(u16) -> Gil) = match is_free_threaded {
            true => (HEADER_OF_FREE_THREADED, Gil::BehindSwitch),
            false => (HEADER, Gil::OfInterpreter),
        };
        let place = |index: u64| {
            let place = u16::try_from(word(index)?).ok();
            place.ok_or_else(|| strange("CPython tells of a field that is too far"))
        };
        let all = |indices: &[u64]| -> io::Result<Vec<u16>> {
            indices.iter().map(|index| place(*index)).collect()
        };
        let (thread, frame, code) = (all(&told.thread)?, all(&told.frame)?, all(&told.code)?);
        let owner = frame[3];
        Ok(Layout {
            interpreters: place(5)?,
            next_interpreter: place(8)?,
            threads: place(9)?,
            gil: lock(place(told.gil)?),
            next_thread: thread[0],
            identity: thread[2],
            first: thread[1],
            levels: Levels::Direct,
            previous: frame[0],
            code: frame[1],
            place: frame[2],
            flags: owner & !7,
            tags: told.tags,
            owner: 8 * (owner & 7) as u8,
            numbers: None,
            file: code[0],
            name: code[1],
            first_line: code[3],
            lines: code[2],
            table: Table::Forms,
            instructions: code[4],
            header,
            ascii: place(told.ascii)?,
            wide: header + WIDE,
        })
    }

    /// The number in its own namespace of a thread that has this one as its number; none: that cannot be read.
    pub fn tid(&self, memory: &Pages<'_>, identity: u64) -> Option<u64> {
        if self.levels != Levels::One {
            return Some(identity);
        }
        let own = memory.u64(identity.wrapping_add(GLIBC_SELF)).ok()?;
        let tid = memory.u32(identity.wrapping_add(GLIBC_TID)).ok()?;
        (own == identity).then_some(tid.into())
    }

    /// The thread pointer of a thread. None: it cannot be read.
    pub fn pointer(&self, memory: &Pages<'_>, thread: &Thread) -> Option<u64> {
        match self.levels {
            Levels::One => Some(thread.identity),
            // It lies before the number.
            _ => {
                let number = thread.address.wrapping_add(self.identity.into());
                memory.u64(number.wrapping_sub(8)).ok()
            }
        }
    }

    /// How the kernel side copies the frames of a thread.
    pub fn chain(&self, thread: &Thread) -> Chain {
        Chain {
            thread: thread.address,
            lock: gil::words(thread.lock),
            identity: self.identity,
            first: self.first,
            through: match self.levels {
                Levels::Linked => Some(LINKED_FRAME),
                Levels::Through => Some(THROUGH_FRAME),
                Levels::One | Levels::Direct => None,
            },
            next: self.previous,
            object: self.code,
            tags: self.tags,
            flags: self.flags,
            place: self.place,
            names: [self.name, self.file],
            array: None,
        }
    }

    /// The number of the instruction of a code object that runs there; 0: the first one did not begin yet. None: it is far from the
    /// object.
    pub fn instruction(&self, code: u64, place: u64) -> Option<u16> {
        if let Some(bytes) = self.numbers {
            // Half of a word; the other half is another field.
            let before_the_first = -i32::from(bytes);
            let behind = (place as u32 as i32).checked_sub(before_the_first)?;
            return u16::try_from(behind / i32::from(bytes)).ok();
        }
        let first = code.wrapping_add(self.instructions.into());
        let behind = place.wrapping_sub(first).wrapping_add(INSTRUCTION);
        u16::try_from(behind / INSTRUCTION).ok()
    }

    /// What the flags of a frame say; none: they are not those of a frame.
    pub fn frame(&self, flags: u64) -> Option<Frame> {
        if self.levels == Levels::One {
            return Some(Frame::Only);
        }
        if self.levels == Levels::Linked {
            let owner = (flags >> self.owner) as u8;
            return match (flags >> ENTRY_SHIFT) as u8 {
                _ if owner >= STACK => None,
                0 => Some(Frame::Inner),
                1 => Some(Frame::Outermost),
                _ => None,
            };
        }
        match (flags >> self.owner) as u8 {
            STACK => Some(Frame::OnStack),
            owner => (owner < STACK).then_some(Frame::Inner),
        }
    }
}
