//! Programs that the tests of the sampler start.

use std::{
    io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command},
};

/// A child process that is killed and reaped at the end of its test, and its map removed.
pub struct Program(pub Child);

impl Program {
    pub fn spawn(command: &mut Command) -> Program {
        let child = command.spawn();
        Program(child.unwrap_or_else(|e| panic!("{command:?} does not start: {e}")))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// The file in which a runtime may name its code.
    pub fn map(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/perf-{}.map", self.pid()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(self.map());
    }
}

/// Gives a program less priority than its sampler, and than other tests.
pub fn yielding(command: &mut Command) -> &mut Command {
    // SAFETY: it takes plain values, and may be called between fork and exec.
    let lower = || match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 5) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: it allocates nothing.
    unsafe { command.pre_exec(lower) }
}
