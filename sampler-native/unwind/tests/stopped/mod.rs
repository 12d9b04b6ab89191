//! A stopped thread: what a sampler would have copied of it, by ptrace.
#![allow(dead_code)] // the tests and the example use parts of it
use flametop_unwind::{
    Frame, Input, Modules, Outcome, Piece, ProcessMaps, Unwinder,
    registers::{REGISTERS, SP},
};
use nix::{
    sys::{
        ptrace,
        signal::Signal,
        wait::{WaitPidFlag, waitpid},
    },
    unistd::Pid,
};
use std::{
    fs,
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    process::{Child, Command},
    thread,
    time::Duration,
};

/// Bytes of the first piece and of each further one, as a pass copies them.
pub const STACK: usize = 16 << 10;
pub const PIECE: usize = 8 << 10;

/// A program that sleeps in libc, below its main; it ends when this is dropped.
pub struct Sleeper(Child);

impl Sleeper {
    pub fn start() -> Sleeper {
        let child = Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("sleep runs");
        while fs::read_to_string(format!("/proc/{}/wchan", child.id()))
            .is_ok_and(|place| !place.contains("nanosleep"))
        {
            thread::sleep(Duration::from_millis(10));
        }
        Sleeper(child)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // It may be gone, and then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Registers of one stopped thread; it goes on when this is dropped.
pub struct Stopped {
    tid: Pid,
    memory: File,
    mappings: Vec<Range<u64>>,
    pub regs: [u64; REGISTERS],
}

impl Stopped {
    pub fn stop(tgid: u32, tid: u32) -> io::Result<Stopped> {
        let tid = Pid::from_raw(tid as i32);
        ptrace::seize(tid, ptrace::Options::empty())?;
        ptrace::interrupt(tid)?;
        waitpid(tid, Some(WaitPidFlag::__WALL))?;
        let regs = registers(tid)?;
        let maps = fs::read(format!("/proc/{tgid}/maps"))?;
        let mappings = String::from_utf8_lossy(&maps)
            .lines()
            .filter_map(|line| {
                let (start, end) = line.split(' ').next()?.split_once('-')?;
                Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
            })
            .collect();
        Ok(Stopped {
            tid,
            memory: File::open(format!("/proc/{tgid}/mem"))?,
            mappings,
            regs,
        })
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> io::Result<()> {
        self.step_with(None)
    }

    /// Delivers a signal and executes one instruction: the first of its handler, if it has one.
    pub fn step_with(&mut self, signal: Option<Signal>) -> io::Result<()> {
        ptrace::step(self.tid, signal)?;
        waitpid(self.tid, Some(WaitPidFlag::__WALL))?;
        self.regs = registers(self.tid)?;
        Ok(())
    }

    /// The mapping that holds `address`.
    pub fn mapping(&self, address: u64) -> Range<u64> {
        self.mappings
            .iter()
            .find(|range| range.contains(&address))
            .cloned()
            .unwrap_or(0..0)
    }

    /// At most `limit` bytes from `address` to the end of its mapping.
    pub fn copy(&self, address: u64, limit: usize) -> Vec<u8> {
        let left = self.mapping(address).end.saturating_sub(address);
        let mut bytes = vec![0; limit.min(left as usize)];
        if self.memory.read_exact_at(&mut bytes, address).is_err() {
            bytes.clear();
        }
        bytes
    }

    /// Hands on what one pass copies of it.
    pub fn copied<T>(&self, walk: impl FnOnce(&Input) -> T) -> T {
        let sp = self.regs[SP];
        let bytes = self.copy(sp, STACK);
        let pieces = [Piece {
            address: sp,
            bytes: &bytes,
        }];
        walk(&Input {
            regs: &self.regs,
            mapping: self.mapping(sp),
            pieces: &pieces,
        })
    }

    /// Walks with what one pass copies, then with the pieces asked for, at most `more`.
    pub fn walk(
        &self,
        unwinder: &mut Unwinder,
        maps: &ProcessMaps,
        modules: &mut Modules,
        more: usize,
    ) -> (Vec<Frame>, Outcome, usize) {
        let sp = self.regs[SP];
        let mut copies = vec![(sp, self.copy(sp, STACK))];
        let mut frames = Vec::new();
        loop {
            let pieces: Vec<Piece> = copies
                .iter()
                .map(|(address, bytes)| Piece {
                    address: *address,
                    bytes,
                })
                .collect();
            let input = Input {
                regs: &self.regs,
                mapping: self.mapping(sp),
                pieces: &pieces,
            };
            let outcome = unwinder.walk(maps, modules, &input, &mut frames);
            let asked = copies.len() - 1;
            match outcome.want {
                Some(address) if asked < more => copies.push((address, self.copy(address, PIECE))),
                _ => return (frames, outcome, asked),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(tid: Pid) -> io::Result<[u64; REGISTERS]> {
    let r = ptrace::getregs(tid)?;
    Ok([
        r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
        r.r13, r.r14, r.r15, r.rip,
    ])
}

#[cfg(target_arch = "aarch64")]
fn registers(tid: Pid) -> io::Result<[u64; REGISTERS]> {
    let r = ptrace::getregs(tid)?;
    let mut registers = [0; REGISTERS];
    registers[..31].copy_from_slice(&r.regs);
    (registers[SP], registers[REGISTERS - 1]) = (r.sp, r.pc);
    Ok(registers)
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // The thread may be gone, and then there is nothing to let go.
        let _ = ptrace::detach(self.tid, None);
    }
}

/// Threads of a process, in order.
pub fn threads(tgid: u32) -> Vec<u32> {
    let mut tids: Vec<u32> = fs::read_dir(format!("/proc/{tgid}/task"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    tids.sort_unstable();
    tids
}
