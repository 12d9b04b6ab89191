//! Entry points of fuzzing: each function reads any bytes as what a process could have.

use std::io;

use crate::{
    Called, Interpreted, Known, Lack, Memory, Names, Pages, Php, Place, Python, Ruby, Runs,
    Runtime, RuntimeKind, Stack, V8, attach,
    register::RDI,
    registers::{PC, REGISTERS},
};

/// Most pieces of memory that are read of one input.
const PIECES: usize = 1024;
/// Words of the stack of a JVM, and of a frame of V8.
const WORDS: usize = 64;
const FRAME: usize = 8;

/// Where objects of V8 lie: no lower address is one of an object.
const OBJECTS: u64 = 0x1_0000;

/// Bytes from an address on.
struct Bytes<'a>(u64, &'a [u8]);

impl Bytes<'_> {
    fn from(&self, address: u64) -> Option<&[u8]> {
        let offset = address.checked_sub(self.0)?;
        self.1.get(usize::try_from(offset).ok()?..)
    }

    /// Addresses of so many words of the stack, which is the end of memory, and those words.
    fn stack(&self, words: usize) -> impl Iterator<Item = (u64, u64)> {
        let begin = self.1.len().saturating_sub(8 * words);
        let places = (begin..self.1.len()).step_by(8);
        places.map_while(|at| {
            let at = self.0 + at as u64;
            Some((at, self.word(at)?))
        })
    }
}

impl Memory for Bytes<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let there = self.from(address).unwrap_or_default();
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }
}

impl Stack for Bytes<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.from(address)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }
}

/// The memory of a process that is said to be a JVM, from the start of its library on; its last bytes are a stack too, and the words
/// there are addresses of code.
pub fn hotspot(bytes: &[u8]) {
    let memory = Bytes(0, bytes);
    let Ok(attached) = attach(RuntimeKind::HotSpot, &Pages::new(&memory, PIECES), 0) else {
        return;
    };
    let (mut known, mut names) = (Known::default(), Names::default());
    for (at, pc) in memory.stack(WORDS) {
        for is_return in [false, true] {
            let mut registers = [at; REGISTERS];
            registers[PC] = pc;
            let place = Place {
                registers,
                known: (1 << REGISTERS) - 1,
                is_return,
            };
            known.begin(at);
            attached.step(&mut known, &place, &memory, &mut Called::default());
            attached.glance(&mut known, pc);
            let mut asks = known.take_asks();
            asks.extend([pc as u32, (pc >> 32) as u32].map(|own| Lack::Holder(1, own, 0)));
            let found = attached.read(&Pages::new(&memory, PIECES), &asks);
            known.come(&asks, Some(found), &mut names, at);
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
    let memory = Bytes(0, rest);
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
    let memory = Bytes(0, rest);
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
    let memory = Bytes(0, rest);
    let Ok(ruby) = Ruby::fuzzed(version) else {
        return;
    };
    turns(&ruby, copied, &memory);
}

/// The version of V8; what follows is memory, whose last bytes are a stack too. Each word there is an address of code and the function that is
/// called, and where it lies a frame pointer.
pub fn v8(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let versions = [(10, 2), (11, 3), (12, 4), (13, 6)];
    let (major, minor) = versions[usize::from(*which) % versions.len()];
    let memory = Bytes(OBJECTS, rest);
    let Ok(v8) = V8::fuzzed(major, minor) else {
        return;
    };
    let (mut known, mut names) = (Known::default(), Names::default());
    for (at, word) in memory.stack(FRAME) {
        for is_return in [false, true] {
            let mut registers = [at; REGISTERS];
            registers[PC] = word;
            registers[RDI] = word;
            let place = Place {
                registers,
                known: (1 << REGISTERS) - 1,
                is_return,
            };
            // Code is asked for first, the function of its frame then.
            for turn in 0..3 {
                known.begin(at + turn);
                v8.step(&mut known, &place, &memory, &mut Called::default());
                v8.step_in_file(&mut known, &place, &memory, &mut Called::default());
                let mut asks = known.take_asks();
                asks.push(Lack::Method(word));
                let found = v8.read(&Pages::new(&memory, PIECES), &asks);
                known.come(&asks, Some(found), &mut names, at + turn);
            }
        }
    }
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
