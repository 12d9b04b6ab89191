//! Calls of the kernel that only libc gives: clocks, limits, and control groups that are opened by their ids.

use std::{
    fs::{self, File},
    io,
    os::fd::{AsRawFd, FromRawFd},
};

/// ns of `CLOCK_MONOTONIC`.
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// The reason why the kernel does not count the time of tasks in uninterruptible sleep; `None` if the kernel counts it.
pub fn blocked_missing() -> Option<&'static str> {
    match fs::read("/proc/sys/kernel/sched_schedstats") {
        Ok(text) if text.starts_with(b"1") => None,
        Ok(_) => Some("kernel.sched_schedstats is 0"),
        Err(_) => Some("the kernel was built without scheduler statistics (CONFIG_SCHEDSTATS)"),
    }
}

/// ns of `CLOCK_BOOTTIME`.
pub fn boottime() -> u64 {
    clock(libc::CLOCK_BOOTTIME)
}

/// ns of `CLOCK_REALTIME`.
pub fn realtime() -> u64 {
    clock(libc::CLOCK_REALTIME)
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

/// ns in one tick of `/proc/PID/stat`.
pub fn tick() -> u64 {
    // SAFETY: no memory is passed.
    match unsafe { libc::sysconf(libc::_SC_CLK_TCK) } {
        hz @ 1.. => 1_000_000_000 / hz as u64,
        _ => 10_000_000,
    }
}

/// Bytes of a page.
pub fn page() -> u64 {
    // SAFETY: no memory is passed.
    match unsafe { libc::sysconf(libc::_SC_PAGESIZE) } {
        bytes @ 1.. => bytes as u64,
        _ => 4096,
    }
}

/// Gives the threads of this process with these names nice −10, where that is allowed: a thread with deadlines waits for them, so they
/// must not wait for others.
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

/// Opens the cgroup with this id in the hierarchy of which a mount is `mount`, for its path alone.
///
/// # Errors
/// There is no such cgroup, or this process may not open it (CAP_DAC_READ_SEARCH).
pub fn open_cgroup(mount: &File, id: u64) -> io::Result<File> {
    /// A `file_handle` of kernfs: the id of a cgroup is an id of kernfs.
    #[repr(C)]
    struct Handle {
        bytes: libc::c_uint,
        kind: libc::c_int,
        id: u64,
    }
    const FILEID_KERNFS: libc::c_int = 0xfe;
    let mut handle = Handle {
        bytes: size_of::<u64>() as libc::c_uint,
        kind: FILEID_KERNFS,
        id,
    };
    // SAFETY: the handle has as many bytes as it says, and lives through the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_raw_fd(),
            &raw mut handle,
            libc::O_PATH | libc::O_CLOEXEC,
        )
    };
    descriptor(fd)
}

fn descriptor(fd: libc::c_long) -> io::Result<File> {
    match i32::try_from(fd) {
        // SAFETY: the kernel has just given us this descriptor.
        Ok(fd) if fd >= 0 => Ok(unsafe { File::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn done(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Raises the number of files that may be open at a time to at least `wanted`, if that is allowed. Returns the number.
pub fn allow_files(wanted: u64) -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes one limit.
    done(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }.into())?;
    if limit.rlim_cur >= wanted {
        return Ok(limit.rlim_cur);
    }
    // Only the administrator of the machine may raise the limit above its maximum; anybody may raise it up to the maximum.
    for highest in [limit.rlim_max.max(wanted), limit.rlim_max] {
        let more = libc::rlimit {
            rlim_cur: wanted.min(highest),
            rlim_max: highest,
        };
        // SAFETY: the kernel reads one limit.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const more) } == 0 {
            return Ok(more.rlim_cur);
        }
    }
    Ok(limit.rlim_cur)
}

/// Gives memory that malloc holds and nobody uses back to the kernel.
pub fn trim() {
    // SAFETY: it may be called at any time.
    unsafe { libc::malloc_trim(0) };
}
