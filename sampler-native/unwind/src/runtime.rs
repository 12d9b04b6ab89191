//! What makes code at run time in a process.

use std::{cell::LazyCell, collections::HashMap, fs::File, io, os::unix::fs::FileExt};

use flametop_runtimes::{Attached, Blocked, Found, Holder, Lack, Memory, Pages, RuntimeKind};
use serde::{Deserialize, Serialize};

use crate::{ProcessFolder, line::MAPS_LIMIT};

/// A runtime that does not tell about itself (it is starting, or of another kind) is asked so often.
pub(crate) const MAX_ATTEMPTS: u8 = 20;
/// Most pieces of memory, of 4 KiB, that are read to attach to a runtime, and for one question about its code.
const ATTACH_PIECES: usize = 4096;
const CODE_PIECES: usize = 4096;
/// Most files that are looked at for a runtime.
const MOST_FILES: usize = 8;
/// Most bytes of the status of a thread, and of its name.
const STATUS_LIMIT: u64 = 64 << 10;
const NAME_LIMIT: u64 = 16;

/// What makes code at run time there, as far as it changes how that code is walked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Runtime {
    Other,
    /// One of this kind, which did not tell of itself in so many attempts.
    Starting(RuntimeKind, u8),
    /// One of this kind, of which no more is known, and why: its name and version are told there.
    Unknown(RuntimeKind, String),
    Attached(Attached),
}

impl Runtime {
    /// Whether it is CPython.
    pub(crate) fn is_python(&self) -> bool {
        match self {
            Runtime::Starting(kind, _) | Runtime::Unknown(kind, _) => *kind == RuntimeKind::Python,
            Runtime::Attached(attached) => attached.kind() == RuntimeKind::Python,
            Runtime::Other => false,
        }
    }

    /// Whether code that it makes may use the frame pointer for something else.
    pub(crate) fn doubts_frame_pointer(&self, pc: u64) -> bool {
        match self {
            Runtime::Other => false,
            Runtime::Starting(kind, _) | Runtime::Unknown(kind, _) => {
                !matches!(kind, RuntimeKind::Python | RuntimeKind::V8)
            }
            Runtime::Attached(attached) => !attached.keeps_frame_pointer(pc),
        }
    }

    /// Whether it is asked again when mappings are read again.
    pub(crate) fn is_starting(&self) -> bool {
        matches!(self, Runtime::Starting(_, attempts) if *attempts < MAX_ATTEMPTS)
    }

