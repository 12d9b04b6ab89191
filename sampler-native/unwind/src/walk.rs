//! The walk from a thread's registers to the root of its stack.
//!
//! Each step finds the caller of one frame: by unwind information ([`by_row`]), by the instructions where there is none
//! ([`by_code`]), by what a runtime told of the code that it made ([`by_runtime`]), else by guess ([`by_guess`]).

mod by_code;
mod by_guess;
mod by_row;
mod by_runtime;
mod cache;
mod hops;
mod interpreted;
mod memory;

use crate::{
    End, Frame, Hop, Input, MAX_FRAMES, ModuleId, ModuleKind, Modules, Outcome, ProcessMaps,
    arch::{self, PC, SP},
    module::{FIBER_START, GUESSED},
    row::{Kind, Registers},
};
use cache::Cache;
use flametop_runtimes::{Called, Interpreted, Known, Runs};
use memory::Memory;
use std::fmt;

/// Words searched for a return address where there is no unwind information.
const SCAN_WORDS: u64 = 64;
/// Offsets of frames from here on are functions: the rest is the number of a [`Function`](flametop_runtimes::Function).
pub const NAMED: u64 = 1 << 63;

/// Walks stacks. It remembers what it has found in modules, for all processes that map them.
pub struct Unwinder {
    cache: Cache,
    /// How the last walk got from frame to frame.
    hops: Vec<Hop>,
    /// The frames of the last walk that the stack pointer is known of.
    levels: Vec<Level>,
    /// Room for the functions of a frame, and for those that an interpreter runs.
    called: Called,
    runs: Runs,
    /// The distance that was found last from the stack pointer of code that was jumped to, up to the return address of the function
    /// that jumped.
    jumped: u64,
}

impl Default for Unwinder {
    fn default() -> Unwinder {
        Unwinder::new()
    }
}

impl fmt::Debug for Unwinder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unwinder").finish_non_exhaustive()
    }
}

/// Where a frame lies on its stack.
struct Level {
    /// Index of the frame.
    frame: usize,
    /// The stack pointer while the function of the frame runs.
    sp: u64,
}

/// The result of one step of a walk.
enum Step {
    /// The registers are the caller's.
    Caller {
        /// The caller's address is a return address.
        is_return: bool,
        /// How it was found.
        guess: Guess,
    },
    /// Nothing called this function: a fiber begins with it.
    Fiber,
    /// This function is the one that a fiber's first function returns to, and no caller.
    FiberTo,
    /// The walk ends here, and from where to copy for more.
    End(End, Option<u64>),
}

/// How a caller was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    /// By unwind information, or by the instructions.
    Not,
    /// By the frame pointer of code made at run time, which keeps one as far as is known.
    Pointer,
    /// By a word that looks like a return address: frames may be missing.
    Loose,
}

impl Unwinder {
    /// An unwinder with an empty cache.
    pub fn new() -> Unwinder {
        Unwinder {
            cache: Cache::new(),
            hops: Vec::new(),
            levels: Vec::new(),
            called: Called::default(),
            runs: Runs::default(),
            jumped: 0,
        }
    }

    /// How the last walk got from frame to frame, the frame at which it ended included; as far as a [`Hop`] can tell.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// The frame of the last walk that had this stack pointer while its function ran, by the index in the frames of that walk: the
    /// innermost one where several had.
    pub fn frame_at(&self, sp: u64) -> Option<usize> {
        let mut pairs = self.levels.windows(2);
        let found = pairs.find(|pair| (pair[0].sp..pair[1].sp).contains(&sp));
        found.map(|pair| pair[0].frame)
    }

    /// Leaves off the frames of the walk from this one on.
    fn cut(&mut self, frames: &mut Vec<Frame>, from: usize) {
        frames.truncate(from);
        let kept = self.levels.partition_point(|level| level.frame < from);
        self.levels.truncate(kept);
    }

