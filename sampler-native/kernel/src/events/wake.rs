//! Waits as a source: a hit is the moment at which a task that waits is woken.

use std::{fs, os::fd::AsFd};

use anyhow::{Context, Result, bail};
use libbpf_rs::{
    Link,
    btf::{Btf, types::Typedef},
};

use super::{Source, kprobes};
use crate::{
    skeletons::OpenEventsProgs,
    sys::{self, Walk},
};

/// The tracepoint by which the scheduler tells, since 6.15, that it returns to a task.
const RETURNED: &str = "btf_trace_sched_exit_tp";
/// The function that a task runs first when it is back on a CPU; the compiler may add to the name.
const FIRST_FUNCTION: &str = "finish_task_switch";

/// Has the object load the programs of waits, or none of them.
pub fn choose(progs: &mut OpenEventsProgs<'_>, wanted: bool) {
    let told = wanted && tells_of_returns();
    progs.know_task.set_autoload(wanted);
    progs.know_child.set_autoload(wanted);
    progs.begin_wait.set_autoload(wanted);
    progs.end_wait.set_autoload(wanted);
    progs.see_waiter.set_autoload(told);
    progs.probe_waiter.set_autoload(wanted && !told);
}

fn tells_of_returns() -> bool {
    Btf::from_vmlinux().is_ok_and(|btf| btf.type_by_name::<Typedef<'_>>(RETURNED).is_some())
}

/// Refuses a kernel that lets nobody see a task that is back on a CPU.
pub fn check() -> Result<()> {
    if tells_of_returns() {
        return Ok(());
    }
    kprobes::check()
        .context("before Linux 6.15 the stack of a task that was woken is copied by a probe")
}

/// Attaches to the scheduler, and looks at all tasks once: those that wait are counted from now on.
pub fn attach(source: &mut Source) -> Result<()> {
    let links = links(source)?;
    links.into_iter().for_each(|link| source.keep(link));
    let program = source.skel.progs.know_task.as_fd();
    let link = sys::link_iterator(program, Walk::All);
    let link = link.context("the tasks of this machine cannot be walked over")?;
    let mut walk =
        sys::start_walk(link.as_fd()).context("failed to start a walk over the tasks")?;
    let mut nothing = [0; 512];
    while sys::read_words(&mut walk, &mut nothing).context("failed to walk over the tasks")? > 0 {}
    Ok(())
}

fn links(source: &Source) -> Result<Vec<Link>> {
    let progs = &source.skel.progs;
    let back = match progs.see_waiter.autoload() {
        true => progs.see_waiter.attach().map_err(anyhow::Error::from),
        false => first_function().and_then(|name| {
            let link = progs.probe_waiter.attach_kprobe(false, name)?;
            Ok(link)
        }),
    };
    let back = back.context("the kernel does not tell of tasks that are back on a CPU")?;
    let mut links = vec![back];
    // The end of a wait last: each one has a beginning.
    for program in [&progs.know_child, &progs.begin_wait, &progs.end_wait] {
        let link = program.attach();
        links.push(link.context("the kernel does not tell of wake-ups")?);
    }
    Ok(links)
}

fn first_function() -> Result<String> {
    let symbols = fs::read_to_string("/proc/kallsyms").context("failed to read /proc/kallsyms")?;
    let names = symbols.lines().filter_map(|line| line.split(' ').nth(2));
    let found = names
        .filter_map(|name| Some((name, name.strip_prefix(FIRST_FUNCTION)?)))
        .find(|(_, rest)| rest.is_empty() || rest.starts_with('.'));
    match found {
        Some((name, _)) => Ok(name.to_owned()),
        None => bail!("the kernel has no function {FIRST_FUNCTION}"),
    }
}
