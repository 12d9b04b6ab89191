//! The pipeline on the real kernel: run as root. Programs are compiled with the system's C compiler, without frame pointers.

#[allow(dead_code)]
mod model;

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use flametop_sampler::Session;
use flametop_stream::{Counter, End, NameSource, Reader, State, text};
use model::{Model, Recording, Task};

/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(120);

/// A child process that is killed and reaped at the end of its test.
struct Program(Child);

impl Program {
    fn start(name: &str, args: &[&str]) -> Program {
        Program::of(Command::new(compiled(name)).args(args))
    }

    /// It has come to what it does: all of its threads sleep, or the first one was on a CPU for longer than any start takes.
    fn of(command: &mut Command) -> Program {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the test program starts");
        let program = Program(child);
        let begin = Instant::now();
        while !program.sleeps() && program.ran() < Duration::from_millis(200) {
            assert!(begin.elapsed() < PATIENCE, "{} starts", program.pid());
            std::thread::sleep(Duration::from_millis(10));
        }
        program
    }

    fn sleeps(&self) -> bool {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).expect("threads");
        tasks.flatten().all(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(')').next();
            state.is_some_and(|rest| rest.starts_with(" S") || rest.starts_with(" D"))
        })
    }

    fn ran(&self) -> Duration {
        let sums = std::fs::read_to_string(format!("/proc/{}/schedstat", self.pid()));
        let sums = sums.unwrap_or_default();
        Duration::from_nanos(sums.split(' ').next().map_or(0, |n| n.parse().unwrap_or(0)))
    }

    /// Lets a program that waits for it go on.
    fn go_on(&mut self) {
        drop(self.0.stdin.take());
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn compiled(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
        let (tests, bench) = ("tests/programs", "../../bench/programs");
        let kernel = "../kernel/tests/programs";
        let programs = [
            (tests, "chain"),
            (tests, "life"),
            (kernel, "served"),
            (bench, "deep"),
            (bench, "hog"),
            (bench, "switching"),
        ];
        for (place, name) in programs {
            let source = format!("{}/{place}/{name}.c", env!("CARGO_MANIFEST_DIR"));
            let status = Command::new("cc")
                .args([
                    "-g",
                    "-O2",
                    "-fomit-frame-pointer",
                    "-fno-optimize-sibling-calls",
                    "-Wall",
                    "-Werror",
                    "-pthread",
                    "-o",
                ])
                .arg(folder.join(name))
                .arg(source)
                .status()
                .expect("a C compiler");
            assert!(status.success());
        }
        folder
    });
    folder.join(name)
}

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

fn target(pid: u32) -> String {
    format!("target=pid {pid}")
}

/// The frames from `main` on of a stack by names.
fn from_main(model: &Model, stack: u32) -> Vec<String> {
    from("main", model, stack)
}

/// Those from this function on.
fn from(function: &str, model: &Model, stack: u32) -> Vec<String> {
    let names = model.names(stack);
    let first = names
        .iter()
        .position(|n| n == function)
        .unwrap_or_else(|| panic!("no {function}: {names:?}"));
    names[first..].to_vec()
}

fn chain() -> Vec<String> {
    let links = (1..=10).map(|i| format!("chain_{i}"));
    std::iter::once("main".to_owned()).chain(links).collect()
}

#[test]
fn ask_places_frames_of_a_program_with_lines_gives_them_and_others_say_why_not() {
    let program = Program::start("chain", &["sleep"]);
    let mut recording = Recording::open(&target(program.pid()));
    recording.run(19, 500);
    recording.name_all();
    recording.place_all();
    let model = &recording.model;
    let now = model.task(program.pid()).expect("the task").now;
    let stack = now.expect("a head").stack.expect("a stack");
    let names = model.names(stack);
    let mut lines = 0;
    for (frame, name) in model.stacks[stack as usize].frames.iter().zip(&names) {
        let (calls, missing) = &model.places[frame];
        if name == "main" || name.starts_with("chain_") {
            let outermost = calls.first().unwrap_or_else(|| panic!("{name}: {missing}"));
            assert!(outermost.starts_with(&format!("{name} ")), "{calls:?}");
            assert!(outermost.contains("/chain.c:"), "{calls:?}");
            lines += 1;
        }
        if name.ends_with("_[k]") {
            assert!(missing.contains("kernel"), "{missing}");
        }
    }
    assert_eq!(lines, 11, "{names:?}");
}

