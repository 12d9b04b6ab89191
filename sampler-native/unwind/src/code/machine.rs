//! Following code: decodes instructions, says where a path goes on, and executes them on a [`State`].

use super::state::{ALIGNED, SCRATCH, State, Value};
use crate::arch::{CALLEE_SAVED, FP, SP};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};
use std::collections::{HashMap, HashSet};

/// DWARF numbers by those of the processor.
const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// Instructions of a function that is called, looked at for the registers that it changes.
const CALLEE_LIMIT: usize = 512;

/// A register of 64 bits by its DWARF number.
fn whole(register: Register) -> Option<usize> {
    register
        .is_gpr64()
        .then(|| usize::from(DWARF[register.number() & 15]))
}

/// Bytes of code at an address.
pub(crate) struct Window<'a> {
    pub start: u64,
    pub bytes: &'a [u8],
}

impl Window<'_> {
    fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.bytes.len() as u64
    }

    fn is_nop(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.start) as usize;
        self.bytes.get(at) == Some(&0x90)
    }

    /// What is only there so that the next function starts at a round address.
    pub fn is_padding(&self, address: u64) -> bool {
        let at = address.wrapping_sub(self.start) as usize;
        let starts = |pattern: &[u8]| {
            self.bytes
                .get(at..)
                .is_some_and(|code| code.starts_with(pattern))
        };
        starts(b"\xcc")
            || starts(b"\x66\x90")
            || starts(b"\x0f\x1f")
            || starts(b"\x66\x0f\x1f")
            || starts(b"\x66\x2e\x0f\x1f")
            || starts(b"\x66\x66\x2e\x0f\x1f")
            || starts(b"\x90\x90")
    }
}

/// Where a path goes after an instruction.
pub(super) enum Next {
    On,
    Jump(u64),
    Fork(u64),
    Return,
    /// A jump to another function: the stack is as at a return.
    Away,
    End,
}

pub(super) struct Machine<'a> {
    /// The code.
    pub window: &'a Window<'a>,
    decoder: Decoder<'a>,
    information: InstructionInfoFactory,
    /// Instructions that may still be looked at.
    pub left: u32,
    /// Bits of the registers that functions change, by their starts.
    changed: HashMap<u64, u16>,
}

