//! A process with tens of thousands of mappings, and addresses that none of them holds.

use super::*;
use flametop_stream::ModuleKind;

/// What reading all the mappings costs is saved up within this time.
const PAID_MS: u64 = 5_000;

/// Records `astray`, which does that in its second thread, until there are samples of it; gives the stacks of its samples in user mode
/// as (why they ended, names, kind of the module of the innermost frame).
fn second_thread(what: &str) -> Vec<(End, Vec<String>, Option<ModuleKind>)> {
    let mut program = Program::start("astray", &[what]);
    let mut recording = Recording::open(&format!("{}\nhz.cpu=199", target(program.pid())));
    let pid = program.pid();
    run_until(&mut recording, "samples of the first thread", |model| {
        model.task(pid).is_some_and(|task| task.samples.len() > 50)
    });
    recording.run(19, PAID_MS);
    program.go_on();
    let second = |model: &Model| -> Vec<flametop_stream::Head> {
        let tasks = model.tasks_of(pid).filter(|task| task.tid != pid);
        let samples = tasks.flat_map(|task| task.samples.iter().copied());
        samples.filter(|sample| sample.user_mode).collect()
    };
    run_until(&mut recording, "samples of the second thread", |model| {
        second(model).len() > 200
    });
    let samples = second(&recording.model);
    // Those that come while names are asked for may have frames without one.
    recording.name_all();
    let model = &recording.model;
    let of = |sample: flametop_stream::Head| {
        let innermost = sample.stack.and_then(|stack| {
            let stack = &model.stacks[stack as usize];
            let frame = *stack.frames[..stack.user].last()?;
            let (module, ..) = model.frames[frame as usize];
            Some(model.modules[module as usize].0)
        });
        let names = sample.stack.map(|stack| model.names(stack));
        (sample.why, names.unwrap_or_default(), innermost)
    };
    samples.into_iter().map(of).collect()
}

fn count<T>(samples: &[T], of: impl Fn(&T) -> bool) -> usize {
    samples.iter().filter(|sample| of(sample)).count()
}

#[test]
fn cpu_clock_library_opened_beside_addresses_that_are_no_code_has_its_names_and_is_in_budget() {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("astray-alpha");
    let source = format!("{}/tests/programs/plugins.c", env!("CARGO_MANIFEST_DIR"));
    let built = Command::new("cc")
        .args(["-O2", "-fomit-frame-pointer", "-shared", "-fPIC"])
        .args(["-DNAME=alpha", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(built.expect("a C compiler").success());
    let samples = second_thread(&library.to_string_lossy());
    let limits = count(&samples, |(end, ..)| *end == End::Limit);
    assert_eq!(limits, 0, "of {} samples", samples.len());
    let named = count(&samples, |(_, names, _)| {
        names.iter().any(|name| name.starts_with("alpha_work"))
    });
    assert!(named > 150, "{named} of {}", samples.len());
}

#[test]
fn cpu_clock_code_of_a_file_that_was_moved_has_its_name() {
    let samples = second_thread("moved");
    let named = count(&samples, |(_, names, _)| {
        names.iter().any(|name| name == "moved")
    });
    assert!(named > 50, "{named} of {}", samples.len());
}

#[test]
fn cpu_clock_code_made_at_run_time_that_was_moved_is_known_as_such() {
    let samples = second_thread("made");
    let known = count(&samples, |(.., kind)| *kind == Some(ModuleKind::Jit));
    assert!(known > 50, "{known} of {}", samples.len());
}
