//! Frames of PHP's functions, and the calls of its virtual machine that run them.

use super::layout::{Frame, Layout};
use crate::{Function, Interpreted, Known, Order, Runs, chain::Copied, known::Looked};

/// The functions of a stack. None: they do not add up, or none of them could be read.
///
/// A function that is written in C belongs to the run that called it, so that what the function itself calls stands within it.
pub fn runs(
    layout: &Layout,
    known: &mut Known,
    interpreted: &Interpreted<'_>,
    runs: &mut Runs,
) -> Option<()> {
    let copied = Copied::of(interpreted.copied);
    let is_it = known.is_of_thread(interpreted.thread, copied.as_ref());
    let copied = copied.filter(|_| is_it)?;
    let mut is_whole = copied.rest == 0;
    for node in copied.nodes() {
        // Such a frame says only that C calls from here.
        if node.object == 0 {
            continue;
        }
        let (function, is_native) = match known.method_by(node.object, node.words) {
            Looked::There(method) if method.is_native && node.words[0] == 0 => {
                // The first function of a fiber; the frames of whoever resumed the fiber are on another stack.
                is_whole = true;
                break;
            }
            Looked::There(method) => {
                let instruction = layout.instruction(method.end, node.place);
                (method.function(instruction), method.is_native)
            }
            // Code of a request or of `eval`, which may be gone before its name is read; functions of C never are.
            Looked::Nothing | Looked::Lacking => (Function::UNREAD, false),
        };
        runs.functions.push(function);
        if !is_native && layout.frame(node.flags) == Frame::Outermost {
            runs.ends.push((0, runs.functions.len()));
        }
    }
    if !runs.is_read() || !is_whole && !copied.is_cut() {
        return None;
    }
    runs.order = match is_whole {
        true => Order::Whole,
        false => Order::Inner,
    };
    let end = runs.ends.last().map_or(0, |(_, end)| *end);
    if is_whole {
        // Those that C called, and no function of PHP did.
        runs.functions.truncate(end);
    } else {
        runs.is_cut = runs.functions.len() > end;
    }
    Some(())
}
