//! What is read of processes: their mappings, the files that they mapped, and what runtimes in them say.
//!
//! All of it may wait for others: for the process's lock of its mappings, for memory that a program serves, for a disk. So it is
//! done by threads that nobody else waits for; what comes of it ([`ProbedMaps`], [`Seen`]) holds all that a walk needs, and files
//! only where the kernel itself serves them.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{FileExt, MetadataExt, OpenOptionsExt},
        },
    },
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use nix::{
    fcntl::{FcntlArg, OFlag, OpenHow, ResolveFlag, SealFlag, fcntl, openat2},
    sys::memfd::{MFdFlags, memfd_create},
};
use serde::{Deserialize, Serialize};

use crate::{
    End, HotSpot, ModuleId,
    elf::{Image, Source},
    maps::{Line, MAPS_LIMIT, NewMapping, Runtime, TRAMPOLINE, code_lines},
    mounts::{Lies, Mounts},
};

/// Of x86-64.
pub(crate) const O_PATH: i32 = 0o10_000_000;
const O_NONBLOCK: i32 = 0o4000;
const O_NOCTTY: i32 = 0o400;
const O_DIRECTORY: i32 = 0o200_000;
/// Files whose holders are looked through for those that are gone when there are twice as many.
const FILES_KEPT: usize = 1024;

/// Files of one process that are open at a time; of more, each is closed when its headers were read.
const OPEN_AT_ONCE: usize = 256;

/// Most bytes of a file that is copied, and of all copies.
const COPY_LIMIT: u64 = 32 << 20;
const COPIES_LIMIT: u64 = 128 << 20;

/// The folder of one process in `/proc`: nothing in it is ever that of another process that has the same number later.
#[derive(Debug)]
pub struct ProcessFolder {
    tgid: u32,
    folder: File,
}

impl ProcessFolder {
    /// That of the process which has this number now.
    ///
    /// # Errors
    /// There is none.
    pub fn open(tgid: u32) -> io::Result<ProcessFolder> {
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(O_PATH | O_DIRECTORY)
            .open(format!("/proc/{tgid}"))?;
        Ok(ProcessFolder { tgid, folder })
    }

    /// The process's number.
    pub fn tgid(&self) -> u32 {
        self.tgid
    }

    /// When it started, in ticks since boot.
    ///
    /// # Errors
    /// It is gone.
    pub fn start(&self) -> io::Result<u64> {
        let stat = self.read("stat", 4096)?;
        // The name before may be anything.
        let fields = stat
            .iter()
            .rposition(|byte| *byte == b')')
            .map(|end| &stat[end + 1..]);
        let fields = fields.and_then(|fields| std::str::from_utf8(fields).ok());
        fields
            .and_then(|fields| fields.split_ascii_whitespace().nth(19)?.parse().ok())
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// At most `limit` bytes of a file in it.
    ///
    /// # Errors
    /// The process is gone, or may not be looked at.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(name)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        File::open(self.path(name))
    }

    pub(crate) fn link(&self, name: &str) -> io::Result<Vec<u8>> {
        let target = fs::read_link(self.path(name))?;
        Ok(target.as_os_str().as_bytes().to_vec())
    }

    fn path(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd())
    }

    /// What is there, without opening it.
    pub(crate) fn place(&self, name: &str) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .custom_flags(O_PATH)
            .open(self.path(name))
    }
}

/// A file as the kernel tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileKey {
    device: u64,
    inode: u64,
    seconds: i64,
    nanos: i64,
}

impl FileKey {
    pub(crate) fn of(metadata: &fs::Metadata) -> FileKey {
        FileKey {
            device: metadata.dev(),
            inode: metadata.ino(),
            seconds: metadata.mtime(),
            nanos: metadata.mtime_nsec(),
        }
    }
}

/// Where a file can be found: the mapping of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The process last seen to map it.
    pub tgid: u32,
    start: u64,
    end: u64,
    /// Its name, seen from the root of the process: for who may not follow the kernel's link.
    path: Box<[u8]>,
}

impl Place {
    pub(crate) fn new(tgid: u32, start: u64, end: u64, path: &[u8]) -> Place {
        let path = path.into();
        Place {
            tgid,
            start,
            end,
            path,
        }
    }

    /// The file, not opened: by the kernel's link to what is mapped, whatever has become of its name; else by that.
    fn find(&self, process: &ProcessFolder) -> io::Result<(File, Found)> {
        let link = format!("map_files/{:x}-{:x}", self.start, self.end);
        match process.place(&link) {
            Ok(file) => {
                let linked = process.link(&link)? == *self.path;
                Ok((file, Found::Mapped { linked }))
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let root = process.place("root")?;
                let path = std::ffi::OsStr::from_bytes(&self.path);
                let how = OpenHow::new()
                    .flags(OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC)
                    .resolve(ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS);
                Ok((File::from(openat2(&root, path, how)?), Found::Named))
            }
            Err(error) => Err(error),
        }
    }
}

