//! From records of the kernel to records of the stream. Both threads that get records call this, one at a time.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    io, mem,
    sync::Arc,
    time::{Duration, Instant},
};

use flametop_kernel::{
    Reach, Step, Whose, abi,
    record::{Head, Holder, StackPart},
};
use flametop_stream::{self as stream, Call, Encoder, End, Level, NameSource, Record, State};
use flametop_symbolize::{
    DebugFileCounts, MAX_FILES, PlaceQuery, Query, Source, Subject, Symbolizer,
};
use flametop_unwind::{
    CallersRbp, Frame, Hop, Input, ModuleId, ModuleKind, Modules, Outcome, Piece, ProcessMaps,
    Sign, Unwinder,
};

use crate::{
    budget::{Budget, Purse},
    jit::{self, Answer, JitNames},
    mappings::{At, Mappings},
    os,
    prober::{self, Prober, What},
    stacks::Stacks,
    tasks::{Pieces, Process, ProcessKey, Sight, Task, Tasks, Told},
    waiting::{Waiting, WaitingRoom},
};

/// The first samples may be waited for so long, all together, and each once the prober has begun to answer; later ones never: they wait
/// themselves. The prober begins after 6 ms, and after 20 ms and more where twenty programs want each CPU: who has five thousand threads
/// has more samples by then than may wait.
const GRACE: Duration = Duration::from_millis(400);
const GRACE_OF_ONE: Duration = Duration::from_millis(10);
/// A sample waits no longer for what is asked about its process, however often, ns.
const LONGEST_WAIT: u64 = 3_000_000_000;
/// A prober that was lost is replaced within this time, ns.
const LONGEST_LOSS: u64 = 20_000_000_000;
/// Most tasks that are shown again then.
const MOST_IN_VAIN: usize = 4096;
/// Modules that are known before those are forgotten that nothing needs. Builds make files by the thousand.
const MAX_MODULES: usize = 4096;
/// Most bytes of stack that are collected of one sleeper.
const MAX_PIECES: usize = 256 << 10;
/// Steps that were learned are remembered up to here.
const MOST_LEARNED: usize = 1 << 14;
/// Steps that wait to be told; each takes up to 48 system calls.
const MOST_STEPS: usize = 512;
/// Names of processes with deep stacks are remembered up to here.
const MOST_DEEP: usize = 256;
/// What the CPU clock copies of threads with deep stacks.
const DEEP: Reach = Reach {
    stack: abi::FT_CPU_STACK,
    piece: 0,
    near: 0,
    follow: false,
    walk: true,
};
/// A mapping whose end is not known is taken to reach this far above the stack pointer.
const UNKNOWN_MAPPING: u64 = 8 << 20;

/// Files of modules that are open at a time at least.
const LEAST_OPEN: usize = 8;
/// Frames whose names are asked for again in one go, when a debug file has come.
const MAX_AGAIN: usize = 512;

/// Units of work ([`Modules::allow`]) a second and CPU that walks of one process may cost, 25 ms at most; those of a user twice that.
const WALKS: u64 = 250_000;
/// The same for the names of one file.
const NAMING: u64 = 100_000;

/// How the module begins that stands for a holder of an mmap_lock; paths of files begin otherwise.
const BUSY: &[u8] = b"[mm busy: ";

/// Image, address of the code, and how its caller is found.
type Learned = HashSet<(u32, u64, Hop)>;

/// What the pipeline wants from the kernel side, which belongs to the caller.
#[derive(Default)]
pub struct Wishes {
    /// (tid, address): copy this piece at the next pass.
    pub pieces: Vec<(u32, u64)>,
    /// What the CPU clock is to copy from now on.
    pub reaches: Vec<(Whose, Reach)>,
    /// Of processes of an image: how it gets past frames.
    pub steps: Vec<(u32, Step)>,
}

/// Totals of the stream that are counted here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub cpu_placed: u64,
    pub cpu_failed: u64,
    pub walked: u64,
    pub short: u64,
}

/// All that the records go through.
pub struct Pipeline {
    /// Records of the stream that no batch has yet.
    pub out: Encoder,
    /// See [`Wishes`].
    pub wishes: Wishes,
    /// See [`Totals`].
    pub totals: Totals,
    /// See [`Tasks`].
    pub tasks: Tasks,
    stacks: Stacks,
    walker: Walker,
    symbolizer: Symbolizer,
    /// Frames that may have a name now, since a debug file came.
    again: Vec<u32>,
    /// Those of them whose answers are on their way.
    asked_again: HashSet<u32>,
    /// How far debug files are, as the stream has it: none is done before its names are here.
    pub debug_files: DebugFileCounts,
    /// See [`JitNames`].
    pub jit: JitNames,
    /// Modules that the symbolizer was told of and has still.
    subjects: HashSet<ModuleId>,
    /// Of these, files that it has open at a time.
    most_subjects: usize,
    /// With more modules than these, some are forgotten.
    modules_due: usize,
    /// New mappings that the kernel could not tell of, as said last.
    lost_told: u64,
    prober: Arc<Prober>,
    /// Samples of processes that are asked about.
    waiting: WaitingRoom,
    /// Processes whose samples wait for files.
    need_files: HashSet<ProcessKey>,
    /// Frames whose names, or whose places, are to be asked for when their files are open.
    unopened: Vec<(u32, bool)>,
    /// What is left of [`GRACE`].
    grace: Duration,
    /// Looking up where functions begin, by module.
    naming: Budget,
    /// Questions that were not answered, as said last.
    late_told: u64,
    /// When samples were placed that had waited in vain, and what shows their tasks again.
    in_vain: VecDeque<(u64, u32, u64)>,
    /// See [`Prober::started`].
    probers: u64,
}

/// How a sample is placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    /// It waited; its task may have ended.
    Again,
    /// It waits no more.
    Last,
}

/// What a walk came to; the frames are in the walker.
struct Walk {
    end: End,
    outcome: Option<Outcome>,
    /// The mappings were too old for it, and it was too soon to read them again.
    stale: bool,
    /// More was asked for that it needs.
    waits: bool,
}

impl Walk {
    fn ended(end: End) -> Walk {
        Walk {
            end,
            outcome: None,
            stale: false,
            waits: false,
        }
    }

