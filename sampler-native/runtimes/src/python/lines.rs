//! Lines of code objects: the table `co_linetable` (in 3.9 `co_lnotab`), which the compiler of CPython wrote (`Objects/locations.md` and
//! `Objects/lnotab_notes.txt` there).

use std::io;

use super::layout::{INSTRUCTION, Layout, Table};
use crate::memory::{Pages, strange};

/// Most bytes of a table, and most entries of what is made of it.
const MAX_BYTES: u64 = 256 << 10;
const MAX_ENTRIES: usize = 16 << 10;

/// From the header's end of an object of bytes to its bytes: their number and their hash lie before.
const BYTES: u64 = 16;

/// The first byte of an entry has this bit, and no other byte of the entry has; then four bits of its form, and three of its length.
const FIRST: u8 = 1 << 7;
const FORM_SHIFT: u8 = 3;
const FORM: u8 = 15;
const LENGTH: u8 = 7;
/// Forms from here on say by how many lines the line is further, at most two; then one that says it in a number, without columns, one with
/// columns, and one of instructions that are of no line.
const FURTHER: u8 = 10;
const NUMBER: u8 = 13;
const LONG: u8 = 14;
const NONE: u8 = 15;

/// In a pair of 3.10: these instructions are of no line.
const NO_LINE: i8 = -128;

/// Bits of a number in each of its bytes, and the bit that says that another byte follows.
const DIGIT: u32 = 6;
const MORE: u8 = 1 << 6;

/// Numbers of instructions at which lines begin, in their order; 0 stands before the first instruction. Line 0 is none.
pub type Lines = Vec<(u16, u16)>;

/// The lines of the code object at an address.
pub fn read(layout: &Layout, memory: &Pages<'_>, at: u64) -> io::Result<Lines> {
    let first = memory.u32(at.wrapping_add(layout.first_line.into()))?;
    let table = memory.u64(at.wrapping_add(layout.lines.into()))?;
    let fields = table.wrapping_add(layout.header.into());
    let length = memory.u64(fields)?;
    if length > MAX_BYTES {
        return Err(strange("its table of lines is too large"));
    }
    let bytes = memory.bytes(fields.wrapping_add(BYTES), length as usize)?;
    unpacked(layout.table, &bytes, first as i32)
        .ok_or_else(|| strange("its table of lines makes no sense"))
}

/// A table, and the first line of the function; none: the table is none.
pub(crate) fn unpacked(table: Table, bytes: &[u8], first: i32) -> Option<Lines> {
    match table {
        Table::Forms => of_forms(bytes, first),
        Table::Steps => of_pairs(bytes, first, true),
        Table::Ranges => of_pairs(bytes, first, false),
    }
}

/// A table of pairs: by how many bytes of instructions, and by how many lines it goes on. `is_step`: the line is that of what follows the
/// instructions; else of these, and the last pair ends the code.
fn of_pairs(bytes: &[u8], first: i32, is_step: bool) -> Option<Lines> {
    let mut lines = vec![(0, shown(first))];
    let (mut line, mut at) = (first, 0u64);
    for [further, lines_further] in bytes.as_chunks::<2>().0 {
        let lines_further = *lines_further as i8;
        let begin = at;
        at += u64::from(*further);
        let is_told = is_step || lines_further != NO_LINE;
        if is_told {
            line = line.wrapping_add(lines_further.into());
        }
        let begin = if is_step { at } else { begin };
        let told = if is_told { shown(line) } else { 0 };
        // Pairs of no instructions are parts of larger steps.
        if !is_step && *further == 0 {
            continue;
        }
        let Ok(number) = u16::try_from(begin / INSTRUCTION + 1) else {
            return Some(lines);
        };
        match lines.last_mut() {
            Some((last, told_last)) if *last == number => *told_last = told,
            Some((_, last)) if *last == told => {}
            _ => lines.push((number, told)),
        }
        if lines.len() > MAX_ENTRIES {
            return None;
        }
    }
    if !is_step && let Ok(end) = u16::try_from(at / INSTRUCTION + 1) {
        lines.push((end, 0));
    }
    Some(lines)
}

