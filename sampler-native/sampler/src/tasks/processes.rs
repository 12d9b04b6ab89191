//! Process images, and their dense ids in the stream.

use std::collections::HashMap;

use flametop_kernel::{Reach, abi, record::Head};
use flametop_stream::{Encoder, Record, Space};
use flametop_unwind::ModuleId;

use super::{MEMORY, comm};
use crate::{
    budget::Purse, cgroups::Cgroups, identity::ProcessKey, ids::Ids, mappings::Maps, prober::Whom,
};

/// One process image.
#[derive(Debug)]
pub struct Process {
    /// Its id in the stream.
    pub(super) id: u32,
    /// How many of its tasks live.
    pub(super) tasks: u32,
    /// When the last of its tasks ended, ns.
    pub(super) emptied: u64,
    comm: [u8; 16],
    uid: u32,
    cgroup: u64,
    kthread: bool,
    /// As far as that was told of; NULs as they are.
    cmdline: Box<[u8]>,
    /// The cost of its walks.
    pub work: Purse,
    /// Its mappings, once a stack of it was walked.
    pub maps: Maps,
    /// What the CPU clock copies of the stacks of its threads, if that was changed.
    pub reach: Option<Reach>,
    /// The steps that other processes have shown of its modules were told for this one too, or need not be.
    pub taught: bool,
}

impl Process {
    fn new(id: u32, head: &Head) -> Process {
        Process {
            id,
            tasks: 0,
            emptied: head.ktime,
            comm: head.process_comm,
            uid: head.uid,
            cgroup: head.cgroup,
            kthread: false,
            cmdline: Box::default(),
            work: Purse::default(),
            maps: Maps::default(),
            reach: None,
            taught: false,
        }
    }

    /// Its user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// One of its tasks ended or left at that time.
    pub(super) fn lose_task(&mut self, time: u64) {
        self.tasks = self.tasks.saturating_sub(1);
        // The process is not over before any task, which names it.
        self.emptied = self.emptied.max(time);
    }

    fn tell(&self, key: ProcessKey, out: &mut Encoder) {
        out.put(&Record::ProcessSeen {
            process: self.id,
            tgid: key.tgid(),
            start_boottime: key.start(),
            self_exec_id: key.exec(),
            uid: self.uid,
            cgroup: self.cgroup,
            kthread: self.kthread,
            comm: comm(&self.comm),
            cmdline: &self.cmdline,
        });
    }
}

/// All process images.
pub(super) struct Processes {
    of_keys: HashMap<ProcessKey, Process>,
    ids: Ids,
    cgroups: Cgroups,
    /// Processes whose command lines are to be asked for.
    unread: Vec<Whom>,
}

impl Processes {
    pub fn new(cgroups: Cgroups) -> Processes {
        Processes {
            of_keys: HashMap::new(),
            ids: Ids::default(),
            cgroups,
            unread: Vec::new(),
        }
    }

    pub fn get(&mut self, key: &ProcessKey) -> Option<&mut Process> {
        self.of_keys.get_mut(key)
    }

    /// The process of this image; told of if it is new, or changed in what the stream says of it.
    pub fn see(&mut self, key: ProcessKey, head: &Head, out: &mut Encoder) -> &mut Process {
        let mut new = false;
        let process = self.of_keys.entry(key).or_insert_with(|| {
            new = true;
            Process::new(self.ids.take(), head)
        });
        let leader = head.tid == head.tgid;
        let changed = process.comm != head.process_comm
            || leader && (process.uid, process.cgroup) != (head.uid, head.cgroup);
        if new || changed && key == ProcessKey::of(head) {
            process.comm = head.process_comm;
            let moved = leader && process.cgroup != head.cgroup;
            if leader {
                (process.uid, process.cgroup) = (head.uid, head.cgroup);
            }
            // Some user processes have kernel threads (io_uring), but their leader never is one.
            let kthread = head.status & abi::FT_KTHREAD != 0 && leader;
            process.kthread = kthread;
            if !kthread && u32::from(head.state) != abi::FT_STATE_ZOMBIE {
                self.unread.push(Whom {
                    key,
                    uid: process.uid,
                });
            }
            process.tell(key, out);
            let path = (new || moved).then(|| self.cgroups.path(process.cgroup, head.tgid));
            if let Some(path) = path.filter(|path| moved || path.is_some()) {
                out.put(&Record::Cgroup {
                    process: process.id,
                    path: path.as_deref().unwrap_or_default(),
                });
            }
        }
        process
    }

    /// The id of the last image of a process that is remembered.
    pub fn id_of(&self, tgid: u32) -> Option<u32> {
        let of = self.of_keys.iter().filter(|(key, _)| key.tgid() == tgid);
        let last = of.max_by_key(|(key, _)| (key.start(), key.exec()));
        last.map(|(_, process)| process.id)
    }

    /// The process with this number that maps this module.
    pub fn mapper(&self, tgid: u32, module: ModuleId) -> Option<ProcessKey> {
        let maps = |process: &Process| process.maps.modules().any(|mapped| mapped == module);
        let of = self.of_keys.iter().filter(|(key, _)| key.tgid() == tgid);
        let last = of.max_by_key(|(key, _)| (key.start(), key.exec()))?;
        maps(last.1).then_some(*last.0)
    }

    /// Takes the processes whose command lines are to be asked for.
    pub fn take_unread(&mut self) -> Vec<Whom> {
        std::mem::take(&mut self.unread)
    }

    /// Tells the command line of a process.
    pub fn command_line(&mut self, key: ProcessKey, cmdline: Vec<u8>, out: &mut Encoder) {
        if let Some(process) = self.of_keys.get_mut(&key)
            && *process.cmdline != *cmdline
        {
            process.cmdline = cmdline.into();
            process.tell(key, out);
        }
    }

    /// The modules that processes have mapped.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.of_keys.values().flat_map(|p| p.maps.modules())
    }

    /// Forgets processes whose last task ended long before `now`, and says so.
    pub fn forget(&mut self, now: u64, out: &mut Encoder) {
        let over = |p: &Process| p.tasks == 0 && p.emptied + MEMORY <= now;
        let gone = self.of_keys.extract_if(|_, p| over(p));
        let gone: Vec<u32> = gone.map(|(_, p)| p.id).collect();
        self.ids.forget(Space::Process, &gone, out);
        let cgroups = self.of_keys.values().map(|p| p.cgroup);
        self.cgroups.forget(cgroups);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.of_keys.len()
    }
}
