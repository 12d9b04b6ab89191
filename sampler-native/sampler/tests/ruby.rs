//! Functions of Ruby that nothing prepared, by a real interpreter on the real kernel: run as root. Where no Ruby is, its tests are left out.

#[allow(dead_code)]
mod interpreted;
#[allow(dead_code)]
mod model;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use flametop_stream::{End, ModuleKind};
use interpreted::{Program, frames_of, is_path, more_stacks, record_tree};
use model::Model;

/// The Ruby that is there, and those that `FLAMETOP_RUBIES` names, with `:` between them.
fn rubies() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = vec!["/usr/bin/ruby".into()];
    let named = std::env::var("FLAMETOP_RUBIES").unwrap_or_default();
    all.extend(std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()));
    all.retain(|ruby| {
        let status = Command::new(ruby).args(["-e", "exit"]).status();
        status.is_ok_and(|status| status.success())
    });
    if all.is_empty() {
        eprintln!("skipped, no Ruby is here");
    }
    all
}

/// The methods of Ruby in a stack without their classes and blocks; none: not all of their names have come.
fn functions(model: &Model, stack: u32) -> Option<Vec<String>> {
    let frames = frames_of(model, stack, ModuleKind::Ruby).into_iter();
    let names: Option<Vec<&str>> = frames
        .map(|frame| Some(&*model.names.get(&frame)?.1))
        .collect();
    let names = names?.into_iter().filter(|name| !is_part(name));
    Some(names.map(|name| method(name).to_owned()).collect())
}

/// Whether it is a part of a method whose own frame is in the stack, or the code of `eval`.
fn is_part(name: &str) -> bool {
    ["block in ", "block (", "rescue in ", "ensure in "]
        .iter()
        .any(|before| name.starts_with(before))
}

/// The main program by its whole name; else without the class.
fn method(name: &str) -> &str {
    let method = name.rsplit(['#', '.']).next().unwrap_or(name);
    if name.starts_with('<') { name } else { method }
}

#[test]
fn functions_on_a_cpu_are_those_that_called_one_another() {
    for ruby in rubies() {
        let program = Program::start(&ruby, &["tree.rb"]);
        is_true(&ruby, program.pid());
    }
}

/// Nearly all stacks of a process that runs `tree.rb` must be whole and true.
fn is_true(ruby: &Path, pid: u32) {
    let mut recording = record_tree(ruby, pid, functions);
    recording.run(19, 4000);
    let stacks = more_stacks(&mut recording);
    let model = &recording.model;
    let (mut whole, mut wrong, mut bared) = (0, 0, 0);
    for stack in &stacks {
        let Some(mut found) = functions(model, *stack) else {
            continue;
        };
        let end = model.stacks[*stack as usize].end;
        let names = model.names(*stack);
        if found.is_empty() {
            println!("bare: {end:?} {names:?}");
            bared += 1;
            continue;
        }
        // A call of `eval` has the name of the method around it once more.
        found.dedup();
        let is_in_fiber = names.iter().any(|name| name == "[fiber start]");
        let main = (!is_in_fiber).then_some("<main> (programs/tree.rb)");
        whole += usize::from(end == End::Root);
        if !is_path(&found, if is_in_fiber { End::Limit } else { end }, main) {
            println!("{end:?} {found:?} {names:?}");
            wrong += 1;
        }
    }
    let all = stacks.len();
    let told =
        format!("{ruby:?}: {whole} whole of {all}, {wrong} wrong, {bared} without functions");
    println!("{told}");
    assert!(all > 300 && whole * 20 >= all * 19, "{told}");
    assert!(bared * 50 <= all && wrong * 200 <= whole, "{told}");
}
