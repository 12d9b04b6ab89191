//! Names of code that processes made at run time, from the perf maps that they write (`perf_map`); JVMs are asked to write one
//! (`attach`) if that is wanted.
//!
//! A thread named `flametop-jit` follows the files: frames without a name get one when a map brings it, and where other code took
//! the place of what was named, what is seen there from then on is another frame. The files are read by threads of a [`Pool`], which
//! have the process's map for so long: a filesystem that hangs holds up the names of its process and of no other, and each JVM is
//! asked by a thread of its own.

use std::{
    collections::{HashMap, HashSet},
    fs,
    hash::{BuildHasher, RandomState},
    mem,
    os::unix::fs::MetadataExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, TryIter, channel},
    },
    thread,
    time::{Duration, Instant},
};

use flametop_unwind::Frame;

use crate::{
    attach,
    budget::{Budget, Purse},
    os,
    perf_map::{PerfMap, Process},
};
use flametop_prober::Pool;

/// Most processes looked after; the one that was asked about longest ago goes first.
const MAX_PROCESSES: usize = 64;
/// Most places of all maps, 16 MiB.
const MAX_PLACES: usize = 1 << 20;
/// Most frames of a process whose names are followed.
const MAX_TOLD: usize = 1 << 16;
/// How often files are looked at without a question.
const TICK: Duration = Duration::from_secs(1);
/// A look is made at most so often, and takes at most one part in [`SHARE`] of the time.
const PAUSE: Duration = Duration::from_millis(100);
const SHARE: u32 = 20;
/// ns of a second in which maps of one process, and of all of a user, are read; over it there are no names for a while.
const READING: u64 = 100_000_000;
const READING_OF_USER: u64 = 200_000_000;
/// How often a JVM is asked for a map; after a refusal, and one that is gone is forgotten.
const ASKING: Duration = Duration::from_secs(10);
const REFUSED: Duration = Duration::from_secs(60);
/// How long the end of the thread is waited for.
const ENDING: Duration = Duration::from_millis(500);
/// Most JVMs that are asked at a time, and most of one user: those that do not answer hold up no other user's.
const MOST_ASKED: usize = 64;
const MOST_OF_USER: usize = 8;
/// How often it is looked for those that do not answer.
const LATE: Duration = Duration::from_millis(200);

/// A frame that wants a name.
#[derive(Clone)]
pub struct Ask {
    pub frame: u32,
    pub tgid: u32,
    pub place: Frame,
}

/// What becomes of frames. `place` is that of the question: an id may have come to mean another since.
pub enum Answer {
    /// The name, if there is one. Not `asked`: a better one than was given before.
    Name {
        frame: u32,
        place: Frame,
        name: Option<Vec<u8>>,
        asked: bool,
    },
    /// Other code lies there now: what is seen there from now on is another frame.
    Moved { frame: u32, place: Frame },
    /// Something for the user, of this process.
    Notice {
        tgid: u32,
        trouble: bool,
        text: String,
    },
}

enum Question {
    Names(Vec<Ask>),
    JvmMaps(bool),
    /// The JVM of this number and user has written its map, or said why not.
    Mapped(u32, u32, Result<(), String>),
    /// The pool is done with something.
    Done,
    End,
}

/// The state of a process and of the questions about that process.
enum Done {
    Back(Box<Subject>, Vec<Answer>),
    /// The process is gone.
    Gone(u32, Vec<Ask>),
    /// Nothing came in time.
    Lost(u32, Vec<Ask>),
}

/// Where a process's map is.
enum Place {
    Here(Box<Subject>),
    /// A thread has it; what is asked meanwhile.
    Out(Vec<Ask>),
    /// The thread did not come back; no question is asked before this moment.
    Lost(Instant),
}

/// The asking side. The thread ends when this is dropped.
pub struct JitNames {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
    stop: Arc<AtomicBool>,
    ended: Receiver<()>,
}

