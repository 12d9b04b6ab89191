//! The readers of untrusted bytes, fed in an ordinary build; `fuzz/run --mutants` starts it for each.
//!
//! - `flametop-mutants` prints the names of the targets.
//! - `flametop-mutants TARGET FILE` reads one input.
//! - `flametop-mutants TARGET SECONDS FILE FOLDER…` reads the inputs of the folders and mutants of these, and prints how many. FILE
//!   has the input that is read, and is there afterwards only if that one failed.
#![forbid(unsafe_code)]

use std::{env, fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use flametop_mutants::{Limits, Target, feed, inputs};

// The files of the targets are those of coverage-guided fuzzing, where `fuzz_target!` makes a program of each; here a function.
extern crate self as libfuzzer_sys;

/// A target as a function.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:expr) => {
        pub fn target($bytes: &[u8]) {
            $body
        }
    };
}

macro_rules! targets {
    ($($name:ident)*) => {
        #[path = "../../fuzz/src/bin"]
        #[allow(unused_attributes)] // that they have no main function
        mod targets {
            $(pub mod $name;)*
        }

        const TARGETS: &[(&str, Target)] = &[$((stringify!($name), targets::$name::target)),*];
    };
}
targets!(cfi code elf gopclntab hotspot kernel maps perf_map php protocol python ruby stream symbols v8 walk);

/// Most mutants of a target.
const MUTANTS: usize = 10_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => TARGETS.iter().for_each(|(name, _)| println!("{name}")),
        [name, file] => target(name)?(&fs::read(file).context(file.to_owned())?),
        [name, seconds, kept, ref folders @ ..] => {
            let limits = Limits {
                mutants: MUTANTS,
                time: Duration::from_secs(seconds.parse().context("seconds")?),
            };
            let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
            let inputs = inputs(&folders)?;
            println!(
                "{} inputs",
                feed(target(name)?, &inputs, limits, kept.as_ref())?
            );
        }
        [_] => bail!("usage: flametop-mutants [TARGET FILE | TARGET SECONDS FILE FOLDER…]"),
    }
    Ok(())
}

fn target(name: &str) -> Result<Target> {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, target)| *target)
        .with_context(|| format!("no target is named {name}"))
}
