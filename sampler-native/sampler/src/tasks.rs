//! Who is who: processes and tasks by their identity, never by a bare number, and their dense ids in the stream.
//!
//! A process is (tgid, start, exec generation), a task is (tid, start). A task ends with its exit record, or because a
//! pass with marks did not find it. The exit record has the time, but the run time was brought up to date a tick before: the
//! end is told of when the last sums have come. What has ended is remembered for a while: the rings and the passes run beside each
//! other, so a record from before the end may come after it.

use std::collections::HashMap;

use flametop_kernel::{Reach, abi, record::Head};
use flametop_stream::{Encoder, NOT_COUNTED, Record, Space};
use flametop_unwind::ModuleId;

use crate::{
    boot::BootClock, budget::Purse, cgroups::Cgroups, ids::Ids, mappings::Maps, prober::Whom,
};

/// How long the last sums of a task that ended are waited for, ns: those of one that nobody has reaped do not come, and a busy
/// machine tells them a second late.
const LAST_SUMS: u64 = 2_000_000_000;
/// How long the record of an exec is waited for, ns.
const EXEC: u64 = 500_000_000;
/// How long the ended is remembered, ns.
const MEMORY: u64 = 5_000_000_000;

/// Identity of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskKey {
    tid: u32,
    start: u64,
}

impl TaskKey {
    /// Of the task of this head.
    pub fn of(head: &Head) -> TaskKey {
        TaskKey {
            tid: head.tid,
            start: head.start_boottime,
        }
    }
}

/// Identity of a process image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessKey {
    tgid: u32,
    start: u64,
    exec: u32,
}

impl ProcessKey {
    /// Of the process of this head.
    pub fn of(head: &Head) -> ProcessKey {
        ProcessKey {
            tgid: head.tgid,
            start: head.process_start_boottime,
            exec: head.self_exec_id,
        }
    }

    /// Its number.
    pub fn tgid(&self) -> u32 {
        self.tgid
    }

    /// When it started, `CLOCK_BOOTTIME`, ns.
    pub fn start(&self) -> u64 {
        self.start
    }

    #[cfg(test)]
    pub fn new(tgid: u32, start: u64, exec: u32) -> ProcessKey {
        ProcessKey { tgid, start, exec }
    }
}

/// What a task was last told to be; a sight that says the same is not told again.
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
    /// See [`Record::TaskBlocked`]; as told last.
    blocked: u64,
    /// Seen in a newer image since then, ns, which of its threads is not known.
    early: Option<u64>,
    /// See [`Told`].
    pub told: Option<Told>,
    /// See [`Pieces`].
    pub pieces: Option<Box<Pieces>>,
    /// Of this many switches, its stack has had an address without a mapping since then (ns).
    pub unknown: Option<(u64, u64)>,
    /// What the CPU clock copies of its stack, if that was changed.
    pub reach: Option<Reach>,
}

impl Task {
    /// Tells what it has been blocked, before the sight that this is of.
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

/// One process image.
#[derive(Debug)]
pub struct Process {
    id: u32,
    comm: [u8; 16],
    uid: u32,
    cgroup: u64,
    kthread: bool,
    /// As far as that was told of; NULs as they are.
    cmdline: Box<[u8]>,
    tasks: u32,
    emptied: u64,
    /// What its walks have cost.
    pub work: Purse,
    /// What it has mapped, once a stack of it was walked.
    pub maps: Maps,
    /// What the CPU clock copies of the stacks of its threads, if that was changed.
    pub reach: Option<Reach>,
    /// What was learned of its modules in other processes was told for this one too, or need not be.
    pub taught: bool,
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

/// All processes and tasks.
pub struct Tasks {
    tasks: HashMap<TaskKey, Task>,
    processes: HashMap<ProcessKey, Process>,
    ending: HashMap<TaskKey, Ending>,
    missing: Vec<Missing>,
    gone: HashMap<TaskKey, Gone>,
    /// Tasks that nothing can name any more; not told yet.
    retired: Vec<u32>,
    task_ids: Ids,
    process_ids: Ids,
    cgroups: Cgroups,
    /// Processes whose command lines are to be asked for.
    unread: Vec<Whom>,
    opened: u64,
    pub boot: BootClock,
    /// The kernel counts uninterruptible sleep: `kernel.sched_schedstats`.
    pub counts_blocked: bool,
}

impl Tasks {
    /// No tasks yet. `opened`: when sampling began.
    pub fn new(opened: u64, boot: BootClock, cgroups: Cgroups) -> Tasks {
        Tasks {
            tasks: HashMap::new(),
            processes: HashMap::new(),
            ending: HashMap::new(),
            missing: Vec::new(),
            gone: HashMap::new(),
            retired: Vec::new(),
            task_ids: Ids::default(),
            process_ids: Ids::default(),
            cgroups,
            unread: Vec::new(),
            opened,
            boot,
            counts_blocked: false,
        }
    }

