//! Code without unwind information: by its instructions, by frame pointers, by guess.

use super::*;

#[test]
fn walk_no_unwind_information_but_frame_pointers_is_complete() {
    let options = [
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-fno-omit-frame-pointer",
    ];
    let walked = chain("chain-pointers", &options);
    walked.assert_contains(&CHAIN);
    walked.assert_whole();
}

#[test]
fn walk_no_unwind_information_at_all_is_complete_by_the_instructions() {
    for (name, strip) in [("chain-nothing", "-Wl,-z,now"), ("chain-stripped", "-s")] {
        let mut program = Program::start(
            name,
            &[
                OMIT,
                &[
                    "-fno-asynchronous-unwind-tables",
                    "-fno-unwind-tables",
                    strip,
                ],
            ]
            .concat(),
            "chain.c",
            &[],
        )
        .asleep();
        let stripped = strip == "-s";
        if stripped {
            program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        }
        let walked = program.walk(0);
        match stripped {
            false => walked.assert_contains(&CHAIN),
            true => walked.assert_contains(&["code"; CHAIN.len()]),
        }
        walked.assert_whole();
    }
}

#[test]
fn walk_musl_finds_the_chain_and_guesses_nothing() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    for (name, option) in [("chain-musl", "-fPIE"), ("chain-musl-static", "-static")] {
        let path = Program::compile(name, &[&compiler[..], &[option]].concat(), "chain.c");
        let walked = Program::run(path.clone(), &[]).asleep().walk(0);
        walked.assert_contains(&CHAIN);
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[process start]"));
        let walked = Program::run(path, &["thread"]).asleep().walk(0);
        walked.assert_contains(&[&CHAIN[..10], &["thread"]].concat());
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[thread start]"));
    }
}

/// Walks a program at each of as many instructions, and holds the callers against those that its calls have made.
fn step_beside_calls(program: &Program, steps: usize) -> Steps {
    let mut modules = Modules::new(LIMIT);
    let mut unwinder = Unwinder::new();
    let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
    let mut stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
    // Where return addresses are, and they.
    let mut calls: Vec<(u64, u64)> = Vec::new();
    let mut told = Steps::default();
    for _ in 0..steps {
        let (frames, outcome, _) = stopped.walk(&mut unwinder, &maps, &mut modules, 1);
        let addresses: Vec<u64> = frames
            .iter()
            .filter_map(|frame| maps.address(frame.module, frame.offset))
            .collect();
        let (sp, ip) = (stopped.regs[7], stopped.regs[16]);
        let expected: Vec<u64> = calls.iter().rev().map(|call| call.1 - 1).collect();
        let right = addresses.first() == Some(&ip) && addresses[1..].starts_with(&expected);
        let marked = frames
            .iter()
            .any(|frame| modules.get(frame.module).sign() == Some(Sign::Gap));
        told.all += 1;
        told.right += usize::from(right);
        told.whole += usize::from(outcome.end == End::Root);
        told.deepest = told.deepest.max(calls.len());
        let believed = outcome.end == End::Root && !marked;
        told.wrong_unmarked += usize::from(!right && believed);
        if !right && (believed || told.example.is_empty()) {
            let names = program.names(&frames, &modules);
            told.example = format!("{ip:#x} {names:?}, {frames:x?}, {expected:x?}");
        }
        stopped.step().expect("a step");
        let (to, word) = (stopped.regs[7], stopped.copy(stopped.regs[7], 8));
        let word = word
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        if to == sp - 8 && (ip + 2..=ip + 7).contains(&word) && stopped.regs[16] != word {
            calls.push((to, word));
        } else {
            calls.retain(|call| call.0 >= to);
        }
    }
    told
}

/// What [`step_beside_calls`] came to.
#[derive(Debug, Default)]
struct Steps {
    all: usize,
    right: usize,
    whole: usize,
    deepest: usize,
    wrong_unmarked: usize,
    example: String,
}

impl Steps {
    /// At least this share in thousandths is right, and nothing else looks whole.
    #[track_caller]
    fn assert_right(&self, share: usize, deep: usize) {
        assert!(self.right * 1000 >= self.all * share, "{self:?}");
        assert_eq!(self.wrong_unmarked, 0, "{self:?}");
        assert!(self.deepest >= deep, "{self:?}");
    }
}

#[test]
fn walk_assembly_without_unwind_information_has_all_callers_at_every_instruction() {
    let program = Program::start("bare", OMIT, "bare.c", &[]);
    step_beside_calls(&program, 3000).assert_right(1000, 3);
    // Without symbols some functions begin nowhere.
    let program = Program::start("bare-stripped", &[OMIT, &["-s"]].concat(), "bare.c", &[]);
    step_beside_calls(&program, 3000).assert_right(930, 3);
}

#[test]
fn walk_musl_that_maps_and_unmaps_has_the_caller_of_free_at_every_instruction() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    for (name, option) in [("frees-musl", "-fPIE"), ("frees-static", "-static")] {
        let path = Program::compile(name, &[&compiler[..], &[option]].concat(), "frees.c");
        let program = Program::run(path, &[]);
        step_beside_calls(&program, 8000).assert_right(1000, 3);
    }
}

