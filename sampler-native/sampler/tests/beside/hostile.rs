//! Programs of a user without any rights that try to hold the sampler: passes go on, and who has nothing to do with it keeps names.
//! On the real kernel: run as root.

use std::{
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    model::{self, Recording},
    served::{self, Mounted, Served},
};
use flametop_stream::{Counter, End as StackEnd, NameSource, SourceState};
use flametop_unwind::{End, Prober, ProcessFolder, RuntimeKnown, Seen, WantedMapping};

const HZ: u64 = 49;
/// The program that nobody knows yet has its names within this time.
const NAMED: Duration = Duration::from_secs(3);

/// A child that is killed and reaped at the end.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        Program(command.spawn().expect("the program starts"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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

/// A program of nobody that has a page of that file.
fn served(program: &Path, file: &Path, what: &str) -> Program {
    served_of(65534, program, file, what)
}

/// The same of that user.
fn served_of(user: u32, program: &Path, file: &Path, what: &str) -> Program {
    let mut command = Command::new(program);
    command
        .arg0("s")
        .arg("f".repeat(16 << 10))
        .arg(file)
        .arg(what)
        .arg(user.to_string());
    let program = Program::start(&mut command);
    let mapped = || {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", program.pid()));
        maps.is_ok_and(|maps| maps.contains(&*file.to_string_lossy()))
    };
    let until = Instant::now() + Duration::from_secs(60);
    while !mapped() {
        assert!(Instant::now() < until, "it maps the file");
        thread::sleep(Duration::from_millis(5));
    }
    // It has run there.
    thread::sleep(Duration::from_millis(100));
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
    passes_and_names_within(Some(NAMED), folder, attack, || {})
}

/// The same with names within that time, if they are expected. `strike`: what is done when the recording has begun.
fn passes_and_names_within(
    longest: Option<Duration>,
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
    while begin.elapsed() < length {
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
    println!("named after {named:?}");
    if let Some((program, _)) = started.as_ref().filter(|_| named.is_none()) {
        let model = &recording.model;
        let task = model.tasks.iter().find(|task| task.tid == program.pid());
        let now = task.and_then(|task| task.now);
        let stack = now.and_then(|now| now.stack);
        println!("{now:?}: {:?}", stack.map(|stack| model.names(stack)));
        println!("{:?}", model.notices);
    }
    let due = length.as_millis() as u64 * HZ / 1000;
    assert!(
        100 * made >= 99 * due,
        "{made} passes of {due}, the slowest {worst:?}"
    );
    assert!(
        longest.is_none_or(|longest| named.is_some_and(|after| after < longest)),
        "named after {named:?}"
    );
    let counters = recording.model.counters.expect("counters");
    assert_eq!(counters[Counter::PassesMade as usize], made);
    drop(attack);
    recording
}

#[test]
fn pass_beside_code_of_a_file_that_is_not_answered_for_goes_on() {
    let folder = Folder::new("code");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    passes_and_names_beside(&folder, || {
        let attack = served(&program, &filesystem.file(), "code");
        filesystem.fall_silent();
        vec![attack]
    });
    assert_eq!(filesystem.unanswered(), 0, "nobody asked");
}

#[test]
fn probe_of_a_file_that_is_not_answered_for_is_refused_and_passes_go_on() {
    let _guard = Guard::new();
    let folder = Folder::new("probe");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    let attack = served(&program, &filesystem.file(), "code");
    filesystem.fall_silent();
    let mut recording = Recording::open(&format!("target=pid {}\nhz.cpu=0", attack.pid()));
    let file = filesystem.file();
    let wishes = recording.session.wishes();
    let set = |number, spec: String| wishes.set_source(number, Some(spec));
    set(1, format!("uprobe:{}:work", file.display()));
    set(2, format!("usdt:{}:a:b", file.display()));
    set(3, "usdt:a:b".to_owned());
    let settled = |model: &model::Model| {
        let missing = |(state, _): &(SourceState, String)| *state == SourceState::Missing;
        model.sources.len() == 3 && model.sources.values().all(missing)
    };
    let begin = Instant::now();
    while !settled(&recording.model) {
        assert!(
            begin.elapsed() < Duration::from_secs(50),
            "{:?}",
            recording.model.sources
        );
        let filled = Instant::now();
        recording.fill(true);
        // A thread that waits for the file would wait for ever.
        assert!(filled.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(20));
    }
    for number in [1, 2] {
        let why = &recording.model.sources[&number].1;
        assert!(
            why.contains("is of a file system that a program serves"),
            "{why}"
        );
    }
    let why = &recording.model.sources[&3].1;
    assert!(why.contains("has a probe a:b"), "{why}");
    assert_eq!(filesystem.unanswered(), 0, "nobody asked");
    drop(recording);
    drop(attack);
}

#[test]
fn pass_beside_an_overlay_above_a_file_that_is_not_answered_for_goes_on() {
    let folder = Folder::new("overlay");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).expect("a folder");
    let overlay = folder.join("overlay");
    let mounted = Mounted::overlay(&overlay, &[&folder.join("mount"), &empty]);
    passes_and_names_beside(&folder, || {
        let attack = served(&program, &overlay.join(served::NAME), "code");
        filesystem.fall_silent();
        vec![attack]
    });
    assert_eq!(filesystem.unanswered(), 0, "nobody asked");
    drop(mounted);
}

