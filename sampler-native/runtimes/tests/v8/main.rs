//! Functions of V8 by made-up memory of each version that is known, and by memory that lies.
#![cfg(target_arch = "x86_64")]

#[path = "../common/area.rs"]
mod area;
#[path = "../common/draw.rs"]
mod draw;

use std::{
    io,
    time::{Duration, Instant},
};

use area::Area;
use draw::Draw;
use flametop_runtimes::{
    Attached, Called, Known, Names, Pages, Place, RuntimeKind, Stack, Step, attach,
};

const BASE: u64 = 0x5000_0000;
/// Instructions of a compiled function.
const CODE: u64 = BASE + 0x8000;
const SIZE: u64 = 0x100;
const MAPS: u64 = BASE + 0x1000;
const CLOSURE: u64 = BASE + 0x2000;
const SHARED: u64 = BASE + 0x2100;
const BYTECODE: u64 = BASE + 0x2200;
const SCOPE: u64 = BASE + 0x2300;
const SCRIPT: u64 = BASE + 0x2500;
const NAME: u64 = BASE + 0x2600;
const PATH: u64 = BASE + 0x2700;
const CODE_OBJECT: u64 = BASE + 0x2800;
const ORIGIN: u64 = BASE + 0x2900;
const WRAPPER: u64 = BASE + 0x2a00;
/// An address in the code of the file.
const FILE: u64 = BASE + 0x600;
const STACK: u64 = 0x7ffd_0000_0000;
/// The frame pointer of the innermost function.
const RBP: u64 = STACK + 0x100;
const CALLER: u64 = 0x1234_5678;

/// Types of objects, and places of fields.
#[derive(Clone, Copy)]
struct Version {
    number: [u32; 2],
    closure: u16,
    shared: u16,
    bytecode: u16,
    code: u16,
    instructions: u16,
    scope: u16,
    script: u16,
    closure_shared: u64,
    name: u64,
    script_at: u64,
    header: u64,
    size: u64,
    origin: u64,
    origin_shared: u64,
}

const VERSIONS: [Version; 4] = [
    Version {
        number: [10, 2],
        closure: 2065,
        shared: 257,
        bytecode: 195,
        code: 240,
        instructions: 240,
        scope: 256,
        script: 170,
        closure_shared: 24,
        name: 16,
        script_at: 32,
        header: 128,
        size: 40,
        origin: 16,
        origin_shared: 6,
    },
    Version {
        number: [11, 3],
        closure: 2066,
        shared: 262,
        bytecode: 191,
        code: 245,
        instructions: 252,
        scope: 261,
        script: 167,
        closure_shared: 24,
        name: 16,
        script_at: 32,
        header: 16,
        size: 56,
        origin: 16,
        origin_shared: 6,
    },
    Version {
        number: [12, 4],
        closure: 2066,
        shared: 274,
        bytecode: 205,
        code: 206,
        instructions: 210,
        scope: 272,
        script: 167,
        closure_shared: 32,
        name: 16,
        script_at: 32,
        header: 32,
        size: 52,
        origin: 8,
        origin_shared: 6,
    },
    Version {
        number: [13, 6],
        closure: 2065,
        shared: 282,
        bytecode: 186,
        code: 187,
        instructions: 192,
        scope: 280,
        script: 167,
        closure_shared: 32,
        name: 24,
        script_at: 40,
        header: 32,
        size: 56,
        origin: 8,
        origin_shared: 7,
    },
];

/// A process with one function, which is interpreted, compiled bytecode by bytecode, or compiled.
#[derive(Clone)]
struct Process {
    memory: Area,
    stack: Area,
}

