//! Passes over all tasks: the object `task_stacks`.

use std::{
    cell::Cell,
    ffi::CStr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr,
};

use anyhow::{Context, Result};
use libbpf_rs::{
    MapCore, MapFlags,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    Chain, PassCounts, Settings, Target, load,
    record::{self, Record},
    skeletons::{TaskStacksSkel, TaskStacksSkelBuilder, layout},
    sys::{self, Walk},
    target,
};

/// Twice the kernel's own buffer, so that a read never splits a record.
const BUFFER_BYTES: usize = 64 * 1024;
/// Tasks of one entry of the program's table.
const PLACES: u32 = 4;
/// Most entries of that table when there are few tasks: 4 MiB.
const MOST_ENTRIES: u32 = 1 << 15;
/// After so many passes a request whose task was not met is no longer looked for.
const REQUEST_PASSES: u32 = 16;

pub struct Passes {
    /// One per target: the kernel's filter takes one id.
    links: Vec<OwnedFd>,
    skel: TaskStacksSkel<'static>,
    buffer: Vec<u64>,
    /// How many more passes look for requests.
    requests: Cell<u32>,
    /// Processes were excluded since the last pass.
    recheck: Cell<bool>,
}

/// Two words that lie in one page.
#[repr(align(16))]
struct Trial([u64; 2]);

impl Passes {
    pub fn open(settings: &Settings) -> Result<Passes> {
        let open =
            |reads_kernel| load::patiently(|| Passes::open_for(settings, None, reads_kernel));
        // Under lockdown's confidentiality no program may read the kernel's memory by its address.
        let mut passes = open(true).or_else(|_| open(false))?;
        passes.find_memory()?;
        Ok(passes)
    }

    /// Opens the object for a kernel whose types are those of the file `btf`; without one for the running kernel. `reads_kernel`: see
    /// `memory.h`.
    fn open_for(settings: &Settings, btf: Option<&CStr>, reads_kernel: bool) -> Result<Passes> {
        let options = libbpf_sys::bpf_object_open_opts {
            sz: size_of::<libbpf_sys::bpf_object_open_opts>() as libbpf_sys::size_t,
            btf_custom_path: btf.map_or(ptr::null(), CStr::as_ptr),
            ..Default::default()
        };
        let mut open = TaskStacksSkelBuilder::default().open_opts(options, load::place())?;
        let rodata = target::aim!(open, "task_stacks", settings);
        let entries = entries(sys::most_tids(), sys::tasks());
        rodata.index_mask = entries - 1;
        rodata.reads_kernel = u32::from(reads_kernel);
        open.maps.tasks.set_max_entries(entries)?;
        let skel = open.load()?;
        target::set(&skel.maps.targets, &skel.maps.own, settings)?;
        let links = link(&skel, &settings.target)?;
        Ok(Passes {
            links,
            skel,
            buffer: vec![0; BUFFER_BYTES / size_of::<u64>()],
            requests: Cell::new(0),
            recheck: Cell::new(false),
        })
    }

    pub fn pass(
        &mut self,
        marks: bool,
        on_record: &mut dyn FnMut(Record<'_>),
    ) -> Result<PassCounts> {
        let before = self.counts();
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            let pass = bss.pass.wrapping_add(1);
            sys::write_shared(&mut bss.pass, pass);
            sys::write_shared(&mut bss.write_marks, u32::from(marks));
            sys::write_shared(&mut bss.wanted, u32::from(self.requests.get() > 0));
            sys::write_shared(&mut bss.recheck, u32::from(self.recheck.replace(false)));
            self.requests.set(self.requests.get().saturating_sub(1));
        }
        for link in &self.links {
            let mut walk =
                sys::start_walk(link.as_fd()).context("failed to start a walk over the tasks")?;
            loop {
                let bytes = sys::read_words(&mut walk, &mut self.buffer)
                    .context("failed to read the tasks")?;
                if bytes == 0 {
                    break;
                }
                let mut rest = sys::as_bytes(&self.buffer, bytes);
                while !rest.is_empty() {
                    let (record, size) =
                        record::parse(rest).context("the kernel wrote a damaged record")?;
                    on_record(record);
                    rest = &rest[size..];
                }
            }
        }
        let after = self.counts();
        Ok(PassCounts {
            visited: after.visited - before.visited,
            written: after.written - before.written,
            unchanged: after.unchanged - before.unchanged,
            on_cpu: after.on_cpu - before.on_cpu,
            idle_kthreads: after.idle_kthreads - before.idle_kthreads,
            failed_mm_busy: after.failed_mm_busy - before.failed_mm_busy,
            failed_torn: after.failed_torn - before.failed_torn,
            failed_faulted: after.failed_faulted - before.failed_faulted,
            failed_exited: after.failed_exited - before.failed_exited,
        })
    }

