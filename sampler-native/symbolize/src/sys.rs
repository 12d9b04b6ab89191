//! The system calls that std does not have: passing descriptors, limits, and what ties a process to
//! its parent.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Error, Write};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;
use std::time::{Duration, Instant};

use memmap2::Mmap;

/// Room for the control message of one descriptor, aligned as `cmsghdr` wants it.
type Control = [u64; 8];

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Two connected sockets that keep the bounds of messages.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    check(unsafe {
        libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
            ends.as_mut_ptr(),
        )
    })?;
    // SAFETY: both descriptors are new and nobody else has them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Whether `fd` is such a socket.
pub(crate) fn is_packet_socket(fd: BorrowedFd<'_>) -> bool {
    let (mut kind, mut length) = (
        0 as libc::c_int,
        size_of::<libc::c_int>() as libc::socklen_t,
    );
    // SAFETY: `kind` and `length` are as large as the call is told.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            (&raw mut kind).cast(),
            &raw mut length,
        )
    };
    result == 0 && kind == libc::SOCK_SEQPACKET
}

/// Most descriptors that come with one message.
const PASSED_MAX: usize = 2;

/// Sends one message, and the first two of `passed` with it.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    message: &[u8],
    passed: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut control: Control = [0; 8];
    let mut part = libc::iovec {
        iov_base: message.as_ptr().cast_mut().cast(),
        iov_len: message.len(),
    };
    // SAFETY: all zeros is an empty `msghdr`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    let passed = &passed[..passed.len().min(PASSED_MAX)];
    if !passed.is_empty() {
        let bytes = size_of_val(passed) as libc::c_uint;
        header.msg_control = control.as_mut_ptr().cast();
        // SAFETY: CMSG_SPACE and CMSG_LEN only compute; `control` (64 bytes) holds one header and
        // two descriptors, so CMSG_FIRSTHDR and CMSG_DATA point into it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(bytes) as _;
            let data = libc::CMSG_DATA(first).cast::<libc::c_int>();
            for (i, fd) in passed.iter().enumerate() {
                ptr::write_unaligned(data.add(i), fd.as_raw_fd());
            }
        }
    }
    loop {
        // SAFETY: `header` points to `part`, `message` and `control`, which all outlive the call.
        let sent =
            unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        match Error::last_os_error() {
            _ if sent >= 0 => return Ok(()),
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

/// Waits for one message; its length, 0 at the end of the connection, and the descriptors that came
/// with it. A message longer than `buffer` is an error.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut control: Control = [0; 8];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zeros is an empty `msghdr`.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    let of_one = size_of::<libc::c_int>();
    // No room for more of them, which would stay open.
    // SAFETY: only computes.
    header.msg_controllen = unsafe { libc::CMSG_LEN((PASSED_MAX * of_one) as libc::c_uint) } as _;
    let length = loop {
        // SAFETY: `header` points to `part`, `buffer` and `control`, which all outlive the call.
        let length =
            unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
        match Error::last_os_error() {
            _ if length >= 0 => break length as usize,
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    };
    let mut passed = Vec::new();
    // SAFETY: the kernel filled `control` and set `msg_controllen`; CMSG_FIRSTHDR gives null or a
    // header within it. `cmsg_len` says how many descriptors stand behind it; they are new, and
    // nobody else has them.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        if !first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_RIGHTS
        {
            let bytes = ((*first).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = libc::CMSG_DATA(first).cast::<libc::c_int>();
            for i in 0..(bytes / of_one).min(PASSED_MAX) {
                passed.push(OwnedFd::from_raw_fd(ptr::read_unaligned(data.add(i))));
            }
        }
    };
    if header.msg_flags & libc::MSG_TRUNC != 0 {
        return Err(Error::new(
            io::ErrorKind::InvalidData,
            "the message is too long",
        ));
    }
    Ok((length, passed))
}

/// Waits until `socket` can be read or was closed; false if `deadline` came first.
pub(crate) fn wait_readable(socket: BorrowedFd<'_>, deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut wanted = libc::pollfd {
            fd: socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let millis = (left + Duration::from_micros(999))
            .as_millis()
            .min(i32::MAX as u128) as libc::c_int;
        // SAFETY: one `pollfd`, which outlives the call.
        let ready = unsafe { libc::poll(&raw mut wanted, 1, millis) };
        match Error::last_os_error() {
            _ if ready > 0 => return Ok(true),
            _ if ready == 0 && left.is_zero() => return Ok(false),
            _ if ready == 0 => {}
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

/// A file that is only in memory.
pub(crate) fn memory_file(bytes: &[u8]) -> io::Result<File> {
    // SAFETY: the name is a C string.
    let fd = check(unsafe { libc::memfd_create(c"flametop".as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: the descriptor is new and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    Ok(file)
}

/// Kills this process when the thread that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes and gives numbers only.
    check(unsafe {
        libc::prctl(
            libc::PR_SET_PDEATHSIG,
            libc::SIGKILL as libc::c_ulong,
            0,
            0,
            0,
        )
    })
    .map(drop)
}

/// Limits `data` (private memory, not mapped files) in bytes, and leaves no core files.
pub(crate) fn limit_memory(data: u64) -> io::Result<()> {
    limit(&[(libc::RLIMIT_DATA, data), (libc::RLIMIT_CORE, 0)])
}

/// Limits the files that this process writes, in bytes: at more it ends by SIGXFSZ.
pub(crate) fn limit_files(bytes: u64) -> io::Result<()> {
    limit(&[(libc::RLIMIT_FSIZE, bytes)])
}

fn limit(limits: &[(libc::__rlimit_resource_t, u64)]) -> io::Result<()> {
    for &(resource, bytes) in limits {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: `limit` outlives the call.
        check(unsafe { libc::getrlimit(resource, &raw mut limit) })?;
        // What is stricter already stays.
        limit.rlim_max = limit.rlim_max.min(bytes);
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` outlives the call.
        check(unsafe { libc::setrlimit(resource, &raw const limit) })?;
    }
    Ok(())
}

/// Lowers the priority of this process, closes what it inherited beside the first three
/// descriptors, and leaves the terminal's signals, which go to the whole process group, to its
/// parent.
pub(crate) fn stand_back(nice: i32) {
    flametop_prober::rights::close_inherited();
    // SAFETY: these calls take numbers only.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, nice);
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

/// Gives freed memory back to the system.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes of memory that this process has now, its pages of mapped files included.
pub(crate) fn resident_bytes() -> u64 {
    // SAFETY: takes a number only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(0) as u64;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * page
}

/// CPU time of a process so far; None if it is gone.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    flametop_prober::process_cpu(pid).map(Duration::from_nanos)
}

/// Returns whether the main thread of process `pid` runs or waits for a CPU.
pub(crate) fn is_runnable(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(") ")
            .is_some_and(|(_, fields)| fields.starts_with('R'))
    })
}

/// A directory as the place to look for files from; it is not opened for reading.
pub(crate) fn directory(path: impl AsRef<Path>) -> io::Result<File> {
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path)
}

/// What is at `path` below `root`, through no link at all; `flags` as those of open(2). Made for its
/// owner alone, if it is made.
pub(crate) fn open_plainly(root: &File, path: &Path, flags: libc::c_int) -> io::Result<File> {
    let resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS;
    open_at(
        root,
        path,
        flags | libc::O_NONBLOCK | libc::O_NOCTTY,
        resolve,
    )
}

fn open_at(root: &File, path: &Path, flags: libc::c_int, resolve: u64) -> io::Result<File> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all zeros is an empty `open_how`.
    let mut how: libc::open_how = unsafe { zeroed() };
    how.flags = (flags | libc::O_CLOEXEC) as u64;
    if flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE {
        how.mode = 0o600;
    }
    how.resolve = resolve;
    // SAFETY: `path` and `how` outlive the call, which is told the size of the latter.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            root.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        ) as libc::c_int
    })?;
    // SAFETY: the descriptor is new and nobody else has it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// A path that leads to an open file, in this process.
pub(crate) fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Makes a folder in `parent`, for its owner alone. One that is there already is no error.
pub(crate) fn make_folder(parent: &File, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: the name outlives the call.
    match check(unsafe { libc::mkdirat(parent.as_raw_fd(), name.as_ptr(), 0o700) }) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Gives `file`, which was opened without a name, the name `name` in `folder`.
pub(crate) fn name_file(file: &File, folder: &File, name: &str) -> io::Result<()> {
    let (from, name) = (CString::new(path_of(file))?, CString::new(name)?);
    // SAFETY: both names outlive the call.
    check(unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            folder.as_raw_fd(),
            name.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    })
    .map(drop)
}

/// Puts `from` in the place of `to`, both in `folder`.
pub(crate) fn rename_in(folder: &File, from: &str, to: &str) -> io::Result<()> {
    let (from, to) = (CString::new(from)?, CString::new(to)?);
    let folder = folder.as_raw_fd();
    // SAFETY: both names outlive the call.
    check(unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) }).map(drop)
}

/// Removes the file `name` of `folder`.
pub(crate) fn remove_in(folder: &File, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: the name outlives the call.
    check(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
}

/// Bytes that this process may still write to the file system of `file`.
pub(crate) fn free_bytes(file: &File) -> io::Result<u64> {
    // SAFETY: all zeros is an empty `statvfs`.
    let mut system: libc::statvfs = unsafe { zeroed() };
    // SAFETY: `system` outlives the call.
    check(unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut system) })?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Makes this process that of another user, for good.
pub(crate) fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: one group, which outlives the call; the others take numbers only.
    check(unsafe { libc::setgroups(1, &raw const gid) })?;
    // SAFETY: takes numbers only.
    check(unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: takes numbers only.
    check(unsafe { libc::setresuid(uid, uid, uid) }).map(drop)
}

/// The user that this process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Nothing that this process starts gets more rights than it has.
pub(crate) fn no_new_rights() -> io::Result<()> {
    let (on, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, on, none, none, none) }).map(drop)
}

/// The bytes of a file, as far as they are asked for. To be used in the helper process only: who
/// truncates the file kills it.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the file may be written to while it is looked at. What is read of it is numbers and
    // text that are checked at each use, and SIGBUS ends this process, which is made to be lost.
    unsafe { Mmap::map(file) }
}
