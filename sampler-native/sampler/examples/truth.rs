//! Holds walked stacks against the truth: takes stacks of `bench/programs/chain.c`, which keeps its chain of calls in a variable on
//! its own stack, by the CPU clock and by passes, walks them, and compares. Used by `bench/truth`.
//!
//! `truth PID PROGRAM SYMBOLS SECONDS`, as root. SYMBOLS is what `nm -S PROGRAM` prints. Prints lines `key value`.

use std::{
    collections::BTreeMap,
    error::Error,
    thread::sleep,
    time::{Duration, Instant},
};

use flametop_kernel::{
    Kernel, Reach, Settings, Target, Whose, abi,
    record::{Head, StackPart},
};
use flametop_unwind::{End, Frame, Input, ModuleKind, Modules, Piece, ProcessMaps, Unwinder};

const MAGIC: [u64; 2] = [0x666c_616d_6574_6f70, 0x7472_7574_6863_6861];
const CPU_HZ: u32 = 499;
const PASS_HZ: u32 = 99;
/// Copied of a stack that does not hold the variable in its first bytes.
const DEEPER: Reach = Reach {
    stack: abi::FT_CPU_STACK,
    piece: 0,
    near: 0,
    follow: false,
    walk: false,
};
/// What `next` says on the way into a library and out of it.
const LIBRARY: u32 = 100;

/// One function of the program.
enum Function {
    /// `f0` is 1, as in the variable.
    Noted(u32),
    Outermost,
}

#[derive(Default)]
struct Tally {
    samples: u64,
    leaf_right: u64,
    whole: u64,
    whole_wrong: u64,
    without_variable: u64,
    without_stack: u64,
    shown: u32,
}

struct Truth {
    program: Vec<u8>,
    functions: BTreeMap<u64, (u64, Function)>,
    modules: Modules,
    maps: ProcessMaps,
    unwinder: Unwinder,
    frames: Vec<Frame>,
    clock: Tally,
    passes: Tally,
    deeper: Vec<u32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pid, program, symbols, seconds] = words.as_slice() else {
        return Err("usage: truth PID PROGRAM SYMBOLS SECONDS".into());
    };
    let pid: u32 = pid.parse()?;
    let mut modules = Modules::new(64 << 20);
    let maps = ProcessMaps::read(pid, &mut modules)?;
    let mut truth = Truth {
        program: program.clone().into_bytes(),
        functions: functions(&std::fs::read_to_string(symbols)?),
        modules,
        maps,
        unwinder: Unwinder::new(),
        frames: Vec::new(),
        clock: Tally::default(),
        passes: Tally::default(),
        deeper: Vec::new(),
    };
    let (mut kernel, mut rings) = Kernel::open(&Settings {
        target: Target::Processes(vec![pid]),
        cpu_hz: CPU_HZ,
        ..Settings::default()
    })?;
    let begin = Instant::now();
    let mut due = Duration::ZERO;
    while due < Duration::from_secs(seconds.parse()?) {
        kernel.pass(false, &mut |record| {
            truth.see(record.head, record.stack.as_ref())
        })?;
        rings.poll(Duration::ZERO, &mut |record| {
            truth.see(record.head, record.stack.as_ref());
        })?;
        for tid in truth.deeper.drain(..) {
            rings.reach(Whose::Thread(tid), DEEPER)?;
        }
        due += Duration::from_secs(1) / PASS_HZ;
        sleep(due.saturating_sub(begin.elapsed()));
    }
    truth.clock.print("cpu");
    truth.passes.print("pass");
    Ok(())
}

fn functions(symbols: &str) -> BTreeMap<u64, (u64, Function)> {
    let function = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let start = u64::from_str_radix(words.next()?, 16).ok()?;
        let size = u64::from_str_radix(words.next()?, 16).ok()?;
        let name = words.nth(1)?;
        let function = match name.strip_prefix('f').map(str::parse::<u32>) {
            Some(Ok(number)) => Function::Noted(number + 1),
            _ if name == "outermost" => Function::Outermost,
            _ => return None,
        };
        Some((start, (start + size, function)))
    };
    symbols.lines().filter_map(function).collect()
}

