//! Inputs that are nearly right: the same ones in each run.

/// Longest mutant, as `fuzz/run` has it for libFuzzer.
const LONGEST: usize = 16_384;
/// Most changes of one mutant.
const CHANGES: usize = 6;
/// Most bytes that one change takes, unless all behind a place are cut off.
const RANGE: usize = 64;
/// Numbers in text at which something may turn.
const DIGITS: [&[u8]; 6] = [
    b"0",
    b"-1",
    b"7fffffff",
    b"9223372036854775807",
    b"18446744073709551615",
    b"ffffffffffffffff",
];

/// Numbers without a pattern, by splitmix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below this one, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// `input` with a few changes; `other` is where parts of other inputs come from.
pub fn mutant(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + random.below(CHANGES) {
        change(&mut bytes, other, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let behind = (bytes.len() - at).min(1 + random.below(RANGE));
    match random.below(9) {
        0 if behind > 0 => bytes[at] ^= 1 << random.below(8),
        1 if behind > 0 => bytes[at] = random.next() as u8,
        2 | 3 => boundary(&mut bytes[at..], random),
        4 => bytes.truncate(at),
        5 => drop(bytes.drain(at..at + behind)),
        6 => {
            let again = bytes[at..at + behind].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, again);
        }
        7 => {
            let from = random.below(other.len() + 1);
            let (kept, taken) = match random.below(2) {
                // All that follows, or a part over as many bytes of the input.
                0 => (bytes.len() - at, other.len() - from),
                _ => (behind, behind.min(other.len() - from)),
            };
            bytes.splice(at..at + kept, other[from..from + taken].iter().copied());
        }
        _ => {
            let digits = bytes[at..].iter().take_while(|b| b.is_ascii_hexdigit());
            let end = at + digits.count();
            bytes.splice(at..end, DIGITS[random.below(DIGITS.len())].iter().copied());
        }
    }
}

/// The number at the start becomes one at which something may turn: the first or last ones of its width, a power of two, or one nearby.
fn boundary(bytes: &mut [u8], random: &mut Random) {
    let width = [1, 2, 4, 8][random.below(4)];
    let Some(place) = bytes.get_mut(..width) else {
        return;
    };
    let mut word = [0; 8];
    word[..width].copy_from_slice(place);
    let near = (random.below(5) as u64).wrapping_sub(2);
    let number = match random.below(3) {
        0 => 0,
        1 => 1_u64 << random.below(8 * width),
        _ => u64::from_le_bytes(word),
    };
    place.copy_from_slice(&number.wrapping_add(near).to_le_bytes()[..width]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutants(seed: u64) -> Vec<Vec<u8>> {
        let mut random = Random(seed);
        let input: Vec<u8> = (0..200).collect();
        (0..1_000)
            .map(|_| mutant(&input, b"other input 77", &mut random))
            .collect()
    }

    #[test]
    fn mutants_of_a_seed_are_the_same_and_of_another_are_not() {
        assert_eq!(mutants(7), mutants(7));
        assert_ne!(mutants(7), mutants(8));
    }

    #[test]
    fn mutants_are_longer_shorter_and_as_long_but_rarely_the_input() {
        let mutants = mutants(7);
        let is = |what: fn(&[u8]) -> bool| mutants.iter().filter(|bytes| what(bytes)).count();
        assert!(is(|bytes| bytes.len() > 200) > 100);
        assert!(is(|bytes| bytes.len() < 200) > 100);
        assert!(is(|bytes| bytes.len() == 200) > 100);
        assert!(is(|bytes| bytes.iter().copied().eq(0..200)) < 100);
    }

    #[test]
    fn mutant_of_nothing_and_of_much_is_bounded() {
        let mut random = Random(7);
        for input in [vec![], vec![1; 2 * LONGEST]] {
            for _ in 0..1_000 {
                assert!(mutant(&input, &input, &mut random).len() <= LONGEST);
            }
        }
    }
}
