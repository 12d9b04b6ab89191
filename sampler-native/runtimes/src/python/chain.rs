//! Frames of Python's functions, and the calls of the interpreter that run them.

use super::layout::{Frame, LINKED_FRAME, LINKED_NEXT, Layout, Levels};
use crate::{Function, Interpreted, Known, Order, Runs, Stack, chain::Copied, known::Looked};

/// The functions of a stack. None: they do not add up, or none of them could be read.
pub fn runs(
    layout: &Layout,
    known: &mut Known,
    interpreted: &Interpreted<'_>,
    stack: &dyn Stack,
    runs: &mut Runs,
) -> Option<()> {
    let copied = Copied::of(interpreted.copied);
    let is_it = known.is_of_thread(interpreted.thread, copied.as_ref());
    let copied = copied.filter(|_| is_it)?;
    let callers = copied.nodes().skip(1).map(|node| node.address);
    let callers = callers.chain([copied.rest]);
    // The structure that a call of the interpreter keeps on the stack; only with 3.11 it leads to that of the call before.
    let mut level = copied.first;
    for (node, caller) in copied.nodes().zip(callers) {
        let frame = layout.frame(node.flags)?;
        if frame == Frame::OnStack {
            runs.ends.push((node.address, runs.functions.len()));
            continue;
        }
        // Code that runs once, as a cell of a notebook does, may be gone before its name is read.
        runs.functions
            .push(match known.method_of(node.object, node.words) {
                Looked::There(method) => {
                    method.function(layout.instruction(node.object, node.place))
                }
                Looked::Nothing | Looked::Lacking => Function::UNREAD,
            });
        if frame == Frame::Only {
            runs.ends.push((0, runs.functions.len()));
        }
        if frame == Frame::Outermost {
            runs.ends.push((level, runs.functions.len()));
            level = match before(stack, level, caller)? {
                Some(level) => level,
                None => return runs.is_read().then_some(()),
            };
        }
    }
    if !runs.is_read() {
        return None;
    }
    if layout.levels == Levels::One {
        runs.is_cut = copied.is_cut();
        runs.order = match runs.is_cut {
            true => Order::Inner,
            false => Order::Whole,
        };
        return (runs.is_cut || copied.rest == 0).then_some(());
    }
    let end = runs.ends.last().map_or(0, |(_, end)| *end);
    if runs.functions.len() > end {
        // Functions that no call of the interpreter runs.
        if !copied.is_cut() {
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
