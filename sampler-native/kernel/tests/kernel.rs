//! The kernel side on the kernel that runs here. Needs root; where that cannot be had, set `FLAMETOP_NO_BPF` and the
//! tests say that they did nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    io::{BufRead, BufReader, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use flametop_kernel::{
    Hierarchy, Kernel, MappingChange, MappingEvent, Mappings, NOT_COUNTED, OpenErrorKind,
    PassCounts, Reach, Rings, Settings, Step, Target, Whose,
    abi::*,
    check,
    record::{Head, Record},
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

/// That are online, whatever part of them this process may use.
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

#[test]
fn pass_five_thousand_sleepers_none_missing_and_unchanged_ones_skipped() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "5000"]);
    let (mut kernel, _rings) = open(Target::All, 0);
    let (first, records) = pass(&mut kernel, false);
    let of_subject: Vec<&Kept> = records
        .iter()
        .filter(|r| r.head.tgid == subject.pid())
        .collect();
    let tids: HashSet<u32> = of_subject.iter().map(|r| r.head.tid).collect();
    assert_eq!(tids.len(), 5001);
    assert_eq!(first.unchanged, 0, "nothing is known before the first pass");
    for record in &of_subject {
        let stack = record
            .stack
            .as_ref()
            .unwrap_or_else(|| panic!("no stack: {:?}", record.head));
        assert!(
            stack.user.len() > 64 && stack.kernel.len() > 3,
            "{:?}",
            record.head
        );
    }
    for marks in [false, true, false, true] {
        let (counts, records) = pass(&mut kernel, marks);
        assert!(counts.visited >= 5001);
        assert!(counts.unchanged >= 5001, "they sleep on: {counts:?}");
        let again = records
            .iter()
            .filter(|r| r.head.tgid == subject.pid())
            .count();
        assert_eq!(again, if marks { 5001 } else { 0 });
    }
}

#[test]
fn pass_process_target_visits_its_threads_only() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "20"]);
    let other = Subject::start(&["threads", "7"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid(), other.pid()]), 0);
    assert_eq!(pass(&mut kernel, false).0.visited, 21 + 8);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let (counts, records) = pass(&mut kernel, false);
    assert_eq!(counts.visited, 21);
    assert!(records.iter().all(|r| r.head.tgid == subject.pid()));
    let tids: Vec<u32> = records.iter().map(|r| r.head.tid).take(3).collect();
    let (mut kernel, _rings) = open(Target::Threads(tids.clone()), 0);
    let (_, records) = pass(&mut kernel, false);
    assert_eq!(
        records.iter().map(|r| r.head.tid).collect::<HashSet<_>>(),
        tids.into_iter().collect()
    );
}

#[test]
fn pass_own_and_excluded_processes_are_not_visited() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "1"]);
    let (mut kernel, _rings) = open(Target::All, 0);
    let tgids = |records: &[Kept]| records.iter().map(|r| r.head.tgid).collect::<HashSet<_>>();
    let seen = tgids(&pass(&mut kernel, true).1);
    assert!(seen.contains(&subject.pid()) && !seen.contains(&std::process::id()));
    kernel.exclude(subject.pid()).unwrap();
    assert!(!tgids(&pass(&mut kernel, true).1).contains(&subject.pid()));
    kernel.readmit(subject.pid()).unwrap();
    assert!(tgids(&pass(&mut kernel, true).1).contains(&subject.pid()));
}

#[test]
fn pass_hierarchy_of_version_1_gives_the_ids_of_its_groups() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["value"]);
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", subject.pid())).unwrap();
    for (hierarchy, controller) in [(Hierarchy::Memory, "memory"), (Hierarchy::Pids, "pids")] {
        let path = groups
            .lines()
            .find_map(|l| l.split_once(&format!(":{controller}:/")));
        let Some((_, path)) = path else {
            println!("not run: {controller} is not in a hierarchy of version 1");
            continue;
        };
        let group = PathBuf::from("/sys/fs/cgroup").join(controller).join(path);
        let (mut kernel, _rings) = Kernel::open(&Settings {
            target: Target::Processes(vec![subject.pid()]),
            hierarchy,
            ..Settings::default()
        })
        .unwrap();
        let record = pass_until(&mut kernel, |r| r.head.cgroup > 0);
        let id = std::fs::metadata(&group).unwrap().ino();
        assert_eq!(record.head.cgroup, id, "{}", group.display());
    }
}

#[test]
fn pass_sleeper_has_its_identity_registers_and_stack() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["value"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let record = pass_until(&mut kernel, |r| u32::from(r.head.state) == FT_STATE_SLEEP);
    assert_eq!(
        (record.head.tid, record.head.tgid),
        (subject.pid(), subject.pid())
    );
    assert_eq!(&record.head.comm[..15], b"kernel_subject\0");
    assert_eq!(record.head.process_comm, record.head.comm);
    assert_eq!(
        record.head.start_boottime,
        record.head.process_start_boottime
    );
    assert!(
        record.head.run_ns > 0
            && record.head.nvcsw > 0
            && record.head.exec_vm > 0
            && record.head.cgroup > 0
    );
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", subject.pid())).unwrap();
    let start_ticks: u64 = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split(' ')
        .nth(20)
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(record.head.start_boottime / 10_000_000, start_ticks);
    let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", subject.pid())).unwrap();
    let exact: Vec<u64> = schedstat
        .split(' ')
        .take(2)
        .map(|n| n.parse().unwrap())
        .collect();
    assert_eq!([record.head.run_ns, record.head.wait_ns], exact[..]);

    let stack = record.stack.unwrap();
    let (sp, ip, ax) = (stack.regs[7], stack.regs[16], stack.regs[0]);
    assert_eq!(stack.user_address, sp);
    assert!(stack.mapping.contains(&sp) && ip != 0);
    assert_eq!(ax as i64, -38, "a sleeper's rax in a system call");
    assert_eq!(
        stack.user.len() as u64,
        (stack.mapping.end - sp).min(u64::from(FT_PASS_STACK)) & !7
    );
    assert!(holds_value(&stack.user));
    assert!(stack.kernel.len() > 3 && stack.kernel.iter().all(|ip| *ip >> 63 == 1));
    assert_eq!(record.head.status, FT_HAS_STACK);
}

