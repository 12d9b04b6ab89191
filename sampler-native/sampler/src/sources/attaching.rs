//! The thread that attaches and detaches sources. Both take their time: the kernel checks programs, and waits for all CPUs before it changes
//! code. Passes are made meanwhile.

use std::{
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
};

use anyhow::{Context, Result, ensure};
use flametop_kernel::events::{Attacher, Source as Attached, SourceSpec};
use flametop_stream::SourceTotals;

use super::{graph::GraphSource, totals};

/// What is attached for a source.
#[derive(Default)]
pub struct Live {
    /// Several for a pattern that means several tracepoints or files.
    pub parts: Vec<Attached>,
    /// A function graph.
    pub graph: Option<Box<GraphSource>>,
}

impl Live {
    /// Attaches all parts of a source, or none.
    ///
    /// # Errors
    /// Why the kernel does not take one of them.
    pub fn attach(
        attacher: &Attacher,
        number: u32,
        parts: Vec<SourceSpec>,
        spec: &str,
    ) -> Result<Live> {
        let parts = parts.into_iter().map(|part| attacher.attach(number, part));
        Ok(Live {
            parts: parts.collect::<Result<_>>().context(spec.to_owned())?,
            graph: None,
        })
    }

    /// Detaches all of it, and returns the last totals.
    pub fn detach(self) -> SourceTotals {
        let mut sums = SourceTotals::default();
        for last in self.parts.into_iter().filter_map(Attached::detach) {
            totals::add(&mut sums, &totals::told(&last));
        }
        if let Some(graph) = self.graph {
            totals::add(&mut sums, graph.totals());
        }
        // It has no stacks any more.
        sums.rate = 0;
        sums
    }
}

/// What came of it.
pub enum Done {
    /// The source is attached, or cannot be.
    Attached {
        /// The number of the source.
        number: u32,
        /// The number of its opening: the source may have been switched off and on since.
        opened: u64,
        /// What is attached.
        live: Result<Live>,
    },
    /// The source is detached, and these were its last totals.
    Detached(u32, SourceTotals),
}

type Work = Box<dyn FnOnce() -> Done + Send>;

/// The thread, which the first source starts.
#[derive(Default)]
pub struct Attaching {
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
    done: Arc<Mutex<Vec<Done>>>,
    /// What waits is not begun any more.
    stop: Arc<AtomicBool>,
}

impl Attaching {
    /// Has the thread do this after what it does already.
    ///
    /// # Errors
    /// There is no thread.
    pub fn ask(&mut self, work: impl FnOnce() -> Done + Send + 'static) -> Result<()> {
        if self.thread.is_none() {
            let (sender, inbox) = channel::<Work>();
            let (done, stop) = (Arc::clone(&self.done), Arc::clone(&self.stop));
            let thread = thread::Builder::new()
                .name("attaching".to_owned())
                .spawn(move || {
                    while let Ok(work) = inbox.recv() {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let what = work();
                        done.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(what);
                    }
                })
                .context("no thread is left to attach sources")?;
            (self.work, self.thread) = (Some(sender), Some(thread));
        }
        let asked = self.work.as_ref();
        let asked = asked.is_some_and(|asked| asked.send(Box::new(work)).is_ok());
        ensure!(
            asked,
            "the thread that attaches sources has failed; restart flametop"
        );
        Ok(())
    }

    /// What is done since the last call.
    pub fn take(&self) -> Vec<Done> {
        mem::take(&mut self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Attaching {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.work = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}
