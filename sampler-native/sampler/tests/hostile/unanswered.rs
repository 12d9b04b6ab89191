//! Files and memory that a filesystem in user space serves, which stops answering.

use std::{
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use flametop_stream::SourceState;
use flametop_unwind::{End, Prober, ProcessFolder, RuntimeKnown, Seen, WantedMapping};

use crate::{
    Folder, Guard, compiled,
    model::{self, Recording},
    passes_and_names_beside, passes_and_names_within,
    program::Program,
    served::{self, Mounted, Served},
};

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
    passes_and_names_within(
        None,
        &["threads that wait", "are left behind"],
        &folder,
        || {
            let start = |n: u32| served_of(60_000 + n, &program, &filesystem.libjvm(), "args");
            let attack = (0..70).map(start).collect();
            filesystem.fall_silent();
            attack
        },
        || {},
    );
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
