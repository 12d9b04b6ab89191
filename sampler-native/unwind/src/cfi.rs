//! Call frame information: finding the entry of an address, and reading its row.

use crate::{
    budget::{EXPRESSION, READ, Work},
    elf::{Image, Section, Source},
};
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, EvaluationResult,
    Expression, FrameDescriptionEntry, LittleEndian, Location, Operation, Register, RegisterRule,
    UnwindContext, UnwindSection, Value,
};
use std::{borrow::Cow, io};

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Fde<'a> = FrameDescriptionEntry<Bytes<'a>>;

/// Registers by their DWARF numbers.
pub(crate) const RBP: usize = 6;
pub(crate) const RSP: usize = 7;
pub(crate) const RIP: usize = 16;
/// Registers that a function must give back as it found them, the stack pointer aside.
pub(crate) const CALLEE_SAVED: [usize; 6] = [3, RBP, 12, 13, 14, 15];
const CALLEE_SAVED_BITS: u32 = 1 << 3 | 1 << RBP | 0xf << 12;

/// Most bytes of one entry. Decoding one is linear in its size, so this bounds the time that a hostile
/// file can take; the largest seen in real programs are a few KiB.
const ENTRY_LIMIT: usize = 64 << 10;
/// Bytes of an entry that are decoded at the cost of one instruction that is looked at.
const BYTES_PER_UNIT: usize = 2;
/// The linker's table is held in memory up to this size.
const HEADER_HELD: u64 = 1 << 20;
/// Of a table in the file so many entries are read together.
const BLOCK: u64 = 256;
/// Bytes of an entry that are read at first: nearly all are smaller.
const USUAL_ENTRY: u64 = 512;
/// Most entries in an index of our own.
const INDEX_LIMIT: usize = 1 << 20;
/// Most bytes of common entries parsed to make one.
const INDEX_WORK: usize = 64 << 20;
const EXPRESSION_STEPS: u32 = 256;

/// Registers of one frame, and which of them are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    pub values: [u64; 17],
    pub known: u32,
}

impl Registers {
    pub(crate) fn get(&self, register: usize) -> Option<u64> {
        (register < 17 && self.known >> register & 1 == 1).then(|| self.values[register])
    }

    pub(crate) fn set(&mut self, register: usize, value: u64) {
        self.values[register] = value;
        self.known |= 1 << register;
    }

    /// What a call leaves known in its caller: what the callee had to give back.
    pub(crate) fn enter_caller(&mut self, sp: u64, ip: u64) {
        self.known &= CALLEE_SAVED_BITS;
        self.set(RSP, sp);
        self.set(RIP, ip);
    }
}

/// Why a frame's caller could not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The memory at this address was not copied.
    Missing(u64),
    /// A register is needed that is not known, or the rule makes no sense.
    Unusable,
}

/// Where the canonical frame address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cfa {
    /// register + offset
    Register { register: u8, offset: i32 },
    /// *(register + offset) + add
    Deref { register: u8, offset: i32, add: i32 },
    /// In a procedure linkage table: a word more once `rip & 15` has reached the push.
    Plt { limit: u8 },
}

/// Where a register of the caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// Unchanged.
    Same,
    /// *(CFA + offset)
    Saved(i32),
    /// *(register + offset), as functions do that realign their stack.
    SavedAt { register: u8, offset: i32 },
    /// Not to be had.
    Lost,
}

/// What to do at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Apply `cfa`, `ra` and `rules`.
    Plain,
    /// Nothing called this.
    Root,
    /// Code that returns from a signal: the kernel's frame is at the stack pointer.
    Signal,
    /// Rules that do not fit into a row: ask [`Tables::evaluate`].
    Evaluate,
    /// Go: nothing but code of other languages, or a signal, calls this.
    Outermost,
    /// Go: it runs its callee on another stack. It `starts` that stack's own work, or it waits on the old one, to
    /// which the frame pointer still leads: to its own frame if it is `framed`, else to its caller's.
    Switch { starts: bool, framed: bool },
    /// No unwind information.
    Uncovered,
}

