//! Stretches between two tracepoints as sources: waits for locks of the kernel, and times without interrupts or preemption.

use anyhow::Result;

use super::{Hook, Source, tracepoint};
use crate::skeletons::OpenEventsProgs;

/// Has the object load the programs of the hook, or none of them.
pub fn choose(progs: &mut OpenEventsProgs<'_>, hook: &Hook) {
    let locks = matches!(hook, Hook::Lock { .. });
    progs.begin_contention.set_autoload(locks);
    progs.end_contention.set_autoload(locks);
    let (interrupts, preemption) = match hook {
        Hook::Off {
            interrupts,
            preemption,
        } => (interrupts.is_some(), preemption.is_some()),
        _ => (false, false),
    };
    progs.begin_irqs_off.set_autoload(interrupts);
    progs.end_irqs_off.set_autoload(interrupts);
    progs.begin_preemption_off.set_autoload(preemption);
    progs.end_preemption_off.set_autoload(preemption);
}

/// Watches the tracepoints of the hook.
pub fn attach(source: &mut Source) -> Result<()> {
    let progs = &source.skel.progs;
    let locks = (&progs.begin_contention, &progs.end_contention);
    let interrupts = (&progs.begin_irqs_off, &progs.end_irqs_off);
    let preemption = (&progs.begin_preemption_off, &progs.end_preemption_off);
    let watched = match &source.spec.hook {
        Hook::Lock { begin, end } => vec![(locks, Some([*begin, *end]))],
        Hook::Off {
            interrupts: ids,
            preemption: more,
        } => vec![(interrupts, *ids), (preemption, *more)],
        _ => Vec::new(),
    };
    let mut links = Vec::new();
    for ((begins, ends), ids) in watched {
        let Some([begin, end]) = ids else { continue };
        // The end last: each one has a beginning.
        links.push(tracepoint::link(begins, begin)?);
        links.push(tracepoint::link(ends, end)?);
    }
    links.into_iter().for_each(|link| source.keep(link));
    Ok(())
}