    fn waits() -> Walk {
        Walk {
            waits: true,
            ..Walk::ended(End::Limit)
        }
    }
}

struct Walker {
    modules: Modules,
    prober: Arc<Prober>,
    /// Modules whose files are being opened.
    opening: HashSet<ModuleId>,
    /// Whether the last walk needed one of them.
    lacks_file: bool,
    /// What walks have cost.
    budget: Budget,
    mappings: Mappings,
    unwinder: Unwinder,
    kernel_module: ModuleId,
    user: Vec<Frame>,
    kernel: Vec<Frame>,
    /// What was told of each image lately, so that it is not told with each sample.
    learned: Learned,
    /// What was learned of each file, in any process.
    hops: HashMap<ModuleId, HashSet<Hop>>,
    /// Images that were told what was learned of their files.
    taught: HashSet<u32>,
    /// Names of processes that had deeper stacks than were copied.
    deep: HashSet<[u8; abi::FT_COMM as usize]>,
}

impl Pipeline {
    /// Nothing seen yet. `jvm_maps`: see [`JitNames::start`].
    pub fn new(
        tasks: Tasks,
        mut modules: Modules,
        mappings: Mappings,
        prober: Arc<Prober>,
        symbolizer: Symbolizer,
        jvm_maps: bool,
    ) -> Pipeline {
        let kernel_module = modules.kernel();
        let cpus = flametop_kernel::online_cpus().map_or(1, |cpus| cpus.len().max(1) as u64);
        Pipeline {
            out: Encoder::new(),
            wishes: Wishes::default(),
            totals: Totals::default(),
            tasks,
            stacks: Stacks::default(),
            walker: Walker {
                modules,
                prober: Arc::clone(&prober),
                opening: HashSet::new(),
                lacks_file: false,
                budget: Budget::new(WALKS * cpus, 2 * WALKS * cpus),
                mappings,
                unwinder: Unwinder::new(),
                kernel_module,
                user: Vec::new(),
                kernel: Vec::new(),
                learned: HashSet::new(),
                hops: HashMap::new(),
                taught: HashSet::new(),
                deep: HashSet::new(),
            },
            symbolizer,
            again: Vec::new(),
            asked_again: HashSet::new(),
            debug_files: DebugFileCounts::default(),
            jit: JitNames::start(Arc::clone(&prober), jvm_maps),
            subjects: HashSet::new(),
            most_subjects: MAX_FILES,
            modules_due: MAX_MODULES,
            lost_told: 0,
            prober,
            waiting: WaitingRoom::default(),
            need_files: HashSet::new(),
            unopened: Vec::new(),
            grace: GRACE,
            naming: Budget::new(NAMING * cpus, NAMING * cpus),
            late_told: 0,
            in_vain: VecDeque::new(),
            probers: 0,
        }
    }

    /// So many descriptors are left for files of modules: where they are few, fewer files are open at a time.
    pub fn share_files(&mut self, left: usize) {
        // A third each for walks, for names, and for what comes and goes.
        let share = (left / 3).clamp(LEAST_OPEN, MAX_FILES);
        self.walker.modules.keep_open(share);
        self.symbolizer.keep_open(share);
        self.most_subjects = share;
    }

    /// Asks for the mappings of these processes before they are seen, or for those of all.
    pub fn ask_early(&mut self, tgids: Option<&[u32]>) {
        self.walker.mappings.ask_early(tgids);
    }

    /// A task seen by pass number `pass`.
    pub fn task(&mut self, head: &Head, stack: Option<&StackPart<'_>>, pass: u64) {
        self.sample(head, stack, Some(pass));
    }

    /// A sample of the CPU clock.
    pub fn cpu_sample(&mut self, head: &Head, stack: Option<&StackPart<'_>>) {
        self.sample(head, stack, None);
    }

    fn sample(&mut self, head: &Head, stack: Option<&StackPart<'_>>, pass: Option<u64>) {
        let key = ProcessKey::of(head);
        let mut waits = self.waiting.holds(&key);
        if waits {
            self.tasks.see(head, pass.unwrap_or(0), &mut self.out);
        } else {
            waits = self.place(head, stack, pass, Turn::First);
            let mut until = None;
            while waits && !self.grace.is_zero() {
                let begin = Instant::now();
                let all = begin + self.grace;
                let last = match self.prober.started() {
                    0 => all,
                    _ => all.min(*until.get_or_insert(begin + GRACE_OF_ONE)),
                };
                if begin >= last {
                    break;
                }
                self.prober.wait(last);
                self.grace = self.grace.saturating_sub(begin.elapsed());
                self.probed();
                waits = self.place(head, stack, pass, Turn::First);
            }
        }
        if waits {
            self.waiting.push(key, Waiting::new(head, stack, pass));
            while let Some(crowd) = self.waiting.crowded() {
                self.dismiss(&crowd);
            }
        }
        self.ask_command_lines();
    }

    /// Returns whether it has to wait.
    fn place(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        pass: Option<u64>,
        turn: Turn,
    ) -> bool {
        let waits = match pass {
            Some(pass) => self.place_task(head, stack, pass, turn),
            None => self.place_cpu_sample(head, stack, turn),
        };
        if waits && self.walker.lacks_file {
            self.need_files.insert(ProcessKey::of(head));
        }
        waits
    }

    /// More is known of a process: places its samples, as far as they need not wait still.
    fn resume(&mut self, key: &ProcessKey) {
        let mut waits = false;
        for sample in self.waiting.take(key) {
            let stack = sample.stack();
            waits = waits || self.place(&sample.head, stack.as_ref(), sample.pass, Turn::Again);
            if waits {
                self.waiting.push(*key, sample);
            }
        }
    }

    /// Places all samples of a process with what is known.
    fn dismiss(&mut self, key: &ProcessKey) {
        self.need_files.remove(key);
        let now = os::monotonic();
        for sample in self.waiting.take(key) {
            let (tid, address) = sample.shown_by();
            self.in_vain.push_back((now, tid, address));
            self.place(
                &sample.head,
                sample.stack().as_ref(),
                sample.pass,
                Turn::Last,
            );
        }
    }

