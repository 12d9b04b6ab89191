//! The needs of a command line, as far as the start of the JVM depends on them. The JVM itself refuses a command line that is wrong.

use std::ffi::{OsStr, OsString};

/// The needs of a command: the launcher meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// It reads the stacks of other processes.
    pub privileges: bool,
    /// It takes the whole terminal.
    pub screen: bool,
    /// It starts a program: the exit code may be that of the program.
    pub program: bool,
    /// The work that the compiler and the heap of the JVM are set up for.
    pub effort: Effort,
}

/// The work of a JVM. Its better compiler pays where a gigabyte is read, not in the first seconds of a screen, nor for a minute of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// The machine is watched: little memory, and the compiler that is quick.
    Watch,
    /// A file is read and shown.
    Show,
    /// A file is read and written.
    Convert,
}

impl Effort {
    /// Options of the JVM.
    #[must_use]
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Watch => &["-XX:TieredStopAtLevel=1", "-Xmx512m"],
            Self::Show => &[
                "-XX:MaxRAMPercentage=50",
                "-XX:Tier4InvocationThreshold=50000",
                "-XX:Tier4MinInvocationThreshold=6000",
                "-XX:Tier4CompileThreshold=150000",
                "-XX:Tier4BackEdgeThreshold=400000",
            ],
            // Profiles are read as fast as memory allows: with room for what lives short.
            Self::Convert => &["-XX:MaxRAMPercentage=50", "-Xms96m", "-Xmn48m"],
        }
    }
}

/// The needs of the command that has these arguments.
#[must_use]
pub fn needs(arguments: &[OsString]) -> Needs {
    let command = arguments.first().and_then(|a| a.to_str()).unwrap_or("");
    let mut needs = match command {
        "view" | "diff" => without_privileges(true, Effort::Show),
        "convert" => without_privileges(false, Effort::Convert),
        "check" | "events" | "help" | "completion" => without_privileges(false, Effort::Watch),
        _ => Needs {
            privileges: true,
            screen: !matches!(command, "record" | "top"),
            program: false,
            effort: Effort::Watch,
        },
    };
    let starts_none = matches!(
        command,
        "view" | "diff" | "convert" | "check" | "events" | "help" | "completion"
    );
    let mut before = OsStr::new("");
    for argument in arguments {
        let told = match argument.to_str().unwrap_or("") {
            "--" => {
                // Behind it is a program, or files.
                needs.program = !starts_none;
                break;
            }
            "-h" | "--help" | "-V" | "--version" | "--print-config" | "--self-test"
            | "--theme=list" => true,
            "list" => before == "--theme",
            "--replay" => {
                needs.privileges = false;
                false
            }
            text => {
                needs.privileges &= !text.starts_with("--replay=");
                false
            }
        };
        if told {
            needs.privileges = false;
            needs.screen = false;
        }
        before = argument;
    }
    needs
}

fn without_privileges(screen: bool, effort: Effort) -> Needs {
    Needs {
        privileges: false,
        screen,
        program: false,
        effort,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Needs {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        needs(&arguments)
    }

    #[test]
    fn needs_no_arguments_is_the_privileged_screen() {
        let needs = of("");
        assert!(needs.privileges && needs.screen && !needs.program);
        assert_eq!(needs.effort, Effort::Watch);
    }

    #[test]
    fn needs_record_and_top_have_no_screen() {
        for line in ["record -d 1", "top"] {
            let needs = of(line);
            assert!(needs.privileges && !needs.screen, "{line}");
        }
    }

    #[test]
    fn needs_files_are_without_privileges() {
        assert!(!of("view a").privileges && of("view a").screen);
        assert_eq!(of("diff a b").effort, Effort::Show);
        assert!(!of("convert a").privileges && !of("convert a").screen);
        assert_eq!(of("convert a").effort, Effort::Convert);
        for line in ["check", "events usdt:", "help", "completion bash"] {
            assert!(!of(line).privileges && !of(line).screen, "{line}");
        }
    }

    #[test]
    fn needs_help_anywhere_before_two_dashes_needs_nothing() {
        for line in [
            "-h",
            "record --help",
            "-V",
            "--print-config",
            "--self-test",
            "--theme list",
            "--theme=list",
        ] {
            assert!(!of(line).privileges && !of(line).screen, "{line}");
        }
        assert!(of("record -- make --help").privileges);
        assert!(of("list --theme").privileges);
    }

    #[test]
    fn needs_replay_is_a_screen_without_privileges() {
        assert!(!of("--replay a").privileges && of("--replay a").screen);
        assert!(!of("record --replay=a").privileges && !of("record --replay=a").screen);
    }

    #[test]
    fn needs_two_dashes_start_a_program_or_name_files() {
        assert!(of("record -- make").program);
        assert!(of("-- make").program);
        for command in ["view", "diff", "convert", "check", "events"] {
            assert!(!of(&format!("{command} -- a")).program, "{command}");
        }
    }

    #[test]
    fn needs_argument_of_no_text_is_passed_over() {
        use std::os::unix::ffi::OsStringExt;
        let needs = needs(&[OsString::from_vec(vec![0xff, 0xfe])]);
        assert!(needs.privileges && needs.screen);
    }
}
