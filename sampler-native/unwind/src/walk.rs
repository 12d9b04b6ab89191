//! The walk from a thread's registers to the root of its stack.

use crate::{
    Caller, CallersRbp, End, Frame, Hop, Input, MAX_FRAMES, ModuleId, ModuleKind, Modules, Outcome,
    ProcessMaps,
    cfi::{CALLEE_SAVED, Cfa, Failure, Kind, RBP, RIP, RSP, Registers, Row, Rule},
    maps::Area,
    module::{FIBER_START, GUESSED},
};
use gimli::UnwindContext;
use std::fmt;

/// A power of two; ~80 bytes each.
const ROWS: usize = 1 << 13;
const CALLS: usize = 1 << 12;
/// Words searched for a return address where there is no unwind information.
const SCAN_WORDS: u64 = 64;
/// Bytes from the stack pointer to a frame pointer that is not trusted; an interpreter's frame has some hundred.
const SKIPPED_FRAMES: u64 = 16 << 10;
/// A frame saves registers below its return address: a piece asked for starts this far before it.
const SAVE_AREA: u64 = 256;
/// Bytes below a frame pointer that are searched for where the frame begins.
const CALLER_FRAME: u64 = 4096;
/// Bytes of the frame of a function that jumps to code of another language, at most; Haskell's runtime leaves 16 KiB there.
const JUMPED_FROM: u64 = 20 << 10;
const RETURN_ADDRESS: u64 = 8;
/// A word that is missing this near after copied memory continues it.
const NEAR: u64 = 4096;
/// Where the kernel saves registers on a signal: offset in the frame, and their order.
const SIGNAL_REGISTERS: (u64, [usize; 17]) = (
    40,
    [
        8, 9, 10, 11, 12, 13, 14, 15, 5, 4, RBP, 3, 1, 0, 2, RSP, RIP,
    ],
);
/// Code made at run time is noted by pages of this size.
const CODE_PAGE: u64 = 4096;
/// Of `rbp` in the rules of a row.
const RBP_RULE: usize = 1;
/// No module has this id.
const FREE: ModuleId = ModuleId(u32::MAX);

/// Walks stacks. It holds the rows of unwind information decoded so far, keyed by (module, offset): shared
/// by all processes that map a file, wherever they map it.
pub struct Unwinder {
    rows: Box<[CachedRow]>,
    calls: Box<[CachedCall]>,
    context: UnwindContext<usize>,
    hops: Vec<Hop>,
    called: Box<[CachedEnd]>,
    /// From the stack pointer of code that was jumped to up to the return address of who jumped, when that was found last.
    jumped: u64,
}

#[derive(Clone, Copy)]
struct CachedRow {
    offset: u64,
    module: ModuleId,
    /// The code at the offset itself, and the code one byte on, returns from a signal.
    sigreturn: [bool; 2],
    row: Row,
}

#[derive(Clone, Copy)]
struct CachedCall {
    offset: u64,
    module: ModuleId,
    follows_call: bool,
}

/// Where the function ends whose call returns to `offset`.
#[derive(Clone, Copy)]
struct CachedEnd {
    offset: u64,
    module: ModuleId,
    end: Option<u64>,
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

/// How one step of a walk came out.
enum Step {
    /// The registers are the caller's.
    Caller {
        is_return: bool,
        guess: Guess,
    },
    /// Nothing called this function.
    Fiber,
    /// Nor is what it returns to a caller.
    FiberTo,
    End(End, Option<u64>),
}

/// How a caller was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    /// By unwind information, or by the instructions.
    Not,
    /// By the frame pointer of code made at run time, which keeps one as far as is known.
    Pointer,
    /// By what looks like a return address: frames may be missing.
    Loose,
}

impl Unwinder {
    /// An unwinder with an empty cache.
    pub fn new() -> Unwinder {
        let row = CachedRow {
            offset: 0,
            module: FREE,
            sigreturn: [false; 2],
            row: Row::UNCOVERED,
        };
        let call = CachedCall {
            offset: 0,
            module: FREE,
            follows_call: false,
        };
        let end = CachedEnd {
            offset: 0,
            module: FREE,
            end: None,
        };
        Unwinder {
            rows: vec![row; ROWS].into(),
            calls: vec![call; CALLS].into(),
            context: UnwindContext::new(),
            hops: Vec::new(),
            called: vec![end; CALLS].into(),
            jumped: 0,
        }
    }

    /// How the last walk got from frame to frame, that at which it ended included; as far as a [`Hop`] can tell.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }

    /// Empties the cache.
    pub fn clear(&mut self) {
        *self = Unwinder::new();
    }

