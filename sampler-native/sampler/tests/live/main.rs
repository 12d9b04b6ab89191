//! The pipeline on the real kernel: run as root. Programs are compiled with the system's C compiler, without frame pointers.

#[allow(dead_code)]
#[path = "../model/mod.rs"]
mod model;
#[allow(dead_code)]
#[path = "../program/mod.rs"]
mod program;

mod astray;
mod deep;
mod events;
mod jumps;
mod probes;
mod tasks;
mod turns;
mod wakes;
mod whole;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use flametop_sampler::Session;
use flametop_stream::{Counter, End, NameSource, Reader, State, text};
use model::{Model, Recording, Task};
use program::{Program, yielding};

/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(120);

impl Program {
    fn start(name: &str, args: &[&str]) -> Program {
        Program::of(Command::new(compiled(name)).args(args))
    }

    /// It has come to what it does: all of its threads sleep, or the first one was on a CPU for longer than any start takes.
    fn of(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
        let program = Program::spawn(yielding(command));
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
}

fn compiled(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
        let (tests, bench) = ("tests/programs", "../../bench/programs");
        let kernel = "../kernel/tests/programs";
        let programs = [
            (tests, "astray"),
            (tests, "chain"),
            (tests, "jumps"),
            (tests, "life"),
            (tests, "wakes"),
            (kernel, "events"),
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

/// Makes passes until something is so.
fn run_until(recording: &mut Recording, what: &str, so: impl Fn(&Model) -> bool) {
    let begin = Instant::now();
    while !so(&recording.model) {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        recording.run(19, 200);
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
