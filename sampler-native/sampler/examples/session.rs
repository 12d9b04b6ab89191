//! The native side alone, for `bench/run` and `bench/price`: makes passes, asks for the name of every frame, and keeps nothing of the stream,
//! until a signal ends it. `session PASS_HZ CPU_HZ SYMBOLIZER`, as root.
//!
//! `session PASS_HZ CPU_HZ SYMBOLIZER PID SECONDS` takes one process only, and after some time prints lines `key value` of so many seconds: the
//! samples of the CPU clock and the changes of tasks that passes saw, and the CPU time of this process, its children and its BPF programs, µs.

use std::{
    error::Error,
    io::{self, Read},
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

use flametop_sampler::{Session, raise_priority};
use flametop_stream::{BATCH_MORE, Reader, Record};

/// The stream of a session, as it comes.
struct Live {
    session: Session,
    period: Duration,
    due: Instant,
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl Live {
    fn next_batch(&mut self) -> anyhow::Result<usize> {
        let more = u16::from_le_bytes([self.bytes[20], self.bytes[21]]) & BATCH_MORE != 0;
        let mut late = 0;
        if !more {
            self.due += self.period;
            while self.due < Instant::now() {
                self.due += self.period;
                late += 1;
            }
            sleep(self.due.saturating_duration_since(Instant::now()));
        }
        self.session.fill(&mut self.bytes, true, late)
    }
}

impl Read for Live {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.end {
            self.end = self.next_batch().map_err(io::Error::other)?;
            self.at = 0;
        }
        let count = out.len().min(self.end - self.at);
        out[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Before what is measured: code and names become known.
const WARM: Duration = Duration::from_secs(6);

/// The measurement of one process: samples, changes and CPU time.
struct Price {
    begin: Instant,
    time: Duration,
    /// CPU time of all that is flametop's, as last told, ns; and when what is measured began.
    own_cpu: u64,
    before: Option<u64>,
    samples: u64,
    changes: u64,
}

impl Price {
    fn see(&mut self, record: &Record<'_>) {
        if let Record::HostUsage { own_cpu, .. } = record {
            self.own_cpu = *own_cpu;
        }
        if self.before.is_some() {
            self.samples += u64::from(matches!(record, Record::CpuSample(_)));
            self.changes += u64::from(matches!(record, Record::TaskChanged(_)));
        }
    }

    /// Goes on after a batch. Returns false once the time is over and the figures are printed.
    fn goes_on(&mut self) -> bool {
        let Some(before) = self.before else {
            if self.begin.elapsed() >= WARM {
                (self.begin, self.before) = (Instant::now(), Some(self.own_cpu));
            }
            return true;
        };
        if self.begin.elapsed() < self.time {
            return true;
        }
        println!("samples {}", self.samples);
        println!("changes {}", self.changes);
        println!("cpu {}", (self.own_cpu - before) / 1000);
        false
    }
}

fn run(
    [pass_hz, cpu_hz]: [u32; 2],
    symbolizer: &str,
    target: &str,
    mut price: Option<Price>,
) -> Result<(), Box<dyn Error>> {
    let session = Session::open(&format!(
        "target={target}\nhz.pass={pass_hz}\nhz.cpu={cpu_hz}\nsymbolizer={symbolizer}"
    ))?;
    raise_priority()?;
    let wishes = session.wishes();
    let header = session.header().to_vec();
    let live = Live {
        session,
        period: Duration::from_secs(1) / pass_hz,
        due: Instant::now(),
        bytes: vec![0; 1 << 20],
        at: 0,
        end: 0,
    };
    let mut reader = Reader::new(header.as_slice().chain(live))?;
    while let Some(batch) = reader.next_batch()? {
        let mut asked = Vec::new();
        for record in batch.records() {
            let record = record?;
            if let Some(price) = &mut price {
                price.see(&record);
            }
            if let Record::FrameSeen { frame, .. } = record {
                asked.push(frame);
            }
        }
        wishes.ask_names(&asked);
        if let Some(price) = &mut price
            && !price.goes_on()
        {
            break;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| words.get(index)?.parse::<u32>().ok();
    let (Some(pass_hz), Some(cpu_hz), Some(symbolizer)) = (number(0), number(1), words.get(2))
    else {
        eprintln!("usage: session PASS_HZ CPU_HZ SYMBOLIZER [PID SECONDS]");
        return ExitCode::from(2);
    };
    let price = number(4).map(|seconds| Price {
        begin: Instant::now(),
        time: Duration::from_secs(seconds.into()),
        own_cpu: 0,
        before: None,
        samples: 0,
        changes: 0,
    });
    let target = number(3).map_or_else(|| "all".to_owned(), |pid| format!("pid {pid}"));
    match run([pass_hz, cpu_hz], symbolizer, &target, price) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("session: {error}");
            ExitCode::FAILURE
        }
    }
}
