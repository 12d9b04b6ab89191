//! Tests of the contents of a record: identity, registers, stack, and the pieces that are asked for.

use super::*;

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
        // Another sampler on the same CPU may look for a mapping at the same moment: then the mapping is not known.
        let has_mapping = |r: &Kept| {
            let stack = r.stack.as_ref();
            r.head.tid == served.tid && stack.is_some_and(|stack| !stack.mapping.is_empty())
        };
        for _ in 0..20 {
            let sample = poll_until(&mut rings, has_mapping);
            assert_ne!(sample.head.status & FT_FAULTED, 0, "{kind}");
            let stack = sample.stack.as_ref().unwrap();
            assert!(stack.user.is_empty(), "{kind}");
            assert_eq!(sample.stack.unwrap().regs[7], served.sp, "{kind}");
        }
        assert!(!served.was_asked(), "{kind}: a page was asked for");
    }
}