#[test]
fn pass_sleeper_without_frame_pointers_comes_whole_and_in_order() {
    let program = Program::start("chain", &["sleep"]);
    let mut recording = Recording::open(&target(program.pid()));
    recording.run(19, 500);
    recording.name_all();
    let model = &recording.model;
    let task = model.task(program.pid()).expect("the task");
    assert_eq!(task.changes, 1, "asleep all the time");
    let now = task.now.expect("a head");
    assert_eq!((now.state, now.why), (State::Sleep, End::Root));
    let names = from_main(model, now.stack.expect("a stack"));
    assert_eq!(names[..11], chain());
    assert!(names[11].contains("nanosleep"), "{names:?}");
    assert!(
        names.last().is_some_and(|n| n.ends_with("_[k]")),
        "{names:?}"
    );
    assert!(
        names.iter().any(|n| n == "hrtimer_nanosleep_[k]"),
        "{names:?}"
    );
    let process = &model.processes[task.process as usize];
    assert_eq!((process.comm.as_str(), process.kthread), ("chain", false));
    assert!(process.cmdline.ends_with(b"/chain\0sleep\0"));
    assert_eq!(model.counter(Counter::Tasks), 1);
}

#[test]
fn cpu_clock_busy_without_frame_pointers_comes_whole_and_in_order() {
    let program = Program::start("chain", &["spin"]);
    let mut recording = Recording::open(&format!("{}\nhz.cpu=199", target(program.pid())));
    let in_user_mode = |model: &Model| -> Vec<_> {
        let samples = model.task(program.pid()).map(|task| task.samples.iter());
        let samples = samples.into_iter().flatten().copied();
        samples.filter(|s| s.user_mode).collect()
    };
    run_until(&mut recording, "20 samples", |model| {
        in_user_mode(model).len() > 20
    });
    // Frames that come while names are asked for have none yet.
    let samples = in_user_mode(&recording.model);
    recording.name_all();
    let model = &recording.model;
    for sample in samples {
        assert_eq!(sample.why, End::Root);
        assert_eq!(from_main(model, sample.stack.expect("a stack")), chain());
    }
}

