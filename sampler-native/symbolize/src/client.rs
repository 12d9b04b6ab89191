//! The side of flametop: starts the helper process, asks it, and answers without it where it
//! cannot.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::mem::{replace, take};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::debuginfod::{DebugFiles, DebugFilesCome, Debuginfod};
use crate::places::{PlaceAnswer, PlaceQuery, Places};
use crate::process::{Death, Helper, Looker, NoStart, Patience, Watched, lock, why};
use crate::protocol::{
    ASK_MAX, Ask, FILE, Found, KERNEL, PATH_MAX, Reply, Trouble, VDSO, VERSION, What,
};
use crate::turns::Turns;
use crate::{Answer, MAX_FILES, NAME_MAX, Query, Source, Subject, sys};

/// A helper process that needs more for one question is killed.
const PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(2),
    wall: Duration::from_secs(20),
};
/// … of the kernel, whose table no program writes, and without which every stack lacks names. On an emulated or crowded machine,
/// whose CPU time is partly that of others, it took 2 s.
const KERNEL_PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(20),
    wall: Duration::from_secs(60),
};
/// The same of one that is asked alone about a file which killed another.
const PATIENCE_ALONE: Patience = Patience {
    cpu: Duration::from_secs(1),
    wall: Duration::from_secs(10),
};
/// By this argument the helper process knows that it is asked about such a file: it has less memory.
pub const ALONE: &str = "alone";
/// A file that killed the helper process is not asked for so long, and so many times as long after each further time.
const OUT_MIN: Duration = Duration::from_secs(10);
const OUT_GROWTH: u32 = 6;
const OUT_MAX: Duration = Duration::from_secs(3600);
/// A debug file that did not come in time is looked for again after so long, and so many times as long after each further time.
const LATE_MIN: Duration = Duration::from_secs(2);
/// From one trial to the next.
const TRIAL_PAUSE: Duration = Duration::from_secs(5);
const BACKOFF_MIN: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// After so long without a death the next start comes quickly again.
const CALM: Duration = Duration::from_secs(60);
/// So many deaths in a row for no known reason, and frames are answered without it while it is
/// down.
const DEATHS_MAX: u32 = 3;
/// Files that are said to be too much, by name.
const TOO_MUCH_TOLD: u32 = 16;
/// So many questions are put again after a death for no known reason; the second one is the file's
/// fault.
const ATTEMPTS_MAX: u32 = 2;

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

/// Which helper process is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Common = 0,
    Alone = 1,
}

