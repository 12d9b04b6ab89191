//! The kernel side on the kernel that runs here. Needs root; where that cannot be had, set `FLAMETOP_NO_BPF` and the
//! tests say that they did nothing.

mod chains;
mod clock;
mod copies;
mod cpus;
mod events;
mod graph;
mod kernel_functions;
mod life;
mod passes;
mod states;
mod waits;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::MetadataExt,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use flametop_kernel::{
    Array, Chain, Hierarchy, Kernel, MappingChange, MappingEvent, Mappings, NOT_COUNTED,
    OpenErrorKind, PassCounts, Reach, Rings, Settings, Step, Target, Whose,
    abi::*,
    check,
    record::{Event, Head, Record},
};

const VALUE: u64 = 0x666c_616d_6574_6f70;
/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(120);

/// One test at a time: they load the machine, and look at all of it.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static LOCK: Mutex<()> = Mutex::new(());
    if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
        println!("not run: FLAMETOP_NO_BPF is set");
        return None;
    }
    Some(LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A child that does what it is told, killed at the end.
struct Subject {
    child: Child,
    said: Vec<String>,
}

impl Subject {
    fn start(words: &[&str]) -> Subject {
        Subject::start_below(words, 0)
    }

    /// With so many bytes of environment, which is where its stack begins; 100,000 at most.
    fn start_below(words: &[&str], room: usize) -> Subject {
        // target/release/deps/this → target/release/examples/kernel_subject
        let mut program: PathBuf = std::env::current_exe().unwrap();
        program.pop();
        program.pop();
        program.push("examples/kernel_subject");
        let room = "x".repeat(room);
        let subject = Subject::of(Command::new(&program).args(words).env("ROOM", room));
        // Its first thread said so, and now waits to be told something, or for a vfork.
        wait_until(|| matches!(proc_state(subject.pid()), Some('S' | 'D')));
        subject
    }

    /// A program that says when it is ready.
    fn of(command: &mut Command) -> Subject {
        // With less priority than its sampler, and than other tests.
        // SAFETY: it takes plain values, and may be called between fork and exec.
        let yield_cpus = || match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 5) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        };
        // SAFETY: it allocates nothing.
        unsafe { command.pre_exec(yield_cpus) };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let said = lines
            .map(Result::unwrap)
            .take_while(|line| line != "ready")
            .collect();
        Subject { child, said }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn tell(&mut self) {
        self.child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(b"go\n")
            .unwrap();
    }

    /// Hears what it says until it says a line.
    fn hear(&mut self, last: &str) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            // Byte by byte: what comes later is for a later call.
            let mut line = Vec::new();
            let mut byte = [0];
            let out = self.child.stdout.as_mut().unwrap();
            while out.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
                line.push(byte[0]);
            }
            let line = String::from_utf8(line).unwrap();
            if line == last {
                return heard;
            }
            assert!(
                !line.is_empty(),
                "it ended before it said {last}: {heard:?}"
            );
            heard.push(line);
        }
    }

    fn signal(&self, signal: i32) {
        // SAFETY: no pointers are passed.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, signal) }, 0);
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_until(mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < PATIENCE, "it never was so");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The state as /proc has it; `None` if there is no such task.
fn proc_state(tid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim().chars().next()
}

/// How many CPUs are online, whatever part of them this process may use.
fn cpus_online() -> usize {
    // SAFETY: no pointers are passed.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) as usize }
}

fn open(target: Target, cpu_hz: u32) -> (Kernel, Rings) {
    let (kernel, rings) = Kernel::open(&Settings {
        target,
        cpu_hz,
        ..Settings::default()
    })
    .unwrap_or_else(|e| panic!("{e}"));
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    // There the kernel's memory may not be read, so stacks are copied through page faults, and a notice says so.
    let by_faults = lockdown.contains("[confidentiality]");
    assert_eq!(
        kernel.notices().len(),
        usize::from(by_faults),
        "{:?}",
        kernel.notices()
    );
    (kernel, rings)
}

/// A record that outlives its pass.
#[derive(Clone, Debug)]
struct Kept {
    head: Head,
    event: Option<Event>,
    stack: Option<KeptStack>,
}

#[derive(Clone, Debug)]
struct KeptStack {
    regs: [u64; 17],
    mapping: std::ops::Range<u64>,
    kernel: Vec<u64>,
    user_address: u64,
    user: Vec<u8>,
    piece_address: u64,
    piece: Vec<u8>,
    chunks: Vec<(u64, Vec<u8>)>,
    holder: Option<(u32, String)>,
}

impl Kept {
    fn new(record: Record<'_>) -> Kept {
        let stack = record.stack.map(|s| KeptStack {
            regs: *s.regs,
            mapping: s.mapping,
            kernel: s.kernel.to_vec(),
            user_address: s.user_address,
            user: s.user.to_vec(),
            piece_address: s.piece_address,
            piece: s.piece.to_vec(),
            chunks: s
                .chunks
                .map(|(address, bytes)| (address, bytes.to_vec()))
                .collect(),
            holder: s.holder.map(|h| {
                let comm = String::from_utf8_lossy(h.comm);
                (h.tid, comm.trim_end_matches('\0').to_owned())
            }),
        });
        Kept {
            head: *record.head,
            event: record.event,
            stack,
        }
    }
}

/// A pass; its counts always add up, and so do its records.
fn pass(kernel: &mut Kernel, marks: bool) -> (PassCounts, Vec<Kept>) {
    let mut records = Vec::new();
    let counts = kernel
        .pass(marks, &mut |record| records.push(Kept::new(record)))
        .unwrap();
    let c = counts;
    let failed = c.failed_mm_busy + c.failed_torn + c.failed_faulted + c.failed_exited;
    assert_eq!(
        c.visited,
        c.written + c.unchanged + c.on_cpu + c.idle_kthreads + failed,
        "{c:?}"
    );
    let of_kind = |kind: u32| {
        records
            .iter()
            .filter(|r| u32::from(r.head.kind) == kind)
            .count() as u64
    };
    let idle_written = of_kind(FT_KIND_TASK) - c.written - c.on_cpu - failed;
    assert!(idle_written <= c.idle_kthreads, "{c:?}");
    assert_eq!(
        of_kind(FT_KIND_TASK) + of_kind(FT_KIND_MARK),
        records.len() as u64
    );
    if marks {
        assert_eq!(records.len() as u64, c.visited);
    }
    (counts, records)
}

/// Passes until one holds a record that is looked for.
fn pass_until(kernel: &mut Kernel, wanted: impl Fn(&Kept) -> bool) -> Kept {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(found) = pass(kernel, false).1.into_iter().find(&wanted) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no pass found what was looked for");
}

/// Polls until a record is there that is looked for.
fn poll_until(rings: &mut Rings, mut wanted: impl FnMut(&Kept) -> bool) -> Kept {
    let (start, mut found) = (Instant::now(), None);
    while found.is_none() && start.elapsed() < PATIENCE {
        rings
            .poll(Duration::from_millis(100), &mut |record| {
                let record = Kept::new(record);
                if found.is_none() && wanted(&record) {
                    found = Some(record);
                }
            })
            .unwrap();
    }
    found.expect("the rings did not hold what was looked for")
}

fn holds_value(bytes: &[u8]) -> bool {
    bytes
        .chunks_exact(8)
        .any(|word| word == VALUE.to_ne_bytes())
}

/// Stops a child of this thread as a debugger does; it stays so until it is killed.
fn trace(pid: u32) {
    let null = std::ptr::null_mut::<libc::c_void>();
    for request in [libc::PTRACE_SEIZE, libc::PTRACE_INTERRUPT] {
        // SAFETY: neither request looks at the pointers.
        let result = unsafe { libc::ptrace(request, pid as i32, null, null) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    }
}

fn state_of(kernel: &mut Kernel, tid: u32) -> u32 {
    let (_, records) = pass(kernel, true);
    let found = records.iter().find(|r| r.head.tid == tid);
    found
        .map(|r| u32::from(r.head.state))
        .unwrap_or_else(|| panic!("{tid} was not visited"))
}

/// Puts a thread, 0: this one, onto one CPU before all that is not of real time.
fn rule_cpu(tid: u32, cpu: usize, priority: i32) {
    // SAFETY: the kernel reads one set and one parameter.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        let bytes = size_of_val(&set);
        assert_eq!(libc::sched_setaffinity(tid as i32, bytes, &set), 0);
        let param = libc::sched_param {
            sched_priority: priority,
        };
        assert_eq!(
            libc::sched_setscheduler(tid as i32, libc::SCHED_RR, &param),
            0
        );
    }
}
