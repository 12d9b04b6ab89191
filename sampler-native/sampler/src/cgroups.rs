//! Control groups: the hierarchy that is used, and the paths of its groups.
//!
//! The kernel side gives the id of each task's group. The hierarchy is that of version 2, if it has groups; else, on
//! hosts whose groups are still of version 1, that of the memory controller, or of the pids controller: container engines
//! and systemd put each container and service into these.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs::{self, File},
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use flametop_kernel::Hierarchy;
use flametop_stream::MAX_CGROUP;

use crate::os;

/// With more paths than these, those of groups without a process are forgotten.
const MAX_PATHS: usize = 1024;
/// `/proc/PID/cgroup` appends this to the path of a group that was removed.
const REMOVED: &[u8] = b" (deleted)";

/// One hierarchy and the paths of its groups, as far as they were asked for.
#[derive(Default)]
pub struct Cgroups {
    hierarchy: Hierarchy,
    /// Where the hierarchy is mounted, if it is.
    mount: Option<(PathBuf, File)>,
    /// The paths by id; from the root that this process sees, at most [`MAX_CGROUP`] bytes.
    paths: HashMap<u64, Arc<[u8]>>,
    paths_due: usize,
}

impl Cgroups {
    /// The hierarchy that this host uses.
    pub fn of_host() -> Cgroups {
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let (hierarchy, point) = choose(&mounts, has_groups);
        let mount = point.and_then(|point| File::open(&point).ok().map(|file| (point, file)));
        Cgroups {
            hierarchy,
            mount,
            paths: HashMap::new(),
            paths_due: MAX_PATHS,
        }
    }

    /// The hierarchy whose ids [`Cgroups::path`] takes.
    pub fn hierarchy(&self) -> Hierarchy {
        self.hierarchy
    }

    /// The path of a group that process `tgid` was seen in; `None` if it cannot be known (any more).
    pub fn path(&mut self, id: u64, tgid: u32) -> Option<Arc<[u8]>> {
        if let Some(path) = self.paths.get(&id) {
            return Some(Arc::clone(path));
        }
        if id == 0 {
            return None;
        }
        let mut path = self.path_of_id(id).or_else(|| self.path_of_process(tgid))?;
        path.truncate(MAX_CGROUP);
        let path: Arc<[u8]> = path.into();
        self.paths.insert(id, Arc::clone(&path));
        Some(path)
    }

    fn path_of_id(&self, id: u64) -> Option<Vec<u8>> {
        let (point, mount) = self.mount.as_ref()?;
        let group = os::open_cgroup(mount, id).ok()?;
        let path = fs::read_link(format!("/proc/self/fd/{}", group.as_raw_fd())).ok()?;
        // A group beyond the root of the mount has another beginning.
        let below = path.strip_prefix(point).ok()?;
        Some([b"/", below.as_os_str().as_bytes()].concat())
    }

    /// The path of a group that cannot be opened. The process may have been moved since it was seen in the group.
    fn path_of_process(&self, tgid: u32) -> Option<Vec<u8>> {
        let lines = fs::read(format!("/proc/{tgid}/cgroup")).ok()?;
        group_in(&lines, self.hierarchy).map(<[u8]>::to_vec)
    }

    /// Forgets the paths of groups that no process is in, if there are many. `used`: ids of groups with a process.
    pub fn forget(&mut self, used: impl Iterator<Item = u64>) {
        if self.paths.len() > self.paths_due {
            let used: HashSet<u64> = used.collect();
            self.paths.retain(|id, _| used.contains(id));
            self.paths_due = MAX_PATHS.max(2 * self.paths.len());
        }
    }
}

