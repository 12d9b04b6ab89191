//! The kernel's news of the mappings of processes, up to a bound.

use std::collections::{HashMap, VecDeque};

use flametop_kernel::{Mapping, MappingChange, MappingEvent};
use flametop_unwind::{End, NewMapping, Seen};

/// Most bytes of news that are kept, of all processes: 25,000 mappings.
const MOST_BYTES: usize = 4 << 20;
/// Bytes of a change beside its path, with its place in the tables.
const CHANGE_BYTES: usize = 160;

/// A change that a process made to its mappings.
#[derive(Debug)]
pub(super) struct Change {
    /// The moment of the change, ns.
    pub(super) time: u64,
    /// The mapping that was made; none: the process called exec.
    pub(super) mapping: Option<Mapping>,
    /// The contents of the mapping, once somebody has looked.
    pub(super) seen: Option<Seen>,
}

/// The kernel's news by process, up to a bound.
#[derive(Default)]
pub(super) struct Told {
    /// The source of the news, where there is one.
    pub(super) source: Option<flametop_kernel::Mappings>,
    fresh: VecDeque<MappingEvent>,
    processes: HashMap<u32, VecDeque<Change>>,
    /// The process of each change, the oldest change first.
    order: VecDeque<u32>,
    bytes: usize,
    /// All changes after this moment are here, as far as they have come, ns.
    pub(super) complete: u64,
    /// The news have come up to this moment, ns.
    pub(super) drained: u64,
    /// New mappings that the kernel could not tell of.
    pub(super) lost: u64,
}

impl Told {
    /// No news yet; there are none of the time before this moment.
    pub(super) fn new(source: Option<flametop_kernel::Mappings>, now: u64) -> Told {
        Told {
            source,
            complete: now,
            drained: now,
            ..Told::default()
        }
    }

    /// Takes the news up to `time`, at least.
    pub(super) fn drain(&mut self, time: u64) {
        if time <= self.drained {
            return;
        }
        let Some(source) = &mut self.source else {
            return;
        };
        self.drained = source.drain(&mut self.fresh);
        for event in std::mem::take(&mut self.fresh) {
            self.take(event);
        }
    }

    /// Adds a change; the oldest changes are forgotten where there are too many.
    pub(super) fn take(&mut self, event: MappingEvent) {
        let MappingEvent { time, tgid, what } = event;
        let mapping = match what {
            MappingChange::Lost(count) => {
                self.lost += count;
                (self.bytes, self.complete) = (0, self.drained);
                self.processes.clear();
                self.order.clear();
                return;
            }
            MappingChange::Exec => None,
            MappingChange::Mapped(mapping) if &*mapping.path == b"[vsyscall]" => return,
            MappingChange::Mapped(mapping) => Some(mapping),
        };
        let change = Change {
            time,
            mapping,
            seen: None,
        };
        self.bytes += change.bytes();
        self.processes.entry(tgid).or_default().push_back(change);
        self.order.push_back(tgid);
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            let Some(changes) = self.processes.get_mut(&oldest) else {
                continue;
            };
            if let Some(change) = changes.pop_front() {
                self.bytes -= change.bytes();
                self.complete = self.complete.max(change.time);
            }
            if changes.is_empty() {
                self.processes.remove(&oldest);
            }
        }
    }

    /// The changes of a process after `since`, the oldest first.
    pub(super) fn of(
        &self,
        tgid: u32,
        since: u64,
    ) -> impl DoubleEndedIterator<Item = &Change> + Clone {
        let all = self.processes.get(&tgid).into_iter();
        all.flat_map(move |changes| {
            changes.range(changes.partition_point(|change| change.time <= since)..)
        })
    }

    /// Notes the contents of mappings that a process made, each by its time and start. None: they could not be found out.
    pub(super) fn see(&mut self, tgid: u32, which: &[(u64, u64)], seen: Option<Vec<Seen>>) {
        let Some(changes) = self.processes.get_mut(&tgid) else {
            return;
        };
        let mut seen = seen.into_iter().flatten();
        for (time, start) in which {
            let seen = seen.next().unwrap_or(Seen::Unknown(End::Unreadable));
            let first = changes.partition_point(|change| change.time < *time);
            let same = changes.range_mut(first..).take_while(|c| c.time == *time);
            let is = |c: &&mut Change| c.mapping.as_ref().is_some_and(|m| m.start == *start);
            if let Some(change) = same.into_iter().find(is) {
                change.seen = Some(seen);
            }
        }
    }
}

impl Change {
    fn bytes(&self) -> usize {
        CHANGE_BYTES
            + self
                .mapping
                .as_ref()
                .map_or(0, |mapping| mapping.path.len())
    }

    /// The moment of the change and the mapping that was made; none: the change was an exec.
    pub(super) fn made(&self) -> Option<(u64, NewMapping<'_>)> {
        let mapping = self.mapping.as_ref()?;
        let new = NewMapping {
            start: mapping.start,
            end: mapping.end,
            offset: mapping.offset,
            device: mapping.device,
            inode: mapping.inode,
            generation: mapping.generation,
            path: &mapping.path,
        };
        Some((self.time, new))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn mapped(tgid: u32, time: u64) -> MappingEvent {
        MappingEvent {
            time,
            tgid,
            what: MappingChange::Mapped(Mapping {
                end: 4096,
                ..Mapping::default()
            }),
        }
    }

    pub(crate) fn lost(count: u64) -> MappingEvent {
        MappingEvent {
            time: 45,
            tgid: 0,
            what: MappingChange::Lost(count),
        }
    }

    #[test]
    fn take_more_than_is_kept_forgets_the_oldest_and_says_since_when_it_is_complete() {
        let mut told = Told::default();
        for time in 1..=100_000 {
            told.take(mapped(time as u32 % 1000, time));
        }
        assert!(told.bytes <= MOST_BYTES);
        let kept: usize = told.processes.values().map(VecDeque::len).sum();
        assert_eq!(kept, told.order.len());
        assert_eq!(kept, MOST_BYTES / CHANGE_BYTES);
        assert_eq!(told.complete, 100_000 - kept as u64);
        let oldest = told
            .processes
            .values()
            .filter_map(|c| c.front())
            .map(|c| c.time);
        assert_eq!(oldest.min(), Some(told.complete + 1));
        assert_eq!(
            told.of(7, 99_000).map(|c| c.time).collect::<Vec<_>>(),
            [99_007]
        );
    }

    #[test]
    fn take_lost_is_counted_and_nothing_before_is_complete() {
        let mut told = Told {
            drained: 50,
            ..Told::default()
        };
        told.take(mapped(1, 40));
        told.take(lost(3));
        assert_eq!((told.lost, told.complete, told.bytes), (3, 50, 0));
        assert_eq!(told.of(1, 0).count(), 0);
        told.take(mapped(1, 60));
        assert_eq!(told.of(1, 0).count(), 1);
    }
}
