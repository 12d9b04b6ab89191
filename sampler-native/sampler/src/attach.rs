//! Asks a HotSpot JVM to write a perf map, as `jcmd PID Compiler.perfmap` does.
//!
//! A file `.attach_pidPID` in the JVM's `/tmp` and a SIGQUIT make it open the socket `.java_pidPID` there, which takes
//! requests of its own user. SIGQUIT ends a process that does not expect it, so the JVM is looked at first: its own flags say that
//! it answers, and the kernel that it has a handler. All paths are in its own root, numbers in its own pid namespace; the
//! thread that calls this acts as the JVM's user from then on, so that nothing is written that this user could not write.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use flametop_unwind::HotSpot;

use crate::{os, perf_map::Process};

/// How long a JVM may take to open its socket, and to answer. A large one that is busy may need seconds.
const OPENING: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(20);
/// Version of the protocol, command, its three arguments.
const REQUEST: &[u8] = b"1\0jcmd\0Compiler.perfmap\0\0\0";
const MAX_ANSWER: usize = 4096;

/// Has the JVM write its map; waits until it has. To be called on a thread of its own, which is to end afterwards.
///
/// # Errors
/// Why it gives none, and what mends that.
pub fn write_map(process: &Process, stop: &AtomicBool) -> Result<(), String> {
    // From here on the number cannot come to mean another process.
    let gone = |_| "it is gone".to_owned();
    let handle = os::process(process.tgid).map_err(gone)?;
    if Process::read(process.tgid).is_none_or(|now| now.start != process.start) {
        return Err("it is gone".to_owned());
    }
    let jvm = HotSpot::read(process.tgid).map_err(|e| e.to_string())?;
    if jvm.disable_attach_mechanism {
        return Err("it runs with -XX:+DisableAttachMechanism".to_owned());
    }
    let unreachable = |e: io::Error| format!("its /tmp cannot be reached: {e}");
    let folder = process
        .open("tmp", libc::O_PATH | libc::O_DIRECTORY)
        .map_err(unreachable)?;
    // It would write through a link.
    if let Ok(planted) = process.open(&format!("tmp/perf-{}.map", process.own_pid), libc::O_PATH) {
        let facts = planted.metadata().map_err(unreachable)?;
        if !facts.is_file() || !process.uids.contains(&facts.uid()) {
            return Err(format!(
                "its /tmp/perf-{}.map is no file of its own; remove it",
                process.own_pid
            ));
        }
    }
    let (uid, gid) = (process.uids[1], process.gids[1]);
    let own = Process::read(std::process::id()).ok_or("/proc is not there")?;
    if (own.uids[1], own.gids[1]) != (uid, gid) {
        os::become_user(uid, gid)
            .map_err(|e| format!("flametop cannot act as its user, uid {uid}: {e}"))?;
    }
    let socket = format!(".java_pid{}", process.own_pid);
    if !is_socket(&folder, &socket, uid) {
        open_socket(process, &handle, &jvm, &folder, &socket, stop)?;
    }
    ask(&folder, &socket, stop)
}

fn path(folder: &File, name: &str) -> String {
    format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())
}

fn is_socket(folder: &File, name: &str, uid: u32) -> bool {
    std::fs::symlink_metadata(path(folder, name))
        .is_ok_and(|facts| facts.file_type().is_socket() && facts.uid() == uid)
}

fn open_socket(
    process: &Process,
    handle: &File,
    jvm: &HotSpot,
    folder: &File,
    socket: &str,
    stop: &AtomicBool,
) -> Result<(), String> {
    if jvm.reduce_signal_usage || !process.catches_quit {
        return Err("it runs with -Xrs, or leaves SIGQUIT to another handler".to_owned());
    }
    let sign = format!(".attach_pid{}", process.own_pid);
    match os::create_in(folder, &sign) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
        Err(e) => return Err(format!("its /tmp cannot be written: {e}")),
    }
    let signalled = os::signal(handle, libc::SIGQUIT);
    let until = Instant::now() + OPENING;
    let uid = process.uids[1];
    while signalled.is_ok()
        && !is_socket(folder, socket, uid)
        && Instant::now() < until
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(STEP);
    }
    // Left behind it would make a later SIGQUIT mean something else.
    let _ = os::remove_in(folder, &sign);
    signalled.map_err(|e| format!("it cannot be signalled: {e}"))?;
    match is_socket(folder, socket, uid) {
        true => Ok(()),
        false => Err("it does not answer; it may be stopped".to_owned()),
    }
}

fn ask(folder: &File, socket: &str, stop: &AtomicBool) -> Result<(), String> {
    let failed = |e: io::Error| format!("its socket /tmp/{socket} does not answer: {e}");
    let mut stream = os::connect(&path(folder, socket), OPENING).map_err(failed)?;
    stream.set_write_timeout(Some(ANSWER)).map_err(failed)?;
    stream.set_read_timeout(Some(STEP)).map_err(failed)?;
    stream.write_all(REQUEST).map_err(failed)?;
    let mut answer = Vec::new();
    let mut piece = [0; 512];
    let until = Instant::now() + ANSWER;
    while answer.len() < MAX_ANSWER {
        // Also of one that answers a byte at a time.
        if Instant::now() >= until || stop.load(Ordering::Relaxed) {
            return Err("it does not answer; it may be stopped".to_owned());
        }
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
            Err(e) if is_momentary(&e) => {}
            Err(e) => return Err(failed(e)),
        }
    }
    let text = String::from_utf8_lossy(&answer);
    let (code, said) = text.split_once('\n').unwrap_or((&text, ""));
    if code == "0" {
        return Ok(());
    }
    match said.contains("Unknown diagnostic command") {
        true => Err("it is older than JDK 17, which can write maps".to_owned()),
        false => {
            let line: String = said
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(200)
                .collect();
            Err(format!("it refuses: {line} (code {code})"))
        }
    }
}

fn is_momentary(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
