//! What makes code at run time in a process.

use std::{fs::File, io, os::unix::fs::FileExt};

use flametop_runtimes::{Attached, Found, Lack, Memory, Pages, python};
use serde::{Deserialize, Serialize};

use crate::{ProcessFolder, line::MAPS_LIMIT};

/// A runtime that does not tell about itself (it is starting, or of another kind) is asked so often.
pub(crate) const MAX_ATTEMPTS: u8 = 20;
/// Most pieces of memory, of 4 KiB, that are read to attach to a runtime, and for one question about its code.
const ATTACH_PIECES: usize = 4096;
const CODE_PIECES: usize = 4096;

/// What makes code at run time there, as far as it changes how that code is walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Runtime {
    Other,
    Python,
    /// Not known yet, after so many attempts.
    Starting(u8),
    Attached(Attached),
}

impl Runtime {
    /// Takes note of a runtime by its library. `ask`: what it tells; one that is still starting is asked again next time.
    pub(crate) fn see(&mut self, path: &[u8], ask: impl FnOnce() -> io::Result<Attached>) {
        if flametop_runtimes::recognise(path) {
            let attempts = match self {
                Runtime::Attached(_) => return,
                Runtime::Starting(attempts) => *attempts,
                _ => 0,
            };
            if attempts < MAX_ATTEMPTS {
                *self = match ask() {
                    Ok(attached) => Runtime::Attached(attached),
                    Err(_) => Runtime::Starting(attempts + 1),
                };
            }
        } else if *self == Runtime::Other && python::recognise(path) {
            *self = Runtime::Python;
        }
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

struct Mem(File);

impl Memory for Mem {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(into, address)
    }
}

/// Attaches to the runtime of a process that has one and has started.
///
/// # Errors
/// Not found: the process has none. Others: it has one of another kind, or may not be read.
pub fn attach(process: &ProcessFolder) -> io::Result<Attached> {
    let maps = process.read("maps", MAPS_LIMIT)?;
    let (base, path) = maps
        .split(|b| *b == b'\n')
        .filter(|line| flametop_runtimes::recognise(line))
        .find_map(|line| {
            Some((
                std::str::from_utf8(line.split(|b| *b == b'-').next()?).ok()?,
                line,
            ))
        })
        .and_then(|(start, line)| Some((u64::from_str_radix(start, 16).ok()?, line)))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it has no libjvm.so"))?;
    let memory = Mem(process.file("mem")?);
    flametop_runtimes::attach(path, &Pages::new(&memory, ATTACH_PIECES), base)
}

/// Reads what walks lacked of the code that a runtime made.
///
/// # Errors
/// The process is gone, or may not be read.
pub fn read_code(
    process: &ProcessFolder,
    attached: &Attached,
    lacks: &[Lack],
) -> io::Result<Vec<Found>> {
    let memory = Mem(process.file("mem")?);
    Ok(attached.read(&Pages::new(&memory, CODE_PIECES), lacks))
}
