//! The lock of an interpreter (*GIL*): who holds it, and who waits for it.
//!
//! Places of fields are those of `Include/internal/pycore_gil.h`, the same from 3.9 to 3.14.

use serde::{Deserialize, Serialize};

use crate::{Interpreted, Known, Pages, Wait, chain::Copied};

/// In a lock: the thread that took it last, which is followed by whether it is taken.
const HOLDER: u64 = 8;
/// A waiting thread sleeps on an address within the lock's two condition variables and their mutexes, which lie at these offsets.
const WAITED_ON: std::ops::Range<u64> = 32..208;
/// The lower half of the word behind the holder, while the lock is taken. The upper half belongs to another field.
const HELD: u32 = 1;

/// How the lock of an interpreter is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gil {
    /// Up to 3.11 all interpreters have one, which lies in the runtime at this offset.
    OfRuntime(u16),
    /// From 3.12 on an interpreter has a pointer to its lock at this offset.
    OfInterpreter(u16),
    /// In a free-threaded build the pointer leads to a word that says whether the lock is used; the lock's other fields follow as elsewhere.
    /// While the lock is not used, no thread sleeps on it.
    BehindSwitch(u16),
}

/// Bytes of the word in front of a lock.
const SWITCH: u64 = 8;

impl Gil {
    /// The address of the lock of an interpreter; 0: it cannot be read.
    pub fn address(self, memory: &Pages<'_>, runtime: u64, interpreter: u64) -> u64 {
        let pointer = |offset: u16| {
            let pointer = memory.u64(interpreter.wrapping_add(offset.into()));
            pointer.unwrap_or(0)
        };
        match self {
            Gil::OfRuntime(offset) => runtime.wrapping_add(offset.into()),
            Gil::OfInterpreter(offset) => pointer(offset),
            Gil::BehindSwitch(offset) => match pointer(offset) {
                0 => 0,
                switch => switch.wrapping_add(SWITCH),
            },
        }
    }
}

/// The address of the words of a lock that are copied; 0: there is no lock.
pub fn words(lock: u64) -> u64 {
    match lock {
        0 => 0,
        lock => lock.wrapping_add(HOLDER),
    }
}

/// The wait of a thread for its lock, if the address that it sleeps on is of that lock.
pub fn wait(known: &Known, interpreted: &Interpreted<'_>, address: u64) -> Option<Wait> {
    let copied = Copied::of(interpreted.copied)?;
    let thread = known.known_thread(interpreted.thread)?;
    let waits = thread.lock != 0 && WAITED_ON.contains(&address.wrapping_sub(thread.lock));
    if !copied.is_of(thread) || !waits {
        return None;
    }
    let [holder, is_held] = copied.lock;
    let others = is_held as u32 == HELD && holder != thread.address;
    Some(Wait {
        holder: others.then(|| known.number_of(holder)).flatten(),
    })
}
