//! The few parts of an ELF file that unwinding needs. All that the file claims is checked against bounds.

use crate::arch;
use flametop_gopclntab::SECTIONS;
use object::{CompressedData, CompressionFormat};
use serde::{Deserialize, Serialize};
use std::{fs::File, io, ops::RangeInclusive, os::unix::fs::FileExt};

const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const PF_X: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
const SYMBOL: usize = 24;
/// Kinds of symbols: of no kind, as assembly has them, and functions.
const STT_NOTYPE: u8 = 0;
const STT_FUNC: u8 = 2;
/// The name of a part of a function that lies elsewhere has this in it.
const COLD: &[u8] = b".cold";
/// Most bytes of a table of symbols, or of their names.
const SYMBOLS_LIMIT: u64 = 16 << 20;
const SHF_COMPRESSED: u64 = 1 << 11;
const NT_GNU_BUILD_ID: u32 = 3;
const ELFCOMPRESS_ZLIB: u32 = 1;
const ELFCOMPRESS_ZSTD: u32 = 2;
const PAGE: u64 = 4096;
/// Most bytes read of each table of headers or names, and of each note.
const HEADERS_LIMIT: u64 = 4 << 20;
/// Most segments of code, and of notes; files have one or two.
const SEGMENTS_LIMIT: usize = 64;
/// The names of sections that are looked for are shorter.
const SECTION_NAME: usize = 256;
const RELOCATIONS_LIMIT: u64 = 64 << 20;
/// Most bytes of one section.
pub(crate) const SECTION_LIMIT: u64 = 256 << 20;

/// The source of an image's bytes.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    File(&'a File),
    Memory(&'a [u8]),
}

impl Source<'_> {
    /// Exactly `size` bytes at `offset`; an error if they are more than `limit` or not there.
    pub(crate) fn read(&self, offset: u64, size: u64, limit: u64) -> io::Result<Vec<u8>> {
        let length = match self {
            Source::File(file) => file.metadata()?.len(),
            Source::Memory(bytes) => bytes.len() as u64,
        };
        if size > limit || offset.checked_add(size).is_none_or(|end| end > length) {
            return Err(damaged(
                "a table reaches past the end of the file or the limit",
            ));
        }
        let mut bytes = vec![0; size as usize];
        self.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills the start of `bytes` from `offset`; returns how many bytes there were.
    pub(crate) fn read_some(&self, offset: u64, bytes: &mut [u8]) -> usize {
        match self {
            Source::File(file) => file.read_at(bytes, offset).unwrap_or_default(),
            Source::Memory(memory) => {
                let start = usize::try_from(offset).map_or(memory.len(), |o| o.min(memory.len()));
                let size = bytes.len().min(memory.len() - start);
                bytes[..size].copy_from_slice(&memory[start..start + size]);
                size
            }
        }
    }

    /// Fills `bytes` from `offset`.
    pub(crate) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Source::File(file) => file.read_exact_at(bytes, offset),
            Source::Memory(memory) => {
                let start = usize::try_from(offset).map_err(|_| damaged("offset"))?;
                let part = start
                    .checked_add(bytes.len())
                    .and_then(|end| memory.get(start..end))
                    .ok_or_else(|| damaged("offset"))?;
                bytes.copy_from_slice(part);
                Ok(())
            }
        }
    }
}

pub(crate) fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// One PT_LOAD with PF_X.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Segment {
    pub address: u64,
    pub offset: u64,
    pub size: u64,
}

/// A section: where its bytes are and where they are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Section {
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub compressed: bool,
}

impl Section {
    /// The section's bytes, uncompressed, if they are at most `limit`.
    pub(crate) fn read(&self, source: Source<'_>, limit: u64) -> io::Result<Vec<u8>> {
        let limit = limit.min(SECTION_LIMIT);
        let bytes = source.read(self.offset, self.size, limit)?;
        if !self.compressed {
            return Ok(bytes);
        }
        let head = bytes
            .get(..24)
            .ok_or_else(|| damaged("compressed section"))?;
        let format = match u32_at(head, 0) {
            ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
            ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
            _ => return Err(damaged("compression of a kind not known")),
        };
        let uncompressed_size = u64_at(head, 8);
        if uncompressed_size > limit {
            return Err(damaged("a compressed section is larger than the limit"));
        }
        let data = CompressedData {
            format,
            data: &bytes[24..],
            uncompressed_size,
        };
        data.decompress()
            .map(|bytes| bytes.into_owned())
            .map_err(io::Error::other)
    }
}

