//! The client and the real helper process, on real files. The kernel's symbols need root.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use flametop_symbolize::{Debuginfod, NAME_MAX, Query, Source, Subject, Symbolizer};

use crate::support::*;

#[test]
fn ask_functions_of_libc_gives_their_names() {
    let maps = fs::read_to_string("/proc/self/maps").expect("maps");
    let libc = maps
        .lines()
        .find_map(|line| {
            line.split_once('/')
                .filter(|(_, path)| path.ends_with("libc.so.6"))
        })
        .expect("libc")
        .1;
    let libc = PathBuf::from(format!("/{libc}"));
    let known = symbols(&libc, true);
    let mut symbolizer = start();
    symbolizer.add_module(1, file(&libc));
    let wanted = ["malloc", "qsort", "strtol", "printf"];
    let queries: Vec<Query> = (0..)
        .zip(wanted)
        .map(|(frame, name)| query(frame, 1, known[name] + 1))
        .collect();
    for (answer, wanted) in ask(&mut symbolizer, &queries).iter().zip(wanted) {
        assert_eq!(answer.source, Source::Symbol);
        // An alias at the same address is as true: `_IO_printf`.
        assert_eq!(
            known[name(answer)],
            known[wanted],
            "{} for {wanted}",
            name(answer)
        );
    }
    let first = ask(&mut symbolizer, &queries);
    assert_eq!(
        ask(&mut start_with(&libc), &queries),
        first,
        "names are the same every time"
    );
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_addresses_of_the_kernel_gives_kallsyms_names() {
    let kallsyms = fs::read_to_string("/proc/kallsyms").expect("kallsyms");
    let address = |wanted: &str| {
        let line = kallsyms
            .lines()
            .find(|line| line.ends_with(&format!(" T {wanted}")))
            .expect(wanted);
        u64::from_str_radix(&line[..16], 16).expect("an address")
    };
    let wanted = ["do_exit", "kernel_clone", "wake_up_process"];
    let mut queries: Vec<Query> = (0..)
        .zip(wanted)
        .map(|(frame, name)| query(frame, 0, address(name) + 5))
        .collect();
    assert!(
        queries.iter().all(|query| query.offset > 5),
        "this test needs root: /proc/kallsyms shows no addresses"
    );
    queries.push(query(9, 0, 0xffff_ffff_ffff_f000));
    let mut symbolizer = start();
    symbolizer.add_module(0, Subject::Kernel);
    let answers = ask(&mut symbolizer, &queries);
    for (answer, wanted) in answers.iter().zip(wanted) {
        assert_eq!((name(answer), answer.source), (wanted, Source::Symbol));
    }
    // Megabytes behind the last symbol there is none.
    assert_eq!(
        (name(&answers[3]), answers[3].source),
        ("[kernel]+0xfffffffffffff000", Source::Unknown)
    );
}

#[test]
fn ask_kernel_whose_addresses_are_hidden_tells_once_and_answers_by_address() {
    let scratch = Scratch::new();
    let program = scratch.path("without-syslog");
    let setpriv = "exec /usr/bin/setpriv --bounding-set=-syslog";
    fs::write(&program, format!("#!/bin/sh\n{setpriv} {PROGRAM}\n")).expect("a script");
    fs::set_permissions(&program, Permissions::from_mode(0o700)).expect("a program");
    let seen = format!("{setpriv} head -c 16 /proc/kallsyms");
    let hidden = run("/bin/sh", &["-c", &seen]) == "0".repeat(16);
    assert!(
        hidden,
        "set kernel.perf_event_paranoid=2: all users see the addresses of the kernel"
    );
    let mut symbolizer = Symbolizer::start(&program, Debuginfod::default(), looker());
    symbolizer.add_module(0, Subject::Kernel);
    for frame in 0..2 {
        let answers = ask(&mut symbolizer, &[query(frame, 0, 0xffff_ffff_8123_4567)]);
        assert_eq!(name(&answers[0]), "[kernel]+0xffffffff81234567");
    }
    assert!(notice(&mut symbolizer).contains("CAP_SYSLOG"));
}

#[test]
fn ask_vdso_gives_its_names() {
    let maps = fs::read_to_string("/proc/self/maps").expect("maps");
    let range = maps
        .lines()
        .find(|line| line.ends_with("[vdso]"))
        .expect("a vDSO")
        .split(' ')
        .next()
        .expect("a range");
    let (start_at, end) = range.split_once('-').expect("a range");
    let [start_at, end] = [start_at, end].map(|hex| u64::from_str_radix(hex, 16).expect("hex"));
    let mut image = vec![0; (end - start_at) as usize];
    File::open("/proc/self/mem")
        .expect("mem")
        .read_exact_at(&mut image, start_at)
        .expect("the vDSO");
    let scratch = Scratch::new();
    fs::write(scratch.path("vdso"), &image).expect("copy");
    let known = symbols(&scratch.path("vdso"), true);
    let mut symbolizer = start();
    symbolizer.add_module(3, Subject::Vdso { image });
    let answers = ask(
        &mut symbolizer,
        &[
            query(0, 3, known["__vdso_clock_gettime"] + 1),
            query(1, 3, 1),
        ],
    );
    assert_eq!(known[name(&answers[0])], known["__vdso_clock_gettime"]);
    assert_eq!(name(&answers[1]), "[vdso]+0x1");
}

#[test]
fn ask_c_cpp_and_rust_names_are_demangled_where_they_are_mangled() {
    let scratch = Scratch::new();
    let so = scratch.object(
        "libnames.so",
        "int h(int x) { return x + 1; }\n\
         int space(int, int) __asm__(\"_ZN5space3fooEii\");\n\
         int space(int x, int y) { return x * y; }\n",
    );
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    let answers = ask(
        &mut symbolizer,
        &[
            query(0, 1, known["h"]),
            query(1, 1, known["_ZN5space3fooEii"]),
        ],
    );
    assert_eq!(name(&answers[0]), "h");
    assert_eq!(name(&answers[1]), "space::foo(int, int)");

    let source = scratch.path("lib.rs");
    fs::write(
        &source,
        "pub mod inner {\n#[inline(never)]\n\
         pub fn work(x: u64) -> u64 { std::hint::black_box(x) }\n}\n",
    )
    .expect("source");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    for (module, mangling) in [(2, "v0"), (3, "legacy")] {
        let out = scratch.path(&format!("lib{mangling}.so"));
        let mut arguments = vec!["--crate-type=dylib", "--crate-name=sample", "-O", "-o"];
        let (out_text, source_text, mangling) = (
            text(&out),
            text(&source),
            format!("symbol-mangling-version={mangling}"),
        );
        arguments.extend([
            out_text.as_str(),
            source_text.as_str(),
            "-C",
            "prefer-dynamic",
            "-C",
            mangling.as_str(),
        ]);
        if mangling.ends_with("legacy") {
            arguments.extend(["-Z", "unstable-options"]);
        }
        let output = Command::new(&rustc)
            .args(&arguments)
            .env("RUSTC_BOOTSTRAP", "1")
            .output()
            .expect("rustc");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let (mangled, address) = symbols(&out, false)
            .into_iter()
            .find(|(name, _)| name.contains("5inner4work"))
            .expect("the symbol");
        assert!(
            mangled.starts_with(if module == 2 { "_R" } else { "_ZN" }),
            "{mangled}"
        );
        symbolizer.add_module(module, file(&out));
        assert_eq!(
            name(&ask(&mut symbolizer, &[query(5, module, address)])[0]),
            "sample::inner::work"
        );
    }
}

#[test]
fn ask_stripped_file_never_takes_the_nearest_symbol() {
    let scratch = Scratch::new();
    let so = scratch.object(
        "libbare.so",
        "__asm__(\".text\\n.globl .label\\n.label:\\n nop\\n\");\n\
         __asm__(\".text\\n.globl bare\\nbare:\\n nop\\n nop\\n\");\n\
         int first(int x) { return x + 1; }\n\
         __attribute__((noinline)) static int hidden(int x) { return x * x * 7; }\n\
         int last(int x) { return hidden(x) + hidden(x + 1); }\n",
    );
    let known = symbols(&so, false);
    let stripped = scratch.path("libbare.so.1 (deleted)");
    run("strip", &["-o", &text(&stripped), &text(&so)]);
    // Keeps a table, in which `bare`, of no size, is all that is left below the other functions.
    let partial = scratch.path("libpartial.so");
    run(
        "objcopy",
        &[
            "--strip-symbol=first",
            "--strip-symbol=hidden",
            "--strip-symbol=last",
            &text(&so),
            &text(&partial),
        ],
    );

    let hidden = known["hidden"];
    let with_start = |frame, module| Query {
        function_start: Some(hidden),
        ..query(frame, module, hidden + 1)
    };
    let mut symbolizer = start();
    symbolizer.add_module(1, file(&so));
    symbolizer.add_module(2, file(&stripped));
    symbolizer.add_module(3, file(&partial));
    let queries = [
        with_start(0, 1),
        with_start(1, 2),
        query(2, 2, hidden + 1),
        with_start(3, 3),
        query(4, 2, known["first"]),
        query(5, 2, known["bare"]),
        query(6, 1, known[".label"]),
    ];
    let answers = ask(&mut symbolizer, &queries);
    let told: Vec<(&str, Source)> = answers
        .iter()
        .map(|answer| (name(answer), answer.source))
        .collect();
    let (start_2, start_3) = (
        format!("libbare.so.1+fn@{hidden:#x}"),
        format!("libpartial.so+fn@{hidden:#x}"),
    );
    let place = format!("libbare.so.1+{:#x}", hidden + 1);
    let label = format!("libbare.so+{:#x}", known[".label"]);
    assert_eq!(
        told,
        [
            ("hidden", Source::Symbol),
            (start_2.as_str(), Source::FunctionStart),
            (place.as_str(), Source::Unknown),
            (start_3.as_str(), Source::FunctionStart),
            ("first", Source::Symbol),
            ("bare", Source::Symbol),
            (label.as_str(), Source::Unknown),
        ]
    );
}

#[test]
fn ask_file_with_compressed_symbols_gives_their_names() {
    let scratch = Scratch::new();
    let source = "__attribute__((noinline)) static int hidden(int x) { return x * x * 7; }\n\
                  int last(int x) { return hidden(x) + hidden(x + 1); }\n";
    let so = scratch.object("libfull.so", source);
    let known = symbols(&so, false);
    let mini = with_packed_symbols(&scratch, &so);
    let mut symbolizer = start_with(&mini);
    let answers = ask(
        &mut symbolizer,
        &[query(0, 1, known["hidden"]), query(1, 1, known["last"])],
    );
    assert_eq!((name(&answers[0]), name(&answers[1])), ("hidden", "last"));
}

#[test]
fn ask_function_with_several_names_gives_the_plain_one() {
    let scratch = Scratch::new();
    let so = scratch.object(
        "libalias.so",
        "int __libc_pour(int x) { return x + 1; }\n\
         int pour(int) __attribute__((weak, alias(\"__libc_pour\")));\n\
         int __pour(int) __attribute__((alias(\"__libc_pour\")));\n\
         int __spill(int x) { return x + 2; }\n\
         int spill(int x) { return x + 3; }\n",
    );
    let known = symbols(&so, true);
    let mut symbolizer = start_with(&so);
    let queries = [query(0, 1, known["pour"]), query(1, 1, known["__spill"])];
    let answers = ask(&mut symbolizer, &queries);
    assert_eq!((name(&answers[0]), name(&answers[1])), ("pour", "__spill"));
}

#[test]
fn add_module_again_replaces_it() {
    let scratch = Scratch::new();
    let one = scratch.object("libone.so", "int one(int x) { return x + 1; }\n");
    let two = scratch.object("libtwo.so", "int two(int x) { return x + 1; }\n");
    let mut symbolizer = start_with(&one);
    let answers = ask(&mut symbolizer, &[query(0, 1, symbols(&one, false)["one"])]);
    assert_eq!(name(&answers[0]), "one");
    symbolizer.add_module(1, file(&two));
    let answers = ask(&mut symbolizer, &[query(0, 1, symbols(&two, false)["two"])]);
    assert_eq!(name(&answers[0]), "two");
}

#[test]
fn ask_frame_whose_function_was_not_looked_for_to_the_end_says_limit_unless_it_has_a_symbol() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    let limited = |offset| Query {
        limited: true,
        ..query(offset as u32, 1, offset)
    };
    let answers = ask(&mut symbolizer, &[limited(known["h"]), limited(0x10)]);
    assert_eq!(
        answers.iter().find(|a| a.frame == 0x10).map(|a| a.source),
        Some(Source::Limit)
    );
    let h = answers.iter().find(|a| u64::from(a.frame) == known["h"]);
    assert_eq!(h.map(|a| (name(a), a.source)), Some(("h", Source::Symbol)));
}

