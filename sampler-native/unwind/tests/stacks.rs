//! Real stacks of real programs, compiled here, stopped with ptrace.

#[path = "stopped/mod.rs"]
mod stopped;

use flametop_unwind::{
    End, Frame, MAX_FRAMES, ModuleKind, Modules, Outcome, Prober, ProcessFolder, ProcessMaps,
    RuntimeKnown, Seen, Sign, Unwinder, WantedMapping,
};
use nix::sys::signal::Signal;
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use stopped::{Stopped, threads};

const LIMIT: usize = 64 << 20;
const OMIT: &[&str] = &["gcc", "-O2", "-fomit-frame-pointer"];
const CHAIN: [&str; 11] = [
    "f9", "f8", "f7", "f6", "f5", "f4", "f3", "f2", "f1", "f0", "main",
];

/// A program of `tests/programs`, running; killed when dropped.
struct Program {
    path: PathBuf,
    child: Child,
    symbols: BTreeMap<u64, String>,
}

impl Program {
    /// Compiles `source` by `compiler` (program and options) as `name`.
    fn compile(name: &str, compiler: &[&str], source: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/programs")
            .join(source);
        let status = Command::new(compiler[0])
            .arg(&source)
            .args(&compiler[1..])
            .arg("-o")
            .arg(&path)
            .status();
        assert!(
            status.expect("the compiler runs").success(),
            "{compiler:?} compiles {source:?}"
        );
        path
    }

    /// Builds the Go program of `tests/programs/goroutines`.
    fn compile_go(name: &str, options: &[&str]) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let build = |flags: &str| {
            Command::new("go")
                .args(["build", "-trimpath", flags, "-o"])
                .arg(&path)
                .args(options)
                .env("CGO_ENABLED", "0")
                .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go"))
                .current_dir(
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/goroutines"),
                )
                .output()
                .expect("go runs")
        };
        // Older than 1.23 knows no such flag, and links what the program asks for.
        let built =
            build("-ldflags=-checklinkname=0").status.success() || build("-v").status.success();
        assert!(built, "go builds {name}");
        path
    }

    /// Runs it: `how` its goroutine spends its time.
    fn run_go(path: PathBuf, how: &str) -> Program {
        let mut command = Command::new(path);
        command.env("GOROUTINE", how);
        Program::spawn(command)
    }

    /// Runs it until it says that it is ready.
    fn run(path: PathBuf, arguments: &[&str]) -> Program {
        let mut command = Command::new(path);
        command.args(arguments);
        Program::spawn(command)
    }

    fn spawn(command: Command) -> Program {
        let path = PathBuf::from(command.get_program());
        let symbols = Program::symbols(&path);
        Program::ready(command, path, symbols)
    }

    /// Functions of a file by their addresses.
    fn symbols(path: &Path) -> BTreeMap<u64, String> {
        let symbols = Command::new("nm").arg(path).output().expect("nm runs");
        String::from_utf8_lossy(&symbols.stdout)
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace();
                let (address, kind, name) = (fields.next()?, fields.next()?, fields.next()?);
                let address = u64::from_str_radix(address, 16).ok()?;
                "tTwW".contains(kind).then(|| (address, name.to_string()))
            })
            .collect()
    }

    fn ready(mut command: Command, path: PathBuf, symbols: BTreeMap<u64, String>) -> Program {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        assert_eq!(line, "ready\n");
        Program {
            path,
            child,
            symbols,
        }
    }

    fn start(name: &str, compiler: &[&str], source: &str, arguments: &[&str]) -> Program {
        Program::run(Program::compile(name, compiler, source), arguments)
    }

    /// Waits until all its threads sleep.
    fn asleep(self) -> Program {
        let state = |tid: u32| {
            let stat = fs::read_to_string(format!("/proc/{}/task/{tid}/stat", self.child.id()))
                .unwrap_or_default();
            stat.rsplit(')')
                .next()
                .and_then(|rest| rest.trim().chars().next())
        };
        while !threads(self.child.id())
            .into_iter()
            .all(|tid| state(tid) == Some('S'))
        {
            thread::sleep(Duration::from_millis(1));
        }
        self
    }

    /// The process that it has forked.
    fn forked(&self) -> u32 {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        children
            .expect("children")
            .trim()
            .parse()
            .expect("one child")
    }

    /// The walk of the thread that started last, with at most `more` further pieces.
    fn walk(&self, more: usize) -> Walked {
        self.walk_of(self.child.id(), more)
    }

    fn walk_of(&self, tgid: u32, more: usize) -> Walked {
        let mut modules = Modules::new(LIMIT);
        let maps = ProcessMaps::read(tgid, &mut modules).expect("maps");
        let tid = *threads(tgid).last().expect("a thread");
        let stopped = Stopped::stop(tgid, tid).expect("stopped");
        let (frames, outcome, asked) =
            stopped.walk(&mut Unwinder::new(), &maps, &mut modules, more);
        Walked {
            names: self.names(&frames, &modules),
            roots: roots(&frames, &mut modules),
            frames,
            outcome,
            asked,
            modules,
        }
    }

    /// Names of the frames in the program itself; those elsewhere by their file.
    fn names(&self, frames: &[Frame], modules: &Modules) -> Vec<String> {
        let own = self.path.as_os_str().as_encoded_bytes();
        let name = |frame: &Frame| {
            let path = modules.get(frame.module).path();
            if path.strip_suffix(b" (deleted)").unwrap_or(path) == own {
                self.symbols
                    .range(..=frame.offset)
                    .next_back()
                    .map_or("?".to_string(), |(_, name)| name.clone())
            } else {
                String::from_utf8_lossy(
                    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
                )
                .into_owned()
            }
        };
        frames.iter().map(name).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Walked {
    names: Vec<String>,
    roots: Option<&'static str>,
    frames: Vec<Frame>,
    outcome: Outcome,
    asked: usize,
    modules: Modules,
}

impl Walked {
    fn guessed(&self) -> Vec<&str> {
        self.frames
            .iter()
            .zip(&self.names)
            .filter(|(f, _)| f.guessed)
            .map(|(_, name)| name.as_str())
            .collect()
    }

    /// The names in `expected` follow one another without a gap.
    #[track_caller]
    fn assert_contains(&self, expected: &[&str]) {
        let found = self
            .names
            .windows(expected.len())
            .any(|names| names == expected);
        assert!(
            found,
            "{expected:?} in {:?}, {:?}",
            self.names, self.outcome
        );
    }

    /// Ends in the root, nothing guessed.
    #[track_caller]
    fn assert_whole(&self) {
        assert_eq!(self.outcome.end, End::Root, "{:?}", self.names);
        assert!(!self.outcome.unknown_address);
        assert_eq!(self.guessed(), Vec::<&str>::new(), "{:?}", self.names);
    }
}

/// The walk of the thread in which a goroutine has come to sleep.
fn goroutine(program: &Program, more: usize) -> Walked {
    let mut modules = Modules::new(LIMIT);
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let patience = Instant::now() + Duration::from_secs(120);
    while Instant::now() < patience {
        for tid in threads(program.child.id()) {
            let stopped = Stopped::stop(program.child.id(), tid).expect("stopped");
            let (frames, _, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 0);
            if !program
                .names(&frames, &modules)
                .iter()
                .any(|name| name == "main.asleep")
            {
                continue;
            }
            let (frames, outcome, asked) = stopped.walk(&mut unwinder, &maps, &mut modules, more);
            return Walked {
                names: program.names(&frames, &modules),
                roots: None,
                frames,
                outcome,
                asked,
                modules,
            };
        }
    }
    panic!("no goroutine sleeps");
}

fn roots(frames: &[Frame], modules: &mut Modules) -> Option<&'static str> {
    frames
        .last()
        .and_then(|frame| modules.root_name(frame.module, frame.offset))
}

