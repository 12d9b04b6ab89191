//! Writing: records are appended to one growing buffer, and the buffer is cut into batches at record boundaries.

use crate::{
    BATCH_HEADER, FRAME_GUESSED, Head, Kind, MAGIC, NO_PROCESS, NO_STACK, RECORD_HEADER, Record,
    SAMPLE_USER, VERSION,
};

/// Bytes of records that an encoder keeps memory for.
const USUAL: usize = 256 << 10;

/// Appends records to a buffer. Memory is allocated only when the buffer grows.
#[derive(Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// An encoder without records.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// The records so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the records, and keeps memory for as many records as are usual.
    pub fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > 4 * USUAL {
            self.bytes.shrink_to(USUAL);
        }
    }

    /// Forgets the first `count` bytes, which must be whole records ([`whole_records`]).
    pub fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
    }

    /// Appends records that another encoder made.
    pub fn append(&mut self, records: &[u8]) {
        self.bytes.extend_from_slice(records);
    }

    /// Appends one record. A `str` is cut at 65,535 bytes, a stack at 65,535 frames a half.
    pub fn put(&mut self, record: &Record<'_>) {
        match record {
            Record::Counters(totals) => self.record(Kind::Counters, |b| {
                b.u16(totals.len() as u16);
                totals.iter().for_each(|t| b.u64(*t));
            }),
            Record::ProcessSeen {
                process,
                tgid,
                start_boottime,
                self_exec_id,
                uid,
                cgroup,
                kthread,
                comm,
                cmdline,
            } => self.record(Kind::ProcessSeen, |b| {
                b.u32(*process);
                b.u32(*tgid);
                b.u64(*start_boottime);
                b.u32(*self_exec_id);
                b.u32(*uid);
                b.u64(*cgroup);
                b.u8(u8::from(*kthread));
                b.str(comm);
                b.str(cmdline);
            }),
            Record::TaskSeen {
                task,
                process,
                tid,
                start,
                fresh,
                comm,
            } => self.record(Kind::TaskSeen, |b| {
                b.u32(*task);
                b.u32(*process);
                b.u32(*tid);
                b.u64(*start);
                b.u8(u8::from(*fresh));
                b.str(comm);
            }),
            Record::TaskGone {
                task,
                time,
                run,
                wait,
                exact,
            } => self.record(Kind::TaskGone, |b| {
                b.u32(*task);
                b.u64(*time);
                b.u64(*run);
                b.u64(*wait);
                b.u8(u8::from(*exact));
            }),
            Record::TaskBlocked { task, ns } => self.record(Kind::TaskBlocked, |b| {
                b.u32(*task);
                b.u64(*ns);
            }),
            Record::ModuleSeen {
                module,
                kind,
                path,
                build_id,
            } => self.record(Kind::ModuleSeen, |b| {
                b.u32(*module);
                b.u8(kind.0);
                b.str(path);
                b.str(build_id);
            }),
            Record::FrameSeen {
                frame,
                module,
                offset,
                guessed,
            } => self.record(Kind::FrameSeen, |b| {
                b.u32(*frame);
                b.u32(*module);
                b.u64(*offset);
                b.u8(if *guessed { FRAME_GUESSED } else { 0 });
            }),
            Record::StackSeen {
                stack,
                end,
                user,
                frames,
            } => self.record(Kind::StackSeen, |b| {
                let (user, kernel) = frames.split_at(usize::from(*user).min(frames.len()));
                let kernel = &kernel[..kernel.len().min(usize::from(u16::MAX))];
                b.u32(*stack);
                b.u8(end.0);
                b.u8(0);
                b.u16(user.len() as u16);
                b.u16(kernel.len() as u16);
                user.iter().chain(kernel).for_each(|f| b.u32(*f));
            }),
            Record::TaskChanged(head) => self.record(Kind::TaskChanged, |b| b.head(head)),
            Record::CpuSample(head) => self.record(Kind::CpuSample, |b| b.head(head)),
            Record::CpuUsage {
                cpu,
                idle,
                elapsed,
                wakeups,
                own_wakeups,
                ticks,
            } => self.record(Kind::CpuUsage, |b| {
                b.u32(*cpu);
                b.u64(*idle);
                b.u64(*elapsed);
                b.u64(*wakeups);
                b.u64(*own_wakeups);
                ticks.iter().for_each(|t| b.u64(*t));
            }),
            Record::IdleState {
                cpu,
                state,
                residency,
                entries,
                too_short,
                too_long,
            } => self.record(Kind::IdleState, |b| {
                b.u32(*cpu);
                b.u32(*state);
                b.u64(*residency);
                b.u64(*entries);
                b.u64(*too_short);
                b.u64(*too_long);
            }),
            Record::Name {
                frame,
                source,
                name,
            } => self.record(Kind::Name, |b| {
                b.u32(*frame);
                b.u8(source.0);
                b.str(name);
            }),
            Record::Notice {
                level,
                text,
                process,
            } => self.record(Kind::Notice, |b| {
                b.u8(level.0);
                b.str(text);
                b.u32(process.unwrap_or(NO_PROCESS));
            }),
            Record::HostUsage {
                load,
                pass_hz,
                cpu_hz,
                own_cpu,
            } => self.record(Kind::HostUsage, |b| {
                load.iter().for_each(|l| b.u32(*l));
                b.u32(*pass_hz);
                b.u32(*cpu_hz);
                b.u64(*own_cpu);
            }),
            Record::Forgotten { space, ids } => self.record(Kind::Forgotten, |b| {
                b.u8(space.0);
                b.u8(0);
                b.u16(0);
                b.u32(ids.len() as u32);
                ids.iter().for_each(|id| b.u32(*id));
            }),
            Record::Place {
                frame,
                calls,
                missing,
            } => self.record(Kind::Place, |b| {
                let calls = &calls[..calls.len().min(usize::from(u16::MAX))];
                b.u32(*frame);
                b.u16(calls.len() as u16);
                for call in calls {
                    b.str(call.function);
                    b.str(call.file);
                    b.u32(call.line);
                }
                b.str(missing);
            }),
            Record::CpuCycles {
                cpu,
                frequency,
                offered,
                cycles,
            } => self.record(Kind::CpuCycles, |b| {
                b.u32(*cpu);
                b.u64(*frequency);
                b.u64(*offered);
                b.u64(*cycles);
            }),
            Record::Cgroup { process, path } => self.record(Kind::Cgroup, |b| {
                b.u32(*process);
                b.str(path);
            }),
            Record::Parent { process, parent } => self.record(Kind::Parent, |b| {
                b.u32(*process);
                b.u32(*parent);
            }),
            Record::CpuChanged { cpu, online, idle } => self.record(Kind::CpuChanged, |b| {
                let idle = &idle[..idle.len().min(usize::from(u16::MAX))];
                b.u32(*cpu);
                b.u8(u8::from(*online));
                b.u16(idle.len() as u16);
                for state in idle {
                    b.u32(state.state);
                    b.str(state.name);
                    b.u64(state.exit_latency);
                    b.u64(state.target_residency);
                }
            }),
            Record::SourceSeen {
                source,
                state,
                unit,
                spec,
                why,
            } => self.record(Kind::SourceSeen, |b| {
                b.u32(*source);
                b.u8(state.0);
                b.u8(unit.0);
                b.u16(0);
                b.str(spec);
                b.str(why);
            }),
            Record::SourceTotals(t) => self.record(Kind::SourceTotals, |b| {
                let histogram = &t.histogram[..t.histogram.len().min(usize::from(u16::MAX))];
                b.u32(t.source);
                for total in [t.hits, t.weight, t.taken, t.lost, t.missed, t.rate, t.nanos] {
                    b.u64(total);
                }
                b.u16(histogram.len() as u16);
                histogram.iter().for_each(|hits| b.u64(*hits));
            }),
            Record::Event {
                head,
                source,
                weight,
                rate,
            } => self.record(Kind::Event, |b| {
                b.head(head);
                b.u32(*source);
                b.u64(*weight);
                b.u64(*rate);
            }),
            Record::OwnUsage { cpu, resident } => self.record(Kind::OwnUsage, |b| {
                b.named(cpu);
                b.named(resident);
            }),
            Record::Unknown { kind, body } => self.raw(*kind, |b| b.0.extend_from_slice(body)),
        }
    }

    fn record(&mut self, kind: Kind, body: impl FnOnce(&mut Body<'_>)) {
        self.raw(kind as u16, body);
    }

    fn raw(&mut self, kind: u16, body: impl FnOnce(&mut Body<'_>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 6]);
        body(&mut Body(&mut self.bytes));
        let length = (self.bytes.len() - start - RECORD_HEADER) as u32;
        self.bytes[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    }
}

struct Body<'a>(&'a mut Vec<u8>);

impl Body<'_> {
    fn u8(&mut self, v: u8) {
        self.0.push(v);
    }
    fn u16(&mut self, v: u16) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn u32(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn str(&mut self, v: &[u8]) {
        let v = &v[..v.len().min(usize::from(u16::MAX))];
        self.u16(v.len() as u16);
        self.0.extend_from_slice(v);
    }
    fn named(&mut self, figures: &[(&[u8], u64)]) {
        let figures = &figures[..figures.len().min(usize::from(u16::MAX))];
        self.u16(figures.len() as u16);
        for (name, figure) in figures {
            self.str(name);
            self.u64(*figure);
        }
    }
    fn head(&mut self, h: &Head) {
        self.u64(h.time);
        self.u32(h.task);
        self.u32(h.stack.unwrap_or(NO_STACK));
        self.u64(h.run);
        self.u64(h.wait);
        self.u64(h.nvcsw);
        self.u64(h.nivcsw);
        self.u32(h.cpu);
        self.u8(h.state.0);
        self.u8(h.why.0);
        self.u16(if h.user_mode { SAMPLE_USER } else { 0 });
    }
}

/// The header of a file with these facts. Control characters in keys and values become `?`, and so does `=` in a key.
pub fn file_header<'a>(facts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in facts {
        text.extend(
            key.chars()
                .map(|c| if c.is_control() || c == '=' { '?' } else { c }),
        );
        text.push('=');
        text.extend(value.chars().map(|c| if c.is_control() { '?' } else { c }));
        text.push('\n');
    }
    let mut out = Vec::with_capacity(20 + text.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out
}

