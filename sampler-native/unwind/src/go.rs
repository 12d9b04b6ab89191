//! Rows by Go's own table of functions: where each function starts, and how far it has moved the stack pointer at every
//! instruction.
//!
//! The format is that of Go 1.18 and newer. Of older programs `.debug_frame` may be left.

use crate::{
    arch::{self, CALLEE_SAVED, EXIT, FP_RULE, SIGRETURN, SP},
    budget::{READ, Work},
    elf::{Image, Section, Source, damaged, u32_at},
    row::{Cfa, Kind, Row, Rule},
};
use flametop_gopclntab::{Header, Index, MODULE_TEXT};
use std::{io, ops::Range};

/// Where the table may start in a section that holds other things too.
const ALIGNMENT: usize = 32;
/// Most bytes searched for the table where no section has its name.
const SEARCH_LIMIT: u64 = 64 << 20;
/// Most functions of a program.
const FUNCTIONS_LIMIT: u64 = 4 << 20;
/// Bytes of a function's record, without the tables behind it.
const RECORD: usize = 44;
/// Most bytes of one function's changes of the stack pointer; the largest seen are a few hundred.
const CHANGES_LIMIT: usize = 16 << 10;
/// Bytes from the start of a function in which assembly sets up its frame pointer.
const PROLOGUE: u64 = 64;
/// Bytes of code after a call in which a thread ends.
const EPILOGUE: u64 = 16;
/// `mov %rsp, %rbp` and `lea …(%rsp), %rbp`.
const SETS_FRAME_POINTER: [&[u8]; 3] = [b"\x48\x89\xe5", b"\x48\x8d\x6c\x24", b"\x48\x8d\xac\x24"];
const NAME_LIMIT: usize = 64;

/// Flags of a function: nothing called it; it switches stacks; it is written in assembly.
const TOP_FRAME: u8 = 1;
const WRITES_SP: u8 = 2;
const ASSEMBLY: u8 = 4;

/// The caller's stack pointer is *frame size* + 8 above; the word below the return address keeps its frame pointer.
const RETURN_ADDRESS: i32 = -8;
const FRAME_POINTER: i32 = -16;

/// The table of one program: the index of functions is in memory, the rest is read when it is needed.
#[derive(Debug)]
pub(crate) struct Functions {
    /// Where the program's Go code starts.
    text: u64,
    /// See [`Index`]: places of code count from `text`, places of records from `records`.
    index: Vec<u8>,
    width: usize,
    /// Offsets in the file.
    names: u64,
    changes: u64,
    records: u64,
    /// Offset of the flags in a record.
    flags: usize,
}

impl Functions {
    /// Reads the table of a program; an error if the program has no table of a known form.
    pub(crate) fn read(image: &Image, source: Source<'_>, limit: u64) -> io::Result<Functions> {
        if !arch::WALKS_GO {
            return Err(damaged("Go's frames are known on x86-64 only"));
        }
        let section = image
            .go_table
            .or(image.relocated_data.filter(|_| image.is_go));
        let section = section.ok_or_else(|| damaged("no table of Go's functions"))?;
        let start = if image.go_table.is_some() {
            0
        } else {
            search(section, source)?
        };
        let header = source.read(
            section.offset.wrapping_add(start),
            Header::SIZE as u64,
            Header::SIZE as u64,
        )?;
        let inside = |offset: u64| {
            let place = section.offset.checked_add(start)?.checked_add(offset)?;
            (offset < section.size).then_some(place)
        };
        let parts = || {
            let header = Header::parse(&header).filter(|header| header.count <= FUNCTIONS_LIMIT)?;
            Some((
                header.flags()?,
                header.width(),
                header.index_size()?,
                inside(header.names)?,
                inside(header.changes)?,
                inside(header.functions)?,
            ))
        };
        let (flags, width, size, names, changes, records) =
            parts().ok_or_else(|| damaged("header of Go's functions"))?;
        let text = image
            .pointer(
                source,
                section.address.wrapping_add(start + Header::TEXT as u64),
            )
            .or_else(|| image.pointer(source, image.go_module?.address.wrapping_add(MODULE_TEXT)))
            .filter(|text| image.is_code(*text))
            .ok_or_else(|| damaged("start of Go's code"))?;
        Ok(Functions {
            text,
            index: source.read(records, size, limit)?,
            width,
            names,
            changes,
            records,
            flags,
        })
    }

