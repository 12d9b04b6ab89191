//! Which mappings a sample is walked by: those of its process at its moment.
//!
//! The kernel tells of each executable mapping when it is made, and of each exec. What was mapped before is read once, at first
//! sight; a fork begins with what its family has. Where the kernel does not tell, mappings are read again when the count of
//! executable pages moves, which it does not if something as large comes to the same place. An address that no mapping holds is asked
//! about: where the kernel tells, alone, since most such addresses are no code at all.

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

/// Mappings of one process are read at most this often, ns.
const PERIOD: u64 = 100_000_000;
/// Those of one that did not answer in time, ns.
const LATE_PERIOD: u64 = 10_000_000_000;
/// After so many that were followed they are read again: of what was unmapped nobody tells.
const READ_AFTER: usize = 4096;
/// Mappings that were read before their process was seen are kept so long, ns.
const EARLY_KEPT: u64 = 5_000_000_000;
/// Lines of mappings a second that are read of one process, 20 ms of the kernel's work; of all processes of a user.
const LINES: u64 = 20_000;
const LINES_OF_USER: u64 = 200_000;
/// What looking at the file of a mapping costs, in lines.
const LINES_PER_FILE: u64 = 16;

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
    /// The last question was about what is at this address.
    asked_at: Option<u64>,
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
        self.families.exec(head);
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

    /// This address of a sample has no mapping: asks what is there, unless something was asked a moment ago, and gives what may be
    /// newer than [`Mappings::at`] but holds for the sample too.
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
        // Where nobody tells what is mapped, something else may be new too.
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

    /// All mappings of the process of a sample, which are asked for if they were not; or what is at the address `one`, if that is
    /// all that is wanted.
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