    /// Copies user stacks of running tasks too, since there is no CPU clock.
    pub fn take_running_stacks(&mut self) {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            sys::write_shared(&mut bss.running_stacks, 1);
        }
    }

    /// Tells whether passes copy user memory without page faults, so that no pass ever waits for one.
    pub fn takes_no_faults(&self) -> bool {
        let bss = self.skel.maps.bss_data.as_deref();
        bss.is_some_and(|bss| sys::read_shared(&bss.all_memory) != 0)
    }

    /// Has the program look for the kernel's mapping of all memory: by the right start it finds two words that only this process
    /// has. If it does not find them, memory is copied through page faults.
    fn find_memory(&mut self) -> Result<()> {
        let words = Box::new(Trial([sys::random()?, sys::random()?]));
        self.set_trial(&raw const *words as u64, words.0);
        let own = Walk::Process(std::process::id());
        // Before 6.1 all tasks are walked.
        let walked = self.walk(own).or_else(|_| self.walk(Walk::All));
        self.set_trial(0, [0; 2]);
        walked
    }

    fn set_trial(&mut self, address: u64, words: [u64; 2]) {
        if let Some(bss) = self.skel.maps.bss_data.as_deref_mut() {
            sys::write_shared(&mut bss.trial_words, words);
            sys::write_shared(&mut bss.trial, address);
        }
    }

    /// A walk of the iterator that is not a pass.
    fn walk(&mut self, walk: Walk) -> Result<()> {
        let link = sys::link_iterator(self.skel.progs.task_stacks.as_fd(), walk)?;
        let mut walk = sys::start_walk(link.as_fd())?;
        while sys::read_words(&mut walk, &mut self.buffer)? > 0 {}
        Ok(())
    }

    pub fn want(&self, tid: u32, address: u64) -> Result<()> {
        self.requests.set(REQUEST_PASSES);
        self.skel
            .maps
            .want
            .update(&tid.to_ne_bytes(), &address.to_ne_bytes(), MapFlags::ANY)
            .with_context(|| format!("failed to ask for a piece of the stack of thread {tid}"))
    }

    pub fn follow(&self, chain: &Chain) -> Result<()> {
        let (key, how) = chain.bytes();
        self.skel
            .maps
            .chains
            .update(&key, &how, MapFlags::ANY)
            .with_context(|| format!("failed to ask for the chain of thread {}", chain.tid))
    }

    /// The map of the chains that are copied.
    pub fn chains(&self) -> BorrowedFd<'_> {
        self.skel.maps.chains.as_fd()
    }

    pub fn exclude(&self, tgid: u32) -> Result<()> {
        self.recheck.set(true);
        target::insert(&self.skel.maps.own, tgid)
    }

    pub fn readmit(&self, tgid: u32) -> Result<()> {
        target::remove(&self.skel.maps.own, tgid)
    }

    pub fn bytes_copied(&self) -> u64 {
        self.counts().bytes
    }

    pub fn object(&self) -> &libbpf_rs::Object {
        self.skel.object()
    }

    fn counts(&self) -> layout::counts {
        self.skel
            .maps
            .bss_data
            .as_deref()
            .map(|bss| sys::read_shared(&bss.counts))
            .unwrap_or_default()
    }
}

