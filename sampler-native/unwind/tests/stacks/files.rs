//! Programs and libraries whose files are gone, changed or elsewhere.

use super::*;

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
fn maps_at_of_a_process_of_forty_thousand_mappings_reads_one() {
    let program = Program::start("many-at", OMIT, "many.c", &["40000"]);
    let tgid = program.child.id();
    let process = ProcessFolder::open(tgid).expect("its folder");
    let prober = Prober::default();
    let at = |address| {
        let maps = prober.maps_at(&process, address, RuntimeKnown::default());
        maps.expect("its mappings")
    };
    let text = fs::read_to_string(format!("/proc/{tgid}/maps")).expect("its mappings");
    let start = |what: &str| {
        let line = text.lines().find(|line| line.contains(what));
        let start = line
            .and_then(|line| line.split_once('-'))
            .expect("a range")
            .0;
        u64::from_str_radix(start, 16).expect("a number")
    };
    if !at(0).is_part() {
        println!("only an older kernel is here: all are read instead");
        return;
    }
    // Nothing is there; no code; code of no file.
    for (address, empty) in [
        (0x1000, true),
        (start("[stack]"), true),
        (start("[vdso]"), false),
    ] {
        let maps = at(address);
        assert_eq!((maps.lines(), maps.files()), (1, 0));
        assert_eq!((maps.is_part(), maps.is_empty()), (true, empty));
    }
    // Code of a file was moved there, and other code may have come to its place.
    let all = at(start("r-xp"));
    assert!(!all.is_part() && all.lines() > 40_000, "{}", all.lines());
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