impl<'a> Machine<'a> {
    pub fn new(window: &'a Window<'a>, left: u32) -> Machine<'a> {
        Machine {
            window,
            decoder: Decoder::with_ip(64, window.bytes, window.start, DecoderOptions::NONE),
            information: InstructionInfoFactory::new(),
            left,
            changed: HashMap::new(),
        }
    }

    /// Forgets what a call changes. Assembly knows which registers its own functions leave alone, and keeps things in them.
    pub fn call(&mut self, state: &mut State, instruction: &Instruction) {
        let target = instruction.near_branch_target();
        let direct = instruction.flow_control() == FlowControl::Call;
        let changed = if !direct || !self.window.contains(target) {
            u16::MAX
        } else if let Some(changed) = self.changed.get(&target) {
            *changed
        } else {
            let changed = self.changes(target).unwrap_or(u16::MAX);
            self.changed.insert(target, changed);
            changed
        };
        for register in SCRATCH {
            if changed >> register & 1 == 1 {
                state.registers[register] = Value::Unknown;
            }
        }
    }

    /// Bits of the registers that a function changes which calls no other; none if that is not to be known.
    fn changes(&mut self, start: u64) -> Option<u16> {
        let mut seen = HashSet::new();
        let mut paths = vec![start];
        let mut changed = 0;
        while let Some(mut address) = paths.pop() {
            while seen.insert(address) {
                if seen.len() > CALLEE_LIMIT {
                    return None;
                }
                let instruction = self.decode(address)?;
                if is_call(&instruction) || is_system_call(&instruction) {
                    return None;
                }
                let options = InstructionInfoOptions::NO_MEMORY_USAGE;
                let information = self.information.info_options(&instruction, options);
                for used in information.used_registers() {
                    if let Some(register) = whole(used.register().full_register())
                        && is_write(used.access())
                    {
                        changed |= 1 << register;
                    }
                }
                address = match self.next(&instruction) {
                    Next::Return => break,
                    Next::Away | Next::End => return None,
                    Next::Jump(target) => target,
                    Next::Fork(target) => {
                        paths.push(target);
                        instruction.next_ip()
                    }
                    Next::On => instruction.next_ip(),
                };
            }
        }
        Some(changed)
    }

    /// The instruction at an address; none if it is none, or if enough were looked at.
    pub fn decode(&mut self, address: u64) -> Option<Instruction> {
        if !self.window.contains(address) || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let at = address.wrapping_sub(self.window.start) as usize;
        self.decoder.set_position(at).ok()?;
        self.decoder.set_ip(address);
        let instruction = self.decoder.decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// Where the code that goes on from `start` without a gap but padding ends, and other code begins.
    pub fn after(&mut self, start: u64, runs: &[(u64, u64, u16)]) -> Option<u64> {
        let mut end = start;
        for (from, to, _) in runs.iter().skip_while(|run| run.0 < start) {
            end = self.skip_padding(end);
            if *from > end {
                break;
            }
            end = end.max(*to);
        }
        let next = self.skip_padding(end);
        (next > start && self.window.contains(next)).then_some(next)
    }

    /// Whether a function seems to begin there: the call before it does not come back then.
    pub fn begins(&mut self, address: u64) -> bool {
        self.decode(address).is_some_and(|instruction| {
            let kept = |register| CALLEE_SAVED.contains(&register);
            match instruction.code() {
                Code::Endbr64 => true,
                Code::Push_r64 => whole(instruction.op0_register()).is_some_and(kept),
                _ => false,
            }
        })
    }

    fn skip_padding(&mut self, mut address: u64) -> u64 {
        while self.window.is_padding(address) || self.window.is_nop(address) {
            match self.decode(address) {
                Some(instruction) => address = instruction.next_ip(),
                None => break,
            }
        }
        address
    }

    /// What the address of an operand in memory is.
    fn address(state: &State, instruction: &Instruction) -> Value {
        if instruction.memory_index() != Register::None {
            return Value::Unknown;
        }
        match whole(instruction.memory_base()) {
            Some(base) if instruction.segment_prefix() == Register::None => {
                state.registers[base].add(instruction.memory_displacement64() as i64)
            }
            _ => Value::Unknown,
        }
    }

    /// Where the path goes on.
    pub fn next(&self, instruction: &Instruction) -> Next {
        match instruction.flow_control() {
            FlowControl::Return => Next::Return,
            FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                if self.window.contains(target) {
                    Next::Jump(target)
                } else {
                    Next::Away
                }
            }
            FlowControl::ConditionalBranch => {
                let target = instruction.near_branch_target();
                if self.window.contains(target) {
                    Next::Fork(target)
                } else {
                    Next::On
                }
            }
            // One with an index chooses among parts of this function; by a register alone it may.
            FlowControl::IndirectBranch => {
                let pointer = instruction.op0_kind() == OpKind::Memory
                    && instruction.memory_index() == Register::None;
                if pointer { Next::Away } else { Next::End }
            }
            // A call that never comes back is often the last instruction of its function.
            FlowControl::Call | FlowControl::IndirectCall
                if !is_system_call(instruction)
                    && self.window.is_padding(instruction.next_ip()) =>
            {
                Next::End
            }
            FlowControl::Exception => Next::End,
            _ if matches!(instruction.mnemonic(), Mnemonic::Hlt | Mnemonic::Int3) => Next::End,
            _ => Next::On,
        }
    }

    /// Executes an instruction.
    pub fn execute(&mut self, state: &mut State, instruction: &Instruction) {
        let register = |op: u32| whole(instruction.op_register(op));
        let is_memory =
            |op: u32| instruction.op_count() > op && instruction.op_kind(op) == OpKind::Memory;
        let value = |state: &State, op: u32| match instruction.op_kind(op) {
            OpKind::Register => register(op).map_or(Value::Unknown, |r| state.registers[r]),
            OpKind::Memory => state.load(Machine::address(state, instruction)),
            _ => Value::Unknown,
        };
        match instruction.code() {
            Code::Push_r64 => return state.push(value(state, 0)),
            Code::Pop_r64 => {
                let popped = state.pop();
                if let Some(register) = register(0) {
                    state.registers[register] = popped;
                }
                return;
            }
            Code::Mov_r64_rm64 | Code::Mov_rm64_r64 => {
                let moved = value(state, 1);
                match register(0) {
                    _ if is_memory(0) => {
                        let address = Machine::address(state, instruction);
                        state.store(address, 8, moved);
                    }
                    Some(register) => state.registers[register] = moved,
                    None => {}
                }
                return;
            }
            Code::Lea_r64_m => {
                let address = Machine::address(state, instruction);
                if let Some(register) = register(0) {
                    state.registers[register] = address;
                }
                return;
            }
            Code::Leaveq => {
                state.registers[SP] = state.registers[FP];
                state.registers[FP] = state.pop();
                return;
            }
            Code::Enterq_imm16_imm8 if instruction.immediate8_2nd() == 0 => {
                state.push(state.registers[FP]);
                state.registers[FP] = state.sp();
                state.registers[SP] = state.sp().add(-i64::from(instruction.immediate16()));
                return;
            }
            Code::Add_rm64_imm8
            | Code::Add_rm64_imm32
            | Code::Add_RAX_imm32
            | Code::Sub_rm64_imm8
            | Code::Sub_rm64_imm32
            | Code::Sub_RAX_imm32
                if !is_memory(0) =>
            {
                let immediate = instruction.immediate(1) as i64;
                let adds = instruction.mnemonic() == Mnemonic::Add;
                let distance = if adds {
                    Some(immediate)
                } else {
                    immediate.checked_neg()
                };
                if let (Some(register), Some(distance)) = (register(0), distance) {
                    state.registers[register] = state.registers[register].add(distance);
                }
                return;
            }
            Code::And_rm64_imm8 | Code::And_rm64_imm32 if register(0) == Some(SP) => {
                state.registers[SP] = if state.realigned {
                    Value::Unknown
                } else {
                    Value::Plus(ALIGNED, 0)
                };
                state.realigned = true;
                return;
            }
            _ => {}
        }
        if is_system_call(instruction) {
            return state.clobber(&[0, 2, 11]);
        }
        if is_call(instruction) {
            return self.call(state, instruction);
        }
        let moves = instruction.stack_pointer_increment();
        if moves < 0 {
            state.registers[SP] = state.sp().add(i64::from(moves));
            state.store(state.sp(), -moves, Value::Unknown);
        }
        self.write(state, instruction, moves != 0);
        if moves > 0 {
            state.registers[SP] = state.sp().add(i64::from(moves));
        }
    }

    /// What any instruction writes is not known from then on.
    fn write(&mut self, state: &mut State, instruction: &Instruction, moves: bool) {
        let options = InstructionInfoOptions::NONE;
        let information = self.information.info_options(instruction, options);
        let address = |memory: &UsedMemory| match whole(memory.base()) {
            Some(base) if memory.index() == Register::None => {
                state.registers[base].add(memory.displacement() as i64)
            }
            _ => Value::Unknown,
        };
        let stores: Vec<(Value, i32)> = information
            .used_memory()
            .iter()
            .filter(|memory| is_write(memory.access()))
            .filter(|memory| !(moves && whole(memory.base()) == Some(SP)))
            .map(|memory| (address(memory), memory.memory_size().size() as i32))
            .collect();
        for used in information.used_registers() {
            let full = used.register().full_register();
            if is_write(used.access())
                && let Some(register) = whole(full)
                && !(register == SP && moves)
            {
                state.registers[register] = Value::Unknown;
            }
        }
        for (address, size) in stores {
            if let Value::Plus(base, at) = address {
                state.overwrite(base, at, size);
            }
        }
    }
}

/// The register that an instruction compares with the stack pointer.
pub(super) fn with_sp(instruction: &Instruction) -> Option<usize> {
    let operands = [0, 1].map(|op| whole(instruction.op_register(op)));
    match operands {
        _ if instruction.mnemonic() != Mnemonic::Cmp => None,
        [Some(SP), other] | [other, Some(SP)] => other,
        _ => None,
    }
}

pub(super) fn is_call(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Call | FlowControl::IndirectCall
    )
}

fn is_write(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn is_system_call(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int
    )
}
