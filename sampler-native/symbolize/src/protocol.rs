//! What client and helper process say to each other: one message a packet, all numbers
//! little-endian.
//!
//! ```text
//! ask     u8 1, u8 kind (0 kernel, 1 file, 2 vDSO), u16 count, u32 module, count × u64 offset
//!         with the descriptor of the file; the kernel has none
//! ready   u8 2, u8 0, u16 version: the first message of the helper process
//! names   u8 3, u8 0, u16 count, count × (u64 start of the symbol, u16 length, the name)
//!         length 0: no symbol. Answers the last ask in its order, in one message or more
//! trouble u8 4, u8 which
//! ```
//! Every *ask* carries its descriptor, so the helper may forget what it likes at any time. Neither
//! side trusts the other: a message that does not fit this exactly is none.

use crate::NAME_MAX;

/// Version of the messages; client and helper process must have the same.
pub const VERSION: u16 = 1;
/// Most offsets in one *ask*.
pub const ASK_MAX: usize = 512;
/// Longest message, in bytes.
pub const MESSAGE_MAX: usize = 32 << 10;

/// The kernel's symbols.
pub const KERNEL: u8 = 0;
/// An ELF file.
pub const FILE: u8 = 1;
/// An ELF file in memory.
pub const VDSO: u8 = 2;

/// A question of the client.
#[derive(Debug, PartialEq, Eq)]
pub struct Ask {
    /// [`KERNEL`], [`FILE`] or [`VDSO`].
    pub kind: u8,
    /// The client's number of the module.
    pub module: u32,
    /// At most [`ASK_MAX`].
    pub offsets: Vec<u64>,
}

/// A symbol, or none if it has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where the symbol begins.
    pub start: u64,
    /// At most [`NAME_MAX`] bytes; empty: there is no symbol.
    pub name: Vec<u8>,
}

/// What the helper process cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// `/proc/kallsyms` shows no addresses.
    KernelHidden = 0,
    /// `/proc/kallsyms` cannot be read.
    KernelUnreadable = 1,
}

/// A message of the helper process.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// It runs and speaks this version.
    Ready(u16),
    /// Answers.
    Names(Vec<Found>),
    /// Told once, before the answers.
    Trouble(Trouble),
}

/// Takes numbers off the front of a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

impl Ask {
    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![1, self.kind];
        out.extend((self.offsets.len() as u16).to_le_bytes());
        out.extend(self.module.to_le_bytes());
        for offset in &self.offsets {
            out.extend(offset.to_le_bytes());
        }
        out
    }

    /// The question in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Ask> {
        let mut reader = Reader(message);
        let [1, kind @ KERNEL..=VDSO] = reader.array()? else {
            return None;
        };
        let count = usize::from(reader.u16()?);
        let module = u32::from_le_bytes(reader.array()?);
        if count > ASK_MAX || reader.0.len() != count * 8 {
            return None;
        }
        let offsets = reader
            .0
            .chunks_exact(8)
            .filter_map(|chunk| Reader(chunk).u64())
            .collect();
        Some(Ask {
            kind,
            module,
            offsets,
        })
    }
}

impl Reply {
    /// The bytes of the messages: more than one where the answers do not fit into [`MESSAGE_MAX`].
    pub fn encode(&self) -> Vec<Vec<u8>> {
        let found = match self {
            Reply::Ready(version) => {
                let [low, high] = version.to_le_bytes();
                return vec![vec![2, 0, low, high]];
            }
            Reply::Trouble(trouble) => return vec![vec![4, *trouble as u8]],
            Reply::Names(found) => found,
        };
        let mut messages: Vec<Vec<u8>> = Vec::new();
        let mut count = 0u16;
        for Found { start, name } in found {
            let name = &name[..name.len().min(NAME_MAX)];
            if messages
                .last()
                .is_none_or(|message| message.len() + 10 + name.len() > MESSAGE_MAX)
            {
                messages.push(vec![3, 0, 0, 0]);
                count = 0;
            }
            count += 1;
            if let Some(message) = messages.last_mut() {
                message[2..4].copy_from_slice(&count.to_le_bytes());
                message.extend(start.to_le_bytes());
                message.extend((name.len() as u16).to_le_bytes());
                message.extend(name);
            }
        }
        messages
    }

