//! V8 in Node 18, 20, 22 and 24: the functions of JavaScript.
//!
//! All code of V8 keeps frame pointers, by which its frames are walked. A frame of JavaScript has its function, and where bytecode runs that
//! too, in fixed places below the frame pointer. The *bytecode* says which function that is ([`function`]): functions are moved by the
//! garbage collector all the time, and many may be of the same code. Compiled code ([`code`]) leads to its function itself.

mod code;
mod function;
mod layout;

use std::io;

use crate::{
    Called, Caller, Code, Found, Function, Known, Lack, Pages, Place, Runtime, Stack, Step, elf,
    known::{Looked, Piece},
    memory::strange,
    register::{RBP, RDI, RIP, RSP},
};
use layout::Layout;
use serde::{Deserialize, Serialize};

/// Where a frame has its function, the number of its arguments, its bytecode, and the place in that: bytes below the frame pointer.
const FUNCTION: u64 = 16;
const ARGUMENTS: u64 = 24;
const BYTECODE: u64 = 32;
const OFFSET: u64 = 40;

/// Most arguments of a call, and most bytes of bytecode.
const MOST_ARGUMENTS: u64 = 1 << 16;
const MOST_OFFSET: u64 = 1 << 24;

/// The version of V8 that runs in a process, as far as it changes where things are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct V8 {
    layout: Layout,
    /// An address in the code of the file.
    file: u64,
}

/// Says whether a word leads to an object.
fn is_object(word: u64) -> bool {
    word & 3 == 1 && word > 0xffff
}

/// A small integer, if it is one.
fn integer(word: u64) -> Option<u64> {
    (word as u32 == 0).then_some(word >> 32)
}

impl Runtime for V8 {
    fn recognise(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let file = file.strip_suffix(b" (deleted)").unwrap_or(file);
        file == b"node" || file == b"nodejs" || file.starts_with(b"libnode.so")
    }

    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<V8> {
        let address = |name: &[u8]| {
            let symbol = elf::find(memory, base, name)?;
            let symbol = symbol.ok_or_else(|| strange("it does not tell the version of V8"))?;
            Ok::<u64, io::Error>(symbol.address)
        };
        let number = |name: &[u8]| memory.u32(address(name)?);
        let major = number(b"_ZN2v88internal7Version6major_E")?;
        let minor = number(b"_ZN2v88internal7Version6minor_E")?;
        Ok(V8 {
            layout: Layout::of(major, minor)?,
            file: address(b"_ZN2v82V810GetVersionEv")?,
        })
    }

    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found> {
        let layout = &self.layout;
        let found = lacks.iter().map(|lack| match *lack {
            Lack::Code(pc) => Found::Code(pc, code::read(layout, memory, pc).map(Box::new)),
            Lack::Again(pc, number) => match code::read(layout, memory, pc) {
                Some(code) if code.number == number => Found::Same(pc),
                code => Found::Code(pc, code.map(Box::new)),
            },
            Lack::Method(at) => {
                let method = function::of_closure(layout, memory, at);
                Found::Method(at, method.ok().map(Box::new))
            }
            Lack::MethodOf(..) | Lack::Holder(..) => Found::Absent(*lack),
            Lack::Thread(thread, _) => Found::Thread(thread, None),
        });
        found.collect()
    }

    fn keeps_frame_pointer(&self, _pc: u64) -> bool {
        true
    }

    fn step(&self, known: &mut Known, at: &Place, stack: &dyn Stack, called: &mut Called) -> Step {
        let Some((rbp, ip)) = at.get(RBP).zip(at.get(RIP)) else {
            return Step::Foreign;
        };
        let frame = match known.code(ip.wrapping_sub(at.is_return.into())) {
            Looked::There(piece) => {
                let frame = match at.is_return {
                    true => Frame::There,
                    false => Frame::at(&piece.code, ip),
                };
                let function = match frame {
                    Frame::There => stack.word(rbp.wrapping_sub(FUNCTION)),
                    // Who calls has the function there.
                    Frame::NotYet | Frame::Pushed => at.get(RDI),
                    Frame::Gone => None,
                };
                called.functions.extend(named(known, &piece, function));
                frame
            }
            // All its code keeps a frame pointer; the innermost frame may not be there yet, or any more.
            Looked::Nothing | Looked::Lacking if at.is_return => Frame::There,
            Looked::Nothing | Looked::Lacking => return Step::Foreign,
        };
        let sp = at.registers[RSP];
        match frame {
            Frame::There => caller(stack, rbp),
            Frame::Pushed => caller(stack, sp),
            Frame::NotYet | Frame::Gone => match stack.word(sp) {
                Some(pc) => Step::Caller(Caller {
                    pc,
                    sp: sp.wrapping_add(8),
                    rbp: Some(rbp),
                }),
                None => Step::Missing(sp),
            },
        }
    }