/// One row of unwind information, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub kind: Kind,
    /// The entry ends one byte on: what returns there may be other code.
    pub last: bool,
    /// By the instructions: none of the ways seen returns, they only jump to other functions.
    pub jumps: bool,
    /// By the instructions: registers beside [`CALLEE_SAVED`] that the caller has still, a bit for each.
    pub kept: u16,
    /// Bytes before and from the address that was asked for in which it holds too.
    pub reach: [u32; 2],
    pub cfa: Cfa,
    /// The return address is at CFA + this.
    pub ra: i32,
    /// For [`CALLEE_SAVED`].
    pub rules: [Rule; 6],
}

impl Row {
    pub(crate) const UNCOVERED: Row = Row {
        kind: Kind::Uncovered,
        last: false,
        jumps: false,
        kept: 0,
        reach: [0; 2],
        cfa: Cfa::Plt { limit: 0 },
        ra: 0,
        rules: [Rule::Lost; 6],
    };
}

/// How an entry is found by address.
#[derive(Debug)]
enum Search {
    /// The linker's sorted table of (address, entry), each relative to the address of the header.
    Header { bytes: Vec<u8>, address: u64 },
    /// The same, of so many entries, where it lies in the file.
    Place {
        offset: u64,
        count: u64,
        address: u64,
    },
    /// One of our own: (address, offset of the entry), sorted.
    Index(Vec<(u64, u32)>),
}

/// One section of unwind information. With the linker's search table an entry is read from the file when it is asked for:
/// the section of a large program is tens of MB, and what is walked of it some KB.
#[derive(Debug)]
pub(crate) struct Table {
    section: Section,
    /// All of it; none: read piece by piece.
    bytes: Option<Vec<u8>>,
    debug: bool,
    bases: BaseAddresses,
    search: Search,
}

/// What one entry is decoded from.
struct Part<'a> {
    bytes: Cow<'a, [u8]>,
    work: &'a Work,
    bases: BaseAddresses,
    /// Of the entry in `bytes`.
    offset: usize,
}

impl Part<'_> {
    fn eh_section(&self) -> EhFrame<Bytes<'_>> {
        eh_section(&self.bytes)
    }

    fn debug_section(&self) -> DebugFrame<Bytes<'_>> {
        debug_section(&self.bytes)
    }

    fn fde<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
    ) -> Option<Fde<'a>> {
        if !is_decoded(&self.bytes, self.offset, self.work) {
            return None;
        }
        let fde = section
            .fde_from_offset(
                &self.bases,
                S::Offset::from(self.offset),
                |section, bases, offset| {
                    if !is_decoded(&self.bytes, gimli::UnwindOffset::into(offset), self.work) {
                        return Err(gimli::Error::NotCieId(0));
                    }
                    section.cie_from_offset(bases, offset)
                },
            )
            .ok()?;
        fde.contains(address).then_some(fde)
    }
}

fn eh_section(bytes: &[u8]) -> EhFrame<Bytes<'_>> {
    let mut section = EhFrame::new(bytes, LittleEndian);
    section.set_address_size(8);
    section
}

fn debug_section(bytes: &[u8]) -> DebugFrame<Bytes<'_>> {
    let mut section = DebugFrame::new(bytes, LittleEndian);
    section.set_address_size(8);
    section
}

/// Bytes of the entry at `offset` after its length field.
fn entry_size(bytes: &[u8], offset: usize) -> usize {
    let size = bytes.get(offset..).and_then(|bytes| bytes.first_chunk());
    size.map_or(usize::MAX, |size| u32::from_le_bytes(*size) as usize)
}

