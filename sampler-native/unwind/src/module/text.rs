//! Findings from single instructions of modules.

use super::Modules;
use crate::{
    ModuleId,
    arch::{self, CALL, DIRECT_CALL, EXIT, SIGRETURN, SYSTEM_CALL},
    budget,
    row::Kind,
};
use gimli::UnwindContext;

/// Most bytes of code searched for a system call.
const CODE_LIMIT: u64 = 4096;
/// Bytes of code at the entry point of a file that call the rest of the program.
pub(super) const ENTRY_SIZE: u64 = 64;
const PROCESS_START: &str = "[process start]";
const THREAD_START: &str = "[thread start]";

impl Modules {
    /// `[process start]` or `[thread start]` if unwind information says that nothing called this code: the
    /// file's entry point, or a function that makes system calls, as those do that start threads.
    pub fn root_name(&mut self, id: ModuleId, offset: u64) -> Option<&'static str> {
        let row = self.row(id, offset, &mut UnwindContext::new())?;
        if row.kind != Kind::Root {
            return None;
        }
        let Some((start, end)) = self.function(id, offset) else {
            return self.outermost(id, offset);
        };
        if (start..end).contains(&self.get(id).image.entry) {
            return Some(PROCESS_START);
        }
        let mut code = vec![0; end.saturating_sub(start).min(CODE_LIMIT) as usize];
        self.code(id, start, &mut code)?;
        code.windows(SYSTEM_CALL.len())
            .any(|bytes| bytes == SYSTEM_CALL)
            .then_some(THREAD_START)
    }

    /// The kind of root of code without unwind information: the code follows the entry point, or goes on to end the thread.
    pub(super) fn outermost(&mut self, id: ModuleId, offset: u64) -> Option<&'static str> {
        let image = &self.get(id).image;
        if image.is_code(offset) && offset.wrapping_sub(image.entry) < ENTRY_SIZE {
            return Some(PROCESS_START);
        }
        self.ends_thread(id, offset).then_some(THREAD_START)
    }

    /// Whether the code just after `offset` ends the thread.
    pub(crate) fn ends_thread(&mut self, id: ModuleId, offset: u64) -> bool {
        let mut code = [0; 16];
        self.code(id, offset, &mut code).is_some()
            && EXIT
                .iter()
                .any(|pattern| code.windows(pattern.len()).any(|bytes| bytes == *pattern))
    }

    /// Fills `bytes` with code of the file.
    pub(crate) fn code(&mut self, id: ModuleId, offset: u64, bytes: &mut [u8]) -> Option<()> {
        let place = self.get(id).image.code_offset(offset)?;
        self.open(id).ok()?;
        if !self.work.spend(budget::READ) {
            return None;
        }
        self.get(id).source()?.read_at(place, bytes).ok()
    }

    /// At most `size` bytes of code.
    pub(super) fn read_code(&mut self, id: ModuleId, address: u64, size: u64) -> Vec<u8> {
        let image = &self.get(id).image;
        let Some(place) = image.code_offset(address) else {
            return Vec::new();
        };
        let size = size.min(image.code_left(address)) as usize;
        let mut bytes = vec![0; size];
        let opened = self.open(id).is_ok();
        let source = self.get(id).source().filter(|_| opened);
        let read = source.map_or(0, |source| source.read_some(place, &mut bytes));
        bytes.truncate(read);
        bytes
    }

    /// Whether the code at `offset` returns from a signal.
    pub(crate) fn is_sigreturn(&mut self, id: ModuleId, offset: u64) -> bool {
        SIGRETURN.iter().any(|pattern| {
            let mut bytes = [0; 9];
            let bytes = &mut bytes[..pattern.len()];
            self.code(id, offset, bytes).is_some() && bytes == *pattern
        })
    }

    /// Whether a direct call of `target` returns to `offset`.
    pub(crate) fn calls(&mut self, id: ModuleId, offset: u64, target: u64) -> bool {
        self.target_before(id, offset) == Some(target)
    }

    /// Whether the call that returns to `offset` names its target, which is code of this module.
    pub(crate) fn calls_directly(&mut self, id: ModuleId, offset: u64) -> bool {
        self.named_target(id, offset).is_some()
    }

    /// The target of the call that returns to `offset`, if the call names it, and the target is code of this module.
    pub(super) fn named_target(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let target = self.target_before(id, offset)?;
        self.get(id).is_code(target).then_some(target)
    }

    fn target_before(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let mut bytes = [0; DIRECT_CALL];
        self.code(id, offset.wrapping_sub(DIRECT_CALL as u64), &mut bytes)?;
        arch::named_target(bytes, offset)
    }

    /// Whether a call returns to `offset`.
    pub(crate) fn follows_call(&mut self, id: ModuleId, offset: u64) -> bool {
        let mut bytes = [0; CALL];
        let Some(start) = offset.checked_sub(CALL as u64) else {
            return false;
        };
        if self.code(id, start, &mut bytes).is_none() {
            return false;
        }
        let direct = bytes.last_chunk().copied();
        direct
            .and_then(|direct| arch::named_target(direct, offset))
            .is_some_and(|target| self.get(id).is_code(target))
            || arch::is_indirect_call(&bytes)
    }
}
