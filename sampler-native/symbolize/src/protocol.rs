//! What client and helper process say to each other: one message a packet, all numbers
//! little-endian.
//!
//! ```text
//! ask     u8 what (1 names, 5 places), u8 kind (0 kernel, 1 file, 2 vDSO), u16 count, u32 module,
//!         u32 process that maps it, text path, count × u64 offset
//!         with the descriptor of the file, and of its debug file if one was fetched; the kernel has
//!         none
//! ready   u8 2, u8 0, u16 version: the first message of the helper process
//! names   u8 3, u8 stripped, u16 count, count × (u64 start of the symbol, text name)
//!         no name: no symbol. Answers the last ask in its order, in one message or more; stripped: 1
//!         if the file's symbols were taken out of it and no debug file is there
//! trouble u8 4, u8 which: of the kernel, or of the file of the last ask, which has no names then
//! place   u8 6, u8 0, u16 count, count × (text function, text file, u32 line), text missing
//!         answers one offset of the last ask, in its order
//! fetch   u8 7, u8 0, u16 length, the build id, u64 most bytes
//!         to a process that fetches, which answers with one *fetched*
//! fetched u8 8, u8 end, u64 bytes, text why
//!         with the descriptor of the debug file if there is one
//! look    u8 10, u8 0, u32 process, text path: a debug file may be at this path in the root of the process of the last ask; 0: in
//!         that of flametop. Answered before all else:
//! looked  u8 11, u8 known: with the descriptor of an ELF file if there is one. known 0: it did not come in time
//! find    u8 12, u8 what (0 functions, 1 probes, 2 a list), u8 argument (all ones: none), u8 0, u32 process, u32 most, u64 offset, text path,
//!         text first pattern, text second pattern (of a list: the file as users write it)
//!         with the descriptor of the file. Answered with *sites*, as many as it takes, then *found*; or with *not found*
//! sites   u8 13, u8 0, u16 count, count × (u8 flags (1 entry, 2 nop, 4 Go, 8 argument), u64 offset, u64 semaphore, text name, text details,
//!         and of an argument u8 kind, u8 bytes, u8 signed, u8 register, u8 index (all ones: none), u8 shift, u64 value)
//! found   u8 14, u8 0, u16 count, u64 all, count × text near
//! none    u8 15, u8 0, text why
//! child   u8 9, u8 0, u16 0, u32 process: what the process that fetches has started; 0: it ended
//! ```
//! A text is its u16 length and so many bytes.
//! Every *ask* carries its descriptor, so the helper may forget what it likes at any time. Neither
//! side trusts the other: a message that does not fit this exactly is none.

mod asks;
mod sites;
mod wire;

pub use asks::{ASK_MAX, Ask, BUILD_ID_MAX, FILE, Fetch, Find, KERNEL, VDSO, What};
use sites::{site, sites_messages};
pub use wire::{MESSAGE_MAX, PATH_MAX};
use wire::{Reader, put_text};

use crate::found::FoundSite;
use crate::{CALLS_MAX, Call, NAME_MAX, TEXT_MAX};

/// Version of the messages; client and helper process must have the same.
pub const VERSION: u16 = 6;

/// Answers a *look*.
pub fn looked(known: bool) -> [u8; 2] {
    [11, known.into()]
}

/// A symbol, or none if it has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where the symbol begins.
    pub start: u64,
    /// At most [`NAME_MAX`] bytes; empty: there is no symbol.
    pub name: Vec<u8>,
}

/// The source of one offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// At most [`CALLS_MAX`], outermost first.
    pub calls: Vec<Call>,
    /// Why there are none, at most [`NAME_MAX`] bytes.
    pub missing: Vec<u8>,
}

/// What the helper process cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// `/proc/kallsyms` shows no addresses.
    KernelHidden = 0,
    /// `/proc/kallsyms` cannot be read.
    KernelUnreadable = 1,
    /// The file has too many symbols.
    Symbols = 2,
    /// Its packed symbols are too many.
    Packed = 3,
    /// It has too many sections, or too long names of them.
    Sections = 4,
    /// All of this is well, but not of its debug file.
    DebugFile = 5,
}

impl Trouble {
    /// Whether symbols are not read since that would cost too much.
    pub fn is_limit(self) -> bool {
        !matches!(self, Trouble::KernelHidden | Trouble::KernelUnreadable)
    }

