//! Debug files by build id, from the cache of debuginfod's clients and from its servers: the side of
//! flametop. A thread each asks one process (`fetch`) at a time, which does all that may wait or lie.

use std::collections::HashMap;
use std::fs::File;
use std::mem::take;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::fetch::{ARGUMENT, CACHE, PASSED_ON, SECONDS, SERVERS, USER};
use crate::process::{Watched, lock};
use crate::protocol::{BUILD_ID_MAX, Ended, Fetch, MESSAGE_MAX, Reply, VERSION};
use crate::sys;

/// Files that are fetched at once.
const AT_ONCE: usize = 2;
/// A process that fetches ends when it had nothing to do for so long.
const IDLE_TIME: Duration = Duration::from_secs(2);
/// How long one that fetches may take beside the fetching: its start, the cache, the proof.
const SLACK: Duration = Duration::from_secs(20);
/// After so many files in a row of which no server answered, none is asked any more.
const FAILURES_MAX: u32 = 3;
/// Build ids that are known of; while there are so many, others are not looked for.
const KNOWN_MAX: usize = 4096;
/// A build id without a file gives up its place after this time, the same for which the cache
/// remembers it. Sooner, whoever invents build ids would have servers asked without end.
const WITHOUT_TIME: Duration = Duration::from_secs(600);
/// Debug files that are held open.
const HELD_MAX: usize = 256;
/// Servers that are asked, and the longest address of one.
const SERVERS_MAX: usize = 8;
const ADDRESS_MAX: usize = 1024;

/// Where debug files come from, and how much of them is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuginfod {
    /// Addresses of servers, as in `DEBUGINFOD_URLS`. What begins neither with `http://` nor with
    /// `https://` is left out. Without any, only the cache is read.
    pub servers: Vec<String>,
    /// The folder of the cache.
    pub cache: Option<PathBuf>,
    /// User and group that fetch and own what is fetched, if not those of this process.
    pub user: Option<(u32, u32)>,
    /// Bytes of the largest file that is fetched.
    pub file_max: u64,
    /// Bytes that are fetched in all.
    pub total_max: u64,
    /// The longest time for one file and server.
    pub time_max: Duration,
}

impl Default for Debuginfod {
    /// Neither cache nor servers.
    fn default() -> Debuginfod {
        Debuginfod {
            servers: Vec::new(),
            cache: None,
            user: None,
            file_max: 512 << 20,
            total_max: 2 << 30,
            time_max: Duration::from_secs(120),
        }
    }
}

impl Debuginfod {
    /// The cache that the variables of the environment name, of the user who called sudo, if one
    /// did. `servers`: addresses with spaces between them.
    pub fn of_environment(servers: &str) -> Debuginfod {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let variable = |name: &str| std::env::var(name).ok();
        let (user, cache) = cache_of(&variable, &passwd, sys::user() == 0, &|path| path.is_dir());
        Debuginfod {
            servers: servers.split_whitespace().map(str::to_owned).collect(),
            cache,
            user,
            ..Debuginfod::default()
        }
    }

    /// The servers that can be asked.
    fn good_servers(&self) -> Vec<String> {
        let good = |server: &&String| {
            (server.starts_with("http://") || server.starts_with("https://"))
                && server.len() <= ADDRESS_MAX
                && server
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"\"\\<>{}[]".contains(&byte))
        };
        let servers = self.servers.iter().filter(good);
        servers
            .map(|server| server.trim_end_matches('/').to_owned())
            .take(SERVERS_MAX)
            .collect()
    }
}

/// Uid and gid.
type User = (u32, u32);

