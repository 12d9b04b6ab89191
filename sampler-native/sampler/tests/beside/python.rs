//! Functions of Python that nothing prepared, by real interpreters on the real kernel: run as root. A version that is not there is said by
//! name, and its tests left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use flametop_stream::{End, Head, ModuleKind};

use crate::{
    interpreted::{
        PATIENCE, Shares, by_thread, copied, frames_of, installed, is_path, more_stacks, patiently,
        print_sleepers, record_tree, stack_of, start, told,
    },
    model::{Model, Recording},
};

/// Threads of `sleepers.py`.
const SLEEPERS: usize = 19;

/// Samples of one thread on a CPU between two of another one, which kept its own CPU meanwhile.
const BETWEEN: usize = 50;

/// Every CPython from 3.9 to 3.14 that is there but a free-threaded 3.14, and those that `FLAMETOP_PYTHONS` names, with `:` between them.
fn pythons() -> Vec<PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let versions = fs::read_dir(format!("{home}/.pyenv/versions"));
    let versions = versions.into_iter().flatten().flatten();
    let mut usual: Vec<PathBuf> = versions.map(|v| v.path().join("bin/python3")).collect();
    for version in ["3.9", "3.10", "3.11", "3.12", "3.13", "3.13t", "3.14"] {
        usual.push(format!("/usr/bin/python{version}").into());
        usual.push(format!("/usr/local/bin/python{version}").into());
    }
    usual.sort();
    let probe = "import sys, sysconfig; sys.exit(not (3, 9) <= sys.version_info < (3, 14 if sysconfig.get_config_var('Py_GIL_DISABLED') else 15))";
    installed(
        usual,
        "FLAMETOP_PYTHONS",
        ["-c", probe],
        "CPython from 3.9 to 3.14",
    )
}

/// Whether threads of an interpreter run Python at the same time.
fn is_free_threaded(python: &Path) -> bool {
    let probe = "import sys; sys.exit(getattr(sys, '_is_gil_enabled', lambda: True)())";
    let status = Command::new(python).args(["-c", probe]).status();
    status.is_ok_and(|status| status.success())
}

/// The numbers of so many threads, which a program wrote with spaces between them.
fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let numbers = text.split_whitespace().map(|number| number.parse().ok());
    let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// The frames of functions of Python in a stack, the innermost first.
fn of_python(model: &Model, stack: u32) -> Vec<u32> {
    frames_of(model, stack, ModuleKind::Python)
}

/// These functions, without their files; none: not all of their names have come.
fn functions(model: &Model, stack: u32) -> Option<Vec<String>> {
    let frames = of_python(model, stack).into_iter();
    let names = frames.map(|frame| Some(function(&model.names.get(&frame)?.1).to_owned()));
    names.collect()
}

/// These functions, each with its file and line.
fn places(model: &Model, stack: u32) -> Vec<String> {
    let frames = of_python(model, stack).into_iter();
    let places = frames.map(|frame| {
        let name = &model.names[&frame].1;
        let (calls, missing) = &model.places[&frame];
        let source = calls.first().and_then(|call| call.strip_prefix(name));
        let source = source.unwrap_or_else(|| panic!("{name}: {calls:?} {missing}"));
        format!("{}{source}", function(name))
    });
    places.collect()
}

/// A name without its module or its file; of the standard library these tests know the modules below.
fn function(name: &str) -> &str {
    if let Some((function, _)) = name.split_once(" (") {
        return function;
    }
    let modules = [
        "threading.",
        "json.decoder.",
        "json.",
        "asyncio.runners.",
        "asyncio.base_events.",
        "asyncio.events.",
    ];
    let function = modules.iter().find_map(|module| name.strip_prefix(module));
    function.unwrap_or(name)
}

