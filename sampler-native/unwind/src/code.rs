//! Code without unwind information: how its instructions move the stack pointer, and where they keep their caller's registers.
//!
//! Two ways lead to a row. From the start of the [`function`] the instructions say how deep the stack is at each of them.
//! From the address itself they say what is still taken back until a return ([`exits`]). Both follow paths through the code
//! ([`machine`]) on which registers are symbols ([`state`]): the content of a register at the beginning and a distance, or what lay in
//! memory there. Where paths disagree there is no row.

mod exits;
mod function;
mod machine;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use exits::exits;
pub(crate) use function::{Function, function};
use iced_x86::{Code, FlowControl, OpKind, Register};
use machine::Machine;
pub(crate) use machine::Window;

use crate::row::{Cfa, Kind, Row, Rule};

/// Bytes of code around an address that are looked at.
pub(crate) const WINDOW: u64 = 32 << 10;
/// Paths that wait to be followed.
const PATHS: usize = 256;

/// Where `main` is, by the entry point: it is the first argument of the call there.
pub(crate) fn main(window: &Window<'_>) -> Option<u64> {
    let mut machine = Machine::new(window, 32);
    let (mut address, mut main) = (window.start, None);
    while let Some(instruction) = machine.decode(address) {
        let to_first = instruction.op0_kind() == OpKind::Register
            && instruction.op0_register().full_register() == Register::RDI;
        match instruction.code() {
            Code::Lea_r64_m if to_first && instruction.is_ip_rel_memory_operand() => {
                main = Some(instruction.ip_rel_memory_address());
            }
            Code::Mov_rm64_imm32 | Code::Mov_r32_imm32 if to_first => {
                main = Some(instruction.immediate(1));
            }
            _ => {}
        }
        if instruction.flow_control() != FlowControl::Next {
            break;
        }
        address = instruction.next_ip();
    }
    main
}

/// A row whose return address lies right below its CFA.
fn plain(cfa: Cfa) -> Row {
    Row {
        kind: Kind::Plain,
        last: false,
        jumps: false,
        kept: 0,
        cfa,
        ra: Some(-8),
        rules: [Rule::Same; 6],
        reach: [0, 1],
    }
}
