//! Cost of a name: asked of the symbolizer's process, at places spread over libc and over the kernel.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flametop_symbolize::{Debuginfod, Query, Subject, Symbolizer};
use std::{
    fs::{self, File},
    path::PathBuf,
    sync::{Arc, mpsc::channel},
    thread::sleep,
    time::Duration,
};

const PLACES: u64 = 1_000;
const KERNEL: u32 = 0;
const LIBC: u32 = 1;

fn queries(module: u32, offsets: impl Iterator<Item = u64>) -> Vec<Query> {
    offsets
        .zip(0..)
        .map(|(offset, frame)| Query {
            frame,
            module,
            offset,
            function_start: None,
            limited: false,
            root: None,
        })
        .collect()
}

/// The libc that this program itself has mapped.
fn libc() -> String {
    let maps = fs::read_to_string("/proc/self/maps").expect("own mappings");
    maps.lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(5))
        .find(|path| path.contains("/libc.so") || path.contains("/libc-"))
        .expect("a libc")
        .to_owned()
}

/// The symbolizer of this build, which lies two folders above this program.
fn symbolizer_program() -> PathBuf {
    let own = std::env::current_exe().expect("own path");
    let built = own.ancestors().nth(2).expect("a folder");
    built.join("flametop-symbolizer")
}

fn name(c: &mut Criterion) {
    let mut symbolizer = Symbolizer::start(
        &symbolizer_program(),
        Debuginfod::default(),
        Arc::new(|_, _| {
            let (told, answer) = channel();
            // There is no debug file.
            let _ = told.send(None);
            answer
        }),
    );
    symbolizer.add_module(KERNEL, Subject::Kernel);
    let path = libc();
    let file = File::open(&path).expect("libc");
    let end = file.metadata().expect("its size").len();
    symbolizer.add_module(
        LIBC,
        Subject::File {
            file,
            path: path.into_bytes(),
            process: None,
            build_id: Vec::new(),
        },
    );
    let functions: Vec<u64> = fs::read_to_string("/proc/kallsyms")
        .unwrap_or_default()
        .lines()
        .filter(|line| line[17..].starts_with(['t', 'T']))
        .filter_map(|line| u64::from_str_radix(&line[..16], 16).ok())
        .filter(|address| *address != 0)
        .collect();
    let mut group = c.benchmark_group("name");
    group.sample_size(10);
    let mut measure = |what: &str, queries: &[Query]| {
        group.throughput(Throughput::Elements(queries.len() as u64));
        group.bench_function(what, |b| {
            b.iter(|| {
                symbolizer.ask(queries);
                let mut answers = 0;
                while answers < queries.len() {
                    sleep(Duration::from_micros(50));
                    answers += symbolizer.take_answers().len();
                }
            });
        });
    };
    measure(
        "libc",
        &queries(LIBC, (0..PLACES).map(|n| n * end / PLACES)),
    );
    // Empty without root.
    let step = (functions.len() / PLACES as usize).max(1);
    let places = queries(KERNEL, functions.iter().step_by(step).map(|at| at + 1));
    if !places.is_empty() {
        measure("kernel", &places);
    }
    group.finish();
}

criterion_group!(benches, name);
criterion_main!(benches);
