//! What a reader of the stream knows, for tests and the snapshot example. It checks the rules of the stream as it reads.

use std::collections::{BTreeMap, HashSet};

use flametop_sampler::{MIN_BUFFER, Session};
use flametop_stream::{
    COUNTERS, Call, Counter, End, Head, ModuleKind, NameSource, Reader, Record, SourceState,
    SourceTotals, Space, rules::Rules,
};

pub struct Process {
    pub tgid: u32,
    pub kthread: bool,
    pub comm: String,
    pub cmdline: Vec<u8>,
}

pub struct Task {
    pub process: u32,
    pub tid: u32,
    pub fresh: bool,
    pub comm: String,
    /// Last *task changed*.
    pub now: Option<Head>,
    pub samples: Vec<Head>,
    /// How many *task changed* there were.
    pub changes: usize,
    pub gone: Option<Gone>,
    forgotten: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Gone {
    pub run: u64,
    pub exact: bool,
}

pub struct Stack {
    pub end: End,
    pub user: usize,
    pub frames: Vec<u32>,
}

#[derive(Default)]
pub struct Model {
    pub processes: Vec<Process>,
    /// By process: the path of its cgroup.
    pub cgroups: BTreeMap<u32, String>,
    pub tasks: Vec<Task>,
    pub modules: Vec<(ModuleKind, String)>,
    pub frames: Vec<(u32, u64, bool)>,
    pub stacks: Vec<Stack>,
    pub names: BTreeMap<u32, (NameSource, String)>,
    /// Of each frame that was asked: calls as `function file:line`, or what is missing.
    pub places: BTreeMap<u32, (Vec<String>, String)>,
    pub counters: Option<[u64; COUNTERS]>,
    pub notices: Vec<String>,
    pub passes: u32,
    pub batches: u32,
    pub cpus: u32,
    pub own_cpu: u64,
    /// By number: state, and why it is missing.
    pub sources: BTreeMap<u32, (SourceState, String)>,
    pub totals: BTreeMap<u32, SourceTotals>,
    /// Head, source, weight, rate.
    pub events: Vec<(Head, u32, u64, u64)>,
    rules: Rules,
    pub own_parts: Vec<(String, u64)>,
    pub resident: Vec<(String, u64)>,
    asked: usize,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A session whose whole stream is kept and read.
pub struct Recording {
    pub session: Session,
    pub model: Model,
    pub bytes: Vec<u8>,
    buffer: Vec<u8>,
    /// The frames of [`Recording::ask_names_of`] so far.
    asked_of: HashSet<u32>,
}

impl Recording {
    /// Opens a session with these settings and the symbolizer that stands beside this program.
    pub fn open(settings: &str) -> Recording {
        let exe = std::env::current_exe().expect("own path");
        let folder = exe.ancestors().nth(2).expect("target folder");
        Recording::open_with(settings, &folder.join("flametop-symbolizer"))
    }

    /// The same with that symbolizer.
    pub fn open_with(settings: &str, symbolizer: &std::path::Path) -> Recording {
        let settings = format!("{settings}\nsymbolizer={}\n", symbolizer.display());
        let session = Session::open(&settings).unwrap_or_else(|e| panic!("{e}"));
        let bytes = session.header().to_vec();
        Recording {
            session,
            model: Model::default(),
            bytes,
            buffer: vec![0; 256 << 10],
            asked_of: HashSet::new(),
        }
    }

    /// Uses a buffer of the smallest size.
    pub fn with_smallest_buffer(mut self) -> Recording {
        self.buffer = vec![0; MIN_BUFFER];
        self
    }

    /// One pass with all its batches, or one batch without a pass.
    pub fn fill(&mut self, pass: bool) {
        self.fill_late(pass, 0);
    }

    /// The same after so many passes that were due and not made.
    pub fn fill_late(&mut self, pass: bool, late: u64) {
        loop {
            let length = self
                .session
                .fill(&mut self.buffer, pass, late)
                .unwrap_or_else(|e| panic!("fill: {e}"));
            self.bytes.extend_from_slice(&self.buffer[..length]);
            let more = self
                .model
                .read_batch(self.session.header(), &self.buffer[..length]);
            if !more {
                break;
            }
        }
    }