/// Whether two functions are in a stack; then all frames of a library must lie between them, and some must.
fn c_is_between(model: &Model, stack: u32, inner: &str, outer: &str, library: &str) -> bool {
    let frames = &model.stacks[stack as usize].frames;
    let of = |wanted: &str| {
        let mut named = of_python(model, stack).into_iter();
        let frame = named.find(|frame| function(&model.names[frame].1) == wanted)?;
        frames.iter().position(|other| *other == frame)
    };
    let Some((inner, outer)) = of(inner).zip(of(outer)) else {
        return false;
    };
    let is_of_library = |frame: &u32| {
        let (module, _, _) = model.frames[*frame as usize];
        model.modules[module as usize].1.contains(library)
    };
    let places = (0..frames.len()).filter(|place| is_of_library(&frames[*place]));
    let places: Vec<usize> = places.collect();
    let all = model.names(stack);
    assert!(!places.is_empty(), "{all:#?}");
    assert!(
        places.iter().all(|place| (outer..inner).contains(place)),
        "{all:#?}"
    );
    true
}

/// How many calls of the interpreter have no functions.
fn bare(model: &Model, stack: u32) -> usize {
    let names = model.names(stack);
    names
        .iter()
        .filter(|n| n.starts_with("_PyEval_EvalFrameDefault"))
        .count()
}

#[test]
fn threads_that_sleep_have_the_functions_and_lines_that_they_tell() {
    for python in pythons() {
        let file = std::env::temp_dir().join(format!("flametop-sleepers-{}", std::process::id()));
        let program = start(&python, &["sleepers.py", &file.to_string_lossy()]);
        let pid = program.pid();
        let told = told(&python, &file, |text| by_thread(text, SLEEPERS));
        let mut recording = Recording::open(&format!("target=pid {pid}"));
        recording.run(19, 3000);
        recording.name_all();
        recording.place_all();
        let model = &recording.model;
        let (threads, mut frames, mut calls_by_c) = (told.len(), 0, 0);
        for (tid, names) in told {
            let stack = stack_of(model, tid);
            let all = model.names(stack);
            let (names, end) = copied(&names);
            assert_eq!(places(model, stack), names, "{python:?} {all:#?}");
            frames += names.len();
            assert_eq!(bare(model, stack), 0, "{python:?} {all:#?}");
            assert_eq!(model.stacks[stack as usize].end, end, "{python:?} {all:#?}");
            calls_by_c += usize::from(c_is_between(
                model,
                stack,
                "called_by_c",
                "by_ctypes",
                "libffi",
            ));
        }
        assert_eq!(calls_by_c, 1, "{python:?}");
        print_sleepers(&python, threads, frames);
    }
}

#[test]
fn functions_on_a_cpu_are_those_that_called_one_another() {
    for python in pythons() {
        check_tree(&python, &[]);
    }
}

#[test]
fn functions_called_by_code_that_is_gone_at_once_are_those_that_called_one_another() {
    for python in pythons() {
        check_tree(&python, &["cells"]);
    }
}

#[test]
fn functions_that_tasks_await_are_those_that_called_one_another() {
    for python in pythons() {
        check_tree(&python, &["asyncio"]);
    }
}

#[test]
fn functions_called_by_numpy_are_those_that_called_one_another() {
    let mut pythons = pythons();
    pythons.retain(|python| {
        let status = Command::new(python).args(["-c", "import numpy"]).output();
        status.is_ok_and(|output| output.status.success())
    });
    if pythons.is_empty() {
        eprintln!("skipped, no CPython with numpy is here");
    }
    for python in pythons {
        check_tree(&python, &["numpy"]);
    }
}

/// Can the functions of each sample of a program `tree` have called one another, and have most samples all of them?
fn check_tree(python: &Path, how: &[&str]) {
    let program = start(python, &[&["tree.py"], how].concat());
    let mut recording = record_tree(python, program.pid(), functions);
    let stacks = more_stacks(&mut recording, program.pid());
    let model = &recording.model;
    let mut shares = Shares {
        samples: stacks.len(),
        ..Shares::default()
    };
    for stack in &stacks {
        let Some(found) = functions(model, *stack) else {
            continue;
        };
        if found.is_empty() {
            shares.bare += 1;
            continue;
        }
        let end = model.stacks[*stack as usize].end;
        assert!(
            is_path(&found, end, Some("<module>")),
            "{python:?} {how:?} {end:?} {found:#?} {:#?}",
            model.names(*stack)
        );
        shares.whole += usize::from(end == End::Root);
    }
    shares.print(python);
    assert!(
        shares.whole > 300 && shares.whole * 20 >= stacks.len() * 19,
        "{python:?} {how:?}: {shares}"
    );
}