    /// Empties the cache.
    pub fn clear(&mut self) {
        *self = Unwinder::new();
    }

    /// Forgets what was found in a module.
    pub fn forget(&mut self, module: ModuleId) {
        self.cache.forget(module);
    }

    /// Walks one stack into `frames` (cleared first), leaf first. Nothing is allocated for a stack whose
    /// rows are known and for which `frames` has room.
    pub fn walk(
        &mut self,
        maps: &ProcessMaps,
        modules: &mut Modules,
        input: &Input<'_>,
        frames: &mut Vec<Frame>,
    ) -> Outcome {
        self.walk_known(maps, modules, input, None, frames)
    }

    /// The same, with what is `known` of the code that a runtime in the process made or interprets, and the copy of the frames that an
    /// interpreter keeps outside of the stack: [`Known::is_lacking`] says afterwards whether more of that would be needed.
    pub fn walk_known(
        &mut self,
        maps: &ProcessMaps,
        modules: &mut Modules,
        input: &Input<'_>,
        known: Option<(&mut Known, Interpreted<'_>)>,
        frames: &mut Vec<Frame>,
    ) -> Outcome {
        frames.clear();
        modules.begin();
        self.hops.clear();
        self.levels.clear();
        let (known, interpreted) = known.unzip();
        let mut walk = Walk {
            unwinder: self,
            maps,
            modules,
            known,
            provisional: None,
            has_trampolines: false,
            memory: Memory { input },
            registers: Registers {
                values: *input.regs,
                known: arch::ALL,
            },
            missed: None,
            unsure: false,
            unknown_address: None,
        };
        let (mut end, mut want) = walk.run(frames);
        if let Some(certain) = walk.provisional {
            // What comes behind may be right, but is not known to be.
            walk.unwinder.cut(frames, certain);
            (end, want) = (End::Jit, None);
        }
        if let Some(interpreted) = interpreted
            && walk.put_interpreted(&interpreted, end == End::Root, frames)
        {
            (end, want) = (End::Limit, None);
        }
        Outcome {
            end,
            want,
            unknown_address: walk.unknown_address,
        }
    }
}

/// One walk.
struct Walk<'a> {
    unwinder: &'a mut Unwinder,
    maps: &'a ProcessMaps,
    modules: &'a mut Modules,
    /// What is known of the code of the runtime.
    known: Option<&'a mut Known>,
    /// From this frame on something is lacking that would make sure of it.
    provisional: Option<usize>,
    /// An interpreter's functions have code of their own.
    has_trampolines: bool,
    memory: Memory<'a>,
    registers: Registers,
    /// The memory of a saved register, which was not copied.
    missed: Option<u64>,
    /// A frame was guessed: where a rule fails later, the guess may be wrong.
    unsure: bool,
    /// See [`Outcome::unknown_address`].
    unknown_address: Option<u64>,
}

