//! What tests of interpreted languages have in common.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use flametop_stream::{End, ModuleKind};

use crate::{
    model::{Model, Recording},
    program::{Program, yielding},
};

pub const PATIENCE: Duration = Duration::from_secs(120);
/// Functions that are copied of a thread that sleeps.
const COPIED: usize = 128;

/// Starts one of the programs of tests.
pub fn start(interpreter: &Path, arguments: &[&str]) -> Program {
    let programs = format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(interpreter);
    command.args(arguments).current_dir(programs);
    Program::spawn(yielding(command.stdin(Stdio::null()).stdout(Stdio::null())))
}

/// Those of these interpreters that are there and end well with the arguments `probe`; and of those that a variable of the environment
/// names, with `:` between them. If there is none, says what is missing.
pub fn installed(
    usual: impl IntoIterator<Item = PathBuf>,
    variable: &str,
    probe: [&str; 2],
    missing: &str,
) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = usual.into_iter().collect();
    let named = std::env::var(variable).unwrap_or_default();
    all.extend(std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()));
    all.retain(|interpreter| {
        let status = Command::new(interpreter).args(probe).status();
        status.is_ok_and(|status| status.success())
    });
    if all.is_empty() {
        eprintln!("skipped, no {missing} is here");
    }
    all
}

/// Asks again until there is an answer. `what`: what never comes, if none does.
pub fn patiently<T>(what: impl fmt::Debug, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "{what:?} never comes");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What a program of this interpreter writes into a file, once `read` finds all of it there. Removes the file.
pub fn told<T>(interpreter: &Path, file: &Path, read: impl Fn(&str) -> Option<T>) -> T {
    let told = patiently((interpreter, file), || {
        read(&fs::read_to_string(file).ok()?)
    });
    let _ = fs::remove_file(file);
    told
}

/// So many lines of a text, each of which has the number of a thread, and its functions after a tab.
pub fn by_thread(text: &str, threads: usize) -> Option<BTreeMap<u32, String>> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let told = lines.map(|(tid, names)| (tid.parse().expect("a number"), names.to_owned()));
    let told: BTreeMap<u32, String> = told.collect();
    (told.len() >= threads).then_some(told)
}

/// The stack of a thread that sleeps.
pub fn stack_of(model: &Model, tid: u32) -> u32 {
    let stack = model.task(tid).and_then(|task| task.now?.stack);
    stack.unwrap_or_else(|| panic!("no stack of {tid}"))
}

/// Of these functions, with tabs between them, those that are copied of a thread that sleeps, and how the stack ends.
pub fn copied(names: &str) -> (Vec<&str>, End) {
    let mut names: Vec<&str> = names.split('\t').collect();
    let end = match names.len() < COPIED {
        true => End::Root,
        false => End::Limit,
    };
    names.truncate(COPIED);
    (names, end)
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

/// Samples until there are so many more stacks of the first thread of a process.
pub fn sample_more(recording: &mut Recording, pid: u32, stacks: usize) {
    let begin = Instant::now();
    let enough = sampled(&recording.model, pid).len() + stacks;
    let patience = PATIENCE * stacks.div_ceil(1000) as u32;
    while sampled(&recording.model, pid).len() < enough {
        assert!(begin.elapsed() < patience, "hardly any samples of {pid}");
        recording.run(19, 500);
    }
}

/// A thousand more stacks, at least, of the first thread of a process, all of whose frames have names.
pub fn more_stacks(recording: &mut Recording, pid: u32) -> Vec<u32> {
    let before = sampled(&recording.model, pid).len();
    sample_more(recording, pid, 1000);
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
