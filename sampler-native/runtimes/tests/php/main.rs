//! PHP's functions by made-up memory of each version that is known, and by memory that lies.

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
    Attached, Interpreted, Known, Names, Order, Pages, Runs, RuntimeKind, attach,
};

const BASE: u64 = 0x5000_0000;
const EXECUTE: u64 = BASE + 0x2000;
const GLOBALS: u64 = BASE + 0x3000;
const MODULE: u64 = BASE + 0x4000;
const FUNCTIONS: u64 = BASE + 0x8000;
const FRAMES: u64 = BASE + 0xe000;
const TID: u32 = 4321;
/// Where the table of functions is said to be.
const TABLE: u64 = 0x77;
const TOP: u64 = 1 << 17;

/// Numbers of interfaces, and places in a function: how many instructions there are, their address, the file.
const VERSIONS: [(u32, [u64; 3]); 5] = [
    (20_200_930, [68, 72, 144]),
    (20_210_902, [68, 72, 144]),
    (20_220_829, [80, 88, 152]),
    (20_230_831, [76, 80, 144]),
    (20_240_924, [96, 104, 168]),
];

/// A process in which the script called `Cart::total`, that `array_map`, and that a closure.
#[derive(Clone)]
struct Process {
    memory: Area,
    copied: Vec<u8>,
}

/// Kind, class, name, and the instruction that runs.
const CALLED: [(u64, &str, &str, u64); 4] = [
    (2, "", "{closure}", 1),
    (1, "", "array_map", 0),
    (2, "Cart", "total", 3),
    (4, "", "", 2),
];

impl Process {
    fn new((interface, [count, instructions, file]): (u32, [u64; 3])) -> Process {
        let mut memory = Area(BASE, vec![0; 0x10000]);
        memory.export(&[
            ("executor_globals", GLOBALS - BASE, 0x708),
            ("module_registry", 0x3800, 56),
            ("execute_ex", EXECUTE - BASE, 0x1000),
        ]);
        memory.set(GLOBALS + 432, TABLE);
        memory.set(GLOBALS + 488, FRAMES);
        memory.set(BASE + 0x3800 + 16, BASE + 0x3900);
        memory.put(BASE + 0x3800 + 24, &9u32.to_le_bytes());
        memory.set(BASE + 0x3900, MODULE);
        memory.put(MODULE + 4, &interface.to_le_bytes());
        memory.set(MODULE + 88, MODULE + 0x200);
        memory.put(MODULE + 0x200, b"8.9.1-x");
        let text = |memory: &mut Area, at: u64, text: &str| {
            memory.set(at + 16, text.len() as u64);
            memory.put(at + 24, text.as_bytes());
        };
        let mut copied = vec![GLOBALS, TABLE, FRAMES, 0, 0, 0];
        for (index, (kind, class, name, runs)) in (0..).zip(CALLED) {
            let at = FUNCTIONS + 0x800 * index;
            memory.set(at, kind);
            if !name.is_empty() {
                memory.set(at + 8, at + 0x100);
                text(&mut memory, at + 0x100, name);
            }
            if !class.is_empty() {
                memory.set(at + 16, at + 0x180);
                memory.set(at + 0x180 + 8, at + 0x200);
                text(&mut memory, at + 0x200, class);
            }
            let code = at + 0x300;
            if kind != 1 {
                memory.put(at + count, &5u32.to_le_bytes());
                memory.set(at + instructions, code);
                memory.set(at + file, at + 0x280);
                memory.put(at + file + 8, &20u32.to_le_bytes());
                text(&mut memory, at + 0x280, "/srv/shop/cart.php");
                for instruction in 0..5u64 {
                    let line = 20 + instruction as u32;
                    memory.put(code + 32 * instruction + 24, &line.to_le_bytes());
                }
            }
            let words = [8, instructions].map(|offset| memory.get(at + offset).unwrap_or(0));
            let frame = FRAMES + 0x80 * index;
            let call = if index % 3 == 0 || index == 1 { TOP } else { 0 };
            copied.extend([frame, at, call, code + 32 * runs, words[0], words[1]]);
        }
        Process {
            memory,
            copied: copied.into_iter().flat_map(u64::to_le_bytes).collect(),
        }
    }

    fn attach(&self) -> io::Result<Attached> {
        attach(RuntimeKind::Php, &Pages::new(&self.memory, 64), BASE)
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
            let found = attached.read(&Pages::new(&self.memory, 64), &asks);
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
        let name = names.get(function.name).expect("a name");
        let text = String::from_utf8_lossy(&name.function).into_owned();
        (text, function.line)
    });
    functions.collect()
}

fn ends(runs: &Runs) -> Vec<usize> {
    runs.ends.iter().map(|(_, end)| *end).collect()
}

