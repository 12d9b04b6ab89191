//! The side of flametop: asks helper processes for names, and answers without them where they cannot be had. Callers put messages
//! into a channel; a thread ([`naming`]) takes them, and waits for the helper processes.

mod answers;
mod exchange;
mod modules;
mod naming;
mod queue;
mod restarts;

use std::mem::take;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use self::answers::without_symbol;
use self::naming::Naming;
use crate::debuginfod::{DebugFiles, DebugFilesCome, Debuginfod};
use crate::places::{PlaceAnswer, PlaceQuery, Places};
use crate::process::{Looker, Watched, lock};
use crate::{Answer, MAX_FILES, Query, Subject};

/// By this argument the helper process knows that it is asked about a file that killed another: it has less memory.
pub const ALONE: &str = "alone";

/// The client of one helper process at a time.
///
/// Dropping it ends the helper process.
#[derive(Debug)]
pub struct Symbolizer {
    debug_files: Arc<DebugFiles>,
    commands: Option<Sender<Message>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    places: Places,
}

#[derive(Debug)]
enum Message {
    Add(u32, Subject),
    Ask(Vec<Query>),
    Forget(Vec<u32>),
    KeepOpen(usize),
}

/// What the client's thread and its callers share. Nobody holds a lock while waiting for anything.
#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<Vec<Answer>>,
    notices: Mutex<Vec<String>>,
    /// The helper process of all files, and the one of a file on trial.
    watched: [Watched; 2],
    /// Modules whose frames without a symbol are to be asked for again.
    tried_again: Mutex<Vec<u32>>,
}

impl Symbolizer {
    /// A client of `program`, the path of `flametop-symbolizer`, which is started at once. If that
    /// fails, a notice says so and frames are named without symbols. `debuginfod`: where else to look
    /// for debug files. `looker`: opens those of this machine, which the helper process may not.
    pub fn start(program: &Path, debuginfod: Debuginfod, looker: Looker) -> Symbolizer {
        let (commands, inbox) = channel();
        let shared = Arc::new(Shared::default());
        let debug_files = Arc::new(DebugFiles::start(program, debuginfod));
        let naming = Naming::new(
            program.to_path_buf(),
            inbox,
            Arc::clone(&shared),
            Arc::clone(&debug_files),
            &looker,
        );
        let thread = thread::Builder::new()
            .name("symbolizer".into())
            .stack_size(256 << 10)
            .spawn(|| naming.run());
        if let Err(error) = &thread {
            lock(&shared.notices).push(format!(
                "no names for frames: no thread to ask the symbolizer from ({error})"
            ));
        }
        Symbolizer {
            debug_files,
            commands: Some(commands),
            shared,
            thread: thread.ok(),
            places: Places::start(program, looker),
        }
    }

    /// Tells what `module` is. Adding it again replaces it, but one that killed the helper
    /// process stays under suspicion. Of more than [`MAX_FILES`] files, or as many as there may be, only those asked most recently stay
    /// open.
    pub fn add_module(&mut self, module: u32, subject: Subject) {
        self.tell(Message::Add(module, subject));
    }

    /// Has no more files open at a time than so many, where there are few descriptors.
    pub fn keep_open(&mut self, files: usize) {
        self.tell(Message::KeepOpen(files.min(MAX_FILES)));
    }

    /// Forgets modules, which must have no questions without an answer; others may get their numbers.
    pub fn forget_modules(&mut self, modules: Vec<u32>) {
        if !modules.is_empty() {
            self.tell(Message::Forget(modules));
        }
    }

    /// Asks for names. Each query is answered once, in any order.
    pub fn ask(&mut self, queries: &[Query]) {
        if !queries.is_empty() {
            self.tell(Message::Ask(queries.to_vec()));
        }
    }

    /// Asks for inlined functions and source lines. Each frame is answered once, by a helper
    /// process of its own, which lives as long as the question.
    pub fn ask_places(&mut self, query: PlaceQuery) {
        let debug = self.debug_files.file(&query.build_id);
        self.places.ask(query, debug);
    }

    /// The debug files that have come since the last call, from a cache or a server: names of their
    /// frames that are without a symbol are to be asked for again.
    pub fn take_debug_files(&mut self) -> DebugFilesCome {
        self.debug_files.take()
    }

    /// The modules that are tried again, since the last call, because they killed a helper process or their debug files were late: names
    /// of their frames that are without a symbol are to be asked for again.
    pub fn take_tried_again(&mut self) -> Vec<u32> {
        take(&mut *lock(&self.shared.tried_again))
    }

    /// The places that have come since the last call.
    pub fn take_places(&mut self) -> Vec<PlaceAnswer> {
        self.places.take_answers()
    }

    fn tell(&mut self, message: Message) {
        let Some(commands) = &self.commands else {
            return;
        };
        // The thread is gone only if it could not be started.
        if let Err(returned) = commands.send(message)
            && let Message::Ask(queries) = returned.0
        {
            let answers = queries
                .iter()
                .map(|query| without_symbol(query, b"", false));
            lock(&self.shared.answers).extend(answers);
        }
    }

    /// The answers that have come since the last call.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        take(&mut *lock(&self.shared.answers))
    }

    /// The helper processes that run now: not to be sampled. The first, for names, changes when it
    /// is restarted; the others, for places and for a file on trial, are seldom there.
    pub fn pids(&self) -> [Option<u32>; 3] {
        let [common, alone] = &self.shared.watched;
        [common.pid(), self.places.pid(), alone.pid()]
    }

    /// The processes that fetch debug files now, and what they have started: not to be sampled.
    pub fn fetchers(&self) -> Vec<u32> {
        self.debug_files.pids()
    }

    /// What went wrong since the last call: what happened, to which thing, what mends it.
    pub fn take_notices(&mut self) -> Vec<String> {
        let mut notices = take(&mut *lock(&self.shared.notices));
        notices.extend(self.debug_files.take_notices());
        notices
    }
}

impl Drop for Symbolizer {
    fn drop(&mut self) {
        self.shared.watched.iter().for_each(Watched::stop);
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}
