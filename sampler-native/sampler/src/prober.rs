//! Questions about other processes: their mappings, command lines and files. All such questions of the sampler are asked here.
//!
//! A question names a process by its identity, which holds the start of the process. The prober, a process of its own (crate
//! `flametop-prober`), answers later: no thread that makes passes, drains rings or walks stacks reads another process, and none waits for
//! an answer. Every question is answered within seconds, if need be by the answer that there is none.

use std::{
    fs::{self, File},
    io,
    os::{fd::BorrowedFd, unix::fs::MetadataExt},
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Instant,
};

use flametop_kernel::record::Head;
use flametop_prober::{Client, Request, Told, Whom as Process};
pub use flametop_prober::{Missing, NoElf};
use flametop_runtimes::{Attached, Found, Lack};
use flametop_unwind::{
    ClosedFile, ModuleId, OpenFile, ProbedMaps, RuntimeKnown, Seen, WantedMapping,
};

use crate::{identity::ProcessKey, os};

/// Most processes whose mappings are read before the first pass.
const MOST_EARLY: usize = 1024;
/// The user of a process whose user is not known.
const NOBODY: u32 = u32::MAX;

/// A process that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whom {
    /// The identity of the process.
    pub key: ProcessKey,
    /// The user of the process.
    pub uid: u32,
}

impl Whom {
    /// The process of this head.
    pub fn of(head: &Head) -> Whom {
        Whom {
            key: ProcessKey::of(head),
            uid: head.uid,
        }
    }
}

/// The things that can be asked about a process.
#[derive(Debug)]
pub enum What {
    /// The command line of the process.
    CommandLine,
    /// All mappings of the process; with the facts that are known already of the runtime in it.
    Maps(RuntimeKnown),
    /// The mapping at an address; the answer is as of [`What::Maps`].
    MapsAt(u64, RuntimeKnown),
    /// The contents of these mappings, which the kernel told of at these times.
    Mappings(Vec<(u64, WantedMapping)>, RuntimeKnown),
    /// Code that this runtime made.
    Code(Box<Attached>, Vec<Lack>),
}

/// See [`flametop_prober::PerfMap`].
pub type PerfMap = flametop_prober::PerfMap<Arc<OpenFile>>;

/// An answer. Without contents: there was no answer in time, or the process is gone.
#[derive(Debug)]
pub enum Answer {
    /// A command line, with NULs between its words.
    CommandLine(ProcessKey, Option<Vec<u8>>),
    /// Mappings, and the moment when the reading began, ns.
    Maps(ProcessKey, Result<(u64, ProbedMaps), Missing>),
    /// The contents of mappings, each by its time and start.
    Mappings(ProcessKey, Vec<(u64, u64)>, Option<Vec<Seen>>),
    /// What was read of the code that was asked for.
    Code(ProcessKey, Vec<Lack>, Option<Vec<Found>>),
    /// A module's file was opened again.
    File(ModuleId, ClosedFile, Option<Arc<OpenFile>>),
    /// As [`Answer::Maps`], of a process that was not seen yet: its number, and the tick when it began.
    Early(u32, Option<(u64, u64, ProbedMaps)>),
    /// The perf map of the process with this number.
    PerfMap(u32, Result<PerfMap, Missing>),
}

/// The subject of an answer.
#[derive(Debug)]
enum About {
    CommandLine(ProcessKey),
    Maps(ProcessKey),
    Mappings(ProcessKey, Vec<(u64, u64)>),
    Code(ProcessKey, Vec<Lack>),
    File(ModuleId, ClosedFile),
    Early(u32),
    PerfMap(u32),
    /// Told to whoever waits.
    Elf(Sender<Option<File>>),
    Program(Sender<Result<File, NoElf>>),
    Programs(Sender<Result<Vec<Vec<u8>>, Missing>>),
}

/// The side that asks the prober.
pub struct Prober {
    client: Client<About>,
    /// The clocks of this time namespace are so many ns ahead of the host's.
    ahead: i64,
}

impl Prober {
    /// `program`: path of `flametop-symbolizer`, the program of the prober.
    ///
    /// # Errors
    /// No descriptor or no thread is left.
    pub fn new(program: &Path) -> io::Result<Prober> {
        Ok(Prober {
            client: Client::start(program)?,
            ahead: ahead(&fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default()),
        })
    }