fn chain(name: &str, options: &[&str]) -> Walked {
    Program::start(name, &[OMIT, options].concat(), "chain.c", &[])
        .asleep()
        .walk(4)
}

#[test]
fn walk_chain_asleep_in_libc_is_complete_and_in_order() {
    let walked = chain("chain", &[]);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
    assert_eq!(walked.names[0], "libc.so.6");
    assert_eq!(walked.names.last().map(String::as_str), Some("_start"));
    assert_eq!(walked.roots, Some("[process start]"));
    assert_eq!(walked.asked, 0);
}

#[test]
fn walk_thread_ends_in_thread_start() {
    let walked = Program::start("chain-thread", OMIT, "chain.c", &["thread"])
        .asleep()
        .walk(0);
    walked.assert_contains(&[&CHAIN[..10], &["thread"]].concat());
    walked.assert_whole();
    assert_eq!(walked.roots, Some("[thread start]"));
}

#[test]
fn walk_static_program_is_complete() {
    for (name, option) in [
        ("chain-static", "-static"),
        ("chain-static-pie", "-static-pie"),
        ("chain-no-pie", "-no-pie"),
    ] {
        let walked = chain(name, &[option]);
        walked.assert_contains(&CHAIN);
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[process start]"), "{name}");
    }
}

#[test]
fn walk_deep_stack_asks_for_pieces_until_the_root() {
    let program = Program::start(
        "chain-deep",
        &[OMIT, &["-DFRAME=5000"]].concat(),
        "chain.c",
        &[],
    )
    .asleep();
    let first = program.walk(0);
    assert_eq!(first.outcome.end, End::Truncated);
    assert!(first.outcome.want.is_some());
    assert!(first.names.iter().any(|name| name == "f9"));
    let whole = program.walk(8);
    whole.assert_contains(&CHAIN);
    whole.assert_whole();
    assert!(whole.asked > 1);
}

