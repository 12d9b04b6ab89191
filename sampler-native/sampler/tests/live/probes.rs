//! Probes of programs: from the words of a user to exact counts. The files are looked into while passes go on.

use std::{
    io::{BufRead, BufReader, Write},
    process::ChildStdout,
};

use flametop_stream::SourceState;

use super::{
    events::{set, settled, until},
    *,
};

/// A program that says that it is ready, and waits to be told to begin.
struct Talking {
    program: Program,
    said: BufReader<ChildStdout>,
}

impl Talking {
    fn start(command: &mut Command) -> Talking {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = Program::spawn(command);
        let said = BufReader::new(program.0.stdout.take().expect("a pipe"));
        let mut talking = Talking { program, said };
        while talking.line() != "ready" {}
        talking
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let bytes = self.said.read_line(&mut line).expect("a line");
        assert!(bytes > 0, "the program has ended");
        line.trim_end().to_owned()
    }

    fn begin(&mut self) {
        let stdin = self.program.0.stdin.as_mut().expect("it is open");
        stdin.write_all(b"g").expect("it reads");
    }

    /// The number that it says behind a word.
    fn number(&mut self, word: &str) -> u64 {
        let line = self.line();
        let number = line.strip_prefix(word).unwrap_or_else(|| panic!("{line}"));
        number.trim().parse().expect("a number")
    }

    fn recording(&self) -> Recording {
        Recording::open(&format!("{}\nhz.cpu=0", target(self.program.pid())))
    }
}

/// A program of these tests by another compiler.
fn built(name: &str, command: &mut Command) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = |name: &str| format!("{}/tests/programs/{name}", env!("CARGO_MANIFEST_DIR"));
    let status = match command.get_program().to_str() {
        Some("go") => command
            .args(["build", "-ldflags=-s -w", "-o"])
            .arg(&path)
            .arg(source("probed.go"))
            .env("GOFLAGS", "-mod=mod")
            .env("GO111MODULE", "off"),
        _ => command.arg("-o").arg(&path).arg(source("probed.cc")),
    }
    .status();
    assert!(status.expect("a compiler").success());
    path
}

fn cpp() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let command = || built("probed-cpp", Command::new("c++").args(["-g", "-O2"]));
    PROGRAM.get_or_init(command).clone()
}

/// Without a table of symbols, but for the functions that other files may call.
fn stripped() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let command = || {
        built(
            "probed-stripped",
            Command::new("c++").args(["-O2", "-s", "-rdynamic"]),
        )
    };
    PROGRAM.get_or_init(command).clone()
}

fn is_on(recording: &Recording, number: u32) {
    let (state, why) = &recording.model.sources[&number];
    assert_eq!((*state, why.as_str()), (SourceState::On, ""), "{number}");
}

fn why(recording: &Recording, number: u32) -> &str {
    let (state, why) = &recording.model.sources[&number];
    assert_eq!(*state, SourceState::Missing, "{number}");
    println!("{why}");
    why
}

fn hits(recording: &mut Recording, wanted: &[(u32, u64)]) {
    until(recording, |model| {
        wanted.iter().all(|(number, hits)| {
            let totals = model.totals.get(number);
            totals.is_some_and(|totals| totals.hits >= *hits)
        })
    });
    for (number, hits) in wanted {
        assert_eq!(recording.model.totals[number].hits, *hits, "{number}");
    }
}

