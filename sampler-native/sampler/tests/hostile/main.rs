//! Programs of a user without any rights that try to hold the sampler: passes go on, and who has nothing to do with it keeps names.
//! On the real kernel: run as root. Apart from other tests, since these raise the priority of their thread, and leave threads behind.

#[allow(dead_code)]
#[path = "../model/mod.rs"]
mod model;
#[allow(dead_code)]
#[path = "../program/mod.rs"]
mod program;
#[path = "../served/mod.rs"]
mod served;
mod unanswered;

use std::{
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flametop_stream::{Counter, End as StackEnd, NameSource};
use model::Recording;
use program::Program;

const HZ: u64 = 49;
/// The program that nobody knows yet has its names within this time.
const NAMED: Duration = Duration::from_secs(3);

impl Program {
    fn start(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        Program::spawn(command)
    }
}

/// A folder of one test, which everybody may look into. It is removed at the end, when nothing is mounted in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new("/tmp").join(format!("flametop-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

fn compiled(folder: &Path, source: &str) -> PathBuf {
    let name = Path::new(source).file_stem().expect("a name");
    let program = folder.join(name);
    let source = format!("{}/{source}", env!("CARGO_MANIFEST_DIR"));
    let options = [
        "-g",
        "-O2",
        "-fomit-frame-pointer",
        "-Wall",
        "-Werror",
        "-pthread",
        "-o",
    ];
    let built = Command::new("cc")
        .args(options)
        .arg(&program)
        .arg(source)
        .status();
    assert!(built.expect("a C compiler").success());
    program
}

/// Ends this process if the test hangs: a thread that hangs in the kernel cannot be given up otherwise.
struct Guard(Arc<AtomicBool>);

impl Guard {
    fn new() -> Guard {
        let done = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&done);
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(60));
            if !seen.load(Ordering::SeqCst) {
                eprintln!("the sampler is held");
                std::process::exit(1);
            }
        });
        Guard(done)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Records all tasks beside an attack: passes are made, and a program that starts meanwhile has its names.
fn passes_and_names_beside(folder: &Path, attack: impl FnOnce() -> Vec<Program>) -> Recording {
    passes_and_names_within(Some(NAMED), &[], folder, attack, || {})
}

/// Records as [`passes_and_names_beside`] does, with names within `longest` if names are expected. The recording goes on until the
/// program has its names, and, up to twice the time for that, until notices have said all of `said`. `strike` is called once the
/// recording has begun.
fn passes_and_names_within(
    longest: Option<Duration>,
    said: &[&str],
    folder: &Path,
    attack: impl FnOnce() -> Vec<Program>,
    strike: impl FnOnce(),
) -> Recording {
    let _guard = Guard::new();
    let attack = attack();
    let innocent = compiled(folder, "tests/programs/chain.c");
    let mut recording = Recording::open("target=all");
    // As whoever makes passes: other work of the machine does not count here.
    flametop_sampler::raise_priority().expect("run as root");
    let (begin, length) = (
        Instant::now(),
        longest.unwrap_or(REPLACED) + Duration::from_secs(1),
    );
    let mut strike = Some(strike);
    let (mut made, mut worst) = (0, Duration::ZERO);
    let mut started: Option<(Program, Instant)> = None;
    let mut named = None;
    let unsaid = |model: &model::Model| {
        let is_missing = |text: &&&str| !model.notices.iter().any(|notice| notice.contains(**text));
        said.iter().find(is_missing).copied()
    };
    let least = longest.map_or(length, |_| length.min(2 * NAMED));
    while begin.elapsed() < least
        || longest.is_some() && named.is_none() && begin.elapsed() < length
        || unsaid(&recording.model).is_some() && begin.elapsed() < 2 * length
    {
        let due = Duration::from_nanos(made * 1_000_000_000 / HZ);
        thread::sleep(due.saturating_sub(begin.elapsed()));
        let filling = Instant::now();
        recording.fill(true);
        worst = worst.max(filling.elapsed());
        made += 1;
        if started.is_none() && begin.elapsed() > Duration::from_millis(300) {
            if let Some(strike) = strike.take() {
                strike();
            }
            started = Some((
                Program::start(Command::new(&innocent).arg("sleep")),
                Instant::now(),
            ));
        }
        if let Some((program, since)) = &started
            && named.is_none()
        {
            let mut of_test: Vec<u32> = attack.iter().map(Program::pid).collect();
            of_test.push(program.pid());
            recording.ask_names_of(&of_test);
            let model = &recording.model;
            let of = |task: &&model::Task| task.tid == program.pid();
            let stack = model.tasks.iter().find(of).and_then(|task| task.now?.stack);
            let names = stack.map_or(Vec::new(), |stack| model.names(stack));
            named = names
                .iter()
                .any(|name| name == "chain_1")
                .then(|| since.elapsed());
        }
    }
    let due = begin.elapsed().as_millis() as u64 * HZ / 1000;
    println!("named after {named:?}");
    if let Some((program, _)) = started.as_ref().filter(|_| named.is_none()) {
        let model = &recording.model;
        let task = model.tasks.iter().find(|task| task.tid == program.pid());
        let now = task.and_then(|task| task.now);
        let stack = now.and_then(|now| now.stack);
        println!("{now:?}: {:?}", stack.map(|stack| model.names(stack)));
        println!("{:?}", model.notices);
    }
    assert!(
        100 * made >= 99 * due,
        "{made} passes of {due}, the slowest {worst:?}"
    );
    assert!(
        longest.is_none_or(|longest| named.is_some_and(|after| after < longest)),
        "named after {named:?}"
    );
    assert_eq!(
        unsaid(&recording.model),
        None,
        "{:?}",
        recording.model.notices
    );
    let counters = recording.model.counters.expect("counters");
    assert_eq!(counters[Counter::PassesMade as usize], made);
    drop(attack);
    recording
}

