//! What flametop and the prober say to each other: one message a packet.

use std::fs::File;

use flametop_runtimes::{Attached, Found, Lack};
use flametop_unwind::{
    ClosedFile, FileFacts, FileKey, ProbedMaps, RuntimeKnown, Seen, WantedMapping,
};
use serde::{Deserialize, Serialize};

/// Both must have the same.
pub(crate) const VERSION: u32 = 8;

/// A process that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whom {
    /// Its number.
    pub tgid: u32,
    /// When it began, in ticks since boot; none: whichever has the number now.
    pub start: Option<u64>,
}

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// The command line.
    CommandLine(Whom),
    /// All executable mappings; what is known of the runtime there.
    Maps(Whom, RuntimeKnown),
    /// The executable mapping at an address, or all, as [`Prober::maps_at`](flametop_unwind::Prober::maps_at) says.
    MapsAt(Whom, u64, RuntimeKnown),
    /// What these mappings hold.
    Mappings(Whom, Vec<WantedMapping>, RuntimeKnown),
    /// A file that was open before.
    Reopen(ClosedFile),
    /// The file in which the process names code that it makes at run time.
    PerfMap(Whom),
    /// Code that a runtime made, of which a walk knows the addresses.
    Code(Whom, Box<Attached>, Vec<Lack>),
    /// The ELF file at a path in the root of the process.
    Elf(Whom, Vec<u8>),
    /// The paths of the program and the libraries of the process, as it names them.
    Programs(Whom),
}

/// Why there is no ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoElf {
    /// There is no such file, or the process is gone.
    Absent,
    /// It is something else.
    Other,
    /// Somebody's program answers for it, or for a folder on the way: it was not opened.
    Elsewhere,
    /// It did not come in time.
    Late,
}

/// Why something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// The process is gone, or may not be looked at, or has no such file.
    Gone,
    /// It did not come in time.
    Late,
}

/// All that a process has mapped, or a part.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mapped<F> {
    /// When the process began, in ticks since boot.
    pub start: u64,
    /// When its mappings began to be read, ns of the monotonic clock.
    pub began: u64,
    /// What they are.
    pub maps: ProbedMaps<F>,
}

/// The perf map of a process.
#[derive(Debug, Serialize, Deserialize)]
pub struct PerfMap<F> {
    /// When the process began, in ticks since boot.
    pub start: u64,
    /// The user that the process acts as.
    pub user: u32,
    /// The map itself.
    pub file: MapFile<F>,
}

/// The answer about a perf map: opened, or why not.
#[derive(Debug, Serialize, Deserialize)]
pub enum MapFile<F> {
    /// It was.
    Open(F),
    /// There is none, or none that can be the process's own.
    Absent,
    /// Somebody's program answers for it, or for a folder on the way: it was not.
    Elsewhere,
}

/// A file that goes with its answer, and is the asker's alone: neither side counts it among the files that are open.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Passed {
    #[serde(skip)]
    pub(crate) file: Option<File>,
}

impl Passed {
    /// The file. An answer that came has one.
    pub fn file(self) -> Option<File> {
        self.file
    }
}

/// An answer; `F`: how files are told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Told<F> {
    /// NULs as they are.
    CommandLine(Option<Vec<u8>>),
    /// Of [`Request::Maps`] and [`Request::MapsAt`].
    Maps(Result<Mapped<F>, Missing>),
    /// In the order of the question.
    Mappings(Option<Vec<Seen<F>>>),
    /// The file was opened.
    File(Option<F>),
    /// Of [`Request::PerfMap`].
    PerfMap(Result<PerfMap<F>, Missing>),
    /// Of [`Request::Elf`].
    Elf(Result<Passed, NoElf>),
    /// Of [`Request::Programs`].
    Programs(Result<Vec<Vec<u8>>, Missing>),
    /// Of [`Request::Code`]. None: it is not known.
    Code(Option<Vec<Found>>),
}

impl Request {
    /// The answer where there is none in time.
    pub(crate) fn late<F>(&self) -> Told<F> {
        match self {
            Request::CommandLine(_) => Told::CommandLine(None),
            Request::Maps(..) | Request::MapsAt(..) => Told::Maps(Err(Missing::Late)),
            Request::Mappings(..) => Told::Mappings(None),
            Request::Reopen(_) => Told::File(None),
            Request::Elf(..) => Told::Elf(Err(NoElf::Late)),
            Request::Programs(_) => Told::Programs(Err(Missing::Late)),
            Request::Code(..) => Told::Code(None),
            Request::PerfMap(_) => Told::PerfMap(Err(Missing::Late)),
        }
    }
}

impl<F> Told<F> {
    /// Takes out the file whose descriptor goes with the answer.
    pub(crate) fn take_passed(&mut self) -> Option<File> {
        match self {
            Told::Elf(Ok(passed)) => passed.file.take(),
            _ => None,
        }
    }

    /// The answer with the descriptor that came.
    pub(crate) fn with_passed(self, file: Option<File>) -> Told<F> {
        match self {
            // Without one it is not known what there is: none was left.
            Told::Elf(Ok(_)) if file.is_none() => Told::Elf(Err(NoElf::Late)),
            Told::Elf(Ok(_)) => Told::Elf(Ok(Passed { file })),
            other => other,
        }
    }

    /// The same with files told in another way; none if `file` does not know one of them.
    pub(crate) fn with<G>(self, file: &mut impl FnMut(F) -> Option<G>) -> Option<Told<G>> {
        Some(match self {
            Told::CommandLine(text) => Told::CommandLine(text),
            Told::Maps(Err(missing)) => Told::Maps(Err(missing)),
            Told::Maps(Ok(mapped)) => Told::Maps(Ok(Mapped {
                start: mapped.start,
                began: mapped.began,
                maps: mapped.maps.with(file)?,
            })),
            Told::Mappings(None) => Told::Mappings(None),
            Told::Mappings(Some(seen)) => {
                let seen = seen.into_iter().map(|seen| seen.with(file));
                Told::Mappings(Some(seen.collect::<Option<_>>()?))
            }
            Told::File(None) => Told::File(None),
            Told::File(Some(of)) => Told::File(Some(file(of)?)),
            Told::PerfMap(Err(missing)) => Told::PerfMap(Err(missing)),
            Told::PerfMap(Ok(map)) => Told::PerfMap(Ok(PerfMap {
                start: map.start,
                user: map.user,
                file: match map.file {
                    MapFile::Open(of) => MapFile::Open(file(of)?),
                    MapFile::Absent => MapFile::Absent,
                    MapFile::Elsewhere => MapFile::Elsewhere,
                },
            })),
            Told::Elf(found) => Told::Elf(found),
            Told::Programs(found) => Told::Programs(found),
            Told::Code(found) => Told::Code(found),
        })
    }
}

/// A message to the prober.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToProber {
    /// A question for a process of that user.
    Ask {
        number: u64,
        user: u32,
        request: Request,
    },
    /// Nobody has this file any more.
    LetGo(FileKey),
}

/// A message of the prober.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromProber {
    /// It runs and speaks this version.
    Ready(u32),
    /// A file, with its descriptor if it is open. Before the first answer in which it is, once until it is let go of.
    File(FileFacts),
    /// With the descriptor of the file that is passed in it.
    Answer {
        number: u64,
        told: Told<FileKey>,
        /// Threads that are left behind now.
        left: u32,
        /// What was given up since the beginning.
        given_up: u64,
    },
}