    /// A task that sleeps is shown once: while the prober was lost it was shown in vain, and is shown again to its successor.
    fn show_again(&mut self) {
        let old = os::monotonic().saturating_sub(LONGEST_LOSS);
        while let Some((time, ..)) = self.in_vain.front()
            && (*time < old || self.in_vain.len() > MOST_IN_VAIN)
        {
            self.in_vain.pop_front();
        }
        let started = self.prober.started();
        if started > mem::replace(&mut self.probers, started) {
            let tasks = self
                .in_vain
                .drain(..)
                .map(|(_, tid, address)| (tid, address));
            self.wishes.pieces.extend(tasks);
        }
    }

    fn ask_command_lines(&mut self) {
        for whom in self.tasks.take_unread() {
            self.prober.ask(whom, What::CommandLine);
        }
    }

    /// Takes what has become known of processes and files, and places the samples that waited for that.
    pub fn probed(&mut self) {
        let mut ready = Vec::new();
        let mut files = false;
        let mut late = Vec::new();
        for answer in self.prober.take() {
            let mappings = &mut self.walker.mappings;
            match answer {
                prober::Answer::CommandLine(key, text) => {
                    if let Some(text) = text {
                        self.tasks.command_line(key, text, &mut self.out);
                    }
                }
                prober::Answer::Maps(key, read) => {
                    if matches!(read, Err(prober::Missing::Late)) {
                        late.push(key);
                    }
                    if let Some(process) = self.tasks.process(key) {
                        mappings.come(process, read);
                    }
                    ready.push(key);
                }
                prober::Answer::Mappings(key, which, seen) => {
                    if seen.is_none() {
                        late.push(key);
                    }
                    mappings.seen(key, self.tasks.process(key), &which, seen);
                    ready.push(key);
                }
                prober::Answer::File(id, closed, file) => {
                    self.walker.opening.remove(&id);
                    self.walker.modules.reopened(id, &closed, file);
                    files = true;
                }
                prober::Answer::Early(tgid, read) => {
                    mappings.early(tgid, read);
                    ready.extend(self.waiting.of(tgid));
                }
                prober::Answer::PerfMap(tgid, map) => self.jit.perf_map(tgid, map),
                prober::Answer::Jvm(tgid, jvm) => self.jit.jvm(tgid, jvm),
            }
        }
        if files {
            ready.extend(mem::take(&mut self.need_files));
            self.ask_unopened();
        }
        let now = os::monotonic();
        for key in late {
            let samples = self.waiting.samples(&key).map(|s| s.shown_by());
            let shown = samples.map(|(tid, address)| (now, tid, address));
            self.in_vain.extend(shown);
        }
        for key in ready {
            self.resume(&key);
        }
        self.show_again();
        self.ask_command_lines();
    }

    /// Asks what waited for files to be opened.
    fn ask_unopened(&mut self) {
        let (places, names): (Vec<_>, Vec<_>) = mem::take(&mut self.unopened)
            .into_iter()
            .partition(|(_, places)| *places);
        let frames = |of: Vec<(u32, bool)>| of.into_iter().map(|(f, _)| f).collect::<Vec<u32>>();
        let (places, names) = (frames(places), frames(names));
        for frame in places.iter().chain(&names) {
            self.stacks.answered(*frame);
        }
        self.ask_names(&names);
        self.ask_places(&places);
    }

    /// Whether a module's file is open, or will not be. If not, this is asked again when it is.
    fn is_open(&mut self, module: ModuleId, frame: u32, places: bool) -> bool {
        if self.walker.modules.is_ready(module) {
            return true;
        }
        // That tells that it is needed.
        let _ = self.walker.modules.file(module);
        self.walker.reopen();
        let open = self.walker.modules.is_ready(module);
        if !open {
            self.stacks.asked(frame);
            self.unopened.push((frame, places));
        }
        open
    }

    fn place_task(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        pass: u64,
        turn: Turn,
    ) -> bool {
        let (task, process) = match self.tasks.see(head, pass, &mut self.out) {
            Sight::Live(task, process) => (task, process),
            Sight::Ended(_) => return false,
            Sight::Early(_) => {
                // Any piece will do to be shown the task again.
                let address = stack.map_or(0, |s| s.user_address);
                self.wishes.pieces.push((head.tid, address));
                return false;
            }
        };
        let (end, id) = match stack {
            Some(stack) => {
                let walk = self
                    .walker
                    .walk(head, stack, task.pieces.as_deref(), process, turn);
                if walk.waits {
                    return true;
                }
                let piece = next_piece(head, stack, task, &walk);
                // Any piece will do to be shown the task again.
                let again = walk.stale && try_again(head, task, process);
                if let Some(address) = piece.or(again.then_some(stack.user_address)) {
                    self.wishes.pieces.push((head.tid, address));
                }
                let Pipeline {
                    stacks,
                    walker,
                    totals,
                    out,
                    ..
                } = self;
                (
                    walk.end,
                    Some(walker.stack_id(walk.end, stacks, totals, out)),
                )
            }
            None => (missing(head), None),
        };
        let told = Told {
            run: head.run_ns,
            wait: head.wait_ns,
            switches: head.nvcsw + head.nivcsw,
            state: head.state,
            stack: id,
        };
        if task.told.replace(told) != Some(told) || u32::from(head.state) == abi::FT_STATE_RUN {
            let head = stream_head(head, task.id, id, end);
            self.out.put(&Record::TaskChanged(head));
        }
        false
    }

    /// A task that exists, seen by pass number `pass`.
    pub fn mark(&mut self, head: &Head, pass: u64) {
        self.tasks.see(head, pass, &mut self.out);
    }