/// Bytes of as many whole records from the start of `records` as fit into `room`.
pub fn whole_records(records: &[u8], room: usize) -> usize {
    if records.len() <= room {
        return records.len();
    }
    let mut end = 0;
    while let Some(length) = records.get(end + 4..end + RECORD_HEADER) {
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let next = end + RECORD_HEADER + length;
        if next > room {
            break;
        }
        end = next;
    }
    end
}

/// Frames `records` as one batch at the start of `out` and returns its length.
///
/// # Panics
/// If `out` is shorter than [`BATCH_HEADER`] and the records.
pub fn batch(out: &mut [u8], time: u64, sequence: u32, flags: u16, records: &[u8]) -> usize {
    let length = BATCH_HEADER + records.len();
    let out = &mut out[..length];
    out[..4].copy_from_slice(&(length as u32).to_le_bytes());
    out[8..16].copy_from_slice(&time.to_le_bytes());
    out[16..20].copy_from_slice(&sequence.to_le_bytes());
    out[20..22].copy_from_slice(&flags.to_le_bytes());
    out[22..24].fill(0);
    out[BATCH_HEADER..].copy_from_slice(records);
    let crc = crc32fast::hash(&out[8..]);
    out[4..8].copy_from_slice(&crc.to_le_bytes());
    length
}
