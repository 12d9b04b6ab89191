//! Where the fields of Ruby's structures are.

use std::io;

use serde::{Deserialize, Serialize};

use crate::{
    Array, Chain,
    memory::{Pages, strange},
};

/// Places that are the same in all versions, by `vm_core.h`. In an execution context: the memory of its frames, how many words that has,
/// the innermost frame, and the thread, which is at the second place where the mask of interrupts is a long number.
pub const STACK: u64 = 0;
pub const STACK_WORDS: u64 = 8;
pub const INNERMOST: u16 = 16;
pub const CONTEXT_THREADS: [u64; 2] = [48, 56];
/// In a control frame: the instruction that comes next, the instruction sequence, and the environment.
pub const INSTRUCTION: u16 = 0;
pub const SEQUENCE: u16 = 16;
const ENVIRONMENT: u16 = 32;
/// In an instruction sequence: its body; in that: its kind, how many words of instructions it has, and where; the file, the name of the
/// outermost function around it, and its own name.
pub const BODY: u16 = 16;
pub const SIZE: u64 = 4;
pub const INSTRUCTIONS: u64 = 8;
pub const PATH: u64 = 64;
pub const BASE_LABEL: u64 = 72;
pub const LABEL: u64 = 80;
/// In a method: its definition, and the class that has it. In a definition: its kind, the instruction sequence, and the first name of the
/// method.
pub const DEFINITION: u64 = 16;
pub const OWNER: u64 = 32;
pub const DEFINED_BY: u64 = 8;
pub const FIRST_NAME: u64 = 32;
/// In the table of symbols: how many there are, and the array of their texts.
pub const SYMBOLS: u64 = 0;
pub const SYMBOL_TEXTS: u64 = 16;

/// Longest version.
const MOST_VERSION: usize = 16;

/// How the number of a thread is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Number {
    /// It stands in the thread's structure.
    There(u16),
    /// The structure leads to that of the native thread, which has it.
    Through(u16, u16),
    /// The structure has the address of what glibc knows of the native thread.
    OfLibrary(u16),
}

/// Where the name of a class stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassName {
    /// Among the variables of the class, whose table what it leads to here has.
    Variable(u16),
    /// In the class: its name, and, of a class of one object, this object.
    There(u16, u16),
}

/// Offsets of fields that versions have at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Bytes of a control frame.
    pub frame: u16,
    /// In a thread: the virtual machine, the execution context, a word by which the thread is known again, and its number.
    pub machine: u16,
    pub context: u16,
    pub identity: u16,
    pub number: Number,
    /// In a thread: the ractor that it belongs to. None: there are no ractors.
    pub ractor: Option<u16>,
    /// In the body of an instruction sequence: the table of lines, and the sequence of the outermost function around it.
    pub lines: u16,
    pub outermost: u16,
    /// Bytes of an entry of the table of lines.
    pub line: u16,
    /// A text that lies in its object has its length there too, as those have that lie elsewhere.
    pub has_length: bool,
    pub class: ClassName,
}

const V2_7: Layout = Layout {
    frame: 56,
    machine: 24,
    context: 32,
    identity: 72,
    number: Number::OfLibrary(72),
    ractor: None,
    lines: 120,
    outermost: 176,
    line: 8,
    has_length: false,
    class: ClassName::Variable(8),
};
const V3_0: Layout = Layout {
    machine: 32,
    context: 40,
    identity: 80,
    number: Number::OfLibrary(80),
    ractor: Some(24),
    ..V2_7
};
const V3_1: Layout = Layout {
    frame: 64,
    number: Number::There(88),
    line: 12,
    ..V3_0
};
const V3_2: Layout = Layout {
    context: 48,
    identity: 40,
    number: Number::Through(40, 16),
    lines: 112,
    outermost: 168,
    has_length: true,
    class: ClassName::There(152, 128),
    ..V3_1
};
const V3_3: Layout = Layout {
    frame: 56,
    number: Number::Through(40, 24),
    ..V3_2
};

/// By `vm_core.h`, `iseq.h`, `internal/class.h` and `thread_pthread.h` of each version.
const KNOWN: [(&str, Layout); 6] = [
    ("2.7", V2_7),
    ("3.0", V3_0),
    ("3.1", V3_1),
    ("3.2", V3_2),
    ("3.3", V3_3),
    ("3.4", V3_3),
];