    /// Takes note of a runtime by its library. `ask`: what it tells; one that is still starting is asked again next time.
    pub(crate) fn see(
        &mut self,
        path: &[u8],
        ask: impl FnOnce(RuntimeKind) -> io::Result<Attached>,
    ) {
        let Some(kind) = flametop_runtimes::recognise(path) else {
            return;
        };
        let attempts = match (&*self, kind) {
            (Runtime::Attached(attached), _) if attached.kind() <= kind => return,
            (Runtime::Unknown(before, _), _) if *before <= kind => return,
            (Runtime::Starting(before, _), _) if *before < kind => return,
            (Runtime::Starting(before, attempts), _) if *before == kind => *attempts,
            _ => 0,
        };
        if attempts >= MAX_ATTEMPTS {
            return;
        }
        *self = match ask(kind) {
            Ok(attached) => Runtime::Attached(attached),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Runtime::Unknown(kind, error.to_string())
            }
            Err(_) => Runtime::Starting(kind, attempts + 1),
        };
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

/// Attaches to the runtime of this kind in a process that has one and has started.
///
/// # Errors
/// Not found: the process has none. Others: it has one of another kind, or may not be read.
pub(crate) fn attach(process: &ProcessFolder, kind: RuntimeKind) -> io::Result<Attached> {
    let maps = process.read("maps", MAPS_LIMIT)?;
    let memory = Mem(process.file("mem")?);
    let mut error = io::Error::new(io::ErrorKind::NotFound, "it has no file of the runtime");
    let mut before: &[u8] = b"";
    let mut left = MOST_FILES;
    for line in maps.split(|b| *b == b'\n') {
        let path = line.iter().position(|b| *b == b'/');
        let path = path.map_or(&b""[..], |at| &line[at..]);
        // A file's first mapping has its head.
        if path == before || flametop_runtimes::recognise(path) != Some(kind) || left == 0 {
            continue;
        }
        before = path;
        left -= 1;
        let start = line.split(|b| *b == b'-').next().unwrap_or_default();
        let start = std::str::from_utf8(start).ok();
        let Some(base) = start.and_then(|start| u64::from_str_radix(start, 16).ok()) else {
            continue;
        };
        match flametop_runtimes::attach(kind, &Pages::new(&memory, ATTACH_PIECES), base) {
            Ok(attached) => return Ok(attached),
            // The program of CPython may leave all to its library.
            Err(why) if error.kind() != io::ErrorKind::Unsupported => error = why,
            Err(_) => {}
        }
    }
    Err(error)
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
    // In another namespace the holder of a lock could not be found here.
    let is_here = LazyCell::new(|| own_number(process, process.tgid()) == process.tgid());
    let numbered = |lack: &Lack| match *lack {
        Lack::Thread(thread, _) => Lack::Thread(thread, own_number(process, thread)),
        Lack::Holder(thread, _, switches) => {
            let number = if *is_here { thread } else { 0 };
            Lack::Holder(thread, number, switches)
        }
        other => other,
    };
    let mut names = HashMap::new();
    let checked = |found: Found| match found {
        Found::Holder(thread, switches, blocked) => {
            let blocked = match blocked {
                Blocked::By(holder) => {
                    let name = || named(process, &holder).map_or(Blocked::Unsure, Blocked::By);
                    names.entry(holder.number).or_insert_with(name).clone()
                }
                other => other,
            };
            // What a thread is blocked on stays the same only while the thread sleeps.
            let sure = blocked != Blocked::Unsure && has_slept(process, thread, switches);
            let blocked = if sure { blocked } else { Blocked::Unsure };
            Found::Holder(thread, switches, blocked)
        }
        other => other,
    };
    let lacks: Vec<Lack> = lacks.iter().map(numbered).collect();
    let found = attached.read(&Pages::new(&memory, CODE_PIECES), &lacks);
    Ok(found.into_iter().map(checked).collect())
}

/// Whether a thread has slept since it had left its CPU so often, and has the same number in its own namespace.
fn has_slept(process: &ProcessFolder, thread: u32, switches: u64) -> bool {
    let status = process.read(&format!("task/{thread}/status"), STATUS_LIMIT);
    status.is_ok_and(|status| {
        sleeps_since(&status) == Some(switches) && number_in_own_namespace(&status) == Some(thread)
    })
}

/// How often a thread that sleeps has left its CPU, by the text of its `status`; none: the thread does not sleep.
fn sleeps_since(status: &[u8]) -> Option<u64> {
    let value = |name: &[u8]| {
        let mut lines = status.split(|b| *b == b'\n');
        let value = lines.find_map(|line| line.strip_prefix(name))?;
        Some(std::str::from_utf8(value).ok()?.trim())
    };
    let count = |name: &[u8]| value(name)?.parse::<u64>().ok();
    let asleep = value(b"State:")?.starts_with('S');
    let switches =
        count(b"voluntary_ctxt_switches:")?.checked_add(count(b"nonvoluntary_ctxt_switches:")?)?;
    asleep.then_some(switches)
}

/// A thread of the process with its name.
fn named(process: &ProcessFolder, holder: &Holder) -> io::Result<Holder> {
    let number = holder.number;
    let name = process.read(&format!("task/{number}/comm"), NAME_LIMIT)?;
    let name = name.strip_suffix(b"\n").unwrap_or(&name);
    Ok(Holder {
        number,
        name: name.into(),
    })
}

/// The number of a thread in its own namespace; 0: the thread is gone.
fn own_number(process: &ProcessFolder, thread: u32) -> u32 {
    let status = process.read(&format!("task/{thread}/status"), STATUS_LIMIT);
    let status = status.unwrap_or_default();
    number_in_own_namespace(&status).unwrap_or(0)
}

/// The number of a thread or process in its own namespace, by the text of its `status`.
pub fn number_in_own_namespace(status: &[u8]) -> Option<u32> {
    let mut lines = status.split(|b| *b == b'\n');
    let numbers = lines.find_map(|line| line.strip_prefix(b"NSpid:"))?;
    let numbers = std::str::from_utf8(numbers).ok()?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn see_version_that_is_not_known_is_told_and_not_asked_again() {
        let mut runtime = Runtime::Other;
        let unknown = || io::Error::new(io::ErrorKind::Unsupported, "PHP 9.1.0 is not known");
        runtime.see(b"/usr/bin/php9.1", |_| Err(unknown()));
        let expected = Runtime::Unknown(RuntimeKind::Php, "PHP 9.1.0 is not known".to_owned());
        assert_eq!(runtime, expected);
        runtime.see(b"/usr/bin/php9.1", |_| panic!("it is known to be unknown"));
        assert!(!runtime.is_starting() && !runtime.is_python());
    }

    #[test]
    fn sleeps_since_is_told_of_threads_that_sleep_alone() {
        let status = |state: &str| {
            format!(
                "Name:\tvoluntary_ctxt_switches:\t7\nState:\t{state}\nvoluntary_ctxt_switches:\t40\n\
                 nonvoluntary_ctxt_switches:\t2\n"
            )
        };
        assert_eq!(sleeps_since(status("S (sleeping)").as_bytes()), Some(42));
        for state in ["R (running)", "D (disk sleep)", "Z (zombie)", ""] {
            assert_eq!(sleeps_since(status(state).as_bytes()), None, "{state}");
        }
        assert_eq!(
            sleeps_since(b"State:\tS\nvoluntary_ctxt_switches:\tx\n"),
            None
        );
        assert_eq!(sleeps_since(b""), None);
    }

    #[test]
    fn see_runtime_that_starts_is_asked_again_and_gives_way_to_one_before_it() {
        let mut runtime = Runtime::Other;
        let starting = || io::Error::from(io::ErrorKind::WouldBlock);
        let mut asked = 0;
        for _ in 0..2 * MAX_ATTEMPTS {
            runtime.see(b"/usr/sbin/php-fpm8.2", |_| {
                asked += 1;
                Err(starting())
            });
        }
        assert_eq!(asked, MAX_ATTEMPTS);
        assert!(runtime.doubts_frame_pointer(0) && !runtime.is_starting());
        runtime.see(b"/usr/bin/python3.11", |_| Err(starting()));
        assert_eq!(runtime, Runtime::Starting(RuntimeKind::Python, 1));
        runtime.see(b"/usr/sbin/php-fpm8.2", |_| panic!("Python comes first"));
        assert!(runtime.is_python() && !runtime.doubts_frame_pointer(0));
    }
}