/// A program of assembly or C among the unwinder's tests or these.
fn built(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = format!("{}/{source}", env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("gcc");
    compiler.arg("-O2").arg(source).args(options);
    let status = compiler.arg("-o").arg(&path).status();
    assert!(status.expect("gcc runs").success());
    path
}

#[test]
fn program_of_32_bits_asleep_or_busy_says_so() {
    let options = ["-m32", "-nostdlib", "-static"];
    let path = built("tests/programs/narrow.s", "narrow", &options);
    let asleep = Program::of(&mut Command::new(&path));
    let mut recording = Recording::open(&target(asleep.pid()));
    let now = run_until_settled(&mut recording, asleep.pid());
    assert_eq!(now.why, End::Narrow);
    let busy = Program::of(Command::new(&path).arg("busy"));
    let mut recording = Recording::open(&format!("{}\nhz.cpu=199", target(busy.pid())));
    let samples = |model: &Model| model.task(busy.pid()).map_or(0, |task| task.samples.len());
    run_until(&mut recording, "20 samples", |model| samples(model) > 20);
    let task = recording.model.task(busy.pid()).expect("the task");
    for sample in &task.samples {
        assert_eq!(sample.why, End::Narrow);
        assert!(sample.stack.is_some());
    }
}

#[test]
fn pass_fiber_s_stack_ends_in_its_start_by_name() {
    let source = "../unwind/tests/programs/fibers.c";
    let path = built(source, "fibers", &["-fomit-frame-pointer"]);
    let program = Program::of(Command::new(path).arg("function"));
    let mut recording = Recording::open(&target(program.pid()));
    let now = run_until_settled(&mut recording, program.pid());
    assert_eq!(now.why, End::Root);
    let names = recording.model.names(now.stack.expect("a stack"));
    assert_eq!(names[..4], ["[fiber start]", "entry", "inside", "asleep"]);
}

/// Its return address is in a register meanwhile, and its frame is empty.
#[test]
fn pass_thread_that_waits_in_vfork_is_whole() {
    let source = "../../kernels/programs/asleep.c";
    let path = built(source, "asleep", &["-fomit-frame-pointer", "-pthread"]);
    let program = Program::of(Command::new(path).arg("300"));
    let folder = format!("/proc/{}/task", program.pid());
    let mut tasks = std::fs::read_dir(folder).expect("threads").flatten();
    let named = |comm: &std::path::Path| std::fs::read(comm).is_ok_and(|name| name == b"block\n");
    let thread = tasks.find(|task| named(&task.path().join("comm")));
    let tid = thread.expect("a thread `block`").file_name();
    let tid = tid
        .to_str()
        .and_then(|tid| tid.parse().ok())
        .expect("a tid");
    let mut recording = Recording::open(&target(program.pid()));
    let now = run_until_settled(&mut recording, tid);
    assert_eq!((now.why, now.state), (End::Root, State::Disk));
    let names = from("block_outer", &recording.model, now.stack.expect("a stack"));
    assert_eq!(names[..3], ["block_outer", "block_middle", "block_inner"]);
    assert!(names[3].contains("vfork"), "{names:?}");
}

#[test]
fn pass_caller_that_was_guessed_is_below_a_mark() {
    let source = "../unwind/tests/programs/unknowable.c";
    let path = built(source, "unknowable", &["-fomit-frame-pointer"]);
    let program = Program::of(&mut Command::new(path));
    let mut recording = Recording::open(&target(program.pid()));
    let now = run_until_settled(&mut recording, program.pid());
    let names = from_main(&recording.model, now.stack.expect("a stack"));
    assert_eq!(names[..3], ["main", "[guessed]", "unknowable"]);
}

/// Makes passes until something is so.
fn run_until(recording: &mut Recording, what: &str, so: impl Fn(&Model) -> bool) {
    let begin = Instant::now();
    while !so(&recording.model) {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        recording.run(19, 200);
    }
}

/// Builds `plugins` and its two libraries, and starts it so that each is on the CPU for so long (µs) in turn. Gives it and the file
/// that it tells the truth in.
fn plugins(name: &str, turns: [&str; 2]) -> (Program, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = format!("{}/tests/programs/plugins.c", env!("CARGO_MANIFEST_DIR"));
    let build = |output: &Path, flags: &[&str]| {
        let built = Command::new("cc")
            .args(["-O2", "-fomit-frame-pointer", "-Wall", "-Werror", "-o"])
            .arg(output)
            .arg(&source)
            .args(flags)
            .status();
        assert!(built.expect("a C compiler").success());
    };
    let libraries = ["alpha", "bravo"].map(|name| {
        let library = folder.join(name);
        build(
            &library,
            &["-shared", "-fPIC", &format!("-DNAME={name}"), "-ldl"],
        );
        library
    });
    let program = folder.join("plugins");
    build(&program, &["-ldl"]);
    let truth = folder.join("truth");
    let child = Command::new(program)
        .args(&libraries)
        .args(turns)
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(&truth).expect("a file"))
        .spawn();
    (Program(child.expect("it starts")), truth)
}

/// Which library a stack is in by its names; empty if it is in none.
fn library_of(names: &[String]) -> Vec<&str> {
    let found = ["alpha", "bravo"].into_iter();
    let has = |library: &&str| {
        names
            .iter()
            .any(|n| n.starts_with(&format!("{library}_work")))
    };
    found.filter(has).collect()
}

