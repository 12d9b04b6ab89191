//! The unwind information of modules that is in memory.

use super::{Module, Modules, Uncovered};
use crate::{
    ModuleId,
    budget::{self, Work},
    cfi::Table,
    elf::{Image, Source},
    go::Functions,
    row::{Failure, Kind, Registers, Row},
};
use gimli::UnwindContext;
use std::{
    io,
    time::{Duration, Instant},
};

/// A table that came into memory stays for so long, at least.
const STAYS: Duration = Duration::from_secs(2);

/// Unwind information of a module, in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    EhFrame,
    /// Go's functions are in no `.eh_frame`.
    Go,
    DebugFrame,
}

const KEPT: [Kept; 3] = [Kept::EhFrame, Kept::Go, Kept::DebugFrame];

/// One of them, in memory.
#[derive(Debug)]
pub(super) enum Information {
    Frames(Box<Table>),
    Functions(Functions),
}

impl Information {
    /// `room`: bytes of memory that are free; a table that can be read in its file takes no more.
    fn read(
        kept: Kept,
        image: &Image,
        source: Source<'_>,
        limit: u64,
        room: u64,
    ) -> io::Result<Information> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        match kept {
            Kept::EhFrame => {
                let section = image.eh_frame.ok_or_else(absent)?;
                let table = Table::eh_frame(image, section, source, limit, room)?;
                Ok(Information::Frames(Box::new(table)))
            }
            Kept::Go => Functions::read(image, source, limit).map(Information::Functions),
            Kept::DebugFrame => {
                let section = image.debug_frame.ok_or_else(absent)?;
                let table = Table::debug_frame(section, source, limit)?;
                Ok(Information::Frames(Box::new(table)))
            }
        }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            Information::Frames(table) => table.size(),
            Information::Functions(functions) => functions.size(),
        }
    }

    /// Whether it needs the file.
    fn is_piecewise(&self) -> bool {
        match self {
            Information::Frames(table) => table.is_piecewise(),
            Information::Functions(_) => true,
        }
    }

    pub(super) fn function(
        &self,
        offset: u64,
        source: Source<'_>,
        work: &Work,
    ) -> Option<(u64, u64)> {
        match self {
            Information::Frames(table) => table.function(offset, source, work),
            Information::Functions(functions) => functions.function(offset),
        }
    }
}

#[derive(Debug, Default)]
pub(super) enum Section {
    /// Not read, or given back.
    #[default]
    Out,
    In(Information),
    /// Not there, damaged or too large.
    Absent,
    /// Out of reach until a process is seen to map the file again.
    Unreadable,
}

impl Section {
    /// Whether every answer needs the file.
    fn needs_file(&self) -> bool {
        match self {
            Section::Out => true,
            Section::In(information) => information.is_piecewise(),
            Section::Absent | Section::Unreadable => false,
        }
    }

    pub(super) fn size(&self) -> usize {
        if let Section::In(information) = self {
            information.size()
        } else {
            0
        }
    }
}

impl Modules {
    /// The row of an address; none if the file cannot be read now.
    pub(crate) fn row(
        &mut self,
        id: ModuleId,
        offset: u64,
        context: &mut UnwindContext<usize>,
    ) -> Option<Row> {
        let row = self
            .covering(id, offset, |module, information, work| match information {
                Information::Frames(table) => table.row(offset, module.read_from(), work, context),
                Information::Functions(go) => go.row(&module.image, module.source()?, work, offset),
            })
            .ok()?;
        Some(match row {
            Some(row) => row,
            None if self.outermost(id, offset).is_some() => Row {
                kind: Kind::Root,
                ..Row::UNCOVERED
            },
            None => Row::UNCOVERED,
        })
    }

