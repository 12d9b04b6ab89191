//! From the start of a function: how deep the stack is at each of its instructions.

use super::{
    PATHS, Window,
    machine::{Machine, Next, with_sp},
    plain,
    state::{ALIGNED, SCRATCH, State, Value},
};
use crate::{
    arch::{CALLEE_SAVED, FP, SP},
    row::{Cfa, Kind, Row, Rule},
};
use iced_x86::{FlowControl, Mnemonic};
use std::collections::{BTreeMap, HashMap};

/// Most instructions looked at from one start.
pub(super) const FUNCTION_LIMIT: u32 = 8 << 10;
/// Places where paths with other stack pointers come together: then only what they share is known.
const JOINS: usize = 4;

/// The rows of a function, by its instructions.
#[derive(Debug)]
pub(crate) struct Function {
    /// Start and end of runs of instructions that have one row.
    runs: Vec<(u64, u64, u16)>,
    rows: Vec<Row>,
    /// A path came back to a return, or to a jump to another function, with the stack as it was.
    pub returns: bool,
    /// No path came to a return, some to such a jump.
    jumps: bool,
    /// Where the next function starts, if all of this one was seen.
    pub next: Option<u64>,
}

impl Function {
    /// The row of an address, if it was reached.
    pub(crate) fn row(&self, address: u64) -> Option<Row> {
        let after = self.runs.partition_point(|(start, _, _)| *start <= address);
        let (_, end, row) = self.runs.get(after.checked_sub(1)?)?;
        let row = self.rows.get(usize::from(*row))?;
        (address < *end && row.kind == Kind::Plain).then_some(Row {
            jumps: self.jumps,
            ..*row
        })
    }

    /// Bytes of memory that it takes.
    pub(crate) fn size(&self) -> usize {
        size_of_val(self.runs.as_slice()) + size_of_val(self.rows.as_slice())
    }
}

/// Follows a function from its start; none if its paths disagree. `left`: instructions that may be looked at.
pub(crate) fn function(window: &Window<'_>, start: u64, left: &mut u32) -> Option<Function> {
    let most = FUNCTION_LIMIT.min(*left);
    let mut machine = Machine::new(window, most);
    let mut joins = Vec::new();
    let followed = loop {
        match follow_function(&mut machine, start, &joins) {
            Ok(function) => break Some(function),
            Err(Some(differ)) if joins.len() < JOINS => joins.push(differ),
            Err(_) => break None,
        }
    };
    *left -= most - machine.left;
    followed
}

