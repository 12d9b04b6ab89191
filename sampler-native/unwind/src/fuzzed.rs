//! Entry points of fuzzing: each function reads any bytes as what a process or a file could have given.

use gimli::UnwindContext;

use crate::{
    Input, ModuleId, Modules, Piece, ProcessMaps, Unwinder,
    arch::{self, FP, PC, REGISTERS},
    budget::Work,
    cfi::Table,
    code::{self, Window},
    elf::{Image, Section, Segment, Source},
    go::Functions,
    line, maps,
    maps::Area,
    mounts,
    row::{Failure, Registers},
};

const PAGE: u64 = 4096;
const STACK: u64 = 0x7ffd_0000_0000;
const LIMIT: u64 = 1 << 20;
/// Addresses that are asked for.
const ASKED: u64 = 64;

/// The first numbers of some bytes, and the rest.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<([u64; N], &[u8])> {
    let (head, rest) = bytes.split_at_checked(4 * N)?;
    let mut numbers = [0; N];
    for (number, bytes) in numbers.iter_mut().zip(head.chunks_exact(4)) {
        *number = u64::from(u32::from_le_bytes(bytes.try_into().ok()?));
    }
    Some((numbers, rest))
}

/// Addresses over `size` bytes from `start`, some of them behind it.
fn spread(start: u64, size: u64) -> impl Iterator<Item = u64> {
    let step = (size / ASKED).max(1);
    (0..ASKED + 2).map(move |index| start.wrapping_add(index * step))
}

fn section(address: u64, offset: u64, size: u64) -> Section {
    Section {
        address,
        offset,
        size,
        compressed: false,
    }
}

fn rows(table: &Table, addresses: impl Iterator<Item = u64>, source: Source<'_>) {
    let (mut context, work) = (UnwindContext::new(), Work::default());
    let registers = Registers {
        values: [STACK; REGISTERS],
        known: arch::ALL,
    };
    let read = |address: u64| match address % 3 {
        0 => Err(Failure::Missing(address)),
        _ => Ok(address.rotate_left(7)),
    };
    for address in addresses {
        work.begin();
        table.function(address, source, &work);
        table.row(address, source, &work, &mut context);
        let _ = table.evaluate(address, source, &work, &mut context, &registers, &read);
    }
}

/// Unwind information: the bytes of its header, where it is loaded, an address that is asked for, then the header and the entries.
pub fn cfi(bytes: &[u8]) {
    let Some(([header, address, asked], rest)) = numbers(bytes) else {
        return;
    };
    let source = Source::Memory(rest);
    let size = rest.len() as u64;
    let header = header.min(size);
    let image = Image {
        eh_frame_hdr: (header > 0).then(|| section(address, 0, header)),
        ..Image::default()
    };
    let entries = section(address + header, header, size - header);
    let addresses = || {
        spread(0, 256)
            .chain(spread(asked, 4096))
            .chain(spread(address, size))
    };
    if let Ok(table) = Table::eh_frame(&image, entries, source, LIMIT, LIMIT / 4) {
        rows(&table, addresses(), source);
    }
    if let Ok(table) = Table::debug_frame(entries, source, LIMIT) {
        rows(&table, addresses(), source);
    }
}

/// Instructions, followed from each of their places.
pub fn code(bytes: &[u8]) {
    let window = Window {
        start: PAGE,
        bytes: &bytes[..bytes.len().min(code::WINDOW as usize)],
    };
    let mut left = 64 << 10;
    code::main(&window);
    for address in spread(PAGE, window.bytes.len() as u64) {
        if let Some(function) = code::function(&window, address, &mut left) {
            function.row(address.wrapping_add(3));
        }
        code::exits(&window, address, address % 2 == 0, &mut left);
    }
}

