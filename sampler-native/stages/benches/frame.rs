//! Cost of a frame: the walk of a stopped `sleep`, with warm rows.
#![allow(missing_docs)]

#[path = "../../unwind/tests/stopped/mod.rs"]
mod stopped;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flametop_unwind::{Modules, ProcessMaps, Unwinder};
use stopped::{Sleeper, Stopped};

fn frame(c: &mut Criterion) {
    let sleeper = Sleeper::start();
    let mut modules = Modules::new(16 << 20);
    let maps = ProcessMaps::read(sleeper.pid(), &mut modules).expect("maps");
    let stopped = Stopped::stop(sleeper.pid(), sleeper.pid()).expect("stopped");
    stopped.copied(|input| {
        let (mut unwinder, mut frames) = (Unwinder::new(), Vec::new());
        unwinder.walk(&maps, &mut modules, input, &mut frames);
        let mut group = c.benchmark_group("frame");
        group.throughput(Throughput::Elements(frames.len() as u64));
        group.bench_function("walk", |b| {
            b.iter(|| unwinder.walk(&maps, &mut modules, input, &mut frames).end);
        });
        group.finish();
    });
}

criterion_group!(benches, frame);
criterion_main!(benches);
