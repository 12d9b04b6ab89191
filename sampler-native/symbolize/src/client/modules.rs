//! The modules that frames lie in: which files are open, and how a module is asked that killed a helper process.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use flametop_prober::Whom;

use crate::protocol::{FILE, KERNEL, VDSO};
use crate::{MAX_FILES, NAME_MAX, Subject, sys};

/// A file that killed the helper process is not asked for so long, and so many times as long after each further time.
pub const OUT_MIN: Duration = Duration::from_secs(10);
const OUT_GROWTH: u32 = 6;
const OUT_MAX: Duration = Duration::from_secs(3600);
/// A debug file that did not come in time is looked for again after so long, and so many times as long after each further time.
const LATE_MIN: Duration = Duration::from_secs(2);
/// From one trial to the next.
const TRIAL_PAUSE: Duration = Duration::from_secs(5);

/// A module that frames lie in.
#[derive(Debug)]
pub struct Module {
    pub kind: u8,
    /// The module's number for the helper process: new whenever the module is added.
    pub serial: u32,
    pub file: Option<File>,
    /// The part of a name before `+fn@0x…`.
    pub label: Vec<u8>,
    /// The whole path.
    pub path: Vec<u8>,
    /// A process that maps the file.
    pub process: Option<Whom>,
    pub build_id: Vec<u8>,
    /// A notice has said that the debug file is too large.
    pub debug_file_told: bool,
    /// The debug file is not read any more.
    pub without_debug_file: bool,
    /// The owner of the file.
    user: u32,
    pub standing: Standing,
    /// Helper processes that the module killed.
    killed: u32,
    /// How often the debug file did not come in time, and when flametop looks for it again.
    late: u32,
    look_again: Option<Instant>,
    used: u64,
}

/// How a module is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// With all others.
    Good,
    /// Not before then: the module killed a helper process.
    Out(Instant),
    /// By a helper process of its own.
    OnTrial,
    /// Never: the module is too much for a helper process.
    TooMuch,
}

impl Module {
    /// Whether a frame without a symbol may have one that is not read, since to read it costs too much.
    pub fn is_limited(&self) -> bool {
        self.without_debug_file || !self.standing.is_asked()
    }

    /// The whole path, for people.
    pub fn path_text(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// The module killed a helper process, and is not asked for the time that is returned: longer each time.
    pub fn put_out(&mut self) -> Duration {
        let pause = longer(OUT_MIN, self.killed);
        self.killed += 1;
        self.standing = Standing::Out(Instant::now() + pause);
        pause
    }

    /// The debug file did not come in time: flametop looks for it again later.
    pub fn look_later(&mut self) {
        self.look_again = Some(Instant::now() + longer(LATE_MIN, self.late));
        self.late += 1;
    }
}

impl Standing {
    fn is_asked(self) -> bool {
        matches!(self, Standing::Good | Standing::OnTrial)
    }
}

/// All modules, by their numbers.
#[derive(Debug)]
pub struct Modules {
    modules: HashMap<u32, Module>,
    /// Files that are open at a time.
    most_files: usize,
    /// Modules added so far.
    added: u32,
    /// Modules added and questions put so far: the clock of `Module::used`.
    clock: u64,
    /// No module goes on trial before: a crowd of bad files must not keep a CPU busy.
    next_trial: Instant,
}

impl Modules {
    pub fn new() -> Modules {
        Modules {
            modules: HashMap::new(),
            most_files: MAX_FILES,
            added: 0,
            clock: 0,
            next_trial: Instant::now(),
        }
    }

    /// Has no more files open at a time than so many.
    pub fn keep_open(&mut self, files: usize) {
        self.most_files = files;
    }

    pub fn forget(&mut self, modules: &[u32]) {
        for module in modules {
            self.modules.remove(module);
        }
    }

    pub fn get(&self, module: u32) -> Option<&Module> {
        self.modules.get(&module)
    }

    pub fn get_mut(&mut self, module: u32) -> Option<&mut Module> {
        self.modules.get_mut(&module)
    }

