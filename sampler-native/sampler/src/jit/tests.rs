use super::{subject::PAUSE, *};
use crate::prober;
use flametop_unwind::ModuleId;
use std::{
    fs,
    path::PathBuf,
    process::Child,
    time::{Duration, Instant, SystemTime},
};

/// A process whose map no other test writes, the prober, and the thread.
struct World {
    process: Child,
    map: PathBuf,
    changes: u64,
    prober: Arc<Prober>,
    jit: JitNames,
}

impl World {
    fn start() -> World {
        let process = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("sleep");
        let map = PathBuf::from(format!("/tmp/perf-{}.map", process.id()));
        let exe = std::env::current_exe().expect("own path");
        let program = exe.ancestors().nth(2).expect("target folder");
        let program = program.join("flametop-symbolizer");
        let prober = Arc::new(Prober::new(&program).expect("a prober"));
        World {
            process,
            map,
            changes: 0,
            jit: JitNames::start(Arc::clone(&prober)),
            prober,
        }
    }

    fn write(&mut self, text: &str) {
        fs::write(&self.map, text).expect("written");
        let file = fs::File::options().write(true).open(&self.map);
        self.changes += 1;
        let later = SystemTime::now() + Duration::from_secs(self.changes);
        file.and_then(|f| f.set_modified(later)).expect("touched");
    }

    fn ask(&self, frame: u32, offset: u64) {
        self.ask_of(self.process.id(), frame, offset);
    }

    fn ask_of(&self, tgid: u32, frame: u32, offset: u64) {
        let place = Frame {
            module: ModuleId(0),
            offset,
            guessed: false,
        };
        self.jit.ask(vec![Ask { frame, tgid, place }]);
    }

    /// The next answer: frame and what is said of it.
    fn next(&self) -> (u32, String) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < until, "an answer");
            let soon = Duration::from_millis(20);
            if let Ok(answer) = self.jit.answers.recv_timeout(soon) {
                return said_of(answer);
            }
            for answer in self.prober.take() {
                match answer {
                    prober::Answer::PerfMap(tgid, map) => self.jit.perf_map(tgid, map),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.map);
    }
}

fn said_of(answer: Answer) -> (u32, String) {
    match answer {
        Answer::Name { frame, name, .. } => (
            frame,
            match name {
                Ok(name) => String::from_utf8_lossy(&name).into(),
                Err(Nameless::Absent) => "none".to_owned(),
                Err(Nameless::Limit) => "limit".to_owned(),
            },
        ),
        Answer::Moved { frame, .. } => (frame, "moved".to_owned()),
        Answer::Notice { text, .. } => (u32::MAX, text),
    }
}

fn said(frame: u32, text: &str) -> (u32, String) {
    (frame, text.to_owned())
}

#[test]
fn answer_map_that_comes_later_names_what_had_no_name() {
    let mut world = World::start();
    world.ask(7, 0x10);
    assert_eq!(world.next(), said(7, "none"));
    world.write("10 10 late\n");
    assert_eq!(world.next(), said(7, "late"), "without a question");
}

#[test]
fn answer_other_code_after_a_newer_map_confirmed_the_name_is_another_frame() {
    let mut world = World::start();
    world.write("10 10 first\n20 10 stays\n");
    world.ask(1, 0x10);
    assert_eq!(world.next(), said(1, "first"));
    world.ask(2, 0x20);
    assert_eq!(world.next(), said(2, "stays"));
    // The map was older than the frame: what it said may have been of the code before.
    world.write("10 10 second\n20 10 stays\n");
    assert_eq!(world.next(), said(1, "second"));
    world.write("10 10 third\n20 10 stays\n");
    assert_eq!(world.next(), said(1, "moved"));
}

#[test]
fn answer_map_that_is_gone_keeps_its_names_also_when_its_process_is() {
    let mut world = World::start();
    world.write("10 10 kept\n");
    world.ask(1, 0x10);
    assert_eq!(world.next(), said(1, "kept"));
    fs::remove_file(&world.map).expect("removed");
    thread::sleep(2 * PAUSE);
    world.ask(2, 0x10);
    assert_eq!(world.next(), said(2, "kept"));
    world.process.kill().expect("killed");
    world.process.wait().expect("reaped");
    thread::sleep(2 * PAUSE);
    world.ask(3, 0x10);
    assert_eq!(world.next(), said(3, "kept"));
}

#[test]
fn answer_map_that_is_not_answered_for_holds_up_no_other_process() {
    let mut world = World::start();
    world.write("10 10 named\n");
    // The prober says nothing of this one.
    let other = std::process::id();
    world.ask_of(other, 1, 0x10);
    world.ask_of(other, 2, 0x10);
    world.ask(3, 0x10);
    let mut named = None;
    let until = Instant::now() + Duration::from_secs(60);
    while named.is_none() && Instant::now() < until {
        for answer in world.prober.take() {
            match answer {
                prober::Answer::PerfMap(tgid, _) if tgid == other => {}
                prober::Answer::PerfMap(tgid, map) => world.jit.perf_map(tgid, map),
                other => panic!("{other:?}"),
            }
        }
        named = world.jit.answers.try_iter().next().map(said_of);
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(named, Some(said(3, "named")));
    world.jit.perf_map(other, Err(Missing::Late));
    assert_eq!(world.next(), said(1, "none"));
    assert_eq!(world.next(), said(2, "none"));
    let (_, notice) = world.next();
    assert!(notice.contains("is not answered for"), "{notice}");
}

#[test]
fn answer_process_that_is_gone_has_no_name() {
    let mut world = World::start();
    world.process.kill().expect("killed");
    world.process.wait().expect("reaped");
    world.ask(1, 0x10);
    assert_eq!(world.next(), said(1, "none"));
}
