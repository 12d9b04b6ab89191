//! One helper process: its start, its answers, its end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flametop_prober::{Whom, reap_later};

use crate::protocol::{Ask, MESSAGE_MAX, Reply, VERSION, looked};
use crate::{debug, sys};

/// A helper process that did nothing for so long hangs; one that waits for a CPU does not.
const IDLE_TIME_MAX: Duration = Duration::from_secs(2);
/// A file that is looked for comes by then, or is not waited for. The prober answers after a second.
const LOOK_TIME: Duration = Duration::from_secs(2);
/// After so much time no more files are looked for until the next question.
const LOOKS_TIME: Duration = Duration::from_millis(500);
/// Most files that are looked for in one question: four places in two roots, and what debug files share.
const LOOKS_MAX: u32 = 16;
/// A helper process that was killed is gone by then, or hangs.
const REAP_TIME_MAX: Duration = Duration::from_secs(1);

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread that has the helper process shares with those that do not wait for it.
#[derive(Debug, Default)]
pub struct Watched {
    /// The helper process, from its start until it is reaped: while it is here its pid is its own.
    child: Mutex<Option<Child>>,
    stopping: AtomicBool,
}

impl Watched {
    /// The pid of the process that runs now.
    pub fn pid(&self) -> Option<u32> {
        lock(&self.child).as_ref().map(Child::id)
    }

    /// Kills it; none is started any more.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        if let Some(child) = &mut *lock(&self.child) {
            // It fails only if the process is dead already.
            let _ = child.kill();
        }
    }

    /// Starts a process whose standard input is the other end of the socket. Its environment is what
    /// `command` was given of it.
    pub fn spawn(&self, command: &mut Command) -> io::Result<OwnedFd> {
        let (ours, theirs) = sys::socket_pair()?;
        command
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/");
        let child = command.spawn()?;
        let mut held = lock(&self.child);
        let child = held.insert(child);
        // A stop that came before it was there to be killed.
        if self.stopping() {
            child.kill()?;
        }
        Ok(ours)
    }

    /// Kills the process if it still runs; how it ended.
    pub fn end(&self) -> Option<ExitStatus> {
        let mut child = {
            let mut child = lock(&self.child);
            // It fails only if the process is dead already, which is as well.
            let _ = child.as_mut()?.kill();
            child.take()?
        };
        // A process that hangs in the kernel, on a lost network file system, dies when it comes
        // back: it is not waited for.
        let deadline = Instant::now() + REAP_TIME_MAX;
        loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
                Ok(None) => {
                    reap_later(child);
                    return None;
                }
                result => return result.ok().flatten(),
            }
        }
    }

    pub fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}

/// Why a question was not answered.
#[derive(Debug)]
pub enum Death {
    /// It ended or was killed.
    Ended(io::Error),
    /// It used up the CPU time that it may use for one question.
    Busy(Duration),
    /// It did nothing, or took far too long.
    Hung(Duration),
    /// What it said makes no sense.
    Nonsense,
}

/// Why there is no helper process.
#[derive(Debug)]
pub enum NoStart {
    /// The program cannot be started.
    Spawn(io::Error),
    /// It speaks another version.
    Version(u16),
    /// It is another program.
    Stranger,
    /// It ended at once.
    Death(Death),
}

/// How long one question may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// CPU time of the helper process.
    pub cpu: Duration,
    /// Time that passes, on a machine that is overloaded too.
    pub wall: Duration,
}

impl Patience {
    /// The time for one question, from now on.
    pub fn begin(self) -> Waiting {
        Waiting {
            patience: self,
            begun: Instant::now(),
            first: None,
            last: Duration::ZERO,
            moved: Instant::now(),
            looks: LOOKS_MAX,
            looked: Duration::ZERO,
            late: false,
        }
    }
}

/// Asks for the ELF file at a path in the root of a process; without a process, in the root of flametop. The file comes by the channel;
/// none if there is none. A channel that ends without either: it is not known.
pub type Looker = Arc<dyn Fn(Option<Whom>, &[u8]) -> Receiver<Option<File>> + Send + Sync>;

