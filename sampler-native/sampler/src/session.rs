//! A session: one opened kernel side, its ring thread, and the batches that the caller takes.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Result, anyhow, bail};
use flametop_kernel::{Kernel, KernelCounters, OpenErrorKind, Rings, Target, abi, record::Head};
use flametop_stream::{
    BATCH_HEADER, BATCH_MORE, BATCH_PASS, COUNTERS, Counter, Encoder, Record, batch, whole_records,
};
use flametop_symbolize::{Debuginfod, Symbolizer};
use flametop_unwind::Modules;

use crate::{
    boot::BootClock,
    cgroups::Cgroups,
    facts,
    mappings::Mappings,
    os,
    pipeline::Pipeline,
    prober::Prober,
    settings::Settings,
    tasks::Tasks,
    usage::{Usage, tell_cpu_change},
};

/// Smallest buffer that [`Session::fill`] takes: any record fits.
pub const MIN_BUFFER: usize = 64 << 10;
/// Passes with marks are this far apart, ns; where tasks are missing or unknown, no nearer than the second.
const MARKS_PERIOD: u64 = 5_000_000_000;
const MARKS_SOONEST: u64 = 400_000_000;
/// Usage is told this often, counters also with each pass, if the caller fills at least as often, ns.
const USAGE_PERIOD: u64 = 200_000_000;
/// What malloc holds and nobody uses is given back this often, ns: the maps of short processes leave holes everywhere.
const TRIM_PERIOD: u64 = 30_000_000_000;
/// The ring thread looks at the rings at least this often.
const RING_PERIOD: Duration = Duration::from_millis(50);
/// Bytes of records that wait for a batch, above which samples stay in their ring, where what has no place is counted.
const MAX_QUEUED: usize = 64 << 20;
/// Names passed on to the symbolizer in one fill, about 10 ms of work; the rest waits for the next.
const MAX_NAMES: usize = 1024;
/// Bytes of unwind information in memory.
const UNWIND_MEMORY: usize = 8 << 20;

/// Files that may be open at a time: as many as there is use for, and what is needed: programs, maps and links in the kernel, jars,
/// pipes, a few modules at a time; timers and rings of each CPU.
const FILES: u64 = 4096;
const LEAST_FILES: u64 = 256;
const FILES_PER_CPU: u64 = 8;
/// Those that are opened after the start, beside files of modules.
const RESERVED_FILES: usize = 48;

const FAILED: &str = "the sampler failed earlier; restart flametop";

/// Why a session could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Exit code of the command line: 1 failed, 3 not possible here, 4 target gone.
    pub code: u8,
    /// One line: what happened, to which thing, what mends it.
    pub message: String,
}