#[test]
fn pass_deep_stack_is_clamped_and_the_wanted_piece_follows() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["deep", "40000"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let record = pass_until(&mut kernel, |r| u32::from(r.head.state) == FT_STATE_SLEEP);
    assert_eq!(record.head.status, FT_HAS_STACK | FT_CLAMPED);
    let stack = record.stack.unwrap();
    assert_eq!(stack.user.len(), FT_PASS_STACK as usize);
    assert!(stack.piece.is_empty());
    assert_eq!(pass(&mut kernel, false).0.unchanged, 1);

    let address = stack.user_address + u64::from(FT_PASS_STACK);
    kernel.want(subject.pid(), address).unwrap();
    let (counts, records) = pass(&mut kernel, false);
    assert_eq!((counts.written, records.len()), (1, 1));
    let piece = records[0].stack.as_ref().unwrap();
    assert_eq!(
        (piece.piece_address, piece.piece.len()),
        (address, FT_PASS_PIECE as usize)
    );
    assert_eq!(piece.user, stack.user);
    assert!(holds_value(&piece.piece));
    assert_eq!(
        pass(&mut kernel, false).0.unchanged,
        1,
        "a request is served once"
    );

    kernel.want(subject.pid(), stack.mapping.end - 64).unwrap();
    let (_, records) = pass(&mut kernel, false);
    assert_eq!(
        records[0].stack.as_ref().unwrap().piece.len(),
        64,
        "the end of the mapping clamps the piece"
    );
    kernel.want(subject.pid(), 64).unwrap();
    let (_, records) = pass(&mut kernel, false);
    assert!(
        records[0].head.status & FT_PIECE_FAILED != 0
            && records[0].stack.as_ref().unwrap().piece.is_empty()
    );
}

#[test]
fn pass_mmap_lock_contended_failed_copies_are_tried_again_until_whole() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["mprotect", "50"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let (mut whole, mut short) = (HashSet::new(), 0);
    let start = Instant::now();
    // the sleepers and the main thread; not the one that is busy
    while whole.len() < 51 {
        assert!(
            start.elapsed() < PATIENCE,
            "only {} of 51 sleepers became whole",
            whole.len()
        );
        let (counts, records) = pass(&mut kernel, false);
        short += counts.failed_mm_busy + counts.failed_faulted;
        let sleeping = |r: &&Kept| u32::from(r.head.state) == FT_STATE_SLEEP;
        whole.extend(
            records
                .iter()
                .filter(sleeping)
                .filter(|r| !r.stack.as_ref().unwrap().user.is_empty())
                .map(|r| r.head.tid),
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("{short} copies failed on the way");
    // those that sleep on keep what was read, also when they are asked for more while the lock is held
    for _ in 0..200 {
        for tid in &whole {
            kernel.want(*tid, 0x1000).unwrap();
        }
        let (_, records) = pass(&mut kernel, false);
        let lost = records
            .iter()
            .find(|r| u32::from(r.head.state) == FT_STATE_SLEEP && r.head.status & FT_MM_BUSY != 0);
        assert!(lost.is_none(), "{lost:?}");
    }
}

#[test]
fn pass_mmap_lock_held_the_holder_is_named() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["hog", "8"]);
    let hog: u32 = subject.said[0].parse().unwrap();
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    // while its threads start, others hold the lock too
    let hog = (hog, "hog".to_owned());
    let busy = pass_until(&mut kernel, |r| {
        r.stack
            .as_ref()
            .is_some_and(|s| s.holder.as_ref() == Some(&hog))
    });
    assert_ne!(busy.head.status & FT_MM_BUSY, 0);
}

/// The program of that name in C.
fn compiled(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
        let source = format!("{}/tests/programs/served.c", env!("CARGO_MANIFEST_DIR"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
        let status = compiler.arg(folder.join("served")).arg(source).status();
        assert!(status.unwrap().success());
        folder
    });
    folder.join(name)
}

/// A thread whose stack pointer lies in memory of a kind: see `served.c`.
struct Served {
    subject: Subject,
    tid: u32,
    sp: u64,
}

impl Served {
    /// `None`: this machine has no such memory.
    fn start(kind: &str, busy: bool) -> Option<Served> {
        let mut command = Command::new(compiled("served"));
        command.arg(kind).args(busy.then_some("busy"));
        let mut subject = Subject::of(&mut command);
        let Some(said) = subject.said.first() else {
            let status = subject.child.wait().unwrap();
            assert_eq!(status.code(), Some(77), "{kind}");
            println!("not run: there is no memory of kind {kind}");
            return None;
        };
        let (tid, sp) = said.split_once(' ').unwrap();
        let (tid, sp) = (tid.parse().unwrap(), sp.parse().unwrap());
        Some(Served { subject, tid, sp })
    }

