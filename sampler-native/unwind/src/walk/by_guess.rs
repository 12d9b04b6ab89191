//! Steps without unwind information or instructions: by frame pointers and by the look of words on the stack.

use super::{Guess, SCAN_WORDS, Step, Walk};
use crate::{
    End, ModuleKind,
    arch::{self, FP, PC, SP},
    maps::Area,
};

/// Bytes from the stack pointer to a frame pointer that is not trusted; an interpreter's frame has some hundred.
const SKIPPED_FRAMES: u64 = 16 << 10;

impl Walk<'_> {
    /// One step without unwind information.
    pub(super) fn guess(&mut self, area: &Area, is_return: bool) -> Step {
        // Neither what it calls nor how it keeps its frames can be known.
        if let Some(end) = self.modules.get(area.module).end() {
            return Step::End(end, None);
        }
        let pc = self.registers.values[PC].wrapping_sub(u64::from(is_return));
        let sp = self.registers.values[SP];
        let mut lack = None;
        // A function that has not touched the stack yet, or never does.
        if !is_return
            && arch::RETURN_ADDRESS > 0
            && let Ok(ra) = self.memory.read(sp)
            && self.is_return_address(ra, true)
        {
            return self.guessed_caller(sp.wrapping_add(8), ra, Guess::Loose);
        }
        if is_return && area.trampolines {
            return self.leave_trampoline(sp);
        }
        let rbp = self.registers.get(FP);
        let doubted = !area.image && self.maps.doubts_frame_pointer(pc);
        if let Some(rbp) = rbp
            && doubted
            && let Some(end) = self.skips_frames(sp, rbp)
        {
            return end;
        }
        if let Some(rbp) = rbp
            && rbp >= sp
            && rbp.is_multiple_of(8)
            && self.memory.input.mapping.contains(&rbp)
        {
            match (self.memory.read(rbp), self.memory.read(rbp.wrapping_add(8))) {
                (Ok(_), Ok(0)) => return Step::End(End::Root, None),
                (Ok(saved), Ok(ra)) if self.is_return_address(ra, false) => {
                    self.registers.known = 0;
                    self.registers.set(FP, saved);
                    let sure = !area.image && !doubted;
                    let guess = if sure { Guess::Pointer } else { Guess::Loose };
                    return self.guessed_caller(rbp.wrapping_add(16), ra, guess);
                }
                (Ok(_), Ok(_)) => {}
                _ => lack = Some(rbp),
            }
        }
        // What a compiler at run time makes of its stack frames is its own affair.
        if self.modules.get(area.module).kind() == ModuleKind::Jit {
            return match lack {
                Some(address) => self.ends_at(address),
                None => Step::End(End::Jit, None),
            };
        }
        for address in (0..SCAN_WORDS).map(|word| sp.wrapping_add(8 * word)) {
            if !self.is_paid(address) {
                break;
            }
            match self.memory.read(address) {
                Ok(ra) if self.is_return_address(ra, true) => {
                    return self.guessed_caller(address.wrapping_add(8), ra, Guess::Loose);
                }
                Ok(_) => {}
                Err(_) => {
                    if self.memory.input.mapping.contains(&address) {
                        lack.get_or_insert(address);
                    }
                    break;
                }
            }
        }
        match lack {
            Some(address) => self.ends_at(address),
            None if rbp == Some(0) => Step::End(End::Root, None),
            None => Step::End(End::NoUnwindInfo, None),
        }
    }

    /// CPython's trampoline has a frame of two words, the second of which is its return address; where a call leaves that in a
    /// register, the first one is the caller's frame pointer.
    fn leave_trampoline(&mut self, sp: u64) -> Step {
        match self.memory.read(sp.wrapping_add(8)) {
            Ok(ra) if self.is_return_address(ra, true) => {
                let ra = self.stripped(ra);
                self.registers.enter_caller(sp.wrapping_add(16), ra);
                if arch::RETURN_ADDRESS == 0
                    && let Ok(fp) = self.memory.read(sp)
                {
                    self.registers.set(FP, fp);
                }
                Step::Caller {
                    is_return: true,
                    guess: Guess::Not,
                }
            }
            Ok(_) => Step::End(End::NoUnwindInfo, None),
            Err(_) => self.ends_at(sp),
        }
    }

    /// A frame pointer that this frame did not set is that of an outer one, and leads past the frames between: then their
    /// return addresses lie below it. Without one there the return address above it is this frame's own.
    fn skips_frames(&mut self, sp: u64, rbp: u64) -> Option<Step> {
        if rbp < sp || rbp - sp > SKIPPED_FRAMES {
            return Some(Step::End(End::Jit, None));
        }
        for address in (sp..rbp).step_by(8) {
            if !self.is_paid(address) {
                return None;
            }
            match self.memory.read(address) {
                Ok(word) if self.maps.is_executable(word.wrapping_sub(1)) => {
                    return Some(Step::End(End::Jit, None));
                }
                Ok(_) => {}
                Err(_) => return Some(self.ends_at(address)),
            }
        }
        None
    }

    /// Whether code made at run time may not have been called from where the walk is now.
    pub(super) fn is_doubtful(&mut self, guess: Guess, area: &Area) -> bool {
        let ra = area.offset(self.registers.values[PC]);
        match guess {
            Guess::Not => false,
            Guess::Pointer => self.modules.calls_directly(area.module, ra),
            Guess::Loose => true,
        }
    }
}