    /// The process of this image, if it is remembered.
    pub fn process(&mut self, key: ProcessKey) -> Option<&mut Process> {
        self.processes.get_mut(&key)
    }

    /// The id of a process that is remembered; of its last image.
    pub fn id_of(&self, tgid: u32) -> Option<u32> {
        let of = self.processes.iter().filter(|(key, _)| key.tgid == tgid);
        let last = of.max_by_key(|(key, _)| (key.start, key.exec));
        last.map(|(_, process)| process.id)
    }

    /// Processes whose command lines are not known, since the last call.
    pub fn take_unread(&mut self) -> Vec<Whom> {
        std::mem::take(&mut self.unread)
    }

    /// Tells the command line of a process.
    pub fn command_line(&mut self, key: ProcessKey, cmdline: Vec<u8>, out: &mut Encoder) {
        if let Some(process) = self.processes.get_mut(&key)
            && *process.cmdline != *cmdline
        {
            process.cmdline = cmdline.into();
            process.tell(key, out);
        }
    }

    /// Number of live tasks.
    pub fn len(&self) -> usize {
        let ending = self.ending.keys();
        self.tasks.len() - ending.filter(|k| self.tasks.contains_key(k)).count()
    }

    /// The stacks that live tasks were told to be in.
    pub fn stacks(&self) -> impl Iterator<Item = u32> {
        self.tasks.values().filter_map(|t| t.told?.stack)
    }

