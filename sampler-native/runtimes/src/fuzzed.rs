//! Entry points of coverage-guided fuzzing: each function reads any bytes as what a process could have.

use std::io;

use crate::{
    Called, Interpreted, Known, Lack, Memory, Names, Pages, Php, Place, Python, Ruby, Runs,
    Runtime, RuntimeKind, Stack, attach,
    registers::{PC, REGISTERS},
};

/// Most pieces of memory that are read of one input.
const PIECES: usize = 1024;
/// Words of the stack.
const WORDS: usize = 64;

struct Bytes<'a>(&'a [u8]);

impl Memory for Bytes<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let there = self.0.get(address as usize..).unwrap_or_default();
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }
}

impl Stack for Bytes<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.0.get(address as usize..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }
}

/// The memory of a process that is said to be a JVM, from the start of its library on; its last bytes are a stack too, and the words
/// there are addresses of code.
pub fn hotspot(bytes: &[u8]) {
    let memory = Bytes(bytes);
    let Ok(attached) = attach(RuntimeKind::HotSpot, &Pages::new(&memory, PIECES), 0) else {
        return;
    };
    let (mut known, mut names) = (Known::default(), Names::default());
    let stack = bytes.len().saturating_sub(8 * WORDS);
    for at in (stack..bytes.len()).step_by(8) {
        let Some(pc) = memory.word(at as u64) else {
            break;
        };
        for is_return in [false, true] {
            let mut registers = [at as u64; REGISTERS];
            registers[PC] = pc;
            let place = Place {
                registers,
                known: (1 << REGISTERS) - 1,
                is_return,
            };
            known.begin(at as u64);
            attached.step(&mut known, &place, &memory, &mut Called::default());
            attached.glance(&mut known, pc);
            let mut asks = known.take_asks();
            asks.push(Lack::Holder(1, pc as u32, 0));
            let found = attached.read(&Pages::new(&memory, PIECES), &asks);
            known.come(&asks, Some(found), &mut names, at as u64);
            attached.step(&mut known, &place, &memory, &mut Called::default());
        }
    }
}

/// The version of CPython, then the copied frames of a thread, whose length stands before them; what follows is memory and a stack, with
/// what is known of all interpreters at its beginning.
pub fn python(bytes: &[u8]) {
    let Some(([which, length], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let versions = [
        0x030b_02f0,
        0x030c_01f0,
        0x030d_00f0,
        0x030e_00f0,
        0x0309_0000,
        0x030a_0000,
    ];
    let version = versions[usize::from(*which) % versions.len()];
    let (copied, rest) = rest.split_at(rest.len().min(8 * usize::from(*length)));
    let memory = Bytes(rest);
    let Ok(python) = Python::fuzzed(&Pages::new(&memory, PIECES), version) else {
        return;
    };
    python.unpacked(rest, i32::from(*which));
    turns(&python, copied, &memory);
}

/// The version of PHP, then the copied frames, whose length stands before them; what follows is memory, with what is known of all at its
/// beginning.
pub fn php(bytes: &[u8]) {
    let Some(([which, length], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let versions = [20_200_930, 20_220_829, 20_230_831, 20_240_924];
    let version = versions[usize::from(*which) % versions.len()];
    let (copied, rest) = rest.split_at(rest.len().min(8 * usize::from(*length)));
    let memory = Bytes(rest);
    let Ok(php) = Php::fuzzed(version) else {
        return;
    };
    turns(&php, copied, &memory);
}

/// The version of Ruby, then the copied frames, whose length stands before them; what follows is memory, with the virtual machine at its
/// beginning, and the table of symbols behind that.
pub fn ruby(bytes: &[u8]) {
    let Some(([which, length], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let versions = ["2.7.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0"];
    let version = versions[usize::from(*which) % versions.len()];
    let (copied, rest) = rest.split_at(rest.len().min(8 * usize::from(*length)));
    let memory = Bytes(rest);
    let Ok(ruby) = Ruby::fuzzed(version) else {
        return;
    };
    turns(&ruby, copied, &memory);
}

/// Walks copied frames as one turn after another does, with the answers of the turn before. Each thread that is asked for is thread 1.
fn turns(runtime: &dyn Runtime, copied: &[u8], memory: &Bytes<'_>) {
    let (mut known, mut names) = (Known::default(), Names::default());
    for turn in 0..3 {
        let mut runs = Runs::default();
        let interpreted = Interpreted { thread: 1, copied };
        known.begin(turn);
        runtime.interpreted(&mut known, &interpreted, memory, &mut runs);
        runtime.wait(&known, &interpreted, 8 * turn);
        let asks = known.take_asks();
        let owned = asks.iter().map(|lack| match *lack {
            Lack::Thread(thread, _) => Lack::Thread(thread, 1),
            other => other,
        });
        let owned: Vec<Lack> = owned.collect();
        let found = runtime.read(&Pages::new(memory, PIECES), &owned);
        known.come(&asks, Some(found), &mut names, turn);
    }
}
