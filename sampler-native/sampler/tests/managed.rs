//! Code made at run time, by real runtimes on the real kernel: run as root. A runtime that is not there is said by name, and its
//! test left out.

#[allow(dead_code)]
mod model;

use std::{
    io::Read,
    os::unix::net::UnixListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use flametop_stream::End;
use model::{Model, Recording};

const PATIENCE: Duration = Duration::from_secs(180);

/// A child process that is killed and reaped at the end of its test, and its map removed.
struct Program(Child);

impl Program {
    /// None, said by name, if there is no such runtime.
    fn start(runtime: &str, arguments: &[&str]) -> Option<Program> {
        let programs = format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"));
        let child = Command::new(runtime)
            .args(arguments)
            .current_dir(programs)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Err(e) = &child {
            eprintln!("skipped, {runtime} does not start: {e}");
        }
        child.ok().map(Program)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn map(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/perf-{}.map", self.pid()))
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|ended| ended.is_none())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(self.map());
        let _ = std::fs::remove_file(format!("/tmp/.java_pid{}", self.pid()));
    }
}

/// Samples until something is so.
fn sample_until(recording: &mut Recording, what: &str, so: impl Fn(&Model) -> bool) {
    let begin = Instant::now();
    loop {
        recording.run(19, 500);
        recording.name_all();
        if so(&recording.model) {
            return;
        }
        if begin.elapsed() > PATIENCE {
            let model = &recording.model;
            let stacks: Vec<_> = sampled(model).collect();
            panic!("never {what}: {stacks:#?}, notices {:?}", model.notices);
        }
    }
}

/// The names and ends of all stacks sampled on a CPU.
fn sampled(model: &Model) -> impl Iterator<Item = (End, Vec<String>)> + '_ {
    let samples = model.tasks.iter().flat_map(|t| &t.samples);
    samples
        .filter_map(|s| s.stack)
        .map(|stack| (model.stacks[stack as usize].end, model.names(stack)))
}

fn has(names: &[String], part: &str) -> bool {
    names.iter().any(|n| n.contains(part))
}

fn whole_chain(model: &Model, outer: &str, inner: &str) -> bool {
    sampled(model).any(|(end, names)| {
        let at = |part: &str| names.iter().position(|n| n.contains(part));
        end == End::Root && matches!((at(outer), at(inner)), (Some(o), Some(i)) if o < i)
    })
}

#[test]
fn jvm_maps_java_with_frame_pointers_is_whole_and_named() {
    let arguments = ["-XX:+PreserveFramePointer", "Busy.java"];
    let Some(program) = Program::start("java", &arguments) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}\njvm.maps=1", program.pid()));
    sample_until(&mut recording, "whole with both names", |model| {
        whole_chain(model, "JavaCalls::call_helper", "Busy.leaf(int)")
    });
    let notices = &recording.model.notices;
    let pid = format!("(pid {}) writes maps", program.pid());
    assert!(has(notices, &pid), "{notices:?}");
}

#[test]
fn jvm_maps_java_without_frame_pointers_says_so_and_shows_no_chain_with_gaps() {
    let Some(program) = Program::start("java", &["-XX:-PreserveFramePointer", "Busy.java"]) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}\njvm.maps=1", program.pid()));
    sample_until(&mut recording, "short with a name", |model| {
        sampled(model).any(|(end, names)| end == End::Jit && has(&names, "Busy.leaf(int)"))
    });
    for (end, names) in sampled(&recording.model).filter(|(end, _)| *end == End::Root) {
        // What C++ code called is main, by the interpreter or compiled: nothing lies between.
        let gap = names
            .windows(2)
            .any(|pair| pair[0].starts_with("StubRoutines") && pair[1].contains("Busy.leaf"));
        assert!(!gap, "{end:?} {names:?}");
    }
}

