//! `beside STREAM COMM FROM TO FUNCTION…`: how well the program COMM was seen beside others, as `key value` lines: passes and the rates
//! at the end of FROM to TO (ns), the longest time between two passes, the seconds from its start until a stack on a CPU and one off it were there with all of these
//! functions, and the share of its stacks after that which are whole and have the first of them.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::BufReader,
};

use flametop_stream::{Counter, End, Head, Reader, Record, State};

/// Ids are given anew once they are forgotten, so that things are held by their places here.
#[derive(Default)]
struct Seen {
    processes: HashSet<u32>,
    tasks: HashSet<u32>,
    /// When the first of these tasks began.
    began: Option<u64>,
    stack_of: HashMap<u32, usize>,
    stacks: Vec<Vec<usize>>,
    frame_of: HashMap<u32, usize>,
    names: Vec<Vec<u8>>,
    sights: Vec<Sight>,
}

/// One of these tasks, seen with a stack or without one.
struct Sight {
    /// Of the batch.
    time: u64,
    on_cpu: bool,
    whole: bool,
    stack: Option<usize>,
}

impl Seen {
    fn is_named(&self, sight: &Sight, functions: &[String]) -> bool {
        let stack = sight.stack.map(|stack| &self.stacks[stack][..]);
        let names: Vec<&[u8]> = stack
            .unwrap_or_default()
            .iter()
            .map(|frame| &self.names[*frame][..])
            .collect();
        sight.whole && functions.iter().all(|f| names.contains(&f.as_bytes()))
    }

    fn see(&mut self, time: u64, on_cpu: bool, head: &Head) {
        if self.tasks.contains(&head.task) {
            let stack = head.stack.and_then(|stack| self.stack_of.get(&stack));
            self.sights.push(Sight {
                time,
                on_cpu,
                whole: head.why == End::Root,
                stack: stack.copied(),
            });
        }
    }

    fn read(&mut self, time: u64, record: &Record<'_>, wanted: &[u8]) {
        match record {
            Record::ProcessSeen { process, comm, .. } if *comm == wanted => {
                self.processes.insert(*process);
            }
            Record::TaskSeen {
                task,
                process,
                start,
                ..
            } if self.processes.contains(process) => {
                self.tasks.insert(*task);
                self.began.get_or_insert(*start);
            }
            Record::FrameSeen { frame, .. } => {
                self.frame_of.insert(*frame, self.names.len());
                self.names.push(Vec::new());
            }
            Record::StackSeen { stack, frames, .. } => {
                self.stack_of.insert(*stack, self.stacks.len());
                let frames = frames.iter().map(|frame| self.frame_of[frame]);
                self.stacks.push(frames.collect());
            }
            Record::Name { frame, name, .. } => {
                self.names[self.frame_of[frame]] = name.to_vec();
            }
            Record::CpuSample(head) => self.see(time, true, head),
            Record::TaskChanged(head) if head.state == State::Sleep => {
                self.see(time, false, head);
            }
            _ => {}
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || {
        arguments
            .next()
            .expect("beside STREAM COMM FROM TO FUNCTION…")
    };
    let (path, comm, from, to) = (next(), next(), next(), next());
    let functions: Vec<String> = arguments.collect();
    let nanos = |text: String| -> u64 { text.parse().expect("nanoseconds") };
    let (from, to) = (nanos(from), nanos(to));
    let file = File::open(&path).expect("the stream opens");
    let mut reader = Reader::new(BufReader::new(file)).expect("it is a stream");
    let mut seen = Seen::default();
    let (mut first, mut last) = (None, None);
    let (mut passed, mut gap) = (None, 0);
    let mut named: [Option<u64>; 2] = [None; 2];
    let mut rates = (0, 0);
    while let Ok(Some(batch)) = reader.next_batch() {
        let time = batch.time;
        if batch.pass && (from..to).contains(&time) {
            gap = gap.max(time - passed.unwrap_or(time));
            passed = Some(time);
        }
        for record in batch.records() {
            match record.expect("a record") {
                Record::Counters(totals) if (from..to).contains(&time) => {
                    first.get_or_insert(totals);
                    last = Some(totals);
                }
                Record::HostUsage {
                    pass_hz, cpu_hz, ..
                } if time < to => rates = (pass_hz, cpu_hz),
                record => seen.read(time, &record, comm.as_bytes()),
            }
        }
        for (on_cpu, named) in named.iter_mut().enumerate() {
            let is_named = |sight: &Sight| {
                usize::from(sight.on_cpu) == on_cpu && seen.is_named(sight, &functions)
            };
            if named.is_none() && seen.sights.iter().any(is_named) {
                *named = Some(time);
            }
        }
    }
    let (Some(first), Some(last)) = (first, last) else {
        println!("passes.due 0");
        return;
    };
    let since = |counter: Counter| last[counter as usize] - first[counter as usize];
    println!("passes.due {}", since(Counter::PassesDue));
    println!("passes.made {}", since(Counter::PassesMade));
    println!("passes.worst_gap_ms {}", gap / 1_000_000);
    println!("pass_hz {}\ncpu_hz {}", rates.0, rates.1);
    let began = seen.began.unwrap_or(u64::MAX);
    if let [Some(off), Some(on)] = named {
        let named = off.max(on);
        println!("named_s {:.2}", named.saturating_sub(began) as f64 / 1e9);
        let later = |sight: &&Sight| sight.time > named;
        let all = seen.sights.iter().filter(later).count();
        let whole = |sight: &&Sight| seen.is_named(sight, &functions[..1]);
        let whole = seen.sights.iter().filter(later).filter(whole).count();
        println!("seen {all}");
        if all > 0 {
            println!("whole % {:.1}", 100.0 * whole as f64 / all as f64);
        }
    }
    println!("samples.dropped {}", since(Counter::CpuDropped));
}