    /// All, by their numbers.
    pub const ALL: [Trouble; 6] = {
        use Trouble::*;
        [
            KernelHidden,
            KernelUnreadable,
            Symbols,
            Packed,
            Sections,
            DebugFile,
        ]
    };
}

/// How a search for a debug file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was in the cache.
    Cached = 0,
    /// A server had it.
    Fetched = 1,
    /// The cache says that no server has it, or each server says so.
    Absent = 2,
    /// What a server gave is not taken.
    Refused = 3,
    /// No server gave an answer.
    Unreachable = 4,
    /// It is not in the cache, and there is no server to ask.
    NoServer = 5,
    /// There is no cache, and no server to ask.
    Nothing = 6,
    /// The file of a server has more bytes than are fetched.
    TooLarge = 7,
}

impl Ended {
    fn of(number: u8) -> Option<Ended> {
        use Ended::*;
        [
            Cached,
            Fetched,
            Absent,
            Refused,
            Unreachable,
            NoServer,
            Nothing,
            TooLarge,
        ]
        .into_iter()
        .find(|ended| *ended as u8 == number)
    }
}

/// Most names that are near.
const NEAR_MAX: usize = 8;

/// A message of the helper process.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// It runs and speaks this version.
    Ready(u16),
    /// Answers.
    Names {
        /// The file's symbols were taken out of it, and no debug file is there.
        stripped: bool,
        /// One of each offset.
        found: Vec<Found>,
    },
    /// Answers a *fetch*.
    Fetched {
        /// How it ended.
        ended: Ended,
        /// Bytes that came over the network.
        bytes: u64,
        /// What went wrong, in words; at most [`NAME_MAX`] bytes.
        why: Vec<u8>,
    },
    /// A process that was started; 0: it has ended.
    Child(u32),
    /// A file is wanted that may be a debug file.
    Look {
        /// 0: flametop.
        process: u32,
        /// In the root of the process, at most [`PATH_MAX`] bytes.
        path: Vec<u8>,
    },
    /// Told once, before the answers.
    Trouble(Trouble),
    /// Answers one offset.
    Place(Place),
    /// Places of functions or probes.
    Sites(Vec<FoundSite>),
    /// The end of them.
    Found {
        /// How many there are.
        all: u64,
        /// Names that may be meant.
        near: Vec<Vec<u8>>,
    },
    /// Nothing can be found, in words; at most [`NAME_MAX`] bytes.
    NotFound(Vec<u8>),
}

impl Place {
    fn encode(&self) -> Vec<u8> {
        let mut out = vec![6, 0];
        let calls = &self.calls[..self.calls.len().min(CALLS_MAX)];
        out.extend((calls.len() as u16).to_le_bytes());
        for call in calls {
            put_text(&mut out, &call.function, TEXT_MAX);
            put_text(&mut out, &call.file, TEXT_MAX);
            out.extend(call.line.to_le_bytes());
        }
        put_text(&mut out, &self.missing, NAME_MAX);
        out
    }
}

impl Reply {
    /// The bytes of the messages: more than one where the answers do not fit into [`MESSAGE_MAX`].
    pub fn encode(&self) -> Vec<Vec<u8>> {
        let (stripped, found) = match self {
            Reply::Ready(version) => {
                let [low, high] = version.to_le_bytes();
                return vec![vec![2, 0, low, high]];
            }
            Reply::Trouble(trouble) => return vec![vec![4, *trouble as u8]],
            Reply::Place(place) => return vec![place.encode()],
            Reply::Fetched { ended, bytes, why } => {
                let mut message = vec![8, *ended as u8];
                message.extend(bytes.to_le_bytes());
                put_text(&mut message, why, NAME_MAX);
                return vec![message];
            }
            Reply::Look { process, path } => {
                let mut message = vec![10, 0];
                message.extend(process.to_le_bytes());
                put_text(&mut message, path, PATH_MAX);
                return vec![message];
            }
            Reply::Child(process) => {
                let mut message = vec![9, 0, 0, 0];
                message.extend(process.to_le_bytes());
                return vec![message];
            }
            Reply::Found { all, near } => {
                let near = &near[..near.len().min(NEAR_MAX)];
                let mut message = vec![14, 0, near.len() as u8, 0];
                message.extend(all.to_le_bytes());
                for name in near {
                    put_text(&mut message, name, NAME_MAX);
                }
                return vec![message];
            }
            Reply::NotFound(why) => {
                let mut message = vec![15, 0];
                put_text(&mut message, why, NAME_MAX);
                return vec![message];
            }
            Reply::Sites(sites) => return sites_messages(sites),
            Reply::Names { stripped, found } => (u8::from(*stripped), found),
        };
        let mut messages: Vec<Vec<u8>> = Vec::new();
        let mut count = 0u16;
        for Found { start, name } in found {
            let name = &name[..name.len().min(NAME_MAX)];
            if messages
                .last()
                .is_none_or(|message| message.len() + 10 + name.len() > MESSAGE_MAX)
            {
                messages.push(vec![3, stripped, 0, 0]);
                count = 0;
            }
            count += 1;
            if let Some(message) = messages.last_mut() {
                message[2..4].copy_from_slice(&count.to_le_bytes());
                message.extend(start.to_le_bytes());
                put_text(message, name, NAME_MAX);
            }
        }
        messages
    }

