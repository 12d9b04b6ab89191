//! CPython from 3.9 to 3.14: the functions that its interpreter runs, and where it makes code.
//!
//! Functions of Python have no frames on the stack: their frames lie in memory of their own, and each leads to the frame that called it
//! ([`chain`]). One call of the interpreter's own code runs some of them, and says on the stack where its run ends. Places of fields
//! ([`layout`]) are told by CPython itself from 3.13 on. A frame leads to a *code object*, which has its name ([`code`]) and
//! its lines ([`lines`]).

mod chain;
mod code;
mod gil;
mod layout;
mod lines;

use std::{collections::HashMap, io, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    Chain, Found, Interpreted, Known, Lack, Pages, Part, Runs, Runtime, Stack, Thread, Wait, elf,
    memory::strange, parted,
};
use layout::{Layout, Levels};

/// `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`: CPython 3.12 and newer with `-X perf` makes one for each function, so that
/// it has an address; a mapping of them holds nothing else.
pub const TRAMPOLINE: [u8; 11] = [
    0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
];

/// Functions that came with 3.10 and with 3.9, which do not tell their version.
const FIRST_OF_3_10: &[u8] = b"Py_NewRef";
const FIRST_OF_3_9: &[u8] = b"PyObject_CallNoArgs";

/// Longest name of a symbol that is compared.
const MOST_NAME: usize = 32;
/// Most bytes of the interpreter's code: it has some 60,000.
const MOST_CODE: u64 = 1 << 20;
/// A function of fewer bytes than these is not all of the interpreter, and so is its other part: all versions have 38,000 and more.
const LEAST: u64 = 16 << 10;
/// Bytes of the C library's structure of a thread that are looked through, and most threads whose structures are compared.
const SPECIFIC: usize = 0x700;
const COMPARED: usize = 4;
/// Most interpreters, and threads of all of them, that are looked at.
const MOST_INTERPRETERS: usize = 64;
const MOST_THREADS: usize = 16 << 10;

/// The addresses in one process of CPython that its functions are found by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Python {
    /// Address of `_PyRuntime`, which leads to all interpreters.
    runtime: u64,
    /// The type of code objects.
    code_type: u64,
    /// The function that runs Python's code.
    interpreter: Range<u64>,
    /// An address in the rest of this function.
    part: Option<u64>,
    layout: Layout,
}

impl Runtime for Python {
    fn recognise(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        file.starts_with(b"python3") || file.starts_with(b"libpython3")
    }

    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<Python> {
        let mut symbols = HashMap::new();
        elf::exported(memory, base, MOST_NAME, |name, symbol| {
            let names: [&[u8]; 6] = [
                b"_PyRuntime",
                b"Py_Version",
                FIRST_OF_3_10,
                FIRST_OF_3_9,
                b"PyCode_Type",
                b"_PyEval_EvalFrameDefault",
            ];
            if let Some(name) = names.into_iter().find(|wanted| *wanted == name) {
                symbols.insert(name, symbol);
            }
        })?;
        let symbol = |name: &str| {
            let symbol = symbols.get(name.as_bytes()).copied();
            symbol.ok_or_else(|| strange("it is not CPython, or older than 3.9"))
        };
        let runtime = symbol("_PyRuntime")?.address;
        let version = match symbols.get(b"Py_Version".as_slice()) {
            Some(version) => memory.u64(version.address)?,
            None if symbols.contains_key(FIRST_OF_3_10) => 0x030a_0000,
            None if symbols.contains_key(FIRST_OF_3_9) => 0x0309_0000,
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "CPython before 3.9 is not known",
                ));
            }
        };
        let eval = symbol("_PyEval_EvalFrameDefault")?;
        if eval.size == 0 || eval.size > MOST_CODE {
            return Err(strange("CPython does not tell where its interpreter is"));
        }
        let interpreter = eval.address..eval.address.wrapping_add(eval.size);
        Ok(Python {
            runtime,
            code_type: symbol("PyCode_Type")?.address,
            part: match eval.size < LEAST {
                true => parted::part(memory, &interpreter),
                false => None,
            },
            interpreter,
            layout: Layout::read(memory, runtime, version)?,
        })
    }

    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found> {
        let mut threads = None;
        let found = lacks.iter().map(|lack| match *lack {
            Lack::Code(pc) | Lack::Again(pc, _) => Found::Code(pc, None),
            Lack::MethodOf(..) | Lack::Holder(..) => Found::Absent(*lack),
            Lack::Method(at) => {
                let method = code::read(&self.layout, self.code_type, memory, at);
                Found::Method(at, method.ok().map(Box::new))
            }
            Lack::Thread(number, own) => {
                let threads = threads.get_or_insert_with(|| self.threads(memory));
                let tid = |thread: &&Thread| self.layout.tid(memory, thread.identity);
                let mut thread = threads.iter().find(|t| tid(t) == Some(own.into()));
                // In a fork 3.11 leaves the oldest thread the number that it had in its parent. The stack says whether it is that one.
                if self.layout.levels != Levels::One {
                    thread = thread.or(threads.last());
                }
                Found::Thread(number, thread.copied())
            }
        });
        found.collect()
    }

    /// As far as is known, who makes code in a process of CPython keeps one.
    fn keeps_frame_pointer(&self, _pc: u64) -> bool {
        true
    }

    fn interpreter(&self) -> Option<Range<u64>> {
        Some(self.interpreter.clone())
    }

    fn interpreter_part(&self) -> Option<Part> {
        self.part.map(|address| Part {
            address,
            least: LEAST,
            has_caller: false,
        })
    }

    fn chain(&self, thread: &Thread) -> Option<Chain> {
        Some(self.layout.chain(thread))
    }

    fn wait(&self, known: &Known, copied: &Interpreted<'_>, address: u64) -> Option<Wait> {
        gil::wait(known, copied, address)
    }

    fn interpreted(
        &self,
        known: &mut Known,
        copied: &Interpreted<'_>,
        stack: &dyn Stack,
        runs: &mut Runs,
    ) -> bool {
        chain::runs(&self.layout, known, copied, stack, runs).is_some()
    }
}