/// Samples of `plugins` that are named by (the library that was open, another one), and those in one that are in neither by name.
fn plugins_named(settings: &str, name: &str, turns: [&str; 2]) -> [usize; 3] {
    let (mut program, truth) = plugins(name, turns);
    let mut recording = Recording::open(&format!("{}\n{settings}", target(program.pid())));
    run_until(&mut recording, "400 samples", |model| {
        model
            .task(program.pid())
            .is_some_and(|t| t.samples.len() > 400)
    });
    program.go_on();
    let status = program.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "3: they are not at one place");
    recording.run(19, 300);
    recording.name_all();
    let model = &recording.model;
    let truth = std::fs::read_to_string(truth).expect("the truth");
    let turns: Vec<(&str, u64, u64)> = truth
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            let mut time = || words.next().expect("a time").parse().expect("ns");
            (name, time(), time())
        })
        .collect();
    let mut counts = [0; 3];
    let tasks = model.tasks.iter().filter(|t| t.tid == program.pid());
    for sample in tasks.flat_map(|task| &task.samples) {
        let at = turns.partition_point(|(_, begin, _)| *begin <= sample.time);
        let Some((open, _, end)) = at.checked_sub(1).map(|at| turns[at]) else {
            continue;
        };
        // Between two turns it opens and closes.
        if sample.time >= end || !sample.user_mode {
            continue;
        }
        let names = sample.stack.map(|stack| model.names(stack));
        match library_of(&names.unwrap_or_default())[..] {
            [named] if named == open => counts[0] += 1,
            [] => counts[2] += 1,
            _ => counts[1] += 1,
        }
    }
    println!("{name}: right, wrong, none: {counts:?}");
    counts
}

#[test]
fn cpu_clock_two_libraries_in_turn_at_one_place_each_has_its_own_name() {
    for (name, turns) in [
        ("plugins-5", ["5000", "5000"]),
        ("plugins-30", ["20000", "40000"]),
        ("plugins-2", ["2000", "6000"]),
    ] {
        let [right, wrong, none] = plugins_named("hz.cpu=199", name, turns);
        assert_eq!(wrong, 0, "{name}");
        // Until both were met once where they are.
        assert!(none <= 30 && right > 200, "{name}: {right} {none}");
    }
}

#[test]
fn cpu_clock_two_libraries_where_the_kernel_does_not_tell_are_polled() {
    let [right, wrong, _] = plugins_named(
        "hz.cpu=199\nmappings.told=0",
        "plugins-polled",
        ["20000", "40000"],
    );
    assert!(right > 100, "{right} {wrong}");
}

/// Of two programs of one layout at the same addresses, which fork children that live so long (µs): samples of children that are
/// named by (their own function, that of the other one), and those in neither.
fn twins_named(flag: &str, life: &str) -> [usize; 3] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("twins{flag}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut twins = ["alpha", "bravo"].map(|name| {
        let program = folder.join(name);
        let built = Command::new("cc")
            .args(["-O2", "-fomit-frame-pointer", "-Wall", "-Werror", flag])
            .arg(format!("-DNAME={name}"))
            .arg("-o")
            .arg(&program)
            .arg(format!(
                "{}/tests/programs/twin.c",
                env!("CARGO_MANIFEST_DIR")
            ))
            .status();
        assert!(built.expect("a C compiler").success());
        let twin = Command::new("setarch")
            .arg("-R")
            .arg(&program)
            .arg(life)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Program(twin.expect("it starts"))
    });
    let [first, second] = twins.each_mut().map(|twin| {
        let mut line = String::new();
        let out = twin.0.stdout.as_mut().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).expect("a line");
        line
    });
    assert_eq!(first, second, "they are at one place");
    let pids = twins.each_ref().map(Program::pid);
    let mut counts = [0; 3];
    let begin = Instant::now();
    while counts.iter().sum::<usize>() < 200 {
        assert!(begin.elapsed() < PATIENCE, "they get no time: {counts:?}");
        let mut recording = Recording::open("target=all\nhz.cpu=199");
        // No longer than what has ended is remembered.
        recording.run(19, 3000);
        recording.name_all();
        let model = &recording.model;
        for (name, other) in [("alpha", "bravo"), ("bravo", "alpha")] {
            let children = model.tasks.iter();
            let children = children.filter(|t| t.comm == name && !pids.contains(&t.tid));
            for sample in children.flat_map(|t| t.samples.iter().filter(|s| s.user_mode)) {
                let names = sample.stack.map(|stack| model.names(stack));
                let names = names.unwrap_or_default();
                let has = |name: &str| names.iter().any(|n| n.starts_with(&format!("{name}_work")));
                let place = match (has(name), has(other)) {
                    (_, true) => 1,
                    (true, false) => 0,
                    _ => 2,
                };
                counts[place] += 1;
            }
        }
    }
    for twin in &mut twins {
        twin.go_on();
        twin.0.wait().expect("it ends");
    }
    println!("{flag} {life}: own, other, none: {counts:?}");
    counts
}

