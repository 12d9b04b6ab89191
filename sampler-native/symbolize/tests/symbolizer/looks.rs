//! Debug files that the helper process may not open itself: looked for by the real prober, which is slow, dead or not allowed to.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::Duration;

use flametop_symbolize::{Debuginfod, Looker, PlaceQuery, Query, Source, Subject, Symbolizer};

#[allow(dead_code)]
#[path = "../../../sampler/tests/served/mod.rs"]
mod served;
use crate::support::{self, *};
use served::Served;

/// A library whose debug file, which alone knows `hidden`, is in the folder `.debug` beside it.
struct Stripped {
    so: PathBuf,
    hidden: u64,
    last: u64,
}

impl Stripped {
    fn new(scratch: &Scratch) -> Stripped {
        let so = scratch.object(
            "libsplit.so",
            "__attribute__((noinline)) static int hidden(int x) { return x * x * 7; }\n\
             int last(int x) { return hidden(x) + hidden(x + 1); }\n",
        );
        let known = symbols(&so, false);
        let folder = scratch.path(".debug");
        fs::create_dir(&folder).expect("a folder");
        let debug = text(&folder.join("libsplit.so.debug"));
        run("objcopy", &["--only-keep-debug", &text(&so), &debug]);
        run("strip", &["--strip-all", &text(&so)]);
        let link = format!("--add-gnu-debuglink={debug}");
        run("objcopy", &[&link, &text(&so)]);
        Stripped {
            so,
            hidden: known["hidden"],
            last: known["last"],
        }
    }

    /// Both functions, as frames of that module.
    fn queries(&self, module: u32) -> [Query; 2] {
        let frame = 2 * module;
        [
            query(frame, module, self.hidden),
            query(frame + 1, module, self.last),
        ]
    }
}

fn started(looker: Looker, file: &Stripped) -> Symbolizer {
    let mut symbolizer = Symbolizer::start(Path::new(PROGRAM), Debuginfod::default(), looker);
    symbolizer.add_module(1, support::file(&file.so));
    symbolizer
}

/// Asks for both; the name of `hidden` if it has one.
fn hidden(symbolizer: &mut Symbolizer, file: &Stripped) -> Option<String> {
    let answers = ask(symbolizer, &file.queries(1));
    assert_eq!(
        name(&answers[1]),
        "last",
        "the file's own symbols are there"
    );
    let known = answers[0].source == Source::Symbol;
    known.then(|| name(&answers[0]).to_owned())
}

fn tried_again(symbolizer: &mut Symbolizer) {
    until("it is asked for again", || {
        symbolizer.take_tried_again() == [1]
    });
}

