//! The mappings by which a sample is walked: the mappings of its process at the moment of the sample.
//!
//! The kernel tells of each executable mapping when the mapping is made, and of each exec. The mappings from before are read once, when
//! the process is first seen; a fork begins with the mappings of its family. Where the kernel does not tell, mappings are read again when
//! the count of executable pages changes; the count stays the same if a mapping as large comes to the same place. Of an address that no
//! mapping holds, the prober is asked: where the kernel tells, about this address alone, since most such addresses are no code at all.

mod families;
mod follow;
#[cfg(test)]
mod tests;
mod told;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use flametop_kernel::record::Head;
use flametop_stream::End;
use flametop_unwind::{MapHistory, ModuleId, Modules, ProbedMaps, ProcessMaps, Seen};

use crate::{
    boot::BootClock,
    budget::{Budget, Purse},
    identity::ProcessKey,
    os,
    prober::{Missing, Prober, What, Whom},
};
use families::Families;
use told::Told;

/// From one reading of the mappings of a process to the next, at least, ns.
const PERIOD: u64 = 100_000_000;
/// The same of a process that did not answer in time, ns.
const LATE_PERIOD: u64 = 10_000_000_000;
/// After so many changes that were followed the mappings are read again: nobody tells of mappings that were removed.
const READ_AFTER: usize = 4096;
/// Mappings that were read before their process was seen are kept for so long, ns.
const EARLY_KEPT: u64 = 5_000_000_000;
/// Most lines of mappings a second that are read of one process, 20 ms of the kernel's work; and of all processes of a user.
const LINES: u64 = 20_000;
const LINES_OF_USER: u64 = 200_000;
/// The cost of a look at the file of a mapping, in lines.
const LINES_PER_FILE: u64 = 16;

/// The known mappings of one process generation.
#[derive(Debug, Default)]
pub struct Maps {
    history: Option<MapHistory>,
    /// The history holds all changes that were told up to this time, ns.
    synced: u64,
    /// The moment when the mappings were read, or could not be read, ns.
    read: u64,
    /// `exec_vm` when the mappings were read or followed last.
    exec_vm: u64,
    /// Changes that were followed since the mappings were read.
    followed: usize,
    /// The moment when the image was replaced: later mappings are of another image, ns.
    over: Option<u64>,
    /// From this moment on more happened than is known, until the mappings are read again, ns.
    missed: Option<u64>,
    /// The cost of reading the mappings.
    lines: Purse,
    /// There is a question about the mappings that is not answered.
    asked: bool,
    /// The last question was about this address alone.
    asked_at: Option<u64>,
    /// `exec_vm` when the last question was asked.
    asked_vm: u64,
    /// The mappings came, or could not be read.
    come: Option<Result<(u64, ProbedMaps), Missing>>,
    /// The reason why the mappings could not be read the last time.
    missing: Option<End>,
}

/// The mappings of a process at the moment of a sample, as far as they are known.
#[derive(Debug)]
pub enum At {
    /// All mappings.
    Known(Arc<ProcessMaps>),
    /// No mappings, and the reason.
    Unknown(End),
    /// The mappings were asked for; the answer comes soon, if there is one.
    Asked,
}

/// Whether mappings are on their way.
enum Read {
    Come(ProbedMaps),
    Asked,
    /// The mappings are not asked for now: the last question is too recent, or the mappings cannot be read.
    No,
}