#[test]
fn pass_beside_arguments_of_twenty_processes_that_are_not_answered_for_goes_on() {
    let folder = Folder::new("args");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    let recording = passes_and_names_beside(&folder, || {
        let start = |_| served(&program, &filesystem.file(), "args");
        let attack = (0..20).map(start).collect();
        filesystem.fall_silent();
        attack
    });
    let model = &recording.model;
    let known = |p: &&model::Process| !p.kthread && !p.cmdline.is_empty() && p.comm != "served";
    assert!(model.processes.iter().filter(known).count() > 2);
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
        let attack: Vec<Program> = (0..2)
            .map(|_| Program(command.spawn().expect("the program starts")))
            .collect();
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

#[test]
fn pass_beside_a_prober_that_is_stopped_goes_on() {
    let folder = Folder::new("stopped");
    let stop = || {
        let pid = nix::unistd::Pid::from_raw(prober() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).expect("stopped");
    };
    let recording = passes_and_names_within(Some(REPLACED), &folder, Vec::new, stop);
    let said = |notice: &&String| notice.contains("did not answer for");
    assert!(
        recording.model.notices.iter().any(|n| said(&n)),
        "it is said"
    );
}

#[test]
fn pass_beside_a_prober_that_is_killed_goes_on() {
    let folder = Folder::new("killed");
    let end = || {
        let pid = nix::unistd::Pid::from_raw(prober() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("killed");
    };
    passes_and_names_within(Some(REPLACED), &folder, Vec::new, end);
}

/// As many threads of the prober hang as these users may hold, beyond the reach of signals.
#[test]
fn pass_beside_memory_of_processes_of_ten_users_that_is_not_answered_for_goes_on() {
    let folder = Folder::new("users");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    passes_and_names_beside(&folder, || {
        let start = |n: u32| served_of(60_000 + n / 9, &program, &filesystem.libjvm(), "args");
        let attack = (0..90).map(start).collect();
        filesystem.fall_silent();
        attack
    });
    assert!(filesystem.unanswered() > 0, "there was somebody who hung");
}

/// Every thread of the prober hangs, and those of its successors: they are left behind. Programs that start meanwhile may be without
/// user frames.
#[test]
fn pass_beside_memory_of_processes_of_seventy_users_that_is_not_answered_for_goes_on() {
    let folder = Folder::new("many-users");
    let program = compiled(&folder, "tests/programs/served.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    let recording = passes_and_names_within(
        None,
        &folder,
        || {
            let start = |n: u32| served_of(60_000 + n, &program, &filesystem.libjvm(), "args");
            let attack = (0..70).map(start).collect();
            filesystem.fall_silent();
            attack
        },
        || {},
    );
    let notices = &recording.model.notices;
    for said in ["threads that wait", "are left behind"] {
        assert!(notices.iter().any(|n| n.contains(said)), "{notices:?}");
    }
}

/// The kernel told of another file that was mapped there, of the same number.
#[test]
fn mappings_file_that_was_swapped_for_one_that_is_served_is_not_opened() {
    let _guard = Guard::new();
    let folder = Folder::new("swap");
    let program = compiled(&folder, "tests/programs/served.c");
    let real = std::fs::metadata(&program).expect("the program");
    let filesystem = Served::mount(&folder.join("mount"), real.ino());
    let attack = served(&program, &filesystem.file(), "code");
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", attack.pid())).expect("maps");
    let name = filesystem.file().display().to_string();
    let line = maps.lines().find(|line| line.ends_with(&name));
    let (start, rest) = line.expect("its line").split_once('-').expect("a range");
    let end = rest.split(' ').next().expect("an end");
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    filesystem.fall_silent();
    let wanted = WantedMapping {
        start: number(start),
        end: number(end),
        offset: 0,
        device: (
            (real.dev() >> 8 & 0xfff) as u32,
            (real.dev() & 0xff | real.dev() >> 12 & 0xfff00) as u32,
        ),
        inode: real.ino(),
        path: program.display().to_string().into_bytes().into(),
    };
    let process = ProcessFolder::open(attack.pid()).expect("its folder");
    let seen = Prober::default().mappings(&process, &[wanted], RuntimeKnown::default());
    assert!(
        matches!(seen[..], [Seen::Unknown(End::Unreadable)]),
        "{seen:?}"
    );
    assert_eq!(filesystem.unanswered(), 0, "nobody asked");
}

/// Its perf map lies on such a file system, mounted above its `/tmp`: the map is not looked for, and the recording ends.
#[test]
fn pass_beside_a_perf_map_that_is_not_answered_for_goes_on_and_ends() {
    let folder = Folder::new("perf-map");
    let program = compiled(&folder, "../../bench/programs/hostile.c");
    let filesystem = Served::mount(&folder.join("mount"), 7);
    let recording = passes_and_names_beside(&folder, || {
        // Its own path lies below what is mounted.
        let within = "exec 3<\"$1\"; mount --bind \"$0\" /tmp && exec /proc/self/fd/3 jit";
        let start = |_| {
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", within]);
            Program::start(command.arg(folder.join("mount")).arg(&program))
        };
        // They take all the CPU that they get.
        let attack: Vec<Program> = (0..3).map(start).collect();
        let until = Instant::now() + Duration::from_secs(30);
        for program in &attack {
            let comm = format!("/proc/{}/comm", program.pid());
            while std::fs::read(&comm).expect("its name") != b"3\n" {
                assert!(Instant::now() < until, "it runs");
                thread::sleep(Duration::from_millis(5));
            }
        }
        filesystem.fall_silent();
        attack
    });
    assert_eq!(filesystem.unanswered(), 0, "nobody asked");
    let notices = &recording.model.notices;
    let said = |notice: &String| notice.contains("a program serves the file system of its /tmp");
    assert!(notices.iter().any(said), "{notices:?}");
    drop(recording);
    // Threads that hang in the kernel would keep this process.
    let threads = std::fs::read_dir("/proc/self/task").expect("own threads");
    for thread in threads.flatten() {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let hangs = name.starts_with("flametop") && stat.contains(") D ");
        assert!(!hangs, "{stat}");
    }
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
        let mut attack = Program(command.spawn().expect("the program starts"));
        let mut ready = [0; 6];
        let said = attack.0.stdout.as_mut().expect("a pipe");
        said.read_exact(&mut ready).expect("it maps its files");
        vec![attack]
    };
    // On a busy machine the prober is behind with so many files, and debug files of others are looked for meanwhile.
    let recording = passes_and_names_within(Some(7 * NAMED), &folder, attack, || {});
    let notices = &recording.model.notices;
    assert!(!notices.iter().any(|n| n.contains("prober")), "{notices:?}");
    assert_eq!(ended(&recording, "chain", StackEnd::Unreadable), 0);
}
