//! Call frame information (CFI): [`search`] finds the entry of an address, [`entry`] decodes the entry's row.

mod entry;
mod search;
#[cfg(test)]
mod tests;

use crate::{
    budget::{READ, Work},
    elf::{Image, Section, Source},
    row::{Failure, Registers, Row},
};
use entry::{ENTRY_LIMIT, Part, debug_section, eh_section, entry_size};
use gimli::{BaseAddresses, UnwindContext};
use search::Search;
use std::{borrow::Cow, cell::RefCell, io};

/// Bytes of an entry that are read at first: nearly all are smaller.
const USUAL_ENTRY: u64 = 512;

/// One section of unwind information. With the linker's search table an entry is read from the file when it is asked for:
/// the section of a large program is tens of MB, and walks need some KB of it.
#[derive(Debug)]
pub(crate) struct Table {
    section: Section,
    /// All of the section; none: it is read piece by piece.
    bytes: Option<Vec<u8>>,
    /// It is `.debug_frame`, else `.eh_frame`.
    debug: bool,
    bases: BaseAddresses,
    search: Search,
    /// The common entry that was read last, where entries are read piece by piece: most functions share a few.
    common: RefCell<Option<(usize, Vec<u8>)>>,
}

impl Table {
    /// Reads `.eh_frame` and its header. `room`: bytes that the header may take in memory; a larger one is searched in the file.
    pub(crate) fn eh_frame(
        image: &Image,
        section: Section,
        source: Source<'_>,
        limit: u64,
        room: u64,
    ) -> io::Result<Table> {
        let header = image.eh_frame_hdr;
        let bases = BaseAddresses::default()
            .set_eh_frame(section.address)
            .set_eh_frame_hdr(header.map_or(0, |header| header.address))
            .set_text(image.text);
        let search = header.and_then(|header| Search::of_header(header, source, room));
        if let (Some(search), false) = (search, section.compressed) {
            return Ok(Table {
                section,
                bytes: None,
                debug: false,
                bases,
                search,
                common: RefCell::default(),
            });
        }
        let bytes = section.read(source, limit)?;
        Ok(Table {
            section,
            search: Search::index(&eh_section(&bytes), &bytes, &bases),
            bytes: Some(bytes),
            debug: false,
            bases,
            common: RefCell::default(),
        })
    }

    /// Reads `.debug_frame`.
    pub(crate) fn debug_frame(
        section: Section,
        source: Source<'_>,
        limit: u64,
    ) -> io::Result<Table> {
        let bytes = section.read(source, limit)?;
        let bases = BaseAddresses::default();
        Ok(Table {
            section,
            search: Search::index(&debug_section(&bytes), &bytes, &bases),
            bytes: Some(bytes),
            debug: true,
            bases,
            common: RefCell::default(),
        })
    }

    /// Whether entries are read from the file.
    pub(crate) fn is_piecewise(&self) -> bool {
        self.bytes.is_none()
    }

    /// Bytes of memory that the table takes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::len) + self.search.size()
    }

    /// What the entry of an address is decoded from.
    fn part<'a>(&'a self, address: u64, source: Source<'_>, work: &'a Work) -> Option<Part<'a>> {
        let base = self.section.address;
        let offset = self.search.find(address, base, source, work)?;
        if let Some(bytes) = &self.bytes {
            return Some(Part {
                bytes: Cow::Borrowed(bytes),
                work,
                bases: self.bases.clone(),
                offset,
            });
        }
        // The entry right behind the common one that it refers to.
        let entry = self.read_entry(offset, source, work)?;
        let distance = u32::from_le_bytes(*entry.get(4..)?.first_chunk()?) as usize;
        let mut bytes = self.common_entry((offset + 4).checked_sub(distance)?, source, work)?;
        let at = bytes.len();
        bytes.extend_from_slice(&entry);
        bytes[at + 4..at + 8].copy_from_slice(&(at as u32 + 4).to_le_bytes());
        let address = (self.section.address + offset as u64).wrapping_sub(at as u64);
        Some(Part {
            bytes: Cow::Owned(bytes),
            work,
            bases: self.bases.clone().set_eh_frame(address),
            offset: at,
        })
    }

    /// The common entry at `offset`.
    fn common_entry(&self, offset: usize, source: Source<'_>, work: &Work) -> Option<Vec<u8>> {
        let mut common = self.common.borrow_mut();
        if let Some((known, bytes)) = &*common
            && *known == offset
        {
            return Some(bytes.clone());
        }
        let bytes = self.read_entry(offset, source, work)?;
        *common = Some((offset, bytes.clone()));
        Some(bytes)
    }

    /// The entry at `offset` with its length field, from the file.
    fn read_entry(&self, offset: usize, source: Source<'_>, work: &Work) -> Option<Vec<u8>> {
        if !work.spend(READ) {
            return None;
        }
        let room = self.section.size.checked_sub(offset as u64)?;
        let place = self.section.offset.checked_add(offset as u64)?;
        let mut bytes = vec![0; room.min(USUAL_ENTRY) as usize];
        source.read_at(place, &mut bytes).ok()?;
        let size = entry_size(&bytes, 0);
        if size > ENTRY_LIMIT || size as u64 + 4 > room {
            return None;
        }
        let read = bytes.len();
        bytes.resize(size + 4, 0);
        if bytes.len() > read {
            source
                .read_at(place + read as u64, &mut bytes[read..])
                .ok()?;
        }
        Some(bytes)
    }

    /// Start and end of the function that holds `address`.
    pub(crate) fn function(
        &self,
        address: u64,
        source: Source<'_>,
        work: &Work,
    ) -> Option<(u64, u64)> {
        let part = self.part(address, source, work)?;
        let fde = if self.debug {
            part.fde(&part.debug_section(), address)
        } else {
            part.fde(&part.eh_section(), address)
        }?;
        Some((fde.initial_address(), fde.end_address()))
    }

    /// The row of `address`, decoded; none if no entry covers it.
    pub(crate) fn row(
        &self,
        address: u64,
        source: Source<'_>,
        work: &Work,
        context: &mut UnwindContext<usize>,
    ) -> Option<Row> {
        let part = self.part(address, source, work)?;
        if self.debug {
            part.row(&part.debug_section(), address, context)
        } else {
            part.row(&part.eh_section(), address, context)
        }
    }

    /// The caller's registers by the general rules; none if no entry covers the address.
    pub(crate) fn evaluate(
        &self,
        address: u64,
        source: Source<'_>,
        work: &Work,
        context: &mut UnwindContext<usize>,
        registers: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Option<Result<Registers, Failure>> {
        let part = self.part(address, source, work)?;
        if self.debug {
            part.evaluate(&part.debug_section(), address, context, registers, read)
        } else {
            part.evaluate(&part.eh_section(), address, context, registers, read)
        }
    }
}
