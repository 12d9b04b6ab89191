//! Cost of a task: a whole pass over this machine and 500 sleeping processes beside it, the kernel's part included. Needs root.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flametop_sampler::Session;
use std::{
    fs,
    process::{Child, Command},
};

const SLEEPERS: usize = 500;

fn tasks() -> usize {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| fs::read_dir(entry.path().join("task")).ok())
        .map(Iterator::count)
        .sum()
}

fn task(c: &mut Criterion) {
    // Names are of no concern here.
    let mut session = match Session::open("target=all\nhz.cpu=0\nsymbolizer=/nonexistent") {
        Ok(session) => session,
        Err(error) => {
            eprintln!("task: left out: {error}");
            return;
        }
    };
    let mut sleepers: Vec<Child> = (0..SLEEPERS)
        .map(|_| {
            Command::new("sleep")
                .arg("1000")
                .spawn()
                .expect("sleep runs")
        })
        .collect();
    let mut buffer = vec![0; 1 << 20];
    let mut pass = || session.fill(&mut buffer, true, 0).expect("a pass");
    for _ in 0..50 {
        pass();
    }
    let mut group = c.benchmark_group("task");
    group.throughput(Throughput::Elements(tasks() as u64));
    group.bench_function("pass, most unchanged", |b| b.iter(&mut pass));
    group.finish();
    for sleeper in &mut sleepers {
        sleeper.kill().expect("killed");
        sleeper.wait().expect("gone");
    }
}

criterion_group!(benches, task);
criterion_main!(benches);
