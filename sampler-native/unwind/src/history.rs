//! The mappings of a process at each moment.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    ModuleId, Modules, NewMapping, ProbedMaps, ProcessMaps, Seen,
    maps::{self, Area},
};

/// Samples wait no longer than this to be walked, ns: older versions are never asked for.
const KEPT: u64 = 2_000_000_000;
/// Most versions of one process.
const MAX_VERSIONS: usize = 64;
/// Most areas of all versions of one process together, unless two alone have more.
const MOST_AREAS: usize = 1 << 16;

/// The executable mappings of one process generation over time. There is a version for each time that other code came to the place of
/// former code; code that comes to a free place changes the last version, since nothing was called there before.
#[derive(Debug)]
pub struct MapHistory {
    tgid: u32,
    /// The versions, each with the time from which on it holds, in that order; never empty.
    versions: VecDeque<(u64, Arc<ProcessMaps>)>,
}

impl MapHistory {
    /// The history of process `tgid`, which has had these mappings since that time (ns), or shares those of the process that it is a
    /// fork of.
    pub fn new(tgid: u32, since: u64, maps: Arc<ProcessMaps>) -> MapHistory {
        MapHistory {
            tgid,
            versions: VecDeque::from([(since, maps)]),
        }
    }

    /// The mappings at that moment; none are known of the time before the first version.
    pub fn at(&self, time: u64) -> Option<&Arc<ProcessMaps>> {
        let after = self.versions.partition_point(|(since, _)| *since <= time);
        Some(&self.versions.get(after.checked_sub(1)?)?.1)
    }

    /// The present mappings, and since when they hold.
    ///
    /// # Panics
    /// Never: there is always a last version.
    pub fn last(&self) -> (u64, &Arc<ProcessMaps>) {
        let (since, maps) = self.versions.back().expect("a version");
        (*since, maps)
    }

    /// These are all mappings from that time on.
    pub fn push(&mut self, since: u64, maps: Arc<ProcessMaps>) {
        let since = since.max(self.last().0);
        let old = |next: &(u64, _)| next.0.saturating_add(KEPT) < since;
        let mut areas = maps.count();
        areas += self.versions.iter().map(|(_, v)| v.count()).sum::<usize>();
        while self.versions.len() >= MAX_VERSIONS
            || self.versions.get(1).is_some_and(old)
            || self.versions.len() > 1 && areas > MOST_AREAS
        {
            let first = self.versions.pop_front();
            areas -= first.map_or(0, |(_, first)| first.count());
        }
        self.versions.push_back((since, maps));
    }

    /// The process made these mappings, each with its time and its content. Returns whether one came to the place of other
    /// code.
    pub fn map<'a>(
        &mut self,
        new: impl Iterator<Item = (u64, NewMapping<'a>, Seen)>,
        modules: &mut Modules,
    ) -> bool {
        let begun = modules.begin_fill();
        let blank = maps::blank(modules);
        let mut replaced = false;
        for (time, new, seen) in new {
            let area = self.present().place(&new, seen, modules);
            replaced |= self.put(time, area, blank, modules);
        }
        modules.end_fill(begun);
        replaced
    }

    /// A part of the mappings was found at that time, of which nobody told.
    pub fn add(&mut self, time: u64, part: ProbedMaps, modules: &mut Modules) {
        let begun = modules.begin_fill();
        let blank = maps::blank(modules);
        for area in part.areas {
            let area = self.present().area(area, modules);
            self.put(time, area, blank, modules);
        }
        modules.end_fill(begun);
    }

    /// The last version, to be changed.
    fn present(&mut self) -> &mut ProcessMaps {
        let (_, last) = self.versions.back_mut().expect("a version");
        if !last.is_of(self.tgid) {
            *last = Arc::new(ProcessMaps::clone(last).of_fork(self.tgid));
        }
        Arc::make_mut(last)
    }

    /// Adds an area that came at that time. Returns whether the area came to the place of other code.
    fn put(&mut self, time: u64, area: Area, blank: ModuleId, modules: &Modules) -> bool {
        let last = self.present();
        let (other, code) = last.is_replaced_by(&area, blank);
        if other {
            let mut next = last.clone();
            next.insert(area, modules);
            self.push(time, Arc::new(next));
        } else {
            last.insert(area, modules);
        }
        code
    }

