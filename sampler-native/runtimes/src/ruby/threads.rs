//! The threads that Ruby knows.

use super::layout::{CONTEXT_THREADS, Layout, Number};
use crate::{Thread, memory::Pages};

/// Words of the virtual machine among which the pointer to its first thread is.
const MOST_WORDS: u64 = 64;
/// In the virtual machine: the list of ractors.
const RACTORS: u64 = 8;
/// Bytes of a ractor among which the places of its lists are.
const RACTOR: u64 = 4096;
/// Most ractors, and threads of all of them, that are looked at.
const MOST_RACTORS: usize = 1024;
const MOST_THREADS: usize = 16 << 10;
/// Where glibc has the number of a native thread, since 2.4.
const NUMBER_OF_LIBRARY: u64 = 720;

/// A thread, and its number in its own namespace.
#[derive(Clone, Copy)]
pub struct Found {
    pub number: u32,
    pub thread: Thread,
}

struct Reader<'a> {
    layout: &'a Layout,
    memory: &'a Pages<'a>,
    machine: u64,
}

/// The first thread of a virtual machine. None: there is no machine at this address, or it has not begun.
pub fn main(layout: &Layout, memory: &Pages<'_>, machine: u64) -> Option<u64> {
    let reader = Reader {
        layout,
        memory,
        machine,
    };
    let words = (1..MOST_WORDS).filter_map(|index| reader.word(machine, 8 * index));
    words.into_iter().find(|thread| reader.is_thread(*thread))
}

/// All threads, those of the first ractor first. What cannot be read is missing.
pub fn all(layout: &Layout, memory: &Pages<'_>, machine: u64) -> Vec<Found> {
    let reader = Reader {
        layout,
        memory,
        machine,
    };
    let Some(main) = main(layout, memory, machine) else {
        return Vec::new();
    };
    let mut left = MOST_THREADS;
    // The nodes of a thread's list are its first words.
    let mut nodes = reader.ring(main, &mut left);
    if let Some(ractor) = layout.ractor.and_then(|at| reader.word(main, at.into())) {
        nodes.extend(reader.of_other_ractors(ractor, &nodes, &mut left));
    }
    let threads = nodes.into_iter().filter(|node| reader.is_thread(*node));
    threads.filter_map(|thread| reader.found(thread)).collect()
}

impl Reader<'_> {
    fn word(&self, address: u64, offset: u64) -> Option<u64> {
        self.memory.u64(address.wrapping_add(offset)).ok()
    }

    /// Whether a thread of this machine is there: it and its execution context lead to one another.
    fn is_thread(&self, at: u64) -> bool {
        let is = || {
            let machine = self.word(at, self.layout.machine.into())?;
            let context = self.word(at, self.layout.context.into())?;
            let mut threads = CONTEXT_THREADS.into_iter();
            let is_its = threads.any(|place| self.word(context, place) == Some(at));
            Some(machine == self.machine && is_its)
        };
        at.is_multiple_of(8) && at != 0 && is().unwrap_or(false)
    }

    /// The nodes of a list that has no end, from one of them on.
    fn ring(&self, first: u64, left: &mut usize) -> Vec<u64> {
        let mut nodes = Vec::new();
        let mut node = first;
        while *left > 0 {
            *left -= 1;
            nodes.push(node);
            match self.word(node, 0) {
                Some(next) if next != first && next != 0 => node = next,
                _ => break,
            }
        }
        nodes
    }

    /// The same of the threads of all ractors but the first. In which places ractors have their lists, the lists of the first one tell: its
    /// threads', and that of all ractors.
    fn of_other_ractors(&self, first: u64, threads: &[u64], left: &mut usize) -> Vec<u64> {
        let within = |node: &&u64| (first..first.saturating_add(RACTOR)).contains(*node);
        let mut most = MOST_RACTORS;
        let ractors = self.ring(self.machine.wrapping_add(RACTORS), &mut most);
        let (Some(own), Some(head)) = (ractors.iter().find(within), threads.iter().find(within))
        else {
            return Vec::new();
        };
        let distance = head.wrapping_sub(*own);
        let others = ractors[1..].iter().filter(|node| *node != own);
        let rings = others.map(|node| self.ring(node.wrapping_add(distance), left));
        rings.flatten().collect()
    }

    fn found(&self, thread: u64) -> Option<Found> {
        let layout = self.layout;
        let number = match layout.number {
            Number::There(at) => self.memory.u32(thread.wrapping_add(at.into())).ok(),
            Number::Through(native, at) => {
                let native = self.word(thread, native.into())?;
                self.memory.u32(native.wrapping_add(at.into())).ok()
            }
            Number::OfLibrary(at) => {
                let native = self.word(thread, at.into())?;
                self.memory.u32(native.wrapping_add(NUMBER_OF_LIBRARY)).ok()
            }
        };
        let identity = self.word(thread, layout.identity.into())?;
        Some(Found {
            number: number?,
            thread: Thread {
                address: thread,
                identity,
                lock: 0,
                from_pointer: 0,
            },
        })
    }
}
