//! The start of the JVM: its options, and its environment, which lacks some variables of the user.

use crate::command::Needs;
use crate::install::Install;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, pthread_sigmask, signal};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// Prefix of variables of the user that are changed for the JVM; programs that it starts get the user's.
const USERS: &str = "FLAMETOP_USER_";

/// Options for other JVMs: an agent or a heap of theirs would be ours, and be told of on stderr.
const OTHER_JVMS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// Variables for the loader of the machine; the loader of a bundle must not load libraries that were made for another libc.
const OTHER_LOADERS: [&str; 3] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"];

/// Where programs of the system are, whatever PATH says.
const SYSTEM: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// `-Xlog:disable`: the JVM says nothing of its own, such as an archive that is not for this JVM. `-PrintWarnings`: nor about a library
/// that it cannot load, which is told in our words. `-DisplayVMOutput`: SIGQUIT prints no thread dump over the screen.
/// `SuppressFatalErrorMessage`: its crash report would go to stdout, where the profile goes, and to a file that shows memory to everybody.
const SILENT: [&str; 7] = [
    "-Xlog:disable",
    "-Xlog:all=off",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-DisplayVMOutput",
    "-XX:-PrintWarnings",
    "-XX:+SuppressFatalErrorMessage",
    "-XX:-UsePerfData",
];

const HEAP: [&str; 6] = [
    "-XX:+UseSerialGC",
    "-Xms16m",
    "-Xmn8m",
    "-XX:MinHeapFreeRatio=10",
    "-XX:MaxHeapFreeRatio=20",
    "-XX:-ShrinkHeapInSteps",
];

/// What the launcher tells the JVM.
#[derive(Debug)]
pub struct Told<'a> {
    /// Arguments of the user.
    pub arguments: &'a [OsString],
    /// The terminal's settings, where there is one.
    pub terminal: Option<&'a str>,
    /// `LC_ALL` of the user; empty if there is none.
    pub locale: OsString,
    /// Of this process.
    pub launcher: u32,
}

/// All arguments of the program that is executed.
#[must_use]
pub fn arguments(install: &Install, needs: &Needs, told: &Told<'_>) -> Vec<OsString> {
    let folder = install.folder.as_os_str();
    let within = install.within.as_os_str();
    let mut all = install.arguments.clone();
    all.push(joined(&[
        "-XX:SharedArchiveFile=".as_ref(),
        within,
        "/classes.jsa".as_ref(),
    ]));
    all.push("-Xshare:auto".into());
    all.extend(SILENT.map(OsString::from));
    all.extend(HEAP.map(OsString::from));
    all.extend(needs.effort.options().iter().map(OsString::from));
    if install.announces_native {
        all.push("--enable-native-access=ALL-UNNAMED".into());
    }
    all.push(joined(&["-Dflametop.user.lc_all=".as_ref(), &told.locale]));
    all.push(joined(&["-Dflametop.native.dir=".as_ref(), folder]));
    all.push(joined(&[
        "-Dflametop.themes.dir=".as_ref(),
        folder,
        "/themes".as_ref(),
    ]));
    all.push(format!("-Dflametop.launcher.pid={}", told.launcher).into());
    if let Some(terminal) = told.terminal {
        all.push(format!("-Dflametop.terminal.settings={terminal}").into());
    }
    all.push("-cp".into());
    all.push(joined(&[within, "/lib/flametop.jar".as_ref()]));
    all.push("flametop.cli.Main".into());
    all.extend_from_slice(told.arguments);
    all
}

fn joined(parts: &[&std::ffi::OsStr]) -> OsString {
    parts.iter().copied().collect()
}

/// Changes of the environment: a value to set, or none to remove it. `get`: the user's.
#[must_use]
pub fn environment(
    is_bundle: bool,
    get: impl Fn(&str) -> Option<OsString>,
) -> Vec<(String, Option<OsString>)> {
    let mut changes = Vec::new();
    let path = get("PATH").unwrap_or_default();
    let mut wider = path.clone();
    if !wider.is_empty() {
        wider.push(":");
    }
    wider.push(SYSTEM);
    changes.push((format!("{USERS}PATH"), Some(path)));
    changes.push(("PATH".into(), Some(wider)));
    let loaders = if is_bundle { &OTHER_LOADERS[..] } else { &[] };
    for name in OTHER_JVMS.iter().chain(loaders) {
        if let Some(value) = get(name) {
            changes.push((format!("{USERS}{name}"), Some(value)));
            changes.push(((*name).into(), None));
        }
    }
    // One arena: with one for each thread, malloc keeps some 40 MiB of what the native side has freed.
    changes.push(("MALLOC_ARENA_MAX".into(), Some("1".into())));
    // Names of files are UTF-8 whatever the locale; in C, or in one that is not installed, a JVM could not name those outside of ASCII.
    // What the user has said decides what is drawn.
    changes.push(("LC_ALL".into(), Some("C.UTF-8".into())));
    changes
}

