//! A recorded stream: its text, its rules, and each record written again.
#![no_main]

use flametop_stream::{Encoder, Reader, Record, rules::Rules, text};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = text::dump(bytes);
    // The checksums of a stream keep a fuzzer out of its batches: they are put right, as far as lengths lead to them.
    let bytes = mended(bytes);
    let Ok(mut reader) = Reader::new(&*bytes) else {
        return;
    };
    let mut rules = Rules::default();
    while let Ok(Some(batch)) = reader.next_batch() {
        for record in batch.records() {
            let Ok(record) = record else {
                return;
            };
            let _ = rules.read(&record);
            let mut again = Encoder::new();
            again.put(&record);
            let (head, body) = again.bytes().split_at(8);
            let kind = u16::from_le_bytes([head[0], head[1]]);
            assert_eq!(Record::decode(kind, body), Ok(record));
        }
    }
});

fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(word.try_into().ok()?) as usize)
    };
    let mut at = 20_usize;
    if let Some(facts) = word(&bytes, 12).and_then(|length| bytes.get(at..at.checked_add(length)?))
    {
        let crc = crc32fast::hash(facts);
        at += facts.len();
        bytes[16..20].copy_from_slice(&crc.to_le_bytes());
    }
    for sequence in 0_u32.. {
        let Some(length) = word(&bytes, at).filter(|length| *length >= 24) else {
            break;
        };
        let Some(batch) = bytes.get_mut(at..at.saturating_add(length)) else {
            break;
        };
        batch[16..20].copy_from_slice(&sequence.to_le_bytes());
        let crc = crc32fast::hash(&batch[8..]);
        batch[4..8].copy_from_slice(&crc.to_le_bytes());
        at += length;
    }
    bytes
}
