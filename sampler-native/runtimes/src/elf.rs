//! Symbols that a program or library exports, as they lie in the memory of a process.

use std::io;

use crate::memory::{Pages, strange};

/// Most symbols that are looked at; CPython 3.13 exports about 2,300.
const MAX_SYMBOLS: u64 = 16 << 10;
const MAX_PROGRAM_HEADERS: u64 = 64;
const MAX_DYNAMIC: u64 = 256;
/// Most symbols of one bucket of the table of hashes.
const MAX_CHAIN: usize = 4096;

/// A program that lies where its file says, and not anywhere.
const ET_EXEC: u16 = 2;
const PT_DYNAMIC: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
const SYMBOL: u64 = 24;

/// An exported symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address in the process.
    pub address: u64,
    /// The bytes that it names.
    pub size: u64,
}

/// The tables of exported symbols of a file.
struct Tables {
    /// Addresses in the file are less by this than those in memory.
    moved: u64,
    symbols: u64,
    strings: u64,
    /// The table of hashes; 0: there is none.
    hashes: u64,
}

/// Reads where they are, of the file that lies at `base`.
fn tables(memory: &Pages<'_>, base: u64) -> io::Result<Tables> {
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
    let (mut symbols, mut strings, mut hashes) = (0, 0, 0);
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
                DT_GNU_HASH => hashes = value,
                _ => {}
            }
        }
    }
    if symbols == 0 || strings <= symbols {
        return Err(strange("it exports no symbols"));
    }
    Ok(Tables {
        moved,
        symbols,
        strings,
        hashes,
    })
}

impl Tables {
    /// A symbol by its number, and the beginning of its name; none: it is not defined.
    fn symbol(
        &self,
        memory: &Pages<'_>,
        number: u64,
        most: usize,
    ) -> io::Result<Option<(Vec<u8>, Symbol)>> {
        let symbol = self.symbols.wrapping_add(SYMBOL.wrapping_mul(number));
        if memory.u16(symbol.wrapping_add(6))? == 0 {
            return Ok(None);
        }
        let name = self.strings.wrapping_add(u64::from(memory.u32(symbol)?));
        let found = Symbol {
            address: self.moved.wrapping_add(memory.u64(symbol.wrapping_add(8))?),
            size: memory.u64(symbol.wrapping_add(16))?,
        };
        Ok(Some((memory.text(name, most), found)))
    }
}

/// The exported symbols of the file that lies at `base`, each with the beginning of its name, up to `most` bytes: calls `each` with
/// every one that is defined.
pub fn exported(
    memory: &Pages<'_>,
    base: u64,
    most: usize,
    mut each: impl FnMut(&[u8], Symbol),
) -> io::Result<()> {
    let tables = tables(memory, base)?;
    // The table of symbols has no length of its own; that of their names lies behind it.
    let count = (tables.strings - tables.symbols) / SYMBOL;
    for number in 0..count.min(MAX_SYMBOLS) {
        if let Some((name, symbol)) = tables.symbol(memory, number, most)? {
            each(&name, symbol);
        }
    }
    Ok(())
}

/// The exported symbol of this name in the file that lies at `base`, by the table of hashes: for files with many symbols.
pub fn find(memory: &Pages<'_>, base: u64, name: &[u8]) -> io::Result<Option<Symbol>> {
    let tables = tables(memory, base)?;
    if tables.hashes == 0 {
        return Err(strange("it has no table of hashes of its symbols"));
    }
    let number = |index: u64| {
        memory
            .u32(tables.hashes.wrapping_add(4 * index))
            .map(u64::from)
    };
    let (buckets, first, blooms) = (number(0)?, number(1)?, number(2)?);
    if buckets == 0 {
        return Ok(None);
    }
    let hash = name.iter().fold(5381u32, |hash, byte| {
        hash.wrapping_mul(33).wrapping_add((*byte).into())
    });
    // Four numbers, words of a filter, the buckets, and the hashes of all symbols from the first one on.
    let bucket = 4 + 2 * blooms;
    let chain = bucket + buckets;
    let begin = number(bucket + u64::from(hash) % buckets)?;
    for symbol in (begin..).take(MAX_CHAIN) {
        let Some(place) = symbol.checked_sub(first) else {
            return Ok(None);
        };
        let its = number(chain + place)?;
        if its | 1 == u64::from(hash | 1)
            && let Some((its, found)) = tables.symbol(memory, symbol, name.len() + 1)?
            && its == name
        {
            return Ok(Some(found));
        }
        if its & 1 == 1 {
            return Ok(None);
        }
    }
    Ok(None)
}