    /// The modules that processes have mapped.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        self.processes.values().flat_map(|p| p.maps.modules())
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
                    || newer(head.self_exec_id, gone.exec));
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
            stale = !newer(head.self_exec_id, known.exec);
            if !stale {
                if let Some(id) = self.early(key, known, head) {
                    return Sight::Early(id);
                }
                fresh &= !self.replaced(key, known, head, out);
            } else if !self.processes.contains_key(&process_key) {
                process_key = known;
            }
        }
        let process = see_process(
            &mut self.processes,
            process_key,
            &mut self.process_ids,
            &mut self.cgroups,
            &mut self.unread,
            head,
            out,
        );
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
        let Some(old) = self.processes.get_mut(&known) else {
            return false;
        };
        old.tasks = old.tasks.saturating_sub(1);
        old.emptied = old.emptied.max(head.ktime);
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
                key.tid == head.former_tid
                    && (task.process.tgid, task.process.start) == (process.tgid, process.start)
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
                task.process == ProcessKey::of(head) || newer(head.self_exec_id, task.process.exec)
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
                if task.is_some_and(|t| !newer(t.process.exec, head.self_exec_id)) {
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
        if let Some(process) = self.processes.get_mut(&task.process) {
            process.tasks = process.tasks.saturating_sub(1);
            // No earlier than that of any task, which names it.
            process.emptied = process.emptied.max(time);
        }
        let gone = Gone {
            id: task.id,
            time,
            exec: task.process.exec,
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
        let ended = |p: &Process| p.tasks == 0 && p.emptied + MEMORY <= now;
        let processes = self.processes.extract_if(|_, p| ended(p));
        let processes: Vec<u32> = processes.map(|(_, p)| p.id).collect();
        self.process_ids.forget(Space::Process, &processes, out);
        self.cgroups
            .forget(self.processes.values().map(|p| p.cgroup));
    }
}

fn see_process<'a>(
    processes: &'a mut HashMap<ProcessKey, Process>,
    key: ProcessKey,
    ids: &mut Ids,
    cgroups: &mut Cgroups,
    unread: &mut Vec<Whom>,
    head: &Head,
    out: &mut Encoder,
) -> &'a mut Process {
    let mut new = false;
    let process = processes.entry(key).or_insert_with(|| {
        new = true;
        Process {
            id: ids.take(),
            comm: head.process_comm,
            uid: head.uid,
            cgroup: head.cgroup,
            kthread: false,
            cmdline: Box::default(),
            tasks: 0,
            emptied: head.ktime,
            work: Purse::default(),
            maps: Maps::default(),
            reach: None,
            taught: false,
        }
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
        // Of the user processes that have kernel threads (io_uring), the leader never is one.
        let kthread = head.status & abi::FT_KTHREAD != 0 && leader;
        process.kthread = kthread;
        if !kthread && u32::from(head.state) != abi::FT_STATE_ZOMBIE {
            unread.push(Whom {
                key,
                uid: process.uid,
            });
        }
        process.tell(key, out);
        let path = (new || moved).then(|| cgroups.path(process.cgroup, head.tgid));
        if let Some(path) = path.filter(|path| moved || path.is_some()) {
            out.put(&Record::Cgroup {
                process: process.id,
                path: path.as_deref().unwrap_or_default(),
            });
        }
    }
    process
}

/// Whether exec generation `a` comes after `b`.
fn newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

fn comm(padded: &[u8; 16]) -> &[u8] {
    let end = padded.iter().position(|b| *b == 0).unwrap_or(padded.len());
    &padded[..end]
}

impl Process {
    /// Its user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    fn tell(&self, key: ProcessKey, out: &mut Encoder) {
        out.put(&Record::ProcessSeen {
            process: self.id,
            tgid: key.tgid,
            start_boottime: key.start,
            self_exec_id: key.exec,
            uid: self.uid,
            cgroup: self.cgroup,
            kthread: self.kthread,
            comm: comm(&self.comm),
            cmdline: &self.cmdline,
        });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;
    use flametop_stream::{BATCH_HEADER, Reader, batch, file_header, rules::Rules, text::Line};

    const SECOND: u64 = 1_000_000_000;

    /// A task of the process with tid 100 that began 1 s after boot; sampling begins at 10 s.
    pub(crate) fn head(tid: u32, time: u64) -> Head {
        Head {
            size: size_of::<Head>() as u32,
            kind: abi::FT_KIND_TASK as u16,
            state: abi::FT_STATE_SLEEP as u16,
            status: 0,
            cpu: 0,
            ktime: time * SECOND,
            tid,
            tgid: 100,
            start_boottime: SECOND + u64::from(tid),
            process_start_boottime: SECOND + 100,
            exec_vm: 10,
            cgroup: 0,
            nvcsw: 1,
            nivcsw: 0,
            run_ns: time * 10,
            wait_ns: time,
            blocked_ns: 0,
            self_exec_id: 1,
            uid: 1000,
            image: 1,
            former_tid: tid,
            comm: comm16(b"thread"),
            process_comm: comm16(b"program"),
        }
    }

    fn comm16(name: &[u8]) -> [u8; 16] {
        let mut comm = [0; 16];
        comm[..name.len()].copy_from_slice(name);
        comm
    }

    struct Log {
        tasks: Tasks,
        out: Encoder,
    }

    impl Log {
        fn new() -> Log {
            Log {
                tasks: Tasks::new(10 * SECOND, BootClock::default(), Cgroups::default()),
                out: Encoder::new(),
            }
        }

