//! The sources of events of a session: attached and detached as the user wishes, steered, and told of.

mod attaching;
mod field;
mod files;
mod filter;
mod finding;
mod graph;
mod limit;
mod programs;
mod resolve;
mod totals;

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    path::Path,
    str::FromStr,
    sync::Arc,
};

use anyhow::{Context, Result};
use attaching::{Attaching, Done, Live};
use files::Origin;
pub use finding::Finding;
use flametop_events::{Source as Events, Spec, Unit};
use flametop_kernel::{
    Kernel,
    events::{Attacher, Budget, EventTotals, SourceId, SourceSpec},
};
use flametop_stream::{self as stream, Encoder, NOT_COUNTED, Record, SourceState, SourceTotals};
use graph::GraphSource;
use programs::{Found, Programs};

use crate::{pipeline::Pipeline, prober::Prober};

/// What all sources together may cost: stacks a second, and a share of one CPU.
const BUDGET: Budget = Budget {
    stacks: 500.0,
    share: 0.01,
};
/// R follows the budget this often, ns.
const STEER_PERIOD: u64 = 1_000_000_000;

/// Files that are probed are looked for this often, ns.
const LOOK_PERIOD: u64 = 2_000_000_000;

/// The sources that were ever wished for, by the numbers that the stream has for them.
pub struct Sources {
    known: BTreeMap<u32, Source>,
    programs: Programs,
    attaching: Attaching,
    /// Many probes at once are wished for.
    pub force: bool,
    /// Number of the last source that was opened.
    opened: u64,
    steered: u64,
    /// When files that are probed were looked for last, and no answer has come since; ns.
    looked: u64,
    looks: bool,
    notices: Vec<String>,
    /// The newest totals of all that is attached.
    read: Vec<(SourceId, EventTotals)>,
}

/// A source.
struct Source {
    spec: String,
    unit: Unit,
    state: SourceState,
    why: String,
    /// It was switched on as the source that was opened with this number.
    opened: u64,
    /// What is attached for it: a pattern may stand for several tracepoints.
    parts: Vec<SourceId>,
    /// The files that are probed.
    files: Vec<Origin>,
    /// The source is a function graph, which is on.
    graph: Option<Box<GraphSource>>,
    /// Totals of what is attached no more.
    before: SourceTotals,
    /// Totals of what is about to be detached, in that order: until its last ones are known.
    leaving: VecDeque<SourceTotals>,
    /// Its state was not told yet.
    changed: bool,
}

