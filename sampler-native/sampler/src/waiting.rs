//! Samples that wait until more is known of their processes, each with its copied stack.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
};

use flametop_kernel::{
    abi,
    record::{Chunks, Event, Head, Holder, StackPart},
};

use crate::identity::ProcessKey;

/// Most bytes of waiting samples, of all processes together.
pub const MOST_BYTES: usize = 2 << 20;

/// Who took a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// The pass of this number.
    Pass(u64),
    /// The CPU clock.
    Clock,
    /// A source of events, at a hit.
    Source(Event),
}

/// What a sample waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The mappings of its process.
    Mappings,
    /// A file, and maybe mappings.
    File,
    /// Code that a runtime made.
    Code,
    /// The holder of the lock that its thread is blocked on. Samples of other threads need not wait behind it.
    Holder,
}

/// A sample.
pub struct Waiting {
    /// Its head.
    pub head: Head,
    /// Who took it.
    pub taker: Taker,
    stack: Option<Stack>,
}

/// See [`StackPart`].
struct Stack {
    regs: [u64; abi::FT_REGS as usize],
    mapping: Range<u64>,
    kernel: Box<[u64]>,
    user_address: u64,
    user: Box<[u8]>,
    piece_address: u64,
    piece: Box<[u8]>,
    chunks: Box<[u8]>,
    switches_after: u64,
    holder: Option<(u32, [u8; abi::FT_COMM as usize])>,
}

impl Waiting {
    /// A copy.
    pub fn new(head: &Head, stack: Option<&StackPart<'_>>, taker: Taker) -> Waiting {
        let stack = stack.map(|stack| Stack {
            regs: *stack.regs,
            mapping: stack.mapping.clone(),
            kernel: stack.kernel.into(),
            user_address: stack.user_address,
            user: stack.user.into(),
            piece_address: stack.piece_address,
            piece: stack.piece.into(),
            chunks: stack.chunks.bytes().into(),
            switches_after: stack.switches_after,
            holder: stack.holder.map(|holder| (holder.tid, *holder.comm)),
        });
        Waiting {
            head: *head,
            taker,
            stack,
        }
    }

    /// Its stack.
    pub fn stack(&self) -> Option<StackPart<'_>> {
        let stack = self.stack.as_ref()?;
        Some(StackPart {
            regs: &stack.regs,
            mapping: stack.mapping.clone(),
            kernel: &stack.kernel,
            user_address: stack.user_address,
            user: &stack.user,
            piece_address: stack.piece_address,
            piece: &stack.piece,
            chunks: Chunks::of(&stack.chunks),
            switches_after: stack.switches_after,
            holder: stack
                .holder
                .as_ref()
                .map(|(tid, comm)| Holder { tid: *tid, comm }),
        })
    }

    /// The request that shows its task again: the thread, and a place of its stack.
    pub fn shown_by(&self) -> (u32, u64) {
        let address = self.stack.as_ref().map_or(0, |stack| stack.user_address);
        (self.head.tid, address)
    }

    fn bytes(&self) -> usize {
        let stack = self.stack.as_ref().map_or(0, |stack| {
            size_of_val(&*stack.kernel) + stack.user.len() + stack.piece.len() + stack.chunks.len()
        });
        size_of::<Waiting>() + stack
    }
}

/// Samples of one process, in their order.
#[derive(Default)]
struct Queue {
    bytes: usize,
    samples: VecDeque<Waiting>,
    threads: HashSet<u32>,
    /// Samples of all threads wait behind these, and not only those of the same threads.
    of_all: bool,
}

/// All samples that wait, by process.
#[derive(Default)]
pub struct WaitingRoom {
    processes: HashMap<ProcessKey, Queue>,
    bytes: usize,
}

impl WaitingRoom {
    /// Whether samples of a process wait that one of this thread has to wait behind.
    pub fn holds_up(&self, key: &ProcessKey, thread: u32) -> bool {
        let queue = self.processes.get(key);
        queue.is_some_and(|queue| queue.of_all || queue.threads.contains(&thread))
    }

    /// Adds one. `awaited`: what it waits for; none: it only waits behind others.
    pub fn push(&mut self, key: ProcessKey, sample: Waiting, awaited: Option<Awaited>) {
        let queue = self.processes.entry(key).or_default();
        queue.bytes += sample.bytes();
        self.bytes += sample.bytes();
        queue.threads.insert(sample.head.tid);
        queue.of_all |= awaited.is_some_and(|awaited| awaited != Awaited::Holder);
        queue.samples.push_back(sample);
    }

