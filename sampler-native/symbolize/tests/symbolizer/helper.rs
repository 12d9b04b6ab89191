//! The helper process: what it has given up, what kills it, what hangs it, and how it ends.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;

use flametop_symbolize::{Debuginfod, Query, Source, Subject, Symbolizer};

use crate::support::*;

#[test]
fn ask_file_truncated_while_it_is_read_is_named_in_a_notice_and_others_go_on() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(0, 1, known["h"])])[0]),
        "h"
    );
    let pid = helper(&symbolizer);
    // A file may have been read before it is truncated: then the next file is tried.
    let truncated = (2..22).find_map(|module| {
        let path = scratch.path(&format!("shrinking{module}.so"));
        let shrinking = sparse_elf(&path, 4_000_000 * 24);
        symbolizer.add_module(module, file(&path));
        let queries = [
            Query {
                function_start: Some(0x10),
                ..query(1, module, 0x20)
            },
            query(2, 1, known["h"]),
        ];
        symbolizer.ask(&queries);
        until("the file is mapped", || {
            let maps = fs::read_to_string(format!("/proc/{pid}/maps"));
            maps.is_ok_and(|maps| maps.contains(&text(&path)))
        });
        shrinking.set_len(0x1000).expect("truncate");
        let answers = collect(&mut symbolizer, &queries);
        (answers[0].source == Source::Limit).then_some((module, path, answers))
    });
    let (module, path, answers) = truncated.expect("a file that is truncated while it is read");
    assert_eq!(name(&answers[0]), format!("shrinking{module}.so+fn@0x10"));
    assert_eq!(
        (name(&answers[1]), answers[1].source),
        ("h", Source::Symbol)
    );
    let told = notice(&mut symbolizer);
    assert!(
        told.contains(&text(&path)) && told.contains("SIGBUS"),
        "{told}"
    );
    assert_ne!(helper(&symbolizer), pid);
    // It is not asked a second time at once.
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(3, module, 0x30)])[0]),
        format!("shrinking{module}.so+0x30")
    );
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

/// Waits until a module that killed the helper process is to be asked for again.
fn tried_again(symbolizer: &mut Symbolizer, module: u32) {
    until("it is tried again", || {
        symbolizer.take_tried_again() == [module]
    });
}

#[test]
fn ask_file_that_killed_the_helper_is_tried_again_alone_and_is_named_if_it_is_good() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    let h = query(0, 1, known["h"]);
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h");
    // As a file that hangs.
    let pid = helper(&symbolizer);
    signal(pid, libc::SIGSTOP);
    assert_eq!(ask(&mut symbolizer, &[h])[0].source, Source::Limit);
    let told = notice(&mut symbolizer);
    assert!(
        told.contains("libgood.so") && told.contains("tried again"),
        "{told}"
    );
    tried_again(&mut symbolizer, 1);
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h");
    until("the process of its own has ended", || {
        symbolizer.pids()[2].is_none()
    });
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h", "with all others");
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_kernel_over_which_the_helper_was_lost_has_its_names_again() {
    let mut symbolizer = start();
    symbolizer.add_module(1, Subject::Kernel);
    let text = fs::read_to_string("/proc/kallsyms").expect("kallsyms");
    let address = |line: &str| u64::from_str_radix(line.strip_suffix(" T schedule")?, 16).ok();
    let address = text.lines().find_map(address).expect("run as root");
    let asked = query(0, 1, address);
    assert_eq!(name(&ask(&mut symbolizer, &[asked])[0]), "schedule");
    signal(helper(&symbolizer), libc::SIGSTOP);
    assert_eq!(ask(&mut symbolizer, &[asked])[0].source, Source::Limit);
    tried_again(&mut symbolizer, 1);
    assert_eq!(name(&ask(&mut symbolizer, &[asked])[0]), "schedule");
}

#[test]
fn ask_file_that_kills_the_helper_again_stays_out_for_longer_and_others_go_on() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let path = scratch.path("large.so");
    sparse_elf(&path, 2_000_000 * 24);
    let mut symbolizer = start_with(&so);
    let h = query(1, 1, known["h"]);
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h");
    symbolizer.add_module(2, file(&path));
    let bad = query(0, 2, 0x20);
    signal(helper(&symbolizer), libc::SIGSTOP);
    assert_eq!(ask(&mut symbolizer, &[bad])[0].source, Source::Limit);
    assert!(notice(&mut symbolizer).contains("in 10 s"));
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h");
    let common = helper(&symbolizer);
    tried_again(&mut symbolizer, 2);
    symbolizer.ask(&[bad]);
    let mut alone = None;
    until("it is asked alone", || {
        alone = symbolizer.pids()[2];
        alone.is_some()
    });
    signal(alone.expect("a process"), libc::SIGSTOP);
    assert_eq!(collect(&mut symbolizer, &[bad])[0].source, Source::Limit);
    assert!(notice(&mut symbolizer).contains("in 60 s"));
    assert_eq!(name(&ask(&mut symbolizer, &[h])[0]), "h");
    assert_eq!(helper(&symbolizer), common, "it was alone");
}