        fn see(&mut self, head: &Head) {
            self.tasks.see(head, 1, &mut self.out);
        }

        fn exit(&mut self, head: &Head) {
            self.tasks.exit(head);
            self.tasks.free(head, &mut self.out);
            self.tasks.drained(head.ktime, &mut self.out);
            self.tasks.drained(head.ktime, &mut self.out);
        }

        /// The records since the last call as a stream.
        fn stream(&mut self) -> Vec<u8> {
            let mut bytes = file_header([]);
            let mut framed = vec![0; BATCH_HEADER + self.out.bytes().len()];
            batch(&mut framed, 0, 0, 0, self.out.bytes());
            bytes.extend_from_slice(&framed);
            self.out.clear();
            bytes
        }

        /// Holds the records since the last call to the rules of the stream.
        fn check(&mut self, rules: &mut Rules) {
            let bytes = self.stream();
            let mut reader = Reader::new(bytes.as_slice()).expect("header");
            let batch = reader.next_batch().expect("batch").expect("one");
            for record in batch.records() {
                rules.read(&record.expect("record")).expect("by the rules");
            }
        }

        /// The records since the last call, each up to the fields that do not matter here.
        fn take(&mut self) -> Vec<String> {
            let bytes = self.stream();
            let mut reader = Reader::new(bytes.as_slice()).expect("header");
            let batch = reader.next_batch().expect("batch").expect("one");
            let line = |r| Line(&r).to_string();
            let records = batch.records().map(|r| line(r.expect("record")));
            records
                .map(
                    |l| match l.split_once(" start=").or(l.split_once(" time=")) {
                        Some((front, rest)) => match rest.split_once(" exact=") {
                            Some((_, exact)) => format!("{front} exact={exact}"),
                            None => front.to_owned(),
                        },
                        None => l,
                    },
                )
                .collect()
        }
    }

