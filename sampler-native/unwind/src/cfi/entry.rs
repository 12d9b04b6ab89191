//! One entry: its row, and its caller's registers where the rules do not fit into a row.

use crate::{
    arch::{self, CALLEE_SAVED, CALLEE_SAVED_BITS, PC, RETURN_COLUMN, SP},
    budget::{EXPRESSION, Work},
    row::{Cfa, Failure, Kind, Registers, Row, Rule},
};
use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, EvaluationResult, Expression,
    FrameDescriptionEntry, LittleEndian, Location, Operation, Register, RegisterRule,
    UnwindContext, UnwindSection, Value,
};
use std::borrow::Cow;

pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Fde<'a> = FrameDescriptionEntry<Bytes<'a>>;

/// Most bytes of one entry. Decoding one is linear in its size, so this bounds the time that a hostile
/// file can take; the largest seen in real programs are a few KiB.
pub(super) const ENTRY_LIMIT: usize = 64 << 10;
/// Bytes of an entry that are decoded at the cost of one instruction that is looked at.
const BYTES_PER_UNIT: usize = 2;
/// Most steps of one DWARF expression.
const EXPRESSION_STEPS: u32 = 256;

/// The bytes that one entry is decoded from.
pub(super) struct Part<'a> {
    /// The entry and the common one that it refers to.
    pub bytes: Cow<'a, [u8]>,
    /// Pays for decoding.
    pub work: &'a Work,
    /// The addresses that pointers in the entry are relative to.
    pub bases: BaseAddresses,
    /// Offset of the entry in `bytes`.
    pub offset: usize,
}

impl Part<'_> {
    pub fn eh_section(&self) -> EhFrame<Bytes<'_>> {
        eh_section(&self.bytes)
    }

    pub fn debug_section(&self) -> DebugFrame<Bytes<'_>> {
        debug_section(&self.bytes)
    }

    /// The entry, if it covers `address`.
    pub fn fde<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
    ) -> Option<Fde<'a>> {
        if !is_decoded(&self.bytes, self.offset, self.work) {
            return None;
        }
        let fde = section
            .fde_from_offset(
                &self.bases,
                S::Offset::from(self.offset),
                |section, bases, offset| {
                    if !is_decoded(&self.bytes, gimli::UnwindOffset::into(offset), self.work) {
                        return Err(gimli::Error::NotCieId(0));
                    }
                    section.cie_from_offset(bases, offset)
                },
            )
            .ok()?;
        fde.contains(address).then_some(fde)
    }
}

/// `.eh_frame` in these bytes.
pub(super) fn eh_section(bytes: &[u8]) -> EhFrame<Bytes<'_>> {
    let mut section = EhFrame::new(bytes, LittleEndian);
    section.set_address_size(8);
    section.set_vendor(arch::VENDOR);
    section
}

/// `.debug_frame` in these bytes.
pub(super) fn debug_section(bytes: &[u8]) -> DebugFrame<Bytes<'_>> {
    let mut section = DebugFrame::new(bytes, LittleEndian);
    section.set_address_size(8);
    section.set_vendor(arch::VENDOR);
    section
}

/// Bytes of the entry at `offset` after its length field.
pub(super) fn entry_size(bytes: &[u8], offset: usize) -> usize {
    let size = bytes.get(offset..).and_then(|bytes| bytes.first_chunk());
    size.map_or(usize::MAX, |size| u32::from_le_bytes(*size) as usize)
}

/// Whether the entry at `offset` is one, and paid for.
fn is_decoded(bytes: &[u8], offset: usize, work: &Work) -> bool {
    let size = entry_size(bytes, offset);
    size <= ENTRY_LIMIT && work.spend((size / BYTES_PER_UNIT) as u64)
}