impl Layout {
    /// The layout of the version that stands at an address.
    pub fn read(memory: &Pages<'_>, version: u64) -> io::Result<Layout> {
        let version = memory.text(version, MOST_VERSION);
        let version: String = String::from_utf8_lossy(&version)
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '.')
            .collect();
        Layout::of(&version)
    }

    /// That of a version, as `ruby_version` has it.
    pub fn of(version: &str) -> io::Result<Layout> {
        let mut parts = version.split('.');
        let (Some(major), Some(minor)) = (parts.next(), parts.next()) else {
            return Err(strange("Ruby does not tell its version"));
        };
        let known = KNOWN
            .iter()
            .find(|(of, _)| of.split('.').eq([major, minor]));
        known.map(|(_, layout)| *layout).ok_or_else(|| {
            let what = format!("Ruby {major}.{minor} is not known");
            io::Error::new(io::ErrorKind::Unsupported, what)
        })
    }

    /// How the kernel side copies the frames of a thread.
    pub fn chain(&self, thread: u64) -> Chain {
        Chain {
            thread,
            lock: 0,
            identity: self.identity,
            first: self.context,
            through: Some(INNERMOST),
            next: 0,
            object: SEQUENCE,
            tags: 0,
            flags: ENVIRONMENT,
            place: INSTRUCTION,
            // The definition of a method lies at the same place as the body of an instruction sequence.
            names: [BODY, BODY],
            array: Some(Array {
                stride: self.frame,
                environment: ENVIRONMENT,
            }),
        }
    }
}

/// Kinds of control frames, by the flags of their environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It runs code of Ruby.
    Written,
    /// It runs a function that is written in C.
    Native,
    /// It stands for no function.
    Nothing,
}

const KINDS: u64 = 0x7fff_0001;
const NATIVE: u64 = 0x5555_0001;
const NATIVE_BLOCK: u64 = 0x6666_0001;
const DUMMY: u64 = 0x7999_0001;
const WRITTEN: [u64; 6] = [
    0x1111_0001,
    0x2222_0001,
    0x3333_0001,
    0x4444_0001,
    0x7777_0001,
    0x7888_0001,
];
/// Whoever called the frame's function was not Ruby's code in the same run.
const FINISH: u64 = 1 << 5;

/// What the flags of its environment say of a frame, and whether it is the first one of a run. None: they are not those of a frame.
pub fn frame(flags: u64) -> Option<(Frame, bool)> {
    let kind = match flags & KINDS {
        NATIVE => Frame::Native,
        NATIVE_BLOCK | DUMMY => Frame::Nothing,
        kind if WRITTEN.contains(&kind) => Frame::Written,
        _ => return None,
    };
    Some((kind, kind == Frame::Written && flags & FINISH != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_of_a_version_is_that_of_its_headers() {
        let frames = KNOWN.map(|(version, _)| Layout::of(version).expect("known").frame);
        assert_eq!(frames, [56, 56, 64, 64, 56, 56]);
        assert_eq!(Layout::of("3.1.0").ok(), Some(V3_1));
        assert_eq!(V3_1.chain(7).first, 40);
    }

    #[test]
    fn version_that_is_not_known_is_refused_by_its_name() {
        for (version, told) in [("3.10.0", "3.10"), ("4.0.0", "4.0"), ("1.9.3", "1.9")] {
            let error = Layout::of(version).expect_err("unknown");
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert_eq!(error.to_string(), format!("Ruby {told} is not known"));
        }
        let error = Layout::of("x").expect_err("no version");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn frame_is_first_of_a_run_only_if_it_runs_code_of_ruby() {
        assert_eq!(frame(0x1111_0003), Some((Frame::Written, false)));
        assert_eq!(frame(0x2222_0021), Some((Frame::Written, true)));
        assert_eq!(frame(0x5555_0083), Some((Frame::Native, false)));
        assert_eq!(frame(0x7999_00a3), Some((Frame::Nothing, false)));
        assert_eq!(frame(0x1111_0000), None);
        assert_eq!(frame(0), None);
    }
}