/// Whose the cache is, if not this process's, and where: as elfutils' clients find it.
fn cache_of(
    variable: &dyn Fn(&str) -> Option<String>,
    passwd: &str,
    root: bool,
    is_folder: &dyn Fn(&Path) -> bool,
) -> (Option<User>, Option<PathBuf>) {
    let caller = variable("SUDO_UID").and_then(|uid| uid.parse::<u32>().ok());
    let caller = caller.filter(|uid| root && *uid != 0);
    let known = caller.and_then(|uid| user_of(uid, passwd));
    // Users of a directory service are not in passwd; sudo tells the group too, but no home.
    let told = || variable("SUDO_GID").and_then(|gid| gid.parse().ok());
    let user = caller.zip(known.as_ref().map(|(gid, _)| *gid).or_else(told));
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let named = |name: &str| variable(name).and_then(absolute);
    let home = match (caller, known) {
        (Some(_), known) => known.and_then(|(_, home)| absolute(home)),
        (None, _) => named("HOME"),
    };
    if caller.is_some() && user.is_none() {
        // Nobody who could own what is fetched.
        return (None, None);
    }
    let old = home
        .as_ref()
        .map(|home| home.join(".debuginfod_client_cache"));
    let below = |folder: PathBuf| folder.join("debuginfod_client");
    // Of root's own environment nothing is another user's, except what was meant to be passed on.
    let cache = named("DEBUGINFOD_CACHE_PATH")
        .or_else(|| old.filter(|old| caller.is_none() && is_folder(old)))
        .or_else(|| named("XDG_CACHE_HOME").map(below))
        .or_else(|| home.map(|home| below(home.join(".cache"))));
    (user, cache)
}

/// Group and home of a user.
fn user_of(uid: u32, passwd: &str) -> Option<(u32, String)> {
    let fields = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let wanted = uid.to_string();
    let found = fields
        .into_iter()
        .find(|fields| fields.get(2) == Some(&wanted.as_str()))?;
    Some((found.get(3)?.parse().ok()?, (*found.get(5)?).to_owned()))
}

/// Totals of debug files: how many are wanted, and what became of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DebugFileCounts {
    /// Looked for: without a server only those that are in the cache.
    pub wanted: u64,
    /// Found in the cache.
    pub cached: u64,
    /// Fetched.
    pub fetched: u64,
    /// That no server has.
    pub absent: u64,
    /// That could not be fetched, or were not what was asked for.
    pub failed: u64,
    /// Bytes that came over the network.
    pub bytes: u64,
}

/// What has come since the last time.
#[derive(Debug, Default)]
pub struct DebugFilesCome {
    /// Build ids of the files whose frames may have a name now.
    pub build_ids: Vec<Vec<u8>>,
    /// Totals.
    pub counts: DebugFileCounts,
}

#[derive(Debug)]
enum Standing {
    /// So many frames want it.
    Wanted(usize),
    Asked,
    Here(Arc<File>),
    /// There is none, or none that can be had: known since then.
    Without(Instant),
    /// The file ended who read it.
    Refused,
}

impl Standing {
    fn without() -> Standing {
        Standing::Without(Instant::now())
    }
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<Vec<u8>, Standing>,
    held: usize,
    come: Vec<Vec<u8>>,
    counts: DebugFileCounts,
    notices: Vec<String>,
    /// Bytes that those who fetch may still fetch.
    promised: u64,
    failures: u32,
    told_refused: bool,
    told_full: bool,
    /// Nothing more is looked for.
    over: bool,
}

impl State {
    /// Whether one more build id may become known.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.files.len() >= KNOWN_MAX {
            self.files.retain(|_, standing| match standing {
                Standing::Without(since) => now.duration_since(*since) < WITHOUT_TIME,
                _ => true,
            });
        }
        self.files.len() < KNOWN_MAX
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    servers: Vec<String>,
    settings: Debuginfod,
    program: PathBuf,
    workers: [Worker; AT_ONCE],
}

#[derive(Debug, Default)]
struct Worker {
    watched: Watched,
    /// What its process has started.
    child: AtomicU32,
}