#[test]
fn probes_usdt_of_a_process_is_found_without_its_file_and_each_argument_weighs_to_the_digit() {
    let mut program =
        Talking::start(Command::new(compiled("events")).args(["usdt", "500", "300", "200"]));
    let mut recording = program.recording();
    for number in 0..3 {
        set(
            &recording,
            number,
            &format!("usdt:flametop:step,weight=arg{number}"),
        );
    }
    set(&recording, 3, "usdt:flame*:/^st[e]p$/");
    let file = compiled("events");
    let file = file.display();
    set(&recording, 4, &format!("usdt:{file}:flametop:step"));
    set(&recording, 5, "usdt:flametop:stop");
    set(&recording, 6, "usdt:flametop:step,weight=arg3");
    settled(&mut recording, 7);
    for number in 0..5 {
        is_on(&recording, number);
    }
    assert!(why(&recording, 5).contains("did you mean flametop:step?"));
    assert!(why(&recording, 6).contains("has 3 arguments at its probe flametop:step, and no arg3"));
    program.begin();
    assert_eq!(program.number("watched"), 3, "once for each place");
    hits(
        &mut recording,
        &[(0, 1000), (1, 1000), (2, 1000), (3, 1000), (4, 1000)],
    );
    let sum = |n: u64| n * (n - 1) / 2;
    let weights = [
        sum(500) + 300 * 5,
        // An argument below 0 weighs nothing.
        sum(300) + 200,
        500 * 3 + sum(300) + 2 * sum(200),
        1000,
        1000,
    ];
    for (number, weight) in (0..).zip(weights) {
        assert_eq!(recording.model.totals[&number].weight, weight, "{number}");
    }
    recording.name_all();
    let model = &recording.model;
    let taken = || model.events.iter().filter(|(_, number, ..)| *number == 3);
    let weight = |rate: u64| match rate {
        0 => 1.0,
        rate => 1.0 / -(-1.0 / rate as f64).exp_m1(),
    };
    let of = |function: &str| {
        let of_function = taken().filter(|(head, ..)| {
            let names = from_main(model, head.stack.expect("a stack"));
            names.last().map(String::as_str) == Some(function)
        });
        of_function.map(|(.., rate)| weight(*rate)).sum::<f64>()
    };
    // A hit that is taken with probability 1 / w adds w * (w - 1) to the variance of a sum, and the rate may differ by hit.
    let variance = |(.., rate): &(_, _, _, u64)| weight(*rate) * (weight(*rate) - 1.0);
    let error = 5.0 * taken().map(variance).sum::<f64>().sqrt();
    let totals = &model.totals[&3];
    for (function, hits) in [("first", 500.0), ("second", 300.0), ("third", 200.0)] {
        let share = of(function);
        println!("{function}: {share} of {hits}, {} stacks", totals.taken);
        assert!(
            (share - hits).abs() <= error + 0.01,
            "{function}: {share} of {hits}, {error} at most"
        );
    }
}

#[test]
fn probes_functions_of_cpp_and_of_a_stripped_file_have_their_own_durations() {
    for (file, spin) in [
        (cpp(), "space::Spinner::spin(long)"),
        (stripped(), "_ZN5space7Spinner4spinEl"),
    ] {
        let mut program = Talking::start(Command::new(&file).arg("50"));
        let mut recording = program.recording();
        let file = file.display();
        set(
            &recording,
            1,
            &format!("uretprobe:{file}:{spin},weight=dur"),
        );
        set(&recording, 2, &format!("uretprobe:{file}:work,weight=dur"));
        set(
            &recording,
            3,
            &format!("uprobe:{file}:space::Spinner::spin"),
        );
        set(
            &recording,
            4,
            &format!("uretprobe:{file}:space::*(long),weight=ret"),
        );
        set(&recording, 5, &format!("uprobe:{file}:wrok"));
        set(&recording, 6, &format!("uprobe:{file}:work+1000000"));
        settled(&mut recording, 6);
        for number in 1..=4 {
            is_on(&recording, number);
        }
        assert!(why(&recording, 5).contains("did you mean work?"));
        assert!(why(&recording, 6).contains("has no offset 1000000 in work, which has "));
        program.begin();
        let mut bounds = |word: &str| {
            let around = program.number(word);
            (program.number(&format!("{word} within")), around)
        };
        let own = [(1, bounds("spun")), (2, bounds("worked"))];
        hits(&mut recording, &[(1, 50), (2, 50), (3, 200), (4, 50)]);
        let model = &recording.model;
        assert_eq!(model.totals[&4].weight, 50 * 2001);
        // By the program's own clock, whatever else runs on the machine: not less than in the function, nor more than around its calls.
        for (number, (within, around)) in own {
            let measured = model.totals[&number].weight;
            println!("{number}: {within} {measured} {around}");
            assert!((within..=around).contains(&measured), "{number}");
        }
    }
}

#[test]
fn probes_throws_of_cpp_are_counted_by_who_throws() {
    let mut program = Talking::start(Command::new(cpp()).arg("50"));
    let mut recording = program.recording();
    set(&recording, 1, "usdt:libstdcxx:throw");
    set(&recording, 2, "usdt:libstdc++:libstdcxx:catch");
    settled(&mut recording, 2);
    is_on(&recording, 1);
    is_on(&recording, 2);
    program.begin();
    hits(&mut recording, &[(1, 300), (2, 300)]);
    until(&mut recording, |model| {
        let totals = &model.totals[&1];
        let events = model.events.iter().filter(|(_, number, ..)| *number == 1);
        events.count() as u64 == totals.taken - totals.lost
    });
    recording.name_all();
    for (function, thrown) in [("throws_often", 250.0), ("throws_seldom", 50.0)] {
        let (estimate, error) = estimated(&recording.model, 1, |names| {
            names.iter().any(|name| name.starts_with(function))
        });
        // Of few stacks perhaps none is of the rare ones: then the error is that of a share of one half.
        let totals = &recording.model.totals[&1];
        let error = match totals.taken - totals.lost == totals.hits {
            true => 0.0,
            false => error.max(300.0 * 0.5 / (totals.taken as f64).sqrt()),
        };
        println!("{function}: {estimate} ± {error} of {thrown}");
        assert!(
            (estimate - thrown).abs() <= 5.0 * error + 0.01,
            "{function}: {estimate} ± {error} of {thrown}"
        );
    }
}