enum Found {
    /// It is what is mapped there; whether it has the name still.
    Mapped { linked: bool },
    /// It has the name.
    Named,
}

/// What a file is.
#[derive(Debug)]
pub(crate) enum Program {
    Elf(Box<Image>),
    /// A program of 32 bits, of another machine, or damaged.
    Other(End),
    /// No program: code that was made at run time lies in it.
    Data,
}

/// A file that the kernel itself serves, open for reading; or a copy in memory of one that it does not. Of many files of one process
/// the later ones are closed: of these the headers are known, and each is opened again when there is use for it.
#[derive(Debug)]
pub struct OpenFile {
    pub(crate) key: FileKey,
    /// None: closed.
    file: Option<File>,
    pub(crate) program: Program,
    /// Let go of with the file.
    _with: Option<Box<dyn Held>>,
}

/// What may be let go of with a file.
trait Held: fmt::Debug + Send + Sync {}

impl<T: fmt::Debug + Send + Sync> Held for T {}

/// What is known of a file beside its descriptor, for another process to which the descriptor is passed.
#[derive(Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// Tells the file apart from others.
    pub key: FileKey,
    /// None: the file is no program.
    image: Option<Box<Image>>,
}

impl OpenFile {
    /// Tells it apart from others.
    pub fn key(&self) -> FileKey {
        self.key
    }

    /// A file that is open already, and is no program.
    ///
    /// # Errors
    /// The kernel does not tell what the file is.
    pub fn of(file: File) -> io::Result<OpenFile> {
        Ok(OpenFile {
            key: FileKey::of(&file.metadata()?),
            file: Some(file),
            program: Program::Data,
            _with: None,
        })
    }

    /// The open file itself.
    ///
    /// # Errors
    /// It is closed.
    pub fn file(&self) -> io::Result<&File> {
        let closed = || io::Error::from(io::ErrorKind::NotConnected);
        self.file.as_ref().ok_or_else(closed)
    }

    /// Whether it is not closed.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// What is known of the file without its descriptor.
    fn closed(&self) -> OpenFile {
        OpenFile::passed(self.facts(), None, ())
    }

    /// What is known of the file beside its descriptor.
    pub fn facts(&self) -> FileFacts {
        FileFacts {
            key: self.key,
            image: match &self.program {
                Program::Elf(image) => Some(image.clone()),
                Program::Other(_) | Program::Data => None,
            },
        }
    }

    /// A file that another process opened, and passed if there was a descriptor left. `with`: is dropped when nobody has the file any
    /// more.
    pub fn passed(
        facts: FileFacts,
        file: Option<File>,
        with: impl fmt::Debug + Send + Sync + 'static,
    ) -> OpenFile {
        OpenFile {
            key: facts.key,
            file,
            program: facts.image.map_or(Program::Data, Program::Elf),
            _with: Some(Box::new(with)),
        }
    }
}

/// Bytes of a copy, of all that there may be.
#[derive(Debug)]
struct Copied {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

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

/// All executable mappings of a process at one moment. `F`: how a file is told.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProbedMaps<F = Arc<OpenFile>> {
    pub(crate) areas: Vec<ProbedArea<F>>,
    pub(crate) runtime: Runtime,
    pub(crate) lines: u64,
    pub(crate) files: u64,
}

