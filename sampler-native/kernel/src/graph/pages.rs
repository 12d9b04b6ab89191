//! Pages of a ring of the kernel's tracers, as `trace_pipe_raw` gives them. Whatever bytes come, reading ends and takes none twice.

use anyhow::{Context, Result, ensure};
use flametop_events::{EventFormat, Field, Tracefs};

/// What lies in front of the records of a page: the time of the first, and how many bytes there are.
const HEADER: usize = 16;
/// Bits of the second word of a page.
const BYTES: u64 = 0xf_ffff;
const MISSED: u64 = 1 << 31;
const MISSED_COUNTED: u64 = 1 << 30;
/// Kinds of records that hold no event; a smaller kind is a number of words.
const PADDING: u32 = 29;
const LATER: u32 = 30;
const ABSOLUTE: u32 = 31;
/// Bits of a time that an absolute one does not have.
const HIGH_TIME: u64 = 0xf8 << 56;

/// The kernel's names of the two kinds of records.
const BEGIN: &str = "funcgraph_entry";
const END: &str = "funcgraph_exit";

/// What happened to the call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It began.
    Begin,
    /// It returned.
    End,
    /// Of so many records before this moment nothing is known; at least so many.
    Missed(u64),
}

/// A record of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// By the clock of the ring, ns.
    pub time: u64,
    /// The thread.
    pub tid: u32,
    /// Address of the function, or a few bytes into it.
    pub function: u64,
    /// Calls around it.
    pub depth: u32,
    /// See [`What`].
    pub what: What,
}

/// Where the figures of a call are in its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    kind: u16,
    function: usize,
    depth: usize,
}

/// Where the figures of both kinds of records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    begin: Shape,
    end: Shape,
}

impl Format {
    /// As this kernel says.
    ///
    /// # Errors
    /// If it does not say so.
    pub fn of(tracefs: &Tracefs) -> Result<Format> {
        let text = |name: &str| {
            let text = tracefs.read(&format!("events/ftrace/{name}/format"));
            text.with_context(|| untold(name))
        };
        Format::parse(&text(BEGIN)?, &text(END)?)
    }

    /// By the texts of the kernel's two files.
    pub fn parse(begin: &str, end: &str) -> Result<Format> {
        let shape = |name: &str, text: &str| -> Result<Shape> {
            let told = || untold(name);
            let format = EventFormat::parse(text).with_context(told)?;
            let place = |wanted: &str, sizes: &[usize]| -> Result<usize> {
                let is = |field: &&Field| field.name == wanted && sizes.contains(&field.size);
                let field = format.fields.iter().find(is);
                Ok(field.with_context(told)?.offset)
            };
            Ok(Shape {
                kind: format.kind,
                function: place("func", &[8])?,
                depth: place("depth", &[4, 8])?,
            })
        };
        Ok(Format {
            begin: shape(BEGIN, begin)?,
            end: shape(END, end)?,
        })
    }

    fn read(&self, bytes: &[u8], time: u64) -> Option<Traced> {
        let kind = u16::from_le_bytes(array(bytes, 0)?);
        let (shape, what) = match kind {
            kind if kind == self.begin.kind => (&self.begin, What::Begin),
            kind if kind == self.end.kind => (&self.end, What::End),
            _ => return None,
        };
        Some(Traced {
            time,
            tid: u32::from_le_bytes(array(bytes, 4)?),
            function: u64::from_le_bytes(array(bytes, shape.function)?),
            // No stack of the kernel has more than these calls.
            depth: u32::from_le_bytes(array(bytes, shape.depth)?).min(1 << 16),
            what,
        })
    }
}

