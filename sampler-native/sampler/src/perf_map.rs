//! Perf maps: a process names the code that it makes at run time in the file `/tmp/perf-PID.map`, in lines of `START SIZE NAME`, with
//! numbers in hexadecimal, with or without `0x`.
//!
//! The prober opens a file only if the kernel serves the file and the file can be the process's own. The process may write anything into
//! the file, so nothing in the file is trusted: the file is read up to a bound and piece by piece, and never mapped; lines that cannot be
//! understood are skipped. Only the places of the lines are held. Whoever asks for a name has the line read and checked again. So a file
//! that is written meanwhile gives the old name, the new name or no name, but never a torn name.

use std::{
    collections::BinaryHeap,
    fs::File,
    os::unix::fs::{FileExt, MetadataExt},
    sync::Arc,
    time::SystemTime,
};

use flametop_stream::MAX_NAME;
use flametop_unwind::OpenFile;

/// Most bytes read of one file; code that is named behind them has no name.
const MAX_FILE: u64 = 256 << 20;
/// Most places held of one file, 8 MiB; code beyond them has no name.
const MAX_PLACES: usize = 1 << 19;
const CHUNK: usize = 256 << 10;
/// Bytes that are read in one go, so that a large file holds up no other: some 20 ms.
const PIECE: u64 = 4 << 20;
/// Most bytes of a line.
const MAX_LINE: usize = 64 << 10;
/// Most bytes of a piece of code; a line that claims more is skipped.
const MAX_SIZE: u64 = 1 << 30;
/// The last bytes that were read are compared when the file has changed: if they are the same, the file only grew.
const TAIL: usize = 64;

/// A stretch of code, and the line of the file that names the stretch. Where lines name the same address, the newest line counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    start: u64,
    size: u32,
    /// The byte of the file where the line begins.
    line: u32,
}

impl Place {
    fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.size))
    }
}

/// The perf map in one file.
pub struct PerfMap {
    file: Arc<OpenFile>,
    /// Device, inode, size and time of the last change, at the last reading.
    seen: (u64, u64, u64, Option<SystemTime>),
    /// By address; no place overlaps another.
    places: Vec<Place>,
    /// The file was read up to this byte, the end of a line.
    read: u64,
    tail: Vec<u8>,
    /// Whether the file was read to its end.
    pub whole: bool,
    /// Lines that could not be understood.
    pub skipped: u64,
}

impl PerfMap {
    /// The map in this file, and whether anything in it is newer than in the map `held` so far. If so, the first new piece is read.
    pub fn of_file(held: Option<PerfMap>, file: Arc<OpenFile>) -> (Option<PerfMap>, bool) {
        let Ok(facts) = file.file().and_then(File::metadata) else {
            return (held, false);
        };
        let seen = (facts.dev(), facts.ino(), facts.len(), facts.modified().ok());
        let mut map = match held {
            Some(held) if held.seen == seen => return (Some(held), false),
            Some(held) if file.file().is_ok_and(|file| held.grew(file, seen)) => {
                PerfMap { file, seen, ..held }
            }
            _ => PerfMap {
                file,
                seen,
                places: Vec::new(),
                read: 0,
                tail: Vec::new(),
                whole: false,
                skipped: 0,
            },
        };
        map.read_on();
        (Some(map), true)
    }

    /// How many places are held.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the file has more bytes or places than are read of one file.
    pub fn is_cut(&self) -> bool {
        self.seen.2 > MAX_FILE || self.places.len() >= MAX_PLACES
    }

    /// Whether this file is the file that is held, with more at its end.
    fn grew(&self, file: &File, seen: (u64, u64, u64, Option<SystemTime>)) -> bool {
        let mut tail = vec![0; self.tail.len()];
        let from = self.read - tail.len() as u64;
        (self.seen.0, self.seen.1) == (seen.0, seen.1)
            && seen.2 >= self.read
            && !tail.is_empty()
            && file.read_exact_at(&mut tail, from).is_ok()
            && tail == self.tail
    }