    #[test]
    fn see_same_task_again_tells_nothing() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        assert_eq!(
            log.take(),
            ["process id=0 tgid=100", "task id=0 process=0 tid=100"]
        );
        log.see(&head(100, 12));
        assert!(log.take().is_empty());
        log.see(&Head {
            comm: comm16(b"renamed"),
            ..head(100, 13)
        });
        assert_eq!(log.take(), ["task id=0 process=0 tid=100"]);
    }

    #[test]
    fn see_process_in_a_cgroup_tells_its_path_and_again_when_it_moved() {
        let mut log = Log::new();
        let own = std::process::id();
        let moved = |time, cgroup| Head {
            tgid: own,
            tid: own,
            cgroup,
            ..head(100, time)
        };
        let lines = fs::read_to_string("/proc/self/cgroup").expect("cgroups");
        let path = lines.lines().find_map(|l| l.strip_prefix("0::"));
        let path = path.expect("a group of version 2");
        for (time, cgroup, told) in [
            (11, 7, Some(path)),
            (12, 7, None),
            (13, 8, Some(path)),
            (14, 0, Some("")),
        ] {
            log.see(&moved(time, cgroup));
            let told = told.map(|path| format!("cgroup process=0 path={path:?}"));
            assert_eq!(
                log.take().into_iter().find(|l| l.starts_with("cgroup")),
                told,
                "{time}"
            );
        }
    }

    #[test]
    fn see_task_whose_time_in_d_is_counted_tells_it_when_it_has_grown() {
        let mut log = Log::new();
        let blocked = |time, blocked_ns| Head {
            blocked_ns,
            ..head(100, time)
        };
        log.see(&blocked(11, 7));
        assert_eq!(log.take().len(), 2, "not counted");
        log.tasks.counts_blocked = true;
        let worker = Head {
            status: abi::FT_KTHREAD,
            ..head(101, 11)
        };
        log.see(&worker);
        assert_eq!(log.take().len(), 1, "a kernel thread waits for work");
        // One of an earlier moment comes late.
        for (time, ns, told) in [
            (12, 7, Some(7)),
            (13, 7, None),
            (14, 9, Some(9)),
            (13, 8, None),
        ] {
            log.see(&blocked(time, ns));
            let told: Vec<String> = told
                .iter()
                .map(|ns| format!("blocked task=0 ns={ns}"))
                .collect();
            assert_eq!(log.take(), told, "{time}");
        }
        log.tasks.counts_blocked = false;
        log.see(&blocked(15, 9));
        assert_eq!(log.take(), ["blocked task=0 ns=none"]);
        log.tasks.counts_blocked = true;
        log.exit(&blocked(16, 10));
        assert_eq!(log.take(), ["blocked task=0 ns=10", "gone task=0 exact=1"]);
    }

    #[test]
    fn see_same_number_of_another_task_is_a_new_one() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.exit(&head(100, 12));
        let again = Head {
            start_boottime: 13 * SECOND,
            process_start_boottime: 13 * SECOND,
            ..head(100, 14)
        };
        log.see(&again);
        let told = log.take();
        assert_eq!(
            told[3..],
            ["process id=1 tgid=100", "task id=1 process=1 tid=100"]
        );
    }

    #[test]
    fn see_after_the_end_does_not_bring_it_back_unless_a_zombie() {
        let mut log = Log::new();
        log.see(&head(101, 11));
        log.exit(&head(101, 12));
        log.take();
        let mut out = Encoder::new();
        assert!(matches!(
            log.tasks.see(&head(101, 11), 1, &mut out),
            Sight::Ended(0)
        ));
        assert!(matches!(
            log.tasks.see(&head(101, 13), 1, &mut out),
            Sight::Ended(0)
        ));
        let zombie = Head {
            state: abi::FT_STATE_ZOMBIE as u16,
            ..head(101, 13)
        };
        log.see(&zombie);
        assert_eq!(log.take(), ["task id=1 process=0 tid=101"]);
        log.tasks.end_unmarked(2, 14 * SECOND, 15 * SECOND);
        log.tasks.drained(15 * SECOND, &mut log.out);
        assert!(log.take().is_empty(), "its exit record may be on its way");
        log.tasks.drained(16 * SECOND, &mut log.out);
        assert_eq!(log.take(), ["gone task=1 exact=0"]);
    }

    #[test]
    fn exit_unknown_task_is_told_only_if_it_began_since() {
        let mut log = Log::new();
        log.exit(&head(101, 12));
        assert!(log.take().is_empty());
        let fresh = Head {
            start_boottime: 11 * SECOND,
            ..head(102, 12)
        };
        log.exit(&fresh);
        assert_eq!(
            log.take(),
            [
                "process id=0 tgid=100",
                "task id=0 process=0 tid=102",
                "gone task=0 exact=1"
            ]
        );
        log.exit(&fresh);
        assert!(log.take().is_empty());
    }

    #[test]
    fn see_exec_of_a_lone_task_keeps_its_id() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.take();
        let after = Head {
            self_exec_id: 2,
            ..head(100, 12)
        };
        log.see(&after);
        assert_eq!(
            log.take(),
            ["process id=1 tgid=100", "task id=0 process=1 tid=100"]
        );
        // A sample from before the exec that comes late changes nothing.
        log.see(&head(100, 11));
        assert!(log.take().is_empty());
        log.see(&after);
        assert!(log.take().is_empty());
    }

    #[test]
    fn see_exec_beside_other_tasks_is_a_new_task() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.see(&head(101, 11));
        log.take();
        let after = |time| Head {
            self_exec_id: 2,
            ..head(100, time)
        };
        log.see(&after(12));
        assert!(
            log.take().is_empty(),
            "the record of the exec may still come"
        );
        log.see(&after(13));
        assert_eq!(
            log.take(),
            [
                "gone task=0 exact=0",
                "process id=1 tgid=100",
                "task id=2 process=1 tid=100"
            ]
        );
        // The end of the former leader comes late, and is not the end of its successor.
        log.exit(&head(100, 12));
        assert!(log.take().is_empty());
        log.exit(&head(101, 12));
        assert_eq!(log.take(), ["gone task=1 exact=1"]);
        assert_eq!(log.tasks.len(), 1);
    }

    #[test]
    fn exec_by_another_thread_ends_it_and_the_leader_with_their_last_sums() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.see(&head(101, 11));
        log.take();
        log.tasks.exit(&head(100, 12));
        let exec = Head {
            kind: abi::FT_KIND_EXEC as u16,
            self_exec_id: 2,
            former_tid: 101,
            ..head(100, 13)
        };
        log.tasks.exec(&exec, &mut log.out);
        assert_eq!(
            log.take(),
            [
                "gone task=0 exact=1",
                "gone task=1 exact=1",
                "process id=1 tgid=100",
                "task id=2 process=1 tid=100"
            ]
        );
    }

    #[test]
    fn free_after_the_exit_has_the_last_sums() {
        let mut log = Log::new();
        log.see(&head(101, 11));
        log.take();
        log.tasks.exit(&head(101, 12));
        log.tasks.drained(12 * SECOND, &mut log.out);
        log.tasks.drained(12 * SECOND, &mut log.out);
        assert!(log.take().is_empty(), "its last sums are on their way");
        assert_eq!(log.tasks.len(), 0);
        let last = Head {
            run_ns: 777,
            ..head(101, 13)
        };
        log.tasks.free(&last, &mut log.out);
        log.tasks.drained(12 * SECOND, &mut log.out);
        assert_eq!(log.take(), ["gone task=0 exact=1"]);
    }

    #[test]
    fn end_unmarked_spares_what_began_after_the_pass() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.tasks.see(&head(101, 20), 0, &mut log.out);
        log.take();
        log.tasks.end_unmarked(2, 15 * SECOND, 16 * SECOND);
        log.tasks.drained(21 * SECOND, &mut log.out);
        assert_eq!(log.take(), ["gone task=0 exact=0"]);
        assert_eq!(log.tasks.len(), 1);
    }

    #[test]
    fn forget_long_ended_processes_are_dropped() {
        let mut log = Log::new();
        log.see(&head(100, 11));
        log.exit(&head(100, 12));
        log.take();
        log.tasks.forget(13 * SECOND, &mut log.out);
        assert_eq!((log.tasks.processes.len(), log.tasks.gone.len()), (1, 1));
        log.tasks.forget(18 * SECOND, &mut log.out);
        assert_eq!((log.tasks.processes.len(), log.tasks.gone.len()), (0, 0));
        assert_eq!(
            log.take(),
            ["forgotten space=1 ids=0", "forgotten space=0 ids=0"]
        );
    }

    #[test]
    fn forget_million_short_tasks_gives_their_ids_anew() {
        let mut log = Log::new();
        let mut rules = Rules::default();
        for n in 0..1_000_000u64 {
            let (time, tid) = (10 * SECOND + n * SECOND / 1000, 200 + (n % 30_000) as u32);
            let short = Head {
                ktime: time,
                tid,
                tgid: tid,
                start_boottime: time,
                process_start_boottime: time,
                ..head(tid, 0)
            };
            log.see(&short);
            if n % 3 > 0 {
                // The others are just not found again.
                log.exit(&Head {
                    ktime: time + 1,
                    ..short
                });
            }
            if n % 1000 == 0 {
                log.tasks.end_unmarked(2, time, time);
                log.tasks.drained(time + 1, &mut log.out);
                log.tasks.forget(time, &mut log.out);
                log.check(&mut rules);
                assert!(rules.live(Space::Task) <= 7000);
                assert!(rules.live(Space::Process) <= 7000);
            }
        }
        assert!(rules.highest(Space::Task) <= 8000);
        assert!(rules.highest(Space::Process) <= 8000);
    }
}
