//! `flametop`, and by its other name `flametop-helper`: one file, because a static program is mostly its libc.

use flametop_launcher::{helper, start};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    match Path::new(&name).file_name() {
        Some(name) if name == "flametop-helper" => helper::main(&rest),
        _ => start::main(&rest),
    }
}