#[test]
fn walk_fiber_ends_in_fiber_start_however_it_was_entered() {
    let options = ["-DBOOST", "-lboost_context"];
    let path = Program::compile("fibers", &[OMIT, &options].concat(), "fibers.c");
    for how in ["ucontext", "boost", "zero", "heap", "function", "top"] {
        let walked = Program::run(path.clone(), &[how]).asleep().walk(2);
        let entry = if how == "boost" {
            "boost_entry"
        } else {
            "entry"
        };
        walked.assert_contains(&["asleep", "inside", entry, "[fiber start]"]);
        walked.assert_whole();
        assert_eq!(
            walked.names.last().map(String::as_str),
            Some("[fiber start]")
        );
        let last = walked.frames.last().expect("a frame").module;
        assert_eq!(walked.modules.get(last).sign(), Some(Sign::Root));
        assert_eq!(walked.roots, None, "named by its module");
    }
}

#[test]
fn walk_code_jumped_to_in_another_s_frame_has_that_one_s_caller_and_is_no_fiber() {
    for (name, option) in [("jumped", "-g"), ("jumped-stripped", "-s")] {
        let mut program = Program::start(name, &[OMIT, &[option]].concat(), "jumped.c", &[]);
        if option == "-s" {
            program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        }
        let schedule = if option == "-s" { "code" } else { "schedule" };
        let mut modules = Modules::new(LIMIT);
        let maps = ProcessMaps::read(program.child.id(), &mut modules).expect("maps");
        let mut stopped = Stopped::stop(program.child.id(), program.child.id()).expect("stopped");
        let mut jumped = 0;
        for _ in 0..600 {
            let (frames, outcome, _) = stopped.walk(&mut Unwinder::new(), &maps, &mut modules, 4);
            let names = program.names(&frames, &modules);
            assert_eq!(outcome.end, End::Root, "{names:?}");
            assert!(
                !names.iter().any(|name| name == "[fiber start]"),
                "{names:?}"
            );
            if names[1] == "[guessed]" {
                assert_eq!(names[2], schedule, "{names:?}");
                assert_eq!(frames.len(), 7, "{names:?}");
                jumped += 1;
            }
            stopped.step().expect("a step");
        }
        assert!(jumped > 150, "{jumped}");
    }
}

#[test]
fn walk_compiled_code_on_a_stack_of_its_own_goes_on_at_the_first_one() {
    let program = Program::start("lisp", OMIT, "lisp.c", &[]).asleep();
    let walked = program.walk(2);
    walked.assert_contains(&["asleep", "[jit]", "enter", "main", "libc.so.6"]);
    assert_eq!(walked.outcome.end, End::Root, "{:?}", walked.names);
    let short = program.walk(0);
    assert_eq!(short.outcome.end, End::OtherStack, "{:?}", short.names);
}

#[test]
fn walk_stripped_functions_whose_last_call_does_not_return_are_complete() {
    let options = [
        "gcc",
        "-Os",
        "-fomit-frame-pointer",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
        "-falign-functions=1",
        "-s",
    ];
    for (name, kind) in [
        ("ends", "-pie"),
        ("ends-fixed", "-no-pie"),
        ("ends-static", "-static"),
    ] {
        let path = Program::compile(name, &[&options[..], &[kind]].concat(), "ends.c");
        let mut program = Program::run(path, &[]).asleep();
        program.symbols = BTreeMap::from([(0, "code".to_owned())]);
        let walked = program.walk(2);
        walked.assert_whole();
        assert_eq!(walked.roots, Some("[process start]"));
        if kind != "-static" {
            let own = walked.names.iter().filter(|name| *name == "code").count();
            assert_eq!(own, 5, "{:?}", walked.names);
        }
    }
}

#[test]
fn walk_native_function_guessed_between_jit_frames_is_refused() {
    let walked = Program::start("guessed-jit", OMIT, "guessed_jit.c", &[])
        .asleep()
        .walk(0);
    assert!(!walked.names.iter().any(|name| name == "unrelated"));
    assert_eq!(walked.names.last().map(String::as_str), Some("[jit]"));
    assert_eq!(walked.outcome.end, End::Jit);
}

#[test]
fn walk_frame_larger_than_a_piece_behind_a_guess_asks_for_more() {
    let program = Program::start("big", OMIT, "big.c", &[]).asleep();
    let first = program.walk(0);
    first.assert_contains(&["asleep", "large"]);
    assert_eq!(first.outcome.end, End::Truncated);
    let whole = program.walk(8);
    whole.assert_contains(&["asleep", "large", "main"]);
    assert_eq!(whole.outcome.end, End::Root);
}

#[test]
fn walk_compiled_at_run_time_ends_in_jit_without_frame_pointer() {
    let path = Program::compile("jit", OMIT, "jit.c");
    let framed = Program::run(path.clone(), &["framed"]).asleep().walk(0);
    framed.assert_contains(&["asleep", "[jit]", "enter", "main"]);
    assert_eq!(framed.outcome.end, End::Root);
    // A frame pointer of code that keeps one is no guess.
    assert_eq!(framed.guessed(), Vec::<&str>::new());
    let short = Program::run(path, &[]).asleep().walk(0);
    assert_eq!(short.outcome.end, End::Jit);
    assert_eq!(short.names.last().map(String::as_str), Some("[jit]"));
    let jit = short.frames.last().expect("a frame").module;
    assert_eq!(short.modules.get(jit).kind(), ModuleKind::Jit);
}