    /// Whether a helper process is asked about the module.
    pub fn is_asked(&self, module: u32) -> bool {
        self.get(module)
            .is_some_and(|module| module.standing.is_asked())
    }

    /// The user whose file a module is; none of code that is in no file.
    pub fn user(&self, module: u32) -> Option<u32> {
        let module = self.get(module)?;
        (module.kind == FILE).then_some(module.user)
    }

    /// Adds a module, or replaces the one with this number, whose standing stays. Returns a notice for people if the module is
    /// without symbols. Beyond the files that may be open, the one that was asked longest ago is closed.
    pub fn add(&mut self, number: u32, subject: Subject) -> Option<String> {
        let mut notice = None;
        let (mut process, mut build_id) = (None, Vec::new());
        let (kind, file, path) = match subject {
            Subject::Kernel => (KERNEL, None, b"[kernel]".to_vec()),
            Subject::File {
                file,
                path,
                process: of_process,
                build_id: of_build,
            } => {
                (process, build_id) = (of_process, of_build);
                (FILE, Some(file), path)
            }
            Subject::Vdso { image } => {
                let copy = sys::memory_file(&image);
                let copy = copy.inspect_err(|error| {
                    notice = Some(format!(
                        "no symbols of the vDSO: it cannot be copied ({error})"
                    ));
                });
                (VDSO, copy.ok(), b"[vdso]".to_vec())
            }
        };
        self.added = self.added.wrapping_add(1);
        self.clock += 1;
        let user = file.as_ref().and_then(|file| file.metadata().ok());
        let known = self.modules.get(&number);
        let (standing, killed) =
            known.map_or((Standing::Good, 0), |known| (known.standing, known.killed));
        let module = Module {
            kind,
            serial: self.added,
            file,
            label: file_name(&path).to_vec(),
            path,
            process,
            build_id,
            debug_file_told: false,
            without_debug_file: known.is_some_and(|known| known.without_debug_file),
            user: user.map_or(0, |file| file.uid()),
            standing,
            killed,
            late: 0,
            look_again: None,
            used: self.clock,
        };
        self.modules.insert(number, module);
        self.close_oldest();
        notice
    }

    /// Closes the file that was asked longest ago, if too many are open.
    fn close_oldest(&mut self) {
        let open = self.modules.values_mut().filter(|m| m.file.is_some());
        let open: Vec<&mut Module> = open.collect();
        if open.len() <= self.most_files {
            return;
        }
        let files = open.into_iter().filter(|module| module.kind == FILE);
        if let Some(oldest) = files.min_by_key(|module| module.used) {
            oldest.file = None;
        }
    }

    /// The module that is asked now.
    pub fn ask(&mut self, module: u32) -> Option<&Module> {
        let module = self.modules.get_mut(&module)?;
        self.clock += 1;
        module.used = self.clock;
        Some(module)
    }

    /// Puts the next module on trial whose time has come, and adds it to `again`. Returns when the next trial is.
    pub fn try_again(&mut self, again: &mut Vec<u32>) -> Option<Instant> {
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
        again.push(id);
        Some(self.next_trial)
    }

    /// Adds modules to `again` whose debug files were late, and which flametop is to look for now. Returns when the next ones are due.
    pub fn look_again(&mut self, again: &mut Vec<u32>) -> Option<Instant> {
        let now = Instant::now();
        let mut next = None;
        for (id, module) in &mut self.modules {
            match module.look_again {
                Some(at) if at <= now => {
                    module.look_again = None;
                    again.push(*id);
                }
                Some(at) => next = Some(next.map_or(at, |next: Instant| next.min(at))),
                None => {}
            }
        }
        next
    }
}

/// A pause that is longer after each time.
fn longer(first: Duration, times: u32) -> Duration {
    let pause = first.saturating_mul(OUT_GROWTH.saturating_pow(times));
    pause.min(OUT_MAX)
}

/// The last part of a path, without the words that the kernel adds to the path of a file that is gone.
fn file_name(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    &name[..name.len().min(NAME_MAX / 2)]
}
