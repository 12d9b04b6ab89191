//! Questions to the helper process.

use super::wire::*;
use crate::found::Wanted;

/// Most offsets in one *ask*.
pub const ASK_MAX: usize = 512;

/// The kernel's symbols.
pub const KERNEL: u8 = 0;

/// An ELF file.
pub const FILE: u8 = 1;

/// An ELF file in memory.
pub const VDSO: u8 = 2;

/// Longest build id that is asked for, in bytes. They have 20.
pub const BUILD_ID_MAX: usize = 64;

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The names of functions.
    Names = 1,
    /// Inlined functions and source lines.
    Places = 5,
}

/// A question of the client.
#[derive(Debug, PartialEq, Eq)]
pub struct Ask {
    /// What is asked.
    pub what: What,
    /// [`KERNEL`], [`FILE`] or [`VDSO`].
    pub kind: u8,
    /// The client's number of the module.
    pub module: u32,
    /// A process that maps it, whose root may have its debug file too; 0: none.
    pub process: u32,
    /// Its path, as that process names it.
    pub path: Vec<u8>,
    /// At most [`ASK_MAX`].
    pub offsets: Vec<u64>,
}

impl Ask {
    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.what as u8, self.kind];
        out.extend((self.offsets.len() as u16).to_le_bytes());
        out.extend(self.module.to_le_bytes());
        out.extend(self.process.to_le_bytes());
        put_text(&mut out, &self.path, PATH_MAX);
        for offset in &self.offsets {
            out.extend(offset.to_le_bytes());
        }
        out
    }

    /// The question in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Ask> {
        let mut reader = Reader(message);
        let (what, kind) = match reader.array()? {
            [1, kind @ KERNEL..=VDSO] => (What::Names, kind),
            [5, kind @ KERNEL..=VDSO] => (What::Places, kind),
            _ => return None,
        };
        let count = usize::from(reader.u16()?);
        let (module, process) = (reader.u32()?, reader.u32()?);
        let path = reader.text(PATH_MAX)?;
        if count > ASK_MAX || reader.0.len() != count * 8 {
            return None;
        }
        let offsets = reader
            .0
            .chunks_exact(8)
            .filter_map(|chunk| Reader(chunk).u64())
            .collect();
        Some(Ask {
            what,
            kind,
            module,
            process,
            path,
            offsets,
        })
    }
}

/// A question to a process that fetches debug files.
#[derive(Debug, PartialEq, Eq)]
pub struct Fetch {
    /// At most [`BUILD_ID_MAX`] bytes.
    pub build_id: Vec<u8>,
    /// A larger file is not fetched.
    pub most: u64,
}

impl Fetch {
    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![7, 0];
        put_text(&mut out, &self.build_id, BUILD_ID_MAX);
        out.extend(self.most.to_le_bytes());
        out
    }

    /// The question in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Fetch> {
        let mut reader = Reader(message);
        let [7, 0] = reader.array()? else {
            return None;
        };
        let build_id = reader.text(BUILD_ID_MAX)?;
        let most = reader.u64()?;
        reader.0.is_empty().then_some(Fetch { build_id, most })
    }
}

/// A question about functions or probes of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Find {
    /// In whose root the path is; 0: none.
    pub process: u32,
    /// Of the file.
    pub path: Vec<u8>,
    /// So many sites at most.
    pub most: u32,
    /// What is looked for.
    pub wanted: Wanted,
}

impl Find {
    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        let (what, argument, offset, first, second) = match &self.wanted {
            Wanted::Functions { name, offset } => (0, NONE, *offset, name.as_str(), ""),
            Wanted::Probes {
                provider,
                name,
                argument,
            } => (
                1,
                argument.unwrap_or(NONE),
                0,
                provider.as_str(),
                name.as_str(),
            ),
            Wanted::Listed { pattern, file } => (2, NONE, 0, pattern.as_str(), file.as_str()),
        };
        let mut out = vec![12, what, argument, 0];
        out.extend(self.process.to_le_bytes());
        out.extend(self.most.to_le_bytes());
        out.extend(offset.to_le_bytes());
        put_text(&mut out, &self.path, PATH_MAX);
        put_text(&mut out, first.as_bytes(), PATTERN_MAX);
        put_text(&mut out, second.as_bytes(), PATTERN_MAX);
        out
    }

    /// The question in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Find> {
        let mut reader = Reader(message);
        let [12, what, argument, 0] = reader.array()? else {
            return None;
        };
        let (process, most, offset) = (reader.u32()?, reader.u32()?, reader.u64()?);
        let path = reader.text(PATH_MAX)?;
        let mut text = || String::from_utf8(reader.text(PATTERN_MAX)?).ok();
        let (first, second) = (text()?, text()?);
        let wanted = match (what, argument, offset) {
            (0, NONE, _) if second.is_empty() => Wanted::Functions {
                name: first,
                offset,
            },
            (1, _, 0) => Wanted::Probes {
                provider: first,
                name: second,
                argument: (argument != NONE).then_some(argument),
            },
            (2, NONE, 0) => Wanted::Listed {
                pattern: first,
                file: second,
            },
            _ => return None,
        };
        reader.0.is_empty().then_some(Find {
            process,
            path,
            most,
            wanted,
        })
    }
}
