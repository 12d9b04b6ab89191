//! Ruby's functions by made-up memory of each version that is known, and by memory that lies.

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
    Attached, Interpreted, Known, Lack, NameId, Names, Order, Pages, Runs, RuntimeKind, attach,
};

const BASE: u64 = 0x5000_0000;
const VERSION: u64 = BASE + 0x1000;
const POINTER: u64 = BASE + 0x1100;
const CODE: u64 = BASE + 0x1200;
const INTERPRETER: u64 = BASE + 0x1800;
const MACHINE: u64 = BASE + 0x2000;
const THREAD: u64 = BASE + 0x3000;
const NATIVE: u64 = BASE + 0x3400;
const CONTEXT: u64 = BASE + 0x3800;
const FRAMES: u64 = BASE + 0x3900;
const SYMBOLS: u64 = BASE + 0x4000;
/// Texts of symbols: pairs of words, of which the first one counts.
const TEXTS: u64 = BASE + 0x4400;
const TOTAL: u64 = BASE + 0x6000;
const BLOCK: u64 = BASE + 0x6800;
const MAIN: u64 = BASE + 0x7000;
const OF_TOTAL: u64 = BASE + 0x7800;
const OF_TIMES: u64 = BASE + 0x7900;
const CART: u64 = BASE + 0x8000;
const INTEGER: u64 = BASE + 0x8400;
const END: u64 = 0x9000;
const TID: u32 = 4321;
const NODE: usize = 6 * 8;
const HEAD: usize = 6 * 8;

/// Numbers of symbols.
const CLASSPATH: u64 = 40;
const ATTACHED: u64 = 41;
const TIMES: u64 = 42;

/// Places in a process of one version.
#[derive(Clone, Copy, Debug)]
struct Version {
    text: &'static str,
    /// In a thread: the machine, the context, and a word by which it is known again.
    thread: [u64; 3],
    /// Bytes of a frame, and of an entry of the table of lines.
    frame: u64,
    line: u64,
    /// In a body: the table of lines, and the outermost function around it.
    body: [u64; 2],
    /// Where the number of a thread is from.
    number: Number,
    /// A class has its name, and a class of one object this object.
    is_named: bool,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    There(u64),
    Through(u64),
    OfLibrary(u64),
}

const OLD: Version = Version {
    text: "2.7.4",
    thread: [24, 32, 72],
    frame: 56,
    line: 8,
    body: [120, 176],
    number: Number::OfLibrary(72),
    is_named: false,
};
const NEW: Version = Version {
    text: "3.2.3",
    thread: [32, 48, 40],
    frame: 64,
    line: 12,
    body: [112, 168],
    number: Number::Through(16),
    is_named: true,
};
const VERSIONS: [Version; 6] = [
    OLD,
    Version {
        text: "3.0.2",
        thread: [32, 40, 80],
        number: Number::OfLibrary(80),
        ..OLD
    },
    Version {
        text: "3.1.2",
        thread: [32, 40, 80],
        number: Number::There(88),
        frame: 64,
        line: 12,
        ..OLD
    },
    NEW,
    Version {
        text: "3.3.8",
        frame: 56,
        number: Number::Through(24),
        ..NEW
    },
    Version {
        text: "3.4.1",
        frame: 56,
        number: Number::Through(24),
        ..NEW
    },
];

/// A process in which the main program called `Cart#total`, that `Integer#times`, and that a block.
#[derive(Clone)]
struct Process {
    version: Version,
    memory: Area,
    copied: Vec<u8>,
}

impl Process {
    fn new(version: Version) -> Process {
        let mut process = Process {
            version,
            memory: Area(BASE, vec![0; END as usize]),
            copied: Vec::new(),
        };
        process.memory.export(&[
            ("ruby_version", VERSION - BASE, 6),
            ("ruby_current_vm_ptr", POINTER - BASE, 8),
            ("rb_sym_all_symbols", CODE - BASE, 64),
        ]);
        process.put_machine();
        process.put_symbols();
        process.put_class(CART, "Cart", CLASSPATH);
        process.put_class(INTEGER, "Integer", CLASSPATH);
        process.put_sequence(TOTAL, ["total", "total"], TOTAL, 20);
        process.put_sequence(BLOCK, ["block in total", "total"], TOTAL, 30);
        process.put_sequence(MAIN, ["<main>", "<main>"], MAIN, 40);
        process.put_method(OF_TOTAL, CART, 0, TOTAL);
        process.put_method(OF_TIMES, INTEGER, 1, TIMES << 4 | 1);
        process.put_copy();
        process
    }

