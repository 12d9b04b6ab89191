//! The side of flametop: starts the process, asks it, and goes on without it where it does not answer.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io,
    mem::take,
    os::fd::{AsFd, BorrowedFd},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use flametop_unwind::{FileKey, OpenFile};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags},
        eventfd::{EfdFlags, EventFd},
    },
};

use crate::{
    ARGUMENT, Request, Told,
    pool::{MOST_QUEUED, MOST_QUEUED_OF_USER, MOST_SLOW},
    protocol::{FromProber, ToProber, VERSION},
    wire::Packets,
};

/// The client answers a question itself if the prober has not by then. The prober gives up after a second.
const DEADLINE: Duration = Duration::from_secs(5);
/// A process that is asked and says nothing for so long is replaced.
const SILENCE: Duration = Duration::from_secs(2);
/// One that does not begin to answer in so long is, too: it may have to be read from a disk that is busy.
const START_TIME: Duration = Duration::from_secs(10);
/// A process that was killed is gone by then, or hangs in the kernel and is left behind.
const REAP_TIME: Duration = Duration::from_secs(1);
/// While so many are left behind, none is started.
const LEFT_MAX: usize = 4;
const BACKOFF_MIN: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// After so long without trouble the next start comes quickly again.
const CALM: Duration = Duration::from_secs(60);
/// So many processes may be lost over one question.
const ATTEMPTS_MAX: u32 = 2;
/// So often an answer may name a file that was let go of meanwhile.
const REPEATS_MAX: u32 = 3;

/// The client of one such process at a time. `T`: what comes back with an answer.
///
/// Dropping it ends the process, for which nobody waits.
#[derive(Debug)]
pub struct Client<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// Becomes readable when there is something to take.
    events: Epoll,
    /// Of `events`: something came that is in no socket.
    told: EventFd,
    /// Wakes the thread that has the process.
    wake: EventFd,
}

#[derive(Debug)]
struct State<T> {
    process: Option<Process>,
    /// The process that ended or was killed, until it is reaped; those that hang in the kernel.
    left: Vec<Child>,
    pending: BTreeMap<u64, Pending<T>>,
    of_user: HashMap<u32, usize>,
    /// Questions that are to be sent.
    unsent: VecDeque<u64>,
    next: u64,
    answers: Vec<(T, Told<Arc<OpenFile>>)>,
    files: HashMap<FileKey, Weak<OpenFile>>,
    /// Of these, files that are open at a time; others are closed when they come.
    most_open: usize,
    /// Files that came for the next answer.
    arrived: Vec<Arc<OpenFile>>,
    /// Files that nobody has any more.
    dropped: Arc<Mutex<Vec<FileKey>>>,
    notices: Vec<String>,
    /// Answers that were missing, of processes before this one and by this side's own deadline.
    given_up: u64,
    lost: u64,
    started: u64,
    ended: bool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    socket: Packets,
    /// When it began, or said something last.
    heard: Instant,
    /// Of a version that fits; nothing is asked before.
    ready: bool,
    left: u32,
    given_up: u64,
    /// It is to be replaced; why.
    doomed: Option<Doom>,
}

/// Why a process is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doom {
    Ended,
    Silent,
    AllHang,
    Nonsense,
    Version(u32),
}

#[derive(Debug)]
struct Pending<T> {
    tag: T,
    user: u32,
    request: Request,
    asked: Instant,
    /// When it was sent to the process that runs now.
    sent: Option<Instant>,
    attempts: u32,
    repeats: u32,
}

/// Tells when nobody has a file any more.
#[derive(Debug)]
struct LetGo {
    key: FileKey,
    dropped: Arc<Mutex<Vec<FileKey>>>,
}

