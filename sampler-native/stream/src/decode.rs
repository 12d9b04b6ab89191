//! Reading. Nothing here trusts the file: every length is checked, and damage ends the reading with the place of it.

use std::{borrow::Cow, fmt, io::Read};

use crate::{
    BATCH_HEADER, BATCH_MORE, BATCH_PASS, COUNTERS, Call, End, FRAME_GUESSED, Head, IdleFacts,
    Kind, Level, MAGIC, MAX_BATCH, ModuleKind, NO_PROCESS, NO_STACK, NameSource, SAMPLE_USER,
    Space, State, VERSION, encode::RECORD_HEADER,
};

/// One record; the table of the crate describes the fields.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Totals by [`Counter`](crate::Counter).
    Counters([u64; COUNTERS]),
    ProcessSeen {
        process: u32,
        tgid: u32,
        start_boottime: u64,
        self_exec_id: u32,
        uid: u32,
        cgroup: u64,
        kthread: bool,
        comm: &'a [u8],
        cmdline: &'a [u8],
    },
    TaskSeen {
        task: u32,
        process: u32,
        tid: u32,
        start: u64,
        fresh: bool,
        comm: &'a [u8],
    },
    TaskGone {
        task: u32,
        time: u64,
        run: u64,
        wait: u64,
        exact: bool,
    },
    /// `ns`: [`NOT_COUNTED`](crate::NOT_COUNTED) where the kernel does not count it.
    TaskBlocked {
        task: u32,
        ns: u64,
    },
    ModuleSeen {
        module: u32,
        kind: ModuleKind,
        path: &'a [u8],
        build_id: &'a [u8],
    },
    FrameSeen {
        frame: u32,
        module: u32,
        offset: u64,
        guessed: bool,
    },
    /// `frames` are outermost first: `user` user frames, then kernel frames.
    StackSeen {
        stack: u32,
        end: End,
        user: u16,
        frames: Cow<'a, [u32]>,
    },
    TaskChanged(Head),
    CpuSample(Head),
    /// `ticks`: user, nice, system, irq, softirq, steal.
    CpuUsage {
        cpu: u32,
        idle: u64,
        elapsed: u64,
        wakeups: u64,
        own_wakeups: u64,
        ticks: [u64; 6],
    },
    IdleState {
        cpu: u32,
        state: u32,
        residency: u64,
        entries: u64,
        too_short: u64,
        too_long: u64,
    },
    Name {
        frame: u32,
        source: NameSource,
        name: &'a [u8],
    },
    Notice {
        level: Level,
        text: &'a [u8],
        process: Option<u32>,
    },
    /// `load`: averages over 1, 5 and 15 minutes, × 100.
    HostUsage {
        load: [u32; 3],
        pass_hz: u32,
        cpu_hz: u32,
        own_cpu: u64,
    },
    Forgotten {
        space: Space,
        ids: Cow<'a, [u32]>,
    },
    /// `cpu`: parts and their ns; `resident`: processes and their bytes.
    OwnUsage {
        cpu: Vec<(&'a [u8], u64)>,
        resident: Vec<(&'a [u8], u64)>,
    },
    /// `calls` are outermost first; without any `missing` says why.
    Place {
        frame: u32,
        calls: Vec<Call<'a>>,
        missing: &'a [u8],
    },
    CpuCycles {
        cpu: u32,
        frequency: u64,
        offered: u64,
        cycles: u64,
    },
    Cgroup {
        process: u32,
        path: &'a [u8],
    },
    CpuChanged {
        cpu: u32,
        online: bool,
        idle: Vec<IdleFacts<'a>>,
    },
    /// Of a kind that this version does not know, or a *forgotten* of such a space of ids.
    Unknown {
        kind: u16,
        body: &'a [u8],
    },
}

impl<'a> Record<'a> {
    /// The record in this body.
    ///
    /// # Errors
    /// What is wrong with the body.
    pub fn decode(kind: u16, body: &'a [u8]) -> Result<Record<'a>, &'static str> {
        let Some(kind) = Kind::of(kind) else {
            return Ok(Record::Unknown { kind, body });
        };
        let mut b = Body(body);
        Ok(match kind {
            Kind::Counters => {
                let mut totals = [0; COUNTERS];
                for i in 0..usize::from(b.u16()?) {
                    let total = b.u64()?;
                    if let Some(known) = totals.get_mut(i) {
                        *known = total;
                    }
                }
                Record::Counters(totals)
            }
            Kind::ProcessSeen => Record::ProcessSeen {
                process: b.u32()?,
                tgid: b.u32()?,
                start_boottime: b.u64()?,
                self_exec_id: b.u32()?,
                uid: b.u32()?,
                cgroup: b.u64()?,
                kthread: b.u8()? != 0,
                comm: b.str()?,
                cmdline: b.str()?,
            },
            Kind::TaskSeen => Record::TaskSeen {
                task: b.u32()?,
                process: b.u32()?,
                tid: b.u32()?,
                start: b.u64()?,
                fresh: b.u8()? != 0,
                comm: b.str()?,
            },
            Kind::TaskGone => Record::TaskGone {
                task: b.u32()?,
                time: b.u64()?,
                run: b.u64()?,
                wait: b.u64()?,
                exact: b.u8()? != 0,
            },
            Kind::TaskBlocked => Record::TaskBlocked {
                task: b.u32()?,
                ns: b.u64()?,
            },
            Kind::ModuleSeen => Record::ModuleSeen {
                module: b.u32()?,
                kind: ModuleKind(b.u8()?),
                path: b.str()?,
                build_id: b.str()?,
            },
            Kind::FrameSeen => Record::FrameSeen {
                frame: b.u32()?,
                module: b.u32()?,
                offset: b.u64()?,
                guessed: b.u8()? & FRAME_GUESSED != 0,
            },
            Kind::StackSeen => {
                let stack = b.u32()?;
                let end = End(b.u8()?);
                b.u8()?;
                let (user, kernel) = (b.u16()?, b.u16()?);
                Record::StackSeen {
                    stack,
                    end,
                    user,
                    frames: b.ids(usize::from(user) + usize::from(kernel))?.into(),
                }
            }
            Kind::TaskChanged => Record::TaskChanged(b.head()?),
            Kind::CpuSample => Record::CpuSample(b.head()?),
            Kind::CpuUsage => Record::CpuUsage {
                cpu: b.u32()?,
                idle: b.u64()?,
                elapsed: b.u64()?,
                wakeups: b.u64()?,
                own_wakeups: b.u64()?,
                ticks: [b.u64()?, b.u64()?, b.u64()?, b.u64()?, b.u64()?, b.u64()?],
            },
            Kind::IdleState => Record::IdleState {
                cpu: b.u32()?,
                state: b.u32()?,
                residency: b.u64()?,
                entries: b.u64()?,
                too_short: b.u64()?,
                too_long: b.u64()?,
            },
            Kind::Name => Record::Name {
                frame: b.u32()?,
                source: NameSource(b.u8()?),
                name: b.str()?,
            },
            Kind::Notice => Record::Notice {
                level: Level(b.u8()?),
                text: b.str()?,
                process: match b.0.is_empty() {
                    true => None,
                    false => Some(b.u32()?).filter(|p| *p != NO_PROCESS),
                },
            },
            Kind::HostUsage => Record::HostUsage {
                load: [b.u32()?, b.u32()?, b.u32()?],
                pass_hz: b.u32()?,
                cpu_hz: b.u32()?,
                own_cpu: b.u64()?,
            },
            Kind::Forgotten => {
                let space = Space(b.u8()?);
                if !space.is_known() {
                    let kind = kind as u16;
                    return Ok(Record::Unknown { kind, body });
                }
                b.take(3)?;
                let count = b.u32()? as usize;
                Record::Forgotten {
                    space,
                    ids: b.ids(count)?.into(),
                }
            }
            Kind::Place => {
                let frame = b.u32()?;
                let count = b.u16()?;
                let call = |b: &mut Body<'a>| {
                    Ok(Call {
                        function: b.str()?,
                        file: b.str()?,
                        line: b.u32()?,
                    })
                };
                let calls: Result<_, &'static str> = (0..count).map(|_| call(&mut b)).collect();
                Record::Place {
                    frame,
                    calls: calls?,
                    missing: b.str()?,
                }
            }
            Kind::CpuCycles => Record::CpuCycles {
                cpu: b.u32()?,
                frequency: b.u64()?,
                offered: b.u64()?,
                cycles: b.u64()?,
            },
            Kind::Cgroup => Record::Cgroup {
                process: b.u32()?,
                path: b.str()?,
            },
            Kind::CpuChanged => {
                let (cpu, online) = (b.u32()?, b.u8()? != 0);
                let state = |b: &mut Body<'a>| {
                    Ok(IdleFacts {
                        state: b.u32()?,
                        name: b.str()?,
                        exit_latency: b.u64()?,
                        target_residency: b.u64()?,
                    })
                };
                let idle: Result<_, &'static str> = (0..b.u16()?).map(|_| state(&mut b)).collect();
                Record::CpuChanged {
                    cpu,
                    online,
                    idle: idle?,
                }
            }
            Kind::OwnUsage => Record::OwnUsage {
                cpu: b.named()?,
                resident: b.named()?,
            },
        })
    }
}

struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or("a record is shorter than its kind")?;
        self.0 = rest;
        Ok(taken)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
    fn u8(&mut self) -> Result<u8, &'static str> {
        Ok(self.array::<1>()?[0])
    }
    fn u16(&mut self) -> Result<u16, &'static str> {
        self.array().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Result<u32, &'static str> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Result<u64, &'static str> {
        self.array().map(u64::from_le_bytes)
    }
    fn str(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }
    fn ids(&mut self, count: usize) -> Result<Vec<u32>, &'static str> {
        let bytes = self.take(count.saturating_mul(4))?;
        let ids = bytes.chunks_exact(4);
        Ok(ids
            .map(|id| u32::from_le_bytes([id[0], id[1], id[2], id[3]]))
            .collect())
    }

    fn named(&mut self) -> Result<Vec<(&'a [u8], u64)>, &'static str> {
        (0..self.u16()?)
            .map(|_| Ok((self.str()?, self.u64()?)))
            .collect()
    }
    fn head(&mut self) -> Result<Head, &'static str> {
        Ok(Head {
            time: self.u64()?,
            task: self.u32()?,
            stack: Some(self.u32()?).filter(|s| *s != NO_STACK),
            run: self.u64()?,
            wait: self.u64()?,
            nvcsw: self.u64()?,
            nivcsw: self.u64()?,
            cpu: self.u32()?,
            state: State(self.u8()?),
            why: End(self.u8()?),
            user_mode: self.u16()? & SAMPLE_USER != 0,
        })
    }
}