/// Looks for debug files, on threads of its own. Dropping it ends all processes.
#[derive(Debug)]
pub struct DebugFiles {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl DebugFiles {
    /// Starts the threads, no process; no thread either if there is nowhere to look.
    pub fn start(program: &Path, settings: Debuginfod) -> DebugFiles {
        let servers = settings.good_servers();
        let mut state = State::default();
        if settings.servers.len() > servers.len() {
            let some = settings.servers.len() - servers.len();
            state.notices.push(format!(
                "debuginfod: {some} of the servers are left out: at most {SERVERS_MAX} addresses \
                 that begin with http:// or https:// are asked"
            ));
        }
        if settings.cache.is_none() && !servers.is_empty() {
            state.notices.push(
                "debuginfod: there is no home folder for its cache; set DEBUGINFOD_CACHE_PATH"
                    .into(),
            );
        }
        state.over = settings.cache.is_none();
        let threads = match (state.over, servers.is_empty()) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => AT_ONCE,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            wake: Condvar::new(),
            servers,
            settings,
            program: program.to_path_buf(),
            workers: Default::default(),
        });
        let threads = (0..threads).filter_map(|i| {
            let shared = Arc::clone(&shared);
            let thread = thread::Builder::new()
                .name("debuginfod".into())
                .stack_size(256 << 10)
                .spawn(move || shared.work(&shared.workers[i]));
            thread.ok()
        });
        let threads: Vec<_> = threads.collect();
        lock(&shared.state).over |= threads.is_empty();
        DebugFiles { shared, threads }
    }

    /// The debug file of this build id, if it is here.
    pub fn file(&self, build_id: &[u8]) -> Option<Arc<File>> {
        match lock(&self.shared.state).files.get(build_id)? {
            Standing::Here(file) => Some(Arc::clone(file)),
            _ => None,
        }
    }

    /// So many frames more have no name without the debug file of this build id.
    pub fn want(&self, build_id: &[u8], frames: usize) {
        let mut state = lock(&self.shared.state);
        if state.over || build_id.is_empty() || build_id.len() > BUILD_ID_MAX {
            return;
        }
        match state.files.get_mut(build_id) {
            Some(Standing::Wanted(waiting)) => *waiting += frames,
            Some(_) => {}
            None => {
                if !state.has_room(Instant::now()) {
                    return;
                }
                if !self.shared.servers.is_empty() {
                    state.counts.wanted += 1;
                }
                let wanted = Standing::Wanted(frames);
                state.files.insert(build_id.to_vec(), wanted);
                self.shared.wake.notify_one();
            }
        }
    }

    /// The file of this build id is not to be used: it ended who read it.
    pub fn refuse(&self, build_id: &[u8]) {
        let mut state = lock(&self.shared.state);
        if let Some(standing @ Standing::Here(_)) = state.files.get_mut(build_id) {
            *standing = Standing::Refused;
            state.held -= 1;
        }
    }

    /// What has come since the last call.
    pub fn take(&self) -> DebugFilesCome {
        let mut state = lock(&self.shared.state);
        DebugFilesCome {
            build_ids: take(&mut state.come),
            counts: state.counts,
        }
    }

    pub fn take_notices(&self) -> Vec<String> {
        take(&mut lock(&self.shared.state).notices)
    }

    /// The processes that run now.
    pub fn pids(&self) -> Vec<u32> {
        let pids = self.shared.workers.iter().flat_map(|worker| {
            let child = worker.child.load(Ordering::Relaxed);
            [worker.watched.pid(), Some(child).filter(|pid| *pid != 0)]
        });
        pids.flatten().collect()
    }
}

