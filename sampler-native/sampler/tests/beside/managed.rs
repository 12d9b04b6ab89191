//! Code made at run time, by real runtimes on the real kernel: run as root. A runtime that is not there is said by name, and its
//! test left out.

mod sleepers;

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    model::{Model, Recording, Task},
    program::{Program, yielding},
};
use flametop_stream::{End, ModuleKind};

const PATIENCE: Duration = Duration::from_secs(180);

/// None, said by name, if there is no such runtime.
fn start(runtime: &str, arguments: &[&str]) -> Option<Program> {
    let programs = format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(runtime);
    start_runtime(command.current_dir(programs).args(arguments))
}

/// None, said by name, if there is no such runtime.
fn start_runtime(command: &mut Command) -> Option<Program> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = yielding(command.stderr(Stdio::null())).spawn();
    if let Err(e) = &child {
        eprintln!("skipped, {:?} does not start: {e}", command.get_program());
    }
    child.ok().map(Program)
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

/// A JVM, and the root that its files lie in.
struct Java {
    root: PathBuf,
    home: PathBuf,
}

impl fmt::Display for Java {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.root.display(), self.home.display())
    }
}

impl Java {
    /// One of its programs, which finds the test programs where it runs.
    fn command(&self, tool: &str) -> Command {
        let tool = self.home.join("bin").join(tool);
        let programs = format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"));
        if self.root == Path::new("/") {
            let mut command = Command::new(tool);
            command.current_dir(programs);
            return command;
        }
        let folder = "/tmp/flametop-programs";
        let inner = self.root.join(folder.trim_start_matches('/'));
        std::fs::create_dir_all(&inner).expect("a folder in the root");
        for program in ["Busy.java", "Holders.java", "Sleepers.java", "Virtual.java"] {
            let from = Path::new(&programs).join(program);
            std::fs::copy(from, inner.join(program)).expect("a program in the root");
        }
        let mut command = Command::new("chroot");
        command.arg(&self.root);
        command.args(["sh", "-c", "cd \"$0\" && exec \"$@\"", folder]);
        command.arg(tool);
        command
    }

    /// Compiles one of the programs. Without it each start of the program would start the compiler too, interpreted or all of it
    /// compiled, if the JVM's options say so.
    fn compile(&self, program: &str) -> Classes {
        let folder = format!("/tmp/flametop-classes-{}", std::process::id());
        let classes = Classes {
            outer: self.root.join(folder.trim_start_matches('/')),
            folder,
        };
        let mut javac = self.command("javac");
        let done = javac.args(["-d", &classes.folder, program]).status();
        assert!(done.expect("javac").success(), "{self}: {program}");
        classes
    }
}

/// Classes that were compiled, as the JVM names their folder; removed at the end.
struct Classes {
    folder: String,
    outer: PathBuf,
}

impl Drop for Classes {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.outer);
    }
}

/// Every JVM from 11 on that is there, and in the roots of `setup/jdks`, if the environment names their folder: 8 runs no sources.
fn javas() -> Vec<Java> {
    let folders = |of: &Path| {
        let folders = std::fs::read_dir(of).into_iter().flatten().flatten();
        let folders = folders.map(|folder| folder.path());
        folders
            .filter(|path| !path.is_symlink())
            .collect::<Vec<_>>()
    };
    let mut roots = vec![PathBuf::from("/")];
    if let Some(more) = std::env::var_os("FLAMETOP_JDKS") {
        roots.extend(folders(Path::new(&more)));
    }
    let mut javas = Vec::new();
    for root in roots {
        for home in folders(&root.join("usr/lib/jvm")) {
            if home.join("bin/javac").exists() {
                let home = home.strip_prefix(&root).expect("it lies in it");
                let home = Path::new("/").join(home);
                let root = root.clone();
                javas.push(Java { root, home });
            }
        }
    }
    javas.retain(|java| version(java) >= 11);
    assert!(!javas.is_empty(), "there is no JDK below /usr/lib/jvm");
    javas.sort_by_key(version);
    javas
}

/// Whether the functions of the program `Busy` that are in a stack, the outermost first, called one another so.
fn is_busy_chain(names: &[String]) -> bool {
    let busy: Vec<&str> = names
        .iter()
        .filter_map(|n| n.strip_prefix("Busy."))
        .collect();
    match busy[..] {
        ["main"] | ["main", "middle"] => true,
        ["main", "middle", ref leaves @ ..] => {
            leaves.len() <= 6 && leaves.iter().all(|n| *n == "leaf")
        }
        _ => false,
    }
}

