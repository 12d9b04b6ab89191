//! System calls that neither libbpf-rs nor the standard library has.

use std::{
    ffi::c_int,
    fs::{self, File},
    io::{Error, ErrorKind, Read, Result},
    mem::size_of,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{Ordering, fence},
    },
    time::Duration,
};

use libbpf_sys::{
    BPF_TRACE_ITER, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_DUMMY,
    PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_TOTAL_TIME_RUNNING, PERF_SAMPLE_TIME,
    PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT, bpf_iter_link_info,
    bpf_link_create_opts, perf_event_attr,
};

// linux/perf_event.h; neither libc nor libbpf-sys has them
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
const PERF_EVENT_IOC_ENABLE: libc::Ioctl = 0x2400;
const PERF_EVENT_IOC_DISABLE: libc::Ioctl = 0x2401;
const PERF_EVENT_IOC_PERIOD: libc::Ioctl = 0x4008_2404;

/// Reads a value in memory that BPF programs write.
pub fn read_shared<T: Copy>(value: &T) -> T {
    // SAFETY: a reference is valid for reads. Volatile, since programs change it behind the compiler's back.
    unsafe { ptr::read_volatile(value) }
}

/// A consistent copy of numbers that a BPF program changes, and a time (ns) not before the copy. Their `sequence` is odd while they
/// change.
pub fn read_consistent<T: Copy>(shared: &T, sequence: impl Fn(&T) -> &u32) -> (T, u64) {
    loop {
        let before = read_shared(sequence(shared));
        fence(Ordering::Acquire);
        let copy = read_shared(shared);
        fence(Ordering::Acquire);
        if before.is_multiple_of(2) && read_shared(sequence(shared)) == before {
            return (copy, monotonic_nanos());
        }
        std::hint::spin_loop();
    }
}

/// Writes a value in memory that BPF programs read.
pub fn write_shared<T: Copy>(place: &mut T, value: T) {
    // SAFETY: a mutable reference is valid for writes. Volatile, since programs read it behind the compiler's back.
    unsafe { ptr::write_volatile(place, value) }
}

/// Locks what a thread that panicked may have left locked: a program's figures are whole at any moment.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which tasks the kernel's iterator walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// All of them.
    All,
    /// The threads of one process; since 6.1, EINVAL before.
    Process(u32),
    /// One thread; since 6.1, EINVAL before.
    Thread(u32),
}

fn owned(fd: c_int) -> Result<OwnedFd> {
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Links an iterator program.
pub fn link_iterator(program: BorrowedFd<'_>, walk: Walk) -> Result<OwnedFd> {
    let mut info = bpf_iter_link_info::default();
    match walk {
        Walk::All => {}
        Walk::Process(tgid) => info.task.pid = tgid,
        Walk::Thread(tid) => info.task.tid = tid,
    }
    let mut options = bpf_link_create_opts {
        sz: size_of::<bpf_link_create_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    if walk != Walk::All {
        options.iter_info = &mut info;
        options.iter_info_len = size_of::<bpf_iter_link_info>() as u32;
    }
    // SAFETY: options and what they point to live until the call returns.
    owned(unsafe { libbpf_sys::bpf_link_create(program.as_raw_fd(), 0, BPF_TRACE_ITER, &options) })
}

/// Starts one walk of an iterator.
pub fn start_walk(link: BorrowedFd<'_>) -> Result<File> {
    // SAFETY: no pointers are passed.
    owned(unsafe { libbpf_sys::bpf_iter_create(link.as_raw_fd()) }).map(File::from)
}

/// One `read(2)` into the front of `words`: bytes read, 0 at the end. Reads again where the kernel asks for that.
pub fn read_words(file: &mut File, words: &mut [u64]) -> Result<usize> {
    // SAFETY: every bit pattern is a u64, and a byte slice of the same extent is always valid.
    let bytes = unsafe {
        std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), size_of_val(words))
    };
    loop {
        match file.read(bytes) {
            // EAGAIN: a million tasks without a record
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            result => return result,
        }
    }
}

/// The first bytes of `words` as a slice.
pub fn as_bytes(words: &[u64], bytes: usize) -> &[u8] {
    assert!(bytes <= size_of_val(words));
    // SAFETY: within the slice, as asserted.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), bytes) }
}

