//! Why a session could not be opened.

use std::fmt;

use flametop_kernel::OpenErrorKind;

/// Why a session could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Exit code of the command line: 1 failed, 2 wrong usage, 3 not possible here, 4 target gone.
    pub code: u8,
    /// One line: what happened, to which thing, what mends it.
    pub message: String,
}

impl OpenError {
    /// The user wrote something that cannot be understood.
    pub fn usage(message: impl Into<String>) -> OpenError {
        OpenError {
            code: 2,
            message: message.into(),
        }
    }

    /// A failure without a class of its own.
    pub fn failed(message: impl Into<String>) -> OpenError {
        OpenError {
            code: 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenError {}

impl From<flametop_kernel::OpenError> for OpenError {
    fn from(e: flametop_kernel::OpenError) -> OpenError {
        OpenError {
            code: match e.kind {
                OpenErrorKind::NotPossible => 3,
                OpenErrorKind::TargetGone => 4,
                OpenErrorKind::Failed => 1,
            },
            message: e.message,
        }
    }
}
