//! A JVM's code, walked and named by its tables, and tables that lie.
#![cfg(target_arch = "x86_64")]

#[path = "../common/draw.rs"]
mod draw;
mod fake;
mod monitors;

use std::time::{Duration, Instant};

use draw::Draw;
use fake::{BASE, Compiled, Jvm};
use flametop_runtimes::{Attached, Called, Caller, Known, Names, Pages, Place, Stack, Step};

const SP: u64 = 0x7ffd_0000_0000;
const RBP: usize = 6;
const RSP: usize = 7;
const R13: usize = 13;

struct Words(Vec<u64>);

impl Stack for Words {
    fn word(&self, address: u64) -> Option<u64> {
        let at = address.checked_sub(SP)?;
        self.0
            .get((at / 8) as usize)
            .copied()
            .filter(|_| at % 8 == 0)
    }
}

/// One process, and what is known of it.
struct Walked {
    jvm: Jvm,
    attached: Attached,
    known: Known,
    names: Names,
    /// Files and lines of the functions of the last frame.
    lines: Vec<String>,
}

impl Walked {
    fn new(jvm: Jvm) -> Walked {
        Walked {
            attached: jvm.attach().expect("it tells of itself"),
            jvm,
            known: Known::default(),
            names: Names::default(),
            lines: Vec::new(),
        }
    }

    /// Steps until no table is missing any more; returns the step, the names of the frame, and how many of the names are guesses.
    fn step(&mut self, place: &Place, stack: &Words) -> (Step, Vec<String>, usize) {
        self.step_at(1, place, stack)
    }

    /// The same at a moment, ns.
    fn step_at(&mut self, now: u64, place: &Place, stack: &Words) -> (Step, Vec<String>, usize) {
        for _ in 0..4 {
            let mut called = Called::default();
            self.known.begin(now);
            let step = self
                .attached
                .step(&mut self.known, place, stack, &mut called);
            if !matches!(step, Step::Lacking | Step::Perhaps(_)) {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let (mut functions, mut lines) = (Vec::new(), Vec::new());
                for function in called.functions {
                    let name = self.names.get(function.name).expect("a name");
                    functions.push(text(&name.function));
                    lines.push(format!("{}:{}", text(&name.file), function.line));
                }
                self.lines = lines;
                return (step, functions, called.guessed);
            }
            let asks = self.known.take_asks();
            assert!(!asks.is_empty(), "it lacks nothing");
            let found = self.attached.read(&Pages::new(&self.jvm, 256), &asks);
            self.known.come(&asks, Some(found), &mut self.names, now);
        }
        panic!("it lacks more and more");
    }
}

fn place(pc: u64, is_return: bool) -> Place {
    let mut registers = [0x1234; 17];
    (registers[RSP], registers[RBP], registers[16]) = (SP, 0xbeef, pc);
    Place {
        registers,
        known: (1 << 17) - 1,
        is_return,
    }
}

/// `push %rbp; sub $16,%rsp; nop…; call; nop…; add $16,%rsp; pop %rbp; cmp; ja; ret`, and a byte of its deopt handler.
const CODE: [u8; 49] = [
    0x90, 0x90, 0x55, 0x48, 0x83, 0xec, 0x10, 0x90, 0x90, 0x90, 0x90, 0xe8, 1, 2, 3, 0x7f, 0x90,
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d,
    0x49, 0x3b, 0xa7, 1, 0, 0, 0, 0x0f, 0x87, 1, 0, 0, 0, 0xc3, 0x90, 0x90,
];
const RETURN: u64 = 16;
const FRAME: u32 = 4;

