//! Several libraries and programs in turn at one address: each has its own names.

use super::*;

/// Builds `plugins` and its two libraries, and starts it so that each is on the CPU for so long (µs) in turn. Gives it and the file
/// that it tells the truth in.
fn plugins(name: &str, turns: [&str; 2]) -> (Program, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = format!("{}/tests/programs/plugins.c", env!("CARGO_MANIFEST_DIR"));
    let build = |output: &Path, flags: &[&str]| {
        let built = Command::new("cc")
            .args(["-O2", "-fomit-frame-pointer", "-Wall", "-Werror", "-o"])
            .arg(output)
            .arg(&source)
            .args(flags)
            .status();
        assert!(built.expect("a C compiler").success());
    };
    let libraries = ["alpha", "bravo"].map(|name| {
        let library = folder.join(name);
        build(
            &library,
            &["-shared", "-fPIC", &format!("-DNAME={name}"), "-ldl"],
        );
        library
    });
    let program = folder.join("plugins");
    build(&program, &["-ldl"]);
    let truth = folder.join("truth");
    let mut command = Command::new(program);
    command.args(&libraries).args(turns).stdin(Stdio::piped());
    command.stdout(std::fs::File::create(&truth).expect("a file"));
    (Program::spawn(&mut command), truth)
}

/// Which library a stack is in by its names; empty if it is in none.
fn library_of(names: &[String]) -> Vec<&str> {
    let found = ["alpha", "bravo"].into_iter();
    let has = |library: &&str| {
        names
            .iter()
            .any(|n| n.starts_with(&format!("{library}_work")))
    };
    found.filter(has).collect()
}

/// Samples of `plugins` that are named by (the library that was open, another one), and those in one that are in neither by name.
fn plugins_named(settings: &str, name: &str, turns: [&str; 2]) -> [usize; 3] {
    let (mut program, truth) = plugins(name, turns);
    let mut recording = Recording::open(&format!("{}\n{settings}", target(program.pid())));
    // Not those before the mappings are known, which a busy machine may be late to tell.
    run_until(&mut recording, "400 whole samples", |model| {
        let samples = model.task(program.pid()).map(|task| &task.samples);
        let whole = samples.into_iter().flatten().filter(|s| s.why == End::Root);
        whole.count() > 400
    });
    program.go_on();
    let status = program.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "3: they are not at one place");
    recording.run(19, 300);
    recording.name_all();
    let model = &recording.model;
    let truth = std::fs::read_to_string(truth).expect("the truth");
    let turns: Vec<(&str, u64, u64)> = truth
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            let mut time = || words.next().expect("a time").parse().expect("ns");
            (name, time(), time())
        })
        .collect();
    let mut counts = [0; 3];
    let tasks = model.tasks.iter().filter(|t| t.tid == program.pid());
    for sample in tasks.flat_map(|task| &task.samples) {
        let at = turns.partition_point(|(_, begin, _)| *begin <= sample.time);
        let Some((open, _, end)) = at.checked_sub(1).map(|at| turns[at]) else {
            continue;
        };
        // Between two turns it opens and closes.
        if sample.time >= end || !sample.user_mode {
            continue;
        }
        let names = sample.stack.map(|stack| model.names(stack));
        match library_of(&names.unwrap_or_default())[..] {
            [named] if named == open => counts[0] += 1,
            [] => counts[2] += 1,
            _ => counts[1] += 1,
        }
    }
    println!("{name}: right, wrong, none: {counts:?}");
    counts
}

#[test]
fn cpu_clock_two_libraries_in_turn_at_one_place_each_has_its_own_name() {
    for (name, turns) in [
        ("plugins-5", ["5000", "5000"]),
        ("plugins-30", ["20000", "40000"]),
        ("plugins-2", ["2000", "6000"]),
    ] {
        let [right, wrong, none] = plugins_named("hz.cpu=199", name, turns);
        assert_eq!(wrong, 0, "{name}");
        // Until both were met once where they are.
        assert!(none <= 30 && right > 200, "{name}: {right} {none}");
    }
}

#[test]
fn cpu_clock_two_libraries_where_the_kernel_does_not_tell_are_polled() {
    let [right, wrong, _] = plugins_named(
        "hz.cpu=199\nmappings.told=0",
        "plugins-polled",
        ["20000", "40000"],
    );
    assert!(right > 100, "{right} {wrong}");
}

/// Of two programs of one layout at the same addresses, which fork children that live so long (µs): samples of children that are
/// named by (their own function, that of the other one), and those in neither.
fn twins_named(flag: &str, life: &str) -> [usize; 3] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("twins{flag}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut twins = ["alpha", "bravo"].map(|name| {
        let program = folder.join(name);
        let built = Command::new("cc")
            .args(["-O2", "-fomit-frame-pointer", "-Wall", "-Werror", flag])
            .arg(format!("-DNAME={name}"))
            .arg("-o")
            .arg(&program)
            .arg(format!(
                "{}/tests/programs/twin.c",
                env!("CARGO_MANIFEST_DIR")
            ))
            .status();
        assert!(built.expect("a C compiler").success());
        let mut twin = Command::new("setarch");
        twin.arg("-R").arg(&program).arg(life);
        Program::spawn(twin.stdin(Stdio::piped()).stdout(Stdio::piped()))
    });
    let [first, second] = twins.each_mut().map(|twin| {
        let mut line = String::new();
        let out = twin.0.stdout.as_mut().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).expect("a line");
        line
    });
    assert_eq!(first, second, "they are at one place");
    let pids = twins.each_ref().map(Program::pid);
    let mut counts = [0; 3];
    let begin = Instant::now();
    while counts.iter().sum::<usize>() < 200 {
        assert!(begin.elapsed() < PATIENCE, "they get no time: {counts:?}");
        let mut recording = Recording::open("target=all\nhz.cpu=199");
        // No longer than what has ended is remembered.
        recording.run(19, 1000);
        recording.name_all();
        let model = &recording.model;
        for (name, other) in [("alpha", "bravo"), ("bravo", "alpha")] {
            let children = model.tasks.iter();
            let children = children.filter(|t| t.comm == name && !pids.contains(&t.tid));
            for sample in children.flat_map(|t| t.samples.iter().filter(|s| s.user_mode)) {
                let names = sample.stack.map(|stack| model.names(stack));
                let names = names.unwrap_or_default();
                let has = |name: &str| names.iter().any(|n| n.starts_with(&format!("{name}_work")));
                let place = match (has(name), has(other)) {
                    (_, true) => 1,
                    (true, false) => 0,
                    _ => 2,
                };
                counts[place] += 1;
            }
        }
    }
    for twin in &mut twins {
        twin.go_on();
        twin.0.wait().expect("it ends");
    }
    println!("{flag} {life}: own, other, none: {counts:?}");
    counts
}

#[test]
fn cpu_clock_two_programs_of_one_layout_at_the_same_addresses_keep_their_names() {
    for (flag, life) in [("-no-pie", "3000"), ("-pie", "3000"), ("-no-pie", "30000")] {
        let [own, other, none] = twins_named(flag, life);
        assert_eq!(other, 0, "{flag} {life}");
        assert!(own > 9 * none, "{flag} {life}: {own} {none}");
    }
}
