//! Where V8 has the fields of its objects: offsets from an object's address without its tag.

use std::io;

use serde::{Deserialize, Serialize};

/// Places of fields in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Types of objects: functions, from and to; what all closures of a function share; bytecode; what bytecode was compiled to; where
    /// instructions lie; what a scope has; and a script.
    pub closures: (u16, u16),
    pub shared: u16,
    pub bytecode: u16,
    pub interpreter_data: u16,
    pub code: u16,
    pub instructions: u16,
    pub scope: u16,
    pub script: u16,
    /// In a closure: what all closures of the function share.
    pub closure_shared: u16,
    /// There: the name or the scope, and the script.
    pub shared_name: u16,
    pub shared_script: u16,
    /// Bytes of the header before instructions.
    pub header: u16,
    /// In code: its first instruction (none: the code is that header itself), the bytes of its instructions, and what it was made of.
    pub start: Option<u16>,
    pub size: u16,
    pub origin: u16,
    /// The place there of what all closures of the function share, and whether one more object stands between.
    pub origin_shared: u16,
    pub is_wrapped: bool,
    /// The words of a scope before those that differ in number, and the place of where its text begins if that is among them.
    pub scope_first: u8,
    pub scope_begin: Option<u8>,
    /// The type of the scope of a module.
    pub module_scope: u8,
}

/// Node 18.
const V10_2: Layout = Layout {
    closures: (2065, 2081),
    shared: 257,
    bytecode: 195,
    interpreter_data: 162,
    code: 240,
    instructions: 240,
    scope: 256,
    script: 170,
    closure_shared: 24,
    shared_name: 16,
    shared_script: 32,
    header: 128,
    start: None,
    size: 40,
    origin: 16,
    origin_shared: 6,
    is_wrapped: false,
    scope_first: 3,
    scope_begin: None,
    module_scope: 3,
};

/// Node 20.
const V11_3: Layout = Layout {
    closures: (2066, 2082),
    shared: 262,
    bytecode: 191,
    interpreter_data: 159,
    code: 245,
    instructions: 252,
    scope: 261,
    script: 167,
    header: 16,
    start: Some(40),
    size: 56,
    ..V10_2
};

/// Node 22.
const V12_4: Layout = Layout {
    closures: (2066, 2082),
    shared: 274,
    bytecode: 205,
    interpreter_data: 207,
    code: 206,
    instructions: 210,
    scope: 272,
    script: 167,
    closure_shared: 32,
    header: 32,
    start: Some(40),
    size: 52,
    origin: 8,
    ..V10_2
};

/// Node 24.
const V13_6: Layout = Layout {
    closures: (2065, 2081),
    shared: 282,
    bytecode: 186,
    interpreter_data: 188,
    code: 187,
    instructions: 192,
    scope: 280,
    script: 167,
    shared_name: 24,
    shared_script: 40,
    size: 56,
    origin_shared: 7,
    is_wrapped: true,
    scope_first: 5,
    scope_begin: Some(3),
    module_scope: 5,
    ..V12_4
};

/// In any object: its map; in that: the type of the object.
pub const MAP: u64 = 0;
pub const TYPE: u64 = 12;
/// Where the elements of an array begin.
pub const ELEMENTS: u64 = 16;
/// In what all closures of a function share: its bytecode, or what leads to that.
pub const SHARED_DATA: u64 = 8;
/// In what leads to bytecode that an own copy of the interpreter runs: the bytecode.
pub const INTERPRETER_BYTECODE: u64 = 8;
/// In what stands between code and what all closures share: the latter.
pub const WRAPPED: u64 = 8;
/// In a script: the path of its file.
pub const SCRIPT_NAME: u64 = 16;

impl Layout {
    /// The places of fields in a version of V8.
    ///
    /// # Errors
    /// Unsupported: this version is not known.
    pub fn of(major: u32, minor: u32) -> io::Result<Layout> {
        match (major, minor) {
            (10, 2) => Ok(V10_2),
            (11, 3) => Ok(V11_3),
            (12, 4) => Ok(V12_4),
            (13, 6) => Ok(V13_6),
            _ => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("V8 {major}.{minor} is not known"),
            )),
        }
    }
}
