//! Whether the symbols of a file can be read in the time that one file has. Looked at before anything else is done with the file: what
//! is too much is named in words, and ends no process.

use std::fs::File;
use std::io::Read;

use xz2::read::XzDecoder;
use xz2::stream::Stream;

use crate::protocol::Trouble;
use crate::sys;

/// Symbols of one table: sorting so many takes a second. Chromium has 1.5 million.
const SYMBOLS_MAX: u64 = 4 << 20;
/// Bytes that a packed table may have in any case, unpacked; how often as many as packed; and at most. Fedora's largest has 20 MiB.
const UNPACKED_MIN: u64 = 4 << 20;
const UNPACKED_TIMES: u64 = 40;
const UNPACKED_MAX: u64 = 64 << 20;
/// Memory for unpacking.
const UNPACKING_MEMORY: u64 = 96 << 20;
/// Most sections; `ld -r` makes some thousand.
const SECTIONS_MAX: u64 = 1 << 16;
/// Bytes read when a section is looked for by its name, if each name is as long as can be.
const NAMES_MAX: u64 = 1 << 30;
const HEADER: u64 = 64;
const SYMBOL: u64 = 24;
const PROGRAM: u64 = 56;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_DYNSYM: u32 = 11;
const SHF_COMPRESSED: u64 = 1 << 11;
const PACKED: &[u8] = b".gnu_debugdata\0";

/// Where the headers of all sections are.
struct Table {
    at: u64,
    count: u64,
    /// The section that has their names.
    names: Section,
}

impl Table {
    fn of(bytes: &[u8]) -> Option<Table> {
        let (at, count) = (word(bytes, 40)?, u64::from(half(bytes, 60)?));
        // Of more than fit into 16 bits the first header tells.
        let count = match count {
            0 if at != 0 => section(bytes, at, 0)?.size,
            count => count,
        };
        let names = section(bytes, at, u64::from(half(bytes, 62)?))?;
        Some(Table { at, count, names })
    }

    fn sections<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = Section> + use<'a> {
        let at = self.at;
        (0..self.count).map_while(move |index| section(bytes, at, index))
    }

    /// Whether it has symbols that are packed, by its name.
    fn is_packed(&self, bytes: &[u8], section: &Section) -> bool {
        let name = self.names.offset.checked_add(section.name.into());
        let name = name.and_then(|name| part(bytes, name, PACKED.len() as u64));
        name == Some(PACKED)
    }
}

/// A section.
struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    offset: u64,
    size: u64,
}

impl Section {
    fn contents<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        part(bytes, self.offset, self.size)
    }
}

/// Why the symbols of an ELF file are not read, if they are too much. What is no ELF file weighs nothing.
pub fn trouble(file: &File) -> Option<Trouble> {
    let bytes = sys::map(file).ok()?;
    too_much(&bytes)
}

fn too_much(bytes: &[u8]) -> Option<Trouble> {
    let table = Table::of(bytes)?;
    if table.count > SECTIONS_MAX || table.count.saturating_mul(table.names.size) > NAMES_MAX {
        return Some(Trouble::Sections);
    }
    for section in table.sections(bytes) {
        let is_table = [SHT_SYMTAB, SHT_DYNSYM].contains(&section.kind);
        // No linker packs these.
        if is_table && (section.size / SYMBOL > SYMBOLS_MAX || section.flags & SHF_COMPRESSED != 0)
        {
            return Some(Trouble::Symbols);
        }
        if table.is_packed(bytes, &section) {
            let packed = section.contents(bytes).unwrap_or_default();
            if unpacks_to_much(packed) {
                return Some(Trouble::Packed);
            }
        }
    }
    None
}

/// What is read of an ELF file for its symbols: each part by its place. Headers, tables of symbols and of names, packed symbols.
pub fn parts_of_symbols(bytes: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let table = Table::of(bytes)?;
    let headers = table.count.checked_mul(HEADER)?;
    let programs = (word(bytes, 32)?, u64::from(half(bytes, 56)?) * PROGRAM);
    let wanted = [(0, HEADER), programs, (table.at, headers)];
    let mut parts = Vec::new();
    for (place, size) in wanted {
        parts.push((place, part(bytes, place, size)?));
    }
    let tables = [SHT_SYMTAB, SHT_DYNSYM, SHT_STRTAB];
    let read = table
        .sections(bytes)
        .filter(|section| tables.contains(&section.kind) || table.is_packed(bytes, section));
    parts.extend(read.filter_map(|section| Some((section.offset, section.contents(bytes)?))));
    Some(parts)
}

/// Whether something has more bytes, unpacked, than its size allows.
fn unpacks_to_much(packed: &[u8]) -> bool {
    let most = UNPACKED_MIN.saturating_add(UNPACKED_TIMES * packed.len() as u64);
    let most = most.min(UNPACKED_MAX);
    let Ok(stream) = Stream::new_stream_decoder(UNPACKING_MEMORY, 0) else {
        return false;
    };
    let mut unpacked = XzDecoder::new_stream(packed, stream);
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        match unpacked.read(&mut buffer) {
            Ok(0) => return false,
            Ok(read) => size += read as u64,
            // Damaged, or wants more memory; whoever reads it finds out the former.
            Err(error) => return matches!(memory_limit(&error), Some(true)),
        }
        if size > most {
            return true;
        }
    }
}

