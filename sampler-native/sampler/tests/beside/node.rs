//! Functions of JavaScript that nothing prepared, by real versions of Node on the real kernel: run as root. Where no Node is, its tests
//! are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flametop_stream::{End, ModuleKind};

use crate::{
    interpreted::{
        Shares, frames_of, installed, is_path, more_stacks, print_sleepers, record_tree,
        sample_more, start, told,
    },
    model::{Model, Recording},
};

/// Threads of `sleepers.js`.
const SLEEPERS: usize = 12;

/// Every Node of 18, 20, 22 and 24 that is there, and those that `FLAMETOP_NODES` names, with `:` between them.
fn nodes() -> Vec<PathBuf> {
    let usual = ["/usr/bin/node".into(), "/usr/local/bin/node".into()];
    let probe = "process.exit([18, 20, 22, 24].includes(parseInt(process.versions.node)) ? 0 : 1)";
    installed(
        usual,
        "FLAMETOP_NODES",
        ["-e", probe],
        "Node of 18, 20, 22 or 24",
    )
}

/// The functions of JavaScript in a stack, without their files; none: not all of their names have come.
fn functions(model: &Model, stack: u32) -> Option<Vec<String>> {
    let frames = frames_of(model, stack, ModuleKind::Jit).into_iter();
    let names = frames.map(|frame| {
        let name = &model.names.get(&frame)?.1;
        Some(name.split(" (").next().unwrap_or(name).to_owned())
    });
    names.collect()
}

/// The first number of the version.
fn version(node: &Path) -> u32 {
    let version = Command::new(node)
        .args(["-p", "parseInt(process.versions.node)"])
        .output();
    let version = String::from_utf8(version.expect("it was there").stdout);
    version.expect("a number").trim().parse().expect("a number")
}

/// Names of functions of `sleepers.js`, but for the innermost ones.
const OWN: [&str; 10] = [
    "park",
    "key",
    "sorts",
    "Sorter",
    "rested",
    "deep",
    "lazily",
    "inner",
    "assigned.method",
    "größe",
];

/// Of these functions those of `sleepers.js` that have a name.
fn own<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // A name is that of the property, or of what reads the property.
    let names = names.map(|name| name.strip_prefix("get ").unwrap_or(name));
    let own = names.filter(|name| OWN.contains(name));
    own.map(str::to_owned).collect()
}

#[test]
fn threads_that_sleep_have_the_functions_that_they_tell() {
    for node in nodes() {
        let file = std::env::temp_dir().join(format!("flametop-node-{}", std::process::id()));
        let _ = fs::remove_file(&file);
        let program = start(&node, &["sleepers.js", &file.to_string_lossy()]);
        let pid = program.pid();
        let mut told = told(&node, &file, |text| {
            let told: Vec<_> = text.lines().map(|line| own(line.split('\t'))).collect();
            (told.len() >= SLEEPERS).then_some(told)
        });
        let mut recording = Recording::open(&format!("target=pid {pid}"));
        recording.run(19, 3000);
        recording.name_all();
        let model = &recording.model;
        let mut found = Vec::new();
        for task in model.tasks_of(pid) {
            let Some(stack) = task.now.and_then(|now| now.stack) else {
                continue;
            };
            let names = functions(model, stack).unwrap_or_default();
            let names = own(names.iter().map(String::as_str));
            found.extend((!names.is_empty()).then_some(names));
        }
        found.sort();
        told.sort();
        assert_eq!(found, told, "{node:?}");
        print_sleepers(&node, told.len(), told.iter().map(Vec::len).sum());
    }
}

/// Arguments with which no function is inlined in another one.
fn uninlined(node: &Path) -> Vec<&'static str> {
    let mut arguments = vec!["--no-turbo-inlining"];
    arguments.extend((version(node) >= 20).then_some("--no-maglev"));
    arguments
}

#[test]
fn functions_on_a_cpu_are_those_that_called_one_another() {
    for node in nodes() {
        for inlined in [false, true] {
            let mut arguments = if inlined { vec![] } else { uninlined(&node) };
            arguments.push("tree.js");
            let program = start(&node, &arguments);
            let mut recording = record_tree(&node, program.pid(), functions);
            // Functions are compiled anew for some seconds of its own time.
            sample_more(&mut recording, program.pid(), 4000);
            let stacks = more_stacks(&mut recording, program.pid());
            let model = &recording.model;
            let mut shares = Shares {
                samples: stacks.len(),
                ..Shares::default()
            };
            for stack in &stacks {
                let names = functions(model, *stack).unwrap_or_default();
                // One that has no name yet may be any.
                let known = names
                    .split(|name| name == "[jit]")
                    .next()
                    .unwrap_or_default();
                let known = known.iter().filter(|name| name.starts_with('f')).cloned();
                let known: Vec<String> = known.collect();
                let end = model.stacks[*stack as usize].end;
                // A function that is inlined in its caller is part of that.
                let is_right = match inlined {
                    false => is_path(&known, End::Limit, None),
                    true => known.windows(2).all(|pair| pair[0].starts_with(&pair[1])),
                };
                let all = model.names(*stack);
                assert!(is_right, "{node:?} {end:?} {known:?} {all:#?}");
                shares.whole += usize::from(end == End::Root);
                shares.bare += usize::from(known.is_empty());
            }
            shares.print(&node);
            let least = stacks.len() * 19 / 20;
            assert!(
                stacks.len() > 300 && shares.whole >= least && stacks.len() - shares.bare >= least,
                "{node:?}: {shares}"
            );
        }
    }
}
