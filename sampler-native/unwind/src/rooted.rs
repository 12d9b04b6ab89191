//! Files that are looked for by a path in the root of a process.
//!
//! A path may lead anywhere, by links and by what is mounted on the way. So it is gone step by step: a folder is asked for the next
//! name only after the kernel has said which mount the folder is of, and nobody but the kernel is ever asked.

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::FileExt,
    },
    sync::Arc,
};

use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2, readlinkat};

use crate::{
    file::{OpenFile, open_for_reading, regular},
    folder::ProcessFolder,
    mounts::Lies,
    probe::Prober,
};

/// Most names on a way, those of links included.
const STEPS: usize = 128;
/// Most links on a way, as many as the kernel follows.
const LINKS: usize = 40;
/// How an ELF file begins.
const ELF: [u8; 4] = *b"\x7fELF";

/// What becomes of a link at the end of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLink {
    Followed,
    Refused,
}

impl Prober {
    /// The regular file at a path in the root of a process, as the process would find the file, open for reading. Links on the way
    /// are followed, and none at its end. None: somebody's program answers for it, or for a folder on the way.
    ///
    /// # Errors
    /// There is no such file, or it does not fit.
    pub fn open_at(
        &self,
        process: &ProcessFolder,
        path: &[u8],
        fits: impl FnOnce(&Metadata) -> bool,
    ) -> io::Result<Option<Arc<OpenFile>>> {
        let Some((file, lies)) = self.go(process, path, LastLink::Refused)? else {
            return Ok(None);
        };
        if !fits(&file.metadata()?) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let remote = matches!(lies, Lies::Remotely(_));
        self.files.open(&file, remote).map(Some)
    }