    /// Forgets what was found in a module.
    pub fn forget(&mut self, module: ModuleId) {
        let rows = self.rows.iter_mut().filter(|row| row.module == module);
        rows.for_each(|row| row.module = FREE);
        let calls = self.calls.iter_mut().filter(|call| call.module == module);
        calls.for_each(|call| call.module = FREE);
        let called = self.called.iter_mut().filter(|end| end.module == module);
        called.for_each(|end| end.module = FREE);
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
        frames.clear();
        modules.begin();
        self.hops.clear();
        let mut walk = Walk {
            unwinder: self,
            maps,
            modules,
            memory: Memory { input },
            registers: Registers {
                values: *input.regs,
                known: (1 << 17) - 1,
            },
            missed: None,
            unsure: false,
            unknown_address: false,
        };
        let (end, want) = walk.run(frames);
        Outcome {
            end,
            want,
            unknown_address: walk.unknown_address,
        }
    }

    /// The row of an address: from one of the two places it may be in, else decoded.
    fn row(&mut self, modules: &mut Modules, module: ModuleId, offset: u64) -> CachedRow {
        let set = 2 * slot(module, offset, ROWS / 2);
        for cached in &self.rows[set..set + 2] {
            if cached.offset == offset && cached.module == module {
                return *cached;
            }
        }
        let mut cached = CachedRow {
            offset,
            module,
            sigreturn: [false; 2],
            row: Row::UNCOVERED,
        };
        let Some(row) = modules.row(module, offset, &mut self.context) else {
            return cached;
        };
        cached.row = row;
        // A signal frame's return address is the first byte of code that nothing called, so that the byte
        // before it may belong to another function.
        let uncovered = row.kind == Kind::Uncovered;
        cached.sigreturn = [
            uncovered && modules.is_sigreturn(module, offset),
            (uncovered || row.last) && modules.is_sigreturn(module, offset.wrapping_add(1)),
        ];
        if !modules.is_refused() {
            self.rows[set + 1] = self.rows[set];
            self.rows[set] = cached;
        }
        cached
    }

    /// See [`Modules::end_of_called`].
    fn end_of_called(
        &mut self,
        modules: &mut Modules,
        module: ModuleId,
        offset: u64,
    ) -> Option<u64> {
        let cached = &mut self.called[slot(module, offset, CALLS)];
        if cached.offset == offset && cached.module == module {
            return cached.end;
        }
        let end = modules.end_of_called(module, offset);
        if !modules.is_refused() {
            *cached = CachedEnd {
                offset,
                module,
                end,
            };
        }
        end
    }

    /// Whether `offset` is a place that a call returns to, in code that unwind information covers if `covered`.
    fn is_return_address(
        &mut self,
        modules: &mut Modules,
        module: ModuleId,
        offset: u64,
        covered: bool,
    ) -> bool {
        let slot = slot(module, offset, CALLS);
        let cached = self.calls[slot];
        let follows_call = if cached.offset == offset && cached.module == module {
            cached.follows_call
        } else {
            let follows_call = modules.follows_call(module, offset);
            if !modules.is_refused() {
                self.calls[slot] = CachedCall {
                    offset,
                    module,
                    follows_call,
                };
            }
            follows_call
        };
        follows_call
            && !(covered
                && self.row(modules, module, offset.wrapping_sub(1)).row.kind == Kind::Uncovered)
    }
}

fn slot(module: ModuleId, offset: u64, slots: usize) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (offset ^ u64::from(module.0).wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> 40) as usize & (slots - 1)
}

/// The copied memory.
#[derive(Clone, Copy)]
struct Memory<'a> {
    input: &'a Input<'a>,
}

impl Memory<'_> {
    fn read(&self, address: u64) -> Result<u64, Failure> {
        for piece in self.input.pieces {
            let at = address.wrapping_sub(piece.address);
            if at < piece.bytes.len() as u64
                && let Some(word) = piece.bytes[at as usize..].first_chunk()
            {
                return Ok(u64::from_le_bytes(*word));
            }
        }
        Err(Failure::Missing(address))
    }

    /// End of the copied memory that holds `address`.
    fn end_of(&self, address: u64) -> Option<u64> {
        let pieces = self.input.pieces.iter();
        let piece =
            pieces.filter(|piece| address.wrapping_sub(piece.address) < piece.bytes.len() as u64);
        piece
            .map(|piece| piece.address.wrapping_add(piece.bytes.len() as u64))
            .max()
    }

    /// Why the walk ends where `address` is missing, and from where to copy for more.
    fn lack(&self, address: u64, sp: u64) -> (End, Option<u64>) {
        self.lack_below(address, SAVE_AREA, sp)
    }

    /// The same, where as many bytes `below` it are needed too.
    fn lack_below(&self, address: u64, below: u64, sp: u64) -> (End, Option<u64>) {
        let end = if self.input.mapping.contains(&address) {
            End::Truncated
        } else {
            End::OtherStack
        };
        let near_sp = sp <= address && address - sp < NEAR;
        let mut from = if near_sp {
            sp
        } else {
            address.saturating_sub(below)
        } & !7;
        while let Some(end) = self.end_of(from) {
            from = end;
        }
        (end, Some(from))
    }
}

