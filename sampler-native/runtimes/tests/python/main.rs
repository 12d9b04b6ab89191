//! CPython's functions by made-up memory of each version that is known, and by memory that lies.

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
    Attached, Found, Function, Interpreted, Known, Lack, Names, Pages, Runs, RuntimeKind, Wait,
    attach,
};

const BASE: u64 = 0x5000_0000;
const EVAL: u64 = BASE + 0x2000;
const STACK: u64 = 0x7ffd_0000_0000;
const TID: u32 = 4321;
/// The number of that thread in its own namespace.
const OWN: u64 = 17;

/// The address of glibc's structure of the thread.
const GLIBC: u64 = BASE + 0xe000;

/// The address of what leads to the lock: the lock itself, or in a free-threaded build the word before it.
const SWITCH: u64 = BASE + 0xf000;

/// What differs between versions: offsets, in the order of their use below.
struct Version {
    number: u64,
    interpreters: u64,
    next_interpreter: u64,
    threads: u64,
    identity: u64,
    first: u64,
    previous: u64,
    code: u64,
    place: u64,
    ascii: u64,
    file: u64,
    name: u64,
    first_line: u64,
    table: u64,
    instructions: u64,
    /// Where the functions run.
    lines: [u16; 3],
    is_free_threaded: bool,
}

const VERSIONS: [Version; 7] = [
    Version {
        number: 0x0309_0000,
        place: 104,
        lines: [30, 31, 32],
        ..V3_10
    },
    V3_10,
    Version {
        number: 0x030b_02f0,
        interpreters: 40,
        next_interpreter: 0,
        threads: 16,
        identity: 160,
        first: 56,
        previous: 48,
        code: 32,
        place: 56,
        ascii: 48,
        file: 112,
        name: 128,
        first_line: 72,
        table: 136,
        instructions: 184,
        lines: [30, 31, 32],
        is_free_threaded: false,
    },
    Version {
        number: 0x030c_01f0,
        interpreters: 40,
        next_interpreter: 0,
        threads: 72,
        identity: 144,
        first: 56,
        previous: 8,
        code: 0,
        place: 56,
        ascii: 40,
        file: 112,
        name: 128,
        first_line: 68,
        table: 136,
        instructions: 192,
        lines: [30, 32, 34],
        is_free_threaded: false,
    },
    V3_13,
    Version {
        number: 0x030e_00f0,
        instructions: 208,
        ..V3_13
    },
    // 3.13t.
    Version {
        ascii: 56,
        file: 128,
        name: 144,
        first_line: 84,
        table: 152,
        instructions: 216,
        is_free_threaded: true,
        ..V3_13
    },
];

const V3_13: Version = Version {
    number: 0x030d_00f0,
    interpreters: 632,
    next_interpreter: 7264,
    threads: 7344,
    identity: 160,
    first: 72,
    previous: 8,
    code: 0,
    place: 56,
    ascii: 40,
    file: 112,
    name: 128,
    first_line: 68,
    table: 136,
    instructions: 200,
    lines: [30, 32, 34],
    is_free_threaded: false,
};

const V3_10: Version = Version {
    number: 0x030a_0000,
    interpreters: 32,
    next_interpreter: 0,
    threads: 8,
    identity: 176,
    first: 24,
    previous: 24,
    code: 32,
    place: 96,
    ascii: 48,
    file: 104,
    name: 112,
    first_line: 40,
    table: 120,
    instructions: 48,
    lines: [30, 31, 32],
    is_free_threaded: false,
};

impl Version {
    /// The address of the lock.
    fn lock(&self) -> u64 {
        match self.minor() {
            ..11 => BASE + 0x800 + 352,
            11 => BASE + 0x800 + 360,
            _ if self.is_free_threaded => SWITCH + 8,
            _ => SWITCH,
        }
    }

    /// Where an interpreter has the address of the lock.
    fn pointer_to_lock(&self) -> Option<u64> {
        match self.minor() {
            ..12 => None,
            12 => Some(384),
            _ => Some(16),
        }
    }

    /// Bytes of the header of an object.
    fn header(&self) -> u64 {
        if self.is_free_threaded { 32 } else { 16 }
    }

    fn minor(&self) -> u64 {
        self.number >> 16 & 0xff
    }

