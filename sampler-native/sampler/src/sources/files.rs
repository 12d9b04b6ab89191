//! Files of programs and libraries, by the words of a user: found in the processes of the target or on this system, and opened by the
//! prober, since a file may hang.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use anyhow::{Result, anyhow, bail, ensure};
use flametop_prober::Whom;
use flametop_symbolize::FinderProcess;

use crate::prober::{NoElf, Prober, user_of};

/// The prober has answered by then.
const FILE_TIME: Duration = Duration::from_secs(5);
/// Most files of the target's processes that are looked into, and most of these processes.
const MOST_FILES: usize = 512;
const MOST_PROCESSES: usize = 16;
/// Where libraries without a path are looked for.
#[cfg(target_arch = "x86_64")]
const OF_ARCHITECTURE: [&str; 2] = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"];
#[cfg(target_arch = "aarch64")]
const OF_ARCHITECTURE: [&str; 2] = ["/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
const LIBRARIES: [&str; 6] = [
    OF_ARCHITECTURE[0],
    OF_ARCHITECTURE[1],
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
/// Where programs without a path are looked for.
const PROGRAMS: [&str; 5] = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/bin", "/sbin"];

/// Where a file was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    path: Vec<u8>,
    /// None: flametop itself.
    process: Option<u32>,
    /// Its device and inode.
    file: (u64, u64),
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
    pub fn origin(&self) -> Option<Origin> {
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

/// The files of the processes of the target, and of this system.
pub struct Files {
    prober: Arc<Prober>,
    targets: Vec<u32>,
    /// Nobody waits for a file any more once it stops.
    process: FinderProcess,
}

impl Files {
    /// `targets`: the processes that are sampled; none: any.
    pub fn new(prober: &Arc<Prober>, targets: &[u32], process: FinderProcess) -> Files {
        Files {
            prober: Arc::clone(prober),
            targets: targets.iter().copied().take(MOST_PROCESSES).collect(),
            process,
        }
    }

    /// Whether no process is meant: files are those of this system.
    pub fn has_no_target(&self) -> bool {
        self.targets.is_empty()
    }

    /// What became of files whose paths do not lead to them any more.
    pub fn gone(&self, files: Vec<(u64, Origin)>) -> BTreeMap<u64, String> {
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

    /// The processes of the target, in words.
    pub fn whose(&self) -> String {
        let targets: Vec<String> = self.targets.iter().map(u32::to_string).collect();
        match &targets[..] {
            [one] => format!("process {one}"),
            many => format!("processes {}", many.join(", ")),
        }
    }

    /// The files that a user means by a path, or by a name without slashes: that of a program or library, of the processes of the target
    /// or else of this system.
    pub fn named(&self, name: &str) -> Result<Vec<Program>> {
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
                Err(RecvTimeoutError::Timeout) if !self.process.stops() => {}
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
