//! Threads of Java that sleep, beside what the JVM says of them itself.

use super::*;

/// The threads of a JVM with their frames, the outermost first, as the JVM says itself: functions, and where each is in the source.
fn thread_print(java: &Java, pid: u32) -> BTreeMap<u32, Vec<(String, String)>> {
    let print = java
        .command("jcmd")
        .args([&pid.to_string(), "Thread.print"])
        .output();
    let text = String::from_utf8_lossy(&print.expect("jcmd").stdout).into_owned();
    let mut threads: BTreeMap<u32, Vec<(String, String)>> = BTreeMap::new();
    let mut last = None;
    for line in text.lines() {
        if let Some((_, number)) = line.split_once(" nid=") {
            let number = number.split_ascii_whitespace().next().unwrap_or_default();
            let hex = number.strip_prefix("0x");
            last = hex.map_or(number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
        } else if let (Some(frame), Some(tid)) = (line.trim().strip_prefix("at "), last) {
            let (name, source) = frame.split_once('(').unwrap_or((frame, ""));
            let source = source.trim_end_matches(')');
            // A module may stand before: java.base@17.0.15/Thread.java:840.
            let source = source.rsplit('/').next().unwrap_or_default();
            let frame = (name.to_owned(), source.to_owned());
            threads.entry(tid).or_default().insert(0, frame);
        }
    }
    threads
}

/// Methods that the threads of `Sleepers` end in, of all versions.
const WAITS: [&str; 11] = [
    "sleep",
    "sleep0",
    "sleepNanos0",
    "wait",
    "wait0",
    "blocks",
    "park",
    "poll",
    "accept",
    "accept0",
    "socketAccept",
];

#[test]
fn java_threads_that_sleep_have_the_frames_that_the_jvm_prints() {
    for java in javas() {
        let classes = java.compile("Sleepers.java");
        let kinds: [&[&str]; 5] = [
            &["-XX:+UseG1GC"],
            &["-XX:+UseSerialGC"],
            &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"],
            &["-Xcomp"],
            &["-Xint"],
        ];
        for options in kinds {
            let arguments = [options, &["-cp", &classes.folder, "Sleepers"]].concat();
            let Some(program) = start_runtime(java.command("java").args(&arguments)) else {
                continue;
            };
            let pid = program.pid();
            let begin = Instant::now();
            let comm = |tid: &u32| {
                let comm = format!("/proc/{pid}/task/{tid}/comm");
                std::fs::read_to_string(comm).unwrap_or_default()
            };
            // On a busy machine the JVM compiles for seconds on the way there.
            let is_there = |threads: &BTreeMap<u32, Vec<(String, String)>>| {
                let there = |(tid, frames): &(&u32, &Vec<(String, String)>)| {
                    let innermost = frames.last().and_then(|(name, _)| name.rsplit('.').next());
                    comm(tid).starts_with("t-") && innermost.is_some_and(|m| WAITS.contains(&m))
                };
                threads.iter().filter(there).count() == 6
            };
            let mut threads = BTreeMap::new();
            while !is_there(&threads) {
                assert!(
                    begin.elapsed() < PATIENCE,
                    "{java} {options:?}: {threads:?}"
                );
                std::thread::sleep(Duration::from_millis(200));
                threads = thread_print(&java, pid);
            }
            std::thread::sleep(Duration::from_millis(500));
            let mut recording = Recording::open(&format!("target=pid {pid}"));
            recording.run(19, 2000);
            recording.name_all();
            recording.place_all();
            let model = &recording.model;
            let threads = thread_print(&java, pid);
            let calls = |of: &[(String, String)]| of.iter().any(|(n, _)| n == "Sleepers.main");
            let main = threads.iter().find(|(_, of)| calls(of)).expect("main").0;
            let mut compared = 0;
            for (tid, frames) in threads
                .iter()
                .filter(|(tid, _)| comm(tid).starts_with("t-"))
            {
                let stack = model.task(*tid).and_then(|task| task.now?.stack);
                let stack = stack.unwrap_or_else(|| panic!("no stack of {tid}"));
                let found = java_frames(model, stack);
                let printed: Vec<(String, String)> = frames
                    .iter()
                    .filter_map(|(name, source)| Some((visible(name)?, line_of(source))))
                    .collect();
                let told = format!("{java} {options:?} {}", comm(tid));
                assert_eq!(
                    model.stacks[stack as usize].end,
                    End::Root,
                    "{told} {found:?}"
                );
                assert_eq!(found, printed, "{told}");
                let blocks = comm(tid).starts_with("t-blocks");
                let holder = blocks.then(|| format!("{HELD}java {main}]"));
                assert_eq!(holder_of(model, stack), holder, "{told}");
                compared += 1;
            }
            assert_eq!(compared, 6, "{java} {options:?}");
        }
    }
}

const HELD: &str = "[monitor held by ";

fn holder_of(model: &Model, stack: u32) -> Option<String> {
    let mut names = model.names(stack).into_iter();
    names.find(|name| name.starts_with(HELD))
}

#[test]
fn java_thread_that_is_blocked_names_each_holder_of_one_sleep() {
    for java in javas() {
        let program = start_runtime(java.command("java").arg("Holders.java")).expect("java");
        let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
        let seen = RefCell::new(BTreeSet::new());
        sample_until(&mut recording, "held by both", |model| {
            let named = |name: &str| model.tasks.iter().find(|t| t.comm == name);
            let told = |task: &Task| format!("{HELD}{} {}]", task.comm, task.tid);
            let both = || {
                let now = named("t-blocks")?.now?;
                let (sleep, mut seen) = (now.nvcsw + now.nivcsw, seen.borrow_mut());
                seen.insert((sleep, holder_of(model, now.stack?)?));
                let has = |name| Some(seen.contains(&(sleep, told(named(name)?))));
                Some(has("t-first")? && has("t-second")?)
            };
            both() == Some(true)
        });
    }
}

#[test]
fn java_threads_that_are_blocked_at_once_all_name_the_holder_at_each_pass() {
    for java in javas() {
        let program = start_runtime(java.command("java").arg("Blocked.java")).expect("java");
        let mut recording = Recording::open(&format!("target=pid {}", program.pid()));
        let looks = RefCell::new(0);
        sample_until(&mut recording, "all held at five looks in a row", |model| {
            let Some(holder) = model.tasks.iter().find(|t| t.comm == "t-holds") else {
                return false;
            };
            let told = format!("{HELD}t-holds {}]", holder.tid);
            let holder_of = |task: &Task| holder_of(model, task.now?.stack?);
            let blocked = model
                .tasks
                .iter()
                .filter(|t| t.comm.starts_with("t-blocks"));
            let blocked = blocked.filter(|t| holder_of(t).as_ref() == Some(&told));
            let mut looks = looks.borrow_mut();
            *looks = if blocked.count() == 40 { *looks + 1 } else { 0 };
            *looks == 5
        });
        let model = &recording.model;
        let mut others = model.tasks.iter().filter(|t| t.comm == "t-accepts");
        let held = others.find_map(|task| holder_of(model, task.now?.stack?));
        assert_eq!(held, None, "{java}");
    }
}