/// A JVM with `a.Caller.call`, in which `a.Inner.run` is inlined, and `a.Callee.leaf`; where their code begins.
fn two() -> (Jvm, u64, u64) {
    let mut jvm = Jvm::new();
    let outer = jvm.method("a/Caller", "call");
    let inner = jvm.method("a/Inner$$Lambda$7+0x0000000800c03000", "run");
    let leaf = jvm.method("a/Callee", "leaf");
    let (chain, own) = ([outer, inner], [leaf]);
    let (stops_of_caller, stops_of_callee) = (
        [(RETURN as u32, &chain[..])],
        [(8, &own[..]), (24, &own[..])],
    );
    let compiled = |method, number, stops| Compiled {
        method,
        code: &CODE,
        entry: 2,
        complete: 7,
        frame: FRAME,
        number,
        stops,
    };
    let caller = jvm.compiled(&compiled(outer, 1, &stops_of_caller[..]));
    let callee = jvm.compiled(&compiled(leaf, 2, &stops_of_callee[..]));
    (jvm, caller, callee)
}

#[test]
fn step_at_each_instruction_of_a_leaf_finds_its_caller() {
    let (jvm, caller, callee) = two();
    let mut walked = Walked::new(jvm);
    let (ra, saved) = (caller + RETURN, 0x7777);
    // Offset, words on the stack from its pointer to the return address, and whether the frame pointer is saved right below that.
    for (offset, above, is_saved) in [
        (0, 0, false),
        (2, 0, false),
        (3, 1, true),
        (7, 3, true),
        (28, 3, true),
        (32, 1, true),
        (33, 0, false),
        (46, 0, false),
    ] {
        let mut words = vec![0x5555; 16];
        words[above] = ra;
        if is_saved {
            words[above - 1] = saved;
        }
        let (step, names, guessed) = walked.step(&place(callee + offset, false), &Words(words));
        let expected = Caller {
            pc: ra,
            sp: SP + 8 * (above as u64 + 1),
            rbp: Some(if is_saved { saved } else { 0xbeef }),
        };
        assert_eq!(step, Step::Caller(expected), "at {offset}");
        assert_eq!(
            (&names[..], guessed),
            (&["a.Callee.leaf".to_owned()][..], 0)
        );
    }
}

#[test]
fn step_to_code_that_was_something_else_when_it_was_read_reads_it_again() {
    for before in ["C1 temporary CodeBuffer", "helper of before"] {
        for of_leaf in [true, false] {
            let (mut jvm, caller, callee) = two();
            let name = if of_leaf { callee } else { caller } - 352 + 96;
            let other = jvm.blob(before, 0, &[0xc3]) - 352 + 96;
            let (own, other) = (jvm.word(name), jvm.word(other));
            jvm.put64(name, other);
            let mut walked = Walked::new(jvm);
            let mut words = vec![0x5555; 256];
            let place = place(callee + 20, false);
            // A helper may be left by any true return address.
            if of_leaf {
                assert_eq!(walked.step(&place, &Words(words.clone())).0, Step::Unsure);
            }
            words[3] = caller + RETURN;
            if !of_leaf {
                assert_eq!(walked.step(&place, &Words(words.clone())).0, Step::Unsure);
            }
            walked.jvm.put64(name, own);
            let (step, _, _) = walked.step_at(2_000_000_000, &place, &Words(words));
            let is_found = matches!(step, Step::Caller(found) if found.pc == caller + RETURN);
            assert!(is_found, "{before} {of_leaf} {step:?}");
        }
    }
}

#[test]
fn step_with_more_words_on_the_stack_goes_by_the_first_true_return_address() {
    let (jvm, caller, callee) = two();
    let mut walked = Walked::new(jvm);
    for more in 0..9 {
        let mut words = vec![caller + RETURN - 1; 16];
        words[3 + more] = caller + RETURN;
        let (step, _, _) = walked.step(&place(callee + 20, false), &Words(words));
        match step {
            Step::Caller(found) if more <= 6 => assert_eq!(found.sp, SP + 8 * (more as u64 + 4)),
            step => assert_eq!((step, more > 6), (Step::Unsure, true)),
        }
    }
}

