//! A file that the symbolizer process reads.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_symbolize::fuzzed::symbols(bytes));
