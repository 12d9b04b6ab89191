//! Go's table of functions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_unwind::fuzzed::gopclntab(bytes));
