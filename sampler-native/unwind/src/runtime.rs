//! What makes code at run time in a process.

use crate::{HotSpot, hotspot};
use serde::{Deserialize, Serialize};
use std::io;

/// A JVM that does not tell about itself (it is starting, or is not HotSpot) is asked so often.
pub(crate) const MAX_ATTEMPTS: u8 = 20;
/// `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`: CPython 3.12 and newer with `-X perf` makes one for each function, so that
/// it has an address; a mapping of them holds nothing else.
pub(crate) const TRAMPOLINE: [u8; 11] = [
    0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
];

/// What makes code at run time there, as far as it changes how that code is walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Runtime {
    Other,
    Python,
    /// Not known yet, after so many attempts.
    Jvm(u8),
    HotSpot(HotSpot),
}

impl Runtime {
    /// Takes note of a runtime by its library. `ask`: what a JVM tells; one that is still starting is asked again next time.
    pub(crate) fn see(&mut self, path: &[u8], ask: impl FnOnce() -> io::Result<HotSpot>) {
        if hotspot::is_libjvm(path) {
            let attempts = match self {
                Runtime::HotSpot(_) => return,
                Runtime::Jvm(attempts) => *attempts,
                _ => 0,
            };
            if attempts < MAX_ATTEMPTS {
                *self = match ask() {
                    Ok(jvm) => Runtime::HotSpot(jvm),
                    Err(_) => Runtime::Jvm(attempts + 1),
                };
            }
        } else if *self == Runtime::Other && Runtime::is_python(path) {
            *self = Runtime::Python;
        }
    }

    pub(crate) fn is_python(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        file.starts_with(b"python3") || file.starts_with(b"libpython3")
    }
}

/// What is known of the runtime of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuntimeKnown(pub(crate) Runtime);

impl Default for RuntimeKnown {
    fn default() -> RuntimeKnown {
        RuntimeKnown(Runtime::Other)
    }
}
