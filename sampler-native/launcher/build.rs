//! Names that stay when all other symbols are taken out of the program: `flametop --self-test` looks for them (`src/subject.rs`).

use std::{env, fs, io, path::Path};

const NAMES: [&str; 4] = [
    "flametop_subject",
    "flametop_subject_turns",
    "flametop_subject_rests",
    "flametop_subject_calls",
];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    for name in NAMES {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    // For arm64 rustc links a static program to a fixed place, where no names are exported: they stay as symbols.
    let told = |name| env::var(name).unwrap_or_default();
    if told("CARGO_CFG_TARGET_ARCH") == "aarch64"
        && told("CARGO_CFG_TARGET_FEATURE").contains("crt-static")
    {
        let list = Path::new(&told("OUT_DIR")).join("names");
        fs::write(&list, NAMES.join("\n"))?;
        println!(
            "cargo:rustc-link-arg-bins=-Wl,--retain-symbols-file={}",
            list.display()
        );
    }
    Ok(())
}
