//! A session: one opened kernel side, its ring thread, and the batches that the caller takes.

mod counters;
mod ring;
mod wishes;

use std::{
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
};

use anyhow::{Result, bail};
use flametop_kernel::{Kernel, Target, abi};
use flametop_stream::{
    BATCH_HEADER, BATCH_MORE, BATCH_PASS, Encoder, Record, batch, whole_records,
};
use flametop_symbolize::{Debuginfod, Symbolizer};
use flametop_unwind::Modules;

use crate::{
    OpenError,
    boot::BootClock,
    cgroups::Cgroups,
    facts,
    mappings::Mappings,
    os, own_files,
    pipeline::Pipeline,
    prober::Prober,
    settings::Settings,
    sources::Sources,
    tasks::Tasks,
    usage::{Usage, tell_cpu_change},
};
use counters::{Passes, counters};
pub use wishes::Wishes;
use wishes::{FAILED, Shared};

/// Smallest buffer that [`Session::fill`] takes: any record fits.
pub const MIN_BUFFER: usize = 64 << 10;
/// Passes with marks are this far apart, ns; where tasks are missing or unknown, no nearer than the second.
const MARKS_PERIOD: u64 = 5_000_000_000;
const MARKS_SOONEST: u64 = 400_000_000;
/// Usage is told this often, counters also with each pass, if the caller fills at least as often, ns.
const USAGE_PERIOD: u64 = 200_000_000;
/// The session asks the kernel this often, in ns, whether the kernel counts time in D: an administrator may switch the counting on and off.
const BLOCKED_PERIOD: u64 = 1_000_000_000;
/// What malloc holds and nobody uses is given back this often, ns: the maps of short processes leave holes everywhere.
const TRIM_PERIOD: u64 = 30_000_000_000;
/// Bytes of unwind information in memory.
const UNWIND_MEMORY: usize = 8 << 20;

/// An open session. The caller makes the passes; a thread named `flametop-ring` drains the CPU clock beside it.
pub struct Session {
    kernel: Kernel,
    shared: Arc<Shared>,
    ring: Option<JoinHandle<()>>,
    header: Vec<u8>,
    usage: Usage,
    sources: Sources,
    /// The helper processes, which are not sampled.
    helpers: Vec<u32>,
    pass_hz: u32,
    cpu_hz: u32,
    passes: Passes,
    /// When the last pass with marks began, ns.
    marked: u64,
    /// The last pass visited other tasks than those that are known.
    want_marks: bool,
    /// Records that are on their way into batches, from `sent` on.
    pending: Encoder,
    sent: usize,
    /// Time of the pass that `pending` belongs to, until all of it is in batches.
    pass_time: Option<u64>,
    sequence: u32,
    usage_told: u64,
    blocked_asked: u64,
    trimmed: u64,
}

impl Session {
    /// Opens the kernel side and starts the ring thread. `settings`: see [`Settings`].
    ///
    /// # Errors
    /// A setting that is not understood, or what the kernel side says.
    pub fn open(settings: &str) -> Result<Session, OpenError> {
        let settings = Settings::parse(settings)?;
        let allowed = own_files::require()?;
        let mut own = settings.own.clone();
        own.push(std::process::id());
        let opened = os::monotonic();
        let cgroups = Cgroups::of_host();
        // The helper processes start while the kernel checks the programs. Where it refuses these, both end with their clients.
        let prober = Prober::new(&settings.symbolizer).map_err(|e| {
            OpenError::failed(format!(
                "no descriptor or thread is left to read processes: {e}"
            ))
        })?;
        let prober = Arc::new(prober);
        let looks = Arc::clone(&prober);
        let symbolizer = Symbolizer::start(
            &settings.symbolizer,
            Debuginfod::of_environment(&settings.debuginfod),
            Arc::new(move |whose, path| looks.ask_elf(whose, path)),
        );
        let (mut kernel, rings) = Kernel::open(&flametop_kernel::Settings {
            target: settings.target.clone(),
            hierarchy: cgroups.hierarchy(),
            cpu_hz: settings.cpu_hz,
            own: own.clone(),
        })?;
        // It takes some 20 ms, and nothing waits for it. Without a thread, the next start does it.
        let sweeper = thread::Builder::new().name("graph".to_owned());
        let _ = sweeper.spawn(flametop_kernel::graph::sweep);
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
        // Where that fails, answers are taken with the rest.
        let _ = rings.wake_for(prober.event());
        let targets = match &settings.target {
            Target::Processes(ids) | Target::Threads(ids) => &ids[..],
            Target::All | Target::Cgroup(_) => &[],
        };
        let sources = Sources::new(&settings.symbolizer, &prober, targets);
        let mut pipeline = Pipeline::new(
            tasks,
            modules,
            Mappings::new(told, boot, Arc::clone(&prober)),
            prober,
            symbolizer,
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
        pipeline.share_files(own_files::left_of(allowed));
        let helpers = pipeline.helpers();
        let shared = Arc::new(Shared::new(pipeline));
        let ring = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("flametop-ring".to_owned())
                .spawn(move || ring::drain(rings, &shared))
                .map_err(|e| OpenError::failed(format!("the ring thread does not start: {e}")))?
        };
        let mut usage = Usage::new(&settings.own);
        let mut left_out = Vec::new();
        leave_out(&mut left_out, &kernel, &mut usage, helpers);
        Ok(Session {
            kernel,
            shared,
            ring: Some(ring),
            header,
            usage,
            sources,
            helpers: left_out,
            pass_hz: settings.pass_hz,
            cpu_hz: settings.cpu_hz,
            passes: Passes::default(),
            marked: 0,
            want_marks: true,
            pending: Encoder::new(),
            sent: 0,
            pass_time: None,
            sequence: 0,
            usage_told: 0,
            blocked_asked: 0,
            trimmed: 0,
        })
    }

