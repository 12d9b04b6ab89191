//! The side of flametop: starts the process, asks it, and goes on without it where it does not answer. Questions, files and answers are
//! one [`State`] under a lock; a thread, the [`Keeper`], starts and ends the process.

mod keeper;
mod state;

use std::{
    io,
    mem::take,
    os::fd::{AsFd, BorrowedFd},
    path::Path,
    process::Child,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use flametop_unwind::OpenFile;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout},
        eventfd::{EfdFlags, EventFd},
    },
};

use self::keeper::Keeper;
use self::state::{Process, State, lock};
use crate::{Request, Told};

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
            state: Mutex::default(),
            events,
            told,
            wake: EventFd::from_flags(flags)?,
        });
        let keeper = Keeper::new(Arc::clone(&shared), program.to_path_buf());
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
        lock(&self.shared.state).ask(user, request, tag)
    }

    /// The answers that have come, those at their deadline included.
    pub fn take(&self) -> Vec<(T, Told<Arc<OpenFile>>)> {
        let mut state = lock(&self.shared.state);
        if self.shared.is_heard() {
            // It fails if there was nothing.
            let _ = self.shared.told.read();
            state.receive();
        }
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
    /// Says whether the process may have sent something, or another thread called for the client. This question costs less than an
    /// attempt to receive, and most attempts would find nothing.
    fn is_heard(&self) -> bool {
        let mut ready = [EpollEvent::empty()];
        self.events.wait(&mut ready, EpollTimeout::ZERO) != Ok(0)
    }

    fn wake(&self) {
        // It fails only if nobody has looked for longer than this machine lives.
        let _ = self.wake.write(1);
    }
}