    fn place_cpu_sample(&mut self, head: &Head, stack: Option<&StackPart<'_>>, turn: Turn) -> bool {
        let sight = self.tasks.see(head, 0, &mut self.out);
        let (task, walk) = match (sight, stack) {
            (Sight::Ended(id), Some(stack)) if turn != Turn::First => {
                let process = self.tasks.process(ProcessKey::of(head));
                let walk =
                    process.map(|process| self.walker.walk(head, stack, None, process, turn));
                (id, walk)
            }
            (Sight::Ended(id) | Sight::Early(id), _) => (id, None),
            (Sight::Live(task, _), None) => (task.id, None),
            (Sight::Live(task, process), Some(stack)) => {
                let walk = self.walker.walk(head, stack, None, process, turn);
                let reach = task.reach.or(process.reach);
                if walk.outcome.is_some() {
                    let lacks = walk.end == End::Truncated;
                    self.walker.learn(head, process, lacks, &mut self.wishes);
                }
                if let Some(reach) = next_reach(stack, reach, &walk) {
                    task.reach = Some(reach);
                    let reaches = &mut self.wishes.reaches;
                    reaches.push((Whose::Thread(head.tid), reach));
                    let of = for_others(reach);
                    if process.reach.is_none_or(|known| {
                        known.stack < of.stack || known.piece < of.piece || !known.walk && of.walk
                    }) {
                        process.reach = Some(of);
                        reaches.push((Whose::Process(head.tgid), of));
                    }
                }
                (task.id, Some(walk))
            }
        };
        let end = walk.as_ref().map_or(End::Exited, |walk| walk.end);
        if walk.as_ref().is_some_and(|walk| walk.waits) {
            return true;
        }
        let nothing = self.walker.user.is_empty() && self.walker.kernel.is_empty();
        // Of 32-bit code there are no frames, and the reason stands for them.
        let placed = walk.is_some() && (!nothing || end == End::Narrow);
        let stack = if placed {
            self.totals.cpu_placed += 1;
            let Pipeline {
                stacks,
                walker,
                totals,
                out,
                ..
            } = self;
            Some(walker.stack_id(end, stacks, totals, out))
        } else {
            self.totals.cpu_failed += 1;
            None
        };
        let why = match end {
            End::Root if !placed => End::Exited,
            end => end,
        };
        self.out
            .put(&Record::CpuSample(stream_head(head, task, stack, why)));
        false
    }

    /// A process image was replaced, a task ended, or its last sums are known.
    pub fn life(&mut self, head: &Head) {
        match u32::from(head.kind) {
            abi::FT_KIND_EXEC => {
                self.walker.mappings.exec(head);
                if let Sight::Live(task, _) = self.tasks.exec(head, &mut self.out) {
                    // A sight like another: the time until now is that of the image before.
                    task.told = None;
                    let head = stream_head(head, task.id, None, End::Root);
                    self.out.put(&Record::TaskChanged(head));
                }
            }
            abi::FT_KIND_EXIT => self.tasks.exit(head),
            _ => self.tasks.free(head, &mut self.out),
        }
    }

    /// The rings were drained up to `now`: tells of the ends of tasks that are complete.
    pub fn drained(&mut self, now: u64) {
        self.tasks.drained(now, &mut self.out);
        self.walker.mappings.drain(now);
        for key in self.waiting.older(now.saturating_sub(LONGEST_WAIT)) {
            self.dismiss(&key);
        }
        let late = self.prober.given_up();
        if late > 2 * self.late_told {
            self.late_told = late;
            self.notice(
                true,
                &format!(
                    "{late} questions about processes were not answered in time, by their memory, its lock or files that they \
                     map: their stacks end in [mm busy] or [file not readable], others' are as ever"
                ),
            );
        }
        let lost = self.walker.mappings.lost();
        // Said again when they have doubled.
        if lost > 2 * self.lost_told {
            self.lost_told = lost;
            self.notice(
                true,
                &format!(
                    "{lost} new mappings were not told of since there were too many at once: stacks of that moment may end in \
                     [unreadable] or [exited]"
                ),
            );
        }
    }

    /// Says something to the user.
    pub fn notice(&mut self, trouble: bool, text: &str) {
        self.notice_of(None, trouble, text);
    }

    /// Says something that is of this process alone, and goes with it.
    fn notice_of(&mut self, process: Option<u32>, trouble: bool, text: &str) {
        self.out.put(&Record::Notice {
            level: if trouble { Level::Trouble } else { Level::Told },
            text: text.as_bytes(),
            process,
        });
    }

    /// Tells of a time in which the machine was suspended, after it.
    pub fn look_for_suspension(&mut self) {
        self.walker.mappings.boot.look();
        if let Some(ns) = self.tasks.boot.look() {
            self.notice(
                true,
                &format!(
                    "the machine was suspended for {:.1} s: that is nobody's time",
                    ns as f64 / 1e9
                ),
            );
        }
    }

    /// Passes frames on to the symbolizer.
    pub fn ask_names(&mut self, frames: &[u32]) {
        let mut queries = Vec::with_capacity(frames.len());
        let mut jit = Vec::new();
        let now = os::monotonic();
        for &frame in frames {
            let Some(&place) = self.stacks.place(frame) else {
                continue;
            };
            let Frame { module, offset, .. } = place;
            let modules = &mut self.walker.modules;
            match modules.get(module).kind() {
                ModuleKind::Jit => {
                    let tgid = modules.get(module).tgid().unwrap_or(0);
                    self.stacks.asked(frame);
                    jit.push(jit::Ask { frame, tgid, place });
                    continue;
                }
                ModuleKind::Unknown if modules.get(module).path().starts_with(BUSY) => {
                    let reason = modules.get(module).path().to_vec();
                    self.name(frame, NameSource::Reason, &reason);
                    continue;
                }
                ModuleKind::Unknown if modules.get(module).sign().is_some() => {
                    let source = match modules.get(module).sign() {
                        Some(Sign::Root) => NameSource::Root,
                        _ => NameSource::Reason,
                    };
                    let name = modules.get(module).path().to_vec();
                    self.name(frame, source, &name);
                    continue;
                }
                ModuleKind::Unknown => {
                    let address = format!("{offset:#x}");
                    self.name(frame, NameSource::Unknown, address.as_bytes());
                    continue;
                }
                _ => {}
            }
            if !self.subjects.contains(&module) && !self.is_open(module, frame, false) {
                continue;
            }
            let modules = &mut self.walker.modules;
            if !self.subjects.contains(&module)
                && let Ok(subject) = subject(modules, module)
            {
                // It keeps so many files open; one that it may have closed is told again.
                if self.subjects.len() >= self.most_subjects {
                    self.subjects.clear();
                }
                self.subjects.insert(module);
                self.symbolizer.add_module(module.0, subject);
            }
            self.stacks.asked(frame);
            // The lookups of a file whose entries are huge on purpose are its own affair.
            modules.allow(self.naming.left(Purse::default(), module.0, now));
            queries.push(Query {
                frame,
                module: module.0,
                offset,
                function_start: modules.function_start(module, offset),
                root: modules.root_name(module, offset),
            });
            let spent = modules.take_spent();
            self.naming
                .spend(&mut Purse::default(), module.0, now, spent);
        }
        self.symbolizer.ask(&queries);
        if !jit.is_empty() {
            self.jit.ask(jit);
        }
    }