#[test]
fn threads_that_live_shortly_have_functions_from_their_first_sample_on() {
    for python in pythons() {
        let program = start(&python, &["threads.py"]);
        let pid = program.pid();
        let mut recording = Recording::open(&format!("target=pid {pid}\nhz.cpu=499"));
        recording.run(19, 2000);
        recording.name_all();
        let before = recording.model.tasks.len();
        // On a busy machine the threads get less time.
        let stacks: Vec<u32> = patiently(&python, || {
            recording.run(19, 1000);
            let samples = recording.model.tasks[before..].iter();
            let samples = samples.flat_map(|task| &task.samples);
            let stacks: Vec<u32> = samples.filter_map(|sample| sample.stack).collect();
            (stacks.len() > 300).then_some(stacks)
        });
        recording.name_all();
        let model = &recording.model;
        let is_of_thread = |stack: &&u32| {
            let functions = functions(model, **stack).unwrap_or_default();
            functions.last().is_some_and(|f| f.ends_with("_bootstrap"))
        };
        let with_functions = stacks.iter().filter(is_of_thread).count();
        let samples = stacks.len();
        println!("threads {python:?}: {with_functions} of {samples} samples have functions");
        assert!(
            with_functions * 10 >= samples * 9,
            "{python:?}: {with_functions} of {samples} {:#?}",
            stacks
                .iter()
                .find(|s| !is_of_thread(s))
                .map(|s| model.names(*s))
        );
    }
}

#[test]
fn fork_and_threads_that_sleep_shortly_have_their_own_functions() {
    for python in pythons() {
        let program = start(&python, &["forks.py"]);
        let pid = program.pid();
        let begin = Instant::now();
        let children = format!("/proc/{pid}/task/{pid}/children");
        let child: u32 = patiently(&python, || {
            fs::read_to_string(&children).ok()?.trim().parse().ok()
        });
        let mut recording = Recording::open(&format!("target=pid {pid},{child}"));
        let naps = || {
            let tasks = fs::read_dir(format!("/proc/{child}/task")).expect("it lives");
            let tasks = tasks
                .flatten()
                .filter_map(|t| t.file_name().to_str()?.parse().ok());
            tasks.into_iter().find(|tid: &u32| *tid != child)
        };
        let has = |model: &Model, tid: u32, sampled: bool, wanted: &[&str]| {
            let Some(task) = model.task(tid) else {
                return false;
            };
            let heads = task.samples.iter().filter(|_| sampled);
            let heads = heads.chain(task.now.iter().filter(|_| !sampled));
            let mut stacks = heads.filter_map(|head| head.stack);
            stacks.any(|stack| {
                functions(model, stack).is_some_and(|found| {
                    found.starts_with(
                        &wanted
                            .iter()
                            .map(|name| (*name).to_owned())
                            .collect::<Vec<_>>(),
                    )
                })
            })
        };
        let all = |model: &Model| {
            // Before 3.11 objects have no qualified names.
            let runs = ["Thread.run", "run"];
            let naps_in = |run| naps().is_some_and(|tid| has(model, tid, false, &["naps", run]));
            runs.into_iter().any(naps_in)
                && has(model, pid, true, &["spin", "parent", "<module>"])
                && has(model, pid, false, &["parent", "<module>"])
                && has(model, child, true, &["spin", "child", "<module>"])
                && has(model, child, false, &["child", "<module>"])
        };
        let mut seen = false;
        while !seen {
            assert!(begin.elapsed() < PATIENCE, "{python:?}: never all of them");
            recording.run(19, 500);
            recording.name_all();
            seen = all(&recording.model);
        }
    }
}

