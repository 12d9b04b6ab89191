//! What is known of registers and stack at one instruction, as symbols.

use crate::arch::SP;

/// Places on the stack whose content is known.
const SLOTS: usize = 24;
/// Farthest that a frame reaches.
const FRAME_LIMIT: i32 = 16 << 20;
/// A stack pointer that was realigned, as a symbol.
pub(super) const ALIGNED: u8 = 16;
/// Registers that calls may change.
pub(super) const SCRATCH: [usize; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];

/// What a register or a place on the stack holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Unknown,
    /// What the register held at the beginning, and that distance.
    Plus(u8, i32),
    /// What lay in memory this far from what the register held at the beginning, and that distance.
    At(u8, i32, i32),
}

impl Value {
    /// The same value, that far on.
    pub fn add(self, distance: i64) -> Value {
        let near = |from: i32| {
            i32::try_from(i64::from(from).checked_add(distance)?)
                .ok()
                .filter(|sum| sum.unsigned_abs() < FRAME_LIMIT.unsigned_abs())
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
pub(super) struct State {
    /// By their DWARF numbers.
    pub registers: [Value; 16],
    /// Places on the stack, as in [`Value::Plus`], and what they hold.
    pub slots: Vec<(u8, i32, Value)>,
    /// The stack pointer was realigned: [`ALIGNED`].
    pub realigned: bool,
}

impl State {
    /// The state at the beginning.
    pub fn new() -> State {
        State {
            registers: std::array::from_fn(|register| Value::Plus(register as u8, 0)),
            slots: Vec::new(),
            realigned: false,
        }
    }

    pub fn sp(&self) -> Value {
        self.registers[SP]
    }

    /// What lies in memory at an address.
    pub fn load(&self, address: Value) -> Value {
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

    /// Whether a known slot shares some of these bytes.
    fn overlaps(&self, base: u8, at: i32, size: i32) -> bool {
        self.slots
            .iter()
            .any(|slot| slot.0 == base && slot.1 < at + size && at < slot.1 + 8)
    }

    /// Notes that some bytes are written.
    pub fn store(&mut self, address: Value, size: i32, value: Value) {
        let Value::Plus(base, at) = address else {
            return;
        };
        self.slots
            .retain(|slot| slot.0 != base || slot.1 >= at.saturating_add(size) || at >= slot.1 + 8);
        if self.slots.len() < SLOTS && size == 8 {
            self.slots.push((base, at, value));
        }
    }

    pub fn push(&mut self, value: Value) {
        self.registers[SP] = self.sp().add(-8);
        self.store(self.sp(), 8, value);
    }

    pub fn pop(&mut self) -> Value {
        let value = self.load(self.sp());
        self.registers[SP] = self.sp().add(8);
        value
    }

    /// Bits of [`SCRATCH`] registers that are as at the beginning.
    pub fn kept(&self) -> u16 {
        let original =
            |register: &usize| self.registers[*register] == Value::Plus(*register as u8, 0);
        let kept = SCRATCH.into_iter().filter(original);
        kept.fold(0, |bits, register| bits | 1 << register)
    }

    /// Forgets what these registers hold.
    pub fn clobber(&mut self, registers: &[usize]) {
        for register in registers {
            self.registers[*register] = Value::Unknown;
        }
    }

    /// Keeps what is the same in another state.
    pub fn meet(&mut self, other: &State) {
        for (value, other) in self.registers.iter_mut().zip(other.registers) {
            if *value != other {
                *value = Value::Unknown;
            }
        }
        self.slots.retain(|slot| other.slots.contains(slot));
        self.realigned |= other.realigned;
    }

    /// Notes that these bytes are written with something that is not known.
    pub fn overwrite(&mut self, base: u8, at: i32, size: i32) {
        let end = at.saturating_add(size.max(1));
        self.slots
            .retain(|slot| slot.0 != base || slot.1 >= end || at >= slot.1 + 8);
        // The slot says that these bytes were written: otherwise a load would give what they held at the beginning.
        if size <= 8 && self.slots.len() < SLOTS {
            self.slots.push((base, at, Value::Unknown));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_beyond_any_frame_is_unknown() {
        let limit = i64::from(FRAME_LIMIT);
        for distance in [
            limit,
            -limit,
            i64::from(i32::MIN),
            i64::from(i32::MAX),
            i64::MIN,
        ] {
            assert_eq!(
                Value::Plus(3, 0).add(distance),
                Value::Unknown,
                "{distance}"
            );
        }
        let near = FRAME_LIMIT - 1;
        assert_eq!(Value::At(3, 8, 0).add(limit - 1), Value::At(3, 8, near));
    }
}