    /// The number by which a thread is known again: before 3.11 the address of what glibc knows of the thread.
    fn identity_of_thread(&self) -> u64 {
        if self.minor() < 11 { GLIBC } else { OWN }
    }

    /// The functions of each call of the interpreter, and where the call is on the stack.
    fn runs(&self, calls: [u64; 2]) -> Vec<(u64, Vec<String>)> {
        let name = |function: &str| format!("{function} (shop/web.py)");
        let [called, inner, outer] = ["called", "inner", "outer"].map(name);
        match self.minor() {
            ..11 => [called, inner, outer].map(|name| (0, vec![name])).into(),
            _ => vec![(calls[0], vec![called]), (calls[1], vec![inner, outer])],
        }
    }
}

/// A process with one thread, in which `outer` and `inner` run in one call of the interpreter, and `called` in another one.
#[derive(Clone)]
struct Process {
    memory: Area,
    stack: Area,
    /// The copy of the chain.
    copied: Vec<u8>,
    /// Where each call of the interpreter is on the stack, the innermost first.
    calls: [u64; 2],
}

impl Process {
    fn new(version: &Version) -> Process {
        let mut memory = Area(BASE, vec![0; 0x10000]);
        let mut stack = Area(STACK, vec![0; 0x1000]);
        memory.export(&[
            ("_PyRuntime", 0x800, 8),
            (
                // Names that came with these versions.
                match version.minor() {
                    9 => "PyObject_CallNoArgs",
                    10 => "Py_NewRef",
                    _ => "Py_Version",
                },
                0x600,
                8,
            ),
            ("PyCode_Type", 0x1800, 8),
            ("_PyEval_EvalFrameDefault", EVAL - BASE, 0x1000),
        ]);
        memory.set(BASE + 0x600, version.number);
        let runtime = BASE + 0x800;
        let minor = version.minor();
        if minor >= 13 {
            memory.put(runtime, b"xdebugpy");
            memory.set(runtime + 8, version.number);
            memory.set(runtime + 16, version.is_free_threaded.into());
            // The lock, threads, frames, code objects, texts; what lies between them grew in 3.14.
            let (gil, threads, frames, codes, texts) = match minor {
                13 => (14, 21, 29, 35, 70),
                _ => (15, 24, 32, 40, 80),
            };
            for (index, place) in [
                (gil, 16),
                (5, version.interpreters),
                (8, version.next_interpreter),
                (9, version.threads),
                (threads, 8),
                (threads + 2, version.first),
                (threads + 4, version.identity),
                (frames, version.previous),
                (frames + 1, version.code),
                (frames + 2, version.place),
                (frames + 4, if minor == 13 { 70 } else { 74 }),
                (codes, version.file),
                (codes + 2, version.name),
                (codes + 3, version.table),
                (codes + 4, version.first_line),
                (codes + 8, version.instructions),
                (texts, version.ascii),
            ] {
                memory.set(runtime + 8 * index, place);
            }
        }
        let (interpreter, thread) = (BASE + 0x6000, BASE + 0x5000);
        memory.set(runtime + version.interpreters, interpreter);
        memory.set(interpreter + version.threads, thread);
        if let Some(offset) = version.pointer_to_lock() {
            memory.set(interpreter + offset, SWITCH);
        }
        memory.set(thread + version.identity, version.identity_of_thread());
        memory.set(GLIBC + 16, GLIBC);
        memory.put(GLIBC + 720, &(OWN as u32).to_le_bytes());
        let codes = ["called", "inner", "outer"].map(|name| {
            let at = BASE + 0xa000 + 0x800 * u64::from(name.as_bytes()[0] - b'a') / 4;
            for (place, text) in [(version.file, "/srv/shop/web.py"), (version.name, name)] {
                let object = at + 0x100 + 8 * place;
                memory.set(object + version.header(), text.len() as u64);
                memory.put(
                    object + version.header() + 16,
                    &(1u32 << 2 | 1 << 5 | 1 << 6).to_le_bytes(),
                );
                memory.put(object + version.ascii, text.as_bytes());
                memory.set(at + place, object);
            }
            memory.set(at + version.header() - 8, BASE + 0x1800);
            // Two instructions of the first line, then two of each further one.
            memory.put(at + version.first_line, &30u32.to_le_bytes());
            let (begin, further): (&[u8], &[u8]) = match minor {
                9 => (&[4, 1], &[4, 1]),
                10 => (&[4, 0], &[4, 1]),
                _ => (&[0xd1, 0, 0], &[0xd9, 0, 0]),
            };
            let table = [begin, &further.repeat(9)].concat();
            memory.set(at + 0x700 + version.header(), table.len() as u64);
            memory.put(at + 0x700 + version.header() + 16, &table);
            memory.set(at + version.table, at + 0x700);
            at
        });
        let calls = [STACK + 0x100, STACK + 0x300];
        let frame = |index: u64| BASE + 0x4000 + 0x80 * index;
        // Address, code, and whether it is the last of its call; with 3.12 a frame on the stack follows.
        let mut chain = Vec::new();
        let linked = version.number >> 16 == 0x030b;
        let entry = |is: bool| if linked { u64::from(is) << 32 } else { 0 };
        let on_stack = if minor == 14 { 3 << 16 } else { 3 << 48 };
        chain.push((frame(2), codes[0], entry(true)));
        if minor > 11 {
            chain.push((calls[0], 0, on_stack));
        }
        chain.push((frame(1), codes[1], entry(false)));
        chain.push((frame(0), codes[2], entry(true)));
        if minor > 11 {
            chain.push((calls[1], 0, on_stack));
        }
        let mut first = frame(2);
        if linked {
            stack.set(calls[0] + 8, frame(2));
            stack.set(calls[0] + 16, calls[1]);
            stack.set(calls[1] + 8, frame(1));
            stack.set(calls[1] + 16, thread + 0x400);
        }
        if (11..13).contains(&minor) {
            first = calls[0];
        }
        let mut copied: Vec<u64> = vec![thread, version.identity_of_thread(), first, 0, 0, 0];
        let mut count = 0;
        for (address, code, flags) in chain {
            let word = |offset: u64| memory.get(code + offset).unwrap_or(0);
            // Each runs one instruction later than the one that it called; the innermost has not begun.
            let first = match minor {
                ..11 => 0,
                _ => code + version.instructions,
            };
            let bytes = if minor == 10 { 1 } else { 2 };
            let place = first.wrapping_sub(bytes).wrapping_add(bytes * count);
            count += 3;
            let names = [word(version.name), word(version.file)];
            copied.extend([address, code, flags, place, names[0], names[1]]);
        }
        Process {
            memory,
            stack,
            copied: copied.into_iter().flat_map(u64::to_le_bytes).collect(),
            calls,
        }
    }

