//! The folder that flametop is in: the same for the build's own `target/flametop` and for a bundle, which has a JVM and libc of its own.

use crate::Refusal;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::sys::stat::Mode;
use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The descriptor by which a bundle's JVM knows its folder: the class-data archive holds the class path as text, and is valid wherever the
/// bundle lies because `/proc/self/fd/9` is its folder everywhere. It also hides colons and spaces of the folder's path from lists of paths.
const FOLDER: i32 = 9;

/// A JVM refuses to be in a folder with one of these in its path.
const REFUSED: &[u8] = b":;";

/// Where flametop is, and how its JVM is started.
#[derive(Debug)]
pub struct Install {
    /// The folder.
    pub folder: PathBuf,
    /// The program to execute.
    pub program: PathBuf,
    /// Arguments of the program before the options of the JVM.
    pub arguments: Vec<OsString>,
    /// The folder, in class paths and of the class-data archive.
    pub within: OsString,
    /// A runtime of its own.
    pub is_bundle: bool,
    /// The JVM wants native code to be announced.
    pub announces_native: bool,
}

impl Install {
    /// That of this program.
    pub fn own() -> Result<Self, Refusal> {
        let program = own_path().ok_or_else(|| {
            Refusal::failed("the folder of flametop is not found; start it by its full path".into())
        })?;
        Self::of(program.parent().unwrap_or(Path::new("/")))
    }

    fn of(folder: &Path) -> Result<Self, Refusal> {
        let bundled = folder.join("runtime/bin/java");
        let is_bundle = folder.join("runtime").is_dir();
        let program = match is_bundle {
            true => bundled,
            false => java_of_the_build(folder)?,
        };
        if !is_executable(&program) {
            return Err(incomplete(&program, is_bundle));
        }
        let mut install = Self {
            folder: folder.to_owned(),
            program,
            arguments: Vec::new(),
            within: folder.as_os_str().to_owned(),
            is_bundle,
            announces_native: folder.join("native-access").exists(),
        };
        for part in ["lib/flametop.jar", "libflametop.so", "flametop-symbolizer"] {
            let part = folder.join(part);
            if !part.is_file() {
                return Err(incomplete(&part, is_bundle));
            }
        }
        if is_bundle {
            install.enter()?;
        }
        Ok(install)
    }

    /// Makes all paths those of the descriptor, and the loader the program, which the JVM takes for itself: it finds the rest of the
    /// runtime beside it.
    fn enter(&mut self) -> Result<(), Refusal> {
        if let Some(&bad) = self
            .folder
            .as_os_str()
            .as_bytes()
            .iter()
            .find(|byte| REFUSED.contains(byte))
        {
            return Err(Refusal::failed(format!(
                "a JVM does not start in a folder whose path has a '{}'; move {} to another",
                char::from(bad),
                self.folder.display()
            )));
        }
        let kept = keep(&self.folder).map_err(|error| {
            Refusal::failed(format!(
                "the folder {} cannot be opened: {}",
                self.folder.display(),
                error.desc()
            ))
        })?;
        self.within = format!("/proc/self/fd/{kept}").into();
        let here = self.within.to_string_lossy().into_owned();
        self.arguments = [
            // Never a library of the machine, which may need another libc.
            "--inhibit-cache".into(),
            "--library-path".into(),
            format!("{here}/runtime/libs"),
            "--preload".into(),
            format!("{here}/runtime/libs/flametop-alone.so"),
            format!("{here}/runtime/bin/jvm"),
            // Without a helper process, which would need the machine's libc.
            "-Djdk.lang.Process.launchMechanism=VFORK".into(),
        ]
        .map(OsString::from)
        .to_vec();
        Ok(())
    }

    /// How a user starts it.
    #[must_use]
    pub fn started(&self) -> String {
        match self.is_bundle {
            true => self.folder.join("flametop").display().to_string(),
            false => "./flametop".into(),
        }
    }
}

/// Opens the folder for good, so that it is there in the JVM too; gives the number of the descriptor.
fn keep(folder: &Path) -> nix::Result<i32> {
    let opened: OwnedFd = open(
        folder,
        OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    // Whatever has that number already was given by the user; then the JVM starts without the archive.
    let number = fcntl(&opened, FcntlArg::F_DUPFD(FOLDER))?;
    if opened.as_raw_fd() == FOLDER {
        fcntl(&opened, FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()))?;
        let _ = nix::unistd::close(number);
        return Ok(opened.into_raw_fd());
    }
    Ok(number)
}

