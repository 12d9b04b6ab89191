//! A sample's way into the stream: now, or when what it waits for is known.

use std::time::Instant;

use flametop_kernel::{
    Whose, abi,
    graph::Spent,
    record::{Event, Head, StackPart},
};
use flametop_stream::{self as stream, End, Record, State};

use super::{
    GRACE_OF_ONE, Pipeline,
    reach::{for_others, is_more, next_piece, next_reach},
    steps::Shown,
    walker::{Turn, Walk, is_of_moment},
    words::word,
};
use crate::{
    identity::ProcessKey,
    mappings::At,
    os,
    tasks::{Process, Sight, Task, Told},
    waiting::{Awaited, Taker, Waiting},
};

impl Pipeline {
    /// Places a sample, or lets it wait.
    pub(super) fn sample(&mut self, head: &Head, stack: Option<&StackPart<'_>>, taker: Taker) {
        let key = ProcessKey::of(head);
        let behind = self.waiting.holds_up(&key, head.tid);
        let mut awaited = None;
        if behind {
            // It stays behind those that wait already.
            let pass = match taker {
                Taker::Pass(pass) => pass,
                Taker::Clock | Taker::Source(_) => 0,
            };
            self.tasks.see(head, pass, &mut self.out);
        } else {
            awaited = self.place(head, stack, taker, Turn::First);
            let mut until = None;
            // Holders are asked for at the end of the pass.
            let is_short = |awaited| awaited != Awaited::Holder;
            while awaited.is_some_and(is_short) && !self.grace.is_zero() {
                let begin = Instant::now();
                let all = begin + self.grace;
                let last = match self.prober.started() {
                    0 => all,
                    _ => all.min(*until.get_or_insert(begin + GRACE_OF_ONE)),
                };
                if begin >= last {
                    break;
                }
                self.prober.wait(last);
                self.grace = self.grace.saturating_sub(begin.elapsed());
                self.take_probed();
                awaited = self.place(head, stack, taker, Turn::First);
            }
        }
        if behind || awaited.is_some() {
            let sample = Waiting::new(head, stack, taker);
            self.waiting.push(key, sample, awaited);
            while let Some(crowd) = self.waiting.crowded() {
                if self.grace.is_zero() {
                    self.dismiss(&crowd);
                } else {
                    // An answer may make room.
                    self.ask_holders();
                    let begin = Instant::now();
                    self.prober.wait(begin + self.grace);
                    self.grace = self.grace.saturating_sub(begin.elapsed());
                    self.take_probed();
                }
            }
        }
        self.ask_command_lines();
    }

    /// Returns what the sample has to wait for.
    fn place(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        taker: Taker,
        turn: Turn,
    ) -> Option<Awaited> {
        let awaited = match taker {
            Taker::Pass(pass) => self.place_task(head, stack, pass, turn),
            Taker::Clock => self.place_running(head, stack, None, turn),
            Taker::Source(event) if u32::from(head.kind) == abi::FT_KIND_WAKER => {
                self.place_waker(head, stack, event, turn)
            }
            Taker::Source(event) => self.place_running(head, stack, Some(event), turn),
        };
        if awaited == Some(Awaited::File) {
            self.need_files.insert(ProcessKey::of(head));
        }
        awaited
    }

    /// More is known of a process: places its samples, as far as they need not wait still.
    pub(super) fn resume(&mut self, key: &ProcessKey) {
        for sample in self.waiting.take(key) {
            let behind = self.waiting.holds_up(key, sample.head.tid);
            let awaited = match behind {
                true => None,
                false => {
                    let stack = sample.stack();
                    self.place(&sample.head, stack.as_ref(), sample.taker, Turn::Again)
                }
            };
            if behind || awaited.is_some() {
                self.waiting.push(*key, sample, awaited);
            }
        }
    }

    /// Asks for the holders that were gathered, of each process at once.
    pub fn ask_holders(&mut self) {
        for refused in self.walker.codes.ask_holders(&mut self.tasks) {
            self.resume(&refused);
        }
    }

    /// Places all samples of a process with what is known.
    pub(super) fn dismiss(&mut self, key: &ProcessKey) {
        self.need_files.remove(key);
        let now = os::monotonic();
        for sample in self.waiting.take(key) {
            self.in_vain.add(now, sample.shown_by());
            let stack = sample.stack();
            self.place(&sample.head, stack.as_ref(), sample.taker, Turn::Last);
        }
    }

