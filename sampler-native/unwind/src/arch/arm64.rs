//! arm64, by the AAPCS64: a call leaves the return address in `x30`, which may be signed (pointer authentication).

use super::{FP, PC, REGISTERS};

/// The architecture's number in ELF files.
pub(crate) const MACHINE: u16 = 183;
/// The relocation that adds where a file is loaded.
pub(crate) const RELATIVE: u64 = 1027;
/// Whose operations unwind information may have.
pub(crate) const VENDOR: gimli::Vendor = gimli::Vendor::AArch64;
/// Registers that a function must give back as it found them, the stack pointer aside.
pub(crate) const CALLEE_SAVED: [usize; 11] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP];
/// The frame pointer's place among them.
pub(crate) const FP_RULE: usize = 10;
/// The column of the return address in unwind information: the register that a call leaves the address in.
pub(crate) const RETURN_COLUMN: usize = 30;
/// Bytes of the return address that a call leaves on the stack.
pub(crate) const RETURN_ADDRESS: u64 = 0;
/// The words that a frame pointer leads to lie anywhere in a frame, as a rule at its beginning.
pub(crate) const POINTER_ENDS_FRAME: bool = false;
/// The table of Go's functions and its code are known.
pub(crate) const WALKS_GO: bool = false;
/// Where the kernel saves registers on a signal: offset in the frame (`siginfo`, `ucontext` up to its `mcontext`, the address of a
/// fault), and their order.
pub(crate) const SIGNAL_REGISTERS: (u64, [usize; REGISTERS]) = (128 + 176 + 8, in_order());
/// `mov x8, #139; svc #0`: how a signal handler returns.
pub(crate) const SIGRETURN: [&[u8]; 1] = [b"\x68\x11\x80\xd2\x01\0\0\xd4"];
/// `mov x8, #93; svc #0`: how a thread ends when its function has returned.
pub(crate) const EXIT: [&[u8]; 1] = [b"\xa8\x0b\x80\xd2\x01\0\0\xd4"];
/// `svc #0`.
pub(crate) const SYSTEM_CALL: &[u8] = b"\x01\0\0\xd4";
/// Bytes of the longest call, and of one that names its target.
pub(crate) const CALL: usize = 4;
pub(crate) const DIRECT_CALL: usize = 4;

const fn in_order() -> [usize; REGISTERS] {
    let (mut order, mut at) = ([0; REGISTERS], 0);
    while at <= PC {
        order[at] = at;
        at += 1;
    }
    order
}

/// The register that a call leaves the return address in.
pub(crate) const LINK: Option<usize> = Some(RETURN_COLUMN);

/// A return address as the processor will use it: without the signature, which lies above the bits of an address. `top`: the end of
/// the highest code, which tells how many these are: the vDSO lies high in every process.
pub(crate) fn stripped(address: u64, top: impl FnOnce() -> u64) -> u64 {
    let top = top();
    if address < top || top == 0 {
        return address;
    }
    address
        & top
            .checked_next_power_of_two()
            .map_or(u64::MAX, |end| end - 1)
}

/// The target of the call that returns to `to`, if the call's `bytes` name it.
pub(crate) fn named_target(bytes: [u8; DIRECT_CALL], to: u64) -> Option<u64> {
    let word = u32::from_le_bytes(bytes);
    let distance = i64::from((word << 6) as i32 >> 4);
    // bl
    (word >> 26 == 0b10_0101).then(|| to.wrapping_sub(4).wrapping_add_signed(distance))
}

/// Whether the last of these `bytes` are a call that names no target.
pub(crate) fn is_indirect_call(bytes: &[u8; CALL]) -> bool {
    let word = u32::from_le_bytes(*bytes);
    // blr, and blraa, blrab and the like, which authenticate the target.
    word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripped_signature_is_gone_and_address_stays() {
        let top = || 0xffff_9123_0000;
        assert_eq!(stripped(0xffff_9000_1234, top), 0xffff_9000_1234);
        assert_eq!(stripped(0x002d_aaaa_9000_1234, top), 0xaaaa_9000_1234);
        assert_eq!(stripped(0xff7f_ffff_9000_1234, top), 0xffff_9000_1234);
        // 39 bits: the signature begins there.
        assert_eq!(
            stripped(0x0055_557f_9000_1234, || 0x7f_a000_0000),
            0x7f_9000_1234
        );
        assert_eq!(stripped(0x40_0000, || 0), 0x40_0000);
    }

    #[test]
    fn named_target_of_calls_forth_and_back() {
        assert_eq!(named_target(*b"\x03\0\0\x94", 0x1004), Some(0x100c));
        assert_eq!(named_target(*b"\xff\xff\xff\x97", 0x1004), Some(0xffc));
        // b
        assert_eq!(named_target(*b"\x03\0\0\x14", 0x1004), None);
    }

    #[test]
    fn is_indirect_call_knows_those_that_authenticate() {
        // blr x8; blraa x8, x9; blraaz x8; br x8; ret
        let calls = [0xd63f_0100, 0xd73f_0909, 0xd63f_091f_u32];
        assert!(
            calls
                .iter()
                .all(|word| is_indirect_call(&word.to_le_bytes()))
        );
        let others = [0xd61f_0100, 0xd65f_03c0_u32];
        assert!(
            !others
                .iter()
                .any(|word| is_indirect_call(&word.to_le_bytes()))
        );
    }
}
