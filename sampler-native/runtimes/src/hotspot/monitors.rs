//! Who holds the monitors that threads of Java are blocked on.
//!
//! A blocked thread says which monitor it is blocked on, and the monitor says who its owner is: by the owner's number (from JDK 24 on), by
//! the owner's address, or by an address on the owner's stack, where the lock was thin before. In newer JDKs a monitor may not say it
//! (its owner is *anonymous*): then the owner's own list of locks has the object.

use std::{
    cell::LazyCell,
    collections::{HashMap, HashSet},
    ops::Range,
};

use serde::{Deserialize, Serialize};

use super::tables::Tables;
use crate::{Blocked, Holder, memory::Pages};

/// Most threads of a JVM that are looked at: of each a piece of memory is read, of one whose number is needed two.
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

    /// Tells for each of the threads of these numbers on which lock the thread is blocked. A holder held the monitor at two moments between
    /// which the rest was read, and a thread that is not blocked was so at both, if the asked thread has slept all the time. All threads are
    /// looked at once, for all.
    pub fn holders(&self, memory: &Pages<'_>, asked: &[u32]) -> Vec<Blocked> {
        let threads = self.threads.all(memory).unwrap_or_default();
        let places = self.places(memory, &threads, asked);
        let mut owners = Owners {
            monitors: self,
            memory,
            known: Vec::new(),
            others: threads.iter(),
        };
        let lockers = LazyCell::new(|| self.lockers(memory, &threads));
        let seen = |number: &u32| {
            let (thread, monitor) = *places.get(number)?;
            if monitor == 0 {
                return Some((thread, monitor, FREE, Blocked::Not));
            }
            let owner = word(memory, monitor, self.owner)?;
            let holder = match owner {
                FREE | DEFLATED => None,
                ANONYMOUS => self.locker(memory, monitor, &lockers),
                owner => owners.find(owner),
            };
            let holder = self
                .number(memory, holder?)
                .filter(|holder| holder != number);
            let holder = Holder {
                number: holder?,
                name: Box::default(),
            };
            Some((thread, monitor, owner, Blocked::By(holder)))
        };
        let seen: Vec<_> = asked.iter().map(seen).collect();
        let now = memory.again();
        let checked = seen.into_iter().map(|seen| {
            let (thread, monitor, owner, blocked) = seen?;
            let same = word(&now, thread, self.pending) == Some(monitor)
                && (monitor == 0 || word(&now, monitor, self.owner) == Some(owner));
            same.then_some(blocked)
        });
        checked
            .map(|blocked| blocked.unwrap_or(Blocked::Unsure))
            .collect()
    }

    /// The address of each of the threads of these numbers, and the monitor that it is blocked on; 0: none.
    fn places(
        &self,
        memory: &Pages<'_>,
        threads: &[u64],
        asked: &[u32],
    ) -> HashMap<u32, (u64, u64)> {
        let mut missing: HashSet<u32> = asked.iter().copied().collect();
        let mut places = HashMap::new();
        let mut place = |thread, monitor| {
            if let Some(number) = self.number(memory, thread)
                && missing.remove(&number)
            {
                places.insert(number, (thread, monitor));
            }
            missing.is_empty()
        };
        // A number lies elsewhere in memory: those of threads that are not blocked are read last, as far as needed.
        let mut others = Vec::new();
        for thread in threads {
            match word(memory, *thread, self.pending) {
                Some(0) => others.push(*thread),
                Some(monitor) if place(*thread, monitor) => return places,
                _ => {}
            }
        }
        others.into_iter().any(|thread| place(thread, 0));
        places
    }

    /// The number that a thread has for the kernel, in its own namespace.
    fn number(&self, memory: &Pages<'_>, thread: u64) -> Option<u32> {
        let system = word(memory, thread, self.system)?;
        let number = memory.u32(system.wrapping_add(self.number.into())).ok();
        number.filter(|number| *number != 0)
    }

    /// Numbers and addresses by which a monitor may say that this thread is its owner.
    fn owner_words(&self, memory: &Pages<'_>, thread: u64) -> Option<Range<u64>> {
        if let Some(number) = self.owner_number {
            let number = word(memory, thread, number)?;
            return Some(number..number.saturating_add(1));
        }
        let (base, size) = self.stack?;
        let base = word(memory, thread, base)?;
        Some(base.saturating_sub(word(memory, thread, size)?)..base)
    }

    /// The threads whose own lists of locks have these locks.
    fn lockers(&self, memory: &Pages<'_>, threads: &[u64]) -> HashMap<u64, u64> {
        let mut lockers = HashMap::new();
        let Some(list) = &self.locks else {
            return lockers;
        };
        for thread in threads {
            let end = memory.u32(thread.wrapping_add(list.end.into()));
            let end = end.unwrap_or(0).min(list.first + 8 * MOST_LOCKS);
            let places = (list.first..end).step_by(8);
            let locks = places.filter_map(|place| word(memory, *thread, place));
            for lock in locks.filter(|lock| *lock != 0) {
                lockers.entry(lock).or_insert(*thread);
            }
        }
        lockers
    }

    /// The thread whose own list of locks has the object of this monitor.
    fn locker(&self, memory: &Pages<'_>, monitor: u64, lockers: &HashMap<u64, u64>) -> Option<u64> {
        let list = self.locks.as_ref()?;
        let object = memory.u64(word(memory, monitor, list.object)?).ok()?;
        let mut locks = std::iter::once(object).chain(MARKS.map(|bits| object >> bits));
        locks.find_map(|lock| lockers.get(&lock)).copied()
    }
}

/// The threads of a JVM, by what a monitor says of its owner.
struct Owners<'a> {
    monitors: &'a Monitors,
    memory: &'a Pages<'a>,
    /// Threads that are known, with [`Monitors::owner_words`], and those that no monitor has led to yet.
    known: Vec<(u64, Range<u64>)>,
    others: std::slice::Iter<'a, u64>,
}

impl Owners<'_> {
    fn find(&mut self, owner: u64) -> Option<u64> {
        let is_it =
            |(thread, words): &(u64, Range<u64>)| *thread == owner || words.contains(&owner);
        if let Some((thread, _)) = self.known.iter().find(|known| is_it(known)) {
            return Some(*thread);
        }
        self.others.find_map(|thread| {
            let words = self.monitors.owner_words(self.memory, *thread);
            let known = (*thread, words.unwrap_or_default());
            let found = is_it(&known).then_some(*thread);
            self.known.push(known);
            found
        })
    }
}

fn word(memory: &Pages<'_>, address: u64, offset: u32) -> Option<u64> {
    memory.u64(address.wrapping_add(offset.into())).ok()
}
