//! How soon a thread gets a CPU.

use std::io;

/// How soon a thread gets a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Before all others here: it has deadlines.
    Deadlines,
    /// Before all ordinary threads.
    Prompt,
    /// As others do.
    Ordinary,
}

/// Gives the calling thread this priority. Where `SCHED_RR` is not allowed, nice −10 is tried.
///
/// # Errors
/// Not allowed; the thread is as it was.
pub fn set(priority: Priority) -> io::Result<()> {
    let (policy, rr) = match priority {
        Priority::Deadlines => (libc::SCHED_RR, 2),
        Priority::Prompt => (libc::SCHED_RR, PROMPT),
        Priority::Ordinary => (libc::SCHED_OTHER, 0),
    };
    let of = libc::sched_param { sched_priority: rr };
    // SAFETY: `of` lives through the call; 0 is the calling thread. Children do not inherit it.
    if unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &of) } == 0 {
        return Ok(());
    }
    // SAFETY: no memory is passed; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// The real-time priority of [`Priority::Prompt`].
pub(crate) const PROMPT: libc::c_int = 1;
