//! Code that runtimes made: what walks lack of it is asked for, and told to those that come after.

use std::sync::Arc;

use flametop_kernel::record::Head;
use flametop_runtimes::{Attached, Found, Lack, Names};

use crate::{
    budget::Budget,
    os,
    prober::{Prober, What, Whom},
    tasks::Process,
};

/// Pieces of code a second that are read of a process, some 20 µs of the prober's work each; and of all processes of a user.
const LOOKS: u64 = 4_000;
const LOOKS_OF_USER: u64 = 8_000;
/// So many of them a look for the holder of a lock costs: all threads are looked at, once for each.
const HOLDER: u64 = 50;

/// Asks for code, and has the names of functions in it.
pub struct Codes {
    /// Names of functions, of all processes.
    pub names: Names,
    prober: Arc<Prober>,
    looks: Budget,
}

impl Codes {
    /// Nothing known yet. `prober`: reads the code.
    pub fn new(prober: Arc<Prober>) -> Codes {
        Codes {
            names: Names::default(),
            prober,
            looks: Budget::new(LOOKS, LOOKS_OF_USER),
        }
    }

    /// Asks for what the last walk of this process lacked, and for what is to be read again. Returns whether an answer may make the walk
    /// better.
    pub fn ask(&mut self, head: &Head, process: &mut Process, attached: &Attached) -> bool {
        if !process.code.wants() {
            return false;
        }
        let now = os::monotonic();
        if self.looks.left(process.looks, head.uid, now) > 0 {
            let asks = process.code.take_asks();
            if !asks.is_empty() {
                let cost = |ask: &Lack| match ask {
                    Lack::Holder(..) => HOLDER,
                    _ => 1,
                };
                let count: u64 = asks.iter().map(cost).sum();
                self.looks.spend(&mut process.looks, head.uid, now, count);
                let what = What::Code(Box::new(attached.clone()), asks.clone());
                if !self.prober.ask(Whom::of(head), what) {
                    process.code.come(&asks, None, &mut self.names, now);
                }
            }
        }
        process.code.is_awaited()
    }

    /// Takes what was read of a process; none: it could not be read.
    pub fn come(&mut self, process: &mut Process, asks: &[Lack], found: Option<Vec<Found>>) {
        let now = os::monotonic();
        process.code.come(asks, found, &mut self.names, now);
    }
}
