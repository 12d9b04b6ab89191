//! The executable mappings that processes make, as the kernel tells of them at that moment: by a perf event of each online CPU, which
//! counts nothing, but whose ring gets records of mappings.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    ptr::{self, NonNull},
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Context, Result};
use libbpf_sys::{
    PERF_RECORD_COMM, PERF_RECORD_LOST, PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MMAP2,
    perf_event_mmap_page,
};

use crate::{cpus, sys};

/// Bytes of the ring of each CPU, without its first page; a power of two. A thousand starts of programs a second fill half of the
/// ring in 50 ms.
const RING_BYTES: usize = 128 << 10;
/// Period at which the reader looks for CPUs that came online or went offline, ns.
const CPUS_PERIOD: u64 = 1_000_000_000;
/// Bytes of the longest path that is kept.
const MAX_PATH: usize = 4096;

/// A change of the executable mappings of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingEvent {
    /// `CLOCK_MONOTONIC`, ns.
    pub time: u64,
    /// The process, as flametop's pid namespace numbers it.
    pub tgid: u32,
    /// The kind of the change.
    pub what: MappingChange,
}

/// The kinds of changes of mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingChange {
    /// The process called exec: its former mappings are gone.
    Exec,
    /// The process mapped executable memory, in place of any mapping that was there.
    Mapped(Mapping),
    /// The kernel had no room to tell of so many mappings, of any processes; 0: of an unknown number.
    Lost(u64),
}

/// One executable mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Address of the first byte.
    pub start: u64,
    /// Address of the byte after the last one.
    pub end: u64,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Device of the file: major, minor.
    pub device: (u32, u32),
    /// Inode of the file; 0 for memory without a file.
    pub inode: u64,
    /// Tells files apart that had the same inode one after the other, on filesystems that have it.
    pub generation: u64,
    /// Path of the file, seen from the root of the process; raw, hostile text. `[vdso]`, `//anon` and the like for other memory.
    pub path: Box<[u8]>,
}

/// The events of all CPUs. The kernel does not tell of unmapping, nor of forks.
pub struct Mappings {
    rings: Vec<Ring>,
    /// Events that came too early: another CPU may have an older one.
    early: Vec<MappingEvent>,
    /// When the online CPUs were asked for last, ns.
    asked: u64,
}

struct Ring {
    cpu: u32,
    page: NonNull<perf_event_mmap_page>,
    event: OwnedFd,
}

// SAFETY: the mapping is bound to no thread, and `drain` takes it mutably.
unsafe impl Send for Ring {}

impl Mappings {
    /// Opens the events: the kernel tells of all mappings from now on.
    ///
    /// # Errors
    /// The kernel does not permit it.
    pub fn open() -> Result<Mappings> {
        let rings: Result<Vec<Ring>> = cpus::online()?.into_iter().map(Ring::open).collect();
        Ok(Mappings {
            rings: rings?,
            early: Vec::new(),
            asked: sys::monotonic_nanos(),
        })
    }

    /// The descriptors of the events; each becomes readable when its ring is half full.
    pub fn events(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.rings.iter().map(|ring| ring.event.as_fd())
    }

    /// Appends all events up to a moment, in the order of time, and returns that moment, ns. Events of a CPU that comes online are
    /// lost for up to a second.
    pub fn drain(&mut self, events: &mut VecDeque<MappingEvent>) -> u64 {
        let mut drained = std::mem::take(&mut self.early);
        let now = sys::monotonic_nanos();
        if now >= self.asked + CPUS_PERIOD {
            self.asked = now;
            self.follow_cpus(&mut drained);
        }
        let until = sys::monotonic_nanos();
        for ring in &mut self.rings {
            ring.drain(&mut drained);
        }
        drained.sort_by_key(|event| event.time);
        let due = drained.partition_point(|event| event.time <= until);
        self.early = drained.split_off(due);
        events.extend(drained);
        until
    }

    /// Closes the rings of CPUs that went offline, since their events stay dead if the CPUs come back, and opens rings for CPUs that
    /// came.
    fn follow_cpus(&mut self, drained: &mut Vec<MappingEvent>) {
        let Ok(online) = cpus::online() else {
            return;
        };
        self.rings.retain_mut(|ring| {
            let stays = online.contains(&ring.cpu);
            if !stays {
                ring.drain(drained);
            }
            stays
        });
        let heard: Vec<u32> = self.rings.iter().map(|ring| ring.cpu).collect();
        let unheard = online.into_iter().filter(|cpu| !heard.contains(cpu));
        // A CPU that is gone again is no error.
        self.rings
            .extend(unheard.filter_map(|cpu| Ring::open(cpu).ok()));
        if self.rings.len() > heard.len() {
            drained.push(MappingEvent {
                time: sys::monotonic_nanos(),
                tgid: 0,
                what: MappingChange::Lost(0),
            });
        }
    }
}