    /// The file header of the stream.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// A handle by which any thread wishes for something.
    pub fn wishes(&self) -> Wishes {
        Wishes(Arc::clone(&self.shared))
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
        let number = self.passes.made + 1;
        let marks = self.want_marks && began >= self.marked + MARKS_SOONEST
            || began >= self.marked + MARKS_PERIOD;
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
        self.passes.add(&counts);
        let mut pipeline = self.shared.pipeline()?;
        if marks {
            self.marked = began;
            pipeline.tasks.end_unmarked(number, began, os::monotonic());
        }
        self.want_marks = pipeline.tasks.len() as u64 != counts.visited;
        pipeline.ask_holders();
        Ok(began)
    }

    /// Takes all records that are due into `pending`.
    fn collect(&mut self, pass: bool) -> Result<()> {
        let now = os::monotonic();
        let wished = self.shared.take_wished();
        self.sources.force |= wished.force_probes;
        for (number, spec) in wished.sources {
            self.sources.set(&mut self.kernel, number, spec, now);
        }
        self.sources.take_done(&mut self.kernel);
        self.sources.read_graphs(&mut self.kernel, now);
        let usage = now >= self.usage_told + USAGE_PERIOD;
        if usage {
            self.sources.look_for_files(now);
            self.sources.read_totals(&mut self.kernel, now);
        }
        let mut pipeline = self.shared.pipeline()?;
        self.sources.tell_changes(&mut pipeline.out);
        for words in self.sources.take_notices() {
            pipeline.notice(true, &words);
        }
        self.sources.place_graphs(&mut pipeline, now);
        pipeline.take_probed();
        if !wished.names.is_empty() {
            pipeline.ask_names(&wished.names);
        }
        if !wished.places.is_empty() {
            pipeline.ask_places(&wished.places);
        }
        pipeline.take_names();
        let mut helpers = pipeline.helpers();
        helpers.extend(self.sources.helpers());
        leave_out(&mut self.helpers, &self.kernel, &mut self.usage, helpers);
        pipeline.forget();
        if now >= self.trimmed + TRIM_PERIOD {
            self.trimmed = now;
            os::trim();
        }
        let pieces = std::mem::take(&mut pipeline.to_kernel.pieces);
        let chains = std::mem::take(&mut pipeline.to_kernel.chains);
        if usage {
            self.usage_told = now;
            let Pipeline { tasks, out, .. } = &mut *pipeline;
            tasks.forget(now, out);
            pipeline.tell_suspension();
            for change in self.kernel.take_cpu_changes() {
                let what = if change.online {
                    "came online"
                } else {
                    "went offline"
                };
                pipeline.notice(true, &format!("CPU {} {what}", change.cpu));
                tell_cpu_change(&change, &mut pipeline.out);
            }
            if now >= self.blocked_asked + BLOCKED_PERIOD {
                self.blocked_asked = now;
                pipeline.tasks.counts_blocked = os::blocked_missing().is_none();
            }
            self.sources.tell(&mut pipeline.out);
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
        // Before the pieces, which come with the chains. Without a place there the interpreter's own frames stay.
        for chain in chains {
            let _ = self.kernel.follow(&chain);
        }
        // A map may have no place at this moment: then that stack stays short, and says so.
        for (tid, address) in pieces {
            let _ = self.kernel.want(tid, address);
        }
        Ok(())
    }
}

/// Has the kernel side leave the helper processes out that run now, each with what it is for, and counts their cost as flametop's; `known` are
/// those that were left out before.
fn leave_out(
    known: &mut Vec<u32>,
    kernel: &Kernel,
    usage: &mut Usage,
    mut helpers: Vec<(u32, &'static str)>,
) {
    // Some are as a process that may be taken over says: one twice, or one that cannot be excluded, is no reason to end.
    helpers.sort_unstable();
    helpers.dedup_by_key(|(pid, _)| *pid);
    for ended in known.iter() {
        if !helpers.iter().any(|(pid, _)| pid == ended) {
            let _ = kernel.readmit(*ended);
            usage.own.retire(*ended);
        }
    }
    for (started, part) in &helpers {
        if !known.contains(started) {
            let _ = kernel.exclude(*started);
            usage.own.add(*started, part);
        }
    }
    *known = helpers.into_iter().map(|(pid, _)| pid).collect();
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(ring) = self.ring.take() {
            let _ = ring.join();
        }
    }
}
