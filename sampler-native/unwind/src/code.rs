//! Code without unwind information: how its instructions move the stack pointer, and where they keep their caller's registers.
//!
//! Two ways lead to a row. From the start of the function the instructions say how deep the stack is at each of them.
//! From the address itself they say what is still taken back until a return. Registers are symbols: what one had at the
//! beginning and a distance, or what lay in memory there. Where paths disagree there is no row.

use crate::cfi::{CALLEE_SAVED, Cfa, Kind, RBP, RSP, Row, Rule};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of code around an address that are looked at.
pub(crate) const WINDOW: u64 = 32 << 10;
/// Most instructions looked at from one start.
const FUNCTION_LIMIT: u32 = 8 << 10;
/// The same on the ways from an address to a return.
const EXIT_LIMIT: u32 = 2 << 10;
/// Returns found on these ways that must agree; more are not looked for.
const EXITS: usize = 8;
/// Places where paths with other stack pointers come together: then only what they share is known.
const JOINS: usize = 4;
/// Paths that wait to be followed.
const PATHS: usize = 256;
/// Places on the stack whose content is known.
const SLOTS: usize = 24;
/// Farthest that a frame reaches.
const FRAME_LIMIT: i32 = 16 << 20;
/// A stack pointer that was realigned, as a symbol.
const ALIGNED: u8 = 16;
/// DWARF numbers by those of the processor.
const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// Bytes of a call that names its target.
const DIRECT_CALL: u64 = 5;
/// Instructions of a function that is called, looked at for the registers that it changes.
const CALLEE_LIMIT: usize = 512;
/// Registers that calls may change.
const SCRATCH: [usize; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];

/// What a register holds, or a place on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Unknown,
    /// What the register had at the beginning, and this.
    Plus(u8, i32),
    /// What lay in memory this far from what the register had at the beginning, and the second number.
    At(u8, i32, i32),
}

impl Value {
    fn add(self, distance: i64) -> Value {
        let near = |from: i32| {
            i32::try_from(i64::from(from).checked_add(distance)?)
                .ok()
                .filter(|sum| sum.abs() < FRAME_LIMIT)
        };
        match self {
            Value::Plus(register, from) => {
                near(from).map_or(Value::Unknown, |sum| Value::Plus(register, sum))
            }
            Value::At(register, at, from) => {
                near(from).map_or(Value::Unknown, |sum| Value::At(register, at, sum))
            }
            Value::Unknown => Value::Unknown,
        }
    }
}

/// Registers and the known part of the stack at one instruction.
#[derive(Clone, Debug)]
struct State {
    registers: [Value; 16],
    slots: Vec<(u8, i32, Value)>,
    realigned: bool,
}

impl State {
    fn new() -> State {
        State {
            registers: std::array::from_fn(|register| Value::Plus(register as u8, 0)),
            slots: Vec::new(),
            realigned: false,
        }
    }

    fn sp(&self) -> Value {
        self.registers[RSP]
    }

    fn load(&self, address: Value) -> Value {
        let Value::Plus(base, at) = address else {
            return Value::Unknown;
        };
        let known = self
            .slots
            .iter()
            .find(|slot| (slot.0, slot.1) == (base, at));
        match known {
            Some((_, _, value)) => *value,
            None if base == ALIGNED || self.overlaps(base, at, 8) => Value::Unknown,
            None => Value::At(base, at, 0),
        }
    }

    fn overlaps(&self, base: u8, at: i32, size: i32) -> bool {
        self.slots
            .iter()
            .any(|slot| slot.0 == base && slot.1 < at + size && at < slot.1 + 8)
    }

    /// Some bytes are written.
    fn store(&mut self, address: Value, size: i32, value: Value) {
        let Value::Plus(base, at) = address else {
            return;
        };
        self.slots
            .retain(|slot| slot.0 != base || slot.1 >= at.saturating_add(size) || at >= slot.1 + 8);
        if self.slots.len() < SLOTS && size == 8 {
            self.slots.push((base, at, value));
        }
    }

    fn push(&mut self, value: Value) {
        self.registers[RSP] = self.sp().add(-8);
        self.store(self.sp(), 8, value);
    }

    fn pop(&mut self) -> Value {
        let value = self.load(self.sp());
        self.registers[RSP] = self.sp().add(8);
        value
    }

    /// Bits of [`SCRATCH`] registers that are as at the beginning.
    fn kept(&self) -> u16 {
        let original =
            |register: &usize| self.registers[*register] == Value::Plus(*register as u8, 0);
        let kept = SCRATCH.into_iter().filter(original);
        kept.fold(0, |bits, register| bits | 1 << register)
    }

    fn clobber(&mut self, registers: &[usize]) {
        for register in registers {
            self.registers[*register] = Value::Unknown;
        }
    }
}

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
    fn is_padding(&self, address: u64) -> bool {
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
enum Next {
    On,
    Jump(u64),
    Fork(u64),
    Return,
    /// A jump to another function: the stack is as at a return.
    Away,
    End,
}

struct Machine<'a> {
    window: &'a Window<'a>,
    decoder: Decoder<'a>,
    information: InstructionInfoFactory,
    left: u32,
    /// Bits of the registers that functions change, by their starts.
    changed: HashMap<u64, u16>,
}

