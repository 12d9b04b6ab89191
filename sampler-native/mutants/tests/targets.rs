//! The targets of the program `flametop-mutants`.

use std::{fs, path::Path, process::Command};

#[test]
fn targets_without_coverage_are_those_with_it() {
    let out = Command::new(env!("CARGO_BIN_EXE_flametop-mutants"))
        .output()
        .expect("the program starts");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/src/bin");
    let files = fs::read_dir(folder).expect("sources of the targets");
    let mut names: Vec<String> = files
        .map(|file| file.expect("an entry").path())
        .map(|path| path.file_stem().unwrap_or_default().display().to_string())
        .collect();
    names.sort();
    let mine = String::from_utf8(out.stdout).expect("text");
    assert_eq!(mine.lines().collect::<Vec<_>>(), names);
}
