//! The table by which Go's runtime walks and prints its stacks, `.gopclntab`: every Go program of x86-64 has one,
//! stripped or not.
//!
//! It begins with a [`Header`]: `u32 magic, u16 0, u8 size of the smallest instruction, u8 size of a pointer`, then words:
//! functions, files, (1.18 on) start of the text, offsets of the names, of units, of files, of changes of the stack
//! pointer and the like, and of the functions. There stand the [`Index`], then the records that it leads to.
//!
//! A record begins with the function's entry, as wide as in the index, and the offset of its name, a `u32`.
//!
//! Nothing here panics, whatever the bytes are.

#![forbid(unsafe_code)]

use std::ops::Range;

/// Names of the section that holds it; in programs that can be moved the second.
pub const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];

/// Where the runtime's description of the program says where its text starts: behind a pointer, six slices of three
/// words, and three words.
pub const MODULE_TEXT: u64 = 22 * WORD as u64;

const GO_1_16: u32 = 0xffff_fffa;
const GO_1_18: u32 = 0xffff_fff0;
const GO_1_20: u32 = 0xffff_fff1;
const WORD: usize = 8;

/// What the table begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    magic: u32,
    /// How many functions there are.
    pub count: u64,
    /// Where the names are, from the start of the table.
    pub names: u64,
    /// Where the changes of values by address are, from the start of the table.
    pub changes: u64,
    /// Where index and records of the functions are, from the start of the table.
    pub functions: u64,
}

impl Header {
    /// Bytes that hold any header.
    pub const SIZE: usize = 9 * WORD;

    /// Where the word is that says where the text starts, from the start of the table (1.18 on). It is 0 in programs
    /// that can be moved.
    pub const TEXT: usize = 3 * WORD;

    /// The header that these bytes begin with, if they do.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        if !Header::is_at(bytes) {
            return None;
        }
        let magic = u32_at(bytes, 0)?;
        let names = if magic == GO_1_16 { 3 } else { 4 };
        let word = |index: usize| u64_at(bytes, index * WORD);
        Some(Header {
            magic,
            count: word(1)?,
            names: word(names)?,
            changes: word(names + 3)?,
            functions: word(names + 4)?,
        })
    }

    /// Whether these bytes begin with the header of a version that is known.
    pub fn is_at(bytes: &[u8]) -> bool {
        u32_at(bytes, 0).is_some_and(|magic| [GO_1_16, GO_1_18, GO_1_20].contains(&magic))
            && bytes.get(4..8) == Some(&[0, 0, 1, 8])
    }

    /// Bytes of each half of a pair in the index. Up to Go 1.17 they are 8, and entries are addresses; later they are 4,
    /// and entries count from the start of the text.
    pub fn width(&self) -> usize {
        if self.magic == GO_1_16 { WORD } else { 4 }
    }

    /// Bytes of the index; none if it would be larger than can be.
    pub fn index_size(&self) -> Option<u64> {
        // One entry more is the end of the last function.
        let halves = self.count.checked_mul(2)?.checked_add(1)?;
        halves.checked_mul(self.width() as u64)
    }

    /// Where the flags are in a record; none up to Go 1.17.
    pub fn flags(&self) -> Option<usize> {
        match self.magic {
            GO_1_18 => Some(37),
            GO_1_20 => Some(41),
            _ => None,
        }
    }
}

/// A function of the index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Where its code is, as the index counts.
    pub code: Range<u64>,
    /// Where its record is, from the start of the index.
    pub record: u64,
}

/// A pair for each function, sorted: its entry and the place of its record; at last where the code ends.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl<'a> Index<'a> {
    /// That of a table, of these bytes: all [`Header::index_size`] of it.
    pub fn new(bytes: &'a [u8], width: usize) -> Index<'a> {
        Index { bytes, width }
    }

    /// The function that holds `place`.
    pub fn find(&self, place: u64) -> Option<Entry> {
        let (mut low, mut high) = (0, self.bytes.len() / self.width / 2);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.half(2 * middle)? <= place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let entry = self.entry(2 * low.checked_sub(1)?)?;
        entry.code.contains(&place).then_some(entry)
    }

    /// All functions, as far as the table is whole.
    pub fn entries(self) -> impl Iterator<Item = Entry> + use<'a> {
        let pairs = self.bytes.len() / self.width / 2;
        (0..pairs).map_while(move |pair| self.entry(2 * pair))
    }

    fn entry(&self, first: usize) -> Option<Entry> {
        Some(Entry {
            code: self.half(first)?..self.half(first + 2)?,
            record: self.half(first + 1)?,
        })
    }

    fn half(&self, index: usize) -> Option<u64> {
        let at = index * self.width;
        if self.width == WORD {
            u64_at(self.bytes, at)
        } else {
            u32_at(self.bytes, at).map(u64::from)
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(WORD)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(magic: u32, words: &[u64]) -> Vec<u8> {
        let mut bytes = magic.to_le_bytes().to_vec();
        bytes.extend([0, 0, 1, 8]);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    #[test]
    fn parse_header_of_each_version_has_the_same_parts() {
        for (magic, words, width, flags) in [
            (GO_1_16, [5, 1, 10, 0, 0, 40, 50, 0], 8, None),
            (GO_1_18, [5, 1, 99, 10, 0, 0, 40, 50], 4, Some(37)),
            (GO_1_20, [5, 1, 99, 10, 0, 0, 40, 50], 4, Some(41)),
        ] {
            let bytes = header(magic, &words);
            assert_eq!(bytes.len(), Header::SIZE);
            let header = Header::parse(&bytes).expect("a header");
            let parts = (header.count, header.names, header.changes, header.functions);
            assert_eq!(parts, (5, 10, 40, 50));
            assert_eq!((header.width(), header.flags()), (width, flags));
            assert_eq!(header.index_size(), Some(11 * width as u64));
        }
    }

    #[test]
    fn parse_no_header_is_none() {
        let good = header(GO_1_20, &[1; 8]);
        for size in 0..good.len() {
            assert_eq!(Header::parse(&good[..size]), None);
        }
        for at in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 0x40;
            assert_eq!(Header::parse(&bytes), None, "byte {at}");
        }
        let huge = Header::parse(&header(GO_1_20, &[u64::MAX; 8])).expect("a header");
        assert_eq!(huge.index_size(), None);
    }

    #[test]
    fn find_every_place_is_what_a_search_from_the_start_finds() {
        let starts = [3u64, 4, 10, 17, 30];
        for width in [4, 8] {
            let mut bytes = Vec::new();
            for (number, start) in starts.iter().enumerate() {
                bytes.extend(&start.to_le_bytes()[..width]);
                if number + 1 < starts.len() {
                    bytes.extend(&(100 + number as u64).to_le_bytes()[..width]);
                }
            }
            let index = Index::new(&bytes, width);
            for place in (0..40).chain([u64::MAX]) {
                let wanted = starts.windows(2).zip(100..).find_map(|(pair, record)| {
                    let code = pair[0]..pair[1];
                    code.contains(&place).then_some(Entry { code, record })
                });
                assert_eq!(index.find(place), wanted, "{place}");
            }
            // What is cut off is not found, and nothing else happens.
            for size in 0..bytes.len() {
                for place in 0..40 {
                    Index::new(&bytes[..size], width).find(place);
                }
            }
        }
    }
}
