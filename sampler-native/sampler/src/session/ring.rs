//! The ring thread.

use std::{collections::VecDeque, sync::atomic::Ordering, thread, time::Duration};

use flametop_kernel::{Rings, abi, record::Head};

use super::wishes::Shared;
use crate::os;

/// The ring thread looks at the rings at least this often.
const PERIOD: Duration = Duration::from_millis(50);
/// Bytes of records that wait for a batch, above which samples stay in their ring. The kernel counts those that find no room there.
const MAX_QUEUED: usize = 64 << 20;

/// What the ring thread does: walks each stack of the CPU clock as it comes, until the session stops it.
pub fn drain(mut rings: Rings, shared: &Shared) {
    // Not allowed is not fatal: samples then wait longer in the ring.
    let _ = crate::raise_priority();
    // Starts and ends of tasks since the last time, in the order of time; each goes before the samples of later moments.
    let mut life: VecDeque<Head> = VecDeque::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let Ok(queued) = shared.pipeline().map(|p| p.out.bytes().len()) else {
            return;
        };
        if queued > MAX_QUEUED {
            thread::sleep(PERIOD);
            continue;
        }
        let mut broken = false;
        let drained_to = os::monotonic();
        let drained = rings.poll(PERIOD, &mut |record| {
            let Ok(mut pipeline) = shared.pipeline() else {
                broken = true;
                return;
            };
            match u32::from(record.head.kind) {
                abi::FT_KIND_CPU | abi::FT_KIND_EVENT | abi::FT_KIND_WAKER => {
                    while let Some(head) = life.front().filter(|l| l.ktime <= record.head.ktime) {
                        pipeline.life(head);
                        life.pop_front();
                    }
                    let stack = record.stack.as_ref();
                    match record.event {
                        Some(event) => pipeline.event(record.head, stack, event),
                        None => pipeline.cpu_sample(record.head, stack),
                    }
                }
                _ => life.push_back(*record.head),
            }
        });
        let Ok(mut pipeline) = shared.pipeline() else {
            return;
        };
        // While records are left there may be samples of before.
        if !rings.left() {
            for head in life.drain(..) {
                pipeline.life(&head);
            }
        }
        pipeline.take_probed();
        if !rings.left() {
            pipeline.drained(drained_to);
        }
        let reaches = std::mem::take(&mut pipeline.to_kernel.reaches);
        let steps = std::mem::take(&mut pipeline.to_kernel.steps);
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
