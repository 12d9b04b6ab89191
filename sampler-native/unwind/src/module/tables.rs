//! What unwind information of modules is in memory.

use super::{Module, Modules, Uncovered};
use crate::{
    ModuleId,
    budget::{self, Work},
    cfi::{Failure, Kind, Registers, Row, Table},
    elf::{Image, Source},
    go::Functions,
};
use gimli::UnwindContext;
use std::io;

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
    Frames(Table),
    Functions(Functions),
}

impl Information {
    fn read(kept: Kept, image: &Image, source: Source<'_>, limit: u64) -> io::Result<Information> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        match kept {
            Kept::EhFrame => {
                let section = image.eh_frame.ok_or_else(absent)?;
                Table::eh_frame(image, section, source, limit).map(Information::Frames)
            }
            Kept::Go => Functions::read(image, source, limit).map(Information::Functions),
            Kept::DebugFrame => {
                let section = image.debug_frame.ok_or_else(absent)?;
                Table::debug_frame(section, source, limit).map(Information::Frames)
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
    /// Not to be had before a process is seen to map the file again.
    Unreadable,
}

impl Section {
    /// Whether nothing can be said without the file.
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

    pub(super) fn function(&mut self, id: ModuleId, offset: u64) -> Option<(u64, u64)> {
        self.covering(id, offset, |module, information, work| {
            information.function(offset, module.read_from(), work)
        })
        .ok()
        .flatten()
    }

    /// What the first unwind information that covers an address has to say.
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

    /// Brings unwind information into memory, if it is not known to be out of reach. What is read piece by piece
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
        let limit = self.limit as u64;
        let module = &mut self.list[id.0 as usize];
        let information = module.source().map(|source| {
            self.work
                .fill(|| Information::read(kept, &module.image, source, limit))
        });
        module.information[kept as usize] = match information {
            _ if opened.is_err() => Section::Unreadable,
            Some(Ok(information)) if information.size() as u64 <= limit => Section::In(information),
            _ => Section::Absent,
        };
        self.give_back(id);
        true
    }

    /// Gives memory back until the rest is within the limit; `keep` was just used and goes last.
    pub(super) fn give_back(&mut self, keep: ModuleId) {
        let mut held = self.held();
        while held > self.limit {
            let Some(oldest) = (0..self.list.len())
                .filter(|index| *index != keep.0 as usize && self.list[*index].held() > 0)
                .min_by_key(|index| self.list[*index].used)
            else {
                break;
            };
            held -= self.list[oldest].held();
            self.list[oldest].information = Default::default();
            self.list[oldest].uncovered = None;
        }
        if held > self.limit {
            // An empty one, so that tables which do not fit are not read again at each walk.
            if let Some(known) = &mut self.list[keep.0 as usize].uncovered {
                **known = Uncovered::default();
            }
            let kept = &mut self.list[keep.0 as usize].information;
            kept[Kept::Go as usize] = Section::Absent;
            kept[Kept::DebugFrame as usize] = Section::Absent;
        }
    }

    /// Where the function that holds `offset` starts, by its unwind information.
    pub fn function_start(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        self.function(id, offset).map(|(start, _)| start)
    }
}
