//! What a process had mapped at which moment.

use std::{collections::VecDeque, sync::Arc};

use crate::{ModuleId, ModuleKind, Modules, NewMapping, ProcessMaps, maps, mounts::Mounts};

/// Samples wait no longer than this to be walked, ns: what was over for longer is not asked for.
const KEPT: u64 = 2_000_000_000;
/// Most versions of one process; at each something else was mapped where code was before.
const MAX_VERSIONS: usize = 64;

/// The executable mappings of one process generation over time. There is a version for each time that other code came to a place;
/// what comes to a free place changes the last one, since nothing was called there before.
#[derive(Debug)]
pub struct MapHistory {
    tgid: u32,
    /// With the times since when they hold, in that order; never empty.
    versions: VecDeque<(u64, Arc<ProcessMaps>)>,
}

impl MapHistory {
    /// Of process `tgid`, which has these mappings since then (ns), or shares those of the process that it is a fork of.
    pub fn new(tgid: u32, since: u64, maps: Arc<ProcessMaps>) -> MapHistory {
        MapHistory {
            tgid,
            versions: VecDeque::from([(since, maps)]),
        }
    }

    /// What was mapped at that moment; nothing is known of what was before the first one.
    pub fn at(&self, time: u64) -> Option<&Arc<ProcessMaps>> {
        let after = self.versions.partition_point(|(since, _)| *since <= time);
        Some(&self.versions.get(after.checked_sub(1)?)?.1)
    }

    /// What is mapped now, and since when.
    ///
    /// # Panics
    /// Never: there is a last one.
    pub fn last(&self) -> (u64, &Arc<ProcessMaps>) {
        let (since, maps) = self.versions.back().expect("a version");
        (*since, maps)
    }

    /// These are all mappings from then on.
    pub fn push(&mut self, since: u64, maps: Arc<ProcessMaps>) {
        let since = since.max(self.last().0);
        let old = |next: &(u64, _)| next.0.saturating_add(KEPT) < since;
        while self.versions.len() >= MAX_VERSIONS || self.versions.get(1).is_some_and(old) {
            self.versions.pop_front();
        }
        self.versions.push_back((since, maps));
    }

    /// The process made these mappings, each with its time. `may_read`: whether its mappings may be read beside, asked when that is
    /// needed. Returns whether one came to where other code was.
    pub fn map<'a>(
        &mut self,
        new: impl Iterator<Item = (u64, NewMapping<'a>)>,
        may_read: impl Fn() -> bool,
        modules: &mut Modules,
    ) -> bool {
        let mut mounts = Mounts::new(self.tgid);
        let mut text = None;
        let blank = maps::blank(modules);
        let mut replaced = false;
        for (time, new) in new {
            let (_, last) = self.versions.back_mut().expect("a version");
            if !last.is_of(self.tgid) {
                *last = Arc::new(ProcessMaps::clone(last).of_fork(self.tgid));
            }
            let last = Arc::make_mut(last);
            let mut area = last.place(&new, modules, &mut mounts);
            if new.inode != 0 && modules.get(area.module).kind() == ModuleKind::Unknown {
                let text = text.get_or_insert_with(|| match may_read() {
                    true => last.text().unwrap_or_default(),
                    false => Vec::new(),
                });
                let found = last.place_in(text, &new, modules, &mut mounts);
                area = found.unwrap_or(area);
            }
            let (other, code) = last.is_replaced_by(&area, blank);
            replaced |= code;
            if other {
                let mut next = last.clone();
                next.insert(area, modules);
                self.push(time, Arc::new(next));
            } else {
                last.insert(area, modules);
            }
        }
        replaced
    }

    /// Between `since` and the moment of `read` more happened than is known: only what is alike in both is certain.
    pub fn bridge(&mut self, since: u64, read: &ProcessMaps) {
        let mut alike = ProcessMaps::clone(self.last().1);
        alike.agree(read);
        self.push(since, Arc::new(alike));
    }

    /// The modules that it names.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.versions.iter().flat_map(|(_, maps)| maps.modules())
    }
}