/// A stream that is damaged, cut off or not one of ours. What came before `at` is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte of the file where the damaged header, batch or record begins.
    pub at: u64,
    /// What is wrong.
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
    /// [`Damage`] if it is no stream, a newer one, or its header is damaged.
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
    /// [`Damage`]; the reader is at its end afterwards.
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

/// Appends up to `count` bytes to `into`; fewer only at the end of the input. Memory grows with what is there, not with `count`.
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
    /// When its pass began, or when it was filled.
    pub time: u64,
    /// Its number.
    pub sequence: u32,
    /// It ends a pass.
    pub pass: bool,
    /// The pass goes on in the next batch.
    pub more: bool,
    at: u64,
    records: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Its records.
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

impl Kind {
    /// The kind with this number in the stream.
    fn of(number: u16) -> Option<Kind> {
        use Kind::*;
        [
            Counters,
            ProcessSeen,
            TaskSeen,
            TaskGone,
            ModuleSeen,
            FrameSeen,
            StackSeen,
            TaskChanged,
            CpuSample,
            CpuUsage,
            IdleState,
            Name,
            Notice,
            HostUsage,
            Forgotten,
            OwnUsage,
            Place,
            CpuCycles,
            Cgroup,
            TaskBlocked,
            CpuChanged,
        ]
        .into_iter()
        .find(|kind| *kind as u16 == number)
    }
}