impl Process {
    fn new(version: &Version, is_baseline: bool) -> Process {
        let mut memory = Area(BASE, vec![0; 0x10000]);
        memory.export(&[
            ("_ZN2v88internal7Version6major_E", 0xf00, 4),
            ("_ZN2v88internal7Version6minor_E", 0xf04, 4),
            ("_ZN2v82V810GetVersionEv", FILE - BASE, 8),
        ]);
        for (at, number) in [0xf00, 0xf04].into_iter().zip(version.number) {
            memory.put(BASE + at, &number.to_le_bytes());
        }
        // Each type has a map of its own.
        let mut maps = 0;
        let mut object = |memory: &mut Area, at: u64, kind: u16| {
            let map = MAPS + 0x20 * maps;
            maps += 1;
            memory.set(at, map + 1);
            memory.put(map + 12, &kind.to_le_bytes());
        };
        let text = |memory: &mut Area, at: u64, text: &str| {
            memory.put(at + 12, &(text.len() as u32).to_le_bytes());
            memory.put(at + 16, text.as_bytes());
        };
        object(&mut memory, CLOSURE, version.closure);
        memory.set(CLOSURE + version.closure_shared, SHARED + 1);
        object(&mut memory, SHARED, version.shared);
        memory.set(SHARED + 8, BYTECODE + 1);
        memory.set(SHARED + version.name, SCOPE + 1);
        memory.set(SHARED + version.script_at, SCRIPT + 1);
        object(&mut memory, BYTECODE, version.bytecode);
        object(&mut memory, SCRIPT, version.script);
        memory.set(SCRIPT + 16, PATH + 1);
        object(&mut memory, NAME, 8);
        text(&mut memory, NAME, "total");
        object(&mut memory, PATH, 8);
        text(&mut memory, PATH, "/srv/shop/cart.js");
        // Two variables, then a name of its own.
        object(&mut memory, SCOPE, version.scope);
        let is_new = version.number[0] >= 13;
        let flags = 3u64 << 12 | 2;
        memory.set(SCOPE + 8, if is_new { flags } else { flags << 32 });
        memory.set(SCOPE + 24, 2 << 32);
        let first = if is_new { 5 } else { 3 };
        memory.set(SCOPE + 8 + 8 * (first + 4), NAME + 1);
        // Code.
        let code = match version.number[0] {
            10 => CODE - version.header,
            _ => CODE_OBJECT,
        };
        object(&mut memory, CODE - version.header, version.instructions);
        if code == CODE_OBJECT {
            object(&mut memory, code, version.code);
            memory.set(CODE - version.header + 8, code + 1);
            memory.set(code + 40, CODE);
        }
        memory.put(code + version.size, &(SIZE as u32).to_le_bytes());
        let origin = if is_baseline { BYTECODE } else { ORIGIN };
        memory.set(code + version.origin, origin + 1);
        object(&mut memory, ORIGIN, 1);
        let shared = ORIGIN + 16 + 8 * version.origin_shared;
        memory.set(shared, if is_new { WRAPPER } else { SHARED } + 1);
        memory.set(WRAPPER + 8, SHARED + 1);
        match is_baseline {
            false => {
                memory.put(CODE + 0x10, &[0x55, 0x48, 0x89, 0xe5]);
                memory.put(CODE + 0xc0, &[0x48, 0x8b, 0xe5, 0x5d, 0xc3]);
            }
            true => {
                memory.put(CODE, &[0xbb, 0, 0, 0, 0, 0x49, 0xbc]);
                memory.put(CODE + 15, &[0xe8]);
            }
        }
        // The frame.
        let mut stack = Area(STACK, vec![0; 0x200]);
        stack.set(RBP, RBP + 0x80);
        stack.set(RBP + 8, CALLER);
        stack.set(RBP - 16, CLOSURE + 1);
        stack.set(RBP - 24, 2);
        stack.set(RBP - 32, BYTECODE + 1);
        stack.set(RBP - 40, 77 << 32);
        // Where the innermost function has no frame yet, or any more.
        stack.set(RBP - 0x80, RBP);
        stack.set(RBP - 0x78, CALLER + 1);
        Process { memory, stack }
    }

    fn attach(&self) -> io::Result<Attached> {
        attach(RuntimeKind::V8, &Pages::new(&self.memory, 64), BASE)
    }

    /// The step from a place in code, and the functions there, when nothing is lacking any more.
    fn step(&self, attached: &Attached, place: &Place, is_in_file: bool) -> (Step, Vec<String>) {
        let (mut known, mut names) = (Known::default(), Names::default());
        let mut last = (Step::Foreign, Vec::new());
        for turn in 0..4 {
            known.begin(turn * 1_000_000_000);
            let mut called = Called::default();
            let stack: &dyn Stack = &self.stack;
            let step = match is_in_file {
                true => attached.step_in_file(&mut known, place, stack, &mut called),
                false => attached.step(&mut known, place, stack, &mut called),
            };
            let text =
                |id| String::from_utf8_lossy(&names.get(id).expect("a name").function).into();
            let functions = called.functions.iter().map(|function| text(function.name));
            last = (step, functions.collect());
            let asks = known.take_asks();
            if asks.is_empty() {
                break;
            }
            let found = attached.read(&Pages::new(&self.memory, 256), &asks);
            known.come(&asks, Some(found), &mut names, turn);
        }
        last
    }
}

fn place(pc: u64, rsp: u64, is_return: bool) -> Place {
    let mut registers = [0; 17];
    registers[5] = CLOSURE + 1;
    registers[6] = RBP;
    registers[7] = rsp;
    registers[16] = pc;
    Place {
        registers,
        known: 0x1_ffff,
        is_return,
    }
}

