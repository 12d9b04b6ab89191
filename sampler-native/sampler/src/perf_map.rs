//! The file in which a process names code that it makes at run time: `/tmp/perf-PID.map`, lines of `START SIZE NAME` in
//! hexadecimal, with or without `0x`.
//!
//! The file belongs to the process, so nothing of it is trusted: it is looked up inside of the process's own root, must be a
//! regular file of the process's user or of root that is no older than the process, is read up to a bound, never mapped, and lines that
//! cannot be understood are skipped. Only the places of the lines are held; a name is read, and its line checked again, when it is asked
//! for. So a file that is written meanwhile gives the old name, the new one or none, but never a torn one.

use std::{
    collections::BinaryHeap,
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
    time::{Duration, SystemTime},
};

use flametop_stream::MAX_NAME;
use flametop_unwind::ProcessFolder;

use crate::os;

/// Most bytes read of one file; what is beyond has no names.
const MAX_FILE: u64 = 256 << 20;
/// Most places held of one file, 8 MiB; what is beyond has no names.
const MAX_PLACES: usize = 1 << 19;
const CHUNK: usize = 256 << 10;
/// Most bytes of `/proc/PID/status`.
const STATUS: u64 = 64 << 10;
/// Longest line.
const MAX_LINE: usize = 64 << 10;
/// A longer piece of code is none.
const MAX_SIZE: u64 = 1 << 30;
/// Bytes before the end of what was read, by which a file that only grew is known again.
const TAIL: usize = 64;
/// Clocks may have been set a little between the start of a process and its first map.
const CLOCK_ERROR: Duration = Duration::from_secs(2);

/// What the kernel says of a process.
#[derive(Clone)]
pub struct Process {
    /// Its number in its own pid namespace.
    pub own_pid: u32,
    /// Real, effective, saved and of files.
    pub uids: [u32; 4],
    pub gids: [u32; 4],
    /// In ticks since boot; with the number it names a process.
    pub start: u64,
    /// Whether it has a handler of its own for SIGQUIT.
    pub catches_quit: bool,
    /// Its number here.
    pub tgid: u32,
}

impl Process {
    /// None if it is gone.
    pub fn read(tgid: u32) -> Option<Process> {
        // The name in it is any bytes.
        let folder = ProcessFolder::open(tgid).ok()?;
        let status = folder.read("status", STATUS).ok()?;
        let status = String::from_utf8_lossy(&status);
        let line = |key: &str| status.lines().find_map(|l| l.strip_prefix(key));
        let four = |key: &str| {
            let mut ids = [0; 4];
            let mut words = line(key)?.split_ascii_whitespace();
            for id in &mut ids {
                *id = words.next()?.parse().ok()?;
            }
            Some(ids)
        };
        let caught = u64::from_str_radix(line("SigCgt:")?.trim(), 16).ok()?;
        Some(Process {
            own_pid: line("NSpid:")?
                .split_ascii_whitespace()
                .last()?
                .parse()
                .ok()?,
            uids: four("Uid:")?,
            gids: four("Gid:")?,
            start: folder.start().ok()?,
            catches_quit: caught >> (libc::SIGQUIT - 1) & 1 == 1,
            tgid,
        })
    }

    fn started(&self) -> SystemTime {
        let age = os::boottime().saturating_sub(self.start.saturating_mul(os::tick()));
        SystemTime::now() - Duration::from_nanos(age)
    }

    /// A file or folder in its root, as it sees it.
    pub fn open(&self, path: &str, flags: libc::c_int) -> io::Result<File> {
        let root = File::open(format!("/proc/{}/root", self.tgid))?;
        // Another process may have got the number meanwhile.
        let now = ProcessFolder::open(self.tgid)?;
        if now.start()? != self.start {
            return Err(io::ErrorKind::NotFound.into());
        }
        os::open_in_root(&root, path, flags)
    }