#[test]
fn step_from_a_call_has_the_functions_that_are_inlined_there() {
    let (jvm, caller, _) = two();
    let mut walked = Walked::new(jvm);
    let mut words = vec![0; 8];
    words[3] = walked.jvm.call_stub;
    let (step, names, guessed) = walked.step(&place(caller + RETURN, true), &Words(words));
    assert!(matches!(step, Step::Caller(found) if found.pc == walked.jvm.call_stub));
    assert_eq!(names, ["a.Inner$$Lambda.run", "a.Caller.call"]);
    assert_eq!(walked.lines, ["Inner.java:1000", "Caller.java:1050"]);
    assert_eq!(guessed, 0);
}

#[test]
fn step_in_code_whose_methods_tell_no_lines_or_nonsense_has_names_alone() {
    let lines = |flags: u64, table: &[u8], pool: &[u8]| {
        let (mut jvm, caller, _) = two();
        for method in jvm.methods.clone() {
            let code = jvm.bytecodes(method);
            jvm.put(code - 48 + 38, &flags.to_le_bytes()[..2]);
            jvm.put(code + 100, table);
            let constants = jvm.word(code - 48 + 8);
            jvm.put(constants + 56, pool);
        }
        let mut words = vec![0; 8];
        words[3] = jvm.call_stub;
        let mut walked = Walked::new(jvm);
        walked.step(&place(caller + RETURN, true), &Words(words));
        walked.lines
    };
    let (has, good, file) = (8, &[0xff, 0, 20, 0][..], &[2, 0][..]);
    assert_eq!(lines(has, good, file), ["Inner.java:10", "Caller.java:10"]);
    let none = ["Inner.java:0", "Caller.java:0"];
    assert_eq!(lines(!has, good, file), none);
    assert_eq!(lines(has, &[0xff, 0xff], file), none);
    assert_eq!(lines(has, &[0xff, 1, 20, 0], file), none);
    assert_eq!(lines(has, &[0], file), none);
    for pool in [[0, 0], [3, 0], [0xff, 0xff]] {
        assert_eq!(lines(has, good, &pool), [":10", ":10"]);
    }
}

#[test]
fn step_at_a_leaf_guesses_inlined_functions_by_the_next_stop_and_is_sure_of_the_whole() {
    let (jvm, caller, callee) = two();
    let mut walked = Walked::new(jvm);
    let mut words = vec![0; 8];
    words[3] = callee + 8;
    let stack = Words(words);
    let inlined = ["a.Inner$$Lambda.run", "a.Caller.call"];
    for (offset, expected) in [(10, &inlined[..]), (20, &inlined[1..])] {
        let (_, names, guessed) = walked.step(&place(caller + offset, false), &stack);
        assert_eq!(
            (&names[..], guessed),
            (
                &expected.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()[..],
                expected.len() - 1
            )
        );
    }
}

#[test]
fn step_from_the_call_stub_goes_by_the_frame_pointer_to_native_code() {
    let mut walked = Walked::new(Jvm::new());
    let mut at = place(walked.jvm.call_stub, true);
    at.registers[RBP] = SP + 16;
    let words = Words(vec![0, 0, 0x77, 0x5600_0000_1234]);
    let (step, names, _) = walked.step(&at, &words);
    let expected = Caller {
        pc: 0x5600_0000_1234,
        sp: SP + 32,
        rbp: Some(0x77),
    };
    assert_eq!(
        (step, &names[..]),
        (Step::Caller(expected), &["StubRoutines (1)".to_owned()][..])
    );
}

