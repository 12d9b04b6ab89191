//! From records of the kernel to records of the stream. Both threads that get records call this, one at a time.
//!
//! A record is *placed* ([`placing`]): [`walker`] makes frames of its stack, with the modules of [`files`], and the tables of
//! [`Stacks`] give these an id. [`reach`] and [`steps`] tell the kernel side what to copy next time. A sample whose process or files
//! are not known yet waits; one that waited in vain is remembered in [`in_vain`]. Who holds a lock is shown
//! as [`held`] says. [`naming`] asks for names, and takes them.

mod codes;
mod entries;
mod files;
mod held;
mod in_vain;
mod naming;
mod placing;
mod reach;
mod steps;
mod wakes;
mod walker;
mod words;

use std::{collections::HashSet, mem, sync::Arc, time::Duration};

use flametop_kernel::{
    Chain, Reach, Step, Whose, abi,
    record::{Event, Head, StackPart},
};
use flametop_runtimes::NameId;
use flametop_stream::{Encoder, End, Level, Record};
use flametop_symbolize::{DebugFileCounts, MAX_FILES, Symbolizer};
use flametop_unwind::{Frame, Modules};

use crate::{
    identity::ProcessKey,
    jit::JitNames,
    mappings::Mappings,
    os,
    prober::{Answer, Missing, Prober, What},
    stacks::Stacks,
    tasks::{Sight, Tasks},
    waiting::{Taker, WaitingRoom},
};
use codes::Codes;
use files::Files;
use in_vain::InVain;
use naming::{Frames, Naming};
use placing::stream_head;
use steps::Steps;
use wakes::Wakes;
use walker::Walker;

/// The pipeline waits for the answers of the first samples: for all together so long, and for each so long once the prober has begun to
/// answer, or until there is room for more samples that wait. It never waits for later samples, which wait themselves. The prober begins
/// after 6 ms, and after 20 ms and more where twenty programs want each CPU: a process of five thousand threads has more samples by then
/// than may wait.
const GRACE: Duration = Duration::from_millis(400);
const GRACE_OF_ONE: Duration = Duration::from_millis(10);
/// A sample waits no longer for answers about its process, however often these are asked for, ns.
const LONGEST_WAIT: u64 = 3_000_000_000;
/// Files of modules that are open at a time, at least.
const LEAST_OPEN: usize = 8;
/// With more modules than these, those that nothing needs are forgotten. Builds make files by the thousand.
const MAX_MODULES: usize = 4096;

/// How the module begins that stands for a holder of an mmap_lock; paths of files begin otherwise.
const BUSY: &[u8] = b"[mm busy: ";

/// Requests of the pipeline to the kernel side, which belongs to the caller of the pipeline.
#[derive(Default)]
pub struct KernelRequests {
    /// (tid, address): copy this piece at the next pass.
    pub pieces: Vec<(u32, u64)>,
    /// The parts of stacks that the CPU clock copies from now on.
    pub reaches: Vec<(Whose, Reach)>,
    /// How processes of an image get past frames.
    pub steps: Vec<(u32, Step)>,
    /// Chains that are copied with stacks from the next pass on.
    pub chains: Vec<Chain>,
}

/// Totals of the stream that are counted here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub cpu_placed: u64,
    pub cpu_failed: u64,
    pub walked: u64,
    pub short: u64,
}

impl Totals {
    fn count_walk(&mut self, end: End) {
        self.walked += 1;
        self.short += u64::from(end != End::Root);
    }
}

/// Everything that records go through.
pub struct Pipeline {
    /// Records of the stream that no batch has yet.
    pub out: Encoder,
    /// See [`KernelRequests`].
    pub to_kernel: KernelRequests,
    /// See [`Totals`].
    pub totals: Totals,
    /// See [`Tasks`].
    pub tasks: Tasks,
    stacks: Stacks,
    walker: Walker,
    steps: Steps,
    naming: Naming,
    prober: Arc<Prober>,
    /// Samples of processes that are asked about.
    waiting: WaitingRoom,
    /// Processes whose samples wait for files.
    need_files: HashSet<ProcessKey>,
    in_vain: InVain,
    wakes: Wakes,
    /// The rest of [`GRACE`].
    grace: Duration,
    /// Above this number of modules, some are forgotten.
    modules_due: usize,
    /// New mappings that the kernel could not tell of, as said last.
    lost_told: u64,
    /// Questions that were not answered, as said last.
    late_told: u64,
}

