//! Functions and USDT probes of programs and libraries: from the words of a user to places that the kernel side can attach to.
//!
//! A file may hang, and may be made to harm who reads it. So a thread of its own waits for files, which the prober opens, and a process
//! without rights looks into them (crate `flametop-symbolize`). The session asks, goes on, and takes the answer at a later batch.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    mem,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Result, anyhow, bail, ensure};
use flametop_events::{Source, Spec, Weight, near};
use flametop_kernel::events::{
    self as kernel, Argument, ArgumentPlace, Hook, ProbedFile, Register, Site, SourceSpec,
};
use flametop_prober::Whom;
use flametop_symbolize::{
    self as symbolize, FindQuery, Finder, FinderProcess, FoundSite, FoundSites, Wanted,
};

use super::{
    limit::{check_number, most_probes},
    resolve,
};
use crate::prober::{NoElf, Prober, user_of};

/// The prober has answered by then.
const FILE_TIME: Duration = Duration::from_secs(5);
/// Most files of the target's processes that are looked into, and most of these processes.
const MOST_FILES: usize = 512;
const MOST_PROCESSES: usize = 16;
/// Where most programs have setjmp and longjmp from.
const C_LIBRARY: &str = "libc.so.6";
/// The functions that fill a buffer by which a later call jumps: those that C's macros stand for.
const FILLS: &str = "/^(_setjmp|setjmp|__setjmp|sigsetjmp|__sigsetjmp)$/";
/// The functions that jump. Others of the C libraries have the same address or call these.
const JUMPS: &str = "/^(longjmp|__longjmp_chk)$/";
/// Where libraries without a path are looked for.
const LIBRARIES: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
/// Where programs without a path are looked for.
const PROGRAMS: [&str; 5] = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin", "/sbin"];

/// A question.
enum Job {
    /// The places of the source that was opened with this number.
    Find {
        opened: u64,
        spec: Spec,
        force: bool,
    },
    /// Whether the paths of these files still lead to them; each with the number by which its source was opened.
    Look(Vec<(u64, Origin)>),
}

/// An answer.
pub enum Found {
    /// The places of the source that was opened with this number, and the files that they are in.
    Places(u64, Result<(Vec<SourceSpec>, Vec<Origin>)>),
    /// Words for each source, by the number by which it was opened, one of whose files is no longer where it was.
    Gone(BTreeMap<u64, String>),
}

/// Where a file was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    path: Vec<u8>,
    /// None: flametop itself.
    process: Option<u32>,
    /// Its device and inode.
    file: (u64, u64),
}

/// The side that asks, and never waits.
pub struct Programs {
    finding: Option<Finding>,
    jobs: Option<Sender<Job>>,
    found: Arc<Mutex<Vec<Found>>>,
    process: FinderProcess,
    thread: Option<JoinHandle<()>>,
}