    fn attach(&self) -> io::Result<Attached> {
        attach(RuntimeKind::Python, &Pages::new(&self.memory, 64), BASE)
    }

    /// The runs of a walk, when nothing is lacking any more; none: they are not certain.
    fn runs(&self, attached: &Attached, known: &mut Known, names: &mut Names) -> Option<Runs> {
        let copied = Interpreted {
            thread: TID,
            copied: &self.copied,
        };
        for turn in 0..4 {
            let mut runs = Runs::default();
            known.begin(turn);
            let is_certain = attached.interpreted(known, &copied, &self.stack, &mut runs);
            let asks = known.take_asks();
            if asks.is_empty() {
                return is_certain.then_some(runs);
            }
            let own = |lack: &Lack| match *lack {
                Lack::Thread(thread, _) => Lack::Thread(thread, OWN as u32),
                other => other,
            };
            let owned: Vec<Lack> = asks.iter().map(own).collect();
            let found = attached.read(&Pages::new(&self.memory, 64), &owned);
            known.come(&asks, Some(found), names, turn);
        }
        None
    }

    fn word(&mut self, index: usize) -> &mut [u8] {
        &mut self.copied[8 * index..8 * index + 8]
    }
}

/// The runs, each with its place.
fn told(runs: &Runs, names: &Names) -> Vec<(u64, Vec<String>)> {
    let mut from = 0;
    let mut all = Vec::new();
    for (at, end) in &runs.ends {
        let text =
            |id| String::from_utf8_lossy(&names.get(id).expect("a name").function).into_owned();
        let run = runs.functions[from..*end]
            .iter()
            .map(|function| text(function.name));
        all.push((*at, run.collect()));
        from = *end;
    }
    all
}