impl OpenError {
    /// A failure without a class of its own.
    pub fn failed(message: impl Into<String>) -> OpenError {
        OpenError {
            code: 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpenError {}

impl From<flametop_kernel::OpenError> for OpenError {
    fn from(e: flametop_kernel::OpenError) -> OpenError {
        OpenError {
            code: match e.kind {
                OpenErrorKind::NotPossible => 3,
                OpenErrorKind::TargetGone => 4,
                OpenErrorKind::Failed => 1,
            },
            message: e.message,
        }
    }
}

/// Asks for names, from any thread.
#[derive(Clone)]
pub struct Names(Arc<Shared>);

impl Names {
    /// Asks for the names of these frames; they come in later batches. Never waits.
    pub fn ask(&self, frames: &[u32]) {
        lock(&self.0.asked).extend_from_slice(frames);
    }

    /// Asks for inlined functions and source lines of these frames; they come in later batches.
    /// Never waits.
    pub fn ask_places(&self, frames: &[u32]) {
        lock(&self.0.asked_places).extend_from_slice(frames);
    }

    /// Whether JVMs are asked to write maps of their compiled code from now on. Never waits.
    ///
    /// # Errors
    /// A thread of the session failed earlier.
    pub fn jvm_maps(&self, wanted: bool) -> Result<()> {
        if self.0.pipeline.is_poisoned() {
            bail!(FAILED);
        }
        *lock(&self.0.jvm_maps) = Some(wanted);
        Ok(())
    }
}

struct Shared {
    pipeline: Mutex<Pipeline>,
    asked: Mutex<Vec<u32>>,
    asked_places: Mutex<Vec<u32>>,
    jvm_maps: Mutex<Option<bool>>,
    stop: AtomicBool,
}

impl Shared {
    fn pipeline(&self) -> Result<MutexGuard<'_, Pipeline>> {
        self.pipeline.lock().map_err(|_| anyhow!(FAILED))
    }
}

/// For what a panic elsewhere cannot leave half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An open session. The caller makes the passes; a thread named `flametop-ring` drains the CPU clock beside it.
pub struct Session {
    kernel: Kernel,
    shared: Arc<Shared>,
    ring: Option<JoinHandle<()>>,
    header: Vec<u8>,
    usage: Usage,
    /// The helper processes, which are not sampled.
    helpers: Vec<u32>,
    pass_hz: u32,
    cpu_hz: u32,
    passes: Passes,
    /// Records that are on their way into batches, from `sent` on.
    pending: Encoder,
    sent: usize,
    /// Time of the pass that `pending` belongs to, until all of it is in batches.
    pass_time: Option<u64>,
    sequence: u32,
    usage_told: u64,
    trimmed: u64,
}

/// What is known of the passes made.
#[derive(Default)]
struct Passes {
    due: u64,
    late: u64,
    made: u64,
    visited: u64,
    counts: [u64; 8],
    tasks: u64,
    marked: u64,
    want_marks: bool,
}

impl Session {
    /// Opens the kernel side and starts the ring thread. `settings`: see [`Settings`].
    ///
    /// # Errors
    /// A setting that is not understood, or what the kernel side says.
    pub fn open(settings: &str) -> Result<Session, OpenError> {
        let settings = Settings::parse(settings)?;
        let allowed = refuse_few_files()?;
        let mut own = settings.own.clone();
        own.push(std::process::id());
        let opened = os::monotonic();
        let cgroups = Cgroups::of_host();
        let (mut kernel, rings) = Kernel::open(&flametop_kernel::Settings {
            target: settings.target.clone(),
            hierarchy: cgroups.hierarchy(),
            cpu_hz: settings.cpu_hz,
            own: own.clone(),
        })?;
        kernel.count_program_time(settings.program_time);
        let boot = BootClock::now();
        let header = facts::header(&settings, &own, &kernel, boot.offset());
        let mut tasks = Tasks::new(opened, boot.clone(), cgroups);
        tasks.counts_blocked = os::blocked_missing().is_none();
        let told = match settings.mappings_told {
            true => Some(flametop_kernel::Mappings::open()),
            false => None,
        };
        let (told, untold) = match told.transpose() {
            Ok(told) => (told, None),
            Err(why) => (None, Some(why)),
        };
        for event in told.iter().flat_map(flametop_kernel::Mappings::events) {
            // Where that fails, mappings are read with the rest, every 50 ms.
            let _ = rings.wake_for(event);
        }
        let modules = Modules::asking(UNWIND_MEMORY);
        let prober = Prober::new(&settings.symbolizer).map_err(|e| {
            OpenError::failed(format!(
                "no descriptor or thread is left to read processes: {e}"
            ))
        })?;
        let prober = Arc::new(prober);
        // Where that fails, answers are taken with the rest.
        let _ = rings.wake_for(prober.event());
        let mut pipeline = Pipeline::new(
            tasks,
            modules,
            Mappings::new(told, boot, Arc::clone(&prober)),
            prober,
            Symbolizer::start(
                &settings.symbolizer,
                Debuginfod::of_environment(&settings.debuginfod),
            ),
            settings.jvm_maps,
        );
        match &settings.target {
            Target::All => pipeline.ask_early(None),
            Target::Processes(tgids) => pipeline.ask_early(Some(tgids)),
            Target::Threads(_) | Target::Cgroup(_) => {}
        }
        for notice in kernel.notices() {
            pipeline.notice(true, &notice);
        }
        if let Some(why) = untold {
            pipeline.notice(
                true,
                &format!("a library that takes the place of another as large may be taken for that one: {why:#}"),
            );
        }
        let used = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        pipeline.share_files((allowed as usize).saturating_sub(used + RESERVED_FILES));
        let shared = Arc::new(Shared {
            pipeline: Mutex::new(pipeline),
            asked: Mutex::new(Vec::new()),
            asked_places: Mutex::new(Vec::new()),
            jvm_maps: Mutex::new(None),
            stop: AtomicBool::new(false),
        });
        let ring = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("flametop-ring".to_owned())
                .spawn(move || drain(rings, &shared))
                .map_err(|e| OpenError::failed(format!("the ring thread does not start: {e}")))?
        };
        Ok(Session {
            kernel,
            shared,
            ring: Some(ring),
            header,
            usage: Usage::new(&settings.own),
            helpers: Vec::new(),
            pass_hz: settings.pass_hz,
            cpu_hz: settings.cpu_hz,
            passes: Passes {
                want_marks: true,
                ..Passes::default()
            },
            pending: Encoder::new(),
            sent: 0,
            pass_time: None,
            sequence: 0,
            usage_told: 0,
            trimmed: 0,
        })
    }

    /// The file header of the stream.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// A handle to ask for names with.
    pub fn names(&self) -> Names {
        Names(Arc::clone(&self.shared))
    }

    /// Fills one batch from the start of `out` and returns its length. With `pass`, makes a pass first; if the batch has MORE,
    /// call again until it has PASS, `pass` and `late` are ignored meanwhile. `late`: passes that were due since the last call but
    /// not made.
    ///
    /// # Errors
    /// The pass failed, `out` is shorter than [`MIN_BUFFER`], or a thread of the session failed earlier.
    pub fn fill(&mut self, out: &mut [u8], pass: bool, late: u64) -> Result<usize> {
        if out.len() < MIN_BUFFER {
            bail!(
                "a batch needs a buffer of {MIN_BUFFER} bytes or more, got {}",
                out.len()
            );
        }
        if self.pass_time.is_none() {
            self.passes.late += late;
            self.passes.due += late;
            if pass {
                self.passes.due += 1;
                self.pass_time = Some(self.pass().inspect_err(|_| self.passes.late += 1)?);
            }
            self.collect(pass)?;
        }
        let records = &self.pending.bytes()[self.sent..];
        let length = whole_records(records, out.len() - BATCH_HEADER);
        let all = length == records.len();
        let (time, flags) = match self.pass_time {
            Some(time) if all => (time, BATCH_PASS),
            Some(time) => (time, BATCH_MORE),
            None => (os::monotonic(), 0),
        };
        let written = batch(out, time, self.sequence, flags, &records[..length]);
        self.sequence = self.sequence.wrapping_add(1);
        self.sent += length;
        if all {
            self.pending.clear();
            self.sent = 0;
            self.pass_time = None;
        }
        Ok(written)
    }

    /// Changes the mean rates; the CPU clock's takes effect at once, 0 switches it off. `pass_hz` is what the caller will keep to.
    ///
    /// # Errors
    /// The CPU clock cannot have this rate; it has the one before.
    pub fn set_rates(&mut self, pass_hz: u32, cpu_hz: u32) -> Result<()> {
        self.pass_hz = pass_hz;
        if cpu_hz != self.cpu_hz {
            self.kernel.set_cpu_hz(cpu_hz)?;
            self.cpu_hz = cpu_hz;
        }
        Ok(())
    }

    /// Makes a pass; returns when it began.
    fn pass(&mut self) -> Result<u64> {
        let began = os::monotonic();
        let passes = &mut self.passes;
        let number = passes.made + 1;
        let marks = passes.want_marks && began >= passes.marked + MARKS_SOONEST
            || began >= passes.marked + MARKS_PERIOD;
        let shared = &self.shared;
        let mut broken = false;
        let counts = self.kernel.pass(marks, &mut |record| {
            let Ok(mut pipeline) = shared.pipeline() else {
                broken = true;
                return;
            };
            match u32::from(record.head.kind) {
                abi::FT_KIND_TASK => pipeline.task(record.head, record.stack.as_ref(), number),
                abi::FT_KIND_MARK => pipeline.mark(record.head, number),
                _ => {}
            }
        })?;
        if broken {
            bail!(FAILED);
        }
        passes.made = number;
        passes.tasks = counts.visited;
        passes.visited += counts.visited;
        let of_pass = [
            counts.written,
            counts.unchanged,
            counts.on_cpu,
            counts.idle_kthreads,
            counts.failed_mm_busy,
            counts.failed_torn,
            counts.failed_faulted,
            counts.failed_exited,
        ];
        for (total, count) in passes.counts.iter_mut().zip(of_pass) {
            *total += count;
        }
        let mut pipeline = self.shared.pipeline()?;
        let Pipeline { tasks, out, .. } = &mut *pipeline;
        if marks {
            passes.marked = began;
            tasks.end_unmarked(number, began, os::monotonic());
        }
        tasks.forget(began, out);
        passes.want_marks = tasks.len() as u64 != counts.visited;
        Ok(began)
    }

    /// Takes all records that are due into `pending`.
    fn collect(&mut self, pass: bool) -> Result<()> {
        let now = os::monotonic();
        let asked = {
            let mut asked = lock(&self.shared.asked);
            let now = asked.len().min(MAX_NAMES);
            let rest = asked.split_off(now);
            std::mem::replace(&mut *asked, rest)
        };
        let jvm_maps = lock(&self.shared.jvm_maps).take();
        let mut pipeline = self.shared.pipeline()?;
        if let Some(wanted) = jvm_maps {
            pipeline.jit.jvm_maps(wanted);
        }
        pipeline.probed();
        if !asked.is_empty() {
            pipeline.ask_names(&asked);
        }
        let places = std::mem::take(&mut *lock(&self.shared.asked_places));
        if !places.is_empty() {
            pipeline.ask_places(&places);
        }
        pipeline.take_names();
        let mut helpers = pipeline.helpers();
        // Some are as a process that may be taken over says: one twice, or one that cannot be excluded, is no reason to end.
        helpers.sort_unstable();
        helpers.dedup_by_key(|(pid, _)| *pid);
        for ended in &self.helpers {
            if !helpers.iter().any(|(pid, _)| pid == ended) {
                let _ = self.kernel.readmit(*ended);
                self.usage.own.retire(*ended);
            }
        }
        for (started, part) in &helpers {
            if !self.helpers.contains(started) {
                let _ = self.kernel.exclude(*started);
                self.usage.own.add(*started, part);
            }
        }
        self.helpers = helpers.into_iter().map(|(pid, _)| pid).collect();
        pipeline.forget();
        if now >= self.trimmed + TRIM_PERIOD {
            self.trimmed = now;
            os::trim();
        }
        let pieces = std::mem::take(&mut pipeline.wishes.pieces);
        let usage = now >= self.usage_told + USAGE_PERIOD;
        if usage {
            self.usage_told = now;
            pipeline.look_for_suspension();
            for change in self.kernel.take_cpu_changes() {
                let what = if change.online {
                    "came online"
                } else {
                    "went offline"
                };
                pipeline.notice(true, &format!("CPU {} {what}", change.cpu));
                tell_cpu_change(&change, &mut pipeline.out);
            }
            pipeline.tasks.counts_blocked = os::blocked_missing().is_none();
            self.usage
                .tell(&self.kernel, self.pass_hz, self.cpu_hz, &mut pipeline.out);
        }
        if pass || usage {
            // Under the lock, so that no sample moves from waiting to placed between the two counts of it. Last, so that they are
            // in the batch that ends the pass.
            let totals = counters(&self.passes, &pipeline, self.kernel.counters());
            pipeline.out.put(&Record::Counters(totals));
        }
        if self.pending.bytes().is_empty() {
            std::mem::swap(&mut self.pending, &mut pipeline.out);
        } else {
            self.pending.append(pipeline.out.bytes());
            pipeline.out.clear();
        }
        drop(pipeline);
        // A map may have no place at this moment: then that stack stays short, and says so.
        for (tid, address) in pieces {
            let _ = self.kernel.want(tid, address);
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(ring) = self.ring.take() {
            let _ = ring.join();
        }
    }
}

/// Refuses to start where files would be missing later, one thing after the other. Returns how many may be open.
fn refuse_few_files() -> Result<u64, OpenError> {
    let cpus = flametop_kernel::online_cpus().map_or(1, |cpus| cpus.len() as u64);
    let least = LEAST_FILES + FILES_PER_CPU * cpus;
    let allowed = os::allow_files(least.max(FILES))
        .map_err(|e| OpenError::failed(format!("the limit of open files cannot be read: {e}")))?;
    if allowed >= least {
        return Ok(allowed);
    }
    Err(OpenError {
        code: 3,
        message: format!(
            "{allowed} open files are too few (ulimit -n): flametop needs {least}; ulimit -n {FILES} allows it"
        ),
    })
}

/// All counters; every identity of [`Counter`] holds.
fn counters(passes: &Passes, pipeline: &Pipeline, kernel: KernelCounters) -> [u64; COUNTERS] {
    let totals = pipeline.totals;
    let done = totals.cpu_placed + totals.cpu_failed + kernel.cpu_dropped;
    let mut all = [0; COUNTERS];
    let mut set = |counter: Counter, value| all[counter as usize] = value;
    set(Counter::PassesDue, passes.due);
    set(Counter::PassesLate, passes.late);
    set(Counter::PassesMade, passes.made);
    set(Counter::TaskPasses, passes.visited);
    let [
        written,
        unchanged,
        on_cpu,
        idle,
        mm_busy,
        torn,
        faulted,
        exited,
    ] = passes.counts;
    set(Counter::Written, written);
    set(Counter::Unchanged, unchanged);
    set(Counter::OnCpu, on_cpu);
    set(Counter::IdleKthreads, idle);
    set(Counter::FailedMmBusy, mm_busy);
    set(Counter::FailedTorn, torn);
    set(Counter::FailedFaulted, faulted);
    set(Counter::FailedExited, exited);
    set(Counter::Tasks, passes.tasks);
    set(Counter::CpuSamples, kernel.cpu_samples.max(done));
    set(Counter::CpuPlaced, totals.cpu_placed);
    set(Counter::CpuFailed, totals.cpu_failed);
    set(Counter::CpuDropped, kernel.cpu_dropped);
    set(Counter::CpuWaiting, kernel.cpu_samples.saturating_sub(done));
    set(Counter::Walked, totals.walked);
    set(Counter::Short, totals.short);
    set(Counter::LifeDropped, kernel.life_dropped);
    set(Counter::TicksMissed, kernel.ticks_missed);
    set(Counter::BytesCopied, kernel.bytes_copied);
    set(Counter::ProgramNanos, kernel.program_nanos);
    let files = pipeline.debug_files;
    set(Counter::DebugWanted, files.wanted);
    set(Counter::DebugCached, files.cached);
    set(Counter::DebugFetched, files.fetched);
    set(Counter::DebugAbsent, files.absent);
    set(Counter::DebugFailed, files.failed);
    set(Counter::DebugBytes, files.bytes);
    all
}

/// The ring thread: walks each stack of the CPU clock as it comes.
fn drain(mut rings: Rings, shared: &Shared) {
    // Not allowed is not fatal: samples then wait longer in the ring.
    let _ = crate::raise_priority();
    // What became of tasks since the last time, in the order of time; comes before the samples of that time.
    let mut life: VecDeque<Head> = VecDeque::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let Ok(queued) = shared.pipeline().map(|p| p.out.bytes().len()) else {
            return;
        };
        if queued > MAX_QUEUED {
            thread::sleep(RING_PERIOD);
            continue;
        }
        let mut broken = false;
        let drained_to = os::monotonic();
        let drained = rings.poll(RING_PERIOD, &mut |record| {
            let Ok(mut pipeline) = shared.pipeline() else {
                broken = true;
                return;
            };
            match u32::from(record.head.kind) {
                abi::FT_KIND_CPU => {
                    while let Some(head) = life.front().filter(|l| l.ktime <= record.head.ktime) {
                        pipeline.life(head);
                        life.pop_front();
                    }
                    pipeline.cpu_sample(record.head, record.stack.as_ref());
                }
                _ => life.push_back(*record.head),
            }
        });
        let Ok(mut pipeline) = shared.pipeline() else {
            return;
        };
        // Else there may be samples of before.
        if !rings.left() {
            for head in life.drain(..) {
                pipeline.life(&head);
            }
        }
        pipeline.probed();
        if !rings.left() {
            pipeline.drained(drained_to);
        }
        let reaches = std::mem::take(&mut pipeline.wishes.reaches);
        let steps = std::mem::take(&mut pipeline.wishes.steps);
        if let Err(e) = drained {
            pipeline.notice(
                true,
                &format!(
                    "the CPU clock and the ends of tasks are no longer read: {e}; restart flametop"
                ),
            );
            return;
        }
        if broken {
            return;
        }
        // Not under the lock, which the passes wait for.
        drop(pipeline);
        // A map may have no place at this moment: then those stacks stay short, and say so.
        for (whose, reach) in reaches {
            let _ = rings.reach(whose, reach);
        }
        for (image, step) in steps {
            let _ = rings.learn(image, &step);
        }
    }
}
