//! Functions of the kernel that are known by their names when a stack is placed: those of the tracing that copied the stack, those
//! where an interrupt begins, and those in which a task gives its CPU away.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    ops::Range,
    sync::{Arc, OnceLock},
    thread,
};

use flametop_kernel::{abi, record::Head};
use flametop_unwind::Frame;

/// What leads from a tracepoint to a program: the program itself stands below these frames. A probe of the last one tells that a task
/// is back on a CPU.
const TRACING: [&str; 4] = [
    "bpf_trace_run",
    "__bpf_trace_",
    "__traceiter_",
    "finish_task_switch",
];
/// The programs and what runs them are in the first frames of a stack, if at all.
const MOST_TRACING: usize = 12;
/// Where the processor, or the thread that does the work of interrupts, begins with that work.
const INTERRUPTS: [&str; 6] = [
    "asm_sysvec_",
    "asm_common_interrupt",
    "asm_spurious_interrupt",
    "asm_exc_nmi",
    "asm_fred_",
    "run_ksoftirqd",
];
/// Where the interrupt is over, and the task does what is due before it goes on: handles a signal, ends, or gives its CPU away.
const OVER: [&str; 4] = [
    "irqentry_exit",
    "exit_to_user_mode",
    "raw_irqentry_exit",
    "preempt_schedule_irq",
];

/// Further functions by which the kernel takes the CPU from a task that could run on.
const GIVES_AWAY: [&str; 6] = [
    "sysvec_",
    "common_interrupt",
    "preempt_schedule",
    "__cond_resched",
    "dynamic_cond_resched",
    "syscall_exit_to_user_mode",
];

const NAMES: [&[&str]; 4] = [&TRACING, &INTERRUPTS, &OVER, &GIVES_AWAY];

/// The places of these functions, read when they are needed first. Where the kernel hides its addresses, there are none.
#[derive(Default)]
pub struct Entries {
    known: Arc<OnceLock<Known>>,
    asked: bool,
}

#[derive(Default)]
struct Known {
    tracing: Vec<Range<u64>>,
    interrupts: Vec<Range<u64>>,
    over: Vec<Range<u64>>,
    gives_away: Vec<Range<u64>>,
}

impl Entries {
    fn known(&self) -> &Known {
        self.known.get_or_init(Known::of_kernel)
    }

    /// Takes off the innermost frames of a task that waits for a CPU, as far as they are of the kernel's own way to take the CPU away:
    /// what is left is where the task goes on. Nothing waits for the names, which a thread reads: before they are known the frames stay.
    pub fn cut_preemption(&mut self, kernel: &mut Vec<Frame>) {
        if !self.asked {
            self.asked = true;
            let known = Arc::clone(&self.known);
            // Without a thread the frames stay.
            let _ = thread::Builder::new()
                .name("kernel-symbols".to_owned())
                .spawn(move || {
                    known.get_or_init(Known::of_kernel);
                });
        }
        let Some(Known {
            interrupts,
            over,
            gives_away,
            ..
        }) = self.known.get()
        else {
            return;
        };
        let is_own = |frame: &Frame| !holds(over, frame) && !holds(gives_away, frame);
        let mut end = kernel.iter().position(is_own).unwrap_or(kernel.len());
        let by_interrupt = kernel[..end].iter().any(|frame| holds(over, frame));
        end += usize::from(by_interrupt && kernel.get(end).is_some_and(|f| holds(interrupts, f)));
        kernel.drain(..end);
    }

    /// Takes off the innermost frames that are of the tracing. Those below an interrupt are of the task that the interrupt hit: most
    /// often where a task switch, or a program, lets interrupts in again.
    pub fn cut_tracing(&self, kernel: &mut Vec<Frame>) {
        let Known {
            tracing,
            interrupts,
            ..
        } = self.known();
        let first = &kernel[..kernel.len().min(MOST_TRACING)];
        let hit = first.iter().position(|frame| holds(interrupts, frame));
        let own = &first[..hit.unwrap_or(first.len())];
        let last = own.iter().rposition(|frame| holds(tracing, frame));
        kernel.drain(..last.map_or(0, |last| last + 1));
    }