#[test]
fn walk_debug_frame_only_is_complete() {
    for (name, options) in [("chain-debug", "-gz=none"), ("chain-debug-gz", "-gz=zlib")] {
        let walked = chain(
            name,
            &[
                "-g",
                "-fno-asynchronous-unwind-tables",
                "-fno-unwind-tables",
                options,
            ],
        );
        walked.assert_contains(&CHAIN);
        walked.assert_whole();
    }
}

#[test]
fn walk_no_header_table_uses_an_index_of_its_own() {
    let walked = chain("chain-no-header", &["-Wl,--no-eh-frame-hdr"]);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
}

#[test]
fn walk_no_section_headers_finds_unwind_information_by_program_header() {
    let path = Program::compile("chain-sections", OMIT, "chain.c");
    let mut program = Program::run(path.clone(), &[]);
    let symbols = std::mem::take(&mut program.symbols);
    drop(program);
    let mut file = fs::read(&path).expect("the program");
    file[0x28..0x30].fill(0);
    file[0x3c..0x40].fill(0);
    fs::write(&path, file).expect("written");
    let mut program = Program::run(path, &[]).asleep();
    program.symbols = symbols;
    let walked = program.walk(0);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
}

#[test]
fn walk_no_unwind_information_but_frame_pointers_is_complete() {
    let options = [
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-fno-omit-frame-pointer",
    ];
    let walked = chain("chain-pointers", &options);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
}

#[test]
fn walk_no_unwind_information_at_all_is_complete_by_the_instructions() {
    for (name, strip) in [("chain-nothing", "-Wl,-z,now"), ("chain-stripped", "-s")] {
        let mut program = Program::start(
            name,
            &[
                OMIT,
                &[
                    "-fno-asynchronous-unwind-tables",
                    "-fno-unwind-tables",
                    strip,
                ],
            ]
            .concat(),
            "chain.c",
            &[],
        )
        .asleep();
        let stripped = strip == "-s";
        if stripped {
            program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        }
        let walked = program.walk(0);
        match stripped {
            false => walked.assert_contains(&CHAIN),
            true => walked.assert_contains(&["code"; CHAIN.len()]),
        }
        walked.assert_whole();
    }
}

#[test]
fn walk_musl_finds_the_chain_and_guesses_nothing() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    for (name, option) in [("chain-musl", "-fPIE"), ("chain-musl-static", "-static")] {
        let path = Program::compile(name, &[&compiler[..], &[option]].concat(), "chain.c");
        let walked = Program::run(path.clone(), &[]).asleep().walk(0);
        walked.assert_contains(&CHAIN);
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[process start]"));
        let walked = Program::run(path, &["thread"]).asleep().walk(0);
        walked.assert_contains(&[&CHAIN[..10], &["thread"]].concat());
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[thread start]"));
    }
}

/// Walks a program at each of as many instructions, and holds the callers against those that its calls have made.
fn step_beside_calls(program: &Program, steps: usize) -> Steps {
    let mut modules = Modules::new(LIMIT);
    let mut unwinder = Unwinder::new();
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
    // Where return addresses are, and they.
    let mut calls: Vec<(u64, u64)> = Vec::new();
    let mut told = Steps::default();
    for _ in 0..steps {
        let (frames, outcome, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 1);
        let addresses: Vec<u64> = frames
            .iter()
            .filter_map(|frame| maps.address(frame.module, frame.offset))
            .collect();
        let (sp, ip) = (stopped.regs[7], stopped.regs[16]);
        let expected: Vec<u64> = calls.iter().rev().map(|call| call.1 - 1).collect();
        let right = addresses.first() == Some(&ip) && addresses[1..].starts_with(&expected);
        let marked = frames
            .iter()
            .any(|frame| modules.get(frame.module).sign() == Some(Sign::Gap));
        told.all += 1;
        told.right += usize::from(right);
        told.whole += usize::from(outcome.end == End::Root);
        told.deepest = told.deepest.max(calls.len());
        let believed = outcome.end == End::Root && !marked;
        told.wrong_unmarked += usize::from(!right && believed);
        if !right && (believed || told.example.is_empty()) {
            let names = program.names(&frames, &modules);
            told.example = format!("{ip:#x} {names:?}, {frames:x?}, {expected:x?}");
        }
        stopped.step().expect("a step");
        let (to, word) = (stopped.regs[7], stopped.copy(stopped.regs[7], 8));
        let word = word
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        if to == sp - 8 && (ip + 2..=ip + 7).contains(&word) && stopped.regs[16] != word {
            calls.push((to, word));
        } else {
            calls.retain(|call| call.0 >= to);
        }
    }
    told
}

/// What [`step_beside_calls`] came to.
#[derive(Debug, Default)]
struct Steps {
    all: usize,
    right: usize,
    whole: usize,
    deepest: usize,
    wrong_unmarked: usize,
    example: String,
}

