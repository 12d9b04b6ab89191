//! Function graphs: the calls that a function of the kernel makes, each with its time. The kernel's own function graph tracer records
//! them, in an instance of ours.
//!
//! An instance has rings and threads of its own, but the functions whose graphs are drawn and the depth are of the whole kernel: one
//! program at a time can have them. So the tracer starts only where nobody uses them, and puts them back. A process that survives this
//! one, however it ends, does the same ([`Guard`]); what even that left behind is found by the next start ([`sweep`]).

mod calls;
#[cfg(test)]
mod captured;
mod pages;

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read, Write},
    os::{fd::AsRawFd, unix::process::CommandExt},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use flametop_events::Tracefs;

use crate::{Settings, Target, cpus, namespace, sys};
use calls::Calls;
pub use calls::{Spent, Whole};
use pages::{Format, Traced, What};

/// Most functions whose graphs are drawn at once.
pub const MOST_FUNCTIONS: usize = 100;
/// Instances of ours are called so; number and start of the process follow.
const NAME: &str = "flametop-graph-";
/// Of each CPU's ring, KiB: records of a fifth of a second at a million a second and CPU.
const RING_KIB: u32 = 8192;
/// Records come to the reader this long after their time, at most, ns: those of all CPUs are put in order.
const SLACK: u64 = 2_000_000;
/// Pages that are read of a CPU in one turn: two rings.
const MOST_PAGES: usize = 4 * RING_KIB as usize / 8;
/// The kernel gives a part of a ring that is no larger than this.
const LARGEST_PAGE: usize = 64 << 10;
/// A function that only a kernel has which draws graphs for one instance alone.
const OF_AN_INSTANCE: &str = "allocate_fgraph_ops";
const ONLY_FOR_ALL: &str = "this kernel draws function graphs only for the whole machine, where they would take the tracer from anybody else; boot \
    Linux 6.11 or newer, or take durations of one function (kretprobe:FUNCTION,weight=dur)";
/// Files of the whole kernel, and what is in them where nobody uses them.
const FUNCTIONS: &str = "set_graph_function";
const DEPTH: &str = "max_graph_depth";
/// An instance that something still reads is removed after a moment; so often that is tried.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The tracer while it runs.
pub struct Graph {
    tracefs: Tracefs,
    name: String,
    guard: Option<Guard>,
    format: Format,
    rings: Vec<File>,
    calls: Calls,
    /// Records that are too young to be put in order.
    young: Vec<Traced>,
    page: Vec<u8>,
    records: u64,
    nanos: u64,
}

impl Graph {
    /// Starts it. `functions`: names of those whose graphs are drawn; `depth`: calls within each other that are told apart.
    ///
    /// # Errors
    /// Why this kernel or these privileges do not allow it, or who else uses the tracer.
    pub fn start(functions: &[String], depth: Option<u32>, settings: &Settings) -> Result<Graph> {
        let tracefs = open()?;
        sweep_in(&tracefs);
        refuse_if_used(&tracefs)?;
        let calls = Calls::of(addresses(functions)?, depth);
        let name = format!(
            "{NAME}{}-{}",
            std::process::id(),
            started(std::process::id())
        );
        let guard = Guard::start(&tracefs, &name)
            .context("no process can be started that removes the tracer at the end")?;
        let format = Format::of(&tracefs)?;
        tracefs.make(&format!("instances/{name}")).context(
            "no instance of the kernel's tracer can be made; run it as root (sudo), with tracefs writable",
        )?;
        // From here on dropping it takes all back.
        let mut graph = Graph {
            tracefs,
            name,
            guard: Some(guard),
            format,
            rings: Vec::new(),
            calls,
            young: Vec::new(),
            page: vec![0; LARGEST_PAGE],
            records: 0,
            nanos: 0,
        };
        graph.set_up(functions, depth, settings)?;
        Ok(graph)
    }

    fn set_up(
        &mut self,
        functions: &[String],
        depth: Option<u32>,
        settings: &Settings,
    ) -> Result<()> {
        let write = |file: &str, text: &str| {
            let path = format!("instances/{}/{file}", self.name);
            self.tracefs
                .write(&path, text)
                .with_context(|| format!("the kernel's tracer does not take {text} as its {file}"))
        };
        write("trace_clock", "mono")?;
        write("buffer_size_kb", &RING_KIB.to_string())?;
        // Threads that these start are traced, or are not, as they.
        write("options/function-fork", "1")?;
        let targets = match &settings.target {
            Target::Processes(ids) => Some(threads_of(ids)),
            Target::Threads(ids) => Some(ids.clone()),
            Target::All | Target::Cgroup(_) => None,
        };
        match targets {
            Some(targets) => write("set_ftrace_pid", &words(&targets))?,
            // Reading the records would make more.
            None => {
                let own = threads_of(&with_children(&settings.own));
                write("set_ftrace_notrace_pid", &words(&own))?;
            }
        }
        self.tracefs
            .write(FUNCTIONS, &(functions.join(" ") + "\n"))
            .with_context(|| format!("the kernel cannot trace {}", functions.join(" ")))?;
        self.tracefs.write(DEPTH, &depth.unwrap_or(0).to_string())?;
        let tracer = format!("instances/{}/current_tracer", self.name);
        self.tracefs
            .write(&tracer, "function_graph")
            .map_err(|error| match error.raw_os_error() {
                Some(libc::EINVAL) => anyhow::anyhow!(ONLY_FOR_ALL),
                _ => anyhow::Error::from(error)
                    .context("the kernel does not start its function graph tracer"),
            })?;
        // While somebody reads the rings no tracer can be chosen.
        for cpu in cpus::online()? {
            let ring = format!("instances/{}/per_cpu/cpu{cpu}/trace_pipe_raw", self.name);
            let ring = self
                .tracefs
                .open_ring(&ring)
                .with_context(|| format!("the records of CPU {cpu} cannot be read"))?;
            self.rings.push(ring);
        }
        Ok(())
    }