    /// The caller's registers, by rules that do not fit into a row.
    pub(crate) fn evaluate(
        &mut self,
        id: ModuleId,
        offset: u64,
        context: &mut UnwindContext<usize>,
        registers: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Result<Registers, Failure> {
        let caller = self.covering(id, offset, |module, information, work| match information {
            Information::Frames(table) => {
                table.evaluate(offset, module.read_from(), work, context, registers, read)
            }
            Information::Functions(_) => None,
        });
        caller.ok().flatten().unwrap_or(Err(Failure::Unusable))
    }

    /// As [`Modules::function`]; kept, since what each walk asks for must cost nothing.
    pub(crate) fn part(&mut self, id: ModuleId, offset: u64) -> Option<(u64, u64)> {
        let known = self.get(id).part;
        if let Some(part) = known.filter(|(start, end)| (*start..*end).contains(&offset)) {
            return Some(part);
        }
        let part = self.function(id, offset)?;
        self.list[id.0 as usize].part = Some(part);
        Some(part)
    }

    /// Where the function that holds `offset` starts and ends, by its unwind information.
    pub(super) fn function(&mut self, id: ModuleId, offset: u64) -> Option<(u64, u64)> {
        self.covering(id, offset, |module, information, work| {
            information.function(offset, module.read_from(), work)
        })
        .ok()
        .flatten()
    }

    /// The answer of the first unwind information that covers an address.
    pub(super) fn covering<T>(
        &mut self,
        id: ModuleId,
        offset: u64,
        mut ask: impl FnMut(&Module, &Information, &Work) -> Option<T>,
    ) -> io::Result<Option<T>> {
        if !self.get(id).is_code(offset) {
            return Ok(None);
        }
        self.touch(id);
        for kept in KEPT {
            if !self.load(id, kept) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let module = self.get(id);
            if !self.is_ready(id) && module.information[kept as usize].needs_file() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            match &module.information[kept as usize] {
                Section::In(information) => {
                    if let Some(answer) = ask(module, information, &self.work) {
                        return Ok(Some(answer));
                    }
                    if self.work.is_refused() {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                    // Go's `.debug_frame` says the same, and is large.
                    if kept == Kept::Go {
                        break;
                    }
                }
                Section::Unreadable => return Err(io::ErrorKind::NotFound.into()),
                Section::Out | Section::Absent => {}
            }
        }
        Ok(None)
    }

    /// Brings unwind information into memory, unless it is known to be out of reach. A table that is read piece by piece
    /// needs the file open. False: that would cost this walk too much.
    fn load(&mut self, id: ModuleId, kept: Kept) -> bool {
        let piecewise = match &self.get(id).information[kept as usize] {
            Section::Out => false,
            Section::In(information) if information.is_piecewise() => true,
            _ => return true,
        };
        let opened = self.open(id);
        if piecewise && opened.is_ok() || !self.is_ready(id) {
            return true;
        }
        if !self.work.spend(budget::READ) {
            return false;
        }
        let now = Instant::now();
        if self.get(id).put_off.is_some_and(|until| now < until) {
            self.work.refuse();
            return false;
        }
        let limit = self.limit as u64;
        let room = limit.saturating_sub(self.held() as u64);
        let module = &mut self.list[id.0 as usize];
        let information = module.source().map(|source| {
            self.work
                .fill(|| Information::read(kept, &module.image, source, limit, room))
        });
        let section = match information {
            _ if opened.is_err() => Section::Unreadable,
            Some(Ok(information)) if information.size() as u64 <= limit => Section::In(information),
            _ => Section::Absent,
        };
        if !self.make_room(id, section.size(), now) {
            self.list[id.0 as usize].put_off = Some(now + STAYS);
            self.work.refuse();
            return false;
        }
        let module = &mut self.list[id.0 as usize];
        if section.size() > 0 {
            module.since = Some(now);
        }
        module.information[kept as usize] = section;
        true
    }

    /// Gives memory back, the least recently used first, until so many bytes more for a module are within the limit. Tables that came
    /// just now stay: two that do not fit beside each other would be read in turn without end. False: there is no room then.
    fn make_room(&mut self, keep: ModuleId, bytes: usize, now: Instant) -> bool {
        let mut held = self.held();
        while held + bytes > self.limit {
            let may_go = |module: &Module| {
                module.held() > 0 && module.since.is_none_or(|since| now >= since + STAYS)
            };
            let Some(oldest) = (0..self.list.len())
                .filter(|index| *index != keep.0 as usize && may_go(&self.list[*index]))
                .min_by_key(|index| self.list[*index].used)
            else {
                return false;
            };
            held -= self.list[oldest].held();
            self.list[oldest].information = Default::default();
            self.list[oldest].uncovered = None;
        }
        true
    }

    /// The same, after the rows by a module's instructions have grown.
    pub(super) fn give_back(&mut self, id: ModuleId) {
        if !self.make_room(id, 0, Instant::now())
            && let Some(known) = &mut self.list[id.0 as usize].uncovered
        {
            // An empty one, so that symbols which do not fit are not read again at each walk.
            **known = Uncovered::default();
        }
    }

    /// Where the function that holds `offset` starts, by its unwind information.
    pub fn function_start(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        self.function(id, offset).map(|(start, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch,
        elf::{Section as Place, Segment},
        row::Row,
    };

    const LIMIT: usize = 1 << 20;
    const TEXT: u64 = 0x1000;

    /// A `.debug_frame` of so many functions of 16 bytes from `TEXT` on; 40 bytes each, 16 more in an index.
    fn debug_frame(functions: u64) -> Vec<u8> {
        let mut bytes =
            b"\x10\0\0\0\xff\xff\xff\xff\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0".to_vec();
        (bytes[12], bytes[14]) = (arch::RETURN_COLUMN as u8, arch::SP as u8);
        bytes[16] = 0x80 | arch::RETURN_COLUMN as u8;
        for function in 0..functions {
            bytes.extend(36u32.to_le_bytes());
            bytes.extend(0u32.to_le_bytes());
            bytes.extend((TEXT + 16 * function).to_le_bytes());
            bytes.extend(16u64.to_le_bytes());
            bytes.extend([0; 16]);
        }
        bytes
    }

    /// A module that has nothing but that.
    fn add(modules: &mut Modules, functions: u64) -> ModuleId {
        let bytes = debug_frame(functions);
        let mut module = Module::new(crate::ModuleKind::Vdso, b"[vdso]");
        module.image.segments = vec![Segment {
            address: TEXT,
            offset: 0,
            size: 16 * functions,
        }];
        module.image.debug_frame = Some(Place {
            address: 0,
            offset: 0,
            size: bytes.len() as u64,
            compressed: false,
        });
        module.memory = bytes;
        modules.add(module)
    }

    fn row(modules: &mut Modules, id: ModuleId) -> Option<Row> {
        modules.begin();
        modules.row(id, TEXT + 20, &mut UnwindContext::new())
    }

    fn is_in(modules: &Modules, id: ModuleId) -> bool {
        matches!(
            modules.get(id).information[Kept::DebugFrame as usize],
            Section::In(_)
        )
    }

    #[test]
    fn row_two_tables_that_do_not_fit_beside_each_other_are_not_read_in_turn() {
        let mut modules = Modules::new(LIMIT);
        let (first, second) = (add(&mut modules, 12_000), add(&mut modules, 12_000));
        let mut changes = 0;
        let mut known = [false; 2];
        let begin = Instant::now();
        for _ in 0..20_000 {
            for id in [first, second] {
                let row = row(&mut modules, id);
                assert_eq!(
                    row.is_some(),
                    is_in(&modules, id),
                    "or the walk ends at the limit"
                );
                let now = [is_in(&modules, first), is_in(&modules, second)];
                changes += usize::from(now != known);
                known = now;
            }
        }
        assert!(modules.held() <= LIMIT);
        let most = 2 + begin.elapsed().as_secs() as usize;
        assert!((1..=most).contains(&changes), "{changes}");
    }

    #[test]
    fn row_table_that_was_put_off_is_read_when_the_other_has_had_its_time() {
        let mut modules = Modules::new(LIMIT);
        let (first, second) = (add(&mut modules, 12_000), add(&mut modules, 12_000));
        assert!(row(&mut modules, first).is_some());
        assert!(row(&mut modules, second).is_none());
        std::thread::sleep(STAYS);
        assert!(row(&mut modules, second).is_some_and(|row| row.kind == Kind::Plain));
        assert!(!is_in(&modules, first));
    }

    #[test]
    fn row_table_larger_than_all_memory_is_absent() {
        let mut modules = Modules::new(LIMIT);
        let id = add(&mut modules, 30_000);
        assert!(row(&mut modules, id).is_some_and(|row| row.kind == Kind::Uncovered));
    }
}
