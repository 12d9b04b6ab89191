//! Frames of Python's functions, and the calls of the interpreter that run them.

use super::{
    layout::{Frame, LINKED_FRAME, LINKED_NEXT, Layout},
    lines,
};
use crate::{Function, Interpreted, Known, Runs, Stack, known::Looked};

/// Words before the nodes, and of a node.
const HEAD: usize = 4;
const NODE: usize = 6;
/// Frames from which on it is the copy that ended, and not the chain: as many as a pass copies.
pub const FULL: usize = 128;

/// A copied frame.
#[derive(Clone, Copy)]
struct Node {
    address: u64,
    code: u64,
    flags: u64,
    place: u64,
    words: [u64; 2],
}

/// A copied chain.
struct Copied<'a> {
    thread: u64,
    identity: u64,
    /// The pointer of the thread to its innermost frame, or with 3.11 and 3.12 to the structure that has that pointer.
    first: u64,
    /// The frame behind the last node.
    rest: u64,
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
    fn of(bytes: &'a [u8]) -> Option<Copied<'a>> {
        let [thread, identity, first, rest] = words(bytes)?;
        Some(Copied {
            thread,
            identity,
            first,
            rest,
            nodes: &bytes[8 * HEAD..],
        })
    }

    fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + '_ {
        self.nodes.chunks_exact(8 * NODE).map(|bytes| {
            let [address, code, flags, place, name, file] = words(bytes).unwrap_or_default();
            Node {
                address,
                code,
                flags,
                place,
                words: [name, file],
            }
        })
    }
}

/// The functions of a stack. None: they do not add up, or something is lacking.
pub fn runs(
    layout: &Layout,
    known: &mut Known,
    interpreted: &Interpreted<'_>,
    stack: &dyn Stack,
    runs: &mut Runs,
) -> Option<()> {
    let copied = Copied::of(interpreted.copied);
    let is_it = known.thread(interpreted.thread, |thread| {
        let copied = copied.as_ref()?;
        Some(copied.thread == thread.address && copied.identity == thread.identity)
    });
    let copied = copied.filter(|_| is_it)?;
    let callers = copied.nodes().skip(1).map(|node| node.address);
    let callers = callers.chain([copied.rest]);
    // The structure that a call of the interpreter keeps on the stack; only with 3.11 it leads to that of the call before.
    let mut level = copied.first;
    let mut is_named = true;
    for (node, caller) in copied.nodes().zip(callers) {
        let frame = layout.frame(node.flags)?;
        if frame == Frame::OnStack {
            runs.ends.push((node.address, runs.functions.len()));
            continue;
        }
        match known.method_of(node.code, node.words) {
            Looked::There(method) => match method.name {
                Some(name) => runs.functions.push(Function {
                    name,
                    line: lines::line(&method.lines, layout.instruction(node.code, node.place)),
                }),
                None => is_named = false,
            },
            Looked::Nothing | Looked::Lacking => is_named = false,
        }
        if frame == Frame::Outermost {
            runs.ends.push((level, runs.functions.len()));
            level = match before(stack, level, caller)? {
                Some(level) => level,
                None => return is_named.then_some(()),
            };
        }
    }
    if !is_named {
        return None;
    }
    let end = runs.ends.last().map_or(0, |(_, end)| *end);
    if runs.functions.len() > end {
        // Functions that no call of the interpreter runs.
        if copied.nodes().len() < FULL || copied.rest == 0 {
            return None;
        }
        runs.is_cut = true;
    }
    Some(())
}

/// From what one call of the interpreter has on the stack to that of the call before, if the innermost function of the latter is
/// `caller`, and else nothing. Within: none, if there is no call before or the stack was not copied that far.
fn before(stack: &dyn Stack, level: u64, caller: u64) -> Option<Option<u64>> {
    let word = |address: u64, offset: u16| stack.word(address.wrapping_add(offset.into()));
    let before = word(level, LINKED_NEXT);
    let Some((before, innermost)) = before.and_then(|at| Some((at, word(at, LINKED_FRAME)?)))
    else {
        return Some(None);
    };
    (innermost == caller).then_some(Some(before))
}