/// Starts the JVM. If the launcher is killed, the kernel sends the JVM a TERM. A screen is stopped (Ctrl-Z) by the JVM, which first gives
/// the terminal back; until it can, nothing stops it.
pub fn start(install: &Install, needs: &Needs, arguments: &[OsString]) -> io::Result<Child> {
    let mut command = Command::new(&install.program);
    command.args(arguments);
    for (name, value) in environment(install.is_bundle, |name| std::env::var_os(name)) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let launcher = nix::unistd::getpid();
    let screen = needs.screen;
    // SAFETY: between fork and exec the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGTERM)?;
            if nix::unistd::getppid() != launcher {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // Shells start commands in the background with these ignored; the JVM has to hear of those that it is sent.
            signal(Signal::SIGINT, SigHandler::SigDfl)?;
            signal(Signal::SIGQUIT, SigHandler::SigDfl)?;
            if screen {
                signal(Signal::SIGTSTP, SigHandler::SigIgn)?;
            }
            pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
            Ok(())
        });
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::needs;
    use std::path::PathBuf;

    fn changed<'a>(
        changes: &'a [(String, Option<OsString>)],
        name: &str,
    ) -> Option<&'a Option<OsString>> {
        changes
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value)
    }

    #[test]
    fn environment_hides_options_of_other_jvms_and_keeps_them_for_programs() {
        let changes = environment(false, |name| match name {
            "JAVA_TOOL_OPTIONS" => Some("a  b".into()),
            "LD_PRELOAD" => Some("x.so".into()),
            "PATH" => Some("/nowhere".into()),
            _ => None,
        });
        assert_eq!(changed(&changes, "JAVA_TOOL_OPTIONS"), Some(&None));
        let kept = changed(&changes, "FLAMETOP_USER_JAVA_TOOL_OPTIONS");
        assert_eq!(kept, Some(&Some("a  b".into())));
        assert_eq!(changed(&changes, "_JAVA_OPTIONS"), None);
        assert_eq!(changed(&changes, "LD_PRELOAD"), None);
        assert_eq!(
            changed(&changes, "FLAMETOP_USER_PATH"),
            Some(&Some("/nowhere".into()))
        );
        let path = changed(&changes, "PATH");
        assert_eq!(
            path,
            Some(&Some("/nowhere:/usr/sbin:/usr/bin:/sbin:/bin".into()))
        );
        assert_eq!(changed(&changes, "LC_ALL"), Some(&Some("C.UTF-8".into())));
    }

    #[test]
    fn environment_of_a_bundle_hides_libraries_of_the_machine() {
        let changes = environment(true, |name| (name == "LD_PRELOAD").then(|| "x.so".into()));
        assert_eq!(changed(&changes, "LD_PRELOAD"), Some(&None));
        assert_eq!(
            changed(&changes, "FLAMETOP_USER_LD_PRELOAD"),
            Some(&Some("x.so".into()))
        );
    }

    #[test]
    fn environment_without_a_path_has_that_of_the_system() {
        let changes = environment(false, |_| None);
        assert_eq!(changed(&changes, "PATH"), Some(&Some(SYSTEM.into())));
        assert_eq!(
            changed(&changes, "FLAMETOP_USER_PATH"),
            Some(&Some("".into()))
        );
    }

    #[test]
    fn arguments_end_with_those_of_the_user_as_they_are() {
        let install = Install {
            folder: PathBuf::from("/a b"),
            program: PathBuf::from("/a b/runtime/bin/java"),
            arguments: vec!["--library-path".into()],
            within: "/proc/self/fd/9".into(),
            is_bundle: true,
            announces_native: true,
        };
        let user = ["view".into(), "two words".into(), "$HOME".into()];
        let told = Told {
            arguments: &user,
            terminal: Some("1:2"),
            locale: "de_DE".into(),
            launcher: 7,
        };
        let all = arguments(&install, &needs(&user), &told);
        assert_eq!(all[0], "--library-path");
        assert_eq!(all[all.len() - 3..], user);
        for option in [
            "-XX:SharedArchiveFile=/proc/self/fd/9/classes.jsa",
            "-Dflametop.native.dir=/a b",
            "-Dflametop.user.lc_all=de_DE",
            "-Dflametop.launcher.pid=7",
            "-Dflametop.terminal.settings=1:2",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:MaxRAMPercentage=50",
        ] {
            assert!(all.iter().any(|argument| argument == option), "{option}");
        }
    }
}