#[test]
fn java_unprepared_is_whole_and_named_and_never_wrong() {
    let options: [&[&str]; 5] = [
        &["-XX:-PreserveFramePointer"],
        &["-XX:+PreserveFramePointer"],
        &["-XX:-Inline"],
        &["-XX:TieredStopAtLevel=1"],
        &["-Xint"],
    ];
    for java in javas() {
        for options in options {
            let arguments = [options, &["Busy.java"]].concat();
            let Some(program) = start_runtime(java.command("java").args(&arguments)) else {
                continue;
            };
            let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
            sample_until(&mut recording, "in its loop", |model| {
                whole_chain(model, "Busy.main", "Busy.middle")
            });
            let before = sampled(&recording.model).count();
            // A machine with other work gives the program little of its CPUs.
            let begin = Instant::now();
            while sampled(&recording.model).count() <= before + 200 {
                assert!(begin.elapsed() < PATIENCE, "hardly any samples of {java}");
                recording.run(19, 3000);
            }
            recording.name_all();
            let stacks: Vec<_> = sampled(&recording.model).skip(before).collect();
            let of_main = |(_, names): &&(End, Vec<String>)| {
                // Other threads of the JVM, one that ends among them.
                !["Compiler", "GC", "thread_native_entry", "do_exit"]
                    .iter()
                    .any(|other| has(names, other))
            };
            let stacks: Vec<_> = stacks.iter().filter(of_main).collect();
            let whole: Vec<_> = stacks.iter().filter(|(end, _)| *end == End::Root).collect();
            let wrong: Vec<_> = whole.iter().filter(|(_, n)| !is_busy_chain(n)).collect();
            let told = format!("{java} {options:?}: {} of {}", whole.len(), stacks.len());
            assert!(wrong.is_empty(), "{told} {wrong:#?}");
            let short: Vec<_> = stacks.iter().filter(|(end, _)| *end != End::Root).collect();
            assert!(
                whole.len() * 20 >= stacks.len() * 19 && whole.len() > 50,
                "{told} {short:#?}"
            );
            check_lines_of_busy(&mut recording, &told);
        }
    }
}

/// Where functions of the program `Busy` call one another, and all lines of each.
const BUSY: [(&str, u32, RangeInclusive<u32>); 3] = [
    ("main", 22, 21..=22),
    ("middle", 14, 14..=14),
    ("leaf", 10, 6..=10),
];

/// Callers are in the line of their call, and whatever runs in one of its function's own.
fn check_lines_of_busy(recording: &mut Recording, told: &str) {
    recording.place_all();
    let model = &recording.model;
    // While places come, more samples do, whose frames have neither names nor places yet.
    let known = |stack: &u32| {
        let mut frames = model.stacks[*stack as usize].frames.iter();
        frames.all(|frame| model.names.contains_key(frame) && model.places.contains_key(frame))
    };
    let samples = model.tasks.iter().flat_map(|task| &task.samples);
    let whole = samples.filter(|sample| sample.why == End::Root);
    let stacks: BTreeSet<u32> = whole.filter_map(|s| s.stack).filter(known).collect();
    let (mut calls, mut leaves, mut unknown) = (0, 0, 0);
    for stack in stacks {
        let frames = sources(model, stack);
        // Helpers of the JVM may be called anywhere.
        let last = frames
            .iter()
            .rposition(|(name, _)| name.starts_with("Busy."));
        for (index, (name, source)) in frames.iter().enumerate() {
            let own = name.strip_prefix("Busy.").unwrap_or_default();
            let Some((_, call, own)) = BUSY.iter().find(|(name, ..)| *name == own) else {
                continue;
            };
            let (file, line) = source.rsplit_once(':').expect("a line");
            let line: u32 = line.parse().expect("a number");
            assert_eq!(file, "Busy.java", "{told} {frames:?}");
            if Some(index) < last {
                assert_eq!(line, *call, "{told} {frames:?}");
                calls += 1;
            } else if line == 0 {
                unknown += 1;
            } else {
                assert!(own.contains(&line), "{told} {frames:?}");
                leaves += 1;
            }
        }
    }
    assert!(
        calls > 2 && leaves > 1 && leaves > unknown,
        "{told}: {calls} calls, {leaves} leaves, {unknown} unknown"
    );
}

/// The functions of a stack that runtimes named, the outermost first, and their files and lines as they were asked for.
fn sources(model: &Model, stack: u32) -> Vec<(String, String)> {
    let frames = model.stacks[stack as usize].frames.iter();
    let of_runtime = frames.filter(|frame| {
        let (module, offset, _) = model.frames[**frame as usize];
        model.modules[module as usize].0 == ModuleKind::Jit && offset >> 63 == 1
    });
    let source = |frame: &u32| {
        let name = model.names[frame].1.clone();
        let (calls, missing) = &model.places[frame];
        let told = calls.first().map(|call| {
            let source = call.strip_prefix(&name);
            source.expect("its own name").trim().to_owned()
        });
        (name, told.unwrap_or_else(|| missing.clone()))
    };
    of_runtime.map(source).collect()
}

