//! The process: reads others and opens their files, on threads that nobody waits for, until its socket is closed.

use std::{
    collections::HashMap,
    io,
    os::fd::AsFd,
    panic,
    process::ExitCode,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use caps::Capability;
use flametop_unwind::{FileKey, OpenFile, ProbedMaps, Prober as Files, ProcessFolder, read_code};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{SigHandler, Signal, signal},
    time::{ClockId, clock_gettime},
};

use crate::{
    compiled,
    pool::{Pool, SLOW},
    priority::{self, Priority},
    protocol::{
        FromProber, Mapped, Missing, NoElf, Passed, Request, ToProber, Told, VERSION, Whom,
    },
    rights::{self, Call, Kept},
    wire::Packets,
};

/// Longest command line in the stream, bytes.
const MAX_CMDLINE: u64 = 4096;
/// Longest list of mappings that is looked through for libraries, and most of these.
const MAX_MAPS: u64 = 16 << 20;
const MAX_PROGRAMS: usize = 1024;
/// Lists of mappings are long, and several are read at once.
const MEMORY: u64 = 768 << 20;

/// Memory of processes, their mappings and roots; files and folders that only their owners may read; the kernel's links to what is
/// mapped.
const CAPABILITIES: [Capability; 3] = [
    Capability::CAP_SYS_PTRACE,
    Capability::CAP_DAC_READ_SEARCH,
    Capability::CAP_CHECKPOINT_RESTORE,
];

