//! Which mappings a sample is walked by: those of its process at its moment.
//!
//! The kernel tells of each executable mapping when it is made, and of each exec. What was mapped before is read once, at first
//! sight; a fork begins with what its family has. Where the kernel does not tell, mappings are read again when the count of
//! executable pages moves, which it does not if something as large comes to the same place.

use std::{
    cell::Cell,
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
};

use flametop_kernel::{Mapping, MappingChange, MappingEvent, record::Head};
use flametop_unwind::{MapHistory, ModuleId, Modules, NewMapping, ProcessMaps};

use crate::{os, tasks::Process};

/// Mappings of one process are read at most this often, ns.
const PERIOD: u64 = 100_000_000;
/// Bytes of what was told and is kept, of all processes: 25,000 mappings.
const MOST_BYTES: usize = 4 << 20;
/// Bytes that a change takes beside its path, its place in the tables included.
const CHANGE_BYTES: usize = 160;
/// Of a process that mapped more since it was walked last, mappings are read rather than followed.
const MOST_FOLLOWED: usize = 256;
/// After so many that were followed they are read again: of what was unmapped nobody tells.
const READ_AFTER: usize = 4096;

/// The known mappings of one process generation.
#[derive(Debug, Default)]
pub struct Maps {
    history: Option<MapHistory>,
    /// The history holds all changes that were told up to this time, ns.
    synced: u64,
    /// When they were read, or tried, ns.
    read: u64,
    /// `exec_vm` when they were read or followed.
    exec_vm: u64,
    /// How many were followed since.
    followed: usize,
    /// When the image was replaced: from then on its mappings are those of another, ns.
    over: Option<u64>,
    /// From when on more happened than is known, until they are read again, ns.
    missed: Option<u64>,
}

impl Maps {
    /// The modules that they name.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.history.iter().flat_map(MapHistory::modules)
    }

    /// When they were read last, ns.
    pub fn read(&self) -> u64 {
        self.read
    }

    fn may_be_read(&self, now: u64) -> bool {
        self.read == 0 || now >= self.read + PERIOD
    }

    fn may_read(&mut self, now: u64) -> bool {
        let may = self.may_be_read(now);
        if may {
            self.read = now.max(1);
        }
        may
    }
}

/// Something that a process did.
#[derive(Debug)]
struct Change {
    time: u64,
    /// None: it called exec.
    mapping: Option<Mapping>,
}

/// What the kernel told, by process, until there is too much of it.
#[derive(Default)]
struct Told {
    source: Option<flametop_kernel::Mappings>,
    fresh: VecDeque<MappingEvent>,
    processes: HashMap<u32, VecDeque<Change>>,
    /// Whose changes they are, the oldest first.
    order: VecDeque<u32>,
    bytes: usize,
    /// Nothing is missing of what came after then, ns.
    complete: u64,
    /// All that came until then is here, ns.
    drained: u64,
    lost: u64,
}

