//! Where a process names the code that it makes at run time: its perf map, `/tmp/perf-PID.map`.
//!
//! The file belongs to the process, so nothing of it is trusted: it is looked up inside of the process's own root, on file systems that
//! the kernel serves, and must be a regular file of the process's user or of root that is no older than the process.

use std::{
    fs::Metadata,
    os::unix::fs::MetadataExt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use flametop_unwind::{OpenFile, Prober as Files, ProcessFolder};
use nix::{
    time::{ClockId, clock_gettime},
    unistd::{SysconfVar, sysconf},
};

use crate::{
    protocol::{MapFile, Missing, PerfMap},
    status::Status,
};

/// Clocks may have been set a little between the start of a process and its first map.
const CLOCK_ERROR: Duration = Duration::from_secs(2);

/// The perf map of a process that began at this tick.
pub(crate) fn perf_map(
    process: &ProcessFolder,
    start: u64,
    files: &Files,
) -> Result<PerfMap<Arc<OpenFile>>, Missing> {
    let status = Status::read(process).map_err(|_| Missing::Gone)?;
    let path = format!("tmp/{}", status.perf_map());
    let own = |facts: &Metadata| is_own(facts, &status, start);
    let file = match files.open_at(process, path.as_bytes(), own) {
        Ok(Some(file)) => MapFile::Open(file),
        Ok(None) => MapFile::Elsewhere,
        Err(_) => MapFile::Absent,
    };
    Ok(PerfMap {
        start,
        user: status.uids[1],
        file,
    })
}

/// Returns true if a file may be the map of a process with this status that began at this tick.
fn is_own(file: &Metadata, status: &Status, start: u64) -> bool {
    let owner = file.uid();
    // One that an earlier process of this number left is older.
    let later = |changed: SystemTime| changed + CLOCK_ERROR >= began(start);
    file.is_file()
        && (owner == 0 || status.uids.contains(&owner))
        && file.modified().is_ok_and(later)
}

/// When a process began, by the clock of files.
fn began(start: u64) -> SystemTime {
    let hz = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    let ticks = Duration::from_nanos(start.saturating_mul(1_000_000_000 / hz.max(1) as u64));
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from);
    SystemTime::now() - now.saturating_sub(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs::{self, File},
        os::unix::fs::{chown, symlink},
        path::PathBuf,
        process::{Child, Command, Stdio},
        thread,
    };

    /// A process whose map no other test writes.
    struct Subject(Child, PathBuf);

    impl Subject {
        fn start() -> Subject {
            let child = Command::new("sleep").arg("1000").spawn().expect("sleep");
            let path = PathBuf::from(format!("/tmp/perf-{}.map", child.id()));
            let _ = fs::remove_file(&path);
            Subject(child, path)
        }

        fn folder(&self) -> ProcessFolder {
            ProcessFolder::open(self.0.id()).expect("it lives")
        }

        fn look(&self) -> MapFile<Arc<OpenFile>> {
            let folder = self.folder();
            let start = folder.start().expect("it lives");
            let map = perf_map(&folder, start, &Files::default()).expect("it lives");
            assert_eq!(map.start, start);
            map.file
        }

        fn is_absent(&self) -> bool {
            matches!(self.look(), MapFile::Absent)
        }
    }

    impl Drop for Subject {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
            let _ = fs::remove_file(&self.1);
        }
    }

    #[test]
    fn perf_map_of_a_process_is_opened_and_of_one_without_is_absent() {
        let subject = Subject::start();
        assert!(subject.is_absent());
        fs::write(&subject.1, "10 10 named\n").expect("written");
        let MapFile::Open(file) = subject.look() else {
            panic!("no map");
        };
        let text = std::io::read_to_string(file.file().expect("open")).expect("read");
        assert_eq!(text, "10 10 named\n");
    }

    #[test]
    fn perf_map_that_is_no_regular_file_or_of_long_ago_is_absent() {
        let subject = Subject::start();
        let aside = subject.1.with_extension("aside");
        fs::write(&aside, "10 10 linked\n").expect("written");
        symlink(&aside, &subject.1).expect("linked");
        assert!(subject.is_absent(), "a link");
        fs::remove_file(&subject.1).expect("removed");
        fs::remove_file(&aside).expect("removed");

        let fifo = Command::new("mkfifo").arg(&subject.1).status();
        assert!(fifo.expect("mkfifo").success());
        assert!(subject.is_absent(), "a FIFO");
        fs::remove_file(&subject.1).expect("removed");

        fs::create_dir(&subject.1).expect("a folder");
        assert!(subject.is_absent(), "a folder");
        fs::remove_dir(&subject.1).expect("removed");

        fs::write(&subject.1, "10 10 stale\n").expect("written");
        let file = File::options().write(true).open(&subject.1).expect("open");
        file.set_modified(SystemTime::now() - Duration::from_secs(3600))
            .expect("touched");
        assert!(subject.is_absent(), "a file of long ago");
    }

    #[test]
    fn perf_map_of_somebody_else_is_absent() {
        let subject = Subject::start();
        fs::write(&subject.1, "10 10 planted\n").expect("written");
        chown(&subject.1, Some(12345), None).expect("run as root");
        assert!(subject.is_absent());
    }

    #[test]
    fn status_of_a_process_whose_name_is_no_text_is_read() {
        // A shell that begins with an ignored signal cannot trap the signal.
        let mut child = Command::new("env")
            .args(["--default-signal=QUIT", "sh", "-c"])
            .arg(r"trap : QUIT; printf '\377' >/proc/self/comm; read x")
            .stdin(Stdio::piped())
            .spawn()
            .expect("sh");
        let comm = format!("/proc/{}/comm", child.id());
        while fs::read(&comm).expect("its name") != b"\xff\n" {
            thread::sleep(Duration::from_millis(5));
        }
        let folder = ProcessFolder::open(child.id()).expect("it lives");
        let status = Status::read(&folder);
        child.kill().expect("killed");
        child.wait().expect("ended");
        let status = status.expect("read");
        assert_eq!(status.own_pid, child.id());
        assert_eq!(status.perf_map(), format!("perf-{}.map", child.id()));
    }
}
