//! Walks of this very thread, whose chain of calls is known: on each architecture, also where qemu runs the program of another one.

use std::{arch::asm, fs, hint::black_box, ops::Range, sync::Arc};

use flametop_unwind::{
    End, Frame, Input, MapHistory, Modules, NewMapping, Outcome, Piece, Prober, ProcessFolder,
    ProcessMaps, RuntimeKnown, Unwinder, WantedMapping,
    registers::{PC, REGISTERS, SP},
};

/// Bytes of the stack that are copied.
const STACK: u64 = 16 << 10;
/// Longer than each function here.
const FUNCTION: u64 = 4096;
const CHAINS: usize = 200;

/// A walk of the thread.
struct Found {
    /// The addresses of the frames, the innermost first; 0: that of no code.
    addresses: Vec<u64>,
    frames: Vec<Frame>,
    outcome: Outcome,
}

/// The registers of the place that this is used at.
macro_rules! registers {
    () => {{
        let mut registers = [0_u64; REGISTERS];
        let to = registers.as_mut_ptr();
        // SAFETY: the places are within the array.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov [{to} + 24], rbx", "mov [{to} + 48], rbp", "mov [{to} + 56], rsp",
                "mov [{to} + 96], r12", "mov [{to} + 104], r13", "mov [{to} + 112], r14",
                "mov [{to} + 120], r15", "lea {pc}, [rip]", "mov [{to} + 128], {pc}",
                to = in(reg) to, pc = out(reg) _,
            );
        }
        // SAFETY: the places are within the array.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                "stp x19, x20, [{to}, 152]", "stp x21, x22, [{to}, 168]",
                "stp x23, x24, [{to}, 184]", "stp x25, x26, [{to}, 200]",
                "stp x27, x28, [{to}, 216]", "stp x29, x30, [{to}, 232]",
                "mov {other}, sp", "str {other}, [{to}, 248]",
                "adr {other}, .", "str {other}, [{to}, 256]",
                to = in(reg) to, other = out(reg) _,
            );
        }
        registers
    }};
}

/// Lines of the mappings of this process, as it is told of them itself.
fn lines() -> Vec<(Range<u64>, Vec<String>)> {
    let text = fs::read_to_string("/proc/self/maps").expect("own mappings");
    let line = |line: &str| {
        let mut words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        let range = words.remove(0);
        let (start, end) = range.split_once('-').expect("a range");
        let number = |text| u64::from_str_radix(text, 16).expect("an address");
        (number(start)..number(end), words)
    };
    text.lines().map(line).collect()
}

/// The executable ones, with their files.
fn mappings(modules: &mut Modules) -> Arc<ProcessMaps> {
    let own = std::process::id();
    let lines = lines();
    let code = lines.iter().filter(|(_, words)| words[0].contains('x'));
    let new: Vec<NewMapping<'_>> = code
        .map(|(range, words)| {
            let hex = |text: &str| u64::from_str_radix(text, 16).expect("a number");
            let (major, minor) = words[2].split_once(':').expect("a device");
            NewMapping {
                start: range.start,
                end: range.end,
                offset: hex(&words[1]),
                device: (hex(major) as u32, hex(minor) as u32),
                inode: words[3].parse().expect("an inode"),
                generation: 0,
                path: words.get(4).map_or(b"//anon", |path| path.as_bytes()),
            }
        })
        .collect();
    let wanted: Vec<WantedMapping> = new.iter().map(WantedMapping::of).collect();
    let process = ProcessFolder::open(own).expect("own folder");
    let seen = Prober::default().mappings(&process, &wanted, RuntimeKnown::default());
    let mut history = MapHistory::new(own, 0, Arc::new(ProcessMaps::empty(own)));
    let told = new.into_iter().zip(seen).map(|(new, seen)| (1, new, seen));
    history.map(told, modules);
    Arc::clone(history.last().1)
}

