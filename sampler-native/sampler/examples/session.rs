//! The native side alone, for `bench/run`: makes passes, asks for the name of every frame, and keeps nothing of the stream,
//! until a signal ends it. `session PASS_HZ CPU_HZ SYMBOLIZER`, as root.

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

fn run(pass_hz: u32, cpu_hz: u32, symbolizer: &str) -> Result<(), Box<dyn Error>> {
    let session = Session::open(&format!(
        "target=all\nhz.pass={pass_hz}\nhz.cpu={cpu_hz}\nsymbolizer={symbolizer}"
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
            if let Record::FrameSeen { frame, .. } = record? {
                asked.push(frame);
            }
        }
        wishes.ask_names(&asked);
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers = || Some((words.first()?.parse().ok()?, words.get(1)?.parse().ok()?));
    let (Some((pass_hz, cpu_hz)), Some(symbolizer)) = (numbers(), words.get(2)) else {
        eprintln!("usage: session PASS_HZ CPU_HZ SYMBOLIZER");
        return ExitCode::from(2);
    };
    match run(pass_hz, cpu_hz, symbolizer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("session: {error}");
            ExitCode::FAILURE
        }
    }
}
