//! The cost of flametop itself: CPU by part, and memory.

use std::{collections::HashMap, fs};

use flametop_kernel::ProgramTime;
use flametop_stream::{Encoder, Record};

use crate::os;

/// Parts are told this often, ns.
const PERIOD: u64 = 1_000_000_000;

/// Parts of this process by the names of its threads: the first beginning that fits counts. Threads without a part are `other`.
const PARTS: [(&str, &str); 15] = [
    ("sampler", "passes"),
    ("flametop-ring", "ring"),
    ("profile", "profile"),
    ("java", "screen"),
    ("input", "screen"),
    ("terminal", "screen"),
    ("symbolizer", "names"),
    ("debuginfod", "names"),
    ("flametop-jit", "names"),
    ("C1 Compiler", "compiler"),
    ("C2 Compiler", "compiler"),
    ("Sweeper", "compiler"),
    ("VM Thread", "collector"),
    ("GC ", "collector"),
    ("G1 ", "collector"),
];

/// CPU ns: at first sight, and now.
#[derive(Clone, Copy)]
struct Clock {
    before: u64,
    now: u64,
}

impl Clock {
    fn spent(self) -> u64 {
        self.now - self.before
    }
}

struct Thread {
    part: Option<&'static str>,
    cpu: Clock,
}

/// flametop's processes and threads.
pub struct Own {
    process: Clock,
    threads: HashMap<u32, Thread>,
    /// ns of threads that ended, by part.
    ended: HashMap<&'static str, u64>,
    /// The other processes, by tgid.
    others: HashMap<u32, (&'static str, Clock)>,
    /// ns of other processes that ended, by part.
    retired: HashMap<&'static str, u64>,
    told: u64,
}

impl Own {
    /// Counts from now on. `launchers`: processes that are flametop's beside this one.
    pub fn new(launchers: &[u32]) -> Own {
        let now = flametop_prober::process_cpu(std::process::id()).unwrap_or(0);
        let mut own = Own {
            process: Clock { before: now, now },
            threads: HashMap::new(),
            ended: HashMap::new(),
            others: HashMap::new(),
            retired: HashMap::new(),
            told: 0,
        };
        own.look_at_threads();
        for thread in own.threads.values_mut() {
            thread.cpu.before = thread.cpu.now;
        }
        launchers.iter().for_each(|tgid| own.add(*tgid, "launcher"));
        own
    }

    /// Counts this process as flametop's.
    pub fn add(&mut self, tgid: u32, part: &'static str) {
        if tgid != std::process::id() {
            let now = flametop_prober::process_cpu(tgid).unwrap_or(0);
            let clock = Clock { before: now, now };
            self.others.entry(tgid).or_insert((part, clock));
        }
    }

    /// A process ended; another one may soon have its number.
    pub fn retire(&mut self, tgid: u32) {
        if let Some((part, clock)) = self.others.remove(&tgid) {
            *self.retired.entry(part).or_default() += clock.spent();
        }
    }

    /// ns of CPU that flametop cost since counting began. The time of a BPF program that interrupts flametop's own threads counts twice.
    pub fn cpu(&mut self, programs: &[ProgramTime]) -> u64 {
        look(&mut self.process, std::process::id());
        for (tgid, (_, clock)) in &mut self.others {
            look(clock, *tgid);
        }
        let others = self.others.values().map(|(_, clock)| clock.spent());
        let elsewhere = programs.iter().filter(|p| p.elsewhere).map(|p| p.nanos);
        self.process.spent()
            + self.retired.values().sum::<u64>()
            + others.sum::<u64>()
            + elsewhere.sum::<u64>()
    }

    /// Tells the parts of the last [`Own::cpu`], if they are due.
    pub fn tell(&mut self, now: u64, programs: &[ProgramTime], out: &mut Encoder) {
        if now < self.told + PERIOD && self.told > 0 {
            return;
        }
        self.told = now;
        self.look_at_threads();
        let mut parts: Vec<(String, u64)> = Vec::new();
        let mut add = |part: &str, ns: u64| match parts.iter_mut().find(|(name, _)| name == part) {
            Some((_, sum)) => *sum += ns,
            None => parts.push((part.to_owned(), ns)),
        };
        PARTS.iter().for_each(|(_, part)| add(part, 0));
        let mut named = 0;
        let threads = self.threads.values();
        let threads = threads.filter_map(|t| Some((t.part?, t.cpu.spent())));
        let ended = self.ended.iter().map(|(part, ns)| (*part, *ns));
        for (part, ns) in threads.chain(ended) {
            add(part, ns);
            named += ns;
        }
        add("other", self.process.spent().saturating_sub(named));
        for (part, clock) in self.others.values() {
            add(part, clock.spent());
        }
        for (part, ns) in &self.retired {
            add(part, *ns);
        }
        for program in programs.iter().filter(|p| p.elsewhere) {
            add(&format!("bpf {}", program.name), program.nanos);
        }
        let this = ("flametop", resident(std::process::id()));
        let others = self.others.iter();
        let others = others.map(|(tgid, (part, _))| (*part, resident(*tgid)));
        let mut resident: Vec<(&str, u64)> = std::iter::once(this).chain(others).collect();
        resident[1..].sort_unstable();
        out.put(&Record::OwnUsage {
            cpu: parts.iter().map(|(p, ns)| (p.as_bytes(), *ns)).collect(),
            resident: resident.iter().map(|(p, b)| (p.as_bytes(), *b)).collect(),
        });
    }

    fn look_at_threads(&mut self) {
        let Ok(tasks) = fs::read_dir("/proc/self/task") else {
            return;
        };
        let mut live = HashMap::with_capacity(self.threads.len());
        for tid in tasks.filter_map(|t| t.ok()?.file_name().to_str()?.parse::<u32>().ok()) {
            let Some(now) = flametop_prober::thread_cpu(tid) else {
                continue;
            };
            let before = match self.threads.get(&tid) {
                // A clock that goes back belongs to another thread with the same number.
                Some(thread) if thread.cpu.now <= now => self.threads.remove(&tid),
                _ => None,
            };
            let mut thread = before.unwrap_or(Thread {
                part: None,
                cpu: Clock { before: 0, now: 0 },
            });
            thread.cpu.now = now;
            // Threads get their names after they began.
            thread.part = thread.part.or_else(|| part(tid));
            live.insert(tid, thread);
        }
        for thread in std::mem::replace(&mut self.threads, live).into_values() {
            if let Some(part) = thread.part {
                *self.ended.entry(part).or_default() += thread.cpu.spent();
            }
        }
    }
}

fn look(clock: &mut Clock, tgid: u32) {
    clock.now = flametop_prober::process_cpu(tgid)
        .unwrap_or(0)
        .max(clock.now);
}

fn part(tid: u32) -> Option<&'static str> {
    let comm = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    let part = PARTS
        .iter()
        .find(|(name, _)| comm.starts_with(name.as_bytes()));
    part.map(|(_, part)| *part)
}

/// Bytes of memory of a process that are resident.
fn resident(tgid: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{tgid}/statm")).unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * os::page()
}
