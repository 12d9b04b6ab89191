//! Stacks that no program would have: every walk ends, and every frame is code.

use flametop_unwind::{
    End, Frame, Input, MAX_FRAMES, Modules, Piece, ProcessMaps, Unwinder,
    registers::{FP, PC, REGISTERS, SP},
};

const WORDS: usize = 2048;

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Executable ranges of this process.
fn code() -> Vec<(u64, u64)> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("own maps");
    let ranges = maps
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|p| p.contains('x')));
    ranges
        .filter_map(|line| {
            let (start, end) = line.split(' ').next()?.split_once('-')?;
            Some((
                u64::from_str_radix(start, 16).ok()?,
                u64::from_str_radix(end, 16).ok()?,
            ))
        })
        .collect()
}

/// The frames that stand for code.
fn code_frames<'a>(frames: &'a [Frame], modules: &Modules) -> impl Iterator<Item = &'a Frame> {
    frames
        .iter()
        .filter(|frame| modules.get(frame.module).sign().is_none())
}

#[test]
fn walk_stack_of_code_and_stack_addresses_ends_with_frames_in_code_only() {
    let code = code();
    let mut modules = Modules::new(8 << 20);
    let maps = ProcessMaps::read(std::process::id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let mut frames = Vec::new();
    let mut numbers = Numbers(7);
    let mut deep = 0;
    for _ in 0..4000 {
        let sp = 0x7ffd_0000_0000 + 8 * numbers.below(1 << 20);
        let mut word = || match numbers.below(8) {
            0..4 => {
                let (start, end) = code[numbers.below(code.len() as u64) as usize];
                start + numbers.below(end - start)
            }
            4..7 => sp + 8 * numbers.below(WORDS as u64 + 16),
            _ => numbers.next() >> numbers.below(64),
        };
        let mut regs = [0; REGISTERS];
        regs.fill_with(&mut word);
        regs[SP] = sp;
        let bytes: Vec<u8> = (0..WORDS).flat_map(|_| word().to_le_bytes()).collect();
        let pieces = [Piece {
            address: sp,
            bytes: &bytes,
        }];
        let input = Input {
            regs: &regs,
            mapping: sp & !4095..sp + 0x10_0000,
            pieces: &pieces,
        };
        let outcome = unwinder.walk(&maps, &mut modules, &input, &mut frames);
        assert!(frames.len() <= MAX_FRAMES);
        for frame in code_frames(&frames, &modules) {
            assert!(
                maps.address(frame.module, frame.offset).is_some(),
                "{frame:x?}"
            );
        }
        assert_eq!(
            outcome.want.is_some(),
            matches!(outcome.end, End::Truncated | End::OtherStack)
        );
        deep = deep.max(frames.len());
    }
    assert!(deep > 3, "some walks go on");
}

#[test]
fn walk_any_registers_and_stack_shows_executable_addresses_only() {
    let code = code();
    let mut modules = Modules::new(8 << 20);
    let maps = ProcessMaps::read(std::process::id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let mut frames = Vec::new();
    let mut numbers = Numbers(11);
    for _ in 0..20_000 {
        let sp = 0x7ffd_0000_0000 + numbers.below(1 << 20);
        let mut regs = [0; REGISTERS];
        regs.fill_with(|| numbers.next() >> numbers.below(64));
        regs[SP] = sp;
        // At the edges of a mapping too.
        let (start, end) = code[numbers.below(code.len() as u64) as usize];
        regs[PC] = match numbers.below(4) {
            0 => start.wrapping_sub(1),
            1 => end,
            2 => end - 1,
            _ => start + numbers.below(end - start),
        };
        let mut word = || match numbers.below(3) {
            0 => {
                let (start, end) = code[numbers.below(code.len() as u64) as usize];
                [start, start + 1, end, end - 1][numbers.below(4) as usize]
            }
            1 => sp + numbers.below(600),
            _ => numbers.next(),
        };
        let bytes: Vec<u8> = (0..64).flat_map(|_| word().to_le_bytes()).collect();
        let pieces = [Piece {
            address: sp,
            bytes: &bytes,
        }];
        let input = Input {
            regs: &regs,
            mapping: sp & !4095..sp + 0x1000,
            pieces: &pieces,
        };
        unwinder.walk(&maps, &mut modules, &input, &mut frames);
        for frame in code_frames(&frames, &modules) {
            let address = maps.address(frame.module, frame.offset).unwrap_or_default();
            let listed = code
                .iter()
                .any(|(start, end)| (*start..*end).contains(&address));
            assert!(listed, "{address:#x} of {frame:x?}");
        }
    }
}

#[test]
fn walk_pieces_at_the_ends_of_memory_end() {
    let mut modules = Modules::new(8 << 20);
    let maps = ProcessMaps::read(std::process::id(), &mut modules).expect("maps");
    let mut unwinder = Unwinder::new();
    let mut frames = Vec::new();
    let (start, _) = code()[0];
    for sp in [
        0,
        1,
        8,
        u64::MAX,
        u64::MAX - 7,
        u64::MAX - 15,
        0x8000_0000_0000,
    ] {
        for rbp in [0, sp, sp.wrapping_add(8), !7] {
            let mut regs = [sp; REGISTERS];
            regs[FP] = rbp;
            regs[PC] = start + 0x100;
            let bytes = [0xff; 64];
            let pieces = [
                Piece {
                    address: sp,
                    bytes: &bytes,
                },
                Piece {
                    address: 0,
                    bytes: &[],
                },
            ];
            let input = Input {
                regs: &regs,
                mapping: sp..u64::MAX,
                pieces: &pieces,
            };
            unwinder.walk(&maps, &mut modules, &input, &mut frames);
            assert!(frames.len() <= MAX_FRAMES);
        }
    }
}

#[test]
fn types_are_send() {
    fn send<T: Send>() {}
    send::<Unwinder>();
    send::<Modules>();
    send::<ProcessMaps>();
}