    /// Asks for inlined functions and source lines of frames: those of one file together.
    pub fn ask_places(&mut self, frames: &[u32]) {
        let mut of_files: BTreeMap<ModuleId, Vec<(u32, u64)>> = BTreeMap::new();
        for &frame in frames {
            let Some(&Frame { module, offset, .. }) = self.stacks.place(frame) else {
                continue;
            };
            let missing: &[u8] = match self.walker.modules.get(module).kind() {
                ModuleKind::File => {
                    if !self.is_open(module, frame, true) {
                        continue;
                    }
                    self.stacks.asked(frame);
                    of_files.entry(module).or_default().push((frame, offset));
                    continue;
                }
                ModuleKind::Kernel => b"lines of the kernel are not looked for",
                ModuleKind::Vdso => b"the vDSO has no debug information",
                ModuleKind::Jit => b"code made at run time has no debug information",
                ModuleKind::Unknown => b"its file cannot be read",
            };
            self.stacks.asked(frame);
            self.tell_place(frame, &[], missing);
        }
        for (module, frames) in of_files {
            let modules = &mut self.walker.modules;
            let known = modules.get(module);
            let (path, process) = (known.path().to_vec(), known.tgid().unwrap_or(0));
            let build_id = known.build_id().to_vec();
            match modules.file(module) {
                Ok(file) => self.symbolizer.ask_places(PlaceQuery {
                    file,
                    path,
                    process,
                    build_id,
                    frames,
                }),
                Err(error) => {
                    let missing = format!("its file cannot be opened any more ({error})");
                    for (frame, _) in frames {
                        self.tell_place(frame, &[], missing.as_bytes());
                    }
                }
            }
        }
    }

    fn tell_place(&mut self, frame: u32, calls: &[flametop_symbolize::Call], missing: &[u8]) {
        self.stacks.answered(frame);
        let calls = calls.iter().map(|call| Call {
            function: &call.function,
            file: &call.file,
            line: call.line,
        });
        self.out.put(&Record::Place {
            frame,
            calls: calls.collect(),
            missing,
        });
    }

    fn name(&mut self, frame: u32, source: NameSource, name: &[u8]) {
        self.out.put(&Record::Name {
            frame,
            source,
            name: &name[..name.len().min(stream::MAX_NAME)],
        });
    }

    fn take_jit(&mut self, answer: Answer) {
        match answer {
            Answer::Name {
                frame,
                place,
                name,
                asked,
            } => {
                if asked {
                    self.stacks.answered(frame);
                } else if self.stacks.place(frame) != Some(&place) {
                    // A better name comes unasked, when the id may mean another frame already.
                    return;
                }
                match name {
                    Some(name) => self.name(frame, NameSource::Symbol, &name),
                    // One name for all: each instruction would be a function of its own.
                    None => self.name(frame, NameSource::Unknown, b"[jit]"),
                }
            }
            Answer::Moved { frame, place } => {
                if self.stacks.place(frame) == Some(&place) {
                    self.stacks.renew(frame);
                }
            }
            Answer::Notice {
                tgid,
                trouble,
                text,
            } => self.notice_of(self.tasks.id_of(tgid), trouble, &text),
        }
    }

    /// Takes the names and places that have come; gives the symbolizer's processes that run.
    pub fn take_names(&mut self) {
        let of_jit: Vec<Answer> = self.jit.answers().collect();
        for answer in of_jit {
            self.take_jit(answer);
        }
        self.ask_again();
        for answer in self.symbolizer.take_answers() {
            self.stacks.answered(answer.frame);
            self.asked_again.remove(&answer.frame);
            if matches!(answer.source, Source::Symbol | Source::Root) {
                self.stacks.named(answer.frame);
            }
            self.name(answer.frame, answer.source, &answer.name);
        }
        for answer in self.symbolizer.take_places() {
            self.tell_place(answer.frame, &answer.calls, &answer.missing);
        }
        let of_prober = self.prober.take_notices();
        for notice in of_prober.into_iter().chain(self.symbolizer.take_notices()) {
            self.notice(true, &notice);
        }
    }

    /// The helper processes that run now, and what each is for.
    pub fn helpers(&self) -> Vec<(u32, &'static str)> {
        let probers = self.prober.pids().into_iter().map(|pid| (pid, "prober"));
        let names = self.symbolizer.pids().into_iter().flatten();
        let names = names.map(|pid| (pid, "symbolizer"));
        let fetchers = self.symbolizer.fetchers().into_iter();
        let fetchers = fetchers.map(|pid| (pid, "debuginfod"));
        fetchers.chain(probers).chain(names).collect()
    }

    /// Asks anew for the names of frames whose debug files have come.
    fn ask_again(&mut self) {
        let come = self.symbolizer.take_debug_files();
        if !come.build_ids.is_empty() {
            let modules = &self.walker.modules;
            let frames = self.stacks.unnamed(|module| {
                let build_id = modules.get(module).build_id();
                come.build_ids.iter().any(|id| id == build_id)
            });
            self.again.extend(frames);
        }
        let tried = self.symbolizer.take_tried_again();
        if !tried.is_empty() {
            let frames = self.stacks.unnamed(|module| tried.contains(&module.0));
            self.again.extend(frames);
        }
        let rest = self.again.len().saturating_sub(MAX_AGAIN);
        let now = self.again.split_off(rest);
        if !now.is_empty() {
            self.asked_again.extend(&now);
            self.ask_names(&now);
            // One that is forgotten meanwhile is not asked for.
            let stacks = &self.stacks;
            self.asked_again.retain(|frame| stacks.is_asked(*frame));
        }
        let before = self.debug_files;
        self.debug_files = match self.again.is_empty() && self.asked_again.is_empty() {
            true => come.counts,
            false => DebugFileCounts {
                wanted: come.counts.wanted,
                bytes: come.counts.bytes,
                ..before
            },
        };
    }