impl Python {
    /// One whose runtime lies at the beginning of memory.
    pub(crate) fn fuzzed(memory: &Pages<'_>, version: u64) -> io::Result<Python> {
        Ok(Python {
            runtime: 0,
            code_type: 1,
            interpreter: 0..1,
            part: None,
            layout: Layout::read(memory, 0, version)?,
        })
    }

    /// A table of lines.
    pub(crate) fn unpacked(&self, bytes: &[u8], first: i32) {
        lines::unpacked(self.layout.table, bytes, first);
    }

    /// All threads that it knows, the oldest one of the first interpreter last. What cannot be read is missing.
    fn threads(&self, memory: &Pages<'_>) -> Vec<Thread> {
        let layout = &self.layout;
        let word = |address: u64, offset: u16| memory.u64(address.wrapping_add(offset.into())).ok();
        let mut threads = Vec::new();
        // A ring has no end, also one of threads without a number.
        let (mut left, mut interpreters) = (MOST_THREADS, 0);
        let mut interpreter = word(self.runtime, layout.interpreters);
        while let Some(at) = interpreter.filter(|at| *at != 0) {
            interpreters += 1;
            if interpreters > MOST_INTERPRETERS {
                break;
            }
            let lock = layout.gil.address(memory, self.runtime, at);
            let mut thread = word(at, layout.threads);
            while let Some(address) = thread.filter(|at| *at != 0 && left > 0) {
                left -= 1;
                let identity = word(address, layout.identity);
                threads.extend(identity.map(|identity| Thread {
                    address,
                    identity,
                    lock,
                    from_pointer: 0,
                }));
                thread = word(address, layout.next_thread);
            }
            interpreter = word(at, layout.next_interpreter);
        }
        let from_pointer = self.common_place(memory, &threads);
        threads
            .iter_mut()
            .for_each(|thread| thread.from_pointer = from_pointer);
        threads
    }

    /// From the thread pointer of each thread to a word that has the address of the thread: CPython keeps it where `pthread_getspecific`
    /// finds it, in the C library's structure of the thread. 0: not all of the oldest threads have one there.
    fn common_place(&self, memory: &Pages<'_>, threads: &[Thread]) -> u16 {
        let (mut compared, mut common) = (0, Vec::<u16>::new());
        for thread in threads.iter().rev() {
            // A thread that begins has no pointer yet.
            let pointer = self.layout.pointer(memory, thread).filter(|at| *at != 0);
            let Some(words) = pointer.and_then(|at| memory.bytes(at, SPECIFIC).ok()) else {
                continue;
            };
            let words = words.chunks_exact(8).enumerate();
            let places = words.filter(|(_, word)| **word == thread.address.to_le_bytes());
            let mut places: Vec<u16> = places.map(|(index, _)| 8 * index as u16).collect();
            places.retain(|place| compared == 0 || common.contains(place));
            common = places;
            compared += 1;
            if compared == COMPARED {
                break;
            }
        }
        match common[..] {
            [place] if compared > 1 => place,
            _ => 0,
        }
    }
}
