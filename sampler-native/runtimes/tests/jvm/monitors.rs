//! Holders of monitors, of each kind that a JVM tells.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io,
};

use flametop_runtimes::{Attached, Blocked, Found, Lack, Memory, Pages};

use crate::fake::Jvm;

const BLOCKED: u32 = 41;
const HOLDER: u32 = 42;
const SWITCHES: u64 = 7;
const STACK: u64 = 0x7ffd_0010_0000;
const STACK_SIZE: u64 = 0x10_0000;
const ANONYMOUS: u64 = 1;
const OBJECT: u64 = 0x7_0012_3458;

/// A JVM of three threads, the first of which is blocked on a monitor.
struct Threads {
    jvm: Jvm,
    threads: Vec<u64>,
    monitor: u64,
}

impl Threads {
    /// `hidden`: the JVM does not tell of these fields.
    fn new(hidden: &[&str]) -> Threads {
        let mut jvm = Jvm::new();
        hidden.iter().for_each(|name| jvm.hide(name));
        let (monitor, object) = (jvm.room(32), jvm.room(8));
        jvm.put64(monitor + 8, object);
        jvm.put64(object, OBJECT);
        let mut threads = Vec::new();
        for (index, number) in (0..).zip([BLOCKED, 40, HOLDER]) {
            let (thread, system) = (jvm.room(256), jvm.room(16));
            jvm.put64(thread + 16, system);
            jvm.put32(system + 8, number);
            jvm.put64(thread + 32, STACK - index * STACK_SIZE);
            jvm.put64(thread + 40, STACK_SIZE);
            jvm.put64(thread + 56, 100 + index);
            // Its list of locks has no lock.
            jvm.put32(thread + 64, 72);
            threads.push(thread);
        }
        jvm.put64(threads[0] + 48, monitor);
        let (list, data) = (jvm.room(16), jvm.room(24));
        for (index, thread) in (0..).zip(&threads) {
            jvm.put64(data + 8 * index, *thread);
        }
        jvm.put32(list + 8, 3);
        jvm.put64(list, data);
        let of_list = jvm.variable("_java_thread_list");
        jvm.put64(of_list, list);
        // As before JDK 12: each thread has the address of the next.
        let first = jvm.variable("_thread_list");
        jvm.put64(first, threads[0]);
        jvm.put64(threads[0] + 24, threads[1]);
        jvm.put64(threads[1] + 24, threads[2]);
        Threads {
            jvm,
            threads,
            monitor,
        }
    }

    fn own(&mut self, owner: u64) {
        self.jvm.put64(self.monitor + 16, owner);
    }

    /// The thread has the locks of these objects.
    fn lock(&mut self, thread: usize, objects: &[u64]) {
        let thread = self.threads[thread];
        for (index, object) in (0..).zip(objects) {
            self.jvm.put64(thread + 72 + 8 * index, *object);
        }
        self.jvm.put32(thread + 64, 72 + 8 * objects.len() as u32);
    }

    fn holder(&self) -> Option<u32> {
        holder_of(&self.jvm.attach().expect("a JVM"), &self.jvm, BLOCKED)
    }
}

/// What threads are blocked on; the holder by its number.
fn all_of(attached: &Attached, memory: &dyn Memory, asked: &[u32]) -> Vec<Result<Option<u32>, ()>> {
    let lack = |number: &u32| Lack::Holder(number + 1000, *number, SWITCHES);
    let lacks: Vec<Lack> = asked.iter().map(lack).collect();
    let found = attached.read(&Pages::new(memory, 256), &lacks);
    let found = found.into_iter().zip(asked);
    let told = found.map(|(found, number)| match found {
        Found::Holder(thread, SWITCHES, blocked) if thread == number + 1000 => match blocked {
            Blocked::By(holder) => Ok(Some(holder.number)),
            Blocked::Not => Ok(None),
            Blocked::Unsure => Err(()),
        },
        other => panic!("{other:?}"),
    });
    told.collect()
}

