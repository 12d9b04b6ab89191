//! Messages between flametop and the symbolizer process.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_symbolize::fuzzed::protocol(bytes));
