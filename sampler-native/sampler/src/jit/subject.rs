//! What is known of the compiled code of one process.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::{Duration, Instant},
};

use flametop_unwind::{Frame, OpenFile};

use super::{Answer, Ask, Nameless};
use crate::{budget::Purse, perf_map::PerfMap};

/// Files are looked at so often without a question.
pub const TICK: Duration = Duration::from_secs(1);
/// Files are looked at no more often than this.
pub const PAUSE: Duration = Duration::from_millis(100);
/// Looking takes at most one part in so many of the time.
const SHARE: u32 = 20;
/// Most frames of a process whose names are followed.
const MAX_TOLD: usize = 1 << 16;

/// One process image.
pub struct Subject {
    /// When the process began, in ticks since boot; 0: nobody has looked yet.
    pub start: u64,
    /// Whose process it is.
    pub user: u32,
    map: Option<PerfMap>,
    /// How often there was anything new in the map.
    version: u64,
    told: HashMap<u32, Told>,
    /// What reading the map has cost.
    pub reading: Purse,
    /// For how long it was read since it was opened last.
    took: Duration,
    /// The prober is to open the map.
    pub opening: bool,
    /// Frames that wait until the map is read.
    pub waiting: Vec<Ask>,
    /// The map is not opened before, for a question; without one.
    pub look_due: Instant,
    pub follow_due: Instant,
    /// The rest of the map is not read before.
    rest_due: Instant,
    /// The map, or its rest, is not read yet: too much was read.
    postponed: bool,
    /// The file has news that the frames told of were not compared with, and when they may be.
    unchecked: bool,
    check_due: Instant,
    pub used: Instant,
    /// A frame was seen first since the JVM wrote its last map.
    pub wants_map: bool,
    /// Whether the process is a JVM, once that is known; no question to it before.
    pub jvm: Option<bool>,
    pub ask_due: Instant,
    /// The process has ended.
    pub gone: bool,
    told_skipped: bool,
}

/// What was said of a frame.
struct Told {
    place: Frame,
    /// Hash of its name; 0: none.
    name: u64,
    /// The version of the map when it was asked for.
    first: u64,
    /// A later one had this name.
    confirmed: bool,
}

impl Subject {
    pub fn new(user: u32, now: Instant) -> Subject {
        Subject {
            start: 0,
            user,
            map: None,
            version: 0,
            told: HashMap::new(),
            reading: Purse::default(),
            took: Duration::ZERO,
            opening: false,
            waiting: Vec::new(),
            look_due: now,
            follow_due: now,
            rest_due: now,
            postponed: false,
            unchecked: false,
            check_due: now,
            used: now,
            wants_map: true,
            jvm: None,
            ask_due: now,
            gone: false,
            told_skipped: false,
        }
    }

    /// Another process has the number now, which began at this tick.
    pub fn replace(&mut self, start: u64, now: Instant) {
        *self = Subject {
            start,
            waiting: std::mem::take(&mut self.waiting),
            used: self.used,
            reading: self.reading,
            ..Subject::new(self.user, now)
        };
        self.look_due = now + PAUSE;
        self.follow_due = now + TICK;
    }

    /// Whether the map is being opened or read.
    pub fn is_read(&self) -> bool {
        self.opening || self.read_due().is_some()
    }

    /// When the rest of the map is to be read, if there is one.
    pub fn read_due(&self) -> Option<Instant> {
        let rest = self.map.as_ref().is_some_and(|map| !map.whole);
        rest.then_some(self.rest_due)
    }

    /// Whether a map was read.
    pub fn is_known(&self) -> bool {
        self.map.is_some()
    }

    /// How many places of the map are held.
    pub fn places(&self) -> usize {
        self.map.as_ref().map_or(0, PerfMap::len)
    }

    /// Nothing is read before this moment.
    pub fn postpone(&mut self, until: Instant) {
        self.look_due = self.look_due.max(until);
        self.follow_due = self.follow_due.max(until);
        self.rest_due = until;
        self.postponed = true;
        self.check_due = self.check_due.max(until);
    }

