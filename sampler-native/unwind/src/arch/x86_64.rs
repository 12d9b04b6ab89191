//! x86-64, by the psABI of System V.

use super::{FP, PC, SP};

/// The architecture's number in ELF files.
pub(crate) const MACHINE: u16 = 62;
/// The relocation that adds where a file is loaded.
pub(crate) const RELATIVE: u64 = 8;
/// Whose operations unwind information may have.
pub(crate) const VENDOR: gimli::Vendor = gimli::Vendor::Default;
/// Registers that a function must give back as it found them, the stack pointer aside.
pub(crate) const CALLEE_SAVED: [usize; 6] = [3, FP, 12, 13, 14, 15];
/// The frame pointer's place among them.
pub(crate) const FP_RULE: usize = 1;
/// The column of the return address in unwind information.
pub(crate) const RETURN_COLUMN: usize = PC;
/// Bytes of the return address that a call leaves on the stack.
pub(crate) const RETURN_ADDRESS: u64 = 8;
/// The words that a frame pointer leads to are the last ones of a frame.
pub(crate) const POINTER_ENDS_FRAME: bool = true;
/// The table of Go's functions and its code are known.
pub(crate) const WALKS_GO: bool = true;
/// Where the kernel saves registers on a signal: offset in the frame, and their order.
pub(crate) const SIGNAL_REGISTERS: (u64, [usize; 17]) = (
    40,
    [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, FP, 3, 1, 0, 2, SP, PC],
);
/// `mov $15, %rax; syscall` and `mov $15, %eax; syscall`: how a signal handler returns.
pub(crate) const SIGRETURN: [&[u8]; 2] =
    [b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\xb8\x0f\0\0\0\x0f\x05"];
/// `mov $60, %al; syscall` and `mov $60, %eax; syscall`: how a thread ends when its function has returned.
pub(crate) const EXIT: [&[u8]; 2] = [b"\xb0\x3c\x0f\x05", b"\xb8\x3c\0\0\0\x0f\x05"];
/// `syscall`.
pub(crate) const SYSTEM_CALL: &[u8] = b"\x0f\x05";
/// Bytes of the longest call, and of one that names its target.
pub(crate) const CALL: usize = 7;
pub(crate) const DIRECT_CALL: usize = 5;

/// The register that a call leaves the return address in.
pub(crate) const LINK: Option<usize> = None;

/// A return address as the processor will use it. `top`: the end of the highest code.
pub(crate) fn stripped(address: u64, _top: impl FnOnce() -> u64) -> u64 {
    address
}

/// The target of the call that returns to `to`, if the call's `bytes` name it.
pub(crate) fn named_target(bytes: [u8; DIRECT_CALL], to: u64) -> Option<u64> {
    let [opcode, distance @ ..] = bytes;
    let distance = i64::from(i32::from_le_bytes(distance));
    (opcode == 0xe8).then(|| to.wrapping_add_signed(distance))
}

/// Whether the last of these `bytes` are a call that names no target.
pub(crate) fn is_indirect_call(bytes: &[u8; CALL]) -> bool {
    // ff /2, whose length depends on its operand.
    (2..=CALL).any(|length| {
        let [opcode, operand, rest @ ..] = &bytes[CALL - length..] else {
            return false;
        };
        let (mode, register, memory) = (operand >> 6, operand >> 3 & 7, operand & 7);
        let scaled = (mode != 3 && memory == 4) as usize;
        let displacement = match mode {
            0 if memory == 5 => 4,
            0 if memory == 4 && rest.first().is_some_and(|scale| scale & 7 == 5) => 4,
            1 => 1,
            2 => 4,
            _ => 0,
        };
        *opcode == 0xff && register == 2 && length == 2 + scaled + displacement
    })
}
