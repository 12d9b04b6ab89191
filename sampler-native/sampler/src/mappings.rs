//! Which mappings a sample is walked by: those of its process at its moment.
//!
//! The kernel tells of each executable mapping when it is made, and of each exec. What was mapped before is read once, at first
//! sight; a fork begins with what its family has. Where the kernel does not tell, mappings are read again when the count of
//! executable pages moves, which it does not if something as large comes to the same place.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Weak},
};

use flametop_kernel::{Mapping, MappingChange, MappingEvent, record::Head};
use flametop_stream::End;
use flametop_unwind::{
    self as unwind, MapHistory, ModuleId, Modules, NewMapping, ProbedMaps, ProcessMaps, Seen,
    WantedMapping,
};

use crate::{
    boot::BootClock,
    budget::{Budget, Purse},
    identity::ProcessKey,
    os,
    prober::{Missing, Prober, What, Whom},
};

/// Mappings of one process are read at most this often, ns.
const PERIOD: u64 = 100_000_000;
/// Those of one that did not answer in time, ns.
const LATE_PERIOD: u64 = 10_000_000_000;
/// Bytes of what was told and is kept, of all processes: 25,000 mappings.
const MOST_BYTES: usize = 4 << 20;
/// Bytes that a change takes beside its path, its place in the tables included.
const CHANGE_BYTES: usize = 160;
/// Of a process that mapped more since it was walked last, mappings are read rather than followed.
const MOST_FOLLOWED: usize = 256;
/// After so many that were followed they are read again: of what was unmapped nobody tells.
const READ_AFTER: usize = 4096;
/// Mappings that were read before their process was seen are kept so long, ns.
const EARLY_KEPT: u64 = 5_000_000_000;
/// Lines of mappings a second that are read of one process, 20 ms of the kernel's work; of all processes of a user.
const LINES: u64 = 20_000;
const LINES_OF_USER: u64 = 200_000;
/// What looking at the file of a mapping costs, in lines.
const LINES_PER_FILE: u64 = 16;
/// Areas that are copied at most for what one sample has to follow, where new code comes to the places of old.
const MOST_COPIED: usize = 1 << 18;
/// Mappings that are asked about in one go.
const MOST_WANTED: usize = 64;

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
    /// What reading them has cost.
    lines: Purse,
    /// A question about them is not answered.
    asked: bool,
    /// `exec_vm` when they were asked for.
    asked_vm: u64,
    /// They came, or could not be read.
    come: Option<Result<(u64, ProbedMaps), Missing>>,
    /// Why they could not be read the last time.
    missing: Option<End>,
}

/// What is known of the mappings of a process at the moment of a sample.
#[derive(Debug)]
pub enum At {
    /// All.
    Known(Arc<ProcessMaps>),
    /// Nothing, and why.
    Unknown(End),
    /// It was asked for; the answer comes soon, if there is one.
    Asked,
}

/// Mappings that were to be read.
enum Read {
    Come(ProbedMaps),
    Asked,
    /// Not now: it is too soon after the last time, or they cannot be read.
    No,
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