impl Sources {
    /// `symbolizer`: path of that program. `targets`: the processes that are sampled; none: any.
    pub fn new(symbolizer: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Sources {
        Sources {
            known: BTreeMap::new(),
            programs: Programs::new(symbolizer, prober, targets),
            attaching: Attaching::default(),
            force: false,
            opened: 0,
            steered: 0,
            looked: 0,
            looks: false,
            notices: Vec::new(),
            read: Vec::new(),
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

    /// Begins to attach the source, or to detach it if there is no spec.
    pub fn set(&mut self, kernel: &mut Kernel, number: u32, spec: Option<String>, now: u64) {
        self.switch_off(kernel, number);
        let Some(text) = spec else {
            return;
        };
        self.opened += 1;
        let parsed = Spec::from_str(&text);
        let source = self.known.entry(number).or_insert_with(Source::off);
        source.spec = text;
        source.opened = self.opened;
        source.unit = parsed.as_ref().map_or(Unit::Count, |spec| spec.unit);
        source.become_of(SourceState::Opening, String::new());
        let begun = parsed
            .map_err(anyhow::Error::from)
            .and_then(|spec| self.begin(kernel, number, spec, now));
        if let Err(why) = begun {
            self.miss(number, &why);
        }
    }

    /// Begins to attach a source.
    fn begin(&mut self, kernel: &mut Kernel, number: u32, spec: Spec, now: u64) -> Result<()> {
        let opened = self.opened;
        if matches!(
            spec.source,
            Events::Usdt { .. } | Events::User { .. } | Events::Jumps { .. }
        ) {
            return self.programs.ask(opened, spec, self.force);
        }
        if matches!(spec.source, Events::Graph { .. }) {
            let settings = kernel.settings().clone();
            return self.attaching.ask(move || {
                let graph = GraphSource::start(&settings, &spec.source, now);
                let live = graph.map(|graph| Live {
                    graph: Some(Box::new(graph)),
                    parts: Vec::new(),
                });
                Done::Attached {
                    number,
                    opened,
                    live: live.context(spec.text),
                }
            });
        }
        let attacher = attacher(kernel)?;
        let force = self.force;
        self.attaching.ask(move || {
            let parts = resolve::resolve(&spec, force).with_context(|| spec.text.clone());
            let live = parts.and_then(|parts| Live::attach(&attacher, number, parts, &spec.text));
            Done::Attached {
                number,
                opened,
                live,
            }
        })
    }

    /// The source cannot be had.
    fn miss(&mut self, number: u32, why: &anyhow::Error) {
        if let Some(source) = self.known.get_mut(&number) {
            source.become_of(SourceState::Missing, format!("{why:#}"));
        }
    }

    /// Goes on with the sources whose files have been looked into, and with those that are attached or detached by now.
    pub fn take_done(&mut self, kernel: &mut Kernel) {
        for found in self.programs.take() {
            match found {
                Found::Places(opened, places) => self.take_places(kernel, opened, places),
                Found::Gone(words) => self.take_gone(words),
            }
        }
        for done in self.attaching.take() {
            match done {
                Done::Attached {
                    number,
                    opened,
                    live,
                } => self.take_attached(kernel, number, opened, live),
                Done::Detached(number, last) => {
                    if let Some(source) = self.known.get_mut(&number) {
                        source.leaving.pop_front();
                        totals::add(&mut source.before, &last);
                    }
                }
            }
        }
    }

    fn take_places(
        &mut self,
        kernel: &mut Kernel,
        opened: u64,
        places: Result<(Vec<SourceSpec>, Vec<Origin>)>,
    ) {
        let mut known = self.known.iter_mut();
        // It may have been switched off meanwhile.
        let Some((number, source)) = known.find(|(_, source)| source.is_opening(opened)) else {
            return;
        };
        let (number, spec) = (*number, source.spec.clone());
        let begun = places.and_then(|(parts, files)| {
            source.files = files;
            let attacher = attacher(kernel)?;
            self.attaching.ask(move || Done::Attached {
                number,
                opened,
                live: Live::attach(&attacher, number, parts, &spec),
            })
        });
        if let Err(why) = begun {
            self.miss(number, &why);
        }
    }

    /// Says of each source whether its files are still there.
    fn take_gone(&mut self, mut words: BTreeMap<u64, String>) {
        self.looks = false;
        for source in self.known.values_mut() {
            let words = words.remove(&source.opened).unwrap_or_default();
            if source.state == SourceState::On && source.why != words {
                if !words.is_empty() {
                    self.notices.push(format!("{}: {words}", source.spec));
                }
                source.become_of(SourceState::On, words);
            }
        }
    }

    /// The notices since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        mem::take(&mut self.notices)
    }

    /// Has files that are probed be looked for, about every two seconds.
    pub fn look_for_files(&mut self, now: u64) {
        if self.looks || now < self.looked + LOOK_PERIOD {
            return;
        }
        self.looked = now;
        let on = self
            .known
            .values()
            .filter(|source| source.state == SourceState::On);
        let files: Vec<_> = on
            .flat_map(|source| {
                source
                    .files
                    .iter()
                    .map(|file| (source.opened, file.clone()))
            })
            .collect();
        if !files.is_empty() {
            self.looks = true;
            self.programs.look(files);
        }
    }

    fn take_attached(&mut self, kernel: &mut Kernel, number: u32, opened: u64, live: Result<Live>) {
        let known = self.known.get_mut(&number);
        let source = known.filter(|source| source.is_opening(opened));
        let (source, live) = match (source, live) {
            (Some(source), Ok(live)) => (source, live),
            (Some(_), Err(why)) => return self.miss(number, &why),
            // It was switched off meanwhile.
            (None, Ok(live)) => return self.detach(number, live, SourceTotals::default()),
            (None, Err(_)) => return,
        };
        source.graph = live.graph;
        if let Ok(events) = kernel.events() {
            let parts = live.parts.into_iter().map(|part| events.add(part));
            source.parts = parts.collect();
        }
        source.become_of(SourceState::On, String::new());
    }

    /// Begins to detach the source, if it is attached; what it counted stays.
    fn switch_off(&mut self, kernel: &mut Kernel, number: u32) {
        let Some(source) = self.known.get_mut(&number) else {
            return;
        };
        if [SourceState::On, SourceState::Opening].contains(&source.state) {
            source.become_of(SourceState::Off, String::new());
        }
        self.let_go(kernel, number);
    }

    /// Begins to detach what is attached for the source.
    fn let_go(&mut self, kernel: &mut Kernel, number: u32) {
        let Some(source) = self.known.get_mut(&number) else {
            return;
        };
        source.files.clear();
        let mut counted = SourceTotals::default();
        let mut live = Live {
            parts: Vec::new(),
            graph: source.graph.take(),
        };
        if let Some(graph) = &live.graph {
            totals::add(&mut counted, graph.totals());
        }
        for part in source.parts.drain(..) {
            let Ok(events) = kernel.events() else {
                continue;
            };
            if let Ok(of_part) = events.totals(part) {
                totals::add(&mut counted, &totals::told(&of_part));
            }
            live.parts.extend(events.remove(part));
        }
        if live.graph.is_some() || !live.parts.is_empty() {
            counted.rate = 0;
            self.detach(number, live, counted);
        }
    }

    /// Has the thread detach it. `counted`: what it has counted until now.
    fn detach(&mut self, number: u32, live: Live, counted: SourceTotals) {
        if let Some(source) = self.known.get_mut(&number) {
            source.leaving.push_back(counted);
        }
        // Without the thread it is detached as it is dropped.
        let _ = self
            .attaching
            .ask(move || Done::Detached(number, live.detach()));
    }

    /// Reads the totals of all that is attached; about once a second, has R follow the budget, and the counters the CPUs.
    pub fn read_totals(&mut self, kernel: &mut Kernel, now: u64) {
        if self.known.is_empty() {
            return;
        }
        let Ok(events) = kernel.events() else {
            return;
        };
        self.read = events.all_totals();
        if now >= self.steered + STEER_PERIOD {
            self.steered = now;
            events.follow_cpus();
            events.steer(&BUDGET, &self.read);
        }
    }

    /// Reads what function graphs have recorded.
    pub fn read_graphs(&mut self, kernel: &mut Kernel, now: u64) {
        let mut failed = Vec::new();
        for (number, source) in &mut self.known {
            let read = source.graph.as_mut().map(|graph| graph.read(now));
            if let Some(Err(why)) = read {
                failed.push((*number, why));
            }
        }
        for (number, why) in failed {
            self.let_go(kernel, number);
            self.miss(number, &why);
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
            if mem::take(&mut source.changed) {
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

    /// Tells the totals that were read last.
    pub fn tell(&self, out: &mut Encoder) {
        for (number, source) in &self.known {
            let mut sums = source.before.clone();
            for counted in &source.leaving {
                totals::add(&mut sums, counted);
            }
            for (part, read) in &self.read {
                if source.parts.contains(part) {
                    totals::add(&mut sums, &totals::told(read));
                }
            }
            if let Some(graph) = &source.graph {
                totals::add(&mut sums, graph.totals());
            }
            sums.source = *number;
            if sums.nanos == 0 && sums.hits > 0 {
                sums.nanos = NOT_COUNTED;
            }
            out.put(&Record::SourceTotals(sums));
        }
    }
}

impl Source {
    fn off() -> Source {
        Source {
            spec: String::new(),
            unit: Unit::Count,
            state: SourceState::Off,
            why: String::new(),
            opened: 0,
            parts: Vec::new(),
            files: Vec::new(),
            graph: None,
            before: SourceTotals::default(),
            leaving: VecDeque::new(),
            changed: false,
        }
    }

    /// Whether it is the source that was opened with this number, and not attached yet.
    fn is_opening(&self, opened: u64) -> bool {
        self.opened == opened && self.state == SourceState::Opening
    }

    fn become_of(&mut self, state: SourceState, why: String) {
        (self.state, self.why, self.changed) = (state, why, true);
    }
}

/// Attaches sources from another thread.
fn attacher(kernel: &mut Kernel) -> Result<Attacher> {
    let mut attacher = kernel.events()?.attacher();
    attacher.brake(&BUDGET);
    Ok(attacher)
}

fn unit(unit: Unit) -> stream::Unit {
    match unit {
        Unit::Count => stream::Unit::Count,
        Unit::Bytes => stream::Unit::Bytes,
        Unit::Nanos => stream::Unit::Nanos,
        Unit::Waits => stream::Unit::Waits,
    }
}