impl Steps {
    /// At least this share in thousandths is right, and nothing else looks whole.
    #[track_caller]
    fn assert_right(&self, share: usize, deep: usize) {
        assert!(self.right * 1000 >= self.all * share, "{self:?}");
        assert_eq!(self.wrong_unmarked, 0, "{self:?}");
        assert!(self.deepest >= deep, "{self:?}");
    }
}

#[test]
fn walk_assembly_without_unwind_information_has_all_callers_at_every_instruction() {
    let program = Program::start("bare", OMIT, "bare.c", &[]);
    step_beside_calls(&program, 3000).assert_right(1000, 3);
    // Without symbols some functions begin nowhere.
    let program = Program::start("bare-stripped", &[OMIT, &["-s"]].concat(), "bare.c", &[]);
    step_beside_calls(&program, 3000).assert_right(930, 3);
}

#[test]
fn walk_musl_that_maps_and_unmaps_has_the_caller_of_free_at_every_instruction() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    for (name, option) in [("frees-musl", "-fPIE"), ("frees-static", "-static")] {
        let path = Program::compile(name, &[&compiler[..], &[option]].concat(), "frees.c");
        let program = Program::run(path, &[]);
        step_beside_calls(&program, 8000).assert_right(1000, 3);
    }
}

#[test]
fn walk_fiber_ends_in_fiber_start_however_it_was_entered() {
    let options = ["-DBOOST", "-lboost_context"];
    let path = Program::compile("fibers", &[OMIT, &options].concat(), "fibers.c");
    for how in ["ucontext", "boost", "zero", "heap", "function", "top"] {
        let walked = Program::run(path.clone(), &[how]).asleep().walk(2);
        let entry = if how == "boost" {
            "boost_entry"
        } else {
            "entry"
        };
        walked.assert_contains(&["asleep", "inside", entry, "[fiber start]"]);
        walked.assert_whole();
        assert_eq!(
            walked.names.last().map(String::as_str),
            Some("[fiber start]")
        );
        let last = walked.frames.last().expect("a frame").module;
        assert_eq!(walked.modules.get(last).sign(), Some(Sign::Root));
        assert_eq!(walked.roots, None, "named by its module");
    }
}

#[test]
fn walk_code_jumped_to_in_another_s_frame_has_that_one_s_caller_and_is_no_fiber() {
    for (name, option) in [("jumped", "-g"), ("jumped-stripped", "-s")] {
        let mut program = Program::start(name, &[OMIT, &[option]].concat(), "jumped.c", &[]);
        if option == "-s" {
            program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        }
        let schedule = if option == "-s" { "code" } else { "schedule" };
        let mut modules = Modules::new(LIMIT);
        let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
        let mut stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
        let mut jumped = 0;
        for _ in 0..600 {
            let (frames, outcome, _) = stopped.walk(&mut Unwinder::new(), &maps, &mut modules, 4);
            let names = program.names(&frames, &modules);
            assert_eq!(outcome.end, End::Root, "{names:?}");
            assert!(
                !names.iter().any(|name| name == "[fiber start]"),
                "{names:?}"
            );
            if names[1] == "[guessed]" {
                assert_eq!(names[2], schedule, "{names:?}");
                assert_eq!(frames.len(), 7, "{names:?}");
                jumped += 1;
            }
            stopped.step().expect("a step");
        }
        assert!(jumped > 150, "{jumped}");
    }
}

#[test]
fn walk_compiled_code_on_a_stack_of_its_own_goes_on_at_the_first_one() {
    let program = Program::start("lisp", OMIT, "lisp.c", &[]).asleep();
    let walked = program.walk(2);
    walked.assert_contains(&["asleep", "[jit]", "enter", "main", "libc.so.6"]);
    assert_eq!(walked.outcome.end, End::Root, "{:?}", walked.names);
    let short = program.walk(0);
    assert_eq!(short.outcome.end, End::OtherStack, "{:?}", short.names);
}

#[test]
fn walk_stripped_functions_whose_last_call_does_not_return_are_complete() {
    let options = [
        "gcc",
        "-Os",
        "-fomit-frame-pointer",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-falign-functions=1",
        "-s",
    ];
    for (name, kind) in [
        ("ends", "-pie"),
        ("ends-fixed", "-no-pie"),
        ("ends-static", "-static"),
    ] {
        let path = Program::compile(name, &[&options[..], &[kind]].concat(), "ends.c");
        let mut program = Program::run(path, &[]).asleep();
        program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        let walked = program.walk(2);
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[process start]"));
        if kind != "-static" {
            let own = walked.names.iter().filter(|name| *name == "code").count();
            assert_eq!(own, 5, "{:?}", walked.names);
        }
    }
}

#[test]
fn walk_native_function_guessed_between_jit_frames_is_refused() {
    let walked = Program::start("guessed-jit", OMIT, "guessed_jit.c", &[])
        .asleep()
        .walk(0);
    assert!(!walked.names.iter().any(|name| name == "unrelated"));
    assert_eq!(walked.names.last().map(String::as_str), Some("[jit]"));
    assert_eq!(walked.outcome.end, End::Jit);
}

