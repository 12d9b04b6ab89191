//! The copied memory of a stack.

use crate::{End, Input, row::Failure};

/// A frame saves registers below its return address: a piece asked for starts this far before it.
pub(super) const SAVE_AREA: u64 = 256;
/// A word that is missing this near after copied memory continues it.
pub(super) const NEAR: u64 = 4096;

/// The memory that was copied of a stack.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    /// The pieces that were copied.
    pub input: &'a Input<'a>,
}

impl Memory<'_> {
    /// The word at an address.
    pub fn read(&self, address: u64) -> Result<u64, Failure> {
        for piece in self.input.pieces {
            let at = address.wrapping_sub(piece.address);
            if at < piece.bytes.len() as u64
                && let Some(word) = piece.bytes[at as usize..].first_chunk()
            {
                return Ok(u64::from_le_bytes(*word));
            }
        }
        Err(Failure::Missing(address))
    }

    /// All words that were copied, of each piece from its beginning.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self
            .input
            .pieces
            .iter()
            .flat_map(|piece| piece.bytes.chunks_exact(8));
        words.map(|word| {
            word.first_chunk()
                .map_or(0, |word| u64::from_le_bytes(*word))
        })
    }

    /// End of the copied piece that holds `address`.
    pub fn end_of(&self, address: u64) -> Option<u64> {
        let pieces = self.input.pieces.iter();
        let piece =
            pieces.filter(|piece| address.wrapping_sub(piece.address) < piece.bytes.len() as u64);
        piece
            .map(|piece| piece.address.wrapping_add(piece.bytes.len() as u64))
            .max()
    }

    /// Why the walk ends where `address` is missing, and from where to copy for more.
    pub fn lack(&self, address: u64, sp: u64) -> (End, Option<u64>) {
        self.lack_below(address, SAVE_AREA, sp)
    }

    /// The same, where so many bytes `below` the address are needed too.
    pub fn lack_below(&self, address: u64, below: u64, sp: u64) -> (End, Option<u64>) {
        let end = if self.input.mapping.contains(&address) {
            End::Truncated
        } else {
            End::OtherStack
        };
        let near_sp = sp <= address && address - sp < NEAR;
        let mut from = if near_sp {
            sp
        } else {
            address.saturating_sub(below)
        } & !7;
        while let Some(end) = self.end_of(from) {
            from = end;
        }
        (end, Some(from))
    }
}