impl Drop for LetGo {
    fn drop(&mut self) {
        lock(&self.dropped).push(self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Send + 'static> Client<T> {
    /// A client of `program`, the path of `flametop-symbolizer`, which a thread starts at once.
    ///
    /// # Errors
    /// No descriptor or no thread is left.
    pub fn start(program: &Path) -> io::Result<Client<T>> {
        let events = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let told = EventFd::from_flags(flags)?;
        events.add(&told, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                process: None,
                left: Vec::new(),
                pending: BTreeMap::new(),
                of_user: HashMap::new(),
                unsent: VecDeque::new(),
                next: 0,
                answers: Vec::new(),
                files: HashMap::new(),
                most_open: usize::MAX,
                arrived: Vec::new(),
                dropped: Arc::default(),
                notices: Vec::new(),
                given_up: 0,
                lost: 0,
                started: 0,
                ended: false,
            }),
            events,
            told,
            wake: EventFd::from_flags(flags)?,
        });
        let keeper = Keeper {
            shared: Arc::clone(&shared),
            program: program.to_path_buf(),
            backoff: Duration::ZERO,
            told_start: false,
            told_left: 0,
            replaced: 0,
        };
        thread::Builder::new()
            .name("flametop-keeper".into())
            .stack_size(256 << 10)
            .spawn(|| keeper.run())?;
        Ok(Client { shared })
    }

    /// Has no more files open at a time than so many.
    pub fn keep_open(&self, files: usize) {
        lock(&self.shared.state).most_open = files;
    }

    /// Becomes readable with each answer.
    pub fn event(&self) -> BorrowedFd<'_> {
        self.shared.events.0.as_fd()
    }

    /// Asks for a process of that user; never waits. False: too much waits already.
    pub fn ask(&self, user: u32, request: Request, tag: T) -> bool {
        let mut state = lock(&self.shared.state);
        let of_user = state.of_user.get(&user).copied().unwrap_or(0);
        if state.pending.len() >= MOST_QUEUED || of_user >= MOST_QUEUED_OF_USER {
            return false;
        }
        state.of_user.insert(user, of_user + 1);
        let number = state.next;
        state.next += 1;
        let pending = Pending {
            tag,
            user,
            request,
            asked: Instant::now(),
            sent: None,
            attempts: 0,
            repeats: 0,
        };
        state.pending.insert(number, pending);
        state.unsent.push_back(number);
        state.flush();
        true
    }

    /// The answers that have come, those at their deadline included.
    pub fn take(&self) -> Vec<(T, Told<Arc<OpenFile>>)> {
        // It fails if there was nothing.
        let _ = self.shared.told.read();
        let mut state = lock(&self.shared.state);
        state.receive();
        state.expire(Instant::now());
        state.flush();
        let doomed = |process: &Process| process.doomed.is_some();
        if state.process.as_ref().is_some_and(doomed) {
            self.shared.wake();
        }
        take(&mut state.answers)
    }

    /// Waits until there may be an answer, no longer than until then.
    pub fn wait(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left + Duration::from_micros(999));
        let mut wanted = [PollFd::new(self.event(), PollFlags::POLLIN)];
        // Interrupted is as well.
        let _ = poll(&mut wanted, timeout.unwrap_or(PollTimeout::MAX));
    }

    /// What is to be told since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        take(&mut lock(&self.shared.state).notices)
    }

    /// How many questions were not answered in time so far.
    pub fn given_up(&self) -> u64 {
        let state = lock(&self.shared.state);
        state.given_up + state.process.as_ref().map_or(0, |process| process.given_up)
    }

    /// How many processes have begun to answer so far.
    pub fn started(&self) -> u64 {
        lock(&self.shared.state).started
    }

    /// The process that runs now, and those that were left behind.
    pub fn pids(&self) -> Vec<u32> {
        let state = lock(&self.shared.state);
        let running = state.process.iter().map(|process| process.child.id());
        running.chain(state.left.iter().map(Child::id)).collect()
    }
}

impl<T> Drop for Client<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.ended = true;
        if let Some(process) = &mut state.process {
            // It fails only if the process is dead already.
            let _ = process.child.kill();
        }
        self.shared.wake();
    }
}

impl<T> Shared<T> {
    fn wake(&self) {
        // It fails only if nobody has looked for longer than this machine lives.
        let _ = self.wake.write(1);
    }
}

