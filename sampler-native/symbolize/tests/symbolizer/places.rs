//! Inlined functions, source lines and the names that stripped files get from elsewhere: the real
//! helper process, on files of real compilers.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use flametop_prober::Whom;
use flametop_symbolize::{Debuginfod, PlaceAnswer, PlaceQuery, Query, Source, Subject, Symbolizer};

use crate::support::*;

/// `outer` calls `middle`, which calls `inner`; both are inlined. Lines 2, 5 and 8.
const INLINED: &str = "static inline __attribute__((always_inline)) int inner(volatile int *p) {\n\
     return *p * 7;\n}\n\
     static inline __attribute__((always_inline)) int middle(volatile int *p) {\n\
     return inner(p) + 1;\n}\n\
     __attribute__((noinline)) int outer(volatile int *p) {\n\
     return middle(p) + 2;\n}\n\
     __attribute__((noinline)) static int hidden(volatile int *p) { return outer(p) + 3; }\n\
     int last(volatile int *p) { return hidden(p) + hidden(p); }\n";

/// Compiles `source` with lines.
fn debuggable(scratch: &Scratch, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let (c, so) = (scratch.path(&format!("{name}.c")), scratch.path(name));
    fs::write(&c, source).expect("source");
    let (so_text, c_text) = (text(&so), text(&c));
    let mut arguments = vec!["-g", "-O2", "-shared", "-fPIC", "-w", "-Wl,--build-id"];
    arguments.extend(flags);
    arguments.extend(["-o", &so_text, &c_text]);
    run("cc", &arguments);
    so
}

fn places(symbolizer: &mut Symbolizer, query: PlaceQuery) -> Vec<PlaceAnswer> {
    let wanted = query.frames.len();
    symbolizer.ask_places(query);
    let mut answers = Vec::new();
    until("all places", || {
        answers.extend(symbolizer.take_places());
        answers.len() >= wanted
    });
    assert_eq!(answers.len(), wanted);
    answers
}

fn place(path: &Path, offset: u64) -> PlaceAnswer {
    let query = PlaceQuery {
        file: File::open(path).expect("the file"),
        path: text(path).into_bytes(),
        process: None,
        build_id: Vec::new(),
        frames: vec![(7, offset)],
    };
    let answer = places(&mut start(), query).remove(0);
    assert_eq!(answer.frame, 7);
    answer
}

/// `function file-name:line` of each call.
fn calls(answer: &PlaceAnswer) -> Vec<String> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let call = |call: &flametop_symbolize::Call| {
        let file = lossy(&call.file);
        let name = file.rsplit('/').next().unwrap_or_default();
        format!("{} {name}:{}", lossy(&call.function), call.line)
    };
    answer.calls.iter().map(call).collect()
}

fn missing(answer: &PlaceAnswer) -> String {
    assert!(answer.calls.is_empty(), "{answer:?}");
    String::from_utf8_lossy(&answer.missing).into_owned()
}

/// The build id in the file, hexadecimal.
fn build_id(path: &Path) -> String {
    let notes = run("readelf", &["-n", &text(path)]);
    let id = notes.split("Build ID: ").nth(1).expect("a build id");
    id.split_whitespace().next().expect("a build id").into()
}

/// Splits the debug information of `so` off into `debug` and strips `so`.
fn split(so: &Path, debug: &Path) {
    let (so, debug) = (text(so), text(debug));
    run("objcopy", &["--only-keep-debug", &so, &debug]);
    run("strip", &["--strip-all", &so]);
}

#[test]
fn ask_places_inlined_functions_are_told_outermost_first() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libinline.so", INLINED, &[]);
    let outer = symbols(&so, false)["outer"];
    let expected = [
        "outer libinline.so.c:8",
        "middle libinline.so.c:5",
        "inner libinline.so.c:2",
    ];
    let answers: Vec<_> = (0..8).map(|at| calls(&place(&so, outer + at))).collect();
    assert!(
        answers.iter().any(|calls| *calls == expected),
        "{answers:?}"
    );
}

#[test]
fn ask_places_compressed_debug_information_is_read() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libpacked.so", INLINED, &["-gz=zlib"]);
    let last = symbols(&so, false)["last"];
    assert_eq!(calls(&place(&so, last)), ["last libpacked.so.c:11"]);
}

