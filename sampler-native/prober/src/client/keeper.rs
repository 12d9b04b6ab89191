//! The thread that starts the process, and ends and replaces it.

use std::{
    io,
    mem::take,
    os::fd::AsFd,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::epoll::{EpollEvent, EpollFlags},
};

use super::Shared;
use super::state::{Doom, Process, SILENCE, lock};
use crate::{ARGUMENT, pool::MOST_SLOW, protocol::VERSION, reap::reap_later, wire::Packets};

/// A process that was killed is gone by then, or hangs in the kernel and is left behind.
const REAP_TIME: Duration = Duration::from_secs(1);
/// While so many are left behind, none is started.
const LEFT_MAX: usize = 4;
const BACKOFF_MIN: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// After so long without trouble the next start comes quickly again.
const CALM: Duration = Duration::from_secs(60);

/// The thread that has the process: starts the process, sleeps until the process ends or is to be replaced, and reaps the process. With
/// this thread the process would end, too.
pub struct Keeper<T> {
    shared: Arc<Shared<T>>,
    program: PathBuf,
    backoff: Duration,
    told_start: bool,
    told_left: usize,
    replaced: u64,
}

impl<T> Keeper<T> {
    pub fn new(shared: Arc<Shared<T>>, program: PathBuf) -> Keeper<T> {
        Keeper {
            shared,
            program,
            backoff: Duration::ZERO,
            told_start: false,
            told_left: 0,
            replaced: 0,
        }
    }

    /// Keeps a process running until the client ends.
    pub fn run(mut self) {
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
        for child in take(&mut lock(&self.shared.state).left) {
            reap_later(child);
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
