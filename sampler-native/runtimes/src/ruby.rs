//! Ruby from 2.7 to 3.4: the functions that its virtual machine runs.
//!
//! Functions of Ruby have no frames on the stack: their *control frames* lie in an array of the thread's own memory, those of functions
//! written in C among them ([`chain`]). One call of `vm_exec_core` runs some of them, up to one that says so; calls and runs are told
//! apart by their order. Ruby tells nothing of where its fields are: its version does ([`layout`]). What the symbols of a build do not
//! tell is found by what the code reads, and by structures that lead to one another ([`place`]). A control frame leads to an instruction
//! sequence, which has its name and lines ([`function`]), and to a method, which has its class ([`class`]).

mod chain;
mod class;
mod function;
mod layout;
mod lines;
mod object;
mod place;
mod threads;

use std::{collections::HashMap, io, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    Chain, Found, Interpreted, Known, Lack, Pages, Part, Runs, Runtime, Stack, Thread, elf,
    memory::strange,
};
use layout::Layout;
use place::Places;

/// Longest name of a symbol that is compared.
const MOST_NAME: usize = 32;
/// Least bytes of the function that runs Ruby's code.
const LEAST: u64 = 8 << 10;

/// The addresses in one process of Ruby that its functions are found by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruby {
    places: Places,
    layout: Layout,
}

impl Runtime for Ruby {
    fn recognise(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        if let Some(rest) = file.strip_prefix(b"libruby") {
            return rest.windows(3).any(|part| part == b".so");
        }
        let version = file.strip_prefix(b"ruby");
        version.is_some_and(|text| text.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
    }

    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<Ruby> {
        let mut symbols = HashMap::new();
        elf::exported(memory, base, MOST_NAME, |name, symbol| {
            let names: [&[u8]; 4] = [
                b"ruby_version",
                b"ruby_current_vm_ptr",
                place::READS_MACHINE.as_bytes(),
                place::READS_SYMBOLS.as_bytes(),
            ];
            if let Some(name) = names.into_iter().find(|wanted| *wanted == name) {
                symbols.insert(name, symbol);
            }
        })?;
        let symbol = |name: &str| symbols.get(name.as_bytes()).copied();
        let version = symbol("ruby_version").ok_or_else(|| strange("it is not Ruby"))?;
        let layout = Layout::read(memory, version.address)?;
        let places = Places::find(memory, &layout, base, symbol)?;
        Ok(Ruby { places, layout })
    }

    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found> {
        let mut threads = None;
        let found = lacks.iter().map(|lack| match *lack {
            Lack::Code(pc) | Lack::Again(pc, _) => Found::Code(pc, None),
            Lack::Method(at) => Found::Method(at, None),
            Lack::Holder(..) => Found::Absent(*lack),
            Lack::MethodOf(at, owner) => {
                let method = function::read(&self.layout, self.places.symbols, memory, at, owner);
                match method {
                    Ok(method) => Found::Method(at, Some(Box::new(method))),
                    Err(_) => Found::Absent(*lack),
                }
            }
            Lack::Thread(number, own) => {
                let threads = threads
                    .get_or_insert_with(|| threads::all(&self.layout, memory, self.places.machine));
                let is_it = |found: &&threads::Found| found.number == own;
                // In a fork a thread may have the number still that it had in its parent: there is only one.
                let alone = threads.first().filter(|_| threads.len() == 1);
                let thread = threads.iter().find(is_it).or(alone);
                Found::Thread(number, thread.map(|found| found.thread))
            }
        });
        found.collect()
    }

    /// Code that Ruby compiles at run time uses the frame pointer as it likes.
    fn keeps_frame_pointer(&self, _pc: u64) -> bool {
        false
    }

    fn interpreter(&self) -> Option<Range<u64>> {
        let address = self.places.interpreter;
        Some(address..address.wrapping_add(1))
    }

    fn interpreter_part(&self) -> Option<Part> {
        Some(Part {
            address: self.places.interpreter,
            least: LEAST,
            has_caller: true,
        })
    }

    fn chain(&self, thread: &Thread) -> Option<Chain> {
        Some(self.layout.chain(thread.address))
    }

    fn interpreted(
        &self,
        known: &mut Known,
        copied: &Interpreted<'_>,
        _stack: &dyn Stack,
        runs: &mut Runs,
    ) -> bool {
        chain::runs(known, copied, runs).is_some()
    }
}

impl Ruby {
    /// One whose virtual machine and symbols are at the beginning of memory.
    pub(crate) fn fuzzed(version: &str) -> io::Result<Ruby> {
        Ok(Ruby {
            places: Places {
                machine: 0,
                symbols: 0x100,
                interpreter: 0,
            },
            layout: Layout::of(version)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognise_programs_and_the_library_and_nothing_else() {
        for path in [
            "/usr/bin/ruby3.1",
            "/usr/local/bin/ruby",
            "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2",
            "/usr/local/lib/libruby.so.3.4",
        ] {
            assert!(Ruby::recognise(path.as_bytes()), "{path}");
        }
        for path in [
            "/usr/bin/rubygems",
            "/usr/lib/ruby/3.1.0/json/ext/parser.so",
            "/usr/lib/libruby.a",
            "/usr/bin/jruby",
            "/ruby/a",
            "",
        ] {
            assert!(!Ruby::recognise(path.as_bytes()), "{path}");
        }
    }
}
