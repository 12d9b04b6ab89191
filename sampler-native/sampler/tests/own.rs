//! flametop does not sample itself. A test program of its own, so that no other session's symbolizer is its child.

#[allow(dead_code)]
mod model;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use model::{Model, Recording};

/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(120);

/// The only session of this process until it is dropped: the symbolizer of another would be a child, too.
fn alone() -> (MutexGuard<'static, ()>, Recording) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    wait_for_no_children();
    (alone, Recording::open("target=all"))
}

#[test]
fn own_process_and_its_helpers_are_not_in_the_stream() {
    let (_alone, mut recording) = alone();
    recording.run(19, 300);
    recording.name_all();
    recording.run(19, 800);
    let own = std::process::id();
    let model = &recording.model;
    assert_eq!(model.tasks_of(own).count(), 0);
    assert!(!model.names.is_empty());
    let live = model.tasks.iter().filter(|t| t.gone.is_none());
    let children: Vec<u32> = live
        .map(|t| t.tid)
        .filter(|tid| parent(*tid) == Some(own))
        .collect();
    assert_eq!(children, [0; 0], "helpers are left out once they run");
    assert!(recording.model.own_cpu > 0);
}

#[test]
fn own_usage_its_parts_are_what_flametop_costs() {
    let (_alone, mut recording) = alone();
    recording.run(19, 300);
    recording.name_all();
    let part = |model: &Model, name: &str| {
        let mut parts = model.own_parts.iter();
        parts.find(|(part, _)| part == name).map(|(_, ns)| *ns)
    };
    let (begin, idle) = (Instant::now(), idle_ticks());
    for busy in [
        "ring",
        "prober",
        "symbolizer",
        "other",
        "bpf cpu_stacks",
        "bpf cpu_idle",
    ] {
        // Where other loads leave no CPU idle, that program has nothing to do.
        while part(&recording.model, busy).unwrap_or(0) == 0
            && (busy != "bpf cpu_idle" || idle_ticks() > idle)
        {
            let parts = &recording.model.own_parts;
            assert!(begin.elapsed() < PATIENCE, "{busy} in {parts:?}");
            recording.run(19, 1_000);
        }
    }
    let model = &recording.model;
    assert_eq!(
        part(model, "passes"),
        Some(0),
        "no thread has that name here"
    );
    let sum: u64 = model.own_parts.iter().map(|(_, ns)| ns).sum();
    assert!(sum <= model.own_cpu, "{:?}", model.own_parts);
    let processes = model.resident.iter().map(|(p, _)| p.as_str());
    // Where programs without symbols run, a process looks for their debug files.
    let processes: Vec<&str> = processes.filter(|p| *p != "debuginfod").collect();
    assert_eq!(processes, ["flametop", "prober", "symbolizer"]);
    assert!(model.resident.iter().all(|(_, bytes)| *bytes > 1 << 20));
}

#[test]
fn symbolizer_that_was_killed_its_successor_is_left_out_too() {
    let (_alone, mut recording) = alone();
    recording.run(19, 300);
    let first = symbolizer();
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &first.to_string()])
        .status();
    assert!(killed.expect("kill").success());
    // Its death shows at the next question.
    recording.name_all();
    recording.run(19, 800);
    let second = symbolizer();
    assert_ne!(first, second);
    let live = |pid| {
        let mut tasks = recording.model.tasks.iter();
        tasks.any(|t| t.tid == pid && t.gone.is_none())
    };
    assert!(!live(second));
    assert!(recording.model.own_cpu > 0);
}

#[test]
fn session_that_is_refused_leaves_no_process_behind() {
    let (_alone, recording) = alone();
    assert!(!children().is_empty(), "a session has helpers");
    drop(recording);
    let exe = std::env::current_exe().expect("own path");
    let folder = exe.ancestors().nth(2).expect("target folder");
    let symbolizer = folder.join("flametop-symbolizer");
    let settings = format!("target=pid 4194304\nsymbolizer={}\n", symbolizer.display());
    let refused = flametop_sampler::Session::open(&settings);
    assert!(refused.is_err(), "no process has a number that large");
    wait_for_no_children();
}

/// Waits until all processes that this one has started are reaped.
fn wait_for_no_children() {
    let begin = Instant::now();
    while !children().is_empty() {
        assert!(begin.elapsed() < PATIENCE, "{:?} run on", children());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ticks in which a CPU was idle, of all CPUs.
fn idle_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("proc");
    let fields = stat.lines().next().expect("the sum of all CPUs");
    let idle = fields.split_ascii_whitespace().nth(4);
    idle.and_then(|n| n.parse().ok()).expect("a number")
}

/// The process of the symbolizer.
fn symbolizer() -> u32 {
    // The other helpers have an argument.
    let is_symbolizer = |tid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{tid}/cmdline"));
        line.is_ok_and(|line| line.split_terminator('\0').count() == 1)
    };
    let mut children = children().into_iter();
    children.find(is_symbolizer).expect("a symbolizer")
}

/// The processes that this one has started.
fn children() -> Vec<u32> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").expect("proc");
    let tids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    tids.filter(|tid| parent(*tid) == Some(own)).collect()
}

fn parent(tid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}
