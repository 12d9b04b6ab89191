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

/// Sends one message, and `passed` with it.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    message: &[u8],
    passed: Option<BorrowedFd<'_>>,
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
    if let Some(fd) = passed {
        let bytes = size_of::<libc::c_int>() as libc::c_uint;
        header.msg_control = control.as_mut_ptr().cast();
        // SAFETY: CMSG_SPACE and CMSG_LEN only compute; `control` (64 bytes) holds one header and
        // one descriptor, so CMSG_FIRSTHDR and CMSG_DATA point into it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(bytes) as _;
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(bytes) as _;
            ptr::write_unaligned(libc::CMSG_DATA(first).cast::<libc::c_int>(), fd.as_raw_fd());
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

/// Waits for one message; its length, 0 at the end of the connection, and the descriptor that came
/// with it. A message longer than `buffer` is an error.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<OwnedFd>)> {
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
    // With the padding of CMSG_SPACE a second descriptor would fit, and stay open.
    // SAFETY: only computes.
    header.msg_controllen =
        unsafe { libc::CMSG_LEN(size_of::<libc::c_int>() as libc::c_uint) } as _;
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
    // SAFETY: the kernel filled `control` and set `msg_controllen`; CMSG_FIRSTHDR gives null or a
    // header within it. It has room for one descriptor, the kernel closes what does not fit.
    let passed = unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let one = libc::CMSG_LEN(size_of::<libc::c_int>() as libc::c_uint) as usize;
        if !first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_RIGHTS
            && (*first).cmsg_len as usize >= one
        {
            Some(OwnedFd::from_raw_fd(ptr::read_unaligned(
                libc::CMSG_DATA(first).cast::<libc::c_int>(),
            )))
        } else {
            None
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
    for (resource, bytes) in [(libc::RLIMIT_DATA, data), (libc::RLIMIT_CORE, 0)] {
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
    // SAFETY: these calls take numbers only. Nobody in this process has a descriptor above 2 yet.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, nice);
        libc::syscall(
            libc::SYS_close_range,
            3 as libc::c_uint,
            libc::c_uint::MAX,
            0 as libc::c_uint,
        );
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

/// CPU time of a process so far, in ns, and whether it could run; None if it is gone.
pub(crate) fn cpu_time(pid: u32) -> Option<(u64, bool)> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let stat = read("stat")?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let runnable = fields.next()? == "R";
    // Where the kernel keeps no exact sum, ticks of 10 ms will do.
    let exact = read("schedstat").and_then(|sums| sums.split(' ').next()?.parse().ok());
    let ticks = fields
        .skip(10)
        .take(2)
        .map(|ticks| ticks.parse().unwrap_or(0));
    Some((
        exact.unwrap_or_else(|| ticks.sum::<u64>() * 10_000_000),
        runnable,
    ))
}

/// A directory as the place to look for files from; it is not opened for reading.
pub(crate) fn directory(path: &str) -> io::Result<File> {
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path)
}

/// The regular file `path` below `root`, open for reading. Whatever links say, nothing outside of
/// `root` is touched, and nothing that is no regular file is opened: to open a device or a FIFO may
/// wait, or do something. With `same_mount`, nor is what is mounted below `root`.
pub(crate) fn open_below(root: &File, path: &Path, same_mount: bool) -> io::Result<File> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: all zeros is an empty `open_how`.
    let mut how: libc::open_how = unsafe { zeroed() };
    how.flags = (libc::O_PATH | libc::O_CLOEXEC) as u64;
    how.resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_MAGICLINKS;
    if same_mount {
        how.resolve |= libc::RESOLVE_NO_XDEV;
    }
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
    let place = unsafe { File::from_raw_fd(fd) };
    if !place.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(format!("/proc/self/fd/{fd}"))
}

/// The bytes of a file, as far as they are asked for. To be used in the helper process only: who
/// truncates the file kills it.
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the file may be written to while it is looked at. What is read of it is numbers and
    // text that are checked at each use, and SIGBUS ends this process, which is made to be lost.
    unsafe { Mmap::map(file) }
}
