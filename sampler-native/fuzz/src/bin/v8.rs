//! Memory of a process of Node, and a stack of functions of JavaScript.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_runtimes::fuzzed::v8(bytes));
