//! PHP from 8.0 to 8.4, of builds without threads: the functions that its virtual machine runs.
//!
//! Functions of PHP have no frames on the stack: their frames lie in memory of their own, and each leads to the frame that called it
//! ([`chain`]), functions that are written in C among them. One call of `execute_ex` runs some of them, up to one that says so; calls
//! and runs are told apart by their order, since a run says nothing of the stack. The number of its interface for modules, which every
//! module of PHP has, says where fields are ([`layout`]). A frame leads to a function, which has its name and lines ([`function`]).

mod chain;
mod function;
mod layout;

use std::{collections::HashMap, io, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    Chain, Found, Interpreted, Known, Lack, Pages, Part, Runs, Runtime, Stack, Thread, elf,
    memory::strange, parted,
};
use layout::Layout;

/// Longest name of a symbol that is compared.
const MOST_NAME: usize = 32;
/// Most bytes of the code of the virtual machine: it has some 40,000.
const MOST_CODE: u64 = 1 << 20;
/// Least bytes of the part of it that a compiler has put elsewhere.
const LEAST_PART: u64 = 1 << 10;

/// The addresses in one process of PHP that its functions are found by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Php {
    /// Address of `executor_globals`, which leads to the innermost frame.
    globals: u64,
    /// The function that runs PHP's code.
    interpreter: Range<u64>,
    /// An address in the rest of this function.
    part: Option<u64>,
    layout: Layout,
}

impl Runtime for Php {
    fn recognise(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        if let Some(rest) = file.strip_prefix(b"libphp") {
            return is_version(rest.strip_suffix(b".so").unwrap_or(b"x"));
        }
        let Some(rest) = file.strip_prefix(b"php") else {
            return false;
        };
        let kinds: [&[u8]; 2] = [b"-fpm", b"-cgi"];
        let kind = kinds.into_iter().find_map(|kind| rest.strip_prefix(kind));
        is_version(kind.unwrap_or(rest))
    }

    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<Php> {
        let mut symbols = HashMap::new();
        elf::exported(memory, base, MOST_NAME, |name, symbol| {
            let names: [&[u8]; 3] = [b"executor_globals", b"module_registry", b"execute_ex"];
            if let Some(name) = names.into_iter().find(|wanted| *wanted == name) {
                symbols.insert(name, symbol);
            }
        })?;
        let symbol = |name: &str| {
            let symbol = symbols.get(name.as_bytes()).copied();
            symbol.ok_or_else(|| strange("it is not PHP"))
        };
        // A build for threads has no globals of that name, and is refused here.
        let layout = Layout::read(memory, symbol("module_registry")?.address)?;
        let globals = symbol("executor_globals")?.address;
        let execute = symbol("execute_ex")?;
        if execute.size == 0 || execute.size > MOST_CODE {
            return Err(strange("PHP does not tell where its virtual machine is"));
        }
        let interpreter = execute.address..execute.address.wrapping_add(execute.size);
        Ok(Php {
            globals,
            part: parted::part(memory, &interpreter),
            interpreter,
            layout,
        })
    }

    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found> {
        let found = lacks.iter().map(|lack| match *lack {
            Lack::Code(pc) | Lack::Again(pc, _) => Found::Code(pc, None),
            Lack::MethodOf(..) | Lack::Holder(..) => Found::Absent(*lack),
            Lack::Method(at) => {
                let method = function::read(&self.layout, memory, at);
                Found::Method(at, method.ok().map(Box::new))
            }
            // A build without threads has one, whichever asks.
            Lack::Thread(number, _) => {
                let table = self.globals.wrapping_add(layout::FUNCTIONS.into());
                let thread = memory.u64(table).ok().map(|identity| Thread {
                    address: self.globals,
                    identity,
                    lock: 0,
                    from_pointer: 0,
                });
                Found::Thread(number, thread)
            }
        });
        found.collect()
    }

    /// Code that opcache compiles at run time uses the frame pointer as it likes.
    fn keeps_frame_pointer(&self, _pc: u64) -> bool {
        false
    }

    fn interpreter(&self) -> Option<Range<u64>> {
        Some(self.interpreter.clone())
    }

    fn interpreter_part(&self) -> Option<Part> {
        self.part.map(|address| Part {
            address,
            least: LEAST_PART,
            has_caller: false,
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
        chain::runs(&self.layout, known, copied, runs).is_some()
    }
}

impl Php {
    /// One whose globals lie at the beginning of memory, with the number of this interface.
    pub(crate) fn fuzzed(interface: u32) -> io::Result<Php> {
        Ok(Php {
            globals: 0,
            interpreter: 0..1,
            part: None,
            layout: Layout::of(interface, "8")?,
        })
    }
}

/// What stands behind the name of a program of PHP: nothing, or a version.
fn is_version(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognise_programs_and_the_module_and_nothing_else() {
        for path in [
            "/usr/bin/php8.2",
            "/usr/local/bin/php",
            "/usr/sbin/php-fpm8.2",
            "/usr/local/sbin/php-fpm",
            "/usr/bin/php-cgi8.4",
            "/usr/lib/apache2/modules/libphp8.2.so",
            "/usr/lib/libphp.so",
        ] {
            assert!(Php::recognise(path.as_bytes()), "{path}");
        }
        for path in [
            "/usr/bin/phpize8.2",
            "/usr/bin/phpdbg8.2",
            "/usr/bin/php-config",
            "/usr/lib/php/20220829/opcache.so",
            "/usr/lib/libphp",
            "/usr/lib/libphp8.2.so.1",
            "/php/a",
            "",
        ] {
            assert!(!Php::recognise(path.as_bytes()), "{path}");
        }
    }
}
