//! Asks a HotSpot JVM to write a perf map, as `jcmd PID Compiler.perfmap` does.
//!
//! A file `.attach_pidPID` in the JVM's `/tmp`, and then a SIGQUIT, make the JVM open the socket `.java_pidPID` there, which takes
//! requests of the JVM's own user. SIGQUIT ends a process that does not expect it, so the prober looks at the JVM first: the JVM's own
//! flags say that the JVM answers, and the kernel says that the JVM has a handler. The prober opens `/tmp` too, in the JVM's root and only
//! where the kernel serves that folder; a file system that is mounted within the folder is never entered. PID is the number in the JVM's
//! own pid namespace. The thread that asks acts as the JVM's user from then on: it can write only what this user can write.

use std::{
    fs::{File, Metadata},
    io::{self, ErrorKind, Read, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use flametop_unwind::ProcessFolder;

use crate::{os, prober::Jvm};

/// A JVM may take so long to open its socket, and so long to answer. A large JVM that is busy may need seconds.
const OPENING: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(20);
/// Version of the protocol, the command, and three arguments of the command.
const REQUEST: &[u8] = b"1\0jcmd\0Compiler.perfmap\0\0\0";
const MAX_ANSWER: usize = 4096;

/// Has the JVM write its map, and waits for that. The calling thread acts as the JVM's user afterwards, so it is a thread for this call
/// alone.
///
/// # Errors
/// The reason why there is no map, and the remedy.
pub fn write_map(tgid: u32, jvm: &Jvm, stop: &AtomicBool) -> Result<(), String> {
    // From here on the number cannot mean another process.
    let gone = |_| "it is gone".to_owned();
    let handle = os::process(tgid).map_err(gone)?;
    let start = ProcessFolder::open(tgid).and_then(|process| process.start());
    if start.map_err(gone)? != jvm.start {
        return Err("it is gone".to_owned());
    }
    if jvm.options.disable_attach_mechanism {
        return Err("it runs with -XX:+DisableAttachMechanism".to_owned());
    }
    let unreachable = |e: io::Error| format!("its /tmp cannot be reached: {e}");
    let tmp = jvm.tmp.file().map_err(unreachable)?;
    let status = &jvm.status;
    // The JVM would write through a link.
    let map = status.perf_map();
    let own = |facts: &Metadata| facts.is_file() && status.uids.contains(&facts.uid());
    match os::place_in(tmp, &map).and_then(|planted| planted.metadata()) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Ok(facts) if own(&facts) => {}
        _ => {
            return Err(format!("its /tmp/{map} is no file of its own; remove it"));
        }
    }
    let (uid, gid) = (status.uids[1], status.gids[1]);
    if os::user() != (uid, gid) {
        os::become_user(uid, gid)
            .map_err(|e| format!("flametop cannot act as its user, uid {uid}: {e}"))?;
    }
    let name = format!(".java_pid{}", status.own_pid);
    let socket = match socket(tmp, &name, uid) {
        Some(socket) => socket,
        None => open_socket(jvm, tmp, &handle, &name, stop)?,
    };
    ask(&socket, &name, stop)
}

/// The JVM's socket, if there is one.
fn socket(tmp: &File, name: &str, uid: u32) -> Option<File> {
    let place = os::place_in(tmp, name).ok()?;
    let facts = place.metadata().ok()?;
    (facts.file_type().is_socket() && facts.uid() == uid).then_some(place)
}

fn open_socket(
    jvm: &Jvm,
    tmp: &File,
    handle: &File,
    name: &str,
    stop: &AtomicBool,
) -> Result<File, String> {
    let status = &jvm.status;
    if jvm.options.reduce_signal_usage || !status.catches_quit {
        return Err("it runs with -Xrs, or leaves SIGQUIT to another handler".to_owned());
    }
    let sign = format!(".attach_pid{}", status.own_pid);
    match os::create_in(tmp, &sign) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
        Err(e) => return Err(format!("its /tmp cannot be written: {e}")),
    }
    let signalled = os::signal(handle, libc::SIGQUIT);
    let until = Instant::now() + OPENING;
    let mut opened = None;
    while signalled.is_ok()
        && opened.is_none()
        && Instant::now() < until
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(STEP);
        opened = socket(tmp, name, status.uids[1]);
    }
    // With this file left behind, a later SIGQUIT would mean something else to the JVM.
    let _ = os::remove_in(tmp, &sign);
    signalled.map_err(|e| format!("it cannot be signalled: {e}"))?;
    opened.ok_or_else(|| "it does not answer; it may be stopped".to_owned())
}

fn ask(socket: &File, name: &str, stop: &AtomicBool) -> Result<(), String> {
    let failed = |e: io::Error| format!("its socket /tmp/{name} does not answer: {e}");
    let path = format!("/proc/self/fd/{}", socket.as_raw_fd());
    let mut stream = os::connect(&path, OPENING).map_err(failed)?;
    stream.set_write_timeout(Some(ANSWER)).map_err(failed)?;
    stream.set_read_timeout(Some(STEP)).map_err(failed)?;
    stream.write_all(REQUEST).map_err(failed)?;
    let mut answer = Vec::new();
    let mut piece = [0; 512];
    let until = Instant::now() + ANSWER;
    while answer.len() < MAX_ANSWER {
        // The deadline holds also for a JVM that answers a byte at a time.
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
