//! Steps by what a runtime told of the code that it made.

use flametop_runtimes::{Place, Stack, Step as Told};

use super::{Guess, Memory, NAMED, Step, Walk};
use crate::{
    End, Frame, MAX_FRAMES,
    arch::{FP, PC, SP},
    maps::Area,
};

/// Units of work of a step, and words of the stack that are glanced at for a unit.
const STEP: u64 = 2;
const GLANCED: u64 = 16;

impl Stack for Memory<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        self.read(address).ok()
    }
}

impl Walk<'_> {
    /// From the last frame to its caller; none if no runtime knows the code. In place of the frame there is one for its function, and
    /// one for each function that is inlined there.
    /// `area`: of the code.
    pub(super) fn leave_by_runtime(
        &mut self,
        is_return: bool,
        area: &Area,
        frames: &mut Vec<Frame>,
    ) -> Option<Step> {
        let attached = self.maps.attached()?;
        if area.image {
            let (module, _) = self.maps.code_at(attached.file()?)?;
            (module == area.module).then_some(())?;
        }
        let known = self.known.as_deref_mut()?;
        if !self.modules.spend(STEP) {
            return Some(Step::End(End::Limit, None));
        }
        let place = Place {
            registers: self.registers.values,
            known: self.registers.known,
            is_return,
        };
        let mut called = std::mem::take(&mut self.unwinder.called);
        called.functions.clear();
        called.guessed = 0;
        let told = match area.image {
            true => attached.step_in_file(known, &place, &self.memory, &mut called),
            false => attached.step(known, &place, &self.memory, &mut called),
        };
        let module = match area.image {
            true => self.modules.interpreted(attached.kind()),
            false => area.module,
        };
        if !called.functions.is_empty() {
            frames.pop();
            let room = MAX_FRAMES.saturating_sub(frames.len());
            frames.extend(called.functions.iter().take(room).enumerate().map(
                |(index, function)| Frame {
                    offset: NAMED | function.number(),
                    guessed: index < called.guessed,
                    module,
                },
            ));
        }
        self.unwinder.called = called;
        if matches!(told, Told::Lacking | Told::Perhaps(_)) && self.provisional.is_none() {
            self.provisional = Some(frames.len());
            // The walk is made again: let it find as much as it can.
            for (index, word) in (0..).zip(self.memory.words()) {
                if index % GLANCED == 0 && !self.modules.spend(1) {
                    break;
                }
                attached.glance(known, word);
            }
        }
        let caller = match told {
            Told::Caller(caller) | Told::Perhaps(caller) => caller,
            Told::Missing(address) => return Some(self.ends_at(address)),
            Told::Foreign => return None,
            Told::Elsewhere => return Some(Step::End(End::OtherStack, None)),
            Told::Lacking | Told::Unsure => {
                return Some(Step::End(End::Jit, None));
            }
        };
        let advances = caller.sp > self.registers.values[SP];
        let called_at = caller.pc.wrapping_sub(1);
        if !advances || !self.maps.is_executable(called_at) {
            // The runtime knows code there: its room may have grown since the mappings were read.
            self.unknown_address = Some(called_at).filter(|_| advances);
            return Some(Step::End(End::Jit, None));
        }
        self.registers.known = 0;
        self.registers.set(SP, caller.sp);
        self.registers.set(PC, caller.pc);
        if let Some(rbp) = caller.rbp {
            self.registers.set(FP, rbp);
        }
        // Rules of frames before, which a guess may have made wrong, say nothing of those from here on.
        (self.missed, self.unsure) = (None, false);
        Some(Step::Caller {
            is_return: true,
            guess: Guess::Not,
        })
    }
}
