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
use std::collections::{BTreeMap, HashMap};

/// Bytes of code around an address that are looked at.
pub(crate) const WINDOW: u64 = 32 << 10;
/// Most instructions looked at from one start.
const FUNCTION_LIMIT: u32 = 8 << 10;
/// The same on the ways from an address to a return.
const EXIT_LIMIT: u32 = 2 << 10;
/// Returns found on these ways that must agree; more are not looked for.
const EXITS: usize = 8;
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
}

impl<'a> Machine<'a> {
    fn new(window: &'a Window<'a>, left: u32) -> Machine<'a> {
        Machine {
            window,
            decoder: Decoder::with_ip(64, window.bytes, window.start, DecoderOptions::NONE),
            information: InstructionInfoFactory::new(),
            left,
        }
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
            // What never comes back is often the last of its function.
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
        if matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::IndirectCall
        ) {
            return state.clobber(&SCRATCH);
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
        let writes = |access: OpAccess| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            )
        };
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
            .filter(|memory| writes(memory.access()))
            .filter(|memory| !(moves && whole(memory.base()) == Some(RSP)))
            .map(|memory| (address(memory), memory.memory_size().size() as i32))
            .collect();
        for used in information.used_registers() {
            let full = used.register().full_register();
            if writes(used.access())
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
                // That it was written stands for what was there before, too.
                if size <= 8 && state.slots.len() < SLOTS {
                    state.slots.push((base, at, Value::Unknown));
                }
            }
        }
    }
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
    /// A path came back to a return with the stack as it was.
    pub returns: bool,
}

impl Function {
    /// The row of an address, if it was reached.
    pub(crate) fn row(&self, address: u64) -> Option<Row> {
        let after = self.runs.partition_point(|(start, _, _)| *start <= address);
        let (_, end, row) = self.runs.get(after.checked_sub(1)?)?;
        let row = self.rows.get(usize::from(*row))?;
        (address < *end && row.kind == Kind::Plain).then_some(*row)
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
    let followed = follow_function(&mut machine, start);
    *left -= most - machine.left;
    followed
}

fn follow_function(machine: &mut Machine<'_>, start: u64) -> Option<Function> {
    // Where an instruction ends, the stack pointer before it, and its row.
    let mut seen: BTreeMap<u64, (u64, Value, u16)> = BTreeMap::new();
    let (mut rows, mut numbers) = (Vec::new(), HashMap::new());
    let mut paths = vec![(start, State::new())];
    let mut returns = false;
    while let Some((mut address, mut state)) = paths.pop() {
        loop {
            if let Some((_, sp, _)) = seen.get(&address) {
                let differ = *sp != state.sp() && ![*sp, state.sp()].contains(&Value::Unknown);
                if differ {
                    return None;
                }
                break;
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
                Next::Return if here => return None,
                Next::Away => returns |= at_start,
                Next::Return | Next::End => {}
                Next::Jump(target) => {
                    address = target;
                    continue;
                }
                Next::Fork(target) => {
                    machine.execute(&mut state, &instruction);
                    if paths.len() == PATHS {
                        return None;
                    }
                    paths.push((target, state.clone()));
                    address = instruction.next_ip();
                    continue;
                }
                Next::On => {
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
    Some(Function {
        runs,
        rows,
        returns,
    })
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
    let others = [RBP, 3, 12, 13, 14, 15, 10, 11, 0];
    let moved = matches!(sp, Value::Plus(base, _) if base != START && base != ALIGNED)
        || matches!(sp, Value::At(..));
    let cfa = to_caller(RSP)
        .or_else(|| others.into_iter().filter(|_| !moved).find_map(to_caller))
        .or_else(kept);
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
    row
}

fn plain(cfa: Cfa) -> Row {
    Row {
        kind: Kind::Plain,
        last: false,
        cfa,
        ra: -8,
        rules: [Rule::Same; 6],
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
        state.clobber(&SCRATCH);
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
                }
            }
        }
        if exits >= EXITS {
            break;
        }
    }
    match (found, weak) {
        (Some(found), Some(weak)) => agreed(Some(found), weak),
        (found, weak) => found.or(weak),
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
        Value::Plus(register, distance) if keeps(register) => Cfa::Register {
            register,
            offset: distance + 8,
        },
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
    Some(row)
}
