//! The BPF programs for arm64: that they compile. Nothing else of flametop runs there yet.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use libbpf_rs::libbpf_sys::API_HEADERS;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
}

// By clang itself: libbpf-cargo among what tests need would have each crate above the kernel's compiled once more, for the features of
// the crates that libbpf-cargo needs.
#[test]
fn each_object_for_arm64_compiles_without_a_warning() {
    let out = std::env::temp_dir().join(format!("flametop-arm64-{}", std::process::id()));
    let headers = out.join("bpf");
    fs::create_dir_all(&headers).expect("a folder");
    for (name, text) in API_HEADERS {
        fs::write(headers.join(name), text).expect("a header of libbpf");
    }
    let mut objects = 0;
    for file in fs::read_dir(folder()).expect("the BPF programs") {
        let source = file.expect("a file").path();
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name.strip_suffix(".bpf.c") else {
            continue;
        };
        let object = out.join(format!("{name}.o"));
        let said = Command::new("clang")
            .args(["-target", "bpf", "-g", "-O2", "-c", "-fno-stack-protector"])
            .args(["-D__TARGET_ARCH_arm64", "-mcpu=v3"])
            .args(["-idirafter", "/usr/include/x86_64-linux-gnu"])
            .args(["-Wall", "-Wextra", "-Werror", "-I"])
            .arg(&out)
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .output()
            .expect("clang");
        assert!(
            said.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&said.stderr)
        );
        let written = fs::metadata(&object).expect("an object").len();
        assert!(written > 0, "{name}");
        objects += 1;
    }
    fs::remove_dir_all(&out).expect("the folder goes");
    assert!(objects >= 7, "{objects} objects");
}