    /// Ends it; whether anybody ever asked for a page.
    fn was_asked(mut self) -> bool {
        self.subject.child.kill().unwrap();
        let lines = BufReader::new(self.subject.child.stdout.as_mut().unwrap()).lines();
        lines.map_while(Result::ok).any(|line| line == "asked")
    }
}

#[test]
fn pass_stack_that_is_in_memory_is_copied_whatever_is_mapped() {
    let Some(_alone) = alone() else { return };
    for kind in [
        "anonymous",
        "none",
        "huge",
        "hugetlb",
        "memfd",
        "written",
        "untouched",
    ] {
        let Some(served) = Served::start(kind, false) else {
            continue;
        };
        let (mut kernel, _rings) = open(Target::Threads(vec![served.tid]), 0);
        let record = pass_until(&mut kernel, |r| u32::from(r.head.state) == FT_STATE_SLEEP);
        let stack = record.stack.unwrap();
        assert_eq!(stack.user_address, served.sp, "{kind}");
        let bytes = u64::from(FT_PASS_STACK).min(stack.mapping.end - served.sp);
        assert_eq!(stack.user.len() as u64, bytes, "{kind}");
        for (i, word) in stack.user.chunks_exact(8).enumerate() {
            let address = served.sp + 8 * i as u64;
            let is = if kind == "untouched" { 0 } else { address };
            assert_eq!(word, is.to_ne_bytes(), "{kind} at {address:#x}");
        }
        assert_eq!(record.head.status & FT_ABSENT, 0, "{kind}");
    }
}

#[test]
fn pass_stack_that_another_process_serves_waits_for_nobody_and_says_so() {
    let Some(_alone) = alone() else { return };
    let kinds = ["vvar", "userfaultfd", "fuse", "overlay", "remap"];
    for kind in kinds {
        let Some(served) = Served::start(kind, false) else {
            continue;
        };
        let innocent = Subject::start(&["value"]);
        let pids = vec![served.subject.pid(), innocent.pid()];
        let (mut kernel, _rings) = open(Target::Processes(pids), 0);
        let (mut absent, mut there, mut whole, mut passes) = (0, 0, 0, 0);
        let begin = Instant::now();
        // Memory that is the file's only in turn is to be seen both ways.
        while passes < 1000 || kind == "remap" && (absent == 0 || there == 0) {
            // Each pass copies the memory that was asked for.
            kernel.want(served.tid, served.sp).unwrap();
            kernel.want(innocent.pid(), 64).unwrap();
            let (_, records) = pass(&mut kernel, false);
            passes += 1;
            let of = |tid: u32| records.iter().find(|r| r.head.tid == tid);
            let other = of(innocent.pid()).unwrap();
            whole += u32::from(holds_value(&other.stack.as_ref().unwrap().user));
            // Where mmap_lock is held there may be none.
            if let Some(record) = of(served.tid) {
                let is_absent = record.head.status & FT_ABSENT != 0;
                let why = record.head.status & (FT_FAULTED | FT_MM_BUSY);
                assert!(!is_absent || why != 0, "{kind}");
                absent += u32::from(is_absent);
                there += u32::from(!record.stack.as_ref().unwrap().user.is_empty());
            }
            assert!(begin.elapsed() < PATIENCE, "{kind}: the passes are held up");
        }
        println!(
            "{kind}: {passes} passes in {:?}, absent in {absent}",
            begin.elapsed()
        );
        assert_eq!(whole, passes, "{kind}");
        assert!(
            absent == passes && there == 0 || kind == "remap",
            "{kind}: {absent}, {there}"
        );
        assert!(!served.was_asked(), "{kind}: a page was asked for");
    }
}

#[test]
fn poll_stack_that_another_process_serves_waits_for_nobody_and_says_so() {
    let Some(_alone) = alone() else { return };
    for kind in ["userfaultfd", "fuse"] {
        let Some(served) = Served::start(kind, true) else {
            continue;
        };
        let (_kernel, mut rings) = open(Target::Threads(vec![served.tid]), 999);
        for _ in 0..20 {
            let sample = poll_until(&mut rings, |r| r.head.tid == served.tid);
            assert_ne!(sample.head.status & FT_FAULTED, 0, "{kind}");
            let stack = sample.stack.as_ref().unwrap();
            assert!(!stack.mapping.is_empty() && stack.user.is_empty(), "{kind}");
            assert_eq!(sample.stack.unwrap().regs[7], served.sp, "{kind}");
        }
        assert!(!served.was_asked(), "{kind}: a page was asked for");
    }
}

#[test]
fn open_signals_that_interrupt_the_kernel_s_check_goes_on_after_them() {
    extern "C" fn nothing(_: i32) {}
    let Some(_alone) = alone() else { return };
    // SAFETY: the handler does nothing, and the action is all zeros but for it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        assert_eq!(
            libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()),
            0
        );
    }
    // SAFETY: no pointers are passed.
    let (tgid, tid) = unsafe { (libc::getpid(), libc::gettid()) };
    let storm = std::thread::spawn(move || {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) {
            // SAFETY: no pointers are passed; that thread waits for this one.
            unsafe { libc::syscall(libc::SYS_tgkill, tgid, tid, libc::SIGUSR1) };
            std::thread::sleep(Duration::from_micros(200));
        }
    });
    let (mut kernel, _rings) = open(Target::All, 0);
    storm.join().unwrap();
    assert!(kernel.pass(false, &mut |_| ()).is_ok());
}

