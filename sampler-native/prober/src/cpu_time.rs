//! The CPU clocks of other processes and threads, which the kernel numbers by their ids.

use nix::{
    libc::clockid_t,
    time::{ClockId, clock_gettime},
};

// Of linux/posix-timers.h: the scheduler's exact sums, of all threads of a process or of one thread.
const PROCESS: clockid_t = 2;
const THREAD: clockid_t = 2 | 4;

/// CPU ns of all threads of a process; `None` if the process is gone.
pub fn process_cpu(tgid: u32) -> Option<u64> {
    cpu_clock(tgid, PROCESS)
}

/// CPU ns of a thread of this process; `None` if the thread is gone.
pub fn thread_cpu(tid: u32) -> Option<u64> {
    cpu_clock(tid, THREAD)
}

fn cpu_clock(id: u32, kind: clockid_t) -> Option<u64> {
    let clock = (!clockid_t::try_from(id).ok()? << 3) | kind;
    let time = clock_gettime(ClockId::from_raw(clock)).ok()?;
    Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
