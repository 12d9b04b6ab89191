//! The function that runs at a place for which the JVM tells none, where compiled code goes other ways than it lies.
//!
//! The JVM tells the functions of places at which a frame may stop, and of no others. Code between two of these places is taken for that
//! of the next one. Where a jump comes first, the next place may be on another way: then the places that the code comes to first decide.
//! The weight of a way is halved at each jump that has two, and a function has to have more than half of all weight. A loop may have no place
//! in it: C2 leaves the place of a counted loop out, unless the collector wants to stop there. Ways out of a loop soon leave its function,
//! so that the nearest place decides there, as far as half of all weight is with it.

use std::{cmp::Reverse, collections::BTreeSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl};

use crate::{OUTERMOST, Scope, UNKNOWN};

/// Most bytes of code whose ways are followed.
const MAX_CODE: usize = 128 << 10;
/// Most blocks that are looked at from one place, and most places that are asked.
const MAX_BLOCKS: usize = 32;
const MAX_VOICES: usize = 16;
/// The weight of all ways together.
const WHOLE: u32 = 1 << 24;
/// Most functions in one another that are compared.
const MAX_DEPTH: usize = 64;
/// Most work on the code of one method: blocks, and functions compared.
const MAX_WORK: usize = 1 << 20;

/// How a block may end but by coming to other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    None,
    /// A jump to somewhere comes next, by a table.
    Choice,
    Return,
}

/// Instructions that are run one after the other.
#[derive(Debug, Default)]
struct Block {
    begin: u32,
    end: u32,
    /// Blocks that come next.
    next: [Option<u32>; 2],
    end_of: End,
}

impl Block {
    /// The blocks that come next, and the weight of each.
    fn ways(&self, weight: u32) -> impl Iterator<Item = (Reverse<u32>, u32)> {
        let weight = weight >> u32::from(self.next.iter().flatten().count() == 2);
        let next = self.next.into_iter().flatten();
        next.map(move |next| (Reverse(weight), next))
    }
}

/// From where to where which scope runs that is not the next place's. `stops`: offsets of places and their scopes, in their order.
pub fn runs(code: &[u8], stops: &[(u32, u16)], scopes: &[Scope]) -> Vec<(u32, u32, u16)> {
    let known: Vec<(u32, u16)> = stops
        .iter()
        .copied()
        .filter(|(_, scope)| *scope != UNKNOWN)
        .collect();
    let outermost = scopes.iter().position(|scope| scope.sender == OUTERMOST);
    let places = Places {
        outermost: outermost.unwrap_or_default() as u16,
        known: &known,
    };
    // Nothing is inlined: there is one function.
    let first = known
        .first()
        .and_then(|(_, scope)| scopes.get(usize::from(*scope)));
    let is_one = |scope: &Scope| Some(scope.name) == first.map(|first| first.name);
    if code.len() > MAX_CODE || scopes.iter().all(is_one) {
        return Vec::new();
    }
    let blocks = blocks(code);
    let (mut runs, mut work) = (Vec::new(), 0);
    for (at, block) in (0..).zip(&blocks) {
        let behind = known.partition_point(|(offset, _)| *offset <= block.end);
        let Some((_, plain)) = known.get(behind).copied() else {
            break;
        };
        let last = behind.checked_sub(1).and_then(|last| known.get(last));
        let last = last.filter(|(offset, _)| *offset >= block.begin);
        let from = last.map_or(block.begin, |(offset, _)| offset + 1);
        if from >= block.end {
            continue;
        }
        let ahead = Ahead::of(&blocks, at, &places, &mut work);
        let is_loop = ahead.comes_to(at);
        let mut voices = ahead.voices;
        if is_loop {
            let is_within = |voice: &&Voice| {
                let ahead = Ahead::of(&blocks, voice.block, &places, &mut work);
                ahead.comes_to(at)
            };
            let within: Vec<Voice> = voices.iter().filter(is_within).copied().collect();
            if !within.is_empty() {
                voices = within;
            }
        }
        // Code that follows a place and then returns belongs to the function of that place for most of its length.
        let returns = |voice: &Voice| blocks[voice.block as usize].end_of == End::Return;
        if voices.is_empty() || last.is_some() && voices.iter().all(returns) {
            voices.clear();
            voices.extend(last.map(|(_, scope)| Voice {
                block: at,
                scope: *scope,
                weight: WHOLE,
            }));
        }
        if work > MAX_WORK {
            break;
        }
        if voices.iter().any(|voice| voice.scope != plain)
            && let Some(scope) = elected(&voices, is_loop, plain, scopes, &mut work)
            && scope != plain
        {
            runs.push((from, block.end, scope));
        }
    }
    runs
}