#[test]
fn ask_root_and_unknown_module_are_answered_without_the_helper() {
    let mut symbolizer = start();
    let root = Query {
        root: Some("[thread start]"),
        function_start: Some(3),
        ..query(1, 7, 4)
    };
    let answers = ask(&mut symbolizer, &[root, query(2, 7, 0xabc)]);
    assert_eq!(
        (name(&answers[0]), answers[0].source),
        ("[thread start]", Source::Root)
    );
    assert_eq!(
        (name(&answers[1]), answers[1].source),
        ("0xabc", Source::Unknown)
    );
}

#[test]
fn ask_long_and_deep_names_are_bounded() {
    let scratch = Scratch::new();
    let deep = format!("_Z1f{}i{}", "1AI".repeat(2_000), "E".repeat(2_000));
    let so = scratch.object(
        "liblong.so",
        &format!(
            "int a(int) __asm__(\"{}\");\nint a(int x) {{ return x + 1; }}\n\
             int b(int) __asm__(\"{deep}\");\nint b(int x) {{ return x + 2; }}\n",
            "n".repeat(28 << 10)
        ),
    );
    let known = symbols(&so, false);
    let mut symbolizer = start_with(&so);
    let answers = ask(
        &mut symbolizer,
        &[
            query(0, 1, known[&"n".repeat(28 << 10)]),
            query(1, 1, known[&deep]),
        ],
    );
    assert!(name(&answers[0]).starts_with("nnnn") && answers[0].name.len() == NAME_MAX);
    assert_eq!(answers[1].source, Source::Symbol);
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_what_is_no_elf_file_is_answered_by_address() {
    let scratch = Scratch::new();
    let fifo = scratch.path("fifo");
    run("mkfifo", &[&text(&fifo)]);
    let fifo_file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(&fifo)
        .expect("the FIFO");
    let noise = scratch.path("noise");
    fs::write(
        &noise,
        (0..100_000u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect::<Vec<u8>>(),
    )
    .expect("noise");
    let empty = scratch.path("empty");
    fs::write(&empty, b"").expect("empty");
    let mut symbolizer = start();
    symbolizer.add_module(
        0,
        Subject::File {
            file: fifo_file,
            path: b"/tmp/fifo".to_vec(),
            process: None,
            build_id: Vec::new(),
        },
    );
    symbolizer.add_module(1, file(&noise));
    symbolizer.add_module(2, file(&empty));
    symbolizer.add_module(3, file(&scratch.0));
    symbolizer.add_module(4, file(Path::new("/dev/zero")));
    let queries: Vec<Query> = (0..5).map(|module| query(module, module, 0x10)).collect();
    let answers = ask(&mut symbolizer, &queries);
    assert!(
        answers
            .iter()
            .all(|answer| answer.source == Source::Unknown)
    );
    assert_eq!(name(&answers[0]), "fifo+0x10");
    assert_eq!(name(&answers[4]), "zero+0x10");
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

#[test]
fn ask_damaged_elf_files_are_answered_and_good_ones_still_named() {
    let scratch = Scratch::new();
    let so = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let known = symbols(&so, false);
    let good = fs::read(&so).expect("the file");
    let sections = u64::from_le_bytes(good[40..48].try_into().expect("8 bytes")) as usize;
    let mut symbolizer = start_with(&so);
    let mut noise = 88_172_645_463_325_252u64;
    let mut next = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise as usize
    };
    let mut queries = Vec::new();
    for module in 2..250 {
        let mut bytes = good.clone();
        for _ in 0..8 {
            // Headers and section table: where damage does most.
            let at = if next() % 3 == 0 {
                next() % 64
            } else {
                sections + next() % (bytes.len() - sections)
            };
            bytes[at] = next() as u8;
        }
        bytes.truncate(if next() % 4 == 0 {
            next() % bytes.len()
        } else {
            bytes.len()
        });
        let path = scratch.path(&format!("damaged-{module}"));
        fs::write(&path, bytes).expect("the file");
        symbolizer.add_module(module, file(&path));
        queries.push(query(module, module, known["h"]));
    }
    ask(&mut symbolizer, &queries);
    assert_eq!(
        name(&ask(&mut symbolizer, &[query(0, 1, known["h"])])[0]),
        "h"
    );
}
