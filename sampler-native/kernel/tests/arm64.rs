//! The BPF programs for arm64: that they compile. Nothing else of flametop runs there yet.

use std::path::{Path, PathBuf};

use libbpf_cargo::SkeletonBuilder;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

#[test]
fn each_object_for_arm64_compiles_without_a_warning() {
    let out = std::env::temp_dir().join(format!("flametop-arm64-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let mut objects = 0;
    for file in std::fs::read_dir(folder()).expect("the BPF programs") {
        let source = file.expect("a file").path();
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name.strip_suffix(".bpf.c") else {
            continue;
        };
        SkeletonBuilder::new()
            .source(&source)
            .obj(out.join(format!("{name}.o")))
            .clang_args([
                "-D__TARGET_ARCH_arm64",
                "-mcpu=v3",
                "-idirafter",
                "/usr/include/x86_64-linux-gnu",
                "-Wall",
                "-Wextra",
                "-Werror",
            ])
            .build()
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        objects += 1;
    }
    std::fs::remove_dir_all(&out).expect("the folder goes");
    assert!(objects >= 7, "{objects} objects");
}