impl Ring {
    fn open(cpu: u32) -> Result<Ring> {
        let event = sys::open_mappings(cpu, RING_BYTES as u32 / 2)
            .with_context(|| format!("failed to open the event of mappings of CPU {cpu}"))?;
        // SAFETY: a new mapping, where the kernel finds room for it.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                sys::page_size() + RING_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(page) {
            Some(page) if page.as_ptr() != libc::MAP_FAILED => Ok(Ring {
                cpu,
                page: page.cast(),
                event,
            }),
            _ => Err(std::io::Error::last_os_error())
                .with_context(|| format!("failed to map the ring of mappings of CPU {cpu}")),
        }
    }

    fn drain(&mut self, events: &mut Vec<MappingEvent>) {
        // SAFETY: the page is mapped as long as this lives; the kernel writes the head, we alone the tail.
        let (head, tail) = unsafe {
            let page = self.page.as_ptr();
            (
                AtomicU64::from_ptr(&raw mut (*page).data_head),
                AtomicU64::from_ptr(&raw mut (*page).data_tail),
            )
        };
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        let mut bytes = Vec::new();
        while at < end {
            let mut header = [0; 8];
            self.copy(at, &mut header);
            let size = u16::from_ne_bytes([header[6], header[7]]);
            if u64::from(size) > end - at || usize::from(size) < header.len() {
                // Never seen; without a size there is no way to the next record.
                break;
            }
            bytes.resize(size.into(), 0);
            self.copy(at, &mut bytes);
            events.extend(parse(&bytes));
            at += u64::from(size);
        }
        tail.store(end, Ordering::Release);
    }

    /// Copies the bytes at a position; the copy goes on at the front of the ring where the ring ends.
    fn copy(&self, position: u64, to: &mut [u8]) {
        let from = position as usize % RING_BYTES;
        let first = to.len().min(RING_BYTES - from);
        // SAFETY: both parts lie within the ring, which follows its first page; the kernel does not write what is before the
        // head and after the tail. Records are shorter than the ring.
        unsafe {
            let ring = self.page.as_ptr().cast::<u8>().add(sys::page_size());
            ptr::copy_nonoverlapping(ring.add(from), to.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(ring, to[first..].as_mut_ptr(), to.len() - first);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by us with this length, and nothing refers to it any more.
        unsafe {
            libc::munmap(self.page.as_ptr().cast(), sys::page_size() + RING_BYTES);
        }
    }
}

/// Tells whether the bytes are a record with its header.
pub(crate) fn is_event(record: &[u8]) -> bool {
    parse(record).is_some()
}

/// One record with its header. The time stands at the end.
fn parse(record: &[u8]) -> Option<MappingEvent> {
    let (body, time) = record.split_last_chunk::<8>()?;
    let word = |at: usize| Some(u64::from_ne_bytes(*body.get(at..)?.first_chunk()?));
    let half = |at: usize| Some(u32::from_ne_bytes(*body.get(at..)?.first_chunk()?));
    let misc = u16::from_ne_bytes(*body.get(4..)?.first_chunk()?);
    let (what, tgid) = match half(0)? {
        PERF_RECORD_COMM if u32::from(misc) & PERF_RECORD_MISC_COMM_EXEC != 0 => {
            (MappingChange::Exec, half(8)?)
        }
        PERF_RECORD_MMAP2 => {
            let (start, bytes) = (word(16)?, word(24)?);
            let path = &body.get(72..)?;
            let length = path.iter().position(|b| *b == 0).unwrap_or(path.len());
            let mapping = Mapping {
                start,
                end: start.checked_add(bytes)?,
                offset: word(32)?,
                device: (half(40)?, half(44)?),
                inode: word(48)?,
                generation: word(56)?,
                path: path[..length.min(MAX_PATH)].into(),
            };
            (MappingChange::Mapped(mapping), half(8)?)
        }
        PERF_RECORD_LOST => (MappingChange::Lost(word(16)?), 0),
        _ => return None,
    };
    // A process of another pid namespace has no number here.
    if matches!(tgid, 0 | u32::MAX) && !matches!(what, MappingChange::Lost(_)) {
        return None;
    }
    Some(MappingEvent {
        time: u64::from_ne_bytes(*time),
        tgid,
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_short_or_other_records_are_none() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&[0; 8]), None);
        for kind in [PERF_RECORD_MMAP2, PERF_RECORD_LOST, 77] {
            for length in 8..40 {
                let mut record = vec![0xff; length];
                record[..4].copy_from_slice(&kind.to_ne_bytes());
                let parsed = parse(&record);
                assert!(parsed.is_none() || length >= 32, "{kind} {length}");
            }
        }
        let mut comm = [0; 32];
        comm[..4].copy_from_slice(&PERF_RECORD_COMM.to_ne_bytes());
        assert_eq!(parse(&comm), None, "a name that was changed");
    }

    #[test]
    fn drain_cpu_that_was_not_heard_is_heard_and_something_is_lost() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        let mut mappings = Mappings::open().unwrap();
        let all = mappings.rings.len();
        let losses = |mappings: &mut Mappings| {
            let mut events = VecDeque::new();
            mappings.asked = 0;
            let until = mappings.drain(&mut events);
            assert!(events.iter().all(|event| event.time <= until));
            let lost = |event: &&MappingEvent| event.what == MappingChange::Lost(0);
            (events.iter().filter(lost).count(), mappings.rings.len())
        };
        assert_eq!(losses(&mut mappings), (0, all), "as many as before");
        mappings.rings.pop();
        assert_eq!(losses(&mut mappings), (1, all), "one has come");
        mappings.rings[0].cpu = u32::MAX;
        assert_eq!(
            losses(&mut mappings),
            (1, all),
            "one has gone, one has come"
        );
        assert!(mappings.rings.iter().all(|ring| ring.cpu != u32::MAX));
    }
}