/// The blocks of code, in their order.
fn blocks(code: &[u8]) -> Vec<Block> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    // Ends of blocks, and where these may jump to; whether the next instruction may run behind.
    let mut ends: Vec<(u32, Option<u32>, bool, End)> = Vec::new();
    let mut begins = vec![0];
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let target = u32::try_from(instruction.near_branch_target()).ok();
        let target = target.filter(|target| (*target as usize) < code.len());
        let end = match instruction.flow_control() {
            FlowControl::ConditionalBranch => (target, true, End::None),
            FlowControl::UnconditionalBranch => (target, false, End::None),
            FlowControl::IndirectBranch => (None, false, End::Choice),
            FlowControl::Return => (None, false, End::Return),
            FlowControl::Interrupt => (None, false, End::None),
            _ => continue,
        };
        let behind = instruction.next_ip() as u32;
        ends.push((behind, end.0, end.1, end.2));
        begins.extend(end.0);
        begins.push(behind);
    }
    begins.sort_unstable();
    begins.dedup();
    let place = |begin: u32| begins.binary_search(&begin).ok().map(|at| at as u32);
    let behind = begins.iter().skip(1).copied().chain([code.len() as u32]);
    let blocks = begins.iter().copied().zip(behind);
    let block = |(begin, end): (u32, u32)| {
        let jump = ends.binary_search_by_key(&end, |(end, ..)| *end).ok();
        let (next, end_of) = match jump.map(|jump| ends[jump]) {
            Some((_, target, goes_on, end_of)) => {
                let behind = Some(end).filter(|_| goes_on);
                ([target.and_then(place), behind.and_then(place)], end_of)
            }
            None => ([place(end), None], End::None),
        };
        Block {
            begin,
            end,
            next,
            end_of,
        }
    };
    blocks
        .filter(|(begin, end)| begin < end)
        .map(block)
        .collect()
}

/// A place to which code comes.
#[derive(Clone, Copy, Debug)]
struct Voice {
    block: u32,
    scope: u16,
    weight: u32,
}

struct Places<'a> {
    /// Offsets, and scopes.
    known: &'a [(u32, u16)],
    /// The scope of the function that was compiled.
    outermost: u16,
}

impl Places<'_> {
    /// The first place in a block.
    fn first_in(&self, block: &Block) -> Option<u16> {
        let at = self
            .known
            .partition_point(|(offset, _)| *offset <= block.begin);
        let first = self.known.get(at);
        first
            .filter(|(offset, _)| *offset <= block.end)
            .map(|(_, scope)| *scope)
    }

    /// The last place before the end of a block.
    fn before(&self, block: &Block) -> u16 {
        let behind = self
            .known
            .partition_point(|(offset, _)| *offset <= block.end);
        let last = behind.checked_sub(1).and_then(|at| self.known.get(at));
        last.map_or(self.outermost, |(_, scope)| *scope)
    }
}

/// Where code comes to behind a block, up to the first place on each way.
#[derive(Debug, Default)]
struct Ahead {
    /// Blocks without a place, by number.
    passed: Vec<u32>,
    voices: Vec<Voice>,
}

