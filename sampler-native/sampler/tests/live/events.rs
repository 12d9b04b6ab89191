//! Sources of events: from the words of a user to stacks that add up.

use std::io::Write;

use flametop_stream::SourceState;

use super::*;

/// A session that looks at nothing but the events of a program, which waits to begin.
pub fn waiting(words: &[&str]) -> (Program, Recording) {
    let program = Program::start("events", words);
    let settings = format!("{}\nhz.cpu=0", target(program.pid()));
    (program, Recording::open(&settings))
}

/// Fills batches until it is so.
pub fn until(recording: &mut Recording, so: impl Fn(&Model) -> bool) {
    let begin = Instant::now();
    while !so(&recording.model) {
        let model = &recording.model;
        assert!(
            begin.elapsed() < PATIENCE,
            "{:?} {:?}",
            model.sources,
            model.totals
        );
        recording.fill(true);
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn set(recording: &Recording, number: u32, spec: &str) {
    recording
        .session
        .wishes()
        .set_source(number, Some(spec.to_owned()));
}

/// Fills batches until so many sources are on, or cannot be had.
pub fn settled(recording: &mut Recording, count: usize) {
    until(recording, |model| {
        let opening = |(state, _): &(SourceState, String)| *state == SourceState::Opening;
        model.sources.len() == count && !model.sources.values().any(opening)
    });
}

#[test]
fn events_durations_of_calls_lie_on_whole_stacks_with_the_function_on_top() {
    let (mut program, mut recording) = waiting(&["seldom", "50"]);
    let file = compiled("events");
    let file = file.display();
    set(&recording, 7, &format!("uretprobe:{file}:outer,weight=dur"));
    set(&recording, 2, &format!("uprobe:{file}:inner"));
    set(&recording, 3, "fault,weight=bytes");
    set(&recording, 4, "tracepoint:sched:sched_swich");
    set(&recording, 5, "falt");
    settled(&mut recording, 5);
    let state = |model: &Model, number: u32| model.sources[&number].clone();
    let model = &recording.model;
    for number in [2, 3, 7] {
        assert_eq!(state(model, number), (SourceState::On, String::new()));
    }
    let (missing, why) = state(model, 4);
    assert_eq!(missing, SourceState::Missing);
    assert!(why.contains("did you mean sched_switch?"), "{why}");
    let (missing, why) = state(model, 5);
    assert_eq!(missing, SourceState::Missing);
    assert!(why.contains("did you mean fault?"), "{why}");

    let stdin = program.0.stdin.as_mut().expect("it is open");
    stdin.write_all(b"g").expect("it reads");
    let placed = |model: &Model, number: u32, count: u64| {
        let totals = model.totals.get(&number);
        let events = model.events.iter().filter(|(_, of, ..)| *of == number);
        totals.is_some_and(|t| t.hits == count && events.count() as u64 == t.taken - t.lost)
    };
    until(&mut recording, |model| {
        placed(model, 7, 50) && placed(model, 2, 100)
    });
    recording.name_all();
    let model = &recording.model;
    let mut sum = 0;
    for (head, source, weight, rate) in &model.events {
        let stack = || from_main(model, head.stack.expect("a stack"));
        match source {
            7 => {
                let names = stack();
                assert_eq!(names.last().map(String::as_str), Some("outer"), "{names:?}");
                assert_eq!(*rate, 0, "all stacks are copied");
                sum += weight;
            }
            2 => {
                let names = stack();
                // The return address to what called `outer` is that of a probe while this runs.
                let last = &names[names.len() - 2..];
                assert_eq!(last, ["outer", "inner"], "{names:?}");
            }
            _ => {}
        }
        assert_eq!(head.why, End::Root, "source {source}: {head:?}");
    }
    let totals = &model.totals[&7];
    println!("{sum} of {totals:?}");
    assert_eq!((totals.taken, totals.lost), (50, 0));
    assert_eq!(sum, totals.weight);
    let hits: u64 = totals.histogram.iter().sum();
    assert_eq!(hits, 50);
    let faults = &model.totals[&3];
    assert_eq!(faults.weight, 4096 * faults.hits);

    let wishes = recording.session.wishes();
    wishes.set_source(7, None);
    until(&mut recording, |model| {
        model.sources[&7].0 == SourceState::Off
    });
    until(&mut recording, |model| model.totals[&7].hits == 50);
}
