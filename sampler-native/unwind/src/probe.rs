//! What is read of processes: their mappings, the files that they mapped, and what runtimes in them say.
//!
//! All of it may wait for others: for the process's lock of its mappings, for memory that a program serves, for a disk. So it is
//! done by threads that nobody else waits for; what comes of it ([`ProbedMaps`], [`Seen`]) holds all that a walk needs, and files
//! only where the kernel itself serves them.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
    sync::Arc,
};

use flametop_runtimes::{Python, Runtime as _, python};
use serde::{Deserialize, Serialize};

use crate::{
    End, ModuleId,
    file::{ClosedFile, Files, Found, OpenFile, Place, Program},
    folder::ProcessFolder,
    line::{Line, MAPS_LIMIT, NewMapping, code_lines, line_of},
    mounts::{Lies, Mounts},
    runtime::{self, Runtime, RuntimeKnown},
};

/// Files of one process that are open at a time; of more, each is closed when its headers were read.
const OPEN_AT_ONCE: usize = 256;

/// What an executable mapping holds. `F`: how its file is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Seen<F = Arc<OpenFile>> {
    /// The code that the kernel maps into every process.
    Vdso,
    /// Code made at run time; whether that is trampolines of CPython.
    Code {
        /// See above.
        trampolines: bool,
    },
    /// Code that is not to be had: how a walk ends there.
    Unknown(End),
    /// A file, opened.
    File(F),
    /// A file that is known.
    #[serde(skip)]
    Module(ModuleId),
}

impl<F> Seen<F> {
    /// The same with its file told in another way; none if `file` knows none.
    pub fn with<G>(self, file: &mut impl FnMut(F) -> Option<G>) -> Option<Seen<G>> {
        Some(match self {
            Seen::Vdso => Seen::Vdso,
            Seen::Code { trampolines } => Seen::Code { trampolines },
            Seen::Unknown(end) => Seen::Unknown(end),
            Seen::File(of) => Seen::File(file(of)?),
            Seen::Module(id) => Seen::Module(id),
        })
    }
}

/// The executable mappings of a process at one moment, all or a part. `F`: how a file is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProbedMaps<F = Arc<OpenFile>> {
    pub(crate) areas: Vec<ProbedArea<F>>,
    pub(crate) runtime: Runtime,
    pub(crate) lines: u64,
    pub(crate) files: u64,
    /// They are no more than what holds one address.
    part: bool,
}

