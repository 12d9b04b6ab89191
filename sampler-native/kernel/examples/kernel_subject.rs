//! A program to be sampled by the tests: does what its first argument says, prints `ready`, and ends with its stdin.

use std::{
    fs::File,
    hint::black_box,
    io::{Read, Write, stdin, stdout},
    os::unix::process::CommandExt,
    process::Command,
    sync::Mutex,
    thread,
};

/// What `value` and `deep` keep on their stack.
const VALUE: u64 = 0x666c_616d_6574_6f70;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    match word(0) {
        "threads" => threads(word(1).parse().expect("how many threads")),
        "busy" => busy(|n| n.wrapping_mul(3) + 1),
        "timed" => timed(word(1).parse().expect("how many ns a cycle")),
        "calls" => calls(),
        "mprotect" => mprotect(word(1).parse().expect("how many threads")),
        "hog" => hog(word(1).parse().expect("how many threads")),
        "value" => value(),
        "deep" => deep(word(1).parse().expect("how many bytes")),
        "vfork" => vfork(),
        "zombie" => zombie(),
        "exec" => exec(word(1)),
        other => panic!("no such subject: {other}"),
    }
}

fn ready() {
    println!("ready");
    stdout().flush().expect("stdout is open");
}

fn until_told() {
    let _ = stdin().read(&mut [0; 16]);
}

fn threads(count: usize) {
    static STARTED: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());
    for _ in 0..count {
        let body = || {
            // SAFETY: no pointers are passed.
            let tid = unsafe { libc::gettid() };
            STARTED.lock().expect("no thread panics").push(tid);
            loop {
                thread::park();
            }
        };
        thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(body)
            .expect("room for a thread");
    }
    let nap = || thread::sleep(std::time::Duration::from_millis(10));
    while STARTED.lock().expect("no thread panics").len() < count {
        nap();
    }
    // nobody waits for the lock any more: who sleeps is parked
    for tid in STARTED.lock().expect("no thread panics").iter() {
        let stat = format!("/proc/self/task/{tid}/stat");
        let sleeps = |s: String| s.rsplit(')').next().is_some_and(|s| s.starts_with(" S"));
        while !std::fs::read_to_string(&stat).is_ok_and(sleeps) {
            nap();
        }
    }
    ready();
    until_told();
}

/// Sleepers in a process whose mmap_lock is taken most of the time.
fn mprotect(sleepers: usize) {
    thread::spawn(|| {
        // SAFETY: a new mapping, used by nobody else.
        unsafe {
            let (read, write) = (libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), 1 << 20, write, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            loop {
                libc::mprotect(page, 4096, read);
                libc::mprotect(page, 4096, write);
            }
        }
    });
    threads(sleepers);
}

/// A thread named `hog` that holds mmap_lock most of the time, beside others that wake up and sleep again.
fn hog(others: usize) {
    let (tell, told) = std::sync::mpsc::channel();
    let hog = move || {
        const BYTES: usize = 256 << 20;
        // SAFETY: a new mapping, used by nobody else. Its pages are only read: all are the zero page.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let memory = libc::mmap(std::ptr::null_mut(), BYTES, libc::PROT_READ, flags, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            assert_eq!(libc::madvise(memory, BYTES, libc::MADV_NOHUGEPAGE), 0);
            for at in (0..BYTES).step_by(4096) {
                black_box(memory.cast::<u8>().add(at).read_volatile());
            }
            tell.send(libc::gettid()).expect("somebody waits for it");
            loop {
                libc::mprotect(memory, BYTES, libc::PROT_NONE);
                libc::mprotect(memory, BYTES, libc::PROT_READ);
            }
        }
    };
    thread::Builder::new()
        .name("hog".to_owned())
        .spawn(hog)
        .expect("room for a thread");
    for _ in 0..others {
        thread::spawn(|| {
            loop {
                thread::sleep(std::time::Duration::from_millis(5));
            }
        });
    }
    println!("{}", told.recv().expect("the hog begins"));
    ready();
    until_told();
}

fn busy(step: impl Fn(u64) -> u64 + Send + 'static) {
    thread::spawn(move || {
        let mut n = 1;
        loop {
            n = black_box(step(black_box(n)));
        }
    });
    ready();
    until_told();
}

/// Busy for the first tenth of each cycle. Cycles begin at multiples of their length.
fn timed(cycle: u64) {
    thread::spawn(move || {
        let clock = || {
            let mut now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: the kernel writes one timespec.
            unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
            now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
        };
        loop {
            let begin = (clock() / cycle + 1) * cycle;
            let at = libc::timespec {
                tv_sec: (begin / 1_000_000_000) as libc::time_t,
                tv_nsec: (begin % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: the kernel reads one timespec and writes nothing.
            unsafe {
                let absolute = libc::TIMER_ABSTIME;
                libc::clock_nanosleep(libc::CLOCK_MONOTONIC, absolute, &at, std::ptr::null_mut());
            }
            while clock() < begin + cycle / 10 {
                std::hint::spin_loop();
            }
        }
    });
    ready();
    until_told();
}

/// Nearly all of the time is in the kernel.
fn calls() {
    let mut zero = File::open("/dev/zero").expect("/dev/zero is there");
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        loop {
            zero.read_exact(black_box(&mut buffer))
                .expect("/dev/zero has no end");
        }
    });
    ready();
    until_told();
}

#[inline(never)]
fn value() {
    let kept = black_box([VALUE; 8]);
    ready();
    until_told();
    black_box(&kept);
}

/// Sleeps with at least so many bytes of stack below it.
#[inline(never)]
fn deep(bytes: usize) {
    let kept = black_box([VALUE; 128]);
    match bytes.checked_sub(size_of_val(&kept)) {
        Some(rest) => deep(rest),
        None => {
            ready();
            until_told();
        }
    }
    black_box(&kept);
}

/// Waits for a child as vfork does: until that calls exec or ends, which it never does.
fn vfork() {
    // SAFETY: CLONE_VFORK alone: the child has its own memory, and this process has one thread.
    let child = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::CLONE_VFORK | libc::SIGCHLD,
            0,
            0,
            0,
            0,
        )
    };
    if child == 0 {
        // SAFETY: no pointers are passed.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        ready();
        loop {
            thread::park();
        }
    }
    until_told();
}

fn zombie() {
    let mut child = Command::new("/bin/true").spawn().expect("/bin/true runs");
    // It has ended, and stays unreaped.
    let options = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: a siginfo that is all zeros is one, and outlives the call.
    let ended = unsafe { libc::waitid(libc::P_PID, child.id(), &mut std::mem::zeroed(), options) };
    assert_eq!(ended, 0);
    println!("{}", child.id());
    ready();
    until_told();
    let _ = child.wait();
}

fn exec(program: &str) {
    ready();
    until_told();
    panic!("{}", Command::new(program).arg("1000").exec());
}
