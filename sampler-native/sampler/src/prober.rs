//! The one place from which other processes are read: their mappings, command lines and files.
//!
//! Questions name a process by its identity, its start included, and are answered later by threads of their own ([`Pool`]): no
//! thread that makes passes, drains rings or walks stacks reads any of it, and none waits for it. Every question is answered within a
//! second or so, be it that there is no answer.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::MetadataExt,
    },
    sync::Arc,
    time::Instant,
};

use flametop_kernel::record::Head;
use flametop_unwind::{
    ClosedFile, ModuleId, OpenFile, ProbedMaps, Prober as Files, ProcessFolder, RuntimeKnown, Seen,
    WantedMapping,
};

use crate::{os, pool::Pool, tasks::ProcessKey};

/// Longest command line in the stream, bytes.
const MAX_CMDLINE: u64 = 4096;
/// Most processes whose mappings are read before the first pass.
const MOST_EARLY: usize = 1024;
/// Whose user is not known.
const NOBODY: u32 = u32::MAX;

/// A process that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whom {
    /// Its identity.
    pub key: ProcessKey,
    /// Its user.
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

/// What there is to know.
#[derive(Debug)]
pub enum What {
    /// Its command line.
    CommandLine,
    /// All that it has mapped; what is known of the runtime in it.
    Maps(RuntimeKnown),
    /// What these mappings hold, which the kernel told of at these times.
    Mappings(Vec<(u64, WantedMapping)>, RuntimeKnown),
}

/// Why something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The process is gone, or may not be looked at.
    Gone,
    /// It did not come in time.
    Late,
}

/// An answer; nothing in it: there was none in time, or the process is gone.
#[derive(Debug)]
pub enum Answer {
    /// NULs as they are.
    CommandLine(ProcessKey, Option<Vec<u8>>),
    /// And when they began to be read, ns.
    Maps(ProcessKey, Result<(u64, ProbedMaps), Missing>),
    /// Each mapping by its time and start.
    Mappings(ProcessKey, Vec<(u64, u64)>, Option<Vec<Seen>>),
    /// A module's file was opened again.
    File(ModuleId, ClosedFile, Option<Arc<OpenFile>>),
    /// As of [`Answer::Maps`], of the process with this number that began at this tick; before it was seen.
    Early(u32, Option<(u64, u64, ProbedMaps)>),
}

/// Asks threads that read.
pub struct Prober {
    pool: Pool<Answer>,
    event: Arc<File>,
    files: Arc<Files>,
    /// ns that clocks of this namespace are ahead of those of the host's.
    ahead: i64,
}