    /// Passes for `millis`, `hz` a second.
    pub fn run(&mut self, hz: u64, millis: u64) {
        let begin = std::time::Instant::now();
        for i in 0..millis * hz / 1000 {
            let due = std::time::Duration::from_nanos(i * 1_000_000_000 / hz);
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
            self.fill(true);
        }
    }

    /// Asks for the names of the frames that are new; they come in later batches.
    pub fn ask_new_names(&mut self) {
        let model = &mut self.model;
        let new: Vec<u32> = (model.asked..model.frames.len())
            .map(|f| f as u32)
            .collect();
        model.asked = model.frames.len();
        self.session.wishes().ask_names(&new);
    }

    /// Asks for the names of the frames of these processes, and of no others: a compiler that runs meanwhile has more names to find
    /// than all of them.
    #[allow(dead_code)] // each test program has this module
    pub fn ask_names_of(&mut self, tgids: &[u32]) {
        let model = &self.model;
        let of = |task: &&Task| tgids.contains(&model.processes[task.process as usize].tgid);
        let heads = model.tasks.iter().filter(of);
        let heads = heads.flat_map(|task| task.now.iter().chain(&task.samples));
        let stacks: HashSet<u32> = heads.filter_map(|head| head.stack).collect();
        let frames: HashSet<u32> = stacks
            .iter()
            .flat_map(|stack| &model.stacks[*stack as usize].frames)
            .copied()
            .collect();
        let new: Vec<u32> = frames.difference(&self.asked_of).copied().collect();
        self.asked_of.extend(&new);
        self.session.wishes().ask_names(&new);
    }

