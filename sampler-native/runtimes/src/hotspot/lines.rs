//! Line numbers: the table of a method, which javac wrote, and the JVM packed.

use std::io;

use super::layout::Layout;
use crate::memory::{Pages, strange};

/// Most entries of a table; the bytecodes of a method have 64 KiB at most.
const MAX_ENTRIES: usize = 16 << 10;
/// Most bytes of a table. An entry has eleven at most.
const MAX_BYTES: usize = 11 * MAX_ENTRIES;
/// Bytes that are read at once. None of them lies in another page of 4 KiB, which may be missing.
const CHUNK: u64 = 64;
/// The first byte of an entry whose two numbers follow.
const ESCAPE: u8 = 0xff;

/// Places in the bytecodes of a method, each with the line that begins there; in their order. Line 0 is none.
pub type Lines = Vec<(u16, u16)>;

/// The line of a bytecode, as the JVM itself finds it; none: that is not told.
pub fn line(lines: &[(u16, u16)], bytecode: u16) -> Option<u16> {
    let (at, last) = *lines[..lines.partition_point(|(at, _)| *at <= bytecode)].last()?;
    // Of several at one place the JVM takes the first there, and the last behind.
    match at == bytecode {
        true => Some(lines[lines.partition_point(|(at, _)| *at < bytecode)].1),
        false => Some(last),
    }
}

impl Layout {
    /// The table of the method with this constant part; empty: it has none.
    pub fn lines(&self, memory: &Pages<'_>, constant: u64) -> io::Result<Lines> {
        let of = &self.methods;
        let Some((flags, has_lines)) = of.lines else {
            return Ok(Lines::new());
        };
        let flags = memory.u16(constant.wrapping_add(u64::from(flags)))?;
        let size = memory.u16(constant.wrapping_add(u64::from(of.code_size)))?;
        if flags & has_lines == 0 || size == 0 {
            return Ok(Lines::new());
        }
        // The table lies behind the bytecodes.
        let code = constant.wrapping_add(u64::from(of.size));
        let mut bytes = Bytes::at(memory, code.wrapping_add(u64::from(size)));
        let lines = unpacked(size, self.compiled.excluded, || bytes.next());
        lines.ok_or_else(|| strange("its line numbers make no sense"))
    }
}

/// A table of a method with bytecodes of this size; none: the table is none.
fn unpacked(size: u16, excluded: u8, mut next: impl FnMut() -> Option<u8>) -> Option<Lines> {
    let mut lines = Lines::new();
    let (mut place, mut line) = (0i32, 0i32);
    for _ in 0..MAX_ENTRIES {
        let (places, further) = match next()? {
            0 => {
                lines.sort_by_key(|(place, _)| *place);
                return Some(lines);
            }
            ESCAPE => (
                signed(number(excluded, &mut next)?),
                signed(number(excluded, &mut next)?),
            ),
            both => (i32::from(both >> 3), i32::from(both & 7)),
        };
        place = place.wrapping_add(places);
        line = line.wrapping_add(further);
        let at = u16::try_from(place).ok().filter(|at| *at < size)?;
        lines.push((at, u16::try_from(line).ok()?));
    }
    None
}

/// A number in one to five bytes, which are all larger than the bytes that numbers never have.
pub fn number(excluded: u8, mut next: impl FnMut() -> Option<u8>) -> Option<u32> {
    let last = 256 - 64 - u32::from(excluded);
    let mut number = 0u32;
    for digit in 0..5 {
        let value = u32::from(next()?.checked_sub(excluded)?);
        number = number.wrapping_add(value << (6 * digit));
        if value < last {
            break;
        }
    }
    Some(number)
}

/// A number with its sign in the lowest bit.
fn signed(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

/// Bytes of memory, one after the other.
pub struct Bytes<'a> {
    memory: &'a Pages<'a>,
    at: u64,
    chunk: std::vec::IntoIter<u8>,
    left: usize,
}

impl<'a> Bytes<'a> {
    /// Those from an address on.
    pub fn at(memory: &'a Pages<'a>, at: u64) -> Bytes<'a> {
        Bytes {
            memory,
            at,
            chunk: Vec::new().into_iter(),
            left: MAX_BYTES,
        }
    }
}

impl Iterator for Bytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.left = self.left.checked_sub(1)?;
        if let Some(byte) = self.chunk.next() {
            return Some(byte);
        }
        let length = CHUNK - self.at % CHUNK;
        let chunk = self.memory.bytes(self.at, length as usize).ok()?;
        self.at = self.at.checked_add(length)?;
        self.chunk = chunk.into_iter();
        self.chunk.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(size: u16, excluded: u8, bytes: &[u8]) -> Option<Lines> {
        let mut bytes = bytes.iter().copied();
        unpacked(size, excluded, || bytes.next())
    }

    #[test]
    fn unpacked_table_has_short_entries_and_long_ones_of_both_packings() {
        // Line 40 at 0; 3 bytecodes and 2 lines on; 4 on and 3 lines back; the end.
        let expected = Some(vec![(0, 40), (3, 42), (7, 39)]);
        let old = [ESCAPE, 0, 80, 3 << 3 | 2, ESCAPE, 8, 5, 0];
        assert_eq!(table(8, 0, &old), expected);
        let new = [ESCAPE, 1, 81, 3 << 3 | 2, ESCAPE, 9, 6, 0];
        assert_eq!(table(8, 1, &new), expected);
    }

    #[test]
    fn unpacked_table_that_makes_no_sense_is_none() {
        for (what, bytes) in [
            ("it has no end", &[ESCAPE, 0, 80][..]),
            ("a number has no end", &[ESCAPE, 0xff, 0xff]),
            ("outside of the bytecodes", &[ESCAPE, 16, 80, 0]),
            ("before them", &[ESCAPE, 1, 80, 0]),
            ("no line", &[ESCAPE, 0, 1, 0]),
        ] {
            assert_eq!(table(8, 0, bytes), None, "{what}");
        }
        assert_eq!(unpacked(8, 0, || Some(1)), None, "there is no end");
        assert_eq!(
            table(8, 1, &[ESCAPE, 0, 81, 0]),
            None,
            "a byte that none has"
        );
    }

    #[test]
    fn number_is_of_one_to_five_bytes() {
        for (excluded, bytes, expected) in [
            (0, &[191][..], 191),
            (0, &[192, 0], 192),
            (0, &[192, 1], 256),
            (1, &[191], 190),
            (1, &[192, 1], 191),
            (0, &[192, 192, 192, 192, 192], 192 * 0x0104_1041),
        ] {
            let mut next = bytes.iter().copied();
            let read = number(excluded, || next.next());
            assert_eq!((read, next.next()), (Some(expected), None), "{bytes:?}");
        }
    }

    #[test]
    fn line_is_that_of_the_last_entry_up_to_the_bytecode() {
        let lines = [(2, 10), (5, 11), (5, 12), (9, 10)];
        for (bytecode, expected) in [
            (0, None),
            (2, Some(10)),
            (4, Some(10)),
            (5, Some(11)),
            (6, Some(12)),
            (9, Some(10)),
            (u16::MAX, Some(10)),
        ] {
            assert_eq!(line(&lines, bytecode), expected, "at {bytecode}");
        }
        assert_eq!(line(&[], 0), None);
    }
}