    /// Whether the stack of a waker is that of an interrupt. The frames of the task that the interrupt hit are taken off then. Softirqs that
    /// a task runs at the end of its own call, such as those of a packet that it sends to its own machine, are the task's own.
    pub fn cut_interrupted(&self, head: &Head, kernel: &mut Vec<Frame>) -> bool {
        let Known {
            interrupts, over, ..
        } = self.known();
        let begin = kernel.iter().position(|frame| holds(interrupts, frame));
        let begin = begin.filter(|begin| !kernel[..*begin].iter().any(|frame| holds(over, frame)));
        if let Some(begin) = begin {
            kernel.truncate(begin + 1);
        }
        // The idle task wakes nobody of itself. Without the names of functions the kernel side's guess is all there is.
        let guessed = interrupts.is_empty() && head.status & abi::FT_INTERRUPT != 0;
        begin.is_some() || head.start_boottime == 0 && head.tid == 0 || guessed
    }
}

fn holds(ranges: &[Range<u64>], frame: &Frame) -> bool {
    ranges.iter().any(|range| range.contains(&frame.offset))
}

impl Known {
    fn of_kernel() -> Known {
        let symbols = File::open("/proc/kallsyms").and_then(Known::read);
        symbols.unwrap_or_default()
    }

    /// Reads lines of `address type name`, in the order of the addresses.
    fn read(kallsyms: impl Read) -> io::Result<Known> {
        let mut known = Known::default();
        let mut open: Vec<(u64, usize)> = Vec::new();
        for line in BufReader::with_capacity(64 << 10, kallsyms).lines() {
            let line = line?;
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(address) = u64::from_str_radix(address, 16) else {
                continue;
            };
            // Several names may have one address.
            if open.first().is_some_and(|(from, _)| *from != address) {
                for (from, what) in open.drain(..) {
                    known.of(what).push(from..address);
                }
            }
            // Names of modules follow in an order of their own.
            if address == 0 || words.next().is_some() {
                continue;
            }
            let begins = |names: &&[&str]| names.iter().any(|begin| name.starts_with(begin));
            let what = NAMES.iter().position(begins);
            open.extend(what.map(|what| (address, what)));
        }
        Ok(known)
    }