/// The error is where two paths come together with other stack pointers, and the state of the second; nothing if the
/// function cannot be followed.
fn follow_function(
    machine: &mut Machine<'_>,
    start: u64,
    joins: &[Box<(u64, State)>],
) -> Result<Function, Option<Box<(u64, State)>>> {
    // Where an instruction ends, the stack pointer before it, and its row.
    let mut seen: BTreeMap<u64, (u64, Value, u16)> = BTreeMap::new();
    let (mut rows, mut numbers) = (Vec::new(), HashMap::new());
    let mut paths = vec![(start, State::new())];
    let (mut returns, mut jumps, mut chooses) = (false, false, false);
    while let Some((mut address, mut state)) = paths.pop() {
        let mut compared = None;
        loop {
            if let Some((_, sp, _)) = seen.get(&address) {
                let differ = *sp != state.sp() && ![*sp, state.sp()].contains(&Value::Unknown);
                if differ {
                    return Err(Some(Box::new((address, state))));
                }
                break;
            }
            for join in joins.iter().filter(|join| join.0 == address) {
                state.meet(&join.1);
            }
            let Some(instruction) = machine.decode(address) else {
                break;
            };
            let row = inner_row(&state);
            let number = *numbers.entry(row).or_insert_with(|| {
                rows.push(row);
                (rows.len() - 1) as u16
            });
            seen.insert(address, (instruction.next_ip(), state.sp(), number));
            let at_start = state.sp() == Value::Plus(SP as u8, 0);
            // On another stack nothing is known of this one.
            let here = matches!(state.sp(), Value::Plus(base, _) if base == SP as u8);
            match machine.next(&instruction) {
                Next::Return if at_start => returns = true,
                Next::Return if here => return Err(None),
                Next::Away => jumps |= at_start,
                Next::Return | Next::End => {
                    chooses |= instruction.flow_control() == FlowControl::IndirectBranch;
                }
                Next::Jump(target) => {
                    address = target;
                    continue;
                }
                Next::Fork(target) => {
                    machine.execute(&mut state, &instruction);
                    if paths.len() == PATHS {
                        return Err(None);
                    }
                    let mut other = state.clone();
                    // The end of a loop that touches each page of a large frame.
                    if let (Mnemonic::Jne, Some(register)) = (instruction.mnemonic(), compared) {
                        state.registers[SP] = state.registers[register];
                    }
                    // What a loop changes is to be known before what follows it.
                    let next = instruction.next_ip();
                    let back = target <= address;
                    if back {
                        std::mem::swap(&mut state, &mut other);
                    }
                    paths.push((if back { next } else { target }, other));
                    address = if back { target } else { next };
                    continue;
                }
                Next::On => {
                    compared = with_sp(&instruction).filter(|_| state.sp() == Value::Unknown);
                    machine.execute(&mut state, &instruction);
                    address = instruction.next_ip();
                    continue;
                }
            }
            break;
        }
    }
    let mut runs: Vec<(u64, u64, u16)> = Vec::new();
    for (start, (end, _, row)) in seen {
        match runs.last_mut() {
            Some(last) if last.1 == start && last.2 == row => last.1 = end,
            _ => runs.push((start, end, row)),
        }
    }
    runs.shrink_to_fit();
    let next = machine.after(start, &runs).filter(|_| !chooses);
    Ok(Function {
        runs,
        rows,
        returns: returns || jumps,
        jumps: jumps && !returns,
        next,
    })
}

/// How to leave a function whose first instruction had the return address at the stack pointer.
fn inner_row(state: &State) -> Row {
    const START: u8 = SP as u8;
    let sp = state.sp();
    let to_caller = |register: usize| match state.registers[register] {
        Value::Plus(START, distance) => Some(Cfa::Register {
            register: register as u8,
            offset: 8 - distance,
        }),
        _ => None,
    };
    let kept = || match sp {
        Value::Plus(ALIGNED, at) => state.slots.iter().find_map(|slot| match slot {
            (ALIGNED, place, Value::Plus(START, distance)) => Some(Cfa::Deref {
                register: START,
                offset: place - at,
                add: 8 - distance,
            }),
            _ => None,
        }),
        _ => None,
    };
    // A call leaves the first of these and the stack as they are.
    let lasting = [FP, 3, 12, 13, 14, 15];
    let moved = matches!(sp, Value::Plus(base, _) if base != START && base != ALIGNED)
        || matches!(sp, Value::At(..));
    let cfa = to_caller(SP)
        .or_else(|| lasting.into_iter().filter(|_| !moved).find_map(to_caller))
        .or_else(kept)
        .or_else(|| SCRATCH.into_iter().filter(|_| !moved).find_map(to_caller));
    let Some(cfa) = cfa else {
        return Row::UNCOVERED;
    };
    let mut row = plain(cfa);
    for (rule, register) in row.rules.iter_mut().zip(CALLEE_SAVED) {
        let original = Value::Plus(register as u8, 0);
        let unchanged = state.registers[register] == original;
        let saved = state.slots.iter().find_map(|slot| match (*slot, sp) {
            ((START, at, value), Value::Plus(START, sp)) if value == original => {
                (at >= sp || !unchanged).then_some(Rule::Saved(at - 8))
            }
            ((START, at, value), _) if value == original => Some(Rule::Saved(at - 8)),
            ((ALIGNED, at, value), Value::Plus(ALIGNED, sp)) if value == original => {
                Some(Rule::SavedAt {
                    register: START,
                    offset: at - sp,
                })
            }
            _ => None,
        });
        *rule = saved.unwrap_or(if unchanged { Rule::Same } else { Rule::Lost });
    }
    row.kept = state.kept();
    row
}