#[test]
fn ask_places_of_many_frames_answers_each() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libmany.so", INLINED, &[]);
    let last = symbols(&so, false)["last"];
    let query = PlaceQuery {
        file: File::open(&so).expect("the file"),
        path: text(&so).into_bytes(),
        process: None,
        build_id: Vec::new(),
        frames: (0..1500).map(|frame| (frame, last)).collect(),
    };
    let mut answers = places(&mut start(), query);
    answers.sort_by_key(|answer| answer.frame);
    for (frame, answer) in (0..).zip(&answers) {
        assert_eq!(answer.frame, frame);
        assert_eq!(calls(answer), ["last libmany.so.c:11"]);
    }
}

#[test]
fn ask_places_without_debug_information_says_where_it_would_be() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libbare.so", INLINED, &["-g0"]);
    let id = build_id(&so);
    let told = missing(&place(&so, 0x1000));
    let wanted = format!("/usr/lib/debug/.build-id/{}/{}.debug", &id[..2], &id[2..]);
    assert!(told.contains(&wanted), "{told}");

    let so = debuggable(
        &scratch,
        "libnone.so",
        INLINED,
        &["-g0", "-Wl,--build-id=none"],
    );
    assert!(missing(&place(&so, 0x1000)).contains("-g"));
}

#[test]
fn ask_places_debug_link_beside_the_file_is_followed_if_it_fits() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "liblink.so", INLINED, &["-Wl,--build-id=none"]);
    let last = symbols(&so, false)["last"];
    let hidden = symbols(&so, false)["hidden"];
    let debug = scratch.path("liblink.so.debug");
    split(&so, &debug);
    let link = format!("--add-gnu-debuglink={}", text(&debug));
    run("objcopy", &[&link, &text(&so)]);
    assert_eq!(calls(&place(&so, last)), ["last liblink.so.c:11"]);
    // Names of functions that are not exported come from there too.
    let names = ask(&mut start_with(&so), &[query(0, 1, hidden)]);
    assert_eq!(name(&names[0]), "hidden");

    // In the folder for it, and as a link there.
    let folder = scratch.path(".debug");
    fs::create_dir(&folder).expect("a folder");
    let moved = scratch.path("elsewhere");
    fs::rename(&debug, &moved).expect("moved");
    symlink(&moved, folder.join("liblink.so.debug")).expect("a link");
    assert_eq!(calls(&place(&so, last)), ["last liblink.so.c:11"]);

    // A debug file of another build is none.
    let mut other = fs::read(&moved).expect("the file");
    other.push(0);
    fs::write(&moved, other).expect("the file");
    missing(&place(&so, last));
    let names = ask(&mut start_with(&so), &[query(0, 1, hidden)]);
    assert_eq!(names[0].source, Source::Unknown);
}