/// An ELF file, by its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// Executable segments only: a linker may let segments share a page of the file, and then the first
    /// segment whose pages fit is not the one that is mapped executable.
    pub segments: Vec<Segment>,
    pub entry: u64,
    pub build_id: Vec<u8>,
    pub text: u64,
    pub eh_frame: Option<Section>,
    pub eh_frame_hdr: Option<Section>,
    pub debug_frame: Option<Section>,
    /// Go's table of functions, and its record of the program.
    pub go_table: Option<Section>,
    pub go_module: Option<Section>,
    /// Constant data that holds addresses, and the relocations for it.
    pub relocated_data: Option<Section>,
    pub relocations: Option<Section>,
    /// The file is a Go program.
    pub is_go: bool,
    /// The table of symbols, or that for the loader, with its names.
    pub symbols: Option<(Section, Section)>,
}

/// A place where code starts, by a table of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub address: u64,
    /// None if the size is not known.
    pub size: u32,
    /// A function starts there, and no mere place in one, nor a part of one that lies elsewhere.
    pub is_function: bool,
}

impl Image {
    /// Reads the headers of a little-endian ELF file of this architecture.
    pub(crate) fn read(source: Source<'_>) -> io::Result<Image> {
        let head = source.read(0, 64, 64)?;
        if head[..6] != *b"\x7fELF\x02\x01" || u16_at(&head, 18) != arch::MACHINE {
            return Err(damaged("an ELF file of another architecture, or none"));
        }
        let mut image = Image {
            entry: u64_at(&head, 24),
            ..Image::default()
        };
        image.read_segments(source, &head)?;
        // The loader needs no section headers and strip may remove them, so their damage is not fatal.
        if image.read_sections(source, &head).is_err() || image.eh_frame.is_none() {
            image.eh_frame = image.eh_frame_by_header(source);
        }
        Ok(image)
    }

    /// Whether the file claims to be ELF, of any kind.
    pub(crate) fn is_elf(source: Source<'_>) -> bool {
        let mut magic = [0; 4];
        source.read_at(0, &mut magic).is_ok() && magic == *b"\x7fELF"
    }

    /// Whether the file claims to be of 32 bits.
    pub(crate) fn is_narrow(source: Source<'_>) -> bool {
        let mut class = [0];
        source.read_at(4, &mut class).is_ok() && class == [1]
    }