impl JitNames {
    /// Starts the thread. `jvm_maps`: whether JVMs are asked to write maps.
    pub fn start(jvm_maps: bool) -> JitNames {
        let (questions, asked) = channel();
        let (replies, answers) = channel();
        let (end, ended) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let own = questions.clone();
        let mut names = Names {
            processes: HashMap::new(),
            reading: Budget::new(READING, READING_OF_USER),
            pool: Pool::new(move || drop(own.send(Question::Done))),
            hasher: RandomState::new(),
            replies,
            own: questions.clone(),
            stop: Arc::clone(&stop),
            jvm_maps,
            follow_due: Instant::now(),
            asking: HashMap::new(),
            told: HashSet::new(),
        };
        // If it does not start, nothing is ever answered, and the frames keep their addresses.
        let _ = thread::Builder::new()
            .name("flametop-jit".to_owned())
            .spawn(move || {
                names.run(&asked);
                drop(end);
            });
        JitNames {
            questions,
            answers,
            stop,
            ended,
        }
    }

    /// Asks; never waits.
    pub fn ask(&self, batch: Vec<Ask>) {
        let _ = self.questions.send(Question::Names(batch));
    }

    /// Whether JVMs are asked to write maps from now on.
    pub fn jvm_maps(&self, wanted: bool) {
        let _ = self.questions.send(Question::JvmMaps(wanted));
    }

    /// The answers that have come.
    pub fn answers(&self) -> TryIter<'_, Answer> {
        self.answers.try_iter()
    }
}

impl Drop for JitNames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.questions.send(Question::End);
        // It may have begun to ask a JVM, and then has a file to remove.
        let _ = self.ended.recv_timeout(ENDING);
    }
}