    /// Forgets stacks, frames and modules that were not seen for long, if there are too many.
    pub fn forget(&mut self) {
        let modules = &mut self.walker.modules;
        if !self.stacks.due() && modules.len() <= self.modules_due {
            return;
        }
        let kept: HashSet<u32> = self.tasks.stacks().collect();
        self.stacks.forget(&kept, &mut self.out);
        let mut needed = self.stacks.modules();
        needed.extend(self.tasks.modules());
        let gone = modules.retain(|id| needed.contains(&id));
        self.modules_due = MAX_MODULES.max(2 * modules.len());
        if gone.is_empty() {
            return;
        }
        // Other modules get these ids.
        self.walker.unwinder.clear();
        self.walker.forget_learned();
        self.stacks.forget_modules(&gone, &mut self.out);
        for id in &gone {
            self.subjects.remove(id);
        }
        self.symbolizer
            .forget_modules(gone.iter().map(|id| id.0).collect());
    }
}

fn subject(modules: &mut Modules, id: ModuleId) -> io::Result<Subject> {
    let module = modules.get(id);
    Ok(match module.kind() {
        ModuleKind::Kernel => Subject::Kernel,
        ModuleKind::Vdso => Subject::Vdso {
            image: module.image().unwrap_or_default().to_vec(),
        },
        _ => {
            let (path, process) = (module.path().to_vec(), module.tgid().unwrap_or(0));
            let build_id = module.build_id().to_vec();
            Subject::File {
                file: modules.file(id)?,
                path,
                process,
                build_id,
            }
        }
    })
}

/// Why a record has no stack.
fn missing(head: &Head) -> End {
    match u32::from(head.state) {
        abi::FT_STATE_ZOMBIE => End::Exited,
        _ if head.status & abi::FT_TORN != 0 => End::Torn,
        abi::FT_STATE_RUN | abi::FT_STATE_IDLE_KTHREAD => End::Root,
        _ if head.status & abi::FT_EXITING != 0 => End::Exited,
        _ => End::Faulted,
    }
}

/// Keeps the piece that came and says which one to ask for next, if the walk can go on with more.
fn next_piece(head: &Head, stack: &StackPart<'_>, task: &mut Task, walk: &Walk) -> Option<u64> {
    let collected = task.pieces.take();
    if head.status & abi::FT_LAST_ENTRY != 0 {
        return None;
    }
    let want = walk.outcome?.want?;
    let switches = head.nvcsw + head.nivcsw;
    let mut collected = collected
        .filter(|p| p.switches == switches)
        .unwrap_or_default();
    collected.switches = switches;
    let bytes: usize = collected.pieces.iter().map(|(_, b)| b.len()).sum();
    let failed = head.status & abi::FT_PIECE_FAILED != 0;
    if failed
        || collected.asked == want
        || bytes + stack.user.len() + stack.piece.len() >= MAX_PIECES
    {
        return None;
    }
    if !stack.piece.is_empty() {
        collected
            .pieces
            .push((stack.piece_address, stack.piece.to_vec()));
    }
    collected.asked = want;
    task.pieces = Some(collected);
    Some(want)
}

/// What the CPU clock is to copy of a thread's stack from now on, if the walk of this sample wanted more than the clock copies.
/// A walk has only what came with its own sample: memory of different moments is never joined.
fn next_reach(stack: &StackPart<'_>, reach: Option<Reach>, walk: &Walk) -> Option<Reach> {
    let want = walk.outcome?.want?;
    let (most, first) = (abi::FT_CPU_STACK, abi::FT_CPU_FIRST);
    let mut next = reach.unwrap_or(Reach {
        stack: first,
        piece: 0,
        near: 0,
        follow: false,
        walk: false,
    });
    if walk.end == End::Truncated {
        next.walk = true;
        next.stack = most - next.piece;
    } else {
        // On another stack. How far from there it goes on, if that is not farther than can be copied beside the rest:
        let beyond = |from: u64| u32::try_from(want.checked_sub(from)?).ok();
        let near = |from: u64| beyond(from).filter(|bytes| *bytes < most - first);
        if !stack.piece.is_empty()
            && let Some(bytes) = near(stack.piece_address)
        {
            next.piece = (bytes + first).min(most - first);
        } else {
            next.near = want;
            next.follow = true;
            next.piece = next.piece.max(first);
        }
        next.stack = next.stack.min(most - next.piece);
    }
    (Some(next) != reach).then_some(next)
}

/// What is copied of the other threads of its process: to an address on one thread's stack no other one leads.
fn for_others(reach: Reach) -> Reach {
    if reach.follow || reach.piece == 0 {
        return reach;
    }
    Reach {
        stack: abi::FT_CPU_STACK,
        piece: 0,
        ..reach
    }
}

/// As the kernel side takes it, of code at this address.
fn step(hop: &Hop, address: u64) -> Step {
    let size = hop.code.end - hop.code.start;
    let mut step = Step {
        from: address,
        to: address.saturating_add(size),
        flags: abi::FT_STEP_ROOT,
        bp: 0,
        cfa: 0,
        add: 0,
    };
    let Some(caller) = hop.caller else {
        return step;
    };
    let (saved, bp) = match caller.rbp {
        CallersRbp::Same => (0, 0),
        CallersRbp::Saved(offset) => (abi::FT_STEP_SAVED, offset),
        CallersRbp::SavedAt(offset) => (abi::FT_STEP_SAVED_AT, offset),
    };
    // A frame whose rbp is farther away is one that nothing further is found by.
    if let Ok(bp) = i16::try_from(bp) {
        (step.flags, step.bp) = (saved, bp);
    } else {
        step.flags = 0;
    }
    step.flags |= if caller.by_rbp { abi::FT_STEP_BP } else { 0 };
    step.cfa = caller.offset;
    if let Some(add) = caller.add {
        step.flags |= abi::FT_STEP_DEREF;
        step.add = add;
    }
    step
}