impl Symbolizer {
    /// A client of `program`, the path of `flametop-symbolizer`, which is started at once. If that
    /// fails, a notice says so and frames are named without symbols. `debuginfod`: where else to look
    /// for debug files. `looker`: opens those of this machine, which the helper process may not.
    pub fn start(program: &Path, debuginfod: Debuginfod, looker: Looker) -> Symbolizer {
        let (commands, inbox) = channel();
        let shared = Arc::new(Shared::default());
        let debug_files = Arc::new(DebugFiles::start(program, debuginfod));
        let client = Client::new(
            program.to_path_buf(),
            inbox,
            Arc::clone(&shared),
            Arc::clone(&debug_files),
            &looker,
        );
        let thread = thread::Builder::new()
            .name("symbolizer".into())
            .stack_size(256 << 10)
            .spawn(|| client.run());
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

/// A module that frames lie in.
#[derive(Debug)]
struct Module {
    kind: u8,
    /// Its number for the helper process: new whenever a module is added.
    serial: u32,
    file: Option<File>,
    /// What stands before `+fn@0x…`.
    label: Vec<u8>,
    /// The whole path.
    path: Vec<u8>,
    /// A process that maps it.
    process: u32,
    build_id: Vec<u8>,
    /// It was said that its debug file is too large.
    debug_file_told: bool,
    /// Its debug file is not read any more.
    without_debug_file: bool,
    /// Whose file it is.
    user: u32,
    standing: Standing,
    /// Helper processes that it killed.
    killed: u32,
    /// How often its debug file did not come in time, and when that is looked for again.
    late: u32,
    look_again: Option<Instant>,
    used: u64,
}

/// How a module is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// With all others.
    Good,
    /// It killed a helper process: not before then.
    Out(Instant),
    /// By a helper process of its own.
    OnTrial,
    /// It is too much for one: never.
    TooMuch,
}

impl Module {
    /// Whether a frame without a symbol may have one that is not read, since to read it costs too much.
    fn is_limited(&self) -> bool {
        self.without_debug_file || !self.standing.is_asked()
    }
}

impl Standing {
    fn is_asked(self) -> bool {
        matches!(self, Standing::Good | Standing::OnTrial)
    }
}

/// Queries that wait, of one module.
#[derive(Debug)]
struct Batch {
    module: u32,
    queries: Vec<Query>,
    attempts: u32,
}

struct Client {
    debug_files: Arc<DebugFiles>,
    program: PathBuf,
    inbox: Receiver<Message>,
    shared: Arc<Shared>,
    /// As [`Shared::watched`].
    helpers: [Helper; 2],
    /// No module goes on trial before: a crowd of bad files must not keep a CPU busy.
    next_trial: Instant,
    modules: HashMap<u32, Module>,
    /// Files that are open at a time.
    most_files: usize,
    /// Modules added so far.
    added: u32,
    pending: VecDeque<Batch>,
    turns: Turns,
    /// Files that were too much.
    too_much: u32,
    /// Batches so far: the clock of `Module::used`.
    clock: u64,
    /// Deaths in a row for no known reason.
    deaths: u32,
    backoff: Duration,
    died_at: Option<Instant>,
    retry_at: Instant,
    /// The program cannot be used, and that was told.
    going_without: bool,
}

impl Client {
    fn new(
        program: PathBuf,
        inbox: Receiver<Message>,
        shared: Arc<Shared>,
        debug_files: Arc<DebugFiles>,
        looker: &Looker,
    ) -> Client {
        Client {
            debug_files,
            helpers: [
                Helper::new(program.clone(), None, PATIENCE, Arc::clone(looker)),
                Helper::new(
                    program.clone(),
                    Some(ALONE),
                    PATIENCE_ALONE,
                    Arc::clone(looker),
                ),
            ],
            next_trial: Instant::now(),
            program,
            inbox,
            shared,
            modules: HashMap::new(),
            most_files: MAX_FILES,
            added: 0,
            pending: VecDeque::new(),
            turns: Turns::default(),
            too_much: 0,
            clock: 0,
            deaths: 0,
            backoff: BACKOFF_MIN,
            died_at: None,
            retry_at: Instant::now(),
            going_without: false,
        }
    }

    fn run(mut self) {
        self.start_helper();
        while self.listen() {
            self.work();
        }
        self.end_helper(Asked::Common);
    }

    fn end_helper(&mut self, asked: Asked) -> Option<ExitStatus> {
        self.helpers[asked as usize].end(&self.shared.watched[asked as usize])
    }

    fn runs(&self) -> bool {
        self.helpers[Asked::Common as usize].runs()
    }

