//! Names that stay when all other symbols are taken out of the program: `flametop --self-test` looks for them (`src/subject.rs`).

fn main() {
    for name in [
        "flametop_subject",
        "flametop_subject_turns",
        "flametop_subject_rests",
        "flametop_subject_calls",
    ] {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
