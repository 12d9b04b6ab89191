//! Tells which filesystems may be asked for a file.
//!
//! A filesystem in user space answers when its owner pleases, a network filesystem when its server does, and a read that is not
//! answered cannot be given up. The kernel's lists of mounts tell them apart without asking any filesystem: an open file says which
//! mount it is of, also if it was opened for its path alone, and keeps that mount alive.

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::memfd::{MFdFlags, memfd_create},
};
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd},
        unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    },
    sync::{Arc, Mutex, PoisonError},
};

use crate::folder::{O_PATH, ProcessFolder};

const MOUNTS_LIMIT: u64 = 16 << 20;
/// Namespaces of mounts, and roots in them, whose lists are kept.
const LISTS_KEPT: usize = 16;
/// Most layers of an overlay; the kernel has 500.
const LAYERS_LIMIT: usize = 512;
/// Network block devices: their blocks come from a program.
const NBD_MAJOR: u32 = 43;
/// Filesystems that the kernel itself serves from memory or a block device.
const LOCAL: [&[u8]; 24] = [
    b"ext2",
    b"ext3",
    b"ext4",
    b"xfs",
    b"btrfs",
    b"f2fs",
    b"tmpfs",
    b"ramfs",
    b"rootfs",
    b"devtmpfs",
    b"squashfs",
    b"erofs",
    b"iso9660",
    b"udf",
    b"vfat",
    b"msdos",
    b"exfat",
    b"ntfs3",
    b"zfs",
    b"bcachefs",
    b"jfs",
    b"reiserfs",
    b"nilfs2",
    b"hugetlbfs",
];

/// Filesystems whose server is another machine, or the host of this one. A process that waits for the server can be killed.
const NETWORK: [&[u8]; 9] = [
    b"nfs",
    b"nfs4",
    b"cifs",
    b"smb3",
    b"9p",
    b"virtiofs",
    b"ceph",
    b"lustre",
    b"afs",
];

/// A device as the kernel numbers it: major, minor.
pub(crate) type Device = (u32, u32);

/// The filesystem of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// The kernel serves it itself: its device, and whether it is made of layers.
    Locally(Device, bool),
    /// A server in the network does.
    Remotely(Device),
    /// Some other process does, or an unknown one.
    Elsewhere,
}

/// The lists of mounts, each read when it is first asked for and when it has changed.
#[derive(Debug)]
pub(crate) struct Mounts {
    lists: Mutex<Vec<(Vec<u8>, Arc<List>)>>,
    /// The mount of `memfd_create` and of other shared memory, which is in no list.
    memory: Option<u64>,
}

#[derive(Debug)]
struct List {
    /// Waits for no change, and returns whether there was one since the last call.
    changes: Mutex<(File, bool)>,
    mounts: HashMap<u64, Mount>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    device: Device,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Local,
    Network,
    /// The paths of the layers, as seen when the overlay was mounted.
    Layers(Vec<Vec<u8>>),
    Other,
}

impl Mounts {
    pub(crate) fn new() -> Mounts {
        let memory = memfd_create(c"flametop", MFdFlags::MFD_CLOEXEC).ok();
        Mounts {
            lists: Mutex::new(Vec::new()),
            memory: memory.and_then(|memory| mount_of(&File::from(memory)).ok()),
        }
    }

    /// Where `file` lies, which `process` has mapped and which may be open for its path alone. The filesystem is not asked.
    pub(crate) fn find(&self, process: &ProcessFolder, file: &File) -> io::Result<Lies> {
        let id = mount_of(file)?;
        if Some(id) == self.memory {
            return Ok(Lies::Locally((0, 0), false));
        }
        let own = || ProcessFolder::open(std::process::id());
        let mut found = self.list(process)?.mounts.get(&id).cloned();
        if found.is_none() {
            found = self.list(&own()?)?.mounts.get(&id).cloned();
        }
        let Some(mount) = found else {
            return Ok(Lies::Elsewhere);
        };
        Ok(match mount.kind {
            Kind::Local => Lies::Locally(mount.device, false),
            Kind::Network => Lies::Remotely(mount.device),
            Kind::Other => Lies::Elsewhere,
            // A user who mounts in a user namespace of their own chooses the layers: only an overlay that flametop's own namespace
            // has too is trusted.
            Kind::Layers(_) => match self.layers_are_local(&own()?, mount.device)? {
                true => Lies::Locally(mount.device, true),
                false => Lies::Elsewhere,
            },
        })
    }

