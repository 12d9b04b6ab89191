//! Calls of the kernel that only libc gives: clocks, processes, and files that are opened with conditions.

use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
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

/// Opens the thing of this name in a folder, for its path alone. A link is opened itself; a thing that is mounted there is not opened.
///
/// # Errors
/// No thing has the name, or a thing is mounted there.
pub fn place_in(folder: &File, name: &str) -> io::Result<File> {
    let name = CString::new(name)?;
    // SAFETY: all zeros is a valid `open_how`.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64;
    how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_MAGICLINKS | libc::RESOLVE_NO_XDEV;
    // SAFETY: name and `how` live through the call, and its size is the one passed.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            folder.as_raw_fd(),
            name.as_ptr(),
            &how,
            size_of::<libc::open_how>(),
        )
    };
    descriptor(fd)
}

/// The user and group that the calling thread acts as.
pub fn user() -> (u32, u32) {
    // SAFETY: these take nothing and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
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

/// A descriptor of a process: unlike the number, the descriptor never means another process.
///
/// # Errors
/// The process is gone.
pub fn process(tgid: u32) -> io::Result<File> {
    // SAFETY: no memory is passed.
    descriptor(unsafe { libc::syscall(libc::SYS_pidfd_open, tgid, 0) })
}

/// Sends a signal to the process of a descriptor.
///
/// # Errors
/// The process is gone, or this process may not signal it.
pub fn signal(process: &File, signal: libc::c_int) -> io::Result<()> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the kernel takes a null pointer for a signal as `kill` sends it.
    done(unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            signal,
            no_info,
            0,
        )
    })
}

/// A connection to the socket at a path. Waits no longer than `longest` for the other side to take the connection.
///
/// # Errors
/// There is no socket, or nobody takes the connection in time.
pub fn connect(path: &str, longest: Duration) -> io::Result<UnixStream> {
    // SAFETY: all zeros is an empty address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // A NUL stays behind the path.
    if path.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, byte) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = byte as libc::c_char;
    }
    // SAFETY: takes numbers only.
    let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    let socket = descriptor(socket.into())?;
    let longest = libc::timeval {
        tv_sec: longest.as_secs() as libc::time_t,
        tv_usec: longest.subsec_micros().into(),
    };
    // SAFETY: the time lives through the call, and its size is the one passed.
    let limited = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDTIMEO,
            (&raw const longest).cast(),
            size_of::<libc::timeval>() as libc::socklen_t,
        )
    };
    done(limited.into())?;
    // SAFETY: the address lives through the call, and its size is the one passed.
    let connected = unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_un>() as libc::socklen_t,
        )
    };
    done(connected.into())?;
    Ok(UnixStream::from(OwnedFd::from(socket)))
}

/// Has the calling thread alone act as this user and group, for good: by bare system calls, since the functions of libc would change
/// every thread.
///
/// # Errors
/// Not allowed.
pub fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    let same = -1_i64;
    // SAFETY: no memory is passed; credentials are the kernel's and of each thread.
    done(unsafe { libc::syscall(libc::SYS_setresgid, same, i64::from(gid), same) })?;
    // SAFETY: as above.
    done(unsafe { libc::syscall(libc::SYS_setresuid, same, i64::from(uid), same) })
}

/// Creates an empty file in a folder, for its owner alone.
///
/// # Errors
/// The file is there already, or may not be created.
pub fn create_in(folder: &File, name: &str) -> io::Result<File> {
    let name = CString::new(name)?;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: the name lives through the call.
    let fd = unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, 0o600) };
    descriptor(fd.into())
}

/// Removes a file from a folder.
///
/// # Errors
/// The file is not there, or may not be removed.
pub fn remove_in(folder: &File, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: the name lives through the call.
    done(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) }.into())
}

/// Gives memory that malloc holds and nobody uses back to the kernel.
pub fn trim() {
    // SAFETY: it may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::net::UnixListener, time::Instant};

    #[test]
    fn connect_nobody_takes_it_ends_in_time() {
        let path = std::env::temp_dir().join(format!("flametop-connect-{}", std::process::id()));
        let listener = UnixListener::bind(&path).expect("a socket");
        // SAFETY: takes numbers only.
        unsafe { libc::listen(listener.as_raw_fd(), 0) };
        let name = path.to_str().expect("a path");
        let begin = Instant::now();
        let mut taken = Vec::new();
        let refused = loop {
            match connect(name, Duration::from_millis(100)) {
                Ok(stream) => taken.push(stream),
                Err(error) => break error,
            }
            assert!(taken.len() < 100, "a queue of one");
        };
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert!(begin.elapsed() < Duration::from_secs(60));
        let gone = connect(name, Duration::from_secs(1)).expect_err("gone");
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