impl Programs {
    /// `program`: path of `flametop-symbolizer`. `targets`: the processes that are sampled; none: any.
    pub fn new(program: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Programs {
        let finding = Finding::new(program, prober, targets);
        Programs {
            process: finding.finder.process(),
            finding: Some(finding),
            jobs: None,
            found: Arc::default(),
            thread: None,
        }
    }

    /// Asks for the places of a source; the answer has this number.
    ///
    /// # Errors
    /// No thread is left.
    pub fn ask(&mut self, opened: u64, spec: Spec, force: bool) -> Result<()> {
        // Most sessions never ask.
        if let Some(finding) = self.finding.take() {
            let (jobs, inbox) = channel();
            let found = Arc::clone(&self.found);
            let thread = thread::Builder::new()
                .name("programs".to_owned())
                .spawn(move || finding.run(&inbox, &found))?;
            (self.jobs, self.thread) = (Some(jobs), Some(thread));
        }
        let job = Job::Find {
            opened,
            spec,
            force,
        };
        let jobs = self.jobs.as_ref();
        let asked = jobs.is_some_and(|jobs| jobs.send(job).is_ok());
        ensure!(asked, "there is no thread to look into files");
        Ok(())
    }

    /// Has the thread look whether the paths of these files still lead to them.
    pub fn look(&self, files: Vec<(u64, Origin)>) {
        if let Some(jobs) = &self.jobs {
            // Without the thread nothing more is found anyway.
            let _ = jobs.send(Job::Look(files));
        }
    }

    /// The answers that have come.
    pub fn take(&self) -> Vec<Found> {
        mem::take(&mut lock(&self.found))
    }

    /// The process that looks into files now.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.process.stop();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program or library that is open.
pub struct Program {
    /// In the root of the process.
    pub path: Vec<u8>,
    /// None: flametop itself.
    pub process: Option<Whom>,
    /// Open for reading.
    pub file: File,
}

impl Program {
    /// The path, for people.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// Where it was found.
    fn origin(&self) -> Option<Origin> {
        Some(Origin {
            path: self.path.clone(),
            process: self.process.map(|whose| whose.tgid),
            file: identity(&self.file)?,
        })
    }
}

/// Device and inode of a file.
fn identity(file: &File) -> Option<(u64, u64)> {
    let facts = file.metadata().ok()?;
    Some((facts.dev(), facts.ino()))
}

fn has_ended(process: Option<u32>) -> bool {
    process.is_some_and(|process| user_of(process).is_none())
}

/// The side that waits.
pub struct Finding {
    finder: Finder,
    prober: Arc<Prober>,
    targets: Vec<u32>,
}

impl Finding {
    /// As [`Programs::new`].
    pub fn new(program: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Finding {
        let looks = Arc::clone(prober);
        let looker = Arc::new(move |whose: Option<Whom>, path: &[u8]| looks.ask_elf(whose, path));
        Finding {
            finder: Finder::new(program, looker),
            prober: Arc::clone(prober),
            targets: targets.iter().copied().take(MOST_PROCESSES).collect(),
        }
    }

    fn run(mut self, inbox: &Receiver<Job>, found: &Mutex<Vec<Found>>) {
        while let Ok(job) = inbox.recv() {
            let answer = match job {
                Job::Find {
                    opened,
                    spec,
                    force,
                } => {
                    let places = self.resolve(&spec, force);
                    self.finder.rest();
                    Found::Places(opened, places)
                }
                Job::Look(files) => Found::Gone(self.gone(files)),
            };
            lock(found).push(answer);
        }
    }

    /// What became of files whose paths do not lead to them any more.
    fn gone(&self, files: Vec<(u64, Origin)>) -> BTreeMap<u64, String> {
        let mut gone = BTreeMap::new();
        for (opened, origin) in files {
            let path = origin.path.clone();
            let became = match self.open(origin.process, path) {
                Ok(program) if identity(&program.file) == Some(origin.file) => continue,
                Ok(_) | Err((NoElf::Other | NoElf::Elsewhere, _)) => "replaced",
                // Of a process that has ended there is nothing more to tell.
                Err((NoElf::Absent, _)) if has_ended(origin.process) => continue,
                Err((NoElf::Absent, _)) => "removed",
                Err((NoElf::Late, _)) => continue,
            };
            let name = String::from_utf8_lossy(&origin.path);
            let words = format!(
                "{name} was {became}: programs that began before are still probed, those that begin now are not; switch the source off \
                 and on to probe what is there now"
            );
            gone.entry(opened).or_insert(words);
        }
        gone
    }

    /// The places of a source.
    fn resolve(&mut self, spec: &Spec, force: bool) -> Result<(Vec<SourceSpec>, Vec<Origin>)> {
        if let Source::Jumps { file } = &spec.source {
            return self.jumps(file.as_deref());
        }
        let argument = match spec.weight {
            Weight::Argument(number) => Some(number),
            _ => None,
        };
        let (file, wanted, what, returns) = match &spec.source {
            Source::Usdt {
                file,
                provider,
                name,
            } => (
                file.as_deref(),
                Wanted::Probes {
                    provider: provider.to_string(),
                    name: name.to_string(),
                    argument,
                },
                format!("probe {provider}:{name}"),
                false,
            ),
            Source::User {
                file,
                place,
                returns,
            } => (
                Some(file.as_str()),
                Wanted::Functions {
                    name: place.function.to_string(),
                    offset: place.offset,
                },
                format!("function {}", place.function),
                *returns,
            ),
            _ => bail!("{} is of no program", spec.text),
        };
        let weight = match (&spec.source, &spec.weight) {
            (Source::Usdt { .. }, Weight::Argument(_)) => kernel::Weight::Probe,
            (_, weight) => resolve::weight(weight)?,
        };
        let most = most_probes(force);
        let programs = match file {
            Some(name) => self.named(name)?,
            None => self.mapped()?,
        };
        let names = match &programs[..] {
            [one] => one.name(),
            _ => format!("no file of {}", self.whose()),
        };
        let one = programs.len() == 1;
        let (mut parts, mut origins, mut all) = (Vec::new(), Vec::new(), 0);
        let (mut near, mut why) = (Vec::new(), None);
        for program in programs {
            match self.find(&program, wanted.clone(), most) {
                Ok(found) => {
                    all += found.all;
                    near.extend(found.near);
                    let name = program.name();
                    if returns && found.sites.iter().any(|site| site.go) {
                        bail!(
                            "returns of Go's functions in {name} cannot be probed: Go moves its stacks, and a program whose return \
                             address was replaced would end; probe calls (uprobe:…) or an offset before a return"
                        );
                    }
                    if !found.sites.is_empty() {
                        origins.extend(program.origin());
                        parts.push(SourceSpec {
                            hook: Hook::User {
                                file: ProbedFile::new(program.file, name),
                                sites: found.sites.iter().map(site_of).collect(),
                                returns,
                            },
                            weight: weight.clone(),
                            filter: Vec::new(),
                        });
                    }
                }
                Err(words) => why = Some(format!("{} {words}", program.name())),
            }
        }
        if parts.is_empty() {
            if let Some(why) = why.as_ref().filter(|_| one) {
                bail!(why.clone());
            }
            let has = if one { "has no" } else { "has a" };
            let near = String::from_utf8_lossy(&near.join(&b'\n')).into_owned();
            let mut near: Vec<&str> = near.lines().collect();
            near.sort_unstable();
            near.dedup();
            near.truncate(3);
            let remedy = match (&near[..], why) {
                ([], Some(why)) => format!("; {why}"),
                ([], None) => "; flametop events -p PID lists what a process has".to_owned(),
                (near, _) => near::offered(near),
            };
            bail!("{names} {has} {what}{remedy}");
        }
        check_number(&what, all, force)?;
        Ok((parts, origins))
    }

    /// The functions of setjmp and longjmp.
    fn jumps(&mut self, file: Option<&str>) -> Result<(Vec<SourceSpec>, Vec<Origin>)> {
        let programs = match file {
            Some(name) => self.named(name)?,
            None if self.targets.is_empty() => self.named(C_LIBRARY)?,
            None => self.mapped()?,
        };
        let (mut parts, mut origins, mut why) = (Vec::new(), Vec::new(), None);
        for program in programs {
            let mut functions = |name: &str| {
                let wanted = Wanted::Functions {
                    name: name.to_owned(),
                    offset: 0,
                };
                let found = self.find(&program, wanted, most_probes(false))?;
                Ok::<_, String>(found.sites.iter().map(site_of).collect::<Vec<_>>())
            };
            let found = functions(JUMPS).and_then(|jumps| Ok((functions(FILLS)?, jumps)));
            match found {
                Ok((fills, jumps)) if !fills.is_empty() && !jumps.is_empty() => {
                    origins.extend(program.origin());
                    let name = program.name();
                    parts.push(SourceSpec {
                        hook: Hook::Jumps {
                            file: ProbedFile::new(program.file, name),
                            fills,
                            jumps,
                        },
                        weight: kernel::Weight::Each(1),
                        filter: Vec::new(),
                    });
                }
                Ok(_) => why = Some(format!("{} has no longjmp", program.name())),
                Err(words) => why = Some(format!("{} {words}", program.name())),
            }
        }
        match (parts.is_empty(), file, why) {
            (false, ..) => Ok((parts, origins)),
            (true, Some(_), Some(why)) => bail!(why),
            (true, ..) => bail!(
                "no file of {} has longjmp; a program without symbols that brings its own cannot be watched",
                self.whose()
            ),
        }
    }

    /// Looks into one file.
    ///
    /// # Errors
    /// Words that go behind the name of the file.
    pub fn find(
        &mut self,
        program: &Program,
        wanted: Wanted,
        most: u32,
    ) -> Result<FoundSites, String> {
        self.finder.find(&FindQuery {
            file: &program.file,
            path: &program.path,
            process: program.process,
            wanted,
            most,
        })
    }

    fn whose(&self) -> String {
        let targets: Vec<String> = self.targets.iter().map(u32::to_string).collect();
        match &targets[..] {
            [one] => format!("process {one}"),
            many => format!("processes {}", many.join(", ")),
        }
    }

    /// The files that a user means by a path, or by a name without slashes: that of a program or library, of the processes of the target
    /// or else of this system.
    fn named(&self, name: &str) -> Result<Vec<Program>> {
        if name.contains('/') {
            let path = std::path::absolute(name)?;
            return self.at(path);
        }
        let mut found = Vec::new();
        for process in &self.targets {
            for path in self.paths(*process)? {
                let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                let rest = file.strip_prefix(name.as_bytes());
                // `libc` and `libc.so.6` are meant by both names.
                if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b".")) {
                    found.push(self.open(Some(*process), path).map_err(|(_, why)| why)?);
                }
            }
        }
        if !found.is_empty() {
            return Ok(each_once(found));
        }
        for folder in LIBRARIES.iter().chain(&PROGRAMS) {
            let path = Path::new(folder).join(name);
            match self.open(None, path.as_os_str().as_bytes().to_vec()) {
                Ok(program) => return Ok(vec![program]),
                Err((NoElf::Absent, _)) => {}
                Err((_, why)) => return Err(why),
            }
        }
        match self.targets.is_empty() {
            true => bail!("no library and no program is called {name}; give its path"),
            false => bail!(
                "{} maps no file that is called {name}, and this system has no such library or program; give its path",
                self.whose()
            ),
        }
    }

    /// The file at a path: in the roots of the processes of the target, or else in that of flametop.
    fn at(&self, path: PathBuf) -> Result<Vec<Program>> {
        let path = path.into_os_string().into_encoded_bytes();
        let mut found = Vec::new();
        let mut trouble = None;
        for process in &self.targets {
            match self.open(Some(*process), path.clone()) {
                Ok(program) => found.push(program),
                Err((NoElf::Absent, _)) => {}
                Err((_, why)) => trouble = Some(why),
            }
        }
        match (found.is_empty(), trouble) {
            (false, _) => Ok(each_once(found)),
            (true, Some(why)) => Err(why),
            (true, None) => match self.open(None, path) {
                Ok(program) => Ok(vec![program]),
                Err((_, why)) => Err(why),
            },
        }
    }

    /// All programs and libraries of the processes of the target.
    pub fn mapped(&self) -> Result<Vec<Program>> {
        ensure!(
            !self.targets.is_empty(),
            "a probe without a file is of a process: give one with -p PID, or a file (usdt:FILE:PROVIDER:NAME)"
        );
        let mut found = Vec::new();
        for process in &self.targets {
            for path in self.paths(*process)? {
                // One that cannot be opened has none.
                found.extend(self.open(Some(*process), path));
            }
        }
        let mut found = each_once(found);
        found.truncate(MOST_FILES);
        ensure!(
            !found.is_empty(),
            "no program and no library of {} can be opened: its file was replaced or removed since it began, or is of a file system that \
             a program serves; start it anew",
            self.whose()
        );
        Ok(found)
    }

    /// The paths of the program and the libraries of a process.
    fn paths(&self, process: u32) -> Result<Vec<Vec<u8>>> {
        match self.wait(&self.prober.ask_programs(with_number(process))) {
            Some(Ok(paths)) => Ok(paths),
            Some(Err(crate::prober::Missing::Gone)) => {
                bail!("process {process} has ended, or may not be looked at")
            }
            _ => bail!(
                "the libraries of process {process} are not known: it does not answer in time"
            ),
        }
    }

    fn open(
        &self,
        process: Option<u32>,
        path: Vec<u8>,
    ) -> std::result::Result<Program, (NoElf, anyhow::Error)> {
        let came = self.wait(&self.prober.ask_program(process.map(with_number), &path));
        let reason = match came.unwrap_or(Err(NoElf::Late)) {
            Ok(file) => {
                return Ok(Program {
                    path,
                    process: process.map(with_number),
                    file,
                });
            }
            Err(reason) => reason,
        };
        let name = String::from_utf8_lossy(&path);
        let why = match (reason, process) {
            (NoElf::Absent, Some(process)) if name.ends_with(" (deleted)") => anyhow!(
                "{name}: the file was replaced or removed since process {process} began; start the process anew"
            ),
            (NoElf::Absent, _) => anyhow!("there is no file {name}"),
            (NoElf::Other, _) => {
                anyhow!("{name} is no program and no library (ELF), or cannot be read")
            }
            (NoElf::Elsewhere, _) => anyhow!(
                "{name} is of a file system that a program serves (FUSE and the like): the kernel would wait for that program when it \
                 puts the probe in; run the program from a disk"
            ),
            (NoElf::Late, _) => {
                anyhow!("{name} cannot be opened in time: its file system does not answer")
            }
        };
        Err((reason, why))
    }

    /// The answer of the prober; none: it did not come in time.
    fn wait<T>(&self, coming: &Receiver<T>) -> Option<T> {
        let pace = FILE_TIME / 50;
        for _ in 0..50 {
            match coming.recv_timeout(pace) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !self.finder.stops() => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// A process that the user names, who knows of no more than its number.
fn with_number(tgid: u32) -> Whom {
    Whom { tgid, start: None }
}

/// Several processes map the same files.
fn each_once(programs: Vec<Program>) -> Vec<Program> {
    let mut known = HashSet::new();
    let new = |program: &Program| identity(&program.file).is_some_and(|file| known.insert(file));
    programs.into_iter().filter(new).collect()
}

fn site_of(found: &FoundSite) -> Site {
    Site {
        offset: found.offset,
        entry: found.entry,
        nop5: found.nop5,
        semaphore: found.semaphore,
        argument: found.argument.map(argument_of),
    }
}

fn argument_of(found: symbolize::Argument) -> Argument {
    use symbolize::ArgumentPlace as Place;
    Argument {
        place: match found.place {
            Place::Constant(value) => ArgumentPlace::Constant(value),
            Place::Register(word) => ArgumentPlace::Register(Register(word)),
            Place::Memory(base, offset, index) => {
                let index = index.map(|(word, shift)| (Register(word), shift));
                ArgumentPlace::Memory(Register(base), offset, index)
            }
        },
        bytes: found.bytes,
        signed: found.signed,
    }
}