#[test]
fn ask_places_debug_file_in_the_root_of_the_process_is_found_by_build_id() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libroot.so", INLINED, &[]);
    let known = symbols(&so, false);
    let id = build_id(&so);
    let root = scratch.path("root");
    let folder = root.join(format!("usr/lib/debug/.build-id/{}", &id[..2]));
    fs::create_dir_all(&folder).expect("folders");
    split(&so, &folder.join(format!("{}.debug", &id[2..])));

    // Not in the root of a process that has ours.
    let mut child = Command::new("sleep")
        .arg("1000")
        .spawn()
        .expect("a process");
    let query_of = |whom| PlaceQuery {
        file: File::open(&so).expect("the file"),
        path: text(&so).into_bytes(),
        process: Some(whom),
        build_id: Vec::new(),
        frames: vec![(0, known["last"])],
    };
    missing(&places(&mut start(), query_of(whom(child.id())))[0]);
    child.kill().expect("killed");
    child.wait().expect("ended");

    let mut child = rooted(&root);
    assert_eq!(
        calls(&places(&mut start(), query_of(whom(child.id())))[0]),
        ["last libroot.so.c:11"]
    );
    let mut symbolizer = start();
    symbolizer.add_module(
        1,
        Subject::File {
            file: File::open(&so).expect("the file"),
            path: text(&so).into_bytes(),
            process: Some(whom(child.id())),
            build_id: Vec::new(),
        },
    );
    let names = ask(&mut symbolizer, &[query(0, 1, known["hidden"])]);
    assert_eq!(name(&names[0]), "hidden");
    // Another process that has its number: nothing of that one's root is taken.
    let other = Whom {
        start: whom(child.id()).start.map(|start| start + 100),
        ..whom(child.id())
    };
    let mut symbolizer = start();
    symbolizer.add_module(
        1,
        Subject::File {
            file: File::open(&so).expect("the file"),
            path: text(&so).into_bytes(),
            process: Some(other),
            build_id: Vec::new(),
        },
    );
    let names = ask(&mut symbolizer, &[query(0, 1, known["hidden"])]);
    assert_ne!(name(&names[0]), "hidden");
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn ask_places_what_debug_files_share_is_found_where_debian_has_it() {
    let scratch = Scratch::new();
    let root = scratch.path("root");
    let shared = root.join("usr/lib/debug/.dwz/pkg.debug");
    fs::create_dir_all(shared.parent().expect("a folder")).expect("folders");
    // What is in both is moved out of both, so also the name of the function.
    let common: String = (0..200)
        .map(|i| {
            format!("struct common_{i} {{ int a_{i}; long b_{i}; struct common_{i} *c; }} v_{i};\n")
        })
        .collect();
    let body =
        "static __attribute__((noinline)) int shared_between(volatile int *p) { return *p * 7; }\n";
    let header = scratch.path("common.h");
    fs::write(&header, format!("{common}{body}")).expect("a header");
    let source = |name: &str| {
        format!(
            "#include \"{}\"\nint {name}(volatile int *p) {{ return shared_between(p) + 1; }}\n",
            text(&header)
        )
    };
    let files = ["one", "two"].map(|name| {
        let so = debuggable(&scratch, &format!("lib{name}.so"), &source(name), &[]);
        let at = symbols(&so, false)["shared_between"];
        let id = build_id(&so);
        let folder = root.join(format!("usr/lib/debug/.build-id/{}", &id[..2]));
        fs::create_dir_all(&folder).expect("folders");
        let debug = folder.join(format!("{}.debug", &id[2..]));
        split(&so, &debug);
        (so, debug, at)
    });
    let (one, two) = (text(&files[0].1), text(&files[1].1));
    let moved = [
        "-m",
        &text(&shared),
        "-M",
        "../../.dwz/pkg.debug",
        &one,
        &two,
    ];
    run("dwz", &moved);
    let linked = run("readelf", &["-S", "-W", &one]);
    assert!(linked.contains(".gnu_debugaltlink"), "{linked}");
    let mut child = rooted(&root);
    let (so, _, at) = &files[0];
    let query = PlaceQuery {
        file: File::open(so).expect("the file"),
        path: text(so).into_bytes(),
        process: Some(whom(child.id())),
        build_id: Vec::new(),
        frames: vec![(0, *at)],
    };
    assert_eq!(
        calls(&places(&mut start(), query)[0]),
        ["shared_between common.h:201"]
    );
    child.kill().expect("killed");
    child.wait().expect("ended");
}

/// A process whose root is `root`; needs the right to change it.
fn rooted(root: &Path) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    let program = waiting_program(root);
    let path = std::ffi::CString::new(text(root)).expect("a path");
    let mut command = Command::new(program);
    // SAFETY: only system calls are made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::chroot(path.as_ptr()) == 0 && libc::chdir(c"/".as_ptr()) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        });
    }
    let child = command.spawn().expect("this test needs root: chroot");
    until("it runs in its root", || {
        fs::read_link(format!("/proc/{}/root", child.id())).is_ok_and(|at| at == root)
            && fs::read(format!("/proc/{}/comm", child.id())).is_ok_and(|comm| comm == b"wait\n")
    });
    child
}

/// A static program in `root` that waits; its path seen from there.
fn waiting_program(root: &Path) -> &'static str {
    let (c, program) = (root.join("wait.c"), root.join("wait"));
    fs::write(&c, "int main(void) { for (;;) sleep(1000); }").expect("C");
    run("cc", &["-static", "-w", "-o", &text(&program), &text(&c)]);
    "/wait"
}

#[test]
fn ask_places_hostile_debug_links_open_nothing_but_files() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libevil.so", INLINED, &["-Wl,--build-id=none"]);
    let debug = scratch.path("watchdog");
    split(&so, &debug);
    let link = format!("--add-gnu-debuglink={}", text(&debug));
    run("objcopy", &[&link, &text(&so)]);
    fs::remove_file(&debug).expect("removed");
    // To open a FIFO for reading would wait for who writes to it.
    run("mkfifo", &[&text(&debug)]);
    symlink("/dev", scratch.path(".debug")).expect("a link");
    missing(&place(&so, 0x1000));
    // Names look there too, and go on.
    let answers = ask(&mut start_with(&so), &[query(0, 1, 0x10)]);
    assert_eq!(answers[0].source, Source::Unknown);
}