    /// The places of the functions that this one of [`NAMES`] names.
    fn of(&mut self, what: usize) -> &mut Vec<Range<u64>> {
        match what {
            0 => &mut self.tracing,
            1 => &mut self.interrupts,
            2 => &mut self.over,
            _ => &mut self.gives_away,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::head;
    use flametop_unwind::Modules;

    const SYMBOLS: &str = "0000000000000000 D hidden\n\
        ffffffff81000df0 T asm_sysvec_apic_timer_interrupt\n\
        ffffffff81000df0 T another_name_of_it\n\
        ffffffff81000e10 T asm_exc_page_fault\n\
        ffffffff81100000 t finish_task_switch.isra.0\n\
        ffffffff81100100 T schedule\n\
        ffffffff81200000 t __bpf_trace_sched_waking\n\
        ffffffff81200020 T try_to_wake_up\n\
        ffffffff81300000 T bpf_trace_run1\n\
        ffffffff81300100 T do_softirq\n\
        ffffffff81400000 T irqentry_exit_to_user_mode\n\
        ffffffff81400100 T sysvec_apic_timer_interrupt\n\
        ffffffff81400200 T __cond_resched\n\
        ffffffff81400300 T last\n\
        ffffffffc0000000 t bpf_trace_run_of_a_driver\t[driver]\n";

    fn entries() -> Entries {
        with(Known::read(SYMBOLS.as_bytes()).expect("read"))
    }

    fn with(known: Known) -> Entries {
        Entries {
            known: Arc::new(OnceLock::from(known)),
            asked: true,
        }
    }

    fn frames(offsets: &[u64]) -> Vec<Frame> {
        let module = Modules::new(1 << 20).kernel();
        let frame = |offset: &u64| Frame {
            module,
            offset: *offset,
            guessed: false,
        };
        offsets.iter().map(frame).collect()
    }

    fn offsets(frames: &[Frame]) -> Vec<u64> {
        frames.iter().map(|frame| frame.offset).collect()
    }

    #[test]
    fn cut_tracing_takes_off_the_program_and_what_led_to_it() {
        let wake = 0xffff_ffff_8120_0030;
        let schedule = 0xffff_ffff_8110_0110;
        let program = 0xffff_ffff_c012_3456;
        for of_tracing in [
            &[program, 0xffff_ffff_8130_0010, 0xffff_ffff_8120_0010][..],
            &[program, 0xffff_ffff_8130_0010],
            &[0xffff_ffff_8110_0010],
            &[],
        ] {
            let mut stack = frames(&[of_tracing, &[wake, schedule]].concat());
            entries().cut_tracing(&mut stack);
            assert_eq!(offsets(&stack), [wake, schedule], "{of_tracing:x?}");
        }
    }

    #[test]
    fn cut_tracing_of_an_interrupt_in_a_task_switch_leaves_the_interrupt() {
        let (program, run) = (0xffff_ffff_c012_3456, 0xffff_ffff_8130_0010);
        let (wake, entry) = (0xffff_ffff_8120_0030, 0xffff_ffff_8100_0df8);
        let (switch, schedule) = (0xffff_ffff_8110_0010, 0xffff_ffff_8110_0110);
        for of_task in [&[switch, schedule][..], &[program, run, schedule]] {
            let of_interrupt = [&[wake, entry], of_task].concat();
            let mut stack = frames(&[&[program, run], &of_interrupt[..]].concat());
            entries().cut_tracing(&mut stack);
            assert_eq!(offsets(&stack), of_interrupt);
        }
    }

    #[test]
    fn cut_interrupted_leaves_the_interrupt_and_nothing_of_the_task_that_it_hit() {
        let (wake, entry, hit) = (
            0xffff_ffff_8120_0030,
            0xffff_ffff_8100_0df8,
            0xffff_ffff_8110_0110,
        );
        let of = |entries: &mut Entries, tid: u32, offsets: &[u64]| {
            let mut head = head(tid, 5);
            head.status = abi::FT_INTERRUPT;
            head.start_boottime = tid.into();
            let mut stack = frames(offsets);
            let is = entries.cut_interrupted(&head, &mut stack);
            (is, stack.len())
        };
        let known = &mut entries();
        assert_eq!(of(known, 1, &[wake, entry, hit]), (true, 2));
        assert_eq!(of(known, 1, &[wake, entry, hit, entry]), (true, 2));
        let own = 0xffff_ffff_8130_0110;
        assert_eq!(
            of(known, 1, &[wake, own, hit]),
            (false, 3),
            "by its own call"
        );
        let over = 0xffff_ffff_8140_0008;
        assert_eq!(of(known, 1, &[wake, over, entry]), (false, 3), "a signal");
        assert_eq!(of(known, 0, &[wake, hit]), (true, 2), "of an idle CPU");
        let hidden = &mut with(Known::default());
        assert_eq!(of(hidden, 1, &[wake, entry, hit]), (true, 3));
    }
    #[test]
    fn cut_preemption_leaves_where_the_task_goes_on() {
        let (exit, vector, entry) = (
            0xffff_ffff_8140_0010,
            0xffff_ffff_8140_0110,
            0xffff_ffff_8100_0df8,
        );
        let (resched, wake, softirq) = (
            0xffff_ffff_8140_0210,
            0xffff_ffff_8120_0030,
            0xffff_ffff_8130_0110,
        );
        for (stack, left) in [
            (&[exit, entry][..], &[][..]),
            (&[exit, vector, entry, wake], &[wake]),
            (&[resched, wake, exit], &[wake, exit]),
            // Not preempted: the interrupt does its work.
            (&[softirq, vector, entry], &[softirq, vector, entry]),
            (&[wake], &[wake]),
            (&[], &[]),
        ] {
            let mut frames = frames(stack);
            entries().cut_preemption(&mut frames);
            assert_eq!(offsets(&frames), left, "{stack:x?}");
        }
    }
}