#[test]
fn functions_of_each_version_are_told_by_the_calls_that_run_them() {
    for version in VERSIONS {
        let process = Process::new(&version);
        let attached = process.attach().expect("it tells of itself");
        assert_eq!(attached.interpreter(), Some(EVAL..EVAL + 0x1000));
        let (mut known, mut names) = (Known::default(), Names::default());
        let runs = process.runs(&attached, &mut known, &mut names);
        let runs = runs.unwrap_or_else(|| panic!("{:x}", version.number));
        let expected = version.runs(process.calls);
        assert_eq!(told(&runs, &names), expected, "{:x}", version.number);
        assert!(!runs.is_cut);
        let lines: Vec<u16> = runs
            .functions
            .iter()
            .map(|function| function.line)
            .collect();
        // The innermost one has not begun.
        assert_eq!(lines, version.lines, "{:x}", version.number);
    }
}

#[test]
fn wait_on_the_lock_tells_the_thread_that_holds_it() {
    const OTHER: u32 = TID + 1;
    const OTHER_OWN: u32 = 99;
    for version in VERSIONS {
        let mut process = Process::new(&version);
        let (thread, other, glibc) = (BASE + 0x5000, BASE + 0x5800, GLIBC + 0x800);
        let is_own = version.minor() >= 11;
        let identity = if is_own { OTHER_OWN.into() } else { glibc };
        process.memory.set(thread + 8, other);
        process.memory.set(other + version.identity, identity);
        process.memory.set(glibc + 16, glibc);
        let number = OTHER_OWN.to_le_bytes();
        process.memory.put(glibc + 720, &number);
        let attached = process.attach().expect("it tells of itself");
        let (mut known, mut names) = (Known::default(), Names::default());
        assert!(process.runs(&attached, &mut known, &mut names).is_some());
        let asked = [Lack::Thread(OTHER, OTHER_OWN)];
        let found = attached.read(&Pages::new(&process.memory, 64), &asked);
        known.come(&[Lack::Thread(OTHER, 0)], Some(found), &mut names, 9);

        let lock = version.lock();
        let mut wait_at = |address: u64, holder: u64, is_held: u64| {
            process.word(4).copy_from_slice(&holder.to_le_bytes());
            process.word(5).copy_from_slice(&is_held.to_le_bytes());
            let copied = Interpreted {
                thread: TID,
                copied: &process.copied,
            };
            attached.wait(&known, &copied, address)
        };
        let held = Some(Wait {
            holder: Some(OTHER),
        });
        let free = Some(Wait { holder: None });
        assert_eq!(wait_at(lock + 32, other, 1), held);
        // The upper half of the word belongs to another field.
        assert_eq!(wait_at(lock + 207, other, 7 << 32 | 1), held);
        assert_eq!(wait_at(lock + 32, other, 0), free);
        // Who gives a lock away waits for the next one; of others nothing is known.
        assert_eq!(wait_at(lock + 32, thread, 1), free);
        assert_eq!(wait_at(lock + 32, 4711, 1), free);
        for address in [0, lock, lock + 31, lock + 208, u64::MAX] {
            assert_eq!(wait_at(address, other, 1), None);
        }
    }
}

#[test]
fn chain_of_another_thread_or_without_a_copy_tells_nothing_and_is_asked_for() {
    for version in VERSIONS {
        let mut process = Process::new(&version);
        let attached = process.attach().expect("it tells of itself");
        let (mut known, mut names) = (Known::default(), Names::default());
        process.word(1).copy_from_slice(&18u64.to_le_bytes());
        assert!(process.runs(&attached, &mut known, &mut names).is_none());
        let thread = known.take_uncopied().expect("it is known");
        let chain = attached.chain(&thread).expect("it has one");
        assert_eq!(chain.thread, BASE + 0x5000);
        process.copied.clear();
        assert!(process.runs(&attached, &mut known, &mut names).is_none());
        let thread = known.take_uncopied().expect("it is known");
        let chain = attached.chain(&thread).expect("it has one");
        assert_eq!(
            chain.tags,
            if version.number >= 0x030e_0000 { 3 } else { 0 }
        );
        assert_eq!(u64::from(chain.identity), version.identity);
    }
}

