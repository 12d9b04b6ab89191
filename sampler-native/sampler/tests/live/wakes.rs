//! Waits as sources of events: who woke whom, and sums beside those of the scheduler; locks of the kernel.

use std::io::{BufRead, BufReader, Write};

use flametop_stream::{SourceState, SourceTotals};

use super::*;

const WAKE: u32 = 3;

/// What was seen of the waits of a program.
struct Seen {
    /// What each waiter waited by the sums of the scheduler: name, tid, ns.
    said: Vec<(String, u32, i64)>,
    totals: SourceTotals,
    /// Waiter's comm, the frames from the waiter's outermost to the last waker, and the weight that the event stands for.
    waits: Vec<(String, Vec<String>, f64)>,
}

impl Seen {
    /// Weight of the waits of this thread for which it is so, and of all of its waits.
    fn share(&self, waiter: &str, so: impl Fn(&[String]) -> bool) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (comm, frames, weight) in &self.waits {
            if comm == waiter {
                sums.1 += weight;
                sums.0 += if so(frames) { *weight } else { 0.0 };
            }
        }
        sums
    }

    /// At least 99 of 100 waits of this thread, by time, ended so.
    fn nearly_all(&self, waiter: &str, so: impl Fn(&[String]) -> bool) {
        let (right, all) = self.share(waiter, &so);
        let wrong = self
            .waits
            .iter()
            .find(|(comm, frames, _)| comm == waiter && !so(frames));
        assert!(
            all > 0.0 && right >= 0.99 * all,
            "{waiter}: {right} of {all} ns, {wrong:?}"
        );
    }
}

/// The frames of the first waker, innermost first, and the name behind them.
fn waker(frames: &[String]) -> (&[String], &str) {
    let mut parts = frames.split(|frame| frame == "--").skip(1);
    let waker = parts.next().unwrap_or_default();
    match waker.split_last() {
        Some((name, frames)) => (frames, name),
        None => (waker, ""),
    }
}

/// Those who woke the waker, who woke that one …
fn further(frames: &[String]) -> Vec<&str> {
    let parts = frames.split(|frame| frame == "--").skip(2);
    parts.flatten().map(String::as_str).collect()
}

fn has(frames: &[String], function: &str) -> bool {
    frames.iter().any(|frame| frame == function)
}

/// Runs the program in this way, so often, and watches its waits.
fn watch(words: &[&str]) -> Seen {
    watch_if_possible(words).expect("the kernel takes part")
}