    /// All of a process, the first one first.
    pub fn samples(&self, key: &ProcessKey) -> impl Iterator<Item = &Waiting> {
        let of = self.processes.get(key);
        of.into_iter().flat_map(|queue| &queue.samples)
    }

    /// Takes all of a process, the first one first.
    pub fn take(&mut self, key: &ProcessKey) -> VecDeque<Waiting> {
        let queue = self.processes.remove(key).unwrap_or_default();
        self.bytes -= queue.bytes;
        queue.samples
    }

    /// The process with the most waiting bytes, if more bytes wait than may.
    pub fn crowded(&self) -> Option<ProcessKey> {
        let largest = self.processes.iter();
        let largest = largest.max_by_key(|(_, queue)| queue.bytes);
        largest
            .filter(|_| self.bytes > MOST_BYTES)
            .map(|(key, _)| *key)
    }

    /// Processes whose first sample is older than this time, ns.
    pub fn older(&self, time: u64) -> Vec<ProcessKey> {
        let old = |queue: &Queue| {
            let first = queue.samples.front();
            first.is_some_and(|sample| sample.head.ktime < time)
        };
        let processes = self.processes.iter();
        let old = processes.filter(|(_, queue)| old(queue));
        old.map(|(key, _)| *key).collect()
    }

    /// Processes with this number that have waiting samples.
    pub fn of(&self, tgid: u32) -> Vec<ProcessKey> {
        let keys = self.processes.keys().filter(|key| key.tgid() == tgid);
        keys.copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::head;

    #[test]
    fn crowded_is_the_process_of_which_most_waits() {
        let regs = [7; abi::FT_REGS as usize];
        let user = vec![3; 16 << 10];
        let stack = StackPart {
            regs: &regs,
            mapping: 1..2,
            kernel: &[4, 5],
            user_address: 6,
            user: &user,
            piece_address: 7,
            piece: &[8],
            chunks: Chunks::of(&[]),
            switches_after: 9,
            holder: None,
        };
        let mut room = WaitingRoom::default();
        let key = |tgid| ProcessKey::new(tgid, 1, 1);
        for time in 0..5 {
            room.push(
                key(1),
                Waiting::new(&head(1, time), Some(&stack), Taker::Clock),
                Some(Awaited::Mappings),
            );
        }
        let mut of_other = 0;
        while room.crowded().is_none() {
            room.push(
                key(2),
                Waiting::new(&head(2, 1 + of_other), Some(&stack), Taker::Pass(3)),
                None,
            );
            of_other += 1;
        }
        assert_eq!(room.crowded(), Some(key(2)));
        assert!(of_other < (MOST_BYTES / user.len()) as u64);
        assert_eq!(room.older(1), room.of(1));
        let taken = room.take(&key(2));
        assert_eq!(taken.len() as u64, of_other);
        assert_eq!(room.crowded(), None);
        let again = taken[0].stack().expect("a stack");
        assert_eq!(
            (again.regs, again.user, again.kernel),
            (&regs, &user[..], &[4, 5][..])
        );
        assert_eq!(taken[0].taker, Taker::Pass(3));
        assert_eq!(room.take(&key(1)).len(), 5);
        assert_eq!(room.bytes, 0);
    }

    #[test]
    fn holds_up_sample_that_waits_for_a_holder_holds_up_its_own_thread_and_any_other_all() {
        let mut room = WaitingRoom::default();
        let key = ProcessKey::new(1, 1, 1);
        let push = |room: &mut WaitingRoom, thread, awaited| {
            let sample = Waiting::new(&head(thread, 1), None, Taker::Pass(1));
            room.push(key, sample, awaited);
        };
        let held = |room: &WaitingRoom| [5, 6, 7].map(|thread| room.holds_up(&key, thread));
        assert_eq!(held(&room), [false; 3]);
        push(&mut room, 5, Some(Awaited::Holder));
        push(&mut room, 5, None);
        assert_eq!(held(&room), [true, false, false]);
        push(&mut room, 6, Some(Awaited::Holder));
        assert_eq!(held(&room), [true, true, false]);
        assert!(!room.holds_up(&ProcessKey::new(2, 1, 1), 5));
        push(&mut room, 6, Some(Awaited::Code));
        assert_eq!(held(&room), [true; 3]);
        assert_eq!(room.take(&key).len(), 4);
        assert_eq!(held(&room), [false; 3]);
    }
}