    /// Reads a piece of a file that was opened just now, or of the one that is held. Returns what that took, ns.
    pub fn read(&mut self, file: Option<Arc<OpenFile>>) -> u64 {
        let began = Instant::now();
        self.postponed = false;
        match file {
            Some(file) => {
                let (map, new) = PerfMap::of_file(self.map.take(), file);
                self.map = map;
                self.version += u64::from(new);
                self.unchecked |= new;
                self.took = Duration::ZERO;
            }
            None => {
                if let Some(map) = &mut self.map {
                    map.read_on();
                }
            }
        }
        let took = began.elapsed();
        self.took += took;
        if self.read_due().is_none() {
            let rest = PAUSE.max(self.took * SHARE);
            let now = Instant::now();
            self.look_due = now + rest;
            self.follow_due = now + rest.max(TICK);
        }
        took.as_nanos() as u64
    }

    /// Answers a question by what is known of the map.
    pub fn answer(&mut self, ask: &Ask, hasher: &RandomState, answers: &mut Vec<Answer>) {
        let map = self.map.as_ref();
        let name = map.and_then(|map| map.name(ask.place.offset));
        let hash = name.as_ref().map_or(0, |name| hasher.hash_one(name) | 1);
        if self.told.len() < MAX_TOLD {
            let told = Told {
                place: ask.place,
                name: hash,
                first: self.version,
                confirmed: false,
            };
            self.told.insert(ask.frame, told);
        }
        let is_limited = self.postponed || map.is_some_and(PerfMap::is_cut);
        let nameless = match is_limited {
            true => Nameless::Limit,
            false => Nameless::Absent,
        };
        answers.push(Answer::Name {
            frame: ask.frame,
            place: ask.place,
            name: name.ok_or(nameless),
            asked: true,
        });
    }

    /// Tells of all frames that have another name now, if there is news and it is time. Returns what that took, ns.
    pub fn recheck(&mut self, hasher: &RandomState, answers: &mut Vec<Answer>) -> u64 {
        let began = Instant::now();
        if !self.unchecked || self.read_due().is_some() || self.check_due > began {
            return 0;
        }
        self.unchecked = false;
        let Some(map) = &self.map else { return 0 };
        self.told.retain(|&frame, told| {
            let place = told.place;
            let Some(name) = map.name(place.offset) else {
                return true;
            };
            let hash = hasher.hash_one(&name) | 1;
            let confirmed = self.version > told.first;
            if hash == told.name {
                told.confirmed = confirmed;
                return true;
            }
            if told.confirmed {
                answers.push(Answer::Moved { frame, place });
                return false;
            }
            told.name = hash;
            told.confirmed = confirmed;
            answers.push(Answer::Name {
                frame,
                place,
                name: Ok(name),
                asked: false,
            });
            true
        });
        let took = began.elapsed();
        self.check_due = Instant::now() + TICK.max(took * SHARE);
        took.as_nanos() as u64
    }

    /// Lines of the map that were not understood, told once.
    pub fn take_skipped(&mut self) -> Option<u64> {
        let skipped = self.map.as_ref().map_or(0, |map| map.skipped);
        let tell = skipped > 0 && !std::mem::replace(&mut self.told_skipped, true);
        tell.then_some(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flametop_unwind::ModuleId;

    fn answered(subject: &mut Subject) -> Result<Vec<u8>, Nameless> {
        let place = Frame {
            module: ModuleId(0),
            offset: 0x10,
            guessed: false,
        };
        let ask = Ask {
            frame: 1,
            tgid: 2,
            place,
        };
        let mut answers = Vec::new();
        subject.answer(&ask, &RandomState::new(), &mut answers);
        match answers.pop() {
            Some(Answer::Name { name, .. }) => name,
            _ => panic!("a name"),
        }
    }

    #[test]
    fn answer_while_the_map_is_postponed_says_limit() {
        let now = Instant::now();
        let mut subject = Subject::new(0, now);
        assert_eq!(answered(&mut subject), Err(Nameless::Absent));
        subject.postpone(now);
        assert_eq!(answered(&mut subject), Err(Nameless::Limit));
        subject.read(None);
        assert_eq!(answered(&mut subject), Err(Nameless::Absent));
    }
}