/// How many hits of a source the stacks stand for of which something is so, and the standard error of that.
fn estimated(model: &Model, number: u32, so: impl Fn(&[String]) -> bool) -> (f64, f64) {
    let (mut sum, mut variance) = (0.0, 0.0);
    for (head, of, weight, rate) in &model.events {
        let names = head.stack.map(|stack| model.names(stack));
        if *of == number && names.is_some_and(|names| so(&names)) {
            let weight = *weight as f64;
            let share = match rate {
                0 => weight,
                rate => weight / -(-weight / *rate as f64).exp_m1(),
            };
            sum += share;
            variance += share * (share - weight);
        }
    }
    (sum, variance.sqrt())
}

#[test]
fn probes_functions_of_stripped_go_have_names_and_returns_of_them_are_refused() {
    let file = built("probed-go", &mut Command::new("go"));
    let mut program = Talking::start(Command::new(&file).arg("40"));
    let mut recording = program.recording();
    let file = file.display();
    set(&recording, 1, &format!("uprobe:{file}:main.(*worker).Do"));
    set(
        &recording,
        2,
        &format!("uretprobe:{file}:main.(*worker).Do"),
    );
    set(&recording, 3, &format!("uprobe:{file}:main.(worker).Do"));
    settled(&mut recording, 3);
    is_on(&recording, 1);
    assert!(why(&recording, 2).contains("Go moves its stacks"));
    assert!(why(&recording, 3).contains("main.(*worker).Do"));
    program.begin();
    assert!(program.number("did") > 40_000_000);
    hits(&mut recording, &[(1, 40)]);
}

#[test]
fn probes_many_at_once_are_refused_until_the_user_insists() {
    let program = Talking::start(Command::new(cpp()).arg("1"));
    let mut recording = program.recording();
    set(&recording, 1, "uprobe:libstdc++:*");
    settled(&mut recording, 1);
    let refused = why(&recording, 1);
    assert!(
        refused
            .contains("1000 at most are probed at once: name fewer, or insist with --force-probes"),
        "{refused}"
    );
    recording.session.wishes().force_probes();
    set(&recording, 1, "uprobe:libstdc++:*");
    until(&mut recording, |model| {
        model.sources[&1].0 == SourceState::On
    });
}

#[test]
fn probes_a_file_that_is_replaced_goes_on_where_it_runs_and_says_that_new_starts_are_not_probed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replaced");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, new) = (folder.join("program"), folder.join("new"));
    std::fs::copy(cpp(), &file).expect("a copy");
    let start = || Talking::start(Command::new(&file).arg("10"));
    let mut old = start();
    let mut recording = Recording::open("target=all\nhz.cpu=0");
    let spec = format!("uprobe:{}:work", file.display());
    set(&recording, 1, &spec);
    settled(&mut recording, 1);
    is_on(&recording, 1);
    // As a package is upgraded.
    std::fs::copy(cpp(), &new).expect("a copy");
    std::fs::rename(&new, &file).expect("it takes the place");
    until(&mut recording, |model| !model.sources[&1].1.is_empty());
    let (state, words) = &recording.model.sources[&1];
    println!("{words}");
    assert_eq!(*state, SourceState::On);
    let replaced = format!(
        "{} was replaced: programs that began before are still probed, those that begin now are not; switch the source off and on to probe \
         what is there now",
        file.display()
    );
    assert_eq!(*words, replaced);
    let notices = &recording.model.notices;
    assert!(
        notices.iter().any(|notice| notice.contains(&replaced)),
        "{notices:?}"
    );
    old.begin();
    hits(&mut recording, &[(1, 10)]);
    let mut young = start();
    young.begin();
    while !young.line().starts_with("worked within") {}
    recording.run(20, 400);
    assert_eq!(recording.model.totals[&1].hits, 10, "it is not probed");

    recording.session.wishes().set_source(1, None);
    set(&recording, 1, &spec);
    until(&mut recording, |model| {
        model.sources[&1] == (SourceState::On, String::new())
    });
    let mut young = start();
    young.begin();
    hits(&mut recording, &[(1, 20)]);

    std::fs::remove_file(&file).expect("it is removed");
    until(&mut recording, |model| {
        model.sources[&1].1.contains(" was removed: ")
    });
}