impl<T> State<T> {
    /// Sends what the socket has room for.
    fn flush(&mut self) {
        let Some(process) = self
            .process
            .as_mut()
            .filter(|p| p.ready && p.doomed.is_none())
        else {
            return;
        };
        let mut dropped = lock(&self.dropped);
        while let Some(key) = dropped.last() {
            if process
                .socket
                .send(&ToProber::LetGo(*key), None, false)
                .is_err()
            {
                return;
            }
            dropped.pop();
        }
        drop(dropped);
        while let Some(number) = self.unsent.front() {
            if let Some(pending) = self.pending.get_mut(number) {
                let message = ToProber::Ask {
                    number: *number,
                    user: pending.user,
                    request: pending.request.clone(),
                };
                // Full, or the process is gone, which the thread that has it sees.
                if process.socket.send(&message, None, false).is_err() {
                    return;
                }
                pending.sent = Some(Instant::now());
                pending.attempts += 1;
            }
            self.unsent.pop_front();
        }
    }

    fn receive(&mut self) {
        while let Some(process) = self.process.as_mut().filter(|p| p.doomed.is_none()) {
            match process.socket.receive() {
                Ok(Some((message, file))) => {
                    process.heard = Instant::now();
                    if let Some(doom) = self.heard(message, file) {
                        self.doom(doom);
                    }
                }
                Ok(None) => return self.doom(Doom::Ended),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return self.doom(Doom::Nonsense);
                }
                Err(_) => return self.doom(Doom::Ended),
            }
        }
    }

    /// Files that somebody has open.
    fn open(&self) -> usize {
        let files = self.files.values().filter_map(Weak::upgrade);
        files.filter(|file| file.is_open()).count()
    }

    fn doom(&mut self, doom: Doom) {
        if let Some(process) = &mut self.process {
            process.doomed.get_or_insert(doom);
            // It fails only if the process is dead already.
            let _ = process.child.kill();
        }
    }

    fn heard(&mut self, message: FromProber, file: Option<std::os::fd::OwnedFd>) -> Option<Doom> {
        let process = self.process.as_mut()?;
        match (message, file) {
            (FromProber::Ready(VERSION), _) => {
                process.ready = true;
                self.started += 1;
            }
            (FromProber::Ready(other), _) => return Some(Doom::Version(other)),
            (FromProber::File(facts), file) => {
                let key = facts.key;
                let file = file.filter(|_| self.open() < self.most_open);
                let known = self.files.get(&key).and_then(Weak::upgrade);
                let known = known.filter(|known| known.is_open() || file.is_none());
                let file = known.unwrap_or_else(|| {
                    let dropped = Arc::clone(&self.dropped);
                    let with = LetGo { key, dropped };
                    Arc::new(OpenFile::passed(facts, file.map(Into::into), with))
                });
                if self.files.len() == self.files.capacity() {
                    self.files.retain(|_, file| file.strong_count() > 0);
                }
                self.files.insert(key, Arc::downgrade(&file));
                self.arrived.push(file);
            }
            (
                FromProber::Answer {
                    number,
                    told,
                    left,
                    given_up,
                },
                file,
            ) => {
                (process.left, process.given_up) = (left, given_up);
                let all_hang = left as usize >= MOST_SLOW;
                self.answered(number, told.with_passed(file.map(Into::into)));
                if all_hang {
                    return Some(Doom::AllHang);
                }
            }
        }
        None
    }

    fn answered(&mut self, number: u64, told: Told<FileKey>) {
        let files = &self.files;
        let told = told.with(&mut |key| files.get(&key).and_then(Weak::upgrade));
        self.arrived.clear();
        // It may have been given up.
        let Some(pending) = self.pending.get_mut(&number) else {
            return;
        };
        match told {
            Some(told) => self.give(number, told),
            // A file was let go of while this answer was on its way.
            None if pending.repeats < REPEATS_MAX => {
                pending.repeats += 1;
                self.unsent.push_back(number);
            }
            None => self.give_up(number),
        }
    }

    fn give(&mut self, number: u64, told: Told<Arc<OpenFile>>) {
        let Some(pending) = self.pending.remove(&number) else {
            return;
        };
        if let Some(of_user) = self.of_user.get_mut(&pending.user) {
            *of_user -= 1;
            if *of_user == 0 {
                self.of_user.remove(&pending.user);
            }
        }
        self.answers.push((pending.tag, told));
    }

    /// Answers without the process.
    fn give_up(&mut self, number: u64) {
        if let Some(pending) = self.pending.get(&number) {
            let late = pending.request.late();
            self.given_up += 1;
            self.give(number, late);
        }
    }

    /// Answers what is late, and gives the process up if it says nothing.
    fn expire(&mut self, now: Instant) {
        // Numbers are in the order of time.
        let late = self.pending.iter();
        let late = late.take_while(|(_, pending)| now - pending.asked >= DEADLINE);
        let late: Vec<u64> = late.map(|(number, _)| *number).collect();
        late.into_iter().for_each(|number| self.give_up(number));
        let Some(process) = &self.process else {
            return;
        };
        let sent = self.pending.values().find_map(|pending| pending.sent);
        let (since, longest) = match process.ready {
            true => (sent.map(|sent| sent.max(process.heard)), SILENCE),
            false => (Some(process.heard), START_TIME),
        };
        if since.is_some_and(|since| now.saturating_duration_since(since) >= longest) {
            self.doom(Doom::Silent);
        }
    }

    /// The process is lost: its questions are put again, those over which several were lost are not.
    fn bury(&mut self) {
        self.arrived.clear();
        let sent = self.pending.iter().filter(|(_, p)| p.sent.is_some());
        let sent: Vec<(u64, u32)> = sent.map(|(number, p)| (*number, p.attempts)).collect();
        for (number, attempts) in sent.into_iter().rev() {
            if attempts >= ATTEMPTS_MAX {
                self.give_up(number);
            } else if let Some(pending) = self.pending.get_mut(&number) {
                pending.sent = None;
                if !self.unsent.contains(&number) {
                    self.unsent.push_front(number);
                }
            }
        }
    }
}

