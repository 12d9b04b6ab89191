//! Stacks deeper than one copy, and other stacks.

use super::*;

/// Builds the Go program of the unwinder's tests.
fn goroutines() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("goroutines");
    let source = format!(
        "{}/../unwind/tests/programs/goroutines",
        env!("CARGO_MANIFEST_DIR")
    );
    let build = |flags: &str| {
        let built = Command::new("go")
            .args(["build", "-trimpath", flags, "-o"])
            .arg(&path)
            .env("CGO_ENABLED", "0")
            .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"))
            .current_dir(&source)
            .output();
        built.expect("go runs").status.success()
    };
    // Older than 1.23 knows no such flag, and links what the program asks for.
    assert!(build("-ldflags=-checklinkname=0") || build("-v"));
    path
}

fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|n| *n == name).count()
}

#[test]
fn pass_deep_sleeper_is_completed_piece_by_piece() {
    for kib in [10, 50, 100, 200] {
        let program = Program::start("life", &["deep", &(kib * 1024).to_string()]);
        let mut recording = Recording::open(&target(program.pid()));
        let now = run_until_settled(&mut recording, program.pid());
        let model = &recording.model;
        assert_eq!(now.why, End::Root, "{kib} KiB");
        let names = from_main(model, now.stack.expect("a stack"));
        assert_eq!(count(&names, "deep"), kib + 1, "{kib} KiB: {names:?}");
        let changes = model.task(program.pid()).expect("the task").changes;
        assert!(changes > kib / 10 || kib == 10, "each piece is told of");
    }
}

#[test]
fn pass_sleeper_deeper_than_the_limit_is_truncated() {
    let program = Program::start("life", &["deep", "307200"]);
    let mut recording = Recording::open(&target(program.pid()));
    let now = run_until_settled(&mut recording, program.pid());
    assert_eq!(now.why, End::Truncated);
    let names = recording.model.names(now.stack.expect("a stack"));
    assert!(!names.contains(&"main".to_owned()));
    let found = count(&names, "deep");
    assert!((230..300).contains(&found), "{found} of 301");
}

#[test]
fn pass_sleeper_on_another_stack_is_walked_over_to_the_first() {
    let program = Program::start("life", &["deep", "51200", "signal"]);
    let mut recording = Recording::open(&target(program.pid()));
    let now = run_until_settled(&mut recording, program.pid());
    assert_eq!(now.why, End::Root);
    let names = from_main(&recording.model, now.stack.expect("a stack"));
    let handler = names.iter().position(|n| n == "on_signal");
    let (first, other) = names.split_at(handler.expect("a handler"));
    assert_eq!(
        (count(first, "deep"), count(other, "deep")),
        (51, 41),
        "{names:?}"
    );
}

#[test]
fn pass_task_that_runs_between_two_pieces_never_has_parts_of_two_stacks() {
    let program = Program::start("life", &["deep", "60000", "naps"]);
    let mut recording = Recording::open(&target(program.pid()));
    let begin = Instant::now();
    while recording
        .model
        .task(program.pid())
        .is_none_or(|t| t.changes < 200)
    {
        assert!(begin.elapsed() < PATIENCE, "it hardly changes");
        recording.run(99, 40);
    }
    recording.name_all();
    let model = &recording.model;
    for (id, stack) in model.stacks.iter().enumerate() {
        let names = model.names(id as u32);
        if stack.end == End::Root && names.contains(&"main".to_owned()) {
            assert_eq!(count(&names, "deep"), 60, "{names:?}");
            let naps = count(&names, "nap_here") + count(&names, "nap_there");
            assert!(naps <= 1, "{names:?}");
        }
    }
}

