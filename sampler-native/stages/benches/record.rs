//! Cost of a record: encoding and decoding of what comes most, changed tasks.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flametop_stream::{BATCH_HEADER, BATCH_PASS, Encoder, Reader, Record, batch, file_header};
use std::hint::black_box;

const RECORDS: usize = 1_000;

fn record(c: &mut Criterion) {
    // Any one of the golden file, so that this does not know its fields.
    let golden = include_bytes!("../../stream/golden/v2.flametop");
    let mut reader = Reader::new(golden.as_slice()).expect("a stream");
    let head = loop {
        let batch = reader
            .next_batch()
            .expect("no damage")
            .expect("a changed task");
        let changed = batch.records().find_map(|record| match record {
            Ok(Record::TaskChanged(head)) => Some(head),
            _ => None,
        });
        if let Some(head) = changed {
            break head;
        }
    };
    let changed = Record::TaskChanged(head);
    let mut group = c.benchmark_group("record");
    group.throughput(Throughput::Elements(RECORDS as u64));
    let mut out = Encoder::new();
    group.bench_function("encode changed task", |b| {
        b.iter(|| {
            out.clear();
            for _ in 0..RECORDS {
                out.put(black_box(&changed));
            }
        });
    });
    let mut bytes = vec![0; BATCH_HEADER + out.bytes().len()];
    batch(&mut bytes, 1, 0, BATCH_PASS, out.bytes());
    let stream = [file_header([]), bytes].concat();
    group.bench_function("decode changed task", |b| {
        b.iter(|| {
            let mut reader = Reader::new(black_box(stream.as_slice())).expect("a stream");
            let batch = reader.next_batch().expect("no damage").expect("a batch");
            batch.records().filter(Result::is_ok).count()
        });
    });
    group.finish();
}

criterion_group!(benches, record);
criterion_main!(benches);