fn has_groups(mount: &Path) -> bool {
    let mut entries = fs::read_dir(mount).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

/// The first hierarchy that has groups below its root, and where it is mounted; version 2 if none has.
fn choose(mountinfo: &[u8], has_groups: impl Fn(&Path) -> bool) -> (Hierarchy, Option<PathBuf>) {
    let all = [Hierarchy::Default, Hierarchy::Memory, Hierarchy::Pids];
    let mounted = all.map(|hierarchy| {
        let mut lines = mountinfo.split(|byte| *byte == b'\n');
        (
            hierarchy,
            lines.find_map(|line| mount_point(line, hierarchy)),
        )
    });
    let mut used = mounted.iter();
    let used = used.find(|(_, point)| point.as_deref().is_some_and(&has_groups));
    used.unwrap_or(&mounted[0]).clone()
}

/// The mount point of the hierarchy, if this line of mountinfo is of it.
fn mount_point(line: &[u8], hierarchy: Hierarchy) -> Option<PathBuf> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = words.iter().position(|word| *word == b"-")?;
    let (kind, options) = (*words.get(dash + 1)?, *words.get(dash + 3)?);
    let its = match controller(hierarchy) {
        None => kind == b"cgroup2",
        Some(name) => kind == b"cgroup" && options.split(|byte| *byte == b',').any(|o| o == name),
    };
    let point = OsStr::from_bytes(words.get(4)?);
    its.then(|| PathBuf::from(point))
}

/// The group of a hierarchy in the lines of `/proc/PID/cgroup`: `id:controllers:path`.
fn group_in(lines: &[u8], hierarchy: Hierarchy) -> Option<&[u8]> {
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let mut parts = line.splitn(3, |byte| *byte == b':');
        let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let its = match controller(hierarchy) {
            None => id == b"0" && controllers.is_empty(),
            Some(name) => controllers.split(|byte| *byte == b',').any(|c| c == name),
        };
        its.then(|| path.strip_suffix(REMOVED).unwrap_or(path))
    })
}

fn controller(hierarchy: Hierarchy) -> Option<&'static [u8]> {
    match hierarchy {
        Hierarchy::Default => None,
        Hierarchy::Memory => Some(b"memory"),
        Hierarchy::Pids => Some(b"pids"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &[u8] = b"\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";
    const OLD: &[u8] = b"\
33 31 0:30 / /cgroups/all rw - cgroup cgroup rw,cpuset,cpu,blkio,memory,pids
34 31 0:31 / /cgroups/systemd rw - cgroup cgroup rw,name=systemd
";
    const LINES: &[u8] = b"\
9:name=systemd:/user.slice
8:pids:/docker/a:b
4:memory,hugetlb:/docker/a:b (deleted)
0::/
";

    fn chosen(mounts: &[u8], used: &[&str]) -> (Hierarchy, Option<String>) {
        let (hierarchy, point) = choose(mounts, |point| used.iter().any(|u| point == Path::new(u)));
        (hierarchy, point.map(|p| p.display().to_string()))
    }

    #[test]
    fn choose_takes_the_first_hierarchy_that_has_groups() {
        let (v2, memory, pids) = (
            "/sys/fs/cgroup/unified",
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/pids",
        );
        for (used, hierarchy, point) in [
            (&[v2, memory, pids][..], Hierarchy::Default, v2),
            (&[pids, memory], Hierarchy::Memory, memory),
            (&[pids], Hierarchy::Pids, pids),
            (&["/sys/fs/cgroup/systemd"], Hierarchy::Default, v2),
        ] {
            assert_eq!(chosen(HYBRID, used), (hierarchy, Some(point.to_owned())));
        }
        let all = (Hierarchy::Memory, Some("/cgroups/all".to_owned()));
        assert_eq!(chosen(OLD, &["/cgroups/all"]), all);
        for none in [&b""[..], b"\n - \nx", &OLD[..20]] {
            assert_eq!(chosen(none, &[]), (Hierarchy::Default, None));
        }
    }

    #[test]
    fn group_in_lines_of_a_process_is_that_of_the_hierarchy() {
        let group = |hierarchy| group_in(LINES, hierarchy);
        assert_eq!(group(Hierarchy::Default), Some(&b"/"[..]));
        assert_eq!(group(Hierarchy::Memory), Some(&b"/docker/a:b"[..]));
        assert_eq!(group(Hierarchy::Pids), Some(&b"/docker/a:b"[..]));
        assert_eq!(group_in(b"1:name=pids:/x\n8:pids\n", Hierarchy::Pids), None);
    }

    #[test]
    fn forget_keeps_the_paths_of_groups_that_have_processes() {
        let mut groups = Cgroups::default();
        for id in 0..2 * MAX_PATHS as u64 {
            groups.paths.insert(id, Arc::from(*b"/x"));
        }
        groups.forget([3, 4, 5_000_000].into_iter());
        assert_eq!(groups.paths.len(), 2);
        assert_eq!(groups.path(3, 0).as_deref(), Some(&b"/x"[..]));
    }
}