#[test]
fn pass_states_are_those_of_proc() {
    let Some(_alone) = alone() else { return };
    let stopped = Subject::start(&["threads", "1"]);
    let busy = Subject::start(&["busy"]);
    let zombie = Subject::start(&["zombie"]);
    let dead: u32 = zombie.said[0].parse().unwrap();
    let (mut kernel, _rings) = open(Target::All, 0);

    assert_eq!(state_of(&mut kernel, stopped.pid()), FT_STATE_SLEEP);
    assert_eq!(state_of(&mut kernel, dead), FT_STATE_ZOMBIE);
    stopped.signal(libc::SIGSTOP);
    pass_until(&mut kernel, |r| {
        r.head.tid == stopped.pid() && u32::from(r.head.state) == FT_STATE_STOPPED
    });
    stopped.signal(libc::SIGCONT);
    pass_until(&mut kernel, |r| {
        r.head.tid == stopped.pid() && u32::from(r.head.state) == FT_STATE_SLEEP
    });
    trace(stopped.pid());
    pass_until(&mut kernel, |r| {
        r.head.tid == stopped.pid() && u32::from(r.head.state) == FT_STATE_STOPPED
    });
    let vfork = Subject::start(&["vfork"]);
    let waits = pass_until(&mut kernel, |r| {
        r.head.tid == vfork.pid() && u32::from(r.head.state) == FT_STATE_DISK
    });
    let stack = waits.stack.expect("a stack");
    assert!(!stack.user.is_empty() && !stack.kernel.is_empty());
    let running = pass_until(&mut kernel, |r| {
        r.head.tgid == busy.pid() && u32::from(r.head.state) == FT_STATE_RUN
    });
    assert!(running.stack.is_none());

    // idle kernel threads: /proc says I for all of them, and the pass says so too
    let (_, records) = pass(&mut kernel, true);
    let states: HashMap<u32, u32> = records
        .iter()
        .map(|r| (r.head.tid, u32::from(r.head.state)))
        .collect();
    let idle = states
        .iter()
        .filter(|(_, state)| **state == FT_STATE_IDLE_KTHREAD);
    let mut agreed = 0;
    for (tid, _) in idle {
        // one may have work just now, or have ended
        wait_until(|| matches!(proc_state(*tid), Some('I') | None));
        agreed += u32::from(proc_state(*tid).is_some());
    }
    assert!(agreed > 5, "{agreed} agreed");
    let kthread = records.iter().find(|r| r.head.tid == 2).unwrap();
    assert!(kthread.head.status & FT_KTHREAD != 0);
    wait_until(|| state_of(&mut kernel, 2) == FT_STATE_SLEEP);
}

#[test]
fn pass_many_busy_threads_more_than_cpus_some_are_queued_with_their_stacks() {
    let Some(_alone) = alone() else { return };
    let subjects: Vec<Subject> = (0..2 * cpus_online())
        .map(|_| Subject::start(&["busy"]))
        .collect();
    let (mut kernel, _rings) = open(
        Target::Processes(subjects.iter().map(Subject::pid).collect()),
        0,
    );
    let queued = pass_until(&mut kernel, |r| {
        u32::from(r.head.state) == FT_STATE_RUNQ
            && r.head.status & FT_TORN == 0
            && r.stack.is_some()
    });
    assert!(!queued.stack.unwrap().user.is_empty());
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

#[test]
fn pass_pushes_a_thread_off_its_cpu_that_thread_is_running() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["busy"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let busy = pass_until(&mut kernel, |r| {
        r.head.tid != subject.pid() && u32::from(r.head.state) == FT_STATE_RUN
    });
    // before this one, which nobody then keeps waiting, but for the kernel now and then
    rule_cpu(busy.head.tid, 0, 1);
    rule_cpu(0, 0, 2);
    let mut of_state = BTreeMap::new();
    for _ in 0..60 {
        std::thread::sleep(Duration::from_millis(5));
        let state = state_of(&mut kernel, busy.head.tid);
        *of_state.entry(state).or_insert(0u32) += 1;
    }
    let running = of_state.get(&FT_STATE_RUN).copied().unwrap_or(0);
    assert!(running > 45, "by state: {of_state:?}");
}

#[test]
fn life_killed_sleeper_gives_exit_records_with_its_final_sums() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "3"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let (_, records) = pass(&mut kernel, false);
    let mut alive: HashMap<u32, Head> = records.iter().map(|r| (r.head.tid, r.head)).collect();
    assert_eq!(alive.len(), 4);
    subject.signal(libc::SIGKILL);
    let mut group_dead = 0;
    poll_until(&mut rings, |r| {
        // The first may be freed before the last has ended.
        if u32::from(r.head.kind) == FT_KIND_FREE {
            return false;
        }
        assert_eq!(u32::from(r.head.kind), FT_KIND_EXIT);
        let before = alive.remove(&r.head.tid).expect("each ends once");
        assert_eq!(before.start_boottime, r.head.start_boottime);
        assert!(r.head.run_ns >= before.run_ns);
        group_dead += u32::from(r.head.status & FT_GROUP_DEAD != 0);
        alive.is_empty()
    });
    assert!(group_dead >= 1);
    assert_eq!(kernel.counters().life_dropped, 0);
}

