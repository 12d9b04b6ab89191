//! How many files flametop itself may have open.

use crate::{OpenError, os};

/// Files that flametop has use for at a time.
const FILES: u64 = 4096;
/// Files that are opened after the start, beside those of modules.
const RESERVED: usize = 48;
/// Files that flametop needs: programs, maps and links in the kernel, jars, pipes, a few modules; timers and rings of each CPU.
const LEAST_FILES: u64 = 256;
const FILES_PER_CPU: u64 = 8;

/// Raises the limit of open files, as far as is allowed; returns the limit.
///
/// # Errors
/// So few are allowed that one thing after the other would fail later.
pub fn require() -> Result<u64, OpenError> {
    let cpus = flametop_kernel::online_cpus().map_or(1, |cpus| cpus.len() as u64);
    let least = LEAST_FILES + FILES_PER_CPU * cpus;
    let allowed = os::allow_files(least.max(FILES))
        .map_err(|e| OpenError::failed(format!("the limit of open files cannot be read: {e}")))?;
    if allowed >= least {
        return Ok(allowed);
    }
    Err(OpenError {
        code: 3,
        message: format!(
            "{allowed} open files are too few (ulimit -n): flametop needs {least}; ulimit -n {FILES} allows it"
        ),
    })
}

/// How many files of modules may be open, where so many files are allowed.
pub fn left_of(allowed: u64) -> usize {
    let used = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    (allowed as usize).saturating_sub(used + RESERVED)
}
