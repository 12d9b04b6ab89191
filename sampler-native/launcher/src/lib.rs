//! The launcher of flametop: it checks that a JVM can start here, starts the JVM, stays beside it, and restores the terminal
//! however the JVM ends. By its other name, `flametop-helper`, the same program does for the JVM what Java cannot do itself.

pub mod command;
pub mod helper;
pub mod host;
pub mod install;
pub mod jvm;
pub mod start;
pub mod subject;
pub mod terminal;
pub mod wait;

use std::io::Write;

/// Why flametop does not start: what the user is told, and the exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The exit code.
    pub code: u8,
    /// One line.
    pub text: String,
}

impl Refusal {
    /// Something failed.
    #[must_use]
    pub fn failed(text: String) -> Self {
        Self { code: 1, text }
    }

    /// Something is not possible on this machine, or with these privileges.
    #[must_use]
    pub fn not_possible(text: String) -> Self {
        Self { code: 3, text }
    }
}

/// One line on stderr, where there is one.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "flametop: {text}");
}
