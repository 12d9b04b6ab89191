//! What the threads of a session share, and the wishes that any thread may have.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use anyhow::{Result, anyhow};

use crate::pipeline::Pipeline;

/// Frames whose names are passed on to the symbolizer in one fill, about 10 ms of work; the rest waits for the next.
const MAX_NAMES: usize = 1024;

/// The error where a thread of the session has panicked.
pub(super) const FAILED: &str = "the sampler failed earlier; restart flametop";

/// Takes wishes to a session, from any thread. No call waits.
#[derive(Clone)]
pub struct Wishes(pub(super) Arc<Shared>);

impl Wishes {
    /// Asks for the names of these frames; they come in later batches.
    pub fn ask_names(&self, frames: &[u32]) {
        self.0.wished().names.extend_from_slice(frames);
    }

    /// Asks for inlined functions and source lines of these frames; they come in later batches.
    pub fn ask_places(&self, frames: &[u32]) {
        self.0.wished().places.extend_from_slice(frames);
    }

    /// Attaches a source of events, or detaches it (none). A later batch tells what came of it.
    pub fn set_source(&self, number: u32, spec: Option<String>) {
        self.0.wished().sources.push((number, spec));
    }

    /// Sources may have many probes from now on.
    pub fn force_probes(&self) {
        self.0.wished().force_probes = true;
    }
}

/// The wishes that the session has not taken yet.
#[derive(Default)]
pub(super) struct Wished {
    /// Frames whose names are wanted.
    pub names: Vec<u32>,
    /// Frames whose places are wanted.
    pub places: Vec<u32>,
    /// See [`Wishes::force_probes`].
    pub force_probes: bool,
    /// See [`Wishes::set_source`].
    pub sources: Vec<(u32, Option<String>)>,
}

/// What the threads of a session share.
pub(super) struct Shared {
    /// Used by one thread at a time.
    pipeline: Mutex<Pipeline>,
    wished: Mutex<Wished>,
    /// The ring thread is to end.
    pub stop: AtomicBool,
}

impl Shared {
    pub fn new(pipeline: Pipeline) -> Shared {
        Shared {
            pipeline: Mutex::new(pipeline),
            wished: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    /// The pipeline, for this thread alone.
    pub fn pipeline(&self) -> Result<MutexGuard<'_, Pipeline>> {
        self.pipeline.lock().map_err(|_| anyhow!(FAILED))
    }

    /// Takes the wishes, but no more names than one fill passes on: the rest stays.
    pub fn take_wished(&self) -> Wished {
        let mut wished = self.wished();
        let now = wished.names.len().min(MAX_NAMES);
        let names = wished.names.split_off(now);
        let rest = Wished {
            names,
            ..Wished::default()
        };
        mem::replace(&mut *wished, rest)
    }

    /// The wishes, also after a panic elsewhere: they are never half made.
    fn wished(&self) -> MutexGuard<'_, Wished> {
        self.wished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
