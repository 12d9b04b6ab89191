//! Lists of mappings and of mounts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_unwind::fuzzed::maps(bytes));
