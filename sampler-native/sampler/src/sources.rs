//! The sources of events of a session: attached and detached as the user wishes, steered, and told of.

mod field;
mod filter;
mod resolve;

use std::{collections::BTreeMap, str::FromStr};

use anyhow::{Context, Result};
use flametop_events::{Spec, Unit};
use flametop_kernel::{
    Kernel,
    events::{Budget, EventTotals, SourceId},
};
use flametop_stream::{self as stream, Encoder, NOT_COUNTED, Record, SourceState, SourceTotals};

/// What all sources together may cost: stacks a second, and a share of one CPU.
const BUDGET: Budget = Budget {
    stacks: 500.0,
    share: 0.01,
};
/// R follows the budget this often, ns.
const STEER_PERIOD: u64 = 1_000_000_000;

/// The sources that were ever wished for, by the numbers that the stream has for them.
#[derive(Default)]
pub struct Sources {
    known: BTreeMap<u32, Source>,
    steered: u64,
}

/// A source.
struct Source {
    spec: String,
    unit: Unit,
    state: SourceState,
    why: String,
    /// What is attached for it: a pattern may stand for several tracepoints.
    parts: Vec<SourceId>,
    /// Totals of what is attached no more.
    before: SourceTotals,
    /// Its state was not told yet.
    changed: bool,
}

impl Sources {
    /// Attaches the source, or detaches it if there is no spec.
    pub fn set(&mut self, kernel: &mut Kernel, number: u32, spec: Option<String>) {
        self.detach(kernel, number);
        let Some(text) = spec else {
            return;
        };
        let before = self.known.remove(&number).map(|source| source.before);
        let (spec, attached) = match Spec::from_str(&text) {
            Ok(spec) => {
                let attached = attach(kernel, number, &spec);
                (Some(spec), attached)
            }
            Err(why) => (None, Err(why.into())),
        };
        let (state, why, parts) = match attached {
            Ok(parts) => (SourceState::On, String::new(), parts),
            Err(why) => (SourceState::Missing, format!("{why:#}"), Vec::new()),
        };
        let source = Source {
            spec: text,
            unit: spec.map_or(Unit::Count, |spec| spec.unit),
            state,
            why,
            parts,
            before: before.unwrap_or_default(),
            changed: true,
        };
        self.known.insert(number, source);
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
        if source.state == SourceState::On {
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
            totals.source = *number;
            if totals.nanos == 0 && totals.hits > 0 {
                totals.nanos = NOT_COUNTED;
            }
            out.put(&Record::SourceTotals(totals));
        }
    }
}

/// Attaches all that a spec stands for, or nothing.
fn attach(kernel: &mut Kernel, number: u32, spec: &Spec) -> Result<Vec<SourceId>> {
    let parts = resolve::resolve(spec)?;
    let events = kernel.events()?;
    let mut attached = Vec::new();
    for part in parts {
        match events.attach(number, part) {
            Ok(id) => attached.push(id),
            Err(why) => {
                for id in attached {
                    events.detach(id);
                }
                return Err(why).context(spec.text.clone());
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
    if sums.histogram.len() < weights.len() {
        sums.histogram.resize(weights.len(), 0);
    }
    for (sum, hits) in sums.histogram.iter_mut().zip(weights) {
        *sum += hits;
    }
}