fn holder_of(attached: &Attached, memory: &dyn Memory, blocked: u32) -> Option<u32> {
    all_of(attached, memory, &[blocked])[0].ok().flatten()
}

#[test]
fn holder_by_number_address_place_on_a_stack_or_list_of_locks_is_the_owner() {
    let mut by_number = Threads::new(&[]);
    by_number.own(102);
    assert_eq!(by_number.holder(), Some(HOLDER));
    let mut older = Threads::new(&["_monitor_owner_id"]);
    older.own(older.threads[2]);
    assert_eq!(older.holder(), Some(HOLDER));
    for (place, holder) in [(1, HOLDER), (STACK_SIZE, HOLDER), (STACK_SIZE + 1, 0)] {
        older.own(STACK - 2 * STACK_SIZE - place);
        assert_eq!(older.holder(), Some(holder).filter(|holder| *holder != 0));
    }
    for lock in [OBJECT, OBJECT >> 13, OBJECT >> 16] {
        for hidden in [&[][..], &["_monitor_owner_id"]] {
            let mut anonymous = Threads::new(hidden);
            anonymous.own(ANONYMOUS);
            assert_eq!(anonymous.holder(), None);
            anonymous.lock(1, &[OBJECT + 8]);
            anonymous.lock(2, &[0x7777, lock]);
            assert_eq!(anonymous.holder(), Some(HOLDER));
        }
    }
}

#[test]
fn holder_of_a_monitor_that_is_free_or_the_threads_own_or_of_nobody_is_none() {
    let mut threads = Threads::new(&[]);
    for owner in [0, ANONYMOUS, 2, 100, 99, u64::MAX] {
        threads.own(owner);
        assert_eq!(threads.holder(), None, "{owner}");
    }
    threads.own(102);
    let attached = threads.jvm.attach().expect("a JVM");
    for other in [0, 40, HOLDER, 43] {
        assert_eq!(holder_of(&attached, &threads.jvm, other), None, "{other}");
    }
    threads.jvm.put64(threads.threads[0] + 48, 0);
    assert_eq!(threads.holder(), None);
}

#[test]
fn holder_in_a_jvm_that_does_not_tell_of_monitors_is_none() {
    let lists = &["_java_thread_list", "_thread_list"][..];
    for hidden in [&["_current_pending_monitor"], &["_owner"], lists] {
        let mut threads = Threads::new(hidden);
        threads.own(102);
        assert_eq!(threads.holder(), None, "{hidden:?}");
    }
}

#[test]
fn holder_in_a_jvm_whose_threads_have_the_next_is_the_owner() {
    let mut threads = Threads::new(&["_java_thread_list"]);
    threads.own(102);
    assert_eq!(threads.holder(), Some(HOLDER));
    threads.own(103);
    let last = threads.threads[2];
    // A circle ends.
    threads.jvm.put64(last + 24, threads.threads[0]);
    assert_eq!(threads.holder(), None);
}

#[test]
fn holder_by_a_list_of_locks_without_end_is_none() {
    let mut threads = Threads::new(&[]);
    threads.own(ANONYMOUS);
    threads.jvm.put32(threads.threads[2] + 64, u32::MAX);
    assert_eq!(threads.holder(), None);
}

/// Memory in which a word has another value from its second reading on.
struct Changing<'a> {
    jvm: &'a Jvm,
    at: u64,
    to: u64,
    reads: Cell<u32>,
}

impl Memory for Changing<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let count = self.jvm.read(address, into)?;
        let at = self.at.wrapping_sub(address) as usize;
        if at < count {
            self.reads.set(self.reads.get() + 1);
            if self.reads.get() > 1 {
                into[at..at + 8].copy_from_slice(&self.to.to_le_bytes());
            }
        }
        Ok(count)
    }
}