    /// The reply in `message`, if it is one.
    pub fn decode(message: &[u8]) -> Option<Reply> {
        let mut reader = Reader(message);
        let reply = match reader.array()? {
            [2, 0] => Reply::Ready(reader.u16()?),
            [4, which] => Reply::Trouble(*Trouble::ALL.get(usize::from(which))?),
            [3, stripped @ 0..=1] => {
                let count = usize::from(reader.u16()?);
                let mut found = Vec::with_capacity(count.min(ASK_MAX));
                for _ in 0..count {
                    found.push(Found {
                        start: reader.u64()?,
                        name: reader.text(NAME_MAX)?,
                    });
                }
                Reply::Names {
                    stripped: stripped == 1,
                    found,
                }
            }
            [6, 0] => {
                let count = usize::from(reader.u16()?);
                let mut place = Place::default();
                for _ in 0..count {
                    place.calls.push(Call {
                        function: reader.text(TEXT_MAX)?,
                        file: reader.text(TEXT_MAX)?,
                        line: reader.u32()?,
                    });
                }
                place.missing = reader.text(NAME_MAX)?;
                if count > CALLS_MAX {
                    return None;
                }
                Reply::Place(place)
            }
            [8, ended] => Reply::Fetched {
                ended: Ended::of(ended)?,
                bytes: reader.u64()?,
                why: reader.text(NAME_MAX)?,
            },
            [10, 0] => Reply::Look {
                process: reader.u32()?,
                path: reader.text(PATH_MAX)?,
            },
            [13, 0] => {
                let count = usize::from(reader.u16()?);
                let sites = (0..count).map(|_| site(&mut reader));
                Reply::Sites(sites.collect::<Option<_>>()?)
            }
            [14, 0] => {
                let count = usize::from(reader.u16()?);
                let all = reader.u64()?;
                let near = (0..count).map(|_| reader.text(NAME_MAX));
                let near: Vec<_> = near.collect::<Option<_>>()?;
                if near.len() > NEAR_MAX {
                    return None;
                }
                Reply::Found { all, near }
            }
            [15, 0] => Reply::NotFound(reader.text(NAME_MAX)?),
            [9, 0] => match reader.u16()? {
                0 => Reply::Child(reader.u32()?),
                _ => return None,
            },
            _ => return None,
        };
        reader.0.is_empty().then_some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::{Argument, ArgumentPlace, Wanted};

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

    fn place() -> Place {
        let call = |i: usize| Call {
            function: vec![b'f'; i * 20],
            file: b"/src/main.c".to_vec(),
            line: i as u32,
        };
        Place {
            calls: (0..CALLS_MAX).map(call).collect(),
            missing: b"why".to_vec(),
        }
    }

    #[test]
    fn encode_longest_place_fits_into_a_message() {
        let longest = Place {
            calls: vec![
                Call {
                    function: vec![b'f'; TEXT_MAX + 1],
                    file: vec![b'/'; TEXT_MAX + 1],
                    line: u32::MAX,
                };
                CALLS_MAX + 1
            ],
            missing: vec![b'm'; NAME_MAX + 1],
        };
        let message = longest.encode();
        assert!(message.len() <= MESSAGE_MAX);
        assert!(matches!(
            Reply::decode(&message),
            Some(Reply::Place(place)) if place.calls.len() == CALLS_MAX
        ));
    }

    #[test]
    fn decode_what_was_encoded_is_the_same() {
        let ask = Ask {
            what: What::Places,
            kind: FILE,
            module: 7,
            process: 1,
            path: b"/usr/bin/true".to_vec(),
            offsets: vec![0, 1, u64::MAX],
        };
        assert_eq!(Ask::decode(&ask.encode()), Some(ask));
        for reply in [
            Reply::Place(place()),
            Reply::Ready(VERSION),
            Reply::Trouble(Trouble::KernelHidden),
            Reply::Trouble(Trouble::KernelUnreadable),
            Reply::Trouble(Trouble::Sections),
            Reply::Child(7),
            Reply::Sites(vec![
                FoundSite {
                    name: b"usdt:a:b:c".to_vec(),
                    details: b"int32 arg0".to_vec(),
                    offset: 1 << 33,
                    entry: true,
                    go: true,
                    ..FoundSite::default()
                },
                FoundSite {
                    nop5: true,
                    semaphore: 5,
                    argument: Some(Argument {
                        place: ArgumentPlace::Memory(19, -8, Some((3, 2))),
                        bytes: 4,
                        signed: true,
                    }),
                    ..FoundSite::default()
                },
            ]),
            Reply::Found {
                all: 1 << 40,
                near: vec![b"x".to_vec(), b"y".to_vec()],
            },
            Reply::NotFound(b"why".to_vec()),
            Reply::Look {
                process: 7,
                path: b"/usr/lib/debug/x".to_vec(),
            },
            Reply::Fetched {
                ended: Ended::Absent,
                bytes: 1 << 40,
                why: b"why".to_vec(),
            },
        ] {
            assert_eq!(Reply::decode(&reply.encode()[0]), Some(reply));
        }
        for wanted in [
            Wanted::Functions {
                name: "a::*".to_owned(),
                offset: 16,
            },
            Wanted::Probes {
                provider: "p".to_owned(),
                name: "/n/".to_owned(),
                argument: Some(3),
            },
            Wanted::Listed {
                pattern: String::new(),
                file: "/a\\:b".to_owned(),
            },
        ] {
            let find = Find {
                process: 7,
                path: b"/a:b".to_vec(),
                most: 9,
                wanted,
            };
            assert_eq!(Find::decode(&find.encode()), Some(find));
        }
        let fetch = Fetch {
            build_id: vec![7; BUILD_ID_MAX],
            most: u64::MAX,
        };
        assert_eq!(Fetch::decode(&fetch.encode()), Some(fetch));
    }

    #[test]
    fn encode_more_names_than_fit_are_split_in_order() {
        let found: Vec<Found> = (0..ASK_MAX)
            .map(|i| Found {
                start: i as u64,
                name: vec![b'a' + (i % 26) as u8; i * 7 % (NAME_MAX + 1)],
            })
            .collect();
        let messages = Reply::Names {
            stripped: true,
            found: found.clone(),
        }
        .encode();
        assert!(messages.len() > 1);
        let mut back = Vec::new();
        for message in &messages {
            assert!(message.len() <= MESSAGE_MAX);
            match Reply::decode(message) {
                Some(Reply::Names {
                    stripped: true,
                    found,
                }) => back.extend(found),
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
                bytes[0] = 1 + (noise.next() % 15) as u8;
                bytes[1] = (noise.next() % 3) as u8;
                bytes[2] = (noise.next() % 5) as u8;
                bytes[3] = 0;
            }
            if let Some(ask) = Ask::decode(&bytes) {
                assert_eq!(ask.encode(), bytes);
            }
            if let Some(fetch) = Fetch::decode(&bytes) {
                assert_eq!(fetch.encode(), bytes);
            }
            if let Some(find) = Find::decode(&bytes) {
                assert_eq!(find.encode(), bytes);
            }
            match Reply::decode(&bytes) {
                Some(Reply::Names { found, .. }) if found.is_empty() => {}
                Some(Reply::Sites(sites)) if sites.is_empty() => {}
                Some(reply) => assert_eq!(reply.encode(), [bytes]),
                None => {}
            }
        }
    }

    #[test]
    fn decode_every_prefix_of_a_message_is_none() {
        let ask = Ask {
            what: What::Names,
            kind: KERNEL,
            module: 1,
            process: 0,
            path: Vec::new(),
            offsets: vec![1, 2, 3],
        }
        .encode();
        let names = Reply::Names {
            stripped: false,
            found: vec![
                Found {
                    start: 1,
                    name: b"read".to_vec(),
                },
                Found::default(),
            ],
        }
        .encode()
        .remove(0);
        for length in 0..ask.len() {
            assert_eq!(Ask::decode(&ask[..length]), None);
        }
        for message in [names, place().encode()] {
            for length in 0..message.len() {
                assert_eq!(Reply::decode(&message[..length]), None);
            }
        }
    }
}
