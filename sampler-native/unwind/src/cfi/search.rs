//! Finding the entry of an address.

use super::entry::{Bytes, ENTRY_LIMIT, entry_size};
use crate::{
    budget::{READ, Work},
    elf::{Section, Source},
};
use gimli::{BaseAddresses, CieOrFde, UnwindSection};
use std::cell::RefCell;

/// The linker's table is held in memory up to this size.
const HEADER_HELD: u64 = 1 << 20;
/// So many entries of a table in the file are read together.
const BLOCK: u64 = 256;
/// First addresses of such blocks that are remembered: those of a table of 32 MiB.
const STARTS_HELD: u64 = 1 << 14;
/// A first address that is not known yet.
const UNKNOWN: u64 = u64::MAX;
/// Most entries in an index of our own.
const INDEX_LIMIT: usize = 1 << 20;
/// Most bytes of common entries parsed to make one.
const INDEX_WORK: usize = 64 << 20;
/// How an entry is found by address.
#[derive(Debug)]
pub(super) enum Search {
    /// The linker's sorted table of (address, entry), each relative to the address of the header.
    Header { bytes: Vec<u8>, address: u64 },
    /// The same table of so many entries, where it lies in the file.
    Place {
        offset: u64,
        count: u64,
        address: u64,
        /// The first addresses of blocks, as far as there is room and a search has met them: the next search reads little more
        /// than its block.
        starts: RefCell<Vec<u64>>,
    },
    /// An index of our own: (address, offset of the entry), sorted.
    Index(Vec<(u64, u32)>),
}

impl Search {
    /// An index of our own, of all entries of a section.
    pub fn index<'a, S: UnwindSection<Bytes<'a>>>(
        section: &S,
        bytes: &'a [u8],
        bases: &'a BaseAddresses,
    ) -> Search {
        let mut index = Vec::new();
        let mut entries = section.entries(bases);
        let mut shared = None;
        let mut work = 0;
        while let (Ok(Some(entry)), true) = (
            entries.next(),
            index.len() < INDEX_LIMIT && work < INDEX_WORK,
        ) {
            let CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let fde = partial.parse(|section, bases, offset| match &shared {
                Some((of, cie)) if *of == offset => Ok(Clone::clone(cie)),
                _ => {
                    work += entry_size(bytes, gimli::UnwindOffset::into(offset)).min(ENTRY_LIMIT);
                    let cie = bounded_cie(section, bytes, bases, offset)?;
                    shared = Some((offset, cie.clone()));
                    Ok(cie)
                }
            });
            if let Ok(fde) = fde {
                index.push((fde.initial_address(), fde.offset() as u32));
            }
        }
        index.sort_unstable();
        index.shrink_to_fit();
        Search::Index(index)
    }

    /// The linker's table in the header, if it is of the usual encoding: version 1, counts of 4 bytes, relative to the header.
    pub fn of_header(header: Section, source: Source<'_>, room: u64) -> Option<Search> {
        const HEAD: u64 = 12;
        let relative = gimli::DW_EH_PE_datarel.0 | gimli::DW_EH_PE_sdata4.0;
        if header.compressed {
            return None;
        }
        let mut head = [0; HEAD as usize];
        source.read_at(header.offset, &mut head).ok()?;
        if head[0] != 1 || head[2] != gimli::DW_EH_PE_udata4.0 || head[3] != relative {
            return None;
        }
        let count = u64::from(u32::from_le_bytes([head[8], head[9], head[10], head[11]]));
        let size = count * 8;
        let offset = header.offset.checked_add(HEAD)?;
        if count == 0 || size > header.size.checked_sub(HEAD)? {
            return None;
        }
        let address = header.address;
        if size <= room.min(HEADER_HELD) {
            let bytes = source.read(offset, size, HEADER_HELD).ok()?;
            return Some(Search::Header { bytes, address });
        }
        let mut last = [0; 8];
        source
            .read_at(offset.checked_add(size - 8)?, &mut last)
            .ok()?;
        let starts = count.div_ceil(BLOCK).min(STARTS_HELD).min(room / 8);
        Some(Search::Place {
            offset,
            count,
            address,
            starts: RefCell::new(vec![UNKNOWN; starts as usize]),
        })
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        match self {
            Search::Header { bytes, .. } => bytes.len(),
            Search::Place { starts, .. } => size_of_val(starts.borrow().as_slice()),
            Search::Index(index) => size_of_val(index.as_slice()),
        }
    }

    /// Offset of the last entry that starts at or before `address`. `section`: address of the section that the entries are in.
    pub fn find(
        &self,
        address: u64,
        section: u64,
        source: Source<'_>,
        work: &Work,
    ) -> Option<usize> {
        match self {
            Search::Index(index) => {
                let after = index.partition_point(|(start, _)| *start <= address);
                Some(index.get(after.checked_sub(1)?)?.1 as usize)
            }
            Search::Header {
                bytes,
                address: base,
            } => {
                let entry = last_at_or_before(bytes, *base, address)?;
                usize::try_from(entry.wrapping_sub(section)).ok()
            }
            Search::Place {
                offset,
                count,
                address: base,
                starts,
            } => {
                let mut starts = starts.borrow_mut();
                let mut start = |block: u64| {
                    let mut known = starts.get_mut(block as usize);
                    if let Some(start) = known.as_deref().filter(|start| **start != UNKNOWN) {
                        return Some(*start);
                    }
                    if !work.spend(READ) {
                        return None;
                    }
                    let mut entry = [0; 8];
                    source
                        .read_at(offset + 8 * BLOCK * block, &mut entry)
                        .ok()?;
                    let start = table_field(&entry, 0, *base);
                    if let Some(known) = &mut known {
                        **known = start;
                    }
                    Some(start)
                };
                // Blocks before `low` begin at or before the address, none from `high` on.
                let (mut low, mut high) = (0, count.div_ceil(BLOCK));
                while low < high {
                    let middle = low + (high - low) / 2;
                    if start(middle)? <= address {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                let first = low.checked_sub(1)? * BLOCK;
                let mut block = [0; 8 * BLOCK as usize];
                let block = &mut block[..8 * (count - first).min(BLOCK) as usize];
                if !work.spend(2 * READ) {
                    return None;
                }
                source.read_at(offset + 8 * first, block).ok()?;
                let entry = last_at_or_before(block, *base, address)?;
                usize::try_from(entry.wrapping_sub(section)).ok()
            }
        }
    }
}

/// The common entry at `offset`, unless it is too large.
fn bounded_cie<'a, S: UnwindSection<Bytes<'a>>>(
    section: &S,
    bytes: &[u8],
    bases: &BaseAddresses,
    offset: S::Offset,
) -> gimli::Result<gimli::CommonInformationEntry<Bytes<'a>>> {
    if entry_size(bytes, gimli::UnwindOffset::into(offset)) > ENTRY_LIMIT {
        return Err(gimli::Error::NotCieId(0));
    }
    section.cie_from_offset(bases, offset)
}

/// Where the entry of the linker's table leads to that starts last at or before `address`.
fn last_at_or_before(table: &[u8], base: u64, address: u64) -> Option<u64> {
    let (mut low, mut high) = (0, table.len() / 8);
    while low < high {
        let middle = low + (high - low) / 2;
        if table_field(table, middle * 8, base) <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(table_field(table, low.checked_sub(1)? * 8 + 4, base))
}

fn table_field(table: &[u8], at: usize, base: u64) -> u64 {
    let value = table
        .get(at..at + 4)
        .map_or(0, |b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    base.wrapping_add_signed(i64::from(value))
}