impl Told {
    /// Takes what was told up to `time`, at least.
    fn drain(&mut self, time: u64) {
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

    fn take(&mut self, event: MappingEvent) {
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
        let change = Change { time, mapping };
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

    /// What a process did after `since`, the oldest first.
    fn of(&self, tgid: u32, since: u64) -> impl DoubleEndedIterator<Item = &Change> + Clone {
        let all = self.processes.get(&tgid).into_iter();
        all.flat_map(move |changes| {
            changes.range(changes.partition_point(|change| change.time <= since)..)
        })
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

    fn made(&self) -> Option<(u64, NewMapping<'_>)> {
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

/// The mappings of all processes.
#[derive(Default)]
pub struct Mappings {
    told: Told,
    families: Families,
    boot_offset: u64,
}

impl Mappings {
    /// `source`: tells of mappings, where that can be had. `boot_offset`: boot time − monotonic time, ns.
    pub fn new(source: Option<flametop_kernel::Mappings>, boot_offset: u64) -> Mappings {
        let now = os::monotonic();
        Mappings {
            told: Told {
                source,
                complete: now,
                drained: now,
                ..Told::default()
            },
            families: Families::default(),
            boot_offset,
        }
    }

    /// Takes what was told up to `time`.
    pub fn drain(&mut self, time: u64) {
        self.told.drain(time);
    }

    /// Mappings that the kernel could not tell of.
    pub fn lost(&self) -> u64 {
        self.told.lost
    }

    /// A process image was replaced.
    pub fn exec(&mut self, head: &Head) {
        self.families.known.remove(&Families::key(head));
    }

    /// What the process of a sample had mapped then; nothing if that is not known.
    pub fn at(
        &mut self,
        head: &Head,
        process: &mut Process,
        modules: &mut Modules,
    ) -> Option<Arc<ProcessMaps>> {
        let maps = &mut process.maps;
        if self.told.source.is_none() {
            self.poll(head, maps, modules);
        } else {
            self.told.drain(head.ktime);
            match &maps.history {
                Some(_) => self.follow(head, maps, modules),
                None => self.meet(head, maps, modules),
            }
        }
        let known = |until: &Option<u64>| until.is_none_or(|until| head.ktime < until);
        if !known(&maps.over) || !known(&maps.missed) {
            return None;
        }
        maps.history.as_ref()?.at(head.ktime).cloned()
    }

    /// An address of a sample has no mapping: reads them again, unless that was done a moment ago, and gives what may be newer
    /// than [`Mappings::at`] but holds for the sample too.
    pub fn again(
        &mut self,
        head: &Head,
        process: &mut Process,
        modules: &mut Modules,
    ) -> Option<Arc<ProcessMaps>> {
        let maps = &mut process.maps;
        if !maps.may_read(head.ktime) {
            return None;
        }
        let history = maps.history.as_mut()?;
        let read = history.last().1.read_again(head.tgid, modules).ok()?;
        let read = Arc::new(read);
        maps.exec_vm = head.exec_vm;
        if self.told.source.is_some() {
            let now = os::monotonic();
            self.told.drain(now);
            if history.last().0 > head.ktime || self.told.of(head.tgid, head.ktime).next().is_some()
            {
                return None;
            }
            maps.followed = 0;
            history.push(now, Arc::clone(&read));
        } else {
            *history = MapHistory::new(head.tgid, 0, Arc::clone(&read));
        }
        self.families.put(head, &read, head.ktime);
        Some(read)
    }

    /// Of a process that was not walked before.
    fn meet(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) {
        let (tgid, time) = (head.tgid, head.ktime);
        let start = head.process_start_boottime.saturating_sub(self.boot_offset);
        let exec = |change: &&Change| change.mapping.is_none() && change.time <= time;
        let began = self.told.of(tgid, start).rfind(exec).map(|exec| exec.time);
        // Of more than that, each would be looked up: all are read at once instead.
        let after = self.told.of(tgid, began.unwrap_or(start));
        let few = after.count() <= MOST_FOLLOWED;
        if let Some(began) = began
            && few
        {
            // All that it has mapped was told.
            let nothing = Arc::new(ProcessMaps::empty(tgid));
            maps.history = Some(MapHistory::new(tgid, began, nothing));
            maps.synced = began;
            self.advance(head, maps, modules);
        } else if began.is_none()
            && few
            && start > self.told.complete
            && let Some(family) = self.families.get(head, Some(&self.told))
        {
            maps.history = Some(MapHistory::new(tgid, start, family));
            maps.synced = start;
            self.advance(head, maps, modules);
        } else if maps.may_read(time)
            && let Ok(read) = ProcessMaps::read(tgid, modules)
        {
            self.told.drain(os::monotonic());
            let before = self.told.of(tgid, start).take_while(|c| c.time <= time);
            let since = before.last().map_or(0, |change| change.time);
            let since = since.max(start).max(self.told.complete);
            self.begin(head, maps, read, since, modules);
        }
    }

    /// Begins with mappings that were read just now, as they were at `since`.
    fn begin(
        &mut self,
        head: &Head,
        maps: &mut Maps,
        mut read: ProcessMaps,
        since: u64,
        modules: &mut Modules,
    ) {
        for change in self.told.of(head.tgid, since) {
            match &change.mapping {
                Some(mapping) => read.blank(mapping.start, mapping.end, modules),
                // What was read is of the next image.
                None => {
                    maps.over = Some(change.time);
                    return;
                }
            }
        }
        let read = Arc::new(read);
        match &mut maps.history {
            Some(history) => history.push(since, read),
            history => *history = Some(MapHistory::new(head.tgid, since, read)),
        }
        (maps.synced, maps.followed, maps.missed) = (since, 0, None);
        self.advance(head, maps, modules);
    }

    /// Of a process that was walked before.
    fn follow(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) {
        let Some(history) = &mut maps.history else {
            return;
        };
        if maps.over.is_some() || head.ktime <= maps.synced {
            return;
        }
        let synced = maps.synced;
        let more = self.told.of(head.tgid, synced).count();
        if synced < self.told.complete || more > MOST_FOLLOWED {
            maps.missed = Some(synced + 1);
            let last = Arc::clone(history.last().1);
            let may_read = maps.may_read(head.ktime);
            let read = may_read.then(|| last.read_again(head.tgid, modules));
            let Some(Ok(read)) = read else {
                // Another process may have mapped so much that this one was not told of: then the count of pages has to do, as
                // where the kernel does not tell.
                if more <= MOST_FOLLOWED && maps.exec_vm == head.exec_vm {
                    maps.missed = None;
                }
                return;
            };
            self.told.drain(os::monotonic());
            let last = self.told.of(head.tgid, synced).next_back();
            let since = last.map_or(0, |change| change.time);
            let since = since.max(self.told.complete).max(synced + 2);
            if let Some(history) = &mut maps.history {
                history.bridge(synced + 1, &read);
            }
            self.begin(head, maps, read, since, modules);
            return;
        }
        let late = history.last().1.is_starting() || maps.followed > READ_AFTER;
        self.advance(head, maps, modules);
        if late
            && maps.may_read(head.ktime)
            && let Some(history) = &mut maps.history
            && let Ok(read) = history.last().1.read_again(head.tgid, modules)
        {
            let now = os::monotonic();
            self.told.drain(now);
            if self.told.of(head.tgid, maps.synced).next().is_none() {
                maps.followed = 0;
                history.push(now, Arc::new(read));
            }
        }
    }

    /// Adds what was told since.
    fn advance(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) {
        let may_read = maps.may_be_read(head.ktime);
        let Some(history) = &mut maps.history else {
            return;
        };
        let changes = self.told.of(head.tgid, maps.synced);
        let exec = changes.clone().find(|change| change.mapping.is_none());
        maps.over = exec.map(|exec| exec.time);
        // After the next exec it is about another image.
        let mut new = changes.map_while(Change::made).peekable();
        let mut replaced = false;
        if new.peek().is_some() {
            maps.followed += new.clone().count();
            let read = Cell::new(false);
            replaced = history.map(new, || may_read && !read.replace(true), modules);
            if read.get() {
                maps.read = head.ktime.max(1);
            }
        }
        (maps.synced, maps.exec_vm) = (self.told.drained, head.exec_vm);
        if replaced {
            self.families.replaced(head);
        } else if maps.over.is_none() && history.last().0 <= head.ktime {
            self.families.put(head, history.last().1, maps.synced);
        }
    }

    /// Where nobody tells: reads them at first sight, unless it is of a family whose mappings are known, and when the kernel's
    /// count of executable pages moved.
    fn poll(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) {
        let moved = head.exec_vm != 0 && head.exec_vm != maps.exec_vm;
        let family = match &maps.history {
            None => self.families.get(head, None),
            Some(_) if moved => None,
            Some(_) => return,
        };
        if family.is_none() && !maps.may_read(head.ktime) {
            return;
        }
        let read = match (family, &maps.history) {
            (Some(family), _) => Ok(family),
            (None, Some(known)) => known.last().1.read_again(head.tgid, modules).map(Arc::new),
            (None, None) => ProcessMaps::read(head.tgid, modules).map(Arc::new),
        };
        maps.exec_vm = head.exec_vm;
        if let Ok(read) = read {
            self.families.put(head, &read, head.ktime);
            maps.history = Some(MapHistory::new(head.tgid, 0, read));
        }
    }
}

/// Mappings by what a process shares with its forks, so that one that lives a millisecond has names too.
#[derive(Default)]
struct Families {
    /// By image and exec generation.
    known: HashMap<(u32, u32), Family>,
    purge_at: usize,
}

/// What one of a family has.
struct Family {
    maps: Weak<ProcessMaps>,
    exec_vm: u64,
    tgid: u32,
    /// They were those until then, at least, ns.
    synced: u64,
    /// In one of them other code came to a place where code was: what is there in another, the count of pages does not tell.
    replaced: bool,
}

impl Families {
    fn key(head: &Head) -> (u32, u32) {
        (head.image, head.self_exec_id)
    }

    /// The mappings that a fork began with; it maps the same number of pages. With `told`: if nothing happened since that is not
    /// in them.
    fn get(&self, head: &Head, told: Option<&Told>) -> Option<Arc<ProcessMaps>> {
        let known = self.known.get(&Families::key(head))?;
        let surely = |told: &Told| {
            !known.replaced
                && told.complete <= known.synced
                && told
                    .of(known.tgid, known.synced)
                    .next()
                    .is_none_or(|change| change.mapping.is_none())
        };
        if known.exec_vm != head.exec_vm || !told.is_none_or(surely) {
            return None;
        }
        known.maps.upgrade()
    }

    fn replaced(&mut self, head: &Head) {
        if let Some(known) = self.known.get_mut(&Families::key(head)) {
            known.replaced = true;
        }
    }

    fn put(&mut self, head: &Head, maps: &Arc<ProcessMaps>, synced: u64) {
        if head.image == 0 {
            return;
        }
        let key = Families::key(head);
        if self.known.len() >= self.purge_at && !self.known.contains_key(&key) {
            self.known.retain(|_, known| known.maps.strong_count() > 0);
            self.purge_at = 2 * self.known.len() + 256;
        }
        let replaced = self.known.get(&key).is_some_and(|known| known.replaced);
        let family = Family {
            maps: Arc::downgrade(maps),
            exec_vm: head.exec_vm,
            tgid: head.tgid,
            synced,
            replaced,
        };
        self.known.insert(key, family);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tests::head;
    use flametop_unwind::ModuleKind;

    fn mapped(tgid: u32, time: u64) -> MappingEvent {
        MappingEvent {
            time,
            tgid,
            what: MappingChange::Mapped(Mapping {
                end: 4096,
                ..Mapping::default()
            }),
        }
    }

    fn lost(count: u64) -> MappingEvent {
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
    fn follow_others_mapped_too_much_same_count_of_pages_keeps_what_is_known() {
        let mut modules = Modules::new(1 << 20);
        let mut mappings = Mappings::default();
        let met = head(7, 60);
        let empty = Arc::new(ProcessMaps::empty(met.tgid));
        let mut maps = Maps {
            history: Some(MapHistory::new(met.tgid, 10, empty)),
            synced: 20,
            read: met.ktime,
            ..Maps::default()
        };
        mappings.told.drained = 30;
        mappings.follow(&met, &mut maps, &mut modules);
        assert_eq!((maps.synced, maps.exec_vm), (30, met.exec_vm));
        mappings.told.drained = 50;
        mappings.told.take(lost(3));
        mappings.follow(&met, &mut maps, &mut modules);
        assert_eq!(maps.missed, None, "as many pages as before");
        let moved = Head { exec_vm: 11, ..met };
        mappings.follow(&moved, &mut maps, &mut modules);
        assert_eq!(maps.missed, Some(31));
    }

    #[test]
    fn meet_exec_then_more_mappings_than_are_followed_are_read() {
        let own = std::process::id();
        let mut modules = Modules::new(1 << 20);
        for (count, read) in [(MOST_FOLLOWED, false), (MOST_FOLLOWED + 1, true)] {
            let mut mappings = Mappings::default();
            let seen = Head {
                tgid: own,
                ..head(own, 60)
            };
            mappings.told.take(MappingEvent {
                time: 5_000_000_000,
                tgid: own,
                what: MappingChange::Exec,
            });
            for time in 1..=count as u64 {
                mappings.told.take(mapped(own, 5_000_000_000 + time));
            }
            mappings.told.drained = 6_000_000_000;
            let mut maps = Maps::default();
            mappings.meet(&seen, &mut maps, &mut modules);
            assert_eq!(maps.read() > 0, read, "{count}");
            let history = maps.history.unwrap();
            let files = |id| modules.get(id).kind() == ModuleKind::File;
            assert_eq!(history.modules().any(files), read, "{count}");
        }
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
