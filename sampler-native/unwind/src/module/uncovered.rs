//! Code that no unwind information covers, by its instructions.

use super::{Modules, text::ENTRY_SIZE};
use crate::{
    ModuleId, budget,
    code::{self, Window},
    elf::Symbol,
    row::Row,
};
use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

/// Bytes of code that are read at the cost of one instruction that is looked at.
const BYTES_PER_UNIT: u64 = 128;
/// Units for looking where a call leads to.
const CALL: u32 = 8;
/// Starts below an address that are tried.
const STARTS: usize = 6;
/// Bytes that an instruction has at most, and one more.
const LONGEST_INSTRUCTION: u64 = 16;
/// Functions without a symbol that are followed one after another.
const FOLLOWED: usize = 64;
/// Functions, and single addresses, whose rows by their instructions are kept of a module.
const FUNCTIONS_KEPT: usize = 1024;
const ADDRESSES_KEPT: usize = 2048;

/// The findings about a module's code that no unwind information covers.
#[derive(Debug, Default)]
pub(super) struct Uncovered {
    symbols: Vec<Symbol>,
    /// Functions by their starts; none where the instructions say nothing.
    functions: BTreeMap<u64, Option<code::Function>>,
    /// Rows by the address, and whether a call returns there.
    addresses: HashMap<(u64, bool), Option<Row>>,
    /// Rows by the start of a function, which a call has told, and the address.
    parts: HashMap<(u64, u64), Option<Row>>,
    /// Where `main` starts.
    main: Option<u64>,
    /// Bytes of memory that the functions take.
    functions_size: usize,
}

impl Uncovered {
    pub(super) fn size(&self) -> usize {
        const ADDRESS: usize = size_of::<((u64, bool), Option<Row>)>();
        size_of_val(self.symbols.as_slice())
            + self.functions_size
            + ADDRESS * (self.addresses.capacity() + self.parts.capacity())
    }
}

impl Modules {
    /// Whether the code at `offset`, which follows no call, begins a function or leads to no return: nobody called a function that
    /// returns there.
    pub(crate) fn is_trampoline(&mut self, id: ModuleId, offset: u64) -> bool {
        let starts = self.function_start(id, offset) == Some(offset)
            || self.uncovered(id).is_some_and(|known| {
                let symbols = &known.symbols;
                let at = symbols.binary_search_by_key(&offset, |symbol| symbol.address);
                at.is_ok_and(|at| symbols[at].is_function)
            });
        starts
            || self.function_start(id, offset).is_none()
                && self.work.code() > 0
                && self.get(id).is_code(offset)
                && self.code_exits(id, offset, false).is_none()
    }

    /// The last byte of the function whose call returns to `offset`, if the call names it and unwind information covers it: if the
    /// function jumps away at its end, its frame is in place there.
    pub(crate) fn end_of_called(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let target = self.call_target(id, offset)?;
        let (start, end) = self.function(id, target)?;
        (start == target).then(|| end.wrapping_sub(1))
    }

    /// The same target, if this walk may still look at code.
    fn call_target(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let may = self.work.spend_code(CALL);
        may.then(|| self.named_target(id, offset)).flatten()
    }

    /// The row of `offset` by the instructions from where the call starts that returns to `to`.
    pub(crate) fn row_by_call(
        &mut self,
        id: ModuleId,
        to: u64,
        offset: u64,
        is_return: bool,
    ) -> Option<Row> {
        let target = self.call_target(id, to)?;
        self.row_from(id, target, offset, is_return)
    }

    /// The row of `offset` by the instructions from where `main` starts, if the entry point says where.
    pub(crate) fn row_of_main(
        &mut self,
        id: ModuleId,
        offset: u64,
        is_return: bool,
    ) -> Option<Row> {
        let main = self.uncovered(id)?.main?;
        self.row_from(id, main, offset, is_return)
    }

    /// The row of `offset` in the function that starts at `start`.
    fn row_from(&mut self, id: ModuleId, start: u64, offset: u64, is_return: bool) -> Option<Row> {
        let distance = offset.checked_sub(start)?;
        if distance >= code::WINDOW {
            return None;
        }
        let symbol = Symbol {
            address: start,
            size: 0,
            is_function: true,
        };
        let row = self
            .code_function(id, &symbol)?
            .and_then(|function| function.row(offset));
        if row.is_some() {
            return row;
        }
        if let Some(row) = self.uncovered(id)?.parts.get(&(start, offset)) {
            return *row;
        }
        // A call that does not come back seems to go on in the code behind it: code behind this place is left out.
        let size = distance + if is_return { 1 } else { LONGEST_INSTRUCTION };
        let bytes = self.code_from(id, start, size);
        let window = Window {
            start,
            bytes: &bytes,
        };
        let may = self.work.code();
        let mut left = may;
        let function = code::function(&window, start, &mut left);
        if !self.work.spend_code(may - left) {
            return None;
        }
        let row = function.and_then(|function| function.row(offset));
        let known = self.uncovered(id)?;
        if known.parts.len() >= ADDRESSES_KEPT {
            known.parts.clear();
        }
        known.parts.insert((start, offset), row);
        self.give_back(id);
        row
    }