#[test]
fn ask_places_damaged_debug_information_never_ends_more_than_the_question() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libgood.so", INLINED, &[]);
    let last = symbols(&so, false)["last"];
    let good = fs::read(&so).expect("the file");
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise as usize
    };
    let mut symbolizer = start();
    for round in 0..60 {
        let mut bytes = good.clone();
        for _ in 0..40 {
            // Behind the code, where debug information is.
            let at = bytes.len() / 2 + next() % (bytes.len() / 2);
            bytes[at] = next() as u8;
        }
        if round % 4 == 0 {
            bytes.truncate(next() % good.len());
        }
        let path = scratch.path(&format!("damaged-{round}"));
        fs::write(&path, bytes).expect("the file");
        let query = PlaceQuery {
            file: File::open(&path).expect("the file"),
            path: Vec::new(),
            process: None,
            build_id: Vec::new(),
            frames: vec![(round, last)],
        };
        let answer = places(&mut symbolizer, query).remove(0);
        assert_eq!(answer.calls.is_empty(), !answer.missing.is_empty());
    }
    let query = PlaceQuery {
        file: File::open(&so).expect("the file"),
        path: Vec::new(),
        process: None,
        build_id: Vec::new(),
        frames: vec![(0, last)],
    };
    let answer = places(&mut symbolizer, query).remove(0);
    assert_eq!(calls(&answer), ["last libgood.so.c:11"]);
    // Nothing of it stays.
    until("no process for places", || symbolizer.pids()[1].is_none());
}

#[test]
fn ask_places_program_missing_says_so() {
    let scratch = Scratch::new();
    let so = debuggable(&scratch, "libany.so", INLINED, &[]);
    let query = PlaceQuery {
        file: File::open(&so).expect("the file"),
        path: Vec::new(),
        process: None,
        build_id: Vec::new(),
        frames: vec![(0, 1)],
    };
    let mut symbolizer = Symbolizer::start(
        Path::new("/nonexistent/flametop-symbolizer"),
        Debuginfod::default(),
        looker(),
    );
    assert!(missing(&places(&mut symbolizer, query)[0]).contains("cannot be started"));
}

/// A Go program, built with these flags.
fn go(scratch: &Scratch, flags: &[&str]) -> PathBuf {
    let (source, program) = (scratch.path("main.go"), scratch.path("program"));
    fs::write(
        &source,
        "package main\n\ntype pump struct{ n int }\n\n\
         //go:noinline\nfunc (p *pump) work(n int) int { return n*p.n + 1 }\n\n\
         func main() { p := &pump{7}; println(p.work(3)) }\n",
    )
    .expect("source");
    let output = Command::new("go")
        .arg("build")
        .args(flags)
        .arg("-o")
        .args([&program, &source])
        .output()
        .expect("go: apt install golang-go");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

#[test]
fn ask_stripped_go_program_gives_names_of_its_own_table() {
    for flags in [&["-buildmode=exe"][..], &["-buildmode=pie"]] {
        let scratch = Scratch::new();
        let program = go(&scratch, flags);
        let known = symbols(&program, false);
        let wanted = ["main.(*pump).work", "main.main", "runtime.schedule"];
        run("strip", &["--strip-all", &text(&program)]);
        let queries: Vec<Query> = (0..)
            .zip(wanted)
            .map(|(frame, name)| query(frame, 1, known[name] + 1))
            .chain([query(9, 1, 0x10)])
            .collect();
        let answers = ask(&mut start_with(&program), &queries);
        for (answer, wanted) in answers.iter().zip(wanted) {
            assert_eq!((name(answer), answer.source), (wanted, Source::Symbol));
        }
        assert_eq!(answers[3].source, Source::Unknown);

        // Damaged, it is answered all the same.
        let good = fs::read(&program).expect("the file");
        let table = run("readelf", &["-SW", &text(&program)]);
        let line = table
            .lines()
            .find(|line| line.contains("gopclntab"))
            .expect("the table");
        let fields: Vec<&str> = line
            .split(']')
            .nth(1)
            .expect("fields")
            .split_whitespace()
            .collect();
        let start_at = usize::from_str_radix(fields[3], 16).expect("hex");
        let mut symbolizer = start();
        for round in 0..200_u32 {
            let mut bytes = good.clone();
            for i in 0..6_u32 {
                let noise = (round * 7 + i).wrapping_mul(2_654_435_761);
                bytes[start_at + (noise >> 8) as usize % 72] = noise as u8;
            }
            let path = scratch.path("damaged");
            fs::write(&path, bytes).expect("the file");
            symbolizer.add_module(round + 2, file(&path));
            ask(&mut symbolizer, &[query(0, round + 2, known["main.main"])]);
            fs::remove_file(&path).expect("removed");
        }
        assert_eq!(symbolizer.take_notices(), [""; 0]);
    }
}