    fn layers_are_local(&self, own: &ProcessFolder, device: Device) -> io::Result<bool> {
        let list = self.list(own)?;
        let Some(layers) = list.mounts.values().find_map(|mount| match &mount.kind {
            Kind::Layers(layers) if mount.device == device => Some(layers),
            _ => None,
        }) else {
            return Ok(false);
        };
        let local = |layer: &Vec<u8>| {
            let path = OsStr::from_bytes(layer);
            let layer = layer.starts_with(b"/").then(|| {
                let options = OpenOptions::new()
                    .read(true)
                    .custom_flags(O_PATH)
                    .open(path);
                options.and_then(|layer| mount_of(&layer)).ok()
            });
            let mount = layer.flatten().and_then(|id| list.mounts.get(&id));
            mount.is_some_and(|mount| mount.kind == Kind::Local)
        };
        Ok(!layers.is_empty() && layers.iter().all(local))
    }

    /// The mounts that a process sees now: of its namespace those below its root, which chroot changes.
    fn list(&self, process: &ProcessFolder) -> io::Result<Arc<List>> {
        let namespace = [process.link("ns/mnt")?, process.link("root")?].join(&b' ');
        let lists = || self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lists()
            .iter()
            .find(|(of, _)| *of == namespace)
            .map(|(_, list)| Arc::clone(list));
        if let Some(list) = known.filter(|list| !list.has_changed()) {
            return Ok(list);
        }
        let list = Arc::new(List::read(process)?);
        let mut lists = lists();
        lists.retain(|(of, _)| *of != namespace);
        if lists.len() >= LISTS_KEPT {
            lists.remove(0);
        }
        lists.push((namespace, Arc::clone(&list)));
        Ok(list)
    }
}

impl List {
    fn read(process: &ProcessFolder) -> io::Result<List> {
        let mut file = process.file("mountinfo")?;
        // A change while the list is read shows at the next look.
        let mut text = Vec::new();
        (&mut file).take(MOUNTS_LIMIT).read_to_end(&mut text)?;
        let lines = text.split(|byte| *byte == b'\n');
        let list = List {
            mounts: lines.filter_map(parse).collect(),
            changes: Mutex::new((file, false)),
        };
        Ok(list)
    }

    /// Whether anything was mounted or unmounted there since the list was read.
    fn has_changed(&self) -> bool {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, changed) = &mut *changes;
        let mut wanted = [PollFd::new(file.as_fd(), PollFlags::POLLPRI)];
        let asked = poll(&mut wanted, PollTimeout::ZERO);
        let told = wanted[0].revents().unwrap_or(PollFlags::empty());
        *changed |= asked.is_err() || told.intersects(PollFlags::POLLPRI | PollFlags::POLLERR);
        *changed
    }
}