/// A table of entries of several forms.
fn of_forms(bytes: &[u8], first: i32) -> Option<Lines> {
    let mut lines = vec![(0, shown(first))];
    let (mut line, mut instruction) = (first, 1u32);
    let mut rest = bytes.iter().copied();
    let mut next = rest.next();
    while let Some(head) = next {
        if head & FIRST == 0 {
            return None;
        }
        let form = head >> FORM_SHIFT & FORM;
        let further = match form {
            FURTHER..NUMBER => i32::from(form - FURTHER),
            NUMBER | LONG => signed(number(&mut rest)?),
            _ => 0,
        };
        line = line.wrapping_add(further);
        let told = if form == NONE { 0 } else { shown(line) };
        if lines.last().is_none_or(|(_, last)| *last != told) {
            // Code of more instructions has no lines from there on.
            let Ok(at) = u16::try_from(instruction) else {
                break;
            };
            if lines.len() == MAX_ENTRIES {
                return None;
            }
            lines.push((at, told));
        }
        instruction += u32::from(head & LENGTH) + 1;
        // Columns.
        next = rest.find(|byte| byte & FIRST != 0);
    }
    if let Ok(end) = u16::try_from(instruction) {
        lines.push((end, 0));
    }
    Some(lines)
}

/// Lines of more than 16 bits are not told.
fn shown(line: i32) -> u16 {
    u16::try_from(line).unwrap_or_default()
}

fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut number = 0u32;
    for digit in 0..u32::BITS.div_ceil(DIGIT) {
        let byte = bytes.next().filter(|byte| byte & FIRST == 0)?;
        number |= u32::from(byte & (MORE - 1)).wrapping_shl(DIGIT * digit);
        if byte & MORE == 0 {
            return Some(number);
        }
    }
    None
}