    /// Has at most so many files open at a time.
    pub fn keep_open(&self, files: usize) {
        self.client.keep_open(files);
    }

    /// A descriptor that becomes readable with each answer.
    pub fn event(&self) -> BorrowedFd<'_> {
        self.client.event()
    }

    /// Asks, and never waits. False: too many questions wait already.
    pub fn ask(&self, whom: Whom, what: What) -> bool {
        let Whom { key, uid } = whom;
        let process = self.process(key);
        let (request, about) = match what {
            What::CommandLine => (Request::CommandLine(process), About::CommandLine(key)),
            What::Maps(runtime) => (Request::Maps(process, runtime), About::Maps(key)),
            What::MapsAt(address, runtime) => {
                (Request::MapsAt(process, address, runtime), About::Maps(key))
            }
            What::Mappings(wanted, runtime) => {
                let (which, wanted): (Vec<_>, Vec<_>) = wanted
                    .into_iter()
                    .map(|(time, wanted)| ((time, wanted.start), wanted))
                    .unzip();
                let request = Request::Mappings(process, wanted, runtime);
                (request, About::Mappings(key, which))
            }
            What::Code(attached, lacks) => {
                let request = Request::Code(process, attached, lacks.clone());
                (request, About::Code(key, lacks))
            }
        };
        self.client.ask(uid, request, about)
    }

    /// Has the prober open the file of a module again.
    pub fn reopen(&self, id: ModuleId, closed: ClosedFile) -> bool {
        let request = Request::Reopen(closed.clone());
        self.client.ask(NOBODY, request, About::File(id, closed))
    }

    /// Asks for the perf map of the process that has this number now, of a user.
    pub fn ask_perf_map(&self, tgid: u32, user: u32) -> bool {
        let process = Process { tgid, start: None };
        self.client
            .ask(user, Request::PerfMap(process), About::PerfMap(tgid))
    }

    /// Asks for the ELF file at a path in the root of a process; without a process, in the root of flametop. The file comes by the
    /// channel; none if there is none. The channel ends without either if that is not known in time.
    pub fn ask_elf(&self, whose: Option<Process>, path: &[u8]) -> Receiver<Option<File>> {
        let (sender, receiver) = channel();
        let (process, user) = rooted(whose);
        let request = Request::Elf(process, path.to_vec());
        self.client.ask(user, request, About::Elf(sender));
        receiver
    }

    /// As [`Prober::ask_elf`], and why there is none.
    pub fn ask_program(
        &self,
        whose: Option<Process>,
        path: &[u8],
    ) -> Receiver<Result<File, NoElf>> {
        let (sender, receiver) = channel();
        let (process, user) = rooted(whose);
        let request = Request::Elf(process, path.to_vec());
        self.client.ask(user, request, About::Program(sender));
        receiver
    }

    /// Asks for the paths of the program and the libraries of a process.
    pub fn ask_programs(&self, whose: Process) -> Receiver<Result<Vec<Vec<u8>>, Missing>> {
        let (sender, receiver) = channel();
        let (process, user) = rooted(Some(whose));
        self.client
            .ask(user, Request::Programs(process), About::Programs(sender));
        receiver
    }

    /// Asks for the mappings of these processes, which were not seen yet, or of all processes. Returns the processes that were asked for.
    pub fn ask_early(&self, tgids: Option<&[u32]>) -> Vec<u32> {
        let all = || {
            let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
            folders
                .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
                .collect()
        };
        let tgids: Vec<u32> = tgids.map_or_else(all, <[u32]>::to_vec);
        let ask = |tgid: &u32| {
            let Some(user) = user_of(*tgid) else {
                return false;
            };
            let process = Process {
                tgid: *tgid,
                start: None,
            };
            let request = Request::Maps(process, RuntimeKnown::default());
            self.client.ask(user, request, About::Early(*tgid))
        };
        tgids.into_iter().filter(ask).take(MOST_EARLY).collect()
    }

    /// The answers that have come.
    pub fn take(&self) -> Vec<Answer> {
        let answers = self.client.take().into_iter();
        answers
            .filter_map(|(about, told)| joined(about, told))
            .collect()
    }

    /// Waits until there may be an answer, at most until `until`.
    pub fn wait(&self, until: Instant) {
        self.client.wait(until);
    }

    /// Questions so far that were not answered in time.
    pub fn given_up(&self) -> u64 {
        self.client.given_up()
    }

    /// Processes so far that have begun to answer: each after the first is the successor of one that was lost.
    pub fn started(&self) -> u64 {
        self.client.started()
    }

    /// The notices since the last call.
    pub fn take_notices(&self) -> Vec<String> {
        self.client.take_notices()
    }

    /// The processes of the prober.
    pub fn pids(&self) -> Vec<u32> {
        self.client.pids()
    }

    /// The process of this identity, as questions name it.
    pub fn process(&self, key: ProcessKey) -> Process {
        Process {
            tgid: key.tgid(),
            start: Some(ticks(key, self.ahead)),
        }
    }

    /// Whether a process that began at this tick is the process with that start.
    pub fn is(&self, key: ProcessKey, start: u64) -> bool {
        ticks(key, self.ahead).abs_diff(start) <= 1
    }
}

