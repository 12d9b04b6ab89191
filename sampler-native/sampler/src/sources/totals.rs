//! Sums of what a source has counted, as the stream has them.

use flametop_kernel::events::EventTotals;
use flametop_stream::SourceTotals;

/// The sums of a part of a source.
pub fn told(part: &EventTotals) -> SourceTotals {
    // The stream has those of weight 0 and 1 together.
    let mut histogram = part.weights.to_vec();
    let none = histogram.remove(0);
    histogram[0] += none;
    let last = histogram.iter().rposition(|hits| *hits > 0);
    histogram.truncate(last.map_or(0, |last| last + 1));
    SourceTotals {
        source: 0,
        hits: part.hits,
        weight: part.weight,
        taken: part.taken,
        lost: part.lost,
        missed: part.passed_over,
        nanos: part.nanos,
        rate: part.rate,
        histogram,
    }
}

/// Adds what another part has counted.
pub fn add(sums: &mut SourceTotals, part: &SourceTotals) {
    sums.hits += part.hits;
    sums.weight = sums.weight.saturating_add(part.weight);
    sums.taken += part.taken;
    sums.lost += part.lost;
    sums.missed += part.missed;
    sums.nanos += part.nanos;
    sums.rate = sums.rate.max(part.rate);
    if sums.histogram.len() < part.histogram.len() {
        sums.histogram.resize(part.histogram.len(), 0);
    }
    for (sum, hits) in sums.histogram.iter_mut().zip(&part.histogram) {
        *sum += hits;
    }
}
