//! Idle states, and CPUs that come and go.

use super::*;

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
