//! Control frames of Ruby, and the calls of its virtual machine that run them.

use super::layout::{self, Frame};
use crate::{
    Function, Interpreted, Known, Order, Runs,
    chain::{Copied, Node},
    known::Looked,
};

/// Bytes of a word of instructions.
const WORD: u64 = 8;

/// The functions of a stack. None: they do not add up.
///
/// A function that is written in C belongs to the run that called it, so that what the function itself calls stands within it.
pub fn runs(known: &mut Known, interpreted: &Interpreted<'_>, runs: &mut Runs) -> Option<()> {
    let copied = Copied::of(interpreted.copied);
    let is_it = known.is_of_thread(interpreted.thread, copied.as_ref());
    let copied = copied.filter(|_| is_it)?;
    for node in copied.nodes() {
        let (kind, is_first) = layout::frame(node.flags)?;
        // A function that begins has no instruction yet, and is not there for Ruby itself either.
        let is_function = match kind {
            Frame::Written => node.place != 0,
            Frame::Native => true,
            Frame::Nothing => false,
        };
        if is_function {
            runs.functions.push(function(known, kind, &node));
        }
        if is_first {
            runs.ends.push((0, runs.functions.len()));
        }
    }
    let is_whole = copied.rest == 0;
    if !is_whole && !copied.is_cut() {
        return None;
    }
    runs.order = match is_whole {
        true => Order::Whole,
        false => Order::Inner,
    };
    let all = runs.functions.len();
    match runs.ends.last_mut() {
        // The outermost function of a fiber may be one of C: it belongs to the functions that it calls.
        Some((_, end)) if is_whole => *end = all,
        Some((_, end)) => runs.is_cut = all > *end,
        // Those that C called, and no function of Ruby did.
        None if is_whole => runs.functions.clear(),
        None => runs.is_cut = all > 0,
    }
    Some(())
}

/// The function of a control frame. One that is made for a single call, as `eval` does, may be gone before its name is read.
fn function(known: &mut Known, kind: Frame, node: &Node) -> Function {
    if node.object == 0 {
        return Function::UNREAD;
    }
    let Looked::There(method) = known.method_of_owner(node.object, node.words) else {
        return Function::UNREAD;
    };
    method.function(match kind {
        Frame::Written => instruction(method.start, node.place),
        _ => None,
    })
}

/// The number of the word of instructions at which a function is: what comes next is told. None: it is none of the function's.
fn instruction(instructions: u64, next: u64) -> Option<u16> {
    let behind = next.checked_sub(instructions)? / WORD;
    u16::try_from(behind.saturating_sub(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_is_the_one_before_what_comes_next() {
        assert_eq!(instruction(100, 100), Some(0));
        assert_eq!(instruction(100, 108), Some(0));
        assert_eq!(instruction(100, 124), Some(2));
        assert_eq!(instruction(100, 92), None);
        assert_eq!(instruction(0, u64::MAX), None);
    }
}