    /// The reply in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Reply> {
        let mut reader = Reader(message);
        let reply = match reader.array()? {
            [2, 0] => Reply::Ready(reader.u16()?),
            [4, 0] => Reply::Trouble(Trouble::KernelHidden),
            [4, 1] => Reply::Trouble(Trouble::KernelUnreadable),
            [3, 0] => {
                let count = usize::from(reader.u16()?);
                let mut found = Vec::with_capacity(count.min(ASK_MAX));
                for _ in 0..count {
                    let start = reader.u64()?;
                    let length = usize::from(reader.u16()?);
                    if length > NAME_MAX {
                        return None;
                    }
                    found.push(Found {
                        start,
                        name: reader.bytes(length)?.to_vec(),
                    });
                }
                Reply::Names(found)
            }
            _ => return None,
        };
        reader.0.is_empty().then_some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xorshift64*: enough to reach every branch, and the same in every run.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }
    }

    #[test]
    fn decode_what_was_encoded_is_the_same() {
        let ask = Ask {
            kind: FILE,
            module: 7,
            offsets: vec![0, 1, u64::MAX],
        };
        assert_eq!(Ask::decode(&ask.encode()), Some(ask));
        for reply in [
            Reply::Ready(VERSION),
            Reply::Trouble(Trouble::KernelHidden),
            Reply::Trouble(Trouble::KernelUnreadable),
        ] {
            assert_eq!(Reply::decode(&reply.encode()[0]), Some(reply));
        }
    }

    #[test]
    fn encode_more_names_than_fit_are_split_in_order() {
        let found: Vec<Found> = (0..ASK_MAX)
            .map(|i| Found {
                start: i as u64,
                name: vec![b'a' + (i % 26) as u8; i * 7 % (NAME_MAX + 1)],
            })
            .collect();
        let messages = Reply::Names(found.clone()).encode();
        assert!(messages.len() > 1);
        let mut back = Vec::new();
        for message in &messages {
            assert!(message.len() <= MESSAGE_MAX);
            match Reply::decode(message) {
                Some(Reply::Names(part)) => back.extend(part),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(back, found);
    }

    #[test]
    fn decode_any_bytes_is_a_message_that_encodes_back_or_none() {
        let mut noise = Noise(42);
        for round in 0..200_000 {
            let mut bytes: Vec<u8> = (0..noise.next() % 64).map(|_| noise.next() as u8).collect();
            // Plain noise ends at the tag: most rounds start from a good header.
            if round % 4 != 0 && bytes.len() >= 4 {
                bytes[0] = 1 + (noise.next() % 4) as u8;
                bytes[1] = (noise.next() % 3) as u8;
                bytes[2] = (noise.next() % 5) as u8;
                bytes[3] = 0;
            }
            if let Some(ask) = Ask::decode(&bytes) {
                assert_eq!(ask.encode(), bytes);
            }
            match Reply::decode(&bytes) {
                Some(Reply::Names(found)) if found.is_empty() => {}
                Some(reply) => assert_eq!(reply.encode(), [bytes]),
                None => {}
            }
        }
    }

    #[test]
    fn decode_every_prefix_of_a_message_is_none() {
        let ask = Ask {
            kind: KERNEL,
            module: 1,
            offsets: vec![1, 2, 3],
        }
        .encode();
        let names = Reply::Names(vec![
            Found {
                start: 1,
                name: b"read".to_vec(),
            },
            Found::default(),
        ])
        .encode()
        .remove(0);
        for length in 0..ask.len() {
            assert_eq!(Ask::decode(&ask[..length]), None);
        }
        for length in 0..names.len() {
            assert_eq!(Reply::decode(&names[..length]), None);
        }
    }
}