#[test]
fn holder_is_none_if_the_monitor_or_its_owner_changed_while_they_were_read() {
    let mut threads = Threads::new(&[]);
    threads.own(102);
    let attached = threads.jvm.attach().expect("a JVM");
    let (owner, pending) = (threads.monitor + 16, threads.threads[0] + 48);
    for (at, to, expected) in [
        (owner, 102, Some(HOLDER)),
        (owner, 101, None),
        (owner, 0, None),
        (pending, 0, None),
    ] {
        let changing = Changing {
            jvm: &threads.jvm,
            at,
            to,
            reads: Cell::new(0),
        };
        assert_eq!(holder_of(&attached, &changing, BLOCKED), expected);
        assert_eq!(changing.reads.get(), 2);
    }
}

/// Memory that must not be read at a place.
struct Avoided<'a>(&'a Jvm, u64);

impl Memory for Avoided<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let read = address..address + into.len() as u64;
        assert!(!read.contains(&self.1), "{address:x}");
        self.0.read(address, into)
    }
}

#[test]
fn number_of_a_thread_that_is_not_blocked_is_not_read() {
    let far = 0x6666_0000_0000;
    let mut threads = Threads::new(&[]);
    threads.own(100);
    let [first, other, last] = threads.threads[..] else {
        panic!("three threads");
    };
    threads.jvm.put64(first + 48, 0);
    threads.jvm.put64(other + 16, far);
    threads.jvm.put64(last + 48, threads.monitor);
    let attached = threads.jvm.attach().expect("a JVM");
    let avoided = Avoided(&threads.jvm, far + 8);
    assert_eq!(holder_of(&attached, &avoided, HOLDER), Some(BLOCKED));
}

/// Memory that counts how often each piece is read.
struct Counted<'a>(&'a Jvm, RefCell<HashMap<u64, u32>>);

impl Memory for Counted<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        *self.1.borrow_mut().entry(address).or_default() += 1;
        self.0.read(address, into)
    }
}

#[test]
fn holders_of_several_threads_are_each_told_and_no_piece_is_read_more_than_twice() {
    let mut threads = Threads::new(&[]);
    threads.own(102);
    // The second one is blocked on a monitor that the first one has inflated, and the third one holds.
    let other = threads.jvm.room(32);
    let object = threads.jvm.room(8);
    threads.jvm.put64(other + 8, object);
    threads.jvm.put64(object, OBJECT + 64);
    threads.jvm.put64(other + 16, ANONYMOUS);
    threads.jvm.put64(threads.threads[1] + 48, other);
    threads.lock(2, &[OBJECT + 64]);
    let attached = threads.jvm.attach().expect("a JVM");
    let counted = Counted(&threads.jvm, RefCell::default());
    let asked = [HOLDER, 40, 43, BLOCKED, 0, 40];
    assert_eq!(
        all_of(&attached, &counted, &asked),
        [
            Ok(None),
            Ok(Some(HOLDER)),
            Err(()),
            Ok(Some(HOLDER)),
            Err(()),
            Ok(Some(HOLDER))
        ]
    );
    let reads = counted.1.into_inner();
    assert!(reads.values().all(|count| *count <= 2), "{reads:?}");
}

#[test]
fn holders_thread_that_woke_while_they_were_read_is_unsure_and_others_are_told() {
    let mut threads = Threads::new(&[]);
    threads.own(102);
    threads.jvm.put64(threads.threads[1] + 48, threads.monitor);
    let attached = threads.jvm.attach().expect("a JVM");
    let asked = [BLOCKED, 40, HOLDER];
    let [blocked, _, holder] = threads.threads[..] else {
        panic!("three threads");
    };
    for (woke, expected) in [
        (blocked, [Err(()), Ok(Some(HOLDER)), Ok(None)]),
        (holder, [Ok(Some(HOLDER)), Ok(Some(HOLDER)), Err(())]),
    ] {
        let changing = Changing {
            jvm: &threads.jvm,
            at: woke + 48,
            to: 8,
            reads: Cell::new(0),
        };
        assert_eq!(all_of(&attached, &changing, &asked), expected);
    }
}