#[test]
fn functions_of_each_version_are_told_by_runs_and_those_of_c_belong_to_their_callers() {
    for version in VERSIONS {
        let process = Process::new(version);
        let attached = process.attach().expect("it tells of itself");
        assert_eq!(attached.interpreter(), Some(EXECUTE..EXECUTE + 0x1000));
        let (mut known, mut names) = (Known::default(), Names::default());
        let runs = process.runs(&attached, &mut known, &mut names);
        let runs = runs.unwrap_or_else(|| panic!("{version:?}"));
        let expected = [
            ("{closure} (shop/cart.php:20)", 21),
            ("array_map", 0),
            ("Cart::total", 23),
            ("shop/cart.php", 22),
        ];
        let expected = expected.map(|(name, line)| (name.to_owned(), line));
        assert_eq!(told(&runs, &names), expected, "{version:?}");
        assert_eq!(ends(&runs), [1, 4]);
        assert_eq!((runs.order, runs.is_cut), (Order::Whole, false));
    }
}

#[test]
fn frames_without_a_function_are_left_out_and_a_fiber_ends_at_its_first_function() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    // As PHP writes where C calls in the midst of a function: a copy of that frame, but for the function.
    process.set(6 + 2 * 6 + 1, 0);
    process.set(6 + 2 * 6 + 2, TOP);
    let runs = process.runs(&attached, &mut known, &mut names);
    assert_eq!(ends(&runs.expect("certain")), [1, 3]);
    // A function of C without a name, behind which is another stack.
    let mut process = Process::new(VERSIONS[2]);
    process.memory.set(FUNCTIONS + 0x800 + 8, 0);
    process.set(6 + 6 + 4, 0);
    process.set(3, FRAMES);
    let (mut known, mut names) = (Known::default(), Names::default());
    let runs = process
        .runs(&attached, &mut known, &mut names)
        .expect("certain");
    assert_eq!((ends(&runs), runs.order), (vec![1], Order::Whole));
    assert_eq!(runs.functions.len(), 1);
}

#[test]
fn function_that_is_gone_before_it_is_read_has_no_name_and_leaves_the_others_theirs() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(6 + 2 * 6 + 1, 8);
    let runs = process.runs(&attached, &mut known, &mut names);
    let runs = runs.expect("the others are certain");
    assert_eq!(ends(&runs), [1, 4]);
    let is_named = runs.functions.iter().map(|f| names.get(f.name).is_some());
    assert_eq!(is_named.collect::<Vec<_>>(), [true, true, false, true]);
    // Of none of them is there a name.
    for node in [0, 1, 3] {
        process.set(6 + node * 6 + 1, 8);
    }
    let (mut known, mut names) = (Known::default(), Names::default());
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
}

#[test]
fn functions_of_c_that_no_function_of_php_called_are_left_out() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.copied.truncate(8 * (4 + 2 * 6));
    let runs = process
        .runs(&attached, &mut known, &mut names)
        .expect("certain");
    assert_eq!((ends(&runs), runs.functions.len()), (vec![1], 1));
}

#[test]
fn chain_that_was_not_copied_to_its_end_is_cut_if_it_is_long_and_else_nothing() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(3, FRAMES);
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
    let inner = process.copied[8 * (6 + 2 * 6)..8 * (6 + 3 * 6)].repeat(124);
    process.copied.extend(inner);
    let runs = process
        .runs(&attached, &mut known, &mut names)
        .expect("certain");
    assert_eq!((runs.order, runs.is_cut), (Order::Inner, true));
    assert_eq!((ends(&runs), runs.functions.len()), (vec![1, 4], 128));
}

#[test]
fn copy_of_other_globals_tells_nothing_and_is_asked_for() {
    let mut process = Process::new(VERSIONS[2]);
    let attached = process.attach().expect("it tells of itself");
    let (mut known, mut names) = (Known::default(), Names::default());
    process.set(1, 78);
    assert!(process.runs(&attached, &mut known, &mut names).is_none());
    let thread = known.take_uncopied().expect("it is known");
    let chain = attached.chain(&thread).expect("it has one");
    assert_eq!(chain.thread, GLOBALS);
    assert_eq!((chain.first, chain.next, chain.object), (488, 48, 24));
}

#[test]
fn version_that_is_not_known_is_refused_by_name_and_one_that_starts_is_asked_again() {
    let mut process = Process::new((20_990_101, VERSIONS[4].1));
    let error = process.attach().expect_err("it is not known");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "PHP 8.9.1-x is not known");
    process = Process::new(VERSIONS[2]);
    process.memory.put(MODULE + 9, &[1]);
    let error = process.attach().expect_err("a build for threads");
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    process = Process::new(VERSIONS[2]);
    process.memory.put(BASE + 0x3800 + 24, &[0; 4]);
    let error = process.attach().expect_err("it starts");
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
                4 => BASE + 8 * draw.below(0x2000) as u64,
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
                assert!(runs.functions.len() <= process.copied.len() / 48);
            }
        }
        longest = longest.max(round.elapsed());
    }
    assert!(attached > rounds / 2, "{attached} of {rounds}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
