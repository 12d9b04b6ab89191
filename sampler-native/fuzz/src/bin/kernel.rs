//! Records of the kernel.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_kernel::fuzzed::records(bytes));
