//! Files and stacks that are made to keep the sampler busy: each is done with soon.

use crate::{
    End, Frame, Input, MAX_FRAMES, ModuleId, Modules, Outcome, Piece, ProcessMaps, Unwinder,
    budget::WALK_UNITS,
    elf::{Image, Source},
    line,
    maps::Area,
    module::GUESSED,
    registers::{FP, PC, REGISTERS, SP},
    row::Kind,
};
use gimli::UnwindContext;
use std::{sync::mpsc, thread, time::Duration};

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
    let mut regs = [0; REGISTERS];
    (regs[FP], regs[SP], regs[PC]) = (
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

/// A file with one segment of code and these sections (kind, address, link, contents), whose names all start at the first byte of
/// the last one's contents. `repeat`: so often the last but one section header stands there.
fn with_sections(sections: &[(u32, u64, u32, &[u8])], repeat: usize) -> Vec<u8> {
    let mut file = file(&[(1, 5, 0, PAGE, PAGE)], &[0xcc; 2 * PAGE as usize]);
    let mut headers = vec![[0; 64]];
    for (index, (kind, address, link, contents)) in sections.iter().enumerate() {
        let mut header = [0; 64];
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[16..24].copy_from_slice(&address.to_le_bytes());
        header[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(contents.len() as u64).to_le_bytes());
        header[40..44].copy_from_slice(&link.to_le_bytes());
        file.extend_from_slice(contents);
        let times = if index + 2 == sections.len() {
            repeat
        } else {
            1
        };
        headers.extend(std::iter::repeat_n(header, times));
    }
    let table = file.len() as u64;
    file[40..48].copy_from_slice(&table.to_le_bytes());
    file[58] = 64;
    file[60..62].copy_from_slice(&(headers.len() as u16).to_le_bytes());
    file[62..64].copy_from_slice(&(headers.len() as u16 - 1).to_le_bytes());
    headers
        .iter()
        .for_each(|header| file.extend_from_slice(header));
    file
}

/// A function of this address, size and name.
fn symbol(address: u64, size: u64, name: u32) -> [u8; 24] {
    let mut entry = [0; 24];
    entry[..4].copy_from_slice(&name.to_le_bytes());
    entry[4] = 2;
    entry[8..16].copy_from_slice(&address.to_le_bytes());
    entry[16..24].copy_from_slice(&size.to_le_bytes());
    entry
}

fn read(file: &[u8]) -> Option<Image> {
    Image::read(Source::Memory(file)).ok()
}

#[test]
fn code_symbols_many_of_one_endless_name_are_read_soon() {
    let symbols: Vec<u8> = (0..690_000_u64)
        .flat_map(|index| symbol(PAGE + index % PAGE, 1, 0))
        .collect();
    let mut names = vec![b'a'; 16 << 20];
    names[(16 << 20) - 5..].copy_from_slice(b".cold");
    let file = with_sections(
        &[(2, 0, 2, &symbols), (3, 0, 0, &names), (3, 0, 0, b"\0")],
        1,
    );
    let known = soon(move || {
        read(&file)
            .expect("a file")
            .code_symbols(Source::Memory(&file))
    });
    assert_eq!(known.len() as u64, PAGE);
    assert!(known.iter().all(|symbol| !symbol.is_function));
}

#[test]
fn code_symbols_cold_parts_are_told_by_their_whole_names() {
    let names = b"\0main\0main.cold\0f.cold.1\0colder\0.cold";
    // At `main`, in the midst of that, at both parts, behind the point of the first, and at the rest.
    let places = [
        (1, true),
        (3, true),
        (6, false),
        (8, false),
        (10, false),
        (11, true),
        (16, false),
        (18, true),
        (25, true),
        (32, false),
        (33, true),
        (1000, true),
    ];
    let symbols: Vec<u8> = (0..)
        .zip(places)
        .flat_map(|(index, (name, _))| symbol(PAGE + index, 1, name))
        .collect();
    let file = with_sections(
        &[(2, 0, 2, &symbols), (3, 0, 0, names), (3, 0, 0, b"\0")],
        1,
    );
    let known = read(&file)
        .expect("a file")
        .code_symbols(Source::Memory(&file));
    let functions: Vec<bool> = known.iter().map(|symbol| symbol.is_function).collect();
    assert_eq!(functions, places.map(|(_, is_function)| is_function));
}

#[test]
fn read_many_sections_of_one_endless_name_is_done_soon() {
    let names = vec![b'a'; 4 << 20];
    let file = with_sections(&[(1, 0, 0, b""), (3, 0, 0, &names)], 65_500);
    soon(move || read(&file).expect("a file"));
}

#[test]
fn read_many_large_notes_is_done_soon() {
    let notes = vec![(4, 4, 4 << 20, 0, 4 << 20); 65_000];
    let mut file = file(&notes, &[]);
    file.resize(8 << 20, 0);
    soon(move || read(&file).expect("a file"));
}

#[test]
fn read_more_code_segments_than_any_program_has_is_refused() {
    let of = |count| file(&vec![(1, 5, 0, PAGE, PAGE); count], &[]);
    assert_eq!(read(&of(64)).expect("a file").segments.len(), 64);
    assert!(read(&of(65)).is_none());
}

#[test]
fn read_code_past_the_end_of_all_addresses_is_refused() {
    let at = |address| file(&[(1, 5, 0, address, PAGE)], &[]);
    assert!(read(&at(u64::MAX - PAGE)).is_some());
    assert!(read(&at(u64::MAX - PAGE + 1)).is_none());
    assert!(read(&at(u64::MAX)).is_none());
}

#[test]
fn code_row_symbol_that_reaches_past_all_addresses_tells_nothing() {
    let start = u64::MAX - PAGE;
    let symbols = symbol(start, u64::from(u32::MAX), 0);
    let mut image = with_sections(
        &[(2, 0, 2, &symbols), (3, 0, 0, b"\0"), (3, 0, 0, b"\0")],
        1,
    );
    // The offset and the address of its segment.
    image[64 + 8..64 + 16].copy_from_slice(&PAGE.to_le_bytes());
    image[64 + 16..64 + 24].copy_from_slice(&start.to_le_bytes());
    let mut modules = Modules::new(1 << 20);
    let module = modules.vdso(PAGE, || Ok(image)).expect("an image");
    for offset in [start + 8, start + PAGE - 1, u64::MAX] {
        for is_return in [false, true] {
            assert_eq!(modules.code_row(module, offset, is_return), None);
        }
    }
}

#[test]
fn code_row_symbols_do_not_fit_is_told_by_the_ways_to_a_return() {
    let symbols: Vec<u8> = (0..4000).flat_map(|at| symbol(PAGE + at, 1, 0)).collect();
    let mut frames = b".eh_frame\0".to_vec();
    frames.resize(1 << 20, 0);
    let mut image = with_sections(
        &[(2, 0, 2, &symbols), (3, 0, 0, b"\0"), (3, 0, 0, &frames)],
        1,
    );
    image[0x200..0x204].copy_from_slice(&FRAMED_CODE);
    let mut modules = Modules::new(frames.len());
    let module = modules.vdso(PAGE, || Ok(image)).expect("an image");
    let row = modules.row(module, FRAMED_RETURN, &mut UnwindContext::new());
    assert_eq!(row.expect("a row").kind, Kind::Uncovered);
    assert_eq!(
        modules.held(),
        frames.len(),
        "unwind information fills what may be held"
    );
    assert!(modules.code_row(module, FRAMED_RETURN - 1, true).is_some());
    assert!(
        modules.held() <= frames.len() + (8 << 10),
        "{}",
        modules.held()
    );
}

#[test]
fn line_of_many_lines_many_mappings_are_found_soon() {
    const COUNT: u64 = 60_000;
    // Of a filesystem that is mounted nowhere, so that no file is looked for.
    let line = |index: u64| {
        let start = 4 * index * PAGE;
        let (data, end) = (start + PAGE, start + 3 * PAGE);
        format!(
            "{start:x}-{data:x} rw-p 0 00:fffff 7 /a\n{data:x}-{end:x} r-xp 5000 00:fffff 7 /a\n"
        )
    };
    let text: String = (0..COUNT).map(line).collect();
    let found = soon(move || {
        let lines = line::code_lines(text.as_bytes());
        let mut found = [0; 4];
        for index in 0..COUNT {
            // Data; code from its start; code from its second page; the same of another place in the file.
            for (place, (page, offset)) in [(0, 0), (1, 0x5000), (2, 0x6000), (2, 0x5000)]
                .into_iter()
                .enumerate()
            {
                let start = (4 * index + page) * PAGE;
                let new = line::Line {
                    start,
                    end: start + PAGE,
                    executable: true,
                    offset,
                    device: (0, 0xf_ffff),
                    inode: 7,
                    path: b"/a",
                };
                found[place] += u64::from(line::line_of(&lines, &new).is_some());
            }
        }
        found
    });
    assert_eq!(found, [0, COUNT, COUNT, 0]);
}

#[test]
fn row_by_call_many_calls_on_one_stack_are_looked_at_as_far_as_a_walk_may() {
    let mut image = file(&[(1, 5, 0, PAGE, PAGE)], &[]);
    image.resize(PAGE as usize, 0xcc);
    // `call` of the function behind it, which is `sub $8,%rsp; add $8,%rsp; ret`.
    image[0x300..0x305].copy_from_slice(b"\xe8\xfb\0\0\0");
    image[0x400..0x409].copy_from_slice(b"\x48\x83\xec\x08\x48\x83\xc4\x08\xc3");
    let mut modules = Modules::new(1 << 20);
    let module = modules.vdso(PAGE, || Ok(image)).expect("an image");
    for _ in 0..3 {
        modules.begin();
        let mut row = || modules.row_by_call(module, PAGE + 0x305, PAGE + 0x404, false);
        let found = (0..100_000).filter(|_| row().is_some()).count();
        assert!((1000..=4096).contains(&found), "{found}");
    }
}

/// Where the functions of [`covered`] lie.
const COVERED: u64 = 16 * PAGE;

/// A file of one function of `size` bytes, whose call frame information has as many instructions: each byte has a row of its own, by
/// which the return address is at the stack pointer. The linker's table of it is `count` entries long, the last one being true.
fn covered(size: u64, count: u32) -> Vec<u8> {
    let cie = b"\x10\0\0\0\0\0\0\0\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0";
    let header_size = 12 + 8 * u64::from(count);
    let headers = 64 + 2 * 56;
    let frames = headers + header_size;
    let entry = frames + cie.len() as u64;
    let mut contents = vec![1, 0x1b, 3, 0x3b];
    let relative = |to: u64, from: u64| (to.wrapping_sub(from) as i32).to_le_bytes();
    // The file is loaded at 0.
    contents.extend(relative(frames, headers + 4));
    contents.extend(count.to_le_bytes());
    for index in 0..count {
        let before = u64::from(count - 1 - index);
        contents.extend(relative(COVERED - before.min(COVERED), headers));
        contents.extend(relative(entry, headers));
    }
    contents.extend(cie);
    contents.extend((size as u32 + 20).to_le_bytes());
    contents.extend((cie.len() as u32 + 4).to_le_bytes());
    contents.extend(COVERED.to_le_bytes());
    contents.extend(size.to_le_bytes());
    contents.resize(contents.len() + size as usize, 0x41);
    contents.extend([0; 4]);
    let end = headers + contents.len() as u64;
    let segments = [
        (1, 5, end.next_multiple_of(PAGE), COVERED, size),
        (0x6474_e550, 4, headers, headers, header_size),
    ];
    let mut file = file(&segments, &contents);
    file.resize((end.next_multiple_of(PAGE) + size) as usize, 0xcc);
    file
}

/// Walks stacks of `count` frames in that file, at its last bytes, with so many units each; with what the unwinder has seen before.
struct Covered {
    modules: Modules,
    maps: ProcessMaps,
    unwinder: Unwinder,
    size: u64,
}

impl Covered {
    /// Of a function of that size, with a linker's table of so many entries.
    fn new(size: u64, count: u32) -> Covered {
        let mut modules = Modules::new(8 << 20);
        let file = covered(size, count);
        let length = file.len() as u64;
        let module = modules.vdso(length, || Ok(file)).expect("an image");
        let mut maps = ProcessMaps::empty(std::process::id());
        let area = Area {
            start: COVERED,
            end: COVERED + size,
            module,
            delta: 0,
            image: true,
            trampolines: false,
        };
        maps.insert(area, &modules);
        Covered {
            modules,
            maps,
            unwinder: Unwinder::new(),
            size,
        }
    }

    fn walk(&mut self, count: u64, units: u64) -> (End, usize, u64) {
        let last = COVERED + self.size;
        let mut words: Vec<u64> = (1..count).map(|frame| last - frame).collect();
        words.push(0);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sp = 0x7ffd_0000_0000_u64;
        let pieces = [Piece {
            address: sp,
            bytes: &bytes,
        }];
        let mut regs = [0; REGISTERS];
        (regs[SP], regs[PC]) = (sp, last - count - 1);
        let input = Input {
            regs: &regs,
            mapping: sp..sp + (1 << 20),
            pieces: &pieces,
        };
        self.modules.allow(units);
        let mut frames = Vec::new();
        let outcome = self
            .unwinder
            .walk(&self.maps, &mut self.modules, &input, &mut frames);
        (outcome.end, frames.len(), self.modules.take_spent())
    }
}

#[test]
fn walk_largest_entries_all_the_way_ends_at_the_limit_of_work() {
    let mut covered = Covered::new(60_000, 2);
    // The first one reads the linker's table for all, which is paid for by time.
    covered.walk(1, WALK_UNITS.into());
    let (end, frames, spent) = covered.walk(MAX_FRAMES as u64 - 10, WALK_UNITS.into());
    assert_eq!(end, End::Limit);
    assert!((2..20).contains(&frames), "{frames}");
    assert!(spent <= WALK_UNITS.into());
}

#[test]
fn walk_hundred_frames_that_nobody_saw_is_far_below_the_limit_and_free_when_they_are_known() {
    let mut covered = Covered::new(200, 2);
    covered.walk(1, WALK_UNITS.into());
    let (end, frames, spent) = covered.walk(100, WALK_UNITS.into());
    // The last one says that nothing called it.
    assert_eq!((end, frames), (End::Root, 101));
    assert!(spent > 0 && spent < u64::from(WALK_UNITS) / 8, "{spent}");
    assert_eq!(covered.walk(100, 0), (End::Root, 101, 0));
    let (end, frames, _) = covered.walk(150, 0);
    assert_eq!(end, End::Limit, "not all of these are known");
    assert!(frames < 10, "{frames}");
    assert_eq!(
        covered.walk(150, WALK_UNITS.into()).0,
        End::Root,
        "what was left out is not remembered"
    );
}

#[test]
fn walk_linker_s_table_larger_than_all_memory_is_searched_where_it_lies() {
    for count in [1, 2, 255, 256, 257, 258, 1 << 17, (1 << 17) + 1, 1_300_000] {
        let mut covered = Covered::new(200, count);
        let (end, frames, _) = covered.walk(100, WALK_UNITS.into());
        assert_eq!((end, frames), (End::Root, 101), "{count} entries");
        assert!(covered.modules.held() <= 1 << 20);
    }
}
