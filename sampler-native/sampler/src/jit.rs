//! Names of code that processes made at run time, from the perf maps that they write (`perf_map`); JVMs are asked to write one
//! (`attach`) if that is wanted.
//!
//! A thread named `flametop-jit` follows the files: frames without a name get one when a map brings it, and where other code took
//! the place of what was named, what is seen there from then on is another frame. The prober opens the files, and only those that the
//! kernel serves: a file system that hangs holds up the names of its process and of no other. The thread reads them piece by piece, each
//! process in turn. Each JVM is asked by a thread of its own.

mod subject;

use std::{
    collections::{HashMap, HashSet},
    fs,
    hash::RandomState,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, TryIter, channel},
    },
    thread,
    time::{Duration, Instant},
};

use flametop_prober::MapFile;
use flametop_unwind::{Frame, OpenFile};

use crate::{
    attach,
    budget::Budget,
    os,
    prober::{self, Jvm, Missing, PerfMap, Prober},
};
use subject::Subject;

/// Most processes looked after; the one that was asked about longest ago goes first.
const MAX_PROCESSES: usize = 64;
/// Most places of all maps, 16 MiB.
const MAX_PLACES: usize = 1 << 20;
/// Most frames of a process that wait for its map.
const MAX_WAITING: usize = 1 << 16;
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
/// Whose user is not known.
const NOBODY: u32 = u32::MAX;

/// A frame that wants a name.
#[derive(Clone)]
pub struct Ask {
    pub frame: u32,
    pub tgid: u32,
    pub place: Frame,
}

/// What becomes of frames. `place` is that of the question: an id may have come to mean another since.
pub enum Answer {
    /// The name of a frame. Not `asked`: a better one than was given before.
    Name {
        frame: u32,
        place: Frame,
        name: Result<Vec<u8>, Nameless>,
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

/// Why a frame has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nameless {
    /// No map names it.
    Absent,
    /// It may be in the part of the map that is not read, since that would cost too much.
    Limit,
}

enum Question {
    Names(Vec<Ask>),
    JvmMaps(bool),
    /// The perf map of the process with this number, or why there is none.
    PerfMap(u32, Result<PerfMap, Missing>),
    /// The facts of a JVM that are needed before it is asked; none if the process is no JVM.
    Jvm(u32, Result<Option<Box<Jvm>>, String>),
    /// The JVM with this number has written its map, or said why not.
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
    /// Starts the thread. `prober`: opens the files; its answers come by [`JitNames::perf_map`] and [`JitNames::jvm`]. `jvm_maps`:
    /// whether JVMs are asked to write maps.
    pub fn start(prober: Arc<Prober>, jvm_maps: bool) -> JitNames {
        let (questions, asked) = channel();
        let (replies, answers) = channel();
        let (end, ended) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let mut names = Names {
            processes: HashMap::new(),
            reading: Budget::new(READING, READING_OF_USER),
            prober,
            hasher: RandomState::new(),
            replies,
            own: questions.clone(),
            stop: Arc::clone(&stop),
            jvm_maps,
            follow_due: Instant::now(),
            asking: HashMap::new(),
            attaching: 0,
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
        self.tell(Question::Names(batch));
    }

    /// Whether JVMs are asked to write maps from now on.
    pub fn jvm_maps(&self, wanted: bool) {
        self.tell(Question::JvmMaps(wanted));
    }

    /// The prober has opened a perf map, or says why not.
    pub fn perf_map(&self, tgid: u32, map: Result<PerfMap, Missing>) {
        self.tell(Question::PerfMap(tgid, map));
    }

    /// The prober has looked at what may be a JVM.
    pub fn jvm(&self, tgid: u32, jvm: Result<Option<Box<Jvm>>, String>) {
        self.tell(Question::Jvm(tgid, jvm));
    }

    fn tell(&self, question: Question) {
        // The thread is gone only if it could not be started.
        let _ = self.questions.send(question);
    }

    /// The answers that have come.
    pub fn answers(&self) -> TryIter<'_, Answer> {
        self.answers.try_iter()
    }
}

impl Drop for JitNames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tell(Question::End);
        // It may have begun to ask a JVM, and then has a file to remove.
        let _ = self.ended.recv_timeout(ENDING);
    }
}

