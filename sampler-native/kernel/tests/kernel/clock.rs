//! The CPU clock: its samples, its rate, and what it copies.

use super::*;

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
