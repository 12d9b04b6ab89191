//! Who is sampled, and that everything adds up.

use super::*;

/// The model checks the identities of the counters at every batch.
#[test]
fn fill_under_every_load_and_with_late_passes_the_counters_add_up() {
    let _loads = [
        Program::start("hog", &["64", "24"]),
        Program::start("switching", &["50", "40", "1000"]),
        Program::start("life", &["sleepers", "500"]),
        Program::start("life", &["forks"]),
        Program::start("life", &["threads"]),
        Program::start("life", &["deep", "60000", "naps"]),
    ];
    let mut recording = Recording::open("target=all\nhz.cpu=199").with_smallest_buffer();
    for pass in 0..60 {
        recording.fill_late(true, if pass % 7 == 0 { 2 } else { 0 });
        recording.fill(false);
    }
    let model = &recording.model;
    assert_eq!(model.counter(Counter::PassesMade), 60);
    assert_eq!(model.counter(Counter::PassesLate), 18);
    assert!(model.counter(Counter::TaskPasses) > 60 * 600);
}

#[test]
fn target_of_one_thread_is_that_thread_alone() {
    let program = Program::start("life", &["thread-exec"]);
    let threads = std::fs::read_dir(format!("/proc/{}/task", program.pid())).expect("threads");
    let names = threads
        .flatten()
        .filter_map(|t| t.file_name().into_string().ok());
    let tid = names
        .filter_map(|n| n.parse::<u32>().ok())
        .find(|tid| *tid != program.pid())
        .expect("a thread");
    let mut recording = Recording::open(&format!("target=tid {tid}"));
    recording.run(19, 400);
    let tids: Vec<u32> = recording.model.tasks.iter().map(|t| t.tid).collect();
    assert_eq!(tids, [tid]);
}

/// A program of so many threads that sleep.
fn sleepers(threads: usize) -> Program {
    let program = Program::start("life", &["sleepers", &threads.to_string()]);
    // A thread that is there may still be on its way to where it sleeps: all sleep, and none has run between two looks.
    let look = || -> Vec<(bool, String)> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", program.pid())).expect("threads");
        let status = tasks.flatten().filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("status")).ok()?;
            let switches = text.split("voluntary_ctxt_switches").skip(1).collect();
            Some((text.contains("State:\tS"), switches))
        });
        status.collect()
    };
    let mut before = look();
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let now = look();
        if now.len() > threads && now.iter().all(|(asleep, _)| *asleep) && now == before {
            return program;
        }
        before = now;
    }
}

/// On a busy machine the prober begins later than the first pass; the samples of that pass are more than may wait.
#[test]
fn pass_first_one_beside_five_thousand_sleepers_waits_for_a_prober_that_begins_late() {
    use std::os::unix::fs::PermissionsExt;
    const THREADS: usize = 5000;
    let program = sleepers(THREADS);
    let exe = std::env::current_exe().expect("own path");
    let folder = exe.ancestors().nth(2).expect("target folder");
    let late = std::env::temp_dir().join(format!("flametop-late-{}", std::process::id()));
    let script = format!(
        "#!/bin/sh\nsleep 0.1\nexec {} \"$@\"\n",
        folder.join("flametop-symbolizer").display()
    );
    std::fs::write(&late, script).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&late, mode).expect("a program");
    // The first pass waits 400 ms at most: the prober of a very busy machine may take longer than that.
    let whole = (0..5).any(|_| {
        let mut recording = Recording::open_with(&target(program.pid()), &late);
        recording.fill(true);
        let model = &recording.model;
        assert_eq!(model.tasks.len(), THREADS + 1);
        let ends = model.tasks.iter().filter_map(|task| task.now);
        let ends = ends.map(|now| match now.stack {
            Some(stack) => model.stacks[stack as usize].end,
            None => now.why,
        });
        ends.filter(|end| *end == End::Root).count() == THREADS + 1
    });
    std::fs::remove_file(&late).expect("removed");
    assert!(whole, "stacks were not waited for in any of five sessions");
}

