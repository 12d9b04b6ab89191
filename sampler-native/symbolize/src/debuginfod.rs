//! Debug files by build id, from the cache of debuginfod's clients and from its servers: the side of
//! flametop. A thread each asks one process (`fetch`) at a time, which does all that may wait or lie.

mod settings;
mod state;
mod worker;

use std::fs::File;
use std::mem::take;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::process::lock;
use crate::protocol::BUILD_ID_MAX;
pub use settings::Debuginfod;
use settings::SERVERS_MAX;
pub use state::{DebugFileCounts, DebugFilesCome};
use state::{Standing, State};
use worker::{AT_ONCE, Shared};

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

    /// Whether the debug file of this build id is not here because it is too large to be fetched.
    pub fn is_too_large(&self, build_id: &[u8]) -> bool {
        let state = lock(&self.shared.state);
        matches!(state.files.get(build_id), Some(Standing::TooLarge(_)))
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
