//! The prober as flametop uses it: the real process, asked, stopped, killed and hung. Run as root.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use flametop_prober::{Client, Missing, NoElf, Request, Told, Whom};
use flametop_unwind::{OpenFile, RuntimeKnown};

const PROGRAM: &str = env!("CARGO_BIN_EXE_flametop-symbolizer");
/// No test waits longer for what it expects.
const PATIENCE: Duration = Duration::from_secs(60);

type Answer = (u32, Told<Arc<OpenFile>>);

struct Asked(Client<u32>);

impl Asked {
    fn new() -> Asked {
        Asked(Client::start(Path::new(PROGRAM)).expect("a client"))
    }

    fn next(&self) -> Answer {
        let until = Instant::now() + PATIENCE;
        let mut answers = Vec::new();
        while answers.is_empty() {
            assert!(Instant::now() < until, "no answer");
            self.0.wait(Instant::now() + Duration::from_millis(50));
            answers = self.0.take();
        }
        assert_eq!(answers.len(), 1, "one at a time");
        answers.remove(0)
    }

    /// The command line of this process, asked for until there is one.
    fn answers_again(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            assert!(self.0.ask(0, Request::CommandLine(own()), 0));
            if let (_, Told::CommandLine(Some(text))) = self.next() {
                assert!(!text.is_empty());
                return;
            }
            assert!(Instant::now() < until, "no answer again");
        }
    }

    /// The process that runs now.
    fn pid(&self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let [pid] = self.0.pids()[..] {
                return pid;
            }
            assert!(Instant::now() < until, "{:?}", self.0.pids());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn notice(&self, of: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let notices = self.0.take_notices();
            if let Some(notice) = notices.into_iter().find(|notice| notice.contains(of)) {
                return notice;
            }
            assert!(Instant::now() < until, "no notice of {of}");
            self.0.take();
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn own() -> Whom {
    Whom {
        tgid: std::process::id(),
        start: None,
    }
}

/// Of a process that is there.
fn start_of(tgid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{tgid}/stat")).expect("its numbers");
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let start = fields.split_ascii_whitespace().nth(19).expect("its start");
    start.parse().expect("a number")
}

/// A line of `/proc/PID/status`.
fn status(pid: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.expect("the line").trim_matches([':', '\t']).to_owned()
}

fn signal(pid: u32, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

/// A child that is killed and reaped at the end.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Program {
        Program(command.spawn().expect("the program starts"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ask_command_line_is_that_of_the_process_and_of_no_other_with_its_number() {
    let asked = Asked::new();
    let start = start_of(std::process::id());
    for (start, known) in [(start, true), (start + 100, false)] {
        let whom = Whom {
            start: Some(start),
            ..own()
        };
        assert!(asked.0.ask(0, Request::CommandLine(whom), 7));
        let (tag, told) = asked.next();
        assert_eq!(tag, 7);
        assert!(
            matches!(&told, Told::CommandLine(text) if text.is_some() == known),
            "{told:?}"
        );
    }
}

#[test]
fn ask_maps_of_who_is_there_has_files_and_of_who_is_gone_has_none() {
    let asked = Asked::new();
    let mut gone = Program::start(&mut Command::new("true"));
    gone.0.wait().expect("it ends");
    for (tgid, there) in [(std::process::id(), true), (gone.0.id(), false)] {
        let whom = Whom { tgid, start: None };
        let request = Request::Maps(whom, RuntimeKnown::default());
        assert!(asked.0.ask(0, request, 0));
        match asked.next().1 {
            Told::Maps(Ok(mapped)) => {
                assert!(there);
                assert_eq!(mapped.start, start_of(tgid));
                let text = format!("{:?}", mapped.maps);
                assert!(text.contains("File(OpenFile"), "{text}");
            }
            Told::Maps(Err(missing)) => assert_eq!((missing, there), (Missing::Gone, false)),
            other => panic!("{other:?}"),
        }
    }
}

/// Files are passed once, and again when they were let go of.
#[test]
fn ask_maps_again_and_again_files_stay_few_on_both_sides() {
    let asked = Asked::new();
    let files = |pid: u32| {
        fs::read_dir(format!("/proc/{pid}/fd"))
            .expect("files")
            .count()
    };
    let mut before = None;
    for _ in 0..50 {
        let request = Request::Maps(own(), RuntimeKnown::default());
        assert!(asked.0.ask(0, request, 0));
        let (_, told) = asked.next();
        assert!(matches!(told, Told::Maps(Ok(_))), "{told:?}");
        drop(told);
        // It has been let go of when that is answered.
        asked.answers_again();
        let now = (files(std::process::id()), files(asked.pid()));
        let first = *before.get_or_insert(now);
        assert!(now.0 <= first.0 + 16 && now.1 <= first.1 + 16, "{now:?}");
    }
}

/// The ELF file at a path in the own root.
fn elf(asked: &Asked, path: &Path) -> Result<File, NoElf> {
    let path = path.as_os_str().as_bytes().to_vec();
    assert!(asked.0.ask(0, Request::Elf(own(), path), 0));
    match asked.next().1 {
        Told::Elf(found) => found.map(|passed| passed.file().expect("it came")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn ask_elf_file_comes_each_time_where_no_file_is_to_stay_open() {
    let asked = Asked::new();
    asked.0.keep_open(0);
    let own_program = std::env::current_exe().expect("own path");
    let facts = fs::metadata(&own_program).expect("facts");
    // A file of a mapping, which is not open at this side.
    let request = Request::Maps(own(), RuntimeKnown::default());
    assert!(asked.0.ask(0, request, 0));
    let (_, mapped) = asked.next();
    for _ in 0..3 {
        let found = elf(&asked, &own_program).expect("found");
        assert_eq!(found.metadata().expect("facts").ino(), facts.ino());
    }
    drop(mapped);
    assert!(matches!(
        elf(&asked, Path::new("/nonexistent")),
        Err(NoElf::Absent)
    ));
    assert!(matches!(
        elf(&asked, Path::new("/etc/passwd")),
        Err(NoElf::Other)
    ));
}

#[test]
fn ask_elf_file_again_and_again_none_stays_open_on_either_side() {
    let asked = Asked::new();
    // No other test opens it.
    let program = fs::canonicalize("/bin/true").expect("a program");
    let files = |pid: u32| {
        let folder = fs::read_dir(format!("/proc/{pid}/fd")).expect("files");
        let paths = folder.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        paths.filter(|path| *path == program).count()
    };
    for _ in 0..50 {
        drop(elf(&asked, &program).expect("found"));
    }
    // The last one is closed when the next question is answered.
    asked.answers_again();
    assert_eq!([files(asked.pid()), files(std::process::id())], [0; 2]);
}

#[test]
fn ask_elf_file_of_a_prober_that_was_stopped_is_never_said_to_be_absent() {
    let asked = Asked::new();
    asked.answers_again();
    let own_program = std::env::current_exe().expect("own path");
    for _ in 0..2 {
        signal(asked.pid(), "-STOP");
        let path = own_program.as_os_str().as_bytes().to_vec();
        assert!(asked.0.ask(0, Request::Elf(own(), path), 0));
        // Its successor answers, unless that takes too long to start.
        let (_, told) = asked.next();
        let known = matches!(&told, Told::Elf(Ok(_) | Err(NoElf::Late)));
        assert!(known, "{told:?}");
    }
}

#[test]
fn ask_process_that_was_killed_its_successor_answers() {
    let asked = Asked::new();
    asked.answers_again();
    let first = asked.pid();
    signal(first, "-KILL");
    asked.answers_again();
    assert_ne!(asked.pid(), first);
    assert!(asked.notice("was replaced").contains("ended"));
}

#[test]
fn ask_process_that_was_stopped_is_given_up_and_its_successor_answers() {
    let asked = Asked::new();
    asked.answers_again();
    let first = asked.pid();
    signal(first, "-STOP");
    asked.answers_again();
    assert_ne!(asked.pid(), first);
    assert!(asked.notice("was replaced").contains("did not answer"));
    assert!(
        !Path::new(&format!("/proc/{first}")).exists(),
        "it is reaped"
    );
}

#[test]
fn start_a_program_that_is_not_there_is_said_and_questions_end() {
    let asked = Asked(Client::start(Path::new("/nonexistent/program")).expect("a client"));
    assert!(asked.0.ask(0, Request::CommandLine(own()), 3));
    let notice = asked.notice("cannot be started");
    assert!(notice.contains("/nonexistent/program"), "{notice}");
    let (tag, told) = asked.next();
    assert!(tag == 3 && matches!(told, Told::CommandLine(None)));
    assert_eq!(asked.0.given_up(), 1);
}

#[test]
fn start_a_program_that_says_nothing_is_replaced_and_questions_end() {
    let asked = Asked(Client::start(Path::new("/bin/cat")).expect("a client"));
    assert!(asked.0.ask(0, Request::CommandLine(own()), 3));
    let (_, told) = asked.next();
    assert!(matches!(told, Told::CommandLine(None)));
    asked.notice("was replaced");
}

#[test]
fn ask_more_than_may_wait_is_refused_and_each_question_is_answered_once() {
    let asked = Asked::new();
    asked.answers_again();
    signal(asked.pid(), "-STOP");
    let request = || Request::CommandLine(own());
    let waiting = (0..100_000)
        .take_while(|n| asked.0.ask(1, request(), *n))
        .count();
    assert!((1..100_000).contains(&waiting), "{waiting}");
    assert!(asked.0.ask(2, request(), u32::MAX), "another user may");
    let mut answered = Vec::new();
    let until = Instant::now() + PATIENCE;
    while answered.len() < waiting + 1 {
        assert!(Instant::now() < until, "{} of {waiting}", answered.len());
        asked.0.wait(Instant::now() + Duration::from_millis(50));
        answered.extend(asked.0.take().into_iter().map(|(tag, _)| tag));
    }
    answered.sort_unstable();
    answered.dedup();
    assert_eq!(answered.len(), waiting + 1);
}

#[test]
fn process_has_the_rights_that_reading_takes_and_no_more() {
    let asked = Asked::new();
    asked.answers_again();
    let pid = asked.pid();
    // CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE.
    let kept = 1u64 << 2 | 1 << 19 | 1 << 40;
    for set in ["CapEff", "CapPrm"] {
        let set = u64::from_str_radix(&status(pid, set), 16).expect("a number");
        assert_eq!(set, kept);
    }
    for set in ["CapInh", "CapBnd", "CapAmb"] {
        assert_eq!(status(pid, set), "0000000000000000", "{set}");
    }
    let own = (0x7000_0000 + pid).to_string();
    for ids in ["Uid", "Gid"] {
        let ids = status(pid, ids);
        assert_eq!(ids.split('\t').collect::<Vec<_>>(), [&own; 4]);
    }
    assert_eq!(status(pid, "Groups").trim(), "");
    assert_eq!(status(pid, "NoNewPrivs"), "1");
    assert_eq!(status(pid, "Seccomp"), "2");
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
    let data = limits
        .lines()
        .find(|line| line.starts_with("Max data size"));
    assert!(data.is_some_and(|line| !line.contains("unlimited")));
}

/// It would wake a CPU for nothing.
#[test]
fn process_that_is_not_asked_sleeps_and_so_does_its_client() {
    let asked = Asked::new();
    asked.answers_again();
    let pid = asked.pid();
    let keeper = || {
        let threads = fs::read_dir("/proc/self/task").expect("threads").flatten();
        let of = |thread: &fs::DirEntry| {
            fs::read(thread.path().join("comm"))
                .is_ok_and(|comm| comm.starts_with(b"flametop-keeper"))
        };
        let switches = |thread: fs::DirEntry| {
            let id = thread.file_name().to_str()?.parse().ok()?;
            Some((id, status(id, "voluntary_ctxt_switches")))
        };
        threads
            .filter(of)
            .filter_map(switches)
            .collect::<Vec<(u32, String)>>()
    };
    thread::sleep(Duration::from_millis(300));
    let before = (status(pid, "voluntary_ctxt_switches"), keeper());
    thread::sleep(Duration::from_millis(1500));
    let after = (status(pid, "voluntary_ctxt_switches"), keeper());
    assert_eq!(before.0, after.0);
    // Those of other tests beside it may come and go.
    let same = before.1.iter().filter(|thread| after.1.contains(thread));
    assert!(same.count() > 0, "{:?} {:?}", before.1, after.1);
}

const CHILD: &str = "FLAMETOP_PROBER_OF_TEST";

#[test]
fn process_whose_flametop_is_killed_ends() {
    if std::env::var_os(CHILD).is_some() {
        let asked = Asked::new();
        asked.answers_again();
        println!("prober {}", asked.pid());
        thread::sleep(PATIENCE);
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("own path"));
    command
        .args([
            "--exact",
            "process_whose_flametop_is_killed_ends",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .stdout(Stdio::piped());
    let mut flametop = Program::start(&mut command);
    let lines = BufReader::new(flametop.0.stdout.take().expect("its output")).lines();
    let mut lines = lines.map_while(Result::ok);
    let pid = lines.find_map(|line| Some(line.split_once("prober ")?.1.to_owned()));
    let pid = pid.expect("its prober");
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    flametop.0.kill().expect("killed");
    let until = Instant::now() + PATIENCE;
    let gone = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        // Where nobody reaps it, it stays as a zombie.
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    while !gone() {
        assert!(Instant::now() < until, "it lives");
        thread::sleep(Duration::from_millis(5));
    }
}
