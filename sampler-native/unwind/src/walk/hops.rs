//! Noting how a walk gets from frame to frame, for who finds the same frames without unwind information.

use super::{Step, Walk};
use crate::{
    Caller, CallersRbp, End, Hop, ModuleId,
    arch::{FP, FP_RULE, RETURN_ADDRESS, SP},
    maps::Area,
    row::{Cfa, Kind, Registers, Row, Rule},
};

/// Code made at run time is noted by pages of this size.
const CODE_PAGE: u64 = 4096;

impl Walk<'_> {
    /// Notes how a row leads to the caller, whether or not that is in the memory that was copied.
    pub(super) fn note(&mut self, row: &Row, module: ModuleId, offset: u64) {
        let [before, after] = row.reach.map(u64::from);
        let code = offset.saturating_sub(before)..offset.saturating_add(after);
        let is_frame = |register: u8| [SP, FP].contains(&usize::from(register));
        let (register, offset, add) = match (row.kind, row.cfa) {
            (Kind::Root, _) => {
                self.unwinder.hops.push(Hop {
                    module,
                    code,
                    caller: None,
                });
                return;
            }
            (Kind::Plain, Cfa::Register { register, offset }) => (register, offset, None),
            (
                Kind::Plain,
                Cfa::Deref {
                    register,
                    offset,
                    add,
                },
            ) => (register, offset, Some(add)),
            _ => return,
        };
        let rbp = match row.rules[FP_RULE] {
            Rule::Saved(offset) => CallersRbp::Saved(offset),
            Rule::SavedAt { register, offset } if usize::from(register) == FP => {
                CallersRbp::SavedAt(offset)
            }
            _ => CallersRbp::Same,
        };
        if RETURN_ADDRESS > 0 && is_frame(register) && row.ra == Some(-8) {
            self.unwinder.hops.push(Hop {
                module,
                code,
                caller: Some(Caller {
                    by_rbp: usize::from(register) == FP,
                    offset,
                    add,
                    rbp,
                }),
            });
        }
    }

    /// Notes what a step came to that no row tells: at this place a frame of this size; or, where it needs more of the stack,
    /// that the frame pointer may lead on.
    pub(super) fn note_guess(
        &mut self,
        area: &Area,
        offset: u64,
        step: &Step,
        (before, noted): &(Registers, usize),
    ) {
        if RETURN_ADDRESS == 0 || self.unwinder.hops.len() > *noted {
            return;
        }
        let sp = before.values[SP];
        let size = self.registers.values[SP].wrapping_sub(sp);
        let in_stack = |address: u64| self.memory.input.mapping.contains(&address);
        let mut code = offset..offset.saturating_add(1);
        let mut caller = Caller {
            by_rbp: false,
            offset: 0,
            add: None,
            rbp: CallersRbp::Same,
        };
        match (step, i32::try_from(size)) {
            (Step::Caller { .. }, Ok(size)) if size > 0 && in_stack(sp) => caller.offset = size,
            (Step::End(End::Truncated, _), _)
                if before.get(FP).is_some_and(|rbp| rbp >= sp && in_stack(rbp)) =>
            {
                caller.by_rbp = true;
                caller.offset = 16;
                caller.rbp = CallersRbp::Saved(-16);
                if !area.image {
                    // A compiler at run time makes all of its code alike.
                    code = offset & !(CODE_PAGE - 1)..offset | (CODE_PAGE - 1);
                }
            }
            _ => return,
        }
        self.unwinder.hops.push(Hop {
            module: area.module,
            code,
            caller: Some(caller),
        });
    }
}
