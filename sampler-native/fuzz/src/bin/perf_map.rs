//! A file of names of code made at run time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flametop_sampler::fuzzed::perf_map(bytes));