#[test]
fn functions_of_each_version_are_told_wherever_they_run() {
    let total = vec!["total (shop/cart.js)".to_owned()];
    for version in VERSIONS {
        for is_baseline in [false, true] {
            let process = Process::new(&version, is_baseline);
            let attached = process.attach().expect("it tells its version");
            assert_eq!(attached.file(), Some(FILE));
            // In the interpreter, at a call, in the middle, before the frame is made.
            let frames = [
                (place(FILE, RBP - 0x60, false), true, CALLER),
                (place(FILE, RBP - 0x60, true), true, CALLER),
                (place(CODE + 0x80, RBP - 0x60, true), false, CALLER),
                (place(CODE + 0x80, RBP - 0x60, false), false, CALLER),
                (place(CODE + 4, RBP - 0x78, false), false, CALLER + 1),
            ];
            for (place, is_in_file, caller) in frames {
                let (step, functions) = process.step(&attached, &place, is_in_file);
                let found = match step {
                    Step::Caller(caller) => Some(caller.pc),
                    _ => None,
                };
                let told = format!("{:?} {is_baseline} {place:x?}", version.number);
                assert_eq!(found, Some(caller), "{told}");
                assert_eq!(functions, total, "{told}");
            }
        }
    }
}

#[test]
fn compiled_code_that_just_pushed_or_dropped_its_frame_pointer_is_left_by_the_stack() {
    for version in VERSIONS {
        let process = Process::new(&version, false);
        let attached = process.attach().expect("it tells its version");
        for (offset, rsp) in [(0x11, RBP - 0x80), (0xc4, RBP - 0x78)] {
            let place = place(CODE + offset, rsp, false);
            let (step, functions) = process.step(&attached, &place, false);
            let Step::Caller(caller) = step else {
                panic!("{offset:x}: {step:?}");
            };
            assert_eq!(caller.pc, CALLER + 1, "{offset:x}");
            assert_eq!(caller.sp, RBP - 0x70, "{offset:x}");
            assert_eq!(caller.rbp, Some(RBP), "{offset:x}");
            assert_eq!(functions.len(), 1, "{offset:x}");
        }
    }
}

#[test]
fn frame_of_other_bytecode_than_that_of_its_function_has_no_name() {
    for version in VERSIONS {
        let mut process = Process::new(&version, false);
        let attached = process.attach().expect("it tells its version");
        process.stack.set(RBP - 32, BYTECODE + 0x41);
        let (step, functions) = process.step(&attached, &place(FILE, RBP - 0x60, true), true);
        assert!(matches!(step, Step::Caller(_)), "{step:?}");
        assert!(functions.is_empty(), "{functions:?}");
    }
}

#[test]
fn code_of_the_file_with_another_frame_is_foreign() {
    let process = Process::new(&VERSIONS[0], false);
    let attached = process.attach().expect("it tells its version");
    for (below, word) in [(16, 0x10), (24, 1 << 40), (32, 8), (40, 1), (40, 0)] {
        let mut process = process.clone();
        process.stack.set(RBP - below, word);
        let (step, functions) = process.step(&attached, &place(FILE, RBP - 0x60, true), true);
        assert_eq!((step, functions), (Step::Foreign, vec![]), "{below}");
    }
}

#[test]
fn version_that_is_not_known_is_refused_by_its_number() {
    let mut process = Process::new(&VERSIONS[0], false);
    process.memory.put(BASE + 0xf00, &12u32.to_le_bytes());
    process.memory.put(BASE + 0xf04, &9u32.to_le_bytes());
    let error = process.attach().expect_err("it is not known");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "V8 12.9 is not known");
}

#[test]
fn memory_that_lies_ends_in_bounded_time_and_in_no_panic() {
    let mut draw = Draw(1);
    let (mut attached, mut longest, mut rounds) = (0, Duration::ZERO, 0);
    let begin = Instant::now();
    let both = [false, true];
    let whole = VERSIONS
        .iter()
        .flat_map(|version| both.map(|it| Process::new(version, it)));
    let whole: Vec<Process> = whole.collect();
    while rounds < 100_000 && begin.elapsed() < Duration::from_secs(10) {
        rounds += 1;
        let mut process = whole[rounds % whole.len()].clone();
        for _ in 0..1 + draw.below(4) {
            let lie = match draw.below(7) {
                0 => u64::MAX,
                1 => 1 << 63,
                2 => 0,
                3 => draw.next(),
                4 => BASE + 8 * draw.below(0x2000) as u64 + 1,
                5 => STACK + 8 * draw.below(0x40) as u64,
                _ => 1 << draw.below(64),
            };
            let area = match draw.below(3) {
                0 => &mut process.stack,
                _ => &mut process.memory,
            };
            let at = match area.0 {
                STACK => draw.below(area.1.len() - 8),
                // Where something is.
                _ => [0x1000, 0x2000, 0x7f00][draw.below(3)] + draw.below(0xb00),
            };
            area.1[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        }
        let round = Instant::now();
        if let Ok(runtime) = process.attach() {
            attached += 1;
            let offset = draw.below(SIZE as usize + 0x40) as u64;
            let place = place(CODE + offset, RBP - 0x60, draw.below(2) == 0);
            for is_in_file in both {
                let (_, functions) = process.step(&runtime, &place, is_in_file);
                assert!(functions.len() <= 1 && functions.iter().all(|name| name.len() <= 512));
            }
        }
        longest = longest.max(round.elapsed());
    }
    assert!(attached > rounds / 2, "{attached} of {rounds}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