#[test]
fn pass_five_thousand_sleepers_are_in_every_pass_and_told_of_once() {
    const THREADS: usize = 5000;
    let program = sleepers(THREADS);
    let mut recording = Recording::open(&target(program.pid())).with_smallest_buffer();
    // The stacks of so many are more than may wait for the mappings of their process, which are asked for before the first pass.
    for _ in 0..40 {
        recording.fill(false);
        std::thread::sleep(Duration::from_millis(50));
    }
    for _ in 0..15 {
        recording.fill(true);
        assert_eq!(recording.model.counter(Counter::Tasks), THREADS as u64 + 1);
    }
    let model = &recording.model;
    assert_eq!(model.tasks.len(), THREADS + 1);
    for task in &model.tasks {
        assert!(task.gone.is_none());
        let now = task.now.expect("a head");
        assert_eq!((now.state, now.why), (State::Sleep, End::Root));
        assert_eq!(task.changes, 1, "one interval");
    }
    assert!(model.stacks.len() < 10, "{} stacks", model.stacks.len());
}

#[test]
fn exit_killed_sleeper_is_gone_with_its_final_sums() {
    let program = Program::start("chain", &["sleep"]);
    let other = Program::start("chain", &["sleep"]);
    let mut recording = Recording::open(&format!("target=pid {},{}", program.pid(), other.pid()));
    recording.run(19, 300);
    let pid = program.pid();
    assert!(recording.model.task(pid).is_some());
    drop(program);
    // The kernel frees it some time after it was reaped.
    run_until(&mut recording, "gone", |model| model.task(pid).is_none());
    let task = recording
        .model
        .tasks
        .iter()
        .find(|t| t.tid == pid)
        .expect("known");
    let gone = task.gone.expect("gone");
    assert!(
        gone.exact && gone.run >= task.now.expect("a head").run,
        "{gone:?}"
    );
    assert!(recording.model.task(pid).is_none());
    assert!(recording.model.task(other.pid()).is_some());
}

#[test]
fn identities_hold_on_every_batch_under_churn() {
    let programs = [
        Program::start("life", &["threads"]),
        Program::start("life", &["forks"]),
        Program::start("chain", &["spin"]),
    ];
    // Recording asserts the identities and the rules of ids and order at each batch.
    let mut recording = Recording::open("target=all\nhz.cpu=499").with_smallest_buffer();
    let threads = programs[0].pid();
    let begin = Instant::now();
    while short_threads(&recording.model, threads).len() <= 100
        || recording.model.counter(Counter::CpuPlaced) <= 500
    {
        assert!(begin.elapsed() < PATIENCE, "few threads or samples");
        recording.run(49, 3000);
    }
    // Batches without a pass, too.
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(60));
        recording.fill(false);
    }
    drop(programs);
    run_until(&mut recording, "all ended", |model| {
        let short = short_threads(model, threads);
        short.iter().all(|t| t.gone.is_some())
    });
    let model = &recording.model;
    assert!(model.batches > model.passes);
    let short = short_threads(model, threads);
    assert!(short.iter().all(|t| t.fresh || t.changes > 0));
    let exact = short
        .iter()
        .filter(|t| t.gone.is_some_and(|g| g.exact))
        .count();
    assert!(
        exact + 50 > short.len(),
        "{exact} of {} have final sums",
        short.len()
    );
}

/// All threads of a process but the first.
fn short_threads(model: &Model, tgid: u32) -> Vec<&Task> {
    let of_it = |t: &&Task| model.processes[t.process as usize].tgid == tgid && t.tid != tgid;
    model.tasks.iter().filter(of_it).collect()
}

#[test]
fn cpu_clock_fork_that_lives_a_moment_has_the_mappings_of_its_parent() {
    let program = Program::start("life", &["forks"]);
    let mut recording = Recording::open("target=all\nhz.cpu=499");
    let of_forks = |model: &Model| -> Vec<_> {
        let forks = model.tasks.iter().filter(|t| {
            let process = &model.processes[t.process as usize];
            process.comm == "life" && t.fresh && t.tid != program.pid()
        });
        let samples = forks.flat_map(|t| t.samples.iter().copied());
        samples.filter(|s| s.user_mode).collect()
    };
    run_until(&mut recording, "400 samples", |model| {
        of_forks(model).len() >= 400
    });
    let samples = of_forks(&recording.model);
    recording.name_all();
    let model = &recording.model;
    let named = samples
        .iter()
        .filter(|s| {
            s.why == End::Root
                && s.stack
                    .is_some_and(|s| model.names(s).contains(&"main".into()))
        })
        .count();
    println!("{named} of {}", samples.len());
    assert!(
        named * 10 >= samples.len() * 9,
        "{named} of {}",
        samples.len()
    );
}

