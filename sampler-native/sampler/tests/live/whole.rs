//! Stacks of programs, asleep and busy, from their start to the leaf, by name.

use super::*;
use std::{fs::Permissions, os::unix::fs::PermissionsExt};

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
fn pass_program_that_only_root_may_read_has_its_names_with_its_symbols_and_with_a_debug_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("for-root-alone");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join(".debug")).expect("folders");
    let run = |program: &str, arguments: &[&Path]| {
        let status = Command::new(program).args(arguments).status();
        assert!(status.expect(program).success());
    };
    let closed = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("its mode");
    };
    let (whole, stripped) = (folder.join("whole"), folder.join("stripped"));
    let debug = folder.join(".debug/stripped.debug");
    std::fs::copy(compiled("chain"), &whole).expect("a copy");
    run("objcopy", &[Path::new("--only-keep-debug"), &whole, &debug]);
    run("strip", &[Path::new("-o"), &stripped, &whole]);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run("objcopy", &[Path::new(&link), &stripped]);
    for (path, mode) in [
        (&whole, 0o700),
        (&stripped, 0o700),
        (&debug, 0o600),
        (&folder, 0o700),
    ] {
        closed(path, mode);
    }
    for path in [&whole, &stripped] {
        let program = Program::of(Command::new(path).arg("sleep"));
        let mut recording = Recording::open(&target(program.pid()));
        recording.run(19, 500);
        recording.name_all();
        recording.place_all();
        let model = &recording.model;
        let now = model.task(program.pid()).expect("the task").now;
        let stack = now.expect("a head").stack.expect("a stack");
        assert_eq!(from_main(model, stack)[..11], chain(), "{}", path.display());
        let frames = &model.stacks[stack as usize].frames;
        let lines = frames.iter().filter(|frame| {
            let (calls, _) = &model.places[*frame];
            calls.iter().any(|call| call.contains("/chain.c:"))
        });
        assert_eq!(lines.count(), 11, "{}", path.display());
    }
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
