//! Names of code that processes made at run time, from the perf maps that they write (`perf_map`).
//!
//! A thread named `flametop-jit` ([`names`]) follows the files. A frame without a name gets a name when a map brings one. Where other
//! code took the place of code that was named, the samples from then on have another frame. The prober opens the files, and only files
//! that the kernel serves: a file system that hangs holds up the names of its process and of no other. The thread reads the files piece
//! by piece, each process in turn.

mod names;
mod subject;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, TryIter, channel},
    },
    thread,
};

use flametop_unwind::Frame;

use crate::prober::{Missing, PerfMap, Prober};
use names::Names;

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
    /// The perf map of the process with this number, or why there is none.
    PerfMap(u32, Result<PerfMap, Missing>),
    End,
}

/// The side that asks. The thread ends when this is dropped.
pub struct JitNames {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
}

impl JitNames {
    /// Starts the thread. `prober`: opens the files; the prober's answers come by [`JitNames::perf_map`].
    pub fn start(prober: Arc<Prober>) -> JitNames {
        let (questions, asked) = channel();
        let (replies, answers) = channel();
        let mut names = Names::new(prober, replies);
        // If the thread does not start, no question is ever answered, and the frames keep their addresses.
        let _ = thread::Builder::new()
            .name("flametop-jit".to_owned())
            .spawn(move || names.run(&asked));
        JitNames { questions, answers }
    }

    /// Asks for names, and never waits.
    pub fn ask(&self, batch: Vec<Ask>) {
        self.tell(Question::Names(batch));
    }

    /// The prober has opened a perf map, or says why not.
    pub fn perf_map(&self, tgid: u32, map: Result<PerfMap, Missing>) {
        self.tell(Question::PerfMap(tgid, map));
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
        self.tell(Question::End);
    }
}
