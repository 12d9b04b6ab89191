//! Memory of a process of Ruby, and copied frames of its functions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_runtimes::fuzzed::ruby(bytes));