struct Walk<'a> {
    unwinder: &'a mut Unwinder,
    maps: &'a ProcessMaps,
    modules: &'a mut Modules,
    memory: Memory<'a>,
    registers: Registers,
    /// Memory that a register was saved in and that was not copied.
    missed: Option<u64>,
    /// A frame was guessed, so that a rule that fails may be the guess's fault.
    unsure: bool,
    unknown_address: bool,
}

impl Walk<'_> {
    fn run(&mut self, frames: &mut Vec<Frame>) -> (End, Option<u64>) {
        let (mut is_return, mut guess) = (false, Guess::Not);
        // Where code made at run time was left by a guess that only its next frames can belie.
        let mut doubtful = None;
        let mut inner_jit = false;
        loop {
            let ip = self.registers.values[RIP];
            let pc = ip.wrapping_sub(u64::from(is_return));
            let Some(area) = self.maps.find(pc).copied() else {
                self.unknown_address = true;
                return (End::NoUnwindInfo, None);
            };
            // A guess is two frames: its sign and its own.
            if frames.len() + usize::from(guess == Guess::Loose) >= MAX_FRAMES {
                return (End::Limit, None);
            }
            let offset = area.offset(pc);
            let jit = self.modules.get(area.module).kind() == ModuleKind::Jit;
            if inner_jit && area.image && self.is_doubtful(guess, &area) {
                doubtful.get_or_insert(frames.len());
            }
            // A native function between two of a compiler's own was not there.
            if let (Some(from), true) = (doubtful, jit) {
                frames.truncate(from);
                return (End::Jit, None);
            }
            inner_jit = jit;
            if guess == Guess::Loose {
                self.sign(frames, GUESSED);
            }
            frames.push(Frame {
                module: area.module,
                offset,
                guessed: guess != Guess::Not,
            });
            let before = (self.registers, self.unwinder.hops.len());
            let step = if area.image {
                let cached = self.unwinder.row(self.modules, area.module, offset);
                if cached.row.kind == Kind::Signal || cached.sigreturn[usize::from(is_return)] {
                    // Nothing called it, so the address itself names it.
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
            // Where something was left out the step is none.
            if self.modules.is_refused() {
                return (End::Limit, None);
            }
            self.note_guess(&area, offset, &step, &before);
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

    /// A frame that is no code.
    fn sign(&mut self, frames: &mut Vec<Frame>, path: &[u8]) {
        frames.push(Frame {
            module: self.modules.unknown(path, End::NoUnwindInfo),
            offset: 0,
            guessed: path == GUESSED,
        });
    }

    /// Whether code made at run time may not have been called from where the walk is now.
    fn is_doubtful(&mut self, guess: Guess, area: &Area) -> bool {
        let ra = area.offset(self.registers.values[RIP]);
        match guess {
            Guess::Not => false,
            Guess::Pointer => self.modules.calls_directly(area.module, ra),
            Guess::Loose => true,
        }
    }

    /// Whether the stack of a fiber begins here: the return address is a trampoline's, and above it is no other.
    fn is_fiber_start(&mut self, area: &Area, pc: u64) -> bool {
        let (ra, sp) = (pc.wrapping_add(1), self.registers.values[RSP]);
        // What a guess has led to may be anything.
        if self.unsure
            || !area.contains(ra)
            || self.is_return_address(ra, false)
            || !self.modules.is_trampoline(area.module, area.offset(ra))
        {
            return false;
        }
        match self.memory.read(sp) {
            Ok(above) => !self.is_return_address(above, true),
            Err(_) => !self.memory.input.mapping.contains(&sp),
        }
    }

    /// One step by the instructions of a function without unwind information.
    fn leave_by_code(&mut self, area: &Area, offset: u64, is_return: bool) -> Step {
        let pc = self.registers.values[RIP].wrapping_sub(u64::from(is_return));
        if is_return && self.is_fiber_start(area, pc) {
            return Step::FiberTo;
        }
        let (before, missed) = (self.registers, self.missed);
        let row = self.modules.code_row(area.module, offset, is_return);
        // That nothing called it is believed only if no call on the stack says otherwise.
        let mut fiber = false;
        if let Some(row) = row {
            match self.leave_by_row(&row, area, offset, is_return) {
                Some(Step::Fiber) => fiber = true,
                Some(step) => return step,
                None => {}
            }
            (self.registers, self.missed) = (before, missed);
        }
        if let Some(row) = self.row_by_caller(area, offset, is_return) {
            if let Some(step) = self.leave_by_row(&row, area, offset, is_return) {
                return step;
            }
            (self.registers, self.missed) = (before, missed);
        }
        if fiber {
            return Step::Fiber;
        }
        if row.is_none()
            && let Some(step @ Step::Caller { .. }) = self.leave_jumped_to(before.values[RSP])
        {
            return step;
        }
        self.guess(area, is_return)
    }

    /// One step by a row that the instructions tell; nothing if it leads to no caller.
    fn leave_by_row(
        &mut self,
        row: &Row,
        area: &Area,
        offset: u64,
        is_return: bool,
    ) -> Option<Step> {
        let sp = self.registers.values[RSP];
        let at_jump = match row.cfa {
            Cfa::Register { register, offset } => self
                .registers
                .get(usize::from(register))
                .map(|base| base.wrapping_add_signed(i64::from(offset) - RETURN_ADDRESS as i64)),
            _ => None,
        };
        let before = self.registers;
        let applied = self.apply(row);
        let (ra, to) = (self.registers.values[RIP], self.registers.values[RSP]);
        let by = |guess| {
            Some(Step::Caller {
                is_return: true,
                guess,
            })
        };
        // What is jumped to in the midst of another's frame, as Haskell code is, has any word where a return address would be.
        if row.jumps {
            let returns = applied.is_ok() && to > sp && self.is_return_address(ra, false);
            if returns && area.contains(ra) {
                let to = area.offset(ra);
                let called = self.modules.row_by_call(area.module, to, offset, is_return);
                if called.is_some() {
                    return by(Guess::Not);
                }
            }
            let caller = self.registers;
            self.registers = before;
            let jumped = at_jump.and_then(|at_jump| self.leave_jumped_to(at_jump));
            if jumped.is_some() || !returns {
                return jumped;
            }
            self.registers = caller;
            self.unsure = true;
            return by(Guess::Loose);
        }
        match applied {
            Ok(()) => {
                let advances = to > sp || self.memory.end_of(to) != self.memory.end_of(sp);
                if !advances {
                    return None;
                }
                if ra == 0 {
                    return Some(Step::Fiber);
                }
                if self.is_called() || self.is_return_address(ra, false) {
                    return by(Guess::Not);
                }
                self.is_entry(ra).then_some(Step::Fiber)
            }
            Err(Failure::Missing(address)) if address == self.memory.input.mapping.end => {
                Some(Step::Fiber)
            }
            Err(Failure::Missing(address))
                if address > sp && self.memory.input.mapping.contains(&address) =>
            {
                Some(self.ends_at(address))
            }
            Err(_) => None,
        }
    }

    /// From code that only jumps on, with the frame of a function that jumped to it still in place: Haskell code is entered so by
    /// its runtime. That function was called directly, and its own unwind information leads from `sp`, the stack pointer when
    /// it jumped, to behind that very call.
    fn leave_jumped_to(&mut self, sp: u64) -> Option<Step> {
        let words = (sp.checked_add(8)?..sp.checked_add(JUMPED_FROM)?).step_by(8);
        // It is the same function again, as a rule.
        let last = sp.checked_add(self.unwinder.jumped);
        for at in last.filter(|at| *at > sp).into_iter().chain(words) {
            if !self.is_paid(at) {
                return None;
            }
            let Ok(ra) = self.memory.read(at) else {
                let in_stack = self.memory.input.mapping.contains(&at);
                return in_stack.then(|| self.ends_at(at));
            };
            let Some(area) = self.maps.find(ra.wrapping_sub(1)).copied() else {
                continue;
            };
            if area.image
                && let Some(caller) = self.jumped_from(&area, sp, at, ra)
            {
                self.unwinder.jumped = at - sp;
                self.registers = caller;
                self.unsure = true;
                return Some(Step::Caller {
                    is_return: true,
                    guess: Guess::Loose,
                });
            }
        }
        None
    }

    /// The caller's registers, if the function whose call returns to `ra` has its frame from `sp` to `at`, where `ra` lies.
    fn jumped_from(&mut self, area: &Area, sp: u64, at: u64, ra: u64) -> Option<Registers> {
        let end = self
            .unwinder
            .end_of_called(self.modules, area.module, area.offset(ra))?;
        let row = self.unwinder.row(self.modules, area.module, end).row;
        match row.cfa {
            _ if row.kind == Kind::Evaluate => {}
            Cfa::Register { register, offset }
                if row.kind == Kind::Plain
                    && usize::from(register) == RSP
                    && sp.wrapping_add_signed(i64::from(offset)) == at + RETURN_ADDRESS => {}
            _ => return None,
        }
        let mut here = self.registers;
        here.set(RSP, sp);
        let memory = self.memory;
        let read = |address| memory.read(address);
        let context = &mut self.unwinder.context;
        let caller = self
            .modules
            .evaluate(area.module, end, context, &here, &read)
            .ok()?;
        let is_caller = caller.values[RIP] == ra && caller.values[RSP] == at + RETURN_ADDRESS;
        is_caller.then_some(caller)
    }

    /// The row of a function that no symbol names, if a call whose return address lies on the stack does: the instructions
    /// from there must lead to that very place. What is called by a pointer may be `main`, which the entry point names.
    fn row_by_caller(&mut self, area: &Area, offset: u64, is_return: bool) -> Option<Row> {
        let sp = self.registers.values[RSP];
        for at in (0..SCAN_WORDS).map(|word| sp.wrapping_add(8 * word)) {
            if !self.is_paid(at) {
                return None;
            }
            let ra = self.memory.read(at).ok()?;
            let direct = area.contains(ra).then(|| {
                let to = area.offset(ra);
                self.modules.row_by_call(area.module, to, offset, is_return)
            });
            let row = match direct.flatten() {
                None if self.is_return_address(ra, true) => {
                    self.modules.row_of_main(area.module, offset, is_return)
                }
                row => row,
            };
            let Some(row) = row else {
                continue;
            };
            let cfa = match row.cfa {
                Cfa::Register { register, offset } => self
                    .registers
                    .get(usize::from(register))
                    .map(|base| base.wrapping_add_signed(i64::from(offset))),
                _ => None,
            };
            if cfa == Some(at.wrapping_add(8)) {
                return Some(row);
            }
        }
        None
    }

    /// Whether a function that returns to `ra` was called by nobody; the registers are those after that return.
    fn is_entry(&mut self, ra: u64) -> bool {
        let area = self.maps.find(ra.wrapping_sub(1)).copied();
        area.is_some_and(|area| area.image && self.is_fiber_start(&area, ra.wrapping_sub(1)))
    }

    /// Notes how a row leads to the caller, whether or not that is in the memory that was copied.
    fn note(&mut self, row: &Row, module: ModuleId, offset: u64) {
        let [before, after] = row.reach.map(u64::from);
        let code = offset.saturating_sub(before)..offset.saturating_add(after);
        let is_frame = |register: u8| [RSP, RBP].contains(&usize::from(register));
        let (register, offset, add) = match (row.kind, row.cfa) {
            (Kind::Root, _) => {
                self.unwinder.hops.push(Hop {
                    module,
                    code,
                    caller: None,
                });
                return;
            }
            (Kind::Plain, Cfa::Register { register, offset }) => (register, offset, None),
            (
                Kind::Plain,
                Cfa::Deref {
                    register,
                    offset,
                    add,
                },
            ) => (register, offset, Some(add)),
            _ => return,
        };
        let rbp = match row.rules[RBP_RULE] {
            Rule::Saved(offset) => CallersRbp::Saved(offset),
            Rule::SavedAt { register, offset } if usize::from(register) == RBP => {
                CallersRbp::SavedAt(offset)
            }
            _ => CallersRbp::Same,
        };
        if is_frame(register) && row.ra == -8 {
            self.unwinder.hops.push(Hop {
                module,
                code,
                caller: Some(Caller {
                    by_rbp: usize::from(register) == RBP,
                    offset,
                    add,
                    rbp,
                }),
            });
        }
    }

    /// Notes what a step came to that no row tells: at this place a frame of this size; or, where it needs more of the stack,
    /// that the frame pointer may lead on.
    fn note_guess(
        &mut self,
        area: &Area,
        offset: u64,
        step: &Step,
        (before, noted): &(Registers, usize),
    ) {
        if self.unwinder.hops.len() > *noted {
            return;
        }
        let sp = before.values[RSP];
        let size = self.registers.values[RSP].wrapping_sub(sp);
        let in_stack = |address: u64| self.memory.input.mapping.contains(&address);
        let mut code = offset..offset.saturating_add(1);
        let mut caller = Caller {
            by_rbp: false,
            offset: 0,
            add: None,
            rbp: CallersRbp::Same,
        };
        match (step, i32::try_from(size)) {
            (Step::Caller { .. }, Ok(size)) if size > 0 && in_stack(sp) => caller.offset = size,
            (Step::End(End::Truncated, _), _)
                if before
                    .get(RBP)
                    .is_some_and(|rbp| rbp >= sp && in_stack(rbp)) =>
            {
                caller.by_rbp = true;
                caller.offset = 16;
                caller.rbp = CallersRbp::Saved(-16);
                if !area.image {
                    // A compiler at run time makes all of its code alike.
                    code = offset & !(CODE_PAGE - 1)..offset | (CODE_PAGE - 1);
                }
            }
            _ => return,
        }
        self.unwinder.hops.push(Hop {
            module: area.module,
            code,
            caller: Some(caller),
        });
    }

    /// One step by unwind information, or by guess where there is none.
    fn leave(&mut self, row: &Row, area: &Area, offset: u64, is_return: bool) -> Step {
        let before = self.unsure.then_some(self.registers);
        let sp = self.registers.values[RSP];
        let left = match row.kind {
            Kind::Root => return Step::End(End::Root, None),
            Kind::Uncovered | Kind::Signal => return self.leave_by_code(area, offset, is_return),
            _ if row.last
                && is_return
                && self.is_fiber_start(area, self.registers.values[RIP].wrapping_sub(1)) =>
            {
                return Step::FiberTo;
            }
            Kind::Plain => self.apply(row),
            Kind::Outermost => match self.apply(row) {
                Ok(()) if !self.is_called() => return Step::End(End::Root, None),
                applied => applied,
            },
            Kind::Switch { .. } if !is_return => self.apply(row),
            Kind::Switch { starts: true, .. } => return Step::End(End::Root, None),
            Kind::Switch { framed, .. } => return self.leave_switch(area, offset, framed),
            Kind::Evaluate => {
                let memory = self.memory;
                let context = &mut self.unwinder.context;
                let read = |address| memory.read(address);
                self.modules
                    .evaluate(area.module, offset, context, &self.registers, &read)
                    .map(|caller| self.registers = caller)
            }
        };
        let failure = match left {
            Ok(()) => {
                let (ra, to) = (self.registers.values[RIP], self.registers.values[RSP]);
                // vfork keeps its return address in a register while its child runs on the stack, and has no frame then.
                let advances = to > sp
                    || to == sp && !is_return
                    || self.memory.end_of(to) != self.memory.end_of(sp);
                if ra == 0 && advances {
                    return Step::Fiber;
                }
                if advances && self.maps.is_executable(ra.wrapping_sub(1)) {
                    return Step::Caller {
                        is_return: true,
                        guess: Guess::Not,
                    };
                }
                Failure::Unusable
            }
            Err(failure) => failure,
        };
        // A rule that fails may be the fault of a guess before it, but not if it only needs more of the stack.
        let beyond = |address| address > sp && self.memory.input.mapping.contains(&address);
        if let Some(before) = before
            && !matches!(failure, Failure::Missing(address) if beyond(address))
        {
            self.registers = before;
            let step = self.guess(area, is_return);
            // Lisp keeps frame pointers up to the runtime that called it, whose own stack may be another.
            let elsewhere = match (failure, &step) {
                (Failure::Missing(address), Step::End(End::NoUnwindInfo, _)) => Some(address),
                _ => None,
            };
            let Some(address) = elsewhere.filter(|_| is_return) else {
                return step;
            };
            let (end, want) = self.memory.lack(address, sp);
            return Step::End(end, want);
        }
        match (failure, self.missed) {
            (Failure::Missing(address), _) if address == self.memory.input.mapping.end => {
                Step::Fiber
            }
            (Failure::Missing(address), _) | (Failure::Unusable, Some(address)) => {
                let (end, want) = self.memory.lack(address, sp);
                Step::End(end, want)
            }
            // Go's unwind information goes on past the code that starts its threads.
            (Failure::Unusable, None)
                if is_return && self.modules.ends_thread(area.module, offset) =>
            {
                Step::End(End::Root, None)
            }
            (Failure::Unusable, None) => {
                self.unknown_address = left.is_ok();
                Step::End(End::NoUnwindInfo, None)
            }
        }
    }

    fn apply(&mut self, row: &Row) -> Result<(), Failure> {
        let old = self.registers;
        let register = |register: u8| old.get(usize::from(register)).ok_or(Failure::Unusable);
        let sp = old.values[RSP];
        let cfa = match row.cfa {
            Cfa::Register {
                register: base,
                offset,
            } => register(base)?.wrapping_add_signed(i64::from(offset)),
            Cfa::Deref {
                register: base,
                offset,
                add,
            } => self
                .memory
                .read(register(base)?.wrapping_add_signed(i64::from(offset)))?
                .wrapping_add_signed(i64::from(add)),
            Cfa::Plt { limit } => {
                sp.wrapping_add(8 + 8 * u64::from(old.values[RIP] & 15 >= u64::from(limit)))
            }
        };
        let ra = self
            .memory
            .read(cfa.wrapping_add_signed(i64::from(row.ra)))?;
        for (target, rule) in CALLEE_SAVED.into_iter().zip(row.rules) {
            let place = match rule {
                Rule::Same => continue,
                Rule::Saved(offset) => cfa.wrapping_add_signed(i64::from(offset)),
                Rule::SavedAt {
                    register: base,
                    offset,
                } => match register(base) {
                    Ok(base) => base.wrapping_add_signed(i64::from(offset)),
                    Err(_) => {
                        self.registers.known &= !(1 << target);
                        continue;
                    }
                },
                Rule::Lost => {
                    self.registers.known &= !(1 << target);
                    continue;
                }
            };
            match self.memory.read(place) {
                Ok(value) => self.registers.set(target, value),
                // Below the stack pointer: an epilogue has popped it already.
                Err(_) if place < sp && place >= sp.wrapping_sub(NEAR) => {}
                Err(_) => {
                    self.missed.get_or_insert(place);
                    self.registers.known &= !(1 << target);
                }
            }
        }
        self.registers.enter_caller(cfa, ra);
        self.registers.known |= old.known & u32::from(row.kept);
        Ok(())
    }

    /// Whether the return address just found is one: behind a call, or where signal handlers return.
    fn is_called(&mut self) -> bool {
        let ra = self.registers.values[RIP];
        let Some(area) = self.maps.find(ra.wrapping_sub(1)).copied() else {
            return false;
        };
        let before = area.offset(ra).wrapping_sub(1);
        self.is_return_address(ra, true)
            || area.image
                && self
                    .unwinder
                    .row(self.modules, area.module, before)
                    .sigreturn[1]
    }

    /// From the scheduler's stack of a Go thread to the goroutine that waits for what runs there. The frame pointer
    /// leads back to it: to the frame of the function that switched, if it has one of its own (`framed`), else to
    /// that of its caller.
    fn leave_switch(&mut self, area: &Area, offset: u64, framed: bool) -> Step {
        let sp = self.registers.values[RSP];
        let Some(rbp) = self.registers.get(RBP) else {
            return Step::End(End::NoUnwindInfo, None);
        };
        if rbp == 0 {
            return Step::End(End::Root, None);
        }
        let below = if framed { SAVE_AREA } else { CALLER_FRAME };
        let missing = |address: u64| {
            let (_, want) = self.memory.lack_below(address, below, sp);
            // Go's stacks may lie in one mapping, and are different stacks still.
            Step::End(End::OtherStack, want)
        };
        let (Ok(saved), Ok(ra)) = (self.memory.read(rbp), self.memory.read(rbp.wrapping_add(8)))
        else {
            return missing(rbp);
        };
        if framed {
            if !self.is_return_address(ra, true) {
                return Step::End(End::NoUnwindInfo, None);
            }
            self.registers.enter_caller(rbp.wrapping_add(16), ra);
            self.registers.set(RBP, saved);
            return Step::Caller {
                is_return: true,
                guess: Guess::Not,
            };
        }
        // The caller's return address lies where its own frame begins, and that is as large as unwind
        // information says.
        let start = self.modules.function_start(area.module, offset);
        for size in (8..CALLER_FRAME).step_by(8) {
            let at = rbp.wrapping_sub(size);
            if !self.is_paid(at) {
                break;
            }
            let Ok(ra) = self.memory.read(at) else {
                return missing(at);
            };
            if !area.contains(ra) {
                continue;
            }
            let to = area.offset(ra);
            let frame = Cfa::Register {
                register: RSP as u8,
                offset: size as i32 + 8,
            };
            if self
                .unwinder
                .row(self.modules, area.module, to.wrapping_sub(1))
                .row
                .cfa
                == frame
                && start.is_some_and(|start| self.modules.calls(area.module, to, start))
            {
                self.registers.enter_caller(at.wrapping_add(8), ra);
                return Step::Caller {
                    is_return: true,
                    guess: Guess::Not,
                };
            }
        }
        Step::End(End::NoUnwindInfo, None)
    }

    /// From a signal handler to what it interrupted: the kernel saved all registers.
    fn leave_signal(&mut self) -> Step {
        let (start, order) = SIGNAL_REGISTERS;
        let sp = self.registers.values[RSP];
        let mut interrupted = self.registers;
        for (index, register) in order.into_iter().enumerate() {
            let address = sp.wrapping_add(start + 8 * index as u64);
            let Ok(value) = self.memory.read(address) else {
                let (end, want) = self.memory.lack(address, sp);
                return Step::End(end, want);
            };
            interrupted.set(register, value);
        }
        self.registers = interrupted;
        self.missed = None;
        Step::Caller {
            is_return: false,
            guess: Guess::Not,
        }
    }

    /// One step without unwind information.
    fn guess(&mut self, area: &Area, is_return: bool) -> Step {
        // Neither what it calls nor how it keeps its frames can be known.
        if let Some(end) = self.modules.get(area.module).end() {
            return Step::End(end, None);
        }
        let pc = self.registers.values[RIP].wrapping_sub(u64::from(is_return));
        let sp = self.registers.values[RSP];
        let mut lack = None;
        // A function that has not touched the stack yet, or never does.
        if !is_return
            && let Ok(ra) = self.memory.read(sp)
            && self.is_return_address(ra, true)
        {
            return self.guessed_caller(sp.wrapping_add(8), ra, Guess::Loose);
        }
        if is_return && area.trampolines {
            return self.leave_trampoline(sp);
        }
        let rbp = self.registers.get(RBP);
        let doubted = !area.image && self.maps.doubts_frame_pointer(pc);
        if let Some(rbp) = rbp
            && doubted
            && let Some(end) = self.skips_frames(sp, rbp)
        {
            return end;
        }
        if let Some(rbp) = rbp
            && rbp >= sp
            && rbp.is_multiple_of(8)
            && self.memory.input.mapping.contains(&rbp)
        {
            match (self.memory.read(rbp), self.memory.read(rbp.wrapping_add(8))) {
                (Ok(_), Ok(0)) => return Step::End(End::Root, None),
                (Ok(saved), Ok(ra)) if self.is_return_address(ra, false) => {
                    self.registers.known = 0;
                    self.registers.set(RBP, saved);
                    let sure = !area.image && !doubted;
                    let guess = if sure { Guess::Pointer } else { Guess::Loose };
                    return self.guessed_caller(rbp.wrapping_add(16), ra, guess);
                }
                (Ok(_), Ok(_)) => {}
                _ => lack = Some(rbp),
            }
        }
        // What a compiler at run time makes of its stack frames is its own affair.
        if self.modules.get(area.module).kind() == ModuleKind::Jit {
            return match lack {
                Some(address) => self.ends_at(address),
                None => Step::End(End::Jit, None),
            };
        }
        for address in (0..SCAN_WORDS).map(|word| sp.wrapping_add(8 * word)) {
            if !self.is_paid(address) {
                break;
            }
            match self.memory.read(address) {
                Ok(ra) if self.is_return_address(ra, true) => {
                    return self.guessed_caller(address.wrapping_add(8), ra, Guess::Loose);
                }
                Ok(_) => {}
                Err(_) => {
                    if self.memory.input.mapping.contains(&address) {
                        lack.get_or_insert(address);
                    }
                    break;
                }
            }
        }
        match lack {
            Some(address) => self.ends_at(address),
            None if rbp == Some(0) => Step::End(End::Root, None),
            None => Step::End(End::NoUnwindInfo, None),
        }
    }

    /// CPython's trampoline has 8 bytes of its own and touches no register.
    fn leave_trampoline(&mut self, sp: u64) -> Step {
        match self.memory.read(sp.wrapping_add(8)) {
            Ok(ra) if self.is_return_address(ra, true) => {
                self.registers.enter_caller(sp.wrapping_add(16), ra);
                Step::Caller {
                    is_return: true,
                    guess: Guess::Not,
                }
            }
            Ok(_) => Step::End(End::NoUnwindInfo, None),
            Err(_) => self.ends_at(sp),
        }
    }

    /// A frame pointer that this frame did not set is that of an outer one, and leads past the frames between: then their
    /// return addresses lie below it. Without one there the return address above it is this frame's own.
    fn skips_frames(&mut self, sp: u64, rbp: u64) -> Option<Step> {
        if rbp < sp || rbp - sp > SKIPPED_FRAMES {
            return Some(Step::End(End::Jit, None));
        }
        for address in (sp..rbp).step_by(8) {
            if !self.is_paid(address) {
                return None;
            }
            match self.memory.read(address) {
                Ok(word) if self.maps.is_executable(word.wrapping_sub(1)) => {
                    return Some(Step::End(End::Jit, None));
                }
                Ok(_) => {}
                Err(_) => return Some(self.ends_at(address)),
            }
        }
        None
    }

    /// Pays for a word of the stack that is looked up in the mappings; a line of the cache at once.
    fn is_paid(&self, address: u64) -> bool {
        address & 63 != 0 || self.modules.spend(1)
    }

    fn ends_at(&self, address: u64) -> Step {
        let (end, want) = self.memory.lack(address, self.registers.values[RSP]);
        Step::End(end, want)
    }

    fn guessed_caller(&mut self, sp: u64, ra: u64, guess: Guess) -> Step {
        self.registers.enter_caller(sp, ra);
        self.unsure = true;
        Step::Caller {
            is_return: true,
            guess,
        }
    }

    /// Whether a call may return to `address`. Code made at run time cannot be looked at, and is believed
    /// unless unwind information must cover it.
    fn is_return_address(&mut self, address: u64, covered: bool) -> bool {
        match self.maps.find(address.wrapping_sub(1)) {
            Some(area) if area.image => {
                let offset = area.offset(address);
                self.unwinder
                    .is_return_address(self.modules, area.module, offset, covered)
            }
            Some(_) => !covered,
            None => false,
        }
    }
}
