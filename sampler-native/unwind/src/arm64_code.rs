//! Code of arm64 without unwind information: from an address to the returns behind it, and what is still taken back of the stack
//! until then. (On x86-64 the code of a whole function is followed too; there it is more than a few files that lack unwind information.)

use std::collections::HashSet;

use crate::{
    arch::{CALLEE_SAVED, RETURN_COLUMN, SP},
    row::{Cfa, Kind, Row, Rule},
};

/// Bytes of code around an address that are looked at.
pub(crate) const WINDOW: u64 = 32 << 10;
/// Most instructions looked at on the paths from an address to returns.
const EXIT_LIMIT: u32 = 2 << 10;
/// Returns found on these paths that must agree; more are not looked for.
const EXITS: usize = 8;
/// Paths that wait to be followed, and words of the stack that a path has written.
const PATHS: usize = 64;
const WRITTEN: usize = 64;
/// Bytes of an instruction.
const INSTRUCTION: u64 = 4;
/// What a linkage table pushes before it calls the loader: `stp x16, x30, [sp, #-16]!`, and how many bytes behind that it jumps.
const LINKAGE_PUSH: u32 = 0xa9bf_7bf0;
const LINKAGE_ENTRY: u64 = 32;

/// Bytes of code at an address.
pub(crate) struct Window<'a> {
    pub start: u64,
    pub bytes: &'a [u8],
}

impl Window<'_> {
    fn at(&self, address: u64) -> Option<u32> {
        let at = usize::try_from(address.checked_sub(self.start)?).ok()?;
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }
}

/// The rows of a function by its instructions: there are none, since a function is not followed from its start.
#[derive(Debug)]
pub(crate) struct Function {
    pub returns: bool,
    pub next: Option<u64>,
}

impl Function {
    /// The row of an address.
    pub(crate) fn row(&self, _address: u64) -> Option<Row> {
        None
    }

    /// Bytes of memory that it takes.
    pub(crate) fn size(&self) -> usize {
        0
    }
}

/// Follows a function from its start: see [`Function`].
pub(crate) fn function(_window: &Window<'_>, _start: u64, _left: &mut u32) -> Option<Function> {
    None
}

/// Where `main` is, by the entry point: only who follows functions from their start asks for it.
pub(crate) fn main(_window: &Window<'_>) -> Option<u64> {
    None
}

/// The content of a register or a word, in terms of the registers at the address that the paths begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// A register and a distance.
    Plus(u8, i64),
    /// What lay in memory at a register and a distance.
    At(u8, i64),
    Unknown,
}

#[derive(Clone)]
struct State {
    registers: [Value; 32],
    written: Vec<((u8, i64), Value)>,
}

impl State {
    fn place(&self, base: usize, offset: i64) -> Option<(u8, i64)> {
        match self.registers[base] {
            Value::Plus(register, distance) => Some((register, distance.checked_add(offset)?)),
            _ => None,
        }
    }

    fn read(&self, place: Option<(u8, i64)>) -> Value {
        let Some(place) = place else {
            return Value::Unknown;
        };
        let written = self.written.iter().rev().find(|(at, _)| *at == place);
        written.map_or(Value::At(place.0, place.1), |(_, value)| *value)
    }

    fn write(&mut self, place: Option<(u8, i64)>, value: Value) {
        if let Some(place) = place
            && self.written.len() < WRITTEN
        {
            self.written.push((place, value));
        }
    }

    fn set(&mut self, register: u32, value: Value) {
        // 31 is no register here; where it is the stack pointer, that is set by name.
        if let Some(kept) = self.registers[..SP].get_mut(register as usize) {
            *kept = value;
        }
    }

    fn add(&mut self, register: usize, distance: i64) {
        let moved = self.place(register, distance);
        self.registers[register] = moved.map_or(Value::Unknown, |(r, d)| Value::Plus(r, d));
    }

