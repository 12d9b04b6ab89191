//! Symbols that a program or library exports, as they lie in the memory of a process.

use std::io;

use crate::memory::{Pages, strange};

/// Most symbols that are looked at; CPython 3.13 exports about 2,300.
const MAX_SYMBOLS: u64 = 16 << 10;
const MAX_PROGRAM_HEADERS: u64 = 64;
const MAX_DYNAMIC: u64 = 256;

/// A program that lies where its file says, and not anywhere.
const ET_EXEC: u16 = 2;
const PT_DYNAMIC: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const SYMBOL: u64 = 24;

/// An exported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address in the process.
    pub address: u64,
    /// The bytes that it names.
    pub size: u64,
}

/// The exported symbols of the file that lies at `base`, each with the beginning of its name, up to `most` bytes: calls `each` with
/// every one that is defined.
pub fn exported(
    memory: &Pages<'_>,
    base: u64,
    most: usize,
    mut each: impl FnMut(&[u8], Symbol),
) -> io::Result<()> {
    if memory.u32(base)? != u32::from_le_bytes(*b"\x7fELF") {
        return Err(strange("it is no ELF file"));
    }
    let moved = match memory.u16(base.wrapping_add(16))? {
        ET_EXEC => 0,
        _ => base,
    };
    let at = |offset: u64| moved.wrapping_add(offset);
    let (table, count) = (
        memory.u64(base.wrapping_add(32))?,
        memory.u16(base.wrapping_add(56))?,
    );
    // The table of symbols has no length of its own; that of their names lies behind it.
    let (mut symbols, mut strings) = (0, 0);
    for i in 0..u64::from(count).min(MAX_PROGRAM_HEADERS) {
        let header = base.wrapping_add(table).wrapping_add(56 * i);
        if u64::from(memory.u32(header)?) != PT_DYNAMIC {
            continue;
        }
        let address = memory.u64(header.wrapping_add(16))?;
        for j in 0..MAX_DYNAMIC {
            let entry = at(address).wrapping_add(16 * j);
            let (tag, value) = (memory.u64(entry)?, memory.u64(entry.wrapping_add(8))?);
            // The loader may have added where the file lies.
            let value = if value < base { at(value) } else { value };
            match tag {
                0 => break,
                DT_STRTAB => strings = value,
                DT_SYMTAB => symbols = value,
                _ => {}
            }
        }
    }
    if symbols == 0 || strings <= symbols {
        return Err(strange("it exports no symbols"));
    }
    for i in 0..((strings - symbols) / SYMBOL).min(MAX_SYMBOLS) {
        let symbol = symbols.wrapping_add(SYMBOL * i);
        if memory.u16(symbol.wrapping_add(6))? == 0 {
            continue;
        }
        let name = strings.wrapping_add(u64::from(memory.u32(symbol)?));
        let found = Symbol {
            address: at(memory.u64(symbol.wrapping_add(8))?),
            size: memory.u64(symbol.wrapping_add(16))?,
        };
        each(&memory.text(name, most), found);
    }
    Ok(())
}