impl Pipeline {
    /// Nothing seen yet.
    pub fn new(
        tasks: Tasks,
        modules: Modules,
        mappings: Mappings,
        prober: Arc<Prober>,
        symbolizer: Symbolizer,
    ) -> Pipeline {
        let cpus = flametop_kernel::online_cpus().map_or(1, |cpus| cpus.len().max(1) as u64);
        let files = Files::new(modules, Arc::clone(&prober));
        let jit = JitNames::start(Arc::clone(&prober));
        Pipeline {
            out: Encoder::new(),
            to_kernel: KernelRequests::default(),
            totals: Totals::default(),
            tasks,
            stacks: Stacks::default(),
            walker: Walker::new(files, Codes::new(Arc::clone(&prober)), mappings, cpus),
            steps: Steps::default(),
            naming: Naming::new(symbolizer, jit, cpus),
            prober,
            waiting: WaitingRoom::default(),
            need_files: HashSet::new(),
            in_vain: InVain::default(),
            wakes: Wakes::default(),
            grace: GRACE,
            modules_due: MAX_MODULES,
            lost_told: 0,
            late_told: 0,
        }
    }

    /// Shares the descriptors that are left for files of modules: where they are few, fewer files are open at a time.
    pub fn share_files(&mut self, left: usize) {
        // A third each for walks, for names, and for files that are open for a moment.
        let share = (left / 3).clamp(LEAST_OPEN, MAX_FILES);
        self.prober
            .keep_open((2 * share).max(left.saturating_sub(share)));
        self.walker.files.modules.keep_open(share);
        self.naming.keep_open(share);
    }

    /// Asks for the mappings of these processes before they are seen, or for those of all.
    pub fn ask_early(&mut self, tgids: Option<&[u32]>) {
        self.walker.mappings.ask_early(tgids);
    }

    /// A task seen by pass number `pass`.
    pub fn task(&mut self, head: &Head, stack: Option<&StackPart<'_>>, pass: u64) {
        self.sample(head, stack, Taker::Pass(pass));
    }

    /// A sample of the CPU clock.
    pub fn cpu_sample(&mut self, head: &Head, stack: Option<&StackPart<'_>>) {
        self.sample(head, stack, Taker::Clock);
    }

    /// A hit of a source of events, or the waker of a wait that ended.
    pub fn event(&mut self, head: &Head, stack: Option<&StackPart<'_>>, event: Event) {
        self.sample(head, stack, Taker::Source(event));
    }

    /// A task that exists, seen by pass number `pass`.
    pub fn mark(&mut self, head: &Head, pass: u64) {
        self.tasks.see(head, pass, &mut self.out);
    }

