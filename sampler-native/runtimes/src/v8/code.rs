//! Code that V8 made.

use super::{
    function::{name, shared_of, type_of, word},
    is_object,
    layout::Layout,
};
use crate::{Code, Kind, memory::Pages};

/// Instructions begin at multiples of these bytes.
const ALIGNMENT: u64 = 64;
/// `push %rbp; mov %rsp,%rbp`, with which a frame is made.
const MADE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
/// Bytes of `mov $n,%ebx; mov $n,%r12; call n`, with which a frame is made by a call.
const MADE_BY_CALL: usize = 20;
/// Most bytes before that.
const MOST_BEFORE: usize = 128;
/// `mov %rbp,%rsp; pop %rbp`: from there to the return the frame is gone but for its return address.
const GONE: [u8; 4] = [0x48, 0x8b, 0xe5, 0x5d];
/// `push %r10; ret`: the second of two returns, after as many arguments as there were have been dropped.
const DROPPED: [u8; 3] = [0x41, 0x52, 0xc3];
/// Returns, with and without a number of bytes that are dropped; and most bytes before one.
const RETURNS: [u8; 2] = [0xc3, 0xc2];
const MOST_TO_RETURN: usize = 48;
/// Most returns of a function that are kept.
const MOST_EXITS: usize = 256;

/// Most bytes of instructions of a function.
const MOST_SIZE: u64 = 256 << 10;

/// The code at an address; of code that was compiled bytecode by bytecode there is no name: the frame has the bytecode.
pub fn read(layout: &Layout, memory: &Pages<'_>, pc: u64) -> Option<Code> {
    let mut begin = pc & !(ALIGNMENT - 1);
    let (code, size) = loop {
        if pc - begin >= MOST_SIZE || begin < ALIGNMENT {
            return None;
        }
        // Only where the header is one.
        if let Some(found) = code_at(layout, memory, begin) {
            break found;
        }
        begin -= ALIGNMENT;
    };
    let end = begin.checked_add(size).filter(|end| pc < *end)?;
    let origin = word(memory, code, layout.origin.into()).ok()?;
    let is_bytecode = type_of(memory, origin).ok()? == layout.bytecode;
    let (number, names) = match is_bytecode {
        true => (origin, Vec::new()),
        false => {
            let shared = shared_of(layout, memory, origin).ok()?;
            (shared, vec![name(layout, memory, shared).ok()?])
        }
    };
    let instructions = memory.bytes(begin, size as usize).ok()?;
    let (pushed, made, exits) = match is_bytecode {
        true => {
            let made = made_by_call(&instructions);
            (made, made, Vec::new())
        }
        false => frame_of(&instructions),
    };
    Some(Code {
        begin,
        end,
        kind: Kind::Compiled,
        number,
        frame: 0,
        complete: 0,
        pushed,
        made,
        exits: exits.into(),
        deopt: 0,
        deopt_slot: 0,
        stops: Box::default(),
        stop_scopes: Box::default(),
        scopes: Box::default(),
        leaves: Box::default(),
        names: names.into(),
    })
}

/// Behind the pushing of the frame pointer and the making of the frame (0: that was not found), and from where to where the frame is gone.
fn frame_of(code: &[u8]) -> (u32, u32, Vec<(u32, u32)>) {
    let begin = &code[..code.len().min(MOST_BEFORE)];
    let made = begin.windows(MADE.len()).position(|bytes| bytes == MADE);
    let (pushed, made) = made.map_or((0, 0), |at| (at + 1, at + MADE.len()));
    let gone = code.windows(GONE.len()).enumerate();
    let gone = gone.filter(|(_, bytes)| *bytes == GONE);
    let exits = gone.map(|(at, _)| {
        let from = at + GONE.len();
        let rest = &code[from..code.len().min(from + MOST_TO_RETURN)];
        (from as u32, (from + to_return(rest)) as u32)
    });
    (pushed as u32, made as u32, exits.take(MOST_EXITS).collect())
}

/// The bytes up to the last return of those that follow one another.
fn to_return(code: &[u8]) -> usize {
    let first = code.iter().position(|byte| RETURNS.contains(byte));
    let dropped = code
        .windows(DROPPED.len())
        .position(|bytes| bytes == DROPPED);
    let last = dropped
        .map(|at| at + DROPPED.len())
        .or(first.map(|at| at + 1));
    last.unwrap_or(code.len())
}

/// Behind the making of the frame of code that was compiled bytecode by bytecode: a call does that, and a jump to other code unmakes the
/// frame. 0: that was not found.
fn made_by_call(code: &[u8]) -> u32 {
    let begin = &code[..code.len().min(MOST_BEFORE)];
    let is_call =
        |bytes: &[u8]| bytes[0] == 0xbb && bytes[5..7] == [0x49, 0xbc] && bytes[15] == 0xe8;
    let call = begin.windows(MADE_BY_CALL).position(is_call);
    call.map_or(0, |at| (at + MADE_BY_CALL) as u32)
}

/// The code whose instructions begin here, and their bytes.
fn code_at(layout: &Layout, memory: &Pages<'_>, begin: u64) -> Option<(u64, u64)> {
    let header = begin.checked_sub(layout.header.into())? + 1;
    let map = word(memory, header, 0).ok()?;
    if !is_object(map) {
        return None;
    }
    let code = match layout.start {
        None => header,
        Some(_) => word(memory, header, 8).ok().filter(|it| is_object(*it))?,
    };
    if type_of(memory, header).ok()? != layout.instructions {
        return None;
    }
    if let Some(start) = layout.start
        && (type_of(memory, code).ok()? != layout.code
            || word(memory, code, start.into()).ok()? != begin)
    {
        return None;
    }
    let size = u64::from(word(memory, code, layout.size.into()).ok()? as u32);
    (size <= MOST_SIZE).then_some((code, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_of_code_is_made_behind_its_prologue_and_gone_before_each_return() {
        let code = [
            &[0x90; 17][..],
            &MADE,
            &[0x56, 0x57, 0x50, 0x90],
            &GONE,
            &[0x48, 0x83, 0xf9, 2, 0x7f, 3, 0xc2, 0x10, 0],
            &[0x41, 0x5a, 0x48, 0x8d, 0x24, 0xcc, 0x41, 0x52, 0xc3],
            &[0x90; 40],
            &GONE,
            &[0xc2, 8, 0],
        ]
        .concat();
        assert_eq!(frame_of(&code), (18, 21, vec![(29, 47), (91, 92)]));
        assert_eq!(frame_of(&[0x90; 3]), (0, 0, vec![]));
        assert_eq!(frame_of(&GONE), (0, 0, vec![(4, 4)]));
    }

    #[test]
    fn made_by_call_is_behind_the_call_that_makes_the_frame() {
        let call = [
            0xbb, 0x88, 0, 0, 0, 0x49, 0xbc, 1, 2, 3, 4, 5, 6, 7, 8, 0xe8, 1, 2, 3, 4,
        ];
        assert_eq!(made_by_call(&call), 20);
        assert_eq!(made_by_call(&[&[0x90; 9][..], &call].concat()), 29);
        assert_eq!(made_by_call(&call[..19]), 0);
        assert_eq!(made_by_call(&[]), 0);
    }
}
