//! Holds walked stacks of Java against the truth: takes stacks of `bench/programs/java.c`, which keeps the chain of calls of
//! `Truth.java` in a variable on its own stack, by the CPU clock and by passes, walks them, and compares. Used by `bench/managed`.
//!
//! `truth_java PID SECONDS`, as root. Prints lines `key value`.

use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

use flametop_kernel::{
    abi,
    record::{Head, StackPart},
};
use flametop_runtimes::{Function, Interpreted, Known, Names};
use flametop_unwind::{
    End, Frame, Input, ModuleKind, Modules, NAMED, Piece, ProcessFolder, ProcessMaps, Unwinder,
    read_code,
};

mod noted;
use noted::{LIBRARY, Noted, Rates};

const RATES: Rates = Rates {
    cpu: 199,
    passes: 49,
};
/// `next` while an exception leaves functions.
const THROWN: u32 = 200;
/// Walks of one stack, each with what the one before lacked.
const MOST_WALKS: u32 = 40;

#[derive(Default)]
struct Tally {
    samples: u64,
    leaf_right: u64,
    whole: u64,
    wrong: u64,
    beyond: u64,
    ends: BTreeMap<String, u64>,
    shown: u32,
}

struct Truth {
    process: ProcessFolder,
    modules: Modules,
    maps: ProcessMaps,
    unwinder: Unwinder,
    known: Known,
    names: Names,
    begin: Instant,
    frames: Vec<Frame>,
    clock: Tally,
    passes: Tally,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pid, seconds] = words.as_slice() else {
        return Err("usage: truth_java PID SECONDS".into());
    };
    let pid: u32 = pid.parse()?;
    let mut modules = Modules::new(64 << 20);
    let maps = ProcessMaps::read(pid, &mut modules)?;
    if maps.attached().is_none() {
        return Err("the JVM does not tell of itself".into());
    }
    let mut truth = Truth {
        process: ProcessFolder::open(pid)?,
        modules,
        maps,
        unwinder: Unwinder::new(),
        known: Known::default(),
        names: Names::default(),
        begin: Instant::now(),
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

struct Seen {
    leaf_right: bool,
    right: bool,
    end: End,
    told: String,
}

impl Truth {
    /// Whether more of the stack is to be copied.
    fn see(&mut self, head: &Head, stack: Option<&StackPart<'_>>) -> bool {
        let clock = match u32::from(head.kind) {
            abi::FT_KIND_CPU => true,
            abi::FT_KIND_TASK if u32::from(head.state) != abi::FT_STATE_RUN => false,
            _ => return false,
        };
        let Some(stack) = stack.filter(|stack| !stack.user.is_empty()) else {
            return false;
        };
        let seen = self.compare(stack);
        let tally = match clock {
            true => &mut self.clock,
            false => &mut self.passes,
        };
        let Some(seen) = seen else {
            // Threads without the variable are among these.
            tally.beyond += 1;
            return clock;
        };
        let whole = seen.end == End::Root;
        tally.samples += 1;
        tally.leaf_right += u64::from(seen.leaf_right);
        tally.whole += u64::from(whole);
        tally.wrong += u64::from(whole && !seen.right);
        *tally.ends.entry(format!("{:?}", seen.end)).or_default() += 1;
        if (!whole || !seen.right || !seen.leaf_right) && tally.shown < 12 {
            tally.shown += 1;
            if std::env::var_os("TRUTH_TELL").is_some() {
                eprintln!("clock {clock} {}", seen.told);
            }
        }
        false
    }

    /// Nothing if the variable is not in what was copied, or not all of what the walk needs.
    fn compare(&mut self, stack: &StackPart<'_>) -> Option<Seen> {
        let noted = Noted::find(stack.user)?;
        let end = self.walk(stack);
        if end == End::Truncated {
            // The variable's beginning is in the copy, its end is not.
            return None;
        }
        let all: Vec<String> = self.frames.iter().rev().map(|f| self.told(f)).collect();
        let walked: Vec<u32> = all.iter().filter_map(|name| number(name)).collect();
        let (chain, next) = (&noted.chain, noted.next);
        let with_next = noted.with_next();
        let thrown = next == THROWN && chain.starts_with(&walked);
        let leaf = |functions: &[u32]| functions.last() == walked.last();
        let is_next = next != 0 && next < LIBRARY;
        let told = format!(
            "{end:?} noted {chain:?} next {next} walked {walked:?} registers {:x?} stack {:x?} of {}",
            stack.regs,
            words(stack.user, 24),
            all.join(" ")
        );
        Some(Seen {
            leaf_right: leaf(chain)
                || is_next && leaf(&with_next)
                || next == THROWN && (walked.is_empty() || chain.contains(walked.last()?)),
            right: thrown || &walked == chain || is_next && walked == with_next,
            end,
            told,
        })
    }

    /// Walks a stack as often as more of its code becomes known.
    fn walk(&mut self, stack: &StackPart<'_>) -> End {
        let input = Input {
            regs: stack.regs,
            mapping: stack.mapping.clone(),
            pieces: &[Piece {
                address: stack.user_address,
                bytes: stack.user,
            }],
        };
        for _ in 1..MOST_WALKS {
            let (end, unknown) = self.walk_once(&input);
            let grown = unknown
                .and_then(|_| ProcessMaps::read(self.process.tgid(), &mut self.modules).ok());
            if let (Some(maps), Some(at)) = (grown, unknown)
                && maps.code_at(at).is_some()
            {
                self.maps = maps;
                continue;
            }
            let Some(attached) = self.maps.attached() else {
                return end;
            };
            let asks = self.known.take_asks();
            if asks.is_empty() {
                return end;
            }
            let found = read_code(&self.process, attached, &asks).ok();
            let now = self.begin.elapsed().as_nanos() as u64;
            self.known.come(&asks, found, &mut self.names, now);
        }
        self.walk_once(&input).0
    }

    fn walk_once(&mut self, input: &Input<'_>) -> (End, Option<u64>) {
        self.known.begin(self.begin.elapsed().as_nanos() as u64);
        let known = Some((&mut self.known, Interpreted::default()));
        let (maps, modules, frames) = (&self.maps, &mut self.modules, &mut self.frames);
        let outcome = self
            .unwinder
            .walk_known(maps, modules, input, known, frames);
        (outcome.end, outcome.unknown_address)
    }

    fn told(&self, frame: &Frame) -> String {
        let module = self.modules.get(frame.module);
        if module.kind() == ModuleKind::Jit && frame.offset >= NAMED {
            let function = Function::of_number(frame.offset & !NAMED);
            let name = self.names.get(function.name);
            return name.map_or_else(String::new, |name| {
                String::from_utf8_lossy(&name.function).into_owned()
            });
        }
        format!(
            "{}+{:x}",
            String::from_utf8_lossy(module.path()),
            frame.offset
        )
    }
}

fn words(bytes: &[u8], most: usize) -> Vec<u64> {
    let words = bytes.as_chunks().0.iter().take(most);
    words.map(|word| u64::from_ne_bytes(*word)).collect()
}

/// The number of a function in the chain: of `f0` it is 1.
fn number(name: &str) -> Option<u32> {
    let number: u32 = name.strip_prefix("Truth.f")?.parse().ok()?;
    Some(number + 1)
}

impl Tally {
    fn print(&self, key: &str) {
        let percent = |part: u64| 100.0 * part as f64 / self.samples.max(1) as f64;
        println!("truth.{key}.samples {}", self.samples);
        println!("truth.{key}.leaf_right {:.2} %", percent(self.leaf_right));
        println!("truth.{key}.whole {:.2} %", percent(self.whole));
        println!("truth.{key}.whole_but_wrong {:.2} %", percent(self.wrong));
        println!("truth.{key}.beyond_copy {}", self.beyond);
        let short = self.ends.iter().filter(|(end, _)| *end != "Root");
        let short: Vec<String> = short.map(|(end, count)| format!("{end} {count}")).collect();
        println!("truth.{key}.short {}", short.join(", "));
    }
}
