//! One session of sampling: joins the kernel side, the unwinder and the symbolizer into the stream
//! (crate `flametop-stream`).
//!
//! # Threads
//! The caller makes passes with [`Session::fill`], on one thread at a time. Beside it a thread named `flametop-ring`
//! sleeps on the rings of the CPU clock and of task ends, walks stacks at once and queues records for the next batch. Neither reads
//! anything of another process: the prober does, a process of its own, and samples of what is not known yet wait for it in a queue.
//! Any thread may wish for names, and for more ([`Wishes`]); [`Wish`] is a wish as text. The pipeline has requests to the kernel side.
//!
//! # Errors
//! Opening gives an [`OpenError`] with an exit code. What works only in part is told in the stream, as a notice.
#![deny(unsafe_code)]

mod boot;
mod budget;
mod cgroups;
mod chain;
mod check;
mod facts;
#[doc(hidden)]
pub mod fuzzed;
mod identity;
mod ids;
mod jit;
mod listing;
mod mappings;
mod open_error;
#[allow(unsafe_code)]
mod os;
mod own;
mod own_files;
mod perf_map;
mod pipeline;
mod prober;
mod session;
mod settings;
mod sources;
mod stacks;
mod tasks;
mod usage;
mod waiting;
mod wish;

pub use chain::chain_of;
pub use check::check;
pub use flametop_events::list::{Listed, Listing};
pub use flametop_kernel::CheckLine;
pub use listing::{check_spec, events};
pub use open_error::OpenError;
pub use os::favour;
pub use session::{MIN_BUFFER, Session, Wishes};
pub use settings::Settings;
pub use wish::Wish;

/// Puts the calling thread before all ordinary ones: a burst of other tasks must not keep it from its deadlines.
///
/// # Errors
/// Not allowed; the thread is as it was.
pub fn raise_priority() -> std::io::Result<()> {
    flametop_prober::set_priority(flametop_prober::Priority::Deadlines)
}

/// What the library and Java must agree on: number of the kernel records in the upper half, version of the stream in the lower.
pub fn abi() -> u32 {
    flametop_kernel::abi::FT_ABI << 16 | flametop_stream::VERSION
}
