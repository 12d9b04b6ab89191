//! Goroutines.

use super::*;

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