    fn place_task(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        pass: u64,
        turn: Turn,
    ) -> Option<Awaited> {
        let (task, process) = match self.tasks.see(head, pass, &mut self.out) {
            Sight::Live(task, process) => (task, process),
            Sight::Ended(_) => return None,
            Sight::Early(_) => {
                // Any piece will do to be shown the task again.
                let address = stack.map_or(0, |s| s.user_address);
                self.to_kernel.pieces.push((head.tid, address));
                return None;
            }
        };
        let (mut end, mut id) = (end_without_stack(head), None);
        if let Some(stack) = stack {
            let seen = Some((pass, task.pieces.as_deref()));
            let walk = self.walker.walk(head, stack, seen, process, turn);
            if walk.awaited.is_some() {
                return walk.awaited;
            }
            let piece = next_piece(head, stack, task, &walk);
            // Any piece will do to be shown the task again.
            let again = walk.stale && is_tried_again(head, task, process);
            let again = again || walk.follow.is_some() || walk.held;
            self.to_kernel.chains.extend(walk.chains());
            if let Some(address) = piece.or(again.then_some(stack.user_address)) {
                self.to_kernel.pieces.push((head.tid, address));
            }
            end = walk.end;
            self.totals.count_walk(end);
            id = Some(self.stacks.id(end, self.walker.walked(), &mut self.out));
        }
        let told = Told {
            run: head.run_ns,
            wait: head.wait_ns,
            switches: head.nvcsw + head.nivcsw,
            state: head.state,
            stack: id,
        };
        if task.told.replace(told) != Some(told) || u32::from(head.state) == abi::FT_STATE_RUN {
            let head = stream_head(head, task.id, id, end);
            self.out.put(&Record::TaskChanged(head));
        }
        None
    }

    /// A sample of the task that runs: at a tick of the CPU clock, or at an event.
    fn place_running(
        &mut self,
        head: &Head,
        stack: Option<&StackPart<'_>>,
        event: Option<Event>,
        turn: Turn,
    ) -> Option<Awaited> {
        let (task, walk) = match stack {
            Some(stack) => self.walk_running(head, stack, turn),
            None => (self.tasks.see(head, 0, &mut self.out).id(), None),
        };
        let awaited = walk.as_ref().and_then(|walk| walk.awaited);
        if awaited.is_some() {
            return awaited;
        }
        let chains = walk.iter().flat_map(Walk::chains);
        self.to_kernel.chains.extend(chains);
        let end = walk.as_ref().map_or(End::Exited, |walk| walk.end);
        if let Some(event) = event.filter(|event| event.function != 0) {
            self.put_returned(head, event.function);
        }
        if let Some(event) = event.filter(|event| event.cut != 0) {
            self.walker.put_cut(event.cut);
        }
        if let Some(kind) = event.and_then(|event| kind_of_lock(event.lock)) {
            let frame = word(&mut self.walker.files.modules, kind);
            self.walker.kernel.insert(0, frame);
        }
        if let (Some(event), Some(stack)) = (event.filter(|event| event.wait != 0), stack) {
            if walk.is_none() {
                self.walker.user.clear();
                self.walker.walk_kernel(head, stack);
            }
            self.place_waiter(stream_head(head, task, None, end), event);
            return None;
        }
        let nothing = self.walker.user.is_empty() && self.walker.kernel.is_empty();
        // 32-bit code has no frames, and the reason stands for them.
        let placed = walk.is_some() && (!nothing || end == End::Narrow);
        let stack = if placed {
            self.totals.count_walk(end);
            Some(self.stacks.id(end, self.walker.walked(), &mut self.out))
        } else {
            None
        };
        if event.is_none() {
            self.totals.cpu_placed += u64::from(placed);
            self.totals.cpu_failed += u64::from(!placed);
        }
        let why = match end {
            End::Root if !placed => End::Exited,
            end => end,
        };
        let head = stream_head(head, task, stack, why);
        self.out.put(&match event {
            None => Record::CpuSample(head),
            Some(event) => Record::Event {
                head,
                source: event.source,
                weight: event.weight,
                rate: event.rate,
            },
        });
        None
    }

    /// Walks the stack of the task that runs, and has the kernel side learn from it; the walk is missing if the task's process is not known
    /// any more. The first part of the result is the task's id.
    pub(super) fn walk_running(
        &mut self,
        head: &Head,
        stack: &StackPart<'_>,
        turn: Turn,
    ) -> (u32, Option<Walk>) {
        let sight = self.tasks.see(head, 0, &mut self.out);
        match sight {
            Sight::Ended(id) if turn != Turn::First => {
                let process = self.tasks.process(ProcessKey::of(head));
                let walk =
                    process.map(|process| self.walker.walk(head, stack, None, process, turn));
                (id, walk)
            }
            Sight::Ended(id) | Sight::Early(id) => (id, None),
            Sight::Live(task, process) => {
                let walk = self.walker.walk(head, stack, None, process, turn);
                let reach = task.reach.or(process.reach);
                let lacks = walk.end == End::Truncated;
                if walk.outcome.is_some() && self.steps.are_due(head, process, lacks) {
                    let modules = &mut self.walker.files.modules;
                    if let At::Known(maps) =
                        self.walker.mappings.at(head, &mut process.maps, modules)
                    {
                        let shown = Shown {
                            maps: &maps,
                            modules,
                            hops: self.walker.unwinder.hops(),
                        };
                        self.steps
                            .learn(head, process, lacks, &shown, &mut self.to_kernel);
                    }
                }
                if let Some(reach) = next_reach(stack, reach, &walk) {
                    task.reach = Some(reach);
                    let reaches = &mut self.to_kernel.reaches;
                    reaches.push((Whose::Thread(head.tid), reach));
                    let of_others = for_others(reach);
                    if is_more(process.reach, of_others) {
                        process.reach = Some(of_others);
                        reaches.push((Whose::Process(head.tgid), of_others));
                    }
                }
                (task.id, Some(walk))
            }
        }
    }

