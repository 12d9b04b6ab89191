//! From an address to the returns behind it: what is still taken back of the stack.

use super::{
    PATHS, Window,
    machine::{Machine, Next, is_call},
    plain,
    state::{SCRATCH, State, Value},
};
use crate::{
    arch::{CALLEE_SAVED, FP, SP},
    row::{Cfa, Row, Rule},
};
use std::collections::HashMap;

/// Most instructions looked at on the paths from an address to returns.
pub(super) const EXIT_LIMIT: u32 = 2 << 10;
/// Returns found on these paths that must agree; more are not looked for.
const EXITS: usize = 8;
/// Bytes of a call that names its target.
const DIRECT_CALL: u64 = 5;

/// Follows the ways from an address to returns; none if there are none, or if they disagree. `is_return`: the address
/// is one to which a call returns.
pub(crate) fn exits(
    window: &Window<'_>,
    address: u64,
    is_return: bool,
    left: &mut u32,
) -> Option<Row> {
    let most = EXIT_LIMIT.min(*left);
    let mut machine = Machine::new(window, most);
    let found = follow_exits(&mut machine, address, is_return);
    *left -= most - machine.left;
    found
}

fn follow_exits(machine: &mut Machine<'_>, address: u64, is_return: bool) -> Option<Row> {
    if is_return && machine.window.is_padding(address) {
        return None;
    }
    let mut seen: HashMap<u64, Value> = HashMap::new();
    let mut state = State::new();
    if is_return {
        match machine.decode(address.wrapping_sub(DIRECT_CALL)) {
            Some(call) if is_call(&call) && call.next_ip() == address => {
                machine.call(&mut state, &call);
            }
            _ => state.clobber(&SCRATCH),
        }
    }
    let mut paths = vec![(address, state)];
    let (mut found, mut weak): (Option<Row>, Option<Row>) = (None, None);
    let mut exits = 0;
    while let Some((mut address, mut state)) = paths.pop() {
        loop {
            match seen.insert(address, state.sp()) {
                Some(sp) if sp == state.sp() || state.sp() == Value::Unknown => break,
                Some(Value::Unknown) | None => {}
                Some(_) => return None,
            }
            let Some(instruction) = machine.decode(address) else {
                break;
            };
            match machine.next(&instruction) {
                Next::Return => {
                    if let Some(row) = outer_row(&state) {
                        found = Some(agreed(found, row)?);
                        exits += 1;
                    }
                    break;
                }
                Next::Away => {
                    if let Some(row) = outer_row(&state) {
                        weak = Some(agreed(weak, row)?);
                    }
                    break;
                }
                Next::End => break,
                Next::Jump(target) => address = target,
                Next::Fork(target) => {
                    machine.execute(&mut state, &instruction);
                    if paths.len() == PATHS {
                        return None;
                    }
                    paths.push((target, state.clone()));
                    address = instruction.next_ip();
                }
                Next::On => {
                    machine.execute(&mut state, &instruction);
                    address = instruction.next_ip();
                    if is_call(&instruction) && machine.begins(address) {
                        break;
                    }
                }
            }
        }
        if exits >= EXITS {
            break;
        }
    }
    match (found, weak) {
        (Some(found), Some(weak)) => agreed(Some(found), weak),
        (Some(found), None) => Some(found),
        (None, weak) => weak.map(|row| Row { jumps: true, ..row }),
    }
}

/// One row of two ways; none if they lead to different callers.
fn agreed(before: Option<Row>, row: Row) -> Option<Row> {
    let Some(mut before) = before else {
        return Some(row);
    };
    let base = |row: &Row| match row.cfa {
        Cfa::Register { register, .. } => register,
        _ => u8::MAX,
    };
    // By another register the same place has another distance.
    if base(&before) != base(&row) {
        return Some(if usize::from(base(&row)) == SP {
            row
        } else {
            before
        });
    }
    if before.cfa != row.cfa {
        return None;
    }
    for (rule, other) in before.rules.iter_mut().zip(row.rules) {
        if *rule != other {
            *rule = Rule::Lost;
        }
    }
    Some(before)
}

/// How to leave the function in which the registers were as at the beginning, by what they are at a return.
fn outer_row(state: &State) -> Option<Row> {
    let keeps =
        |register: u8| usize::from(register) == SP || CALLEE_SAVED.contains(&usize::from(register));
    let cfa = match state.sp() {
        // Who returns above its return address was not called here.
        Value::Plus(register, distance) if usize::from(register) != SP || distance >= 0 => {
            Cfa::Register {
                register,
                offset: distance + 8,
            }
        }
        Value::At(register, offset, add) if [SP, FP].contains(&usize::from(register)) => {
            Cfa::Deref {
                register,
                offset,
                add: add + 8,
            }
        }
        _ => return None,
    };
    let mut row = plain(cfa);
    for (rule, register) in row.rules.iter_mut().zip(CALLEE_SAVED) {
        *rule = match state.registers[register] {
            Value::Plus(same, 0) if usize::from(same) == register => Rule::Same,
            Value::At(base, offset, 0) if keeps(base) => Rule::SavedAt {
                register: base,
                offset,
            },
            _ => Rule::Lost,
        };
    }
    row.kept = state.kept();
    Some(row)
}