impl ProbedMaps {
    /// How many lines were read for them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many files were looked at for them.
    pub fn files(&self) -> u64 {
        self.files
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

/// A file that is to be opened again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosedFile {
    pub(crate) key: FileKey,
    pub(crate) place: Place,
}

impl ClosedFile {
    /// Whether this is that file.
    pub fn is(&self, file: &OpenFile) -> bool {
        self.key == file.key
    }
}

/// Reads processes and opens their files, each file once as long as somebody has it open. To be shared by threads.
#[derive(Debug)]
pub struct Prober {
    pub(crate) mounts: Mounts,
    files: Mutex<HashMap<FileKey, Weak<OpenFile>>>,
    /// Bytes of copies.
    copied: Arc<AtomicU64>,
}

impl Default for Prober {
    fn default() -> Prober {
        Prober {
            mounts: Mounts::new(),
            files: Mutex::default(),
            copied: Arc::default(),
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
                runtime.see(line.path, || HotSpot::read_of(process));
                let look = || self.see(process, &line, false, runtime == Runtime::Python);
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
                areas.push(ProbedArea {
                    start: line.start,
                    end: line.end,
                    offset: line.offset,
                    path: line.path.into(),
                    seen,
                });
            }
        }
        Ok(ProbedMaps {
            areas,
            runtime,
            lines,
            files: files.values().map(Vec::len).sum::<usize>() as u64,
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
        let mut python = runtime.0 == Runtime::Python;
        let see = |wanted: &WantedMapping| {
            let line = wanted.line();
            python |= Runtime::is_python(line.path);
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
            Lies::Locally(..) => self.open(&file, false)?,
            Lies::Remotely(_) => self.open(&file, true)?,
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
                trampolines: matches!(code, Some(Ok(TRAMPOLINE))),
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
        self.open(&file, remote).map(Some)
    }

    /// Opens what was found, or copies it: no walk is to wait for another machine.
    pub(crate) fn open(&self, found: &File, copy: bool) -> io::Result<Arc<OpenFile>> {
        let metadata = found.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        let key = FileKey::of(&metadata);
        let files = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = files().get(&key).and_then(Weak::upgrade) {
            return Ok(open);
        }
        // Where somebody holds a lease nobody is waited for.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(O_NONBLOCK | O_NOCTTY)
            .open(format!("/proc/self/fd/{}", found.as_raw_fd()))?;
        let (file, copy) = match copy {
            true => {
                let (file, copied) = self.copy(&file, metadata.len())?;
                (file, Some(copied))
            }
            false => (file, None),
        };
        let source = Source::File(&file);
        let program = match Image::read(source) {
            Ok(image) => Program::Elf(Box::new(image)),
            // A program of another machine or a damaged one is not code made at run time.
            Err(_) if Image::is_elf(source) => Program::Other(match Image::is_narrow(source) {
                true => End::Narrow,
                false => End::Unreadable,
            }),
            Err(_) => Program::Data,
        };
        let open = Arc::new(OpenFile {
            key,
            file: Some(file),
            program,
            _with: copy.map(|copy| Box::new(copy) as Box<dyn Held>),
        });
        let mut files = files();
        if files.len() >= FILES_KEPT && files.len() == files.capacity() {
            files.retain(|_, file| file.strong_count() > 0);
        }
        files.insert(key, Arc::downgrade(&open));
        Ok(open)
    }
}

impl Prober {
    /// A copy of a file of that size in memory, which nobody can change.
    fn copy(&self, file: &File, size: u64) -> io::Result<(File, Copied)> {
        let copied = Copied {
            bytes: size,
            all: Arc::clone(&self.copied),
        };
        let before = copied.all.fetch_add(size, Ordering::Relaxed);
        if size > COPY_LIMIT || before.saturating_add(size) > COPIES_LIMIT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let mut copy = File::from(memfd_create(c"flametop", flags)?);
        io::copy(&mut file.take(size), &mut copy)?;
        fcntl(&copy, FcntlArg::F_ADD_SEALS(SealFlag::all()))?;
        Ok((copy, copied))
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
            let line = Line {
                start: told.start,
                end: told.end,
                executable: true,
                offset: told.offset,
                device: told.device,
                inode: told.inode,
                path: &told.path,
            };
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

/// What is known of the runtime of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuntimeKnown(pub(crate) Runtime);

impl Default for RuntimeKnown {
    fn default() -> RuntimeKnown {
        RuntimeKnown(Runtime::Other)
    }
}

/// Of these lines that which holds a mapping from its beginning.
pub(crate) fn line_of<'a, 'b>(lines: &'b [Line<'a>], new: &Line<'_>) -> Option<&'b Line<'a>> {
    let after = lines.partition_point(|line| line.start <= new.start);
    lines[..after].last().filter(|line| {
        new.start < line.end
            && (line.device, line.inode) == (new.device, new.inode)
            && line.offset.checked_add(new.start - line.start) == Some(new.offset)
    })
}

fn code_at(process: &ProcessFolder, address: u64) -> io::Result<[u8; TRAMPOLINE.len()]> {
    let mut code = [0; TRAMPOLINE.len()];
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
    use std::io::Write;

    fn own() -> File {
        File::open("/proc/self/exe").expect("own program")
    }

    #[test]
    fn open_copy_is_the_same_program_and_counts_until_it_is_dropped() {
        let prober = Prober::default();
        let size = own().metadata().expect("facts").len();
        let copy = prober.open(&own(), true).expect("a copy");
        assert!(matches!(&copy.program, Program::Elf(image) if !image.segments.is_empty()));
        assert_eq!(
            copy.file().expect("open").metadata().expect("facts").len(),
            size
        );
        assert!(
            copy.file().expect("open").write(b"x").is_err(),
            "nobody can change it"
        );
        let again = prober.open(&own(), true).expect("the same");
        assert!(Arc::ptr_eq(&copy, &again), "copied once");
        assert_eq!(prober.copied.load(Ordering::Relaxed), size);
        drop((copy, again));
        assert_eq!(prober.copied.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn copy_more_than_there_may_be_is_refused() {
        let prober = Prober::default();
        assert!(prober.copy(&own(), COPY_LIMIT + 1).is_err());
        prober.copied.store(COPIES_LIMIT, Ordering::Relaxed);
        assert!(prober.copy(&own(), 1).is_err());
        assert_eq!(prober.copied.load(Ordering::Relaxed), COPIES_LIMIT);
    }
}
