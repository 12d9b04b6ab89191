//! Made-up memory of a process.

use std::io;

use flametop_runtimes::{Memory, Stack};

/// Bytes from an address on.
#[derive(Clone)]
pub struct Area(pub u64, pub Vec<u8>);

impl Area {
    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        let at = (address - self.0) as usize;
        self.1[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub fn set(&mut self, address: u64, word: u64) {
        self.put(address, &word.to_le_bytes());
    }

    pub fn get(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.0)?).ok()?;
        let bytes = self.1.get(at..at.checked_add(8)?)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }
}

impl Area {
    /// A program at the beginning, which exports symbols: name, offset, size.
    pub fn export(&mut self, symbols: &[(&str, u64, u64)]) {
        let base = self.0;
        let names = 0x200 + 24 * (symbols.len() as u64 + 1);
        // ELF: one program header, the dynamic section, symbols and their names.
        self.put(base, b"\x7fELF");
        self.put(base + 16, &3u16.to_le_bytes());
        self.set(base + 32, 64);
        self.put(base + 56, &1u16.to_le_bytes());
        self.put(base + 64, &2u32.to_le_bytes());
        self.set(base + 64 + 16, 0x100);
        let texts: u64 = symbols.iter().map(|(text, ..)| text.len() as u64 + 1).sum();
        let hashes = (names + texts + 1).next_multiple_of(8);
        let dynamic = [6, 0x200, 5, base + names, 0x6fff_fef5, base + hashes, 0];
        for (index, word) in (0..).zip(dynamic) {
            self.set(base + 0x100 + 8 * index, word);
        }
        let mut name = 1;
        for (at, (text, address, size)) in (base + 0x200 + 24..).step_by(24).zip(symbols) {
            self.put(at, &(name as u32).to_le_bytes());
            self.put(at + 6, &1u16.to_le_bytes());
            self.set(at + 8, *address);
            self.set(at + 16, *size);
            self.put(base + names + name, text.as_bytes());
            name += text.len() as u64 + 1;
        }
        // The table of hashes: one bucket, the first symbol, one word of a filter; then all hashes, the last one odd.
        for (index, number) in (0..).zip([1u32, 1, 1, 0, 0, 0, 1]) {
            self.put(base + hashes + 4 * index, &number.to_le_bytes());
        }
        for (index, (text, ..)) in (1..).zip(symbols) {
            let hash = text.bytes().fold(5381u32, |hash, byte| {
                hash.wrapping_mul(33).wrapping_add(byte.into())
            });
            let is_last = index == symbols.len() as u64;
            let hash = hash & !1 | u32::from(is_last);
            self.put(base + hashes + 24 + 4 * index, &hash.to_le_bytes());
        }
    }
}

impl Memory for Area {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let at = address.checked_sub(self.0).ok_or(io::ErrorKind::NotFound)?;
        let there = self.1.get(at as usize..).unwrap_or_default();
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }
}

impl Stack for Area {
    fn word(&self, address: u64) -> Option<u64> {
        self.get(address)
    }
}
