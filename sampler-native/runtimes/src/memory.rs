//! The memory of another process, read in pieces that are kept for one question.

use std::{cell::RefCell, collections::HashMap, io};

/// Whatever reads memory of a process.
pub trait Memory {
    /// Reads what is there from an address on, as far as it goes; returns how many bytes that is.
    ///
    /// # Errors
    /// Nothing is mapped there, or it may not be read.
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize>;
}

/// The memory does not hold what a runtime has there.
pub(crate) fn strange(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Bytes that are read at once.
const PIECE: u64 = 4096;

/// Memory of which each piece is read once.
pub struct Pages<'a> {
    memory: &'a dyn Memory,
    pieces: RefCell<HashMap<u64, Box<[u8]>>>,
    most: usize,
}

impl<'a> Pages<'a> {
    /// Reads no more than so many pieces of 4 KiB.
    pub fn new(memory: &'a dyn Memory, most: usize) -> Pages<'a> {
        Pages {
            memory,
            pieces: RefCell::default(),
            most,
        }
    }

    /// Makes a reader of the same memory that reads each piece anew.
    pub(crate) fn again(&self) -> Pages<'a> {
        Pages::new(self.memory, self.most)
    }

    /// Fills `into` from an address on.
    ///
    /// # Errors
    /// Not all of it can be read, or too much was read already.
    pub fn read(&self, address: u64, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            let from = address
                .checked_add(done as u64)
                .ok_or(io::ErrorKind::InvalidInput)?;
            let start = from & !(PIECE - 1);
            let mut pieces = self.pieces.borrow_mut();
            if !pieces.contains_key(&start) {
                if pieces.len() >= self.most {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                let mut piece = vec![0; PIECE as usize];
                let length = self.memory.read(start, &mut piece).unwrap_or(0);
                piece.truncate(length);
                pieces.insert(start, piece.into());
            }
            let piece = &pieces[&start];
            let there = piece.get((from - start) as usize..).unwrap_or_default();
            let count = there.len().min(into.len() - done);
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            into[done..done + count].copy_from_slice(&there[..count]);
            done += count;
        }
        Ok(())
    }

    /// So many bytes at an address.
    pub(crate) fn bytes(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    fn array<const N: usize>(&self, address: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// The word at an address.
    pub(crate) fn u64(&self, address: u64) -> io::Result<u64> {
        self.array(address).map(u64::from_le_bytes)
    }

    /// Half of a word.
    pub(crate) fn u32(&self, address: u64) -> io::Result<u32> {
        self.array(address).map(u32::from_le_bytes)
    }

    /// A quarter of a word.
    pub(crate) fn u16(&self, address: u64) -> io::Result<u16> {
        self.array(address).map(u16::from_le_bytes)
    }

    /// The beginning of a string, up to its end or `most` bytes.
    pub(crate) fn text(&self, address: u64, most: usize) -> Vec<u8> {
        let mut text = Vec::new();
        for at in 0..most as u64 {
            match self.array(address.wrapping_add(at)) {
                Ok([0]) | Err(_) => break,
                Ok([byte]) => text.push(byte),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 4096 on so many bytes, each of which tells its place.
    struct Few(u64);

    impl Memory for Few {
        fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
            let at = address.checked_sub(4096).ok_or(io::ErrorKind::NotFound)?;
            let count = self.0.saturating_sub(at).min(into.len() as u64) as usize;
            for (index, byte) in into[..count].iter_mut().enumerate() {
                *byte = (at as usize + index) as u8;
            }
            Ok(count)
        }
    }

    #[test]
    fn read_over_pieces_is_whole_and_beyond_the_end_fails() {
        let few = Few(5000);
        let pages = Pages::new(&few, 8);
        assert_eq!(pages.bytes(8190, 4).expect("there"), [254, 255, 0, 1]);
        assert_eq!(pages.u64(4096).expect("there"), 0x0706_0504_0302_0100);
        assert!(pages.bytes(4096 + 4990, 11).is_err());
        assert!(pages.u64(0).is_err());
        assert!(pages.u64(u64::MAX - 3).is_err());
        assert_eq!(pages.text(4097, 3), [1, 2, 3]);
    }

    #[test]
    fn read_more_pieces_than_are_allowed_fails() {
        let few = Few(1 << 20);
        let pages = Pages::new(&few, 2);
        assert!(pages.u64(4096).is_ok() && pages.u64(8192).is_ok());
        assert!(pages.u64(12288).is_err());
        assert!(pages.u64(4100).is_ok(), "what was read stays");
    }
}
