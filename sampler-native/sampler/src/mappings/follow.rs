//! The mappings of a process from one sample to the next: asked for at first sight, then changed by the kernel's news, or read again.

use std::sync::Arc;

use flametop_kernel::record::Head;
use flametop_stream::End;
use flametop_unwind::{MapHistory, Modules, ProcessMaps, Seen, WantedMapping};

use super::{LINES_PER_FILE, Mappings, Maps, READ_AFTER, Read, told::Change};
use crate::{
    os,
    prober::{What, Whom},
};

/// A process that made more mappings than this since the last walk has its mappings read again: to follow the changes would cost more.
pub(super) const MOST_FOLLOWED: usize = 256;
/// Most areas that are copied for the changes before one sample, where new code comes to the places of old code.
const MOST_COPIED: usize = 1 << 18;
/// Most mappings in one question.
const MOST_WANTED: usize = 64;

impl Mappings {
    /// Makes the mappings of a process that was not walked before. Returns whether the sample waits for an answer.
    pub(super) fn meet(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let (tgid, time) = (head.tgid, head.ktime);
        let start = self.boot.monotonic(head.process_start_boottime, time);
        let exec = |change: &&Change| change.mapping.is_none() && change.time <= time;
        let began = self.told.of(tgid, start).rfind(exec).map(|exec| exec.time);
        // More mappings would be looked up one by one: all are read at once instead.
        let after = self.told.of(tgid, began.unwrap_or(start));
        let few = after.count() <= MOST_FOLLOWED;
        if let Some(began) = began
            && few
        {
            // The kernel told of all its mappings.
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
        match self.read(head, maps, None) {
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

    /// Begins with mappings that were read just now, as they were at `since`. Returns whether the sample waits for an answer.
    pub(super) fn begin(
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
                // The mappings that were read are of the next image.
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

    /// Brings the mappings of a process that was walked before up to date. Returns whether the sample waits for an answer.
    pub(super) fn follow(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
        let Some(history) = &maps.history else {
            return false;
        };
        if maps.over.is_some() || head.ktime <= maps.synced {
            return false;
        }
        let synced = maps.synced;
        let more = self.told.of(head.tgid, synced).count();
        // Each mapping that comes to the place of other code copies all areas.
        let many = more > MOST_FOLLOWED || more * history.last().1.count() > MOST_COPIED;
        if synced < self.told.complete || many {
            maps.missed = Some(synced + 1);
            let last = Arc::clone(history.last().1);
            // Another process may have mapped so much that the news of this process were lost: then the count of pages has to do, as
            // where the kernel does not tell.
            let alike = !many && maps.exec_vm == head.exec_vm;
            let read = match self.read(head, maps, None) {
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
        // No sample waits for these mappings.
        if late
            && !asked
            && let Read::Come(read) = self.read(head, maps, None)
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

    /// Adds the mappings that the kernel told of since, if their contents are known. Asks for the contents of the others, and returns whether
    /// the sample needs them.
    pub(super) fn advance(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
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
        // After the next exec the news are about another image.
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

    /// The mappings that the kernel told of since: the first of them with their contents, as far as these are known, and the rest.
    pub(super) fn wanted(
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

    /// Where the kernel does not tell: asks for the mappings at first sight, unless the mappings of the family are known, and when the
    /// kernel's count of executable pages has changed. Returns whether they were asked for.
    pub(super) fn poll(&mut self, head: &Head, maps: &mut Maps, modules: &mut Modules) -> bool {
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
            None => match self.read(head, maps, None) {
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