    fn put_machine(&mut self) {
        let version = self.version;
        let memory = &mut self.memory;
        memory.put(VERSION, version.text.as_bytes());
        memory.set(POINTER, MACHINE);
        memory.set(MACHINE + 8 * 9, THREAD);
        memory.set(THREAD, THREAD);
        let [machine, context, identity] = version.thread;
        memory.set(THREAD + machine, MACHINE);
        memory.set(THREAD + context, CONTEXT);
        memory.set(THREAD + identity, NATIVE);
        match version.number {
            Number::There(at) => memory.put(THREAD + at, &TID.to_le_bytes()),
            Number::Through(at) => memory.put(NATIVE + at, &TID.to_le_bytes()),
            Number::OfLibrary(at) => {
                memory.set(THREAD + at, NATIVE);
                memory.put(NATIVE + 720, &TID.to_le_bytes());
            }
        }
        memory.set(CONTEXT, FRAMES);
        memory.set(CONTEXT + 8, version.frame / 8);
        memory.set(CONTEXT + 16, FRAMES);
        let is_first = version.text.starts_with("2.7");
        memory.set(CONTEXT + if is_first { 56 } else { 48 }, THREAD);
        memory.set(FRAMES, MAIN + 0x400);
        memory.set(FRAMES + 16, MAIN);
    }

    fn put_symbols(&mut self) {
        // An instruction that takes the address of the table, by its distance.
        let distance = (SYMBOLS - (CODE + 7)) as i32;
        self.memory.put(CODE + 3, &distance.to_le_bytes());
        self.memory.put(SYMBOLS, &600u32.to_le_bytes());
        self.memory.set(SYMBOLS + 16, SYMBOLS + 0x100);
        self.put_array(SYMBOLS + 0x100, 2, SYMBOLS + 0x200);
        for index in 0..2 {
            self.memory
                .set(SYMBOLS + 0x200 + 8 * index, SYMBOLS + 0x300);
        }
        self.put_array(SYMBOLS + 0x300, 1024, TEXTS);
        let names = [
            (CLASSPATH, "__classpath__"),
            (ATTACHED, "__attached__"),
            (TIMES, "times"),
        ];
        for (index, (number, name)) in (0..).zip(names) {
            let at = SYMBOLS + 0x380 + 0x28 * index;
            self.put_text(at, name);
            self.memory.set(TEXTS + 16 * number, at);
        }
    }

    fn put_array(&mut self, at: u64, count: u64, objects: u64) {
        self.memory.set(at, 7);
        self.memory.set(at + 16, count);
        self.memory.set(at + 32, objects);
    }

    /// A text of up to 15 letters.
    fn put_text(&mut self, at: u64, text: &str) {
        let length = text.len() as u64;
        match self.version.is_named {
            true => {
                self.memory.set(at, 5);
                self.memory.set(at + 16, length);
                self.memory.put(at + 24, text.as_bytes());
            }
            false => {
                self.memory.set(at, 5 | length << 14);
                self.memory.put(at + 16, text.as_bytes());
            }
        }
    }

    /// A class with a value: of the symbol of its name, or of the object that it is the class of.
    fn put_class(&mut self, at: u64, name: &str, symbol: u64) {
        self.memory.set(at, 2);
        self.put_text(at + 0x300, name);
        self.put_value(at, symbol, at + 0x300);
    }

