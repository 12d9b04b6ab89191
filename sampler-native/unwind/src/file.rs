//! Files that processes have mapped, each open once as long as somebody has it.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, OpenOptionsExt},
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
    End,
    elf::{Image, Source},
    folder::ProcessFolder,
};

const O_NONBLOCK: i32 = 0o4000;
const O_NOCTTY: i32 = 0o400;
/// Files whose holders are looked through for those that are gone when there are twice as many.
const FILES_KEPT: usize = 1024;
/// Most bytes of a file that is copied, and of all copies.
const COPY_LIMIT: u64 = 32 << 20;
const COPIES_LIMIT: u64 = 128 << 20;

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
    pub(crate) fn find(&self, process: &ProcessFolder) -> io::Result<(File, Found)> {
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

/// How a file was found.
pub(crate) enum Found {
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
    pub(crate) fn closed(&self) -> OpenFile {
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

/// The files that are open. To be shared by threads.
#[derive(Debug, Default)]
pub(crate) struct Files {
    open: Mutex<HashMap<FileKey, Weak<OpenFile>>>,
    /// Bytes of copies.
    copied: Arc<AtomicU64>,
}

impl Files {
    /// Opens what was found, or copies it: no walk is to wait for another machine.
    pub(crate) fn open(&self, found: &File, copy: bool) -> io::Result<Arc<OpenFile>> {
        let metadata = regular(found)?;
        let key = FileKey::of(&metadata);
        let files = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = files().get(&key).and_then(Weak::upgrade) {
            return Ok(open);
        }
        let file = open_for_reading(found)?;
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

/// The facts of a regular file; anything else that was found is an error.
pub(crate) fn regular(found: &File) -> io::Result<fs::Metadata> {
    let metadata = found.metadata()?;
    match metadata.is_file() {
        true => Ok(metadata),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )),
    }
}

/// A regular file that was found and not opened.
pub(crate) fn open_for_reading(found: &File) -> io::Result<File> {
    // Where somebody holds a lease nobody is waited for.
    OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK | O_NOCTTY)
        .open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn own() -> File {
        File::open("/proc/self/exe").expect("own program")
    }

    #[test]
    fn open_copy_is_the_same_program_and_counts_until_it_is_dropped() {
        let files = Files::default();
        let size = own().metadata().expect("facts").len();
        let copy = files.open(&own(), true).expect("a copy");
        assert!(matches!(&copy.program, Program::Elf(image) if !image.segments.is_empty()));
        assert_eq!(
            copy.file().expect("open").metadata().expect("facts").len(),
            size
        );
        assert!(
            copy.file().expect("open").write(b"x").is_err(),
            "nobody can change it"
        );
        let again = files.open(&own(), true).expect("the same");
        assert!(Arc::ptr_eq(&copy, &again), "copied once");
        assert_eq!(files.copied.load(Ordering::Relaxed), size);
        drop((copy, again));
        assert_eq!(files.copied.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn copy_more_than_there_may_be_is_refused() {
        let files = Files::default();
        assert!(files.copy(&own(), COPY_LIMIT + 1).is_err());
        files.copied.store(COPIES_LIMIT, Ordering::Relaxed);
        assert!(files.copy(&own(), 1).is_err());
        assert_eq!(files.copied.load(Ordering::Relaxed), COPIES_LIMIT);
    }
}