    /// Its perf map, if it may be trusted as far as one can be.
    fn map(&self) -> Option<File> {
        let file = self
            .open(&format!("tmp/perf-{}.map", self.own_pid), libc::O_RDONLY)
            .ok()?;
        let facts = file.metadata().ok()?;
        let owner = facts.uid();
        let trusted = facts.is_file()
            && (owner == 0 || self.uids.contains(&owner))
            // One left by an earlier process of this number is older.
            && facts.modified().ok()? + CLOCK_ERROR >= self.started();
        trusted.then_some(file)
    }
}

/// A stretch of code and the line of the file that names it. The newest line of an address is the one that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    start: u64,
    size: u32,
    /// Where its line begins.
    line: u32,
}

impl Place {
    fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.size))
    }
}

/// One file.
pub struct PerfMap {
    file: File,
    /// Device, inode, size and time of the last change when it was read last.
    seen: (u64, u64, u64, Option<SystemTime>),
    /// Not overlapping, by address.
    places: Vec<Place>,
    /// So far it was read, up to the end of a line.
    read: u64,
    tail: Vec<u8>,
    /// Lines that were not understood.
    pub skipped: u64,
}

impl PerfMap {
    /// The map of a process, none if it has none. With the one held so far, which is kept if its file is gone. Tells whether there
    /// is anything new.
    pub fn look(held: Option<PerfMap>, process: &Process) -> (Option<PerfMap>, bool) {
        match process.map() {
            Some(file) => PerfMap::of_file(held, file),
            None => (held, false),
        }
    }

    /// The same of the file that is its map.
    pub fn of_file(held: Option<PerfMap>, file: File) -> (Option<PerfMap>, bool) {
        let Ok(facts) = file.metadata() else {
            return (held, false);
        };
        let seen = (facts.dev(), facts.ino(), facts.len(), facts.modified().ok());
        let mut map = match held {
            Some(held) if held.seen == seen => return (Some(held), false),
            Some(held) if held.grew(&file, seen) => held,
            _ => PerfMap {
                file,
                seen,
                places: Vec::new(),
                read: 0,
                tail: Vec::new(),
                skipped: 0,
            },
        };
        map.seen = seen;
        map.read_on();
        (Some(map), true)
    }

    /// How many places are held.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether this file is the one that is held, with more at its end.
    fn grew(&self, file: &File, seen: (u64, u64, u64, Option<SystemTime>)) -> bool {
        let mut tail = vec![0; self.tail.len()];
        let from = self.read - tail.len() as u64;
        (self.seen.0, self.seen.1) == (seen.0, seen.1)
            && seen.2 >= self.read
            && !tail.is_empty()
            && file.read_exact_at(&mut tail, from).is_ok()
            && tail == self.tail
    }

    /// Reads what is new.
    fn read_on(&mut self) {
        let mut buffer = Vec::new();
        let (mut begin, mut skipping, mut ended) = (self.read, false, false);
        let mut new = Vec::new();
        let end = self.seen.2.min(MAX_FILE);
        while !ended && self.places.len() < MAX_PLACES {
            let held = buffer.len();
            buffer.resize(held + CHUNK, 0);
            let from = begin + held as u64;
            let room = (CHUNK as u64).min(end.saturating_sub(from)) as usize;
            let read = self
                .file
                .read_at(&mut buffer[held..held + room], from)
                .unwrap_or(0);
            buffer.truncate(held + read);
            ended = read == 0;
            let mut at = 0;
            while let Some(length) = buffer[at..].iter().position(|b| *b == b'\n') {
                let line = &buffer[at..at + length];
                if std::mem::take(&mut skipping) || !self.take(line, begin + at as u64, &mut new) {
                    self.skipped += 1;
                }
                at += length + 1;
            }
            if at > 0 {
                let from = at.saturating_sub(TAIL);
                self.tail = buffer[from..at].to_vec();
                self.read = begin + at as u64;
            }
            buffer.drain(..at);
            begin += at as u64;
            if ended && !skipping {
                // The last line may still be written: it counts now, and is read again when there is more.
                self.take(&buffer, begin, &mut new);
            } else if buffer.len() > MAX_LINE {
                begin += buffer.len() as u64;
                buffer.clear();
                skipping = true;
            }
            if ended || new.len() >= MAX_PLACES / 4 {
                self.places = newest(std::mem::take(&mut self.places), std::mem::take(&mut new));
                self.places.truncate(MAX_PLACES);
            }
        }
    }

