//! Who is who: processes and tasks by their identity, never by a bare number, and their dense ids in the stream.
//!
//! A process is (tgid, start, exec generation), a task is (tid, start). A task ends with its exit record, or because a
//! pass with marks did not find it. The exit record has the time of the end, but a run time that is up to a tick old: the end is
//! told of when the last sums have come. A task that ended is remembered for a while: the rings and the passes run beside each
//! other, so a record from before the end may come after it.

mod parents;
mod processes;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use flametop_kernel::{Reach, abi, record::Head};
use flametop_runtimes::NameId;
use flametop_stream::{Encoder, NOT_COUNTED, Record, Space};
use flametop_unwind::ModuleId;

use crate::{
    boot::BootClock,
    cgroups::Cgroups,
    identity::{ProcessKey, TaskKey, is_newer},
    ids::Ids,
    prober::Whom,
};
pub use processes::Process;
use processes::Processes;

/// The last sums of a task that ended are waited for so long, ns: those of a task that nobody has reaped do not come, and a busy
/// machine tells them a second late.
const LAST_SUMS: u64 = 2_000_000_000;
/// The record of an exec is waited for so long, ns.
const EXEC: u64 = 500_000_000;
/// Tasks and processes that ended are remembered so long, ns.
const MEMORY: u64 = 5_000_000_000;

/// A task as the stream was told of it last; a sight that says the same is not told again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub run: u64,
    pub wait: u64,
    pub switches: u64,
    pub state: u16,
    pub stack: Option<u32>,
}

/// Stack memory of a sleeper that came piece by piece.
#[derive(Debug, Default)]
pub struct Pieces {
    /// Good as long as the task has this many switches.
    pub switches: u64,
    /// (address, bytes) of each.
    pub pieces: Vec<(u64, Vec<u8>)>,
    /// The address asked for last.
    pub asked: u64,
}

/// One live task.
#[derive(Debug)]
pub struct Task {
    /// Its id in the stream.
    pub id: u32,
    process: ProcessKey,
    comm: [u8; 16],
    fresh: bool,
    first_seen: u64,
    marked: u64,
    sums: (u64, u64),
    /// See [`Record::TaskBlocked`], as told last.
    blocked: u64,
    /// Seen in a newer image since that time, ns; it is not known yet which of its threads called exec.
    early: Option<u64>,
    /// See [`Told`].
    pub told: Option<Told>,
    /// See [`Pieces`].
    pub pieces: Option<Box<Pieces>>,
    /// With this many switches, its stack has had an address without a mapping since that time, ns.
    pub unknown: Option<(u64, u64)>,
    /// What the CPU clock copies of its stack, if that was changed.
    pub reach: Option<Reach>,
}

impl Task {
    /// Tells for how long the task has been blocked, before the sight that this is of.
    fn tell_blocked(&mut self, head: &Head, counted: bool, out: &mut Encoder) {
        // An idle kernel thread waits for work in uninterruptible sleep.
        if head.status & abi::FT_KTHREAD != 0 || u32::from(head.kind) == abi::FT_KIND_MARK {
            return;
        }
        let ns = match self.blocked {
            _ if !counted => NOT_COUNTED,
            NOT_COUNTED => head.blocked_ns,
            told => told.max(head.blocked_ns),
        };
        if ns != self.blocked {
            self.blocked = ns;
            out.put(&Record::TaskBlocked { task: self.id, ns });
        }
    }
}

#[derive(Debug)]
struct Gone {
    id: u32,
    time: u64,
    exec: u32,
}

/// A task whose exit record came.
#[derive(Debug)]
struct Ending {
    exit: Head,
    /// Its sums are the last ones.
    complete: bool,
    /// The rings were drained since: no sample of it is on its way.
    drained: bool,
}

impl Ending {
    /// Takes the last sums. After its exit record a task runs for a moment, for which it may wait long.
    fn complete(&mut self, last: &Head) {
        let waited = last.wait_ns.saturating_sub(self.exit.wait_ns);
        self.complete = true;
        self.exit.ktime = (self.exit.ktime + waited).min(last.ktime - 1);
        self.exit.run_ns = self.exit.run_ns.max(last.run_ns);
        self.exit.wait_ns += waited;
        self.exit.blocked_ns = self.exit.blocked_ns.max(last.blocked_ns);
    }
}

/// A task that a pass with marks did not find.
#[derive(Debug)]
struct Missing {
    key: TaskKey,
    pass: u64,
    began: u64,
    ended: u64,
}

