//! Who holds the monitor that a thread of Java is blocked on.
//!
//! A blocked thread says which monitor it is blocked on, and the monitor says who its owner is: by the owner's number (from JDK 24 on), by
//! the owner's address, or by an address on the owner's stack, where the lock was thin before. In newer JDKs a monitor may not say it
//! (its owner is *anonymous*): then the owner's own list of locks has the object.

use serde::{Deserialize, Serialize};

use super::tables::Tables;
use crate::memory::Pages;

/// Most threads of a JVM that are looked at: of each a piece of memory is read, of a blocked one two.
const MOST_THREADS: u32 = 2000;
/// Most locks in a thread's own list: HotSpot has eight.
const MOST_LOCKS: u32 = 16;
/// Owners that are none: the monitor is free, its owner is not told, it is given back to the memory.
const FREE: u64 = 0;
const ANONYMOUS: u64 = 1;
const DEFLATED: u64 = 2;
/// ZGC keeps marks below an address in the memory; the address is this many bits further up.
const MARKS: std::ops::RangeInclusive<u32> = 13..=16;

const THREAD: [&str; 2] = ["JavaThread", "Thread"];

/// Where each thing is that tells the holder of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Monitors {
    threads: Threads,
    /// Of a thread, its part for the operating system, and in there its number.
    system: u32,
    number: u32,
    /// The monitor that a thread is blocked on, and the owner of a monitor.
    pending: u32,
    owner: u32,
    /// The number that a thread has as an owner.
    owner_number: Option<u32>,
    /// The highest address of a thread's stack, and its size.
    stack: Option<(u32, u32)>,
    locks: Option<Locks>,
}

/// Where all threads are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Threads {
    /// Where the address of a list lies; in the list, how many there are, and the address of their addresses.
    List {
        list: u64,
        length: u32,
        threads: u32,
    },
    /// Before JDK 12: where the address of the first one lies, and in each the address of the next.
    Chain { first: u64, next: u32 },
}

impl Threads {
    fn of(tables: &Tables) -> Option<Threads> {
        let offset = |of: &str, name: &str| tables.offset(&[of], name);
        let Some(list) = tables.address(&["ThreadsSMRSupport"], "_java_thread_list") else {
            return Some(Threads::Chain {
                first: tables.address(&["Threads"], "_thread_list")?,
                next: offset("JavaThread", "_next")?,
            });
        };
        Some(Threads::List {
            list,
            length: offset("ThreadsList", "_length")?,
            threads: offset("ThreadsList", "_threads")?,
        })
    }

    /// The addresses of all threads.
    fn all(&self, memory: &Pages<'_>) -> Option<Vec<u64>> {
        match *self {
            Threads::List {
                list,
                length,
                threads,
            } => {
                let list = memory.u64(list).ok()?;
                let length = memory.u32(list.wrapping_add(length.into())).ok()?;
                let threads = word(memory, list, threads)?;
                let indices = 0..u64::from(length.min(MOST_THREADS));
                let threads = indices.map(|index| memory.u64(threads.wrapping_add(8 * index)).ok());
                threads.collect()
            }
            Threads::Chain { first, next } => {
                let some = |thread: &u64| *thread != 0;
                let first = memory.u64(first).ok().filter(some);
                let chain =
                    std::iter::successors(first, |thread| word(memory, *thread, next).filter(some));
                Some(chain.take(MOST_THREADS as usize).collect())
            }
        }
    }
}

/// Where a thread's own list of locks is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Locks {
    /// The object of a monitor.
    object: u32,
    /// The first lock in a thread, and where the distance from the thread to the end of the last one is told.
    first: u32,
    end: u32,
}