    fn take(&self, line: &[u8], at: u64, new: &mut Vec<Place>) -> bool {
        match parse(line) {
            Some((start, size, _)) => {
                new.push(Place {
                    start,
                    size,
                    line: at as u32,
                });
                true
            }
            None => line.is_empty(),
        }
    }

    /// The name of the newest code at this address, if its line is still there.
    pub fn name(&self, address: u64) -> Option<Vec<u8>> {
        let after = self.places.partition_point(|p| p.start <= address);
        let place = self.places[..after].last().filter(|p| address < p.end())?;
        let at = u64::from(place.line);
        let mut bytes = [0; MAX_NAME + 64];
        let before = usize::from(at > 0);
        let read = self.file.read_at(&mut bytes, at - before as u64).ok()?;
        let bytes = &bytes[..read];
        if before == 1 && bytes.first() != Some(&b'\n') {
            return None;
        }
        let line = bytes[before..].split(|b| *b == b'\n').next()?;
        let (start, size, name) = parse(line)?;
        let here = start <= address && address - start < u64::from(size);
        here.then(|| name[..name.len().min(MAX_NAME)].to_vec())
    }
}

/// Places of both, without overlap: what lies over one another belongs to the later line.
fn newest(old: Vec<Place>, new: Vec<Place>) -> Vec<Place> {
    let mut all = old;
    all.extend(new);
    all.sort_unstable_by_key(|p| (p.start, p.line));
    let mut out: Vec<Place> = Vec::with_capacity(all.len());
    // The lines that hold the address that is looked at, the latest first.
    let mut open: BinaryHeap<(u32, u64)> = BinaryHeap::new();
    let (mut next, mut at) = (0, 0);
    loop {
        while open.peek().is_some_and(|(_, end)| *end <= at) {
            open.pop();
        }
        if open.is_empty() {
            match all.get(next) {
                Some(place) => at = place.start,
                None => return out,
            }
        }
        while let Some(place) = all.get(next).filter(|p| p.start <= at) {
            open.push((place.line, place.end()));
            next += 1;
        }
        let Some(&(line, end)) = open.peek() else {
            continue;
        };
        if end <= at {
            continue;
        }
        let to = all.get(next).map_or(end, |p| end.min(p.start));
        match out.last_mut() {
            Some(last) if last.line == line && last.end() == at && to - last.start <= MAX_SIZE => {
                last.size = (to - last.start) as u32;
            }
            _ => out.push(Place {
                start: at,
                size: (to - at) as u32,
                line,
            }),
        }
        at = to;
    }
}

/// Start, size and name of a line.
fn parse(line: &[u8]) -> Option<(u64, u32, &[u8])> {
    let mut words = line.splitn(3, |b| *b == b' ');
    let (start, size) = (hexadecimal(words.next()?)?, hexadecimal(words.next()?)?);
    let name = words.next()?.trim_ascii_end();
    (0 < size && size <= MAX_SIZE && !name.is_empty()).then_some((start, size as u32, name))
}