#[test]
fn step_in_the_interpreter_is_by_its_frame_and_only_where_the_bytecode_is_the_methods() {
    let mut jvm = Jvm::new();
    let method = jvm.method("a/B", "interpreted");
    let bytecode = jvm.bytecodes(method) + 5;
    let mut walked = Walked::new(jvm);
    let (pc, ra) = (walked.jvm.interpreter + 100, walked.jvm.interpreter + 200);
    let rbp = SP + 8 * 10;
    let frame = |bytecode: u64| {
        let mut words = vec![0; 16];
        (words[10], words[11]) = (SP + 8 * 14, ra);
        (words[9], words[7], words[2]) = (rbp + 16, method, bytecode);
        Words(words)
    };
    let mut at = place(pc, true);
    at.registers[RBP] = rbp;
    let expected = Caller {
        pc: ra,
        sp: rbp + 16,
        rbp: Some(SP + 8 * 14),
    };
    let (step, names, _) = walked.step(&at, &frame(bytecode));
    assert_eq!(
        (step, &names[..]),
        (Step::Caller(expected), &["a.B.interpreted".to_owned()][..])
    );
    assert_eq!(walked.lines, ["B.java:1000"]);
    let (step, names, _) = walked.step(&at, &frame(bytecode + 1000));
    assert_eq!((step, names.len()), (Step::Unsure, 0));
    // Of the leaf the bytecode is in a register, and the frame's may be old.
    at.is_return = false;
    at.registers[R13] = bytecode;
    let (step, _, _) = walked.step(&at, &frame(0));
    assert_eq!(step, Step::Caller(expected));
    at.registers[R13] = bytecode + 60;
    walked.step(&at, &frame(bytecode));
    assert_eq!(walked.lines, ["B.java:1050"]);
    // In a call of C++ code the register has something else.
    at.registers[R13] = 0x1234;
    walked.step(&at, &frame(bytecode));
    assert_eq!(walked.lines, ["B.java:1000"]);
}

#[test]
fn step_in_a_method_that_just_begins_in_the_interpreter_has_the_method_and_its_caller() {
    let mut jvm = Jvm::new();
    let method = jvm.method("a/B", "begins");
    let mut walked = Walked::new(jvm);
    let (pc, ra) = (walked.jvm.interpreter + 100, walked.jvm.interpreter + 200);
    let mut at = place(pc, false);
    (at.registers[3], at.registers[R13]) = (method, SP + 8);
    let expected = |sp| {
        Step::Caller(Caller {
            pc: ra,
            sp,
            rbp: Some(0xbeef),
        })
    };
    let (step, names, _) = walked.step(&at, &Words(vec![ra, 0, 0, 0]));
    assert_eq!(
        (step, &names[..]),
        (expected(SP + 8), &["a.B.begins".to_owned()][..])
    );
    assert_eq!(walked.lines, ["B.java:1000"]);
    // The return address is in a register while there is room made for variables.
    (at.registers[0], at.registers[R13]) = (ra, SP + 24);
    let (step, _, _) = walked.step(&at, &Words(vec![0; 4]));
    assert_eq!(step, expected(SP + 24));
}

#[test]
fn step_outside_of_the_code_cache_is_foreign_and_where_nothing_lies_unsure() {
    let mut walked = Walked::new(Jvm::new());
    let stack = Words(vec![0; 64]);
    assert_eq!(walked.step(&place(0x4000, false), &stack).0, Step::Foreign);
    let free = walked.jvm.heap + 100 * 1024;
    assert_eq!(walked.step(&place(free, false), &stack).0, Step::Unsure);
}

#[test]
fn step_to_frames_of_a_virtual_thread_in_the_heap_says_that_they_are_elsewhere() {
    let (mut jvm, _, callee) = two();
    let thaw = jvm.blob("StubRoutines (continuationstubs)", 0, &[0x90; 64]) + 16;
    let mut walked = Walked::new(jvm);
    let mut words = vec![0; 8];
    words[3] = thaw;
    let (step, _, _) = walked.step(&place(callee + 20, false), &Words(words));
    assert!(matches!(step, Step::Caller(found) if found.pc == thaw));
    let (step, names, _) = walked.step(&place(thaw, true), &Words(vec![0; 64]));
    assert_eq!(step, Step::Elsewhere);
    assert_eq!(names, ["StubRoutines (continuationstubs)"]);
}

