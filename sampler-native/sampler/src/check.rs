//! What this machine allows.

use std::{fs, os::unix::fs::PermissionsExt};

use flametop_kernel::CheckLine;

use crate::{OpenError, settings::Settings};

/// A line for each thing that a session with these settings needs or could use.
///
/// # Errors
/// A setting that is not understood.
pub fn check(settings: &str) -> Result<Vec<CheckLine>, OpenError> {
    let settings = Settings::parse(settings)?;
    let mut lines = flametop_kernel::check();
    let path = settings.symbolizer;
    let runs =
        fs::metadata(&path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    lines.push(CheckLine {
        ok: runs,
        needed: false,
        what: "names of functions".to_owned(),
        detail: match runs {
            true => "the symbolizer is there".to_owned(),
            false => format!("the symbolizer {} cannot be run", path.display()),
        },
        remedy: match runs {
            true => String::new(),
            false => "build it (mvn package)".to_owned(),
        },
    });
    Ok(lines)
}