#[test]
fn pass_mmap_lock_held_the_stack_names_the_holder() {
    let hog = Program::start("hog", &["64", "24"]);
    let mut recording = Recording::open(&target(hog.pid()));
    let reason = format!("[mm busy: hog {}]", hog.pid());
    let named = |model: &Model| {
        let is_reason =
            |(how, name): &(NameSource, String)| *how == NameSource::Reason && *name == reason;
        model.names.values().any(is_reason)
    };
    for _ in 0..1000 {
        recording.run(49, 41);
        recording.name_all();
        if named(&recording.model) {
            break;
        }
    }
    assert!(named(&recording.model), "{:?}", recording.model.names);
    // outermost, and the stack says why it is short
    let model = &recording.model;
    let mut stacks = model.stacks.iter().enumerate();
    let (_, busy) = stacks
        .find(|(id, _)| model.names(*id as u32).first() == Some(&reason))
        .expect("a stack");
    assert_eq!(busy.end, End::MmBusy);
}

#[test]
fn stack_in_memory_that_another_process_serves_is_not_in_memory() {
    for how in [&["fuse"][..], &["fuse", "busy"]] {
        let mut command = Command::new(compiled("served"));
        let command = command.args(how).stdin(Stdio::piped());
        let served = Program::spawn(command.stdout(Stdio::null()));
        let innocent = Program::start("life", &["deep", "2000"]);
        let pids = format!("{},{}", served.pid(), innocent.pid());
        let mut recording = Recording::open(&format!("target=pid {pids}\nhz.cpu=99"));
        let absent = |task: &Task| {
            let sampled = task.samples.iter().any(|s| s.why == End::Absent);
            sampled || task.now.is_some_and(|now| now.why == End::Absent)
        };
        run_until(&mut recording, "memory that is not there", |model| {
            model.tasks_of(served.pid()).any(absent)
        });
        let whole = |model: &Model| {
            let task = model.task(innocent.pid());
            task.and_then(|t| t.now)
                .is_some_and(|now| now.why == End::Root)
        };
        run_until(&mut recording, "the other's stack", whole);
    }
}

#[test]
fn cpu_clock_deep_stack_is_copied_deeper_after_the_first_sample() {
    let program = Program::start("life", &["deep", "204800", "busy"]);
    let (recording, last) = until_whole(&program);
    let model = &recording.model;
    let task = model.task(program.pid()).expect("the task");
    assert_eq!(task.samples.first().map(|s| s.why), Some(End::Truncated));
    let names = from_main(model, last.stack.expect("a stack"));
    assert_eq!(count(&names, "deep"), 201, "{names:?}");
}

#[test]
fn cpu_clock_stack_not_deeper_than_a_copy_is_whole_in_the_first_sample() {
    let program = Program::start("life", &["deep", "60000", "busy"]);
    let (recording, _) = until_whole(&program);
    let task = recording.model.task(program.pid()).expect("the task");
    assert_eq!(task.samples.first().map(|s| s.why), Some(End::Root));
}

/// Of 64 KiB, 300 KiB and 2 MiB, in each thread, with up to forty frames below it: what was learned of one chain and
/// one thread serves the others.
#[test]
fn cpu_clock_large_frame_in_the_middle_of_many_chains_is_walked_past() {
    for bytes in ["65536", "307200", "2097152"] {
        let program = Program::start("deep", &["120", bytes]);
        let mut recording = Recording::open(&format!("{}\nhz.cpu=299", target(program.pid())));
        run_until(&mut recording, "a hundred samples", |m| {
            deep_samples(m, program.pid()).len() > 100
        });
        let before = deep_samples(&recording.model, program.pid()).len();
        run_until(&mut recording, "two hundred more", |m| {
            deep_samples(m, program.pid()).len() > before + 200
        });
        let samples = deep_samples(&recording.model, program.pid());
        // Those that come while names are asked for may have frames without one.
        recording.name_all();
        let later = &samples[before..];
        let whole: Vec<_> = later.iter().filter(|s| s.why == End::Root).collect();
        assert!(
            whole.len() * 100 >= later.len() * 98,
            "{bytes}: {} of {}",
            whole.len(),
            later.len()
        );
        let mut depths = std::collections::HashSet::new();
        for sample in whole {
            let names = from("thread", &recording.model, sample.stack.expect("a stack"));
            let Some(below) = names.iter().position(|name| name == "large") else {
                continue;
            };
            assert_eq!(names[..below], ["thread", "middle"], "{names:?}");
            depths.insert(count(&names, "below"));
        }
        assert!(depths.len() > 10, "{bytes}: {depths:?}");
    }
}