/// Whether the entry at `offset` is one, and paid for.
fn is_decoded(bytes: &[u8], offset: usize, work: &Work) -> bool {
    let size = entry_size(bytes, offset);
    size <= ENTRY_LIMIT && work.spend((size / BYTES_PER_UNIT) as u64)
}

impl Table {
    /// Reads `.eh_frame` and its header. `room`: bytes that the header may take in memory; it is searched in the file otherwise.
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
        let search = header.and_then(|header| search_table(header, source, room));
        if let (Some(search), false) = (search, section.compressed) {
            return Ok(Table {
                section,
                bytes: None,
                debug: false,
                bases,
                search,
            });
        }
        let bytes = section.read(source, limit)?;
        Ok(Table {
            section,
            search: index(&eh_section(&bytes), &bytes, &bases),
            bytes: Some(bytes),
            debug: false,
            bases,
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
            search: index(&debug_section(&bytes), &bytes, &bases),
            bytes: Some(bytes),
            debug: true,
            bases,
        })
    }

    /// Whether it needs the file.
    pub(crate) fn is_piecewise(&self) -> bool {
        self.bytes.is_none()
    }

    /// Bytes of memory that it takes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::len)
            + match &self.search {
                Search::Header { bytes, .. } => bytes.len(),
                Search::Place { .. } => 0,
                Search::Index(index) => size_of_val(index.as_slice()),
            }
    }

    /// Offset of the last entry that starts at or before `address`.
    fn find(&self, address: u64, source: Source<'_>, work: &Work) -> Option<usize> {
        match &self.search {
            Search::Index(index) => {
                let after = index.partition_point(|(start, _)| *start <= address);
                Some(index.get(after.checked_sub(1)?)?.1 as usize)
            }
            Search::Header {
                bytes,
                address: base,
            } => {
                let entry = last_at_or_before(bytes, *base, address)?;
                usize::try_from(entry.wrapping_sub(self.section.address)).ok()
            }
            Search::Place {
                offset,
                count,
                address: base,
            } => {
                // All before `low` start at or before the address, none from `high` on.
                let (mut low, mut high) = (0, *count);
                let mut entry = [0; 8];
                while high - low > BLOCK {
                    let middle = low + (high - low) / 2;
                    if !work.spend(READ) {
                        return None;
                    }
                    source.read_at(offset + 8 * middle, &mut entry).ok()?;
                    if table_field(&entry, 0, *base) <= address {
                        low = middle + 1;
                    } else {
                        high = middle;
                    }
                }
                let first = low.saturating_sub(1);
                let mut block = [0; 8 * (BLOCK as usize + 1)];
                let block = &mut block[..8 * (high - first) as usize];
                if !work.spend(2 * READ) {
                    return None;
                }
                source.read_at(offset + 8 * first, block).ok()?;
                let entry = last_at_or_before(block, *base, address)?;
                usize::try_from(entry.wrapping_sub(self.section.address)).ok()
            }
        }
    }

    /// What the entry of an address is decoded from.
    fn part<'a>(&'a self, address: u64, source: Source<'_>, work: &'a Work) -> Option<Part<'a>> {
        let offset = self.find(address, source, work)?;
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
        let mut bytes = self.read_entry((offset + 4).checked_sub(distance)?, source, work)?;
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

