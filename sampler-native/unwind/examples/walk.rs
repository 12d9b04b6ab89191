//! Prints the user stacks of all threads of processes, each thread stopped for a moment with ptrace.
//!
//! `walk [--compare] [--time] PID...`
//!
//! `--compare` runs elfutils' `eu-stack` on the same processes and says which share of its frames is here too,
//! in order: of threads that sleep meanwhile. `--time` walks each stack again and again, and says what a frame
//! costs with warm caches.

#[path = "../tests/stopped/mod.rs"]
mod stopped;

use flametop_unwind::{Frame, Input, Modules, Piece, ProcessMaps, Unwinder};
use nix::{
    sys::time::TimeValLike,
    time::{ClockId, clock_gettime},
};
use std::{collections::HashMap, env, io, process::Command, time::Instant};
use stopped::{STACK, Stopped, threads};

const REPEAT: u32 = 20_000;

fn main() -> io::Result<()> {
    let (options, pids): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|a| a.starts_with("--"));
    let has = |option: &str| options.iter().any(|given| given == option);
    let mut modules = Modules::new(128 << 20);
    let mut unwinder = Unwinder::new();
    let (mut theirs_total, mut found_total) = (0, 0);
    for pid in pids.iter().filter_map(|pid| pid.parse::<u32>().ok()) {
        let theirs = if has("--compare") {
            eu_stack(pid)?
        } else {
            HashMap::new()
        };
        let start = Instant::now();
        let mut maps = ProcessMaps::read(pid, &mut modules)?;
        let first = start.elapsed();
        if has("--time") {
            let start = Instant::now();
            maps.refresh(&mut modules)?;
            println!(
                "PID {pid}: mappings read in {first:?}, again in {:?}",
                start.elapsed()
            );
        }
        for tid in threads(pid) {
            let Ok(stopped) = Stopped::stop(pid, tid) else {
                continue;
            };
            let (frames, outcome, asked) = stopped.walk(&mut unwinder, &maps, &mut modules, 8);
            println!(
                "TID {tid}: {:?}, {} frames, {asked} more pieces",
                outcome.end,
                frames.len()
            );
            let addresses: Vec<u64> = frames
                .iter()
                .map(|f| maps.address(f.module, f.offset).unwrap_or_default())
                .collect();
            for (frame, address) in frames.iter().zip(&addresses) {
                println!("  {address:#018x} {}", describe(&mut modules, frame));
            }
            if let Some(theirs) = theirs.get(&tid) {
                let found = in_order(theirs, &addresses);
                theirs_total += theirs.len();
                found_total += found;
                if found < theirs.len() {
                    println!(
                        "  eu-stack has {} frames, {} not here:",
                        theirs.len(),
                        theirs.len() - found
                    );
                    for (address, line) in theirs {
                        let here = addresses.iter().any(|ours| ours.abs_diff(*address) <= 1);
                        println!("    {}{line}", if here { "" } else { "MISSING " });
                    }
                }
            }
            if has("--time") {
                time(&stopped, &mut unwinder, &maps, &mut modules);
            }
        }
    }
    if has("--compare") {
        let share = 100.0 * found_total as f64 / f64::from(theirs_total.max(1) as u32);
        println!(
            "{found_total} of {theirs_total} frames of eu-stack are here, in order: {share:.1} %"
        );
    }
    Ok(())
}

fn describe(modules: &mut Modules, frame: &Frame) -> String {
    let function = modules.function_start(frame.module, frame.offset);
    let root = modules.root_name(frame.module, frame.offset);
    let path = String::from_utf8_lossy(modules.get(frame.module).path())
        .escape_debug()
        .to_string();
    let function = function.map_or(String::new(), |start| format!(" fn@{start:#x}"));
    let mark = if frame.guessed { " guessed" } else { "" };
    format!(
        "{path}+{:#x}{function}{mark} {}",
        frame.offset,
        root.unwrap_or_default()
    )
}

/// Frames of each thread by eu-stack: address and line.
fn eu_stack(pid: u32) -> io::Result<HashMap<u32, Vec<(u64, String)>>> {
    let output = Command::new("eu-stack")
        .args(["-n", "0", "-p", &pid.to_string()])
        .output()?;
    let mut stacks: HashMap<u32, Vec<(u64, String)>> = HashMap::new();
    let mut tid = 0;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(thread) = line.strip_prefix("TID ") {
            tid = thread.trim_end_matches(':').parse().unwrap_or_default();
        } else if let Some(address) = line
            .split_whitespace()
            .nth(1)
            .and_then(|a| a.strip_prefix("0x"))
        {
            let address = u64::from_str_radix(address, 16).unwrap_or_default();
            stacks
                .entry(tid)
                .or_default()
                .push((address, line.to_string()));
        }
    }
    Ok(stacks)
}

/// Length of the longest common subsequence; a caller's address may be one less.
fn in_order(theirs: &[(u64, String)], ours: &[u64]) -> usize {
    let mut best = vec![0; ours.len() + 1];
    for (address, _) in theirs {
        let mut diagonal = 0;
        for (index, our) in ours.iter().enumerate() {
            let above = best[index + 1];
            let same = our == address || our.wrapping_add(1) == *address;
            best[index + 1] = if same {
                diagonal + 1
            } else {
                above.max(best[index])
            };
            diagonal = above;
        }
    }
    best[ours.len()]
}

fn time(stopped: &Stopped, unwinder: &mut Unwinder, maps: &ProcessMaps, modules: &mut Modules) {
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
    let mut frames = Vec::new();
    let start = cpu_nanos();
    let mut walked = 0;
    for _ in 0..REPEAT {
        unwinder.walk(maps, modules, &input, &mut frames);
        walked += frames.len();
    }
    println!(
        "  {:.1} ns a frame",
        (cpu_nanos() - start) as f64 / walked.max(1) as f64
    );
}

/// CPU time of this thread: what others run meanwhile does not count.
fn cpu_nanos() -> i64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, |time| time.num_nanoseconds())
}