/// Wishes that processes of this image are told of a hop, and remembers that, unless they were told or too many wait; returns
/// whether the wish is new. What is not mapped there now is wished for when it is.
fn tell(
    hop: &Hop,
    image: u32,
    maps: &ProcessMaps,
    learned: &mut Learned,
    wishes: &mut Wishes,
) -> bool {
    if wishes.steps.len() >= MOST_STEPS {
        return false;
    }
    let Some(address) = maps.address(hop.module, hop.code.start) else {
        return false;
    };
    let new = learned.insert((image, address, hop.clone()));
    if new {
        wishes.steps.push((image, step(hop, address)));
    }
    new
}

/// Whether a sleeper with stale mappings should be seen again: as long as they are from before it was found so.
fn try_again(head: &Head, task: &mut Task, process: &Process) -> bool {
    let switches = head.nvcsw + head.nivcsw;
    let since = match task.unknown {
        Some((s, since)) if s == switches => since,
        _ => head.ktime,
    };
    task.unknown = Some((switches, since));
    process.maps.read() < since
}

fn stream_head(head: &Head, task: u32, stack: Option<u32>, why: End) -> stream::Head {
    stream::Head {
        time: head.ktime,
        task,
        stack,
        run: head.run_ns,
        wait: head.wait_ns,
        nvcsw: head.nvcsw,
        nivcsw: head.nivcsw,
        cpu: head.cpu,
        state: State(u8::try_from(head.state).unwrap_or(u8::MAX)),
        why,
        user_mode: u32::from(head.kind) == abi::FT_KIND_CPU && head.status & abi::FT_USER_MODE != 0,
    }
}

impl Walker {
    /// Walks both halves of a stack into `self.user` and `self.kernel`, leaf first.
    fn walk(
        &mut self,
        head: &Head,
        stack: &StackPart<'_>,
        collected: Option<&Pieces>,
        process: &mut Process,
        turn: Turn,
    ) -> Walk {
        let now = os::monotonic();
        self.modules
            .allow(self.budget.left(process.work, head.uid, now));
        let mut walk = self.walk_known(head, stack, collected, process, turn);
        let spent = self.modules.take_spent();
        self.budget.spend(&mut process.work, head.uid, now, spent);
        self.lacks_file = self.reopen();
        if self.lacks_file && turn != Turn::Last {
            walk = Walk::waits();
        }
        walk
    }

    /// Asks for the files that were needed and are not open; returns whether there are any.
    fn reopen(&mut self) -> bool {
        let mut lacks = false;
        for (id, closed) in self.modules.take_closed() {
            lacks = true;
            // What was found without it is wrong.
            self.unwinder.forget(id);
            if self.opening.contains(&id) {
                continue;
            }
            if self.prober.reopen(id, closed.clone()) {
                self.opening.insert(id);
            } else {
                self.modules.reopened(id, &closed, None);
            }
        }
        lacks
    }