    fn put_value(&mut self, at: u64, symbol: u64, value: u64) {
        let is_name = symbol == CLASSPATH;
        if self.version.is_named {
            self.memory.set(at + 152, if is_name { value } else { 0 });
            self.memory.set(at + 128, if is_name { 0 } else { value });
            return;
        }
        let (rest, table, entries) = (at + 0x100, at + 0x180, at + 0x200);
        self.memory.set(at + 24, rest);
        self.memory.set(rest + 8, table);
        self.memory.set(table + 40, 1);
        self.memory.set(table + 48, entries);
        self.memory.set(entries + 8, symbol << 4 | 1);
        self.memory.set(entries + 16, value);
    }

    /// An instruction sequence of five words, of which the third one begins a line.
    fn put_sequence(&mut self, at: u64, [label, base]: [&str; 2], outermost: u64, line: u32) {
        let [lines, of] = self.version.body;
        let (body, path, code) = (at + 0x100, at + 0x300, at + 0x400);
        self.memory.set(at, 0x1a | 7 << 12);
        self.memory.set(at + 16, body);
        self.memory.put(body + 4, &5u32.to_le_bytes());
        self.memory.set(body + 8, code);
        self.memory.set(code, INTERPRETER);
        // Two paths, the second one whole.
        self.memory.set(body + 64, path);
        self.memory.set(path, 7 | 1 << 13 | 2 << 15);
        self.memory.set(path + 16, path + 0x40);
        self.memory.set(path + 24, path + 0x80);
        self.put_text(path + 0x40, "cart.rb");
        self.put_text(path + 0x80, "/a/shop/cart.rb");
        self.memory.set(body + 72, at + 0x500);
        self.memory.set(body + 80, at + 0x540);
        self.put_text(at + 0x500, base);
        self.put_text(at + 0x540, label);
        self.memory.set(body + of, outermost);
        let (entries, dictionary) = (at + 0x580, at + 0x5c0);
        self.memory.set(body + lines, entries);
        self.memory.put(body + lines + 16, &2u32.to_le_bytes());
        self.memory.set(body + lines + 24, dictionary);
        for index in 0..2u32 {
            let at = entries + self.version.line * u64::from(index);
            self.memory.put(at, &(line + index).to_le_bytes());
        }
        let sums = (0..9).map(|place| if place < 2 { 1u64 } else { 2 } << (7 * place));
        self.memory.set(dictionary, sums.sum());
    }

    fn put_method(&mut self, at: u64, class: u64, kind: u32, defined: u64) {
        let definition = at + 0x40;
        self.memory.set(at, 0x1a | 6 << 12);
        self.memory.set(at + 16, definition);
        self.memory.set(at + 32, class);
        self.memory.put(definition, &kind.to_le_bytes());
        let place = if kind == 0 { 8 } else { 32 };
        self.memory.set(definition + place, defined);
    }

    /// The innermost first: object, flags, the word of instructions that comes next, and the method.
    fn put_copy(&mut self) {
        let frames = [
            (BLOCK, 0x2222_0021, 3, OF_TOTAL),
            (OF_TIMES, 0x5555_0081, 0, OF_TIMES),
            (TOTAL, 0x1111_0003, 1, OF_TOTAL),
            (MAIN, 0x7777_0021, 3, 0),
            (0, 0x7999_00a1, 0, 0),
        ];
        let mut copied = vec![THREAD, NATIVE, CONTEXT, 0, 0, 0];
        for (index, (object, flags, place, method)) in (0..).zip(frames) {
            let body = self.memory.get(object + 16).unwrap_or(0);
            let frame = FRAMES + self.version.frame * index;
            let place = if place == 0 {
                0
            } else {
                object + 0x400 + 8 * place
            };
            copied.extend([frame, object, flags, place, body, method]);
        }
        self.copied = copied.into_iter().flat_map(u64::to_le_bytes).collect();
    }

    fn attach(&self) -> io::Result<Attached> {
        attach(RuntimeKind::Ruby, &Pages::new(&self.memory, 64), BASE)
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
            let is_certain = attached.interpreted(known, &copied, &self.memory, &mut runs);
            let asks = known.take_asks();
            if asks.is_empty() {
                return is_certain.then_some(runs);
            }
            let own = asks.iter().map(|lack| match *lack {
                Lack::Thread(thread, _) => Lack::Thread(thread, TID),
                other => other,
            });
            let own: Vec<Lack> = own.collect();
            let found = attached.read(&Pages::new(&self.memory, 64), &own);
            known.come(&asks, Some(found), names, turn);
        }
        None
    }

    fn set(&mut self, word: usize, value: u64) {
        self.copied[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
    }
}

