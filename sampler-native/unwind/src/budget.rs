//! The work that a walk may do.
//!
//! A walk pays in units for everything that it decodes: one unit for an instruction, for two bytes of unwind information, and for
//! eight words of the stack that are looked up in the mappings. A unit takes 100 ns or less. Known rows are free. The bounds of single
//! things (frames, sizes of entries, words searched) multiply to seconds; this bound is of all together.

use std::{cell::Cell, time::Duration};

use nix::{
    sys::time::TimeSpec,
    time::{ClockId, clock_gettime},
};

/// Most units of one walk: a hundred frames that were never seen take 7,000.
pub const WALK_UNITS: u32 = 128 << 10;
/// Most of these for code without unwind information; beyond that the walk goes on by guess.
const CODE_UNITS: u32 = 32 << 10;
/// A read of the file.
pub(crate) const READ: u64 = 8;
/// An expression of unwind information that is computed.
pub(crate) const EXPRESSION: u64 = 64;
/// Nanoseconds of a unit.
const UNIT_NS: u64 = 100;

/// The units that the present walk has left, and those that walks have paid.
#[derive(Debug)]
pub(crate) struct Work {
    /// Units of each walk from now on.
    allowed: Cell<u32>,
    left: Cell<u32>,
    /// Units for code without unwind information.
    code: Cell<u32>,
    refused: Cell<bool>,
    spent: Cell<u64>,
}

impl Default for Work {
    fn default() -> Work {
        Work {
            allowed: Cell::new(WALK_UNITS),
            left: Cell::new(WALK_UNITS),
            code: Cell::new(CODE_UNITS),
            refused: Cell::new(false),
            spent: Cell::new(0),
        }
    }
}

impl Work {
    /// Each walk from now on may cost so many units.
    pub(crate) fn allow(&self, units: u64) {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.allowed.set(units.min(WALK_UNITS));
    }

    /// A walk begins.
    pub(crate) fn begin(&self) {
        self.left.set(self.allowed.get());
        self.code.set(self.allowed.get().min(CODE_UNITS));
        self.refused.set(false);
    }

    /// Pays. False: the walk has not enough left, and gets nothing more.
    #[must_use]
    pub(crate) fn spend(&self, units: u64) -> bool {
        let left = u64::from(self.left.get());
        if units > left {
            self.refuse();
            return false;
        }
        self.left.set((left - units) as u32);
        self.code.set(self.code.get().min(self.left.get()));
        self.spent.set(self.spent.get() + units);
        true
    }

    /// The walk gets nothing more.
    pub(crate) fn refuse(&self) {
        self.refused.set(true);
        self.left.set(0);
        self.code.set(0);
    }

    /// Units left for code without unwind information.
    pub(crate) fn code(&self) -> u32 {
        self.code.get()
    }

    /// Pays for such code. False: there is nothing left for that.
    pub(crate) fn spend_code(&self, units: u32) -> bool {
        let left = self.code.get().saturating_sub(units);
        let paid = self.spend(u64::from(units));
        self.code.set(self.code.get().min(left));
        paid && left > 0
    }

    /// Whether something was too much for this walk, so that its later findings may be wrong.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.get()
    }

    /// Does work that serves all walks of a file: the first walk pays for it, but does not end of it.
    pub(crate) fn fill<T>(&self, what: impl FnOnce() -> T) -> T {
        let begun = self.begin_fill();
        let done = what();
        self.end_fill(begun);
        done
    }

    /// The same, for work that is no closure.
    pub(crate) fn begin_fill(&self) -> Begun {
        Begun(cpu_time())
    }

    /// See [`Work::begin_fill`].
    pub(crate) fn end_fill(&self, begun: Begun) {
        let took = cpu_time().saturating_sub(begun.0).as_nanos() as u64;
        self.spent.set(self.spent.get() + took / UNIT_NS);
    }

    /// Whether anything may be spent.
    pub(crate) fn is_any(&self) -> bool {
        self.allowed.get() > 0
    }

    /// Units that were paid since the last call.
    pub(crate) fn take_spent(&self) -> u64 {
        self.spent.take()
    }
}

/// The moment when [`Work::fill`] began.
pub(crate) struct Begun(Duration);

/// CPU time of this thread: a wait for a slow disk is no work.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    now.unwrap_or(TimeSpec::new(0, 0)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spend_more_than_is_left_is_refused_until_the_next_walk() {
        let work = Work::default();
        work.allow(100);
        work.begin();
        assert!(work.spend(60));
        assert!(!work.spend(60));
        assert!(!work.spend(1), "nothing more, however little");
        assert!(work.is_refused());
        assert_eq!(work.take_spent(), 60);
        assert_eq!(work.take_spent(), 0);
        work.begin();
        assert!(!work.is_refused() && work.spend(100));
    }

    #[test]
    fn spend_code_that_is_too_much_leaves_the_walk_the_rest() {
        let work = Work::default();
        work.begin();
        assert!(work.spend_code(CODE_UNITS - 1));
        assert!(!work.spend_code(1));
        assert_eq!(work.code(), 0);
        assert!(!work.is_refused());
        assert!(work.spend(u64::from(WALK_UNITS - CODE_UNITS)));
        assert!(!work.spend(1));
    }

    #[test]
    fn fill_is_paid_for_and_does_not_end_the_walk() {
        let work = Work::default();
        work.allow(0);
        work.begin();
        let begin = cpu_time();
        work.fill(|| while cpu_time() - begin < Duration::from_millis(2) {});
        assert!(!work.is_refused());
        assert!(work.take_spent() >= 10_000);
    }
}