#[test]
fn probes_passes_are_made_while_a_thousand_places_are_attached_and_detached() {
    let program = Talking::start(Command::new(cpp()).arg("1"));
    let mut recording = program.recording();
    recording.session.wishes().force_probes();
    recording.run(49, 500);
    let (mut slowest, mut on) = (Duration::ZERO, 0);
    for _ in 0..3 {
        set(&recording, 1, "uretprobe:libstdc++:*,weight=dur");
        let begin = Instant::now();
        while !matches!(recording.model.sources.get(&1), Some((SourceState::On, _))) {
            assert!(begin.elapsed() < PATIENCE, "{:?}", recording.model.sources);
            let filled = Instant::now();
            recording.fill(true);
            slowest = slowest.max(filled.elapsed());
            on += 1;
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("on after {:?}", begin.elapsed());
        recording.session.wishes().set_source(1, None);
        let filled = Instant::now();
        recording.fill(true);
        slowest = slowest.max(filled.elapsed());
        assert_eq!(recording.model.sources[&1].0, SourceState::Off);
    }
    println!("{on} passes meanwhile, the slowest took {slowest:?}");
    assert!(on > 3, "passes are made while it attaches");
}

#[test]
fn probes_files_that_harm_who_reads_them_hold_no_pass_up() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harm");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = Talking::start(Command::new(cpp()).arg("1"));
    let good = std::fs::read(cpp()).expect("the program");
    // Cut off, of another kind, not a program at all, and with a table of symbols that is larger than any.
    let mut huge = good.clone();
    let table = u64::from_le_bytes(huge[40..48].try_into().expect("a word")) as usize;
    let sections = usize::from(u16::from_le_bytes(
        huge[60..62].try_into().expect("a number"),
    ));
    for section in 0..sections {
        let at = table + 64 * section;
        if huge[at + 4..at + 8] == 2u32.to_le_bytes() {
            huge[at + 32..at + 40].copy_from_slice(&u64::MAX.to_le_bytes());
        }
    }
    let mut narrow = good.clone();
    narrow[4] = 1;
    let files = [
        ("cut", &good[..good.len() / 3]),
        ("empty", &good[..0]),
        ("text", b"#!/bin/sh\n"),
        ("huge", &huge),
        ("narrow", &narrow),
    ];
    let mut recording = program.recording();
    for (number, (name, bytes)) in (0..).zip(files) {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("a file");
        set(
            &recording,
            number,
            &format!("uprobe:{}:work", path.display()),
        );
    }
    set(&recording, 7, &format!("uprobe:{}:work", folder.display()));
    set(&recording, 8, "uprobe:/proc/self/exe:work");
    set(&recording, 9, &format!("uprobe:{}:work", cpp().display()));
    settled(&mut recording, files.len() + 3);
    for number in [0, 1, 2, 3, 4, 7, 8] {
        assert!(!why(&recording, number).is_empty());
    }
    is_on(&recording, 9);
}

#[test]
fn probes_of_a_process_in_a_container_are_in_the_file_of_its_own_root() {
    // A program that the container has where this system has another one.
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("root");
    for folder in ["bin", "proc", "old"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let source = format!(
        "{}/../kernel/tests/programs/events.c",
        env!("CARGO_MANIFEST_DIR")
    );
    let status = Command::new("cc")
        .args(["-g", "-O2", "-static", "-pthread", "-o"])
        .arg(root.join("bin/true"))
        .arg(source)
        .status();
    assert!(status.expect("a C compiler").success());
    let enter =
        r#"mount --bind "$0" "$0" && cd "$0" && pivot_root . old && exec /bin/true seldom 50"#;
    let mut outside = Talking::start(
        Command::new("unshare")
            .args(["--fork", "--kill-child", "--pid", "--mount"])
            .args(["sh", "-c", enter])
            .arg(&root),
    );
    let children = format!("/proc/{0}/task/{0}/children", outside.program.pid());
    let children = std::fs::read_to_string(children).expect("children");
    let inside: u32 = children.trim().parse().expect("one child");
    let mut recording = Recording::open(&format!("{}\nhz.cpu=0", target(inside)));
    set(&recording, 1, "uprobe:/bin/true:inner");
    set(&recording, 2, "uretprobe:/bin/true:outer,weight=dur");
    set(&recording, 3, "usdt:flametop:step");
    set(&recording, 4, "uprobe:/bin/true:innner");
    settled(&mut recording, 4);
    for number in 1..=3 {
        is_on(&recording, number);
    }
    assert!(why(&recording, 4).contains("did you mean inner?"));
    outside.begin();
    hits(&mut recording, &[(1, 100), (2, 50), (3, 0)]);
    until(&mut recording, |model| {
        model.events.iter().any(|(_, number, ..)| *number == 1)
    });
    recording.name_all();
    let model = &recording.model;
    for (head, number, ..) in &model.events {
        let names = from_main(model, head.stack.expect("a stack"));
        let top = if *number == 1 { "inner" } else { "outer" };
        assert_eq!(names.last().map(String::as_str), Some(top), "{names:?}");
    }
}
