//! Instructions of code without it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_unwind::fuzzed::code(bytes));