#[test]
fn life_exec_gives_a_record_with_the_next_generation() {
    let Some(_alone) = alone() else { return };
    let mut subject = Subject::start(&["exec", "/bin/sleep"]);
    let (mut kernel, mut rings) = open(Target::All, 0);
    let before = pass_until(&mut kernel, |r| r.head.tid == subject.pid());
    subject.tell();
    let pid = subject.pid();
    let exec = poll_until(&mut rings, |r| {
        u32::from(r.head.kind) == FT_KIND_EXEC && r.head.tid == pid
    });
    assert_eq!(&exec.head.comm[..6], b"sleep\0");
    assert_eq!(exec.head.self_exec_id, before.head.self_exec_id + 1);
    assert_eq!(
        exec.head.process_start_boottime,
        before.head.process_start_boottime
    );
}

#[test]
fn clock_busy_thread_is_sampled_in_user_mode() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["busy"]);
    let (kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 199);
    let sample = poll_until(&mut rings, |r| r.head.status & FT_USER_MODE != 0);
    assert_eq!(u32::from(sample.head.kind), FT_KIND_CPU);
    assert_eq!(u32::from(sample.head.state), FT_STATE_RUN);
    let stack = sample.stack.unwrap();
    assert!(stack.kernel.is_empty() && !stack.user.is_empty() && stack.regs[16] != 0);
    assert_eq!(stack.user_address, stack.regs[7]);
    assert!(stack.mapping.contains(&stack.regs[7]));
    assert!(kernel.counters().cpu_samples > 0);
}

#[test]
fn clock_thread_in_a_system_call_has_both_stacks() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["calls"]);
    let (_kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 199);
    let sample = poll_until(&mut rings, |r| r.head.status & FT_USER_MODE == 0);
    let stack = sample.stack.unwrap();
    assert!(stack.kernel.len() > 3 && stack.kernel.iter().all(|ip| *ip >> 63 == 1));
    assert!(!stack.user.is_empty() && stack.regs[16] >> 63 == 0);
}

#[test]
fn clock_reach_changes_what_is_copied_of_a_process_and_of_a_thread() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["busy"]);
    let (_kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 199);
    let first = poll_until(&mut rings, |r| r.head.status & FT_USER_MODE != 0);
    let (tid, first) = (first.head.tid, first.stack.unwrap());
    assert!(first.user.len() > 512 && first.piece.is_empty());
    let reach = |stack, piece| Reach {
        stack,
        piece,
        near: first.mapping.end,
        follow: false,
        walk: false,
    };
    let process = Whose::Process(subject.pid());
    rings.reach(process, reach(512, 0)).unwrap();
    let sample = poll_until(&mut rings, |r| {
        r.stack.as_ref().is_some_and(|s| s.user.len() == 512)
    });
    assert_ne!(sample.head.status & FT_CLAMPED, 0);
    assert!(sample.stack.unwrap().piece.is_empty());

    // some of the memory before it, up to the end of the mapping
    rings.reach(Whose::Thread(tid), reach(256, 4096)).unwrap();
    let sample = poll_until(&mut rings, |r| {
        let whole = |s: &KeptStack| !s.piece.is_empty() && s.mapping.end != 0;
        r.stack.as_ref().is_some_and(whole)
    });
    let stack = sample.stack.unwrap();
    assert_eq!((sample.head.tid, stack.user.len()), (tid, 256));
    let before = stack.mapping.end - stack.piece_address;
    assert!((1..4096).contains(&before), "{before}");
    assert!(stack.piece.len() as u64 >= before && stack.piece.len() <= 4096);

    // more than a record can hold, and from nowhere
    let all = Reach {
        near: u64::MAX,
        follow: true,
        ..reach(u32::MAX, u32::MAX)
    };
    rings.reach(Whose::Thread(tid), all).unwrap();
    let sample = poll_until(&mut rings, |r| {
        r.stack.as_ref().is_some_and(|s| s.user.len() > 256)
    });
    let stack = sample.stack.unwrap();
    assert!(stack.user.len() + stack.piece.len() <= FT_CPU_STACK as usize + 4096);
}