#[test]
fn cpu_clock_two_programs_of_one_layout_at_the_same_addresses_keep_their_names() {
    for (flag, life) in [("-no-pie", "3000"), ("-pie", "3000"), ("-no-pie", "30000")] {
        let [own, other, none] = twins_named(flag, life);
        assert_eq!(other, 0, "{flag} {life}");
        assert!(own > 9 * none, "{flag} {life}: {own} {none}");
    }
}

/// Makes passes until the stack of the task is not told of any more, and gives what it ended as.
fn run_until_settled(recording: &mut Recording, tid: u32) -> flametop_stream::Head {
    let changes = |recording: &Recording| recording.model.task(tid).map_or(0, |t| t.changes);
    let (mut before, mut same) = (0, 0);
    // a sleeper that changes without end would be a mistake
    for _ in 0..2000 {
        recording.run(49, 21);
        same = if changes(recording) == before && before > 0 {
            same + 1
        } else {
            0
        };
        before = changes(recording);
        if same == 10 {
            break;
        }
    }
    assert_eq!(same, 10, "{before} changes");
    recording.name_all();
    recording
        .model
        .task(tid)
        .and_then(|t| t.now)
        .expect("a head")
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
        let served = Program(command.stdout(Stdio::null()).spawn().expect("it starts"));
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
        let mut recording = Recording::open(&format!("{}\nhz.cpu=99", target(program.pid())));
        run_until(&mut recording, "a hundred samples", |m| {
            deep_samples(m, program.pid()).len() > 100
        });
        let before = deep_samples(&recording.model, program.pid()).len();
        run_until(&mut recording, "two hundred more", |m| {
            deep_samples(m, program.pid()).len() > before + 200
        });
        recording.name_all();
        let samples = deep_samples(&recording.model, program.pid());
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

#[test]
fn target_of_one_thread_is_that_thread_alone() {
    let program = Program::start("life", &["thread-exec"]);
    let threads = std::fs::read_dir(format!("/proc/{}/task", program.pid())).expect("threads");
    let names = threads
        .flatten()
        .filter_map(|t| t.file_name().into_string().ok());
    let tid = names
        .filter_map(|n| n.parse().ok())
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
    let mut recording = Recording::open_with(&target(program.pid()), &late);
    recording.fill(true);
    std::fs::remove_file(&late).expect("removed");
    let model = &recording.model;
    assert_eq!(model.tasks.len(), THREADS + 1);
    let ends = model.tasks.iter().filter_map(|task| task.now);
    let ends = ends.map(|now| match now.stack {
        Some(stack) => model.stacks[stack as usize].end,
        None => now.why,
    });
    assert_eq!(ends.filter(|end| *end == End::Root).count(), THREADS + 1);
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
    loop {
        std::thread::sleep(Duration::from_millis(50));
        recording.fill(false);
        if recording.model.counter(Counter::CpuWaiting) == 0 {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "some wait for ever");
    }
    let taken = recording.model.counter(Counter::CpuSamples);
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
