//! Names of code that processes made at run time, from the perf maps that they write (`perf_map`); JVMs are asked to write a perf map
//! (`attach`) if the user wishes so.
//!
//! A thread named `flametop-jit` ([`names`]) follows the files. A frame without a name gets a name when a map brings one. Where other
//! code took the place of code that was named, the samples from then on have another frame. The prober opens the files, and only files
//! that the kernel serves: a file system that hangs holds up the names of its process and of no other. The thread reads the files piece
//! by piece, each process in turn. Each JVM is asked by a thread of its own ([`jvms`]).

mod jvms;
mod names;
mod subject;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, TryIter, channel},
    },
    thread,
    time::Duration,
};

use flametop_unwind::Frame;

use crate::prober::{Jvm, Missing, PerfMap, Prober};
use names::Names;

/// The end of the thread is waited for so long.
const ENDING: Duration = Duration::from_millis(500);

/// A frame that wants a name.
#[derive(Clone)]
pub struct Ask {
    pub frame: u32,
    pub tgid: u32,
    pub place: Frame,
}

/// An answer about a frame. `place` is the place of the question: the frame's id may mean another place since.
pub enum Answer {
    /// The name of a frame. Not `asked`: a better name than the one before, without a question.
    Name {
        frame: u32,
        place: Frame,
        name: Result<Vec<u8>, Nameless>,
        asked: bool,
    },
    /// Other code lies at the place now: samples from now on have another frame there.
    Moved { frame: u32, place: Frame },
    /// A notice for the user, about this process.
    Notice {
        tgid: u32,
        trouble: bool,
        text: String,
    },
}

/// Why a frame has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nameless {
    /// No map names the frame.
    Absent,
    /// The name may be in a part of the map that is not read, since to read it would cost too much.
    Limit,
}

enum Question {
    Names(Vec<Ask>),
    /// Code of these processes was named otherwise.
    Named(Vec<u32>),
    JvmMaps(bool),
    /// The perf map of the process with this number, or why there is none.
    PerfMap(u32, Result<PerfMap, Missing>),
    /// The facts that are needed to ask a JVM; none if the process is no JVM.
    Jvm(u32, Result<Option<Box<Jvm>>, String>),
    /// The JVM with this number has written its map, or has said why not.
    Mapped(u32, Result<(), String>),
    End,
}

/// The side that asks. The thread ends when this is dropped.
pub struct JitNames {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
    stop: Arc<AtomicBool>,
    ended: Receiver<()>,
}

impl JitNames {
    /// Starts the thread. `prober`: opens the files; the prober's answers come by [`JitNames::perf_map`] and [`JitNames::jvm`]. `jvm_maps`:
    /// whether JVMs are asked to write maps.
    pub fn start(prober: Arc<Prober>, jvm_maps: bool) -> JitNames {
        let (questions, asked) = channel();
        let (replies, answers) = channel();
        let (end, ended) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let mut names = Names::new(
            prober,
            jvm_maps,
            replies,
            questions.clone(),
            Arc::clone(&stop),
        );
        // If the thread does not start, no question is ever answered, and the frames keep their addresses.
        let _ = thread::Builder::new()
            .name("flametop-jit".to_owned())
            .spawn(move || {
                names.run(&asked);
                drop(end);
            });
        JitNames {
            questions,
            answers,
            stop,
            ended,
        }
    }

    /// Asks for names, and never waits.
    pub fn ask(&self, batch: Vec<Ask>) {
        self.tell(Question::Names(batch));
    }

    /// Code of these processes has names already: of them only maps for others may be wanted.
    pub fn named(&self, tgids: Vec<u32>) {
        self.tell(Question::Named(tgids));
    }

    /// Whether JVMs are asked to write maps from now on.
    pub fn jvm_maps(&self, wanted: bool) {
        self.tell(Question::JvmMaps(wanted));
    }

    /// The prober has opened a perf map, or says why not.
    pub fn perf_map(&self, tgid: u32, map: Result<PerfMap, Missing>) {
        self.tell(Question::PerfMap(tgid, map));
    }

    /// The prober has looked at a process that may be a JVM.
    pub fn jvm(&self, tgid: u32, jvm: Result<Option<Box<Jvm>>, String>) {
        self.tell(Question::Jvm(tgid, jvm));
    }

    fn tell(&self, question: Question) {
        // The thread is gone only if it could not be started.
        let _ = self.questions.send(question);
    }

    /// The answers that have come.
    pub fn answers(&self) -> TryIter<'_, Answer> {
        self.answers.try_iter()
    }
}

impl Drop for JitNames {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tell(Question::End);
        // The thread may have begun to ask a JVM, and then has a file to remove.
        let _ = self.ended.recv_timeout(ENDING);
    }
}
