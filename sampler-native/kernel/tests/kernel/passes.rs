//! Passes: who is visited, and who is not.

use super::*;

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