    /// Loads or stores registers one behind the other, moves their base before or behind that.
    fn transfer(&mut self, load: bool, registers: &[u32], base: usize, offset: i64, moves: Moves) {
        let from = if moves == Moves::Behind { 0 } else { offset };
        for (at, register) in (0..).zip(registers) {
            let place = self.place(base, from + 8 * at);
            if load {
                let value = self.read(place);
                self.set(*register, value);
            } else {
                let value = match *register {
                    31 => Value::Unknown,
                    register => self.registers[register as usize],
                };
                self.write(place, value);
            }
        }
        if moves != Moves::Not {
            self.add(base, offset);
        }
    }

    /// Executes an instruction that goes on with the next one.
    fn execute(&mut self, word: u32) {
        let (first, base) = (word & 31, (word >> 5 & 31) as usize);
        let load = word >> 22 & 1 == 1;
        let pair = |scale: u32| i64::from((word << 10) as i32 >> 25) << scale;
        let moves = [Moves::Not, Moves::Behind, Moves::Not, Moves::Before];
        let unscaled = i64::from((word << 11) as i32 >> 23);
        let indexed = [Moves::Not, Moves::Behind, Moves::Not, Moves::Before];
        if word & 0xfe00_0000 == 0xa800_0000 {
            let second = word >> 10 & 31;
            let moves = moves[(word >> 23 & 3) as usize];
            self.transfer(load, &[first, second], base, pair(3), moves);
        } else if word & 0x3a00_0000 == 0x2800_0000 {
            // Pairs of other sizes: no register of 64 bits, but they may move their base.
            let scale = match (word >> 26 & 1, word >> 30) {
                (1, size) => 2 + size,
                (_, _) => 2,
            };
            let moves = moves[(word >> 23 & 3) as usize];
            self.transfer(load, &[], base, pair(scale), moves);
            if load && word >> 26 & 1 == 0 {
                self.set(first, Value::Unknown);
                self.set(word >> 10 & 31, Value::Unknown);
            }
        } else if word & 0xff80_0000 == 0xf900_0000 {
            let offset = i64::from(word >> 10 & 0xfff) << 3;
            self.transfer(load, &[first], base, offset, Moves::Not);
        } else if word & 0xffa0_0000 == 0xf800_0000 && word >> 10 & 3 != 2 {
            let moves = indexed[(word >> 10 & 3) as usize];
            self.transfer(load, &[first], base, unscaled, moves);
        } else if word & 0x3b20_0400 == 0x3800_0400 {
            self.transfer(
                load,
                &[],
                base,
                unscaled,
                indexed[(word >> 10 & 3) as usize],
            );
            self.forget(word);
        } else if word & 0xbf80_0000 == 0x9100_0000 || word & 0xbf80_0000 == 0x9140_0000 {
            // add or sub of a constant, to or from the stack pointer too
            let shift = if word >> 22 & 1 == 1 { 12 } else { 0 };
            let constant = i64::from(word >> 10 & 0xfff) << shift;
            let distance = if word >> 30 & 1 == 1 {
                -constant
            } else {
                constant
            };
            let moved = self.place(base, distance);
            let value = moved.map_or(Value::Unknown, |(r, d)| Value::Plus(r, d));
            self.registers[first as usize] = value;
        } else if word & 0xffe0_ffe0 == 0xaa00_03e0 {
            let value = match word >> 16 & 31 {
                31 => Value::Unknown,
                from => self.registers[from as usize],
            };
            self.set(first, value);
        } else if word & 0x1fe0_0000 == 0x0b20_0000 || word & 0x1f80_0000 == 0x1200_0000 {
            // add or sub of an extended register, and logic with a constant, may write the stack pointer
            self.registers[first as usize] = Value::Unknown;
        } else {
            self.forget(word);
        }
    }

    /// The register that an instruction may write is not known any more.
    fn forget(&mut self, word: u32) {
        let vector = word >> 26 & 1 == 1;
        let is_data = matches!(word >> 25 & 15, 0b0101 | 0b1101 | 0b1000 | 0b1001);
        let is_load = word >> 25 & 0b0101 == 0b0100 && !vector && word >> 22 & 3 != 0;
        if is_data || is_load {
            self.set(word & 31, Value::Unknown);
        }
    }

    /// A function was called.
    fn call(&mut self) {
        for register in 0..19 {
            self.registers[register] = Value::Unknown;
        }
        self.registers[RETURN_COLUMN] = Value::Unknown;
    }