    /// Bytes of memory that the table takes.
    pub(crate) fn size(&self) -> usize {
        self.index.len()
    }

    /// Start and end of the function that holds `address`.
    pub(crate) fn function(&self, address: u64) -> Option<(u64, u64)> {
        let (start, end, _) = self.find(address)?;
        Some((start, end))
    }

    fn find(&self, address: u64) -> Option<(u64, u64, u64)> {
        let wanted = address.checked_sub(self.text)?;
        let entry = Index::new(&self.index, self.width).find(wanted)?;
        let address = |place: u64| self.text.wrapping_add(place);
        Some((
            address(entry.code.start),
            address(entry.code.end),
            entry.record,
        ))
    }

    /// How to leave the function that holds `address`; none if no Go function does.
    pub(crate) fn row(
        &self,
        image: &Image,
        source: Source<'_>,
        work: &Work,
        address: u64,
    ) -> Option<Row> {
        let (start, end, record) = self.find(address)?;
        // Its record, its name, and code in three places.
        if !work.spend(5 * READ) {
            return None;
        }
        let mut bytes = [0; RECORD];
        source
            .read_at(self.records.checked_add(record)?, &mut bytes)
            .ok()?;
        let flags = bytes[self.flags];
        let at = address.wrapping_sub(start);
        let size = self.frame_size(source, work, u32_at(&bytes, 16), at)?;
        let mut row = Row {
            kind: Kind::Plain,
            last: end == address.wrapping_add(1),
            jumps: false,
            kept: 0,
            reach: [0, 1],
            cfa: Cfa::Register {
                register: SP as u8,
                offset: size.checked_add(8)?,
            },
            ra: Some(RETURN_ADDRESS),
            rules: [Rule::Lost; CALLEE_SAVED.len()],
        };
        // The compiler keeps a frame pointer in every frame; assembly may.
        let assembly = flags & ASSEMBLY != 0;
        let prologue = start..end.min(start.saturating_add(PROLOGUE));
        let framed = size >= 8 && (!assembly || has(image, source, prologue, &SETS_FRAME_POINTER));
        row.rules[FP_RULE] = if framed {
            Rule::Saved(FRAME_POINTER)
        } else {
            Rule::Same
        };
        let named = |name: &str| self.is_named(source, u32_at(&bytes, 4), name);
        row.kind = if assembly
            && has(
                image,
                source,
                address..address.saturating_add(EPILOGUE),
                &EXIT,
            ) {
            Kind::Root
        } else if assembly
            && has(
                image,
                source,
                start..end.min(start.saturating_add(EPILOGUE)),
                &SIGRETURN,
            )
        {
            Kind::Signal
        } else if flags & TOP_FRAME != 0 && named("runtime.goexit") {
            Kind::Root
        } else if flags & TOP_FRAME != 0 {
            Kind::Outermost
        } else if flags & WRITES_SP != 0 {
            // These two leave the goroutine for good: the scheduler's stack starts with them.
            let starts = named("runtime.mcall") || named("runtime.morestack");
            Kind::Switch { starts, framed }
        } else {
            Kind::Plain
        };
        Some(row)
    }

