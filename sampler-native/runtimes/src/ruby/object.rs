//! Objects of Ruby: their kinds, texts, arrays, and the names of symbols.

use std::io;

use super::layout::{Layout, SYMBOL_TEXTS};
use crate::memory::{Pages, strange};

/// Kinds of objects, by the lowest bits of their flags.
const KIND: u64 = 0x1f;
pub const CLASS: u64 = 2;
pub const MODULE: u64 = 3;
const TEXT: u64 = 5;
const ARRAY: u64 = 7;
const INTERNAL: u64 = 0x1a;
/// Kinds of internal objects.
const INTERNAL_SHIFT: u32 = 12;
const INTERNAL_KIND: u64 = 0xf;
pub const METHOD: u64 = 6;
pub const SEQUENCE: u64 = 7;

/// A text lies elsewhere; an array lies in its object.
const ELSEWHERE: u64 = 1 << 13;
const WITHIN: u64 = 1 << 13;
/// The length of a text that lies in its object, where the flags tell it.
const TEXT_LENGTH_SHIFT: u32 = 14;
const TEXT_LENGTH: u64 = 0x1f;
/// The length of an array that lies in its object.
const ARRAY_LENGTH_SHIFT: u32 = 15;
const BODY: u64 = 16;
const POINTER: u64 = 24;
const ARRAY_POINTER: u64 = 32;

/// Symbols in one array of texts, the words of each, and the number from which on a symbol's number has its kind in the lowest bits.
const IN_ARRAY: u64 = 512;
const WORDS: u64 = 2;
const WITH_KIND: u64 = 256;
const KIND_BITS: u32 = 4;

pub fn kind(memory: &Pages<'_>, at: u64) -> io::Result<u64> {
    Ok(memory.u64(at)? & KIND)
}

/// The kind of an internal object.
pub fn internal(memory: &Pages<'_>, at: u64) -> io::Result<u64> {
    let flags = memory.u64(at)?;
    match flags & KIND {
        INTERNAL => Ok(flags >> INTERNAL_SHIFT & INTERNAL_KIND),
        _ => Err(strange("it is no internal object")),
    }
}

/// A text; one that is longer than `most` bytes is cut.
pub fn text(layout: &Layout, memory: &Pages<'_>, at: u64, most: u64) -> io::Result<String> {
    let flags = memory.u64(at)?;
    if flags & KIND != TEXT {
        return Err(strange("it is no text"));
    }
    let body = at.wrapping_add(BODY);
    let length = match layout.has_length || flags & ELSEWHERE != 0 {
        true => memory.u64(body)?,
        false => flags >> TEXT_LENGTH_SHIFT & TEXT_LENGTH,
    };
    let start = match (flags & ELSEWHERE != 0, layout.has_length) {
        (true, _) => memory.u64(at.wrapping_add(POINTER))?,
        (false, true) => at.wrapping_add(POINTER),
        (false, false) => body,
    };
    let bytes = memory.bytes(start, length.min(most) as usize)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How many objects an array has, and where they are.
pub fn array(layout: &Layout, memory: &Pages<'_>, at: u64) -> io::Result<(u64, u64)> {
    let flags = memory.u64(at)?;
    if flags & KIND != ARRAY {
        return Err(strange("it is no array"));
    }
    let body = at.wrapping_add(BODY);
    if flags & WITHIN == 0 {
        return Ok((
            memory.u64(body)?,
            memory.u64(at.wrapping_add(ARRAY_POINTER))?,
        ));
    }
    let bits = if layout.has_length { 0x7f } else { 3 };
    Ok((flags >> ARRAY_LENGTH_SHIFT & bits, body))
}

/// An object of an array.
pub fn element(layout: &Layout, memory: &Pages<'_>, at: u64, index: u64) -> io::Result<u64> {
    let (length, start) = array(layout, memory, at)?;
    if index >= length {
        return Err(strange("the array is shorter"));
    }
    memory.u64(start.wrapping_add(8 * index))
}

/// The name of a symbol, by its number.
pub fn symbol(
    layout: &Layout,
    memory: &Pages<'_>,
    symbols: u64,
    number: u64,
    most: u64,
) -> io::Result<String> {
    if symbols == 0 {
        return Err(strange("it is not known where the symbols are"));
    }
    let index = if number < WITH_KIND {
        number
    } else {
        number >> KIND_BITS
    };
    let texts = memory.u64(symbols.wrapping_add(SYMBOL_TEXTS))?;
    let texts = element(layout, memory, texts, index / IN_ARRAY)?;
    let at = element(layout, memory, texts, index % IN_ARRAY * WORDS)?;
    text(layout, memory, at, most)
}