impl Maps {
    /// The modules that they name.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.history.iter().flat_map(MapHistory::modules)
    }

    /// The moment when the mappings were read last, ns.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Tells whether the history has the present mappings of the process only from a moment after `time` on, ns.
    pub fn are_newer_than(&self, time: u64) -> bool {
        let history = self.history.as_ref();
        history.is_some_and(|history| history.last().0 > time)
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

/// The mappings of all processes.
pub struct Mappings {
    told: Told,
    families: Families,
    pub boot: BootClock,
    prober: Arc<Prober>,
    /// The budget of lines that are read.
    lines: Budget,
    /// Mappings that are read before their processes are seen, and the tick when each of these processes began.
    early_asked: HashSet<u32>,
    early: HashMap<u32, (u64, u64, ProbedMaps)>,
}

impl Mappings {
    /// `source`: the kernel's news of mappings, where there are any.
    pub fn new(
        source: Option<flametop_kernel::Mappings>,
        boot: BootClock,
        prober: Arc<Prober>,
    ) -> Mappings {
        Mappings {
            told: Told::new(source, os::monotonic()),
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

    /// Takes the mappings of a process that was asked for early, and the tick when the process began.
    pub fn early(&mut self, tgid: u32, read: Option<(u64, u64, ProbedMaps)>) {
        self.early_asked.remove(&tgid);
        self.early.extend(read.map(|read| (tgid, read)));
    }

    /// Takes all mappings of a process of this user, and the moment when the reading began.
    pub fn come(&mut self, maps: &mut Maps, user: u32, read: Result<(u64, ProbedMaps), Missing>) {
        maps.asked = false;
        if let Ok((_, read)) = &read {
            let cost = read.lines() + LINES_PER_FILE * read.files();
            self.lines
                .spend(&mut maps.lines, user, os::monotonic(), cost);
        }
        if matches!(read, Err(Missing::Late)) {
            // Each question to a process that does not answer costs a thread.
            maps.read = os::monotonic() + LATE_PERIOD;
        }
        maps.come = Some(read);
    }

    /// Takes the contents of mappings that a process made.
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
                // All mappings are read when there is time.
                maps.followed = READ_AFTER + 1;
                maps.read = os::monotonic() + LATE_PERIOD;
            }
        }
        self.told.see(key.tgid(), which, seen);
    }

    /// Takes the kernel's news up to `time`.
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
        self.families.exec(head);
    }

    /// The mappings of the process of a sample, at the moment of the sample.
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

    /// The mappings for a sample with an address that [`Mappings::at`] has no mapping for: they may be newer, but hold for the sample too. Asks
    /// about the address, unless there was a question a moment ago.
    pub fn again(
        &mut self,
        head: &Head,
        maps: &mut Maps,
        address: u64,
        modules: &mut Modules,
    ) -> At {
        if maps.history.is_none() {
            return maps.unknown();
        }
        // Where nobody tells of mappings, other mappings may be new too.
        let one = self.told.source.is_some().then_some(address);
        let read = match self.read(head, maps, one) {
            Read::Come(read) => read,
            Read::Asked => return At::Asked,
            Read::No => return maps.unknown(),
        };
        let Some(history) = &mut maps.history else {
            return At::Unknown(End::Unreadable);
        };
        if self.told.source.is_some() {
            let now = os::monotonic();
            self.told.drain(now);
            if history.last().0 > head.ktime || self.told.of(head.tgid, head.ktime).next().is_some()
            {
                return At::Unknown(End::Unreadable);
            }
            if read.is_empty() && read.is_part() {
                return At::Known(Arc::clone(history.last().1));
            }
            if read.is_part() {
                // The next address of the same stack may be asked about at once.
                maps.read = 0;
                history.add(now, read, modules);
            } else {
                (maps.exec_vm, maps.followed) = (head.exec_vm, 0);
                let read = history.last().1.again(head.tgid, read, modules);
                history.push(now, Arc::new(read));
            }
        } else {
            maps.exec_vm = head.exec_vm;
            let read = history.last().1.again(head.tgid, read, modules);
            *history = MapHistory::new(head.tgid, 0, Arc::new(read));
        }
        let read = history.last().1;
        self.families.put(head, read, head.ktime);
        At::Known(Arc::clone(read))
    }

    /// Asks for all mappings of the process of a sample, or only for the mapping at the address `one`, if there is no such question yet.
    fn read(&mut self, head: &Head, maps: &mut Maps, one: Option<u64>) -> Read {
        let asked_at = maps.asked_at;
        let fits = |come: &Result<(u64, ProbedMaps), Missing>| match come {
            Ok((_, read)) if read.is_part() => one.is_some() && one == asked_at,
            _ => true,
        };
        if let Some(come) = maps.come.take().filter(fits) {
            if self.told.source.is_none() {
                maps.exec_vm = maps.asked_vm;
            }
            maps.missing = match &come {
                Ok((_, read)) if read.is_part() => maps.missing,
                Ok(_) => None,
                Err(Missing::Gone) => Some(End::Exited),
                Err(Missing::Late) => Some(End::MmBusy),
            };
            let Ok((began, read)) = come else {
                return Read::No;
            };
            // The mappings may have come for an earlier sample.
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
            .map(|history| history.last().1.runtime())
            .unwrap_or_default();
        maps.asked_at = one;
        let what = match one {
            Some(address) => What::MapsAt(address, runtime),
            None => What::Maps(runtime),
        };
        maps.asked = self.prober.ask(whom, what);
        match maps.asked {
            true => Read::Asked,
            false => {
                maps.missing = Some(End::Limit);
                Read::No
            }
        }
    }
}
