//! Identities of tasks and process images: never a bare number, which another may have later.

use flametop_kernel::record::Head;

/// Identity of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskKey {
    tid: u32,
    start: u64,
}

impl TaskKey {
    /// The task of this head.
    pub fn of(head: &Head) -> TaskKey {
        TaskKey {
            tid: head.tid,
            start: head.start_boottime,
        }
    }

    /// Number of the task.
    pub fn tid(&self) -> u32 {
        self.tid
    }
}

/// Identity of a process image: a process from one exec to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessKey {
    tgid: u32,
    start: u64,
    exec: u32,
}

impl ProcessKey {
    /// The process image of this head.
    pub fn of(head: &Head) -> ProcessKey {
        ProcessKey {
            tgid: head.tgid,
            start: head.process_start_boottime,
            exec: head.self_exec_id,
        }
    }

    /// Number of the process.
    pub fn tgid(&self) -> u32 {
        self.tgid
    }

    /// The image before the last exec.
    pub fn before(&self) -> ProcessKey {
        ProcessKey {
            exec: self.exec.wrapping_sub(1),
            ..*self
        }
    }

    /// When the process started, `CLOCK_BOOTTIME`, ns.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The exec generation: it grows with each exec, and wraps.
    pub fn exec(&self) -> u32 {
        self.exec
    }

    /// Returns true if both are images of one process.
    pub fn is_same_process(&self, other: &ProcessKey) -> bool {
        (self.tgid, self.start) == (other.tgid, other.start)
    }

    #[cfg(test)]
    pub fn new(tgid: u32, start: u64, exec: u32) -> ProcessKey {
        ProcessKey { tgid, start, exec }
    }
}

/// Returns true if exec generation `a` comes after `b`.
pub fn is_newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}