    /// The row of the address that the path began at, at a return.
    fn row(&self) -> Option<Row> {
        let Value::Plus(register, offset) = self.registers[SP] else {
            return None;
        };
        let below = |value: Value| match value {
            Value::At(base, at) if base == register => i32::try_from(at.checked_sub(offset)?).ok(),
            _ => None,
        };
        let ra = match self.registers[RETURN_COLUMN] {
            Value::Plus(link, 0) if usize::from(link) == RETURN_COLUMN => None,
            value => Some(below(value)?),
        };
        let rules = CALLEE_SAVED.map(|saved| match self.registers[saved] {
            Value::Plus(same, 0) if usize::from(same) == saved => Rule::Same,
            value => below(value).map_or(Rule::Lost, Rule::Saved),
        });
        Some(Row {
            kind: Kind::Plain,
            reach: [0, 1],
            cfa: Cfa::Register {
                register,
                offset: i32::try_from(offset).ok()?,
            },
            ra,
            rules,
            ..Row::UNCOVERED
        })
    }
}

/// When a transfer moves its base.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Not,
    Before,
    Behind,
}

/// Follows the ways from an address to returns; none if there are none, or if they disagree. `is_return`: the address is one to which
/// a call returns. `left`: instructions that may be looked at.
pub(crate) fn exits(
    window: &Window<'_>,
    address: u64,
    is_return: bool,
    left: &mut u32,
) -> Option<Row> {
    let most = EXIT_LIMIT.min(*left);
    let mut looked = 0;
    let found = follow(window, address, is_return, &mut looked, most);
    *left -= looked;
    found
}

fn follow(
    window: &Window<'_>,
    start: u64,
    is_return: bool,
    looked: &mut u32,
    most: u32,
) -> Option<Row> {
    let mut state = State {
        registers: std::array::from_fn(|register| Value::Plus(register as u8, 0)),
        written: Vec::new(),
    };
    if is_return {
        state.call();
    }
    let mut seen = HashSet::new();
    let mut paths = vec![(start, state)];
    let (mut found, mut exits): (Option<Row>, usize) = (None, 0);
    while let Some((mut address, mut state)) = paths.pop() {
        while seen.insert(address) && *looked < most {
            *looked += 1;
            let Some(word) = window.at(address) else {
                break;
            };
            let near = |bits: u32, from: u32| {
                let distance = i64::from((word << (32 - bits - from)) as i32 >> (32 - bits)) * 4;
                address.wrapping_add_signed(distance)
            };
            let returns = word & 0xffff_fc1f == 0xd65f_0000 || word & 0xffff_fbff == 0xd65f_0bff;
            // br, braa and the like: to another function, which returns for this one.
            let leaves = word & 0xffff_fc1f == 0xd61f_0000 || word & 0xfeff_f800 == 0xd61f_0800;
            if returns || leaves {
                let linkage = (1..LINKAGE_ENTRY / INSTRUCTION)
                    .map(|back| address.wrapping_sub(back * INSTRUCTION))
                    .any(|at| at < start && window.at(at) == Some(LINKAGE_PUSH));
                let row = match leaves && linkage {
                    true => Some(in_linkage()),
                    false => state.row(),
                };
                if let Some(row) = row {
                    if found.is_some_and(|found| found != row) {
                        return None;
                    }
                    (found, exits) = (Some(row), exits + 1);
                }
                break;
            }
            let next = address.wrapping_add(INSTRUCTION);
            address = if word & 0xfc00_0000 == 0x1400_0000 {
                near(26, 0)
            } else if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
                let target = near(19, 5);
                if paths.len() < PATHS {
                    paths.push((target, state.clone()));
                }
                next
            } else if word & 0x7e00_0000 == 0x3600_0000 {
                let target = near(14, 5);
                if paths.len() < PATHS {
                    paths.push((target, state.clone()));
                }
                next
            } else if word & 0xfc00_0000 == 0x9400_0000
                || word & 0xffff_fc1f == 0xd63f_0000
                || word & 0xfeff_f800 == 0xd63f_0800
            {
                state.call();
                next
            } else if word >> 16 == 0 || word & 0xffe0_001f == 0xd420_0000 {
                // udf, brk: nothing comes behind them.
                break;
            } else {
                state.execute(word);
                next
            };
        }
        if exits == EXITS {
            break;
        }
    }
    found
}