/// A step that is wrong makes the clock copy what lies where it leads to, of the same moment, and nothing worse.
#[test]
fn clock_learned_step_leaves_out_what_it_leads_past() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start_below(&["busy"], 30_000);
    let (_kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 199);
    let first = poll_until(&mut rings, |r| r.head.status & FT_USER_MODE != 0);
    let (head, first) = (first.head, first.stack.unwrap());
    assert!(first.chunks.is_empty());
    let all = Reach {
        stack: FT_CPU_STACK,
        piece: 0,
        near: 0,
        follow: false,
        walk: true,
    };
    rings.reach(Whose::Thread(head.tid), all).unwrap();
    let (sp, ip) = (first.regs[7], first.regs[16]);
    let page = ip & !4095;
    let step = Step {
        from: page,
        to: page + 4096,
        flags: 0,
        bp: 0,
        // to the end of the stack, which is farther away than what is copied of its start
        cfa: (first.mapping.end - 64 - sp) as i32,
        add: 0,
    };
    rings.learn(head.image, &step).unwrap();
    let sample = poll_until(&mut rings, |r| {
        let stack = r.stack.as_ref().unwrap();
        // its end is not known while the lock of the mappings is held
        stack.regs[16] & !4095 == page && !stack.chunks.is_empty() && stack.mapping.end != 0
    });
    let stack = sample.stack.unwrap();
    assert!(stack.user.len() <= 8192, "{}", stack.user.len());
    let (address, bytes) = stack.chunks.last().unwrap();
    let end = address + bytes.len() as u64;
    assert!(*address > stack.regs[7] + 4096 && end <= stack.mapping.end);
    assert_eq!(sample.head.tid, head.tid);

    // To nowhere, and of a page more than is told of at once: nothing is lost by it.
    for cfa in [i32::MIN, -8, 0, i32::MAX] {
        let step = Step {
            from: page.saturating_sub(1 << 30),
            to: u64::MAX,
            cfa,
            flags: !FT_STEP_ROOT,
            bp: i16::MIN,
            add: cfa,
        };
        rings.learn(head.image, &step).unwrap();
        rings
            .learn(
                head.image,
                &Step {
                    from: page,
                    to: page + 4096,
                    ..step
                },
            )
            .unwrap();
        let sample = poll_until(&mut rings, |r| r.head.status & FT_USER_MODE != 0);
        assert!(!sample.stack.unwrap().user.is_empty());
    }
}

#[test]
fn clock_program_in_step_with_the_mean_gets_the_samples_that_are_due() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["timed", &(1_000_000_000u64 / 99).to_string()]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let run = |kernel: &mut Kernel| -> u64 {
        let (_, records) = pass(kernel, true);
        records.iter().map(|r| r.head.run_ns).sum()
    };
    let timed = pass_until(&mut kernel, |r| r.head.tid != subject.pid());
    // a cycle that begins late is not in step
    rule_cpu(timed.head.tid, 0, 1);
    kernel.set_cpu_hz(99).unwrap();
    let (begin, before) = (Instant::now(), run(&mut kernel));
    let (mut taken, mut due) = (0.0, 0.0);
    while due < 100.0 {
        assert!(begin.elapsed() < PATIENCE, "only {due} were due");
        for _ in 0..20 {
            rings.poll(Duration::from_millis(50), &mut |_| ()).unwrap();
        }
        due = (run(&mut kernel) - before) as f64 * 99e-9;
        taken = kernel.counters().cpu_samples as f64;
    }
    println!("{taken} samples of {due:.1}");
    // five neighbours at a time: rarer than one of a million
    assert!((taken - due).abs() < 6.0 * due.sqrt(), "{taken} of {due}");
}

#[test]
fn clock_rate_changes_live_and_zero_stops_it() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["busy"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let samples_of = |kernel: &Kernel, rings: &mut Rings| {
        let before = kernel.counters();
        std::thread::sleep(Duration::from_millis(500));
        let mut received = 0;
        rings.poll(Duration::ZERO, &mut |_| received += 1).unwrap();
        (kernel.counters().cpu_samples - before.cpu_samples, received)
    };
    assert_eq!(samples_of(&kernel, &mut rings), (0, 0), "opened at rate 0");
    kernel.set_cpu_hz(499).unwrap();
    wait_until(|| {
        let (taken, received) = samples_of(&kernel, &mut rings);
        taken > 0 && received > 0
    });
    kernel.set_cpu_hz(0).unwrap();
    rings.poll(Duration::ZERO, &mut |_| ()).unwrap();
    assert_eq!(samples_of(&kernel, &mut rings), (0, 0), "switched off");
    kernel.set_cpu_hz(99).unwrap();
    wait_until(|| samples_of(&kernel, &mut rings).0 > 0);
    assert!(kernel.set_cpu_hz(1_000_000).is_err());
}

#[test]
fn clock_every_sample_taken_arrives_or_is_counted_as_dropped() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["busy"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 499);
    let (start, mut received) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(1) {
        rings
            .poll(Duration::from_millis(50), &mut |_| received += 1)
            .unwrap();
    }
    kernel.set_cpu_hz(0).unwrap();
    rings.poll(Duration::ZERO, &mut |_| received += 1).unwrap();
    let counters = kernel.counters();
    assert_eq!(counters.cpu_samples, received + counters.cpu_dropped);
}

#[test]
fn idle_states_add_up_to_idle_time_and_idle_is_within_elapsed() {
    let Some(_alone) = alone() else { return };
    let (kernel, _rings) = open(Target::All, 99);
    let (facts, none) = kernel.idle_states();
    let settle = |kernel: &Kernel| {
        let begin = Instant::now();
        let cpus = kernel.cpus();
        let states = kernel.idle();
        (cpus, states, begin.elapsed())
    };
    let first = settle(&kernel);
    std::thread::sleep(Duration::from_millis(1500));
    let second = settle(&kernel);
    assert_eq!(facts.is_empty(), none.is_some());
    assert_eq!(first.0.len(), cpus_online());
    let mut idle_of: BTreeMap<u32, u64> = BTreeMap::new();
    for (before, after) in first.1.iter().zip(&second.1) {
        assert_eq!((before.cpu, before.state), (after.cpu, after.state));
        assert!(after.entries >= after.too_short.max(after.too_long));
        *idle_of.entry(after.cpu).or_default() += after.residency - before.residency;
    }
    for (before, after) in first.0.iter().zip(&second.0) {
        let (idle, elapsed) = (after.idle - before.idle, after.elapsed - before.elapsed);
        assert!(elapsed >= 1_400_000_000 && idle <= elapsed, "{after:?}");
        assert!(after.own_wakeups <= after.wakeups + 200 && after.irq >= before.irq);
        assert!(after.user == NOT_COUNTED || after.user >= before.user);
        if !facts.is_empty() {
            // Both go on while they are read.
            let apart = Duration::from_millis(10) + first.2 + second.2;
            let states = idle_of[&after.cpu];
            assert!(
                u128::from(states.abs_diff(idle)) < apart.as_nanos(),
                "states {states}, idle {idle}"
            );
        }
    }
}