    /// The ELF file at such a path, open for reading; a link at the end is followed too, as those of debug files are. No other file is
    /// given to whoever asks: a file of secrets has another beginning.
    ///
    /// # Errors
    /// There is no such file, or it is no ELF file.
    pub fn elf_at(&self, process: &ProcessFolder, path: &[u8]) -> io::Result<Option<File>> {
        let Some((found, _)) = self.go(process, path, LastLink::Followed)? else {
            return Ok(None);
        };
        regular(&found)?;
        let file = open_for_reading(&found)?;
        let mut magic = [0; ELF.len()];
        file.read_exact_at(&mut magic, 0)?;
        match magic == ELF {
            true => Ok(Some(file)),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// What is at the end of a path, not opened, and where that lies.
    fn go(
        &self,
        process: &ProcessFolder,
        path: &[u8],
        last: LastLink,
    ) -> io::Result<Option<(File, Lies)>> {
        let root = process.place("root")?;
        let lies = self.mounts.find(process, &root)?;
        let mut way = vec![(root, lies)];
        let mut names = reversed(path);
        let (mut steps, mut links) = (0, 0);
        while let Some((folder, lies)) = way.last() {
            if *lies == Lies::Elsewhere {
                return Ok(None);
            }
            let Some(name) = names.pop() else {
                return Ok(way.pop());
            };
            steps += 1;
            if steps > STEPS {
                return Err(io::ErrorKind::InvalidFilename.into());
            }
            if name == b".." {
                way.truncate((way.len() - 1).max(1));
                continue;
            }
            let how = OpenHow::new()
                .flags(OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC)
                .resolve(ResolveFlag::RESOLVE_NO_MAGICLINKS);
            let found = File::from(openat2(folder, OsStr::from_bytes(&name), how)?);
            let lies = self.mounts.find(process, &found)?;
            if lies == Lies::Elsewhere || !found.metadata()?.is_symlink() {
                way.push((found, lies));
                continue;
            }
            links += 1;
            if names.is_empty() && last == LastLink::Refused || links > LINKS {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let target = readlinkat(&found, "")?.into_vec();
            if target.starts_with(b"/") {
                way.truncate(1);
            }
            names.extend(reversed(&target));
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The names of a path, the last one first.
fn reversed(path: &[u8]) -> Vec<Vec<u8>> {
    let names = path.split(|byte| *byte == b'/').rev();
    let names = names.filter(|name| !matches!(*name, b"" | b"."));
    names.map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKey;
    use nix::{sys::stat::Mode, unistd::mkfifo};
    use std::{fs, os::unix::fs::symlink, path::PathBuf};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("flametop-rooted-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(folder.join("a/b")).expect("folders");
            fs::write(folder.join("a/b/file"), "here").expect("a file");
            Folder(folder)
        }

        fn open(&self, path: &str) -> io::Result<Option<Arc<OpenFile>>> {
            let process = ProcessFolder::open(std::process::id()).expect("own folder");
            let path = self.0.join(path);
            Prober::default().open_at(&process, path.as_os_str().as_bytes(), |_| true)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn text(found: io::Result<Option<Arc<OpenFile>>>) -> String {
        let file = found.expect("found").expect("of the kernel");
        io::read_to_string(file.file().expect("open")).expect("read")
    }

    #[test]
    fn open_at_a_plain_path_and_one_by_links_lead_to_the_same_file() {
        let folder = Folder::new("links");
        symlink("a/../a", folder.0.join("relative")).expect("a link");
        symlink(folder.0.join("a/b"), folder.0.join("absolute")).expect("a link");
        for path in [
            "a/b/file",
            "a//./b/../b/file",
            "relative/b/file",
            "absolute/file",
            "absolute/../b/file",
        ] {
            assert_eq!(text(folder.open(path)), "here", "{path}");
        }
    }

    #[test]
    fn open_at_above_the_root_stays_in_the_root() {
        let folder = Folder::new("above");
        let ups = "../".repeat(60);
        let path = format!("{ups}{}", folder.0.join("a/b/file").display());
        assert_eq!(text(folder.open(&path)), "here");
    }

    #[test]
    fn open_at_a_link_at_the_end_a_circle_and_a_folder_are_refused() {
        let folder = Folder::new("refused");
        symlink("file", folder.0.join("a/b/link")).expect("a link");
        symlink("circle", folder.0.join("circle")).expect("a link");
        let process = ProcessFolder::open(std::process::id()).expect("own folder");
        let file = folder.0.join("a/b/file");
        let misfit = Prober::default().open_at(&process, file.as_os_str().as_bytes(), |_| false);
        assert!(misfit.is_err());
        for path in ["a/b/link", "circle/x", "a/b", "a/b/none", "a/b/file/x"] {
            assert!(folder.open(path).is_err(), "{path}");
        }
    }

    #[test]
    fn elf_at_a_program_is_found_by_a_link_at_the_end_and_nothing_else_is_given() {
        let folder = Folder::new("elf");
        let program = std::env::current_exe().expect("own path");
        symlink(&program, folder.0.join("link")).expect("a link");
        symlink("link", folder.0.join("a/link")).expect("a circle");
        symlink("../link", folder.0.join("a/other")).expect("a link");
        fs::write(folder.0.join("empty"), "").expect("a file");
        fs::write(folder.0.join("almost"), b"\x7fELV").expect("a file");
        mkfifo(&folder.0.join("fifo"), Mode::S_IRWXU).expect("a FIFO");
        let process = ProcessFolder::open(std::process::id()).expect("own folder");
        let prober = Prober::default();
        let at = |path: &str| prober.elf_at(&process, folder.0.join(path).as_os_str().as_bytes());
        let same = |found: &File| {
            let (found, program) = (found.metadata(), fs::metadata(&program));
            let key = |facts: io::Result<Metadata>| FileKey::of(&facts.expect("facts"));
            key(found) == key(program)
        };
        for path in ["link", "a/other"] {
            let found = at(path).expect("found").expect("of the kernel");
            assert!(same(&found), "{path}");
        }
        for path in [
            "a/b/file", "empty", "almost", "fifo", "a", "none", "a/link/x", "a/link",
        ] {
            assert!(at(path).is_err(), "{path}");
        }
        let elsewhere = prober.elf_at(&process, b"/proc/self/exe");
        assert!(elsewhere.expect("judged").is_none());
    }

    #[test]
    fn open_at_what_the_kernel_does_not_serve_from_memory_or_a_disk_is_elsewhere() {
        let folder = Folder::new("elsewhere");
        symlink("/proc/self", folder.0.join("link")).expect("a link");
        for path in ["/proc/self/maps", "link/maps"] {
            assert!(folder.open(path).expect("judged").is_none(), "{path}");
        }
    }
}