/// The names, each with its line.
fn told(runs: &Runs, names: &Names) -> Vec<(String, u16)> {
    let functions = runs.functions.iter().map(|function| {
        let name = names.get(function.name).map(|name| &*name.function);
        let name = String::from_utf8_lossy(name.unwrap_or(b"?")).into_owned();
        (name, function.line)
    });
    functions.collect()
}

fn ends(runs: &Runs) -> Vec<usize> {
    runs.ends.iter().map(|(_, end)| *end).collect()
}

/// What is told of a process as it is made, with other names in these places.
fn expected(others: &[(usize, &str)]) -> Vec<(String, u16)> {
    let mut all = [
        ("block in Cart#total", 31),
        ("Integer#times", 0),
        ("Cart#total", 20),
        ("<main> (shop/cart.rb)", 41),
    ];
    for (place, name) in others {
        all[*place].0 = name;
    }
    all.map(|(name, line)| (name.to_owned(), line)).to_vec()
}

#[test]
fn functions_of_each_version_are_told_by_runs_and_those_of_c_belong_to_their_callers() {
    for version in VERSIONS {
        let process = Process::new(version);
        let attached = process.attach().expect("it tells of itself");
        assert_eq!(attached.interpreter(), Some(INTERPRETER..INTERPRETER + 1));
        let (mut known, mut names) = (Known::default(), Names::default());
        let runs = process.runs(&attached, &mut known, &mut names);
        let runs = runs.unwrap_or_else(|| panic!("{version:?}"));
        assert_eq!(told(&runs, &names), expected(&[]), "{version:?}");
        assert_eq!(ends(&runs), [1, 4]);
        assert_eq!((runs.order, runs.is_cut), (Order::Whole, false));
    }
}

#[test]
fn method_of_a_class_itself_has_the_name_of_the_class_and_a_dot() {
    for version in VERSIONS {
        let mut process = Process::new(version);
        // The class of the class of numbers.
        let single = CART;
        process.memory.set(INTEGER + 8, single);
        process.put_value(single, ATTACHED, INTEGER);
        let attached = process.attach().expect("it tells of itself");
        let (mut known, mut names) = (Known::default(), Names::default());
        let runs = process.runs(&attached, &mut known, &mut names);
        let others = [(0, "block in Integer.total"), (2, "Integer.total")];
        let runs = runs.expect("certain");
        assert_eq!(told(&runs, &names), expected(&others), "{version:?}");
    }
}

#[test]
fn function_that_is_gone_before_it_is_read_has_no_name_and_leaves_the_others_theirs() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.memory.set(TOTAL, 0);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("certain");
    let mut expected = expected(&[(2, "?")]);
    expected[2].1 = 0;
    assert_eq!(told(&runs, &names), expected);
    assert_eq!(runs.functions[2].name, NameId::UNREAD);
    assert_eq!(ends(&runs), [1, 4]);
    // One of C, of which not even the method was copied, is not asked for.
    process.set(6 + 6 + 1, 0);
    known.begin(9);
    let copied = Interpreted {
        thread: TID,
        copied: &process.copied,
    };
    let mut runs = Runs::default();
    assert!(attached.interpreted(&mut known, &copied, &process.memory, &mut runs));
    assert_eq!(runs.functions[1].name, NameId::UNREAD);
    assert!(!known.is_lacking());
}

#[test]
fn code_of_eval_whose_place_code_of_another_method_has_now_has_no_name() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    let [_, outermost] = process.version.body;
    process.memory.set(BLOCK + 0x100 + outermost, MAIN);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("certain");
    let mut expected = expected(&[(0, "?")]);
    expected[0].1 = 0;
    assert_eq!(told(&runs, &names), expected);
}