    /// How far the function has moved the stack pointer before its instruction at `at`.
    fn frame_size(&self, source: Source<'_>, work: &Work, changes: u32, at: u64) -> Option<i32> {
        let place = self.changes.checked_add(u64::from(changes))?;
        if changes == 0 {
            return None;
        }
        let mut bytes = [0; 256];
        let (mut filled, mut next, mut done) = (0, 0, 0);
        let mut number = || -> Option<u32> {
            let mut number = 0;
            for shift in (0..35).step_by(7) {
                if next == filled {
                    if !work.spend(READ + bytes.len() as u64 / 2) {
                        return None;
                    }
                    done += filled;
                    filled = source.read_some(place.checked_add(done as u64)?, &mut bytes);
                    next = 0;
                }
                let byte = *bytes[..filled].get(next).filter(|_| done < CHANGES_LIMIT)?;
                next += 1;
                number |= u32::from(byte & 0x7f).checked_shl(shift)?;
                if byte & 0x80 == 0 {
                    return Some(number);
                }
            }
            None
        };
        let (mut size, mut until, mut first) = (-1i32, 0u64, true);
        loop {
            let change = number()?;
            if change == 0 && !first {
                return None;
            }
            first = false;
            size = size.wrapping_add((change >> 1) as i32 ^ -((change & 1) as i32));
            until += u64::from(number()?);
            if at < until {
                return (size >= 0).then_some(size);
            }
        }
    }

    fn is_named(&self, source: Source<'_>, name: u32, expected: &str) -> bool {
        let mut bytes = [0; NAME_LIMIT];
        let Some(place) = self.names.checked_add(u64::from(name)) else {
            return false;
        };
        let filled = source.read_some(place, &mut bytes);
        let name = bytes[..filled].split(|byte| *byte == 0).next();
        // Assembly has a suffix that names its calling convention.
        name.is_some_and(|name| name.strip_suffix(b".abi0").unwrap_or(name) == expected.as_bytes())
    }
}

/// Where the table starts in a section that the system's linker has made.
fn search(section: Section, source: Source<'_>) -> io::Result<u64> {
    let bytes = section.read(source, SEARCH_LIMIT)?;
    (0..bytes.len())
        .step_by(ALIGNMENT)
        .find(|start| Header::is_at(&bytes[*start..]))
        .map(|start| start as u64)
        .ok_or_else(|| damaged("no table of Go's functions"))
}