/// The number by which a helper process names the process: the helper process knows no more of it.
pub fn number(whom: Option<Whom>) -> u32 {
    whom.map_or(0, |whom| whom.tgid)
}

/// Starts helper processes, one at a time.
pub struct Helper {
    program: PathBuf,
    argument: Option<&'static str>,
    patience: Patience,
    looker: Looker,
    /// Time that files were looked for, since the beginning.
    looked: Duration,
    socket: Option<OwnedFd>,
    buffer: Vec<u8>,
}

impl Helper {
    pub fn new(
        program: PathBuf,
        argument: Option<&'static str>,
        patience: Patience,
        looker: Looker,
    ) -> Helper {
        Helper {
            program,
            argument,
            patience,
            looker,
            looked: Duration::ZERO,
            socket: None,
            buffer: vec![0; MESSAGE_MAX],
        }
    }

    pub fn runs(&self) -> bool {
        self.socket.is_some()
    }

    /// Starts it, unless it runs.
    pub fn start(&mut self, watched: &Watched) -> Result<(), NoStart> {
        if self.runs() {
            return Ok(());
        }
        self.socket = Some(self.spawn(watched).map_err(NoStart::Spawn)?);
        match self.receive(watched, &mut self.patience()) {
            Ok(Reply::Ready(VERSION)) => Ok(()),
            Err(Death::Ended(error)) => Err(NoStart::Death(Death::Ended(error))),
            other => {
                self.end(watched);
                Err(match other {
                    Ok(Reply::Ready(version)) => NoStart::Version(version),
                    _ => NoStart::Stranger,
                })
            }
        }
    }

    fn spawn(&self, watched: &Watched) -> io::Result<OwnedFd> {
        let mut command = Command::new(&self.program);
        watched.spawn(command.args(self.argument).env_clear())
    }