/// Walks from these registers, which are of a frame that is there still.
fn walk(regs: &[u64; REGISTERS]) -> Found {
    let mut modules = Modules::new(16 << 20);
    let maps = mappings(&mut modules);
    let sp = regs[SP];
    let mapping = lines().into_iter().map(|(range, _)| range);
    let mapping = mapping.into_iter().find(|range| range.contains(&sp));
    let mapping = mapping.expect("the stack");
    let size = STACK.min(mapping.end - sp) as usize;
    // SAFETY: these bytes are within the mapping of the stack, and above all that this function changes.
    let bytes = unsafe { std::slice::from_raw_parts(sp as *const u8, size) }.to_vec();
    let pieces = [Piece {
        address: sp,
        bytes: &bytes,
    }];
    let input = Input {
        regs,
        mapping,
        pieces: &pieces,
    };
    let mut frames = Vec::new();
    let outcome = Unwinder::new().walk(&maps, &mut modules, &input, &mut frames);
    let address = |frame: &Frame| maps.address(frame.module, frame.offset).unwrap_or(0);
    Found {
        addresses: frames.iter().map(address).collect(),
        frames,
        outcome,
    }
}

#[inline(never)]
fn here() -> Found {
    let registers = registers!();
    assert!(registers[PC] != 0 && registers[SP] != 0);
    black_box(walk(&registers))
}

#[inline(always)]
fn next(rest: &[usize]) -> Found {
    match rest {
        [] => here(),
        [first, rest @ ..] => LINKS[*first](black_box(rest)),
    }
}

/// Has nothing of its own.
#[inline(never)]
fn bare(rest: &[usize]) -> Found {
    black_box(next(rest))
}

/// Has a large frame.
#[inline(never)]
fn large(rest: &[usize]) -> Found {
    let room = black_box([7_u8; 5000]);
    let found = next(rest);
    black_box(&room);
    found
}

/// Keeps registers of floating point over its call.
#[inline(never)]
fn floating(rest: &[usize]) -> Found {
    let (a, b) = (black_box(1.5_f64), black_box(2.5_f64));
    let found = next(rest);
    black_box(a * b);
    found
}

/// Keeps many registers over its call.
#[inline(never)]
fn keeping(rest: &[usize]) -> Found {
    let kept: [u64; 8] = std::array::from_fn(|at| black_box(at as u64));
    let [a, b, c, d, e, f, g, h] = kept;
    let found = next(rest);
    black_box(a ^ b);
    black_box(c ^ d);
    black_box(e ^ f);
    black_box(g ^ h);
    found
}

const LINKS: [fn(&[usize]) -> Found; 4] = [bare, large, floating, keeping];

/// The links that the frames behind that of `here` are in, at most so many, the outermost first.
fn links_of(addresses: &[u64], most: usize) -> Vec<usize> {
    let link = |address: &u64| {
        let starts = LINKS
            .iter()
            .map(|link| *link as *const () as usize as u64)
            .enumerate();
        let starts = starts.filter(|(_, start)| (*start..start + FUNCTION).contains(address));
        starts.max_by_key(|(_, start)| *start).map(|(link, _)| link)
    };
    // The frame of `here` may lie behind a link in memory.
    let inner = here as *const () as usize as u64;
    let others = addresses
        .iter()
        .skip_while(|address| !(inner..inner + FUNCTION).contains(*address));
    let mut links: Vec<usize> = others.skip(1).take(most).map_while(link).collect();
    links.reverse();
    links
}

#[test]
fn walk_own_chain_is_the_chain_of_calls() {
    let mut state = 1_u64;
    for _ in 0..CHAINS {
        let chain: Vec<usize> = (0..1 + state as usize % 9)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Two large frames and more are more than is copied.
                state as usize % LINKS.len()
            })
            .collect();
        let large = chain.iter().filter(|link| **link == 1).count();
        let found = next(black_box(&chain));
        match large {
            0..=2 => assert_eq!(
                found.outcome.end,
                End::Root,
                "{chain:?} {found:x?}",
                found = found.frames
            ),
            _ => assert!(matches!(found.outcome.end, End::Root | End::Truncated)),
        }
        assert!(found.frames.iter().all(|frame| !frame.guessed));
        let links = links_of(&found.addresses, chain.len());
        match found.outcome.end {
            End::Root => assert_eq!(links, chain),
            _ => assert!(
                !links.is_empty() && chain.ends_with(&links),
                "{links:?} of {chain:?}"
            ),
        }
    }
}