#[test]
fn ask_file_with_more_symbols_than_are_read_is_named_in_a_notice_and_ends_no_process() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let path = scratch.path("huge.so");
    sparse_elf(&path, 12_000_000 * 24);
    let mut symbolizer = start_with(&so);
    let pid = helper(&symbolizer);
    symbolizer.add_module(2, file(&path));
    let answers = ask(
        &mut symbolizer,
        &[query(0, 2, 0x20), query(1, 1, known["h"])],
    );
    assert_eq!(
        (name(&answers[0]), answers[0].source),
        ("huge.so+0x20", Source::Limit)
    );
    assert_eq!(
        (name(&answers[1]), answers[1].source),
        ("h", Source::Symbol)
    );
    let told = notice(&mut symbolizer);
    assert!(told.contains("huge.so (limit)"), "{told}");
    assert_eq!(helper(&symbolizer), pid);
    let with_start = Query {
        function_start: Some(0x28),
        ..query(2, 2, 0x30)
    };
    let again = ask(&mut symbolizer, &[with_start]);
    assert_eq!(
        (name(&again[0]), again[0].source),
        ("huge.so+fn@0x28", Source::Limit)
    );
    assert_eq!(symbolizer.take_notices(), [""; 0], "said once");
}

/// A file of nobody whose packed symbols take as long as can be before it is seen that they are too many.
fn bomb(scratch: &Scratch) -> PathBuf {
    let so = scratch.object("libbomb.so", "int h(int x) { return x + 1; }\n");
    let packed = scratch.path("bomb.xz");
    let mut encoder = xz2::write::XzEncoder::new(File::create(&packed).expect("a file"), 0);
    let mut state = 1u64;
    let noise: Vec<u8> = (0..1_600_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    encoder.write_all(&noise).expect("packed");
    for _ in 0..80 {
        encoder.write_all(&[0; 1 << 20]).expect("packed");
    }
    encoder.finish().expect("packed");
    let section = format!(".gnu_debugdata={}", text(&packed));
    run(
        "objcopy",
        &["--strip-all", "--add-section", &section, &text(&so)],
    );
    std::os::unix::fs::chown(&so, Some(65534), Some(65534)).expect("run as root");
    so
}

#[test]
fn ask_twenty_files_of_one_user_that_take_long_another_one_s_names_come_first() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let bomb = bomb(&scratch);
    let mut symbolizer = start_with(&so);
    helper(&symbolizer);
    let mut queries = Vec::new();
    for module in 2..22 {
        symbolizer.add_module(module, file(&bomb));
        queries.push(query(module, module, 0x20));
    }
    queries.push(query(0, 1, known["h"]));
    symbolizer.ask(&queries[..20]);
    symbolizer.ask(&queries[20..]);
    let mut order = Vec::new();
    until("all answers", || {
        let come = symbolizer.take_answers();
        order.extend(come.into_iter().map(|a| (a.frame, a.source)));
        order.len() == queries.len()
    });
    let place = order
        .iter()
        .position(|(frame, _)| *frame == 0)
        .expect("its name");
    assert!(place <= 3, "{order:?}");
    let limited = order.iter().filter(|(_, source)| *source == Source::Limit);
    assert_eq!(limited.count(), 20, "{order:?}");
    let notices = symbolizer.take_notices();
    assert_eq!(notices.len(), 16, "not all are said: {notices:?}");
    assert!(notices.iter().all(|notice| notice.contains("(limit)")));
}

#[test]
fn ask_two_large_files_in_turn_both_stay_mapped_for_a_while() {
    let scratch = Scratch::new();
    let paths = ["one.so", "two.so"].map(|name| scratch.path(name));
    let mut symbolizer = start();
    for (module, path) in (1..).zip(&paths) {
        sparse_elf(path, 700_000 * 24);
        symbolizer.add_module(module, file(path));
    }
    let mapped = |pid: u32| {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("its mappings");
        paths.each_ref().map(|path| maps.contains(&text(path)))
    };
    for round in 0..20 {
        for module in [1, 2] {
            ask(&mut symbolizer, &[query(round, module, 0x20)]);
        }
        assert_eq!(mapped(helper(&symbolizer)), [true; 2]);
    }
    until("one of them is given back", || {
        mapped(helper(&symbolizer)) != [true; 2]
    });
}

#[test]
fn ask_helper_that_hangs_is_killed_and_started_again() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(0, 1, known["h"])])[0]),
        "h"
    );
    let pid = helper(&symbolizer);
    signal(pid, libc::SIGSTOP);
    assert_eq!(
        ask(&mut symbolizer, &[query(1, 1, known["h"])])[0].source,
        Source::Limit
    );
    assert!(notice(&mut symbolizer).contains("libgood.so"));
    symbolizer.add_module(2, file(&so));
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(2, 2, known["h"])])[0]),
        "h"
    );
    assert_ne!(helper(&symbolizer), pid);
}

