//! Beside the JVM: passes signals on to it, and says how it ended.

use crate::host::Status;
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, killpg, raise, signal};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgrp};
use std::thread::sleep;
use std::time::Duration;

/// Signals that are passed on, and as what. A Ctrl-C reaches the JVM by the terminal too; a second INT means no more to it.
const PASSED_ON: [(Signal, Signal); 4] = [
    (Signal::SIGINT, Signal::SIGINT),
    (Signal::SIGTERM, Signal::SIGTERM),
    (Signal::SIGQUIT, Signal::SIGTERM),
    (Signal::SIGHUP, Signal::SIGHUP),
];

/// Asks the launcher to stop the whole job.
pub const STOP: Signal = Signal::SIGUSR1;

/// How often the launcher looks, 10 ms apart, whether the JVM has stopped.
const LOOKS: u32 = 100;

/// The signals that the launcher takes instead of dying of them, from when it is made until the process ends.
#[derive(Debug)]
pub struct Signals {
    taken: SigSet,
    passed_on: Vec<(Signal, Signal)>,
}

impl Signals {
    /// Before the JVM starts, so that none is lost. What was ignored at the start (by nohup) stays ignored.
    pub fn take(screen: bool, status: &Status) -> nix::Result<Self> {
        let mut passed_on: Vec<_> = PASSED_ON.to_vec();
        if screen {
            passed_on.push((Signal::SIGTSTP, Signal::SIGTSTP));
        }
        passed_on.retain(|(signal, _)| !status.ignores(*signal as i32));
        let mut taken: SigSet = passed_on.iter().map(|(signal, _)| *signal).collect();
        taken.add(Signal::SIGCHLD);
        if screen {
            taken.add(STOP);
        }
        // Where that is ignored, children leave no exit code.
        // SAFETY: a default disposition runs no code of ours.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        let mut blocked = taken;
        // So that the terminal can be put right from the background too.
        blocked.add(Signal::SIGTTOU);
        blocked.thread_block()?;
        Ok(Self { taken, passed_on })
    }

    /// Waits for the end of the JVM; its exit code, or 128 and the number of the signal that ended it.
    pub fn pass_on_to(&self, jvm: u32) -> u8 {
        let jvm = Pid::from_raw(jvm.cast_signed());
        loop {
            match waitpid(jvm, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(_, code)) => return u8::try_from(code & 0xff).unwrap_or(1),
                Ok(WaitStatus::Signaled(_, signal, _)) => return ended_by(signal),
                Err(Errno::EINTR) | Ok(_) => {}
                Err(_) => return 1,
            }
            let Ok(came) = self.taken.wait() else {
                continue;
            };
            if came == STOP {
                stop_job(jvm);
                continue;
            }
            let meant = self.passed_on.iter().find(|(signal, _)| *signal == came);
            if let Some((_, meant)) = meant {
                // It may have ended meanwhile: its number is not given to another before it was waited for.
                let _ = kill(jvm, *meant);
            }
        }
    }
}

/// Stops the process group: the launcher last, since a shell that sees the launcher stopped may let the group go on at once. Where no
/// shell would let the group go on, the kernel drops the signal, and the JVM goes on.
fn stop_job(jvm: Pid) {
    let group = getpgrp();
    // To this process too, where the signal is blocked; CONT drops it.
    let _ = killpg(group, Signal::SIGTSTP);
    let has_stopped = (0..LOOKS).any(|_| {
        let stopped = matches!(
            waitid(Id::Pid(jvm), WaitPidFlag::WNOHANG | WaitPidFlag::WSTOPPED),
            Ok(WaitStatus::Stopped(..))
        );
        if !stopped {
            sleep(Duration::from_millis(10));
        }
        stopped
    });
    if has_stopped {
        let _ = raise(Signal::SIGSTOP);
    }
    let _ = killpg(group, Signal::SIGCONT);
}

fn ended_by(signal: Signal) -> u8 {
    u8::try_from(128 + signal as i32).unwrap_or(u8::MAX)
}

/// A message for the user about an exit code; none where flametop has printed one itself.
#[must_use]
pub fn told(code: u8) -> Option<String> {
    match code {
        132 | 134 | 135 | 136 | 139 => Some(format!(
            "it crashed (signal {}); please report it, with what it looked at",
            code - 128
        )),
        137 => {
            Some("it was killed (signal 9); was memory short? A lower rate needs less: -F 9".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_of_crashes_and_kills_only() {
        assert!(told(134).is_some_and(|text| text.contains("signal 6")));
        assert!(told(137).is_some_and(|text| text.contains("killed")));
        for code in [0, 1, 2, 3, 130, 141, 143] {
            assert_eq!(told(code), None, "{code}");
        }
    }

    #[test]
    fn ended_by_is_what_a_shell_says() {
        assert_eq!(ended_by(Signal::SIGKILL), 137);
        assert_eq!(ended_by(Signal::SIGTERM), 143);
    }
}
