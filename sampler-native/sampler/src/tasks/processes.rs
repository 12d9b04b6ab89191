//! Process images, and their dense ids in the stream.

use std::collections::HashMap;

use flametop_kernel::{Reach, abi, record::Head};
use flametop_runtimes::{Known, NameId};
use flametop_stream::{Encoder, Record, Space};
use flametop_unwind::ModuleId;

use super::{MEMORY, comm, parents::Parents};
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
    /// Its parent was told of.
    has_parent: bool,
    /// As far as that was told of; NULs as they are.
    cmdline: Box<[u8]>,
    /// The cost of its walks.
    pub work: Purse,
    /// What is known of the code that a runtime in it made, and the cost of reading that.
    pub code: Known,
    pub looks: Purse,
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
            has_parent: false,
            cmdline: Box::default(),
            work: Purse::default(),
            code: Known::default(),
            looks: Purse::default(),
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
    /// The last image of each process, by its number.
    last: HashMap<u32, ProcessKey>,
    parents: Parents,
    ids: Ids,
    cgroups: Cgroups,
    /// Processes whose command lines are to be asked for.
    unread: Vec<Whom>,
}

impl Processes {
    pub fn new(cgroups: Cgroups) -> Processes {
        Processes {
            of_keys: HashMap::new(),
            last: HashMap::new(),
            parents: Parents::default(),
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
        if new {
            self.is_new(key);
        }
        if head.parent != 0 {
            self.parents.seen(key, head);
        }
        if new || head.parent != 0 {
            self.tell_parents(key, out);
        }
        self.of_keys.get_mut(&key).expect("it was seen")
    }

    fn is_new(&mut self, key: ProcessKey) {
        let last = self.last.entry(key.tgid()).or_insert(key);
        if (last.start(), last.exec()) < (key.start(), key.exec()) {
            *last = key;
        }
    }

    /// A process began.
    pub fn fork(&mut self, head: &Head, out: &mut Encoder) {
        let key = ProcessKey::of(head);
        self.parents.forked(key, head);
        if let Some(known) = self.last.get(&key.tgid()).copied()
            && known.is_same_process(&key)
        {
            self.tell_parents(known, out);
        }
    }

    /// Tells who started the process, if that is known, and of the processes that waited for this one to be told of.
    fn tell_parents(&mut self, key: ProcessKey, out: &mut Encoder) {
        let mut children = self.parents.take_waiting(&key);
        children.push(key);
        for child in children {
            if self.of_keys.get(&child).is_none_or(|p| p.has_parent) {
                continue;
            }
            let image = self.of_keys.get(&child.before()).map(|p| p.id);
            let parent = image.or_else(|| {
                let parent = self.parents.nearest(&child, &self.last)?;
                self.of_keys.get(&parent).map(|p| p.id)
            });
            if let Some(parent) = parent
                && let Some(process) = self.of_keys.get_mut(&child)
            {
                process.has_parent = true;
                out.put(&Record::Parent {
                    process: process.id,
                    parent,
                });
            }
        }
    }

    /// The id of the last image of a process that is remembered.
    pub fn id_of(&self, tgid: u32) -> Option<u32> {
        let last = self.last.get(&tgid)?;
        self.of_keys.get(last).map(|process| process.id)
    }

    /// The process with this number that maps this module.
    pub fn mapper(&self, tgid: u32, module: ModuleId) -> Option<ProcessKey> {
        let maps = |process: &Process| process.maps.modules().any(|mapped| mapped == module);
        let last = self.last.get(&tgid)?;
        self.of_keys.get(last).is_some_and(maps).then_some(*last)
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

    /// The names of functions that are known of processes.
    pub fn names(&self) -> impl Iterator<Item = NameId> {
        self.of_keys.values().flat_map(|p| p.code.names())
    }

    /// Forgets processes whose last task ended long before `now`, and says so.
    pub fn forget(&mut self, now: u64, out: &mut Encoder) {
        let over = |p: &Process| p.tasks == 0 && p.emptied + MEMORY <= now;
        let gone = self.of_keys.extract_if(|_, p| over(p));
        let gone: Vec<u32> = gone.map(|(_, p)| p.id).collect();
        self.ids.forget(Space::Process, &gone, out);
        self.last.retain(|_, key| self.of_keys.contains_key(key));
        self.parents.forget(now, &self.last);
        let cgroups = self.of_keys.values().map(|p| p.cgroup);
        self.cgroups.forget(cgroups);
    }

    #[cfg(test)]
    pub fn parents_len(&self) -> usize {
        self.parents.len()
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.of_keys.len()
    }
}