#[test]
fn code_that_took_the_place_of_other_code_is_named_after_a_while() {
    let (mut jvm, _, callee) = two();
    let other = jvm.method("a/Other", "came");
    let mut walked = Walked::new(jvm);
    let words = Words(vec![walked.jvm.call_stub; 8]);
    let name = |walked: &mut Walked| walked.step(&place(callee + 20, false), &words).1;
    assert_eq!(name(&mut walked), ["a.Callee.leaf"]);
    walked.jvm.put64(callee - 352 + 112, other);
    walked.jvm.put32(callee - 352 + 304, 3);
    // Its scopes are those of before still: they name what they name.
    walked.known.begin(6_000_000_000);
    walked.attached.step(
        &mut walked.known,
        &place(callee + 40, false),
        &words,
        &mut Called::default(),
    );
    let asks = walked.known.take_asks();
    assert_eq!(asks.len(), 1);
    let found = walked.attached.read(&Pages::new(&walked.jvm, 256), &asks);
    walked
        .known
        .come(&asks, Some(found), &mut walked.names, 6_000_000_000);
    let (_, names, _) = walked.step(&place(callee + 40, false), &words);
    assert_eq!(names.last().map(String::as_str), Some("a.Other.came"));
}

#[test]
fn tables_that_lie_end_in_bounded_time_and_in_no_panic() {
    let (jvm, caller, callee) = two();
    let mut draw = Draw(1);
    let places: Vec<u64> = jvm.written.clone();
    let (mut attached, mut longest) = (0, Duration::ZERO);
    let begin = Instant::now();
    let mut changed = jvm.clone();
    let mut rounds = 0;
    while rounds < 20_000 && begin.elapsed() < Duration::from_secs(10) {
        rounds += 1;
        let mut before = Vec::new();
        for _ in 0..1 + draw.below(3) {
            let at = (places[draw.below(places.len())] - BASE) as usize & !7;
            let word: [u8; 8] = changed.bytes[at..at + 8].try_into().expect("8 bytes");
            before.push((at, word));
            let lie = match draw.below(8) {
                0 => u64::MAX,
                1 => 1 << 63,
                2 => 0,
                3 => draw.next(),
                4 => u64::from_le_bytes(word) ^ 1 << draw.below(64),
                5 => BASE + at as u64,
                _ => places[draw.below(places.len())],
            };
            changed.bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        }
        let round = Instant::now();
        if let Ok(runtime) = changed.attach() {
            attached += 1;
            let (mut known, mut names) = (Known::default(), Names::default());
            for pc in [
                caller + RETURN,
                callee + 20,
                changed.interpreter + 100,
                changed.call_stub,
            ] {
                for turn in 0..2 {
                    let mut words: Vec<u64> =
                        (0..200).map(|_| places[draw.below(places.len())]).collect();
                    words[draw.below(12)] = caller + RETURN;
                    let stack = Words(words);
                    let mut at = place(pc, turn == 1);
                    at.registers[RBP] = SP + 8 * draw.below(24) as u64;
                    known.begin(turn);
                    runtime.step(&mut known, &at, &stack, &mut Called::default());
                    runtime.glance(&mut known, draw.next());
                    let asks = known.take_asks();
                    let found = runtime.read(&Pages::new(&changed, 1024), &asks);
                    known.come(&asks, Some(found), &mut names, turn);
                    let mut called = Called::default();
                    runtime.step(&mut known, &at, &stack, &mut called);
                    assert!(called.functions.len() <= 65);
                }
            }
            assert!(known.bytes() < 7 << 20);
        }
        longest = longest.max(round.elapsed());
        for (at, word) in before.into_iter().rev() {
            changed.bytes[at..at + 8].copy_from_slice(&word);
        }
    }
    assert!(attached > rounds / 4, "{attached} of {rounds}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}