#[test]
fn drain_after_the_clock_stops_leaves_nothing_waiting() {
    let _program = Program::start("chain", &["spin"]);
    let mut recording = Recording::open("target=all\nhz.cpu=499");
    recording.run(19, 500);
    recording.session.set_rates(19, 0).expect("off");
    let begin = Instant::now();
    let mut taken = 0;
    // A last tick may come while the clock is being stopped.
    loop {
        std::thread::sleep(Duration::from_millis(50));
        recording.fill(false);
        let before = taken;
        taken = recording.model.counter(Counter::CpuSamples);
        if recording.model.counter(Counter::CpuWaiting) == 0 && taken == before {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "some wait for ever");
    }
    assert!(taken > 0);
    recording.run(19, 400);
    assert_eq!(recording.model.counter(Counter::CpuSamples), taken);
}

#[test]
fn exec_by_another_thread_replaces_all_tasks_of_the_process() {
    let mut program = Program::start("life", &["thread-exec"]);
    let mut recording = Recording::open(&target(program.pid()));
    recording.run(19, 200);
    assert_eq!(recording.model.tasks_of(program.pid()).count(), 3);
    program.go_on();
    run_until(&mut recording, "a sleep alone", |model| {
        let live: Vec<_> = model.tasks_of(program.pid()).collect();
        let sleeps = |h: flametop_stream::Head| h.state == State::Sleep && h.why == End::Root;
        live.len() == 1 && live[0].comm == "sleep" && live[0].now.is_some_and(sleeps)
    });
    let model = &recording.model;
    let live: Vec<_> = model.tasks_of(program.pid()).collect();
    assert_eq!(live.len(), 1);
    assert_eq!(
        (live[0].tid, live[0].comm.as_str()),
        (program.pid(), "sleep")
    );
    let process = &model.processes[live[0].process as usize];
    assert_eq!(process.cmdline, b"replaced\x001000\0");
    assert_eq!(model.tasks.iter().filter(|t| t.gone.is_some()).count(), 3);
    assert!(
        live[0]
            .now
            .is_some_and(|h| h.state == State::Sleep && h.why == End::Root)
    );
}

#[test]
fn open_process_that_is_gone_says_so_with_its_exit_code() {
    let program = Program::start("chain", &["sleep"]);
    let pid = program.pid();
    drop(program);
    let error = Session::open(&target(pid)).err().expect("refused");
    assert_eq!(error.code, 4);
    assert!(error.message.contains(&pid.to_string()), "{error}");
    assert!(!error.message.contains('\n'), "{error}");
}

#[test]
fn pass_target_that_exits_midway_has_no_tasks_left() {
    let program = Program::start("chain", &["sleep"]);
    let mut recording = Recording::open(&target(program.pid()));
    recording.run(19, 200);
    drop(program);
    run_until(&mut recording, "all gone", |model| {
        model.counter(Counter::Tasks) == 0 && model.tasks.iter().all(|t| t.gone.is_some())
    });
}

#[test]
fn stream_of_a_session_is_read_whole() {
    let _program = Program::start("life", &["threads"]);
    let mut recording = Recording::open("target=all");
    recording.run(19, 500);
    recording.name_all();
    let mut reader = Reader::new(recording.bytes.as_slice()).expect("header");
    let header = reader.header().clone();
    assert_eq!(header.fact("target"), Some("all"));
    assert_eq!(
        header.fact("own"),
        Some(std::process::id().to_string().as_str())
    );
    assert!(
        header
            .fact("time.monotonic")
            .is_some_and(|t| t.parse::<u64>().is_ok())
    );
    let mut batches = 0;
    while reader.next_batch().expect("batch").is_some() {
        batches += 1;
    }
    assert_eq!(batches, recording.model.batches);
    let (text, result) = text::dump(recording.bytes.as_slice());
    assert_eq!(result, Ok(()));
    assert!(text.lines().any(|l| l.starts_with("host load1=")));
    assert!(recording.model.own_cpu > 0);
}
