//! Where the virtual machine, the symbols and the interpreter of a process are.

use std::io;

use serde::{Deserialize, Serialize};

use super::{
    layout::{
        INNERMOST, INSTRUCTION, INSTRUCTIONS, Layout, SEQUENCE, STACK, STACK_WORDS, SYMBOL_TEXTS,
        SYMBOLS,
    },
    object, threads,
};
use crate::{elf::Symbol, memory::Pages};

/// Functions that every build exports. One reads the pointer to the virtual machine, which builds from 3.3 on do not export; the other one
/// reads the table of symbols, which none exports.
pub const READS_MACHINE: &str = "ruby_vm_at_exit";
pub const READS_SYMBOLS: &str = "rb_sym_all_symbols";

/// Most bytes of such a function that are looked at: both have fewer than 200.
const MOST_CODE: u64 = 512;
/// Most frames that are looked at for code of Ruby.
const MOST_FRAMES: u64 = 1024;
/// Most bytes of a program or a library of Ruby.
const MOST_FILE: u64 = 64 << 20;
/// Symbols that Ruby has before it runs anything, and that it may have.
const LEAST_SYMBOLS: u32 = 500;
const MOST_SYMBOLS: u32 = 1 << 28;
/// Symbols of which one array has the texts.
const IN_ARRAY: u64 = 512;

/// The addresses of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The virtual machine.
    pub machine: u64,
    /// The table of symbols; 0: it was not found.
    pub symbols: u64,
    /// An instruction of the interpreter.
    pub interpreter: u64,
}

impl Places {
    pub fn find(
        memory: &Pages<'_>,
        layout: &Layout,
        base: u64,
        symbol: impl Fn(&str) -> Option<Symbol>,
    ) -> io::Result<Places> {
        let starting = || io::Error::new(io::ErrorKind::WouldBlock, "Ruby is starting");
        let main = |pointer: u64| {
            let machine = memory.u64(pointer).ok().filter(|at| *at != 0)?;
            Some((machine, threads::main(layout, memory, machine)?))
        };
        let exported = symbol("ruby_current_vm_ptr").map(|symbol| symbol.address);
        let found = match exported {
            Some(pointer) => main(pointer),
            None => read_by(memory, symbol(READS_MACHINE)).find_map(main),
        };
        let (machine, thread) = found.ok_or_else(starting)?;
        let is_table = |at: &u64| is_table(layout, memory, *at).is_ok_and(|is| is);
        let mut tables = read_by(memory, symbol(READS_SYMBOLS)).flat_map(|at| {
            // What is read may be another field of the table.
            [0, 8, 16].map(|before| at.wrapping_sub(before))
        });
        Ok(Places {
            machine,
            symbols: tables.find(is_table).unwrap_or(0),
            interpreter: instruction(memory, layout, base, thread).ok_or_else(starting)?,
        })
    }
}

/// Addresses that the code of a function reads or takes, by their distance from the code; and, where there is an address, that one.
fn read_by<'a>(memory: &'a Pages<'_>, function: Option<Symbol>) -> impl Iterator<Item = u64> + 'a {
    let function = function.filter(|symbol| symbol.size >= 4);
    let read = function.and_then(|symbol| {
        let size = symbol.size.min(MOST_CODE) as usize;
        Some((symbol.address, memory.bytes(symbol.address, size).ok()?))
    });
    let (start, code) = read.unwrap_or_default();
    let distances = (0..code.len().saturating_sub(3)).filter_map(move |at| {
        let distance = i32::from_le_bytes(*code[at..].first_chunk()?);
        let behind = start.wrapping_add(at as u64 + 4);
        Some(behind.wrapping_add_signed(distance.into()))
    });
    distances.flat_map(|at| [Some(at), memory.u64(at).ok()].into_iter().flatten())
}

/// Whether a table of symbols is there: it has as many arrays of texts as its number of symbols needs.
fn is_table(layout: &Layout, memory: &Pages<'_>, at: u64) -> io::Result<bool> {
    let count = memory.u32(at.wrapping_add(SYMBOLS))?;
    if !at.is_multiple_of(8) || !(LEAST_SYMBOLS..MOST_SYMBOLS).contains(&count) {
        return Ok(false);
    }
    let texts = memory.u64(at.wrapping_add(SYMBOL_TEXTS))?;
    let (arrays, _) = object::array(layout, memory, texts)?;
    let first = object::element(layout, memory, texts, 0)?;
    object::array(layout, memory, first)?;
    Ok(arrays == u64::from(count) / IN_ARRAY + 1)
}

/// An instruction of the interpreter: instruction sequences have their addresses.
fn instruction(memory: &Pages<'_>, layout: &Layout, base: u64, thread: u64) -> Option<u64> {
    let word = |address: u64, offset: u64| memory.u64(address.wrapping_add(offset)).ok();
    let context = word(thread, layout.context.into())?;
    let bytes = word(context, STACK_WORDS)?.checked_mul(8)?;
    let end = word(context, STACK)?.checked_add(bytes)?;
    let mut frame = word(context, INNERMOST.into())?;
    for _ in 0..MOST_FRAMES {
        if frame >= end {
            break;
        }
        let sequence = word(frame, SEQUENCE.into())?;
        let runs = word(frame, INSTRUCTION.into())? != 0 && sequence != 0;
        if runs && object::internal(memory, sequence).ok() == Some(object::SEQUENCE) {
            let body = word(sequence, super::layout::BODY.into())?;
            let first = word(word(body, INSTRUCTIONS)?, 0)?;
            return Some(first).filter(|at| (base..base.saturating_add(MOST_FILE)).contains(at));
        }
        frame = frame.checked_add(layout.frame.into())?;
    }
    None
}
