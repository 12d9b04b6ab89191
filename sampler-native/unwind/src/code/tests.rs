//! Tests of both ways to a row, on code given byte by byte.

use super::{exits::EXIT_LIMIT, function::FUNCTION_LIMIT, *};
use crate::arch::SP;

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const BASE: u64 = 0x1000;

fn window(bytes: &[u8]) -> Window<'_> {
    Window { start: BASE, bytes }
}

/// Where the caller's stack pointer is, by the two ways.
fn both(code: &[u8], at: u64) -> [Option<Cfa>; 2] {
    let (window, mut left) = (window(code), 10_000);
    let function = function(&window, BASE, &mut left);
    let by_start = function.and_then(|function| function.row(BASE + at));
    let by_exits = exits(&window, BASE + at, false, &mut left);
    [by_start, by_exits].map(|row| row.map(|row| row.cfa))
}

fn from_sp(offset: i32) -> Option<Cfa> {
    Some(Cfa::Register {
        register: SP as u8,
        offset,
    })
}

#[test]
fn row_push_and_sub_is_as_deep_by_both_ways() {
    // push rbx; sub rsp, 32; add rsp, 32; pop rbx; ret
    let code = b"\x53\x48\x83\xec\x20\x48\x83\xc4\x20\x5b\xc3";
    for (at, deep) in [(0, 8), (1, 16), (5, 48), (9, 16), (10, 8)] {
        assert_eq!(both(code, at), [from_sp(deep); 2], "{at}");
    }
}

#[test]
fn row_register_saved_is_where_it_was_saved_until_it_is_taken_back() {
    // push rbp; xor ebp, ebp; pop rbp; ret
    let code = b"\x55\x31\xed\x5d\xc3";
    let (window, mut left) = (window(code), 100);
    let function = function(&window, BASE, &mut left).expect("rows");
    let rule = |at: u64| function.row(BASE + at).map(|row| row.rules[1]);
    assert_eq!(rule(0), Some(Rule::Same));
    assert_eq!(rule(3), Some(Rule::Saved(-16)));
    assert_eq!(rule(4), Some(Rule::Same));
}

#[test]
fn row_paths_that_disagree_or_never_return_is_none() {
    // ret with a word too much; a jump to itself behind a push, seen from there; sub rsp, rax; ret
    assert_eq!(both(b"\x50\xc3", 1), [None, from_sp(8)]);
    assert_eq!(both(b"\x50\xeb\xfe", 1), [from_sp(16), None]);
    assert_eq!(both(b"\x48\x29\xc4\xc3", 0)[1], None);
    // je +1; pop rax; ret: two depths at one return
    assert_eq!(both(b"\x74\x01\x58\xc3", 0), [None; 2]);
}

#[test]
fn row_call_before_padding_does_not_come_back() {
    // sub rsp, 8; call +0x100; nopw; ret of the next function
    let code = b"\x48\x83\xec\x08\xe8\0\x01\0\0\x66\x90\xc3";
    assert_eq!(both(code, 4), [from_sp(16), None]);
}

#[test]
fn function_any_bytes_are_followed_in_bounded_time() {
    let mut numbers = Numbers(5);
    let pieces: [&[u8]; 12] = [
        b"\x55",
        b"\x5d",
        b"\x53",
        b"\x48\x83\xec",
        b"\x48\x83\xc4",
        b"\x48\x89\xe5",
        b"\xc9",
        b"\x74",
        b"\xeb",
        b"\xe8\0\0\0\0",
        b"\x48\x81\xec\xff\xff\xff\x7f",
        b"\x48\x8b\x24\x24",
    ];
    let mut rows = 0;
    for round in 0..600 {
        let mut code: Vec<u8> = Vec::new();
        let size = 1 + numbers.below(40_000) as usize;
        while code.len() < size {
            if round % 2 == 0 {
                code.extend(pieces[numbers.below(12) as usize]);
            }
            code.push(numbers.below(256) as u8);
        }
        let window = window(&code);
        for _ in 0..8 {
            let at = BASE - 16 + numbers.below(code.len() as u64 + 32);
            let mut left = 5000;
            let function = function(&window, at, &mut left);
            rows += usize::from(function.is_some_and(|f| f.row(at).is_some()));
            rows += usize::from(exits(&window, at, round % 3 == 0, &mut left).is_some());
            assert!(left <= 5000);
        }
    }
    assert!(rows > 1000, "{rows}");
}

#[test]
fn function_forks_without_end_are_given_up() {
    // je to each of the next, over and over
    let code: Vec<u8> = [0x74, 0x7f].repeat(10_000);
    let mut left = u32::MAX;
    assert!(function(&window(&code), BASE, &mut left).is_none());
    assert!(exits(&window(&code), BASE, false, &mut left).is_none());
    assert!(u32::MAX - left <= FUNCTION_LIMIT + EXIT_LIMIT);
}
