//! The thread that follows the maps of compiled code, and names frames by them.

use std::{
    collections::{HashMap, HashSet},
    fs,
    hash::RandomState,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use flametop_prober::MapFile;
use flametop_unwind::OpenFile;

use super::{
    Answer, Ask, Question,
    subject::{PAUSE, Subject, TICK},
};
use crate::{
    budget::Budget,
    os,
    prober::{self, Missing, PerfMap, Prober},
};

/// Most processes whose maps are followed; the process that was asked about longest ago goes first.
const MAX_PROCESSES: usize = 64;
/// Most places of all maps, 16 MiB.
const MAX_PLACES: usize = 1 << 20;
/// Most frames of a process that wait for its map.
const MAX_WAITING: usize = 1 << 16;
/// ns of a second in which maps of one process, and maps of all processes of a user, are read; beyond that there are no names for a while.
const READING: u64 = 100_000_000;
const READING_OF_USER: u64 = 200_000_000;
/// A map that cannot be opened is tried again after this time, and a process that is gone is forgotten.
const REFUSED: Duration = Duration::from_secs(60);
/// The user of a process whose user is not known.
const NOBODY: u32 = u32::MAX;

/// The work of the thread.
pub struct Names {
    processes: HashMap<u32, Subject>,
    /// Time for which maps were read, ns.
    reading: Budget,
    prober: Arc<Prober>,
    hasher: RandomState,
    replies: Sender<Answer>,
    /// Without a question no file is looked at before this moment.
    follow_due: Instant,
    /// Texts that the user was told already.
    told: HashSet<String>,
}

impl Names {
    /// Nothing asked yet.
    pub fn new(prober: Arc<Prober>, replies: Sender<Answer>) -> Names {
        Names {
            processes: HashMap::new(),
            reading: Budget::new(READING, READING_OF_USER),
            hasher: RandomState::new(),
            replies,
            prober,
            follow_due: Instant::now(),
            told: HashSet::new(),
        }
    }

    /// Answers questions until the last question.
    pub fn run(&mut self, questions: &Receiver<Question>) {
        loop {
            let question = match self.wait() {
                None => questions.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => questions.recv_timeout(wait),
            };
            match question {
                Ok(Question::Names(batch)) => self.ask(batch),
                Ok(Question::PerfMap(tgid, map)) => self.opened(tgid, map),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Question::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            self.read_on();
            self.follow();
        }
    }

    /// For so long there is nothing to do without a question; none: for ever.
    fn wait(&self) -> Option<Duration> {
        let now = Instant::now();
        let due = self.processes.values().map(|subject| subject.read_due());
        let due = due.flatten().min();
        let wait = due.map(|due| due.saturating_duration_since(now).min(TICK));
        wait.or_else(|| (!self.processes.is_empty()).then_some(TICK))
    }

    /// Has the frames named, each by the map of its process.
    fn ask(&mut self, batch: Vec<Ask>) {
        let mut of_processes: HashMap<u32, Vec<Ask>> = HashMap::new();
        for ask in batch {
            of_processes.entry(ask.tgid).or_default().push(ask);
        }
        let now = Instant::now();
        for (tgid, asks) in of_processes {
            self.meet(tgid, now);
            let Some(subject) = self.processes.get_mut(&tgid) else {
                continue;
            };
            let room = MAX_WAITING.saturating_sub(subject.waiting.len());
            let looks = subject.is_read() || subject.look_due <= now;
            let (waiting, others) = asks.split_at(if looks { room.min(asks.len()) } else { 0 });
            subject.waiting.extend_from_slice(waiting);
            let mut answers = Vec::new();
            for ask in others {
                subject.answer(ask, &self.hasher, &mut answers);
            }
            self.reply(answers);
            self.look(tgid);
        }
    }

    /// Code of this process was seen.
    fn meet(&mut self, tgid: u32, now: Instant) {
        if !self.processes.contains_key(&tgid) {
            self.make_room();
        }
        let subject = self.processes.entry(tgid).or_insert_with(|| {
            let user = prober::user_of(tgid).unwrap_or(NOBODY);
            Subject::new(user, now)
        });
        subject.used = now;
    }

    /// Has the map of this process opened, if it is time to do so.
    fn look(&mut self, tgid: u32) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        if subject.is_read() || subject.look_due > Instant::now() {
            return;
        }
        subject.opening = self.prober.ask_perf_map(tgid, subject.user);
        if !subject.opening {
            self.opened(tgid, Err(Missing::Late));
        }
    }

    /// The map of a process was opened, or not.
    fn opened(&mut self, tgid: u32, map: Result<PerfMap, Missing>) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        subject.opening = false;
        let now = Instant::now();
        subject.look_due = now + PAUSE;
        subject.follow_due = now + TICK;
        let file = match map {
            Ok(map) => {
                if subject.start != map.start {
                    // The image before this one is forgotten.
                    subject.replace(map.start, now);
                }
                subject.gone = false;
                subject.user = map.user;
                Ok(map.file)
            }
            Err(missing) => Err(missing),
        };
        let why = match file {
            Ok(MapFile::Open(file)) => return self.read(tgid, Some(file)),
            Ok(MapFile::Absent) => return self.answer_waiting(tgid),
            Err(Missing::Gone) => {
                // The map, as far as it was read, names frames for a while.
                subject.gone = true;
                return self.answer_waiting(tgid);
            }
            Err(Missing::Late) => "is not answered for",
            Ok(MapFile::Elsewhere) => "is not opened: a program serves the file system of its /tmp",
        };
        let later = now + REFUSED;
        (subject.look_due, subject.follow_due) = (later, later);
        self.answer_waiting(tgid);
        let text = format!(
            "the perf map of {} {why}; names of its compiled code are left out",
            title(tgid)
        );
        self.notice(tgid, true, text);
    }

    /// Reads a piece of the map of a process: the first piece if the map was opened anew.
    fn read(&mut self, tgid: u32, file: Option<Arc<OpenFile>>) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        let now = os::monotonic();
        if self.reading.left(subject.reading, subject.user, now) == 0 {
            return self.refuse(tgid);
        }
        let took = subject.read(file);
        self.reading
            .spend(&mut subject.reading, subject.user, now, took);
        if !subject.is_read() {
            self.answer_waiting(tgid);
            self.recheck(tgid);
        }
    }

    /// Answers again for frames of a process that have another name now.
    fn recheck(&mut self, tgid: u32) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        let mut answers = Vec::new();
        let took = subject.recheck(&self.hasher, &mut answers);
        self.reading
            .spend(&mut subject.reading, subject.user, os::monotonic(), took);
        self.reply(answers);
    }

    /// Reads the next piece of each map that is due.
    fn read_on(&mut self) {
        let now = Instant::now();
        let due = |subject: &Subject| subject.read_due().is_some_and(|due| due <= now);
        let due = self.processes.iter().filter(|(_, subject)| due(subject));
        let due: Vec<u32> = due.map(|(tgid, _)| *tgid).collect();
        for tgid in due {
            self.read(tgid, None);
        }
    }

    /// Too much was read for this user's processes: their frames have no names until the budget allows to read on.
    fn refuse(&mut self, tgid: u32) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        subject.postpone(Instant::now() + TICK);
        let unknown = !subject.is_known();
        self.answer_waiting(tgid);
        if unknown {
            let text = format!(
                "the perf map of {} is not read yet (limit): those of other processes of its user are so large or so many; some \
                 names of its compiled code are left out",
                title(tgid)
            );
            self.notice(tgid, true, text);
        }
    }

    /// Answers the questions that waited for the map of a process, by the part of the map that was read.
    fn answer_waiting(&mut self, tgid: u32) {
        let Some(subject) = self.processes.get_mut(&tgid) else {
            return;
        };
        let mut answers = Vec::new();
        for ask in std::mem::take(&mut subject.waiting) {
            subject.answer(&ask, &self.hasher, &mut answers);
        }
        if let Some(skipped) = subject.take_skipped() {
            let text = format!(
                "the perf map of {} has {skipped} lines that are none; they are left out",
                title(tgid)
            );
            answers.push(Answer::Notice {
                tgid,
                trouble: true,
                text,
            });
        }
        self.reply(answers);
    }

    fn reply(&mut self, answers: Vec<Answer>) {
        for answer in answers {
            match answer {
                Answer::Notice {
                    tgid,
                    trouble,
                    text,
                } => self.notice(tgid, trouble, text),
                answer => drop(self.replies.send(answer)),
            }
        }
    }

    fn make_room(&mut self) {
        if self.processes.len() < MAX_PROCESSES {
            return;
        }
        let used = self.processes.iter();
        let used = used.map(|(tgid, subject)| (subject.used, *tgid));
        if let Some((_, tgid)) = used.min() {
            self.forget(tgid);
        }
    }

    fn forget(&mut self, tgid: u32) {
        self.answer_waiting(tgid);
        self.processes.remove(&tgid);
    }

    /// Has files opened that may have changed.
    fn follow(&mut self) {
        let now = Instant::now();
        if now < self.follow_due {
            return;
        }
        self.follow_due = now + PAUSE;
        let mut all: Vec<(Instant, u32)> = Vec::new();
        all.extend(self.processes.iter().map(|(tgid, s)| (s.used, *tgid)));
        all.sort_unstable();
        let mut places = 0;
        for (_, tgid) in all.into_iter().rev() {
            let Some(subject) = self.processes.get_mut(&tgid) else {
                continue;
            };
            places += subject.places();
            if places > MAX_PLACES || subject.gone && subject.used + REFUSED <= now {
                self.forget(tgid);
                continue;
            }
            let follow = !subject.gone && subject.follow_due <= now;
            self.recheck(tgid);
            if follow {
                self.look(tgid);
            }
        }
    }

    /// Tells the user each text once.
    fn notice(&mut self, tgid: u32, trouble: bool, text: String) {
        if self.told.len() < 1000 && self.told.insert(text.clone()) {
            let _ = self.replies.send(Answer::Notice {
                tgid,
                trouble,
                text,
            });
        }
    }
}

/// The name of a process in a notice.
fn title(tgid: u32) -> String {
    let comm = fs::read(format!("/proc/{tgid}/comm")).unwrap_or_default();
    match String::from_utf8_lossy(comm.trim_ascii_end()) {
        // The process ended meanwhile.
        comm if comm.is_empty() => format!("pid {tgid}"),
        comm => format!("{comm} (pid {tgid})"),
    }
}
