//! CPython: so far only where it makes code.

/// `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`: CPython 3.12 and newer with `-X perf` makes one for each function, so that
/// it has an address; a mapping of them holds nothing else.
pub const TRAMPOLINE: [u8; 11] = [
    0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
];

/// Whether this file is CPython's program or library.
pub fn recognise(path: &[u8]) -> bool {
    let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    file.starts_with(b"python3") || file.starts_with(b"libpython3")
}
