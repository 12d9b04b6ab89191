//! Files that only their owner may read, in the helper process, which is another user without any right.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flametop_symbolize::{Query, Source};

use crate::support::{self, *};

const SOURCE: &str = "__attribute__((noinline)) static int hidden(int x) { return x * x * 7; }\n\
    int __libc_pour(int x) { return hidden(x) + 1; }\n\
    int pour(int) __attribute__((weak, alias(\"__libc_pour\")));\n\
    int last(int x) { return hidden(x) + hidden(x + 1); }\n";

fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

#[test]
fn ask_file_that_only_its_owner_may_read_has_the_names_that_it_has_for_all() {
    let scratch = Scratch::new();
    let so = scratch.object("libclosed.so", SOURCE);
    let known = symbols(&so, false);
    let wanted = ["hidden", "pour", "last"];
    let queries: Vec<Query> = (0..)
        .zip(wanted)
        .map(|(frame, name)| query(frame, 1, known[name]))
        .collect();
    for mode in [0o755, 0o700, 0o600, 0o400, 0] {
        close(&so, mode);
        let answers = ask(&mut start_with(&so), &queries);
        let names: Vec<&str> = answers.iter().map(name).collect();
        assert_eq!(names, wanted, "{mode:o}");
    }
}

#[test]
fn ask_closed_file_with_packed_symbols_has_their_names() {
    let scratch = Scratch::new();
    let so = scratch.object("libfull.so", SOURCE);
    let known = symbols(&so, false);
    let mini = with_packed_symbols(&scratch, &so);
    close(&mini, 0o600);
    let answers = ask(&mut start_with(&mini), &[query(0, 1, known["hidden"])]);
    assert_eq!(name(&answers[0]), "hidden");
}

#[test]
fn ask_closed_file_with_a_closed_debug_file_in_a_closed_folder_has_its_names() {
    let scratch = Scratch::new();
    let so = scratch.object("libsplit.so", SOURCE);
    let known = symbols(&so, false);
    let debug = scratch.path("libsplit.so.debug");
    run("objcopy", &["--only-keep-debug", &text(&so), &text(&debug)]);
    run("strip", &["--strip-all", &text(&so)]);
    let link = format!("--add-gnu-debuglink={}", text(&debug));
    run("objcopy", &[&link, &text(&so)]);
    close(&so, 0o700);
    close(&debug, 0o400);
    close(&scratch.0, 0o700);
    let queries = [query(0, 1, known["hidden"]), query(1, 1, known["last"])];
    let answers = ask(&mut start_with(&so), &queries);
    assert_eq!((name(&answers[0]), name(&answers[1])), ("hidden", "last"));
}

#[test]
fn ask_closed_file_whose_symbols_are_too_much_to_copy_is_told_and_ends_no_process() {
    let scratch = Scratch::new();
    let good = scratch.object("libgood.so", "int h(int x) { return x + 1; }\n");
    let h = query(0, 1, symbols(&good, false)["h"]);
    // Names of 300 MiB, which are not there.
    let path = scratch.path("huge.so");
    let mut header = vec![0; 64];
    header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    header[40..48].copy_from_slice(&64u64.to_le_bytes());
    header[58..62].copy_from_slice(&[64, 0, 2, 0]);
    let mut names = vec![0; 64];
    names[4] = 3;
    names[24..32].copy_from_slice(&4096u64.to_le_bytes());
    names[32..40].copy_from_slice(&(300u64 << 20).to_le_bytes());
    fs::write(&path, [header, vec![0; 64], names].concat()).expect("a file");
    let file = OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("it opens");
    file.set_len(301 << 20).expect("longer");
    close(&path, 0o600);
    let mut symbolizer = start_with(&good);
    let pid = helper(&symbolizer);
    symbolizer.add_module(2, support::file(&path));
    let answers = ask(&mut symbolizer, &[query(1, 2, 0x20), h]);
    assert_eq!(answers[0].source, Source::Limit);
    assert_eq!(name(&answers[1]), "h");
    assert!(notice(&mut symbolizer).contains("huge.so (limit)"));
    assert_eq!(helper(&symbolizer), pid);
}

#[test]
fn ask_closed_files_that_are_large_in_turn_their_copies_are_given_back() {
    let scratch = Scratch::new();
    let mut symbolizer = start();
    let pid = helper(&symbolizer);
    for module in 1..7 {
        // 36 MiB of symbols each.
        let path = scratch.path(&format!("{module}.so"));
        sparse_elf(&path, 1_500_000 * 24);
        close(&path, 0o600);
        symbolizer.add_module(module, file(&path));
        ask(&mut symbolizer, &[query(module, module, 0x20)]);
        let copies = fs::read_dir(format!("/proc/{pid}/fd")).expect("its files");
        let copies = copies
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
            .filter(|path| text(path).starts_with("/memfd:"));
        assert!(copies.count() <= 4, "each once here, once in blazesym");
    }
    assert_eq!(helper(&symbolizer), pid);
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}
