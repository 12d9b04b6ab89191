//! From a record of the kernel side to the frames of its stack.

use std::{collections::HashSet, mem};

use flametop_kernel::{
    Chain, abi,
    record::{Head, Holder, StackPart},
};
use flametop_runtimes::{
    self as runtimes, Attached, Interpreted, Known, Wait, registers::ARGUMENT,
};
use flametop_stream::End;
use flametop_unwind::{
    self as unwind, Frame, Input, ModuleId, Outcome, Piece, ProcessMaps, Unwinder,
};

use super::{
    BUSY,
    codes::Codes,
    entries::Entries,
    files::Files,
    held::{self, Held},
    naming::function_of,
    words::word,
};
use crate::{
    budget::Budget,
    chain_of,
    mappings::{At, Mappings},
    os,
    stacks::Walked,
    tasks::{Pieces, Process},
    waiting::Awaited,
};

/// Units of work ([`Modules::allow`](unwind::Modules::allow)) a second and CPU that walks of one process may cost, 25 ms at most;
/// those of a user twice that.
const WALKS: u64 = 250_000;
/// A mapping whose end is not known is taken to reach this far above the stack pointer.
const UNKNOWN_MAPPING: u64 = 8 << 20;

/// What stands above the frames that a jump leaves.
const LEFT: &[u8] = b"[left by longjmp]";
/// What stands below the call of a jump that leads to an unknown place.
const UNKNOWN_TARGET: &[u8] = b"[setjmp not seen]";

/// Whether the record is of the moment when its task ran: of the CPU clock, or of an event.
pub(super) fn is_of_moment(head: &Head) -> bool {
    [abi::FT_KIND_CPU, abi::FT_KIND_EVENT, abi::FT_KIND_WAKER].contains(&u32::from(head.kind))
}

/// Whether the record is of a task that slept when a pass came to it.
fn is_asleep(head: &Head) -> bool {
    !is_of_moment(head) && u32::from(head.state) == abi::FT_STATE_SLEEP
}

/// How a sample is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It has just come.
    First,
    /// It has waited; its task may have ended.
    Again,
    /// It waits no more.
    Last,
}

/// The result of a walk; its frames are in the walker.
pub struct Walk {
    /// How the walk ended.
    pub end: End,
    /// The unwinder's own result, if it came to that.
    pub outcome: Option<Outcome>,
    /// The mappings were too old, and it was too soon to read them again.
    pub stale: bool,
    /// What the walk has to be made again for.
    pub awaited: Option<Awaited>,
    /// The chain of the thread, which was not copied and is to be from now on, and that of each thread of its image, if known.
    pub follow: Option<[Option<Chain>; 2]>,
    /// Who holds the lock that the thread is blocked on is in the frames: that may change while the thread sleeps.
    pub held: bool,
}

impl Walk {
    /// The chains that are to be copied from now on.
    pub fn chains(&self) -> impl Iterator<Item = Chain> {
        self.follow.into_iter().flatten().flatten()
    }

    fn ended(end: End) -> Walk {
        Walk {
            end,
            outcome: None,
            stale: false,
            awaited: None,
            follow: None,
            held: false,
        }
    }

    fn waits(awaited: Awaited) -> Walk {
        Walk {
            awaited: Some(awaited),
            ..Walk::ended(End::Limit)
        }
    }
}

/// Walks stacks, both halves of each, with the modules and mappings of all processes.
pub struct Walker {
    /// The modules and their files.
    pub files: Files,
    /// Code that runtimes made.
    pub codes: Codes,
    /// The mappings of processes.
    pub mappings: Mappings,
    /// Walks user halves, and remembers how the last walk went.
    pub unwinder: Unwinder,
    /// The user frames of the last walk, leaf first.
    pub user: Vec<Frame>,
    /// Its kernel frames, leaf first.
    pub kernel: Vec<Frame>,
    kernel_module: ModuleId,
    entries: Entries,
    /// Holders of locks that are shown.
    held: Held,
    /// The cost of walks.
    budget: Budget,
    /// Runtimes whose version is not known, as they were told of, and what is to be told.
    unknown: HashSet<String>,
    notices: Vec<String>,
}

/// Most runtimes whose version is not known that are told of.
const MOST_UNKNOWN: usize = 16;