/// With or without `0x`: HotSpot writes it.
fn hexadecimal(word: &[u8]) -> Option<u64> {
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    if word.first() == Some(&b'+') {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        os::unix::fs::symlink,
        path::PathBuf,
        process::{Child, Command},
    };

    #[test]
    fn open_of_a_process_whose_number_another_one_has_is_refused() {
        let own = Process::read(std::process::id()).expect("this process");
        assert!(own.open("/", libc::O_RDONLY).is_ok());
        let before = Process {
            start: own.start - 1,
            ..own
        };
        assert!(before.open("/", libc::O_RDONLY).is_err());
    }

    #[test]
    fn read_process_whose_name_is_no_text_gives_it() {
        let mut child = Command::new("sh")
            .args(["-c", r"printf '\377' >/proc/self/comm; read x"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("sh");
        let comm = format!("/proc/{}/comm", child.id());
        while fs::read(&comm).expect("its name") != b"\xff\n" {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let read = Process::read(child.id());
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(read.is_some());
    }

    /// A process whose file no other test writes.
    struct Subject(Child, PathBuf);

    impl Subject {
        fn start() -> Subject {
            let child = Command::new("sleep").arg("1000").spawn().expect("sleep");
            let path = PathBuf::from(format!("/tmp/perf-{}.map", child.id()));
            let _ = fs::remove_file(&path);
            Subject(child, path)
        }

        fn look(&self, held: Option<PerfMap>) -> (Option<PerfMap>, bool) {
            PerfMap::look(held, &Process::read(self.0.id()).expect("it lives"))
        }

        fn write(&self, text: &[u8]) -> PerfMap {
            fs::write(&self.1, text).expect("written");
            self.look(None).0.expect("a map")
        }
    }

    impl Drop for Subject {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
            let _ = fs::remove_file(&self.1);
        }
    }

    fn name(map: &PerfMap, address: u64) -> Option<String> {
        let name = map.name(address)?;
        Some(String::from_utf8_lossy(&name).into_owned())
    }

    #[test]
    fn name_of_odd_lines_skips_and_counts_them_and_newest_wins() {
        let subject = Subject::start();
        let map = subject.write(
            b"0x1000 0x20 long Work.fib(int)\n1000 junk\n\nzz 1 x\n1010 10 older\n1010 8 newer\r\n2000 0 empty\n3000 10\n\
              ffffffffffffffff ff last\n4000 10 \xff\xfe raw",
        );
        let names = [0x1000, 0x1012, 0x1019, 0x1020, 0x2000, 0x400f, u64::MAX]
            .map(|address| map.name(address));
        let expected: [Option<&[u8]>; 7] = [
            Some(b"long Work.fib(int)"),
            Some(b"newer"),
            Some(b"older"),
            None,
            None,
            Some(b"\xff\xfe raw"),
            None,
        ];
        assert_eq!(names.each_ref().map(Option::as_deref), expected);
        assert_eq!(map.skipped, 4);
    }

    #[test]
    fn name_lines_over_one_another_is_that_of_the_last_one_of_each_address() {
        // The truth, line by line, beside the places that are held.
        let mut text = String::new();
        let mut truth = vec![None; 4096];
        let mut random = 12345u64;
        let mut draw = |below: u64| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        for line in 0..2000 {
            let start = draw(4000);
            let size = 1 + draw(if line % 50 == 0 { 4096 } else { 64 }).min(4095 - start);
            text.push_str(&format!("{start:x} {size:x} f{line}\n"));
            truth[start as usize..(start + size) as usize].fill(Some(format!("f{line}")));
        }
        let subject = Subject::start();
        let map = subject.write(text.as_bytes());
        for (address, expected) in truth.iter().enumerate() {
            assert_eq!(&name(&map, address as u64), expected, "{address:#x}");
        }
    }

    #[test]
    fn look_file_that_grew_or_was_written_anew_follows_it() {
        let subject = Subject::start();
        let map = subject.write(b"10 10 early\n20 10 lat");
        assert_eq!(name(&map, 0x10).as_deref(), Some("early"));
        let (map, new) = subject.look(Some(map));
        assert!(!new);
        let mut map = map;
        for (text, early, late) in [
            ("10 10 early\n20 10 late\n30 10 x\n", "early", "late"),
            (
                "10 10 early\n20 10 late\n30 10 x\n10 8 moved\n",
                "moved",
                "late",
            ),
            ("20 10 other\n10 10 anew\n", "anew", "other"),
        ] {
            fs::write(&subject.1, text).expect("written");
            let file = File::options().write(true).open(&subject.1).expect("open");
            file.set_modified(SystemTime::now() + Duration::from_secs(text.len() as u64))
                .expect("touched");
            let (next, new) = subject.look(map.take());
            let next = next.expect("a map");
            assert!(new);
            assert_eq!(name(&next, 0x10).as_deref(), Some(early));
            assert_eq!(name(&next, 0x20).as_deref(), Some(late));
            map = Some(next);
        }
        fs::remove_file(&subject.1).expect("removed");
        let (map, new) = subject.look(map);
        assert!(!new, "one that is gone keeps the names it had");
        assert_eq!(map.and_then(|m| name(&m, 0x10)).as_deref(), Some("anew"));
    }

    #[test]
    fn name_file_written_under_read_is_never_torn() {
        let subject = Subject::start();
        let map = subject.write(b"1000 10 first_name\n2000 10 second_name\n");
        fs::write(
            &subject.1,
            b"5000 10 what_is_written_over_it_is_longer\n1000 1",
        )
        .expect("written");
        assert_eq!(map.name(0x2008), None);
        fs::write(&subject.1, b"").expect("truncated");
        assert_eq!(map.name(0x1000), None);
    }

    #[test]
    fn look_hostile_file_is_refused_or_bounded() {
        let subject = Subject::start();
        let aside = subject.1.with_extension("aside");
        fs::write(&aside, "10 10 linked\n").expect("written");
        symlink(&aside, &subject.1).expect("linked");
        assert!(subject.look(None).0.is_none(), "a link");
        fs::remove_file(&subject.1).expect("removed");
        fs::remove_file(&aside).expect("removed");

        let fifo = Command::new("mkfifo").arg(&subject.1).status();
        assert!(fifo.expect("mkfifo").success());
        assert!(subject.look(None).0.is_none(), "a FIFO");
        fs::remove_file(&subject.1).expect("removed");

        fs::create_dir(&subject.1).expect("a folder");
        assert!(subject.look(None).0.is_none(), "a folder");
        fs::remove_dir(&subject.1).expect("removed");

        // A line without end, and NULs.
        let mut text = b"10 10 before\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 3 * MAX_LINE));
        text.extend(b"\n20 10 a\0fter\n\0\0\0\n");
        let map = subject.write(&text);
        assert_eq!(name(&map, 0x10).as_deref(), Some("before"));
        assert_eq!(name(&map, 0x20).as_deref(), Some("a\0fter"));
        assert_eq!(map.skipped, 2);

        // A file that is large and has nothing in it costs no memory.
        let file = File::create(&subject.1).expect("created");
        file.set_len(4 * MAX_FILE).expect("sparse");
        let map = subject.look(None).0.expect("a map");
        assert_eq!(map.len(), 0);
        let file = File::options().write(true).open(&subject.1).expect("open");
        file.set_len(0).expect("truncated");

        // Older than the process: of one before it.
        let map = subject.write(b"10 10 stale\n");
        drop(map);
        let file = File::options().write(true).open(&subject.1).expect("open");
        file.set_modified(SystemTime::now() - Duration::from_secs(3600))
            .expect("touched");
        assert!(subject.look(None).0.is_none(), "a file of long ago");
    }

    #[test]
    fn look_file_of_somebody_else_is_refused() {
        let subject = Subject::start();
        fs::write(&subject.1, "10 10 planted\n").expect("written");
        let given = std::os::unix::fs::chown(&subject.1, Some(12345), None);
        match given {
            Ok(()) => assert!(subject.look(None).0.is_none()),
            Err(e) => eprintln!("skipped, only root can give a file away: {e}"),
        }
    }

    #[test]
    fn look_more_lines_than_are_held_keeps_to_the_bound() {
        let subject = Subject::start();
        let mut text = String::new();
        for i in 0..MAX_PLACES + 1000 {
            text.push_str(&format!("{:x} 8 f\n", 16 * i));
        }
        let map = subject.write(text.as_bytes());
        assert_eq!(map.len(), MAX_PLACES);
        assert_eq!(name(&map, 16 * 1000).as_deref(), Some("f"));
    }
}