impl Monitors {
    /// None: the JVM does not tell.
    pub fn of(tables: &Tables) -> Option<Monitors> {
        let offset = |of: &str, name: &str| tables.offset(&[of], name);
        let locks = || {
            let list = offset("JavaThread", "_lock_stack")?;
            Some(Locks {
                object: offset("ObjectMonitor", "_object")?,
                first: list + offset("LockStack", "_base[0]")?,
                end: list + offset("LockStack", "_top")?,
            })
        };
        let stack = tables.offset(&THREAD, "_stack_base");
        Some(Monitors {
            threads: Threads::of(tables)?,
            system: tables.offset(&THREAD, "_osthread")?,
            number: offset("OSThread", "_thread_id")?,
            pending: tables.offset(&THREAD, "_current_pending_monitor")?,
            owner: offset("ObjectMonitor", "_owner")?,
            owner_number: offset("JavaThread", "_monitor_owner_id"),
            stack: stack.zip(tables.offset(&THREAD, "_stack_size")),
            locks: locks(),
        })
    }

    /// The number of the thread that holds the monitor which this thread is blocked on. It held the monitor at two moments between which
    /// the rest was read, if the blocked thread has slept all the time. None: there is none, or none is certain.
    pub fn holder(&self, memory: &Pages<'_>, blocked: u32) -> Option<u32> {
        let threads = self.threads.all(memory)?;
        // The number lies elsewhere in memory: only of threads that are blocked it is read.
        let blocked_on = |thread: &u64| {
            let monitor = word(memory, *thread, self.pending).filter(|monitor| *monitor != 0)?;
            (self.number(memory, *thread) == Some(blocked)).then_some((*thread, monitor))
        };
        let (thread, monitor) = threads.iter().find_map(blocked_on)?;
        let owner = word(memory, monitor, self.owner)?;
        let holder = match owner {
            FREE | DEFLATED => None,
            ANONYMOUS => self.by_locks(memory, &threads, monitor),
            owner => {
                let mut threads = threads.iter();
                let owns = |thread: &&u64| self.is_owner(memory, **thread, owner);
                threads.find(owns).copied()
            }
        };
        let number = self.number(memory, holder?)?;
        let now = memory.again();
        let same = word(&now, thread, self.pending) == Some(monitor)
            && word(&now, monitor, self.owner) == Some(owner);
        (same && number != blocked).then_some(number)
    }

    /// The number that a thread has for the kernel, in its own namespace.
    fn number(&self, memory: &Pages<'_>, thread: u64) -> Option<u32> {
        let system = word(memory, thread, self.system)?;
        let number = memory.u32(system.wrapping_add(self.number.into())).ok();
        number.filter(|number| *number != 0)
    }

    fn is_owner(&self, memory: &Pages<'_>, thread: u64, owner: u64) -> bool {
        if let Some(number) = self.owner_number {
            return word(memory, thread, number) == Some(owner);
        }
        let on_stack = || {
            let (base, size) = self.stack?;
            let below = word(memory, thread, base)?.checked_sub(owner)?;
            Some(below != 0 && below <= word(memory, thread, size)?)
        };
        thread == owner || on_stack() == Some(true)
    }

    /// The thread whose own list of locks has the object of this monitor.
    fn by_locks(&self, memory: &Pages<'_>, threads: &[u64], monitor: u64) -> Option<u64> {
        let locks = self.locks.as_ref()?;
        let object = memory.u64(word(memory, monitor, locks.object)?).ok()?;
        let is_object = |lock: u64| {
            lock != 0 && (lock == object || MARKS.into_iter().any(|bits| object >> bits == lock))
        };
        let has = |thread: &&u64| {
            let end = memory.u32(thread.wrapping_add(locks.end.into()));
            let end = end.unwrap_or(0).min(locks.first + 8 * MOST_LOCKS);
            let mut places = (locks.first..end).step_by(8);
            places.any(|place| word(memory, **thread, place).is_some_and(is_object))
        };
        threads.iter().find(has).copied()
    }
}

fn word(memory: &Pages<'_>, address: u64, offset: u32) -> Option<u64> {
    memory.u64(address.wrapping_add(offset.into())).ok()
}
