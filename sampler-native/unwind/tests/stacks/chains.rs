//! Code with unwind information: chains of calls.

use super::*;

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
fn walk_call_is_last_instruction_names_the_caller() {
    let walked = Program::start("noreturn", OMIT, "noreturn.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&["never", "last", "main"]);
    walked.assert_whole();
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
fn walk_endless_recursion_ends_in_the_limit() {
    let program = Program::start("recursion", OMIT, "recursion.c", &[]).asleep();
    let walked = program.walk(16);
    assert_eq!(
        walked.outcome,
        Outcome {
            end: End::Limit,
            want: None,
            unknown_address: None
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