/// What a record is about.
pub enum Sight<'a> {
    /// A live task and its process.
    Live(&'a mut Task, &'a mut Process),
    /// A task that ended meanwhile; its id in the stream.
    Ended(u32),
    /// One of several threads called exec; the record that says which one is on its way. The id that the leader had.
    Early(u32),
}

impl Sight<'_> {
    /// The task's id in the stream.
    pub fn id(&self) -> u32 {
        match self {
            Sight::Live(task, _) => task.id,
            Sight::Ended(id) | Sight::Early(id) => *id,
        }
    }
}

/// All processes and tasks.
pub struct Tasks {
    tasks: HashMap<TaskKey, Task>,
    processes: Processes,
    ending: HashMap<TaskKey, Ending>,
    missing: Vec<Missing>,
    gone: HashMap<TaskKey, Gone>,
    /// Tasks that nothing can name any more; not told yet.
    retired: Vec<u32>,
    task_ids: Ids,
    /// When sampling began, ns.
    opened: u64,
    /// When the machine started; tells of suspensions.
    pub boot: BootClock,
    /// The kernel counts uninterruptible sleep: `kernel.sched_schedstats`.
    pub counts_blocked: bool,
}

impl Tasks {
    /// No tasks yet. `opened`: when sampling began.
    pub fn new(opened: u64, boot: BootClock, cgroups: Cgroups) -> Tasks {
        Tasks {
            tasks: HashMap::new(),
            processes: Processes::new(cgroups),
            ending: HashMap::new(),
            missing: Vec::new(),
            gone: HashMap::new(),
            retired: Vec::new(),
            task_ids: Ids::default(),
            opened,
            boot,
            counts_blocked: false,
        }
    }

    /// The process of this image, if it is remembered.
    pub fn process(&mut self, key: ProcessKey) -> Option<&mut Process> {
        self.processes.get(&key)
    }

    /// The id of the last image of a process that is remembered.
    pub fn id_of(&self, tgid: u32) -> Option<u32> {
        self.processes.id_of(tgid)
    }

    /// The process with this number, if it maps this module and is not another one that got the number later.
    pub fn mapper(&self, tgid: u32, module: ModuleId) -> Option<ProcessKey> {
        self.processes.mapper(tgid, module)
    }

    /// Processes whose command lines are not known, since the last call.
    pub fn take_unread(&mut self) -> Vec<Whom> {
        self.processes.take_unread()
    }

    /// Tells the command line of a process.
    pub fn command_line(&mut self, key: ProcessKey, cmdline: Vec<u8>, out: &mut Encoder) {
        self.processes.command_line(key, cmdline, out);
    }

    /// Number of live tasks.
    pub fn len(&self) -> usize {
        let ending = self.ending.keys();
        self.tasks.len() - ending.filter(|k| self.tasks.contains_key(k)).count()
    }

    /// The ids of tasks by their numbers, of those that ended a moment ago, too.
    pub fn ids(&self) -> HashMap<u32, u32> {
        let gone = self.gone.iter().map(|(key, gone)| (key.tid(), gone.id));
        let live = self.tasks.iter().map(|(key, task)| (key.tid(), task.id));
        gone.chain(live).collect()
    }

    /// The stacks that live tasks were told to be in.
    pub fn stacks(&self) -> impl Iterator<Item = u32> {
        self.tasks.values().filter_map(|t| t.told?.stack)
    }

    /// The names of functions that are known of processes.
    pub fn names(&self) -> impl Iterator<Item = NameId> {
        self.processes.names()
    }