    /// A process began, a process image was replaced, a task ended, or its last sums are known.
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
            abi::FT_KIND_FORK => self.tasks.fork(head, &mut self.out),
            abi::FT_KIND_EXIT => self.tasks.exit(head),
            _ => self.tasks.free(head, &mut self.out),
        }
    }

    /// The rings were drained up to `now`: tells of the ends of tasks that are complete.
    pub fn drained(&mut self, now: u64) {
        self.tasks.drained(now, &mut self.out);
        self.walker.mappings.drain(now);
        self.wakes.drain(now);
        for key in self.waiting.older(now.saturating_sub(LONGEST_WAIT)) {
            self.dismiss(&key);
        }
        // Each is said again when the number has doubled.
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

    /// Takes the prober's answers about processes and files, and places the samples that waited for them.
    pub fn take_probed(&mut self) {
        let mut ready = Vec::new();
        let mut files = false;
        let mut late = Vec::new();
        for answer in self.prober.take() {
            let mappings = &mut self.walker.mappings;
            match answer {
                Answer::CommandLine(key, text) => {
                    if let Some(text) = text {
                        self.tasks.command_line(key, text, &mut self.out);
                    }
                }
                Answer::Maps(key, read) => {
                    if matches!(read, Err(Missing::Late)) {
                        late.push(key);
                    }
                    if let Some(process) = self.tasks.process(key) {
                        let user = process.uid();
                        mappings.come(&mut process.maps, user, read);
                    }
                    ready.push(key);
                }
                Answer::Mappings(key, which, seen) => {
                    if seen.is_none() {
                        late.push(key);
                    }
                    let maps = self.tasks.process(key).map(|process| &mut process.maps);
                    mappings.seen(key, maps, &which, seen);
                    ready.push(key);
                }
                Answer::Code(key, lacks, found) => {
                    if let Some(process) = self.tasks.process(key) {
                        self.walker.codes.come(process, &lacks, found);
                    }
                    ready.push(key);
                }
                Answer::File(id, closed, file) => {
                    self.walker.files.opened(id, &closed, file);
                    files = true;
                }
                Answer::Early(tgid, read) => {
                    mappings.early(tgid, read);
                    ready.extend(self.waiting.of(tgid));
                }
                Answer::PerfMap(tgid, map) => self.naming.jit.perf_map(tgid, map),
            }
        }
        if files {
            ready.extend(mem::take(&mut self.need_files));
            let (naming, mut of) = self.naming();
            naming.ask_unopened(&mut of);
        }
        let now = os::monotonic();
        for key in late {
            for sample in self.waiting.samples(&key) {
                self.in_vain.add(now, sample.shown_by());
            }
        }
        for key in ready {
            self.resume(&key);
        }
        let shown = self.in_vain.again(os::monotonic(), self.prober.started());
        self.to_kernel.pieces.extend(shown);
        self.ask_holders();
        self.ask_command_lines();
    }

    fn ask_command_lines(&mut self) {
        for whom in self.tasks.take_unread() {
            self.prober.ask(whom, What::CommandLine);
        }
    }

    /// Says something to the user.
    pub fn notice(&mut self, trouble: bool, text: &str) {
        put_notice(&mut self.out, None, trouble, text);
    }

    /// Tells of a time in which the machine was suspended, after it.
    pub fn tell_suspension(&mut self) {
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

    /// Asks for the names of these frames.
    pub fn ask_names(&mut self, frames: &[u32]) {
        let (naming, mut of) = self.naming();
        naming.ask_names(frames, &mut of);
    }

    /// Asks for inlined functions and source lines of these frames.
    pub fn ask_places(&mut self, frames: &[u32]) {
        let (naming, mut of) = self.naming();
        naming.ask_places(frames, &mut of);
    }

    /// Takes the names and places that have come.
    pub fn take_names(&mut self) {
        let Pipeline {
            naming,
            stacks,
            walker,
            tasks,
            out,
            ..
        } = self;
        naming.take_answers(&mut Frames {
            stacks,
            names: &walker.codes.names,
            files: &mut walker.files,
            out,
            tasks,
        });
        let notices = self.prober.take_notices();
        for notice in notices.into_iter().chain(self.walker.take_notices()) {
            self.notice(true, &notice);
        }
    }

    fn naming(&mut self) -> (&mut Naming, Frames<'_>) {
        let frames = Frames {
            stacks: &mut self.stacks,
            names: &self.walker.codes.names,
            files: &mut self.walker.files,
            out: &mut self.out,
            tasks: &self.tasks,
        };
        (&mut self.naming, frames)
    }

    /// How far debug files are.
    pub fn debug_files(&self) -> DebugFileCounts {
        self.naming.debug_files
    }

    /// The helper processes that run now, and what each is for.
    pub fn helpers(&self) -> Vec<(u32, &'static str)> {
        let symbolizer = &self.naming.symbolizer;
        let probers = self.prober.pids().into_iter().map(|pid| (pid, "prober"));
        let names = symbolizer.pids().into_iter().flatten();
        let names = names.map(|pid| (pid, "symbolizer"));
        let fetchers = symbolizer.fetchers().into_iter();
        let fetchers = fetchers.map(|pid| (pid, "debuginfod"));
        fetchers.chain(probers).chain(names).collect()
    }

    /// Forgets stacks, frames and modules that were not seen for long, if there are too many.
    pub fn forget(&mut self) {
        self.forget_names();
        let modules = &mut self.walker.files.modules;
        if !self.stacks.due() && modules.len() <= self.modules_due {
            return;
        }
        let kept: HashSet<u32> = self.tasks.stacks().collect();
        self.stacks.forget(&kept, &mut self.out);
        let mut needed = self.stacks.modules();
        needed.extend(self.tasks.modules());
        needed.extend(self.wakes.modules());
        let gone = modules.retain(|id| needed.contains(&id));
        self.modules_due = MAX_MODULES.max(2 * modules.len());
        if gone.is_empty() {
            return;
        }
        // Other modules get these ids.
        self.walker.unwinder.clear();
        self.steps.forget();
        self.stacks.forget_modules(&gone, &mut self.out);
        self.naming.forget(&gone);
    }
}

impl Pipeline {
    /// Forgets names of functions that nothing needs, if there are many.
    fn forget_names(&mut self) {
        let Walker { codes, files, .. } = &mut self.walker;
        if !codes.names.is_crowded() {
            return;
        }
        let name = |frame: &Frame| Some(naming::function_of(&files.modules, frame)?.name);
        let mut needed: HashSet<NameId> = self.tasks.names().collect();
        needed.extend(self.stacks.frames().filter_map(name));
        needed.extend(self.wakes.frames().filter_map(name));
        codes.names.retain(|id| needed.contains(&id));
    }
}

/// `process`: the notice is of this one alone, and goes with it.
fn put_notice(out: &mut Encoder, process: Option<u32>, trouble: bool, text: &str) {
    out.put(&Record::Notice {
        level: if trouble { Level::Trouble } else { Level::Told },
        text: text.as_bytes(),
        process,
    });
}