impl Drop for DebugFiles {
    fn drop(&mut self) {
        {
            // Under the lock, so that no thread goes to sleep after it has looked.
            let _state = lock(&self.shared.state);
            for worker in &self.shared.workers {
                worker.watched.stop();
            }
            self.shared.wake.notify_all();
        }
        for thread in self.threads.drain(..) {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}

/// What a process that fetches has found.
struct Answer {
    ended: Ended,
    bytes: u64,
    why: String,
    file: Option<File>,
}

impl Shared {
    fn work(&self, worker: &Worker) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_room_of_a_full_state_forgets_what_has_no_file_for_long() {
        let long_ago = Instant::now();
        let now = long_ago + WITHOUT_TIME;
        let id = |i: usize| i.to_le_bytes().to_vec();
        let mut state = State::default();
        state.files.extend((0..KNOWN_MAX).map(|i| match i {
            0 => (id(i), Standing::Wanted(1)),
            1 => (id(i), Standing::Asked),
            2 => (id(i), Standing::Without(now)),
            3 => (id(i), Standing::Refused),
            _ => (id(i), Standing::Without(long_ago)),
        }));
        assert!(!state.has_room(now - Duration::from_millis(1)));
        assert_eq!(state.files.len(), KNOWN_MAX);
        assert!(state.has_room(now));
        let mut left: Vec<_> = state.files.into_keys().collect();
        left.sort();
        assert_eq!(left, [id(0), id(1), id(2), id(3)]);
    }

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1001::/home/ada:/bin/sh\n";

    fn found(
        variables: &[(&str, &str)],
        root: bool,
        folder: &str,
    ) -> (Option<User>, Option<PathBuf>) {
        let variable = |name: &str| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        };
        cache_of(&variable, PASSWD, root, &|path| path == Path::new(folder))
    }

    #[test]
    fn cache_of_environment_is_where_the_clients_of_elfutils_have_it() {
        let at = |path: &str| (None, Some(PathBuf::from(path)));
        let home = ("HOME", "/root");
        assert_eq!(
            found(&[home], true, ""),
            at("/root/.cache/debuginfod_client")
        );
        let xdg = ("XDG_CACHE_HOME", "/var/c");
        assert_eq!(
            found(&[home, xdg], true, ""),
            at("/var/c/debuginfod_client")
        );
        let old = "/root/.debuginfod_client_cache";
        assert_eq!(found(&[home, xdg], true, old), at(old));
        let given = ("DEBUGINFOD_CACHE_PATH", "/srv/d");
        assert_eq!(found(&[home, xdg, given], true, old), at("/srv/d"));
        assert_eq!(found(&[("HOME", "relative")], true, ""), (None, None));
    }

    #[test]
    fn cache_of_sudo_is_that_of_the_caller() {
        let sudo = [("HOME", "/root"), ("SUDO_UID", "1000")];
        let cache = PathBuf::from("/home/ada/.cache/debuginfod_client");
        assert_eq!(found(&sudo, true, ""), (Some((1000, 1001)), Some(cache)));
        let stranger = [("HOME", "/root"), ("SUDO_UID", "77")];
        assert_eq!(found(&stranger, true, ""), (None, None));
        let unlisted = [("HOME", "/root"), ("SUDO_UID", "77"), ("SUDO_GID", "78")];
        assert_eq!(found(&unlisted, true, ""), (Some((77, 78)), None));
        let named = [
            unlisted[1],
            unlisted[2],
            ("DEBUGINFOD_CACHE_PATH", "/srv/d"),
        ];
        let cache = PathBuf::from("/srv/d");
        assert_eq!(found(&named, true, ""), (Some((77, 78)), Some(cache)));
        let root = [("HOME", "/root"), ("SUDO_UID", "0")];
        assert!(matches!(found(&root, true, ""), (None, Some(_))));
    }

    #[test]
    fn good_servers_are_addresses_of_the_web_only() {
        let settings = Debuginfod {
            servers: [
                "https://a.example/x/",
                "http://b.example:8002",
                "file:///etc",
                "ftp://c.example",
                "http://d\"; output = \"/etc/passwd",
                "-http://e.example",
                "ima:enforcing",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Debuginfod::default()
        };
        assert_eq!(
            settings.good_servers(),
            ["https://a.example/x", "http://b.example:8002"]
        );
    }
}