    /// Between `since` and the moment of `read` more happened than is known: only mappings that are alike in both are certain.
    pub fn bridge(&mut self, since: u64, read: &ProcessMaps) {
        let mut alike = ProcessMaps::clone(self.last().1);
        alike.agree(read);
        self.push(since, Arc::new(alike));
    }

    /// The modules that the versions name.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.versions.iter().flat_map(|(_, maps)| maps.modules())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        End, Frame, Input, Unwinder,
        registers::{PC, REGISTERS},
    };

    const PAGE: u64 = 4096;

    fn anonymous(page: u64) -> NewMapping<'static> {
        NewMapping {
            start: page * PAGE,
            end: (page + 1) * PAGE,
            offset: 0,
            device: (0, 0),
            inode: 0,
            generation: 0,
            path: b"//anon",
        }
    }

    /// A file that no process has mapped.
    fn gone(page: u64, path: &[u8]) -> NewMapping<'_> {
        NewMapping {
            device: (8, 1),
            inode: 1 << 60,
            path,
            ..anonymous(page)
        }
    }

    /// Of each what nobody looked at.
    fn unseen<'a>(
        new: impl IntoIterator<Item = (u64, NewMapping<'a>)>,
    ) -> impl Iterator<Item = (u64, NewMapping<'a>, Seen)> {
        new.into_iter().map(|(time, new)| {
            let seen = match new.inode {
                0 => Seen::Code { trampolines: false },
                _ => Seen::Unknown(End::Unreadable),
            };
            (time, new, seen)
        })
    }

    fn path_at(
        history: &MapHistory,
        modules: &mut Modules,
        time: u64,
        page: u64,
    ) -> Option<Vec<u8>> {
        let maps = history.at(time)?;
        let mut regs = [0; REGISTERS];
        regs[PC] = page * PAGE + 8;
        let input = Input {
            regs: &regs,
            mapping: 0..8,
            pieces: &[],
        };
        let mut frames: Vec<Frame> = Vec::new();
        Unwinder::new().walk(maps, modules, &input, &mut frames);
        Some(modules.get(frames.first()?.module).path().to_vec())
    }

    #[test]
    fn map_other_code_at_a_place_each_moment_has_its_own() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 10, Arc::new(ProcessMaps::empty(own)));
        let new = [
            (20, gone(100, b"/first")),
            (30, anonymous(200)),
            (40, gone(100, b"/second")),
            (50, gone(100, b"/first")),
        ];
        assert!(history.map(unseen(new), &mut modules));
        let mut at = |time, page| path_at(&history, &mut modules, time, page);
        assert_eq!(at(9, 100), None, "before all that is known");
        assert_eq!(at(39, 100).as_deref(), Some(&b"/first"[..]));
        assert_eq!(at(40, 100).as_deref(), Some(&b"/second"[..]));
        assert_eq!(at(50, 100).as_deref(), Some(&b"/first"[..]));
        assert_eq!(at(60, 200).as_deref(), Some(&b"[jit]"[..]));
        assert_eq!(at(60, 300), None, "nothing is there");
    }

    #[test]
    fn add_code_at_a_free_place_is_no_new_version_and_code_in_place_of_other_code_is_one() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 10, Arc::new(ProcessMaps::empty(own)));
        history.map(unseen([(20, gone(100, b"/first"))]), &mut modules);
        history.add(30, ProbedMaps::code(200 * PAGE..201 * PAGE), &mut modules);
        let there = path_at(&history, &mut modules, 25, 200);
        assert_eq!(there.as_deref(), Some(&b"[jit]"[..]));
        assert_eq!(history.versions.len(), 1);
        history.add(40, ProbedMaps::code(100 * PAGE..101 * PAGE), &mut modules);
        let mut at = |time, page| path_at(&history, &mut modules, time, page);
        assert_eq!(at(39, 100).as_deref(), Some(&b"/first"[..]));
        assert_eq!(at(40, 100).as_deref(), Some(&b"[jit]"[..]));
        assert_eq!(at(40, 200).as_deref(), Some(&b"[jit]"[..]));
    }

    #[test]
    fn map_same_again_or_a_free_place_is_no_new_version() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 0, Arc::new(ProcessMaps::empty(own)));
        for turn in 0..1000 {
            let new = [(turn, anonymous(100)), (turn, anonymous(101 + turn % 8))];
            assert!(!history.map(unseen(new), &mut modules));
        }
        assert_eq!(history.versions.len(), 1);
        // Pieces that lie together are one.
        assert_eq!(history.last().1.modules().count(), 2);
    }

    #[test]
    fn map_two_in_turn_without_end_keeps_few_versions() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 0, Arc::new(ProcessMaps::empty(own)));
        for time in 0..10_000 {
            let path = [&b"/first"[..], b"/second"][time as usize % 2];
            history.map(unseen([(time, gone(100, path))]), &mut modules);
            assert!(history.versions.len() <= MAX_VERSIONS);
        }
        assert_eq!(
            path_at(&history, &mut modules, 9_998, 100).as_deref(),
            Some(&b"/first"[..])
        );
    }

    #[test]
    fn push_many_areas_keeps_few_versions() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let module = modules.unknown(b"/many", End::Unreadable);
        for (count, kept) in [(100, 64), (20_000, 3), (65_000, 2)] {
            let mut maps = ProcessMaps::empty(own);
            for page in 0..count {
                let area = maps::Area {
                    start: 2 * page * PAGE,
                    end: (2 * page + 1) * PAGE,
                    module,
                    delta: 0,
                    image: false,
                    trampolines: false,
                };
                maps.insert(area, &modules);
            }
            let maps = Arc::new(maps);
            let mut history = MapHistory::new(own, 0, Arc::clone(&maps));
            for time in 1..200 {
                history.push(time, Arc::clone(&maps));
            }
            assert_eq!(history.versions.len(), kept, "of {count} areas");
            assert_eq!(history.last().0, 199);
            assert!(history.at(198).is_some());
        }
    }

    #[test]
    fn bridge_leaves_what_is_alike_before_and_after() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 0, Arc::new(ProcessMaps::empty(own)));
        let new = [(1, gone(100, b"/stays")), (1, gone(200, b"/goes"))];
        history.map(unseen(new), &mut modules);
        let mut later = MapHistory::new(own, 0, Arc::clone(history.last().1));
        later.map(unseen([(2, gone(200, b"/came"))]), &mut modules);
        history.bridge(10, later.last().1);
        assert_eq!(
            path_at(&history, &mut modules, 9, 200).as_deref(),
            Some(&b"/goes"[..])
        );
        assert_eq!(path_at(&history, &mut modules, 10, 200), None);
        assert_eq!(
            path_at(&history, &mut modules, 10, 100).as_deref(),
            Some(&b"/stays"[..])
        );
    }

    #[test]
    fn blank_place_ends_a_walk_with_its_reason() {
        let mut modules = Modules::new(1 << 20);
        let own = std::process::id();
        let mut history = MapHistory::new(own, 0, Arc::new(ProcessMaps::empty(own)));
        history.map(unseen([(1, anonymous(100))]), &mut modules);
        let mut maps = ProcessMaps::clone(history.last().1);
        maps.blank(100 * PAGE, 100 * PAGE + 16, &mut modules);
        let mut regs = [0; REGISTERS];
        regs[PC] = 100 * PAGE + 8;
        let input = Input {
            regs: &regs,
            mapping: 0..8,
            pieces: &[],
        };
        let outcome = Unwinder::new().walk(&maps, &mut modules, &input, &mut Vec::new());
        assert_eq!(outcome.end, End::Unreadable);
        assert_eq!(
            outcome.unknown_address, None,
            "reading again would not tell"
        );
        // A blank that is filled later is a version of its own.
        let mut history = MapHistory::new(own, 0, Arc::new(maps));
        let replaced = history.map(unseen([(5, anonymous(100))]), &mut modules);
        assert!(!replaced, "nothing was known of what was there");
        assert_eq!(
            path_at(&history, &mut modules, 4, 100).as_deref(),
            Some(&b"[mapped anew]"[..])
        );
        assert_eq!(
            path_at(&history, &mut modules, 5, 100).as_deref(),
            Some(&b"[jit]"[..])
        );
    }
}
