//! The source that draws what functions of the kernel call: times of calls, placed on the threads that made them.

use std::collections::HashMap;

use anyhow::{Result, bail, ensure};
use flametop_events::{Source, functions::Functions};
use flametop_kernel::{
    Settings,
    graph::{Graph, MOST_FUNCTIONS, Spent},
};
use flametop_stream::SourceTotals;

use crate::pipeline::Pipeline;

/// A thread that no pass has seen is waited for so long, ns.
const PATIENCE: u64 = 1_500_000_000;
/// Calls a second of all CPUs that are recorded, at most. The kernel takes about a quarter of a microsecond for each, so these take a
/// fourth of a CPU.
const MOST_CALLS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Classes of durations in the totals.
const CLASSES: usize = 64;

/// What a thread did that is not placed yet.
#[derive(Default)]
struct OfThread {
    since: u64,
    spent: Vec<Spent>,
    /// Durations of whole calls.
    whole: Vec<u64>,
}

/// The source while it is on.
pub struct GraphSource {
    graph: Graph,
    threads: HashMap<u32, OfThread>,
    totals: SourceTotals,
    /// When this second began, and how many records there were then.
    second: (u64, u64),
}

impl GraphSource {
    /// Starts the kernel's tracer for a source of this kind.
    ///
    /// # Errors
    /// Why the kernel does not allow it.
    pub fn start(settings: &Settings, source: &Source, now: u64) -> Result<GraphSource> {
        let Source::Graph { function, depth } = source else {
            bail!("not a function graph");
        };
        let functions = Functions::read().meant(function);
        let functions = functions.map_err(anyhow::Error::msg)?;
        ensure!(
            functions.len() <= MOST_FUNCTIONS,
            "{function} means {} functions of the kernel; graphs of {MOST_FUNCTIONS} at most are drawn at once",
            functions.len()
        );
        Ok(GraphSource {
            graph: Graph::start(&functions, *depth, settings)?,
            threads: HashMap::new(),
            totals: SourceTotals::default(),
            second: (now, 0),
        })
    }

    /// The process that removes the tracer if this one cannot.
    pub fn guard(&self) -> Option<u32> {
        self.graph.guard()
    }

    /// Reads what was recorded.
    ///
    /// # Errors
    /// There are more calls than the source may cost: the source is to be switched off.
    pub fn read(&mut self, now: u64) -> Result<()> {
        self.graph.read()?;
        for spent in self.graph.take_spent() {
            self.of(spent.tid, now).spent.push(spent);
        }
        for whole in self.graph.take_whole() {
            self.of(whole.tid, now).whole.push(whole.nanos);
        }
        self.totals.lost = self.graph.lost();
        self.totals.nanos = self.graph.nanos();
        let (began, before) = self.second;
        if now >= began + SECOND {
            self.second = (now, self.graph.records());
            let calls = (self.graph.records() - before) / 2;
            let a_second = u128::from(calls) * u128::from(SECOND) / u128::from(now - began);
            if a_second > u128::from(MOST_CALLS) {
                bail!(
                    "switched off, since it cost too much: {a_second} calls of functions a second, {MOST_CALLS} at most; give a depth \
                     (depth=2), a process (-p), or a function that is called less often"
                );
            }
        }
        Ok(())
    }

    fn of(&mut self, tid: u32, now: u64) -> &mut OfThread {
        let of = self.threads.entry(tid).or_default();
        if of.spent.is_empty() && of.whole.is_empty() {
            of.since = now;
        }
        of
    }

    /// Places what is known of threads that passes have seen.
    pub fn place(&mut self, number: u32, now: u64, pipeline: &mut Pipeline) {
        if self.threads.is_empty() {
            return;
        }
        let known = pipeline.tasks.ids();
        let totals = &mut self.totals;
        self.threads.retain(|tid, of| {
            let Some(task) = known.get(tid) else {
                let waits = now < of.since + PATIENCE;
                if !waits {
                    totals.missed += of.whole.len() as u64;
                }
                return waits;
            };
            for spent in of.spent.iter().filter(|spent| spent.nanos > 0) {
                totals.weight += spent.nanos;
                totals.taken += 1;
                pipeline.path(number, *task, spent);
            }
            for nanos in &of.whole {
                totals.hits += 1;
                let class = (nanos.max(&1).ilog2() as usize).min(CLASSES - 1);
                if totals.histogram.len() <= class {
                    totals.histogram.resize(class + 1, 0);
                }
                totals.histogram[class] += 1;
            }
            false
        });
    }

    /// Totals since it was switched on.
    pub fn totals(&self) -> &SourceTotals {
        &self.totals
    }
}