#[test]
fn pass_beside_processes_that_hold_their_mappings_goes_on() {
    let folder = Folder::new("hog");
    let hog = compiled(&folder, "../../bench/programs/hog.c");
    passes_and_names_beside(&folder, || {
        let mut command = Command::new(&hog);
        command.args(["64", "24"]).uid(65534).gid(65534);
        vec![Program::start(&mut command)]
    });
}

/// Samples of the CPU clock that ended so, in a program of this name.
fn ended(recording: &Recording, comm: &str, end: StackEnd) -> usize {
    let model = &recording.model;
    let tasks = model.tasks.iter().filter(|task| task.comm == comm);
    let samples = tasks.flat_map(|task| &task.samples);
    let ends = samples.map(|sample| match sample.stack {
        Some(stack) => model.stacks[stack as usize].end,
        None => sample.why,
    });
    ends.filter(|of| *of == end).count()
}

#[test]
fn pass_beside_unwind_information_that_is_huge_goes_on_and_its_walks_end_at_the_limit() {
    let folder = Folder::new("entries");
    let program = compiled(&folder, "tests/programs/entries.s");
    let recording = passes_and_names_beside(&folder, || {
        let mut command = Command::new(&program);
        command.uid(65534).gid(65534);
        vec![Program::start(&mut command)]
    });
    assert!(ended(&recording, "entries", StackEnd::Limit) > 10);
    assert_eq!(ended(&recording, "chain", StackEnd::Limit), 0);
}

/// Has an ELF file say that it has so many symbols, with one more entry in its table of sections.
fn claim_symbols(program: &Path, symbols: u64) {
    let mut bytes = std::fs::read(program).expect("the program");
    let word = |bytes: &[u8], at: usize| {
        let bytes = bytes[at..at + 8].try_into().expect("8 bytes");
        u64::from_le_bytes(bytes) as usize
    };
    let table = word(&bytes, 40);
    let count = u16::from_le_bytes([bytes[60], bytes[61]]);
    let mut sections = bytes[table..table + 64 * usize::from(count)].to_vec();
    let mut section = [0; 64];
    section[4..8].copy_from_slice(&2u32.to_le_bytes()); // SHT_SYMTAB
    section[32..40].copy_from_slice(&(24 * symbols).to_le_bytes());
    sections.extend(section);
    let end = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&end.to_le_bytes());
    bytes[60..62].copy_from_slice(&(count + 1).to_le_bytes());
    bytes.extend(sections);
    std::fs::write(program, bytes).expect("written");
}

/// The sources of the names of the frames that lie in a file of this name, of the last stack of this program; without roots.
fn sources(recording: &Recording, pid: u32, file: &str) -> Vec<NameSource> {
    let model = &recording.model;
    let task = model.tasks.iter().find(|task| task.tid == pid);
    let stack = task.and_then(|task| task.now?.stack).expect("a stack");
    let frames = model.stacks[stack as usize].frames.iter();
    let of_file = frames.filter(|frame| {
        let (module, ..) = model.frames[**frame as usize];
        model.modules[module as usize].1.ends_with(file)
    });
    let sources = of_file.map(|frame| model.names[frame].0);
    sources
        .filter(|source| *source != NameSource::Root)
        .collect()
}