fn memory_limit(error: &std::io::Error) -> Option<bool> {
    let error = error.get_ref()?.downcast_ref::<xz2::stream::Error>()?;
    Some(matches!(error, xz2::stream::Error::MemLimit))
}

fn section(bytes: &[u8], table: u64, index: u64) -> Option<Section> {
    let header = part(
        bytes,
        table.checked_add(index.checked_mul(HEADER)?)?,
        HEADER,
    )?;
    Some(Section {
        name: quarter(header, 0)?,
        kind: quarter(header, 4)?,
        flags: word(header, 8)?,
        offset: word(header, 24)?,
        size: word(header, 32)?,
    })
}

fn part(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..)?.get(..usize::try_from(size).ok()?)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn quarter(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A file of these sections: name, kind, flags, claimed size, contents.
    fn file(sections: &[(&str, u32, u64, u64, &[u8])]) -> Vec<u8> {
        let mut file = vec![0; 64];
        let mut names = vec![0];
        let mut headers = Vec::new();
        for (name, kind, flags, size, contents) in sections {
            let mut header = [0; 64];
            header[..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
            header[4..8].copy_from_slice(&kind.to_le_bytes());
            header[8..16].copy_from_slice(&flags.to_le_bytes());
            header[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
            header[32..40].copy_from_slice(&size.to_le_bytes());
            file.extend_from_slice(contents);
            names.extend(name.as_bytes());
            names.push(0);
            headers.push(header);
        }
        let mut last = [0; 64];
        last[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        last[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
        file.extend(names);
        headers.push(last);
        let table = file.len() as u64;
        file[40..48].copy_from_slice(&table.to_le_bytes());
        file[60..62].copy_from_slice(&(headers.len() as u16).to_le_bytes());
        file[62..64].copy_from_slice(&(headers.len() as u16 - 1).to_le_bytes());
        headers
            .iter()
            .for_each(|header| file.extend_from_slice(header));
        file
    }

    fn packed(unpacked: &[u8]) -> Vec<u8> {
        let mut encoder = xz2::write::XzEncoder::new(Vec::new(), 0);
        encoder.write_all(unpacked).expect("packed");
        encoder.finish().expect("packed")
    }

    fn of_packed(packed: &[u8]) -> Option<Trouble> {
        let size = packed.len() as u64;
        too_much(&file(&[(".gnu_debugdata", 1, 0, size, packed)]))
    }

    #[test]
    fn too_much_symbols_are_told_by_the_size_of_their_table() {
        let of = |kind, count| too_much(&file(&[(".symtab", kind, 0, count * SYMBOL, b"")]));
        assert_eq!(of(SHT_SYMTAB, SYMBOLS_MAX), None);
        assert_eq!(of(SHT_SYMTAB, 12_000_000), Some(Trouble::Symbols));
        assert_eq!(of(SHT_DYNSYM, 12_000_000), Some(Trouble::Symbols));
        assert_eq!(of(1, 12_000_000), None, "a section of another kind");
        let table = (".symtab", SHT_SYMTAB, SHF_COMPRESSED, 1000, &b""[..]);
        assert_eq!(too_much(&file(&[table])), Some(Trouble::Symbols));
    }

    #[test]
    fn too_much_packed_is_what_grows_more_than_forty_fold_beyond_four_mib() {
        assert_eq!(of_packed(&packed(&vec![0; 4 << 20])), None);
        assert_eq!(of_packed(&packed(&vec![0; 6 << 20])), Some(Trouble::Packed));
        let mut state = 1u64;
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        // Of each 30 bytes one cannot be told.
        let honest: Vec<u8> = (0..6 << 20)
            .map(|at| if at % 30 == 0 { noise() } else { 7 })
            .collect();
        let honest = packed(&honest);
        assert_eq!(of_packed(&honest), None);
        let mut damaged = honest;
        damaged[1000] ^= 1;
        assert_eq!(of_packed(&damaged), None);
    }

    #[test]
    fn too_much_sections_with_endless_names_are_refused() {
        let mut bytes = file(&[("a", 1, 0, 0, &[b'a'; 8 << 20])]);
        let table = word(&bytes, 40).expect("a table") as usize;
        let mut names = bytes[table + 64..table + 128].to_vec();
        names[24..32].copy_from_slice(&64u64.to_le_bytes());
        names[32..40].copy_from_slice(&(8u64 << 20).to_le_bytes());
        bytes[table + 64..table + 128].copy_from_slice(&names);
        bytes[60..62].copy_from_slice(&60_000u16.to_le_bytes());
        assert_eq!(too_much(&bytes), Some(Trouble::Sections));
    }

    #[test]
    fn too_much_damaged_headers_are_nothing() {
        let whole = file(&[(".symtab", SHT_SYMTAB, 0, SYMBOL, b"")]);
        for length in 0..whole.len() {
            too_much(&whole[..length]);
        }
        assert_eq!(too_much(b"#!/bin/sh"), None);
    }
}