/// Whether the code at these addresses, at most [`PROLOGUE`] bytes, has one of some instructions.
fn has(image: &Image, source: Source<'_>, code: Range<u64>, patterns: &[&[u8]]) -> bool {
    let mut bytes = [0; PROLOGUE as usize];
    let bytes = &mut bytes[..code.end.saturating_sub(code.start).min(PROLOGUE) as usize];
    let place = image.code_offset(code.start);
    place.is_some_and(|place| source.read_at(place, bytes).is_ok())
        && patterns
            .iter()
            .any(|pattern| bytes.windows(pattern.len()).any(|part| part == *pattern))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::elf::Segment;

    const TEXT: u64 = 0x40_1000;

    /// A table of 1,000 functions of 64 bytes, each with a frame of 8 from its second instruction and of as many
    /// more words as its number from the third on; and the image around it.
    fn program() -> (Image, Vec<u8>) {
        let mut records = Vec::new();
        let mut changes = vec![0];
        let names = b"main.work\0runtime.goexit.abi0\0runtime.mcall\0";
        let count = 1000u32;
        let index = count * 8 + 8;
        let mut table = Vec::new();
        for number in 0..count {
            table.extend((number * 64).to_le_bytes());
            table.extend((index + records.len() as u32).to_le_bytes());
            let (name, flags) = match number {
                1 => (10u32, TOP_FRAME | ASSEMBLY),
                2 => (30, WRITES_SP | ASSEMBLY),
                3 => (0, TOP_FRAME | ASSEMBLY),
                _ => (0, 0),
            };
            let mut record = [0; RECORD];
            record[4..8].copy_from_slice(&name.to_le_bytes());
            record[16..20].copy_from_slice(&(changes.len() as u32).to_le_bytes());
            record[41] = flags;
            records.extend(record);
            // From -1 to 0 for 4 bytes, by 8 for 4, by 8 for each number for the rest.
            changes.extend([2, 4, 16, 4]);
            for change in [16 * number, 56] {
                changes.extend([
                    change as u8 | 0x80,
                    (change >> 7) as u8 | 0x80,
                    (change >> 14) as u8,
                ]);
            }
            changes.push(0);
        }
        table.extend((count * 64).to_le_bytes());
        table.extend([0; 4]);
        table.extend(records);
        let mut file = Vec::new();
        file.extend(0xffff_fff1u32.to_le_bytes());
        file.extend([0, 0, 1, 8]);
        let changes_at = Header::SIZE + names.len();
        let words = [
            u64::from(count),
            0,
            TEXT,
            Header::SIZE as u64,
            0,
            0,
            changes_at as u64,
            (changes_at + changes.len()) as u64,
        ];
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        file.extend(names);
        file.extend(changes);
        file.extend(table);
        let image = Image {
            segments: vec![Segment {
                address: TEXT,
                offset: 0,
                size: 64_000,
            }],
            go_table: Some(Section {
                address: 0x50_0000,
                offset: 0,
                size: file.len() as u64,
                compressed: false,
            }),
            ..Image::default()
        };
        (image, file)
    }

    fn offset(row: &Row) -> i32 {
        match row.cfa {
            Cfa::Register { register, offset } if usize::from(register) == SP => offset,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn row_address_in_a_function_has_the_frame_size_there() {
        let (image, file) = program();
        let source = Source::Memory(&file);
        let functions = Functions::read(&image, source, 1 << 20).expect("a table");
        for number in [4, 5, 700, 999] {
            let start = TEXT + number * 64;
            assert_eq!(functions.function(start + 63), Some((start, start + 64)));
            let row = |at: u64| {
                functions
                    .row(&image, source, &Work::default(), start + at)
                    .expect("a row")
            };
            assert_eq!(offset(&row(3)), 8);
            assert_eq!(row(3).rules[FP_RULE], Rule::Same);
            assert_eq!(offset(&row(4)), 16);
            assert_eq!(row(4).rules[FP_RULE], Rule::Saved(FRAME_POINTER));
            assert_eq!(offset(&row(63)), 16 + 8 * number as i32);
            assert!(row(63).last && !row(62).last);
            assert_eq!(row(9).kind, Kind::Plain);
        }
        for address in [0, TEXT - 1, TEXT + 64_000, u64::MAX] {
            assert_eq!(functions.function(address), None);
            assert_eq!(
                functions.row(&image, source, &Work::default(), address),
                None
            );
        }
    }

    #[test]
    fn row_function_that_nothing_called_or_that_switches_stacks_says_so() {
        let (image, file) = program();
        let source = Source::Memory(&file);
        let functions = Functions::read(&image, source, 1 << 20).expect("a table");
        let kind = |number: u64| {
            let row = functions.row(&image, source, &Work::default(), TEXT + number * 64 + 20);
            row.map(|row| row.kind)
        };
        assert_eq!(kind(1), Some(Kind::Root));
        assert_eq!(
            kind(2),
            Some(Kind::Switch {
                starts: true,
                framed: false
            })
        );
        assert_eq!(kind(3), Some(Kind::Outermost));
    }

    #[test]
    fn row_damaged_table_does_not_panic() {
        let (image, file) = program();
        let mut state = 5u64;
        let mut below = |limit: usize| -> usize {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % limit as u64) as usize
        };
        for round in 0..3000 {
            let mut copy = file.clone();
            let reach = if round % 2 == 0 {
                Header::SIZE
            } else {
                copy.len()
            };
            for _ in 0..1 + below(40) {
                let at = below(reach);
                copy[at] ^= 1u8 << below(8);
            }
            if round % 3 == 0 {
                copy.truncate(below(file.len()));
            }
            let source = Source::Memory(&copy);
            let Ok(functions) = Functions::read(&image, source, 1 << 20) else {
                continue;
            };
            assert!(functions.size() <= 1 << 20);
            for _ in 0..20 {
                let address = TEXT + below(64_100) as u64;
                functions.function(address);
                functions.row(&image, source, &Work::default(), address);
            }
        }
    }
}