    /// The row of an address that no unwind information covers, by the instructions there.
    pub(crate) fn code_row(&mut self, id: ModuleId, offset: u64, is_return: bool) -> Option<Row> {
        let known = self.uncovered(id)?;
        if let Some(row) = known.addresses.get(&(offset, is_return)) {
            return *row;
        }
        let starts = known.symbols.partition_point(|s| s.address <= offset);
        let starts = known.symbols[..starts].iter().rev().take(STARTS);
        let starts: Vec<Symbol> = starts
            .take_while(|symbol| offset - symbol.address < code::WINDOW)
            .copied()
            .collect();
        let mut row = None;
        for start in &starts {
            let holds = start.is_function && offset - start.address < u64::from(start.size);
            let function = self.code_function(id, start)?;
            row = function
                .filter(|function| function.returns || holds)
                .and_then(|function| function.row(offset));
            if row.is_some() || holds {
                break;
            }
        }
        if row.is_none() && self.work.code() > 0 {
            row = self.code_exits(id, offset, is_return);
        }
        if row.is_none()
            && let Some(start) = starts.first()
        {
            row = self.code_after(id, start, offset)?;
        }
        // The code may have been cut short.
        if row.is_none() && self.work.code() == 0 {
            return None;
        }
        let known = self.uncovered(id)?;
        if known.addresses.len() >= ADDRESSES_KEPT {
            known.addresses.clear();
        }
        known.addresses.insert((offset, is_return), row);
        self.give_back(id);
        row
    }

    /// The row of a function that no symbol names, one of those that follow `start`; nothing if it cannot be known now.
    fn code_after(&mut self, id: ModuleId, start: &Symbol, offset: u64) -> Option<Option<Row>> {
        let mut start = *start;
        for _ in 0..FOLLOWED {
            let function = self.code_function(id, &start)?;
            let next = match function.and_then(|function| function.next) {
                Some(next) => next,
                // Its size may be known without its instructions.
                None if start.size > 0 => start.address.saturating_add(u64::from(start.size)),
                None => return Some(function.and_then(|function| function.row(offset))),
            };
            if next > offset {
                let row = function.and_then(|function| function.row(offset));
                return Some(row.filter(|_| start.size == 0));
            }
            start = Symbol {
                address: next,
                size: 0,
                is_function: true,
            };
        }
        Some(None)
    }

    /// The function that starts there, by its instructions; nothing if it cannot be known now.
    pub(super) fn code_function(
        &mut self,
        id: ModuleId,
        start: &Symbol,
    ) -> Option<Option<&code::Function>> {
        if !self.uncovered(id)?.functions.contains_key(&start.address) {
            let size = match u64::from(start.size) {
                0 => code::WINDOW,
                size => size.min(code::WINDOW),
            };
            let bytes = self.code_from(id, start.address, size);
            let may = self.work.code();
            let mut left = may;
            if left == 0 {
                return None;
            }
            let window = Window {
                start: start.address,
                bytes: &bytes,
            };
            let function = code::function(&window, start.address, &mut left);
            if !self.work.spend_code(may - left) {
                return None;
            }
            let known = self.uncovered(id)?;
            if known.functions.len() >= FUNCTIONS_KEPT {
                known.functions.clear();
                known.functions_size = 0;
            }
            known.functions_size += function.as_ref().map_or(0, code::Function::size);
            known.functions.insert(start.address, function);
            self.give_back(id);
        }
        let functions = &self.list[id.0 as usize].uncovered.as_ref()?.functions;
        Some(functions.get(&start.address)?.as_ref())
    }

    fn code_exits(&mut self, id: ModuleId, offset: u64, is_return: bool) -> Option<Row> {
        let address = offset.wrapping_add(u64::from(is_return));
        let start = address.saturating_sub(code::WINDOW);
        let segment = self.get(id).image.segment_start(address)?;
        let start = start.max(segment);
        let bytes = self.code_from(id, start, address - start + code::WINDOW);
        let window = Window {
            start,
            bytes: &bytes,
        };
        let may = self.work.code();
        let mut left = may;
        let row = code::exits(&window, address, is_return, &mut left);
        // The rest is for the next walk.
        let _ = self.work.spend_code(may - left);
        row
    }

    /// At most `size` bytes of code, if this walk may still look at code.
    pub(super) fn code_from(&mut self, id: ModuleId, address: u64, size: u64) -> Vec<u8> {
        let size = size.min(self.get(id).image.code_left(address));
        let cost = u32::try_from(size / BYTES_PER_UNIT + budget::READ).unwrap_or(u32::MAX);
        if !self.work.spend_code(cost) {
            return Vec::new();
        }
        self.read_code(id, address, size)
    }

    pub(super) fn uncovered(&mut self, id: ModuleId) -> Option<&mut Uncovered> {
        if self.get(id).uncovered.is_none() {
            self.open(id).ok()?;
            if !self.work.spend(budget::READ) {
                return None;
            }
            let module = self.get(id);
            let source = module.source()?;
            let mut symbols = self.work.fill(|| module.image.code_symbols(source));
            let entry = module.image.entry;
            let at = symbols.partition_point(|symbol| symbol.address < entry);
            if module.is_code(entry) && symbols.get(at).is_none_or(|s| s.address != entry) {
                let entry = Symbol {
                    address: entry,
                    size: 0,
                    is_function: true,
                };
                symbols.insert(at, entry);
            }
            let bytes = self.read_code(id, entry, ENTRY_SIZE);
            let window = Window {
                start: entry,
                bytes: &bytes,
            };
            let main = code::main(&window).filter(|main| self.get(id).is_code(*main));
            // Without them there are still the paths to a return.
            let few = size_of_val(symbols.as_slice()) <= self.limit / 4;
            let known = Uncovered {
                symbols: if few { symbols } else { Vec::new() },
                functions: BTreeMap::new(),
                addresses: HashMap::new(),
                parts: HashMap::new(),
                main,
                functions_size: 0,
            };
            let module = &mut self.list[id.0 as usize];
            (module.uncovered, module.since) = (Some(Box::new(known)), Some(Instant::now()));
            self.touch(id);
            self.give_back(id);
        }
        self.list[id.0 as usize].uncovered.as_deref_mut()
    }
}
