//! What processes that are forks of each other have mapped.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use flametop_kernel::record::Head;
use flametop_unwind::ProcessMaps;

use super::told::Told;

/// Mappings by what a process shares with its forks, so that one that lives a millisecond has names too.
#[derive(Default)]
pub(super) struct Families {
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

    /// A process image was replaced.
    pub(super) fn exec(&mut self, head: &Head) {
        self.known.remove(&Families::key(head));
    }

    /// The mappings that a fork began with; it maps the same number of pages. With `told`: if nothing happened since that is not
    /// in them.
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

    /// In one of the family other code came to a place where code was.
    pub(super) fn replaced(&mut self, head: &Head) {
        if let Some(known) = self.known.get_mut(&Families::key(head)) {
            known.replaced = true;
        }
    }

    /// What one of the family had mapped, until then at least.
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
