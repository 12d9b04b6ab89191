//! The folder of one process in `/proc`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    },
};

use nix::fcntl::OFlag;

/// A flag of open(2).
pub(crate) const O_PATH: i32 = OFlag::O_PATH.bits();
const O_DIRECTORY: i32 = OFlag::O_DIRECTORY.bits();

/// The folder of one process in `/proc`: nothing in it is ever that of another process that has the same number later.
#[derive(Debug)]
pub struct ProcessFolder {
    pub(crate) tgid: u32,
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
        // Most of these files fit, and into less room they are read in many steps.
        let mut bytes = Vec::with_capacity(limit.min(4096) as usize);
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