/// The thread that has the process: it starts that, sleeps until that ends or is to be replaced, and reaps it. With this thread the
/// process would end, too.
struct Keeper<T> {
    shared: Arc<Shared<T>>,
    program: PathBuf,
    backoff: Duration,
    told_start: bool,
    told_left: usize,
    replaced: u64,
}

impl<T> Keeper<T> {
    fn run(mut self) {
        while !self.ended() {
            let began = Instant::now();
            match self.start() {
                Ok(()) => {
                    self.watch();
                    self.end();
                }
                Err(error) => self.cannot_start(&error),
            }
            if began.elapsed() >= CALM {
                self.backoff = Duration::ZERO;
            }
            self.backoff = (self.backoff * 2).clamp(BACKOFF_MIN, BACKOFF_MAX);
            self.pause(self.backoff);
        }
        for mut child in take(&mut lock(&self.shared.state).left) {
            // One that hangs is not waited for.
            let _ = child.try_wait();
        }
    }

    fn ended(&self) -> bool {
        lock(&self.shared.state).ended
    }

    /// Sleeps until the client ends, no longer than so. While there is no process nothing else wakes this thread.
    fn pause(&self, longest: Duration) {
        let until = Instant::now() + longest;
        while !self.ended() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let timeout = PollTimeout::try_from(left + Duration::from_micros(999));
            let mut wanted = [PollFd::new(self.shared.wake.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut wanted, timeout.unwrap_or(PollTimeout::MAX));
            let _ = self.shared.wake.read();
        }
    }