/// None: the kernel refuses what the program does, which is printed.
fn watch_if_possible(words: &[&str]) -> Option<Seen> {
    let mut program = Program::spawn(
        Command::new(compiled("wakes"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped()),
    );
    let mut lines = BufReader::new(program.0.stdout.take().expect("it is open")).lines();
    let mut line = move || lines.next().expect("it says more").expect("text");
    let first = line();
    if first.starts_with("refused: ") {
        println!("skipped {words:?}: {first}");
        return None;
    }
    assert_eq!(first, "ready");
    let mut recording = Recording::open(&format!("{}\nhz.cpu=0", target(program.pid())));
    let wishes = recording.session.wishes();
    wishes.set_source(WAKE, Some("wake".to_owned()));
    events::settled(&mut recording, 1);
    let state = recording.model.sources[&WAKE].clone();
    assert_eq!(state, (SourceState::On, String::new()));
    let stdin = program.0.stdin.as_mut().expect("it is open");
    stdin.write_all(b"g").expect("it reads");
    let said = std::thread::scope(|scope| {
        let heard = scope.spawn(|| {
            let mut said = Vec::new();
            loop {
                let line = line();
                let words: Vec<&str> = line.split(' ').collect();
                match words[..] {
                    ["done"] => return said,
                    [name, tid, ns] => said.push((
                        name.to_owned(),
                        tid.parse().expect("a number"),
                        ns.parse().expect("a number"),
                    )),
                    _ => panic!("{line}"),
                }
            }
        });
        while !heard.is_finished() {
            recording.fill(true);
            std::thread::sleep(Duration::from_millis(50));
        }
        heard.join().expect("it hears")
    });
    // Totals come four times a second.
    recording.run(20, 600);
    let begin = Instant::now();
    loop {
        recording.fill(true);
        let model = &recording.model;
        let totals = &model.totals[&WAKE];
        if model.events.len() as u64 >= totals.taken - totals.lost {
            break;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "{} events of {totals:?}",
            model.events.len()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    recording.name_all();
    let model = &recording.model;
    let waits = model.events.iter().map(|(head, _, weight, rate)| {
        let weight = *weight as f64;
        let stands_for = match rate {
            0 => weight,
            rate => weight / -(-weight / *rate as f64).exp_m1(),
        };
        let frames = model.names(head.stack.expect("a stack"));
        (
            model.tasks[head.task as usize].comm.clone(),
            frames,
            stands_for,
        )
    });
    let seen = Seen {
        said,
        totals: model.totals[&WAKE].clone(),
        waits: waits.collect(),
    };
    println!("{words:?}: {:?}, {:?}", seen.said, seen.totals);
    for (comm, frames, weight) in seen.waits.iter().take(6) {
        println!("{comm};{} {weight}", frames.join(";"));
    }
    Some(seen)
}

/// The sum of all waits beside those of the scheduler: `said` are all that waited.
fn adds_up(seen: &Seen) {
    let exact: i64 = seen.said.iter().map(|(.., ns)| ns).sum();
    // Before it was told to begin, the program waited for that.
    let first = seen.waits.iter().filter(|(_, frames, _)| {
        let (frames, _) = waker(frames);
        frames
            .last()
            .is_some_and(|last| last == "[not in the target]")
    });
    let first: f64 = first.map(|(.., weight)| weight).sum();
    let off = (seen.totals.weight as f64 - first) / exact as f64;
    println!("{off} of {exact} ns");
    assert!(
        (off - 1.0).abs() < 0.03,
        "{off}: {:?} {:?}",
        seen.said,
        seen.totals
    );
}

#[test]
fn wakes_two_threads_that_take_turns_wake_each_other() {
    let seen = watch(&["pingpong", "1000"]);
    seen.nearly_all("ping", |frames| {
        let (frames_of_waker, name) = waker(frames);
        name == "pong" && has(frames_of_waker, "give_turn") && has(frames, "take_turn")
    });
    // Its other waits end by the clock.
    let (by_ping, _) = seen.share("pong", |frames| waker(frames).1 == "ping");
    let (by_clock, all) = seen.share("pong", |frames| waker(frames).1 == "[interrupt]");
    assert!(by_ping > 0.0 && by_ping + by_clock >= 0.99 * all);
    adds_up(&seen);
}

#[test]
fn wakes_in_a_chain_each_waker_stands_behind_the_one_that_it_woke() {
    let seen = watch(&["chain", "400"]);
    for (waiter, chain) in [
        ("third", &["second", "first", "[interrupt]"][..]),
        ("second", &["first", "[interrupt]"]),
    ] {
        let of = |frames: &[String]| -> Vec<String> {
            let further = further(frames).into_iter();
            std::iter::once(waker(frames).1)
                .chain(further)
                .map(str::to_owned)
                .collect()
        };
        seen.nearly_all(waiter, |frames| chain[..of(frames).len()] == of(frames));
        // A thread that was kept from its CPU begins to wait when its waker runs already.
        let (whole, all) = seen.share(waiter, |frames| of(frames) == chain);
        assert!(whole > 0.8 * all, "{waiter}: {whole} of {all}");
    }
}

#[test]
fn wakes_by_the_clock_are_interrupts_without_a_frame_of_the_task_that_they_hit() {
    let seen = watch(&["sleep", "400"]);
    seen.nearly_all("sleeper", |frames| {
        let (frames, name) = waker(frames);
        let outermost = frames.last().map_or("", String::as_str);
        name == "[interrupt]"
            && outermost.starts_with("asm_")
            && frames.iter().all(|frame| frame.ends_with("_[k]"))
            && frames.iter().any(|frame| frame.starts_with("hrtimer_"))
    });
    adds_up(&seen);
}

#[test]
fn wakes_of_a_signal_a_condition_a_child_and_a_socket_are_of_who_did_it() {
    let seen = watch(&["signal", "200"]);
    seen.nearly_all("signalled", |frames| waker(frames).1 == "sender");
    let seen = watch(&["broadcast", "200"]);
    for (waiter, other) in [("one", "other"), ("other", "one")] {
        // By the broadcast, or by the other one, which had got the mutex before.
        seen.nearly_all(waiter, |frames| {
            ["caller", other].contains(&waker(frames).1)
        });
    }
    let (by_caller, _) = seen.share("one", |frames| waker(frames).1 == "caller");
    assert!(by_caller > 0.0);
    let seen = watch(&["loopback", "300"]);
    seen.nearly_all("client", |frames| {
        let (frames, name) = waker(frames);
        name == "server" && has(frames, "give_turn")
    });
    // Children are no part of a target that is a process.
    let seen = watch(&["child", "50"]);
    seen.nearly_all("parent", |frames| {
        let (frames, name) = waker(frames);
        name == "child" && has(frames, "[not in the target]")
    });
}

#[test]
fn wakes_of_a_parent_whose_child_has_its_memory_are_of_the_child() {
    let seen = watch(&["vfork", "50"]);
    seen.nearly_all("lender", |frames| {
        let (frames, name) = waker(frames);
        name == "borrower" && has(frames, "[not in the target]")
    });
}

#[test]
fn wakes_by_threads_and_a_program_that_have_ended_before_they_are_named_have_names() {
    let seen = watch(&["mortal", "100"]);
    let (by_mortal, all) = seen.share("survivor", |frames| {
        let (frames, name) = waker(frames);
        name == "mortal" && has(frames, "give_turn")
    });
    // It waits for room for their stacks, too.
    assert!(by_mortal > 0.9 * all, "{by_mortal} of {all} ns");
}

#[test]
fn wakes_of_a_thread_that_waits_in_a_ring_are_of_who_completes_what_it_waits_for() {
    let Some(seen) = watch_if_possible(&["ring", "200"]) else {
        return;
    };
    let (by_feeder, all) = seen.share("ringed", |frames| {
        let (of_waker, name) = waker(frames);
        name == "feeder" && has(of_waker, "give_turn") && has(frames, "await_ring")
    });
    assert!(by_feeder > 0.9 * all, "{by_feeder} of {all} ns");
}

#[test]
fn wakes_of_a_program_that_is_killed_while_it_waits_are_of_the_killer_and_others_go_on() {
    let mut killed = Program::start("wakes", &["sleep", "1"]);
    let mut recording = Recording::open(&format!("{}\nhz.cpu=0", target(killed.pid())));
    events::set(&recording, WAKE, "wake");
    events::settled(&mut recording, 1);
    // It waits to be told to begin.
    recording.run(20, 400);
    killed.0.kill().expect("it is killed");
    events::until(&mut recording, |model| {
        let totals = model.totals.get(&WAKE);
        let events = model.events.len() as u64;
        totals.is_some_and(|t| t.hits > 0 && events >= t.taken - t.lost)
    });
    recording.name_all();
    let model = &recording.model;
    println!("{:?}", model.totals[&WAKE]);
    let own = std::fs::read_to_string("/proc/thread-self/comm").expect("the name");
    let by_us = model.events.iter().any(|(head, ..)| {
        let frames = model.names(head.stack.expect("a stack"));
        waker(&frames).1 == own.trim_end()
    });
    assert!(by_us, "{:?}", model.events);
    assert_eq!(model.sources[&WAKE].0, SourceState::On);
}

#[test]
fn wakes_tasks_that_are_preempted_do_not_wait() {
    let seen = watch(&["busy", "1500"]);
    let (_, waited) = seen.share("busy", |_| true);
    // Starting and ending, they wait for locks of the memory.
    assert!(waited < 50e6, "{waited} ns");
}

#[test]
fn wakes_in_a_storm_are_all_counted_and_few_are_copied() {
    let seen = watch(&["storm", "300000"]);
    let totals = &seen.totals;
    assert!(totals.hits > 100_000, "{totals:?}");
    assert!(totals.taken < totals.hits / 20, "{totals:?}");
    for (waiter, by) in [("storm0", "storm1"), ("storm1", "storm0")] {
        seen.nearly_all(waiter, |frames| waker(frames).1 == by);
    }
}

#[test]
fn lock_threads_that_map_memory_wait_in_the_function_that_takes_the_lock() {
    let (mut program, mut recording) = events::waiting(&["contention", "4", "4000"]);
    events::set(&recording, 4, "lock");
    events::set(&recording, 5, "irqsoff");
    events::settled(&mut recording, 2);
    let sources = &recording.model.sources;
    assert_eq!(sources[&4], (SourceState::On, String::new()));
    let (state, why) = &sources[&5];
    assert!(
        *state == SourceState::On || why.contains("CONFIG_IRQSOFF_TRACER"),
        "{why}"
    );
    let stdin = program.0.stdin.as_mut().expect("it is open");
    stdin.write_all(b"g").expect("it reads");
    events::until(&mut recording, |model| {
        let of_lock = model.totals.get(&4);
        let placed = model.events.iter().filter(|(_, of, ..)| *of == 4).count() as u64;
        of_lock.is_some_and(|t| t.weight > 1_000_000 && placed > 20)
    });
    recording.name_all();
    let model = &recording.model;
    let (mut right, mut all) = (0.0, 0.0);
    for (head, source, weight, _) in &model.events {
        if *source == 4 {
            let names = model.names(head.stack.expect("a stack"));
            let waits = names
                .iter()
                .any(|name| name.contains("rwsem") || name.contains("down_write"));
            all += *weight as f64;
            let kind = names.last().map_or("", String::as_str);
            right += if waits && has(&names, "maps_memory") && kind == "[rwsem write]" {
                *weight as f64
            } else {
                0.0
            };
        }
    }
    println!("{right} of {all}: {:?}", model.totals[&4]);
    // On a busy machine other threads wait too: those that read these mappings, and those that wait for page tables.
    assert!(right > 0.5 * all, "{right} of {all}");
}
