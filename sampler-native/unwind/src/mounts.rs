//! Which filesystems may be asked for a file.
//!
//! A filesystem in user space answers when its owner pleases, and a read of it that is not answered cannot be
//! given up: one user could stop the sampling of everybody. The kernel's list of mounts tells them apart
//! without asking any filesystem.

use nix::sys::{
    memfd::{MFdFlags, memfd_create},
    stat::{major, minor},
};
use std::{fs::File, io::Read, os::unix::fs::MetadataExt};

const MOUNTS_LIMIT: u64 = 16 << 20;

/// A device as the kernel numbers it: major, minor.
pub(crate) type Device = (u32, u32);

/// The mounts that a process sees, read when first asked for.
#[derive(Debug)]
pub(crate) struct Mounts {
    tgid: u32,
    seen: Option<Vec<(Device, bool)>>,
    memory: Option<Device>,
}

impl Mounts {
    pub(crate) fn new(tgid: u32) -> Mounts {
        Mounts {
            tgid,
            seen: None,
            memory: memory(),
        }
    }

    /// Whether the kernel itself answers for the files of `device`: always for a block device and for shared
    /// memory, and for others if they are mounted where the process or we can see it, as no user-space filesystem.
    pub(crate) fn answers(&mut self, device: Device) -> bool {
        if device.0 != 0 || Some(device) == self.memory {
            return true;
        }
        let tgid = self.tgid;
        let seen = self.seen.get_or_insert_with(|| {
            let mut mounts = Vec::new();
            for path in [
                format!("/proc/{tgid}/mountinfo"),
                "/proc/self/mountinfo".to_string(),
            ] {
                let mut text = Vec::new();
                // What cannot be read names no mounts, so that nothing of it is trusted.
                let _ = File::open(path)
                    .and_then(|file| file.take(MOUNTS_LIMIT).read_to_end(&mut text));
                mounts.extend(text.split(|byte| *byte == b'\n').filter_map(parse));
            }
            mounts
        });
        let mut mounts = seen
            .iter()
            .filter(|(mounted, _)| *mounted == device)
            .peekable();
        mounts.peek().is_some() && mounts.all(|(_, kernel)| *kernel)
    }
}

/// The device of `memfd_create` and of other shared memory, which is mounted nowhere.
fn memory() -> Option<Device> {
    let file = memfd_create(c"flametop", MFdFlags::MFD_CLOEXEC).ok()?;
    let device = File::from(file).metadata().ok()?.dev();
    Some((
        u32::try_from(major(device)).ok()?,
        u32::try_from(minor(device)).ok()?,
    ))
}

/// Device of one line of `/proc/PID/mountinfo`, and whether the kernel answers for it.
fn parse(line: &[u8]) -> Option<(Device, bool)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = std::str::from_utf8(fields.nth(2)?).ok()?;
    let (major, minor) = device.split_once(':')?;
    // Optional fields end in a lone dash; the kernel escapes spaces in the paths before.
    fields.find(|field| *field == b"-")?;
    let kind = fields.next()?;
    Some((
        (major.parse().ok()?, minor.parse().ok()?),
        !kind.starts_with(b"fuse"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_mountinfo_line_knows_user_space_filesystems() {
        let overlay =
            b"36 35 0:34 / / rw,relatime shared:1 master:2 - overlay overlay rw,lowerdir=/a";
        assert_eq!(parse(overlay), Some(((0, 34), true)));
        assert_eq!(
            parse(b"40 35 0:51 / /mnt/with\\040space rw - fuse.sshfs me@there: rw"),
            Some(((0, 51), false))
        );
        assert_eq!(
            parse(b"41 35 0:52 / /mnt rw - fuse fuse rw"),
            Some(((0, 52), false))
        );
        assert_eq!(
            parse(b"42 35 8:1 / /data rw - fuseblk /dev/sda1 rw"),
            Some(((8, 1), false))
        );
        assert_eq!(parse(b"garbage"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn answers_unknown_device_is_not_asked() {
        let mut mounts = Mounts::new(std::process::id());
        assert!(!mounts.answers((0, 0xf_ffff)));
        assert!(mounts.answers((8, 1)));
        let (proc, _) = parse(
            std::fs::read("/proc/self/mountinfo")
                .expect("mounts")
                .split(|byte| *byte == b'\n')
                .find(|line| line.windows(8).any(|part| part == b" - proc "))
                .expect("proc is mounted"),
        )
        .expect("a mount");
        assert!(mounts.answers(proc));
    }
}
