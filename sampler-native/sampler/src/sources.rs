//! The sources of events of a session: attached and detached as the user wishes, steered, and told of.

mod field;
mod filter;
mod graph;
mod limit;
mod programs;
mod resolve;

use std::{collections::BTreeMap, path::Path, str::FromStr, sync::Arc};

use anyhow::{Context, Result};
use flametop_events::{Source as Events, Spec, Unit};
use flametop_kernel::{
    Kernel,
    events::{Budget, EventTotals, SourceId, SourceSpec},
};
use flametop_stream::{self as stream, Encoder, NOT_COUNTED, Record, SourceState, SourceTotals};
use graph::GraphSource;
pub use programs::Finding;
use programs::Programs;

use crate::{pipeline::Pipeline, prober::Prober};

/// What all sources together may cost: stacks a second, and a share of one CPU.
const BUDGET: Budget = Budget {
    stacks: 500.0,
    share: 0.01,
};
/// R follows the budget this often, ns.
const STEER_PERIOD: u64 = 1_000_000_000;

/// The sources that were ever wished for, by the numbers that the stream has for them.
pub struct Sources {
    known: BTreeMap<u32, Source>,
    programs: Programs,
    /// Many probes at once are wished for.
    pub force: bool,
    steered: u64,
}

/// A source.
struct Source {
    spec: String,
    unit: Unit,
    state: SourceState,
    why: String,
    /// The question that has to be answered before it is attached.
    asked: Option<u64>,
    /// What is attached for it: a pattern may stand for several tracepoints.
    parts: Vec<SourceId>,
    /// The source is a function graph, which is on.
    graph: Option<GraphSource>,
    /// Totals of what is attached no more.
    before: SourceTotals,
    /// Its state was not told yet.
    changed: bool,
}

impl Sources {
    /// `symbolizer`: path of that program. `targets`: the processes that are sampled; none: any.
    pub fn new(symbolizer: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Sources {
        Sources {
            known: BTreeMap::new(),
            programs: Programs::new(symbolizer, prober, targets),
            force: false,
            steered: 0,
        }
    }

    /// Processes that were started for sources, and what each is for.
    pub fn helpers(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let finder = self.programs.pid().map(|pid| (pid, "symbolizer"));
        let graphs = self
            .known
            .values()
            .filter_map(|source| source.graph.as_ref()?.guard());
        finder.into_iter().chain(graphs.map(|pid| (pid, "tracer")))
    }

    /// Attaches the source, or detaches it if there is no spec.
    pub fn set(&mut self, kernel: &mut Kernel, number: u32, spec: Option<String>, now: u64) {
        self.detach(kernel, number);
        let Some(text) = spec else {
            return;
        };
        let before = self.known.remove(&number).map(|source| source.before);
        let mut source = Source {
            spec: text,
            unit: Unit::Count,
            state: SourceState::Opening,
            why: String::new(),
            asked: None,
            parts: Vec::new(),
            graph: None,
            before: before.unwrap_or_default(),
            changed: true,
        };
        match Spec::from_str(&source.spec) {
            Ok(spec) => {
                source.unit = spec.unit;
                if matches!(spec.source, Events::Usdt { .. } | Events::User { .. }) {
                    match self.programs.ask(spec, self.force) {
                        Ok(question) => source.asked = Some(question),
                        Err(why) => source.become_of(Err(why)),
                    }
                } else if let Events::Graph { function, depth } = &spec.source {
                    let graph = GraphSource::start(kernel, function, *depth, now);
                    match graph.context(spec.text.clone()) {
                        Ok(graph) => {
                            source.graph = Some(graph);
                            source.become_of(Ok(Vec::new()));
                        }
                        Err(why) => source.become_of(Err(why)),
                    }
                } else {
                    let parts =
                        resolve::resolve(&spec, self.force).with_context(|| spec.text.clone());
                    source.become_of(
                        parts.and_then(|parts| attach(kernel, number, parts, &spec.text)),
                    );
                }
            }
            Err(why) => source.become_of(Err(why.into())),
        }
        self.known.insert(number, source);
    }

    /// Attaches the sources whose files have been looked into.
    pub fn take_found(&mut self, kernel: &mut Kernel) {
        for (question, parts) in self.programs.take() {
            let asked = |(_, source): &(&u32, &mut Source)| source.asked == Some(question);
            // It may have been switched off meanwhile.
            if let Some((number, source)) = self.known.iter_mut().find(asked) {
                source.asked = None;
                let attached = parts.and_then(|parts| attach(kernel, *number, parts, &source.spec));
                source.become_of(attached);
            }
        }
    }

    fn detach(&mut self, kernel: &mut Kernel, number: u32) {
        let Some(source) = self.known.get_mut(&number) else {
            return;
        };
        for part in source.parts.drain(..) {
            let events = kernel.events().ok();
            if let Some(totals) = events.and_then(|events| events.detach(part)) {
                add(&mut source.before, &totals);
            }
        }
        source.end_graph();
        source.asked = None;
        if [SourceState::On, SourceState::Opening].contains(&source.state) {
            source.state = SourceState::Off;
            source.changed = true;
        }
    }

    /// Has R follow the budget, and the counters the CPUs.
    pub fn steer(&mut self, kernel: &mut Kernel, now: u64) {
        if now < self.steered + STEER_PERIOD || self.known.is_empty() {
            return;
        }
        self.steered = now;
        if let Ok(events) = kernel.events() {
            events.follow_cpus();
            events.steer(&BUDGET);
        }
    }

    /// Reads what function graphs have recorded.
    pub fn read_graphs(&mut self, now: u64) {
        for source in self.known.values_mut() {
            let read = source.graph.as_mut().map(|graph| graph.read(now));
            if let Some(Err(why)) = read {
                source.end_graph();
                source.become_of(Err(why));
            }
        }
    }

    /// Places what function graphs have recorded.
    pub fn place_graphs(&mut self, pipeline: &mut Pipeline, now: u64) {
        for (number, source) in &mut self.known {
            if let Some(graph) = &mut source.graph {
                graph.place(*number, now, pipeline);
            }
        }
    }

    /// Tells of sources whose state has changed. Comes before any of their events.
    pub fn tell_changes(&mut self, out: &mut Encoder) {
        for (number, source) in &mut self.known {
            if std::mem::take(&mut source.changed) {
                out.put(&Record::SourceSeen {
                    source: *number,
                    state: source.state,
                    unit: unit(source.unit),
                    spec: source.spec.as_bytes(),
                    why: source.why.as_bytes(),
                });
            }
        }
    }

    /// Tells the totals of the sources that are attached, or have just been.
    pub fn tell(&mut self, kernel: &mut Kernel, out: &mut Encoder) {
        for (number, source) in &self.known {
            let mut totals = source.before.clone();
            for part in &source.parts {
                let events = kernel.events().ok();
                if let Some(of_part) = events.and_then(|events| events.totals(*part).ok()) {
                    add(&mut totals, &of_part);
                    totals.rate = totals.rate.max(of_part.rate);
                }
            }
            if let Some(graph) = &source.graph {
                add_totals(&mut totals, graph.totals());
            }
            totals.source = *number;
            if totals.nanos == 0 && totals.hits > 0 {
                totals.nanos = NOT_COUNTED;
            }
            out.put(&Record::SourceTotals(totals));
        }
    }
}

impl Source {
    /// Switches a function graph off; what it counted stays.
    fn end_graph(&mut self) {
        if let Some(graph) = self.graph.take() {
            add_totals(&mut self.before, graph.totals());
        }
    }

