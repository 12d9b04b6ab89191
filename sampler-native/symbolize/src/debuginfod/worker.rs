//! The threads that look for debug files: each asks one process (`fetch`) at a time.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::settings::Debuginfod;
use super::state::{Standing, State};
use crate::fetch::{ARGUMENT, CACHE, PASSED_ON, SECONDS, SERVERS, USER};
use crate::process::{Watched, lock};
use crate::protocol::{Ended, Fetch, MESSAGE_MAX, Reply, VERSION};
use crate::sys;

/// Most files that are fetched at once.
pub const AT_ONCE: usize = 2;
/// A process that fetches ends when it had nothing to do for so long.
const IDLE_TIME: Duration = Duration::from_secs(2);
/// A process that fetches may take so long beside the fetching: for its start, the cache, the proof.
const SLACK: Duration = Duration::from_secs(20);
/// After so many files in a row of which no server answered, no server is asked any more.
const FAILURES_MAX: u32 = 3;
/// Most debug files that are held open.
const HELD_MAX: usize = 256;

/// What the threads and their caller share.
#[derive(Debug)]
pub struct Shared {
    pub state: Mutex<State>,
    pub wake: Condvar,
    pub servers: Vec<String>,
    pub settings: Debuginfod,
    pub program: PathBuf,
    pub workers: [Worker; AT_ONCE],
}

/// The process of one thread.
#[derive(Debug, Default)]
pub struct Worker {
    pub watched: Watched,
    /// A process that this process has started; 0: none.
    pub child: AtomicU32,
}

/// What a process that fetches has found.
struct Answer {
    ended: Ended,
    bytes: u64,
    why: String,
    file: Option<File>,
}

impl Shared {
    /// Looks for debug files until the end.
    pub fn work(&self, worker: &Worker) {
        let mut socket: Option<OwnedFd> = None;
        while let Some(fetch) = self.next(worker, &mut socket) {
            let answer = self.ask(worker, &mut socket, &fetch);
            if answer.is_err() {
                worker.end(&mut socket);
            }
            if !worker.watched.stopping() {
                self.settle(&fetch, answer);
            }
        }
        worker.end(&mut socket);
    }

    /// Waits for what is to be looked for: that which most frames want. None when it is over.
    fn next(&self, worker: &Worker, socket: &mut Option<OwnedFd>) -> Option<Fetch> {
        let mut state = lock(&self.state);
        loop {
            if worker.watched.stopping() {
                return None;
            }
            let waiting = state
                .files
                .iter()
                .filter_map(|(id, standing)| match standing {
                    Standing::Wanted(frames) => Some((*frames, id)),
                    _ => None,
                });
            let left = self.settings.total_max;
            let left = left.saturating_sub(state.counts.bytes + state.promised);
            let most = self.settings.file_max.min(left);
            // With less than a whole file may have, it waits for what others leave of their promise.
            let enough = most == self.settings.file_max || state.promised == 0;
            if let Some((_, build_id)) = waiting.max().filter(|_| enough) {
                let build_id = build_id.clone();
                state.files.insert(build_id.clone(), Standing::Asked);
                state.promised += most;
                return Some(Fetch { build_id, most });
            }
            let (next, waited) = self
                .wake
                .wait_timeout(
                    state,
                    if socket.is_some() {
                        IDLE_TIME
                    } else {
                        Duration::MAX
                    },
                )
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() && socket.is_some() {
                drop(state);
                worker.end(socket);
                state = lock(&self.state);
            }
        }
    }

