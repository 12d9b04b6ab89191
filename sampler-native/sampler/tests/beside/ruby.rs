//! Functions of Ruby that nothing prepared, by a real interpreter on the real kernel: run as root. Where no Ruby is, its tests are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flametop_stream::{End, ModuleKind};

use crate::{
    interpreted::{
        Shares, by_thread, copied, frames_of, installed, is_path, more_stacks, print_sleepers,
        record_tree, sample_more, stack_of, start, told,
    },
    model::{Model, Recording},
};

/// The Ruby that is there, and those that `FLAMETOP_RUBIES` names, with `:` between them.
fn rubies() -> Vec<PathBuf> {
    let usual = ["/usr/bin/ruby".into()];
    installed(usual, "FLAMETOP_RUBIES", ["-e", "exit"], "Ruby")
}

/// The functions of Ruby in a stack without their classes; none: not all of their names have come.
fn functions(model: &Model, stack: u32) -> Option<Vec<String>> {
    let frames = frames_of(model, stack, ModuleKind::Ruby).into_iter();
    let names = frames.map(|frame| Some(label(&model.names.get(&frame)?.1)));
    names.collect()
}

/// A function as Ruby itself says it: without the class and the file.
fn label(name: &str) -> String {
    let name = match name.rfind(" (") {
        Some(at) if name.ends_with(')') => &name[..at],
        _ => name,
    };
    let (before, method) = match name.rfind(" in ") {
        Some(at) => name.split_at(at + " in ".len()),
        None => ("", name),
    };
    let method = match method.starts_with('<') {
        true => method,
        false => method.rsplit(['#', '.']).next().unwrap_or(method),
    };
    format!("{before}{method}")
}

/// The functions of Ruby in a stack, each with its line.
fn places(model: &Model, stack: u32) -> Vec<(String, u32)> {
    let frames = frames_of(model, stack, ModuleKind::Ruby).into_iter();
    let places = frames.map(|frame| {
        let (calls, _) = &model.places[&frame];
        let line = calls.first().and_then(|call| call.rsplit(':').next());
        let line = line.and_then(|line| line.parse().ok()).unwrap_or(0);
        (label(&model.names[&frame].1), line)
    });
    places.collect()
}

/// Functions in `sleepers.rb` that are written in C: they have no lines.
const IN_C: [&str; 23] = [
    ">",
    "catch",
    "class_eval",
    "each",
    "each_slice",
    "each_with_index",
    "eval",
    "generate",
    "gsub",
    "inject",
    "instance_eval",
    "join",
    "map",
    "new",
    "pop",
    "read",
    "resume",
    "sleep",
    "sort_by",
    "synchronize",
    "times",
    "upto",
    "with_index",
];

/// Threads of `sleepers.rb`, and that of its ractor, which Ruby has since 3.0, and until 3.2 on a native thread of its own.
const SLEEPERS: usize = 34;

