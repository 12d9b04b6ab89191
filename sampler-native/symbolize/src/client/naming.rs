//! The thread that asks the helper processes: which question is next, and what follows from its answers, or from the death of the
//! process.

use std::mem::{replace, take};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::answers::without_symbol;
use super::exchange::{Process, exchange};
use super::modules::{Modules, OUT_MIN, Standing};
use super::queue::{Batch, Queue};
use super::restarts::{BACKOFF_MAX, DEATHS_MAX, Restarts};
use super::{ALONE, Message, Shared};
use crate::debuginfod::DebugFiles;
use crate::process::{Death, Helper, Looker, NoStart, Patience, lock, why};
use crate::protocol::{KERNEL, Trouble, VERSION};
use crate::{Query, sys};

/// A helper process that needs more for one question is killed.
const PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(2),
    wall: Duration::from_secs(20),
};
/// The same for a question about the kernel, whose table no program writes, and without which every stack lacks names. On an emulated
/// or crowded machine, whose CPU time is partly that of others, such a question took 2 s.
const KERNEL_PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(20),
    wall: Duration::from_secs(60),
};
/// The same for a helper process that is asked alone about a file which killed another one.
const PATIENCE_ALONE: Patience = Patience {
    cpu: Duration::from_secs(1),
    wall: Duration::from_secs(10),
};
/// Files that notices name because they are too much.
const TOO_MUCH_TOLD: u32 = 16;
/// So many questions are put again after a death for no known reason; the second one is the file's
/// fault.
const ATTEMPTS_MAX: u32 = 2;

/// Which helper process is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Common = 0,
    Alone = 1,
}

/// The thread that asks.
pub struct Naming {
    debug_files: Arc<DebugFiles>,
    program: PathBuf,
    inbox: Receiver<Message>,
    shared: Arc<Shared>,
    /// As [`Shared::watched`].
    helpers: [Helper; 2],
    modules: Modules,
    queue: Queue,
    restarts: Restarts,
    /// Files that were too much.
    too_much: u32,
}

impl Naming {
    pub fn new(
        program: PathBuf,
        inbox: Receiver<Message>,
        shared: Arc<Shared>,
        debug_files: Arc<DebugFiles>,
        looker: &Looker,
    ) -> Naming {
        let helper = |argument, patience| {
            Helper::new(program.clone(), argument, patience, Arc::clone(looker))
        };
        Naming {
            debug_files,
            helpers: [helper(None, PATIENCE), helper(Some(ALONE), PATIENCE_ALONE)],
            program,
            inbox,
            shared,
            modules: Modules::new(),
            queue: Queue::default(),
            restarts: Restarts::new(),
            too_much: 0,
        }
    }

