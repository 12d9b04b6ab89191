//! What threads of a session share, and the requests that any thread may make.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use anyhow::{Result, anyhow, bail};

use crate::pipeline::Pipeline;

/// Frames whose names are passed on to the symbolizer in one fill, about 10 ms of work; the rest waits for the next.
const MAX_NAMES: usize = 1024;

/// The error where a thread of the session has panicked.
pub(super) const FAILED: &str = "the sampler failed earlier; restart flametop";

/// Takes requests to a session, from any thread. None of them waits.
#[derive(Clone)]
pub struct Requests(pub(super) Arc<Shared>);

impl Requests {
    /// Asks for the names of these frames; they come in later batches.
    pub fn ask_names(&self, frames: &[u32]) {
        self.0.requested().names.extend_from_slice(frames);
    }

    /// Asks for inlined functions and source lines of these frames; they come in later batches.
    pub fn ask_places(&self, frames: &[u32]) {
        self.0.requested().places.extend_from_slice(frames);
    }

    /// Attaches a source of events, or detaches it (none). A later batch tells what came of it.
    pub fn set_source(&self, number: u32, spec: Option<String>) {
        self.0.requested().sources.push((number, spec));
    }

    /// Whether JVMs are asked to write maps of their compiled code from now on.
    ///
    /// # Errors
    /// A thread of the session failed earlier.
    pub fn set_jvm_maps(&self, wanted: bool) -> Result<()> {
        if self.0.pipeline.is_poisoned() {
            bail!(FAILED);
        }
        self.0.requested().jvm_maps = Some(wanted);
        Ok(())
    }
}

/// What was requested and is not done yet.
#[derive(Default)]
pub(super) struct Requested {
    /// Frames whose names are wanted.
    pub names: Vec<u32>,
    /// Frames whose places are wanted.
    pub places: Vec<u32>,
    /// See [`Requests::set_jvm_maps`].
    pub jvm_maps: Option<bool>,
    /// See [`Requests::set_source`].
    pub sources: Vec<(u32, Option<String>)>,
}

/// What the threads of a session share.
pub(super) struct Shared {
    /// Used by one thread at a time.
    pipeline: Mutex<Pipeline>,
    requested: Mutex<Requested>,
    /// The ring thread is to end.
    pub stop: AtomicBool,
}

impl Shared {
    pub fn new(pipeline: Pipeline) -> Shared {
        Shared {
            pipeline: Mutex::new(pipeline),
            requested: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    /// The pipeline, for this thread alone.
    pub fn pipeline(&self) -> Result<MutexGuard<'_, Pipeline>> {
        self.pipeline.lock().map_err(|_| anyhow!(FAILED))
    }

    /// Takes the requests, but no more names than one fill passes on.
    pub fn take_requested(&self) -> Requested {
        let mut requested = self.requested();
        let now = requested.names.len().min(MAX_NAMES);
        let names = requested.names.split_off(now);
        let rest = Requested {
            names,
            ..Requested::default()
        };
        mem::replace(&mut *requested, rest)
    }

    /// A panic elsewhere cannot leave requests half made.
    fn requested(&self) -> MutexGuard<'_, Requested> {
        self.requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
