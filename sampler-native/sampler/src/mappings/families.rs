//! Mappings of families: processes that are forks of each other.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use flametop_kernel::record::Head;
use flametop_unwind::ProcessMaps;

use super::told::Told;

/// Mappings by family, so that a fork that lives for a millisecond has names too.
#[derive(Default)]
pub(super) struct Families {
    /// By image and exec generation.
    known: HashMap<(u32, u32), Family>,
    purge_at: usize,
}

/// The mappings of one process of a family.
struct Family {
    maps: Weak<ProcessMaps>,
    exec_vm: u64,
    tgid: u32,
    /// The mappings were the same at least until this moment, ns.
    synced: u64,
    /// In one process of the family other code came to a place where code was: in another process the count of pages does not tell which
    /// code is there.
    replaced: bool,
}

impl Families {
    fn key(head: &Head) -> (u32, u32) {
        (head.image, head.self_exec_id)
    }

    /// A process image was replaced.
    pub(super) fn exec(&mut self, head: &Head) {
        self.known.remove(&Families::key(head));
    }

    /// The mappings that a fork, which maps the same number of pages, began with. With `told`: only if these hold all changes that happened
    /// since.
    pub(super) fn get(&self, head: &Head, told: Option<&Told>) -> Option<Arc<ProcessMaps>> {
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

    /// Notes that in one process of the family other code came to a place where code was.
    pub(super) fn replaced(&mut self, head: &Head) {
        if let Some(known) = self.known.get_mut(&Families::key(head)) {
            known.replaced = true;
        }
    }

    /// Notes the mappings of one process of the family, which were the same at least until `until`.
    pub(super) fn put(&mut self, head: &Head, maps: &Arc<ProcessMaps>, synced: u64) {
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