    /// Time that a task spent in a function of the kernel, called on one path.
    pub fn path(&mut self, source: u32, task: u32, spent: &Spent) {
        self.walker.put_path(&spent.path);
        let walked = self.walker.walked();
        let stack = self.stacks.id(End::Root, walked, &mut self.out);
        self.out.put(&Record::Event {
            head: stream::Head {
                time: spent.time,
                task,
                stack: Some(stack),
                // Sums of the task are for sights of it.
                run: 0,
                wait: 0,
                nvcsw: 0,
                nivcsw: 0,
                cpu: 0,
                state: State(abi::FT_STATE_RUN as u8),
                why: End::Root,
                user_mode: false,
            },
            source,
            weight: spent.nanos,
            rate: 0,
        });
    }

    /// Puts the function that has just returned on top of the stack that it returned to.
    fn put_returned(&mut self, head: &Head, address: u64) {
        let Some(process) = self.tasks.process(ProcessKey::of(head)) else {
            return;
        };
        self.walker.put_leaf(head, process, address);
    }
}

/// The kind of lock that a task waited for, by bits of `enum ft_lock`; none: it is no wait for a lock.
fn kind_of_lock(bits: u32) -> Option<&'static [u8]> {
    let has = |bit: u32| bits & bit != 0;
    if !has(abi::FT_LOCK_WAIT) {
        return None;
    }
    let (reads, writes) = (has(abi::FT_LOCK_READ), has(abi::FT_LOCK_WRITE));
    let kinds: [&[u8]; 3] = if has(abi::FT_LOCK_MUTEX) {
        return Some(b"[mutex]");
    } else if has(abi::FT_LOCK_PERCPU) {
        [
            b"[percpu-rwsem]",
            b"[percpu-rwsem read]",
            b"[percpu-rwsem write]",
        ]
    } else if has(abi::FT_LOCK_RT) {
        [b"[rtmutex]", b"[rwlock-rt read]", b"[rwlock-rt write]"]
    } else if has(abi::FT_LOCK_SPINS) {
        [b"[spinlock]", b"[rwlock read]", b"[rwlock write]"]
    } else {
        [b"[semaphore]", b"[rwsem read]", b"[rwsem write]"]
    };
    Some(kinds[if writes { 2 } else { usize::from(reads) }])
}

/// Why a record has no stack.
fn end_without_stack(head: &Head) -> End {
    match u32::from(head.state) {
        abi::FT_STATE_ZOMBIE => End::Exited,
        _ if head.status & abi::FT_TORN != 0 => End::Torn,
        abi::FT_STATE_RUN | abi::FT_STATE_IDLE_KTHREAD => End::Root,
        _ if head.status & abi::FT_EXITING != 0 => End::Exited,
        _ => End::Faulted,
    }
}

/// Whether a sleeper with stale mappings should be seen again: as long as they were read before it was found so, or hold only from a later
/// moment on.
fn is_tried_again(head: &Head, task: &mut Task, process: &Process) -> bool {
    let switches = head.nvcsw + head.nivcsw;
    let since = match task.unknown {
        Some((s, since)) if s == switches => since,
        _ => head.ktime,
    };
    task.unknown = Some((switches, since));
    process.maps.read() < since || process.maps.are_newer_than(head.ktime)
}

/// The head as the stream has it.
pub(super) fn stream_head(head: &Head, task: u32, stack: Option<u32>, why: End) -> stream::Head {
    stream::Head {
        time: head.ktime,
        task,
        stack,
        run: head.run_ns,
        wait: head.wait_ns,
        nvcsw: head.nvcsw,
        nivcsw: head.nivcsw,
        cpu: head.cpu,
        state: State(u8::try_from(head.state).unwrap_or(u8::MAX)),
        why,
        user_mode: is_of_moment(head) && head.status & abi::FT_USER_MODE != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_of_lock_is_by_the_flags_of_the_kernel() {
        let kind = |flags: u32| {
            let kind = kind_of_lock(flags | abi::FT_LOCK_WAIT).expect("a lock");
            String::from_utf8_lossy(kind)
        };
        // The flags that the kernel tells with each kind of lock: include/trace/events/lock.h and its callers.
        let kinds = [0, 1, 1 | 2, 1 | 4, 2, 4, 8, 8 | 2, 16 | 2, 32, 32 | 1].map(kind);
        assert_eq!(
            kinds,
            [
                "[semaphore]",
                "[spinlock]",
                "[rwlock read]",
                "[rwlock write]",
                "[rwsem read]",
                "[rwsem write]",
                "[rtmutex]",
                "[rwlock-rt read]",
                "[percpu-rwsem read]",
                "[mutex]",
                "[mutex]"
            ]
        );
        assert_eq!(kind_of_lock(0), None);
    }
}
