//! Names of code that a process made at run time, from the perf map that it writes: `/tmp/perf-PID.map`, lines of
//! `START SIZE NAME` in hexadecimal.
//!
//! The file belongs to the process, so nothing of it is trusted: it is looked up inside of the process's own root, must be
//! a regular file of the process's user or of root, is read up to a bound, never mapped, and lines that cannot be understood are
//! skipped. A thread named `flametop-jit` does this; a filesystem that hangs holds up only these names.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Read,
    ops::Range,
    os::unix::fs::MetadataExt,
    sync::mpsc::{Receiver, Sender, TryIter, channel},
    thread,
    time::SystemTime,
};

use crate::os;

/// Most bytes of one file; what is beyond has no names.
const MAX_FILE: u64 = 32 << 20;
/// Most files held at once.
const MAX_MAPS: usize = 8;
/// Entries that may lie over one another at one address.
const MAX_OVERLAP: usize = 64;

/// A frame that wants a name.
pub struct Ask {
    pub frame: u32,
    pub tgid: u32,
    pub address: u64,
}

/// The frame and its name, if there is one.
pub type Answer = (u32, Option<Vec<u8>>);

/// The asking side. The thread ends when this is dropped.
pub struct JitNames {
    asks: Sender<Vec<Ask>>,
    answers: Receiver<Answer>,
}

impl JitNames {
    /// Starts the thread.
    pub fn start() -> JitNames {
        let (asks, questions) = channel::<Vec<Ask>>();
        let (replies, answers) = channel();
        // If it does not start, nothing is ever answered, and the frames keep their addresses.
        let _ = thread::Builder::new()
            .name("flametop-jit".to_owned())
            .spawn(move || {
                let mut maps = Maps::default();
                for batch in questions {
                    maps.batch += 1;
                    for ask in batch {
                        let name = maps.name(ask.tgid, ask.address);
                        if replies.send((ask.frame, name)).is_err() {
                            return;
                        }
                    }
                }
            });
        JitNames { asks, answers }
    }

    /// Asks; never waits.
    pub fn ask(&self, batch: Vec<Ask>) {
        let _ = self.asks.send(batch);
    }

    /// The answers that have come.
    pub fn answers(&self) -> TryIter<'_, Answer> {
        self.answers.try_iter()
    }
}

#[derive(Default)]
struct Maps {
    held: HashMap<u32, Held>,
    /// Number of the batch of questions. A name that is missing has its file looked at once in each.
    batch: u64,
}

struct Held {
    modified: Option<SystemTime>,
    map: PerfMap,
    looked: u64,
    used: u64,
}

impl Maps {
    fn name(&mut self, tgid: u32, address: u64) -> Option<Vec<u8>> {
        if let Some(held) = self.held.get_mut(&tgid)
            && let Some(name) = held.map.name(address)
        {
            held.used = self.batch;
            return Some(name.to_vec());
        }
        if self.held.get(&tgid).is_none_or(|h| h.looked != self.batch) {
            self.look(tgid);
        }
        let held = self.held.get(&tgid)?;
        held.map.name(address).map(<[u8]>::to_vec)
    }

    /// Reads the file of a process if it changed. One that is gone keeps the names it had.
    fn look(&mut self, tgid: u32) {
        let file = open(tgid);
        let modified = file
            .as_ref()
            .and_then(|f| f.metadata().and_then(|m| m.modified()).ok());
        if let Some(held) = self.held.get_mut(&tgid) {
            held.looked = self.batch;
            held.used = self.batch;
            if modified.is_none() || held.modified == modified {
                return;
            }
        } else if self.held.len() >= MAX_MAPS
            && let Some(oldest) = self
                .held
                .iter()
                .min_by_key(|(_, h)| h.used)
                .map(|(t, _)| *t)
        {
            self.held.remove(&oldest);
        }
        let mut bytes = Vec::new();
        if let Some(file) = file
            && file.take(MAX_FILE).read_to_end(&mut bytes).is_err()
        {
            bytes.clear();
        }
        let map = PerfMap::parse(bytes);
        self.held.insert(
            tgid,
            Held {
                modified,
                map,
                looked: self.batch,
                used: self.batch,
            },
        );
    }
}

