//! Numbers and texts of messages.

use crate::NAME_MAX;

/// Longest message, in bytes.
pub const MESSAGE_MAX: usize = 32 << 10;

/// Longest path in a question; of a longer one only files beside it are not found.
pub const PATH_MAX: usize = 4096;

/// Longest pattern, and longest name of a list: the path of a file and the name of a function.
pub const PATTERN_MAX: usize = PATH_MAX + NAME_MAX + 16;

/// No argument, no register.
pub const NONE: u8 = 0xff;

/// Takes numbers off the front of a message.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn text(&mut self, longest: usize) -> Option<Vec<u8>> {
        let length = usize::from(self.u16()?);
        if length > longest {
            return None;
        }
        self.bytes(length).map(<[u8]>::to_vec)
    }
}

/// Appends a text, cut after `longest` bytes.
pub fn put_text(out: &mut Vec<u8>, text: &[u8], longest: usize) {
    let text = &text[..text.len().min(longest)];
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text);
}
