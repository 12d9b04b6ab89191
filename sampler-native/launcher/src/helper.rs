//! `flametop-helper`: what the JVM cannot do itself, for machines that have neither `stty` nor a shell. The terminal is stdin.
//!
//! | arguments | does |
//! |---|---|
//! | `save` | prints the terminal's settings |
//! | `raw` | has each key come at once; prints rows and columns |
//! | `size` | prints rows and columns |
//! | `restore SETTINGS` | restores what `save` printed |
//! | `stop [LAUNCHER]` | has the launcher stop the process group, as Ctrl-Z does, and returns when the group goes on |
//! | `run GROUP PROGRAM …` | joins a control group by its file of processes and becomes the program |
//! | `subject` | is the program that `--self-test` samples |

use crate::{complain, subject, terminal, wait::STOP};
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, killpg, signal};
use nix::unistd::{Pid, alarm, getpgrp};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// As shells say that there is no such program, or that it cannot be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// Seconds within which the launcher stops the group.
const PATIENCE: u32 = 10;

/// With the arguments of the JVM.
#[must_use]
pub fn main(arguments: &[OsString]) -> ExitCode {
    let text: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.to_str().unwrap_or(""))
        .collect();
    let stdin = io::stdin();
    let done = match text[..] {
        ["save"] => terminal::save(stdin.as_fd()).and_then(|settings| print(&settings)),
        ["raw"] => terminal::raw(stdin.as_fd()).and_then(|()| print_size()),
        ["size"] => print_size(),
        ["restore", settings] => terminal::restore(stdin.as_fd(), settings),
        ["stop"] => stop(None),
        ["stop", launcher] => number(launcher).and_then(|launcher| stop(Some(launcher))),
        ["run", _, _, ..] => return run(&arguments[1..]),
        ["subject"] => return subject::main(),
        _ => Err(io::Error::other(
            "started by flametop for the terminal, not by hand",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn print(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

fn print_size() -> io::Result<()> {
    let (rows, columns) = terminal::size(io::stdin().as_fd())?;
    print(&format!("{rows} {columns}"))
}

fn number(text: &str) -> io::Result<Pid> {
    match text.parse() {
        Ok(number) if number > 1 => Ok(Pid::from_raw(number)),
        _ => Err(io::Error::other("this is no process")),
    }
}

/// Without a launcher nobody has to be stopped last.
fn stop(launcher: Option<Pid>) -> io::Result<()> {
    let Some(launcher) = launcher else {
        return Ok(killpg(getpgrp(), Signal::SIGTSTP)?);
    };
    let goes_on = SigSet::from(Signal::SIGCONT);
    goes_on.thread_block()?;
    // A launcher that ends meanwhile sends none: the alarm ends this process.
    alarm::set(PATIENCE);
    kill(launcher, STOP)?;
    goes_on.wait()?;
    Ok(())
}

/// Nothing of the program is before it has joined the group. The JVM has TSTP ignored until there is a screen.
fn run(arguments: &[OsString]) -> ExitCode {
    let (group, program) = (&arguments[0], &arguments[1]);
    // SAFETY: a default disposition runs no code of ours.
    let ready = unsafe { signal(Signal::SIGTSTP, SigHandler::SigDfl) }.map_err(io::Error::from);
    let joined = ready.and_then(|_| std::fs::write(group, "0"));
    if let Err(error) = joined {
        complain(&format!(
            "{} cannot be joined: {error}",
            group.to_string_lossy()
        ));
        return ExitCode::FAILURE;
    }
    let error = Command::new(program).args(&arguments[2..]).exec();
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => {
            complain(&format!("{program}: not found"));
            ExitCode::from(NOT_FOUND)
        }
        _ => {
            complain(&format!("{program}: {error}"));
            ExitCode::from(NOT_EXECUTABLE)
        }
    }
}
