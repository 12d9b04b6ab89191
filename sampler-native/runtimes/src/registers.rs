//! The registers of a thread, by their DWARF numbers; the last one is the program counter.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("registers are known for x86-64 and arm64 only");

#[cfg(target_arch = "x86_64")]
mod of_target {
    /// How many registers there are: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip.
    pub const REGISTERS: usize = 17;
    /// The frame pointer.
    pub const FP: usize = 6;
    /// The first argument of a system call.
    pub const ARGUMENT: usize = 5;
    /// The stack pointer.
    pub const SP: usize = 7;
}

#[cfg(target_arch = "aarch64")]
mod of_target {
    /// How many registers there are: x0..x30 sp pc.
    pub const REGISTERS: usize = 33;
    /// The frame pointer.
    pub const FP: usize = 29;
    /// The first argument of a system call.
    pub const ARGUMENT: usize = 0;
    /// The stack pointer.
    pub const SP: usize = 31;
}

pub use of_target::{ARGUMENT, FP, REGISTERS, SP};

/// The program counter.
pub const PC: usize = REGISTERS - 1;
