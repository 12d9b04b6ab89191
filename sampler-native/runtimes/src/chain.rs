//! Copies of chains, as the kernel side makes them: frames that an interpreter keeps outside of the stack.

use crate::Thread;

/// Words before the nodes, and of a node.
const HEAD: usize = 6;
const NODE: usize = 6;
/// The bit of the thread's address that says that the thread's own memory led to it.
const OWN: u64 = 1;
/// Frames from which on it is the copy that ended, and not the chain: as many as a pass copies.
pub const FULL: usize = 128;

/// A copied frame.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub address: u64,
    pub object: u64,
    pub flags: u64,
    pub place: u64,
    pub words: [u64; 2],
}

/// A copied chain.
pub(crate) struct Copied<'a> {
    pub thread: u64,
    /// The thread's own memory led to it.
    pub is_own: bool,
    pub identity: u64,
    /// The pointer of the thread to its innermost frame, or to the structure that has that pointer.
    pub first: u64,
    /// The frame behind the last node.
    pub rest: u64,
    /// The words of the lock.
    pub lock: [u64; 2],
    nodes: &'a [u8],
}

fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(*bytes.first_chunk()?);
    }
    (bytes.len() >= 8 * N).then_some(words)
}

impl<'a> Copied<'a> {
    pub fn of(bytes: &'a [u8]) -> Option<Copied<'a>> {
        let [thread, identity, first, rest, holder, is_held] = words(bytes)?;
        Some(Copied {
            thread: thread & !OWN,
            is_own: thread & OWN != 0,
            identity,
            first,
            rest,
            lock: [holder, is_held],
            nodes: &bytes[8 * HEAD..],
        })
    }

    /// Tells whether the chain is of this thread.
    pub fn is_of(&self, thread: Thread) -> bool {
        self.thread == thread.address && self.identity == thread.identity
    }

    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.nodes.chunks_exact(8 * NODE).map(|bytes| {
            let [address, object, flags, place, name, file] = words(bytes).unwrap_or_default();
            Node {
                address,
                object,
                flags,
                place,
                words: [name, file],
            }
        })
    }

    /// Whether the copy ended before the chain.
    pub fn is_cut(&self) -> bool {
        self.nodes().len() >= FULL && self.rest != 0
    }
}