/// The process that is asked about, and its user: flametop where there is none. No user's questions have to be answered before those
/// about flametop's own root.
fn rooted(whose: Option<Process>) -> (Process, u32) {
    match whose {
        Some(process) => (process, user_of(process.tgid).unwrap_or(NOBODY)),
        None => {
            let tgid = std::process::id();
            (Process { tgid, start: None }, NOBODY)
        }
    }
}

/// The user of a process, as far as the kernel says without a question to the process; none: the process is gone.
pub fn user_of(tgid: u32) -> Option<u32> {
    let folder = fs::metadata(format!("/proc/{tgid}"));
    folder.ok().map(|folder| folder.uid())
}

/// The answer that the sampler takes; none: it is an answer to another question.
fn joined(about: About, told: Told<Arc<OpenFile>>) -> Option<Answer> {
    Some(match (about, told) {
        (About::CommandLine(key), Told::CommandLine(text)) => Answer::CommandLine(key, text),
        (About::Maps(key), Told::Maps(read)) => {
            Answer::Maps(key, read.map(|mapped| (mapped.began, mapped.maps)))
        }
        (About::Mappings(key, which), Told::Mappings(seen)) => {
            // An answer that does not have all mappings has none.
            let seen = seen.filter(|seen| seen.len() == which.len());
            Answer::Mappings(key, which, seen)
        }
        (About::Code(key, lacks), Told::Code(found)) => Answer::Code(key, lacks, found),
        (About::File(id, closed), Told::File(file)) => {
            let file = file.filter(|file| closed.is(file));
            Answer::File(id, closed, file)
        }
        (About::Early(tgid), Told::Maps(read)) => {
            let read = read.ok();
            Answer::Early(tgid, read.map(|m| (m.start, m.began, m.maps)))
        }
        (About::PerfMap(tgid), Told::PerfMap(map)) => Answer::PerfMap(tgid, map),
        (About::Elf(waits), Told::Elf(found)) => {
            let known = match found {
                Ok(passed) => passed.file(),
                Err(NoElf::Late) => return None,
                Err(_) => None,
            };
            // Whoever waited may have given up.
            let _ = waits.send(known);
            return None;
        }
        (About::Program(waits), Told::Elf(found)) => {
            let found = found.and_then(|passed| passed.file().ok_or(NoElf::Late));
            let _ = waits.send(found);
            return None;
        }
        (About::Programs(waits), Told::Programs(found)) => {
            let _ = waits.send(found);
            return None;
        }
        _ => return None,
    })
}

/// When a process began, in ticks as `/proc/PID/stat` has them here.
fn ticks(key: ProcessKey, ahead: i64) -> u64 {
    key.start().saturating_add_signed(ahead) / os::tick()
}

/// The offset that the lines of `/proc/PID/timens_offsets` give.
fn ahead(offsets: &str) -> i64 {
    let line = offsets
        .lines()
        .find_map(|line| line.strip_prefix("boottime"));
    let mut words = line.unwrap_or_default().split_ascii_whitespace();
    let mut number = || words.next()?.parse::<i64>().ok();
    let (seconds, nanos) = (number().unwrap_or(0), number().unwrap_or(0));
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ahead_of_a_time_namespace_is_that_of_the_boot_clock() {
        assert_eq!(
            ahead("monotonic 5 6\nboottime -86400 500\n"),
            -86_399_999_999_500
        );
        assert_eq!(
            ahead("monotonic           0         0\nboottime            0         0\n"),
            0
        );
        assert_eq!(ahead(""), 0);
    }
}