    /// It is attached, or cannot be.
    fn become_of(&mut self, attached: Result<Vec<SourceId>>) {
        self.changed = true;
        (self.state, self.why, self.parts) = match attached {
            Ok(parts) => (SourceState::On, String::new(), parts),
            Err(why) => (SourceState::Missing, format!("{why:#}"), Vec::new()),
        };
    }
}

/// Attaches all that a spec stands for, or nothing.
fn attach(
    kernel: &mut Kernel,
    number: u32,
    parts: Vec<SourceSpec>,
    spec: &str,
) -> Result<Vec<SourceId>> {
    let events = kernel.events()?;
    let mut attached = Vec::new();
    for part in parts {
        match events.attach(number, part) {
            Ok(id) => attached.push(id),
            Err(why) => {
                for id in attached {
                    events.detach(id);
                }
                return Err(why).context(spec.to_owned());
            }
        }
    }
    Ok(attached)
}

fn unit(unit: Unit) -> stream::Unit {
    match unit {
        Unit::Count => stream::Unit::Count,
        Unit::Bytes => stream::Unit::Bytes,
        Unit::Nanos => stream::Unit::Nanos,
        Unit::Waits => stream::Unit::Waits,
    }
}

/// Adds what a source had counted.
fn add_totals(sums: &mut SourceTotals, part: &SourceTotals) {
    sums.hits += part.hits;
    sums.weight = sums.weight.saturating_add(part.weight);
    sums.taken += part.taken;
    sums.lost += part.lost;
    sums.missed += part.missed;
    sums.nanos += part.nanos;
    add_histogram(&mut sums.histogram, &part.histogram);
}

/// Adds what a part of a source has counted.
fn add(sums: &mut SourceTotals, part: &EventTotals) {
    sums.hits += part.hits;
    sums.weight = sums.weight.saturating_add(part.weight);
    sums.taken += part.taken;
    sums.lost += part.lost;
    sums.missed += part.passed_over;
    sums.nanos += part.nanos;
    // The stream has those of weight 0 and 1 together.
    let mut weights = part.weights.to_vec();
    let none = weights.remove(0);
    weights[0] += none;
    let last = weights.iter().rposition(|hits| *hits > 0);
    weights.truncate(last.map_or(0, |last| last + 1));
    add_histogram(&mut sums.histogram, &weights);
}

fn add_histogram(sums: &mut Vec<u64>, part: &[u64]) {
    if sums.len() < part.len() {
        sums.resize(part.len(), 0);
    }
    for (sum, hits) in sums.iter_mut().zip(part) {
        *sum += hits;
    }
}