    /// Answers until there are no callers any more.
    pub fn run(mut self) {
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

    /// Takes the messages of callers; waits if there is nothing else to do. False if there are no callers any more.
    fn listen(&mut self) -> bool {
        let until = |time: Instant| time.saturating_duration_since(Instant::now());
        let again = self.ask_again().map_or(Duration::MAX, until);
        let wait = if self.queue.is_empty() {
            again
        } else if !self.runs() {
            until(self.restarts.retry_at()).min(again)
        } else {
            self.queue.wait(&self.modules).unwrap_or_default()
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

    /// Has callers ask again for modules whose time has come. Returns when there will be others.
    fn ask_again(&mut self) -> Option<Instant> {
        let mut again = Vec::new();
        let next = [
            self.modules.try_again(&mut again),
            self.modules.look_again(&mut again),
        ];
        if !again.is_empty() {
            lock(&self.shared.tried_again).extend(again);
        }
        next.into_iter().flatten().min()
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Add(module, subject) => {
                if let Some(notice) = self.modules.add(module, subject) {
                    self.tell(notice);
                }
            }
            Message::KeepOpen(files) => self.modules.keep_open(files),
            Message::Forget(modules) => self.modules.forget(&modules),
            Message::Ask(queries) => {
                let (asked, known): (Vec<_>, Vec<_>) = queries
                    .into_iter()
                    .partition(|query| query.root.is_none() && self.modules.is_asked(query.module));
                self.answer_without(&known);
                for query in asked {
                    self.queue.add(query);
                }
            }
        }
    }

    /// Asks one question, if the helper process runs or can be started.
    fn work(&mut self) {
        if self.queue.is_empty() || self.stopping() {
            return;
        }
        if !self.runs() && Instant::now() >= self.restarts.retry_at() {
            self.start_helper();
        }
        if !self.runs() {
            if self.restarts.is_without() {
                for batch in self.queue.take_all() {
                    self.answer_without(&batch.queries);
                }
            }
            return;
        }
        let Some(mut batch) = self.queue.next(&self.modules) else {
            return;
        };
        batch.attempts += 1;
        let module = self.modules.get(batch.module);
        let user = self.modules.user(batch.module);
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
            self.queue.charge(user, batch.module, took);
        }
        match (exchanged, asked) {
            (Ok(()), Asked::Common) => self.restarts.answered(),
            (Err(death), Asked::Common) => self.bury(&death, Some(batch)),
            (exchanged, Asked::Alone) => self.end_trial(exchanged, batch),
        }
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
                let module = self.modules.get_mut(batch.module);
                if let Some(module) = module.filter(|m| m.standing == Standing::OnTrial) {
                    module.standing = Standing::Good;
                }
            }
            Err(_) if self.stopping() => {}
            Err(death) => {
                let why = why(&death, status);
                if self.refuse_debug_file(&batch, &why) {
                    self.queue.put_again(batch);
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
        time.unwrap_or_default() + self.helpers[Asked::Common as usize].looked()
    }

    /// Asks `batch` and answers its queries; answered queries are no longer in the batch.
    fn exchange(&mut self, batch: &mut Batch, asked: Asked) -> Result<(), Death> {
        let module = self.modules.ask(batch.module);
        let Some(module) = module.filter(|m| m.kind == KERNEL || m.file.is_some()) else {
            self.answer_without(&take(&mut batch.queries));
            return Ok(());
        };
        let build_id = module.build_id.clone();
        let debug = self.debug_files.file(&build_id);
        let process = Process {
            helper: &mut self.helpers[asked as usize],
            watched: &self.shared.watched[asked as usize],
            patience: match (module.kind, asked) {
                (KERNEL, _) => KERNEL_PATIENCE,
                (_, Asked::Common) => PATIENCE,
                (_, Asked::Alone) => PATIENCE_ALONE,
            },
        };
        let answers = &self.shared.answers;
        let hand_over = |come| lock(answers).extend(come);
        let limited = || module.is_limited() || self.debug_files.is_too_large(&build_id);
        let debug = debug.as_deref();
        let remains = exchange(batch, module, debug, process, limited, hand_over)?;
        for trouble in remains.troubles {
            self.take_trouble(batch.module, trouble);
        }
        if remains.unnamed > 0 {
            self.debug_files.want(&build_id, remains.unnamed);
        }
        if remains.unnamed > 0
            && remains.late
            && let Some(module) = self.modules.get_mut(batch.module)
        {
            module.look_later();
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
        let Some(module) = self.modules.get_mut(module) else {
            return;
        };
        module.standing = Standing::TooMuch;
        module.file = None;
        let path = module.path_text();
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
        let Some(module) = self.modules.get_mut(module) else {
            return;
        };
        module.without_debug_file = true;
        if replace(&mut module.debug_file_told, true) {
            return;
        }
        self.debug_files.refuse(&module.build_id);
        let path = module.path_text();
        self.tell(format!(
            "the debug file of {path} is not used (limit): it has more symbols than are read of one file; remove it"
        ));
    }

    fn start_helper(&mut self) {
        let program = self.program.display();
        let [helper, _] = &mut self.helpers;
        let notice = match helper.start(&self.shared.watched[Asked::Common as usize]) {
            Ok(()) => {
                self.restarts.started();
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

    /// The program is not the symbolizer: frames are answered without one, and the program is tried again later.
    fn go_without(&mut self, notice: String) {
        if self.restarts.unusable() && !self.stopping() {
            self.tell(notice);
        }
    }

    fn stopping(&self) -> bool {
        self.shared.watched[Asked::Common as usize].stopping()
    }

    /// The helper process is lost: says so, names the file that did it, puts the rest of the
    /// question again.
    fn bury(&mut self, death: &Death, batch: Option<Batch>) {
        let status = self.end_helper(Asked::Common);
        let faulted = match death {
            Death::Busy(_) | Death::Hung(_) | Death::Nonsense => true,
            Death::Ended(_) => status
                .and_then(|status| status.signal())
                .is_some_and(is_fault),
        };
        self.restarts.died(faulted && batch.is_some());
        if self.stopping() {
            return;
        }
        let why = why(death, status);
        match batch {
            Some(batch) if faulted && self.refuse_debug_file(&batch, &why) => {
                self.queue.put_again(Batch {
                    attempts: 0,
                    ..batch
                });
            }
            Some(batch) if faulted || batch.attempts >= ATTEMPTS_MAX => self.refuse(batch, &why),
            other => {
                if let Some(batch) = other {
                    self.queue.put_again(batch);
                }
                if self.restarts.died_unexplained() {
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

    /// Goes on without the debug file that came from a cache or a server, if there is one for the module of `batch`: rather the debug
    /// file killed the helper process than the file that runs.
    fn refuse_debug_file(&mut self, batch: &Batch, why: &str) -> bool {
        let Some(module) = self.modules.get_mut(batch.module) else {
            return false;
        };
        if self.debug_files.file(&module.build_id).is_none() {
            return false;
        }
        module.without_debug_file = true;
        self.debug_files.refuse(&module.build_id);
        let path = module.path_text();
        self.tell(format!(
            "the debug file of {path} is not used any more: the symbolizer was lost while it read that \
             ({why}); remove it from the cache of debuginfod"
        ));
        true
    }

    /// Asks for the module of `batch` later only: longer each time.
    fn refuse(&mut self, batch: Batch, why: &str) {
        let (path, pause) = match self.modules.get_mut(batch.module) {
            Some(module) => (module.path_text(), module.put_out()),
            None => ("?".into(), OUT_MIN),
        };
        self.tell(format!(
            "no symbols of {path} for now: the symbolizer was lost while it read them ({why}); \
             frames of this file are named by address until it is tried again, alone, in {} s",
            pause.as_secs()
        ));
        let waiting = self.queue.take_module(batch.module);
        for batch in waiting.into_iter().chain([batch]) {
            self.answer_without(&batch.queries);
        }
    }

    fn answer_without(&self, queries: &[Query]) {
        let answers = queries
            .iter()
            .map(|query| match self.modules.get(query.module) {
                Some(module) => without_symbol(query, &module.label, module.is_limited()),
                None => without_symbol(query, b"", false),
            });
        lock(&self.shared.answers).extend(answers);
    }

    fn tell(&self, notice: String) {
        lock(&self.shared.notices).push(notice);
    }
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