/// Opens the software CPU clock of one CPU, disabled, with a fixed period.
pub fn open_cpu_clock(cpu: u32, period_nanos: u64) -> Result<OwnedFd> {
    let mut attr = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_CPU_CLOCK),
        ..Default::default()
    };
    attr.__bindgen_anon_1.sample_period = period_nanos;
    attr.set_disabled(1);
    open_event(&attr, cpu)
}

/// Opens a hardware counter of the cycles of one CPU that is not halted, running. Reading it gives three words: cycles, and
/// the ns that it was enabled and that it really counted.
pub fn open_cycles(cpu: u32) -> Result<OwnedFd> {
    let attr = perf_event_attr {
        type_: PERF_TYPE_HARDWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_HW_CPU_CYCLES),
        read_format: u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING),
        ..Default::default()
    };
    open_event(&attr, cpu)
}

/// Opens an event that counts nothing, but whose ring gets a record of each executable mapping and each exec on one CPU, with its
/// `CLOCK_MONOTONIC` at the end. The event becomes readable when its ring holds `watermark` bytes.
pub fn open_mappings(cpu: u32, watermark: u32) -> Result<OwnedFd> {
    let mut attr = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_DUMMY),
        sample_type: u64::from(PERF_SAMPLE_TIME),
        clockid: libc::CLOCK_MONOTONIC,
        ..Default::default()
    };
    attr.__bindgen_anon_2.wakeup_watermark = watermark;
    attr.set_watermark(1);
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.set_mmap(1);
    attr.set_mmap2(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    open_event(&attr, cpu)
}

/// Opens a counter of one CPU that has its program run after each `period` of it, disabled. The kernel counts what it counts in `read`.
pub fn open_counter(kind: u32, config: u64, period: u64, cpu: u32) -> Result<OwnedFd> {
    let mut attr = perf_event_attr {
        type_: kind,
        size: size_of::<perf_event_attr>() as u32,
        config,
        ..Default::default()
    };
    attr.__bindgen_anon_1.sample_period = period;
    attr.set_disabled(1);
    open_event(&attr, cpu)
}

/// Opens the tracepoint with this number. A program that is attached to it runs on all CPUs, whichever `cpu` is.
pub fn open_tracepoint(id: u64, cpu: u32) -> Result<OwnedFd> {
    let mut attr = perf_event_attr {
        type_: PERF_TYPE_TRACEPOINT,
        size: size_of::<perf_event_attr>() as u32,
        config: id,
        ..Default::default()
    };
    attr.__bindgen_anon_1.sample_period = 1;
    attr.set_disabled(1);
    open_event(&attr, cpu)
}

/// What a counter has counted since it was opened.
pub fn read_counter(event: BorrowedFd<'_>) -> Result<u64> {
    let mut count = 0u64;
    // SAFETY: the kernel writes at most 8 bytes.
    let bytes = unsafe { libc::read(event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    done(bytes as c_int).map(|()| count)
}

/// Opens an event of all that runs on one CPU.
fn open_event(attr: &perf_event_attr, cpu: u32) -> Result<OwnedFd> {
    // SAFETY: attr lives until the call returns and says its size.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attr,
            -1,
            cpu as c_int,
            -1,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    owned(fd as c_int)
}

/// Changes the period of a CPU clock.
pub fn set_period(event: BorrowedFd<'_>, period_nanos: u64) -> Result<()> {
    // SAFETY: the kernel reads 8 bytes at the pointer.
    done(unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_PERIOD, &period_nanos) })
}

/// Starts or stops a CPU clock.
pub fn enable(event: BorrowedFd<'_>, on: bool) -> Result<()> {
    let request = if on {
        PERF_EVENT_IOC_ENABLE
    } else {
        PERF_EVENT_IOC_DISABLE
    };
    // SAFETY: no pointers are passed.
    done(unsafe { libc::ioctl(event.as_raw_fd(), request, 0) })
}