impl Prober {
    /// `files`: opens files, each once.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new(files: Arc<Files>) -> io::Result<Prober> {
        let event = Arc::new(os::event()?);
        let told = Arc::clone(&event);
        Ok(Prober {
            pool: Pool::new(move || os::tell(&told)),
            event,
            files,
            ahead: ahead(&fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default()),
        })
    }

    /// Becomes readable with each answer.
    pub fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Asks; never waits. False: too much waits already.
    pub fn ask(&self, whom: Whom, what: What) -> bool {
        let Whom { key, uid } = whom;
        let (files, ahead) = (Arc::clone(&self.files), self.ahead);
        let late = match &what {
            What::CommandLine => Answer::CommandLine(key, None),
            What::Maps(_) => Answer::Maps(key, Err(Missing::Late)),
            What::Mappings(wanted, _) => {
                let which = wanted.iter().map(|(time, wanted)| (*time, wanted.start));
                Answer::Mappings(key, which.collect(), None)
            }
        };
        self.pool.ask(uid, late, move || {
            let process = open(key, ahead);
            match what {
                What::CommandLine => {
                    let text = process.and_then(|p| p.read("cmdline", MAX_CMDLINE).ok());
                    Answer::CommandLine(key, text)
                }
                What::Maps(runtime) => {
                    let began = os::monotonic();
                    let maps = process.and_then(|p| files.maps(&p, runtime).ok());
                    Answer::Maps(key, maps.map(|maps| (began, maps)).ok_or(Missing::Gone))
                }
                What::Mappings(wanted, runtime) => {
                    let (which, wanted): (Vec<_>, Vec<_>) = wanted
                        .into_iter()
                        .map(|(time, wanted)| ((time, wanted.start), wanted))
                        .unzip();
                    let seen = process.map(|p| files.mappings(&p, &wanted, runtime));
                    Answer::Mappings(key, which, seen)
                }
            }
        })
    }

    /// Asks for the file of a module to be opened again.
    pub fn reopen(&self, id: ModuleId, closed: ClosedFile) -> bool {
        let files = Arc::clone(&self.files);
        let late = Answer::File(id, closed.clone(), None);
        self.pool.ask(NOBODY, late, move || {
            let file = files.reopen(&closed).ok();
            Answer::File(id, closed, file)
        })
    }

    /// Asks for the mappings of these processes, which were not seen yet, or of all. Returns which were asked for.
    pub fn ask_early(&self, tgids: Option<&[u32]>) -> Vec<u32> {
        let all = || {
            let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
            folders
                .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
                .collect()
        };
        let tgids: Vec<u32> = tgids.map_or_else(all, <[u32]>::to_vec);
        let ask = |tgid: &u32| {
            let tgid = *tgid;
            let Ok(folder) = fs::metadata(format!("/proc/{tgid}")) else {
                return false;
            };
            let files = Arc::clone(&self.files);
            self.pool
                .ask(folder.uid(), Answer::Early(tgid, None), move || {
                    let read = || {
                        let process = ProcessFolder::open(tgid).ok()?;
                        let began = os::monotonic();
                        let start = process.start().ok()?;
                        let maps = files.maps(&process, RuntimeKnown::default()).ok()?;
                        Some((start, began, maps))
                    };
                    Answer::Early(tgid, read())
                })
        };
        tgids.into_iter().filter(ask).take(MOST_EARLY).collect()
    }

    /// The answers that have come.
    pub fn take(&self) -> Vec<Answer> {
        self.pool.take()
    }

    /// Waits until there is an answer, no longer than until then.
    pub fn wait(&self, until: Instant) {
        self.pool.wait(until);
    }

    /// Threads that wait for something that does not come, and how often nothing came in time.
    pub fn lost(&self) -> (usize, u64) {
        self.pool.lost()
    }

    /// Whether a process that began at this tick is that one.
    pub fn is(&self, key: ProcessKey, start: u64) -> bool {
        began_at(key, start, self.ahead)
    }
}

/// The folder of a process, if the number is its own still: what is read through that folder is of no other.
fn open(key: ProcessKey, ahead: i64) -> Option<ProcessFolder> {
    let process = ProcessFolder::open(key.tgid()).ok()?;
    let start = process.start().ok()?;
    began_at(key, start, ahead).then_some(process)
}

fn began_at(key: ProcessKey, ticks: u64, ahead: i64) -> bool {
    let start = key.start().saturating_add_signed(ahead) / os::tick();
    start.abs_diff(ticks) <= 1
}

/// By the lines of `/proc/PID/timens_offsets`.
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
    use std::time::Duration;

    fn next(prober: &Prober) -> Answer {
        let until = Instant::now() + Duration::from_secs(60);
        prober.wait(until);
        prober.take().pop().expect("an answer")
    }

    /// This process, started at this tick.
    fn own(start: u64) -> Whom {
        let key = ProcessKey::new(std::process::id(), start * os::tick(), 1);
        Whom { key, uid: 0 }
    }

    fn own_start() -> u64 {
        let own = ProcessFolder::open(std::process::id()).expect("own folder");
        own.start().expect("a start")
    }

    #[test]
    fn ask_command_line_is_that_of_the_process_and_of_no_other_with_its_number() {
        let prober = Prober::new(Arc::default()).expect("a prober");
        let start = own_start();
        assert!(prober.ask(own(start), What::CommandLine));
        match next(&prober) {
            Answer::CommandLine(_, Some(text)) => assert!(text.starts_with(b"/"), "{text:?}"),
            other => panic!("{other:?}"),
        }
        assert!(prober.ask(own(start + 100), What::CommandLine));
        let answer = next(&prober);
        assert!(matches!(answer, Answer::CommandLine(_, None)), "{answer:?}");
    }

    #[test]
    fn ask_early_reads_the_mappings_of_who_is_there() {
        let prober = Prober::new(Arc::default()).expect("a prober");
        let pid = std::process::id();
        assert_eq!(prober.ask_early(Some(&[pid, 0x3fff_ffff])), [pid]);
        match next(&prober) {
            Answer::Early(tgid, Some((start, _, _))) => {
                assert_eq!((tgid, start), (pid, own_start()));
                assert!(prober.is(own(start).key, start));
            }
            other => panic!("{other:?}"),
        }
        assert!(prober.ask_early(None).contains(&pid));
    }

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