/// A method's name without what makes a hidden class another one in each run. Hidden frames have none.
fn visible(name: &str) -> Option<String> {
    let hidden = ["LambdaForm$", "$Holder."]
        .iter()
        .any(|part| name.contains(part));
    let method = &name[name.rfind('.').unwrap_or(0)..];
    let lambda = name
        .find("$$Lambda")
        .map(|at| format!("{}$$Lambda{method}", &name[..at]));
    (!hidden).then(|| lambda.unwrap_or_else(|| name.to_owned()))
}

/// The number of a JDK: 17, 25.
fn version(java: &Java) -> u32 {
    let told = java
        .command("java")
        .arg("-XshowSettings:properties")
        .arg("-version")
        .output();
    let told = String::from_utf8_lossy(&told.expect("java").stderr).into_owned();
    let number = told.split("java.specification.version = ").nth(1);
    let number = number.and_then(|text| text.lines().next());
    let number = number.expect("a version").trim_start_matches("1.");
    number.parse().expect("a version")
}

#[test]
fn java_virtual_threads_on_a_cpu_are_whole_or_say_that_their_callers_are_elsewhere() {
    // Frames of the program, in the order of their calls.
    let rank = |name: &str| {
        let own = name.strip_prefix("Virtual.")?;
        let order = ["lambda$", "outer", "deep", "inner", "leaf"];
        order.iter().position(|begin| own.starts_with(begin))
    };
    for java in javas() {
        if version(&java) < 21 {
            eprintln!("skipped, {java} has no virtual threads");
            continue;
        }
        for options in [&["-XX:+TieredCompilation"][..], &["-Xint"]] {
            let carriers = ["-Djdk.virtualThreadScheduler.parallelism=3", "Virtual.java"];
            let arguments = [options, &carriers].concat();
            let Some(program) = start_runtime(java.command("java").args(&arguments)) else {
                continue;
            };
            let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
            let of_program = |model: &Model| -> Vec<(End, Vec<String>)> {
                let stacks = sampled(model);
                let inner = |names: &[String]| has(names, "Virtual.inner");
                stacks.filter(|(_, names)| inner(names)).collect()
            };
            sample_until(&mut recording, "in all three", |model| {
                let stacks = of_program(model);
                let whole = stacks.iter().filter(|(end, _)| *end == End::Root);
                whole.count() > 20 && stacks.len() > 100
            });
            recording.run(19, 3000);
            recording.name_all();
            // All of them: once the JVM has moved the three threads' frames away, their stacks may be without callers for seconds.
            let stacks = of_program(&recording.model);
            let told = format!("{java} {options:?}");
            let (mut whole, mut elsewhere, mut short) = (0, 0, Vec::new());
            for (end, names) in &stacks {
                let own: Vec<usize> = names.iter().filter_map(|name| rank(name)).collect();
                let in_order = |pair: &[usize]| pair[0] < pair[1] || pair == [2, 2];
                assert!(own.windows(2).all(in_order), "{told} {names:#?}");
                match *end {
                    End::Root => {
                        let outer = [
                            "ForkJoinWorkerThread.run",
                            "VirtualThread.run",
                            "Virtual.outer",
                        ];
                        let found =
                            |part: &&str| names.iter().position(|name| name.ends_with(part));
                        let places: Vec<_> = outer.iter().map(found).collect();
                        assert!(
                            places.is_sorted() && places[0].is_some(),
                            "{told} {names:#?}"
                        );
                        whole += 1;
                    }
                    End::OtherStack => elsewhere += 1,
                    _ => short.push((end, names)),
                }
            }
            let said = format!(
                "{told}: {whole} whole, {elsewhere} elsewhere, {}",
                short.len()
            );
            assert!(short.len() * 20 <= stacks.len(), "{said} {short:#?}");
            assert!(whole > 20 && elsewhere > 10, "{said}");
        }
    }
}

/// The methods of a stack, the outermost first, and where each is in the source.
fn java_frames(model: &Model, stack: u32) -> Vec<(String, String)> {
    let frames = sources(model, stack).into_iter();
    frames
        .filter(|(name, _)| name.contains('.') && !name.contains(' '))
        .filter_map(|(name, source)| Some((visible(&name)?, line_of(&source))))
        .collect()
}

/// A file and a line; empty: there is no line, as of native methods.
fn line_of(source: &str) -> String {
    let line = source.rsplit_once(':').map_or("", |(_, line)| line);
    match line.parse() {
        Ok(1u32..) => source.to_owned(),
        _ => String::new(),
    }
}

#[test]
fn map_of_node_names_its_functions() {
    // V8 writes a log beside the map, by default into the folder that it is started in, which is that of the sources.
    let arguments = [
        "--perf-basic-prof",
        "--no-logfile-per-isolate",
        "--logfile=/dev/null",
        "busy.js",
    ];
    let Some(program) = start("node", &arguments) else {
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
    let Some(program) = start(python, &["-X", "perf", "busy.py"]) else {
        return;
    };
    let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
    sample_until(&mut recording, "whole with both names", |model| {
        whole_chain(model, "py::middle", "py::leaf")
            && whole_chain(model, "py::<module>", "py::leaf")
    });
}
