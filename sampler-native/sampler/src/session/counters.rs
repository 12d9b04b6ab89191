//! The totals that a batch ends with.

use flametop_kernel::{KernelCounters, PassCounts};
use flametop_stream::{COUNTERS, Counter};

use crate::pipeline::Pipeline;

/// The passes so far.
#[derive(Default)]
pub struct Passes {
    /// Those whose deadline came.
    pub due: u64,
    /// Those of them that were not made.
    pub late: u64,
    /// Those of them that were made.
    pub made: u64,
    /// Tasks that the last one visited.
    pub tasks: u64,
    /// The sums of all that were made.
    sums: PassCounts,
}

impl Passes {
    /// Another pass was made.
    pub fn add(&mut self, counts: &PassCounts) {
        let PassCounts {
            visited,
            written,
            unchanged,
            on_cpu,
            idle_kthreads,
            failed_mm_busy,
            failed_torn,
            failed_faulted,
            failed_exited,
        } = &mut self.sums;
        self.made += 1;
        self.tasks = counts.visited;
        *visited += counts.visited;
        *written += counts.written;
        *unchanged += counts.unchanged;
        *on_cpu += counts.on_cpu;
        *idle_kthreads += counts.idle_kthreads;
        *failed_mm_busy += counts.failed_mm_busy;
        *failed_torn += counts.failed_torn;
        *failed_faulted += counts.failed_faulted;
        *failed_exited += counts.failed_exited;
    }
}

/// All counters; every identity of [`Counter`] holds.
pub fn counters(passes: &Passes, pipeline: &Pipeline, kernel: KernelCounters) -> [u64; COUNTERS] {
    let totals = pipeline.totals;
    let done = totals.cpu_placed + totals.cpu_failed + kernel.cpu_dropped;
    let mut all = [0; COUNTERS];
    let mut set = |counter: Counter, value| all[counter as usize] = value;
    set(Counter::PassesDue, passes.due);
    set(Counter::PassesLate, passes.late);
    set(Counter::PassesMade, passes.made);
    let sums = &passes.sums;
    set(Counter::TaskPasses, sums.visited);
    set(Counter::Written, sums.written);
    set(Counter::Unchanged, sums.unchanged);
    set(Counter::OnCpu, sums.on_cpu);
    set(Counter::IdleKthreads, sums.idle_kthreads);
    set(Counter::FailedMmBusy, sums.failed_mm_busy);
    set(Counter::FailedTorn, sums.failed_torn);
    set(Counter::FailedFaulted, sums.failed_faulted);
    set(Counter::FailedExited, sums.failed_exited);
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
    let files = pipeline.debug_files();
    set(Counter::DebugWanted, files.wanted);
    set(Counter::DebugCached, files.cached);
    set(Counter::DebugFetched, files.fetched);
    set(Counter::DebugAbsent, files.absent);
    set(Counter::DebugFailed, files.failed);
    set(Counter::DebugBytes, files.bytes);
    all
}