    fn read_segments(&mut self, source: Source<'_>, head: &[u8]) -> io::Result<()> {
        if u16_at(head, 54) != 56 {
            return Err(damaged("size of program headers"));
        }
        let size = u64::from(u16_at(head, 56)) * 56;
        let table = source.read(u64_at(head, 32), size, HEADERS_LIMIT)?;
        let mut notes = 0;
        for entry in table.chunks_exact(56) {
            let (kind, flags) = (u32_at(entry, 0), u32_at(entry, 4));
            let (offset, address, size) = (u64_at(entry, 8), u64_at(entry, 16), u64_at(entry, 32));
            match kind {
                PT_LOAD if flags & PF_X != 0 => {
                    if self.segments.len() == SEGMENTS_LIMIT || address.checked_add(size).is_none()
                    {
                        return Err(damaged("segments of code"));
                    }
                    self.segments.push(Segment {
                        address,
                        offset,
                        size,
                    });
                }
                PT_NOTE if self.build_id.is_empty() && notes < SEGMENTS_LIMIT => {
                    notes += 1;
                    if let Ok(notes) = source.read(offset, size, HEADERS_LIMIT) {
                        self.build_id = build_id(&notes).unwrap_or_default();
                    }
                }
                PT_GNU_EH_FRAME => {
                    self.eh_frame_hdr = Some(Section {
                        address,
                        offset,
                        size,
                        compressed: false,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_sections(&mut self, source: Source<'_>, head: &[u8]) -> io::Result<()> {
        let offset = u64_at(head, 40);
        if offset == 0 || u16_at(head, 58) != 64 {
            return Err(damaged("no section headers"));
        }
        let count = u64::from(u16_at(head, 60));
        let table = source.read(offset, count * 64, HEADERS_LIMIT)?;
        let names = table
            .chunks_exact(64)
            .nth(usize::from(u16_at(head, 62)))
            .ok_or_else(|| damaged("section names"))?;
        let names = source.read(u64_at(names, 24), u64_at(names, 32), HEADERS_LIMIT)?;
        let mut symbols = 0;
        for entry in table.chunks_exact(64) {
            let kind = u32_at(entry, 4);
            if kind == SHT_SYMTAB || kind == SHT_DYNSYM && symbols != SHT_SYMTAB {
                symbols = kind;
                let names = table.chunks_exact(64).nth(u32_at(entry, 40) as usize);
                self.symbols = names.map(|names| (section(entry), section(names)));
            }
            let name = names.get(u32_at(entry, 0) as usize..).unwrap_or_default();
            let name = &name[..name.len().min(SECTION_NAME)];
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if kind == SHT_NOBITS {
                continue;
            }
            let section = section(entry);
            match name {
                b".text" => self.text = section.address,
                b".eh_frame" => self.eh_frame = Some(section),
                b".eh_frame_hdr" => self.eh_frame_hdr = Some(section),
                b".debug_frame" => self.debug_frame = Some(section),
                name if SECTIONS.iter().any(|go| go.as_bytes() == name) => {
                    self.go_table = Some(section);
                }
                b".go.module" => self.go_module = Some(section),
                b".data.rel.ro" => self.relocated_data = Some(section),
                b".rela.dyn" | b".rela" => self.relocations = Some(section),
                b".go.buildinfo" => self.is_go = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// The places where code starts, in order.
    pub(crate) fn code_symbols(&self, source: Source<'_>) -> Vec<Symbol> {
        let Some((table, names)) = self.symbols else {
            return Vec::new();
        };
        let bytes = table.read(source, SYMBOLS_LIMIT).unwrap_or_default();
        let names = names.read(source, SYMBOLS_LIMIT).unwrap_or_default();
        let parts = cold_names(&names);
        let symbol = |entry: &[u8]| {
            let (kind, address) = (entry[4] & 15, u64_at(entry, 8));
            if kind != STT_FUNC && kind != STT_NOTYPE || !self.is_code(address) {
                return None;
            }
            let name = u32_at(entry, 0) as usize;
            let part = parts.get(parts.partition_point(|part| *part.end() < name));
            let part = part.is_some_and(|part| part.contains(&name));
            Some(Symbol {
                address,
                size: u32::try_from(u64_at(entry, 16)).unwrap_or_default(),
                is_function: kind == STT_FUNC && !part,
            })
        };
        let mut symbols: Vec<Symbol> = bytes.chunks_exact(SYMBOL).filter_map(symbol).collect();
        symbols.sort_unstable();
        // Of the symbols of one place the last says most.
        symbols.reverse();
        symbols.dedup_by_key(|symbol| symbol.address);
        symbols.reverse();
        symbols.shrink_to_fit();
        symbols
    }

    /// Without section headers: the header names the start of the section, and a zero length ends it.
    fn eh_frame_by_header(&self, source: Source<'_>) -> Option<Section> {
        let header = self.eh_frame_hdr?;
        let bytes = source.read(header.offset, 8, 8).ok()?;
        if bytes[1] != gimli::DW_EH_PE_pcrel.0 | gimli::DW_EH_PE_sdata4.0 {
            return None;
        }
        let distance = i64::from(u32_at(&bytes, 4) as i32);
        let address = header.address.wrapping_add(4).wrapping_add_signed(distance);
        // Header and section are in the same segment, so they are as far apart in the file.
        let offset = header.offset.wrapping_add(4).wrapping_add_signed(distance);
        let length = match source {
            Source::File(file) => file.metadata().ok()?.len(),
            Source::Memory(bytes) => bytes.len() as u64,
        };
        let size = length.checked_sub(offset)?;
        Some(Section {
            address,
            offset,
            size,
            compressed: false,
        })
    }

    /// The difference between addresses in the file and addresses in `start..end`, which is mapped from `offset`.
    pub(crate) fn delta(&self, start: u64, end: u64, offset: u64) -> Option<u64> {
        let mapped = offset..offset.saturating_add(end.wrapping_sub(start));
        self.segments
            .iter()
            .filter_map(|segment| {
                let first = segment.offset & !(PAGE - 1);
                let last = segment
                    .offset
                    .checked_add(segment.size)?
                    .checked_add(PAGE - 1)?
                    & !(PAGE - 1);
                let shared = last.min(mapped.end).checked_sub(first.max(mapped.start))?;
                (shared > 0).then_some((shared, segment))
            })
            .max_by_key(|(shared, _)| *shared)
            .map(|(_, segment)| {
                segment
                    .address
                    .wrapping_sub(segment.offset)
                    .wrapping_add(offset)
                    .wrapping_sub(start)
            })
    }

    /// The pointer at `address` as the loader leaves it, less where it loads the file; none if it is 0.
    pub(crate) fn pointer(&self, source: Source<'_>, address: u64) -> Option<u64> {
        let data = [self.go_table, self.go_module, self.relocated_data];
        let section = data.into_iter().flatten().find(|section| {
            address.wrapping_sub(section.address) < section.size.saturating_sub(7)
        })?;
        let mut word = [0; 8];
        let place = section.offset.checked_add(address - section.address)?;
        source.read_at(place, &mut word).ok()?;
        let written = u64::from_le_bytes(word);
        if written != 0 {
            return Some(written);
        }
        let relocations = self.relocations?.read(source, RELOCATIONS_LIMIT).ok()?;
        relocations
            .chunks_exact(24)
            .find(|entry| u64_at(entry, 0) == address && u64_at(entry, 8) == arch::RELATIVE)
            .map(|entry| u64_at(entry, 16))
            .filter(|addend| *addend != 0)
    }

    /// Whether code of the file is loaded at `address`.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.segments
            .iter()
            .any(|segment| address.wrapping_sub(segment.address) < segment.size)
    }

    /// Where the code around `address` starts.
    pub(crate) fn segment_start(&self, address: u64) -> Option<u64> {
        let segment = |s: &&Segment| address.wrapping_sub(s.address) < s.size;
        self.segments.iter().find(segment).map(|s| s.address)
    }

    /// Bytes of code from `address` on.
    pub(crate) fn code_left(&self, address: u64) -> u64 {
        let left = |s: &Segment| s.size.checked_sub(address.checked_sub(s.address)?);
        self.segments.iter().find_map(left).unwrap_or_default()
    }

    /// Offset in the file of the code that is loaded at `address`.
    pub(crate) fn code_offset(&self, address: u64) -> Option<u64> {
        let segment = self
            .segments
            .iter()
            .find(|segment| address.wrapping_sub(segment.address) < segment.size)?;
        segment
            .offset
            .checked_add(address.wrapping_sub(segment.address))
    }
}

/// The places of a table of names from which a name has `.cold` in it, in order. The table is read once, no matter how many
/// symbols have the same long name.
fn cold_names(names: &[u8]) -> Vec<RangeInclusive<usize>> {
    let mut start = 0;
    let cold = names.split(|byte| *byte == 0).filter_map(|name| {
        let first = start;
        start += name.len() + 1;
        let last = name.windows(COLD.len()).rposition(|part| part == COLD)?;
        Some(first..=first + last)
    });
    cold.collect()
}

fn section(header: &[u8]) -> Section {
    Section {
        address: u64_at(header, 16),
        offset: u64_at(header, 24),
        size: u64_at(header, 32),
        compressed: u64_at(header, 8) & SHF_COMPRESSED != 0,
    }
}

fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    while let Some(head) = notes.get(..12) {
        let (name, size, kind) = (
            u32_at(head, 0) as usize,
            u32_at(head, 4) as usize,
            u32_at(head, 8),
        );
        let start = 12 + name.checked_next_multiple_of(4)?;
        let end = start.checked_add(size)?;
        if kind == NT_GNU_BUILD_ID
            && notes.get(12..12 + name.min(4)) == Some(b"GNU\0")
            && size <= 64
        {
            return Some(notes.get(start..end)?.to_vec());
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