    /// The process that removes the tracer if this one cannot.
    pub fn guard(&self) -> Option<u32> {
        self.guard.as_ref().map(Guard::pid)
    }

    /// Reads all records that are old enough.
    ///
    /// # Errors
    /// The kernel gave something that is no record.
    pub fn read(&mut self) -> Result<()> {
        let began = sys::monotonic_nanos();
        let mut damaged = None;
        for ring in &mut self.rings {
            for _ in 0..MOST_PAGES {
                let read = match ring.read(&mut self.page) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => read,
                };
                let young = &mut self.young;
                let told = pages::read(&self.page[..read], &self.format, &mut |call| {
                    young.push(call)
                });
                damaged = damaged.or(told.err());
            }
        }
        self.young.sort_by_key(|call| call.time);
        let old = self
            .young
            .partition_point(|call| call.time + SLACK <= began);
        for call in self.young.drain(..old) {
            self.records += u64::from(!matches!(call.what, What::Missed(_)));
            self.calls.take(&call);
        }
        self.nanos += sys::monotonic_nanos().saturating_sub(began);
        damaged.map_or(Ok(()), Err)
    }

    /// Time on each path since the last call.
    pub fn take_spent(&mut self) -> Vec<Spent> {
        self.calls.take_spent()
    }

    /// Calls of the functions whose graphs are drawn that have returned since the last call.
    pub fn take_whole(&mut self) -> Vec<Whole> {
        self.calls.take_whole()
    }

    /// Calls whose begin or return was not told.
    pub fn lost(&self) -> u64 {
        self.calls.lost()
    }

    /// Records until now: two for each call.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// ns that reading took.
    pub fn nanos(&self) -> u64 {
        self.nanos
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.rings.clear();
        if remove(&self.tracefs, &self.name).is_ok()
            && let Some(guard) = self.guard.take()
        {
            guard.dismiss();
        }
    }
}

/// A process of its own that waits for the end of this one, and removes the tracer then.
struct Guard(Child);

impl Guard {
    fn start(tracefs: &Tracefs, name: &str) -> io::Result<Guard> {
        // Its only input is the pipe, which ends with this process. The names are relative, since tracefs may be mounted nowhere.
        const SCRIPT: &str = "trap '' HUP INT QUIT TERM
            read -r word
            [ \"$word\" != done ] || exit 0
            echo nop >\"instances/$0/current_tracer\"
            n=0
            until rmdir \"instances/$0\" || [ ! -d \"instances/$0\" ] || [ $n -ge 50 ]; do
              n=$((n + 1))
              sleep 0.1
            done
            echo >set_graph_function
            echo 0 >max_graph_depth";
        let root = format!("/proc/self/fd/{}", tracefs.root().as_raw_fd());
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, name])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // The terminal's signals are for others.
            .process_group(0)
            .spawn()?;
        Ok(Guard(child))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// There is nothing left to remove.
    fn dismiss(mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"done\n");
        }
        let _ = self.0.wait();
    }
}

/// Whether this machine can draw function graphs; whether nobody else does is seen at the start alone.
///
/// # Errors
/// Why not, and what mends that.
pub fn check() -> Result<()> {
    open()?;
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let mut names = symbols.lines().map(|line| line.split_whitespace().nth(2));
    ensure!(names.any(|name| name == Some(OF_AN_INSTANCE)), ONLY_FOR_ALL);
    Ok(())
}

fn open() -> Result<Tracefs> {
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    ensure!(
        !lockdown.contains("[confidentiality]"),
        "kernel lockdown (confidentiality) forbids the kernel's tracer; boot with lockdown=integrity"
    );
    ensure!(
        namespace::is_initial(),
        "in a container the kernel's tracer names threads by other numbers; run it with the host's pid namespace (--pid=host)"
    );
    let tracefs = Tracefs::open().context(
        "the kernel's tracer cannot be reached; run it as root (sudo), or mount it (sudo mount -t tracefs tracefs /sys/kernel/tracing)",
    )?;
    let tracers = tracefs.read("available_tracers").unwrap_or_default();
    ensure!(
        tracers
            .split_whitespace()
            .any(|name| name == "function_graph"),
        "this kernel has no function graph tracer; boot a kernel built with CONFIG_FUNCTION_GRAPH_TRACER=y, as distributions ship"
    );
    Ok(tracefs)
}