impl Walker {
    /// A walker that has walked nothing.
    pub fn new(mut files: Files, codes: Codes, mappings: Mappings, cpus: u64) -> Walker {
        let kernel_module = files.modules.kernel();
        Walker {
            files,
            codes,
            mappings,
            unwinder: Unwinder::new(),
            user: Vec::new(),
            kernel: Vec::new(),
            kernel_module,
            entries: Entries::default(),
            held: Held::default(),
            budget: Budget::new(WALKS * cpus, 2 * WALKS * cpus),
            unknown: HashSet::new(),
            notices: Vec::new(),
        }
    }

    /// The notices since the last call.
    pub fn take_notices(&mut self) -> Vec<String> {
        mem::take(&mut self.notices)
    }

    /// Tells once of a runtime whose version is not known.
    fn tell_unknown(&mut self, tgid: u32, why: &str) {
        if self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(why.to_owned()) {
            self.notices.push(format!(
                "{why} (process {tgid}): its stacks have functions of the interpreter in place of the program's"
            ));
        }
    }

    /// Walks both halves of a stack into `self.user` and `self.kernel`. `seen`: the pass that saw the task, and memory of the same stack that
    /// came before.
    pub fn walk(
        &mut self,
        head: &Head,
        stack: &StackPart<'_>,
        seen: Option<(u64, Option<&Pieces>)>,
        process: &mut Process,
        turn: Turn,
    ) -> Walk {
        let now = os::monotonic();
        let left = self.budget.left(process.work, head.uid, now);
        self.files.modules.allow(left);
        let walk = self.walk_halves(head, stack, seen, process, turn);
        let spent = self.files.modules.take_spent();
        self.budget.spend(&mut process.work, head.uid, now, spent);
        let needed = self.files.ask_for_needed();
        for id in &needed {
            // The unwinder may remember what it found without the file.
            self.unwinder.forget(*id);
        }
        if !needed.is_empty() && turn != Turn::Last {
            return Walk::waits(Awaited::File);
        }
        walk
    }

    /// Puts code at this address on top of the user frames of the last walk.
    pub fn put_leaf(&mut self, head: &Head, process: &mut Process, address: u64) {
        let modules = &mut self.files.modules;
        if let At::Known(maps) = self.mappings.at(head, &mut process.maps, modules)
            && let Some((module, offset)) = maps.code_at(address)
        {
            let guessed = false;
            self.user.insert(
                0,
                Frame {
                    module,
                    offset,
                    guessed,
                },
            );
        }
    }

    /// Puts a sign between the user frames of the last walk that a jump to this stack pointer leaves, and those that stay. A walk that
    /// ended before it came there saw only frames that are left.
    pub fn put_cut(&mut self, sp: u64) {
        let modules = &mut self.files.modules;
        let (at, sign) = match sp == u64::from(abi::FT_CUT_UNKNOWN) {
            true => (0, UNKNOWN_TARGET),
            false => (self.unwinder.frame_at(sp).unwrap_or(usize::MAX), LEFT),
        };
        self.user
            .insert(at.min(self.user.len()), word(modules, sign));
    }

    /// Has functions of the kernel be the last walk, the innermost first.
    pub fn put_path(&mut self, functions: &[u64]) {
        self.user.clear();
        self.kernel.clear();
        self.kernel.extend(functions.iter().map(|address| Frame {
            module: self.kernel_module,
            offset: *address,
            guessed: false,
        }));
    }

