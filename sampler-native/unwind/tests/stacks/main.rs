//! Real stacks of real programs, compiled here, stopped with ptrace.

#[path = "../stopped/mod.rs"]
mod stopped;

mod chains;
mod files;
#[cfg(target_arch = "x86_64")]
mod go;
mod signals;
#[cfg(target_arch = "x86_64")]
mod uncovered;

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
        assert_eq!(self.outcome.unknown_address, None);
        assert_eq!(self.guessed(), Vec::<&str>::new(), "{:?}", self.names);
    }
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

const OUTER: [&str; 6] = [
    "main.outer",
    "main.outer",
    "main.outer",
    "main.outer",
    "main.main.func1",
    "runtime.goexit.abi0",
];