    /// Asks for the names of all frames, also of those that come meanwhile, and waits for those
    /// seen so far: on a busy machine more come all the time.
    pub fn name_all(&mut self) {
        let wishes = self.session.wishes();
        let wanted = 0..self.model.frames.len() as u32;
        for _ in 0..12_000 {
            let model = &mut self.model;
            let all: Vec<u32> = (model.asked..model.frames.len())
                .map(|f| f as u32)
                .collect();
            model.asked = model.frames.len();
            wishes.ask_names(&all);
            self.fill(false);
            if wanted.clone().all(|f| self.model.names.contains_key(&f)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!(
            "{} of {} names came",
            self.model.names.len(),
            self.model.asked
        );
    }

    /// Asks for the places of all frames, and waits for them.
    pub fn place_all(&mut self) {
        let all: Vec<u32> = (0..self.model.frames.len() as u32).collect();
        self.session.wishes().ask_places(&all);
        for _ in 0..12_000 {
            self.fill(false);
            if self.model.places.len() >= all.len() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{} of {} places came", self.model.places.len(), all.len());
    }
}

impl Model {
    /// Returns whether the pass goes on in the next batch.
    fn read_batch(&mut self, header: &[u8], batch: &[u8]) -> bool {
        let stream = [header, &renumbered(batch)].concat();
        let mut reader = Reader::new(stream.as_slice()).expect("header");
        let batch = reader.next_batch().expect("batch").expect("a batch");
        self.batches += 1;
        self.passes += u32::from(batch.pass);
        let before = self.counters;
        let mut counted = false;
        for record in batch.records() {
            let record = record.expect("record");
            counted |= matches!(record, Record::Counters(_));
            self.read(&record);
        }
        if batch.pass {
            assert!(counted, "a batch that ends a pass has counters");
        }
        if let Some(now) = self.counters {
            check(&now);
            for (now, before) in now
                .iter()
                .zip(before.unwrap_or_default())
                .take(Counter::Tasks as usize)
            {
                assert!(*now >= before, "counters only grow");
            }
        }
        batch.more
    }

    fn read(&mut self, record: &Record<'_>) {
        self.rules.read(record).expect("by the rules of ids");
        match record {
            Record::Counters(totals) => self.counters = Some(*totals),
            Record::ProcessSeen {
                process,
                tgid,
                kthread,
                comm,
                cmdline,
                ..
            } => put(
                &mut self.processes,
                *process,
                Process {
                    tgid: *tgid,
                    kthread: *kthread,
                    comm: text(comm),
                    cmdline: cmdline.to_vec(),
                },
            ),
            Record::Cgroup { process, path } => {
                self.cgroups.insert(*process, text(path));
            }
            Record::TaskSeen {
                task,
                process,
                tid,
                fresh,
                comm,
                ..
            } => match self.tasks.get_mut(*task as usize) {
                Some(t) if !t.forgotten => {
                    assert!(t.gone.is_none() && t.tid == *tid && t.fresh == *fresh);
                    t.process = *process;
                    t.comm = text(comm);
                }
                _ => put(
                    &mut self.tasks,
                    *task,
                    Task {
                        process: *process,
                        tid: *tid,
                        fresh: *fresh,
                        comm: text(comm),
                        now: None,
                        samples: Vec::new(),
                        changes: 0,
                        gone: None,
                        forgotten: false,
                    },
                ),
            },
            Record::TaskBlocked { .. } | Record::Parent { .. } => {}
            Record::TaskGone {
                task, run, exact, ..
            } => {
                let task = &mut self.tasks[*task as usize];
                assert!(task.gone.is_none(), "gone once");
                task.gone = Some(Gone {
                    run: *run,
                    exact: *exact,
                });
            }
            Record::ModuleSeen {
                module, kind, path, ..
            } => {
                put(&mut self.modules, *module, (*kind, text(path)));
            }
            Record::FrameSeen {
                frame,
                module,
                offset,
                guessed,
            } => {
                put(&mut self.frames, *frame, (*module, *offset, *guessed));
            }
            Record::StackSeen {
                stack,
                end,
                user,
                frames,
            } => {
                let stack_seen = Stack {
                    end: *end,
                    user: usize::from(*user),
                    frames: frames.to_vec(),
                };
                put(&mut self.stacks, *stack, stack_seen);
            }
            Record::TaskChanged(head) => {
                self.check_head(head);
                let task = &mut self.tasks[head.task as usize];
                assert!(task.gone.is_none(), "a task that is gone does not change");
                task.now = Some(*head);
                task.changes += 1;
            }
            Record::CpuSample(head) => {
                self.check_head(head);
                self.tasks[head.task as usize].samples.push(*head);
            }
            Record::SourceSeen {
                source, state, why, ..
            } => {
                self.sources.insert(*source, (*state, text(why)));
            }
            Record::SourceTotals(totals) => {
                assert!(self.sources.contains_key(&totals.source));
                assert!(totals.taken <= totals.hits && totals.lost <= totals.taken);
                self.totals.insert(totals.source, totals.clone());
            }
            Record::Event {
                head,
                source,
                weight,
                rate,
            } => {
                self.check_head(head);
                assert!(self.sources.contains_key(source));
                self.events.push((*head, *source, *weight, *rate));
            }
            Record::CpuUsage {
                cpu, idle, elapsed, ..
            } => {
                assert!(
                    *idle <= *elapsed + 100_000_000,
                    "cpu {cpu} idle {idle} of {elapsed}"
                );
                self.cpus = self.cpus.max(cpu + 1);
            }
            Record::IdleState { .. } | Record::CpuCycles { .. } | Record::CpuChanged { .. } => {}
            Record::Name {
                frame,
                source,
                name,
            } => {
                self.names.insert(*frame, (*source, text(name)));
            }
            Record::Place {
                frame,
                calls,
                missing,
            } => {
                assert!((*frame as usize) < self.frames.len());
                assert_eq!(calls.is_empty(), !missing.is_empty());
                let call = |call: &Call<'_>| {
                    format!("{} {}:{}", text(call.function), text(call.file), call.line)
                };
                let told = calls.iter().map(call).collect();
                self.places.insert(*frame, (told, text(missing)));
            }
            Record::Notice { text: t, .. } => self.notices.push(text(t)),
            Record::Unknown { kind, .. } => panic!("a record of kind {kind}"),
            Record::HostUsage { own_cpu, .. } => {
                assert!(*own_cpu >= self.own_cpu);
                self.own_cpu = *own_cpu;
            }
            Record::Forgotten { space, ids } => {
                if *space == Space::Task {
                    for id in ids.iter() {
                        let task = &mut self.tasks[*id as usize];
                        assert!(task.gone.is_some(), "a live task is not forgotten");
                        task.forgotten = true;
                    }
                }
            }
            Record::OwnUsage { cpu, resident } => {
                self.own_parts = cpu.iter().map(|(part, ns)| (text(part), *ns)).collect();
                self.resident = resident
                    .iter()
                    .map(|(p, bytes)| (text(p), *bytes))
                    .collect();
            }
        }
    }

    fn check_head(&self, head: &Head) {
        if let Some(stack) = head.stack {
            assert_eq!(self.stacks[stack as usize].end, head.why);
        }
    }

    /// The live task of this tid.
    pub fn task(&self, tid: u32) -> Option<&Task> {
        self.tasks
            .iter()
            .rev()
            .find(|t| t.tid == tid && t.gone.is_none())
    }

    /// Live tasks of this process.
    pub fn tasks_of(&self, tgid: u32) -> impl Iterator<Item = &Task> {
        self.tasks
            .iter()
            .filter(move |t| t.gone.is_none() && self.processes[t.process as usize].tgid == tgid)
    }

    /// Names of the frames of a stack, outermost first, kernel frames end in `_[k]`.
    pub fn names(&self, stack: u32) -> Vec<String> {
        let stack = &self.stacks[stack as usize];
        let name = |frame: &u32| {
            let name = self.names.get(frame).map_or("?", |(_, n)| n.as_str());
            let (module, ..) = self.frames[*frame as usize];
            match self.modules[module as usize].0 {
                ModuleKind::Kernel => format!("{name}_[k]"),
                _ => name.to_owned(),
            }
        };
        stack.frames.iter().map(name).collect()
    }

    pub fn counter(&self, counter: Counter) -> u64 {
        self.counters.map_or(0, |c| c[counter as usize])
    }
}

fn put<T>(table: &mut Vec<T>, id: u32, value: T) {
    let id = id as usize;
    assert!(id <= table.len(), "ids are dense");
    if id == table.len() {
        table.push(value)
    } else {
        table[id] = value
    }
}

/// The batch as the first of a stream.
fn renumbered(batch: &[u8]) -> Vec<u8> {
    let word = |i: usize| u32::from_le_bytes([batch[i], batch[i + 1], batch[i + 2], batch[i + 3]]);
    let time = u64::from(word(8)) | u64::from(word(12)) << 32;
    let flags = u16::from_le_bytes([batch[20], batch[21]]);
    let mut out = vec![0; batch.len()];
    flametop_stream::batch(&mut out, time, 0, flags, &batch[24..]);
    out
}

fn check(c: &[u64; COUNTERS]) {
    use Counter::*;
    let sum = |all: &[Counter]| all.iter().map(|i| c[*i as usize]).sum::<u64>();
    assert_eq!(
        c[PassesDue as usize],
        sum(&[PassesLate, PassesMade]),
        "passes: {c:?}"
    );
    let parts = [
        Written,
        Unchanged,
        OnCpu,
        IdleKthreads,
        FailedMmBusy,
        FailedTorn,
        FailedFaulted,
        FailedExited,
    ];
    assert_eq!(c[TaskPasses as usize], sum(&parts), "tasks: {c:?}");
    assert_eq!(
        c[CpuSamples as usize],
        sum(&[CpuPlaced, CpuFailed, CpuDropped, CpuWaiting]),
        "samples: {c:?}"
    );
}
