//! Steps by unwind information.

use super::{
    Guess, Step, Walk,
    memory::{NEAR, SAVE_AREA},
};
use crate::{
    End,
    arch::{self, CALLEE_SAVED, FP, PC, SIGNAL_REGISTERS, SP},
    maps::Area,
    row::{Cfa, Failure, Kind, Row, Rule},
};

/// Bytes below a frame pointer that are searched for where the frame begins.
const CALLER_FRAME: u64 = 4096;

impl Walk<'_> {
    /// One step by unwind information, or by guess where there is none.
    pub(super) fn leave(&mut self, row: &Row, area: &Area, offset: u64, is_return: bool) -> Step {
        let before = self.unsure.then_some(self.registers);
        let sp = self.registers.values[SP];
        let left = match row.kind {
            Kind::Root => return Step::End(End::Root, None),
            Kind::Uncovered | Kind::Signal => return self.leave_by_code(area, offset, is_return),
            _ if row.last
                && is_return
                && self.is_fiber_start(area, self.registers.values[PC].wrapping_sub(1)) =>
            {
                return Step::FiberTo;
            }
            Kind::Plain => self.apply(row),
            Kind::Outermost => match self.apply(row) {
                Ok(()) if !self.is_called() => return Step::End(End::Root, None),
                applied => applied,
            },
            Kind::Switch { .. } if !is_return => self.apply(row),
            Kind::Switch { starts: true, .. } => return Step::End(End::Root, None),
            Kind::Switch { framed, .. } => return self.leave_switch(area, offset, framed),
            Kind::Evaluate => {
                let memory = self.memory;
                let context = &mut self.unwinder.cache.context;
                let read = |address| memory.read(address);
                self.modules
                    .evaluate(area.module, offset, context, &self.registers, &read)
                    .map(|caller| self.registers = caller)
            }
        };
        let failure = match left {
            Ok(()) => {
                let ra = self.stripped(self.registers.values[PC]);
                self.registers.values[PC] = ra;
                let to = self.registers.values[SP];
                // vfork keeps its return address in a register while its child runs on the stack, and has no frame then.
                let advances = to > sp
                    || to == sp && !is_return
                    || self.memory.end_of(to) != self.memory.end_of(sp);
                if ra == 0 && advances {
                    return Step::Fiber;
                }
                if advances && self.maps.is_executable(ra.wrapping_sub(1)) {
                    return Step::Caller {
                        is_return: true,
                        guess: Guess::Not,
                    };
                }
                Failure::Unusable
            }
            Err(failure) => failure,
        };
        // A rule that fails may be the fault of a guess before it, but not if it only needs more of the stack.
        let beyond = |address| address > sp && self.memory.input.mapping.contains(&address);
        if let Some(before) = before
            && !matches!(failure, Failure::Missing(address) if beyond(address))
        {
            self.registers = before;
            let step = self.guess(area, is_return);
            // Lisp keeps frame pointers up to the runtime that called it, whose own stack may be another.
            let elsewhere = match (failure, &step) {
                (Failure::Missing(address), Step::End(End::NoUnwindInfo, _)) => Some(address),
                _ => None,
            };
            let Some(address) = elsewhere.filter(|_| is_return) else {
                return step;
            };
            let (end, want) = self.memory.lack(address, sp);
            return Step::End(end, want);
        }
        match (failure, self.missed) {
            (Failure::Missing(address), _) if address == self.memory.input.mapping.end => {
                Step::Fiber
            }
            (Failure::Missing(address), _) | (Failure::Unusable, Some(address)) => {
                let (end, want) = self.memory.lack(address, sp);
                Step::End(end, want)
            }
            // Go's unwind information goes on past the code that starts its threads.
            (Failure::Unusable, None)
                if is_return && self.modules.ends_thread(area.module, offset) =>
            {
                Step::End(End::Root, None)
            }
            (Failure::Unusable, None) => {
                let caller = self.registers.values[PC].wrapping_sub(1);
                self.unknown_address = left.is_ok().then_some(caller);
                Step::End(End::NoUnwindInfo, None)
            }
        }
    }

    pub(super) fn apply(&mut self, row: &Row) -> Result<(), Failure> {
        let old = self.registers;
        let register = |register: u8| old.get(usize::from(register)).ok_or(Failure::Unusable);
        let sp = old.values[SP];
        let cfa = match row.cfa {
            Cfa::Register {
                register: base,
                offset,
            } => register(base)?.wrapping_add_signed(i64::from(offset)),
            Cfa::Deref {
                register: base,
                offset,
                add,
            } => self
                .memory
                .read(register(base)?.wrapping_add_signed(i64::from(offset)))?
                .wrapping_add_signed(i64::from(add)),
            Cfa::Plt { limit } => {
                sp.wrapping_add(8 + 8 * u64::from(old.values[PC] & 15 >= u64::from(limit)))
            }
        };
        let ra = match row.ra {
            Some(offset) => self
                .memory
                .read(cfa.wrapping_add_signed(i64::from(offset)))?,
            None => arch::LINK
                .and_then(|link| old.get(link))
                .ok_or(Failure::Unusable)?,
        };
        for (target, rule) in CALLEE_SAVED.into_iter().zip(row.rules) {
            let place = match rule {
                Rule::Same => continue,
                Rule::Saved(offset) => cfa.wrapping_add_signed(i64::from(offset)),
                Rule::SavedAt {
                    register: base,
                    offset,
                } => match register(base) {
                    Ok(base) => base.wrapping_add_signed(i64::from(offset)),
                    Err(_) => {
                        self.registers.known &= !(1 << target);
                        continue;
                    }
                },
                Rule::Lost => {
                    self.registers.known &= !(1 << target);
                    continue;
                }
            };
            match self.memory.read(place) {
                Ok(value) => self.registers.set(target, value),
                // Below the stack pointer: an epilogue has popped it already.
                Err(_) if place < sp && place >= sp.wrapping_sub(NEAR) => {}
                Err(_) => {
                    self.missed.get_or_insert(place);
                    self.registers.known &= !(1 << target);
                }
            }
        }
        self.registers.enter_caller(cfa, ra);
        self.registers.known |= old.known & u64::from(row.kept);
        Ok(())
    }

    /// Whether the return address just found is one: behind a call, or where signal handlers return.
    pub(super) fn is_called(&mut self) -> bool {
        let ra = self.registers.values[PC];
        let Some(area) = self.maps.find(ra.wrapping_sub(1)).copied() else {
            return false;
        };
        let before = area.offset(ra).wrapping_sub(1);
        self.is_return_address(ra, true)
            || area.image
                && self
                    .unwinder
                    .cache
                    .row(self.modules, area.module, before)
                    .sigreturn[1]
    }

    /// From the scheduler's stack of a Go thread to the goroutine that waits for what runs there. The frame pointer
    /// leads back to it: to the frame of the function that switched, if it has one of its own (`framed`), else to
    /// that of its caller.
    fn leave_switch(&mut self, area: &Area, offset: u64, framed: bool) -> Step {
        let sp = self.registers.values[SP];
        let Some(rbp) = self.registers.get(FP) else {
            return Step::End(End::NoUnwindInfo, None);
        };
        if rbp == 0 {
            return Step::End(End::Root, None);
        }
        let below = if framed { SAVE_AREA } else { CALLER_FRAME };
        let missing = |address: u64| {
            let (_, want) = self.memory.lack_below(address, below, sp);
            // Go's stacks may lie in one mapping, and are different stacks still.
            Step::End(End::OtherStack, want)
        };
        let (Ok(saved), Ok(ra)) = (self.memory.read(rbp), self.memory.read(rbp.wrapping_add(8)))
        else {
            return missing(rbp);
        };
        if framed {
            if !self.is_return_address(ra, true) {
                return Step::End(End::NoUnwindInfo, None);
            }
            self.registers.enter_caller(rbp.wrapping_add(16), ra);
            self.registers.set(FP, saved);
            return Step::Caller {
                is_return: true,
                guess: Guess::Not,
            };
        }
        // The caller's return address lies where its own frame begins, and that is as large as unwind
        // information says.
        let start = self.modules.function_start(area.module, offset);
        for size in (8..CALLER_FRAME).step_by(8) {
            let at = rbp.wrapping_sub(size);
            if !self.is_paid(at) {
                break;
            }
            let Ok(ra) = self.memory.read(at) else {
                return missing(at);
            };
            if !area.contains(ra) {
                continue;
            }
            let to = area.offset(ra);
            let frame = Cfa::Register {
                register: SP as u8,
                offset: size as i32 + 8,
            };
            if self
                .unwinder
                .cache
                .row(self.modules, area.module, to.wrapping_sub(1))
                .row
                .cfa
                == frame
                && start.is_some_and(|start| self.modules.calls(area.module, to, start))
            {
                self.registers.enter_caller(at.wrapping_add(8), ra);
                return Step::Caller {
                    is_return: true,
                    guess: Guess::Not,
                };
            }
        }
        Step::End(End::NoUnwindInfo, None)
    }

    /// From a signal handler to what it interrupted: the kernel saved all registers.
    pub(super) fn leave_signal(&mut self) -> Step {
        let (start, order) = SIGNAL_REGISTERS;
        let sp = self.registers.values[SP];
        let mut interrupted = self.registers;
        for (index, register) in order.into_iter().enumerate() {
            let address = sp.wrapping_add(start + 8 * index as u64);
            let Ok(value) = self.memory.read(address) else {
                let (end, want) = self.memory.lack(address, sp);
                return Step::End(end, want);
            };
            interrupted.set(register, value);
        }
        self.registers = interrupted;
        self.missed = None;
        Step::Caller {
            is_return: false,
            guess: Guess::Not,
        }
    }
}
