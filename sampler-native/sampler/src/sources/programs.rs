//! Functions and USDT probes of programs and libraries: from the words of a user to places that the kernel side can attach to.
//!
//! A file may hang, and may be made to harm who reads it. So a thread of its own waits for files, which the prober opens, and a process
//! without rights looks into them (crate `flametop-symbolize`). The session asks, goes on, and takes the answer at a later batch.

use std::{
    collections::BTreeMap,
    mem,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use anyhow::{Result, ensure};
use flametop_events::Spec;
use flametop_kernel::events::SourceSpec;
use flametop_symbolize::FinderProcess;

use super::{files::Origin, finding::Finding};
use crate::prober::Prober;

/// A question.
enum Job {
    /// The places of the source that was opened with this number.
    Find {
        opened: u64,
        spec: Spec,
        force: bool,
    },
    /// Whether the paths of these files still lead to them; each with the number by which its source was opened.
    Look(Vec<(u64, Origin)>),
}

/// An answer.
pub enum Found {
    /// The places of the source that was opened with this number, and the files that they are in.
    Places(u64, Result<(Vec<SourceSpec>, Vec<Origin>)>),
    /// Words for each source, by the number by which it was opened, one of whose files is no longer where it was.
    Gone(BTreeMap<u64, String>),
}

/// The side that asks, and never waits.
pub struct Programs {
    finding: Option<Finding>,
    jobs: Option<Sender<Job>>,
    found: Arc<Mutex<Vec<Found>>>,
    process: FinderProcess,
    thread: Option<JoinHandle<()>>,
}

impl Programs {
    /// `program`: path of `flametop-symbolizer`. `targets`: the processes that are sampled; none: any.
    pub fn new(program: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Programs {
        let finding = Finding::new(program, prober, targets);
        Programs {
            process: finding.finder.process(),
            finding: Some(finding),
            jobs: None,
            found: Arc::default(),
            thread: None,
        }
    }

    /// Asks for the places of a source; the answer has this number.
    ///
    /// # Errors
    /// No thread is left.
    pub fn ask(&mut self, opened: u64, spec: Spec, force: bool) -> Result<()> {
        // Most sessions never ask.
        if let Some(finding) = self.finding.take() {
            let (jobs, inbox) = channel();
            let found = Arc::clone(&self.found);
            let thread = thread::Builder::new()
                .name("programs".to_owned())
                .spawn(move || run(finding, &inbox, &found))?;
            (self.jobs, self.thread) = (Some(jobs), Some(thread));
        }
        let job = Job::Find {
            opened,
            spec,
            force,
        };
        let jobs = self.jobs.as_ref();
        let asked = jobs.is_some_and(|jobs| jobs.send(job).is_ok());
        ensure!(asked, "there is no thread to look into files");
        Ok(())
    }

    /// Has the thread look whether the paths of these files still lead to them.
    pub fn look(&self, files: Vec<(u64, Origin)>) {
        if let Some(jobs) = &self.jobs {
            // Without the thread nothing more is found anyway.
            let _ = jobs.send(Job::Look(files));
        }
    }

    /// The answers that have come.
    pub fn take(&self) -> Vec<Found> {
        mem::take(&mut lock(&self.found))
    }

    /// The process that looks into files now.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.process.stop();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The side that waits.
fn run(mut finding: Finding, inbox: &Receiver<Job>, found: &Mutex<Vec<Found>>) {
    while let Ok(job) = inbox.recv() {
        let answer = match job {
            Job::Find {
                opened,
                spec,
                force,
            } => {
                let places = finding.resolve(&spec, force);
                finding.finder.rest();
                Found::Places(opened, places)
            }
            Job::Look(files) => Found::Gone(finding.files.gone(files)),
        };
        lock(found).push(answer);
    }
}
