//! Everything that is read of other processes is read by a process of its own, the *prober*: their mappings, command lines, memory and
//! files may wait for others or lie. It holds the rights that reading takes and no more ([`rights`]), and is thrown away when it does
//! not answer ([`Client`]).
//!
//! # Threads
//! [`Client`] is used from any thread and never waits, but for [`Client::wait`]. The process reads on threads of a [pool](pool), each
//! with a deadline.

mod client;
mod compiled;
mod cpu_time;
mod pool;
mod priority;
mod protocol;
mod reap;
pub mod rights;
mod serve;
mod status;
mod wire;

pub use client::Client;
pub use cpu_time::{process_cpu, thread_cpu};
pub use priority::{Priority, set as set_priority};
pub use protocol::{MapFile, Mapped, Missing, NoElf, Passed, PerfMap, Request, Told, Whom};
pub use reap::reap_later;
pub use serve::run;
pub use status::Status;

/// By this argument `flametop-symbolizer` knows that it is the prober.
pub const ARGUMENT: &str = "prober";