    /// The frames of the last walk.
    pub fn walked(&self) -> Walked<'_> {
        Walked {
            user: &self.user,
            kernel: &self.kernel,
            modules: &self.files.modules,
        }
    }

    fn walk_halves(
        &mut self,
        head: &Head,
        stack: &StackPart<'_>,
        seen: Option<(u64, Option<&Pieces>)>,
        process: &mut Process,
        turn: Turn,
    ) -> Walk {
        self.user.clear();
        self.walk_kernel(head, stack);
        if let Some(end) = end_without_walk(head, stack) {
            return Walk::ended(end);
        }
        if head.status & abi::FT_MM_BUSY != 0 {
            // Reading the mappings takes the same lock, and nobody waits for that here.
            let holder = stack.holder.map(|holder| self.holder(holder));
            self.user.extend(holder);
            return Walk::ended(End::MmBusy);
        }
        let modules = &mut self.files.modules;
        let unknown = match self.mappings.at(head, &mut process.maps, modules) {
            At::Known(maps) => Ok(maps),
            At::Asked if turn != Turn::Last => return Walk::waits(Awaited::Mappings),
            At::Asked => Err(End::Limit),
            At::Unknown(end) => Err(end),
        };
        let maps = match unknown {
            Ok(maps) => maps,
            Err(end) => {
                return Walk {
                    stale: true,
                    ..Walk::ended(end)
                };
            }
        };
        if let Some(why) = maps.unknown_runtime() {
            self.tell_unknown(head.tgid, why);
        }
        let switches = head.nvcsw + head.nivcsw;
        let collected = seen.and_then(|(_, collected)| collected);
        let pieces = pieces(stack, collected.filter(|p| p.switches == switches));
        let mapping = match stack.mapping.is_empty() {
            true => stack.user_address..stack.user_address.saturating_add(UNKNOWN_MAPPING),
            false => stack.mapping.clone(),
        };
        let input = Input {
            regs: stack.regs,
            mapping,
            pieces: &pieces,
        };
        process.code.begin(os::monotonic());
        let interpreted = Interpreted {
            thread: head.tid,
            copied: stack.chain(),
        };
        let mut outcome = self.walk_user(&maps, &input, &mut process.code, interpreted);
        let mut stale = false;
        while let Some(address) = outcome.unknown_address {
            let modules = &mut self.files.modules;
            let maps = &mut process.maps;
            match self.mappings.again(head, maps, address, modules) {
                At::Known(newer) => {
                    outcome = self.walk_user(&newer, &input, &mut process.code, interpreted);
                }
                At::Asked if turn != Turn::Last => return Walk::waits(Awaited::Mappings),
                At::Asked | At::Unknown(_) => {
                    stale = true;
                    break;
                }
            }
            if outcome.unknown_address == Some(address) {
                // Nothing is there.
                break;
            }
        }
        let uncopied = process.code.take_uncopied();
        let follow = uncopied.filter(|_| head.image != 0).and_then(|thread| {
            let attached = maps.attached()?;
            let own = chain_of(head.tid, head.image, attached.chain(&thread)?);
            let all = attached.chain_of_all(&thread);
            let all = all.map(|chain| chain_of(Chain::OF_IMAGE, head.image, chain));
            Some([Some(own), all])
        });
        let attached = maps.attached();
        let lock = attached
            .zip(seen)
            .and_then(|(attached, (pass, _))| self.lock(head, pass, process, attached));
        let awaited = attached.and_then(|attached| self.codes.ask(head, process, attached));
        if let Some(awaited) = awaited.filter(|_| turn != Turn::Last) {
            return Walk::waits(awaited);
        }
        // An interrupt copies only memory that is present.
        let clock = is_of_moment(head) && !stack.mapping.is_empty();
        let absent = head.status & abi::FT_ABSENT != 0 || clock && stack.user.is_empty();
        if stack.user.is_empty() {
            // Only the leaf is known, by its register.
            return Walk::ended(if absent { End::Absent } else { End::Faulted });
        }
        if head.status & abi::FT_LAST_ENTRY != 0 && !self.user.is_empty() {
            // The task has run on since: the callers may still be right, the leaf is not.
            self.user.remove(0);
        }
        // At the next pass the lock may have another holder, or one at all.
        let held = lock.is_some();
        if let Some(holder) = lock.flatten() {
            self.put_word(&held::label(&holder));
        }
        if is_asleep(head)
            && let Some(attached) = attached
            && let Some(wait) = attached.wait(&process.code, &interpreted, stack.regs[ARGUMENT])
        {
            self.put_wait(wait);
        }
        let piece_absent = absent && head.status & abi::FT_PIECE_FAILED != 0;
        Walk {
            end: match end_of(outcome.end) {
                End::Truncated | End::OtherStack if piece_absent => End::Absent,
                end => end,
            },
            outcome: Some(outcome),
            stale,
            awaited: None,
            follow,
            held,
        }
    }

    /// The lock that a sleeping task may be blocked on, if it is: who holds the lock, if that is known; else it is asked for. Nobody asks for
    /// a holder that may not be shown.
    fn lock(
        &mut self,
        head: &Head,
        pass: u64,
        process: &mut Process,
        attached: &Attached,
    ) -> Option<Option<runtimes::Holder>> {
        if !is_asleep(head) {
            return None;
        }
        let modules = &self.files.modules;
        let mut functions = self.user.iter();
        let innermost = functions.find_map(|frame| function_of(modules, frame))?;
        let name = self.codes.names.get(innermost.name)?;
        let switches = head.nvcsw + head.nivcsw;
        if !attached.may_block(name)
            || !process.code.may_be_blocked(head.tid, switches)
            || !self.held.may_show(pass, head.tid)
        {
            return None;
        }
        Some(process.code.holder(head.tid, switches, head.ktime))
    }

    /// Puts the wait for the lock of an interpreter on top of the user frames of the last walk.
    fn put_wait(&mut self, wait: Wait) {
        for label in held::labels_of_wait(wait) {
            self.put_word(&label);
        }
    }

    /// Puts a word on top of the user frames of the last walk.
    fn put_word(&mut self, text: &[u8]) {
        let frame = word(&mut self.files.modules, text);
        self.user.insert(0, frame);
    }

    /// Takes the frames of the tracing off the kernel half of the last walk.
    pub fn cut_tracing(&mut self) {
        self.entries.cut_tracing(&mut self.kernel);
    }

    /// Takes the frames of the task that an interrupt hit off the kernel half of the last walk; returns whether there was an interrupt.
    pub fn cut_interrupted(&mut self, head: &Head) -> bool {
        self.entries.cut_interrupted(head, &mut self.kernel)
    }

    /// Makes frames of the kernel half.
    pub fn walk_kernel(&mut self, head: &Head, stack: &StackPart<'_>) {
        self.kernel.clear();
        let sampled = is_of_moment(head);
        for (i, address) in stack.kernel.iter().enumerate() {
            // All are return addresses but the place where the CPU clock struck, or the event happened.
            let back = u64::from(!(sampled && i == 0));
            self.kernel.push(Frame {
                module: self.kernel_module,
                offset: address.wrapping_sub(back),
                guessed: false,
            });
        }
        if !sampled && u32::from(head.state) == abi::FT_STATE_RUNQ {
            self.entries.cut_preemption(&mut self.kernel);
        }
    }

    fn walk_user(
        &mut self,
        maps: &ProcessMaps,
        input: &Input<'_>,
        known: &mut Known,
        interpreted: Interpreted<'_>,
    ) -> Outcome {
        let modules = &mut self.files.modules;
        let known = Some((known, interpreted));
        self.unwinder
            .walk_known(maps, modules, input, known, &mut self.user)
    }

    /// The outermost frame of a stack that could not be read since this task held the mmap_lock.
    fn holder(&mut self, holder: Holder<'_>) -> Frame {
        let mut label = BUSY.to_vec();
        label.extend(holder.comm.iter().take_while(|b| **b != 0));
        label.extend(format!(" {}]", holder.tid).bytes());
        let modules = &mut self.files.modules;
        Frame {
            module: modules.unknown(&label, unwind::End::NoUnwindInfo),
            offset: 0,
            guessed: false,
        }
    }
}

