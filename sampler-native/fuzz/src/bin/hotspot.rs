//! Memory of a JVM.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_runtimes::fuzzed::hotspot(bytes));