/// Whether this text of a filter file names no function.
fn is_unset(functions: &str) -> bool {
    functions.lines().all(|line| line.starts_with('#'))
}

fn refuse_if_used(tracefs: &Tracefs) -> Result<()> {
    if let Some(other) = instances(tracefs).first() {
        let number = other[NAME.len()..].split('-').next().unwrap_or_default();
        bail!(
            "process {number} draws function graphs already, and the kernel draws those of one program at a time; end that one, or switch \
             its source off"
        );
    }
    let used = |file: &str, by: &str| {
        format!(
            "another program uses the kernel's function graph tracer ({file} has {by}); end it, or empty that file below /sys/kernel/tracing"
        )
    };
    let functions = tracefs.read(FUNCTIONS).unwrap_or_default();
    ensure!(
        is_unset(&functions),
        used(FUNCTIONS, &functions.lines().collect::<Vec<_>>().join(" "))
    );
    let depth = tracefs.read(DEPTH).unwrap_or_default();
    ensure!(matches!(depth.trim(), "" | "0"), used(DEPTH, depth.trim()));
    let tracer = tracefs.read("current_tracer").unwrap_or_default();
    ensure!(
        tracer.trim() != "function_graph",
        used("current_tracer", tracer.trim())
    );
    Ok(())
}

/// Instances of flametop.
fn instances(tracefs: &Tracefs) -> Vec<String> {
    let mut all = tracefs.folders("instances").unwrap_or_default();
    all.retain(|name| name.starts_with(NAME));
    all
}

/// Removes what a flametop left behind that was killed together with its guard. Where the kernel's tracer cannot be had there is nothing.
pub fn sweep() {
    if fs::exists("/proc/self/fd").unwrap_or(false)
        && let Ok(tracefs) = open()
    {
        sweep_in(&tracefs);
    }
}

fn sweep_in(tracefs: &Tracefs) {
    for name in instances(tracefs) {
        let mut parts = name[NAME.len()..].split('-').map(str::parse::<u64>);
        let (Some(Ok(pid)), Some(Ok(start))) = (parts.next(), parts.next()) else {
            continue;
        };
        if u32::try_from(pid).is_ok_and(|pid| started(pid) != start) {
            let _ = remove(tracefs, &name);
        }
    }
}

/// Stops the tracer of this instance and removes it, and then what it had set for the whole kernel.
fn remove(tracefs: &Tracefs, name: &str) -> io::Result<()> {
    let instance = format!("instances/{name}");
    let _ = tracefs.write(&format!("{instance}/current_tracer"), "nop");
    let mut tries = 0;
    loop {
        match tracefs.remove(&instance) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && tries < TRIES => {
                tries += 1;
                thread::sleep(BETWEEN_TRIES);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => break,
        }
    }
    tracefs.write(FUNCTIONS, "\n")?;
    tracefs.write(DEPTH, "0")
}

/// When a process began, in ticks since the machine did; 0: it is not there.
fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let start = behind_name.split_whitespace().nth(19);
    start.and_then(|start| start.parse().ok()).unwrap_or(0)
}

/// Processes, and those that they have started.
fn with_children(processes: &[u32]) -> Vec<u32> {
    let mut all = processes.to_vec();
    let mut at = 0;
    while let Some(pid) = all.get(at).copied() {
        for tid in threads_of(&[pid]) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{tid}/children"));
            let children = children.unwrap_or_default();
            let new = children
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok());
            let new: Vec<u32> = new.filter(|pid| !all.contains(pid)).collect();
            all.extend(new);
        }
        at += 1;
    }
    all
}

/// The threads of processes; a process that is gone has none.
fn threads_of(processes: &[u32]) -> Vec<u32> {
    let threads = |pid: &u32| -> Vec<u32> {
        let all = fs::read_dir(format!("/proc/{pid}/task"));
        let names = all.into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect()
    };
    let all: HashSet<u32> = processes.iter().flat_map(threads).collect();
    all.into_iter().collect()
}

fn words(ids: &[u32]) -> String {
    let words: Vec<String> = ids.iter().map(u32::to_string).collect();
    words.join(" ")
}

/// Where functions of the kernel begin.
fn addresses(functions: &[String]) -> Result<Vec<u64>> {
    let wanted: HashSet<&str> = functions.iter().map(String::as_str).collect();
    let symbols =
        fs::read_to_string("/proc/kallsyms").context("the kernel's symbols cannot be read")?;
    let found: Vec<u64> = symbols
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_whitespace();
            let address = u64::from_str_radix(parts.next()?, 16).ok()?;
            let name = parts.nth(1)?;
            (address != 0 && wanted.contains(name)).then_some(address)
        })
        .collect();
    ensure!(
        !found.is_empty(),
        "the kernel does not tell where its functions are; run it as root (sudo), with kernel.kptr_restrict=1 or 0"
    );
    Ok(found)
}