fn has_ractors(ruby: &Path) -> bool {
    let probe = [
        "-e",
        "exit(defined?(Ractor) && RUBY_VERSION < '3.3' ? 0 : 1)",
    ];
    let status = Command::new(ruby).args(probe).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn threads_that_sleep_have_the_functions_and_lines_that_they_tell() {
    for ruby in rubies() {
        let file = std::env::temp_dir().join(format!("flametop-rubies-{}", std::process::id()));
        let _ = fs::remove_file(&file);
        let text = file.to_string_lossy().into_owned();
        let program = start(&ruby, &["sleepers.rb", &text]);
        let sleepers = SLEEPERS + usize::from(has_ractors(&ruby));
        let told = told(&ruby, &file, |text| by_thread(text, sleepers));
        let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
        recording.run(19, 3000);
        recording.name_all();
        recording.place_all();
        let model = &recording.model;
        let (threads, mut frames) = (told.len(), 0);
        for (tid, names) in told {
            let stack = stack_of(model, tid);
            let all = model.names(stack);
            let (names, end) = copied(&names);
            let told: Vec<(String, u32)> = names
                .iter()
                .map(|told| {
                    let (name, line) = told.rsplit_once(':').expect("a line");
                    (label(name), line.parse().expect("a number"))
                })
                .collect();
            // A function that is written in C has the line of its caller.
            let names = told.iter().enumerate().map(|(index, (name, line))| {
                let caller = told.get(index + 1).map_or(*line, |(_, line)| *line);
                let is_in_c = IN_C.contains(&&**name) && (*line == caller || *line == 0);
                (name.clone(), if is_in_c { 0 } else { *line })
            });
            let names: Vec<(String, u32)> = names.collect();
            let mut found = places(model, stack);
            // What sleeps cannot tell its own line, which it has in versions that have it in Ruby.
            found.iter_mut().take(1).for_each(|(_, line)| *line = 0);
            assert_eq!(found, names, "{ruby:?} {tid} {all:#?}");
            frames += names.len();
            assert_eq!(model.stacks[stack as usize].end, end, "{ruby:?} {all:#?}");
        }
        print_sleepers(&ruby, threads, frames);
    }
}

#[test]
fn functions_on_a_cpu_are_those_that_called_one_another() {
    for ruby in rubies() {
        let program = start(&ruby, &["tree.rb"]);
        is_true(&ruby, program.pid());
    }
}

/// Nearly all stacks of a process that runs `tree.rb` must be whole and true.
fn is_true(ruby: &Path, pid: u32) {
    let mut recording = record_tree(ruby, pid, functions);
    sample_more(&mut recording, pid, 2000);
    let stacks = more_stacks(&mut recording, pid);
    let model = &recording.model;
    let mut shares = Shares::default();
    let (mut unread, mut of_eval, mut making) = (0, 0, 0);
    for stack in &stacks {
        let Some(found) = functions(model, *stack) else {
            continue;
        };
        let end = model.stacks[*stack as usize].end;
        let names = model.names(*stack);
        let is_in_fiber = names.iter().any(|name| name == "[fiber start]");
        if found.is_empty() && is_in_fiber {
            // What makes a fiber, before its first function.
            making += 1;
            continue;
        }
        if found.is_empty() {
            println!("bare: {end:?} {names:?}");
            shares.bare += 1;
            continue;
        }
        of_eval += usize::from(found.iter().any(|name| name == UNREAD));
        let is_unread = |pair: &[String]| pair[0] == UNREAD && pair[1] != "eval";
        if found.windows(2).any(is_unread) {
            println!("unread: {found:?}");
            unread += 1;
        }
        let found = without_eval(found);
        let main = (!is_in_fiber).then_some("<main>");
        shares.whole += usize::from(end == End::Root);
        if !is_path(&found, end, main) {
            println!("{end:?} {found:?} {names:?}");
            shares.wrong += 1;
        }
    }
    shares.samples = stacks.len() - making;
    shares.print(ruby);
    let told = format!(
        "{ruby:?}: {shares}; {unread} with a function that has no name, {of_eval} with code of eval that has none"
    );
    println!("{told}");
    let Shares {
        samples,
        bare,
        whole,
        wrong,
    } = shares;
    assert!(samples > 300 && whole * 100 >= samples * 98, "{told}");
    assert!(
        bare * 100 <= samples && wrong * 200 <= whole && unread * 50 <= samples,
        "{told}"
    );
}

/// What stands for a function that was gone before its name was read.
const UNREAD: &str = "[gone before it was named]";

/// Functions without parts of functions, and without the code of `eval`, which has the name of the function that called `eval`.
fn without_eval(mut found: Vec<String>) -> Vec<String> {
    let is_part = |name: &str| {
        ["block ", "rescue in ", "ensure in "]
            .iter()
            .any(|before| name.starts_with(before))
    };
    found.retain(|name| !is_part(name));
    let mut left: Vec<String> = Vec::new();
    let mut rest = found.into_iter().peekable();
    while let Some(name) = rest.next() {
        if name == "eval"
            && left
                .last()
                .is_some_and(|before| rest.peek() == Some(before) || before == UNREAD)
        {
            left.pop();
            continue;
        }
        left.push(name);
    }
    left
}
