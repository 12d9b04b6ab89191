//! All that differs between architectures: registers and which of them last, what a call leaves, how code is recognised.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(target_arch = "aarch64")]
mod arm64;
#[cfg(target_arch = "aarch64")]
pub(crate) use arm64::*;

pub(crate) use flametop_runtimes::registers::{FP, PC, REGISTERS, SP};

/// A bit for each register.
pub(crate) const ALL: u64 = (1 << REGISTERS) - 1;

/// [`CALLEE_SAVED`], a bit for each.
pub(crate) const CALLEE_SAVED_BITS: u64 = {
    let (mut bits, mut at) = (0, 0);
    while at < CALLEE_SAVED.len() {
        bits |= 1 << CALLEE_SAVED[at];
        at += 1;
    }
    bits
};

const _: () = assert!(CALLEE_SAVED[FP_RULE] == FP);
