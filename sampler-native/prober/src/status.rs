//! The kernel's account of a process, in `/proc/PID/status`.

use std::io::{self, ErrorKind};

use flametop_unwind::ProcessFolder;
use serde::{Deserialize, Serialize};

/// Most bytes of `/proc/PID/status`.
const STATUS: u64 = 64 << 10;

/// The kernel's account of a process, in `/proc/PID/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The process's number in its own pid namespace.
    pub own_pid: u32,
    /// Users: real, effective, saved and of files.
    pub uids: [u32; 4],
}

impl Status {
    pub(crate) fn read(process: &ProcessFolder) -> io::Result<Status> {
        let text = process.read("status", STATUS)?;
        // The name in it is any bytes.
        let text = String::from_utf8_lossy(&text);
        Status::parse(&text).ok_or_else(|| ErrorKind::InvalidData.into())
    }

    pub(crate) fn parse(text: &str) -> Option<Status> {
        let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let four = |key: &str| {
            let mut ids = [0; 4];
            let mut words = line(key)?.split_ascii_whitespace();
            for id in &mut ids {
                *id = words.next()?.parse().ok()?;
            }
            Some(ids)
        };
        Some(Status {
            own_pid: flametop_unwind::number_in_own_namespace(text.as_bytes())?,
            uids: four("Uid:")?,
        })
    }

    /// The name of the process's perf map in its `/tmp`.
    pub fn perf_map(&self) -> String {
        format!("perf-{}.map", self.own_pid)
    }
}