#[test]
fn code_object_that_is_another_one_by_now_has_no_name_and_leaves_the_others_theirs() {
    for version in VERSIONS {
        let mut process = Process::new(&version);
        let attached = process.attach().expect("it tells of itself");
        let (mut known, mut names) = (Known::default(), Names::default());
        // The word of the innermost function's object by which it is known again.
        process.word(6 + 4).copy_from_slice(&77u64.to_le_bytes());
        let runs = process.runs(&attached, &mut known, &mut names);
        let runs = runs.expect("the others are certain");
        let (innermost, others) = runs.functions.split_first().expect("functions");
        assert_eq!(*innermost, Function::UNREAD);
        assert!(!others.is_empty() && others.iter().all(|other| names.get(other.name).is_some()));
    }
}

#[test]
fn version_that_is_not_known_is_refused_and_never_asked_again() {
    for number in [0x0308_00f0, 0x030f_00f0, 0, u64::MAX] {
        let mut process = Process::new(&VERSIONS[2]);
        process.memory.set(BASE + 0x600, number);
        let error = process.attach().expect_err("it is not known");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
    let mut process = Process::new(&VERSIONS[5]);
    process.memory.set(BASE + 0x800 + 16, 1);
    let error = process.attach().expect_err("3.14t");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
}

#[test]
fn ring_of_threads_without_numbers_ends() {
    for version in VERSIONS {
        let mut process = Process::new(&version);
        let attached = process.attach().expect("it tells of itself");
        let thread = BASE + 0x10000 - 0x20;
        process.memory.set(BASE + 0x6000 + version.threads, thread);
        process.memory.set(thread + 8, thread);
        let found = attached.read(&Pages::new(&process.memory, 64), &[Lack::Thread(TID, 1)]);
        assert!(matches!(found[..], [Found::Thread(TID, None)]), "{found:?}");
    }
}

#[test]
fn memory_that_lies_ends_in_bounded_time_and_in_no_panic() {
    let mut draw = Draw(1);
    let (mut attached, mut longest, mut rounds) = (0, Duration::ZERO, 0);
    let begin = Instant::now();
    let whole = VERSIONS.map(|version| Process::new(&version));
    while rounds < 30_000 && begin.elapsed() < Duration::from_secs(10) {
        rounds += 1;
        let mut process = whole[rounds % whole.len()].clone();
        for _ in 0..1 + draw.below(4) {
            let lie = match draw.below(7) {
                0 => u64::MAX,
                1 => 1 << 63,
                2 => 0,
                3 => draw.next(),
                4 => BASE + 8 * draw.below(0x2000) as u64,
                5 => STACK + 8 * draw.below(0x200) as u64,
                _ => 1 << draw.below(64),
            };
            let lie = lie.to_le_bytes();
            match draw.below(3) {
                0 => {
                    let at = 8 * draw.below(process.memory.1.len() / 8 - 1);
                    process.memory.1[at..at + 8].copy_from_slice(&lie);
                }
                1 => {
                    let at = 8 * draw.below(process.stack.1.len() / 8 - 1);
                    process.stack.1[at..at + 8].copy_from_slice(&lie);
                }
                _ => {
                    let at = draw.below(process.copied.len() - 8);
                    process.copied[at..at + 8].copy_from_slice(&lie);
                    let length = process.copied.len() - draw.below(2) * draw.below(40);
                    process.copied.truncate(length);
                }
            }
        }
        let round = Instant::now();
        if let Ok(runtime) = process.attach() {
            attached += 1;
            let (mut known, mut names) = (Known::default(), Names::default());
            let copied = Interpreted {
                thread: TID,
                copied: &process.copied,
            };
            runtime.wait(&known, &copied, BASE + draw.next() % 0x10000);
            if let Some(runs) = process.runs(&runtime, &mut known, &mut names) {
                let ends = runs.ends.iter().map(|(_, end)| *end);
                assert!(ends.is_sorted() && runs.functions.len() <= process.copied.len() / 48);
            }
        }
        longest = longest.max(round.elapsed());
    }
    assert!(attached > rounds / 2, "{attached} of {rounds}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
