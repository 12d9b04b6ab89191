//! Lines of instruction sequences.
//!
//! A table has an entry for each place at which another line begins, and a *dictionary* says which places these are: for the first of them
//! how many lines have begun there or before, seven bits each; for the rest a bit each.

use std::io;

use super::layout::{Layout, SIZE};
use crate::memory::Pages;

/// Places of the first part, and of one word there; the bits of each.
const FIRST: u64 = 54;
const IN_WORD: u64 = 9;
const BITS: u64 = 7;
/// Words of the first part, and of a block of the second one: two of sums, then a bit for each of its places.
const FIRST_WORDS: u64 = FIRST / IN_WORD;
const BLOCK_WORDS: u64 = 10;
const SUMS: u64 = 2;
const IN_BLOCK: u64 = 512;
/// Most words of instructions that are looked at.
const MOST: u64 = 1 << 15;
/// In what the body leads to: the entries, how many there are, and the dictionary.
const ENTRIES: u64 = 0;
const COUNT: u64 = 16;
const DICTIONARY: u64 = 24;

/// The words of instructions at which lines begin, in their order, and these lines.
pub fn read(layout: &Layout, memory: &Pages<'_>, body: u64) -> io::Result<Vec<(u16, u16)>> {
    let table = body.wrapping_add(layout.lines.into());
    let entries = memory.u64(table.wrapping_add(ENTRIES))?;
    let count = memory.u32(table.wrapping_add(COUNT))?;
    let dictionary = memory.u64(table.wrapping_add(DICTIONARY))?;
    let size = u64::from(memory.u32(body.wrapping_add(SIZE))?).min(MOST);
    let places = match count {
        0 => return Ok(Vec::new()),
        1 => vec![0],
        _ => places(size, |index| memory.u64(dictionary.wrapping_add(8 * index)))?,
    };
    let mut lines: Vec<(u16, u16)> = Vec::new();
    for (index, place) in (0..u64::from(count)).zip(places) {
        let at = entries.wrapping_add(u64::from(layout.line) * index);
        // Lines of more than 16 bits are not told.
        let line = u16::try_from(memory.u32(at)?).unwrap_or_default();
        if lines.last().is_none_or(|(_, last)| *last != line) {
            lines.push((place, line));
        }
    }
    // The place of what comes next may be behind the last one.
    lines.push((size as u16 + 1, 0));
    Ok(lines)
}

/// The places that a dictionary has, of a sequence of this size. `word`: a word of the dictionary.
fn places(size: u64, word: impl Fn(u64) -> io::Result<u64>) -> io::Result<Vec<u16>> {
    let mut places = Vec::new();
    let mut begun = 0;
    for place in 0..size.min(FIRST) {
        let sums = word(place / IN_WORD)?;
        let sum = sums >> (place % IN_WORD * BITS) & ((1 << BITS) - 1);
        if sum != begun {
            places.push(place as u16);
        }
        begun = sum;
    }
    let mut bits = 0;
    for place in FIRST..size {
        let within = (place - FIRST) % IN_BLOCK;
        if within.is_multiple_of(64) {
            let block = (place - FIRST) / IN_BLOCK;
            bits = word(FIRST_WORDS + BLOCK_WORDS * block + SUMS + within / 64)?;
        }
        if bits >> (within % 64) & 1 != 0 {
            places.push(place as u16);
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_at_which_sums_grow_and_those_with_a_bit() {
        // Lines begin at 0, 2, 9 and 53 of the first part, and at 54, 118 and 566 of the second one.
        let mut words = [0u64; 30];
        for (place, sum) in (0..FIRST).map(|p| {
            (
                p,
                1 + u64::from(p >= 2) + u64::from(p >= 9) + u64::from(p == 53),
            )
        }) {
            words[(place / IN_WORD) as usize] |= sum << (place % IN_WORD * BITS);
        }
        words[6 + 2] = 1;
        words[6 + 3] = 1;
        words[6 + 10 + 2] = 1;
        let found = places(1000, |index| {
            Ok(words.get(index as usize).copied().unwrap_or(0))
        });
        assert_eq!(found.ok(), Some(vec![0, 2, 9, 53, 54, 118, 566]));
        let short = places(2, |index| Ok(words[index as usize]));
        assert_eq!(short.ok(), Some(vec![0]));
    }
}
