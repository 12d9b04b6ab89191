//! Prints the stacks of processes, as the sampler sees them:
//! `cargo run --release -p flametop-sampler --example snapshot -- [--pid N[,N]] [--passes N] [--hz N]`.
#![allow(missing_docs)]

use std::io::Write;

use flametop_stream::{Counter, State};

#[allow(dead_code)]
#[path = "../tests/model/mod.rs"]
mod model;

fn main() {
    let mut target = "all".to_owned();
    let (mut passes, mut hz) = (20, 19);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match arg.as_str() {
            "--pid" => target = format!("pid {value}"),
            "--passes" => passes = value.parse().unwrap_or(passes),
            "--hz" => hz = value.parse().unwrap_or(hz),
            _ => {
                eprintln!("usage: snapshot [--pid N[,N]] [--passes N] [--hz N]");
                std::process::exit(2);
            }
        }
    }
    let mut recording = model::Recording::open(&format!("target={target}"));
    recording.run(hz, passes * 1000 / hz);
    recording.name_all();
    let m = &recording.model;
    let mut out = std::io::stdout().lock();
    for task in m.tasks.iter().filter(|t| t.gone.is_none()) {
        let Some(now) = task.now else { continue };
        let process = &m.processes[task.process as usize];
        if now.state == State::IdleKthread {
            continue;
        }
        let _ = writeln!(
            out,
            "{} {} ({}) {:?}, {} changes, {} samples",
            process.tgid,
            task.tid,
            task.comm.escape_debug(),
            now.state,
            task.changes,
            task.samples.len()
        );
        let sampled = task.samples.last();
        for head in [Some(&now), sampled].into_iter().flatten() {
            let Some(stack) = head.stack else { continue };
            let end = m.stacks[stack as usize].end;
            let _ = writeln!(out, "    {end:?}");
            for name in m.names(stack) {
                let _ = writeln!(out, "    {}", name.escape_debug());
            }
        }
    }
    let short: Vec<String> = m
        .stacks
        .iter()
        .fold(std::collections::BTreeMap::new(), |mut by, s| {
            *by.entry(s.end.0).or_insert(0) += 1;
            by
        })
        .into_iter()
        .map(|(end, n)| format!("{:?} {n}", flametop_stream::End(end)))
        .collect();
    let _ = writeln!(
        out,
        "{} stacks ({}), {} frames, {} modules, {} bytes of stream",
        m.stacks.len(),
        short.join(", "),
        m.frames.len(),
        m.modules.len(),
        recording.bytes.len()
    );
    let _ = writeln!(
        out,
        "{} tasks, counters {:?}",
        m.counter(Counter::Tasks),
        m.counters
    );
    for notice in &m.notices {
        let _ = writeln!(out, "notice: {notice}");
    }
}
