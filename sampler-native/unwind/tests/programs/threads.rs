//! A named thread, asleep below a chain.
use std::{hint::black_box, thread, time::Duration};

#[inline(never)]
#[unsafe(no_mangle)]
fn rust_inner(n: u64) -> u64 {
    println!("ready");
    thread::sleep(Duration::from_secs(100_000));
    black_box(n)
}

#[inline(never)]
#[unsafe(no_mangle)]
fn rust_outer(n: u64) -> u64 {
    black_box(rust_inner(black_box(n)) + 1)
}

fn main() {
    thread::spawn(|| rust_outer(1)).join().unwrap();
}
