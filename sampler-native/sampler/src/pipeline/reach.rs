//! How much more is copied of a stack whose walk lacked a part.

use flametop_kernel::{
    Reach, abi,
    record::{Head, StackPart},
};
use flametop_stream::End;

use super::walker::Walk;
use crate::tasks::Task;

/// Most bytes of stack that are collected of one sleeper.
const MAX_PIECES: usize = 256 << 10;

/// Keeps the piece that came, and returns the address of the next one, if the walk can go on with more.
pub fn next_piece(head: &Head, stack: &StackPart<'_>, task: &mut Task, walk: &Walk) -> Option<u64> {
    let collected = task.pieces.take();
    if head.status & abi::FT_LAST_ENTRY != 0 {
        return None;
    }
    let want = walk.outcome?.want?;
    let switches = head.nvcsw + head.nivcsw;
    let mut collected = collected
        .filter(|p| p.switches == switches)
        .unwrap_or_default();
    collected.switches = switches;
    let bytes: usize = collected.pieces.iter().map(|(_, b)| b.len()).sum();
    let failed = head.status & abi::FT_PIECE_FAILED != 0;
    if failed
        || collected.asked == want
        || bytes + stack.user.len() + stack.piece.len() >= MAX_PIECES
    {
        return None;
    }
    if !stack.piece.is_empty() {
        collected
            .pieces
            .push((stack.piece_address, stack.piece.to_vec()));
    }
    collected.asked = want;
    task.pieces = Some(collected);
    Some(want)
}

/// What the CPU clock is to copy of a thread's stack from now on, if the walk of this sample wanted more than the clock copies.
/// A walk has only the pieces of its own sample: memory of different moments is never joined.
pub fn next_reach(stack: &StackPart<'_>, reach: Option<Reach>, walk: &Walk) -> Option<Reach> {
    let want = walk.outcome?.want?;
    let (most, first) = (abi::FT_CPU_STACK, abi::FT_CPU_FIRST);
    let mut next = reach.unwrap_or(Reach {
        stack: first,
        piece: 0,
        near: 0,
        follow: false,
        walk: false,
    });
    if walk.end == End::Truncated {
        next.walk = true;
        next.stack = most - next.piece;
    } else {
        // The walk goes on in another stack. Its distance from the piece, if that can be copied beside the rest:
        let beyond = |from: u64| u32::try_from(want.checked_sub(from)?).ok();
        let near = |from: u64| beyond(from).filter(|bytes| *bytes < most - first);
        if !stack.piece.is_empty()
            && let Some(bytes) = near(stack.piece_address)
        {
            next.piece = (bytes + first).min(most - first);
        } else {
            next.near = want;
            next.follow = true;
            next.piece = next.piece.max(first);
        }
        next.stack = next.stack.min(most - next.piece);
    }
    (Some(next) != reach).then_some(next)
}

/// What is copied of the other threads of the process: no stack but a thread's own leads to an address on it.
pub fn for_others(reach: Reach) -> Reach {
    if reach.follow || reach.piece == 0 {
        return reach;
    }
    Reach {
        stack: abi::FT_CPU_STACK,
        piece: 0,
        ..reach
    }
}

/// Whether `new` copies more than what is known of a process.
pub fn is_more(known: Option<Reach>, new: Reach) -> bool {
    known.is_none_or(|known| {
        known.stack < new.stack || known.piece < new.piece || !known.walk && new.walk
    })
}