/// Runs the process: its standard input is the socket.
pub fn run() -> ExitCode {
    // The text of a panic would end on the terminal that flametop draws on.
    panic::set_hook(Box::new(|_| {}));
    rights::close_inherited();
    let socket = io::stdin().as_fd().try_clone_to_owned().ok();
    let Some(socket) = socket.and_then(Packets::of) else {
        eprintln!("flametop-symbolizer: started by flametop to read processes, not by hand");
        return ExitCode::from(2);
    };
    match serve(socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(socket: Packets) -> io::Result<()> {
    // They go to the whole group of the terminal.
    for of_terminal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTSTP] {
        // SAFETY: no function of this program is set, and there are no other threads.
        unsafe { signal(of_terminal, SigHandler::SigIgn)? };
    }
    let files = Arc::new(Files::default());
    rights::give_up(&Kept {
        capabilities: &CAPABILITIES,
        memory: MEMORY,
        real_time: priority::PROMPT as u64,
        calls: &[Call::Threads, Call::Open, Call::OpenBelow],
    })?;
    // Not allowed is not fatal: a process that lives for a moment may then be gone before it is read.
    let _ = priority::set(Priority::Prompt);
    socket.send(&FromProber::Ready(VERSION), None, true)?;
    let server = Arc::new_cyclic(|server: &Weak<Server>| {
        let server = Weak::clone(server);
        Server {
            socket,
            files,
            sent: Mutex::default(),
            // With its socket closed the process ends.
            pool: Pool::new(move || drop(server.upgrade().map(|server| server.send_answers()))),
        }
    });
    loop {
        server.send_answers()?;
        let timeout = match server.pool.waits() {
            true => PollTimeout::try_from(SLOW).unwrap_or(PollTimeout::MAX),
            false => PollTimeout::NONE,
        };
        let mut wanted = [PollFd::new(server.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut wanted, timeout) {
            Err(nix::errno::Errno::EINTR) | Ok(0) => continue,
            ready => ready?,
        };
        loop {
            match server.socket.receive() {
                Ok(Some((message, _))) => server.take(message)?,
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
    }
}

type Opened = Arc<OpenFile>;

struct Server {
    socket: Packets,
    files: Arc<Files>,
    /// Files that the other side has, which are not to be passed again.
    sent: Mutex<HashMap<FileKey, Opened>>,
    pool: Pool<(u64, Told<Opened>)>,
}

impl Server {
    fn take(&self, message: ToProber) -> io::Result<()> {
        match message {
            ToProber::LetGo(key) => {
                self.sent().remove(&key);
            }
            ToProber::Ask {
                number,
                user,
                request,
            } => {
                let files = Arc::clone(&self.files);
                let late = request.late();
                let again = request.late();
                let work = move || (number, answer(request, &files));
                if !self.pool.ask(user, (number, late), work) {
                    self.send(number, again)?;
                }
            }
        }
        Ok(())
    }

    fn sent(&self) -> MutexGuard<'_, HashMap<FileKey, Opened>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_answers(&self) -> io::Result<()> {
        let mut answers = self.pool.take().into_iter();
        answers.try_for_each(|(number, told)| self.send(number, told))
    }

    /// Sends an answer after the files that are in it.
    fn send(&self, number: u64, told: Told<Opened>) -> io::Result<()> {
        let mut sent = self.sent();
        let mut new = HashMap::new();
        let told = told.with(&mut |file: Opened| {
            let key = file.key();
            if !sent.contains_key(&key) {
                new.insert(key, file);
            }
            Some(key)
        });
        for (key, file) in new {
            let facts = FromProber::File(file.facts());
            let descriptor = file.file().ok().map(AsFd::as_fd);
            self.socket.send(&facts, descriptor, true)?;
            if file.is_open() {
                sent.insert(key, file);
            }
        }
        let (left, given_up) = self.pool.lost();
        let Some(mut told) = told else {
            return Ok(());
        };
        let file = told.take_passed();
        let answer = FromProber::Answer {
            number,
            told,
            left: left as u32,
            given_up,
        };
        self.socket
            .send(&answer, file.as_ref().map(AsFd::as_fd), true)
    }
}

fn answer(request: Request, files: &Files) -> Told<Opened> {
    match request {
        Request::CommandLine(whom) => {
            let process = open(whom);
            let read = process.and_then(|(p, _)| p.read("cmdline", MAX_CMDLINE).ok());
            Told::CommandLine(read)
        }
        Request::Maps(whom, runtime) => maps(whom, |process| files.maps(process, runtime)),
        Request::MapsAt(whom, address, runtime) => {
            maps(whom, |process| files.maps_at(process, address, runtime))
        }
        Request::Mappings(whom, wanted, runtime) => {
            let seen = open(whom).map(|(p, _)| files.mappings(&p, &wanted, runtime));
            Told::Mappings(seen)
        }
        Request::Reopen(closed) => Told::File(files.reopen(&closed).ok()),
        Request::Elf(whom, path) => {
            let process = open(whom).ok_or(NoElf::Absent);
            let found = process.and_then(|(process, _)| match files.elf_at(&process, &path) {
                Ok(Some(file)) => Ok(Passed { file: Some(file) }),
                Ok(None) => Err(NoElf::Elsewhere),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(NoElf::Absent),
                Err(_) => Err(NoElf::Other),
            });
            Told::Elf(found)
        }
        Request::Programs(whom) => {
            let process = open(whom).ok_or(Missing::Gone);
            let programs = process.and_then(|(process, _)| {
                let maps = process.read("maps", MAX_MAPS).map_err(|_| Missing::Gone)?;
                Ok(programs(&maps))
            });
            Told::Programs(programs)
        }
        Request::Code(whom, attached, lacks) => {
            let process = open(whom);
            let read = process.and_then(|(p, _)| read_code(&p, &attached, &lacks).ok());
            Told::Code(read)
        }
        Request::PerfMap(whom) => Told::PerfMap(match open(whom) {
            Some((process, start)) => compiled::perf_map(&process, start, files),
            None => Err(Missing::Gone),
        }),
    }
}

/// The paths of all executable mappings of files, each once.
fn programs(maps: &[u8]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for line in maps.split(|byte| *byte == b'\n') {
        // `start-end r-xp offset device inode       /path`
        let mut parts = line.splitn(6, |byte| *byte == b' ');
        let executable = parts
            .nth(1)
            .is_some_and(|rights| rights.get(2) == Some(&b'x'));
        let path = parts.nth(3).unwrap_or_default().trim_ascii_start();
        let new = |path: &[u8]| !found.iter().any(|known| known == path);
        if executable && path.starts_with(b"/") && new(path) && found.len() < MAX_PROGRAMS {
            found.push(path.to_vec());
        }
    }
    found
}

fn maps(whom: Whom, read: impl FnOnce(&ProcessFolder) -> io::Result<ProbedMaps>) -> Told<Opened> {
    let mapped = || {
        let (process, start) = open(whom)?;
        let began = clock_gettime(ClockId::CLOCK_MONOTONIC).ok()?;
        let began = began.tv_sec() as u64 * 1_000_000_000 + began.tv_nsec() as u64;
        let maps = read(&process).ok()?;
        Some(Mapped { start, began, maps })
    };
    Told::Maps(mapped().ok_or(Missing::Gone))
}

/// The folder of a process and when that began, if the number is its own still: what is read through that folder is of no other.
fn open(whom: Whom) -> Option<(ProcessFolder, u64)> {
    let process = ProcessFolder::open(whom.tgid).ok()?;
    let start = process.start().ok()?;
    let same = whom.start.is_none_or(|wanted| wanted.abs_diff(start) <= 1);
    same.then_some((process, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_files_that_are_mapped_for_execution_each_once() {
        let maps = b"55d0-55d1 r--p 00000000 fe:00 12   /usr/bin/a b\n\
            55d1-55d2 r-xp 00001000 fe:00 12                         /usr/bin/a b\n\
            55d3-55d4 rwxp 00000000 00:00 0\n\
            7f00-7f01 r-xp 00000000 fe:00 13   /lib/c.so (deleted)\n\
            7f01-7f02 r-xp 00002000 fe:00 12   /usr/bin/a b\n\
            7ffd-7ffe r-xp 00000000 00:00 0   [vdso]\n";
        assert_eq!(
            programs(maps),
            [&b"/usr/bin/a b"[..], &b"/lib/c.so (deleted)"[..]]
        );
        assert!(programs(b"x\n\n7f r-xp").is_empty());
    }
}