impl Ahead {
    fn of(blocks: &[Block], from: u32, places: &Places<'_>, work: &mut usize) -> Self {
        let mut ahead = Self::default();
        let Some(first) = blocks.get(from as usize) else {
            return ahead;
        };
        ahead.leave(from, first, WHOLE, places);
        // The places behind the fewest jumps come first.
        let mut ways: BTreeSet<(Reverse<u32>, u32)> = first.ways(WHOLE).collect();
        while let Some((Reverse(weight), way)) = ways.pop_first() {
            *work += 1;
            let Some(block) = blocks.get(way as usize) else {
                continue;
            };
            if ahead.passed.len() >= MAX_BLOCKS || ahead.voices.len() >= MAX_VOICES {
                break;
            }
            if let Some(scope) = places.first_in(block) {
                ahead.voices.push(Voice {
                    block: way,
                    scope,
                    weight,
                });
            } else if !ahead.passed.contains(&way) {
                ahead.passed.push(way);
                ahead.leave(way, block, weight, places);
                ways.extend(block.ways(weight));
            }
        }
        ahead
    }

    /// Takes what the end of a block without a place says.
    fn leave(&mut self, at: u32, block: &Block, weight: u32, places: &Places<'_>) {
        let (scope, weight) = match block.end_of {
            End::None => return,
            // Targets of a jump table are not read: the place before the table stands for all of these, and counts twice.
            End::Choice => (places.before(block), 2 * weight),
            End::Return => (places.outermost, weight),
        };
        self.voices.push(Voice {
            block: at,
            scope,
            weight,
        });
    }

    fn comes_to(&self, block: u32) -> bool {
        self.passed.contains(&block) || self.voices.iter().any(|voice| voice.block == block)
    }
}

/// The innermost function that enough weight is in, as a scope.
fn elected(
    voices: &[Voice],
    is_loop: bool,
    plain: u16,
    scopes: &[Scope],
    work: &mut usize,
) -> Option<u16> {
    let all: u32 = voices.iter().map(|voice| voice.weight).sum();
    let chains: Vec<(Vec<u16>, u32)> = voices
        .iter()
        .map(|voice| (chain(voice.scope, scopes), voice.weight))
        .collect();
    let name = |scope: &u16| scopes.get(usize::from(*scope)).map(|scope| scope.name);
    let mut best: Option<(usize, bool, u16)> = None;
    let heard = if is_loop { 1 } else { chains.len() };
    for (chain, _) in chains.iter().take(heard) {
        for depth in (1..=chain.len()).rev() {
            let agrees = |(other, _): &&(Vec<u16>, u32)| {
                let other = other.get(..depth).unwrap_or_default();
                other.len() == depth && other.iter().map(name).eq(chain[..depth].iter().map(name))
            };
            *work += depth * chains.len();
            let weight: u32 = chains.iter().filter(agrees).map(|(_, weight)| weight).sum();
            if weight > all / 2 || is_loop && weight == all / 2 {
                let candidate = (depth, chain[depth - 1] == plain, chain[depth - 1]);
                best = best.max(Some(candidate));
                break;
            }
        }
    }
    best.map(|(.., scope)| scope)
}

