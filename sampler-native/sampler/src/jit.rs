//! Names of code that processes made at run time, from the perf maps that they write (`perf_map`); JVMs are asked to write one
//! (`attach`) if that is wanted.
//!
//! A thread named `flametop-jit` reads the files and follows them: frames without a name get one when a map brings it, and
//! where other code took the place of what was named, what is seen there from then on is another frame. A filesystem or a JVM
//! that hangs holds up only these names.

use std::{
    collections::{HashMap, HashSet},
    fs,
    hash::{BuildHasher, RandomState},
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
    perf_map::{PerfMap, Process},
};

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
/// How often a JVM is asked for a map; after a refusal, and one that is gone is forgotten.
const ASKING: Duration = Duration::from_secs(10);
const REFUSED: Duration = Duration::from_secs(60);
/// How long the end of the thread is waited for.
const ENDING: Duration = Duration::from_millis(500);

/// A frame that wants a name.
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
    /// Something for the user.
    Notice { trouble: bool, text: String },
}

enum Question {
    Names(Vec<Ask>),
    JvmMaps(bool),
    /// A JVM has written its map, or said why not.
    Mapped(u32, Result<(), String>),
    End,
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
        let mut names = Names {
            processes: HashMap::new(),
            hasher: RandomState::new(),
            replies,
            own: questions.clone(),
            stop: Arc::clone(&stop),
            jvm_maps,
            follow_due: Instant::now(),
            asking: None,
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
    processes: HashMap<u32, Subject>,
    hasher: RandomState,
    replies: Sender<Answer>,
    own: Sender<Question>,
    stop: Arc<AtomicBool>,
    jvm_maps: bool,
    /// Nothing is looked after before.
    follow_due: Instant,
    /// The JVM that is asked now; one at a time.
    asking: Option<thread::JoinHandle<()>>,
    /// What the user was told already.
    told: HashSet<String>,
}

impl Names {
    fn run(&mut self, questions: &Receiver<Question>) {
        loop {
            let question = match self.processes.is_empty() {
                true => questions.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => questions.recv_timeout(TICK),
            };
            match question {
                Ok(Question::Names(batch)) => {
                    for ask in batch {
                        self.answer(&ask);
                    }
                }
                Ok(Question::JvmMaps(wanted)) => {
                    self.jvm_maps = wanted;
                    for subject in self.processes.values_mut() {
                        subject.ask_due = Instant::now();
                        subject.wants_map = true;
                    }
                }
                Ok(Question::Mapped(tgid, result)) => self.mapped(tgid, result),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Question::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            self.follow();
        }
        if let Some(thread) = self.asking.take() {
            let _ = thread.join();
        }
    }

    fn answer(&mut self, ask: &Ask) {
        let name = self.subject(ask.tgid).and_then(|s| s.process_name(ask));
        let hash = name.as_ref().map_or(0, |n| self.hasher.hash_one(n) | 1);
        if let Some(subject) = self.processes.get_mut(&ask.tgid)
            && subject.told.len() < MAX_TOLD
        {
            let told = Told {
                place: ask.place,
                name: hash,
                first: subject.version,
                confirmed: false,
            };
            subject.told.insert(ask.frame, told);
        }
        let _ = self.replies.send(Answer::Name {
            frame: ask.frame,
            place: ask.place,
            name,
            asked: true,
        });
    }

    /// The process of that number, if it is there; the image before it is forgotten.
    fn subject(&mut self, tgid: u32) -> Option<&mut Subject> {
        let now = Instant::now();
        let known = self
            .processes
            .get(&tgid)
            .is_some_and(|s| s.used + TICK > now);
        if !known {
            let process = Process::read(tgid)?;
            let start = self.processes.get(&tgid).map(|s| s.process.start);
            if start != Some(process.start) {
                self.make_room();
                let subject = Subject {
                    process,
                    map: None,
                    version: 0,
                    told: HashMap::new(),
                    unchecked: false,
                    check_due: now,
                    look_due: now,
                    used: now,
                    wants_map: true,
                    jvm: None,
                    ask_due: now,
                    told_skipped: false,
                };
                self.processes.insert(tgid, subject);
            }
        }
        let subject = self.processes.get_mut(&tgid)?;
        subject.used = now;
        subject.wants_map = true;
        Some(subject)
    }

    fn make_room(&mut self) {
        if self.processes.len() >= MAX_PROCESSES {
            let oldest = self.processes.iter().min_by_key(|(_, s)| s.used);
            if let Some(tgid) = oldest.map(|(t, _)| *t) {
                self.processes.remove(&tgid);
            }
        }
    }

    /// Looks at the files that may have changed, and tells what they bring.
    fn follow(&mut self) {
        let now = Instant::now();
        if now < self.follow_due {
            return;
        }
        self.follow_due = now + PAUSE;
        self.processes.retain(|_, s| {
            s.used + REFUSED > now
                || Process::read(s.process.tgid).is_some_and(|p| p.start == s.process.start)
        });
        let mut tgids: Vec<u32> = self.processes.keys().copied().collect();
        tgids.sort_unstable_by_key(|t| std::cmp::Reverse(self.processes[t].used));
        let mut places = 0;
        for tgid in tgids {
            let Some(subject) = self.processes.get_mut(&tgid) else {
                continue;
            };
            if subject.look_due <= now {
                subject.look();
            }
            if subject.unchecked && subject.check_due <= now {
                subject.recheck(&self.hasher, &self.replies);
            }
            let skipped = subject.map.as_ref().map_or(0, |m| m.skipped);
            if skipped > 0 && !std::mem::replace(&mut subject.told_skipped, true) {
                let text = format!(
                    "the perf map of {} has {skipped} lines that are none; they are left out",
                    title(tgid)
                );
                self.notice(true, text);
            }
            places += self.processes[&tgid].map.as_ref().map_or(0, PerfMap::len);
            if places > MAX_PLACES {
                self.processes.remove(&tgid);
            }
        }
        if self.jvm_maps && self.asking.is_none() {
            self.ask_a_jvm(now);
        }
    }

    fn ask_a_jvm(&mut self, now: Instant) {
        for subject in self.processes.values_mut() {
            if !subject.wants_map || subject.ask_due > now {
                continue;
            }
            let is_jvm = *subject
                .jvm
                .get_or_insert_with(|| maps_libjvm(subject.process.tgid));
            if !is_jvm {
                continue;
            }
            let Some(process) = Process::read(subject.process.tgid) else {
                continue;
            };
            subject.wants_map = false;
            let tgid = process.tgid;
            let (own, stop) = (self.own.clone(), Arc::clone(&self.stop));
            // A thread of its own, since it takes on the JVM's user.
            let thread = thread::Builder::new()
                .name("flametop-attach".to_owned())
                .spawn(move || {
                    let result = attach::write_map(&process, &stop);
                    let _ = own.send(Question::Mapped(tgid, result));
                });
            self.asking = thread.ok();
            return;
        }
    }

    fn mapped(&mut self, tgid: u32, result: Result<(), String>) {
        if let Some(thread) = self.asking.take() {
            let _ = thread.join();
        }
        let now = Instant::now();
        if let Some(subject) = self.processes.get_mut(&tgid) {
            let pause = if result.is_ok() { ASKING } else { REFUSED };
            subject.ask_due = now + pause;
            subject.look_due = now;
        }
        match result {
            Ok(()) => self.notice(
                false,
                format!(
                    "{} writes maps of its compiled code for flametop",
                    title(tgid)
                ),
            ),
            Err(why) => self.notice(
                true,
                format!("{} gives no names of its compiled code: {why}", title(tgid)),
            ),
        }
    }

    /// Tells the user, once.
    fn notice(&mut self, trouble: bool, text: String) {
        if self.told.len() < 1000 && self.told.insert(text.clone()) {
            let _ = self.replies.send(Answer::Notice { trouble, text });
        }
    }
}

impl Subject {
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
        self.look_due = rest(began, PAUSE);
    }

    /// Tells of all frames that have another name now.
    fn recheck(&mut self, hasher: &RandomState, replies: &Sender<Answer>) {
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
                let _ = replies.send(Answer::Moved { frame, place });
                return false;
            }
            told.name = hash;
            told.confirmed = confirmed;
            let _ = replies.send(Answer::Name {
                frame,
                place,
                name: Some(name),
                asked: false,
            });
            true
        });
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
    fn answer_process_that_is_gone_has_no_name() {
        let mut world = World::start();
        world.process.kill().expect("killed");
        world.process.wait().expect("reaped");
        world.ask(1, 0x10);
        assert_eq!(world.next(), said(1, "none"));
    }
}