/// One process image.
struct Subject {
    process: Process,
    map: Option<PerfMap>,
    /// How often there was anything new in the map.
    version: u64,
    told: HashMap<u32, Told>,
    /// What reading it has cost.
    reading: Purse,
    /// For which it was read since that was paid.
    took: Duration,
    /// No look before.
    look_due: Instant,
    /// The file has news that the frames told of were not compared with, and when they may be.
    unchecked: bool,
    check_due: Instant,
    used: Instant,
    /// A frame was seen first since the JVM wrote its last map.
    wants_map: bool,
    /// Whether it is a JVM, and no question to it before.
    jvm: Option<bool>,
    ask_due: Instant,
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

struct Names {
    processes: HashMap<u32, Place>,
    /// Time for which maps were read, ns.
    reading: Budget,
    pool: Pool<Done>,
    hasher: RandomState,
    replies: Sender<Answer>,
    own: Sender<Question>,
    stop: Arc<AtomicBool>,
    jvm_maps: bool,
    /// Nothing is looked after before.
    follow_due: Instant,
    /// How many JVMs of each user are asked now.
    asking: HashMap<u32, usize>,
    /// What the user was told already.
    told: HashSet<String>,
}

impl Names {
    fn run(&mut self, questions: &Receiver<Question>) {
        loop {
            let out = |place: &Place| matches!(place, Place::Out(_));
            let wait = match self.processes.values().any(out) {
                true => LATE,
                false => TICK,
            };
            let question = match self.processes.is_empty() {
                true => questions.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => questions.recv_timeout(wait),
            };
            // A process that was looked at just now is looked at again with the next question, or at the next tick.
            let follow = !matches!(question, Ok(Question::Done));
            match question {
                Ok(Question::Names(batch)) => self.ask(batch),
                Ok(Question::JvmMaps(wanted)) => {
                    self.jvm_maps = wanted;
                    for place in self.processes.values_mut() {
                        if let Place::Here(subject) = place {
                            subject.ask_due = Instant::now();
                            subject.wants_map = true;
                        }
                    }
                }
                Ok(Question::Mapped(tgid, user, result)) => self.mapped(tgid, user, result),
                Ok(Question::Done) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Question::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            for done in self.pool.take() {
                self.done(done);
            }
            if follow {
                self.follow();
            }
        }
        // They may have files to remove.
        while !self.asking.is_empty() {
            match questions.recv() {
                Ok(Question::Mapped(_, user, _)) => self.asked(user),
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    /// Has the frames named, each by the map of its process.
    fn ask(&mut self, batch: Vec<Ask>) {
        let mut of_processes: HashMap<u32, Vec<Ask>> = HashMap::new();
        for ask in batch {
            of_processes.entry(ask.tgid).or_default().push(ask);
        }
        for (tgid, mut asks) in of_processes {
            match self.processes.remove(&tgid) {
                Some(Place::Here(subject)) => self.send(tgid, Some(subject), asks),
                Some(Place::Out(mut waiting)) => {
                    waiting.append(&mut asks);
                    self.processes.insert(tgid, Place::Out(waiting));
                }
                Some(Place::Lost(until)) if until > Instant::now() => {
                    self.processes.insert(tgid, Place::Lost(until));
                    self.without(&asks);
                }
                Some(Place::Lost(_)) | None => {
                    self.make_room();
                    self.send(tgid, None, asks);
                }
            }
        }
    }

    /// Has a thread answer these, and look at the file.
    fn send(&mut self, tgid: u32, mut subject: Option<Box<Subject>>, asks: Vec<Ask>) {
        let user = match &subject {
            Some(subject) => subject.process.uids[1],
            None => fs::metadata(format!("/proc/{tgid}")).map_or(u32::MAX, |facts| facts.uid()),
        };
        let purse = subject.as_ref().map_or(Purse::default(), |s| s.reading);
        if self.reading.left(purse, user, os::monotonic()) == 0 {
            let later = Instant::now() + TICK;
            let Some(subject) = &mut subject else {
                return self.refuse(tgid, &asks);
            };
            // What is known of its map names frames still.
            (subject.look_due, subject.check_due) = (later, later);
        }
        let late = Done::Lost(tgid, asks.clone());
        let (hasher, jvm_maps, unasked) = (self.hasher.clone(), self.jvm_maps, asks.clone());
        let work = move || work(tgid, subject, asks, &hasher, jvm_maps);
        let sent = self.pool.ask(user, late, work);
        if sent {
            self.processes.insert(tgid, Place::Out(Vec::new()));
        } else {
            self.without(&unasked);
            self.processes
                .insert(tgid, Place::Lost(Instant::now() + REFUSED));
        }
    }

    /// Too much was read for this user's processes: there are no names until there is time again.
    fn refuse(&mut self, tgid: u32, asks: &[Ask]) {
        self.without(asks);
        let until = Instant::now() + TICK;
        self.processes.insert(tgid, Place::Lost(until));
        let text = format!(
            "the perf map of {} is not read yet (limit): those of other processes of its user are so large or so many; some names of \
             its compiled code are left out",
            title(tgid)
        );
        self.notice(tgid, true, text);
    }

    fn done(&mut self, done: Done) {
        let tgid = match &done {
            Done::Back(subject, _) => subject.process.tgid,
            Done::Gone(tgid, _) | Done::Lost(tgid, _) => *tgid,
        };
        let asked = match self.processes.remove(&tgid) {
            Some(Place::Out(asked)) => asked,
            _ => Vec::new(),
        };
        match done {
            Done::Back(mut subject, answers) => {
                let (took, user) = (mem::take(&mut subject.took), subject.process.uids[1]);
                self.reading.spend(
                    &mut subject.reading,
                    user,
                    os::monotonic(),
                    took.as_nanos() as u64,
                );
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
                match asked.is_empty() {
                    true => drop(self.processes.insert(tgid, Place::Here(subject))),
                    false => self.send(tgid, Some(subject), asked),
                }
            }
            Done::Gone(_, asks) => {
                self.without(&asks);
                self.without(&asked);
            }
            Done::Lost(_, asks) => {
                self.without(&asks);
                self.without(&asked);
                let until = Instant::now() + REFUSED;
                self.processes.insert(tgid, Place::Lost(until));
                let text = format!(
                    "the perf map of {} is not answered for; names of its compiled code are left out",
                    title(tgid)
                );
                self.notice(tgid, true, text);
            }
        }
    }

    /// Answers that there are no names.
    fn without(&self, asks: &[Ask]) {
        for ask in asks {
            let _ = self.replies.send(Answer::Name {
                frame: ask.frame,
                place: ask.place,
                name: None,
                asked: true,
            });
        }
    }

    fn make_room(&mut self) {
        let now = Instant::now();
        self.processes
            .retain(|_, place| !matches!(place, Place::Lost(until) if *until <= now));
        if self.processes.len() >= MAX_PROCESSES {
            let used = |place: &Place| match place {
                Place::Here(subject) => Some(subject.used),
                Place::Out(_) | Place::Lost(_) => None,
            };
            let here = self.processes.iter();
            let here = here.filter_map(|(tgid, place)| Some((used(place)?, *tgid)));
            if let Some((_, tgid)) = here.min() {
                self.processes.remove(&tgid);
            }
        }
    }

    /// Has the files looked at that may have changed.
    fn follow(&mut self) {
        let now = Instant::now();
        if now < self.follow_due {
            return;
        }
        self.follow_due = now + PAUSE;
        let mut here: Vec<(Instant, u32, usize)> = Vec::new();
        for (tgid, place) in &self.processes {
            if let Place::Here(subject) = place {
                let places = subject.map.as_ref().map_or(0, PerfMap::len);
                here.push((subject.used, *tgid, places));
            }
        }
        here.sort_unstable();
        let mut places = 0;
        for (_, tgid, of_process) in here.into_iter().rev() {
            places += of_process;
            if places > MAX_PLACES {
                self.processes.remove(&tgid);
            } else if let Some(Place::Here(subject)) = self.processes.remove(&tgid) {
                let due = subject.look_due <= now
                    || subject.unchecked && subject.check_due <= now
                    || self.jvm_maps && subject.jvm.is_none();
                match due {
                    true => self.send(tgid, Some(subject), Vec::new()),
                    false => drop(self.processes.insert(tgid, Place::Here(subject))),
                }
            }
        }
        if self.jvm_maps {
            self.ask_jvms(now);
        }
    }

    fn ask_jvms(&mut self, now: Instant) {
        for place in self.processes.values_mut() {
            let Place::Here(subject) = place else {
                continue;
            };
            let user = subject.process.uids[1];
            let due = subject.jvm == Some(true) && subject.wants_map && subject.ask_due <= now;
            let of_user = self.asking.get(&user).copied().unwrap_or(0);
            if !due || of_user >= MOST_OF_USER || self.asking.values().sum::<usize>() >= MOST_ASKED
            {
                continue;
            }
            subject.wants_map = false;
            subject.ask_due = now + REFUSED;
            let process = subject.process.clone();
            let (own, stop) = (self.own.clone(), Arc::clone(&self.stop));
            // A thread of its own, since it takes on the JVM's user.
            let thread = thread::Builder::new()
                .name("flametop-attach".to_owned())
                .spawn(move || {
                    // Since it was looked at last it may have got its handlers.
                    let now = Process::read(process.tgid).filter(|now| now.start == process.start);
                    let gone = || Err("it is gone".to_owned());
                    let result = now.map_or_else(gone, |now| attach::write_map(&now, &stop));
                    let _ = own.send(Question::Mapped(process.tgid, user, result));
                });
            if thread.is_ok() {
                *self.asking.entry(user).or_default() += 1;
            }
        }
    }

    /// A JVM of this user is asked no more.
    fn asked(&mut self, user: u32) {
        if let Some(count) = self.asking.get_mut(&user) {
            *count -= 1;
        }
        self.asking.retain(|_, count| *count > 0);
    }

    fn mapped(&mut self, tgid: u32, user: u32, result: Result<(), String>) {
        self.asked(user);
        let now = Instant::now();
        if let Some(Place::Here(subject)) = self.processes.get_mut(&tgid) {
            let pause = if result.is_ok() { ASKING } else { REFUSED };
            subject.ask_due = now + pause;
            subject.look_due = now;
        }
        match result {
            Ok(()) => self.notice(
                tgid,
                false,
                format!(
                    "{} writes maps of its compiled code for flametop",
                    title(tgid)
                ),
            ),
            Err(why) => self.notice(
                tgid,
                true,
                format!("{} gives no names of its compiled code: {why}", title(tgid)),
            ),
        }
    }

    /// Tells the user, once.
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

/// Answers what is asked about a process, looks at its file, and tells what that brings. May wait.
fn work(
    tgid: u32,
    subject: Option<Box<Subject>>,
    asks: Vec<Ask>,
    hasher: &RandomState,
    jvm_maps: bool,
) -> Done {
    let now = Instant::now();
    let known = subject.as_ref().is_some_and(|s| s.used + TICK > now);
    let subject = match (subject, if known { None } else { Process::read(tgid) }) {
        // The image before it is forgotten.
        (Some(subject), Some(process)) if subject.process.start == process.start => Some(subject),
        (_, Some(process)) => Some(Box::new(Subject::new(process, now))),
        (subject, None) => subject.filter(|s| s.used + REFUSED > now),
    };
    let Some(mut subject) = subject else {
        return Done::Gone(tgid, asks);
    };
    let mut answers = Vec::new();
    for ask in &asks {
        subject.answer(ask, hasher, &mut answers);
    }
    if !asks.is_empty() {
        subject.used = now;
        subject.wants_map = true;
    }
    if subject.look_due <= now {
        subject.look();
    }
    if subject.unchecked && subject.check_due <= now {
        subject.recheck(hasher, &mut answers);
    }
    if jvm_maps && subject.jvm.is_none() {
        subject.jvm = Some(maps_libjvm(tgid));
    }
    let skipped = subject.map.as_ref().map_or(0, |map| map.skipped);
    if skipped > 0 && !std::mem::replace(&mut subject.told_skipped, true) {
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
    Done::Back(subject, answers)
}

impl Subject {
    fn new(process: Process, now: Instant) -> Subject {
        Subject {
            process,
            map: None,
            version: 0,
            told: HashMap::new(),
            reading: Purse::default(),
            took: Duration::ZERO,
            unchecked: false,
            check_due: now,
            look_due: now,
            used: now,
            wants_map: true,
            jvm: None,
            ask_due: now,
            told_skipped: false,
        }
    }

    fn answer(&mut self, ask: &Ask, hasher: &RandomState, answers: &mut Vec<Answer>) {
        let name = self.process_name(ask);
        let hash = name.as_ref().map_or(0, |n| hasher.hash_one(n) | 1);
        if self.told.len() < MAX_TOLD {
            let told = Told {
                place: ask.place,
                name: hash,
                first: self.version,
                confirmed: false,
            };
            self.told.insert(ask.frame, told);
        }
        answers.push(Answer::Name {
            frame: ask.frame,
            place: ask.place,
            name,
            asked: true,
        });
    }

    fn process_name(&mut self, ask: &Ask) -> Option<Vec<u8>> {
        let name = |s: &Subject| s.map.as_ref().and_then(|m| m.name(ask.place.offset));
        let found = name(self);
        if found.is_none() && self.look_due <= Instant::now() {
            self.look();
            return name(self);
        }
        found
    }

    /// Takes in what is new in its file.
    fn look(&mut self) {
        let began = Instant::now();
        let (map, new) = PerfMap::look(self.map.take(), &self.process);
        self.map = map;
        self.unchecked |= new;
        self.version += u64::from(new);
        self.took += began.elapsed();
        self.look_due = rest(began, PAUSE);
    }

    /// Tells of all frames that have another name now.
    fn recheck(&mut self, hasher: &RandomState, answers: &mut Vec<Answer>) {
        let began = Instant::now();
        self.unchecked = false;
        let Some(map) = &self.map else { return };
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
                name: Some(name),
                asked: false,
            });
            true
        });
        self.took += began.elapsed();
        self.check_due = rest(began, TICK);
    }
}

/// When to do again what began then and is done.
fn rest(began: Instant, pause: Duration) -> Instant {
    let now = Instant::now();
    now + pause.max((now - began) * SHARE)
}

fn maps_libjvm(tgid: u32) -> bool {
    let maps = fs::read(format!("/proc/{tgid}/maps")).unwrap_or_default();
    maps.split(|b| *b == b'\n')
        .any(|l| l.ends_with(b"/libjvm.so"))
}

/// How a process is called in a notice.
fn title(tgid: u32) -> String {
    let comm = fs::read(format!("/proc/{tgid}/comm")).unwrap_or_default();
    match String::from_utf8_lossy(comm.trim_ascii_end()) {
        // It ended meanwhile.
        comm if comm.is_empty() => format!("pid {tgid}"),
        comm => format!("{comm} (pid {tgid})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flametop_unwind::ModuleId;
    use std::{path::PathBuf, process::Child, time::SystemTime};

    /// A process whose map no other test writes, and the thread.
    struct World {
        process: Child,
        map: PathBuf,
        changes: u64,
        jit: JitNames,
    }

    impl World {
        fn start() -> World {
            let process = std::process::Command::new("sleep")
                .arg("1000")
                .spawn()
                .expect("sleep");
            let map = PathBuf::from(format!("/tmp/perf-{}.map", process.id()));
            World {
                process,
                map,
                changes: 0,
                jit: JitNames::start(false),
            }
        }

        fn write(&mut self, text: &str) {
            fs::write(&self.map, text).expect("written");
            let file = fs::File::options().write(true).open(&self.map);
            self.changes += 1;
            let later = SystemTime::now() + Duration::from_secs(self.changes);
            file.and_then(|f| f.set_modified(later)).expect("touched");
        }

        fn ask(&self, frame: u32, offset: u64) {
            let place = Frame {
                module: ModuleId(0),
                offset,
                guessed: false,
            };
            self.jit.ask(vec![Ask {
                frame,
                tgid: self.process.id(),
                place,
            }]);
        }

        /// The next answer: frame and what is said of it.
        fn next(&self) -> (u32, String) {
            let answer = self.jit.answers.recv_timeout(Duration::from_secs(60));
            match answer.expect("an answer") {
                Answer::Name { frame, name, .. } => (
                    frame,
                    name.map_or("none".to_owned(), |n| String::from_utf8_lossy(&n).into()),
                ),
                Answer::Moved { frame, .. } => (frame, "moved".to_owned()),
                Answer::Notice { text, .. } => (u32::MAX, text),
            }
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
            let _ = fs::remove_file(&self.map);
        }
    }

    fn said(frame: u32, text: &str) -> (u32, String) {
        (frame, text.to_owned())
    }

    #[test]
    fn answer_map_that_comes_later_names_what_had_no_name() {
        let mut world = World::start();
        world.ask(7, 0x10);
        assert_eq!(world.next(), said(7, "none"));
        world.write("10 10 late\n");
        assert_eq!(world.next(), said(7, "late"), "without a question");
    }

    #[test]
    fn answer_other_code_after_a_newer_map_confirmed_the_name_is_another_frame() {
        let mut world = World::start();
        world.write("10 10 first\n20 10 stays\n");
        world.ask(1, 0x10);
        world.ask(2, 0x20);
        assert_eq!(world.next(), said(1, "first"));
        assert_eq!(world.next(), said(2, "stays"));
        // The map was older than the frame: what it said may have been of the code before.
        world.write("10 10 second\n20 10 stays\n");
        assert_eq!(world.next(), said(1, "second"));
        world.write("10 10 third\n20 10 stays\n");
        assert_eq!(world.next(), said(1, "moved"));
    }

    #[test]
    fn answer_map_that_is_not_answered_for_holds_up_no_other_process() {
        let mut world = World::start();
        world.write("10 10 named\n");
        // A thread that never comes back has this one's.
        let (_end, ended) = channel::<()>();
        let other = std::process::id();
        let ask = |tgid, frame| Ask {
            frame,
            tgid,
            place: Frame {
                module: ModuleId(0),
                offset: 0x10,
                guessed: false,
            },
        };
        let (questions, asked) = channel();
        let (replies, answers) = channel();
        let mut names = Names {
            processes: HashMap::new(),
            reading: Budget::new(READING, READING_OF_USER),
            pool: Pool::new(|| {}),
            hasher: RandomState::new(),
            replies,
            own: questions,
            stop: Arc::default(),
            jvm_maps: false,
            follow_due: Instant::now(),
            asking: HashMap::new(),
            told: HashSet::new(),
        };
        drop(asked);
        let late = Done::Lost(other, vec![ask(other, 1)]);
        names.processes.insert(other, Place::Out(Vec::new()));
        assert!(names.pool.ask(0, late, move || {
            let _ = ended.recv();
            Done::Gone(other, Vec::new())
        }));
        names.ask(vec![ask(other, 2), ask(world.process.id(), 3)]);
        let mut order = Vec::new();
        let until = Instant::now() + Duration::from_secs(60);
        while order.len() < 3 && Instant::now() < until {
            names.pool.wait(until);
            for done in names.pool.take() {
                names.done(done);
            }
            order.extend(answers.try_iter().filter_map(|answer| match answer {
                Answer::Name { frame, name, .. } => Some((frame, name)),
                _ => None,
            }));
        }
        let named = Some(b"named".to_vec());
        assert_eq!(order, [(3, named), (1, None), (2, None)]);
        assert!(matches!(names.processes[&other], Place::Lost(_)));
    }

    #[test]
    fn answer_process_that_is_gone_has_no_name() {
        let mut world = World::start();
        world.process.kill().expect("killed");
        world.process.wait().expect("reaped");
        world.ask(1, 0x10);
        assert_eq!(world.next(), said(1, "none"));
    }
}