#[test]
fn walk_stack_of_variable_size_and_alignment_is_complete() {
    let expected = ["asleep", "aligned", "variable", "allocated", "both", "main"];
    for (name, options) in [
        ("realign", &["-mavx", "-mstackrealign"][..]),
        ("realign-plain", &["-mavx"]),
    ] {
        let walked = Program::start(name, &[OMIT, options].concat(), "realign.c", &[])
            .asleep()
            .walk(0);
        walked.assert_contains(&expected);
        walked.assert_whole();
    }
}

#[test]
fn walk_exception_handler_is_complete() {
    let walked = Program::start(
        "objects",
        &["g++", "-O2", "-fomit-frame-pointer"],
        "objects.cc",
        &[],
    )
    .asleep()
    .walk(0);
    let names: Vec<&str> = walked.names.iter().map(String::as_str).collect();
    let sleeper = names
        .iter()
        .position(|name| name.contains("Sleeper"))
        .expect("the virtual function");
    assert!(names[sleeper + 1].contains("Guard"), "{names:?}");
    assert!(names[sleeper + 2].starts_with("catcher"), "{names:?}");
    assert_eq!(names[sleeper + 3], "main");
    walked.assert_whole();
}

#[test]
fn walk_signal_handler_goes_on_in_what_it_interrupted() {
    let walked = Program::start("signal", OMIT, "signal.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&[
        "asleep",
        "handler",
        "libc.so.6",
        "fault",
        "caller",
        "outer",
        "main",
    ]);
    walked.assert_whole();
}

#[test]
fn walk_signal_handler_of_musl_goes_on_in_what_it_interrupted() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    let walked = Program::start("signal-musl", &compiler, "signal.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&[
        "asleep", "handler", "libc.so", "fault", "caller", "outer", "main",
    ]);
    assert_eq!(walked.outcome.end, End::Root);
}

#[test]
fn walk_alternate_signal_stack_asks_for_the_other_stack() {
    let program = Program::start("signal-alternate", OMIT, "signal.c", &["alternate"]).asleep();
    let first = program.walk(0);
    first.assert_contains(&["asleep", "handler", "libc.so.6", "fault"]);
    assert_eq!(first.outcome.end, End::OtherStack);
    let whole = program.walk(1);
    whole.assert_contains(&[
        "asleep",
        "handler",
        "libc.so.6",
        "fault",
        "caller",
        "outer",
        "main",
    ]);
    whole.assert_whole();
}

#[test]
fn walk_exception_on_its_way_is_complete() {
    let walked = Program::start(
        "thrown",
        &["g++", "-O2", "-fomit-frame-pointer"],
        "thrown.cc",
        &[],
    )
    .asleep()
    .walk(0);
    walked.assert_contains(&["personality", "libgcc_s.so.1"]);
    walked.assert_contains(&["_Z6throwsv", "passes", "main"]);
    walked.assert_whole();
}

#[test]
fn walk_child_of_vfork_is_complete() {
    let program = Program::start("forked-vfork", OMIT, "forked.c", &["vfork"]);
    let walked = program.walk_of(program.forked(), 0);
    walked.assert_contains(&["spawn", "outer"]);
    walked.assert_whole();
}

#[test]
fn walk_child_forked_in_a_handler_is_complete() {
    let program = Program::start("forked-handler", OMIT, "forked.c", &["handler"]);
    let child = program.forked();
    for tgid in [child, program.child.id()] {
        let walked = program.walk_of(tgid, 0);
        walked.assert_contains(&["handler", "libc.so.6"]);
        assert!(walked.names.iter().any(|name| name == "outer"));
        walked.assert_whole();
    }
}

#[test]
fn walk_library_opened_and_removed_is_complete() {
    let library = Program::compile(
        "opened.so",
        &["gcc", "-O2", "-shared", "-fPIC", "-DLIBRARY"],
        "opened.c",
    );
    let library = library.to_str().expect("a path").to_string();
    let walked = Program::start("opened", OMIT, "opened.c", &[&library])
        .asleep()
        .walk(0);
    walked.assert_contains(&["opened.so (deleted)", "opened.so (deleted)", "main"]);
    walked.assert_whole();
}

#[test]
fn walk_frame_larger_than_a_piece_behind_a_guess_asks_for_more() {
    let program = Program::start("big", OMIT, "big.c", &[]).asleep();
    let first = program.walk(0);
    first.assert_contains(&["asleep", "large"]);
    assert_eq!(first.outcome.end, End::Truncated);
    let whole = program.walk(8);
    whole.assert_contains(&["asleep", "large", "main"]);
    assert_eq!(whole.outcome.end, End::Root);
}

