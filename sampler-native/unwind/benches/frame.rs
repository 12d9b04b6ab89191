//! Cost of a frame: the walk of a stopped `sleep`, with warm rows.
#![allow(missing_docs)]

#[path = "../tests/stopped/mod.rs"]
mod stopped;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flametop_unwind::{Input, Modules, Piece, ProcessMaps, Unwinder};
use std::{process::Command, thread::sleep, time::Duration};
use stopped::{STACK, Stopped};

fn frame(c: &mut Criterion) {
    let mut child = Command::new("sleep")
        .arg("1000")
        .spawn()
        .expect("sleep runs");
    // Until it sleeps in libc, below main.
    while std::fs::read_to_string(format!("/proc/{}/wchan", child.id()))
        .is_ok_and(|place| !place.contains("nanosleep"))
    {
        sleep(Duration::from_millis(10));
    }
    let mut modules = Modules::new(16 << 20);
    let maps = ProcessMaps::read(child.id(), &mut modules).expect("maps");
    {
        let stopped = Stopped::stop(child.id(), child.id()).expect("stopped");
        let sp = stopped.regs[7];
        let bytes = stopped.copy(sp, STACK);
        let pieces = [Piece {
            address: sp,
            bytes: &bytes,
        }];
        let input = Input {
            regs: &stopped.regs,
            mapping: stopped.mapping(sp),
            pieces: &pieces,
        };
        let (mut unwinder, mut frames) = (Unwinder::new(), Vec::new());
        unwinder.walk(&maps, &mut modules, &input, &mut frames);
        let mut group = c.benchmark_group("frame");
        group.throughput(Throughput::Elements(frames.len() as u64));
        group.bench_function("walk", |b| {
            b.iter(|| unwinder.walk(&maps, &mut modules, &input, &mut frames).end);
        });
        group.finish();
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
}

criterion_group!(benches, frame);
criterion_main!(benches);
