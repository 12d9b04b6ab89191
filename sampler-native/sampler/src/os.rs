//! The few things that only libc gives: clocks, and the priority of a thread.

use std::{
    ffi::CString,
    fs::File,
    io,
    os::fd::{AsRawFd, FromRawFd},
};

/// Kinds of CPU clocks, as `linux/posix-timers.h` numbers them.
const PROCESS_CLOCK: libc::clockid_t = 2;
const THREAD_CLOCK: libc::clockid_t = PROCESS_CLOCK | 4;

/// ns of `CLOCK_MONOTONIC`.
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// ns of `CLOCK_BOOTTIME`.
pub fn boottime() -> u64 {
    clock(libc::CLOCK_BOOTTIME)
}

/// ns of `CLOCK_REALTIME`.
pub fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// CPU ns of all threads of a process; `None` if it is gone.
pub fn process_cpu(tgid: u32) -> Option<u64> {
    cpu_clock(tgid, PROCESS_CLOCK)
}

/// CPU ns of a thread of this process; `None` if it is gone.
pub fn thread_cpu(tid: u32) -> Option<u64> {
    cpu_clock(tid, THREAD_CLOCK)
}

/// The kernel numbers the clocks of others by their ids.
fn cpu_clock(id: u32, kind: libc::clockid_t) -> Option<u64> {
    match clock((!libc::clockid_t::try_from(id).ok()? << 3) | kind) {
        0 => None,
        ns => Some(ns),
    }
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a timespec that lives through the call.
    unsafe { libc::clock_gettime(id, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Bytes of a page.
pub fn page() -> u64 {
    // SAFETY: no memory is passed.
    match unsafe { libc::sysconf(libc::_SC_PAGESIZE) } {
        bytes @ 1.. => bytes as u64,
        _ => 4096,
    }
}

/// Puts the calling thread before all ordinary ones: `SCHED_RR` at its lowest priority, or else nice −10. A burst of other
/// tasks must not keep it from its deadlines.
///
/// # Errors
/// Neither is allowed; the thread is as it was.
pub fn raise_priority() -> io::Result<()> {
    let rr = libc::sched_param { sched_priority: 1 };
    // SAFETY: `rr` lives through the call; 0 is the calling thread. Children do not inherit it.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &rr) } == 0
    {
        return Ok(());
    }
    // SAFETY: no memory is passed; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// Gives the threads of this process with these names nice −10, where that is allowed: what a thread with deadlines waits for
/// must not wait itself.
pub fn favour(names: &[&str]) {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return;
    };
    for thread in threads.flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let tid = thread.file_name().to_str().and_then(|t| t.parse().ok());
        if let Some(tid) = tid.filter(|_| names.contains(&name.trim_end())) {
            // SAFETY: no memory is passed.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, tid, -10) };
        }
    }
}

/// Opens a file for reading below `root`, as a process with that root would find it, but follows no link at its end, and
/// waits for nobody (a FIFO without a writer).
///
/// # Errors
/// It cannot be opened so.
pub fn open_in_root(root: &File, path: &str) -> io::Result<File> {
    let path = CString::new(path)?;
    // SAFETY: all zeros is a valid `open_how`.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags =
        (libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC)
            as u64;
    how.resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_MAGICLINKS;
    // SAFETY: path and `how` live through the call, and its size is the one passed.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            root.as_raw_fd(),
            path.as_ptr(),
            &how,
            size_of::<libc::open_how>(),
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just given us this descriptor.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
