//! Tracepoints as sources. The program runs at every hit on every CPU; the filter is part of the program, since the kernel runs programs
//! before it looks at the filter of a perf event.

use anyhow::{Context, Result, anyhow};
use libbpf_rs::{Link, ProgramMut};

use super::{Source, given};
use crate::{cpus, sys};

/// Watches the tracepoint with this number.
pub fn attach(source: &mut Source, id: u64) -> Result<()> {
    let link = link(&source.skel.progs.hit_tracepoint, id)?;
    source.keep(link);
    Ok(())
}

/// Has the kernel run a program at each hit of a tracepoint.
pub fn link(program: &ProgramMut<'_>, id: u64) -> Result<Link> {
    let cpu = cpus::online()?.first().copied().unwrap_or(0);
    let event = sys::open_tracepoint(id, cpu).map_err(|error| match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINVAL) => anyhow!("there is no tracepoint with number {id}"),
        Some(libc::EACCES | libc::EPERM) => anyhow!(
            "the kernel does not permit tracepoints; run it as root (sudo), in a container add CAP_PERFMON and allow perf_event_open"
        ),
        _ => anyhow!("tracepoint {id} cannot be watched: {error}"),
    })?;
    program
        .attach_perf_event(given(event))
        .with_context(|| format!("no program can be attached to tracepoint {id}"))
}