/// The number of an open file's mount.
fn mount_of(file: &File) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("mnt_id:"));
    line.and_then(|id| id.trim().parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Whether it is a line of a list of mounts.
pub(crate) fn is_mount(line: &[u8]) -> bool {
    parse(line).is_some()
}

/// The mount of one line of `/proc/PID/mountinfo`, by its number.
fn parse(line: &[u8]) -> Option<(u64, Mount)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let device = std::str::from_utf8(fields.nth(1)?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    // Optional fields end in a lone dash; the kernel escapes spaces in the paths before.
    fields.find(|field| *field == b"-")?;
    let kind = fields.next()?;
    let kind = match kind {
        b"overlay" => Kind::Layers(layers(fields.nth(1)?)?),
        // Images that a program serves piece by piece have no block device.
        b"erofs" if device.0 == 0 => Kind::Other,
        _ if device.0 == NBD_MAJOR => Kind::Other,
        kind if LOCAL.contains(&kind) => Kind::Local,
        kind if NETWORK.contains(&kind) => Kind::Network,
        _ => Kind::Other,
    };
    Some((id, Mount { device, kind }))
}

/// All layers that the options of an overlay name; none if they are too many.
fn layers(options: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut layers = Vec::new();
    // The kernel escapes commas in paths.
    for option in options.split(|byte| *byte == b',') {
        let Some(equals) = option.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (key, value) = (&option[..equals], octal(&option[equals + 1..]));
        match key {
            b"lowerdir" => layers.extend(colons(&value)),
            b"lowerdir+" | b"datadir+" | b"upperdir" => layers.push(value),
            _ => {}
        }
    }
    (layers.len() <= LAYERS_LIMIT).then_some(layers)
}

/// The parts between one or two colons; a colon behind a backslash belongs to its part.
fn colons(text: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        let at = parts.len() - 1;
        match byte {
            b'\\' => parts[at].extend(bytes.next()),
            b':' => parts.push(Vec::new()),
            byte => parts[at].push(byte),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The path itself: the kernel writes some bytes of it as a backslash and three octal digits.
fn octal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after
            .get(..3)
            .filter(|digits| *byte == b'\\' && digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match digits.map(|digits| {
            digits
                .iter()
                .fold(0u32, |n, digit| n * 8 + u32::from(digit - b'0'))
        }) {
            Some(code) => {
                out.push(code as u8);
                rest = &after[3..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn kind(line: &[u8]) -> Option<Kind> {
        parse(line).map(|(_, mount)| mount.kind)
    }

    #[test]
    fn parse_mountinfo_line_knows_who_serves_it() {
        assert_eq!(
            parse(
                b"40 35 0:51 / /mnt/with\\040space rw shared:1 master:2 - fuse.sshfs me@there: rw"
            ),
            Some((
                40,
                Mount {
                    device: (0, 51),
                    kind: Kind::Other
                }
            ))
        );
        for (line, expected) in [
            (&b"41 35 0:52 / /mnt rw - fuse fuse rw"[..], Kind::Other),
            (b"42 35 8:1 / /data rw - fuseblk /dev/sda1 rw", Kind::Other),
            (b"42 35 8:1 / /data rw - ext4 /dev/sda1 rw", Kind::Local),
            (b"42 35 43:1 / /data rw - ext4 /dev/nbd0p1 rw", Kind::Other),
            (b"42 35 0:60 / /data rw - nfs4 host:/x rw", Kind::Network),
            (b"42 35 0:60 / /data rw - erofs none rw", Kind::Other),
            (b"42 35 7:0 / /data rw - erofs /dev/loop0 rw", Kind::Local),
            (b"42 35 0:60 / /tmp rw - tmpfs tmpfs rw", Kind::Local),
        ] {
            assert_eq!(kind(line), Some(expected), "{}", line.escape_ascii());
        }
        assert_eq!(kind(b"garbage"), None);
        assert_eq!(kind(b""), None);
    }

    #[test]
    fn parse_overlay_names_all_of_its_layers() {
        let line = b"36 35 0:34 / / rw - overlay overlay rw,lowerdir=/a\\040b:/c\\134:d::/data,upperdir=/up,workdir=/w";
        let layers = ["/a b", "/c:d", "/data", "/up"].map(|layer| layer.as_bytes().to_vec());
        assert_eq!(kind(line), Some(Kind::Layers(layers.to_vec())));
        let line = b"36 35 0:34 / / ro - overlay overlay ro,lowerdir+=/a:b,lowerdir+=/c\\054d,redirect_dir=on";
        let layers = ["/a:b", "/c,d"].map(|layer| layer.as_bytes().to_vec());
        assert_eq!(kind(line), Some(Kind::Layers(layers.to_vec())));
    }

    #[test]
    fn find_own_program_and_memory_are_local_and_proc_is_not() {
        let mounts = Mounts::new();
        let own = ProcessFolder::open(std::process::id()).expect("own folder");
        let find = |path: &str| {
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(O_PATH)
                .open(path);
            mounts.find(&own, &file.expect("opened")).expect("found")
        };
        assert!(matches!(find("/proc/self/exe"), Lies::Locally(_, _)));
        assert_eq!(find("/proc/self/maps"), Lies::Elsewhere);
        let memory = memfd_create(c"test", MFdFlags::MFD_CLOEXEC).expect("memory");
        let found = mounts.find(&own, &File::from(memory)).expect("found");
        assert_eq!(found, Lies::Locally((0, 0), false));
    }

    #[test]
    fn find_of_a_process_in_another_root_and_of_others_behind_it_are_local() {
        // /usr is a root with all that its programs need, and nothing is mounted there.
        let mut child = Command::new("chroot")
            .args(["/usr", "/bin/sleep", "60"])
            .spawn()
            .expect("chroot");
        let process = ProcessFolder::open(child.id()).expect("its folder");
        let begin = std::time::Instant::now();
        while process.link("root").is_ok_and(|root| root == b"/") {
            assert!(begin.elapsed().as_secs() < 30, "needs root");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let mounts = Mounts::new();
        let program = process.place("exe").expect("its program");
        let found = mounts.find(&process, &program).expect("found");
        let own = ProcessFolder::open(std::process::id()).expect("own folder");
        let own_program = own.place("exe").expect("own program");
        let own_found = mounts.find(&own, &own_program).expect("found");
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert!(matches!(found, Lies::Locally(_, _)));
        assert!(matches!(own_found, Lies::Locally(_, _)));
    }

    #[test]
    fn find_mounted_since_the_list_was_read_is_found() {
        let folder = std::env::temp_dir().join(format!("flametop-mounts-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let mounts = Mounts::new();
        let own = ProcessFolder::open(std::process::id()).expect("own folder");
        let find = || {
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(O_PATH)
                .open(&folder);
            mounts.find(&own, &file.expect("opened")).expect("found")
        };
        find();
        let ran = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        let mounted = ran(Command::new("mount")
            .args(["-t", "proc", "proc"])
            .arg(&folder));
        let found = mounted.then(find);
        let ended = !mounted || ran(Command::new("umount").arg(&folder));
        fs::remove_dir(&folder).expect("removed");
        assert!(mounted && ended, "needs root");
        assert_eq!(found, Some(Lies::Elsewhere));
    }
}