impl Part<'_> {
    /// The row of `address`, decoded; none if the entry does not cover it.
    pub fn row<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
        context: &mut UnwindContext<usize>,
    ) -> Option<Row> {
        let fde = self.fde(section, address)?;
        let row = fde
            .unwind_info_for_address(section, &self.bases, context, address)
            .ok()?;
        let bytes = |to: u64, from: u64| u32::try_from(to.wrapping_sub(from)).unwrap_or(0);
        let mut decoded = Row {
            last: fde.end_address() == address.wrapping_add(1),
            reach: [
                bytes(address, row.start_address().max(fde.initial_address())),
                bytes(row.end_address().min(fde.end_address()), address),
            ],
            ..Row::UNCOVERED
        };
        if fde.is_signal_trampoline() {
            decoded.kind = Kind::Signal;
            return Some(decoded);
        }
        let column = fde.cie().return_address_register();
        let ra = row.register(column);
        if ra == Some(RegisterRule::Undefined) {
            decoded.kind = Kind::Root;
            return Some(decoded);
        }
        decoded.kind = Kind::Evaluate;
        decoded.ra = match ra {
            _ if usize::from(column.0) != RETURN_COLUMN => return Some(decoded),
            Some(RegisterRule::Offset(offset)) => match i32::try_from(offset) {
                Ok(offset) => Some(offset),
                Err(_) => return Some(decoded),
            },
            None | Some(RegisterRule::SameValue) if arch::RETURN_ADDRESS == 0 => None,
            _ => return Some(decoded),
        };
        let expression = |e: &gimli::UnwindExpression<usize>| {
            let mut operations = e.get(section).ok()?.operations(fde.cie().encoding());
            Some(std::array::from_fn::<_, 10, _>(|_| {
                operations.next().ok().flatten()
            }))
        };
        let Some(cfa) = (match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => plain_register(*register)
                .zip(i32::try_from(*offset).ok())
                .map(|(register, offset)| Cfa::Register { register, offset }),
            CfaRule::Expression(e) => {
                expression(e).and_then(|operations| cfa_expression(&operations))
            }
        }) else {
            return Some(decoded);
        };
        decoded.cfa = cfa;
        decoded.rules = [Rule::Same; CALLEE_SAVED.len()];
        for (register, rule) in row.registers() {
            // No frame needs what lies behind the program counter: floating point, and whether the return address is signed.
            if usize::from(register.0) == RETURN_COLUMN || usize::from(register.0) > PC {
                continue;
            }
            let slot = CALLEE_SAVED
                .iter()
                .position(|saved| *saved == register.0 as usize);
            let short = match rule {
                RegisterRule::SameValue => Some(Rule::Same),
                RegisterRule::Undefined => Some(Rule::Lost),
                RegisterRule::Offset(offset) => i32::try_from(*offset).ok().map(Rule::Saved),
                RegisterRule::Expression(e) => {
                    expression(e).and_then(|operations| match operations {
                        [
                            Some(Operation::RegisterOffset {
                                register, offset, ..
                            }),
                            None,
                            ..,
                        ] => plain_register(register)
                            .zip(i32::try_from(offset).ok())
                            .map(|(register, offset)| Rule::SavedAt { register, offset }),
                        _ => None,
                    })
                }
                _ => None,
            };
            match (slot, short) {
                (Some(slot), Some(rule)) => decoded.rules[slot] = rule,
                (None, Some(Rule::Lost)) => {}
                _ => return Some(decoded),
            }
        }
        decoded.kind = Kind::Plain;
        Some(decoded)
    }

    /// The caller's registers by the general rules; none if the entry does not cover the address.
    pub fn evaluate<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
        context: &mut UnwindContext<usize>,
        old: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Option<Result<Registers, Failure>> {
        let fde = self.fde(section, address)?;
        Some(self.caller(section, &fde, address, context, old, read))
    }

    fn caller<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        fde: &Fde<'a>,
        address: u64,
        context: &mut UnwindContext<usize>,
        old: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Result<Registers, Failure> {
        let encoding = fde.cie().encoding();
        let row = fde
            .unwind_info_for_address(section, &self.bases, context, address)
            .map_err(|_| Failure::Unusable)?;
        let compute = |e: &gimli::UnwindExpression<usize>, initial: Option<u64>| {
            if !self.work.spend(EXPRESSION) {
                return Err(Failure::Unusable);
            }
            let expression = e.get(section).map_err(|_| Failure::Unusable)?;
            compute(expression, encoding, initial, old, read)
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => old
                .get(register.0 as usize)
                .ok_or(Failure::Unusable)?
                .wrapping_add_signed(*offset),
            CfaRule::Expression(e) => compute(e, None)?,
        };
        let mut new = *old;
        new.known &= CALLEE_SAVED_BITS;
        new.set(SP, cfa);
        // Without a rule it is where the call left it.
        if let Some(ra) = arch::LINK.and_then(|link| old.get(link)) {
            new.set(PC, ra);
        }
        for (register, rule) in row.registers() {
            let source = register.0 as usize;
            let target = if *register == fde.cie().return_address_register() {
                PC
            } else {
                source
            };
            if target > PC {
                continue;
            }
            let value = match rule {
                RegisterRule::SameValue => old.get(source).ok_or(Failure::Unusable),
                RegisterRule::Offset(offset) => read(cfa.wrapping_add_signed(*offset)),
                RegisterRule::ValOffset(offset) => Ok(cfa.wrapping_add_signed(*offset)),
                RegisterRule::Register(other) => old.get(other.0 as usize).ok_or(Failure::Unusable),
                RegisterRule::Expression(e) => compute(e, Some(cfa)).and_then(read),
                RegisterRule::ValExpression(e) => compute(e, Some(cfa)),
                RegisterRule::Constant(value) => Ok(*value),
                _ => Err(Failure::Unusable),
            };
            match value {
                Ok(value) => new.set(target, value),
                Err(failure) if target == PC => return Err(failure),
                Err(_) => new.known &= !(1 << target),
            }
        }
        if new.get(PC).is_none() {
            Err(Failure::Unusable)
        } else {
            Ok(new)
        }
    }
}