struct Names {
    processes: HashMap<u32, Subject>,
    /// Time for which maps were read, ns.
    reading: Budget,
    prober: Arc<Prober>,
    hasher: RandomState,
    replies: Sender<Answer>,
    own: Sender<Question>,
    stop: Arc<AtomicBool>,
    jvm_maps: bool,
    /// Nothing is looked after before.
    follow_due: Instant,
    /// The user of each process that is asked now whether it is a JVM, or asked as one.
    asking: HashMap<u32, u32>,
    /// Threads that ask JVMs.
    attaching: usize,
    /// What the user was told already.
    told: HashSet<String>,
}

impl Names {
    fn run(&mut self, questions: &Receiver<Question>) {
        loop {
            let question = match self.wait() {
                None => questions.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => questions.recv_timeout(wait),
            };
            match question {
                Ok(Question::Names(batch)) => self.ask(batch),
                Ok(Question::JvmMaps(wanted)) => {
                    self.jvm_maps = wanted;
                    for subject in self.processes.values_mut() {
                        subject.ask_due = Instant::now();
                        subject.wants_map = true;
                    }
                }
                Ok(Question::PerfMap(tgid, map)) => self.opened(tgid, map),
                Ok(Question::Jvm(tgid, jvm)) => self.ask_jvm(tgid, jvm),
                Ok(Question::Mapped(tgid, result)) => {
                    self.attaching -= 1;
                    self.mapped(tgid, result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Question::End) | Err(RecvTimeoutError::Disconnected) => break,
            }
            self.read_on();
            self.follow();
        }
        // They may have files to remove.
        while self.attaching > 0 {
            match questions.recv() {
                Ok(Question::Mapped(..)) => self.attaching -= 1,
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    /// How long there is nothing to do without a question; none: for ever.
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
            if !self.processes.contains_key(&tgid) {
                self.make_room();
            }
            let subject = self.processes.entry(tgid).or_insert_with(|| {
                let user = prober::user_of(tgid).unwrap_or(NOBODY);
                Subject::new(user, now)
            });
            subject.used = now;
            subject.wants_map = true;
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

    /// Has the map of this process opened, if that is due.
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
                    // The image before it is forgotten.
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
                // What is known of its map names frames for a while.
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

    /// Reads a piece of the map of a process: from its beginning if it was opened anew.
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

    /// Tells of frames of a process that have another name now.
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

    /// Too much was read for this user's processes: there are no more names until there is time again.
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

    /// Answers what waited for the map of a process, by what is known of that.
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

    /// Has the files looked at that may have changed.
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
        if self.jvm_maps {
            self.look_for_jvms(now);
        }
    }

    /// Has the prober look at those that may be JVMs and are to write maps.
    fn look_for_jvms(&mut self, now: Instant) {
        for (tgid, subject) in &mut self.processes {
            let due = subject.jvm != Some(false)
                && !subject.gone
                && subject.start != 0
                && subject.wants_map
                && subject.ask_due <= now
                && !self.asking.contains_key(tgid);
            let of_user = self.asking.values().filter(|user| **user == subject.user);
            if !due || of_user.count() >= MOST_OF_USER || self.asking.len() >= MOST_ASKED {
                continue;
            }
            if self.prober.ask_jvm(*tgid, subject.start, subject.user) {
                subject.wants_map = false;
                subject.ask_due = now + REFUSED;
                self.asking.insert(*tgid, subject.user);
            }
        }
    }

    /// Has a JVM asked, of which the prober says all that there is to know before.
    fn ask_jvm(&mut self, tgid: u32, jvm: Result<Option<Box<Jvm>>, String>) {
        let jvm = match jvm {
            Err(why) => return self.mapped(tgid, Err(why)),
            Ok(jvm) => jvm,
        };
        if let Some(subject) = self.processes.get_mut(&tgid) {
            subject.jvm = Some(jvm.is_some());
        }
        let Some(jvm) = jvm else {
            self.asking.remove(&tgid);
            return;
        };
        let (own, stop) = (self.own.clone(), Arc::clone(&self.stop));
        // A thread of its own, since it takes on the JVM's user.
        let thread = thread::Builder::new()
            .name("flametop-attach".to_owned())
            .spawn(move || {
                let result = attach::write_map(tgid, &jvm, &stop);
                let _ = own.send(Question::Mapped(tgid, result));
            });
        match thread {
            Ok(_) => self.attaching += 1,
            Err(_) => drop(self.asking.remove(&tgid)),
        }
    }

    fn mapped(&mut self, tgid: u32, result: Result<(), String>) {
        self.asking.remove(&tgid);
        let now = Instant::now();
        if let Some(subject) = self.processes.get_mut(&tgid) {
            let pause = if result.is_ok() { ASKING } else { REFUSED };
            subject.ask_due = now + pause;
            (subject.look_due, subject.follow_due) = (now, now);
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

    /// A process whose map no other test writes, the prober, and the thread.
    struct World {
        process: Child,
        map: PathBuf,
        changes: u64,
        prober: Arc<Prober>,
        jit: JitNames,
    }

    impl World {
        fn start() -> World {
            let process = std::process::Command::new("sleep")
                .arg("1000")
                .spawn()
                .expect("sleep");
            let map = PathBuf::from(format!("/tmp/perf-{}.map", process.id()));
            let exe = std::env::current_exe().expect("own path");
            let program = exe.ancestors().nth(2).expect("target folder");
            let program = program.join("flametop-symbolizer");
            let prober = Arc::new(Prober::new(&program).expect("a prober"));
            World {
                process,
                map,
                changes: 0,
                jit: JitNames::start(Arc::clone(&prober), false),
                prober,
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
            self.ask_of(self.process.id(), frame, offset);
        }

        fn ask_of(&self, tgid: u32, frame: u32, offset: u64) {
            let place = Frame {
                module: ModuleId(0),
                offset,
                guessed: false,
            };
            self.jit.ask(vec![Ask { frame, tgid, place }]);
        }

        /// The next answer: frame and what is said of it.
        fn next(&self) -> (u32, String) {
            let until = Instant::now() + Duration::from_secs(60);
            loop {
                assert!(Instant::now() < until, "an answer");
                let soon = Duration::from_millis(20);
                if let Ok(answer) = self.jit.answers.recv_timeout(soon) {
                    return said_of(answer);
                }
                for answer in self.prober.take() {
                    match answer {
                        prober::Answer::PerfMap(tgid, map) => self.jit.perf_map(tgid, map),
                        other => panic!("{other:?}"),
                    }
                }
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

    fn said_of(answer: Answer) -> (u32, String) {
        match answer {
            Answer::Name { frame, name, .. } => (
                frame,
                match name {
                    Ok(name) => String::from_utf8_lossy(&name).into(),
                    Err(Nameless::Absent) => "none".to_owned(),
                    Err(Nameless::Limit) => "limit".to_owned(),
                },
            ),
            Answer::Moved { frame, .. } => (frame, "moved".to_owned()),
            Answer::Notice { text, .. } => (u32::MAX, text),
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
        assert_eq!(world.next(), said(1, "first"));
        world.ask(2, 0x20);
        assert_eq!(world.next(), said(2, "stays"));
        // The map was older than the frame: what it said may have been of the code before.
        world.write("10 10 second\n20 10 stays\n");
        assert_eq!(world.next(), said(1, "second"));
        world.write("10 10 third\n20 10 stays\n");
        assert_eq!(world.next(), said(1, "moved"));
    }

    #[test]
    fn answer_map_that_is_gone_keeps_its_names_also_when_its_process_is() {
        let mut world = World::start();
        world.write("10 10 kept\n");
        world.ask(1, 0x10);
        assert_eq!(world.next(), said(1, "kept"));
        fs::remove_file(&world.map).expect("removed");
        thread::sleep(2 * PAUSE);
        world.ask(2, 0x10);
        assert_eq!(world.next(), said(2, "kept"));
        world.process.kill().expect("killed");
        world.process.wait().expect("reaped");
        thread::sleep(2 * PAUSE);
        world.ask(3, 0x10);
        assert_eq!(world.next(), said(3, "kept"));
    }

    #[test]
    fn answer_map_that_is_not_answered_for_holds_up_no_other_process() {
        let mut world = World::start();
        world.write("10 10 named\n");
        // The prober says nothing of this one.
        let other = std::process::id();
        world.ask_of(other, 1, 0x10);
        world.ask_of(other, 2, 0x10);
        world.ask(3, 0x10);
        let mut named = None;
        let until = Instant::now() + Duration::from_secs(60);
        while named.is_none() && Instant::now() < until {
            for answer in world.prober.take() {
                match answer {
                    prober::Answer::PerfMap(tgid, _) if tgid == other => {}
                    prober::Answer::PerfMap(tgid, map) => world.jit.perf_map(tgid, map),
                    other => panic!("{other:?}"),
                }
            }
            named = world.jit.answers.try_iter().next().map(said_of);
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(named, Some(said(3, "named")));
        world.jit.perf_map(other, Err(Missing::Late));
        assert_eq!(world.next(), said(1, "none"));
        assert_eq!(world.next(), said(2, "none"));
        let (_, notice) = world.next();
        assert!(notice.contains("is not answered for"), "{notice}");
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