/// The lowest bit is the sign.
fn signed(number: u32) -> i32 {
    let size = (number >> 1) as i32;
    if number & 1 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::line_of;

    type Told = &'static [(u16, u16)];

    /// One function that begins in line 7, compiled by CPython 3.11, 3.12 and 3.13: its `co_linetable` and its `co_lines`.
    const WRITTEN: [(&str, Told); 3] = [
        (
            "8000f00202090ff00002090fd81213f00302090ff10002090ff40002090f8041f006080511dd0f14d80c0dd80c0df10503100af40003100af00e000d1188018801f8884488018808880888088808",
            &[
                (0, 7),
                (2, 8),
                (4, 9),
                (5, 8),
                (14, 11),
                (15, 12),
                (21, 13),
                (22, 14),
                (23, 12),
                (30, 19),
                (33, 0),
                (34, 19),
                (40, 0),
            ],
        ),
        (
            "8000e01213f60302090fd80d0ed90c0df205000a0bf00002090f8041f00002090ff006080511dc0f14d80c0dd80c0df30503100af00e000d118901f9f21702090ff8f016000d118901fa",
            &[
                (0, 7),
                (2, 9),
                (3, 8),
                (10, 9),
                (11, 10),
                (13, 8),
                (19, 11),
                (20, 12),
                (25, 13),
                (26, 14),
                (27, 12),
                (31, 19),
                (34, 0),
                (36, 8),
                (39, 0),
                (40, 19),
                (43, 0),
                (46, 0),
            ],
        ),
        (
            "8000e11213f30302090fd912138851dc0c0df705000a0bd91213f003000506f00002090ff006080511dc0f14d80c0dd80c0df30503100af00e000d118901f9f21702090ff8f016000d118901fa",
            &[
                (0, 7),
                (2, 9),
                (4, 8),
                (8, 9),
                (11, 10),
                (16, 8),
                (24, 9),
                (26, 8),
                (28, 11),
                (29, 12),
                (34, 13),
                (35, 14),
                (36, 12),
                (40, 19),
                (43, 0),
                (45, 8),
                (48, 0),
                (49, 19),
                (52, 0),
                (55, 0),
            ],
        ),
    ];

    #[test]
    fn lines_of_a_compiled_function_are_those_that_python_tells() {
        for (written, told) in WRITTEN {
            let digits = written.as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16);
            let table: Vec<u8> = digits.map(|pair| byte(pair).expect("digits")).collect();
            assert_eq!(
                unpacked(Table::Forms, &table, 7).expect("a table"),
                told,
                "{written}"
            );
        }
    }

    /// One function that begins in line 7, compiled by CPython 3.9 and 3.10: its table, and what `PyCode_Addr2Line` and `co_lines` tell.
    const PAIRS: [(Table, &str, Told); 2] = [
        (
            Table::Steps,
            "0001080102ff0803040108011201040102ff0c021c020a0128ff0a012802020102ff",
            &[
                (0, 7),
                (1, 8),
                (5, 9),
                (6, 8),
                (10, 11),
                (12, 12),
                (16, 13),
                (25, 14),
                (27, 15),
                (28, 14),
                (34, 16),
                (48, 18),
                (53, 19),
                (73, 18),
                (78, 19),
                (98, 21),
                (99, 22),
                (100, 21),
            ],
        ),
        (
            Table::Ranges,
            "0801020108ff040308010c01028004ff040202010cff1002088002fe02800a040a010aff0203020104ff10fd0203020104ff0afd0a011eff",
            &[
                (0, 7),
                (1, 8),
                (5, 9),
                (6, 8),
                (10, 11),
                (12, 12),
                (16, 13),
                (22, 0),
                (23, 12),
                (25, 14),
                (27, 15),
                (28, 14),
                (34, 16),
                (42, 0),
                (46, 14),
                (47, 0),
                (48, 18),
                (53, 19),
                (58, 18),
                (63, 21),
                (64, 22),
                (65, 21),
                (67, 18),
                (75, 21),
                (76, 22),
                (77, 21),
                (79, 18),
                (84, 19),
                (89, 18),
                (104, 0),
            ],
        ),
    ];

    /// The bytes that digits tell.
    fn bytes(written: &str) -> Vec<u8> {
        let digits = written.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16);
        digits.map(|pair| byte(pair).expect("digits")).collect()
    }

    #[test]
    fn lines_of_pairs_are_those_that_python_tells() {
        for (table, written, told) in PAIRS {
            let lines = unpacked(table, &bytes(written), 7).expect("a table");
            for number in 0..120 {
                assert_eq!(
                    line_of(&lines, number),
                    line_of(told, number),
                    "{written} {number}"
                );
            }
        }
    }

    #[test]
    fn pairs_that_are_too_many_are_none_and_those_behind_the_last_number_are_left_out() {
        let turns = [2, 1, 2, 255].repeat(MAX_ENTRIES);
        for table in [Table::Steps, Table::Ranges] {
            assert_eq!(unpacked(table, &turns, 1), None);
            let long = unpacked(table, &[255, 1].repeat(1000), 1).expect("a table");
            assert!(long.len() > 500 && long.len() < 1000, "{}", long.len());
            assert!(long.is_sorted());
            assert_eq!(unpacked(table, &[7], 3), unpacked(table, &[], 3));
        }
    }

    #[test]
    fn lines_of_each_form_are_those_of_the_table() {
        let head = |form: u8, length: u8| FIRST | form << FORM_SHIFT | (length - 1);
        let table = [
            head(0, 1),
            0x11,
            head(10, 2),
            1,
            2,
            head(12, 1),
            1,
            2,
            head(13, 8),
            3, // one less
            head(14, 1),
            MORE | 8,
            1, // 36 more
            0,
            1,
            1,
            head(15, 3),
            head(9, 1),
            0x7f,
        ];
        let lines = unpacked(Table::Forms, &table, 100).expect("a table");
        let expected = [
            (0, 100),
            (4, 102),
            (5, 101),
            (13, 137),
            (14, 0),
            (17, 137),
            (18, 0),
        ];
        assert_eq!(lines, expected);
        let told = [(None, 0), (Some(0), 100), (Some(3), 100), (Some(4), 102)];
        for (instruction, told) in told {
            assert_eq!(
                instruction.map_or(0, |at| line_of(&lines, at)),
                told,
                "{instruction:?}"
            );
        }
        let told = [(12, 101), (16, 0), (17, 137), (18, 0), (u16::MAX, 0)];
        for (instruction, told) in told {
            assert_eq!(line_of(&lines, instruction), told, "{instruction}");
        }
        assert_eq!(line_of(&[], 1), 0);
    }

    #[test]
    fn tables_that_lie_are_none_or_without_lines() {
        for table in [
            &[0x11][..],
            &[0xe8],
            &[0xe8, 0x40],
            &[0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f],
            &[0xe8, 0x80],
        ] {
            assert_eq!(unpacked(Table::Forms, table, 1), None, "{table:x?}");
        }
        // Lines before the first one, and behind the last one that can be told.
        let expected = vec![(0, 3), (1, 0), (2, 1), (3, 0)];
        assert_eq!(
            unpacked(Table::Forms, &[0xe8, 9, 0xe8, 4], 3),
            Some(expected)
        );
        assert_eq!(
            unpacked(Table::Forms, &[0xe8, 2], 65_535),
            Some(vec![(0, 65_535), (1, 0), (2, 0)])
        );
        let turns = [0xe8, 2].repeat(MAX_ENTRIES + 1);
        assert_eq!(unpacked(Table::Forms, &turns, 1), None);
        let long = [0x87, 0].repeat(9_000);
        assert_eq!(unpacked(Table::Forms, &long, 4), Some(vec![(0, 4)]));
    }
}
