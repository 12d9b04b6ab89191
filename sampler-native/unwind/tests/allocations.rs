//! A walk whose rows are known allocates nothing.

#[path = "stopped/mod.rs"]
mod stopped;

use flametop_unwind::{End, Modules, ProcessMaps, Unwinder};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};
use stopped::{Sleeper, Stopped};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn walk_rows_known_allocates_nothing() {
    let sleeper = Sleeper::start();
    let mut modules = Modules::new(16 << 20);
    let maps = ProcessMaps::read(sleeper.pid(), &mut modules).expect("maps");
    let stopped = Stopped::stop(sleeper.pid(), sleeper.pid()).expect("stopped");
    stopped.copied(|input| {
        let (mut unwinder, mut frames) = (Unwinder::new(), Vec::new());
        assert_eq!(
            unwinder.walk(&maps, &mut modules, input, &mut frames).end,
            End::Root
        );
        let before = ALLOCATIONS.with(Cell::get);
        unwinder.walk(&maps, &mut modules, input, &mut frames);
        assert_eq!(ALLOCATIONS.with(Cell::get), before);
    });
}
