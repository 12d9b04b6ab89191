//! Questions to the process that runs now, its files, and its answers.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io,
    os::fd::OwnedFd,
    process::Child,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use flametop_unwind::{FileKey, OpenFile};

use crate::{
    Request, Told,
    pool::{MOST_QUEUED, MOST_QUEUED_OF_USER, MOST_SLOW},
    protocol::{FromProber, ToProber, VERSION},
    wire::Packets,
};

/// The client answers a question itself if the prober has not by then. The prober gives up after a second.
const DEADLINE: Duration = Duration::from_secs(5);
/// A process that is asked and says nothing for so long is replaced.
pub const SILENCE: Duration = Duration::from_secs(2);
/// One that does not begin to answer in so long is, too: it may have to be read from a disk that is busy.
const START_TIME: Duration = Duration::from_secs(10);
/// So many processes may be lost over one question.
const ATTEMPTS_MAX: u32 = 2;
/// So often an answer may name a file that was let go of meanwhile.
const REPEATS_MAX: u32 = 3;

#[derive(Debug)]
pub struct State<T> {
    pub process: Option<Process>,
    /// The process that ended or was killed, until it is reaped; those that hang in the kernel.
    pub left: Vec<Child>,
    pending: BTreeMap<u64, Pending<T>>,
    of_user: HashMap<u32, usize>,
    /// Questions that are to be sent.
    unsent: VecDeque<u64>,
    next: u64,
    pub answers: Vec<(T, Told<Arc<OpenFile>>)>,
    files: HashMap<FileKey, Weak<OpenFile>>,
    /// Of these, files that are open at a time; others are closed when they come.
    pub most_open: usize,
    /// Files that came for the next answer.
    arrived: Vec<Arc<OpenFile>>,
    /// Files that nobody has any more.
    dropped: Arc<Mutex<Vec<FileKey>>>,
    pub notices: Vec<String>,
    /// Answers that were missing, of processes before this one and by this side's own deadline.
    pub given_up: u64,
    pub lost: u64,
    pub started: u64,
    pub ended: bool,
}

#[derive(Debug)]
pub struct Process {
    pub child: Child,
    pub socket: Packets,
    /// When it began, or said something last.
    pub heard: Instant,
    /// Of a version that fits; nothing is asked before.
    pub ready: bool,
    pub left: u32,
    pub given_up: u64,
    /// It is to be replaced; why.
    pub doomed: Option<Doom>,
}

/// Why a process is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doom {
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

/// The value of a mutex, also after a panic elsewhere.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Default for State<T> {
    fn default() -> State<T> {
        State {
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
        }
    }
}

impl<T> State<T> {
    /// Asks for a process of that user. False: too much waits already.
    pub fn ask(&mut self, user: u32, request: Request, tag: T) -> bool {
        let of_user = self.of_user.get(&user).copied().unwrap_or(0);
        if self.pending.len() >= MOST_QUEUED || of_user >= MOST_QUEUED_OF_USER {
            return false;
        }
        self.of_user.insert(user, of_user + 1);
        let number = self.next;
        self.next += 1;
        let pending = Pending {
            tag,
            user,
            request,
            asked: Instant::now(),
            sent: None,
            attempts: 0,
            repeats: 0,
        };
        self.pending.insert(number, pending);
        self.unsent.push_back(number);
        self.flush();
        true
    }

    /// Sends what the socket has room for.
    pub fn flush(&mut self) {
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

    pub fn receive(&mut self) {
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

    pub fn doom(&mut self, doom: Doom) {
        if let Some(process) = &mut self.process {
            process.doomed.get_or_insert(doom);
            // It fails only if the process is dead already.
            let _ = process.child.kill();
        }
    }

    fn heard(&mut self, message: FromProber, file: Option<OwnedFd>) -> Option<Doom> {
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
    pub fn expire(&mut self, now: Instant) {
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
    pub fn bury(&mut self) {
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