fn done(result: c_int) -> Result<()> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Waits until a descriptor that this epoll watches is ready, to the nanosecond; a signal ends the wait too. Returns whether one
/// was ready. A descriptor watched with `EPOLLET` ends one wait for each time that it becomes ready.
pub fn wait_ready(epoll: c_int, timeout: Duration) -> Result<bool> {
    let mut poll = libc::pollfd {
        fd: epoll,
        events: libc::POLLIN,
        revents: 0,
    };
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // SAFETY: both live until the call returns; no signals are masked.
    match done(unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, ptr::null()) }) {
        Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(false),
        result => result?,
    }
    if poll.revents == 0 {
        return Ok(false);
    }
    // Only this call takes descriptors with EPOLLET from those that are ready.
    let mut ready = [libc::epoll_event { events: 0, u64: 0 }; 64];
    // SAFETY: the kernel writes no more events than the array holds.
    let count = unsafe { libc::epoll_wait(epoll, ready.as_mut_ptr(), ready.len() as c_int, 0) };
    match done(count) {
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
        result => result.map(|()| true),
    }
}

/// `CLOCK_MONOTONIC`, ns: the clock of `bpf_ktime_get_ns`.
pub fn monotonic_nanos() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A number that nobody can guess.
pub fn random() -> Result<u64> {
    let mut number = 0u64;
    // SAFETY: the kernel writes 8 bytes.
    let bytes = unsafe { libc::getrandom((&raw mut number).cast(), size_of_val(&number), 0) };
    done(bytes as c_int).map(|()| number)
}

/// Moves the calling thread to one CPU.
pub fn move_to_cpu(cpu: u32) -> Result<()> {
    let mut set = [0u64; 1024 / 64];
    let Some(word) = set.get_mut(cpu as usize / 64) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    *word |= 1 << (cpu % 64);
    // SAFETY: the kernel reads as many bytes as said.
    done(unsafe { libc::sched_setaffinity(0, size_of_val(&set), set.as_ptr().cast()) })
}

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: no pointers are passed.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Ticks a second of `/proc/stat`.
pub fn ticks_per_second() -> u64 {
    // SAFETY: no pointers are passed.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) })
        .unwrap_or(100)
        .max(1)
}

/// The most tids at a time.
pub fn most_tids() -> u32 {
    let text = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap_or_default();
    text.trim().parse().unwrap_or(32_768)
}

/// The number of tasks, as far as `/proc` tells.
pub fn tasks() -> u32 {
    // "0.20 0.18 0.12 1/80 11206": running / all
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let all = text.split(' ').nth(3).and_then(|word| word.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// Has the kernel count how long programs run, as long as the descriptor is open.
pub fn count_program_time() -> Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    owned(unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) })
}

/// What the kernel counts of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramCounts {
    /// ns that the program ran, and how often it ran: counted while somebody asks for it.
    pub nanos: u64,
    pub runs: u64,
    /// How often the program was due and did not run, since another one ran on that CPU.
    pub passed_over: u64,
}

/// ns that a program ran, as far as the kernel counts it.
pub fn program_nanos(program: BorrowedFd<'_>) -> Option<u64> {
    program_counts(program).map(|counts| counts.nanos)
}

/// What the kernel counts of a program.
pub fn program_counts(program: BorrowedFd<'_>) -> Option<ProgramCounts> {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut bytes = size_of_val(&info) as u32;
    // SAFETY: the kernel writes at most `bytes` bytes; all pointers within are null, so nothing is written beside it.
    let result = unsafe {
        libbpf_sys::bpf_obj_get_info_by_fd(program.as_raw_fd(), (&raw mut info).cast(), &mut bytes)
    };
    (result == 0).then_some(ProgramCounts {
        nanos: info.run_time_ns,
        runs: info.run_cnt,
        passed_over: info.recursion_misses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_ready_closed_pipe_ends_one_wait() {
        // SAFETY: no pointers are passed.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        let mut wanted = libc::epoll_event {
            events: (libc::EPOLLIN | libc::EPOLLET) as u32,
            u64: 0,
        };
        // SAFETY: both descriptors are open, and the kernel copies the event.
        let added = unsafe {
            libc::epoll_ctl(
                epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                reader.as_raw_fd(),
                &raw mut wanted,
            )
        };
        assert_eq!(added, 0);
        let wait = || wait_ready(epoll.as_raw_fd(), Duration::from_millis(1)).unwrap();
        assert!(!wait(), "nothing is ready");
        drop(writer);
        assert!(wait(), "the writer has gone");
        assert!(!wait(), "the pipe stays closed, as a CPU stays away");
    }
}
