//! The other part of the interpreter's function, where the compiler has put most of the function away as code that seldom runs: so does gcc
//! in Debian's Python 3.14, in Alpine's, and in PHP. Symbols of such a part are not exported.

use std::ops::Range;

use crate::memory::Pages;

/// Jumps into the other part that are needed, and how near each other the places are to which they lead.
const LEAST_JUMPS: usize = 4;
const NEAR: u64 = 4 << 10;
/// Most bytes between both parts.
const FAR: u64 = 64 << 20;

/// `jmp`, and the two bytes of conditional jumps but for the condition; four bytes of a distance follow.
const JUMP: u8 = 0xe9;
const TWO_BYTES: u8 = 0x0f;
const CONDITIONAL: u8 = 0x80;

/// An address in the other part of this function; none: there is none, or it cannot be told.
pub fn part(memory: &Pages<'_>, function: &Range<u64>) -> Option<u64> {
    let length = function.end.checked_sub(function.start)?;
    let code = memory.bytes(function.start, length as usize).ok()?;
    jumped_to(&code, function)
}

/// The place outside that most jumps of this code lead to, or near to.
fn jumped_to(code: &[u8], function: &Range<u64>) -> Option<u64> {
    let mut places: Vec<u64> = (0..code.len())
        .filter_map(|at| {
            let distance = match code[at..] {
                [JUMP, a, b, c, d, ..] => (5, [a, b, c, d]),
                [TWO_BYTES, jump, a, b, c, d, ..] if jump & 0xf0 == CONDITIONAL => {
                    (6, [a, b, c, d])
                }
                _ => return None,
            };
            let (size, distance) = (distance.0, i32::from_le_bytes(distance.1));
            let behind = function.start.wrapping_add(at as u64 + size);
            Some(behind.wrapping_add_signed(distance.into()))
        })
        .filter(|place| !function.contains(place) && place.abs_diff(function.start) < FAR)
        .collect();
    places.sort_unstable();
    let near = |from: usize| places[from..].partition_point(|place| place - places[from] < NEAR);
    let (jumps, most) = (0..places.len()).map(|from| (near(from), from)).max()?;
    (jumps >= LEAST_JUMPS).then(|| places[most + jumps / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: Range<u64> = 0x50_0000..0x50_0400;

    /// A function with these jumps: where each is, and where it leads.
    fn code(jumps: &[(usize, u64)]) -> Vec<u8> {
        let mut code = vec![0x90; 0x400];
        for (at, place) in jumps {
            let behind = FUNCTION.start + *at as u64 + 6;
            let distance = place.wrapping_sub(behind) as u32;
            code[*at..at + 2].copy_from_slice(&[TWO_BYTES, 0x84]);
            code[at + 2..at + 6].copy_from_slice(&distance.to_le_bytes());
        }
        code
    }

    #[test]
    fn other_part_is_where_most_jumps_lead() {
        let part = [0x43_fb58, 0x43_fbb1, 0x43_fb84, 0x43_fd3e];
        let mut jumps: Vec<(usize, u64)> = (0..).map(|n| 0x10 * n).zip(part).collect();
        jumps.extend([(0x100, 0x60_0000), (0x110, 0x20_0000), (0x120, 0x50_0008)]);
        assert_eq!(jumped_to(&code(&jumps), &FUNCTION), Some(0x43_fbb1));
        // One of them less.
        assert_eq!(jumped_to(&code(&jumps[1..]), &FUNCTION), None);
    }

    #[test]
    fn jumps_within_and_far_away_and_cut_ones_lead_nowhere() {
        let within: Vec<(usize, u64)> = (0..9).map(|n| (8 * n, 0x50_0100)).collect();
        assert_eq!(jumped_to(&code(&within), &FUNCTION), None);
        let far: Vec<(usize, u64)> = (0..9).map(|n| (8 * n, 0x5000_0000)).collect();
        assert_eq!(jumped_to(&code(&far), &FUNCTION), None);
        assert_eq!(jumped_to(&[JUMP; 4], &FUNCTION), None);
        assert_eq!(jumped_to(&[], &FUNCTION), None);
        let last = u64::MAX - 0x400..u64::MAX;
        assert_eq!(jumped_to(&[JUMP; 64], &last), None);
    }
}
