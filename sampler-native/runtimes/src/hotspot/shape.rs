//! A method's instructions tell where its frame is made and where its frame is gone.

/// Bytes of instructions that may stand between the pushing of the frame pointer and the making of the rest of the frame.
const BETWEEN: usize = 8;
/// Most returns of a method that are kept.
const MAX_EXITS: usize = 256;

/// The frame of a method, by its instructions. Offsets from the first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Behind the pushing of the frame pointer; 0: it is stored later.
    pub pushed: u32,
    /// Behind the making of the frame; 0: that was not found.
    pub made: u32,
    /// From where to where a frame is gone but for its return address.
    pub exits: Vec<(u32, u32)>,
}

impl Shape {
    /// The shape of code with this entry; the frame is complete from the given offset on.
    pub fn of(code: &[u8], entry: u32, complete: u32) -> Shape {
        let mut shape = Shape {
            exits: exits(code),
            ..Shape::default()
        };
        let end = (complete as usize).min(code.len());
        for at in (entry as usize).min(end)..end {
            if code[at] == 0x55
                && let Some(made) =
                    (at + 1..at + 1 + BETWEEN).find_map(|from| frame_made(code, from))
            {
                (shape.pushed, shape.made) = (at as u32 + 1, made as u32);
                return shape;
            }
        }
        let first = (entry as usize..end).find_map(|from| frame_made(code, from));
        shape.made = first.unwrap_or(0) as u32;
        shape
    }
}

/// Behind `sub $n,%rsp`, if that is there.
fn frame_made(code: &[u8], at: usize) -> Option<usize> {
    match code.get(at..)? {
        [0x48, 0x83, 0xec, _, ..] => Some(at + 4),
        [0x48, 0x81, 0xec, _, _, _, _, ..] => Some(at + 7),
        _ => None,
    }
}

/// Each `pop %rbp` that a return follows, maybe behind a safepoint's poll.
fn exits(code: &[u8]) -> Vec<(u32, u32)> {
    let pops = code.iter().enumerate().filter(|(_, byte)| **byte == 0x5d);
    let exits = pops.filter_map(|(at, _)| {
        let length = returns(code.get(at + 1..)?)?;
        Some((at as u32 + 1, (at + 1 + length) as u32))
    });
    exits.take(MAX_EXITS).collect()
}

/// The length of a return with the poll before it.
fn returns(code: &[u8]) -> Option<usize> {
    let poll = match code {
        // cmp disp(%r15),%rsp; ja: JDK 17 and later.
        [0x49, 0x3b, 0x67, _, 0x0f, 0x87, ..] => 10,
        [0x49, 0x3b, 0xa7, _, _, _, _, 0x0f, 0x87, ..] => 13,
        // mov disp(%r15),%r10; test %eax,(%r10): JDK 10 to 15.
        [0x4d, 0x8b, 0x57, _, 0x41, 0x85, 0x02, ..] => 7,
        [0x4d, 0x8b, 0x97, _, _, _, _, 0x41, 0x85, 0x02, ..] => 10,
        // test %eax,disp(%rip): JDK 8.
        [0x85, 0x05, ..] => 6,
        _ => 0,
    };
    (code.get(poll) == Some(&0xc3)).then_some(poll + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_code_with_a_pushed_frame_pointer_has_both_places_and_its_exits() {
        let mut code = vec![0x90; 16];
        code.extend([
            0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20,
        ]);
        code.extend([0x90; 4]);
        code.extend([0x48, 0x83, 0xc4, 0x20, 0x5d]);
        let exit = code.len() as u32;
        code.extend([
            0x49, 0x3b, 0xa7, 0x48, 3, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3, 0x90,
        ]);
        let shape = Shape::of(&code, 16, 28);
        let expected = Shape {
            pushed: 24,
            made: 28,
            exits: vec![(exit, exit + 14)],
        };
        assert_eq!(shape, expected);
    }

    #[test]
    fn of_code_that_stores_its_frame_pointer_has_the_place_where_the_frame_is_made() {
        let code = [
            0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x5d, 0xc3,
        ];
        let shape = Shape::of(&code, 0, 12);
        assert_eq!((shape.pushed, shape.made), (0, 7));
        assert_eq!(shape.exits, [(13, 14)]);
    }

    #[test]
    fn of_any_bytes_stays_within_them() {
        for length in 0..64 {
            let code = vec![0x55; length];
            Shape::of(&code, 60, u32::MAX);
            Shape::of(&vec![0x5d; length], u32::MAX, 1);
        }
    }
}