#[test]
fn thread_that_waits_for_the_gil_says_who_holds_it_and_no_other_thread_does() {
    for python in pythons() {
        let file = std::env::temp_dir().join(format!("flametop-gil-{}", std::process::id()));
        // A free-threaded build uses its lock with this option; others know no other way.
        let arguments = ["-X", "gil=1", "gil.py", &file.to_string_lossy()];
        let program = start(&python, &arguments);
        let pid = program.pid();
        let begin = Instant::now();
        let [keeps, wants, rests] = told(&python, &file, numbers);
        let mut recording = Recording::open(&format!("target=pid {pid}"));
        let mut seen = false;
        while !seen {
            assert!(begin.elapsed() < PATIENCE, "{python:?}: nobody waits");
            recording.run(19, 100);
            recording.name_all();
            let model = &recording.model;
            for task in &model.tasks {
                let Some(stack) = task.now.and_then(|now| now.stack) else {
                    continue;
                };
                let names = model.names(stack);
                let waits = names.iter().position(|name| name == "[waits for the GIL]");
                let Some(waits) = waits else {
                    continue;
                };
                assert!(
                    [keeps, wants, pid].contains(&task.tid),
                    "{python:?} {names:#?}"
                );
                let above: Vec<&str> = names[waits + 1..].iter().map(String::as_str).collect();
                let user = above
                    .iter()
                    .copied()
                    .take_while(|name| name.starts_with('['));
                let user: Vec<&str> = user.collect();
                let own = format!("[GIL held by {}]", task.tid);
                assert!(!user.contains(&own.as_str()), "{python:?} {names:#?}");
                let holder = format!("[GIL held by {keeps}]");
                seen |= task.tid == wants && user == [holder.as_str()];
            }
        }
        let rests = recording.model.task(rests).and_then(|task| task.now?.stack);
        assert!(rests.is_some(), "{python:?}");
    }
}

#[test]
fn threads_of_a_free_threaded_build_run_at_the_same_time_and_none_waits_for_the_gil() {
    let mut pythons = pythons();
    pythons.retain(|python| is_free_threaded(python));
    if pythons.is_empty() {
        eprintln!("skipped, no free-threaded CPython 3.13 is here");
    }
    for python in pythons {
        let file = std::env::temp_dir().join(format!("flametop-both-{}", std::process::id()));
        let program = start(&python, &["both.py", &file.to_string_lossy()]);
        let [left, right] = told(&python, &file, numbers);
        let mut recording = Recording::open(&format!("target=pid {}\nhz.cpu=499", program.pid()));
        let begin = Instant::now();
        let mut between = 0;
        while between < BETWEEN {
            assert!(
                begin.elapsed() < PATIENCE,
                "{python:?}: never at the same time"
            );
            recording.run(19, 500);
            recording.name_all();
            let model = &recording.model;
            let samples = |tid: u32| model.task(tid).map_or(&[][..], |task| &task.samples);
            // Between two samples without a switch the thread did not leave its CPU.
            let stays = samples(left).windows(2).filter(|pair| {
                let switches = |head: &Head| (head.nvcsw, head.nivcsw, head.cpu);
                switches(&pair[0]) == switches(&pair[1])
            });
            let is_in = |head: &Head, function: &str| {
                let stack = head.stack.and_then(|stack| functions(model, stack));
                stack.is_some_and(|stack| stack.first().is_some_and(|first| first == function))
            };
            let meanwhile = stays.filter(|pair| {
                let mut others = samples(right).iter();
                is_in(&pair[0], "left")
                    && is_in(&pair[1], "left")
                    && others.any(|other| {
                        (pair[0].time..pair[1].time).contains(&other.time) && is_in(other, "right")
                    })
            });
            between = meanwhile.count();
        }
        let model = &recording.model;
        for (tid, own) in [
            (left, ["left", "keeps_left"]),
            (right, ["right", "keeps_right"]),
        ] {
            let samples = &model.task(tid).expect("it has samples").samples;
            let stacks = samples.iter().filter_map(|head| head.stack);
            for found in stacks.filter_map(|stack| functions(model, stack)) {
                let mut of_both = found
                    .iter()
                    .filter(|name| name.contains("left") || name.contains("right"));
                assert!(
                    of_both.all(|name| own.contains(&name.as_str())),
                    "{python:?} {found:#?}"
                );
            }
        }
        let waits = |stack| {
            model
                .names(stack)
                .contains(&"[waits for the GIL]".to_owned())
        };
        assert!(
            !(0..model.stacks.len() as u32).any(waits),
            "{python:?}: a lock that is not used"
        );
        println!("both {}: {between} samples between", python.display());
    }
}