/// A scope and those around it, the outermost first.
fn chain(scope: u16, scopes: &[Scope]) -> Vec<u16> {
    let mut chain = Vec::new();
    let mut next = scope;
    while let Some(scope) = scopes.get(usize::from(next))
        && chain.len() < MAX_DEPTH
    {
        chain.push(next);
        next = scope.sender;
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `outer`, and four functions that are inlined in `outer`.
    fn scopes() -> Vec<Scope> {
        let scope = |name, sender| Scope {
            name,
            sender,
            line: 1,
        };
        let inlined = (1..5).map(|name| scope(name, 0));
        [scope(0, OUTERMOST)].into_iter().chain(inlined).collect()
    }

    #[test]
    fn runs_of_code_before_a_choice_of_functions_is_in_none_of_these() {
        // cmp $0,%esi; je 12; cmp $1,%esi; je 17; call (ends at 15) …
        let mut code = vec![0x83, 0xfe, 0, 0x74, 10, 0x83, 0xfe, 1, 0x74, 10];
        code.extend([0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc3]);
        code[4] = 15 - 5;
        code[9] = 20 - 10;
        let stops = [(15, 1), (20, 2), (25, 3), (26, 0)];
        assert_eq!(runs(&code, &stops, &scopes()), [(0, 5, 0), (5, 10, 0)]);
    }

    #[test]
    fn runs_of_code_that_jumps_is_in_the_function_to_which_it_jumps() {
        // nop; jmp 8; call (ends at 8); nop; call (ends at 14); ret
        let code = [
            0x90, 0xeb, 5, 0xe8, 0, 0, 0, 0, 0x90, 0xe8, 0, 0, 0, 0, 0xc3,
        ];
        let stops = [(8, 1), (14, 2)];
        assert_eq!(runs(&code, &stops, &scopes()), [(0, 3, 2)]);
    }

    #[test]
    fn runs_of_code_before_a_table_of_functions_is_in_the_one_before() {
        // call (ends at 5); cmp $9,%esi; ja 12; jmp *(%r10); nop; call (ends at 18)
        let mut code = vec![0xe8, 0, 0, 0, 0, 0x83, 0xfe, 9, 0x77, 3, 0x41, 0xff, 0x22];
        code.extend([0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0]);
        let stops = [(5, 0), (18, 1), (23, 2)];
        assert_eq!(runs(&code, &stops, &scopes()), [(6, 10, 0), (10, 13, 0)]);
    }

    #[test]
    fn runs_of_a_loop_is_in_the_function_whose_place_it_passes() {
        // nop; jne 8; call (ends at 8), of the inlined function; jmp 0
        let code = [0x90, 0x75, 5, 0xe8, 0, 0, 0, 0, 0xeb, 0xf6, 0xc3];
        let stops = [(8, 1), (11, 0)];
        assert_eq!(runs(&code, &stops, &scopes()), [(9, 10, 1)]);
    }

    #[test]
    fn runs_of_a_loop_without_a_place_is_in_the_function_of_the_nearest_place() {
        // nop; jne 0; jne 12; jne 7; call (ends at 12), of an inlined function; call (ends at 17), of the outer one; ret
        let mut code = vec![0x90, 0x75, 0xfd, 0x75, 7, 0x75, 0];
        code.extend([0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc3]);
        let stops = [(12, 1), (17, 0)];
        assert_eq!(runs(&code, &stops, &scopes()), [(0, 3, 0), (3, 5, 0)]);
    }

    #[test]
    fn runs_of_a_loop_with_a_place_on_one_of_its_ways_is_in_the_function_of_that_place() {
        // nop; jne 10; call (ends at 8), of an inlined function; jmp 0; nop; jne 0; call (ends at 18), of another one; ret
        let code = [
            0x90, 0x75, 7, 0xe8, 0, 0, 0, 0, 0xeb, 0xf6, 0x90, 0x75, 0xf3, 0xe8, 0, 0, 0, 0, 0xc3,
        ];
        let stops = [(8, 1), (18, 2)];
        assert_eq!(runs(&code, &stops, &scopes()), [(9, 10, 1), (10, 13, 1)]);
    }

    #[test]
    fn runs_of_code_that_returns_is_in_the_outermost_function() {
        // jne 8; call (ends at 7), of an inlined function; nop; add $8,%rsp; pop %rbp; ret
        let code = [
            0x75, 6, 0xe8, 0, 0, 0, 0, 0x90, 0x48, 0x83, 0xc4, 8, 0x5d, 0xc3, 0xe8, 0, 0, 0, 0,
        ];
        let stops = [(7, 1), (19, 2)];
        assert_eq!(runs(&code, &stops, &scopes()), [(0, 2, 0), (8, 14, 0)]);
    }

    #[test]
    fn runs_of_any_bytes_and_scopes_end() {
        let scopes: Vec<Scope> = (0..500)
            .map(|at| Scope {
                name: at % 7,
                sender: if at == 0 { OUTERMOST } else { at - 1 },
                line: 0,
            })
            .collect();
        for step in 1..40_u32 {
            let code: Vec<u8> = (0..8000_u32).map(|at| ((at * step) >> 3) as u8).collect();
            let stops: Vec<(u32, u16)> = (0..900).map(|at| (at * 9, (at % 600) as u16)).collect();
            for (from, to, scope) in runs(&code, &stops, &scopes) {
                assert!(from < to && to <= 8000 && usize::from(scope) < scopes.len());
            }
        }
        let jumps = [0x75, 0xfe].repeat(MAX_CODE / 2);
        assert!(runs(&jumps, &[(MAX_CODE as u32, 1), (u32::MAX, 2)], &scopes).len() <= 1 << 17);
    }
}