#[test]
fn idle_cpu_that_only_the_clock_wakes_counts_its_own_wakeups() {
    let Some(_alone) = alone() else { return };
    let (mut kernel, _rings) = open(Target::All, 0);
    let own = |kernel: &Kernel| kernel.cpus().iter().map(|cpu| cpu.own_wakeups).sum::<u64>();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(own(&kernel), 0, "the clock is off");
    kernel.set_cpu_hz(499).unwrap();
    let (start, before) = (Instant::now(), kernel.cpus());
    while own(&kernel) == 0 {
        std::thread::sleep(Duration::from_millis(50));
        if start.elapsed() > PATIENCE {
            // on a loaded machine a clock need not find an idle CPU
            for (before, after) in before.iter().zip(kernel.cpus()) {
                let (idle, elapsed) = (after.idle - before.idle, after.elapsed - before.elapsed);
                assert!(
                    idle < elapsed / 20,
                    "CPU {} was idle for {idle} of {elapsed} ns",
                    after.cpu
                );
            }
            println!("not shown: no CPU was idle");
            return;
        }
    }
}

#[test]
fn open_target_that_does_not_exist_is_gone() {
    let Some(_alone) = alone() else { return };
    let gone = Settings {
        target: Target::Processes(vec![4_194_304]),
        cpu_hz: 0,
        ..Settings::default()
    };
    let error = Kernel::open(&gone).err().unwrap();
    assert_eq!(error.kind, OpenErrorKind::TargetGone);
    assert!(!error.message.contains('\n'));
}

#[test]
fn pass_target_that_exits_midway_visits_nothing() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "2"]);
    let (mut kernel, _rings) = open(Target::Processes(vec![subject.pid()]), 0);
    assert_eq!(pass(&mut kernel, false).0.visited, 3);
    drop(subject);
    assert_eq!(pass(&mut kernel, true).0, PassCounts::default());
}

#[test]
fn check_as_root_says_that_the_main_job_can_run() {
    let Some(_alone) = alone() else { return };
    let lines = check();
    assert!(lines.len() >= 12);
    for line in lines {
        println!("{line:?}");
        assert!(line.ok || !line.needed, "{line:?}");
        assert_eq!(line.ok, line.remedy.is_empty());
        assert!(!line.detail.is_empty() && !line.detail.contains('\n'));
    }
}

fn drain(mappings: &mut Mappings) -> Vec<MappingEvent> {
    let mut events = VecDeque::new();
    mappings.drain(&mut events);
    events.into()
}

#[test]
fn mappings_exec_is_told_first_then_what_it_maps_with_file_and_time() {
    let Some(_alone) = alone() else { return };
    let mut mappings = Mappings::open().unwrap();
    let mut child = Command::new("/bin/sleep").arg("0").spawn().unwrap();
    child.wait().unwrap();
    let events = drain(&mut mappings);
    assert!(events.is_sorted_by_key(|event| event.time));
    let own: Vec<_> = events.iter().filter(|e| e.tgid == child.id()).collect();
    let exec = own.iter().position(|e| e.what == MappingChange::Exec);
    let (_, after) = own.split_at(exec.expect("an exec"));
    let file = std::fs::metadata("/bin/sleep").unwrap();
    let program = after.iter().find_map(|event| match &event.what {
        MappingChange::Mapped(mapping) if mapping.path.ends_with(b"/sleep") => Some(mapping),
        _ => None,
    });
    let program = program.unwrap_or_else(|| panic!("{after:?}"));
    assert_eq!(program.inode, file.ino());
    assert!(program.start < program.end && program.start % 4096 == 0);
    let vdso =
        |e: &&&MappingEvent| matches!(&e.what, MappingChange::Mapped(m) if &*m.path == b"[vdso]");
    assert_eq!(after.iter().filter(vdso).count(), 1);
    assert!(drain(&mut mappings).iter().all(|e| e.tgid != child.id()));
}