    fn walk_known(
        &mut self,
        head: &Head,
        stack: &StackPart<'_>,
        collected: Option<&Pieces>,
        process: &mut Process,
        turn: Turn,
    ) -> Walk {
        self.user.clear();
        self.kernel.clear();
        let sampled = u32::from(head.kind) == abi::FT_KIND_CPU;
        for (i, address) in stack.kernel.iter().enumerate() {
            // All are return addresses but the place where the CPU clock struck.
            let back = u64::from(!(sampled && i == 0));
            self.kernel.push(Frame {
                module: self.kernel_module,
                offset: address.wrapping_sub(back),
                guessed: false,
            });
        }
        if head.status & abi::FT_KTHREAD != 0 {
            return Walk::ended(End::Root);
        }
        if head.status & abi::FT_COMPAT != 0 {
            return Walk::ended(End::Narrow);
        }
        if stack.regs.iter().all(|r| *r == 0) {
            return Walk::ended(End::Exited);
        }
        if head.exec_vm == 0 {
            // Within exec: the stack of before is gone, and there is none yet.
            return Walk::ended(End::Root);
        }
        if head.status & abi::FT_MM_BUSY != 0 {
            // To read mappings takes the same lock, and nobody waits for that here.
            let holder = stack.holder.map(|holder| self.holder(holder));
            self.user.extend(holder);
            return Walk::ended(End::MmBusy);
        }
        let unknown = match self.mappings.at(head, process, &mut self.modules) {
            At::Known(maps) => Ok(maps),
            At::Asked if turn != Turn::Last => return Walk::waits(),
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
        let switches = head.nvcsw + head.nivcsw;
        let collected = collected.filter(|p| p.switches == switches);
        let mut pieces = vec![Piece {
            address: stack.user_address,
            bytes: stack.user,
        }];
        pieces.extend(
            stack
                .chunks
                .map(|(address, bytes)| Piece { address, bytes }),
        );
        if !stack.piece.is_empty() {
            pieces.push(Piece {
                address: stack.piece_address,
                bytes: stack.piece,
            });
        }
        for (address, bytes) in collected.iter().flat_map(|p| &p.pieces) {
            pieces.push(Piece {
                address: *address,
                bytes,
            });
        }
        let mapping = match stack.mapping.is_empty() {
            true => stack.user_address..stack.user_address.saturating_add(UNKNOWN_MAPPING),
            false => stack.mapping.clone(),
        };
        let input = Input {
            regs: stack.regs,
            mapping,
            pieces: &pieces,
        };
        let mut outcome = self.unwind(&maps, &input);
        let mut stale = outcome.unknown_address;
        if stale {
            match self.mappings.again(head, process, &mut self.modules) {
                At::Known(newer) => {
                    outcome = self.unwind(&newer, &input);
                    stale = false;
                }
                At::Asked if turn != Turn::Last => return Walk::waits(),
                At::Asked | At::Unknown(_) => {}
            }
        }
        // An interrupt copies what is in memory.
        let clock = u32::from(head.kind) == abi::FT_KIND_CPU && !stack.mapping.is_empty();
        let absent = head.status & abi::FT_ABSENT != 0 || clock && stack.user.is_empty();
        if stack.user.is_empty() {
            // Only the leaf is known, by its register.
            return Walk::ended(if absent { End::Absent } else { End::Faulted });
        }
        if head.status & abi::FT_LAST_ENTRY != 0 && !self.user.is_empty() {
            // It has run on since: the callers may still be right, the leaf is not.
            self.user.remove(0);
        }
        let absent = absent && head.status & abi::FT_PIECE_FAILED != 0;
        let end = match outcome.end {
            flametop_unwind::End::Root => End::Root,
            flametop_unwind::End::Truncated | flametop_unwind::End::OtherStack if absent => {
                End::Absent
            }
            flametop_unwind::End::Truncated => End::Truncated,
            flametop_unwind::End::OtherStack => End::OtherStack,
            flametop_unwind::End::NoUnwindInfo => End::NoUnwindInfo,
            flametop_unwind::End::Jit => End::Jit,
            flametop_unwind::End::Limit => End::Limit,
            flametop_unwind::End::Unreadable => End::Unreadable,
            flametop_unwind::End::Narrow => End::Narrow,
        };
        Walk {
            end,
            outcome: Some(outcome),
            stale,
            waits: false,
        }
    }

    /// What stands outermost in a stack that could not be read since this task held the mmap_lock.
    fn holder(&mut self, holder: Holder<'_>) -> Frame {
        let mut label = BUSY.to_vec();
        label.extend(holder.comm.iter().take_while(|b| **b != 0));
        label.extend(format!(" {}]", holder.tid).bytes());
        Frame {
            module: self
                .modules
                .unknown(&label, flametop_unwind::End::NoUnwindInfo),
            offset: 0,
            guessed: false,
        }
    }

    /// The id of the stack that was walked last.
    fn stack_id(
        &self,
        end: End,
        stacks: &mut Stacks,
        totals: &mut Totals,
        out: &mut Encoder,
    ) -> u32 {
        totals.walked += 1;
        totals.short += u64::from(end != End::Root);
        stacks.id(end, &self.user, &self.kernel, &self.modules, out)
    }

    /// Tells the kernel side how to get past the frames of a stack that it did not copy enough of; and at the first sight of a
    /// process, if others of its name had such stacks, what was learned of its modules there.
    fn learn(&mut self, head: &Head, process: &mut Process, lacks: bool, wishes: &mut Wishes) {
        let first = !std::mem::replace(&mut process.taught, true);
        let expected = first && self.deep.contains(&head.process_comm);
        if !lacks && !expected {
            return;
        }
        let At::Known(maps) = self.mappings.at(head, process, &mut self.modules) else {
            return;
        };
        // The kernel side may have forgotten some: they are told again now and then.
        if self.learned.len() > MOST_LEARNED
            || self.taught.len() > MOST_LEARNED
            || self.deep.len() > MOST_DEEP
        {
            self.forget_learned();
        }
        if lacks {
            self.deep.insert(head.process_comm);
        } else if process.reach.is_none() {
            process.reach = Some(DEEP);
            wishes.reaches.push((Whose::Process(head.tgid), DEEP));
        }
        let mut tell = |hop: &Hop| tell(hop, head.image, &maps, &mut self.learned, wishes);
        if self.taught.insert(head.image) {
            let modules: HashSet<ModuleId> = maps.modules().collect();
            let hops = modules.iter().filter_map(|id| self.hops.get(id)).flatten();
            for hop in hops.take(MOST_STEPS) {
                tell(hop);
            }
        }
        if lacks {
            for hop in self.unwinder.hops() {
                if tell(hop) && self.modules.get(hop.module).kind() == ModuleKind::File {
                    self.hops.entry(hop.module).or_default().insert(hop.clone());
                }
            }
        }
    }

    fn forget_learned(&mut self) {
        self.learned.clear();
        self.hops.clear();
        self.deep.clear();
        self.taught.clear();
    }

    fn unwind(&mut self, maps: &ProcessMaps, input: &Input<'_>) -> Outcome {
        self.unwinder
            .walk(maps, &mut self.modules, input, &mut self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(module: ModuleId, start: u64) -> Hop {
        Hop {
            module,
            code: start..start + 1,
            caller: None,
        }
    }

    /// This process, and a module of it with the offset of code that is mapped.
    fn own() -> (ProcessMaps, ModuleId, u64) {
        let mut modules = Modules::new(1 << 20);
        let maps = ProcessMaps::read(std::process::id(), &mut modules).unwrap();
        let module = maps.modules().next().unwrap();
        let mapped = |page: &u64| maps.address(module, page * 4096).is_some();
        let page = (0..1 << 20).find(mapped).unwrap();
        (maps, module, page * 4096)
    }

    #[test]
    fn tell_code_that_is_mapped_later_is_told_then_and_once() {
        let (maps, module, start) = own();
        let (mut learned, mut wishes) = (Learned::new(), Wishes::default());
        let empty = ProcessMaps::empty(std::process::id());
        let hop = hop(module, start);
        assert!(!tell(&hop, 1, &empty, &mut learned, &mut wishes));
        assert!(tell(&hop, 1, &maps, &mut learned, &mut wishes));
        assert!(!tell(&hop, 1, &maps, &mut learned, &mut wishes), "again");
        assert!(tell(&hop, 2, &maps, &mut learned, &mut wishes), "another");
        let images: Vec<u32> = wishes.steps.iter().map(|(image, _)| *image).collect();
        assert_eq!(images, [1, 2]);
    }

    #[test]
    fn tell_more_than_may_wait_is_told_when_there_is_room() {
        let (maps, module, start) = own();
        let (mut learned, mut wishes) = (Learned::new(), Wishes::default());
        for offset in 0..1000 {
            let hop = hop(module, start + offset);
            tell(&hop, 1, &maps, &mut learned, &mut wishes);
        }
        assert_eq!(wishes.steps.len(), MOST_STEPS);
        wishes.steps.clear();
        for offset in 0..1000 {
            let hop = hop(module, start + offset);
            tell(&hop, 1, &maps, &mut learned, &mut wishes);
        }
        assert_eq!(wishes.steps.len(), 1000 - MOST_STEPS);
    }
}