impl ProbedMaps {
    /// Whether they are not all, but what holds one address, if anything does.
    pub fn is_part(&self) -> bool {
        self.part
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    /// How many lines were read for them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many files were looked at for them.
    pub fn files(&self) -> u64 {
        self.files
    }
}

#[cfg(test)]
impl ProbedMaps {
    /// Code made at run time, as a part.
    pub(crate) fn code(range: std::ops::Range<u64>) -> ProbedMaps {
        let area = ProbedArea {
            start: range.start,
            end: range.end,
            offset: 0,
            path: Box::default(),
            seen: Seen::Code { trampolines: false },
        };
        ProbedMaps {
            areas: vec![area],
            runtime: Runtime::Other,
            lines: 1,
            files: 0,
            part: true,
        }
    }
}

impl<F> ProbedMaps<F> {
    /// The same with files told in another way; none if `file` does not know one of them.
    pub fn with<G>(self, file: &mut impl FnMut(F) -> Option<G>) -> Option<ProbedMaps<G>> {
        let areas = self.areas.into_iter().map(|area| {
            Some(ProbedArea {
                start: area.start,
                end: area.end,
                offset: area.offset,
                path: area.path,
                seen: area.seen.with(file)?,
            })
        });
        Some(ProbedMaps {
            areas: areas.collect::<Option<_>>()?,
            runtime: self.runtime,
            lines: self.lines,
            files: self.files,
            part: self.part,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProbedArea<F = Arc<OpenFile>> {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub path: Box<[u8]>,
    pub seen: Seen<F>,
}

impl ProbedArea {
    fn new(line: &Line<'_>, seen: Seen) -> ProbedArea {
        ProbedArea {
            start: line.start,
            end: line.end,
            offset: line.offset,
            path: line.path.into(),
            seen,
        }
    }
}

/// An executable mapping that the kernel told of, as [`NewMapping`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct WantedMapping {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub device: (u32, u32),
    pub inode: u64,
    pub path: Box<[u8]>,
}

impl WantedMapping {
    /// The same mapping.
    pub fn of(new: &NewMapping<'_>) -> WantedMapping {
        WantedMapping {
            start: new.start,
            end: new.end,
            offset: new.offset,
            device: new.device,
            inode: new.inode,
            path: new.path.into(),
        }
    }

    fn line(&self) -> Line<'_> {
        Line {
            start: self.start,
            end: self.end,
            executable: true,
            offset: self.offset,
            device: self.device,
            inode: self.inode,
            path: &self.path,
        }
    }
}

/// Reads processes and opens their files, each file once as long as somebody has it open. To be shared by threads.
#[derive(Debug)]
pub struct Prober {
    pub(crate) mounts: Mounts,
    pub(crate) files: Files,
}

impl Default for Prober {
    fn default() -> Prober {
        Prober {
            mounts: Mounts::new(),
            files: Files::default(),
        }
    }
}

impl Prober {
    /// What a process has mapped. `runtime`: what is known of the runtime in it.
    ///
    /// # Errors
    /// The process is gone, or may not be looked at. Not found if it has no mappings: a zombie, a kernel thread.
    pub fn maps(&self, process: &ProcessFolder, runtime: RuntimeKnown) -> io::Result<ProbedMaps> {
        let text = process.read("maps", MAPS_LIMIT)?;
        if text.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut runtime = runtime.0;
        let mut areas = Vec::new();
        let (mut lines, mut open) = (0, 0);
        // A file is one and the same in all lines of one reading; what could not be opened may have been unmapped just then.
        let mut files: HashMap<((u32, u32), u64), Vec<Seen>> = HashMap::new();
        for line in text.split(|byte| *byte == b'\n').filter_map(Line::parse) {
            lines += 1;
            if line.executable && line.path != b"[vsyscall]" {
                runtime.see(line.path, |kind| runtime::attach(process, kind));
                let look = || self.see(process, &line, false, runtime.is_python());
                let seen = match line.inode {
                    0 => look(),
                    inode => {
                        let looks = files.entry((line.device, inode)).or_default();
                        let known = looks.last();
                        let known =
                            known.filter(|seen| looks.len() >= LOOKS || !is_unreadable(seen));
                        known.cloned().unwrap_or_else(|| {
                            let mut seen = look();
                            open += usize::from(matches!(seen, Seen::File(_)));
                            if let Seen::File(file) = &mut seen
                                && open > OPEN_AT_ONCE
                            {
                                *file = Arc::new(file.closed());
                            }
                            looks.push(seen.clone());
                            seen
                        })
                    }
                };
                areas.push(ProbedArea::new(&line, seen));
            }
        }
        Ok(ProbedMaps {
            areas,
            runtime,
            lines,
            files: files.values().map(Vec::len).sum::<usize>() as u64,
            part: false,
        })
    }

    /// What a process has mapped at an address of which nobody told, though the kernel tells of all that is mapped. That one mapping
    /// alone is looked at where the kernel can be asked for it. A file there was moved (`mremap`) from a place that is known by its
    /// name, and then all mappings are read.
    ///
    /// # Errors
    /// As [`Prober::maps`].
    pub fn maps_at(
        &self,
        process: &ProcessFolder,
        address: u64,
        runtime: RuntimeKnown,
    ) -> io::Result<ProbedMaps> {
        let told = flametop_procmap::at(&process.file("maps")?, address);
        self.maps_told(process, told, runtime)
    }

    fn maps_told(
        &self,
        process: &ProcessFolder,
        told: io::Result<Option<flametop_procmap::Mapping>>,
        runtime: RuntimeKnown,
    ) -> io::Result<ProbedMaps> {
        let Ok(told) = told else {
            return self.maps(process, runtime);
        };
        let told = told.filter(|told| told.executable);
        if told.as_ref().is_some_and(|told| told.inode != 0) {
            return self.maps(process, runtime);
        }
        let area = told.map(|told| {
            let line = Line::from(&told);
            let seen = self.see(process, &line, false, runtime.0.is_python());
            ProbedArea::new(&line, seen)
        });
        Ok(ProbedMaps {
            areas: area.into_iter().collect(),
            runtime: runtime.0,
            lines: 1,
            files: 0,
            part: true,
        })
    }

    /// What these mappings hold, in their order, which the kernel told of and which may be over.
    pub fn mappings(
        &self,
        process: &ProcessFolder,
        wanted: &[WantedMapping],
        runtime: RuntimeKnown,
    ) -> Vec<Seen> {
        let mut again = Again::new(process);
        let mut python = runtime.0.is_python();
        let see = |wanted: &WantedMapping| {
            let line = wanted.line();
            python |= Python::recognise(line.path);
            let seen = self.see(process, &line, true, python);
            if line.inode == 0 || !is_unreadable(&seen) {
                return seen;
            }
            // The mapping may have been cut since, so that the kernel has no link of that name any more.
            let whole = again.line(&line, |whole| self.see(process, whole, true, python));
            whole.unwrap_or(seen)
        };
        wanted.iter().map(see).collect()
    }

    /// Opens a file again, if it is the same still.
    ///
    /// # Errors
    /// It is not, or nobody has it mapped any more.
    pub fn reopen(&self, closed: &ClosedFile) -> io::Result<Arc<OpenFile>> {
        let process = ProcessFolder::open(closed.place.tgid)?;
        let (file, _) = closed.place.find(&process)?;
        let opened = match self.mounts.find(&process, &file)? {
            Lies::Locally(..) => self.files.open(&file, false)?,
            Lies::Remotely(_) => self.files.open(&file, true)?,
            Lies::Elsewhere => return Err(io::ErrorKind::PermissionDenied.into()),
        };
        match opened.key == closed.key {
            true => Ok(opened),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn see(&self, process: &ProcessFolder, line: &Line<'_>, told: bool, python: bool) -> Seen {
        if line.path == b"[vdso]" {
            return match line.end <= u64::from(u32::MAX) {
                // That of a 32-bit process.
                true => Seen::Unknown(End::Narrow),
                false => Seen::Vdso,
            };
        }
        if line.inode == 0 {
            let code = python.then(|| code_at(process, line.start));
            return Seen::Code {
                trampolines: matches!(code, Some(Ok(python::TRAMPOLINE))),
            };
        }
        match self.file_of(process, line, told) {
            Ok(Some(file)) => match &file.program {
                Program::Elf(_) => Seen::File(file),
                Program::Other(end) => Seen::Unknown(*end),
                Program::Data => Seen::Code { trampolines: false },
            },
            Ok(None) if line.is_memory() => Seen::Code { trampolines: false },
            Ok(None) | Err(_) => Seen::Unknown(End::Unreadable),
        }
    }

    /// The file of a mapping; none if the kernel does not serve it itself.
    fn file_of(
        &self,
        process: &ProcessFolder,
        line: &Line<'_>,
        told: bool,
    ) -> io::Result<Option<Arc<OpenFile>>> {
        let place = Place::new(process.tgid, line.start, line.end, line.path);
        let (file, found) = place.find(process)?;
        let (device, layered, remote) = match self.mounts.find(process, &file)? {
            Lies::Locally(device, layered) => (device, layered, false),
            Lies::Remotely(device) => (device, false, true),
            Lies::Elsewhere => return Ok(None),
        };
        // Another file may have been mapped there meanwhile. Layered filesystems may have other numbers than the files below.
        let same = file.metadata()?.ino() == line.inode
            && (layered || device == line.device || device == (0, 0));
        let mapped = match found {
            Found::Mapped { linked } => linked && !told,
            Found::Named => false,
        };
        if !same && !mapped {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.files.open(&file, remote).map(Some)
    }
}

/// Looks mappings up that have been cut since they were made: each alone where the kernel tells, else all are read, once.
struct Again<'a> {
    process: &'a ProcessFolder,
    maps: Option<File>,
    text: Option<Vec<u8>>,
}

impl<'a> Again<'a> {
    fn new(process: &'a ProcessFolder) -> Again<'a> {
        Again {
            process,
            maps: None,
            text: None,
        }
    }

    /// The line which holds a mapping from its beginning now, if there is one.
    fn line<T>(&mut self, new: &Line<'_>, take: impl FnOnce(&Line<'_>) -> T) -> Option<T> {
        if self.maps.is_none() {
            self.maps = Some(self.process.file("maps").ok()?);
        }
        if let Some(told) = self
            .maps
            .as_ref()
            .and_then(|maps| flametop_procmap::at(maps, new.start).ok())
        {
            let told = told.filter(|told| told.executable)?;
            let line = Line::from(&told);
            return line_of(std::slice::from_ref(&line), new).map(take);
        }
        let read = || self.process.read("maps", MAPS_LIMIT).unwrap_or_default();
        let lines = code_lines(self.text.get_or_insert_with(read));
        line_of(&lines, new).map(take)
    }
}

/// How often a file that cannot be opened is looked for in one reading of the mappings.
const LOOKS: usize = 3;

fn is_unreadable(seen: &Seen) -> bool {
    matches!(seen, Seen::Unknown(End::Unreadable))
}

fn code_at(process: &ProcessFolder, address: u64) -> io::Result<[u8; python::TRAMPOLINE.len()]> {
    let mut code = [0; python::TRAMPOLINE.len()];
    process.file("mem")?.read_exact_at(&mut code, address)?;
    Ok(code)
}

/// The vDSO of this process, which every process has.
pub(crate) fn own_vdso() -> io::Result<Vec<u8>> {
    let own = ProcessFolder::open(std::process::id())?;
    let text = own.read("maps", MAPS_LIMIT)?;
    let mut lines = text.split(|byte| *byte == b'\n').filter_map(Line::parse);
    let line = lines.find(|line| line.path == b"[vdso]");
    let line = line.filter(|line| line.end - line.start <= VDSO_LIMIT);
    let line = line.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let mut image = vec![0; (line.end - line.start) as usize];
    own.file("mem")?.read_exact_at(&mut image, line.start)?;
    Ok(image)
}

/// The vDSO is two or three pages.
const VDSO_LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_told_kernel_does_not_know_the_question_reads_all() {
        let prober = Prober::default();
        let process = ProcessFolder::open(std::process::id()).expect("own folder");
        let unknown = io::Error::from(nix::errno::Errno::ENOTTY);
        let maps = prober.maps_told(&process, Err(unknown), RuntimeKnown::default());
        let maps = maps.expect("own mappings");
        assert!(!maps.is_part() && maps.lines() > 10 && maps.files() > 0);
    }
}
