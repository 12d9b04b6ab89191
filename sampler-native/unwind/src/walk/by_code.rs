//! Steps through functions without unwind information, by their instructions.

use super::{Guess, SCAN_WORDS, Step, Walk};
use crate::{
    arch::{PC, RETURN_ADDRESS, SP},
    maps::Area,
    row::{Cfa, Failure, Kind, Registers, Row},
};

/// Bytes of the frame of a function that jumps to code of another language, at most; Haskell's runtime leaves 16 KiB there.
const JUMPED_FROM: u64 = 20 << 10;

impl Walk<'_> {
    /// One step by the instructions of a function without unwind information.
    pub(super) fn leave_by_code(&mut self, area: &Area, offset: u64, is_return: bool) -> Step {
        let pc = self.registers.values[PC].wrapping_sub(u64::from(is_return));
        if is_return && self.is_fiber_start(area, pc) {
            return Step::FiberTo;
        }
        let (before, missed) = (self.registers, self.missed);
        let row = self.modules.code_row(area.module, offset, is_return);
        // That nothing called it is believed only if no call on the stack says otherwise.
        let mut fiber = false;
        if let Some(row) = row {
            match self.leave_by_row(&row, area, offset, is_return) {
                Some(Step::Fiber) => fiber = true,
                Some(step) => return step,
                None => {}
            }
            (self.registers, self.missed) = (before, missed);
        }
        if let Some(row) = self.row_by_caller(area, offset, is_return) {
            if let Some(step) = self.leave_by_row(&row, area, offset, is_return) {
                return step;
            }
            (self.registers, self.missed) = (before, missed);
        }
        if fiber {
            return Step::Fiber;
        }
        if row.is_none()
            && let Some(step @ Step::Caller { .. }) = self.leave_jumped_to(before.values[SP])
        {
            return step;
        }
        self.guess(area, is_return)
    }

    /// One step by a row that the instructions tell; nothing if it leads to no caller.
    fn leave_by_row(
        &mut self,
        row: &Row,
        area: &Area,
        offset: u64,
        is_return: bool,
    ) -> Option<Step> {
        let sp = self.registers.values[SP];
        let at_jump = match row.cfa {
            Cfa::Register { register, offset } => self
                .registers
                .get(usize::from(register))
                .map(|base| base.wrapping_add_signed(i64::from(offset) - RETURN_ADDRESS as i64)),
            _ => None,
        };
        let before = self.registers;
        let applied = self.apply(row);
        let ra = self.stripped(self.registers.values[PC]);
        self.registers.values[PC] = ra;
        let to = self.registers.values[SP];
        let by = |guess| {
            Some(Step::Caller {
                is_return: true,
                guess,
            })
        };
        // What is jumped to in the midst of another's frame, as Haskell code is, has any word where a return address would be.
        if row.jumps {
            let returns = applied.is_ok() && to > sp && self.is_return_address(ra, false);
            if returns && area.contains(ra) {
                let to = area.offset(ra);
                let called = self.modules.row_by_call(area.module, to, offset, is_return);
                if called.is_some() {
                    return by(Guess::Not);
                }
            }
            let caller = self.registers;
            self.registers = before;
            let jumped = at_jump.and_then(|at_jump| self.leave_jumped_to(at_jump));
            if jumped.is_some() || !returns {
                return jumped;
            }
            self.registers = caller;
            self.unsure = true;
            return by(Guess::Loose);
        }
        match applied {
            Ok(()) => {
                let advances = to > sp
                    || to == sp && row.ra.is_none()
                    || self.memory.end_of(to) != self.memory.end_of(sp);
                if !advances {
                    return None;
                }
                if ra == 0 {
                    return Some(Step::Fiber);
                }
                if self.is_called() || self.is_return_address(ra, false) {
                    return by(Guess::Not);
                }
                self.is_entry(ra).then_some(Step::Fiber)
            }
            Err(Failure::Missing(address)) if address == self.memory.input.mapping.end => {
                Some(Step::Fiber)
            }
            Err(Failure::Missing(address))
                if address > sp && self.memory.input.mapping.contains(&address) =>
            {
                Some(self.ends_at(address))
            }
            Err(_) => None,
        }
    }

    /// From code that only jumps on, with the frame of a function that jumped to it still in place: Haskell code is entered so by
    /// its runtime. That function was called directly, and its own unwind information leads from `sp`, the stack pointer when
    /// it jumped, to behind that very call.
    fn leave_jumped_to(&mut self, sp: u64) -> Option<Step> {
        if RETURN_ADDRESS == 0 {
            return None;
        }
        let words = (sp.checked_add(8)?..sp.checked_add(JUMPED_FROM)?).step_by(8);
        // It is the same function again, as a rule.
        let last = sp.checked_add(self.unwinder.jumped);
        for at in last.filter(|at| *at > sp).into_iter().chain(words) {
            if !self.is_paid(at) {
                return None;
            }
            let Ok(ra) = self.memory.read(at) else {
                let in_stack = self.memory.input.mapping.contains(&at);
                return in_stack.then(|| self.ends_at(at));
            };
            let Some(area) = self.maps.find(ra.wrapping_sub(1)).copied() else {
                continue;
            };
            if area.image
                && let Some(caller) = self.jumped_from(&area, sp, at, ra)
            {
                self.unwinder.jumped = at - sp;
                self.registers = caller;
                self.unsure = true;
                return Some(Step::Caller {
                    is_return: true,
                    guess: Guess::Loose,
                });
            }
        }
        None
    }

    /// The caller's registers, if the function whose call returns to `ra` has its frame from `sp` to `at`, where `ra` lies.
    fn jumped_from(&mut self, area: &Area, sp: u64, at: u64, ra: u64) -> Option<Registers> {
        let end = self
            .unwinder
            .cache
            .end_of_called(self.modules, area.module, area.offset(ra))?;
        let row = self.unwinder.cache.row(self.modules, area.module, end).row;
        match row.cfa {
            _ if row.kind == Kind::Evaluate => {}
            Cfa::Register { register, offset }
                if row.kind == Kind::Plain
                    && usize::from(register) == SP
                    && sp.wrapping_add_signed(i64::from(offset)) == at + RETURN_ADDRESS => {}
            _ => return None,
        }
        let mut here = self.registers;
        here.set(SP, sp);
        let memory = self.memory;
        let read = |address| memory.read(address);
        let context = &mut self.unwinder.cache.context;
        let caller = self
            .modules
            .evaluate(area.module, end, context, &here, &read)
            .ok()?;
        let is_caller = caller.values[PC] == ra && caller.values[SP] == at + RETURN_ADDRESS;
        is_caller.then_some(caller)
    }

    /// The row of a function that no symbol names, if a call whose return address lies on the stack does: the instructions
    /// from there must lead to that very place. What is called by a pointer may be `main`, which the entry point names.
    fn row_by_caller(&mut self, area: &Area, offset: u64, is_return: bool) -> Option<Row> {
        if RETURN_ADDRESS == 0 {
            return None;
        }
        let sp = self.registers.values[SP];
        for at in (0..SCAN_WORDS).map(|word| sp.wrapping_add(8 * word)) {
            if !self.is_paid(at) {
                return None;
            }
            let ra = self.memory.read(at).ok()?;
            let direct = area.contains(ra).then(|| {
                let to = area.offset(ra);
                self.modules.row_by_call(area.module, to, offset, is_return)
            });
            let row = match direct.flatten() {
                None if self.is_return_address(ra, true) => {
                    self.modules.row_of_main(area.module, offset, is_return)
                }
                row => row,
            };
            let Some(row) = row else {
                continue;
            };
            let cfa = match row.cfa {
                Cfa::Register { register, offset } => self
                    .registers
                    .get(usize::from(register))
                    .map(|base| base.wrapping_add_signed(i64::from(offset))),
                _ => None,
            };
            if cfa == Some(at.wrapping_add(8)) {
                return Some(row);
            }
        }
        None
    }

    /// Whether a function that returns to `ra` was called by nobody; the registers are those after that return.
    fn is_entry(&mut self, ra: u64) -> bool {
        let area = self.maps.find(ra.wrapping_sub(1)).copied();
        area.is_some_and(|area| area.image && self.is_fiber_start(&area, ra.wrapping_sub(1)))
    }

    /// Whether the stack of a fiber begins here: the return address is a trampoline's, and above it is no other.
    pub(super) fn is_fiber_start(&mut self, area: &Area, pc: u64) -> bool {
        let (ra, sp) = (pc.wrapping_add(1), self.registers.values[SP]);
        // What a guess has led to may be anything.
        if self.unsure
            || !area.contains(ra)
            || self.is_return_address(ra, false)
            || !self.modules.is_trampoline(area.module, area.offset(ra))
        {
            return false;
        }
        match self.memory.read(sp) {
            Ok(above) => !self.is_return_address(above, true),
            Err(_) => !self.memory.input.mapping.contains(&sp),
        }
    }
}
