//! What was found in modules, by (module, offset): shared by all processes that map a file, wherever they map it.

use crate::{
    ModuleId, Modules,
    row::{Kind, Row},
};
use gimli::UnwindContext;

/// Rows that are remembered, of about 80 bytes each. A power of two.
const ROWS: usize = 1 << 13;
/// Calls that are remembered. A power of two.
const CALLS: usize = 1 << 12;
/// No module has this id.
const FREE: ModuleId = ModuleId(u32::MAX);

/// What was found.
pub(super) struct Cache {
    rows: Box<[CachedRow]>,
    calls: Box<[CachedCall]>,
    called: Box<[CachedEnd]>,
    /// Room for decoding.
    pub context: UnwindContext<usize>,
}

/// A row, and whether its code returns from a signal.
#[derive(Clone, Copy)]
pub(super) struct CachedRow {
    offset: u64,
    module: ModuleId,
    /// Whether the code at the offset itself, and the code one byte on, returns from a signal.
    pub sigreturn: [bool; 2],
    /// The row.
    pub row: Row,
}

/// Whether `offset` follows a call.
#[derive(Clone, Copy)]
struct CachedCall {
    offset: u64,
    module: ModuleId,
    follows_call: bool,
}

/// Where the function ends whose call returns to `offset`.
#[derive(Clone, Copy)]
struct CachedEnd {
    offset: u64,
    module: ModuleId,
    end: Option<u64>,
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Cache {
        let row = CachedRow {
            offset: 0,
            module: FREE,
            sigreturn: [false; 2],
            row: Row::UNCOVERED,
        };
        let call = CachedCall {
            offset: 0,
            module: FREE,
            follows_call: false,
        };
        let end = CachedEnd {
            offset: 0,
            module: FREE,
            end: None,
        };
        Cache {
            rows: vec![row; ROWS].into(),
            calls: vec![call; CALLS].into(),
            called: vec![end; CALLS].into(),
            context: UnwindContext::new(),
        }
    }

    /// Forgets what was found in a module.
    pub fn forget(&mut self, module: ModuleId) {
        let rows = self.rows.iter_mut().filter(|row| row.module == module);
        rows.for_each(|row| row.module = FREE);
        let calls = self.calls.iter_mut().filter(|call| call.module == module);
        calls.for_each(|call| call.module = FREE);
        let called = self.called.iter_mut().filter(|end| end.module == module);
        called.for_each(|end| end.module = FREE);
    }

    /// The row of an address: from one of the two places it may be in, else decoded.
    pub fn row(&mut self, modules: &mut Modules, module: ModuleId, offset: u64) -> CachedRow {
        let set = 2 * slot(module, offset, ROWS / 2);
        for cached in &self.rows[set..set + 2] {
            if cached.offset == offset && cached.module == module {
                return *cached;
            }
        }
        let mut cached = CachedRow {
            offset,
            module,
            sigreturn: [false; 2],
            row: Row::UNCOVERED,
        };
        let Some(row) = modules.row(module, offset, &mut self.context) else {
            return cached;
        };
        cached.row = row;
        // A signal frame's return address is the first byte of code that nothing called, so that the byte
        // before it may belong to another function.
        let uncovered = row.kind == Kind::Uncovered;
        cached.sigreturn = [
            uncovered && modules.is_sigreturn(module, offset),
            (uncovered || row.last) && modules.is_sigreturn(module, offset.wrapping_add(1)),
        ];
        if !modules.is_refused() {
            self.rows[set + 1] = self.rows[set];
            self.rows[set] = cached;
        }
        cached
    }

    /// See [`Modules::end_of_called`].
    pub fn end_of_called(
        &mut self,
        modules: &mut Modules,
        module: ModuleId,
        offset: u64,
    ) -> Option<u64> {
        let cached = &mut self.called[slot(module, offset, CALLS)];
        if cached.offset == offset && cached.module == module {
            return cached.end;
        }
        let end = modules.end_of_called(module, offset);
        if !modules.is_refused() {
            *cached = CachedEnd {
                offset,
                module,
                end,
            };
        }
        end
    }

    /// Whether `offset` is a place that a call returns to, in code that unwind information covers if `covered`.
    pub fn is_return_address(
        &mut self,
        modules: &mut Modules,
        module: ModuleId,
        offset: u64,
        covered: bool,
    ) -> bool {
        let slot = slot(module, offset, CALLS);
        let cached = self.calls[slot];
        let follows_call = if cached.offset == offset && cached.module == module {
            cached.follows_call
        } else {
            let follows_call = modules.follows_call(module, offset);
            if !modules.is_refused() {
                self.calls[slot] = CachedCall {
                    offset,
                    module,
                    follows_call,
                };
            }
            follows_call
        };
        follows_call
            && !(covered
                && self.row(modules, module, offset.wrapping_sub(1)).row.kind == Kind::Uncovered)
    }
}

fn slot(module: ModuleId, offset: u64, slots: usize) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (offset ^ u64::from(module.0).wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> 40) as usize & (slots - 1)
}