/// Entries of the program's table: a power of two, with places for all possible tids, but for no more than eight times
/// the present tasks.
fn entries(most_tids: u32, tasks: u32) -> u32 {
    let enough = tasks.saturating_mul(8 / PLACES).max(MOST_ENTRIES);
    (most_tids / PLACES).clamp(1, enough).next_power_of_two()
}

/// A link per target where the kernel filters (6.1 and later), else one over all tasks; the program checks anyway.
fn link(skel: &TaskStacksSkel<'_>, target: &Target) -> Result<Vec<OwnedFd>> {
    let program = skel.progs.task_stacks.as_fd();
    let walks: Vec<Walk> = match target {
        Target::All | Target::Cgroup(_) => vec![Walk::All],
        Target::Processes(ids) => ids.iter().copied().map(Walk::Process).collect(),
        Target::Threads(ids) => ids.iter().copied().map(Walk::Thread).collect(),
    };
    match walks
        .into_iter()
        .map(|walk| sys::link_iterator(program, walk))
        .collect()
    {
        Ok(links) => Ok(links),
        Err(e) if *target != Target::All && e.raw_os_error() == Some(libc::EINVAL) => {
            Ok(vec![sys::link_iterator(program, Walk::All)?])
        }
        Err(e) => Err(e).context("failed to link the task iterator"),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::fd::{AsRawFd, FromRawFd},
        process,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use super::*;
    use crate::abi;

    /// The types of this kernel with another name for one field, as if it were built without.
    fn btf_without(field: &str) -> std::path::PathBuf {
        let mut btf = std::fs::read("/sys/kernel/btf/vmlinux").unwrap();
        let name = format!("\0{field}\0").into_bytes();
        let places: Vec<usize> = (0..btf.len() - name.len())
            .filter(|at| btf[*at..].starts_with(&name))
            .collect();
        assert!(!places.is_empty(), "this kernel has {field}");
        for at in places {
            btf[at + 1] = b'_';
        }
        let path = std::env::temp_dir().join(format!("flametop-btf-{}-{field}", process::id()));
        std::fs::write(&path, btf).unwrap();
        path
    }

    #[test]
    fn pass_kernel_without_a_field_samples_without_what_it_says() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        load::silence();
        let settings = Settings {
            target: Target::Processes(vec![process::id()]),
            cpu_hz: 0,
            ..Settings::default()
        };
        let waits = |passes: &mut Passes| {
            let (mut tasks, mut waits) = (0, 0);
            let mut see = |record: Record<'_>| {
                tasks += 1;
                waits += record.head.wait_ns;
            };
            passes.pass(true, &mut see).unwrap();
            assert!(tasks > 0);
            waits
        };
        assert!(waits(&mut Passes::open(&settings).unwrap()) > 0);
        for field in [
            "run_delay",
            "last_queued",
            "sched_delayed",
            "mmap_lock",
            "vm_flags",
            "vm_userfaultfd_ctx",
            "cgroups",
        ] {
            let path = btf_without(field);
            let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            let opened = Passes::open_for(&settings, Some(&name), true);
            std::fs::remove_file(&path).unwrap();
            let waits = waits(&mut opened.unwrap_or_else(|e| panic!("{field}: {e:#}")));
            assert_eq!(waits == 0, field == "run_delay", "{field}: {waits} ns");
        }
    }

    /// A thread of this process that sleeps with its stack pointer in a mapping of this file: `flags` as for mmap.
    fn stand_in(file: impl AsFd, flags: i32) -> (u32, u64) {
        const BYTES: usize = 2 * 4096;
        let (tell, told) = std::sync::mpsc::channel();
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let file = file.as_fd().as_raw_fd();
        // SAFETY: a new mapping, used by nobody else.
        let memory = unsafe { libc::mmap(ptr::null_mut(), BYTES, protection, flags, file, 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        let sp = memory as u64 + 4096;
        // SAFETY: within the new mapping.
        unsafe { ptr::write_volatile(sp as *mut u64, sp) };
        thread::spawn(move || {
            // SAFETY: no pointers are passed.
            tell.send(unsafe { libc::gettid() } as u32).unwrap();
            // SAFETY: never left, and uses no stack.
            unsafe {
                std::arch::asm!("mov rsp, {}", "2: mov eax, 34", "syscall", "jmp 2b", in(reg) sp, options(noreturn))
            }
        });
        (told.recv().unwrap(), sp)
    }

    #[test]
    fn pass_kernel_whose_memory_may_not_be_read_copies_only_what_no_process_serves() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        load::silence();
        let own_file = std::fs::File::open("/proc/self/exe").unwrap();
        // SAFETY: the name ends in a NUL; the descriptor is ours alone.
        let memfd = unsafe {
            OwnedFd::from_raw_fd(libc::memfd_create(c"stack".as_ptr(), libc::MFD_CLOEXEC))
        };
        let memfd = std::fs::File::from(memfd);
        memfd.set_len(2 * 4096).unwrap();
        // SAFETY: a struct of numbers, which the kernel fills.
        let mut system: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open.
        let done = unsafe { libc::fstatfs(own_file.as_raw_fd(), &raw mut system) };
        assert_eq!(done, 0);
        let in_memory = system.f_type == libc::TMPFS_MAGIC;
        let of_file = stand_in(&own_file, libc::MAP_PRIVATE);
        let shared = stand_in(&memfd, libc::MAP_SHARED);
        let settings = Settings {
            target: Target::Threads(vec![of_file.0, shared.0]),
            ..Settings::default()
        };
        for reads_kernel in [true, false] {
            let mut passes = Passes::open_for(&settings, None, reads_kernel).unwrap();
            passes.find_memory().unwrap();
            assert_eq!(passes.takes_no_faults(), reads_kernel);
            for ((tid, sp), copied) in [(of_file, reads_kernel || in_memory), (shared, true)] {
                let mut found = None;
                // Until then it is on its way there, or mmap_lock is held.
                while found.is_none() {
                    let mut see = |record: Record<'_>| {
                        let stack = record.stack.filter(|s| s.user_address == sp);
                        let status = record.head.status & (abi::FT_ABSENT | abi::FT_FAULTED);
                        let busy = record.head.status & abi::FT_MM_BUSY != 0;
                        if let Some(stack) = stack.filter(|_| record.head.tid == tid && !busy) {
                            found = Some((status, stack.user.first_chunk().copied()));
                        }
                    };
                    passes.want(tid, sp).unwrap();
                    passes.pass(false, &mut see).unwrap();
                }
                let absent = (abi::FT_ABSENT | abi::FT_FAULTED, None);
                let there = (0, Some(sp.to_ne_bytes()));
                assert_eq!(found.unwrap(), if copied { there } else { absent });
            }
        }
    }

    #[test]
    fn pass_without_cpu_clock_running_tasks_have_the_stack_of_their_last_kernel_entry() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        load::silence();
        let target = Target::Processes(vec![process::id()]);
        let mut passes = Passes::open(&Settings {
            target,
            cpu_hz: 0,
            ..Settings::default()
        })
        .unwrap();
        static DONE: AtomicBool = AtomicBool::new(false);
        let busy = thread::spawn(|| {
            while !DONE.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let running = |passes: &mut Passes| {
            let mut found = None;
            while found.is_none() {
                let counts = passes
                    .pass(false, &mut |record| {
                        // the thread that makes the pass runs too, but in a system call
                        if u32::from(record.head.state) == abi::FT_STATE_RUN {
                            found = Some((
                                record.head.status,
                                record.stack.map_or(0, |s| s.user.len()),
                            ));
                        }
                    })
                    .unwrap();
                assert!(found.is_none() || counts.on_cpu > 0);
            }
            found.unwrap()
        };
        assert_eq!(running(&mut passes), (0, 0));
        passes.take_running_stacks();
        // a look may fall into a moment when mmap_lock is held
        let whole = |(status, bytes): (u32, usize)| {
            status & abi::FT_LAST_ENTRY != 0 && status & abi::FT_HAS_STACK != 0 && bytes > 0
        };
        assert!((0..100).any(|_| whole(running(&mut passes))));
        DONE.store(true, Ordering::Relaxed);
        busy.join().unwrap();
    }
}