    fn unknown(&self) -> At {
        At::Unknown(self.missing.unwrap_or(End::Exited))
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
    /// What the mapping holds, once somebody looked.
    seen: Option<Seen>,
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

    /// What a process did after `since`, the oldest first.
    fn of(&self, tgid: u32, since: u64) -> impl DoubleEndedIterator<Item = &Change> + Clone {
        let all = self.processes.get(&tgid).into_iter();
        all.flat_map(move |changes| {
            changes.range(changes.partition_point(|change| change.time <= since)..)
        })
    }
}

impl Told {
    /// What mappings hold that a process made, each by time and start; or nothing of that could be found out.
    fn see(&mut self, tgid: u32, which: &[(u64, u64)], seen: Option<Vec<Seen>>) {
        let Some(changes) = self.processes.get_mut(&tgid) else {
            return;
        };
        let mut seen = seen.into_iter().flatten();
        for (time, start) in which {
            let seen = seen
                .next()
                .unwrap_or(Seen::Unknown(unwind::End::Unreadable));
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
pub struct Mappings {
    told: Told,
    families: Families,
    pub boot: BootClock,
    prober: Arc<Prober>,
    /// Lines that were read.
    lines: Budget,
    /// Processes that are read before they are seen, and those that were: when they began, ticks.
    early_asked: HashSet<u32>,
    early: HashMap<u32, (u64, u64, ProbedMaps)>,
}

impl Mappings {
    /// `source`: tells of mappings, where that can be had.
    pub fn new(
        source: Option<flametop_kernel::Mappings>,
        boot: BootClock,
        prober: Arc<Prober>,
    ) -> Mappings {
        let now = os::monotonic();
        Mappings {
            told: Told {
                source,
                complete: now,
                drained: now,
                ..Told::default()
            },
            families: Families::default(),
            boot,
            prober,
            lines: Budget::new(LINES, LINES_OF_USER),
            early_asked: HashSet::new(),
            early: HashMap::new(),
        }
    }

    /// Asks for the mappings of these processes before they are seen, or for those of all.
    pub fn ask_early(&mut self, tgids: Option<&[u32]>) {
        self.early_asked.extend(self.prober.ask_early(tgids));
    }

    /// The mappings of a process that was asked for early, and the tick when that began.
    pub fn early(&mut self, tgid: u32, read: Option<(u64, u64, ProbedMaps)>) {
        self.early_asked.remove(&tgid);
        self.early.extend(read.map(|read| (tgid, read)));
    }

    /// All mappings of a process of this user, and when they began to be read.
    pub fn come(&mut self, maps: &mut Maps, user: u32, read: Result<(u64, ProbedMaps), Missing>) {
        maps.asked = false;
        if let Ok((_, read)) = &read {
            let cost = read.lines() + LINES_PER_FILE * read.files();
            self.lines
                .spend(&mut maps.lines, user, os::monotonic(), cost);
        }
        if matches!(read, Err(Missing::Late)) {
            // Each question to such a process costs a thread.
            maps.read = os::monotonic() + LATE_PERIOD;
        }
        maps.come = Some(read);
    }

    /// What mappings hold that a process made.
    pub fn seen(
        &mut self,
        key: ProcessKey,
        maps: Option<&mut Maps>,
        which: &[(u64, u64)],
        seen: Option<Vec<Seen>>,
    ) {
        if let Some(maps) = maps {
            maps.asked = false;
            if seen.is_none() {
                // All are read when there is time.
                maps.followed = READ_AFTER + 1;
                maps.read = os::monotonic() + LATE_PERIOD;
            }
        }
        self.told.see(key.tgid(), which, seen);
    }

    /// Takes what was told up to `time`.
    pub fn drain(&mut self, time: u64) {
        self.told.drain(time);
        self.early
            .retain(|_, (_, read, _)| *read + EARLY_KEPT > time);
    }

    /// Mappings that the kernel could not tell of.
    pub fn lost(&self) -> u64 {
        self.told.lost
    }

    /// A process image was replaced.
    pub fn exec(&mut self, head: &Head) {
        self.families.known.remove(&Families::key(head));
    }

    /// What the process of a sample had mapped then.
    pub fn at(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> At {
        let asked = if self.told.source.is_none() {
            self.poll(head, maps, modules)
        } else {
            self.told.drain(head.ktime);
            match &maps.history {
                Some(_) => self.follow(head, maps, modules),
                None => self.meet(head, maps, modules),
            }
        };
        if asked {
            return At::Asked;
        }
        let known = |until: &Option<u64>| until.is_none_or(|until| head.ktime < until);
        let history = maps.history.as_ref();
        let history = history.filter(|_| known(&maps.over) && known(&maps.missed));
        match history.and_then(|history| history.at(head.ktime)) {
            Some(maps) => At::Known(Arc::clone(maps)),
            None => maps.unknown(),
        }
    }

    /// An address of a sample has no mapping: reads them again, unless that was done a moment ago, and gives what may be newer
    /// than [`Mappings::at`] but holds for the sample too.
    pub fn again(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> At {
        if maps.history.is_none() {
            return maps.unknown();
        }
        let read = match self.read(head, maps) {
            Read::Come(read) => read,
            Read::Asked => return At::Asked,
            Read::No => return maps.unknown(),
        };
        let Some(history) = &mut maps.history else {
            return At::Unknown(End::Unreadable);
        };
        let read = Arc::new(history.last().1.again(head.tgid, read, modules));
        maps.exec_vm = head.exec_vm;
        if self.told.source.is_some() {
            let now = os::monotonic();
            self.told.drain(now);
            if history.last().0 > head.ktime || self.told.of(head.tgid, head.ktime).next().is_some()
            {
                return At::Unknown(End::Unreadable);
            }
            maps.followed = 0;
            history.push(now, Arc::clone(&read));
        } else {
            *history = MapHistory::new(head.tgid, 0, Arc::clone(&read));
        }
        self.families.put(head, &read, head.ktime);
        At::Known(read)
    }

    /// All mappings of the process of a sample, which are asked for if they were not.
    fn read(&mut self, head: &Head, maps: &mut Maps) -> Read {
        if let Some(come) = maps.come.take() {
            if self.told.source.is_none() {
                maps.exec_vm = maps.asked_vm;
            }
            maps.missing = match come {
                Ok(_) => None,
                Err(Missing::Gone) => Some(End::Exited),
                Err(Missing::Late) => Some(End::MmBusy),
            };
            let Ok((began, read)) = come else {
                return Read::No;
            };
            // They may have come for a sample of before.
            let mut since = self.told.of(head.tgid, began);
            if since.all(|change| change.time > head.ktime) {
                return Read::Come(read);
            }
        }
        if maps.asked {
            return Read::Asked;
        }
        let whom = Whom::of(head);
        if maps.history.is_none() {
            if self.early_asked.contains(&head.tgid) {
                return Read::Asked;
            }
            if let Some((start, began, read)) = self.early.remove(&head.tgid)
                && self.prober.is(whom.key, start)
                && self
                    .told
                    .of(head.tgid, began)
                    .all(|change| change.time > head.ktime)
            {
                (maps.read, maps.exec_vm) = (head.ktime.max(1), head.exec_vm);
                return Read::Come(read);
            }
        }
        if self.lines.left(maps.lines, head.uid, os::monotonic()) == 0 {
            maps.missing = Some(End::Limit);
            return Read::No;
        }
        if !maps.may_read(head.ktime) {
            return Read::No;
        }
        maps.asked_vm = head.exec_vm;
        let runtime = maps
            .history
            .as_ref()
            .map(|history| history.last().1.runtime());
        maps.asked = self
            .prober
            .ask(whom, What::Maps(runtime.unwrap_or_default()));
        match maps.asked {
            true => Read::Asked,
            false => {
                maps.missing = Some(End::Limit);
                Read::No
            }
        }
    }

    /// Of a process that was not walked before. Returns whether more was asked for.
    fn meet(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let (tgid, time) = (head.tgid, head.ktime);
        let start = self.boot.monotonic(head.process_start_boottime, time);
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
            return self.advance(head, maps, modules);
        }
        if began.is_none()
            && few
            && start > self.told.complete
            && let Some(family) = self.families.get(head, Some(&self.told))
        {
            maps.history = Some(MapHistory::new(tgid, start, family));
            maps.synced = start;
            return self.advance(head, maps, modules);
        }
        match self.read(head, maps) {
            Read::Come(read) => {
                let read = ProcessMaps::of(tgid, read, modules);
                self.told.drain(os::monotonic());
                let before = self.told.of(tgid, start).take_while(|c| c.time <= time);
                let since = before.last().map_or(0, |change| change.time);
                let since = since.max(start).max(self.told.complete);
                self.begin(head, maps, read, since, modules)
            }
            Read::Asked => true,
            Read::No => false,
        }
    }

    /// Begins with mappings that were read just now, as they were at `since`. Returns whether more was asked for.
    fn begin(
        &mut self,
        head: &Head,
        maps: &mut Maps,
        mut read: ProcessMaps,
        since: u64,
        modules: &mut Modules,
    ) -> bool {
        for change in self.told.of(head.tgid, since) {
            match &change.mapping {
                Some(mapping) => read.blank(mapping.start, mapping.end, modules),
                // What was read is of the next image.
                None => {
                    maps.over = Some(change.time);
                    return false;
                }
            }
        }
        let read = Arc::new(read);
        match &mut maps.history {
            Some(history) => history.push(since, read),
            history => *history = Some(MapHistory::new(head.tgid, since, read)),
        }
        (maps.synced, maps.followed, maps.missed) = (since, 0, None);
        self.advance(head, maps, modules)
    }

    /// Of a process that was walked before. Returns whether more was asked for.
    fn follow(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let Some(history) = &maps.history else {
            return false;
        };
        if maps.over.is_some() || head.ktime <= maps.synced {
            return false;
        }
        let synced = maps.synced;
        let more = self.told.of(head.tgid, synced).count();
        // Each that comes to the place of other code copies all.
        let many = more > MOST_FOLLOWED || more * history.last().1.count() > MOST_COPIED;
        if synced < self.told.complete || many {
            maps.missed = Some(synced + 1);
            let last = Arc::clone(history.last().1);
            // Another process may have mapped so much that this one was not told of: then the count of pages has to do, as where
            // the kernel does not tell.
            let alike = !many && maps.exec_vm == head.exec_vm;
            let read = match self.read(head, maps) {
                Read::Come(read) => last.again(head.tgid, read, modules),
                Read::Asked => return true,
                Read::No => {
                    if alike {
                        maps.missed = None;
                    }
                    return false;
                }
            };
            self.told.drain(os::monotonic());
            let last = self.told.of(head.tgid, synced).next_back();
            let since = last.map_or(0, |change| change.time);
            let since = since.max(self.told.complete).max(synced + 2);
            if let Some(history) = &mut maps.history {
                history.bridge(synced + 1, &read);
            }
            return self.begin(head, maps, read, since, modules);
        }
        if more > 0 && !modules.affords() {
            (maps.missed, maps.missing) = (Some(synced + 1), Some(End::Limit));
            return false;
        }
        (maps.missed, maps.missing) = (None, None);
        let late = history.last().1.is_starting() || maps.followed > READ_AFTER;
        let asked = self.advance(head, maps, modules);
        // Nobody waits for these.
        if late
            && !asked
            && let Read::Come(read) = self.read(head, maps)
            && let Some(history) = &mut maps.history
        {
            let read = history.last().1.again(head.tgid, read, modules);
            let now = os::monotonic();
            self.told.drain(now);
            if self.told.of(head.tgid, maps.synced).next().is_none() {
                maps.followed = 0;
                history.push(now, Arc::new(read));
            }
        }
        asked
    }

    /// Adds what was told since, as far as what that holds is known. Returns whether more was asked for that the sample needs.
    fn advance(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let (found, wanted) = self.wanted(head, maps, modules);
        let Some(history) = &mut maps.history else {
            return false;
        };
        let mut needed = false;
        let now = os::monotonic();
        let poor = self.lines.left(maps.lines, head.uid, now) == 0;
        if !wanted.is_empty() && !maps.asked && poor {
            (maps.missed, maps.missing) = (wanted.first().map(|(time, _)| *time), Some(End::Limit));
        } else if !wanted.is_empty() && !maps.asked {
            let (wanted, which): (Vec<_>, Vec<_>) = wanted
                .iter()
                .take(MOST_WANTED)
                .map(|(time, wanted)| ((*time, wanted.clone()), (*time, wanted.start)))
                .unzip();
            let cost = LINES_PER_FILE * which.len() as u64;
            self.lines.spend(&mut maps.lines, head.uid, now, cost);
            let runtime = history.last().1.runtime();
            maps.asked = self
                .prober
                .ask(Whom::of(head), What::Mappings(wanted, runtime));
            if !maps.asked {
                self.told.see(head.tgid, &which, None);
                return self.advance(head, maps, modules);
            }
        }
        let known_to = wanted.first().map(|(time, _)| *time);
        if let Some(time) = known_to {
            needed = time <= head.ktime && maps.asked;
        }
        let changes = self.told.of(head.tgid, maps.synced);
        let exec = changes.clone().find(|change| change.mapping.is_none());
        maps.over = exec.map(|exec| exec.time);
        // After the next exec it is about another image.
        let made = changes.map_while(Change::made).zip(found);
        let new: Vec<_> = made
            .map(|((time, new), seen)| (time, new, seen))
            .take_while(|(time, ..)| known_to.is_none_or(|first| *time < first))
            .collect();
        let last = new.last().map(|(time, ..)| *time);
        maps.followed += new.len();
        let replaced = history.map(new.into_iter(), modules);
        match known_to {
            None => (maps.synced, maps.exec_vm) = (self.told.drained, head.exec_vm),
            Some(_) => maps.synced = last.unwrap_or(maps.synced),
        }
        if replaced {
            self.families.replaced(head);
        } else if known_to.is_none() && maps.over.is_none() && history.last().0 <= head.ktime {
            self.families.put(head, history.last().1, maps.synced);
        }
        needed
    }

    /// Of what was told since: what the first mappings hold, as far as that is known, and the others of which it is not.
    fn wanted(
        &self,
        head: &Head,
        maps: &Maps,
        modules: &mut Modules,
    ) -> (Vec<Seen>, Vec<(u64, WantedMapping)>) {
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        let Some(history) = &maps.history else {
            return (found, wanted);
        };
        let last = history.last().1;
        let mut python = last.runs_python();
        for change in self.told.of(head.tgid, maps.synced) {
            let Some((time, new)) = change.made() else {
                break;
            };
            python |= new.is_python();
            let seen = change.seen.clone();
            let seen = seen.or_else(|| new.known(python, modules));
            match seen {
                Some(seen) if wanted.is_empty() => found.push(seen),
                Some(_) => {}
                None => wanted.push((time, WantedMapping::of(&new))),
            }
        }
        (found, wanted)
    }

    /// Where nobody tells: reads them at first sight, unless it is of a family whose mappings are known, and when the kernel's
    /// count of executable pages moved. Returns whether they were asked for.
    fn poll(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let moved = head.exec_vm != 0 && head.exec_vm != maps.exec_vm;
        let family = match &maps.history {
            None => self.families.get(head, None),
            Some(_) if moved || maps.asked || maps.come.is_some() => None,
            Some(_) => return false,
        };
        let read = match family {
            Some(family) => {
                maps.exec_vm = head.exec_vm;
                family
            }
            None => match self.read(head, maps) {
                Read::Come(read) => Arc::new(match &maps.history {
                    Some(known) => known.last().1.again(head.tgid, read, modules),
                    None => ProcessMaps::of(head.tgid, read, modules),
                }),
                Read::Asked => return true,
                Read::No => return false,
            },
        };
        self.families.put(head, &read, head.ktime);
        maps.history = Some(MapHistory::new(head.tgid, 0, read));
        false
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

    fn mappings() -> Mappings {
        let prober = Prober::new(std::path::Path::new("/nonexistent")).expect("a prober");
        Mappings {
            told: Told::default(),
            ..Mappings::new(None, BootClock::default(), Arc::new(prober))
        }
    }

    #[test]
    fn follow_others_mapped_too_much_same_count_of_pages_keeps_what_is_known() {
        let mut modules = Modules::new(1 << 20);
        let mut mappings = mappings();
        let met = head(7, 60);
        let empty = Arc::new(ProcessMaps::empty(met.tgid));
        let mut maps = Maps {
            history: Some(MapHistory::new(met.tgid, 10, empty)),
            synced: 20,
            read: met.ktime,
            ..Maps::default()
        };
        mappings.told.drained = 30;
        assert!(!mappings.follow(&met, &mut maps, &mut modules));
        assert_eq!((maps.synced, maps.exec_vm), (30, met.exec_vm));
        mappings.told.drained = 50;
        mappings.told.take(lost(3));
        assert!(!mappings.follow(&met, &mut maps, &mut modules));
        assert_eq!(maps.missed, None, "as many pages as before");
        let moved = Head { exec_vm: 11, ..met };
        assert!(!mappings.follow(&moved, &mut maps, &mut modules));
        assert_eq!(maps.missed, Some(31));
    }

    #[test]
    fn meet_exec_then_more_mappings_than_are_followed_are_asked_for() {
        let own = std::process::id();
        let mut modules = Modules::new(1 << 20);
        for (count, read) in [(MOST_FOLLOWED, false), (MOST_FOLLOWED + 1, true)] {
            let mut mappings = mappings();
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
            let asked = mappings.meet(&seen, &mut maps, &mut modules);
            assert_eq!(
                (asked, maps.asked, maps.read() > 0),
                (read, read, read),
                "{count}"
            );
            assert_eq!(maps.history.is_some(), !read, "{count}");
        }
    }

    #[test]
    fn advance_file_that_nobody_saw_is_asked_for_and_holds_only_later_samples_up() {
        let mut modules = Modules::asking(1 << 20);
        let mut mappings = mappings();
        let seen = Head {
            ktime: 50,
            ..head(7, 60)
        };
        let empty = Arc::new(ProcessMaps::empty(seen.tgid));
        let mut maps = Maps {
            history: Some(MapHistory::new(seen.tgid, 10, empty)),
            synced: 20,
            ..Maps::default()
        };
        let file = MappingEvent {
            time: 40,
            tgid: seen.tgid,
            what: MappingChange::Mapped(Mapping {
                start: 4096,
                end: 8192,
                inode: 7,
                ..Mapping::default()
            }),
        };
        mappings.told.take(mapped(seen.tgid, 30));
        mappings.told.take(file);
        mappings.told.drained = 60;
        assert!(mappings.advance(&seen, &mut maps, &mut modules));
        assert_eq!((maps.asked, maps.synced), (true, 30));
        let before = Head { ktime: 39, ..seen };
        assert!(!mappings.advance(&before, &mut maps, &mut modules));
        let history = maps.history.as_ref().expect("a history");
        assert!(history.at(39).expect("known").is_executable(8));
        mappings.told.see(seen.tgid, &[(40, 4096)], None);
        maps.asked = false;
        assert!(!mappings.advance(&seen, &mut maps, &mut modules));
        assert_eq!(maps.synced, 60);
    }

    #[test]
    fn read_who_has_had_its_lines_ends_at_the_limit_and_others_are_asked_for() {
        let mut mappings = mappings();
        let mut greedy = Maps::default();
        let of = |tgid, uid| Head {
            uid,
            ..head(tgid, 60)
        };
        let now = os::monotonic();
        mappings.lines.spend(&mut greedy.lines, 1, now, 10 * LINES);
        let read = mappings.read(&of(7, 1), &mut greedy);
        assert!(matches!(read, Read::No));
        assert_eq!(greedy.missing, Some(End::Limit));
        let read = mappings.read(&of(8, 1), &mut Maps::default());
        assert!(matches!(read, Read::Asked), "another of that user");
        let lines = 10 * LINES_OF_USER;
        mappings.lines.spend(&mut Purse::default(), 1, now, lines);
        let read = mappings.read(&of(9, 1), &mut Maps::default());
        assert!(matches!(read, Read::No));
        let read = mappings.read(&of(10, 2), &mut Maps::default());
        assert!(matches!(read, Read::Asked), "another user");
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
