//! The queries that wait, a batch for each module, and whose turn it is.

use std::collections::VecDeque;
use std::mem::take;
use std::time::{Duration, Instant};

use super::modules::Modules;
use crate::Query;
use crate::protocol::ASK_MAX;
use crate::turns::Turns;

/// Queries that wait, of one module.
#[derive(Debug)]
pub struct Batch {
    pub module: u32,
    pub queries: Vec<Query>,
    /// How often the queries were put.
    pub attempts: u32,
}

/// All queries that wait.
#[derive(Debug, Default)]
pub struct Queue {
    pending: VecDeque<Batch>,
    turns: Turns,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Adds a query to those of its module that were not put yet.
    pub fn add(&mut self, query: Query) {
        let module = query.module;
        let mut fresh = self.pending.iter_mut().filter(|batch| batch.attempts == 0);
        match fresh.find(|batch| batch.module == module) {
            Some(batch) => batch.queries.push(query),
            None => self.put_again(Batch {
                module,
                queries: vec![query],
                attempts: 0,
            }),
        }
    }

    /// Adds queries that are to be put again.
    pub fn put_again(&mut self, batch: Batch) {
        self.pending.push_back(batch);
    }

    /// How long all have to wait still; none if none wait.
    pub fn wait(&self, modules: &Modules) -> Option<Duration> {
        self.first(modules).map(|(_, wait)| wait)
    }

    /// Which of those that wait comes first, and how long that has to wait still. A file that took long may have to wait while
    /// another one of its user has not.
    fn first(&self, modules: &Modules) -> Option<(usize, Duration)> {
        let now = Instant::now();
        let order = |batch: &Batch| match modules.user(batch.module) {
            Some(user) => (
                self.turns.wait(user, batch.module, now),
                self.turns.order(user, batch.module, now),
            ),
            None => (Duration::ZERO, (now, now)),
        };
        let waiting = self.pending.iter().map(order).enumerate();
        let (first, (wait, _)) = waiting.min_by_key(|(_, order)| *order)?;
        Some((first, wait))
    }

    /// At most as many queries as fit into one question: those that wait longest.
    pub fn next(&mut self, modules: &Modules) -> Option<Batch> {
        let (index, wait) = self.first(modules)?;
        if !wait.is_zero() {
            return None;
        }
        let first = self.pending.get_mut(index)?;
        if first.queries.len() <= ASK_MAX {
            return self.pending.remove(index);
        }
        Some(Batch {
            module: first.module,
            queries: first.queries.drain(..ASK_MAX).collect(),
            attempts: first.attempts,
        })
    }

    /// A question about a user's file took so long.
    pub fn charge(&mut self, user: u32, module: u32, took: Duration) {
        self.turns.charge(user, module, took, Instant::now());
    }

    /// Takes all queries of a module out.
    pub fn take_module(&mut self, module: u32) -> VecDeque<Batch> {
        let (theirs, others): (VecDeque<_>, VecDeque<_>) = take(&mut self.pending)
            .into_iter()
            .partition(|batch| batch.module == module);
        self.pending = others;
        theirs
    }

    /// Takes all queries out.
    pub fn take_all(&mut self) -> VecDeque<Batch> {
        take(&mut self.pending)
    }
}
