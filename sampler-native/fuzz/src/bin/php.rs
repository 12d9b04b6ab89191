//! Memory of a process of PHP, and copied frames of its functions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_runtimes::fuzzed::php(bytes));