#[test]
fn mappings_more_than_the_ring_holds_are_counted_as_lost() {
    let Some(_alone) = alone() else { return };
    let mut mappings = Mappings::open().unwrap();
    let map = || {
        let (size, flags) = (4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping that nothing else uses, and its end.
        unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_EXEC,
                flags,
                -1,
                0,
            );
            assert_ne!(page, libc::MAP_FAILED);
            libc::munmap(page, size);
        }
    };
    const MAPPED: u64 = 20_000;
    (0..MAPPED).for_each(|_| map());
    let mut events = drain(&mut mappings);
    // The kernel tells of a loss beside what comes next on that CPU.
    let begin = Instant::now();
    let own = std::process::id();
    let sum = |events: &[MappingEvent]| -> u64 {
        let weigh = |event: &MappingEvent| match event.what {
            MappingChange::Lost(count) => count,
            MappingChange::Mapped(_) if event.tgid == own => 1,
            _ => 0,
        };
        events.iter().map(weigh).sum()
    };
    while sum(&events) < MAPPED {
        assert!(begin.elapsed() < PATIENCE, "{} of {MAPPED}", sum(&events));
        map();
        std::thread::sleep(Duration::from_millis(10));
        events.extend(drain(&mut mappings));
    }
    assert!(
        events
            .iter()
            .any(|e| matches!(e.what, MappingChange::Lost(count) if count > 0))
    );
}

/// A CPU that is offline until this goes.
struct Offline(PathBuf);

impl Offline {
    fn take(cpu: usize) -> Option<Offline> {
        let switch = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/online"));
        std::fs::write(&switch, "0").ok()?;
        Some(Offline(switch))
    }
}

impl Drop for Offline {
    fn drop(&mut self) {
        std::fs::write(&self.0, "1").expect("it comes back");
    }
}

#[test]
fn poll_cpu_that_went_offline_and_came_back_is_sampled_again() {
    let Some(_alone) = alone() else { return };
    let last = cpus_online() - 1;
    let subject = Subject::start(&["busy"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 99);
    let Some(offline) = Offline::take(last).filter(|_| last > 0) else {
        println!("not run: CPU {last} cannot be taken offline");
        return;
    };
    poll_until(&mut rings, |r| u32::from(r.head.kind) == FT_KIND_CPU);
    // long enough to be seen
    let gone = Instant::now();
    while gone.elapsed() < Duration::from_secs(3) {
        rings
            .poll(Duration::from_millis(100), &mut |r| {
                assert_ne!(r.head.cpu as usize, last, "it is offline");
            })
            .unwrap();
    }
    drop(offline);
    for thread in std::fs::read_dir(format!("/proc/{}/task", subject.pid())).unwrap() {
        let tid = thread.unwrap().file_name().into_string().unwrap();
        // SAFETY: the kernel reads one set.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(last, &mut set);
            libc::sched_setaffinity(tid.parse().unwrap(), size_of_val(&set), &raw const set);
        }
    }
    poll_until(&mut rings, |r| {
        u32::from(r.head.kind) == FT_KIND_CPU && r.head.cpu as usize == last
    });
    let missed = kernel.counters().ticks_missed;
    assert!(missed < 1000, "{missed}");
    let changes = kernel.take_cpu_changes();
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.cpu, change.online))
        .collect();
    assert_eq!(told, [(last as u32, false), (last as u32, true)]);
    let states: Vec<_> = kernel.idle_states().0;
    let states: Vec<_> = states
        .into_iter()
        .filter(|s| s.cpu as usize == last)
        .collect();
    assert_eq!(changes[1].idle_states, states, "of the CPU that came back");
}

#[test]
fn cpus_time_that_a_cpu_was_offline_is_neither_busy_nor_idle() {
    let Some(_alone) = alone() else { return };
    let last = cpus_online() - 1;
    let (kernel, _rings) = open(Target::All, 0);
    let of = |kernel: &Kernel| {
        kernel
            .cpus()
            .into_iter()
            .find(|cpu| cpu.cpu as usize == last)
    };
    let before = of(&kernel).expect("it is online");
    let Some(offline) = Offline::take(last).filter(|_| last > 0) else {
        println!("not run: CPU {last} cannot be taken offline");
        return;
    };
    let away = Instant::now();
    while away.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(250));
        let told = of(&kernel);
        assert!(
            away.elapsed() < Duration::from_millis(600) || told.is_none(),
            "{told:?}"
        );
    }
    drop(offline);
    let back = Instant::now();
    let after = loop {
        if let Some(after) = of(&kernel) {
            break after;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    // Only what lies between two looks belongs to neither side: far less than the time away.
    let most = back.elapsed() + Duration::from_millis(1_000);
    let elapsed = Duration::from_nanos(after.elapsed - before.elapsed);
    let idle = Duration::from_nanos(after.idle - before.idle);
    assert!(
        elapsed < most && idle <= elapsed,
        "{elapsed:?} {idle:?} {most:?}"
    );
}

/// This process may use this CPU alone; the threads that it starts from now on, too.
fn stay_on(cpu: usize) {
    // SAFETY: the kernel reads one set.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set),
            0
        );
    }
}

#[test]
fn poll_of_a_process_that_may_use_one_cpu_samples_all_cpus() {
    let last = cpus_online() - 1;
    if last == 0 {
        println!("not run: there is one CPU only");
        return;
    }
    let subject = Subject::start(&["busy"]);
    for thread in std::fs::read_dir(format!("/proc/{}/task", subject.pid())).unwrap() {
        let tid = thread.unwrap().file_name().into_string().unwrap();
        // SAFETY: the kernel reads one set.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(last, &mut set);
            libc::sched_setaffinity(tid.parse().unwrap(), size_of_val(&set), &raw const set);
        }
    }
    std::thread::spawn(move || {
        stay_on(0);
        let (_kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 99);
        poll_until(&mut rings, |r| {
            u32::from(r.head.kind) == FT_KIND_CPU && r.head.cpu as usize == last
        });
    })
    .join()
    .unwrap();
}