    /// Reads the next new piece of the file.
    pub fn read_on(&mut self) {
        let mut buffer = Vec::new();
        let (mut begin, mut skipping, mut ended) = (self.read, false, false);
        let mut new = Vec::new();
        let end = self.seen.2.min(MAX_FILE);
        let until = self.read + PIECE;
        while !ended && self.read < until && self.places.len() < MAX_PLACES {
            let held = buffer.len();
            buffer.resize(held + CHUNK, 0);
            let from = begin + held as u64;
            let room = (CHUNK as u64).min(end.saturating_sub(from)) as usize;
            let into = &mut buffer[held..held + room];
            let read = self.file.file().and_then(|file| file.read_at(into, from));
            let read = read.unwrap_or(0);
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
                // The last line may be written still: it counts now, and is read again when the file has grown.
                self.take(&buffer, begin, &mut new);
            } else if buffer.len() > MAX_LINE {
                begin += buffer.len() as u64;
                buffer.clear();
                skipping = true;
            }
            if ended || self.read >= until || new.len() >= MAX_PLACES / 4 {
                self.places = newest(std::mem::take(&mut self.places), std::mem::take(&mut new));
                self.places.truncate(MAX_PLACES);
            }
        }
        self.whole = ended || self.places.len() >= MAX_PLACES;
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

