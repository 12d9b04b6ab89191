//! Compiles the BPF programs, generates their skeletons, and takes the constants out of `flametop.h`.

use std::{env, fmt::Write, fs, path::Path, path::PathBuf};

use anyhow::{Context, Result, ensure};
use libbpf_cargo::SkeletonBuilder;

const OBJECTS: [&str; 7] = [
    "task_stacks",
    "cpu_stacks",
    "events",
    "task_life",
    "cpu_idle",
    "cpu_frequency",
    "pid_level",
];

fn main() -> Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").context("OUT_DIR is not set")?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().context("the folder of the sources")?;
    let bpf = root.join("bpf");
    for object in OBJECTS {
        SkeletonBuilder::new()
            .source(bpf.join(format!("{object}.bpf.c")))
            .clang_args(arguments(object, &root))
            .build_and_generate(out.join(format!("{object}.rs")))?;
        println!(
            "cargo:rerun-if-changed={}",
            bpf.join(format!("{object}.bpf.c")).display()
        );
    }
    let header = bpf.join("flametop.h");
    let text = fs::read_to_string(&header)
        .with_context(|| format!("failed to read {}", header.display()))?;
    fs::write(out.join("abi.rs"), constants(&text)?)?;
    println!("cargo:rerun-if-changed={}", header.display());
    for shared in [
        "chain.h",
        "jumps.h",
        "kernel.h",
        "memory.h",
        "parts.h",
        "registers.h",
        "returns.h",
        "sample.h",
        "seen.h",
        "stack.h",
        "stretches.h",
        "target.h",
        "wake.h",
    ] {
        println!("cargo:rerun-if-changed={}", bpf.join(shared).display());
    }
    Ok(())
}

/// The options with which clang compiles an object. An object names its source files by paths that begin in the repository, not in the builder's folder.
fn arguments(object: &str, root: &Path) -> Vec<String> {
    let prefix = format!("-ffile-prefix-map={}=/flametop", root.display());
    let mut arguments: Vec<String> = ["-Wall", "-Wextra", "-Werror", &prefix]
        .map(String::from)
        .into();
    if object == "events" {
        // Atomic operations that give the former value (Linux 5.12); where Debian has the header that libbpf's of USDT probes includes.
        let more = ["-mcpu=v3", "-idirafter", "/usr/include/x86_64-linux-gnu"];
        arguments.extend(more.map(String::from));
    }
    arguments
}

/// `#define FT_NAME value` and `FT_NAME = value,` as Rust constants, with the comments behind them; between `#ifdef
/// __TARGET_ARCH_arm64`, `#else` and `#endif` those of one architecture.
fn constants(header: &str) -> Result<String> {
    let mut rust = String::new();
    let mut only = "";
    for line in header.lines() {
        let line = line.trim();
        only = match line {
            "#ifdef __TARGET_ARCH_arm64" => "#[cfg(target_arch = \"aarch64\")]\n",
            "#else" => "#[cfg(not(target_arch = \"aarch64\"))]\n",
            "#endif" => "",
            _ => only,
        };
        let (line, comment) = line.split_once("/*").unwrap_or((line, ""));
        let found = match line.strip_prefix("#define ") {
            Some(define) => define.trim().split_once(' '),
            None => line
                .trim()
                .strip_suffix(',')
                .and_then(|l| l.split_once(" = ")),
        };
        let Some((name, value)) = found.filter(|(name, _)| name.starts_with("FT_")) else {
            ensure!(
                !line.starts_with("FT_"),
                "flametop.h: an enumerator needs a line of its own: {line}"
            );
            continue;
        };
        let value = value.trim().trim_start_matches('(').trim_end_matches(')');
        let comment = comment.trim().trim_end_matches("*/").trim();
        let doc = if comment.is_empty() { name } else { comment };
        writeln!(
            rust,
            "{only}#[doc = {doc:?}]\npub const {name}: u32 = {value};"
        )?;
    }
    Ok(rust)
}
