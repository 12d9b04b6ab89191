//! Entry points of fuzzing: any bytes as records of the kernel.

use crate::{mappings, record};

/// Records of tasks, one behind the other, then as one of mappings.
pub fn records(bytes: &[u8]) {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
        .collect();
    // SAFETY: every bit pattern is a byte.
    let (_, mut rest, _) = unsafe { words.align_to::<u8>() };
    while let Some((record, size)) = record::parse(rest) {
        if let Some(stack) = record.stack {
            assert!(stack.chunks.count() < bytes.len());
        }
        rest = &rest[size..];
    }
    mappings::is_event(bytes);
}
