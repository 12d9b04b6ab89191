//! The headers of pieces of code, and where they are.

use std::ops::Range;

use super::layout::{At, Heap, Layout};
use crate::memory::Pages;

/// Most steps from a segment to the first one of its block. A step skips up to 254 segments.
const MAX_STEPS: u32 = 1 << 10;
/// Most bytes of code.
const MAX_CODE: u64 = 64 << 20;

/// A header, as it was read.
pub struct Header<'a> {
    layout: &'a Layout,
    at: u64,
    bytes: Vec<u8>,
}

impl Header<'_> {
    pub fn u64(&self, place: u32) -> Option<u64> {
        let bytes = self.bytes.get(place as usize..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    pub fn u32(&self, place: u32) -> Option<u32> {
        let bytes = self.bytes.get(place as usize..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    }

    pub fn u16(&self, place: u32) -> Option<u16> {
        let bytes = self.bytes.get(place as usize..)?.first_chunk()?;
        Some(u16::from_le_bytes(*bytes))
    }

    /// An address that the header tells.
    pub fn address(&self, at: At) -> Option<u64> {
        let behind = |base: u64, offset: u32| base.checked_add_signed(i64::from(offset as i32));
        let code = &self.layout.blob.code;
        match at {
            At::Pointer(place) => self.u64(place),
            At::Header(place) => behind(self.at, self.u32(place)?),
            At::Behind(base, place) => behind(self.u64(base)?, self.u32(place)?),
            At::Code(place) => Some(self.address(code.start)? + u64::from(self.u16(place)?)),
            At::Data(place) => Some(self.address(code.end)? + u64::from(self.u16(place)?)),
        }
    }

    /// Addresses of the instructions.
    pub fn code(&self) -> Option<Range<u64>> {
        let code = &self.layout.blob.code;
        let (begin, end) = (self.address(code.start)?, self.address(code.end)?);
        let size = end.checked_sub(begin)?;
        (begin > self.at && (1..=MAX_CODE).contains(&size)).then_some(begin..end)
    }
}

impl Layout {
    /// The header of the code at an address.
    pub fn header(&self, memory: &Pages<'_>, pc: u64) -> Option<Header<'_>> {
        let heap = self.heap(pc)?;
        let block = block(memory, heap, pc)?;
        let at = block.checked_add(u64::from(self.block))?;
        // Headers that are shorter than those of methods may be the last in their heap.
        let size = u64::from(self.blob.size).min(heap.range.end.checked_sub(at)?);
        let bytes = memory.bytes(at, size as usize).ok()?;
        Some(Header {
            layout: self,
            at,
            bytes,
        })
    }
}

/// Where the block begins that holds an address.
fn block(memory: &Pages<'_>, heap: &Heap, pc: u64) -> Option<u64> {
    let mut segment = (pc - heap.range.start) >> heap.shift;
    for _ in 0..MAX_STEPS {
        let byte = memory.bytes(heap.segmap.checked_add(segment)?, 1).ok()?;
        match byte[..] {
            [0] => return Some(heap.range.start + (segment << heap.shift)),
            [255] => return None,
            [back] => segment = segment.checked_sub(u64::from(back))?,
            _ => return None,
        }
    }
    None
}
