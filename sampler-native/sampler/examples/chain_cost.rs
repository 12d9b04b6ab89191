//! What the copy of Python's frames costs a sample of the CPU clock: rounds with and without the copy take turns beside one program.
//!
//! `chain_cost [PYTHON] [DEPTH] [SECONDS]`, as root: the interpreter, how deep its functions are nested, and how long each of eight rounds takes;
//! by default python3, 30 and 4.

use std::{
    error::Error,
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use flametop_kernel::{Chain, Kernel, Settings, Target, abi::FT_KIND_CPU};
use flametop_runtimes::{Attached, Interpreted, Known, Lack, Names, Runs, Stack, Thread};
use flametop_sampler::chain_of;
use flametop_unwind::{Modules, ProcessFolder, ProcessMaps, read_code};

const HZ: u32 = 999;
const ROUNDS: usize = 8;
/// Before what is measured.
const WARM: Duration = Duration::from_millis(500);
/// Bytes before the nodes of a copied chain, and of a node.
const HEAD: usize = 48;
const NODE: u64 = 48;
/// Spins at the depth that it is told.
const LOAD: &str = "
import sys
def f(n):
    if n:
        return f(n - 1)
    x = 0
    while True:
        x = x * 31 % 1000003
f(int(sys.argv[1]) - 2)
";

/// A child that is killed and reaped at the end.
struct Load(Child);

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Nowhere;

impl Stack for Nowhere {
    fn word(&self, _: u64) -> Option<u64> {
        None
    }
}

/// The first thread of a process, as CPython knows it.
fn thread_of(process: &ProcessFolder, attached: &Attached, tid: u32) -> Option<Thread> {
    let (mut known, mut names) = (Known::default(), Names::default());
    let nothing = Interpreted {
        thread: tid,
        copied: &[],
    };
    for turn in 0..2 {
        known.begin(turn);
        attached.interpreted(&mut known, &nothing, &Nowhere, &mut Runs::default());
        let asks = known.take_asks();
        let found = read_code(process, attached, &[Lack::Thread(tid, tid)]).ok();
        known.come(&asks, found, &mut names, turn);
    }
    known.take_uncopied()
}

/// What one round saw.
#[derive(Default)]
struct Seen {
    samples: u64,
    /// Nodes of chains, in all samples.
    nodes: u64,
    /// How long the clock's program ran, ns.
    nanos: u64,
}

fn round(tid: u32, chain: Option<Chain>, time: Duration) -> Result<Seen, Box<dyn Error>> {
    let (mut kernel, mut rings) = Kernel::open(&Settings {
        target: Target::Threads(vec![tid]),
        cpu_hz: HZ,
        ..Settings::default()
    })?;
    kernel.count_program_time(true);
    let mut poll = |time: Duration| -> Result<(Seen, u32), Box<dyn Error>> {
        let (mut seen, mut image) = (Seen::default(), 0);
        let begin = Instant::now();
        while begin.elapsed() < time {
            rings.poll(Duration::from_millis(20), &mut |record| {
                if record.head.tid == tid && u32::from(record.head.kind) == FT_KIND_CPU {
                    image = record.head.image;
                    seen.samples += 1;
                    let copied = record.stack.map_or(0, |stack| stack.chain().len());
                    seen.nodes += copied.saturating_sub(HEAD) as u64 / NODE;
                }
            })?;
        }
        Ok((seen, image))
    };
    let (_, image) = poll(WARM)?;
    if let Some(chain) = chain {
        kernel.follow(&Chain { image, ..chain })?;
    }
    poll(WARM)?;
    let nanos = || {
        let programs = kernel.programs();
        let clock = programs.iter().find(|program| program.name == "cpu_stacks");
        clock.map_or(0, |clock| clock.nanos)
    };
    let before = nanos();
    let (seen, _) = poll(time)?;
    // The figure is up to a fifth of a second old.
    Ok(Seen {
        nanos: nanos() - before,
        ..seen
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let python = words.next().unwrap_or_else(|| "python3".to_owned());
    let depth = words.next().unwrap_or_else(|| "30".to_owned());
    let seconds: u64 = words.next().map_or(Ok(4), |word| word.parse())?;
    let load = Load(Command::new(&python).args(["-c", LOAD, &depth]).spawn()?);
    sleep(WARM);
    let tid = load.0.id();
    let process = ProcessFolder::open(tid)?;
    let maps = ProcessMaps::read(tid, &mut Modules::new(64 << 20))?;
    let attached = maps.attached().ok_or("CPython does not tell of itself")?;
    let thread = thread_of(&process, attached, tid).ok_or("CPython does not know the thread")?;
    let chain = attached.chain(&thread).ok_or("it has no chain")?;
    let chain = chain_of(tid, 0, chain);
    let mut sums = [Seen::default(), Seen::default()];
    for turn in 0..ROUNDS {
        let copies = turn % 2;
        let seen = round(
            tid,
            (copies == 1).then_some(chain),
            Duration::from_secs(seconds),
        )?;
        println!("{} {}", ["without", "with"][copies], text(&seen));
        let sum = &mut sums[copies];
        sum.samples += seen.samples;
        sum.nodes += seen.nodes;
        sum.nanos += seen.nanos;
    }
    println!("all without: {}", text(&sums[0]));
    println!("all with: {}", text(&sums[1]));
    Ok(())
}

fn text(seen: &Seen) -> String {
    let samples = seen.samples.max(1);
    format!(
        "{} samples, {:.1} nodes and {} ns each",
        seen.samples,
        seen.nodes as f64 / samples as f64,
        seen.nanos / samples
    )
}