#[test]
fn walk_program_of_32_bits_is_not_guessed() {
    let compiler = ["gcc", "-m32", "-nostdlib", "-static"];
    let walked = Program::start("small", &compiler, "small.s", &[])
        .asleep()
        .walk(0);
    assert_eq!(walked.frames.len(), 1, "{:?}", walked.names);
    assert_eq!(walked.outcome.end, End::Narrow);
    assert_eq!(walked.guessed(), Vec::<&str>::new());
    let kind = walked.modules.get(walked.frames[0].module).kind();
    assert_eq!(kind, ModuleKind::Unknown);
}

#[test]
fn walk_program_that_only_another_mount_namespace_has_is_complete() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elsewhere");
    fs::create_dir_all(&folder).expect("a folder");
    let path = Program::compile("chain-elsewhere", &[OMIT, &["-static"]].concat(), "chain.c");
    let mut command = Command::new("unshare");
    command
        .args(["--map-root-user", "--mount", "sh", "-c"])
        .arg("mount -t tmpfs none \"$0\" && cp \"$1\" \"$0/hidden\" && exec chroot \"$0\" /hidden")
        .args([&folder, &path]);
    let symbols = Program::symbols(&path);
    let mut program = Program::ready(command, PathBuf::new(), symbols).asleep();
    let link = format!("/proc/{}/exe", program.child.id());
    program.path = fs::read_link(link).expect("its program");
    assert!(!program.path.exists(), "{:?}", program.path);
    let walked = program.walk(0);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
}

#[test]
fn walk_call_is_last_instruction_names_the_caller() {
    let walked = Program::start("noreturn", OMIT, "noreturn.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&["never", "last", "main"]);
    walked.assert_whole();
}

#[test]
fn walk_compiled_at_run_time_ends_in_jit_without_frame_pointer() {
    let path = Program::compile("jit", OMIT, "jit.c");
    let framed = Program::run(path.clone(), &["framed"]).asleep().walk(0);
    framed.assert_contains(&["asleep", "[jit]", "enter", "main"]);
    assert_eq!(framed.outcome.end, End::Root);
    assert_eq!(framed.guessed(), ["enter"]);
    let short = Program::run(path, &[]).asleep().walk(0);
    assert_eq!(short.outcome.end, End::Jit);
    assert_eq!(short.names.last().map(String::as_str), Some("[jit]"));
    let jit = short.frames.last().expect("a frame").module;
    assert_eq!(short.modules.get(jit).kind(), ModuleKind::Jit);
}

#[test]
fn walk_every_instruction_is_complete() {
    step_through("steps", &["-Wl,-z,lazy", "-fcf-protection=none"]);
    step_through(
        "steps-ibt",
        &["-Wl,-z,lazy,-z,ibtplt", "-fcf-protection=full"],
    );
}

/// Walks at each of some thousand instructions: prologues and epilogues, linkage table, resolver, vDSO.
fn step_through(name: &str, options: &[&str]) {
    let program = Program::start(name, &[OMIT, options].concat(), "steps.c", &[]);
    let mut modules = Modules::new(LIMIT);
    let mut unwinder = Unwinder::new();
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
    let (mut vdso, mut linkage, mut resolver) = (0, 0, 0);
    for _ in 0..4000 {
        let (frames, outcome, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 1);
        let names = program.names(&frames, &modules);
        assert_eq!(outcome.end, End::Root, "{names:?} {frames:x?}");
        assert!(frames.iter().all(|frame| !frame.guessed), "{names:?}");
        let expected = ["inner", "middle", "outer", "main"];
        let own: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| expected.contains(name))
            .collect();
        assert!(
            expected.ends_with(&own) && own.ends_with(&["main"]),
            "{names:?}"
        );
        vdso += usize::from(modules.get(frames[0].module).kind() == ModuleKind::Vdso);
        linkage += usize::from(names[0] == "_init");
        resolver += usize::from(names[0].starts_with("ld-linux"));
        stopped.step().expect("a step");
    }
    assert!(
        vdso > 0 && linkage > 0,
        "vdso {vdso}, linkage table {linkage}, resolver {resolver}"
    );
}

const OUTER: [&str; 6] = [
    "main.outer",
    "main.outer",
    "main.outer",
    "main.outer",
    "main.main.func1",
    "runtime.goexit.abi0",
];

#[test]
fn walk_goroutine_is_complete_stripped_or_not() {
    for (name, options) in [
        ("goroutine", &[][..]),
        ("goroutine-pie", &["-buildmode=pie"]),
    ] {
        let path = Program::compile_go(name, options);
        let expected = [&["main.asleep", "main.work"], &OUTER[..]].concat();
        let mut program = Program::run_go(path.clone(), "sleep");
        let walked = goroutine(&program, 0);
        walked.assert_contains(&expected);
        walked.assert_whole();
        let symbols = std::mem::take(&mut program.symbols);
        drop(program);
        // Into another file: go would not link again what it finds linked.
        let stripped = path.with_extension("stripped");
        let status = Command::new("strip")
            .arg("-o")
            .arg(&stripped)
            .arg(&path)
            .status();
        assert!(status.expect("strip runs").success());
        let mut program = Program::run_go(stripped, "sleep");
        program.symbols = symbols;
        let walked = goroutine(&program, 0);
        walked.assert_contains(&expected);
        walked.assert_whole();
    }
}