    /// The modules that processes have mapped.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.processes.modules()
    }

    /// Takes note of a task that was seen in pass number `pass` (0: not by a pass), and tells what is new about it.
    pub fn see(&mut self, head: &Head, pass: u64, out: &mut Encoder) -> Sight<'_> {
        let key = TaskKey::of(head);
        let start = self.boot.monotonic(head.start_boottime, head.ktime);
        let mut fresh = start >= self.opened;
        if u32::from(head.kind) == abi::FT_KIND_TASK
            && u32::from(head.state) == abi::FT_STATE_ZOMBIE
            && let Some(mut ending) = self.ending.remove(&key)
        {
            // It runs no more, so these sums are the last ones.
            ending.complete(head);
            self.end(key, ending.exit.ktime, Some(&ending.exit), out);
        }
        if let Some(gone) = self.gone.get(&key) {
            // Only a zombie, or the image after an exec by another thread, is there after the end.
            let after = head.ktime > gone.time
                && (u32::from(head.state) == abi::FT_STATE_ZOMBIE
                    || is_newer(head.self_exec_id, gone.exec));
            if !after {
                return Sight::Ended(gone.id);
            }
            self.retired.push(gone.id);
            self.gone.remove(&key);
            fresh = false;
        }
        let mut process_key = ProcessKey::of(head);
        let known = self.tasks.get(&key).map(|t| t.process);
        let mut stale = false;
        if let Some(known) = known.filter(|k| *k != process_key) {
            stale = !is_newer(head.self_exec_id, known.exec());
            if !stale {
                if let Some(id) = self.early(key, known, head) {
                    return Sight::Early(id);
                }
                fresh &= !self.replaced(key, known, head, out);
            } else if self.processes.get(&process_key).is_none() {
                process_key = known;
            }
        }
        let process = self.processes.see(process_key, head, out);
        let seen = |id: u32, process: u32, fresh: bool, out: &mut Encoder| {
            out.put(&Record::TaskSeen {
                task: id,
                process,
                tid: head.tid,
                start,
                fresh,
                comm: comm(&head.comm),
            });
        };
        let task = self.tasks.entry(key).or_insert_with(|| {
            let id = self.task_ids.take();
            process.tasks += 1;
            seen(id, process.id, fresh, out);
            Task {
                id,
                process: process_key,
                comm: head.comm,
                fresh,
                first_seen: head.ktime,
                marked: pass,
                sums: (head.run_ns, head.wait_ns),
                blocked: NOT_COUNTED,
                early: None,
                told: None,
                pieces: None,
                unknown: None,
                reach: None,
            }
        });
        if !stale && (task.process != process_key || task.comm != head.comm) {
            if task.process != process_key {
                process.tasks += 1;
            }
            task.process = process_key;
            task.comm = head.comm;
            seen(task.id, process.id, task.fresh, out);
        }
        task.marked = task.marked.max(pass);
        task.sums = (head.run_ns.max(task.sums.0), head.wait_ns.max(task.sums.1));
        task.tell_blocked(head, self.counts_blocked, out);
        Sight::Live(task, process)
    }

    /// The id of task `key` if it is seen in a newer image, which any thread of image `known` may have brought about, and
    /// the record of that exec may still come.
    fn early(&mut self, key: TaskKey, known: ProcessKey, head: &Head) -> Option<u32> {
        if u32::from(head.kind) == abi::FT_KIND_EXEC || self.processes.get(&known)?.tasks < 2 {
            return None;
        }
        let task = self.tasks.get_mut(&key)?;
        let since = *task.early.get_or_insert(head.ktime);
        (head.ktime < since + EXEC).then_some(task.id)
    }

    /// The known task `key` of image `known` was seen in a newer image. Returns whether that is another task.
    fn replaced(
        &mut self,
        key: TaskKey,
        known: ProcessKey,
        head: &Head,
        out: &mut Encoder,
    ) -> bool {
        let Some(old) = self.processes.get(&known) else {
            return false;
        };
        old.lose_task(head.ktime);
        // Any of its threads may have called exec and taken this tid; its sums are not those of the one before.
        let other = match u32::from(head.kind) {
            abi::FT_KIND_EXEC => head.former_tid != head.tid,
            _ => old.tasks > 0,
        };
        if other && let Some(task) = self.tasks.remove(&key) {
            out.put(&Record::TaskGone {
                task: task.id,
                time: head.ktime,
                run: task.sums.0,
                wait: task.sums.1,
                exact: false,
            });
            self.retired.push(task.id);
            return true;
        }
        false
    }

    /// A process began. It is told of when a task of it is seen, or has ended.
    pub fn fork(&mut self, head: &Head, out: &mut Encoder) {
        self.processes.fork(head, out);
    }

    /// A process image was replaced: the other threads are gone, and the one that called exec has the leader's tid now.
    pub fn exec(&mut self, head: &Head, out: &mut Encoder) -> Sight<'_> {
        let same = |e: &Ending| e.exit.tgid == head.tgid && e.exit.ktime <= head.ktime;
        let threads: Vec<TaskKey> = self
            .ending
            .iter()
            .filter(|(_, e)| same(e))
            .map(|(k, _)| *k)
            .collect();
        for key in threads {
            self.finish(key, out);
        }
        if head.former_tid != head.tid {
            let process = ProcessKey::of(head);
            let caller = self.tasks.iter().find(|(key, task)| {
                key.tid() == head.former_tid && task.process.is_same_process(&process)
            });
            if let Some((key, _)) = caller {
                self.end(*key, head.ktime, Some(head), out);
            }
        }
        self.see(head, 0, out)
    }

    /// A task ended. One that was never seen will be told of, if it began after sampling did.
    pub fn exit(&mut self, head: &Head) {
        let key = TaskKey::of(head);
        if self.gone.contains_key(&key) {
            return;
        }
        let known = match self.tasks.get(&key) {
            Some(task) => {
                task.process == ProcessKey::of(head)
                    || is_newer(head.self_exec_id, task.process.exec())
            }
            None => self.boot.monotonic(head.start_boottime, head.ktime) >= self.opened,
        };
        if known {
            let ending = Ending {
                exit: *head,
                complete: false,
                drained: false,
            };
            self.ending.insert(key, ending);
        }
    }

    /// The last sums of a task that ended; its end, if that was not told of: a zombie, or its exit record was lost.
    pub fn free(&mut self, head: &Head, out: &mut Encoder) {
        let key = TaskKey::of(head);
        match self.ending.get_mut(&key) {
            Some(ending) => ending.complete(head),
            None => {
                let task = self.tasks.get(&key);
                // Not the one that has the number of a former leader now.
                if task.is_some_and(|t| !is_newer(t.process.exec(), head.self_exec_id)) {
                    self.end(key, head.ktime, Some(head), out);
                }
            }
        }
    }

    /// The rings were drained up to `now`: tells of the ends that are complete, or were waited for long enough.
    pub fn drained(&mut self, now: u64, out: &mut Encoder) {
        let mut due = Vec::new();
        for (key, ending) in &mut self.ending {
            let over = ending.complete || ending.exit.ktime + LAST_SUMS < now;
            if std::mem::replace(&mut ending.drained, true) && over {
                due.push(*key);
            }
        }
        for key in due {
            self.finish(key, out);
        }
        let known = std::mem::take(&mut self.missing);
        let (over, rest) = known.into_iter().partition(|m| m.ended < now);
        self.missing = rest;
        let over: Vec<Missing> = over;
        for Missing {
            key, pass, began, ..
        } in over
        {
            let missing = self.tasks.get(&key).is_some_and(|t| t.marked < pass);
            if missing && !self.ending.contains_key(&key) {
                self.end(key, began, None, out);
            }
        }
    }

    fn finish(&mut self, key: TaskKey, out: &mut Encoder) {
        if let Some(Ending { exit, .. }) = self.ending.remove(&key) {
            self.see(&exit, 0, out);
            self.end(key, exit.ktime, Some(&exit), out);
        }
    }

    /// The task has ended; `last` has its last sums.
    fn end(&mut self, key: TaskKey, time: u64, last: Option<&Head>, out: &mut Encoder) {
        let Some(mut task) = self.tasks.remove(&key) else {
            return;
        };
        let (run, wait) = last.map_or(task.sums, |head| (head.run_ns, head.wait_ns));
        if let Some(head) = last {
            task.tell_blocked(head, self.counts_blocked, out);
        }
        out.put(&Record::TaskGone {
            task: task.id,
            time,
            run: run.max(task.sums.0),
            wait: wait.max(task.sums.1),
            exact: last.is_some(),
        });
        if let Some(process) = self.processes.get(&task.process) {
            process.lose_task(time);
        }
        let gone = Gone {
            id: task.id,
            time,
            exec: task.process.exec(),
        };
        let before = self.gone.insert(key, gone);
        self.retired.extend(before.map(|g| g.id));
    }

    /// Pass number `pass`, which wrote marks, went on from `began` to `ended`: the tasks that were there before and that it did
    /// not see will be told of as gone when the rings have been drained, unless their exit records are in them.
    pub fn end_unmarked(&mut self, pass: u64, began: u64, ended: u64) {
        let unmarked = self
            .tasks
            .iter()
            .filter(|(_, t)| t.marked != pass && t.first_seen < began);
        self.missing = unmarked
            .map(|(key, _)| Missing {
                key: *key,
                pass,
                began,
                ended,
            })
            .collect();
    }

    /// Forgets what ended long before `now`, and says so.
    pub fn forget(&mut self, now: u64, out: &mut Encoder) {
        let mut tasks = std::mem::take(&mut self.retired);
        let ended = self.gone.extract_if(|_, g| g.time + MEMORY <= now);
        tasks.extend(ended.map(|(_, g)| g.id));
        self.task_ids.forget(Space::Task, &tasks, out);
        self.processes.forget(now, out);
    }
}

/// A name as the kernel has it, without the NULs behind it.
fn comm(padded: &[u8; 16]) -> &[u8] {
    let end = padded.iter().position(|b| *b == 0).unwrap_or(padded.len());
    &padded[..end]
}
