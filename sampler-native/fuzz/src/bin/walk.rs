//! A whole walk over a stack and a file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_unwind::fuzzed::walk(bytes));