impl Part<'_> {
    fn row<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
        context: &mut UnwindContext<usize>,
    ) -> Option<Row> {
        let fde = self.fde(section, address)?;
        let row = fde
            .unwind_info_for_address(section, &self.bases, context, address)
            .ok()?;
        let bytes = |to: u64, from: u64| u32::try_from(to.wrapping_sub(from)).unwrap_or(0);
        let mut decoded = Row {
            last: fde.end_address() == address.wrapping_add(1),
            reach: [
                bytes(address, row.start_address().max(fde.initial_address())),
                bytes(row.end_address().min(fde.end_address()), address),
            ],
            ..Row::UNCOVERED
        };
        if fde.is_signal_trampoline() {
            decoded.kind = Kind::Signal;
            return Some(decoded);
        }
        let ra = row.register(fde.cie().return_address_register());
        if ra == Some(RegisterRule::Undefined) {
            decoded.kind = Kind::Root;
            return Some(decoded);
        }
        decoded.kind = Kind::Evaluate;
        let Some(RegisterRule::Offset(offset)) = ra else {
            return Some(decoded);
        };
        let (Ok(ra), true) = (
            i32::try_from(offset),
            fde.cie().return_address_register().0 == RIP as u16,
        ) else {
            return Some(decoded);
        };
        decoded.ra = ra;
        let expression = |e: &gimli::UnwindExpression<usize>| {
            let mut operations = e.get(section).ok()?.operations(fde.cie().encoding());
            Some(std::array::from_fn::<_, 10, _>(|_| {
                operations.next().ok().flatten()
            }))
        };
        let Some(cfa) = (match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => plain_register(*register)
                .zip(i32::try_from(*offset).ok())
                .map(|(register, offset)| Cfa::Register { register, offset }),
            CfaRule::Expression(e) => {
                expression(e).and_then(|operations| cfa_expression(&operations))
            }
        }) else {
            return Some(decoded);
        };
        decoded.cfa = cfa;
        decoded.rules = [Rule::Same; 6];
        for (register, rule) in row.registers() {
            if register.0 as usize == RIP {
                continue;
            }
            let slot = CALLEE_SAVED
                .iter()
                .position(|saved| *saved == register.0 as usize);
            let short = match rule {
                RegisterRule::SameValue => Some(Rule::Same),
                RegisterRule::Undefined => Some(Rule::Lost),
                RegisterRule::Offset(offset) => i32::try_from(*offset).ok().map(Rule::Saved),
                RegisterRule::Expression(e) => {
                    expression(e).and_then(|operations| match operations {
                        [
                            Some(Operation::RegisterOffset {
                                register, offset, ..
                            }),
                            None,
                            ..,
                        ] => plain_register(register)
                            .zip(i32::try_from(offset).ok())
                            .map(|(register, offset)| Rule::SavedAt { register, offset }),
                        _ => None,
                    })
                }
                _ => None,
            };
            match (slot, short) {
                (Some(slot), Some(rule)) => decoded.rules[slot] = rule,
                (None, Some(Rule::Lost)) => {}
                _ => return Some(decoded),
            }
        }
        decoded.kind = Kind::Plain;
        Some(decoded)
    }

    fn evaluate<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        address: u64,
        context: &mut UnwindContext<usize>,
        old: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Option<Result<Registers, Failure>> {
        let fde = self.fde(section, address)?;
        Some(self.caller(section, &fde, address, context, old, read))
    }

    fn caller<'a, S: UnwindSection<Bytes<'a>>>(
        &'a self,
        section: &S,
        fde: &Fde<'a>,
        address: u64,
        context: &mut UnwindContext<usize>,
        old: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Result<Registers, Failure> {
        let encoding = fde.cie().encoding();
        let row = fde
            .unwind_info_for_address(section, &self.bases, context, address)
            .map_err(|_| Failure::Unusable)?;
        let compute = |e: &gimli::UnwindExpression<usize>, initial: Option<u64>| {
            if !self.work.spend(EXPRESSION) {
                return Err(Failure::Unusable);
            }
            let expression = e.get(section).map_err(|_| Failure::Unusable)?;
            compute(expression, encoding, initial, old, read)
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => old
                .get(register.0 as usize)
                .ok_or(Failure::Unusable)?
                .wrapping_add_signed(*offset),
            CfaRule::Expression(e) => compute(e, None)?,
        };
        let mut new = *old;
        new.known &= CALLEE_SAVED_BITS;
        new.set(RSP, cfa);
        for (register, rule) in row.registers() {
            let target = if *register == fde.cie().return_address_register() {
                RIP
            } else {
                register.0 as usize
            };
            if target > RIP {
                continue;
            }
            let value = match rule {
                RegisterRule::SameValue => old.get(target).ok_or(Failure::Unusable),
                RegisterRule::Offset(offset) => read(cfa.wrapping_add_signed(*offset)),
                RegisterRule::ValOffset(offset) => Ok(cfa.wrapping_add_signed(*offset)),
                RegisterRule::Register(other) => old.get(other.0 as usize).ok_or(Failure::Unusable),
                RegisterRule::Expression(e) => compute(e, Some(cfa)).and_then(read),
                RegisterRule::ValExpression(e) => compute(e, Some(cfa)),
                RegisterRule::Constant(value) => Ok(*value),
                _ => Err(Failure::Unusable),
            };
            match value {
                Ok(value) => new.set(target, value),
                Err(failure) if target == RIP => return Err(failure),
                Err(_) => new.known &= !(1 << target),
            }
        }
        if new.get(RIP).is_none() {
            Err(Failure::Unusable)
        } else {
            Ok(new)
        }
    }
}

