//! Signals, exceptions and forks.

use super::*;

#[test]
fn walk_exception_handler_is_complete() {
    let walked = Program::start(
        "objects",
        &["g++", "-O2", "-fomit-frame-pointer"],
        "objects.cc",
        &[],
    )
    .asleep()
    .walk(0);
    let names: Vec<&str> = walked.names.iter().map(String::as_str).collect();
    let sleeper = names
        .iter()
        .position(|name| name.contains("Sleeper"))
        .expect("the virtual function");
    assert!(names[sleeper + 1].contains("Guard"), "{names:?}");
    assert!(names[sleeper + 2].starts_with("catcher"), "{names:?}");
    assert_eq!(names[sleeper + 3], "main");
    walked.assert_whole();
}

#[test]
fn walk_signal_handler_goes_on_in_what_it_interrupted() {
    let walked = Program::start("signal", OMIT, "signal.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&[
        "asleep",
        "handler",
        "libc.so.6",
        "fault",
        "caller",
        "outer",
        "main",
    ]);
    walked.assert_whole();
}

#[test]
fn walk_signal_handler_of_musl_goes_on_in_what_it_interrupted() {
    let compiler = ["musl-gcc", "-O2", "-fomit-frame-pointer"];
    let walked = Program::start("signal-musl", &compiler, "signal.c", &[])
        .asleep()
        .walk(0);
    walked.assert_contains(&[
        "asleep", "handler", "libc.so", "fault", "caller", "outer", "main",
    ]);
    assert_eq!(walked.outcome.end, End::Root);
}

#[test]
fn walk_alternate_signal_stack_asks_for_the_other_stack() {
    let program = Program::start("signal-alternate", OMIT, "signal.c", &["alternate"]).asleep();
    let first = program.walk(0);
    first.assert_contains(&["asleep", "handler", "libc.so.6", "fault"]);
    assert_eq!(first.outcome.end, End::OtherStack);
    let whole = program.walk(1);
    whole.assert_contains(&[
        "asleep",
        "handler",
        "libc.so.6",
        "fault",
        "caller",
        "outer",
        "main",
    ]);
    whole.assert_whole();
}

#[test]
fn walk_exception_on_its_way_is_complete() {
    let walked = Program::start(
        "thrown",
        &["g++", "-O2", "-fomit-frame-pointer"],
        "thrown.cc",
        &[],
    )
    .asleep()
    .walk(0);
    walked.assert_contains(&["personality", "libgcc_s.so.1"]);
    walked.assert_contains(&["_Z6throwsv", "passes", "main"]);
    walked.assert_whole();
}

#[test]
fn walk_child_of_vfork_is_complete() {
    let program = Program::start("forked-vfork", OMIT, "forked.c", &["vfork"]);
    let walked = program.walk_of(program.forked(), 0);
    walked.assert_contains(&["spawn", "outer"]);
    walked.assert_whole();
}

#[test]
fn walk_child_forked_in_a_handler_is_complete() {
    let program = Program::start("forked-handler", OMIT, "forked.c", &["handler"]);
    let child = program.forked();
    for tgid in [child, program.child.id()] {
        let walked = program.walk_of(tgid, 0);
        walked.assert_contains(&["handler", "libc.so.6"]);
        assert!(walked.names.iter().any(|name| name == "outer"));
        walked.assert_whole();
    }
}
