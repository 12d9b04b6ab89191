//! Tests of tables, with the unwind information of this very program.

use super::*;
use crate::arch::{self, REGISTERS};
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
        values: [0x1000; REGISTERS],
        known: arch::ALL,
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
    let by_header = Table::eh_frame(&image, section, source, 64 << 20, 64 << 20).expect("a table");
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
        let row =
            |table: &Table| table.row(address, source, &Work::default(), &mut UnwindContext::new());
        assert_eq!(row(&by_header), row(&by_index));
        assert_eq!(row(&by_header), row(&by_place));
    }
}

/// A table of one entry for 0x1000.., with as many instructions.
fn table_of_one_entry(instructions: usize) -> Table {
    let cie = b"\x10\0\0\0\0\0\0\0\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0";
    let mut bytes = cie.to_vec();
    // The return address is one word below the stack pointer of the caller.
    (bytes[12], bytes[14]) = (arch::RETURN_COLUMN as u8, arch::SP as u8);
    bytes[16] = 0x80 | arch::RETURN_COLUMN as u8;
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
        Some(Some(-8))
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
