//! Measures the symbolizer: `cargo run --release --example names -- FILE…` asks for names in the
//! kernel and in each file, at 4,000 places spread over it, and prints time per name and the memory
//! of the helper process.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flametop_symbolize::{Debuginfod, Query, Source, Subject, Symbolizer};

const PLACES: u32 = 4_000;

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?.with_file_name("../flametop-symbolizer");
    let mut symbolizer = Symbolizer::start(
        Path::new(&program),
        Debuginfod::default(),
        Arc::new(|_, _| {
            let (told, answer) = channel();
            // There is no debug file.
            let _ = told.send(None);
            answer
        }),
    );
    symbolizer.add_module(0, Subject::Kernel);
    let kallsyms = fs::read_to_string("/proc/kallsyms")?;
    let addresses: Vec<u64> = kallsyms
        .lines()
        .filter(|line| line[17..].starts_with(['t', 'T']))
        .map(|line| u64::from_str_radix(&line[..16], 16).unwrap_or(0))
        .collect();
    let step = (addresses.len() / PLACES as usize).max(1);
    report(
        &mut symbolizer,
        "kernel (first)",
        0,
        addresses.iter().step_by(step).copied(),
    )?;
    report(
        &mut symbolizer,
        "kernel (again)",
        0,
        addresses.iter().step_by(step).map(|address| address + 1),
    )?;
    for (i, path) in std::env::args_os().skip(1).enumerate() {
        let file = File::open(&path)?;
        let end = file.metadata()?.len();
        let module = i as u32 + 1;
        symbolizer.add_module(
            module,
            Subject::File {
                file,
                path: path.as_encoded_bytes().to_vec(),
                process: None,
                build_id: Vec::new(),
            },
        );
        let places = (0..u64::from(PLACES)).map(|n| n * end / u64::from(PLACES));
        report(
            &mut symbolizer,
            &format!("{} (first)", path.display()),
            module,
            places.clone(),
        )?;
        report(
            &mut symbolizer,
            &format!("{} (again)", path.display()),
            module,
            places.map(|place| place + 1),
        )?;
    }
    Ok(())
}

fn report(
    symbolizer: &mut Symbolizer,
    what: &str,
    module: u32,
    places: impl Iterator<Item = u64>,
) -> Result<(), Box<dyn Error>> {
    let queries: Vec<Query> = places
        .zip(0..)
        .map(|(offset, frame)| Query {
            frame,
            module,
            offset,
            function_start: None,
            limited: false,
            root: None,
        })
        .collect();
    let begin = Instant::now();
    symbolizer.ask(&queries);
    let mut answers = Vec::new();
    while answers.len() < queries.len() {
        sleep(Duration::from_micros(50));
        answers.extend(symbolizer.take_answers());
    }
    let micros = begin.elapsed().as_secs_f64() * 1e6;
    let named = answers
        .iter()
        .filter(|answer| answer.source == Source::Symbol)
        .count();
    let pid = symbolizer.pids()[0].ok_or("the helper process is gone")?;
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = |key: &str| -> f64 {
        let line = status
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap_or_default();
        line.split_ascii_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse().ok())
            .unwrap_or(0.0)
    };
    println!(
        "{what}: {} asked, {named} named, {:.2} µs each, {:.1} ms in all; \
         helper {:.1} MiB ({:.1} MiB its own)",
        queries.len(),
        micros / queries.len() as f64,
        micros / 1e3,
        kib("VmRSS:") / 1024.0,
        kib("RssAnon:") / 1024.0
    );
    for notice in symbolizer.take_notices() {
        println!("notice: {notice}");
    }
    Ok(())
}