fn incomplete(part: &Path, is_bundle: bool) -> Refusal {
    let remedy = match is_bundle {
        true => "unpack the bundle anew",
        false => "./flametop in the repository builds it",
    };
    Refusal::failed(format!("{} is missing; {remedy}", part.display()))
}

/// The build says which JVM it was for.
fn java_of_the_build(folder: &Path) -> Result<PathBuf, Refusal> {
    let told = folder.join("java");
    let bytes = std::fs::read(&told).map_err(|_| incomplete(&told, false))?;
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    Ok(PathBuf::from(OsStr::from_bytes(line)))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

/// The path of this program, with no link in it.
fn own_path() -> Option<PathBuf> {
    std::env::current_exe()
        .ok()
        .or_else(executed)
        .and_then(|path| path.canonicalize().ok())
}

/// The path that was executed, for where there is no `/proc`.
fn executed() -> Option<PathBuf> {
    // SAFETY: getauxval has no condition. What it gives for AT_EXECFN is 0, or the address of a text that the kernel ended with a zero
    // and that is there as long as the process.
    let text = unsafe {
        let address = libc::getauxval(libc::AT_EXECFN);
        (address != 0).then(|| CStr::from_ptr(std::ptr::with_exposed_provenance(address as usize)))
    }?;
    Some(PathBuf::from(OsStr::from_bytes(text.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder of its own that is removed.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir()
                .join(format!("flametop-launcher-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }

        fn with(self, files: &[&str]) -> Self {
            for file in files {
                let path = self.0.join(file);
                fs::create_dir_all(path.parent().expect("a parent")).expect("its folder");
                fs::write(&path, "x").expect("a file");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(&path, mode).expect("its mode");
            }
            self
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const PARTS: [&str; 3] = ["lib/flametop.jar", "libflametop.so", "flametop-symbolizer"];

    #[test]
    fn of_a_build_takes_the_first_line_that_names_a_jvm() {
        let folder = Folder::new("build").with(&PARTS);
        fs::write(folder.0.join("java"), "/bin/sh\n/bin/other\n").expect("a file");
        let install = Install::of(&folder.0).expect("complete");
        assert_eq!(install.program, Path::new("/bin/sh"));
        assert!(!install.is_bundle && install.arguments.is_empty());
        assert_eq!(install.within, folder.0.as_os_str());
    }

    #[test]
    fn of_a_build_without_a_part_names_the_part() {
        let folder = Folder::new("part").with(&PARTS[..2]);
        fs::write(folder.0.join("java"), "/bin/sh").expect("a file");
        let refused = Install::of(&folder.0).expect_err("incomplete");
        assert!(refused.text.contains("flametop-symbolizer is missing"));
        fs::write(folder.0.join("java"), "/nowhere/java\n").expect("a file");
        let refused = Install::of(&folder.0).expect_err("no JVM");
        assert!(refused.text.contains("/nowhere/java is missing"));
    }

    #[test]
    fn of_a_bundle_starts_the_jvm_by_the_loader_and_a_descriptor() {
        let folder = Folder::new("a bundle")
            .with(&PARTS)
            .with(&["runtime/bin/java"]);
        let install = Install::of(&folder.0).expect("complete");
        assert!(install.is_bundle);
        assert_eq!(install.program, folder.0.join("runtime/bin/java"));
        assert_eq!(
            fs::canonicalize(&install.within).expect("open"),
            fs::canonicalize(&folder.0).expect("there")
        );
        assert!(
            install
                .arguments
                .iter()
                .all(|argument| !argument.to_string_lossy().contains(' '))
        );
    }

    #[test]
    fn of_a_bundle_with_a_colon_in_its_path_is_told() {
        let folder = Folder::new("a:b").with(&PARTS).with(&["runtime/bin/java"]);
        let refused = Install::of(&folder.0).expect_err("a colon");
        assert!(refused.text.contains("a ':'"), "{}", refused.text);
    }

    #[test]
    fn of_a_bundle_without_its_runtime_is_told() {
        let folder = Folder::new("no runtime").with(&PARTS);
        fs::create_dir_all(folder.0.join("runtime")).expect("a folder");
        let refused = Install::of(&folder.0).expect_err("incomplete");
        assert!(refused.text.contains("unpack the bundle anew"));
    }

    #[test]
    fn own_path_is_this_test() {
        let path = own_path().expect("a path");
        assert!(path.is_file());
        assert_eq!(
            executed().map(|p| p.canonicalize().expect("there")),
            Some(path)
        );
    }
}