#[test]
fn walk_goroutine_that_called_the_scheduler_s_stack_asks_for_its_own() {
    let program = Program::run_go(Program::compile_go("goroutine-system", &[]), "system");
    let first = goroutine(&program, 0);
    assert_eq!(first.outcome.end, End::OtherStack, "{:?}", first.names);
    assert_eq!(
        first.names.last().map(String::as_str),
        Some("runtime.systemstack.abi0")
    );
    let whole = goroutine(&program, 1);
    // A wrapper for another calling convention may stand between.
    whole.assert_contains(&["main.asleep", "runtime.systemstack.abi0"]);
    whole.assert_contains(&[&["main.work"], &OUTER[..]].concat());
    whole.assert_whole();
}

#[test]
fn walk_idle_go_threads_end_where_their_stacks_start() {
    let program = Program::run_go(Program::compile_go("goroutine-idle", &[]), "sleep").asleep();
    let mut modules = Modules::new(LIMIT);
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let mut roots = Vec::new();
    for tid in threads(program.child.id()) {
        let stopped = Stopped::stop(program.child.id(), tid).expect("stopped");
        let (frames, outcome, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 0);
        let names = program.names(&frames, &modules);
        assert_eq!(outcome.end, End::Root, "{names:?}");
        assert!(frames.iter().all(|frame| !frame.guessed), "{names:?}");
        roots.extend(names.last().cloned());
    }
    let known = ["runtime.mcall", "runtime.clone.abi0", "runtime.goexit.abi0"];
    assert!(
        roots.iter().all(|root| known.contains(&root.as_str())),
        "{roots:?}"
    );
    assert!(
        roots.iter().any(|root| root == "runtime.clone.abi0"),
        "{roots:?}"
    );
}

#[test]
fn walk_signal_handler_of_go_goes_on_in_the_goroutine() {
    let program = Program::run_go(Program::compile_go("goroutine-signal", &[]), "spin");
    let mut modules = Modules::new(LIMIT);
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let expected: Vec<String> = ["main.work"]
        .iter()
        .chain(&OUTER)
        .map(|name| name.to_string())
        .collect();
    let busy = |stopped: &Stopped, unwinder: &mut Unwinder, modules: &mut Modules| {
        let (frames, _, _) = stopped.walk(unwinder, &maps, modules, 0);
        program.names(&frames, modules) == expected
    };
    let mut stopped = loop {
        let stopped = threads(program.child.id())
            .into_iter()
            .filter_map(|tid| Stopped::stop(program.child.id(), tid).ok())
            .find(|stopped| busy(stopped, &mut unwinder, &mut modules));
        if let Some(stopped) = stopped {
            break stopped;
        }
    };
    // What the runtime interrupts a goroutine with; a signal can be delivered after a step only.
    stopped.step().expect("a step");
    stopped.step_with(Some(Signal::SIGURG)).expect("a step");
    let mut handler = 0;
    for _ in 0..500 {
        let (frames, outcome, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 2);
        let names = program.names(&frames, &modules);
        assert_eq!(outcome.end, End::Root, "{names:?}");
        assert!(names.ends_with(&expected), "{names:?}");
        handler += usize::from(names.len() > expected.len());
        stopped.step().expect("a step");
    }
    assert!(handler > 100, "{handler}");
}

#[test]
fn walk_rust_thread_is_complete() {
    let walked = Program::start("threads", &["rustc", "-O"], "threads.rs", &[])
        .asleep()
        .walk(1);
    walked.assert_contains(&["rust_inner", "rust_outer"]);
    walked.assert_whole();
    assert_eq!(walked.roots, Some("[thread start]"));
}

#[test]
fn walk_deleted_program_is_complete_and_its_file_can_be_opened() {
    let program = Program::start("chain-deleted", OMIT, "chain.c", &[]).asleep();
    fs::remove_file(&program.path).expect("removed");
    let mut walked = program.walk(0);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
    let module = walked.frames.last().expect("a frame").module;
    assert!(walked.modules.get(module).path().ends_with(b" (deleted)"));
    assert_eq!(walked.modules.get(module).build_id().len(), 20);
    assert!(
        walked
            .modules
            .file(module)
            .expect("a file")
            .metadata()
            .expect("metadata")
            .len()
            > 0
    );
}

