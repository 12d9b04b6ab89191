//! Asks for inlined functions and source lines. Debug information takes much memory and may take
//! seconds, and is wanted now and then: every question has a helper process of its own, which ends
//! with it, and a thread, so that names do not wait.

use std::fs::File;
use std::mem::take;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flametop_prober::Whom;

use crate::process::{Death, Helper, Looker, NoStart, Patience, Watched, lock, number, why};
use crate::protocol::{ASK_MAX, Ask, FILE, PATH_MAX, Place, Reply, What};
use crate::{Call, NAME_MAX};

/// The argument by which the helper process knows what it is for: it may have more memory.
pub const ARGUMENT: &str = "places";
const PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(10),
    wall: Duration::from_secs(30),
};

/// Frames of one file whose source is wanted.
#[derive(Debug)]
pub struct PlaceQuery {
    /// The file, open for reading.
    pub file: File,
    /// Its path as the kernel names it: a debug file may lie beside it.
    pub path: Vec<u8>,
    /// A process that maps it, whose root is looked in too; none is known otherwise.
    pub process: Option<Whom>,
    /// Its build id; empty: it has none.
    pub build_id: Vec<u8>,
    /// Frame, and its place in the file, *in* the call.
    pub frames: Vec<(u32, u64)>,
}

/// The source of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceAnswer {
    /// The frame of the query.
    pub frame: u32,
    /// The function and what was inlined into it there, outermost first; the innermost has the line
    /// that runs, the others that of a call.
    pub calls: Vec<Call>,
    /// Why there are none, and what mends it; empty if there are. Raw.
    pub missing: Vec<u8>,
}

/// A question, and the debug file that was fetched for it.
type Wanted = (PlaceQuery, Option<Arc<File>>);

/// The client of these helper processes.
#[derive(Debug)]
pub struct Places {
    queries: Option<Sender<Wanted>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<Vec<PlaceAnswer>>,
    watched: Watched,
}

impl Places {
    /// Starts the thread, no process.
    pub fn start(program: &Path, looker: Looker) -> Places {
        let (queries, inbox) = channel();
        let shared = Arc::new(Shared::default());
        let helper = Helper::new(program.to_path_buf(), Some(ARGUMENT), PATIENCE, looker);
        let asker = Asker {
            helper,
            inbox,
            shared: Arc::clone(&shared),
        };
        let thread = thread::Builder::new()
            .name("places".into())
            .stack_size(256 << 10)
            .spawn(|| asker.run());
        Places {
            queries: Some(queries),
            shared,
            thread: thread.ok(),
        }
    }

    /// Asks; each frame is answered once. `debug`: its debug file, if one was fetched.
    pub fn ask(&self, query: PlaceQuery, debug: Option<Arc<File>>) {
        let Some(queries) = &self.queries else {
            return;
        };
        // The thread is gone only if it could not be started.
        if let Err(returned) = queries.send((query, debug)) {
            answer_all(
                &self.shared.answers,
                &returned.0.0.frames,
                "no thread to ask from could be started",
            );
        }
    }

    pub fn take_answers(&self) -> Vec<PlaceAnswer> {
        take(&mut *lock(&self.shared.answers))
    }

    /// The helper process that runs now.
    pub fn pid(&self) -> Option<u32> {
        self.shared.watched.pid()
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.shared.watched.stop();
        self.queries = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn answer_all(answers: &Mutex<Vec<PlaceAnswer>>, frames: &[(u32, u64)], missing: &str) {
    lock(answers).extend(frames.iter().map(|&(frame, _)| PlaceAnswer {
        frame,
        calls: Vec::new(),
        missing: missing.as_bytes()[..missing.len().min(NAME_MAX)].to_vec(),
    }));
}

struct Asker {
    helper: Helper,
    inbox: Receiver<Wanted>,
    shared: Arc<Shared>,
}

impl Asker {
    fn run(mut self) {
        while let Ok((mut query, debug)) = self.inbox.recv() {
            while !query.frames.is_empty() && !self.shared.watched.stopping() {
                self.work(&mut query, debug.as_deref());
            }
        }
    }

    /// Answers at least one frame of `query`.
    fn work(&mut self, query: &mut PlaceQuery, debug: Option<&File>) {
        let shared = Arc::clone(&self.shared);
        let watched = &shared.watched;
        if let Err(failure) = self.helper.start(watched) {
            let missing = match failure {
                NoStart::Spawn(error) => format!("the symbolizer cannot be started ({error})"),
                NoStart::Version(_) | NoStart::Stranger => {
                    "the symbolizer is of another build".into()
                }
                NoStart::Death(death) => {
                    let status = self.helper.end(watched);
                    format!("the symbolizer ended ({})", why(&death, status))
                }
            };
            answer_all(&shared.answers, &take(&mut query.frames), &missing);
            return;
        }
        let later = query.frames.split_off(query.frames.len().min(ASK_MAX));
        let result = self.exchange(query, debug);
        let status = self.helper.end(watched);
        if let Err(death) = result {
            let missing = format!(
                "the symbolizer was lost while it read the debug information ({})",
                why(&death, status)
            );
            answer_all(&shared.answers, &query.frames, &missing);
        }
        query.frames = later;
    }

    /// Asks; frames that were answered are no longer in `query`.
    fn exchange(&mut self, query: &mut PlaceQuery, debug: Option<&File>) -> Result<(), Death> {
        let ask = Ask {
            what: What::Places,
            kind: FILE,
            module: 0,
            process: number(query.process),
            path: query.path[..query.path.len().min(PATH_MAX)].to_vec(),
            offsets: query.frames.iter().map(|(_, offset)| *offset).collect(),
        };
        let files: Vec<_> = [&query.file]
            .into_iter()
            .chain(debug)
            .map(File::as_fd)
            .collect();
        self.helper.ask(&ask, &files)?;
        let mut waiting = self.helper.patience();
        query.frames.reverse();
        while let Some(&(frame, _)) = query.frames.last() {
            let reply = self.helper.answer(
                (query.process, &ask.path),
                &self.shared.watched,
                &mut waiting,
            )?;
            let Reply::Place(Place { calls, missing }) = reply else {
                return Err(Death::Nonsense);
            };
            query.frames.pop();
            lock(&self.shared.answers).push(PlaceAnswer {
                frame,
                calls,
                missing,
            });
        }
        Ok(())
    }
}