#[test]
fn function_of_c_that_begins_a_fiber_belongs_to_the_functions_that_it_calls() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.copied.truncate(HEAD + 2 * NODE);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("certain");
    assert_eq!(told(&runs, &names), expected(&[])[..2]);
    assert_eq!((ends(&runs), runs.order), (vec![2], Order::Whole));
    // Without a function of Ruby there is no call of the interpreter.
    process.set(6 + 2, 0x2222_0003);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("certain");
    assert!(runs.functions.is_empty() && runs.ends.is_empty());
}

#[test]
fn copy_that_has_what_is_no_frame_or_ends_early_tells_nothing() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(6 + 6 + 2, 0x1234_0001);
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
    process = Process::new(VERSIONS[2]);
    process.set(3, FRAMES);
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
}

#[test]
fn copy_that_ended_before_the_frames_did_tells_those_that_it_has() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(3, FRAMES);
    let inner = process.copied[HEAD + 2 * NODE..HEAD + 3 * NODE].repeat(125);
    process.copied.truncate(HEAD + 3 * NODE);
    process.copied.extend(inner);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("certain");
    assert_eq!((runs.order, runs.is_cut), (Order::Inner, true));
    assert_eq!((ends(&runs), runs.functions.len()), (vec![1], 128));
}

#[test]
fn copy_of_another_thread_tells_nothing_and_one_of_this_is_asked_for() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(1, 78);
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
    let thread = known.take_uncopied().expect("it is known");
    let chain = attached.chain(&thread).expect("it has one");
    assert_eq!(chain.thread, THREAD);
    let array = chain.array.expect("it is an array");
    assert_eq!((chain.first, array.stride, array.environment), (40, 64, 32));
}

#[test]
fn version_that_is_not_known_is_refused_by_name_and_one_that_starts_is_asked_again() {
    for (text, told) in [
        ("3.5.0", "Ruby 3.5 is not known"),
        ("2.6.9", "Ruby 2.6 is not known"),
    ] {
        let mut process = Process::new(VERSIONS[2]);
        process.memory.put(VERSION, text.as_bytes());
        let error = process.attach().expect_err("it is not known");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert_eq!(error.to_string(), told);
    }
    let mut process = Process::new(VERSIONS[2]);
    process.memory.set(POINTER, 0);
    let error = process.attach().expect_err("it starts");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    process = Process::new(VERSIONS[2]);
    process.memory.set(FRAMES, 0);
    let error = process.attach().expect_err("it runs no function yet");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn memory_that_lies_ends_in_bounded_time_and_in_no_panic() {
    let mut draw = Draw(1);
    let (mut attached, mut longest, mut rounds) = (0, Duration::ZERO, 0);
    let begin = Instant::now();
    let whole = VERSIONS.map(Process::new);
    while rounds < 100_000 && begin.elapsed() < Duration::from_secs(10) {
        rounds += 1;
        let mut process = whole[rounds % whole.len()].clone();
        for _ in 0..1 + draw.below(4) {
            let lie = match draw.below(6) {
                0 => u64::MAX,
                1 => 1 << 63,
                2 => 0,
                3 => draw.next(),
                4 => BASE + 8 * draw.below(END as usize / 8) as u64,
                _ => 1 << draw.below(64),
            };
            let lie = lie.to_le_bytes();
            if draw.below(2) == 0 {
                let at = 8 * draw.below(process.memory.1.len() / 8 - 1);
                process.memory.1[at..at + 8].copy_from_slice(&lie);
            } else {
                let at = draw.below(process.copied.len() - 8);
                process.copied[at..at + 8].copy_from_slice(&lie);
                let length = process.copied.len() - draw.below(2) * draw.below(40);
                process.copied.truncate(length);
            }
        }
        let round = Instant::now();
        if let Ok(runtime) = process.attach() {
            attached += 1;
            let (mut known, mut names) = (Known::default(), Names::default());
            if let Some(runs) = process.runs(&runtime, &mut known, &mut names) {
                assert!(ends(&runs).is_sorted());
                assert!(runs.functions.len() <= process.copied.len() / NODE);
            }
        }
        longest = longest.max(round.elapsed());
    }
    assert!(attached > rounds / 2, "{attached} of {rounds}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
