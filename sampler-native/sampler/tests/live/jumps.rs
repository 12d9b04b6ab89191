//! longjmp as a source of events: which frames each jump leaves.

use std::io::Write;

use flametop_stream::SourceState;

use super::{events::*, *};

const JUMPS: u32 = 4;
const LEFT: &str = "[left by longjmp]";

/// The stacks of all jumps of the program, by names, outermost first; each jump has one.
fn jumps(program: &Path, words: &[&str], count: usize) -> Vec<Vec<String>> {
    let mut program = Program::of(Command::new(program).args(words));
    let settings = format!("{}\nhz.cpu=0", target(program.pid()));
    let mut recording = Recording::open(&settings);
    set(&recording, JUMPS, "longjmp");
    settled(&mut recording, 1);
    let state = recording.model.sources[&JUMPS].clone();
    assert_eq!(state, (SourceState::On, String::new()));
    let stdin = program.0.stdin.as_mut().expect("it is open");
    stdin.write_all(b"g").expect("it reads");
    until(&mut recording, |model| {
        let totals = model.totals.get(&JUMPS);
        totals.is_some_and(|totals| {
            totals.hits == count as u64 && model.events.len() as u64 == totals.taken - totals.lost
        })
    });
    recording.name_all();
    let model = &recording.model;
    assert_eq!(model.events.len(), count, "{:?}", model.totals);
    let stacks = model.events.iter();
    stacks
        .map(|(head, ..)| model.names(head.stack.expect("a stack")))
        .collect()
}

/// From `main` on all stacks begin so; what comes behind is of the C library.
fn all_begin(stacks: &[Vec<String>], with: &[&str]) {
    for stack in stacks {
        let main = stack.iter().position(|name| name == "main");
        let from_main = &stack[main.unwrap_or_else(|| panic!("no main: {stack:?}"))..];
        assert_eq!(
            from_main[..with.len().min(from_main.len())],
            *with,
            "{stack:?}"
        );
    }
}

#[test]
fn jumps_over_five_frames_and_over_two_have_a_sign_above_the_frames_that_are_left() {
    let stacks = jumps(&compiled("jumps"), &["5", "30"], 30);
    all_begin(
        &stacks,
        &["main", "lands", LEFT, "one", "two", "three", "four", "five"],
    );
    let stacks = jumps(&compiled("jumps"), &["2", "20"], 20);
    all_begin(&stacks, &["main", "lands", LEFT, "four", "five"]);
}

#[test]
fn jumps_out_of_a_handler_leave_its_stack_and_what_the_signal_came_upon() {
    let stacks = jumps(&compiled("jumps"), &["signal", "20"], 20);
    for stack in &stacks {
        let sign = stack.iter().position(|name| name == LEFT);
        let sign = sign.unwrap_or_else(|| panic!("no sign: {stack:?}"));
        assert!(has(&stack[sign..], "handle"), "{stack:?}");
        // The stack that the signal came upon may not have been copied.
        let stays = &stack[..sign];
        assert!(
            stays.is_empty() || stays.last().is_some_and(|name| name == "lands_by_signal"),
            "{stack:?}"
        );
    }
}

#[test]
fn jumps_by_a_buffer_that_was_filled_before_say_so() {
    let stacks = jumps(&compiled("jumps"), &["before", "10"], 10);
    all_begin(
        &stacks,
        &["main", "again", "one", "two", "three", "four", "five"],
    );
    for stack in &stacks {
        let last = stack.last().map(String::as_str);
        assert_eq!(last, Some("[setjmp not seen]"), "{stack:?}");
        assert!(!has(stack, LEFT), "{stack:?}");
    }
}

#[test]
fn jumps_of_a_program_that_brings_musl_are_seen_in_the_program() {
    let source = format!("{}/tests/programs/jumps.c", env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jumps-of-musl");
    let status = Command::new("musl-gcc")
        .args(["-g", "-O2", "-static", "-fno-optimize-sibling-calls", "-o"])
        .args([program.as_os_str(), source.as_ref()])
        .status()
        .expect("musl-gcc, of the package musl-tools");
    assert!(status.success());
    let stacks = jumps(&program, &["5", "20"], 20);
    all_begin(
        &stacks,
        &["main", "lands", LEFT, "one", "two", "three", "four", "five"],
    );
}

fn has(stack: &[String], function: &str) -> bool {
    stack.iter().any(|name| name == function)
}