    /// Puts a question about the first of `files`; the second is its debug file.
    pub fn ask(&self, ask: &Ask, files: &[BorrowedFd<'_>]) -> Result<(), Death> {
        self.send(&ask.encode(), files)
    }

    /// Sends a message with these files.
    pub fn send(&self, message: &[u8], files: &[BorrowedFd<'_>]) -> Result<(), Death> {
        let socket = self.socket.as_ref().ok_or_else(gone)?;
        sys::send(socket.as_fd(), message, files).map_err(Death::Ended)
    }

    /// The time for one question, from now on.
    pub fn patience(&self) -> Waiting {
        self.patience.begin()
    }

    /// The next answer to a question about a file, which is known by a process that maps it and its path. Debug files that are looked for
    /// meanwhile are opened.
    pub fn answer(
        &mut self,
        (mapped_by, file): (Option<Whom>, &[u8]),
        watched: &Watched,
        waiting: &mut Waiting,
    ) -> Result<Reply, Death> {
        loop {
            match self.receive(watched, waiting)? {
                Reply::Look { process, path } => {
                    let mapper = mapped_by.filter(|whom| process == whom.tgid);
                    let theirs = process == 0 || mapper.is_some();
                    let found = match theirs && debug::is_place(&path, file) {
                        true => self.look(mapper, &path, watched, waiting),
                        false => Some(None),
                    };
                    let known = looked(found.is_some());
                    let file = found.flatten();
                    let passed: Vec<_> = file.iter().map(File::as_fd).collect();
                    let socket = self.socket.as_ref().ok_or_else(gone)?;
                    sys::send(socket.as_fd(), &known, &passed).map_err(Death::Ended)?;
                }
                reply => return Ok(reply),
            }
        }
    }

    /// The ELF file at that place, if there is one; none at all if that is not known.
    fn look(
        &mut self,
        whom: Option<Whom>,
        path: &[u8],
        watched: &Watched,
        waiting: &mut Waiting,
    ) -> Option<Option<File>> {
        if !waiting.may_look() {
            waiting.late = true;
            return None;
        }
        let begun = Instant::now();
        let coming = (self.looker)(whom, path);
        let found = loop {
            match coming.recv_timeout(LOOK_TIME / 50) {
                Err(RecvTimeoutError::Timeout)
                    if begun.elapsed() < LOOK_TIME && !watched.stopping() => {}
                found => break found.ok(),
            }
        };
        let took = begun.elapsed();
        waiting.looked(took);
        waiting.late |= found.is_none();
        self.looked += took;
        found
    }

    /// Time that files were looked for, since the beginning.
    pub fn looked(&self) -> Duration {
        self.looked
    }

    /// The next message.
    fn receive(&mut self, watched: &Watched, waiting: &mut Waiting) -> Result<Reply, Death> {
        let socket = self.socket.as_ref().ok_or_else(gone)?;
        loop {
            let look = Instant::now() + IDLE_TIME_MAX / 4;
            if sys::wait_readable(socket.as_fd(), look).map_err(Death::Ended)? {
                break;
            }
            waiting.goes_on(watched.pid())?;
        }
        let (length, _) = sys::receive(socket.as_fd(), &mut self.buffer).map_err(Death::Ended)?;
        if length == 0 {
            return Err(Death::Ended(io::ErrorKind::UnexpectedEof.into()));
        }
        Reply::decode(&self.buffer[..length]).ok_or(Death::Nonsense)
    }

    /// Kills the helper process if it still runs; how it ended.
    pub fn end(&mut self, watched: &Watched) -> Option<ExitStatus> {
        self.socket = None;
        watched.end()
    }
}

fn gone() -> Death {
    Death::Ended(io::ErrorKind::NotConnected.into())
}

/// What a question has cost so far.
#[derive(Debug)]
pub struct Waiting {
    patience: Patience,
    begun: Instant,
    /// CPU time when the process was looked at first, and last.
    first: Option<Duration>,
    last: Duration,
    /// When `last` moved.
    moved: Instant,
    /// Files that may still be looked for.
    looks: u32,
    /// Time that files were looked for.
    looked: Duration,
    late: bool,
}

impl Waiting {
    /// Whether a file may be there that did not come in time.
    pub fn late(&self) -> bool {
        self.late
    }

    /// Whether there is time left for one more file.
    fn may_look(&self) -> bool {
        self.looks > 0 && self.looked < LOOKS_TIME
    }

    /// A file was looked for, while the process waited.
    fn looked(&mut self, took: Duration) {
        self.looks -= 1;
        self.looked += took;
        self.begun += took;
        self.moved = Instant::now();
    }

    /// Whether to wait on for process `pid`. The clock alone does not tell a process that hangs
    /// from one that gets no CPU.
    fn goes_on(&mut self, pid: Option<u32>) -> Result<(), Death> {
        let now = Instant::now();
        let (Some(pid), Some(cpu)) = (pid, pid.and_then(sys::cpu_time)) else {
            return Err(gone());
        };
        let first = *self.first.get_or_insert(cpu);
        if cpu != self.last || sys::is_runnable(pid) {
            self.last = cpu;
            self.moved = now;
        }
        if now - self.moved >= IDLE_TIME_MAX {
            return Err(Death::Hung(IDLE_TIME_MAX));
        }
        if now - self.begun >= self.patience.wall {
            return Err(Death::Hung(self.patience.wall));
        }
        if cpu.saturating_sub(first) >= self.patience.cpu {
            return Err(Death::Busy(self.patience.cpu));
        }
        Ok(())
    }
}

/// Why the helper process was lost, in words.
pub fn why(death: &Death, status: Option<ExitStatus>) -> String {
    match (death, status.and_then(|status| status.signal())) {
        (Death::Hung(time), _) => format!("it hung for {} s", time.as_secs()),
        (Death::Busy(time), _) => format!("it took more than {} s of CPU time", time.as_secs()),
        (Death::Nonsense, _) => "it sent what is not an answer".into(),
        (Death::Ended(_), Some(signal)) => format!("signal {}", signal_name(signal)),
        (Death::Ended(error), None) => {
            status.map_or_else(|| error.to_string(), |status| status.to_string())
        }
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGBUS => "SIGBUS, as when a file is truncated".into(),
        libc::SIGSEGV => "SIGSEGV".into(),
        libc::SIGABRT => "SIGABRT, as when memory runs out".into(),
        libc::SIGKILL => "SIGKILL".into(),
        other => other.to_string(),
    }
}