impl Walk<'_> {
    fn run(&mut self, frames: &mut Vec<Frame>) -> (End, Option<u64>) {
        let (mut is_return, mut guess) = (false, Guess::Not);
        // The frame at which code made at run time was left by a guess that only the next frames can prove wrong.
        let mut doubtful = None;
        let mut inner_jit = false;
        loop {
            let ip = self.registers.values[PC];
            let pc = ip.wrapping_sub(u64::from(is_return));
            let Some(area) = self.maps.find(pc).copied() else {
                self.unknown_address = Some(pc);
                return (End::NoUnwindInfo, None);
            };
            // A guess is two frames: its sign and its own.
            if frames.len() + usize::from(guess == Guess::Loose) >= MAX_FRAMES {
                return (End::Limit, None);
            }
            let offset = area.offset(pc);
            self.has_trampolines |= area.trampolines;
            let jit = self.modules.get(area.module).kind() == ModuleKind::Jit;
            if inner_jit && area.image && self.is_doubtful(guess, &area) {
                doubtful.get_or_insert(frames.len());
            }
            // A native function between two that were compiled at run time was not there.
            if let (Some(from), true) = (doubtful, jit) {
                self.unwinder.cut(frames, from);
                return (End::Jit, None);
            }
            inner_jit = jit;
            if guess == Guess::Loose {
                self.sign(frames, GUESSED);
            }
            self.unwinder.levels.push(Level {
                frame: frames.len(),
                sp: self.registers.values[SP],
            });
            frames.push(Frame {
                module: area.module,
                offset,
                guessed: guess == Guess::Loose,
            });
            let before = (self.registers, self.unwinder.hops.len());
            let told = self.leave_by_runtime(is_return, &area, frames);
            let by_runtime = told.is_some();
            let step = if let Some(told) = told {
                told
            } else if area.image {
                let cached = self.unwinder.cache.row(self.modules, area.module, offset);
                if cached.row.kind == Kind::Signal || cached.sigreturn[usize::from(is_return)] {
                    // Nothing called this code, so that the address itself names it.
                    if let Some(frame) = frames.last_mut() {
                        frame.offset = area.offset(ip);
                    }
                    self.leave_signal()
                } else {
                    self.note(&cached.row, area.module, offset);
                    self.leave(&cached.row, &area, offset, is_return)
                }
            } else {
                self.guess(&area, is_return)
            };
            // A step that was too much work is none.
            if self.modules.is_refused() {
                return (End::Limit, None);
            }
            if !by_runtime {
                self.note_guess(&area, offset, &step, &before);
            }
            match step {
                Step::Caller {
                    is_return: to_return,
                    guess: by_guess,
                } => (is_return, guess) = (to_return, by_guess),
                Step::Fiber => {
                    if frames.len() < MAX_FRAMES {
                        self.sign(frames, FIBER_START);
                    }
                    return (End::Root, None);
                }
                Step::FiberTo => {
                    frames.pop();
                    self.sign(frames, FIBER_START);
                    return (End::Root, None);
                }
                Step::End(end, want) => return (end, want),
            }
        }
    }

    /// Adds a frame that is no code but a sign.
    fn sign(&mut self, frames: &mut Vec<Frame>, path: &[u8]) {
        frames.push(Frame {
            module: self.modules.unknown(path, End::NoUnwindInfo),
            offset: 0,
            guessed: path == GUESSED,
        });
    }

    /// Pays for looking a word of the stack up in the mappings: for eight words at once, a line of the processor's cache.
    fn is_paid(&self, address: u64) -> bool {
        address & 63 != 0 || self.modules.spend(1)
    }

    /// The walk ends since memory at `address` is missing.
    fn ends_at(&self, address: u64) -> Step {
        let (end, want) = self.memory.lack(address, self.registers.values[SP]);
        Step::End(end, want)
    }

    /// The caller has this stack pointer and return address, by guess.
    fn guessed_caller(&mut self, sp: u64, ra: u64, guess: Guess) -> Step {
        self.registers.enter_caller(sp, self.stripped(ra));
        if !arch::POINTER_ENDS_FRAME {
            // The stack pointer is no less than that.
            self.registers.known &= !(1 << SP);
        }
        self.unsure = true;
        Step::Caller {
            is_return: true,
            guess,
        }
    }

    /// A return address as the processor will use it.
    fn stripped(&self, address: u64) -> u64 {
        arch::stripped(address, || self.maps.top())
    }

    /// Whether a call may return to `address`. Code made at run time cannot be looked at, and is believed
    /// unless unwind information must cover it.
    fn is_return_address(&mut self, address: u64, covered: bool) -> bool {
        let address = self.stripped(address);
        match self.maps.find(address.wrapping_sub(1)) {
            Some(area) if area.image => {
                let offset = area.offset(address);
                let cache = &mut self.unwinder.cache;
                cache.is_return_address(self.modules, area.module, offset, covered)
            }
            Some(_) => !covered,
            None => false,
        }
    }
}
