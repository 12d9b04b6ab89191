//! Waits that ended: the stacks of waker and waiter, which come one after the other, are joined to one.
//!
//! The joined stack is read from the waiter's outermost frame inwards, over the place where the waiter waited, to `--`, and from
//! there from the innermost frame of the waker outwards, up to the name of the waker's thread, or `[interrupt]`. Behind that stands, each
//! after another `--`, who woke the waker during the same wait, who woke that one, and so on.

use std::collections::HashMap;

use flametop_kernel::{
    abi,
    record::{Event, Head, StackPart, Waker},
};
use flametop_stream::{self as stream, End, Record};
use flametop_unwind::{Frame, ModuleId};

use super::{
    Pipeline,
    walker::{Turn, Walker},
    words::word,
};
use crate::{stacks::Walked, waiting::Awaited};

const SEPARATOR: &[u8] = b"--";
const INTERRUPT: &[u8] = b"[interrupt]";
/// The waiter's stack came, and no waker's.
const NO_WAKER: &[u8] = b"[waker not sampled]";
/// The waker is no task of the target: its user half is not copied.
const STRANGER: &[u8] = b"[not in the target]";
/// The record of a waiter that did not come after so long does not come any more, ns.
const LONGEST: u64 = 10_000_000_000;

/// The number of a source, and that of one of its waits.
type Wait = (u32, u64);

/// What is known of waits whose stacks are not joined yet.
#[derive(Default)]
pub struct Wakes {
    halves: HashMap<Wait, Half>,
    pruned: u64,
}

/// What is known of one wait.
struct Half {
    /// When the wait ended, ns.
    time: u64,
    /// The waker's frames in the order of the joined stack, once its walk ended.
    waker: Option<Vec<Frame>>,
    /// The waiter, once its walk ended.
    waiter: Option<Waiter>,
}

/// A waiter with its stack.
struct Waiter {
    head: stream::Head,
    event: Event,
    user: Vec<Frame>,
    kernel: Vec<Frame>,
}

impl Wakes {
    /// The frames of stacks that wait for their other half.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.halves.values().flat_map(|half| {
            let waiter = half.waiter.iter().flat_map(|of| of.user.iter());
            half.waker.iter().flatten().chain(waiter)
        })
    }

    /// The modules that these are in.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.frames().map(|frame| frame.module)
    }

    /// Forgets wakers whose waiters do not come.
    pub fn drain(&mut self, now: u64) {
        if now >= self.pruned + LONGEST {
            self.pruned = now;
            self.halves.retain(|_, half| now < half.time + LONGEST);
        }
    }
}

impl Pipeline {
    /// Keeps the stack of a task that ended a wait until the waiter's stack comes, or joins it to that one.
    pub(super) fn place_waker(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        event: Event,
        turn: Turn,
    ) -> Option<Awaited> {
        let wait = (event.source, event.wait);
        if turn == Turn::First {
            self.wakes.halves.entry(wait).or_insert_with(|| Half {
                time: head.ktime,
                waker: None,
                waiter: None,
            });
        }
        let stack = stack?;
        self.walker.user.clear();
        self.walker.walk_kernel(head, stack);
        self.walker.cut_tracing();
        let is_interrupt = self.walker.cut_interrupted(head);
        let is_stranger = head.status & abi::FT_STRANGER != 0;
        let mut end = End::Root;
        if !is_interrupt && !is_stranger {
            let (_, walk) = self.walk_running(head, stack, turn);
            if let Some(awaited) = walk.as_ref().and_then(|walk| walk.awaited) {
                return Some(awaited);
            }
            end = walk.map_or(End::Exited, |walk| walk.end);
            self.walker.cut_tracing();
        }
        let modules = &mut self.walker.files.modules;
        let mut frames = vec![word(modules, SEPARATOR)];
        frames.extend(&self.walker.kernel);
        frames.extend(&self.walker.user);
        if end != End::Root {
            let reason = format!("[{}]", end.reason());
            frames.push(word(modules, reason.as_bytes()));
        } else if is_stranger && !is_interrupt && head.status & abi::FT_KTHREAD == 0 {
            frames.push(word(modules, STRANGER));
        }
        frames.push(match is_interrupt {
            true => word(modules, INTERRUPT),
            false => word(modules, name(&head.comm)),
        });
        if let Some(half) = self.wakes.halves.get_mut(&wait) {
            half.waker = Some(frames);
        }
        self.join(wait);
        None
    }

    /// Joins the stack that was walked last, of a task that had waited, to that of its waker, or keeps it until that one is known.
    pub(super) fn place_waiter(&mut self, head: stream::Head, event: Event) {
        self.walker.cut_tracing();
        self.totals.count_walk(head.why);
        let Walker { user, kernel, .. } = &self.walker;
        let wait = (event.source, event.wait);
        let half = self.wakes.halves.entry(wait).or_insert_with(|| Half {
            time: head.time,
            // It comes first, or not at all.
            waker: Some(Vec::new()),
            waiter: None,
        });
        half.waiter = Some(Waiter {
            head,
            event,
            user: user.clone(),
            kernel: kernel.clone(),
        });
        self.join(wait);
    }

    /// Tells of a wait both of whose stacks are known.
    fn join(&mut self, wait: Wait) {
        let halves = &mut self.wakes.halves;
        if !halves
            .get(&wait)
            .is_some_and(|half| half.waker.is_some() && half.waiter.is_some())
        {
            return;
        }
        let Some(Half {
            waker: Some(mut waker),
            waiter: Some(waiter),
            ..
        }) = halves.remove(&wait)
        else {
            return;
        };
        let modules = &mut self.walker.files.modules;
        if waker.is_empty() {
            waker = vec![word(modules, SEPARATOR), word(modules, NO_WAKER)];
        }
        for further in waiter.event.wakers.iter().take_while(|w| w.time != 0) {
            waker.push(word(modules, SEPARATOR));
            waker.push(word(modules, name_of(further)));
        }
        // Innermost first, as walks have it.
        waker.reverse();
        waker.extend(&waiter.kernel);
        let walked = Walked {
            user: &waiter.user,
            kernel: &waker,
            modules,
        };
        let end = waiter.head.why;
        let stack = self.stacks.id(end, walked, &mut self.out);
        self.out.put(&Record::Event {
            head: stream::Head {
                stack: Some(stack),
                ..waiter.head
            },
            source: waiter.event.source,
            weight: waiter.event.weight,
            rate: waiter.event.rate,
        });
    }
}

fn name_of(waker: &Waker) -> &[u8] {
    match waker.tid {
        0 => INTERRUPT,
        _ => name(&waker.comm),
    }
}

/// A comm without its padding.
fn name(comm: &[u8; abi::FT_COMM as usize]) -> &[u8] {
    let end = comm.iter().position(|byte| *byte == 0);
    &comm[..end.unwrap_or(comm.len())]
}