fn untold(name: &str) -> String {
    format!("the kernel does not tell the format of {name}")
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// All calls that a page tells of, in its order.
///
/// # Errors
/// The page is damaged; what was before the damage was told.
pub fn read(page: &[u8], format: &Format, on_call: &mut impl FnMut(Traced)) -> Result<()> {
    const DAMAGED: &str = "the kernel's tracer gave a damaged page";
    let word = |at: usize| array(page, at).map(u64::from_le_bytes);
    let (mut time, commit) = word(0).zip(word(8)).context(DAMAGED)?;
    let bytes = (commit & BYTES) as usize;
    let data = page.get(HEADER..HEADER + bytes).context(DAMAGED)?;
    if commit & MISSED != 0 {
        let counted = match commit & MISSED_COUNTED {
            0 => None,
            _ => word(HEADER + bytes),
        };
        on_call(Traced {
            time,
            tid: 0,
            function: 0,
            depth: 0,
            what: What::Missed(counted.unwrap_or(1).clamp(1, 1 << 32)),
        });
    }
    let mut at = 0;
    while at < data.len() {
        let short = |at: usize| array(data, at).map(u32::from_le_bytes);
        let head = short(at).context(DAMAGED)?;
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        if kind == PADDING && delta == 0 {
            break;
        }
        let (from, size) = match kind {
            0 | PADDING => (at + 8, short(at + 4).context(DAMAGED)? as usize + 4),
            LATER | ABSOLUTE => (at + 8, 8),
            words => (at + 4, 4 + 4 * words as usize),
        };
        let more = || -> Result<u64> { Ok(u64::from(short(at + 4).context(DAMAGED)?) << 27) };
        time = match kind {
            ABSOLUTE => absolute(more()? + delta, time),
            LATER => time.wrapping_add(more()? + delta),
            _ => time.wrapping_add(delta),
        };
        // A record has its head at least, so this ends.
        ensure!(size >= 4 && size <= data.len() - at, DAMAGED);
        if kind < PADDING
            && let Some(bytes) = data.get(from..at + size)
            && let Some(call) = format.read(bytes, time)
        {
            on_call(call);
        }
        at += size;
    }
    Ok(())
}

/// The time whose lower bits these are, near the one before.
fn absolute(low: u64, before: u64) -> u64 {
    let time = low | before & HIGH_TIME;
    match time < before && before & HIGH_TIME != 0 {
        true => time.wrapping_add(1 << 59),
        false => time,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub const FORMAT: Format = Format {
        begin: Shape {
            kind: 11,
            function: 8,
            depth: 16,
        },
        end: Shape {
            kind: 10,
            function: 8,
            depth: 24,
        },
    };

    /// A page of these calls, as a kernel writes it.
    pub fn page(calls: &[Traced]) -> Vec<u8> {
        let mut data: Vec<u8> = Vec::new();
        let begin = calls.first().map_or(0, |call| call.time);
        let mut before = begin;
        for call in calls {
            let mut delta = call.time - before;
            before = call.time;
            if delta >= 1 << 27 {
                let head = LATER | ((delta as u32 & 0x7ff_ffff) << 5);
                data.extend(head.to_le_bytes());
                data.extend(((delta >> 27) as u32).to_le_bytes());
                delta = 0;
            }
            let (kind, size) = match call.what {
                What::Begin => (FORMAT.begin.kind, 20),
                _ => (FORMAT.end.kind, 48),
            };
            let mut body = vec![0; size];
            body[..2].copy_from_slice(&kind.to_le_bytes());
            body[4..8].copy_from_slice(&call.tid.to_le_bytes());
            body[8..16].copy_from_slice(&call.function.to_le_bytes());
            let depth = if size == 20 { 16 } else { 24 };
            body[depth..depth + 4].copy_from_slice(&call.depth.to_le_bytes());
            data.extend(((size as u32 / 4) | ((delta as u32) << 5)).to_le_bytes());
            data.extend(body);
        }
        let mut page = begin.to_le_bytes().to_vec();
        page.extend((data.len() as u64).to_le_bytes());
        page.extend(data);
        page.resize(4096.max(page.len()), 0);
        page
    }

    fn all(page: &[u8]) -> (Vec<Traced>, bool) {
        let mut found = Vec::new();
        let whole = read(page, &FORMAT, &mut |call| found.push(call)).is_ok();
        (found, whole)
    }

    fn call(time: u64, depth: u32, what: What) -> Traced {
        Traced {
            time,
            tid: 4711,
            function: 0xffff_ffff_8123_4560 + u64::from(depth),
            depth,
            what,
        }
    }

    #[test]
    fn calls_come_with_their_times_however_far_apart() {
        let calls = [
            call(1 << 40, 0, What::Begin),
            call((1 << 40) + 5, 1, What::Begin),
            call((1 << 40) + (1 << 36) + 77, 1, What::End),
            call((1 << 40) + (1 << 36) + 77, 0, What::End),
        ];
        assert_eq!(all(&page(&calls)), (calls.to_vec(), true));
        assert_eq!(all(&page(&[])), (vec![], true));
    }

    #[test]
    fn missed_records_are_told_with_their_number() {
        let calls = [call(1000, 0, What::Begin)];
        for (flags, stored, missed) in [(MISSED, 0, 1), (MISSED | MISSED_COUNTED, 42, 42)] {
            let mut page = page(&calls);
            let commit = u64::from_le_bytes(page[8..16].try_into().unwrap());
            page[8..16].copy_from_slice(&(commit | flags).to_le_bytes());
            let end = HEADER + commit as usize;
            page[end..end + 8].copy_from_slice(&u64::to_le_bytes(stored));
            let (found, whole) = all(&page);
            assert!(whole);
            assert_eq!(found[0].what, What::Missed(missed));
            assert_eq!(found[1], calls[0]);
        }
    }

    #[test]
    fn absolute_time_keeps_the_bits_that_it_lacks() {
        assert_eq!(absolute(77, 5), 77);
        let high = 3 << 59;
        assert_eq!(absolute(77, high | 5), high | 77);
        assert_eq!(absolute(5, high | 77), (high | 5) + (1 << 59));
    }

    /// Any byte of a page may be another: reading ends, and tells no more calls than there is room for.
    #[test]
    fn a_damaged_page_is_read_as_far_as_it_goes() {
        let calls: Vec<Traced> = (0..60)
            .map(|n| {
                let what = if n % 2 == 0 { What::Begin } else { What::End };
                call(1000 + (n << (n % 30)), (n % 7) as u32, what)
            })
            .scan(0, |last, mut call| {
                call.time = call.time.max(*last);
                *last = call.time;
                Some(call)
            })
            .collect();
        let whole = page(&calls);
        let mut seed = 88172645463325252u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for at in 0..whole.len() {
            let mut page = whole.clone();
            page[at] = random() as u8;
            assert!(all(&page).0.len() <= 4096 / 4 + 1);
        }
        for length in 0..whole.len() {
            all(&whole[..length]);
        }
        for _ in 0..2000 {
            let length = random() as usize % 4200;
            let mut noise: Vec<u8> = (0..length).map(|_| random() as u8).collect();
            if let Some(commit) = noise.get_mut(8..16) {
                commit.copy_from_slice(&(random() % 4200).to_le_bytes());
            }
            assert!(all(&noise).0.len() <= 4200 / 4 + 1);
        }
    }
}
