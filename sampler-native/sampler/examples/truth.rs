//! Holds walked stacks against the truth: takes stacks of `bench/programs/chain.c`, which keeps its chain of calls in a variable on
//! its own stack, by the CPU clock and by passes, walks them, and compares. Used by `bench/truth`.
//!
//! `truth PID PROGRAM SYMBOLS SECONDS`, as root. SYMBOLS is what `nm -S PROGRAM` prints. Prints lines `key value`.

use std::{collections::BTreeMap, error::Error, time::Duration};

use flametop_kernel::{
    abi,
    record::{Head, StackPart},
};
use flametop_unwind::{End, Frame, Input, ModuleKind, Modules, Piece, ProcessMaps, Unwinder};

mod noted;
use noted::{LIBRARY, Noted, Rates};

const RATES: Rates = Rates {
    cpu: 499,
    passes: 99,
};

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
    };
    let seconds = Duration::from_secs(seconds.parse()?);
    noted::take(pid, &RATES, seconds, |head, stack| truth.see(head, stack))?;
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
    /// Whether more of the stack is to be copied.
    fn see(&mut self, head: &Head, stack: Option<&StackPart<'_>>) -> bool {
        let (clock, kind) = match u32::from(head.kind) {
            abi::FT_KIND_CPU => (true, "CPU clock"),
            abi::FT_KIND_TASK if head.tid != head.tgid => (false, "pass"),
            _ => return false,
        };
        if u32::from(head.state) == abi::FT_STATE_RUN && !clock {
            return false;
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
                return clock;
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
        false
    }

    /// Nothing if the variable is not in what was copied.
    fn compare(&mut self, stack: &StackPart<'_>) -> Option<Seen> {
        let noted = Noted::find(stack.user)?;
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
        let (chain, next) = (&noted.chain, noted.next);
        let told = format!("noted {chain:?}, next {next}, walked {walked:?}, below {below}");
        if next == LIBRARY {
            while walked.last() == Some(&0) {
                walked.pop();
            }
        }
        let with_next = noted.with_next();
        let leaf = |functions: &[u32]| functions.last() == walked.last();
        Some(Seen {
            leaf_right: leaf(chain) || next != 0 && leaf(&with_next),
            right: below && (&walked == chain || next != 0 && walked == with_next),
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