#[test]
fn walk_library_truncated_meanwhile_ends_without_signal() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("truncated");
    fs::create_dir_all(&folder).expect("a folder");
    let probe = Program::start("chain-probe", OMIT, "chain.c", &[])
        .asleep()
        .walk(0);
    let libc = probe.modules.get(probe.frames[0].module).path();
    let copy = folder.join("libc.so.6");
    fs::copy(Path::new(std::ffi::OsStr::from_bytes(libc)), &copy).expect("a copy of libc");
    let mut command = Command::new(Program::compile("chain-truncated", OMIT, "chain.c"));
    command.env("LD_LIBRARY_PATH", &folder);
    let program = Program::spawn(command).asleep();
    let mut modules = Modules::new(LIMIT);
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    fs::OpenOptions::new()
        .write(true)
        .open(&copy)
        .and_then(|file| file.set_len(1000))
        .expect("truncated");
    let stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
    let (frames, outcome, _) = stopped.walk(&mut Unwinder::new(), &maps, &mut modules, 1);
    assert!(
        modules
            .get(frames[0].module)
            .path()
            .starts_with(folder.as_os_str().as_encoded_bytes())
    );
    assert!(outcome.end == End::Root || outcome.end == End::NoUnwindInfo);
}

#[test]
fn walk_text_moved_to_anonymous_memory_is_still_the_file() {
    let walked = Program::start("remapped", OMIT, "remapped.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&["libc.so.6", "asleep", "moved", "main"]);
    walked.assert_whole();
}

#[test]
fn walk_endless_recursion_ends_in_the_limit() {
    let program = Program::start("recursion", OMIT, "recursion.c", &[]).asleep();
    let walked = program.walk(16);
    assert_eq!(
        walked.outcome,
        Outcome {
            end: End::Limit,
            want: None,
            unknown_address: false
        }
    );
    assert_eq!(walked.frames.len(), MAX_FRAMES);
}

#[test]
fn walk_limit_of_memory_too_small_ends_without_panic() {
    let program = Program::start("chain-limit", OMIT, "chain.c", &[]).asleep();
    for limit in [0, 1000, 100 << 10] {
        let mut modules = Modules::new(limit);
        let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
        let stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
        let (frames, _, _) = stopped.walk(&mut Unwinder::new(), &maps, &mut modules, 1);
        assert!(!frames.is_empty());
        assert!(modules.held() <= limit);
    }
}

#[test]
fn refresh_same_process_keeps_modules() {
    let program = Program::start("jit-refresh", OMIT, "jit.c", &[]).asleep();
    let mut modules = Modules::new(LIMIT);
    let mut maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let known = modules.len();
    maps.refresh(&mut modules).expect("maps");
    assert_eq!(modules.len(), known);
    let other = Program::start("jit-other", OMIT, "jit.c", &[]).asleep();
    ProcessMaps::read(other.child.id(), &mut modules).expect("maps");
    assert_eq!(
        modules.len(),
        known + 2,
        "its file and its code made at run time"
    );
}

#[test]
fn read_process_gone_is_an_error() {
    assert!(ProcessMaps::read(0x3fff_ffff, &mut Modules::new(LIMIT)).is_err());
}

#[test]
fn read_process_that_maps_one_file_very_often_looks_at_it_once() {
    let program = Program::start("many", OMIT, "many.c", &["20000"]);
    let process = ProcessFolder::open(program.child.id()).expect("its folder");
    let maps = Prober::default().maps(&process, RuntimeKnown::default());
    let maps = maps.expect("its mappings");
    assert!(maps.lines() > 20_000, "{}", maps.lines());
    // Its own one, libc and the loader.
    assert!(maps.files() <= 3, "{}", maps.files());
    let mut modules = Modules::new(1 << 20);
    let maps = ProcessMaps::of(program.child.id(), maps, &mut modules);
    assert!(maps.count() > 20_000 && modules.len() < 10);
}

#[test]
fn mappings_that_was_cut_since_it_was_told_is_that_of_its_file() {
    let program = Program::start("many-cut", OMIT, "many.c", &["20000"]);
    let tgid = program.child.id();
    let text = fs::read_to_string(format!("/proc/{tgid}/maps")).expect("its mappings");
    let of_it = |line: &&str| line.contains(" r-xp ") && line.ends_with("/many-cut");
    let line = text.lines().find(of_it).expect("a mapping");
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (start, end) = words[0].split_once('-').expect("a range");
    let (major, minor) = words[3].split_once(':').expect("a device");
    let wanted = WantedMapping {
        start: number(start),
        end: number(end) + 4096,
        offset: number(words[2]),
        device: (number(major) as u32, number(minor) as u32),
        inode: words[4].parse().expect("a number"),
        path: words[5].as_bytes().into(),
    };
    let other = WantedMapping {
        inode: wanted.inode + 1,
        ..wanted.clone()
    };
    let process = ProcessFolder::open(tgid).expect("its folder");
    let prober = Prober::default();
    let seen = prober.mappings(&process, &[wanted, other], RuntimeKnown::default());
    assert!(
        matches!(seen[..], [Seen::File(_), Seen::Unknown(End::Unreadable)]),
        "{seen:?}"
    );
}
