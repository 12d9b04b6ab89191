//! Where the fields of PHP's structures are.

use std::io;

use serde::{Deserialize, Serialize};

use crate::{
    Chain,
    memory::{Pages, strange},
};

/// Places that are the same in all versions, by `Zend/zend_globals.h` and `Zend/zend_compile.h`. In the globals: the table of functions,
/// which stays where it is, and the innermost frame.
pub const FUNCTIONS: u16 = 432;
const INNERMOST: u16 = 488;
/// In a frame: the instruction that runs, the function, the kind of the call, and the frame that called.
const INSTRUCTION: u16 = 0;
const FUNCTION: u16 = 24;
const CALL: u16 = 40;
const PREVIOUS: u16 = 48;
/// In a function: its kind, its name and its class.
pub const KIND: u16 = 0;
pub const NAME: u16 = 8;
pub const CLASS: u16 = 16;
/// In a class: its name.
pub const CLASS_NAME: u16 = 8;
/// In an instruction: its line; and its size.
pub const LINE: u16 = 24;
pub const INSTRUCTION_SIZE: u64 = 32;
/// In a text: its length, and its characters.
pub const LENGTH: u16 = 16;
pub const CHARACTERS: u16 = 24;

/// The frame's function is the first one of a run: whoever called it was not PHP's code in the same run.
const TOP: u64 = 1 << 17;

/// In the registry of modules: its entries, and how many there are; in a module: the number of the interface, whether it is a build for
/// threads, one for finding errors, and the version as a text.
const ENTRIES: u64 = 16;
const COUNT: u64 = 24;
const INTERFACE: u64 = 4;
const DEBUG: u64 = 8;
const THREADS: u64 = 9;
const VERSION: u64 = 88;
/// Longest version.
const MOST_VERSION: usize = 16;

/// Offsets of fields that versions have at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// In a function that is written in PHP: how many instructions it has, and where they are; its file, and its first line.
    pub count: u16,
    pub instructions: u16,
    pub file: u16,
    pub first_line: u16,
}

/// Numbers of interfaces (`ZEND_MODULE_API_NO`), and places of fields in `struct _zend_op_array`, by `Zend/zend_compile.h` of each version:
/// 8.0, 8.1, 8.2, 8.3, 8.4.
const KNOWN: [(u32, Layout); 5] = [
    (20_200_930, of(68, 144)),
    (20_210_902, of(68, 144)),
    (20_220_829, of(80, 152)),
    (20_230_831, of(76, 144)),
    (20_240_924, of(96, 168)),
];

const fn of(count: u16, file: u16) -> Layout {
    Layout {
        count,
        instructions: (count + 4).next_multiple_of(8),
        file,
        first_line: file + 8,
    }
}

/// The part that a frame plays in the run of one call of the virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Others of the run called its function.
    Inner,
    /// The first function of the run.
    Outermost,
}

/// The kind of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// It is written in C.
    Internal,
    /// It is written in PHP.
    Written,
}

impl FunctionKind {
    pub fn of(kind: u64) -> Option<FunctionKind> {
        match kind as u8 {
            1 => Some(FunctionKind::Internal),
            // A function, and code that is no function.
            2 | 4 => Some(FunctionKind::Written),
            _ => None,
        }
    }
}

impl Layout {
    /// The layout of the version of PHP whose registry of modules is at an address: the first module is part of PHP itself.
    pub fn read(memory: &Pages<'_>, registry: u64) -> io::Result<Layout> {
        let at = |address: u64, offset: u64| address.wrapping_add(offset);
        if memory.u32(at(registry, COUNT))? == 0 {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "PHP is starting"));
        }
        let module = memory.u64(memory.u64(at(registry, ENTRIES))?)?;
        let version = memory.text(memory.u64(at(module, VERSION))?, MOST_VERSION);
        let version: String = String::from_utf8_lossy(&version)
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || ".-+~".contains(*c))
            .collect();
        let [debug, threads] = [DEBUG, THREADS].map(|offset| memory.bytes(at(module, offset), 1));
        if threads? != [0] {
            return Err(unknown(&version, " for threads (ZTS)"));
        }
        if debug? != [0] {
            return Err(unknown(&version, " with checks (--enable-debug)"));
        }
        Layout::of(memory.u32(at(module, INTERFACE))?, &version)
    }

    /// That of the version which has this number of its interface.
    pub fn of(interface: u32, version: &str) -> io::Result<Layout> {
        let known = KNOWN.iter().find(|(of, _)| *of == interface);
        known
            .map(|(_, layout)| *layout)
            .ok_or_else(|| unknown(version, ""))
    }

    /// How the kernel side copies the frames.
    pub fn chain(&self, globals: u64) -> Chain {
        Chain {
            thread: globals,
            lock: 0,
            identity: FUNCTIONS,
            first: INNERMOST,
            through: None,
            next: PREVIOUS,
            object: FUNCTION,
            tags: 0,
            flags: CALL,
            place: INSTRUCTION,
            names: [NAME, self.instructions],
            array: None,
        }
    }

    /// The number of the instruction of a function that runs there. None: it is none of the function's.
    pub fn instruction(&self, instructions: u64, place: u64) -> Option<u16> {
        let behind = place.checked_sub(instructions)?;
        u16::try_from(behind / INSTRUCTION_SIZE).ok()
    }

    /// What the kind of its call says of a frame.
    pub fn frame(&self, call: u64) -> Frame {
        match call & TOP {
            0 => Frame::Inner,
            _ => Frame::Outermost,
        }
    }
}

fn unknown(version: &str, kind: &str) -> io::Error {
    if version.is_empty() {
        return strange("PHP does not tell its version");
    }
    let what = format!("PHP {version}{kind} is not known");
    io::Error::new(io::ErrorKind::Unsupported, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_of_a_version_is_that_of_its_headers() {
        let of_8_2 = Layout {
            count: 80,
            instructions: 88,
            file: 152,
            first_line: 160,
        };
        assert_eq!(Layout::of(20_220_829, "8.2.36").ok(), Some(of_8_2));
        let places = KNOWN.map(|(_, layout)| layout.instructions);
        assert_eq!(places, [72, 72, 88, 80, 104]);
    }

    #[test]
    fn version_that_is_not_known_is_refused_by_its_name() {
        let error = Layout::of(20_990_101, "9.1.0").expect_err("unknown");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert_eq!(error.to_string(), "PHP 9.1.0 is not known");
    }
}
