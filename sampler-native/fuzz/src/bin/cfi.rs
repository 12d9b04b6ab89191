//! Unwind information.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_unwind::fuzzed::cfi(bytes));
