//! The compiled code of one process: the map of the code, and the names that frames were given.

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
    /// The moment when the process began, in ticks since boot; 0: nobody has looked yet.
    pub start: u64,
    /// The user of the process.
    pub user: u32,
    map: Option<PerfMap>,
    /// Grows whenever there is anything new in the map.
    version: u64,
    told: HashMap<u32, Told>,
    /// The cost of reading the map.
    pub reading: Purse,
    /// The map was read for so long since it was opened last.
    took: Duration,
    /// The prober was asked to open the map, and has not answered.
    pub opening: bool,
    /// Frames that wait until the map is read.
    pub waiting: Vec<Ask>,
    /// The map is not opened before this moment, for a question (`look_due`), or without a question (`follow_due`).
    pub look_due: Instant,
    pub follow_due: Instant,
    /// The rest of the map is not read before this moment.
    rest_due: Instant,
    /// The map, or its rest, waits to be read: too much was read of this user's maps.
    postponed: bool,
    /// The names that frames were given were not compared with the newest map yet; they are not before `check_due`.
    unchecked: bool,
    check_due: Instant,
    pub used: Instant,
    /// The process has ended.
    pub gone: bool,
    told_skipped: bool,
}

/// The answer that was given for a frame.
struct Told {
    place: Frame,
    /// Hash of the name; 0: no name.
    name: u64,
    /// The version of the map at the time of the question.
    first: u64,
    /// A later version had this name too.
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
            gone: false,
            told_skipped: false,
        }
    }

    /// Another process, which began at this tick, has the number now.
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

    /// The moment from which on the rest of the map may be read; none: the map is read to its end.
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

    /// Has nothing read before this moment.
    pub fn postpone(&mut self, until: Instant) {
        self.look_due = self.look_due.max(until);
        self.follow_due = self.follow_due.max(until);
        self.rest_due = until;
        self.postponed = true;
        self.check_due = self.check_due.max(until);
    }

    /// Reads a piece of a file that was opened just now, or without one the next piece of the file that is held. Returns the time that
    /// the reading took, ns.
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

    /// Answers a question by the part of the map that was read.
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

    /// Answers again for all frames that have another name now, if the map is newer than the last comparison and `check_due` has come.
    /// Returns the time that the comparison took, ns.
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

    /// The number of lines of the map that are skipped, the first time that there are any.
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
