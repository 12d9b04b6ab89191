//! The notes of a file that tell of its USDT probes.

use object::read::{Object, ObjectSection};

use crate::debug::Elf;

/// The section that has the notes, and the name in front of each.
const NOTES: &str = ".note.stapsdt";
const OWNER: &[u8] = b"stapsdt\0";
/// The section whose address says by how much the file was moved after it was linked.
const BASE: &str = ".stapsdt.base";

/// A probe at one place. The addresses are as the segments of the file have them.
#[derive(Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// Where the probe is.
    pub address: u64,
    /// Where the number is that says how often the probe is watched; 0: there is none.
    pub semaphore: u64,
    pub provider: &'a [u8],
    pub name: &'a [u8],
    /// The arguments, as the assembler wrote them.
    pub arguments: &'a [u8],
}

/// All probes of a file.
pub fn of<'a>(elf: &Elf<'a>) -> Vec<Note<'a>> {
    let base = elf.section_by_name(BASE).map(|section| section.address());
    let sections = elf.sections().filter(|section| section.name() == Ok(NOTES));
    let mut notes = Vec::new();
    for section in sections {
        each(section.data().unwrap_or_default(), base, &mut notes);
    }
    notes
}

fn each<'a>(mut bytes: &'a [u8], base: Option<u64>, notes: &mut Vec<Note<'a>>) {
    while let Some(head) = take(&mut bytes, 12) {
        let size = |at: usize| {
            let bytes = head[at..at + 4].try_into().unwrap_or_default();
            u32::from_le_bytes(bytes) as usize
        };
        let (Some(owner), Some(body)) = (take(&mut bytes, size(0)), take(&mut bytes, size(4)))
        else {
            return;
        };
        if owner == OWNER {
            notes.extend(note(body, base));
        }
    }
}

fn note(body: &[u8], base: Option<u64>) -> Option<Note<'_>> {
    let word = |at: usize| -> Option<u64> {
        let bytes = body.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let (address, linked, semaphore) = (word(0)?, word(8)?, word(16)?);
    let moved = base.map_or(0, |base| base.wrapping_sub(linked));
    let mut texts = body.get(24..)?.split(|byte| *byte == 0);
    Some(Note {
        address: address.wrapping_add(moved),
        semaphore: match semaphore {
            0 => 0,
            semaphore => semaphore.wrapping_add(moved),
        },
        provider: texts.next()?,
        name: texts.next()?,
        arguments: texts.next().unwrap_or_default(),
    })
}

/// Takes so many bytes off the front, and what fills them up to a multiple of four.
fn take<'a>(bytes: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(size)?;
    let padding = size.wrapping_neg() % 4;
    *bytes = rest.get(padding..).unwrap_or_default();
    Some(front)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(owner: &[u8], body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [owner.len() as u32, body.len() as u32, 3] {
            bytes.extend(number.to_le_bytes());
        }
        for part in [owner, body] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    fn body(address: u64, base: u64, semaphore: u64, texts: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        for number in [address, base, semaphore] {
            body.extend(number.to_le_bytes());
        }
        body.extend(texts);
        body
    }

    #[test]
    fn notes_are_read_and_moved_with_their_base() {
        let mut bytes = one(OWNER, &body(0x1010, 0x2000, 0, b"a\0step\0-4@%edi\0"));
        bytes.extend(one(b"GNU\0", b"another"));
        bytes.extend(one(OWNER, &body(0x1020, 0x2000, 0x3000, b"a\0stop\0\0")));
        let mut notes = Vec::new();
        each(&bytes, Some(0x2100), &mut notes);
        let [first, second] = &notes[..] else {
            panic!("{notes:?}")
        };
        assert_eq!((first.address, first.semaphore), (0x1110, 0));
        assert_eq!((first.provider, first.name), (&b"a"[..], &b"step"[..]));
        assert_eq!(first.arguments, b"-4@%edi");
        assert_eq!((second.address, second.semaphore), (0x1120, 0x3100));
        assert_eq!(second.arguments, b"");
    }

    #[test]
    fn notes_that_are_cut_off_end_the_list() {
        let mut bytes = one(OWNER, &body(1, 2, 3, b"a\0b\0c\0"));
        let whole = bytes.len();
        bytes.extend(one(OWNER, &body(1, 2, 3, b"a\0b\0c\0")));
        for length in 0..bytes.len() {
            let mut notes = Vec::new();
            each(&bytes[..length], None, &mut notes);
            // What fills a note up to a multiple of four may be missing.
            let ends = [whole - 2, 2 * whole - 2];
            let there = ends.into_iter().filter(|end| length >= *end);
            assert_eq!(notes.len(), there.count(), "{length}");
        }
        let mut huge = one(OWNER, b"");
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut notes = Vec::new();
        each(&huge, None, &mut notes);
        assert_eq!(notes, []);
    }
}