/// The perf map of a process, if it may be trusted as far as one can be.
fn open(tgid: u32) -> Option<File> {
    let status = fs::read_to_string(format!("/proc/{tgid}/status")).ok()?;
    let line = |key: &str| status.lines().find_map(|l| l.strip_prefix(key));
    // Its number in its own pid namespace is the last.
    let own_pid: u32 = line("NSpid:")?
        .split_ascii_whitespace()
        .last()?
        .parse()
        .ok()?;
    let mut uids = line("Uid:")?
        .split_ascii_whitespace()
        .filter_map(|u| u.parse().ok());
    let root = File::open(format!("/proc/{tgid}/root")).ok()?;
    let file = os::open_in_root(&root, &format!("tmp/perf-{own_pid}.map")).ok()?;
    let facts = file.metadata().ok()?;
    let owner = facts.uid();
    (facts.is_file() && (owner == 0 || uids.any(|u: u32| u == owner))).then_some(file)
}

/// One file: its text, and where its entries are in it, by address and then by line.
struct PerfMap {
    text: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    start: u64,
    end: u64,
    line: u32,
    name: Range<u32>,
}

impl PerfMap {
    fn parse(text: Vec<u8>) -> PerfMap {
        let mut entries = Vec::new();
        let mut at = 0;
        for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
            let begin = at;
            at += line.len();
            entries.extend(entry(line, begin, number));
        }
        entries.sort_by_key(|e: &Entry| (e.start, e.line));
        PerfMap { text, entries }
    }

    /// The name of the newest code at this address.
    fn name(&self, address: u64) -> Option<&[u8]> {
        let after = self.entries.partition_point(|e| e.start <= address);
        let below = self.entries[..after].iter().rev().take(MAX_OVERLAP);
        let newest = below.filter(|e| address < e.end).max_by_key(|e| e.line)?;
        self.text
            .get(newest.name.start as usize..newest.name.end as usize)
    }
}

fn entry(line: &[u8], begin: usize, number: usize) -> Option<Entry> {
    let mut words = line.splitn(3, |b| *b == b' ');
    let (start, size) = (hexadecimal(words.next()?)?, hexadecimal(words.next()?)?);
    let rest = words.next()?;
    let from = (begin + line.len() - rest.len()) as u32;
    let name = rest.trim_ascii_end();
    (size > 0 && !name.is_empty()).then(|| Entry {
        start,
        end: start.saturating_add(size),
        line: number as u32,
        name: from..from + name.len() as u32,
    })
}

/// With or without `0x`: HotSpot writes it.
fn hexadecimal(word: &[u8]) -> Option<u64> {
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_odd_lines_skips_them_and_newest_wins() {
        let text = b"0x1000 0x20 java.lang.String::hash code\n1000 junk\n\nzz 1 x\n1010 10 older\n1010 8 newer\r\n2000 0 empty\n3000 10\n\
                     ffffffffffffffff ff last\n4000 10 \xff\xfe raw";
        let map = PerfMap::parse(text.to_vec());
        assert_eq!(map.name(0x1000), Some(&b"java.lang.String::hash code"[..]));
        assert_eq!(map.name(0x1012), Some(&b"newer"[..]));
        assert_eq!(map.name(0x1019), Some(&b"older"[..]));
        assert_eq!(map.name(0x1020), None);
        assert_eq!(map.name(0x2000), None);
        assert_eq!(map.name(0x400f), Some(&b"\xff\xfe raw"[..]));
        assert_eq!(map.name(u64::MAX), None);
    }

    #[test]
    fn ask_file_that_grew_since_has_what_was_added() {
        // A process of its own, whose file no other test writes.
        let mut process = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .expect("sleep");
        let tgid = process.id();
        let path = format!("/tmp/perf-{tgid}.map");
        let jit = JitNames::start();
        let name = |address| {
            jit.ask(vec![Ask {
                frame: 1,
                tgid,
                address,
            }]);
            jit.answers.recv().expect("answered").1
        };
        fs::write(&path, "10 10 early\n").expect("written");
        assert_eq!(name(0x10), Some(b"early".to_vec()));
        assert_eq!(name(0x20), None);
        fs::write(&path, "10 10 early\n20 10 late\n").expect("written");
        let file = File::options().write(true).open(&path).expect("opened");
        let later = SystemTime::now() + std::time::Duration::from_secs(1);
        file.set_modified(later).expect("touched");
        assert_eq!(name(0x20), Some(b"late".to_vec()));
        fs::remove_file(&path).expect("removed");
        process.kill().expect("killed");
        process.wait().expect("reaped");
    }

    #[test]
    fn open_link_is_refused() {
        let pid = std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        fs::write(&path, "10 10 mine\n").expect("written");
        assert_eq!(Maps::default().name(pid, 0x10), Some(b"mine".to_vec()));
        fs::rename(&path, format!("{path}.moved")).expect("renamed");
        std::os::unix::fs::symlink(format!("{path}.moved"), &path).expect("linked");
        assert!(open(pid).is_none());
        fs::remove_file(&path).expect("removed");
        fs::remove_file(format!("{path}.moved")).expect("removed");
    }
}