#[test]
fn name_of_a_program_of_too_many_symbols_says_limit_and_that_of_an_innocent_one_does_not() {
    let folder = Folder::new("symbols");
    let innocent = compiled(&folder, "tests/programs/chain.c");
    let many = folder.join("many");
    std::fs::copy(&innocent, &many).expect("a copy");
    claim_symbols(&many, 12_000_000);
    let start = |program| Program::start(Command::new(program).arg("sleep"));
    let (innocent, many) = (start(&innocent), start(&many));
    let mut recording = Recording::open(&format!("target=pid {},{}", innocent.pid(), many.pid()));
    recording.run(HZ, 1000);
    recording.name_all();
    let limited = sources(&recording, many.pid(), "/many");
    assert!(limited.len() >= 10, "{limited:?}");
    assert!(
        limited.iter().all(|source| *source == NameSource::Limit),
        "{limited:?}"
    );
    let named = sources(&recording, innocent.pid(), "/chain");
    assert!(named.len() >= 10, "{named:?}");
    assert!(!named.contains(&NameSource::Limit), "{named:?}");
    for pid in [innocent.pid(), many.pid()] {
        let libc = sources(&recording, pid, "libc.so.6");
        assert!(!libc.contains(&NameSource::Limit), "{libc:?}");
    }
}

#[test]
fn pass_beside_a_program_with_all_mappings_there_may_be_that_moves_them_goes_on() {
    let folder = Folder::new("moves");
    let program = compiled(&folder, "tests/programs/moves.c");
    let own = || Duration::from_nanos(recorded_cpu());
    let mut before = Duration::ZERO;
    let recording = passes_and_names_beside(&folder, || {
        let mut command = Command::new(&program);
        command.uid(65534).gid(65534).stdout(Stdio::piped());
        let attack: Vec<Program> = (0..2).map(|_| Program::spawn(&mut command)).collect();
        thread::sleep(Duration::from_secs(1));
        before = own();
        attack
    });
    println!("{:?} of CPU time in 4 s", own() - before);
    assert_eq!(ended(&recording, "chain", StackEnd::Limit), 0);
}

/// ns that this process ran.
fn recorded_cpu() -> u64 {
    let all = std::fs::read_dir("/proc/self/task").expect("own threads");
    let of = |task: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    all.filter_map(of).sum()
}

/// The prober of this test: of all sessions of this process, that which began last.
fn prober() -> u32 {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_prober = |pid: &u32| {
        let of = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}"));
        let child = of("status").is_ok_and(|status| {
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:\t"));
            parent == Some(&own)
        });
        child && of("cmdline").is_ok_and(|line| line.ends_with("\0prober\0"))
    };
    pids.filter(is_prober).max().expect("a prober")
}

/// For the time until it is replaced.
const REPLACED: Duration = Duration::from_secs(15);

fn stop_prober() {
    let pid = nix::unistd::Pid::from_raw(prober() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).expect("stopped");
}

#[test]
fn pass_beside_a_prober_that_is_stopped_goes_on() {
    let folder = Folder::new("stopped");
    let said = ["did not answer for"];
    passes_and_names_within(Some(REPLACED), &said, &folder, Vec::new, stop_prober);
}

#[test]
fn pass_beside_a_prober_that_is_stopped_while_mappings_are_lost_goes_on() {
    let folder = Folder::new("remaps");
    let program = compiled(&folder, "tests/programs/remaps.c");
    let attack = || {
        let start = |cpu: usize| {
            let mut command = Command::new("taskset");
            command.args(["-c", &cpu.to_string()]).arg(&program);
            Program::start(command.uid(65534).gid(65534))
        };
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        (0..cpus).map(start).collect()
    };
    let said = ["did not answer for", "were not told of"];
    passes_and_names_within(Some(REPLACED), &said, &folder, attack, stop_prober);
}

#[test]
fn pass_beside_a_prober_that_is_killed_goes_on() {
    let folder = Folder::new("killed");
    let end = || {
        let pid = nix::unistd::Pid::from_raw(prober() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("killed");
    };
    passes_and_names_within(Some(REPLACED), &[], &folder, Vec::new, end);
}

/// More files than there are descriptors for: each answer of the prober has only so many, and others come when there is use for them.
#[test]
fn pass_beside_a_program_of_six_thousand_files_goes_on_and_no_prober_is_lost() {
    use std::{io::Read, os::unix::fs::PermissionsExt};
    let folder = Folder::new("files");
    let program = compiled(&folder, "tests/programs/files.c");
    let files = folder.join("copies");
    std::fs::create_dir_all(&files).expect("a folder");
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&files, everybody).expect("for everybody");
    let attack = || {
        let mut command = Command::new(&program);
        command.arg(&files).arg("6000").stdout(Stdio::piped());
        let mut attack = Program::spawn(&mut command);
        let mut ready = [0; 6];
        let said = attack.0.stdout.as_mut().expect("a pipe");
        said.read_exact(&mut ready).expect("it maps its files");
        vec![attack]
    };
    // On a busy machine the prober is behind with so many files, and debug files of others are looked for meanwhile.
    let recording = passes_and_names_within(Some(7 * NAMED), &[], &folder, attack, || {});
    let notices = &recording.model.notices;
    assert!(!notices.iter().any(|n| n.contains("prober")), "{notices:?}");
    assert_eq!(ended(&recording, "chain", StackEnd::Unreadable), 0);
}
