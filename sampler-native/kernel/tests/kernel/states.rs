//! States of tasks, and who runs.

use super::*;

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
