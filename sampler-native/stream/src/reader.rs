//! Reading a stream batch by batch. Every length is checked; damage ends the reading, with its place.

use std::{fmt, io::Read};

use crate::{
    BATCH_HEADER, BATCH_MORE, BATCH_PASS, MAGIC, MAX_BATCH, RECORD_HEADER, Record, VERSION,
    decode::Body,
};

/// The stream is damaged, cut off, or no stream of flametop. All bytes before `at` are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte of the file where the damaged header, batch or record begins.
    pub at: u64,
    /// The fault.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.what, self.at)
    }
}

impl std::error::Error for Damage {}

/// The file header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the stream.
    pub version: u32,
    /// Facts in the order of the file.
    pub facts: Vec<(String, String)>,
}

impl Header {
    /// The value of a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }
}

/// Reads a stream batch by batch.
pub struct Reader<R> {
    input: R,
    header: Header,
    at: u64,
    sequence: u32,
    batch: Vec<u8>,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the file header.
    ///
    /// # Errors
    /// [`Damage`] if the input is no stream or a newer stream, or if the header is damaged.
    pub fn new(mut input: R) -> Result<Reader<R>, Damage> {
        let damage = |what: &str| Damage {
            at: 0,
            what: what.to_owned(),
        };
        let mut fixed = Vec::new();
        if read_up_to(&mut input, 20, &mut fixed).map_err(|e| damage(&e))? < 20 {
            return Err(damage("not a flametop stream: it is too short"));
        }
        if fixed[..8] != MAGIC {
            return Err(damage("not a flametop stream"));
        }
        let word =
            |i: usize| u32::from_le_bytes([fixed[i], fixed[i + 1], fixed[i + 2], fixed[i + 3]]);
        let (version, length, crc) = (word(8), word(12) as usize, word(16));
        if version == 0 {
            return Err(damage("a stream of version 0, which there never was"));
        }
        if version > VERSION {
            return Err(damage(&format!(
                "a flametop stream of version {version}, this flametop reads up to version {VERSION}: open it with a newer flametop"
            )));
        }
        let mut facts = Vec::new();
        if length > MAX_BATCH
            || read_up_to(&mut input, length, &mut facts).map_err(|e| damage(&e))? < length
            || crc32fast::hash(&facts) != crc
        {
            return Err(damage("the header is damaged"));
        }
        let facts = String::from_utf8(facts).map_err(|_| damage("the header is not UTF-8"))?;
        let facts = facts
            .lines()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        Ok(Reader {
            input,
            header: Header { version, facts },
            at: 20 + length as u64,
            sequence: 0,
            batch: Vec::new(),
            ended: false,
        })
    }

    /// The file header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next batch, `None` at the end of the file.
    ///
    /// # Errors
    /// [`Damage`]; there is no batch after that.
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>, Damage> {
        if self.ended {
            return Ok(None);
        }
        let at = self.at;
        match self.read_batch() {
            Ok(true) => {
                let b = &self.batch;
                let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
                let flags = u16::from_le_bytes([b[20], b[21]]);
                Ok(Some(Batch {
                    time: u64::from(word(8)) | u64::from(word(12)) << 32,
                    sequence: word(16),
                    pass: flags & BATCH_PASS != 0,
                    more: flags & BATCH_MORE != 0,
                    at,
                    records: &b[BATCH_HEADER..],
                }))
            }
            Ok(false) => {
                self.ended = true;
                Ok(None)
            }
            Err(what) => {
                self.ended = true;
                Err(Damage { at, what })
            }
        }
    }

    fn read_batch(&mut self) -> Result<bool, String> {
        self.batch.clear();
        match read_up_to(&mut self.input, BATCH_HEADER, &mut self.batch)? {
            0 => return Ok(false),
            BATCH_HEADER => {}
            _ => return Err("the stream is cut off in a batch".to_owned()),
        }
        let b = &self.batch;
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let (length, crc, sequence) = (word(0) as usize, word(4), word(16));
        if !(BATCH_HEADER..=MAX_BATCH).contains(&length) {
            return Err(format!("a batch claims {length} bytes"));
        }
        let rest = length - BATCH_HEADER;
        if read_up_to(&mut self.input, rest, &mut self.batch)? < rest {
            return Err("the stream is cut off in a batch".to_owned());
        }
        if crc32fast::hash(&self.batch[8..]) != crc {
            return Err("the checksum of a batch does not match".to_owned());
        }
        if sequence != self.sequence {
            return Err(format!("batch {} is missing", self.sequence));
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.at += length as u64;
        Ok(true)
    }
}

/// Appends up to `count` bytes to `into`; fewer only at the end of the input. Memory grows with the bytes that are there, not with `count`.
fn read_up_to(input: &mut impl Read, count: usize, into: &mut Vec<u8>) -> Result<usize, String> {
    input
        .by_ref()
        .take(count as u64)
        .read_to_end(into)
        .map_err(|e| format!("the stream cannot be read: {e}"))
}

/// One batch.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The moment when the pass of the batch began, or when the batch was filled.
    pub time: u64,
    /// The number of the batch.
    pub sequence: u32,
    /// The batch ends a pass.
    pub pass: bool,
    /// The pass goes on in the next batch.
    pub more: bool,
    at: u64,
    records: &'a [u8],
}

impl<'a> Batch<'a> {
    /// The records of the batch.
    pub fn records(&self) -> Records<'a> {
        Records {
            rest: self.records,
            at: self.at + BATCH_HEADER as u64,
        }
    }
}

/// Records of a batch; ends after the first damage.
pub struct Records<'a> {
    rest: &'a [u8],
    at: u64,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(self.step().map_err(|what| {
            self.rest = &[];
            Damage {
                at: self.at,
                what: what.to_owned(),
            }
        }))
    }
}

impl<'a> Records<'a> {
    fn step(&mut self) -> Result<Record<'a>, &'static str> {
        let mut header = Body(self.rest);
        let kind = header.u16()?;
        header.u16()?;
        let length = header.u32()? as usize;
        let body = header.take(length)?;
        let record = Record::decode(kind, body)?;
        self.rest = header.0;
        self.at += (RECORD_HEADER + length) as u64;
        Ok(record)
    }
}