    /// The name of the newest code at this address, if the line of the code is still there.
    pub fn name(&self, address: u64) -> Option<Vec<u8>> {
        let after = self.places.partition_point(|p| p.start <= address);
        let place = self.places[..after].last().filter(|p| address < p.end())?;
        let at = u64::from(place.line);
        let mut bytes = [0; MAX_NAME + 64];
        let before = usize::from(at > 0);
        let from = at - before as u64;
        let read = self.file.file().ok()?.read_at(&mut bytes, from).ok()?;
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

/// The places of both, without overlap: an address of several lines belongs to the latest line.
fn newest(old: Vec<Place>, new: Vec<Place>) -> Vec<Place> {
    let mut all = old;
    all.extend(new);
    // The first part is in order: a stable sort makes use of that.
    all.sort_by_key(|p| (p.start, p.line));
    let mut out: Vec<Place> = Vec::with_capacity(all.len());
    // The lines that hold the address `at`, the latest line first.
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

/// The number in a word, with or without `0x`: HotSpot writes `0x`.
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
        fs::{self, File},
        path::PathBuf,
        sync::atomic::{AtomicU32, Ordering},
        time::Duration,
    };

    /// A file that no other test writes.
    struct Written(PathBuf);

    impl Written {
        fn new() -> Written {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("flametop-map-{}-{number}", std::process::id());
            Written(std::env::temp_dir().join(name))
        }

        fn look(&self, held: Option<PerfMap>) -> (Option<PerfMap>, bool) {
            let file = File::open(&self.0).and_then(OpenFile::of).expect("a file");
            let (mut map, new) = PerfMap::of_file(held, Arc::new(file));
            while let Some(part) = map.as_mut().filter(|map| !map.whole) {
                part.read_on();
            }
            (map, new)
        }

        fn write(&self, text: &[u8]) -> PerfMap {
            fs::write(&self.0, text).expect("written");
            self.look(None).0.expect("a map")
        }
    }

    impl Drop for Written {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn name(map: &PerfMap, address: u64) -> Option<String> {
        let name = map.name(address)?;
        Some(String::from_utf8_lossy(&name).into_owned())
    }

    #[test]
    fn name_of_odd_lines_skips_and_counts_them_and_newest_wins() {
        let file = Written::new();
        let map = file.write(
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
        let file = Written::new();
        let map = file.write(text.as_bytes());
        for (address, expected) in truth.iter().enumerate() {
            assert_eq!(&name(&map, address as u64), expected, "{address:#x}");
        }
    }

    #[test]
    fn look_file_that_grew_or_was_written_anew_follows_it() {
        let file = Written::new();
        let map = file.write(b"10 10 early\n20 10 lat");
        assert_eq!(name(&map, 0x10).as_deref(), Some("early"));
        let (map, new) = file.look(Some(map));
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
            fs::write(&file.0, text).expect("written");
            let changed = File::options().write(true).open(&file.0).expect("open");
            changed
                .set_modified(SystemTime::now() + Duration::from_secs(text.len() as u64))
                .expect("touched");
            let (next, new) = file.look(map.take());
            let next = next.expect("a map");
            assert!(new);
            assert_eq!(name(&next, 0x10).as_deref(), Some(early));
            assert_eq!(name(&next, 0x20).as_deref(), Some(late));
            map = Some(next);
        }
        let (map, new) = file.look(map);
        assert!(!new, "nothing has changed");
        assert_eq!(map.and_then(|m| name(&m, 0x10)).as_deref(), Some("anew"));
    }

    #[test]
    fn name_file_written_under_read_is_never_torn() {
        let file = Written::new();
        let map = file.write(b"1000 10 first_name\n2000 10 second_name\n");
        fs::write(
            &file.0,
            b"5000 10 what_is_written_over_it_is_longer\n1000 1",
        )
        .expect("written");
        assert_eq!(map.name(0x2008), None);
        fs::write(&file.0, b"").expect("truncated");
        assert_eq!(map.name(0x1000), None);
    }

    #[test]
    fn look_hostile_file_is_bounded() {
        let file = Written::new();
        // A line without end, longer than a piece, and NULs.
        let mut text = b"10 10 before\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', PIECE as usize + 3 * MAX_LINE));
        text.extend(b"\n20 10 a\0fter\n\0\0\0\n");
        let map = file.write(&text);
        assert_eq!(name(&map, 0x10).as_deref(), Some("before"));
        assert_eq!(name(&map, 0x20).as_deref(), Some("a\0fter"));
        assert_eq!(map.skipped, 2);

        // A file that is large and has nothing in it costs no memory.
        let sparse = File::create(&file.0).expect("created");
        sparse.set_len(4 * MAX_FILE).expect("sparse");
        let map = file.look(None).0.expect("a map");
        assert_eq!((map.len(), map.is_cut()), (0, true));
    }

    #[test]
    fn read_on_of_several_pieces_is_the_same_as_of_one() {
        let file = Written::new();
        let line = |i: u64| format!("{:x} 8 function_with_a_long_name_{i}\n", 16 * i);
        let lines = 3 * PIECE / line(1).len() as u64;
        let mut text: String = (1..lines).map(line).collect();
        text.push_str("10 8 the_last_line_counts\n");
        fs::write(&file.0, &text).expect("written");
        let opened = File::open(&file.0).and_then(OpenFile::of).expect("a file");
        let mut map = PerfMap::of_file(None, Arc::new(opened)).0.expect("a map");
        let mut pieces = 1;
        assert_eq!(name(&map, 16 * (lines - 1)), None, "not read yet");
        while !map.whole {
            map.read_on();
            pieces += 1;
        }
        assert!(pieces > 2, "{pieces}");
        assert_eq!(name(&map, 16).as_deref(), Some("the_last_line_counts"));
        for i in [2, lines / 2, lines - 1] {
            let expected = format!("function_with_a_long_name_{i}");
            assert_eq!(name(&map, 16 * i), Some(expected));
        }
        assert_eq!((map.skipped, map.is_cut()), (0, false));
    }

    #[test]
    fn look_more_lines_than_are_held_keeps_to_the_bound() {
        let file = Written::new();
        let mut text = String::new();
        for i in 0..MAX_PLACES + 1000 {
            text.push_str(&format!("{:x} 8 f\n", 16 * i));
        }
        let map = file.write(text.as_bytes());
        assert_eq!((map.len(), map.is_cut()), (MAX_PLACES, true));
        assert_eq!(name(&map, 16 * 1000).as_deref(), Some("f"));
    }
}
