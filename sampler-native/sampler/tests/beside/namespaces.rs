//! Sampling in a pid namespace with its own `/proc`, as in a container: run as root. The tests run this program again, in
//! there, with the test of the inside that they name.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{model::Recording, program::Program};
use flametop_sampler::Session;
use flametop_stream::{Counter, State};

const NEW_NAMESPACE: [&str; 5] = ["unshare", "--fork", "--kill-child", "--pid", "--mount-proc"];
/// The lowest number that a process of the host has: those of a young namespace are all below.
const MANY: u32 = 300;

/// Runs a test of the inside in a pid namespace that is so many levels below this one.
fn inside(levels: usize, test: &str) {
    // So that the numbers of the host are none of the namespace.
    while Command::new("true").spawn().is_ok_and(|mut child| {
        let _ = child.wait();
        child.id() <= MANY
    }) {}
    let mut words = NEW_NAMESPACE.repeat(levels);
    let exe = std::env::current_exe().expect("own path");
    words.push(exe.to_str().expect("UTF-8"));
    let test = format!("namespaces::{test}");
    words.extend(["--exact", &test, "--ignored", "--nocapture"]);
    let run = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .output()
        .expect("unshare runs");
    let said = format!(
        "{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(run.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn tasks_of_a_container_are_sampled_by_its_numbers() {
    inside(1, "sees_its_tasks_by_their_numbers_here");
}

#[test]
fn tasks_of_a_container_in_a_container_are_sampled_by_its_numbers() {
    inside(2, "sees_its_tasks_by_their_numbers_here");
}

#[test]
fn tasks_of_a_container_below_have_numbers_here() {
    inside(1, "sees_tasks_of_a_namespace_below");
}

#[test]
fn ends_of_tasks_of_a_container_are_told_with_their_exact_sums() {
    inside(1, "sees_exact_ends");
}

#[test]
fn proc_of_another_pid_namespace_is_refused_in_words() {
    let exe = std::env::current_exe().expect("own path");
    let run = Command::new("unshare")
        .args(["--fork", "--kill-child", "--pid"])
        .arg(exe)
        .args([
            "--exact",
            "namespaces::is_refused",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .expect("unshare runs");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

fn compiled(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("namespace_{name}"));
    // Of this process: another test may run what it compiled.
    let own = program.with_extension(std::process::id().to_string());
    let status = Command::new("cc")
        .args(["-g", "-O2", "-fomit-frame-pointer", "-pthread"])
        .args(["-fno-optimize-sibling-calls", "-o"])
        .arg(&own)
        .arg(format!(
            "{}/tests/programs/{name}.c",
            env!("CARGO_MANIFEST_DIR")
        ))
        .status()
        .expect("a C compiler");
    assert!(status.success());
    std::fs::rename(&own, &program).expect("it has its name");
    program
}

fn start(command: &mut Command) -> Program {
    Program::spawn(command.stdout(Stdio::null()))
}

/// Samples until `done`; a test that waits for longer than two minutes fails.
fn sample_until(recording: &mut Recording, done: impl Fn(&Recording) -> bool) {
    for _ in 0..2_400 {
        recording.fill(true);
        recording.ask_new_names();
        if done(recording) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it did not come to pass: {:?}", recording.model.notices);
}

/// Whether a stack has these functions in a row.
fn has(recording: &Recording, stack: Option<u32>, functions: &[&str]) -> bool {
    let names = stack.map(|stack| recording.model.names(stack));
    names.is_some_and(|names| {
        names
            .windows(functions.len())
            .any(|window| window == functions)
    })
}

const CHAIN: [&str; 4] = ["main", "chain_1", "chain_2", "chain_3"];

/// Whether the sleeper and the spinner of the chain are known by these numbers, with their user frames.
fn have_user_frames(recording: &Recording, sleeper: u32, spinner: u32) -> bool {
    let model = &recording.model;
    let asleep = model.task(sleeper).and_then(|task| task.now);
    let spins = model.task(spinner).map(|task| &task.samples);
    asleep.is_some_and(|h| h.state == State::Sleep && has(recording, h.stack, &CHAIN))
        && spins.is_some_and(|all| all.iter().any(|h| has(recording, h.stack, &CHAIN)))
}

#[test]
#[ignore = "run by tests that put it into a pid namespace"]
fn sees_its_tasks_by_their_numbers_here() {
    let program = compiled("chain");
    let sleeper = start(Command::new(&program).arg("sleep"));
    let spinner = start(Command::new(&program).arg("spin"));
    let mut recording = Recording::open("target=all");
    sample_until(&mut recording, |recording| {
        have_user_frames(recording, sleeper.0.id(), spinner.0.id())
    });
    let own = std::process::id();
    for process in &recording.model.processes {
        assert_ne!(process.tgid, own, "it samples itself");
        assert!(
            (1..MANY).contains(&process.tgid),
            "{} {} is of the host",
            process.tgid,
            process.comm
        );
    }
    let notices = &recording.model.notices;
    assert!(
        notices.iter().any(|n| n.contains("in a container")),
        "{notices:?}"
    );
    assert!(recording.model.counter(Counter::CpuPlaced) > 0);
    drop(recording);

    // A target is named by its number here, too.
    let mut one = Recording::open(&format!("target=pid {}", spinner.0.id()));
    sample_until(&mut one, |one| {
        let task = one.model.task(spinner.0.id());
        task.is_some_and(|t| t.samples.iter().any(|h| has(one, h.stack, &CHAIN)))
    });
    assert_eq!(one.model.processes.len(), 1);
}

#[test]
#[ignore = "run by a test that puts it into a pid namespace"]
fn sees_tasks_of_a_namespace_below() {
    let program = compiled("chain");
    let mut below = Command::new(NEW_NAMESPACE[0]);
    below.args(&NEW_NAMESPACE[1..]).arg(&program).arg("sleep");
    let below = start(&mut below);
    let children = format!("/proc/{0}/task/{0}/children", below.0.id());
    let child = loop {
        let text = std::fs::read_to_string(&children).expect("children");
        if let Some(child) = text.split(' ').next().and_then(|c| c.parse::<u32>().ok()) {
            break child;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut recording = Recording::open("target=all");
    sample_until(&mut recording, |recording| {
        let asleep = recording.model.task(child).and_then(|task| task.now);
        asleep.is_some_and(|h| has(recording, h.stack, &CHAIN))
    });
}

#[test]
#[ignore = "run by a test that puts it into a pid namespace"]
fn sees_exact_ends() {
    let mut recording = Recording::open("target=all");
    recording.fill(true);
    let program = compiled("chain");
    let spinner = start(Command::new(&program).arg("spin"));
    let pid = spinner.0.id();
    sample_until(&mut recording, |recording| {
        recording
            .model
            .task(pid)
            .is_some_and(|t| !t.samples.is_empty())
    });
    drop(spinner);
    sample_until(&mut recording, |recording| {
        let mut tasks = recording.model.tasks.iter().filter(|t| t.tid == pid);
        tasks.any(|t| t.gone.is_some_and(|gone| gone.exact && gone.run > 0))
    });
}

#[test]
#[ignore = "run by a test that puts it into a pid namespace without a /proc of its own"]
fn is_refused() {
    let error = Session::open("target=all").err().expect("refused");
    assert_eq!(error.code, 3);
    assert!(
        error.message.contains("/proc") && error.message.contains("mount -t proc"),
        "{error}"
    );
}