#[test]
fn ask_helper_killed_in_the_midst_is_started_again_and_all_are_named() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    let queries: Vec<Query> = (0..200_000)
        .map(|frame| query(frame, 1, known["h"]))
        .collect();
    let pid = helper(&symbolizer);
    symbolizer.ask(&queries);
    let mut answers = Vec::new();
    until("a first answer", || {
        answers.extend(symbolizer.take_answers());
        !answers.is_empty()
    });
    signal(pid, libc::SIGKILL);
    until("all answers", || {
        answers.extend(symbolizer.take_answers());
        answers.len() >= queries.len()
    });
    answers.sort_by_key(|answer| answer.frame);
    assert!(
        answers
            .iter()
            .zip(&queries)
            .all(|(answer, query)| answer.frame == query.frame && answer.name == b"h")
    );
    assert_ne!(helper(&symbolizer), pid);
    // Between questions too.
    signal(helper(&symbolizer), libc::SIGKILL);
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(0, 1, known["h"])])[0]),
        "h"
    );
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn start_program_missing_tells_once_and_answers_by_address() {
    let mut symbolizer = Symbolizer::start(
        Path::new("/nonexistent/flametop-symbolizer"),
        Debuginfod::default(),
        looker(),
    );
    symbolizer.add_module(0, Subject::Kernel);
    for frame in 0..3 {
        let told = Query {
            function_start: Some(1),
            ..query(frame, 0, 2)
        };
        let answers = ask(&mut symbolizer, &[told, query(frame + 10, 0, 2)]);
        assert_eq!(
            (name(&answers[0]), answers[0].source),
            ("[kernel]+fn@0x1", Source::FunctionStart)
        );
        assert_eq!(
            (name(&answers[1]), answers[1].source),
            ("[kernel]+0x2", Source::Unknown)
        );
    }
    assert!(notice(&mut symbolizer).contains("/nonexistent/flametop-symbolizer"));
    assert_eq!(symbolizer.pids(), [None; 3]);
}

#[test]
fn start_program_that_is_another_one_tells_and_answers_by_address() {
    for program in ["/bin/true", "/bin/cat"] {
        let mut symbolizer = Symbolizer::start(Path::new(program), Debuginfod::default(), looker());
        assert_eq!(name(&ask(&mut symbolizer, &[query(0, 0, 2)])[0]), "0x2");
        symbolizer.add_module(0, Subject::Kernel);
        assert_eq!(
            name(&ask(&mut symbolizer, &[query(1, 0, 2)])[0]),
            "[kernel]+0x2"
        );
        assert!(notice(&mut symbolizer).contains(program));
    }
}

#[test]
fn helper_while_it_runs_has_given_up_what_it_does_not_need() {
    // Not closed at exec: what a library in this process may have left open.
    // SAFETY: takes numbers only.
    let leaked = unsafe { libc::dup(0) };
    let symbolizer = start();
    let pid = helper(&symbolizer);
    until("it has set itself up", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status"));
        status.is_ok_and(|status| status.contains("Seccomp:\t2"))
    });
    assert_ne!(leaked, -1);
    let open = fs::read_dir(format!("/proc/{pid}/fd")).expect("its files");
    // The last one is the kernel's list of symbols.
    assert_eq!(open.count(), 4);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:\t"))
        .expect("SigIgn");
    let ignored = u64::from_str_radix(ignored, 16).expect("hex");
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP] {
        assert_ne!(ignored & (1 << (signal - 1)), 0, "signal {signal}");
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
    assert_eq!(
        stat.rsplit_once(") ").expect("stat").1.split(' ').nth(16),
        Some("5"),
        "nice"
    );
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.expect("a line").trim().to_owned()
    };
    for capabilities in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(line(capabilities), "0000000000000000", "{capabilities}");
    }
    let own = (0x7000_0000 + pid).to_string();
    for ids in ["Uid:", "Gid:"] {
        assert_eq!(line(ids).split('\t').collect::<Vec<_>>(), [&own; 4]);
    }
    assert_eq!([line("NoNewPrivs:"), line("Seccomp:")], ["1", "2"]);
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("limits");
    assert!(
        limits
            .lines()
            .any(|line| line.starts_with("Max data size") && line.contains("268435456")),
        "{limits}"
    );
    assert_eq!(
        fs::read(format!("/proc/{pid}/environ")).expect("environ"),
        b""
    );
}

#[test]
fn drop_ends_the_helper() {
    let mut symbolizer = start();
    let pid = helper(&symbolizer);
    symbolizer.ask(&[query(0, 0, 0)]);
    drop(symbolizer);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
#[ignore = "the other half of client_killed_helper_ends_too"]
fn client_that_is_killed() {
    let symbolizer = start();
    println!("helper={}", helper(&symbolizer));
    sleep(PATIENCE);
}

#[test]
fn client_killed_helper_ends_too() {
    let mut client = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "--exact",
            "helper::client_that_is_killed",
            "--ignored",
            "--nocapture",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a client");
    let lines = BufReader::new(client.stdout.take().expect("its output")).lines();
    let pid = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("helper=").map(|(_, pid)| pid.to_string()))
        .expect("a pid");
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    client.kill().expect("killed");
    client.wait().expect("ended");
    until("the helper is gone", || {
        fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
    });
}

#[test]
fn helper_started_by_hand_says_what_it_is() {
    let output = Command::new(PROGRAM)
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("started by flametop"));
}
