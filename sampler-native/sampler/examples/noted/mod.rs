//! Taking the stacks of one process whose threads keep their chain of calls in a variable on their own stacks
//! (`bench/programs/chain.c`, `bench/programs/java.c`), and finding that variable.

use std::{
    error::Error,
    thread::sleep,
    time::{Duration, Instant},
};

use flametop_kernel::{
    Kernel, Reach, Settings, Target, Whose, abi,
    record::{Head, StackPart},
};

const MAGIC: [u64; 2] = [0x666c_616d_6574_6f70, 0x7472_7574_6863_6861];
/// Copied of a stack that does not hold the variable in its first bytes.
const DEEPER: Reach = Reach {
    stack: abi::FT_CPU_STACK,
    piece: 0,
    near: 0,
    follow: false,
    walk: false,
};

/// `next` on the way into a library and out of it.
pub const LIBRARY: u32 = 100;

/// The chain of calls that a thread notes.
pub struct Noted {
    /// Numbers of the functions, the outermost first: of `f0` it is 1.
    pub chain: Vec<u32>,
    /// The function that is called or left at this moment, 0 for none.
    pub next: u32,
}

impl Noted {
    /// Nothing if the variable is not whole in the copied stack.
    pub fn find(stack: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = stack.get(at..at + 8)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let mut places = (0..stack.len()).step_by(8);
        let at =
            places.find(|at| word(*at) == Some(MAGIC[0]) && word(*at + 8) == Some(MAGIC[1]))?;
        let half = |i: usize| {
            let word = word(at + 16 + i / 2 * 8)?;
            Some((word >> (32 * (i % 2))) as u32)
        };
        let (depth, next) = (half(0)?, half(1)?);
        let chain: Option<Vec<u32>> = (0..depth as usize).map(|i| half(2 + i)).collect();
        Some(Self {
            chain: chain?,
            next,
        })
    }

    /// The chain with the function that is called or left.
    pub fn with_next(&self) -> Vec<u32> {
        let mut chain = self.chain.clone();
        chain.push(self.next);
        chain
    }
}

/// How often stacks are taken, a second.
pub struct Rates {
    pub cpu: u32,
    pub passes: u32,
}

/// Takes stacks of a process by the CPU clock and by passes; for at most twice `seconds` where `see` is slow.
///
/// `see` returns whether more of this thread's stack shall be copied from now on.
pub fn take(
    pid: u32,
    rates: &Rates,
    seconds: Duration,
    mut see: impl FnMut(&Head, Option<&StackPart<'_>>) -> bool,
) -> Result<(), Box<dyn Error>> {
    let (mut kernel, mut rings) = Kernel::open(&Settings {
        target: Target::Processes(vec![pid]),
        cpu_hz: rates.cpu,
        ..Settings::default()
    })?;
    let begin = Instant::now();
    let mut due = Duration::ZERO;
    let mut deeper = Vec::new();
    while due < seconds && begin.elapsed() < 2 * seconds {
        kernel.pass(false, &mut |record| {
            if see(record.head, record.stack.as_ref()) {
                deeper.push(record.head.tid);
            }
        })?;
        rings.poll(Duration::ZERO, &mut |record| {
            if see(record.head, record.stack.as_ref()) {
                deeper.push(record.head.tid);
            }
        })?;
        for tid in deeper.drain(..) {
            rings.reach(Whose::Thread(tid), DEEPER)?;
        }
        due += Duration::from_secs(1) / rates.passes;
        sleep(due.saturating_sub(begin.elapsed()));
    }
    Ok(())
}