#[test]
fn pass_large_frame_in_the_middle_of_a_sleepers_chain_is_walked_past() {
    for bytes in ["65536", "307200"] {
        let program = Program::start("deep", &["120", bytes, "sleep"]);
        let mut recording = Recording::open(&target(program.pid()));
        let sleepers = |m: &Model| {
            let of = m.tasks.iter().filter(|t| t.tid != program.pid());
            of.filter_map(|t| t.now).collect::<Vec<_>>()
        };
        run_until(&mut recording, "three whole sleepers", |m| {
            sleepers(m)
                .iter()
                .filter(|now| now.why == End::Root)
                .count()
                == 3
        });
        recording.name_all();
        for now in sleepers(&recording.model) {
            let names = from("thread", &recording.model, now.stack.expect("a stack"));
            assert_eq!(names[..3], ["thread", "middle", "large"], "{names:?}");
            assert!(names.iter().any(|n| n.contains("nanosleep")), "{names:?}");
        }
    }
}

/// Of the threads of `bench/programs/deep.c` that work.
fn deep_samples(model: &Model, tgid: u32) -> Vec<flametop_stream::Head> {
    let of = model.tasks.iter().filter(|task| task.tid != tgid);
    of.flat_map(|task| task.samples.iter().copied()).collect()
}

/// Samples until the CPU clock brings a stack of the first thread that is whole.
fn until_whole(program: &Program) -> (Recording, flametop_stream::Head) {
    let mut recording = Recording::open(&format!("{}\nhz.cpu=99", target(program.pid())));
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        recording.run(19, 300);
        let task = recording.model.task(program.pid());
        let mut samples = task.iter().flat_map(|task| &task.samples);
        if let Some(whole) = samples.find(|s| s.why == End::Root).copied() {
            recording.name_all();
            return (recording, whole);
        }
    }
    panic!("no sample of {} is whole", program.pid());
}

#[test]
fn cpu_clock_handler_on_another_stack_is_walked_over_to_the_first() {
    let program = Program::start("life", &["deep", "9000", "handler"]);
    let (recording, whole) = until_whole(&program);
    let names = from_main(&recording.model, whole.stack.expect("a stack"));
    let handler = names.iter().position(|n| n == "on_signal");
    let (first, other) = names.split_at(handler.expect("a handler"));
    assert_eq!(
        (count(first, "deep"), count(other, "deep")),
        (10, 41),
        "{names:?}"
    );
}

#[test]
fn cpu_clock_frame_larger_than_the_copy_is_walked_past() {
    let program = Program::start("life", &["huge"]);
    let (recording, whole) = until_whole(&program);
    let names = from_main(&recording.model, whole.stack.expect("a stack"));
    assert_eq!(
        (count(&names, "huge"), count(&names, "deep_to_huge")),
        (1, 11),
        "{names:?}"
    );
}

#[test]
fn cpu_clock_goroutine_that_called_the_scheduler_s_stack_is_whole() {
    let program = Program::of(Command::new(goroutines()).env("GOROUTINE", "system-spin"));
    let mut recording = Recording::open(&format!("{}\nhz.cpu=99", target(program.pid())));
    // whichever thread the goroutine is on
    let whole = |model: &Model| {
        let tasks = model.tasks.iter().flat_map(|task| &task.samples);
        tasks
            .filter(|sample| sample.why == End::Root)
            .filter_map(|sample| sample.stack)
            .find(|stack| model.names(*stack).contains(&"main.spinning".to_owned()))
    };
    let begin = Instant::now();
    while whole(&recording.model).is_none() && begin.elapsed() < PATIENCE {
        recording.run(19, 300);
        recording.name_all();
    }
    let stack = whole(&recording.model).expect("a whole stack");
    let names = recording.model.names(stack);
    assert_eq!(count(&names, "main.outer"), 4, "{names:?}");
    let places = ["main.outer", "runtime.systemstack", "main.spinning"]
        .map(|name| names.iter().rposition(|n| n.starts_with(name)));
    assert!(places.is_sorted(), "{names:?}");
}