    fn ask(
        &self,
        worker: &Worker,
        socket: &mut Option<OwnedFd>,
        fetch: &Fetch,
    ) -> Result<Answer, String> {
        let lost =
            |error: &dyn std::fmt::Display| format!("the process that fetches was lost ({error})");
        let mut buffer = vec![0; MESSAGE_MAX];
        let mut deadline = Instant::now() + SLACK;
        if socket.is_none() {
            let started = worker.watched.spawn(&mut self.command());
            let started = socket.insert(started.map_err(|error| lost(&error))?);
            match receive(started, &mut buffer, deadline).map_err(|error| lost(&error))? {
                (Reply::Ready(VERSION), _) => {}
                _ => return Err(lost(&"it is of another build")),
            }
        }
        let Some(socket) = socket else {
            return Err(lost(&"it did not start"));
        };
        let sent = sys::send(socket.as_fd(), &fetch.encode(), &[]);
        sent.map_err(|error| lost(&error))?;
        let of_each = self.settings.time_max + Duration::from_secs(10);
        deadline += of_each * self.servers.len() as u32;
        loop {
            match receive(socket, &mut buffer, deadline).map_err(|error| lost(&error))? {
                (Reply::Child(pid), _) => worker.child.store(pid, Ordering::Relaxed),
                (Reply::Fetched { ended, bytes, why }, file) => {
                    return Ok(Answer {
                        ended,
                        bytes,
                        why: String::from_utf8_lossy(&why).into_owned(),
                        file: file.map(File::from),
                    });
                }
                _ => return Err(lost(&"it sent what is no answer")),
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(ARGUMENT).env_clear();
        for name in PASSED_ON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let cache = self.settings.cache.clone().unwrap_or_default();
        let seconds = self.settings.time_max.as_secs().max(1);
        command
            .env(CACHE, cache)
            .env(SERVERS, self.servers.join(" "))
            .env(SECONDS, seconds.to_string());
        if let Some((uid, gid)) = self.settings.user {
            command.env(USER, format!("{uid}:{gid}"));
        }
        command
    }

    fn settle(&self, fetch: &Fetch, answer: Result<Answer, String>) {
        let mut state = lock(&self.state);
        state.promised -= fetch.most;
        self.wake.notify_all();
        let answer = answer.unwrap_or_else(|why| Answer {
            ended: Ended::Unreachable,
            bytes: 0,
            why,
            file: None,
        });
        state.counts.bytes += answer.bytes;
        let with_server = !self.servers.is_empty();
        let mut standing = Standing::without();
        match (answer.ended, answer.file) {
            (Ended::Cached | Ended::Fetched, Some(file)) if state.held < HELD_MAX => {
                state.held += 1;
                standing = Standing::Here(Arc::new(file));
                state.come.push(fetch.build_id.clone());
                match answer.ended {
                    Ended::Cached => state.counts.cached += 1,
                    _ => state.counts.fetched += 1,
                }
                if !with_server {
                    state.counts.wanted += 1;
                }
                state.failures = 0;
            }
            (Ended::NoServer, _) => {}
            (Ended::Nothing, _) => state.over = true,
            (Ended::Absent, _) if with_server => {
                state.counts.absent += 1;
                state.failures = 0;
            }
            (ended, _) if with_server => {
                state.counts.failed += 1;
                if ended == Ended::TooLarge {
                    standing = Standing::TooLarge(Instant::now());
                    state.come.push(fetch.build_id.clone());
                }
                let full = self.settings.total_max.saturating_sub(state.counts.bytes) == 0;
                if full && !take_first(&mut state.told_full) {
                    let mib = self.settings.total_max >> 20;
                    state.notices.push(format!(
                        "debuginfod: {mib} MiB were fetched, which is the most; \
                         restart flametop to fetch more"
                    ));
                }
                if ended == Ended::Unreachable {
                    state.failures += 1;
                } else if !full && !take_first(&mut state.told_refused) {
                    let why = &answer.why;
                    let notice = format!("debuginfod: a debug file was not taken from {why}");
                    state.notices.push(notice);
                }
                if state.failures == FAILURES_MAX {
                    state.notices.push(format!(
                        "debuginfod: no more names from its servers, they failed \
                         {FAILURES_MAX} times in a row ({}); restart flametop to try again",
                        answer.why
                    ));
                }
            }
            _ => {}
        }
        state.files.insert(fetch.build_id.clone(), standing);
        if state.failures >= FAILURES_MAX {
            state.over = true;
        }
        if state.over {
            let mut given_up = 0;
            for standing in state.files.values_mut() {
                if matches!(standing, Standing::Wanted(_)) {
                    *standing = Standing::without();
                    given_up += 1;
                }
            }
            if with_server {
                state.counts.failed += given_up;
            }
        }
    }
}

/// Sets `told`; whether it was set before.
fn take_first(told: &mut bool) -> bool {
    std::mem::replace(told, true)
}

impl Worker {
    fn end(&self, socket: &mut Option<OwnedFd>) {
        *socket = None;
        // How it ended says nothing more.
        let _ = self.watched.end();
        self.child.store(0, Ordering::Relaxed);
    }
}

fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    deadline: Instant,
) -> std::io::Result<(Reply, Option<OwnedFd>)> {
    use std::io::ErrorKind::{InvalidData, TimedOut, UnexpectedEof};
    if !sys::wait_readable(socket.as_fd(), deadline)? {
        return Err(TimedOut.into());
    }
    let (length, passed) = sys::receive(socket.as_fd(), buffer)?;
    if length == 0 {
        return Err(UnexpectedEof.into());
    }
    let reply = Reply::decode(&buffer[..length]).ok_or(InvalidData)?;
    Ok((reply, passed.into_iter().next()))
}