/// The socket at which a JVM would answer, held by somebody who never does.
fn mute_socket(program: &Program) -> UnixListener {
    // As it starts, a JVM removes what is left of others of its number; its compilers come after that.
    let begin = Instant::now();
    let tasks = format!("/proc/{}/task", program.pid());
    let compiles = || {
        let mut threads = std::fs::read_dir(&tasks).expect("threads").flatten();
        threads.any(|thread| {
            let comm = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            comm.starts_with("C1 Compiler") || comm.starts_with("C2 Compiler")
        })
    };
    while !compiles() {
        assert!(begin.elapsed() < PATIENCE, "the JVM does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    UnixListener::bind(format!("/tmp/.java_pid{}", program.pid())).expect("a socket")
}

#[test]
fn jvm_maps_beside_one_that_never_answers_others_are_named() {
    let arguments = ["-XX:+PreserveFramePointer", "Busy.java"];
    let (Some(mute), Some(program)) = (
        Program::start("java", &arguments),
        Program::start("java", &arguments),
    ) else {
        return;
    };
    let socket = mute_socket(&mute);
    let (mute_pid, pid) = (mute.pid(), program.pid());
    let mut recording = Recording::open(&format!("target=pid {mute_pid},{pid}\njvm.maps=1"));
    let of = |pid: u32, model: &Model, what: &str| {
        let name = format!("(pid {pid}) {what}");
        has(&model.notices, &name)
    };
    sample_until(&mut recording, "named beside", |model| {
        of(pid, model, "writes maps") && whole_chain(model, "JavaCalls", "Busy.leaf(int)")
    });
    sample_until(&mut recording, "told", |model| {
        of(mute_pid, model, "gives no names")
    });
    drop(socket);
}

#[test]
fn end_while_a_jvm_does_not_answer_waits_for_nothing() {
    let Some(mute) = Program::start("java", &["Busy.java"]) else {
        return;
    };
    let socket = mute_socket(&mute);
    let mut recording = Recording::open(&format!("target=pid {}\njvm.maps=1", mute.pid()));
    let asked = Instant::now();
    socket.set_nonblocking(true).expect("it does not wait");
    let connection = loop {
        recording.run(19, 500);
        recording.ask_new_names();
        if let Ok((connection, _)) = socket.accept() {
            break connection;
        }
        assert!(
            asked.elapsed() < PATIENCE,
            "it is never asked: {:?}",
            recording.model.notices
        );
    };
    drop(recording);
    // Else the answer would be waited for half a minute.
    let mut request = Vec::new();
    (&connection)
        .take(1 << 10)
        .read_to_end(&mut request)
        .expect("its end is closed");
    assert!(request.starts_with(b"1\0jcmd"), "{request:?}");
}

#[test]
fn jvm_maps_java_that_takes_no_requests_is_left_alone() {
    let arguments = ["-XX:+DisableAttachMechanism", "Busy.java"];
    let Some(mut program) = Program::start("java", &arguments) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}\njvm.maps=1", program.pid()));
    sample_until(&mut recording, "told", |model| {
        has(&model.notices, "DisableAttachMechanism")
    });
    assert!(program.lives());
    assert!(!program.map().exists());
}

#[test]
fn map_of_node_names_its_functions() {
    let Some(program) = Program::start("node", &["--perf-basic-prof", "busy.js"]) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
    sample_until(&mut recording, "whole with a name", |model| {
        whole_chain(model, "node::Start", "leaf ")
    });
}

#[test]
fn map_of_python_names_its_functions_and_its_trampolines_are_walked() {
    let probe = "import sys; sys.exit(not sys.is_stack_trampoline_active())";
    let able = |python: &&str| {
        let status = Command::new(python)
            .args(["-X", "perf", "-c", probe])
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|s| s.success())
    };
    let Some(python) = ["python3", "python3.13", "python3.12"]
        .into_iter()
        .find(able)
    else {
        eprintln!("skipped, no Python 3.12 or newer here that knows -X perf");
        return;
    };
    let Some(program) = Program::start(python, &["-X", "perf", "busy.py"]) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
    sample_until(&mut recording, "whole with both names", |model| {
        whole_chain(model, "py::middle", "py::leaf")
            && whole_chain(model, "py::<module>", "py::leaf")
    });
}