/// A file.
pub fn elf(bytes: &[u8]) {
    let source = Source::Memory(bytes);
    Image::is_elf(source);
    let Ok(image) = Image::read(source) else {
        return;
    };
    image.code_symbols(source);
    image.delta(PAGE, 3 * PAGE, 0);
    for address in spread(image.entry, bytes.len() as u64) {
        image.pointer(source, address);
        image.code_offset(address);
        image.segment_start(address);
        image.code_left(address);
    }
    let (mut context, work) = (UnwindContext::new(), Work::default());
    if let Some(section) = image.eh_frame
        && let Ok(table) = Table::eh_frame(&image, section, source, LIMIT, LIMIT)
    {
        table.row(image.entry, source, &work, &mut context);
    }
    if let Some(section) = image.debug_frame
        && let Ok(table) = Table::debug_frame(section, source, LIMIT)
    {
        table.row(image.entry, source, &work, &mut context);
    }
}

/// The table of a Go program's functions.
pub fn gopclntab(bytes: &[u8]) {
    let source = Source::Memory(bytes);
    let size = bytes.len() as u64;
    let code = Segment {
        address: 0,
        offset: 0,
        size: 1 << 32,
    };
    let work = Work::default();
    for found in [true, false] {
        let table = section(PAGE, 0, size);
        let image = Image {
            segments: vec![code],
            go_table: found.then_some(table),
            relocated_data: Some(table),
            relocations: Some(section(0, size / 2, size - size / 2)),
            is_go: true,
            ..Image::default()
        };
        let Ok(functions) = Functions::read(&image, source, LIMIT) else {
            continue;
        };
        for address in spread(0, 256)
            .chain(spread(PAGE, size))
            .chain(spread(0x40_1000, PAGE))
        {
            functions.function(address);
            functions.row(&image, source, &work, address);
        }
    }
}

/// Lists of mappings and of mounts.
pub fn maps(bytes: &[u8]) {
    let mut modules = Modules::new(LIMIT as usize);
    let mut maps = ProcessMaps::empty(1);
    for line in line::code_lines(bytes) {
        let area = Area {
            start: line.start,
            end: line.end,
            module: maps::blank(&mut modules),
            delta: line.offset,
            image: line.inode != 0,
            trampolines: line.is_memory(),
        };
        maps.insert(area, &modules);
        maps.is_executable(line.start ^ line.inode);
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        mounts::is_mount(line);
    }
}

/// A walk: where code and stack begin, how long the first piece is, then the stack, in two pieces, and the file.
pub fn walk(bytes: &[u8]) {
    let Some(([pc, stack, first], rest)) = numbers(bytes) else {
        return;
    };
    let (stack, file) = rest.split_at(rest.len().min(stack as usize % (16 << 10)));
    let (stack, other) = stack.split_at(stack.len().min(first as usize));
    let mut modules = Modules::new(LIMIT as usize);
    let mut maps = ProcessMaps::empty(1);
    let size = (file.len() as u64).next_multiple_of(PAGE).max(PAGE);
    let module = modules
        .vdso(size, || Ok(file.to_vec()))
        .unwrap_or_else(|| modules.jit(1));
    insert(&mut maps, &modules, PAGE..PAGE + size, module);
    let jit = modules.jit(1);
    insert(&mut maps, &modules, 2 * PAGE + size..3 * PAGE + size, jit);
    let mut regs = [STACK; REGISTERS];
    regs[FP] = STACK + 16;
    regs[PC] = PAGE + pc % (size + 4 * PAGE);
    let pieces = [(STACK, stack), (STACK + (1 << 16), other)];
    let pieces = pieces.map(|(address, bytes)| Piece { address, bytes });
    let input = Input {
        regs: &regs,
        mapping: STACK..STACK + (1 << 15),
        pieces: &pieces,
    };
    let mut unwinder = Unwinder::new();
    for _ in 0..2 {
        let mut frames = Vec::new();
        unwinder.walk(&maps, &mut modules, &input, &mut frames);
        for frame in frames {
            modules.function_start(frame.module, frame.offset);
            modules.root_name(frame.module, frame.offset);
        }
    }
}

fn insert(
    maps: &mut ProcessMaps,
    modules: &Modules,
    range: std::ops::Range<u64>,
    module: ModuleId,
) {
    let area = Area {
        start: range.start,
        end: range.end,
        module,
        delta: 0,
        image: true,
        trampolines: false,
    };
    maps.insert(area, modules);
}