const _: () = assert!(flametop_runtimes::FULL == abi::FT_PASS_NODES as usize);

/// How the user half ends, if there is nothing to walk.
fn end_without_walk(head: &Head, stack: &StackPart<'_>) -> Option<End> {
    if head.status & abi::FT_KTHREAD != 0 {
        return Some(End::Root);
    }
    if head.status & abi::FT_COMPAT != 0 {
        return Some(End::Narrow);
    }
    if stack.regs.iter().all(|r| *r == 0) {
        return Some(End::Exited);
    }
    // Within exec: the stack of before is gone, and the new one does not exist yet.
    (head.exec_vm == 0).then_some(End::Root)
}

/// All copied memory of a stack, the piece at its stack pointer first.
fn pieces<'a>(stack: &StackPart<'a>, collected: Option<&'a Pieces>) -> Vec<Piece<'a>> {
    let piece = |(address, bytes)| Piece { address, bytes };
    let mut pieces = vec![piece((stack.user_address, stack.user))];
    pieces.extend(stack.memory_chunks().map(piece));
    if !stack.piece.is_empty() {
        pieces.push(piece((stack.piece_address, stack.piece)));
    }
    let collected = collected.iter().flat_map(|p| &p.pieces);
    pieces.extend(collected.map(|(address, bytes)| piece((*address, bytes))));
    pieces
}

fn end_of(end: unwind::End) -> End {
    match end {
        unwind::End::Root => End::Root,
        unwind::End::Truncated => End::Truncated,
        unwind::End::OtherStack => End::OtherStack,
        unwind::End::NoUnwindInfo => End::NoUnwindInfo,
        unwind::End::Jit => End::Jit,
        unwind::End::Limit => End::Limit,
        unwind::End::Unreadable => End::Unreadable,
        unwind::End::Narrow => End::Narrow,
    }
}
