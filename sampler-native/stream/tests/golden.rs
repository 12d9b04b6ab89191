//! The golden file: written again byte for byte, read to the same text, and never a panic however it is damaged.

use std::path::Path;

use flametop_stream::{Encoder, Level, ModuleKind, Reader, Record, State, text, whole_records};

#[allow(dead_code)]
#[path = "../examples/golden.rs"]
mod golden;

fn read(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Of each version: a file, and the text that it is read as.
const FILES: [(&str, &str); 2] = [("v1.flametop", "v1.txt"), ("v2.flametop", "v2.txt")];

fn lines(bytes: &[u8]) -> (Vec<String>, Option<flametop_stream::Damage>) {
    let (text, result) = text::dump(bytes);
    (text.lines().map(str::to_owned).collect(), result.err())
}

#[test]
fn encode_golden_records_gives_the_golden_bytes() {
    assert_eq!(golden::file(), read("v2.flametop"));
}

#[test]
fn dump_golden_file_gives_the_golden_text() {
    for (file, expected) in FILES {
        let (text, result) = text::dump(read(file).as_slice());
        assert_eq!(result, Ok(()), "{file}");
        let expected = String::from_utf8(read(expected)).expect("UTF-8");
        assert_eq!(text, expected, "{file}");
    }
}

#[test]
fn put_decoded_record_decodes_to_the_same() {
    for (file, _) in FILES {
        let file = read(file);
        let mut reader = Reader::new(file.as_slice()).expect("header");
        while let Some(batch) = reader.next_batch().expect("batch") {
            for record in batch.records() {
                let record = record.expect("record");
                let mut again = Encoder::new();
                again.put(&record);
                let (kind, body) = again.bytes().split_at(8);
                let kind = u16::from_le_bytes([kind[0], kind[1]]);
                assert_eq!(Record::decode(kind, body), Ok(record));
            }
        }
    }
}

#[test]
fn whole_records_any_room_cuts_at_record_boundaries() {
    let mut encoder = Encoder::new();
    let mut ends = vec![0];
    for length in [0, 1, 300, 7] {
        encoder.put(&Record::Notice {
            level: Level::Told,
            text: &vec![b'x'; length],
            process: None,
        });
        ends.push(encoder.bytes().len());
    }
    for room in 0..=encoder.bytes().len() + 1 {
        let expected = ends.iter().rev().find(|e| **e <= room).copied();
        assert_eq!(
            Some(whole_records(encoder.bytes(), room)),
            expected,
            "room {room}"
        );
    }
}

#[test]
fn dump_truncated_anywhere_keeps_all_batches_before_the_cut() {
    let file = read("v2.flametop");
    let (whole, _) = lines(&file);
    for length in 0..file.len() {
        let (part, damage) = lines(&file[..length]);
        assert_eq!(part[..], whole[..part.len()], "cut at {length}");
        if let Some(damage) = damage {
            assert!(damage.at <= length as u64, "cut at {length}: {damage}");
        }
    }
}

#[test]
fn dump_any_bit_flipped_reports_damage_and_keeps_what_is_before() {
    for (file, _) in FILES {
        let file = read(file);
        let (whole, _) = lines(&file);
        for bit in 0..file.len() * 8 {
            let mut bad = file.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let (part, damage) = lines(&bad);
            assert!(damage.is_some(), "bit {bit}");
            assert_eq!(part[..], whole[..part.len()], "bit {bit}");
        }
    }
}

#[test]
fn decode_random_bodies_never_panics() {
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut body = [0; 96];
    for round in 0..200_000u32 {
        for byte in &mut body {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            *byte = random as u8 & (random >> 8) as u8;
        }
        let length = (random >> 32) as usize % body.len();
        let _ = Record::decode(round as u16 % 22, &body[..length]);
    }
}

#[test]
fn new_reader_newer_version_is_refused_by_number() {
    let mut file = read("v2.flametop");
    file[8] = 9;
    let damage = Reader::new(file.as_slice()).err().expect("refused");
    assert!(damage.what.contains("version 9"), "{damage}");
}

#[test]
fn decode_number_of_later_stays_that_number() {
    let module = Record::ModuleSeen {
        module: 3,
        kind: ModuleKind(77),
        path: b"x",
        build_id: b"",
    };
    let mut encoder = Encoder::new();
    encoder.put(&module);
    assert_eq!(Record::decode(5, &encoder.bytes()[8..]), Ok(module));
    assert!(!ModuleKind(77).is_known() && ModuleKind::Jit.is_known());
    assert_eq!(
        format!("{:?} {:?}", State::Disk, State(77)),
        "Disk State 77"
    );
}

#[test]
fn next_batch_missing_batch_is_damage() {
    let file = read("v2.flametop");
    let facts = u32::from_le_bytes([file[12], file[13], file[14], file[15]]) as usize;
    let first = 20 + facts;
    let length = u32::from_le_bytes([
        file[first],
        file[first + 1],
        file[first + 2],
        file[first + 3],
    ]);
    let mut gap = file[..first].to_vec();
    gap.extend_from_slice(&file[first + length as usize..]);
    let (_, damage) = lines(&gap);
    let damage = damage.expect("damage");
    assert_eq!(damage.at, first as u64);
    assert!(damage.what.contains("batch 0 is missing"), "{damage}");
}