    fn file(&self) -> Option<u64> {
        Some(self.file)
    }

    /// The interpreter's frames. Code without a frame that the interpreter called is taken for the interpreter.
    fn step_in_file(
        &self,
        known: &mut Known,
        at: &Place,
        stack: &dyn Stack,
        called: &mut Called,
    ) -> Step {
        let Some(rbp) = at.get(RBP) else {
            return Step::Foreign;
        };
        let word = |below: u64| stack.word(rbp.wrapping_sub(below));
        let arguments = word(ARGUMENTS).filter(|count| *count <= MOST_ARGUMENTS);
        let offset = word(OFFSET).and_then(integer);
        let offset = offset.filter(|offset| (1..=MOST_OFFSET).contains(offset));
        let bytecode = word(BYTECODE).filter(|word| is_object(*word));
        let function = word(FUNCTION).filter(|word| is_object(*word));
        let (Some(function), Some(bytecode)) = (function, bytecode) else {
            return Step::Foreign;
        };
        if arguments.is_none() || offset.is_none() {
            return Step::Foreign;
        }
        let name = by_bytecode(known, function, bytecode);
        called.functions.extend(name);
        caller(stack, rbp)
    }
}

impl V8 {
    /// One of this version, with no code of the file.
    pub(crate) fn fuzzed(major: u32, minor: u32) -> io::Result<V8> {
        Ok(V8 {
            layout: Layout::of(major, minor)?,
            file: 0,
        })
    }
}

/// The caller of a frame whose saved frame pointer lies at this address.
fn caller(stack: &dyn Stack, rbp: u64) -> Step {
    match stack.word(rbp).zip(stack.word(rbp.wrapping_add(8))) {
        Some((saved, pc)) => Step::Caller(Caller {
            pc,
            sp: rbp.wrapping_add(16),
            rbp: Some(saved),
        }),
        None => Step::Missing(rbp),
    }
}

/// How far the frame of code that V8 made is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// Only a return address.
    NotYet,
    /// The saved frame pointer too.
    Pushed,
    /// All; the frame pointer is its own.
    There,
    /// Only a return address, any more.
    Gone,
}

impl Frame {
    /// Of code, while the instruction at an address is to run.
    fn at(code: &Code, pc: u64) -> Frame {
        let offset = pc.wrapping_sub(code.begin) as u32;
        let is_gone = |(from, to): &(u32, u32)| (*from..*to).contains(&offset);
        if offset < code.pushed {
            Frame::NotYet
        } else if offset < code.made {
            Frame::Pushed
        } else if code.exits.iter().any(is_gone) {
            Frame::Gone
        } else {
            Frame::There
        }
    }
}

/// The function of code. `function`: a closure of it, if one is there.
fn named(known: &mut Known, piece: &Piece, function: Option<u64>) -> Option<Function> {
    match piece.names.first() {
        Some(name) => name.map(|name| Function { name, line: 0 }),
        // Compiled bytecode by bytecode.
        None => by_bytecode(known, function.unwrap_or_default(), piece.code.number),
    }
}

/// The function that has this bytecode, and a closure of it.
fn by_bytecode(known: &mut Known, function: u64, bytecode: u64) -> Option<Function> {
    if !is_object(function) {
        return None;
    }
    match known.method_by(function, [bytecode, 0]) {
        Looked::There(method) => method.name.map(|name| Function { name, line: 0 }),
        Looked::Nothing | Looked::Lacking => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognise_node_and_its_library_and_nothing_else() {
        for path in [
            &b"/usr/bin/node"[..],
            b"/usr/bin/nodejs",
            b"/opt/node/bin/node (deleted)",
            b"/usr/lib/x86_64-linux-gnu/libnode.so.108",
        ] {
            assert!(V8::recognise(path), "{path:?}");
        }
        for path in [
            &b"/usr/bin/nodemon"[..],
            b"/srv/node/server",
            b"",
            b"/usr/lib/libnodes.so",
        ] {
            assert!(!V8::recognise(path), "{path:?}");
        }
    }
}