#[test]
fn ask_file_whose_debug_file_is_late_has_its_names_when_that_comes() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch);
    let asked = Arc::new(AtomicU32::new(0));
    let (counted, real) = (Arc::clone(&asked), looker());
    let mut symbolizer = started(
        Arc::new(
            move |process, path| match counted.fetch_add(1, Ordering::Relaxed) {
                // As a prober that has too much to do.
                0..2 => channel().1,
                _ => real(process, path),
            },
        ),
        &file,
    );
    let pid = helper(&symbolizer);
    assert_eq!(hidden(&mut symbolizer, &file), Some("hidden".to_owned()));
    assert_eq!(asked.load(Ordering::Relaxed), 3, "the third place has it");
    asked.store(0, Ordering::Relaxed);
    symbolizer.add_module(1, support::file(&file.so));
    assert_eq!(hidden(&mut symbolizer, &file), Some("hidden".to_owned()));
    assert_eq!(helper(&symbolizer), pid);
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_file_while_the_prober_is_dead_is_answered_and_asked_again_when_that_is_back() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch);
    let dead = Arc::new(AtomicU32::new(1));
    let (is_dead, real) = (Arc::clone(&dead), looker());
    let mut symbolizer = started(
        Arc::new(move |process, path| {
            if is_dead.load(Ordering::Relaxed) == 0 {
                return real(process, path);
            }
            // Neither an answer nor an end.
            let (sender, receiver) = channel();
            spawn(move || {
                sleep(PATIENCE);
                drop(sender);
            });
            receiver
        }),
        &file,
    );
    let pid = helper(&symbolizer);
    assert_eq!(hidden(&mut symbolizer, &file), None);
    let query = PlaceQuery {
        file: File::open(&file.so).expect("the file"),
        path: text(&file.so).into_bytes(),
        process: None,
        build_id: Vec::new(),
        frames: vec![(0, file.hidden)],
    };
    symbolizer.ask_places(query);
    let mut places = Vec::new();
    until("an answer about its lines", || {
        places = symbolizer.take_places();
        !places.is_empty()
    });
    let missing = String::from_utf8_lossy(&places[0].missing);
    assert!(missing.contains("did not come in time"), "{missing}");
    tried_again(&mut symbolizer);
    // Still: it is asked for once more, later.
    assert_eq!(hidden(&mut symbolizer, &file), None);
    dead.store(0, Ordering::Relaxed);
    tried_again(&mut symbolizer);
    assert_eq!(hidden(&mut symbolizer, &file), Some("hidden".to_owned()));
    assert_eq!(helper(&symbolizer), pid, "it was no fault of its own");
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_files_whose_debug_files_are_slow_to_come_another_user_s_names_come_first() {
    let scratch = Scratch::new();
    let (file, others) = (Stripped::new(&scratch), Scratch::new());
    chown(&file.so, Some(65534), Some(65534)).expect("run as root");
    let so = others.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let mut symbolizer = started(
        Arc::new(|_, _| {
            let (sender, receiver) = channel();
            spawn(move || {
                sleep(Duration::from_millis(300));
                let _ = sender.send(None);
            });
            receiver
        }),
        &file,
    );
    helper(&symbolizer);
    let mut queries = Vec::from(file.queries(1));
    for module in 2..8 {
        symbolizer.add_module(module, support::file(&file.so));
        queries.extend(file.queries(module));
    }
    symbolizer.add_module(100, support::file(&so));
    let h = query(0, 100, symbols(&so, false)["h"]);
    symbolizer.ask(&queries);
    let mut order = Vec::new();
    until("a first answer", || {
        order.extend(symbolizer.take_answers().into_iter().map(|a| a.frame));
        !order.is_empty()
    });
    symbolizer.ask(&[h]);
    until("all answers", || {
        order.extend(symbolizer.take_answers().into_iter().map(|a| a.frame));
        order.len() == queries.len() + 1
    });
    let place = order.iter().position(|frame| *frame == 0);
    assert!(place.is_some_and(|place| place <= 6), "{order:?}");
}

#[test]
fn ask_file_whose_debug_file_would_come_from_a_program_never_asks_that() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch);
    let served = Served::mount(&scratch.path(".debug"), 7);
    served.fall_silent();
    let mut symbolizer = started(looker(), &file);
    assert_eq!(hidden(&mut symbolizer, &file), None);
    assert_eq!(served.unanswered(), 0);
    drop(served);
}

#[test]
fn ask_file_in_another_root_gets_its_debug_file_from_there() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch);
    let beside = Subject::File {
        file: File::open(&file.so).expect("the file"),
        // As its process sees it, and not where it is.
        path: b"/lib/libsplit.so".to_vec(),
        process: Some(whom(std::process::id())),
        build_id: Vec::new(),
    };
    let (asked, real) = (Arc::new(std::sync::Mutex::new(Vec::new())), looker());
    let seen = Arc::clone(&asked);
    let mut symbolizer = started(
        Arc::new(move |whose, path| {
            seen.lock().expect("no panic").push((whose, path.to_vec()));
            real(whose, path)
        }),
        &file,
    );
    symbolizer.add_module(1, beside);
    assert_eq!(hidden(&mut symbolizer, &file), None);
    let asked = asked.lock().expect("no panic");
    let places: Vec<&[u8]> = asked.iter().map(|(_, path)| &path[..]).collect();
    assert_eq!(asked.len(), 8, "four places in two roots");
    assert_eq!(places[..4], places[4..]);
    assert_eq!(
        places[1..4],
        [
            &b"/lib/libsplit.so.debug"[..],
            b"/lib/.debug/libsplit.so.debug",
            b"/usr/lib/debug/lib/libsplit.so.debug"
        ]
    );
    let whose: Vec<_> = asked.iter().map(|(whose, _)| *whose).collect();
    assert_eq!(whose[..4], [None; 4]);
    assert_eq!(whose[4..], [Some(whom(std::process::id())); 4]);
}
