//! Files and stacks that are made to keep the sampler busy: each is done with soon.

use crate::{
    End, Frame, Input, MAX_FRAMES, ModuleId, Modules, Outcome, Piece, ProcessMaps, Unwinder,
    elf::{Image, Source},
    maps::Area,
    module::GUESSED,
};
use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const PAGE: u64 = 4096;
/// Longer than anything here takes on a machine that has other work.
const SOON: Duration = Duration::from_secs(10);
/// `call *%rax; jmp .`: does not come back, so that its caller is guessed by the frame pointer.
const GUESSED_CODE: [u8; 4] = [0xff, 0xd0, 0xeb, 0xfe];
/// `call *%rax; leave; ret`: the frame pointer leads to its caller.
const FRAMED_CODE: [u8; 4] = [0xff, 0xd0, 0xc9, 0xc3];
/// Where calls in these return to.
const GUESSED_RETURN: u64 = PAGE + 0x102;
const FRAMED_RETURN: u64 = PAGE + 0x202;

/// An ELF file of these program headers (kind, flags, offset, address, size) and contents behind them.
fn file(headers: &[(u32, u32, u64, u64, u64)], contents: &[u8]) -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    file[18] = 62;
    file[32] = 64;
    file[54] = 56;
    file[56..58].copy_from_slice(&(headers.len() as u16).to_le_bytes());
    for (kind, flags, offset, address, size) in headers {
        file.extend(kind.to_le_bytes());
        file.extend(flags.to_le_bytes());
        for number in [*offset, *address, *address, *size, *size, PAGE] {
            file.extend(number.to_le_bytes());
        }
    }
    file.extend(contents);
    file
}

/// A file of both functions, without any table, and the place of a process that has mapped it.
fn program(modules: &mut Modules) -> (ProcessMaps, ModuleId) {
    let mut image = file(&[(1, 5, 0, PAGE, PAGE)], &[]);
    image.resize(PAGE as usize, 0xcc);
    image[0x100..0x104].copy_from_slice(&GUESSED_CODE);
    image[0x200..0x204].copy_from_slice(&FRAMED_CODE);
    let module = modules.vdso(PAGE, || Ok(image)).expect("an image");
    let mut maps = ProcessMaps::empty(std::process::id());
    let area = Area {
        start: PAGE,
        end: 2 * PAGE,
        module,
        delta: 0,
        image: true,
        trampolines: false,
    };
    maps.insert(area, modules);
    (maps, module)
}

/// Does something in a thread of its own; the test fails if that is not done soon.
fn soon<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(what()));
    wait.recv_timeout(SOON).expect("done soon")
}

/// Walks from `GUESSED_RETURN` over a stack of so many guessed frames, which goes on to frames whose pointers lead from one
/// piece to the other and back.
fn walk_circle(guessed: u64, before: u64) -> (Outcome, Vec<Frame>, usize) {
    let mut modules = Modules::new(1 << 20);
    let (maps, _) = program(&mut modules);
    let (sp, other) = (0x7ffd_0000_0000_u64, 0x7ffd_8000_0000_u64);
    let mut words = Vec::new();
    let here = |words: &Vec<u64>| sp + 8 * words.len() as u64;
    // Frames that are certain, so that the guessed ones begin at an even or an odd place.
    for _ in 0..before {
        words.extend([here(&words) + 16, FRAMED_RETURN]);
    }
    for _ in 1..guessed {
        words.extend([here(&words) + 16, GUESSED_RETURN]);
    }
    words.extend([here(&words) + 16, FRAMED_RETURN]);
    let circle = here(&words);
    words.extend([other, FRAMED_RETURN, 0]);
    let bytes = |words: &[u64]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let (first, second) = (bytes(&words), bytes(&[circle, FRAMED_RETURN, 0]));
    let pieces = [
        Piece {
            address: sp,
            bytes: &first,
        },
        Piece {
            address: other,
            bytes: &second,
        },
    ];
    let mut regs = [0; 17];
    (regs[6], regs[7], regs[16]) = (
        sp,
        sp,
        if before > 0 {
            FRAMED_RETURN
        } else {
            GUESSED_RETURN
        },
    );
    let input = Input {
        regs: &regs,
        mapping: sp..sp + (1 << 20),
        pieces: &pieces,
    };
    let mut frames = Vec::new();
    let outcome = Unwinder::new().walk(&maps, &mut modules, &input, &mut frames);
    let sign = modules.unknown(GUESSED, End::NoUnwindInfo);
    let signs = frames.iter().filter(|frame| frame.module == sign).count();
    (outcome, frames, signs)
}

#[test]
fn walk_circle_behind_guessed_frames_ends_at_the_limit() {
    for (guessed, before) in [(1, 0), (300, 0), (300, 1), (300, 2)] {
        let (outcome, frames, signs) = soon(move || walk_circle(guessed, before));
        assert_eq!(
            outcome.end,
            End::Limit,
            "{guessed} guessed frames: {frames:x?}"
        );
        assert!(frames.len() <= MAX_FRAMES, "{}", frames.len());
        assert!(frames.len() + 2 > MAX_FRAMES, "{}", frames.len());
        assert!(signs >= if guessed > 1 { 250 } else { 1 }, "{signs} signs");
    }
}