/// Behind the push of a linkage table: the loader takes the pushed words back.
fn in_linkage() -> Row {
    Row {
        kind: Kind::Plain,
        reach: [0, 1],
        cfa: Cfa::Register {
            register: SP as u8,
            offset: 16,
        },
        ra: Some(-8),
        rules: [Rule::Same; CALLEE_SAVED.len()],
        ..Row::UNCOVERED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{FP, FP_RULE};

    const START: u64 = 0x1000;

    fn row(code: &[u32], at: u64, is_return: bool) -> Option<Row> {
        let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        let window = Window {
            start: START,
            bytes: &bytes,
        };
        exits(&window, START + 4 * at, is_return, &mut 1000)
    }

    /// stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; bl .; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret
    const FRAMED: [u32; 7] = [
        0xa9be_7bfd,
        0x9100_03fd,
        0xf900_0bf3,
        0x9400_0000,
        0xf940_0bf3,
        0xa8c2_7bfd,
        0xd65f_03c0,
    ];

    #[test]
    fn exits_frame_is_known_before_behind_and_within_it() {
        for at in [0, 6] {
            let row = row(&FRAMED, at, false).expect("a row");
            let cfa = Cfa::Register {
                register: SP as u8,
                offset: 0,
            };
            assert_eq!((row.cfa, row.ra), (cfa, None), "{at}");
            assert_eq!(row.rules, [Rule::Same; CALLEE_SAVED.len()], "{at}");
        }
        for (at, is_return) in [(1, false), (4, true), (4, false), (5, false)] {
            let row = row(&FRAMED, at, is_return).expect("a row");
            let cfa = Cfa::Register {
                register: SP as u8,
                offset: 32,
            };
            assert_eq!((row.cfa, row.ra), (cfa, Some(-24)), "{at}");
            assert_eq!(row.rules[FP_RULE], Rule::Saved(-32), "{at}");
            let x19 = if at == 4 {
                Rule::Saved(-16)
            } else {
                Rule::Same
            };
            assert_eq!(row.rules[0], x19, "{at}");
        }
    }

    #[test]
    fn exits_frame_by_its_pointer_is_relative_to_the_pointer() {
        // nop; mov sp, x29; ldp x29, x30, [sp], #16; ret
        let code = [0xd503_201f, 0x9100_03bf, 0xa8c1_7bfd, 0xd65f_03c0];
        let row = row(&code, 0, false).expect("a row");
        let cfa = Cfa::Register {
            register: FP as u8,
            offset: 16,
        };
        assert_eq!((row.cfa, row.ra), (cfa, Some(-8)));
    }

    #[test]
    fn exits_return_address_that_a_call_overwrote_is_no_row() {
        // bl .; ret
        assert_eq!(row(&[0x9400_0000, 0xd65f_03c0], 1, true), None);
    }

    #[test]
    fn exits_paths_that_disagree_are_no_row() {
        // cbz x0, +12; add sp, sp, #16; ret; ret
        let code = [0xb400_0060, 0x9100_43ff, 0xd65f_03c0, 0xd65f_03c0];
        assert_eq!(row(&code, 0, false), None);
        assert!(row(&code, 1, false).is_some());
    }

    #[test]
    fn exits_linkage_table_has_two_words_once_they_are_pushed() {
        // stp x16, x30, [sp, #-16]!; adrp x16, 0; ldr x17, [x16]; add x16, x16, #0; br x17
        let code = [
            LINKAGE_PUSH,
            0x9000_0010,
            0xf940_0211,
            0x9100_0210,
            0xd61f_0220,
        ];
        assert_eq!(row(&code, 2, false), Some(in_linkage()));
        assert_eq!(row(&code, 0, false).expect("a row").ra, None);
    }

    #[test]
    fn exits_any_code_ends() {
        let mut state = 7_u32;
        let code: Vec<u32> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        })
        .take(4096)
        .collect();
        for at in 0..4096 {
            row(&code, at, at % 2 == 0);
        }
    }
}