impl<'a> Machine<'a> {
    fn new(window: &'a Window<'a>, left: u32) -> Machine<'a> {
        Machine {
            window,
            decoder: Decoder::with_ip(64, window.bytes, window.start, DecoderOptions::NONE),
            information: InstructionInfoFactory::new(),
            left,
            changed: HashMap::new(),
        }
    }

    /// Forgets what a call changes. Assembly knows which registers its own functions leave alone, and keeps things in them.
    fn call(&mut self, state: &mut State, instruction: &Instruction) {
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
    fn decode(&mut self, address: u64) -> Option<Instruction> {
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
    fn after(&mut self, start: u64, runs: &[(u64, u64, u16)]) -> Option<u64> {
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
    fn begins(&mut self, address: u64) -> bool {
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
    fn next(&self, instruction: &Instruction) -> Next {
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
    fn execute(&mut self, state: &mut State, instruction: &Instruction) {
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
                state.registers[RSP] = state.registers[RBP];
                state.registers[RBP] = state.pop();
                return;
            }
            Code::Enterq_imm16_imm8 if instruction.immediate8_2nd() == 0 => {
                state.push(state.registers[RBP]);
                state.registers[RBP] = state.sp();
                state.registers[RSP] = state.sp().add(-i64::from(instruction.immediate16()));
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
            Code::And_rm64_imm8 | Code::And_rm64_imm32 if register(0) == Some(RSP) => {
                state.registers[RSP] = if state.realigned {
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
            state.registers[RSP] = state.sp().add(i64::from(moves));
            state.store(state.sp(), -moves, Value::Unknown);
        }
        self.write(state, instruction, moves != 0);
        if moves > 0 {
            state.registers[RSP] = state.sp().add(i64::from(moves));
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
            .filter(|memory| !(moves && whole(memory.base()) == Some(RSP)))
            .map(|memory| (address(memory), memory.memory_size().size() as i32))
            .collect();
        for used in information.used_registers() {
            let full = used.register().full_register();
            if is_write(used.access())
                && let Some(register) = whole(full)
                && !(register == RSP && moves)
            {
                state.registers[register] = Value::Unknown;
            }
        }
        for (address, size) in stores {
            if let Value::Plus(base, at) = address {
                let end = at.saturating_add(size.max(1));
                state
                    .slots
                    .retain(|slot| slot.0 != base || slot.1 >= end || at >= slot.1 + 8);
                // The slot says that these bytes were written: otherwise a load would give what they held at the beginning.
                if size <= 8 && state.slots.len() < SLOTS {
                    state.slots.push((base, at, Value::Unknown));
                }
            }
        }
    }
}

/// The register that an instruction compares with the stack pointer.
fn with_sp(instruction: &Instruction) -> Option<usize> {
    let operands = [0, 1].map(|op| whole(instruction.op_register(op)));
    match operands {
        _ if instruction.mnemonic() != Mnemonic::Cmp => None,
        [Some(RSP), other] | [other, Some(RSP)] => other,
        _ => None,
    }
}

fn is_call(instruction: &Instruction) -> bool {
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

/// What is the same in two states.
fn meet(state: &mut State, other: &State) {
    for (value, other) in state.registers.iter_mut().zip(other.registers) {
        if *value != other {
            *value = Value::Unknown;
        }
    }
    state.slots.retain(|slot| other.slots.contains(slot));
    state.realigned |= other.realigned;
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
                meet(&mut state, &join.1);
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
            let at_start = state.sp() == Value::Plus(RSP as u8, 0);
            // On another stack nothing is known of this one.
            let here = matches!(state.sp(), Value::Plus(base, _) if base == RSP as u8);
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
                        state.registers[RSP] = state.registers[register];
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

/// How to leave a function whose first instruction had the return address at the stack pointer.
fn inner_row(state: &State) -> Row {
    const START: u8 = RSP as u8;
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
    let lasting = [RBP, 3, 12, 13, 14, 15];
    let moved = matches!(sp, Value::Plus(base, _) if base != START && base != ALIGNED)
        || matches!(sp, Value::At(..));
    let cfa = to_caller(RSP)
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

fn plain(cfa: Cfa) -> Row {
    Row {
        kind: Kind::Plain,
        last: false,
        jumps: false,
        kept: 0,
        cfa,
        ra: -8,
        rules: [Rule::Same; 6],
        reach: [0, 1],
    }
}

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
        return Some(if usize::from(base(&row)) == RSP {
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
    let keeps = |register: u8| {
        usize::from(register) == RSP || CALLEE_SAVED.contains(&usize::from(register))
    };
    let cfa = match state.sp() {
        // Who returns above its return address was not called here.
        Value::Plus(register, distance) if usize::from(register) != RSP || distance >= 0 => {
            Cfa::Register {
                register,
                offset: distance + 8,
            }
        }
        Value::At(register, offset, add) if [RSP, RBP].contains(&usize::from(register)) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % limit
        }
    }

    const BASE: u64 = 0x1000;

    fn window(bytes: &[u8]) -> Window<'_> {
        Window { start: BASE, bytes }
    }

    /// Where the caller's stack pointer is, by the two ways.
    fn both(code: &[u8], at: u64) -> [Option<Cfa>; 2] {
        let (window, mut left) = (window(code), 10_000);
        let function = function(&window, BASE, &mut left);
        let by_start = function.and_then(|function| function.row(BASE + at));
        let by_exits = exits(&window, BASE + at, false, &mut left);
        [by_start, by_exits].map(|row| row.map(|row| row.cfa))
    }

    fn from_sp(offset: i32) -> Option<Cfa> {
        Some(Cfa::Register {
            register: RSP as u8,
            offset,
        })
    }

    #[test]
    fn row_push_and_sub_is_as_deep_by_both_ways() {
        // push rbx; sub rsp, 32; add rsp, 32; pop rbx; ret
        let code = b"\x53\x48\x83\xec\x20\x48\x83\xc4\x20\x5b\xc3";
        for (at, deep) in [(0, 8), (1, 16), (5, 48), (9, 16), (10, 8)] {
            assert_eq!(both(code, at), [from_sp(deep); 2], "{at}");
        }
    }

    #[test]
    fn row_register_saved_is_where_it_was_saved_until_it_is_taken_back() {
        // push rbp; xor ebp, ebp; pop rbp; ret
        let code = b"\x55\x31\xed\x5d\xc3";
        let (window, mut left) = (window(code), 100);
        let function = function(&window, BASE, &mut left).expect("rows");
        let rule = |at: u64| function.row(BASE + at).map(|row| row.rules[1]);
        assert_eq!(rule(0), Some(Rule::Same));
        assert_eq!(rule(3), Some(Rule::Saved(-16)));
        assert_eq!(rule(4), Some(Rule::Same));
    }

    #[test]
    fn row_paths_that_disagree_or_never_return_is_none() {
        // ret with a word too much; a jump to itself behind a push, seen from there; sub rsp, rax; ret
        assert_eq!(both(b"\x50\xc3", 1), [None, from_sp(8)]);
        assert_eq!(both(b"\x50\xeb\xfe", 1), [from_sp(16), None]);
        assert_eq!(both(b"\x48\x29\xc4\xc3", 0)[1], None);
        // je +1; pop rax; ret: two depths at one return
        assert_eq!(both(b"\x74\x01\x58\xc3", 0), [None; 2]);
    }

    #[test]
    fn row_call_before_padding_does_not_come_back() {
        // sub rsp, 8; call +0x100; nopw; ret of the next function
        let code = b"\x48\x83\xec\x08\xe8\0\x01\0\0\x66\x90\xc3";
        assert_eq!(both(code, 4), [from_sp(16), None]);
    }

    #[test]
    fn function_any_bytes_are_followed_in_bounded_time() {
        let mut numbers = Numbers(5);
        let pieces: [&[u8]; 12] = [
            b"\x55",
            b"\x5d",
            b"\x53",
            b"\x48\x83\xec",
            b"\x48\x83\xc4",
            b"\x48\x89\xe5",
            b"\xc9",
            b"\x74",
            b"\xeb",
            b"\xe8\0\0\0\0",
            b"\x48\x81\xec\xff\xff\xff\x7f",
            b"\x48\x8b\x24\x24",
        ];
        let mut rows = 0;
        for round in 0..600 {
            let mut code: Vec<u8> = Vec::new();
            let size = 1 + numbers.below(40_000) as usize;
            while code.len() < size {
                if round % 2 == 0 {
                    code.extend(pieces[numbers.below(12) as usize]);
                }
                code.push(numbers.below(256) as u8);
            }
            let window = window(&code);
            for _ in 0..8 {
                let at = BASE - 16 + numbers.below(code.len() as u64 + 32);
                let mut left = 5000;
                let function = function(&window, at, &mut left);
                rows += usize::from(function.is_some_and(|f| f.row(at).is_some()));
                rows += usize::from(exits(&window, at, round % 3 == 0, &mut left).is_some());
                assert!(left <= 5000);
            }
        }
        assert!(rows > 1000, "{rows}");
    }

    #[test]
    fn function_forks_without_end_are_given_up() {
        // je to each of the next, over and over
        let code: Vec<u8> = [0x74, 0x7f].repeat(10_000);
        let mut left = u32::MAX;
        assert!(function(&window(&code), BASE, &mut left).is_none());
        assert!(exits(&window(&code), BASE, false, &mut left).is_none());
        assert!(u32::MAX - left <= FUNCTION_LIMIT + EXIT_LIMIT);
    }
}
