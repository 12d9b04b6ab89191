//! Names of Go functions, by the table that Go's runtime prints its stacks with. `strip` and
//! `-ldflags=-s` leave it in.
//!
//! A table begins with a header of `u32 magic, u16 0, u8 instruction size, u8 pointer size`, then
//! words: functions, files, (1.18 on) start of the text, offsets of the names and of four other
//! tables, the last of which is the functions'. That one has a pair for each function, sorted: its
//! entry and the offset of its record, which begins with its entry and the offset of its name. From
//! 1.18 on these are 32 bits, and entries count from the start of the text.

use object::LittleEndian;
use object::read::elf::FileHeader;
use object::read::{Object, ObjectSection};

use crate::NAME_MAX;
use crate::debug::Elf;
use crate::demangle::bounded;
use crate::protocol::Found;

const GO_1_16: u32 = 0xffff_fffa;
const GO_1_18: u32 = 0xffff_fff0;
const GO_1_20: u32 = 0xffff_fff1;
const HEADER: usize = 8;
const WORD: usize = 8;
/// Where the runtime's description of the program says where its text starts: behind a pointer, six
/// slices of three words, and three words.
const MODULE_TEXT: usize = 22 * WORD;
/// What every Go program starts with.
const ENTRY: &[u8] = b"_rt0_";

/// The functions of one program.
#[derive(Debug)]
pub struct Functions<'a> {
    names: &'a [u8],
    /// Pairs and records.
    functions: &'a [u8],
    count: usize,
    /// Bytes of each half of a pair.
    width: usize,
    text: u64,
}

impl<'a> Functions<'a> {
    /// Those of a mapped file, if it is a Go program whose table is understood.
    pub fn of(elf: &Elf<'a>) -> Option<Functions<'a>> {
        let table = [".gopclntab", ".data.rel.ro.gopclntab"]
            .iter()
            .find_map(|name| elf.section_by_name(name))?
            .data()
            .ok()?;
        let entry: u64 = elf.elf_header().e_entry(LittleEndian);
        let mut functions = Functions::parse(table)?;
        if functions.width == WORD {
            return Some(functions);
        }
        let module = elf.section_by_name(".go.module");
        let module = module.as_ref().and_then(|module| module.data().ok());
        let stated = [
            word(table, HEADER + 2 * WORD),
            module.and_then(|module| word(module, MODULE_TEXT)),
        ];
        if let Some(text) = stated.into_iter().flatten().find(|text| *text != 0) {
            functions.text = text;
            return Some(functions);
        }
        // A program that can be moved has neither in its file. Where Go's own linker made it, it
        // begins with Go's own entry, which proves the guess.
        functions.text = elf.section_by_name(".text")?.address();
        let proof = functions.find(entry)?;
        (proof.start == entry && proof.name.starts_with(ENTRY)).then_some(functions)
    }

    fn parse(table: &'a [u8]) -> Option<Functions<'a>> {
        let magic = u32::from_le_bytes(table.get(..4)?.try_into().ok()?);
        let (first, width) = match magic {
            GO_1_16 => (2, WORD),
            GO_1_18 | GO_1_20 => (3, 4),
            _ => return None,
        };
        if table.get(4..6)? != [0, 0] || usize::from(*table.get(7)?) != WORD {
            return None;
        }
        let part = |index: usize| {
            let offset = word(table, HEADER + index * WORD)?;
            table.get(usize::try_from(offset).ok()?..)
        };
        let functions = part(first + 4)?;
        let count = usize::try_from(word(table, HEADER)?).ok()?;
        // One entry more is the end of the last function.
        let size = count.checked_mul(2)?.checked_add(1)?.checked_mul(width)?;
        (count > 0 && size <= functions.len()).then_some(Functions {
            names: part(first)?,
            functions,
            count,
            width,
            text: 0,
        })
    }

    /// The function that covers `address`.
    pub fn find(&self, address: u64) -> Option<Found> {
        let place = address.checked_sub(self.text)?;
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.number(2 * middle)? <= place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let index = low.checked_sub(1)?;
        if place >= self.number(2 * index + 2)? {
            return None;
        }
        let record = usize::try_from(self.number(2 * index + 1)?).ok()?;
        let name = record.checked_add(self.width)?;
        let name = self.functions.get(name..name.checked_add(4)?)?;
        let name = u32::from_le_bytes(name.try_into().ok()?) as usize;
        let name = self.names.get(name..)?;
        let name = &name[..name.len().min(NAME_MAX + 1)];
        let length = name
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..length]);
        (length > 0).then(|| Found {
            start: self.text + self.number(2 * index).unwrap_or(0),
            name: bounded(&name, NAME_MAX),
        })
    }

    /// Half a pair.
    fn number(&self, index: usize) -> Option<u64> {
        let at = index * self.width;
        if self.width == WORD {
            return word(self.functions, at);
        }
        let bytes = self.functions.get(at..at + 4)?;
        Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(WORD)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
