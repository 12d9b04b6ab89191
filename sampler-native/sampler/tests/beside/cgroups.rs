//! Control groups of processes in the stream, on the real kernel: run as root.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{model::Recording, program::Program};

/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(60);

/// A group of its own below the root of version 2, removed at the end.
struct Group(PathBuf);

impl Group {
    /// `None`, with the reason on stdout, where there can be none.
    fn new(name: &str) -> Option<Group> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        let of_v2 = mounts.lines().find(|l| l.contains(" - cgroup2 "));
        let Some(point) = of_v2.and_then(|l| l.split(' ').nth(4)) else {
            println!("not run: no cgroup2 file system is mounted");
            return None;
        };
        let group = Path::new(point).join(format!("flametop-test-{}-{name}", std::process::id()));
        match fs::create_dir(&group) {
            Ok(()) => Some(Group(group)),
            Err(e) => {
                println!("not run: {} cannot be made: {e}", group.display());
                None
            }
        }
    }

    fn below(&self, name: &str) -> Group {
        let group = self.0.join(name);
        fs::create_dir(&group).expect("a group below");
        Group(group)
    }

    /// From the root that the stream's paths begin at.
    fn path(&self) -> String {
        let path = self.0.display().to_string();
        path[path.find("/flametop-test-").expect("its name")..].to_owned()
    }

    fn take(&self, program: &Program) {
        fs::write(self.0.join("cgroup.procs"), program.pid().to_string()).expect("it moves");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let begin = Instant::now();
        // What ran there may still be on its way out.
        while fs::remove_dir(&self.0).is_err() && self.0.exists() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn start_in_group(group: &Group, script: &str) -> Program {
    let script = format!("echo 0 >\"$0\"/cgroup.procs && {script}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(&group.0);
    Program::spawn(shell.stdout(Stdio::null()))
}

/// Passes until the process is in a group with this path.
fn until_in(recording: &mut Recording, pid: u32, path: &str) {
    let begin = Instant::now();
    loop {
        recording.fill(true);
        let model = &recording.model;
        let last = model.processes.iter().rposition(|p| p.tgid == pid);
        let group = last.and_then(|id| model.cgroups.get(&(id as u32)));
        if group.is_some_and(|group| group == path) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{group:?} instead of {path}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn process_in_a_group_has_its_path_however_it_is_named() {
    let Some(outer) = Group::new("named") else {
        return;
    };
    let long = "long ".repeat(50);
    let middle = outer.below(&long);
    let inner = middle.below("\u{1b}[2J ë ; (deleted)");
    let program = start_in_group(&inner, "exec sleep 1000");
    let mut recording = Recording::open("target=all");
    let expected = format!("{}/{long}/\u{1b}[2J ë ; (deleted)", outer.path());
    until_in(&mut recording, program.pid(), &expected);
}

#[test]
fn process_that_is_moved_while_it_sleeps_is_told_of_again() {
    let (Some(one), Some(other)) = (Group::new("one"), Group::new("other")) else {
        return;
    };
    let program = start_in_group(&one, "exec sleep 1000");
    let mut recording = Recording::open("target=all");
    until_in(&mut recording, program.pid(), &one.path());
    other.take(&program);
    until_in(&mut recording, program.pid(), &other.path());
}

#[test]
fn process_in_a_group_that_is_gone_keeps_its_path() {
    let Some(group) = Group::new("gone") else {
        return;
    };
    let program = start_in_group(&group, "exec sleep 1000");
    let (pid, path) = (program.pid(), group.path());
    let mut recording = Recording::open("target=all");
    until_in(&mut recording, pid, &path);
    drop(program);
    drop(group);
    recording.run(19, 500);
    until_in(&mut recording, pid, &path);
}

#[test]
fn target_is_a_group_and_all_below_it() {
    let Some(outer) = Group::new("target") else {
        return;
    };
    let inner = outer.below("inner");
    let id = fs::metadata(&outer.0).expect("the group").ino();
    let programs = [&outer, &inner].map(|g| start_in_group(g, "exec sleep 1000"));
    let outside = Program::spawn(Command::new("sleep").arg("1000"));
    let mut recording = Recording::open(&format!("target=cgroup {id} {}", outer.path()));
    for (program, group) in programs.iter().zip([&outer, &inner]) {
        until_in(&mut recording, program.pid(), &group.path());
    }
    let seen = recording.model.processes.iter().map(|p| p.tgid);
    assert!(!seen.into_iter().any(|tgid| tgid == outside.pid()));
}
