//! What tests of interpreted languages have in common.

use std::{
    fmt,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use flametop_stream::{End, ModuleKind};

use crate::model::{Model, Recording};

pub const PATIENCE: Duration = Duration::from_secs(120);
/// Functions that are copied of a thread that sleeps.
pub const COPIED: usize = 128;

/// A child process that is killed and reaped at the end of its test.
pub struct Program(Child);

impl Program {
    pub fn start(interpreter: &Path, arguments: &[&str]) -> Program {
        let programs = format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"));
        let child = Command::new(interpreter)
            .args(arguments)
            .current_dir(programs)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Program(child.expect("it was there"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the samples of a program `tree` are.
#[derive(Default)]
pub struct Shares {
    pub samples: usize,
    /// Without functions.
    pub bare: usize,
    pub whole: usize,
    /// Their functions cannot have called one another.
    pub wrong: usize,
}

impl Shares {
    /// Prints the shares, as `bench/managed` looks for them.
    pub fn print(&self, interpreter: &Path) {
        println!("tree {}: {self}", interpreter.display());
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize| 100.0 * part as f64 / self.samples.max(1) as f64;
        let named = share(self.samples - self.bare);
        write!(
            f,
            "{} samples, {named:.1} % with functions, {:.1} % whole, {:.2} % wrong",
            self.samples,
            share(self.whole),
            share(self.wrong)
        )
    }
}

/// Tells `bench/managed` of threads that sleep, all of whose functions are as they should be.
pub fn print_sleepers(interpreter: &Path, threads: usize, functions: usize) {
    println!(
        "sleepers {}: {threads} threads, all {functions} functions as they should be",
        interpreter.display()
    );
}

/// Stacks of all samples of the first thread of a process.
fn sampled(model: &Model, pid: u32) -> Vec<u32> {
    let samples = model.task(pid).map(|task| &task.samples);
    samples
        .into_iter()
        .flatten()
        .filter_map(|s| s.stack)
        .collect()
}

/// Records a process that runs a program `tree`, and waits until its functions are known. `functions`: those of a stack.
pub fn record_tree(
    interpreter: &Path,
    pid: u32,
    functions: impl Fn(&Model, u32) -> Option<Vec<String>>,
) -> Recording {
    let mut recording = Recording::open(&format!("target=pid {pid}\nhz.cpu=499"));
    let begin = Instant::now();
    loop {
        recording.run(19, 500);
        recording.name_all();
        let model = &recording.model;
        let last = sampled(model, pid).last().copied();
        let found = last.and_then(|stack| functions(model, stack));
        if found.is_some_and(|found| found.len() > 2) {
            return recording;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "{interpreter:?} {:#?}",
            last.map(|s| model.names(s))
        );
    }
}

/// Stacks of six more seconds of the first thread of a process, all of whose frames have names.
pub fn more_stacks(recording: &mut Recording, pid: u32) -> Vec<u32> {
    let before = sampled(&recording.model, pid).len();
    recording.run(19, 6000);
    recording.name_all();
    sampled(&recording.model, pid).split_off(before)
}

/// The frames of functions of a language in a stack, the innermost first.
pub fn frames_of(model: &Model, stack: u32, language: ModuleKind) -> Vec<u32> {
    let frames = model.stacks[stack as usize].frames.iter().rev();
    let of_language = frames.filter(|frame| {
        let (module, _, _) = model.frames[**frame as usize];
        model.modules[module as usize].0 == language
    });
    of_language.copied().collect()
}

/// Whether the functions of a program `tree`, the innermost first, can have called one another; those of a whole stack from the first on.
/// `main`: the code that calls the first one; none: they begin anywhere.
pub fn is_path(functions: &[String], end: End, main: Option<&str>) -> bool {
    let is_of_tree = |name: &&String| name.bytes().all(|b| b"fabc".contains(&b));
    let of_tree: Vec<&String> = functions.iter().filter(is_of_tree).collect();
    let outermost = of_tree.last().is_none_or(|name| name.as_str() == "f");
    let begins = outermost && functions.last().map(String::as_str) == main;
    (begins || end != End::Root || main.is_none())
        && of_tree
            .windows(2)
            .all(|pair| pair[0].starts_with(pair[1].as_str()) && pair[0].len() == pair[1].len() + 1)
}