    /// Takes what callers said; waits if there is nothing else to do. False if there are no callers
    /// any more.
    fn listen(&mut self) -> bool {
        let until = |time: Instant| time.saturating_duration_since(Instant::now());
        let again = [self.try_again(), self.look_again()];
        let again = again.into_iter().flatten().min();
        let again = again.map_or(Duration::MAX, until);
        let wait = if self.pending.is_empty() {
            again
        } else if !self.runs() {
            until(self.retry_at).min(again)
        } else {
            self.first().map_or(Duration::ZERO, |(_, wait)| wait)
        };
        let mut next = if wait == Duration::MAX {
            self.inbox
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            self.inbox.recv_timeout(wait)
        };
        loop {
            match next {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            next = self.inbox.recv_timeout(Duration::ZERO);
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Add(module, subject) => self.add(module, subject),
            Message::KeepOpen(files) => self.most_files = files,
            Message::Forget(modules) => {
                for module in modules {
                    self.modules.remove(&module);
                }
            }
            Message::Ask(queries) => {
                let (asked, known): (Vec<_>, Vec<_>) = queries.into_iter().partition(|query| {
                    query.root.is_none()
                        && self
                            .modules
                            .get(&query.module)
                            .is_some_and(|module| module.standing.is_asked())
                });
                self.answer_without(&known);
                for query in asked {
                    let (module, fresh) = (query.module, |batch: &&mut Batch| batch.attempts == 0);
                    match self
                        .pending
                        .iter_mut()
                        .filter(fresh)
                        .find(|batch| batch.module == module)
                    {
                        Some(batch) => batch.queries.push(query),
                        None => self.pending.push_back(Batch {
                            module,
                            queries: vec![query],
                            attempts: 0,
                        }),
                    }
                }
            }
        }
    }

    fn add(&mut self, module: u32, subject: Subject) {
        let (mut of_process, mut of_build) = (0, Vec::new());
        let (kind, file, path) = match subject {
            Subject::Kernel => (KERNEL, None, b"[kernel]".to_vec()),
            Subject::File {
                file,
                path,
                process,
                build_id,
            } => {
                (of_process, of_build) = (process, build_id);
                (FILE, Some(file), path)
            }
            Subject::Vdso { image } => match sys::memory_file(&image) {
                Ok(file) => (VDSO, Some(file), b"[vdso]".to_vec()),
                Err(error) => {
                    self.tell(format!(
                        "no symbols of the vDSO: it cannot be copied ({error})"
                    ));
                    (VDSO, None, b"[vdso]".to_vec())
                }
            },
        };
        self.added = self.added.wrapping_add(1);
        let user = file.as_ref().and_then(|file| file.metadata().ok());
        let user = user.map_or(0, |file| file.uid());
        let label = file_name(&path).to_vec();
        self.clock += 1;
        let known = self.modules.get(&module);
        let (standing, killed) =
            known.map_or((Standing::Good, 0), |known| (known.standing, known.killed));
        let without_debug_file = known.is_some_and(|known| known.without_debug_file);
        self.modules.insert(
            module,
            Module {
                kind,
                serial: self.added,
                file,
                label,
                path,
                process: of_process,
                build_id: of_build,
                debug_file_told: false,
                without_debug_file,
                user,
                standing,
                killed,
                late: 0,
                look_again: None,
                used: self.clock,
            },
        );
        if self
            .modules
            .values()
            .filter(|module| module.file.is_some())
            .count()
            > self.most_files
        {
            let files = self
                .modules
                .values_mut()
                .filter(|module| module.kind == FILE && module.file.is_some());
            if let Some(oldest) = files.min_by_key(|module| module.used) {
                oldest.file = None;
            }
        }
    }

    /// Asks one question, if the helper process runs or can be started.
    fn work(&mut self) {
        if self.pending.is_empty() || self.stopping() {
            return;
        }
        if !self.runs() && Instant::now() >= self.retry_at {
            self.start_helper();
        }
        if !self.runs() {
            if self.going_without || self.deaths >= DEATHS_MAX {
                for batch in take(&mut self.pending) {
                    self.answer_without(&batch.queries);
                }
            }
            return;
        }
        let Some(mut batch) = self.next_batch() else {
            return;
        };
        batch.attempts += 1;
        let module = self.modules.get(&batch.module);
        let user = self.user(batch.module);
        let before = self.helper_time();
        let alone = module.is_some_and(|m| m.standing == Standing::OnTrial);
        let asked = match alone {
            true => Asked::Alone,
            false => Asked::Common,
        };
        let exchanged = match asked {
            Asked::Common => self.exchange(&mut batch, asked),
            Asked::Alone => self
                .start_alone()
                .and_then(|()| self.exchange(&mut batch, asked)),
        };
        let took = match (&exchanged, asked) {
            (Ok(()), Asked::Common) => self.helper_time().saturating_sub(before),
            (Err(_), Asked::Common) => PATIENCE.cpu,
            (_, Asked::Alone) => PATIENCE_ALONE.cpu,
        };
        if let Some(user) = user {
            self.turns.charge(user, batch.module, took, Instant::now());
        }
        match (exchanged, asked) {
            (Ok(()), Asked::Common) => self.deaths = 0,
            (Err(death), Asked::Common) => self.bury(&death, Some(batch)),
            (exchanged, Asked::Alone) => self.end_trial(exchanged, batch),
        }
    }

    /// Has the next module whose time has come tried again; when there will be another.
    fn try_again(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let out = self
            .modules
            .iter_mut()
            .filter_map(|(id, module)| match module.standing {
                Standing::Out(until) => Some((until, *id, module)),
                _ => None,
            });
        let (until, id, module) = out.min_by_key(|(until, ..)| *until)?;
        if now < until.max(self.next_trial) {
            return Some(until.max(self.next_trial));
        }
        module.standing = Standing::OnTrial;
        self.next_trial = now + TRIAL_PAUSE;
        lock(&self.shared.tried_again).push(id);
        Some(self.next_trial)
    }

    /// Has the modules asked for again whose debug files were late and are to be looked for now; when there will be others.
    fn look_again(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let mut next = None;
        for (id, module) in &mut self.modules {
            match module.look_again {
                Some(at) if at <= now => {
                    module.look_again = None;
                    lock(&self.shared.tried_again).push(*id);
                }
                Some(at) => next = Some(next.map_or(at, |next: Instant| next.min(at))),
                None => {}
            }
        }
        next
    }

    /// Starts the helper process of a module that killed another, with smaller limits.
    fn start_alone(&mut self) -> Result<(), Death> {
        let [_, helper] = &mut self.helpers;
        let [_, watched] = &self.shared.watched;
        helper.start(watched).map_err(|failure| match failure {
            NoStart::Death(death) => death,
            _ => Death::Nonsense,
        })
    }

    /// A module that did not kill its own helper process is asked with all others from then on.
    fn end_trial(&mut self, exchanged: Result<(), Death>, batch: Batch) {
        let status = self.end_helper(Asked::Alone);
        match exchanged {
            Ok(()) => {
                let module = self.modules.get_mut(&batch.module);
                if let Some(module) = module.filter(|m| m.standing == Standing::OnTrial) {
                    module.standing = Standing::Good;
                }
            }
            Err(_) if self.stopping() => {}
            Err(death) => {
                let why = why(&death, status);
                if self.refuse_debug_file(&batch, &why) {
                    self.pending.push_back(batch);
                } else {
                    self.refuse(batch, &why);
                }
            }
        }
    }

    /// CPU time of the helper process, and the time that debug files were looked for.
    fn helper_time(&self) -> Duration {
        let time = self.shared.watched[Asked::Common as usize]
            .pid()
            .and_then(sys::cpu_time);
        let time = time.map_or(Duration::ZERO, |(nanos, _)| Duration::from_nanos(nanos));
        time + self.helpers[Asked::Common as usize].looked()
    }

    /// Which of those that wait comes first, and how long that has to wait still. A file that took long may have to wait while
    /// another one of its user has not.
    fn first(&self) -> Option<(usize, Duration)> {
        let now = Instant::now();
        let order = |batch: &Batch| match self.user(batch.module) {
            Some(user) => (
                self.turns.wait(user, batch.module, now),
                self.turns.order(user, batch.module, now),
            ),
            None => (Duration::ZERO, (now, now)),
        };
        let waiting = self.pending.iter().map(order).enumerate();
        let (first, (wait, _)) = waiting.min_by_key(|(_, order)| *order)?;
        Some((first, wait))
    }

    /// The user whose file a module is; none of code that is in no file.
    fn user(&self, module: u32) -> Option<u32> {
        let module = self.modules.get(&module)?;
        (module.kind == FILE).then_some(module.user)
    }

    /// At most as many queries as fit into one question: those that wait longest.
    fn next_batch(&mut self) -> Option<Batch> {
        let (index, wait) = self.first()?;
        if !wait.is_zero() {
            return None;
        }
        let first = self.pending.get_mut(index)?;
        if first.queries.len() <= ASK_MAX {
            return self.pending.remove(index);
        }
        Some(Batch {
            module: first.module,
            queries: first.queries.drain(..ASK_MAX).collect(),
            attempts: first.attempts,
        })
    }

    /// Asks `batch` and answers its queries; those that were answered are no longer in it.
    fn exchange(&mut self, batch: &mut Batch, asked: Asked) -> Result<(), Death> {
        let Some(module) = self.modules.get_mut(&batch.module) else {
            self.answer_without(&take(&mut batch.queries));
            return Ok(());
        };
        self.clock += 1;
        module.used = self.clock;
        if module.kind != KERNEL && module.file.is_none() {
            self.answer_without(&take(&mut batch.queries));
            return Ok(());
        }
        let offsets = batch.queries.iter().map(|query| query.offset).collect();
        let path = module.path.get(..PATH_MAX).unwrap_or(&module.path);
        let ask = Ask {
            what: What::Names,
            kind: module.kind,
            module: module.serial,
            process: module.process,
            path: path.to_vec(),
            offsets,
        };
        let patience = match (module.kind, asked) {
            (KERNEL, _) => KERNEL_PATIENCE,
            (_, Asked::Common) => PATIENCE,
            (_, Asked::Alone) => PATIENCE_ALONE,
        };
        let build_id = module.build_id.clone();
        let debug = self.debug_files.file(&build_id);
        let files: Vec<_> = module
            .file
            .iter()
            .chain(debug.as_deref())
            .map(File::as_fd)
            .collect();
        let (helper, watched) = (
            &mut self.helpers[asked as usize],
            &self.shared.watched[asked as usize],
        );
        helper.ask(&ask, &files)?;
        let mut waiting = patience.begin();
        let mut unnamed = 0;
        let mut troubles = Vec::new();
        while !batch.queries.is_empty() {
            match helper.answer(&ask, watched, &mut waiting)? {
                Reply::Names { stripped, found }
                    if !found.is_empty() && found.len() <= batch.queries.len() =>
                {
                    let module = self.modules.get(&batch.module);
                    let label = module.map_or(&[][..], |module| &module.label);
                    let limited = module.is_some_and(Module::is_limited)
                        || self.debug_files.is_too_large(&build_id)
                        || troubles.iter().any(|trouble: &Trouble| trouble.is_limit());
                    let answered = batch.queries.drain(..found.len());
                    let answers: Vec<Answer> = answered
                        .zip(found)
                        .map(|(query, found)| answer(&query, found, label, limited))
                        .collect();
                    if stripped {
                        let without = |answer: &&Answer| answer.source != Source::Symbol;
                        unnamed += answers.iter().filter(without).count();
                    }
                    lock(&self.shared.answers).extend(answers);
                }
                Reply::Trouble(trouble) => troubles.push(trouble),
                _ => return Err(Death::Nonsense),
            }
        }
        for trouble in troubles {
            self.take_trouble(batch.module, trouble);
        }
        if unnamed > 0 {
            self.debug_files.want(&build_id, unnamed);
        }
        if unnamed > 0
            && waiting.late()
            && let Some(module) = self.modules.get_mut(&batch.module)
        {
            module.look_again = Some(Instant::now() + longer(LATE_MIN, module.late));
            module.late += 1;
        }
        Ok(())
    }

    fn take_trouble(&mut self, module: u32, trouble: Trouble) {
        let what = match trouble {
            Trouble::KernelHidden => {
                let notice = "no kernel symbols: /proc/kallsyms shows no addresses; \
                              run as root or with CAP_SYSLOG, and with kernel.kptr_restrict below 2";
                return self.tell(notice.into());
            }
            Trouble::KernelUnreadable => {
                let notice = "no kernel symbols: /proc/kallsyms cannot be read; is /proc mounted?";
                return self.tell(notice.into());
            }
            Trouble::Symbols => "it has more symbols than are read of one file",
            Trouble::Packed => "its packed symbols are more than are unpacked of one file",
            Trouble::Sections => "it has more sections than are looked through",
            Trouble::DebugFile => return self.refuse_large_debug_file(module),
        };
        let Some(module) = self.modules.get_mut(&module) else {
            return;
        };
        module.standing = Standing::TooMuch;
        module.file = None;
        let path = String::from_utf8_lossy(&module.path).into_owned();
        self.too_much += 1;
        if self.too_much <= TOO_MUCH_TOLD {
            let more = match self.too_much {
                TOO_MUCH_TOLD => "; of others like that nothing is said any more",
                _ => "",
            };
            self.tell(format!(
                "no symbols of {path} (limit): {what}; its frames are named by address{more}"
            ));
        }
    }

    /// Says once that the debug file of this module has more symbols than are read of one file.
    fn refuse_large_debug_file(&mut self, module: u32) {
        let Some(module) = self.modules.get_mut(&module) else {
            return;
        };
        module.without_debug_file = true;
        if replace(&mut module.debug_file_told, true) {
            return;
        }
        self.debug_files.refuse(&module.build_id);
        let path = String::from_utf8_lossy(&module.path).into_owned();
        self.tell(format!(
            "the debug file of {path} is not used (limit): it has more symbols than are read of one file; remove it"
        ));
    }

    fn start_helper(&mut self) {
        let program = self.program.display();
        let [helper, _] = &mut self.helpers;
        let notice = match helper.start(&self.shared.watched[Asked::Common as usize]) {
            Ok(()) => {
                self.going_without = false;
                return;
            }
            Err(NoStart::Death(death)) => return self.bury(&death, None),
            Err(NoStart::Spawn(error)) => format!(
                "no names for frames: {program} cannot be started ({error}); \
                 install it again, it belongs beside flametop's library"
            ),
            Err(NoStart::Version(other)) => format!(
                "no names for frames: {program} is of another version \
                 (it speaks {other}, this flametop {VERSION}); install both together"
            ),
            Err(NoStart::Stranger) => format!(
                "no names for frames: {program} does not answer as a symbolizer; \
                 install it again, it belongs beside flametop's library"
            ),
        };
        self.go_without(notice);
    }

    /// The program is not what it should be: frames are answered without it, and it is tried again
    /// later.
    fn go_without(&mut self, notice: String) {
        self.retry_at = Instant::now() + BACKOFF_MAX;
        if !self.going_without && !self.stopping() {
            self.tell(notice);
        }
        self.going_without = true;
    }

    fn stopping(&self) -> bool {
        self.shared.watched[Asked::Common as usize].stopping()
    }

    /// The helper process is lost: says so, names the file that did it, puts the rest of the
    /// question again.
    fn bury(&mut self, death: &Death, batch: Option<Batch>) {
        let status = self.end_helper(Asked::Common);
        let now = Instant::now();
        let calm = self.died_at.is_none_or(|died| now - died > CALM);
        let faulted = match death {
            Death::Busy(_) | Death::Hung(_) | Death::Nonsense => true,
            Death::Ended(_) => status
                .and_then(|status| status.signal())
                .is_some_and(is_fault),
        };
        // Whose file it was has paid for that; others have not to wait.
        self.backoff = if calm || faulted && batch.is_some() {
            BACKOFF_MIN
        } else {
            (self.backoff * 2).min(BACKOFF_MAX)
        };
        self.died_at = Some(now);
        self.retry_at = now + self.backoff;
        if self.stopping() {
            return;
        }
        let why = why(death, status);
        match batch {
            Some(batch) if faulted && self.refuse_debug_file(&batch, &why) => {
                self.pending.push_back(Batch {
                    attempts: 0,
                    ..batch
                });
            }
            Some(batch) if faulted || batch.attempts >= ATTEMPTS_MAX => self.refuse(batch, &why),
            other => {
                self.deaths += 1;
                self.pending.extend(other);
                if self.deaths == DEATHS_MAX {
                    let program = self.program.display();
                    self.tell(format!(
                        "no names for frames for now: {program} ended {DEATHS_MAX} times in a row \
                         ({why}); is memory short, or is it killed? \
                         It is tried again every {} s",
                        BACKOFF_MAX.as_secs()
                    ));
                }
            }
        }
    }

    /// Goes on without the debug file that came from a cache or a server, if there is one for the
    /// module of `batch`: rather that has done it than the file that runs.
    fn refuse_debug_file(&mut self, batch: &Batch, why: &str) -> bool {
        let Some(module) = self.modules.get_mut(&batch.module) else {
            return false;
        };
        if self.debug_files.file(&module.build_id).is_none() {
            return false;
        }
        module.without_debug_file = true;
        self.debug_files.refuse(&module.build_id);
        let path = String::from_utf8_lossy(&module.path).into_owned();
        self.tell(format!(
            "the debug file of {path} is not used any more: the symbolizer was lost while it read that \
             ({why}); remove it from the cache of debuginfod"
        ));
        true
    }

    /// Asks for the module of `batch` later only: longer each time.
    fn refuse(&mut self, batch: Batch, why: &str) {
        let mut path = "?".into();
        let mut pause = OUT_MIN;
        if let Some(module) = self.modules.get_mut(&batch.module) {
            pause = longer(OUT_MIN, module.killed);
            module.killed += 1;
            module.standing = Standing::Out(Instant::now() + pause);
            path = String::from_utf8_lossy(&module.path).into_owned();
        }
        self.tell(format!(
            "no symbols of {path} for now: the symbolizer was lost while it read them ({why}); \
             frames of this file are named by address until it is tried again, alone, in {} s",
            pause.as_secs()
        ));
        let (theirs, others): (VecDeque<_>, VecDeque<_>) = take(&mut self.pending)
            .into_iter()
            .partition(|other| other.module == batch.module);
        self.pending = others;
        for batch in theirs.into_iter().chain([batch]) {
            self.answer_without(&batch.queries);
        }
    }

    fn answer_without(&self, queries: &[Query]) {
        let answers = queries
            .iter()
            .map(|query| match self.modules.get(&query.module) {
                Some(module) => without_symbol(query, &module.label, module.is_limited()),
                None => without_symbol(query, b"", false),
            });
        lock(&self.shared.answers).extend(answers);
    }

    fn tell(&self, notice: String) {
        lock(&self.shared.notices).push(notice);
    }
}

/// A pause that is longer after each time.
fn longer(first: Duration, times: u32) -> Duration {
    let pause = first.saturating_mul(OUT_GROWTH.saturating_pow(times));
    pause.min(OUT_MAX)
}

/// Signals that a process brings upon itself.
fn is_fault(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGBUS
            | libc::SIGSEGV
            | libc::SIGABRT
            | libc::SIGILL
            | libc::SIGFPE
            | libc::SIGTRAP
            | libc::SIGSYS
    )
}

/// The last part of a path, without what the kernel adds to it when the file is gone.
fn file_name(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    &name[..name.len().min(NAME_MAX / 2)]
}

/// The name that `found` gives, unless it is only the nearest symbol below: the function begins
/// behind it.
fn answer(query: &Query, found: Found, label: &[u8], limited: bool) -> Answer {
    let covers = found.start <= query.offset
        && query
            .function_start
            .is_none_or(|start| start <= found.start);
    if found.name.is_empty() || !covers {
        return without_symbol(query, label, limited);
    }
    Answer {
        frame: query.frame,
        source: Source::Symbol,
        name: found.name,
    }
}

/// The name of a frame that has no symbol. `label` is the file's name, empty if the module is not
/// known. `limited`: the frame may have a symbol that is not read.
fn without_symbol(query: &Query, label: &[u8], limited: bool) -> Answer {
    let (source, place) = match (query.root, query.function_start) {
        (Some(root), _) => {
            return Answer {
                frame: query.frame,
                source: Source::Root,
                name: root.into(),
            };
        }
        (None, Some(start)) => (Source::FunctionStart, format!("fn@{start:#x}")),
        (None, None) => (Source::Unknown, format!("{:#x}", query.offset)),
    };
    let mut name = label.to_vec();
    if !label.is_empty() {
        name.push(b'+');
    }
    name.extend(place.into_bytes());
    let source = match limited || query.limited {
        true => Source::Limit,
        false => source,
    };
    Answer {
        frame: query.frame,
        source,
        name,
    }
}
