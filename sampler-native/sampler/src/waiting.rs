//! Samples that wait until more is known of their processes, each with its copied stack.

use std::{
    collections::{HashMap, VecDeque},
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

/// All samples that wait, by process; those of one process in their order.
#[derive(Default)]
pub struct WaitingRoom {
    processes: HashMap<ProcessKey, (usize, VecDeque<Waiting>)>,
    bytes: usize,
}

impl WaitingRoom {
    /// Whether samples of a process wait.
    pub fn holds(&self, key: &ProcessKey) -> bool {
        self.processes.contains_key(key)
    }

    /// Adds one.
    pub fn push(&mut self, key: ProcessKey, sample: Waiting) {
        let (bytes, samples) = self.processes.entry(key).or_default();
        *bytes += sample.bytes();
        self.bytes += sample.bytes();
        samples.push_back(sample);
    }

    /// All of a process, the first one first.
    pub fn samples(&self, key: &ProcessKey) -> impl Iterator<Item = &Waiting> {
        let of = self.processes.get(key);
        of.into_iter().flat_map(|(_, samples)| samples)
    }

    /// Takes all of a process, the first one first.
    pub fn take(&mut self, key: &ProcessKey) -> VecDeque<Waiting> {
        let (bytes, samples) = self.processes.remove(key).unwrap_or_default();
        self.bytes -= bytes;
        samples
    }

    /// The process with the most waiting bytes, if more bytes wait than may.
    pub fn crowded(&self) -> Option<ProcessKey> {
        let largest = self.processes.iter().max_by_key(|(_, (bytes, _))| bytes);
        largest
            .filter(|_| self.bytes > MOST_BYTES)
            .map(|(key, _)| *key)
    }

    /// Processes whose first sample is older than this time, ns.
    pub fn older(&self, time: u64) -> Vec<ProcessKey> {
        let old =
            |samples: &VecDeque<Waiting>| samples.front().is_some_and(|s| s.head.ktime < time);
        let processes = self.processes.iter();
        let old = processes.filter(|(_, (_, samples))| old(samples));
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
            );
        }
        let mut of_other = 0;
        while room.crowded().is_none() {
            room.push(
                key(2),
                Waiting::new(&head(2, 1 + of_other), Some(&stack), Taker::Pass(3)),
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
}