/// An index of our own.
fn index<'a, S: UnwindSection<Bytes<'a>>>(
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

/// The header's table if it is of the usual encoding: version 1, counts of 4 bytes, relative to the header.
fn search_table(header: Section, source: Source<'_>, room: u64) -> Option<Search> {
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
    Some(Search::Place {
        offset,
        count,
        address,
    })
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

fn plain_register(register: Register) -> Option<u8> {
    (usize::from(register.0) <= RIP).then_some(register.0 as u8)
}

/// The two expressions that compilers and linkers use: a saved stack pointer, and the linkage table.
fn cfa_expression(operations: &[Option<Operation<Bytes<'_>>>; 10]) -> Option<Cfa> {
    let deref = |register: Register, offset: i64, add: u64| {
        Some(Cfa::Deref {
            register: plain_register(register)?,
            offset: offset.try_into().ok()?,
            add: add.try_into().ok()?,
        })
    };
    let word = |size: u8, space: bool| size == 8 && !space;
    match operations {
        [
            Some(Operation::RegisterOffset {
                register, offset, ..
            }),
            Some(Operation::Deref { size, space, .. }),
            None,
            ..,
        ] if word(*size, *space) => deref(*register, *offset, 0),
        [
            Some(Operation::RegisterOffset {
                register, offset, ..
            }),
            Some(Operation::Deref { size, space, .. }),
            Some(Operation::PlusConstant { value }),
            None,
            ..,
        ] if word(*size, *space) => deref(*register, *offset, *value),
        [
            Some(Operation::RegisterOffset {
                register: Register(7),
                offset: 8,
                ..
            }),
            Some(Operation::RegisterOffset {
                register: Register(16),
                offset: 0,
                ..
            }),
            Some(Operation::UnsignedConstant { value: 15 }),
            Some(Operation::And),
            Some(Operation::UnsignedConstant { value }),
            Some(Operation::Ge),
            Some(Operation::UnsignedConstant { value: 3 }),
            Some(Operation::Shl),
            Some(Operation::Plus),
            None,
        ] => Some(Cfa::Plt {
            limit: u8::try_from(*value).ok()?,
        }),
        _ => None,
    }
}

fn compute(
    expression: Expression<Bytes<'_>>,
    encoding: gimli::Encoding,
    initial: Option<u64>,
    registers: &Registers,
    read: &dyn Fn(u64) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let unusable = |_| Failure::Unusable;
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(EXPRESSION_STEPS);
    if let Some(value) = initial {
        evaluation.set_initial_value(value);
    }
    let mut result = evaluation.evaluate().map_err(unusable)?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers
                    .get(register.0 as usize)
                    .ok_or(Failure::Unusable)?;
                evaluation.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = read(address)?;
                let value = if size >= 8 {
                    word
                } else {
                    word & ((1 << (8 * u32::from(size))) - 1)
                };
                evaluation.resume_with_memory(Value::Generic(value))
            }
            _ => return Err(Failure::Unusable),
        }
        .map_err(unusable)?;
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Ok(address),
            _ => Err(Failure::Unusable),
        },
        _ => Err(Failure::Unusable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Numbers that look random and are the same in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % limit.max(1) as u64) as usize
        }
    }

    fn own_file() -> Vec<u8> {
        fs::read("/proc/self/exe").expect("own file")
    }

    /// Asks an image for everything, at addresses spread over its code; how many were covered.
    fn exercise(file: &[u8], addresses: u64) -> usize {
        let source = Source::Memory(file);
        let Ok(image) = Image::read(source) else {
            return 0;
        };
        let Some(section) = image.eh_frame else {
            return 0;
        };
        let Ok(table) = Table::eh_frame(&image, section, source, 64 << 20, 64 << 20) else {
            return 0;
        };
        let mut context = UnwindContext::new();
        let registers = Registers {
            values: [0x1000; 17],
            known: (1 << 17) - 1,
        };
        let mut covered = 0;
        for segment in image.segments.iter().take(4) {
            for step in 0..addresses {
                let address = segment
                    .address
                    .wrapping_add(segment.size / addresses * step);
                image.code_offset(address);
                table.function(address, source, &Work::default());
                let _ = table.evaluate(
                    address,
                    source,
                    &Work::default(),
                    &mut context,
                    &registers,
                    &|address| Ok(address ^ 0x55),
                );
                covered += usize::from(
                    table
                        .row(address, source, &Work::default(), &mut context)
                        .is_some(),
                );
            }
        }
        covered
    }

    #[test]
    fn row_own_file_is_covered() {
        assert!(exercise(&own_file(), 500) > 400);
    }

    #[test]
    fn read_truncated_file_is_an_error_or_shorter() {
        let file = own_file();
        let mut numbers = Numbers(1);
        for round in 0..200 {
            let size = if round < 100 {
                numbers.below(4096)
            } else {
                numbers.below(file.len())
            };
            exercise(&file[..size], 20);
        }
    }

    #[test]
    fn row_flipped_bits_do_not_panic() {
        let file = own_file();
        let image = Image::read(Source::Memory(&file)).expect("own file");
        let place = |section: Option<Section>| {
            section.map_or(0..0, |s| s.offset as usize..(s.offset + s.size) as usize)
        };
        let targets = [
            0..64,
            64..1024,
            place(image.eh_frame_hdr),
            place(image.eh_frame),
            file.len() - 4096..file.len(),
        ];
        let mut numbers = Numbers(2);
        for round in 0..250 {
            let mut copy = file.clone();
            let target = &targets[round % targets.len()];
            for _ in 0..1 + numbers.below(64) {
                let at = target.start + numbers.below(target.len());
                copy[at] ^= 1 << numbers.below(8);
            }
            exercise(&copy, 40);
        }
    }

    #[test]
    fn index_flipped_bits_do_not_panic() {
        let file = own_file();
        let mut image = Image::read(Source::Memory(&file)).expect("own file");
        image.eh_frame_hdr = None;
        let section = image.eh_frame.expect("unwind information");
        let mut numbers = Numbers(3);
        for _ in 0..30 {
            let mut copy = file.clone();
            for _ in 0..numbers.below(50) {
                copy[section.offset as usize + numbers.below(section.size as usize)] ^=
                    1 << numbers.below(8);
            }
            for debug in [false, true] {
                let table = if debug {
                    Table::debug_frame(section, Source::Memory(&copy), 64 << 20)
                } else {
                    Table::eh_frame(&image, section, Source::Memory(&copy), 64 << 20, 64 << 20)
                };
                let table = table.expect("a table");
                for step in 0..100 {
                    table.row(
                        image.text + step * 997,
                        Source::Memory(&copy),
                        &Work::default(),
                        &mut UnwindContext::new(),
                    );
                }
            }
        }
    }

    #[test]
    fn index_own_file_finds_what_the_header_finds() {
        let file = own_file();
        let source = Source::Memory(&file);
        let image = Image::read(source).expect("own file");
        let section = image.eh_frame.expect("unwind information");
        let by_header =
            Table::eh_frame(&image, section, source, 64 << 20, 64 << 20).expect("a table");
        let by_index = Table::eh_frame(
            &Image {
                eh_frame_hdr: None,
                ..image.clone()
            },
            section,
            source,
            64 << 20,
            0,
        )
        .expect("a table");
        let by_place = Table::eh_frame(&image, section, source, 64 << 20, 0).expect("a table");
        assert!(
            matches!(by_header.search, Search::Header { .. })
                && matches!(by_index.search, Search::Index(_))
                && matches!(by_place.search, Search::Place { .. })
        );
        let code = image.segments[0];
        for step in 0..2000 {
            let address = code.address + code.size / 2000 * step;
            assert_eq!(
                by_header.function(address, source, &Work::default()),
                by_index.function(address, source, &Work::default())
            );
            let row = |table: &Table| {
                table.row(address, source, &Work::default(), &mut UnwindContext::new())
            };
            assert_eq!(row(&by_header), row(&by_index));
            assert_eq!(row(&by_header), row(&by_place));
        }
    }

    /// A table of one entry for 0x1000.., with as many instructions.
    fn table_of_one_entry(instructions: usize) -> Table {
        let cie = b"\x10\0\0\0\0\0\0\0\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0";
        let mut bytes = cie.to_vec();
        bytes.extend((instructions as u32 + 20).to_le_bytes());
        bytes.extend((cie.len() as u32 + 4).to_le_bytes());
        bytes.extend(0x1000u64.to_le_bytes());
        bytes.extend(0x10_0000u64.to_le_bytes());
        bytes.resize(bytes.len() + instructions, 0x41);
        bytes.extend([0; 4]);
        let section = Section {
            address: 0,
            offset: 0,
            size: bytes.len() as u64,
            compressed: false,
        };
        Table::eh_frame(
            &Image::default(),
            section,
            Source::Memory(&bytes),
            1 << 30,
            0,
        )
        .expect("a table")
    }

    #[test]
    fn row_entry_of_absurd_size_is_refused() {
        assert_eq!(
            table_of_one_entry(ENTRY_LIMIT / 2)
                .row(
                    0x2000,
                    Source::Memory(&[]),
                    &Work::default(),
                    &mut UnwindContext::new()
                )
                .map(|row| row.ra),
            Some(-8)
        );
        assert_eq!(
            table_of_one_entry(ENTRY_LIMIT).row(
                0x2000,
                Source::Memory(&[]),
                &Work::default(),
                &mut UnwindContext::new()
            ),
            None
        );
    }

    #[test]
    fn read_section_larger_than_file_or_limit_is_an_error() {
        let bytes = [0; 100];
        for (offset, size) in [(0, 101), (100, 1), (u64::MAX, 2), (1, u64::MAX), (0, 51)] {
            let section = Section {
                address: 0,
                offset,
                size,
                compressed: false,
            };
            assert!(section.read(Source::Memory(&bytes), 50).is_err());
        }
    }

    #[test]
    fn read_compressed_section_that_lies_about_its_size_is_an_error() {
        let mut bytes = vec![0; 100];
        bytes[0] = 1;
        bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        let section = Section {
            address: 0,
            offset: 0,
            size: 100,
            compressed: true,
        };
        assert!(section.read(Source::Memory(&bytes), 1 << 40).is_err());
        bytes[8..16].copy_from_slice(&1000u64.to_le_bytes());
        assert!(section.read(Source::Memory(&bytes), 1 << 40).is_err());
    }
}