impl Truth {
    fn see(&mut self, head: &Head, stack: Option<&StackPart<'_>>) {
        let (clock, kind) = match u32::from(head.kind) {
            abi::FT_KIND_CPU => (true, "CPU clock"),
            abi::FT_KIND_TASK if head.tid != head.tgid => (false, "pass"),
            _ => return,
        };
        if u32::from(head.state) == abi::FT_STATE_RUN && !clock {
            return;
        }
        let seen = stack
            .filter(|s| !s.user.is_empty())
            .map(|s| self.compare(s));
        let tally = if clock {
            &mut self.clock
        } else {
            &mut self.passes
        };
        match seen {
            None => tally.without_stack += 1,
            Some(None) => {
                tally.without_variable += 1;
                if clock {
                    self.deeper.push(head.tid);
                }
            }
            Some(Some(seen)) => {
                tally.samples += 1;
                tally.leaf_right += u64::from(seen.leaf_right);
                tally.whole += u64::from(seen.whole);
                tally.whole_wrong += u64::from(seen.whole && !seen.right);
                if seen.whole && !seen.right && tally.shown < 10 {
                    tally.shown += 1;
                    eprintln!("{kind}: {}", seen.told);
                }
            }
        }
    }

    /// Nothing if the variable is not in what was copied.
    fn compare(&mut self, stack: &StackPart<'_>) -> Option<Seen> {
        let word = |at: usize| {
            let bytes = stack.user.get(at..at + 8)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let mut places = (0..stack.user.len()).step_by(8);
        let at =
            places.find(|at| word(*at) == Some(MAGIC[0]) && word(*at + 8) == Some(MAGIC[1]))?;
        let half = |i: usize| {
            let word = word(at + 16 + i / 2 * 8)?;
            Some((word >> (32 * (i % 2))) as u32)
        };
        let (depth, next) = (half(0)?, half(1)?);
        let noted: Option<Vec<u32>> = (0..depth as usize).map(|i| half(2 + i)).collect();
        let noted = noted?;

        let input = Input {
            regs: stack.regs,
            mapping: stack.mapping.clone(),
            pieces: &[Piece {
                address: stack.user_address,
                bytes: stack.user,
            }],
        };
        self.frames.clear();
        let outcome = self
            .unwinder
            .walk(&self.maps, &mut self.modules, &input, &mut self.frames);
        let whole = outcome.end == End::Root;
        // Outermost first: the calls below `outermost`, 0 for what is not of the program's own.
        let mut walked = Vec::new();
        let mut below = false;
        for frame in self.frames.iter().rev() {
            match self.function(frame) {
                Some(Function::Outermost) => below = true,
                Some(Function::Noted(id)) if below => walked.push(*id),
                Some(Function::Noted(id)) => walked.extend([u32::MAX, *id]),
                None if below => walked.push(0),
                None => {}
            }
        }
        let told = format!("noted {noted:?}, next {next}, walked {walked:?}, below {below}");
        if next == LIBRARY {
            while walked.last() == Some(&0) {
                walked.pop();
            }
        }
        let mut with_next = noted.clone();
        with_next.push(next);
        let leaf = |chain: &[u32]| chain.last() == walked.last();
        Some(Seen {
            leaf_right: leaf(&noted) || next != 0 && leaf(&with_next),
            right: below && (walked == noted || next != 0 && walked == with_next),
            whole,
            told,
        })
    }

    fn function(&self, frame: &Frame) -> Option<&Function> {
        let module = self.modules.get(frame.module);
        if module.kind() != ModuleKind::File || module.path() != self.program {
            return None;
        }
        let (_, (end, function)) = self.functions.range(..=frame.offset).next_back()?;
        (frame.offset < *end).then_some(function)
    }
}

struct Seen {
    leaf_right: bool,
    right: bool,
    whole: bool,
    told: String,
}

impl Tally {
    fn print(&self, key: &str) {
        let percent = |part: u64| 100.0 * part as f64 / self.samples.max(1) as f64;
        println!("truth.{key}.samples {}", self.samples);
        println!("truth.{key}.leaf_right {:.2} %", percent(self.leaf_right));
        println!("truth.{key}.whole {:.2} %", percent(self.whole));
        println!(
            "truth.{key}.whole_but_wrong {:.2} %",
            percent(self.whole_wrong)
        );
        println!("truth.{key}.without_stack {}", self.without_stack);
        println!("truth.{key}.beyond_copy {}", self.without_variable);
    }
}