    fn start(&mut self) -> io::Result<()> {
        let left = {
            let mut state = lock(&self.shared.state);
            state
                .left
                .retain_mut(|child| matches!(child.try_wait(), Ok(None)));
            state.left.len()
        };
        if left >= LEFT_MAX {
            return Err(io::Error::other("too many of them hang in the kernel"));
        }
        let (socket, theirs) = Packets::pair()?;
        let child = Command::new(&self.program)
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let heard = EpollEvent::new(EpollFlags::EPOLLIN, 1);
        self.shared.events.add(&socket, heard)?;
        let mut state = lock(&self.shared.state);
        state.process = Some(Process {
            child,
            socket,
            heard: Instant::now(),
            ready: false,
            left: 0,
            given_up: 0,
            doomed: state.ended.then_some(Doom::Ended),
        });
        self.told_start = false;
        Ok(())
    }

    /// Sleeps until the process has ended, or is to be replaced.
    fn watch(&self) {
        loop {
            let socket = {
                let state = lock(&self.shared.state);
                let doomed = |process: &&Process| process.doomed.is_none() && !state.ended;
                let Some(process) = state.process.as_ref().filter(doomed) else {
                    return;
                };
                process.socket.as_fd().try_clone_to_owned()
            };
            let Ok(socket) = socket else {
                return;
            };
            let mut wanted = [
                // Its end alone: what it says is for others.
                PollFd::new(socket.as_fd(), PollFlags::empty()),
                PollFd::new(self.shared.wake.as_fd(), PollFlags::POLLIN),
            ];
            let _ = poll(&mut wanted, PollTimeout::NONE);
            let ended = wanted[0].any().unwrap_or(true);
            let _ = self.shared.wake.read();
            if ended {
                return;
            }
        }
    }

    /// Ends the process and leaves it behind if it hangs.
    fn end(&mut self) {
        let (mut process, ended) = {
            let mut state = lock(&self.shared.state);
            // What it said last may be among it.
            state.receive();
            state.doom(Doom::Ended);
            let Some(process) = state.process.take() else {
                return;
            };
            // It fails only if the descriptor is not there, which is as well.
            let _ = self.shared.events.delete(&process.socket);
            state.given_up += process.given_up;
            state.bury();
            state.lost += 1;
            (process, state.ended)
        };
        let until = Instant::now() + if ended { REAP_TIME / 10 } else { REAP_TIME };
        let mut reaped = false;
        while !reaped && Instant::now() < until {
            reaped = !matches!(process.child.try_wait(), Ok(None));
            if !reaped {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let doom = process.doomed.unwrap_or(Doom::Ended);
        let mut state = lock(&self.shared.state);
        if !reaped {
            state.left.push(process.child);
        }
        if state.ended {
            return;
        }
        // Said again when they have doubled.
        let lost = state.lost;
        if lost >= 2 * self.replaced {
            self.replaced = lost;
            state.notices.push(replaced(doom, lost));
        }
        let left = state.left.len();
        if left > self.told_left {
            state.notices.push(format!(
                "{left} processes that read others for flametop were killed and hang in the kernel, as those that wait for a \
                 filesystem that does not answer: they are left behind and end when that is back"
            ));
        }
        self.told_left = left;
        // Whoever waits for answers has some, those that are late.
        let _ = self.shared.told.write(1);
    }

    fn cannot_start(&mut self, error: &io::Error) {
        if !self.told_start {
            self.told_start = true;
            lock(&self.shared.state).notices.push(format!(
                "no user frames of programs that start now: {} cannot be started to read them ({error}); \
                 it is tried again every {} s",
                self.program.display(),
                BACKOFF_MAX.as_secs()
            ));
        }
    }
}

fn replaced(doom: Doom, lost: u64) -> String {
    let why = match doom {
        Doom::Ended => "ended".to_owned(),
        Doom::Silent => format!("did not answer for {} s", SILENCE.as_secs()),
        Doom::AllHang => format!("had {MOST_SLOW} threads that wait for what does not come"),
        Doom::Nonsense => "sent what is not an answer".to_owned(),
        Doom::Version(other) => format!(
            "is of another version (it speaks {other}, this flametop {VERSION}); install both together"
        ),
    };
    let times = match lost {
        1 => String::new(),
        lost => format!(", {lost} times so far"),
    };
    format!(
        "the process that reads others for flametop {why} and was replaced{times}: stacks of that moment may end in [mm busy] or \
         [file not readable]"
    )
}
