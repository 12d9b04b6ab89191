//! Prints the user stacks of all threads of processes, each thread stopped for a moment with ptrace.
//!
//! `walk [--compare] [--time] PID...`
//!
//! `--compare` stops each process (SIGSTOP) wherever its threads happen to be, asleep or on a CPU, lets elfutils'
//! `eu-stack` look at it too, and lets it go on: which share of eu-stack's frames is here too, in order, and how
//! many stacks are whole. What eu-stack takes for a frame outside all code is left out. It prints the stacks that differ, and those that are not whole. `--time` walks each
//! stack again and again, and says what a frame costs with warm caches.

#[path = "../tests/stopped/mod.rs"]
mod stopped;

use flametop_unwind::{End, Frame, Modules, ProcessMaps, Unwinder};
use nix::{
    sys::{
        signal::{Signal, kill},
        time::TimeValLike,
    },
    time::{ClockId, clock_gettime},
    unistd::Pid,
};
use std::{
    collections::{BTreeMap, HashMap},
    env, fs, io,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use stopped::{Stopped, threads};

const REPEAT: u32 = 20_000;
/// Pieces of stack that a walk may ask for: as many as make 256 KiB.
const PIECES: usize = 30;

/// What was compared.
#[derive(Default)]
struct Totals {
    stacks: usize,
    whole: usize,
    theirs: usize,
    found: usize,
    ends: BTreeMap<String, usize>,
}

impl Totals {
    fn add(&mut self, other: &Totals) {
        self.stacks += other.stacks;
        self.whole += other.whole;
        self.theirs += other.theirs;
        self.found += other.found;
        for (end, count) in &other.ends {
            *self.ends.entry(end.clone()).or_default() += count;
        }
    }

    fn print(&self, what: &str) {
        let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        println!(
            "{what:24} {} of {} stacks whole: {:.1} %; {} of {} frames of eu-stack in order: {:.1} %  {:?}",
            self.whole,
            self.stacks,
            share(self.whole, self.stacks),
            self.found,
            self.theirs,
            share(self.found, self.theirs),
            self.ends
        );
    }
}

fn main() -> io::Result<()> {
    let (options, pids): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|a| a.starts_with("--"));
    let has = |option: &str| options.iter().any(|given| given == option);
    let mut modules = Modules::new(128 << 20);
    let mut unwinder = Unwinder::new();
    let mut all = Totals::default();
    for pid in pids.iter().filter_map(|pid| pid.parse::<u32>().ok()) {
        let held = if has("--compare") {
            Some(Held::stop(pid)?)
        } else {
            None
        };
        let totals = process(pid, &has, &mut modules, &mut unwinder);
        drop(held);
        match totals {
            Ok(totals) => {
                if has("--compare") {
                    let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                    totals.print(&format!("{pid} {}", comm.trim().escape_debug()));
                }
                all.add(&totals);
            }
            Err(error) => println!("PID {pid}: {error}"),
        }
    }
    if has("--compare") {
        all.print("all");
    }
    Ok(())
}

/// A process that is stopped until this is dropped.
struct Held(Pid);

impl Held {
    fn stop(pid: u32) -> io::Result<Held> {
        let held = Held(Pid::from_raw(pid as i32));
        kill(held.0, Signal::SIGSTOP)?;
        let stopped = |tid: u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat"));
            let state = stat
                .ok()
                .and_then(|stat| stat.rsplit(')').next()?.trim().chars().next());
            state.is_none_or(|state| "TtZX".contains(state))
        };
        while !threads(pid).into_iter().all(stopped) {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It may be gone, and then there is nothing to let go.
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

fn process(
    pid: u32,
    has: &dyn Fn(&str) -> bool,
    modules: &mut Modules,
    unwinder: &mut Unwinder,
) -> io::Result<Totals> {
    let mut theirs = if has("--compare") {
        eu_stack(pid)?
    } else {
        HashMap::new()
    };
    let start = Instant::now();
    let mut maps = ProcessMaps::read(pid, modules)?;
    let first = start.elapsed();
    if has("--time") {
        let start = Instant::now();
        maps.refresh(modules)?;
        println!(
            "PID {pid}: mappings read in {first:?}, again in {:?}",
            start.elapsed()
        );
    }
    for frames in theirs.values_mut() {
        frames.retain(|(address, _)| maps.is_executable(address.wrapping_sub(1)));
    }
    let mut totals = Totals::default();
    for tid in threads(pid) {
        let Ok(stopped) = Stopped::stop(pid, tid) else {
            continue;
        };
        let (frames, outcome, asked) = stopped.walk(unwinder, &maps, modules, PIECES);
        let addresses: Vec<u64> = frames
            .iter()
            .map(|f| maps.address(f.module, f.offset).unwrap_or_default())
            .collect();
        let theirs = theirs.get(&tid).map_or(&[][..], Vec::as_slice);
        let found = in_order(theirs, &addresses);
        let whole = outcome.end == End::Root;
        totals.stacks += 1;
        totals.whole += usize::from(whole);
        totals.theirs += theirs.len();
        totals.found += found;
        *totals.ends.entry(format!("{:?}", outcome.end)).or_default() += 1;
        if !has("--compare") || !whole || found < theirs.len() {
            println!(
                "TID {tid}: {:?}, {} frames, {asked} more pieces",
                outcome.end,
                frames.len()
            );
            for (frame, address) in frames.iter().zip(&addresses) {
                println!("  {address:#018x} {}", describe(modules, frame));
            }
        }
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
        if has("--time") {
            time(&stopped, unwinder, &maps, modules);
        }
    }
    Ok(totals)
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
    let mut frames = Vec::new();
    let start = cpu_nanos();
    let mut walked = 0;
    stopped.copied(|input| {
        for _ in 0..REPEAT {
            unwinder.walk(maps, modules, input, &mut frames);
            walked += frames.len();
        }
    });
    println!(
        "  {:.1} ns a frame",
        (cpu_nanos() - start) as f64 / walked.max(1) as f64
    );
}

/// CPU time of this thread: what others run meanwhile does not count.
fn cpu_nanos() -> i64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, |time| time.num_nanoseconds())
}