fn plain_register(register: Register) -> Option<u8> {
    (usize::from(register.0) <= PC).then_some(register.0 as u8)
}

/// The two expressions that compilers and linkers use: a saved stack pointer, and the linkage table.
fn cfa_expression(operations: &[Option<Operation<Bytes<'_>>>; 10]) -> Option<Cfa> {
    let deref = |register: Register, offset: i64, add: u64| {
        Some(Cfa::Deref {
            register: plain_register(register)?,
            offset: offset.try_into().ok()?,
            add: add.try_into().ok()?,
        })
    };
    let word = |size: u8, space: bool| size == 8 && !space;
    match operations {
        [
            Some(Operation::RegisterOffset {
                register, offset, ..
            }),
            Some(Operation::Deref { size, space, .. }),
            None,
            ..,
        ] if word(*size, *space) => deref(*register, *offset, 0),
        [
            Some(Operation::RegisterOffset {
                register, offset, ..
            }),
            Some(Operation::Deref { size, space, .. }),
            Some(Operation::PlusConstant { value }),
            None,
            ..,
        ] if word(*size, *space) => deref(*register, *offset, *value),
        [
            Some(Operation::RegisterOffset {
                register: Register(7),
                offset: 8,
                ..
            }),
            Some(Operation::RegisterOffset {
                register: Register(16),
                offset: 0,
                ..
            }),
            Some(Operation::UnsignedConstant { value: 15 }),
            Some(Operation::And),
            Some(Operation::UnsignedConstant { value }),
            Some(Operation::Ge),
            Some(Operation::UnsignedConstant { value: 3 }),
            Some(Operation::Shl),
            Some(Operation::Plus),
            None,
        ] => Some(Cfa::Plt {
            limit: u8::try_from(*value).ok()?,
        }),
        _ => None,
    }
}

fn compute(
    expression: Expression<Bytes<'_>>,
    encoding: gimli::Encoding,
    initial: Option<u64>,
    registers: &Registers,
    read: &dyn Fn(u64) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let unusable = |_| Failure::Unusable;
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(EXPRESSION_STEPS);
    if let Some(value) = initial {
        evaluation.set_initial_value(value);
    }
    let mut result = evaluation.evaluate().map_err(unusable)?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers
                    .get(register.0 as usize)
                    .ok_or(Failure::Unusable)?;
                evaluation.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = read(address)?;
                let value = if size >= 8 {
                    word
                } else {
                    word & ((1 << (8 * u32::from(size))) - 1)
                };
                evaluation.resume_with_memory(Value::Generic(value))
            }
            _ => return Err(Failure::Unusable),
        }
        .map_err(unusable)?;
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Ok(address),
            _ => Err(Failure::Unusable),
        },
        _ => Err(Failure::Unusable),
    }
}
