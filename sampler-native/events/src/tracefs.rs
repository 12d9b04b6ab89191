//! The kernel's own list of its events: tracefs. Where it is mounted nowhere, it is mounted at no place, which leaves nothing behind.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, unlinkat},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen},
};

/// Where it is usually mounted.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Says how far the kernel is locked down.
const LOCKDOWN: &str = "/sys/kernel/security/lockdown";
/// The largest file that is read whole: the names of all functions take 4 MiB.
const LARGEST: u64 = 64 << 20;

/// The folder of the kernel's events.
#[derive(Debug)]
pub struct Tracefs {
    root: OwnedFd,
}

/// How the records of an event look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// The number that each record begins with.
    pub kind: u16,
    /// Fields, without those that every event has.
    pub fields: Vec<Field>,
}

impl EventFormat {
    /// By the kernel's file `format`; none: the text tells no number.
    pub fn parse(text: &str) -> Option<EventFormat> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID: "));
        Some(EventFormat {
            kind: id?.trim().parse().ok()?,
            fields: own_fields(text),
        })
    }
}

/// A field of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// As in C: `unsigned long`, `char[16]`.
    pub kind: String,
    /// Bytes from the start of the event's record.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// It has a sign.
    pub signed: bool,
}

impl Field {
    /// A weight is a number.
    pub fn is_number(&self) -> bool {
        [1, 2, 4, 8].contains(&self.size)
            && !self.kind.contains(['[', '*'])
            && !self.kind.starts_with("__data_loc")
    }
}

impl Tracefs {
    /// Opens it, where it is mounted or by a mount of our own that ends with this value.
    ///
    /// # Errors
    /// The kernel has none, or the caller may not.
    pub fn open() -> io::Result<Tracefs> {
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for place in USUAL {
            if let Ok(root) = rustix::fs::open(place, folder, Mode::empty())
                && openat(&root, "events", folder, Mode::empty()).is_ok()
            {
                return Ok(Tracefs { root });
            }
        }
        // Lockdown leaves nothing in there, and Linux 7.3 dies of a list of its own when such a mount ends.
        let lockdown = std::fs::read_to_string(LOCKDOWN).unwrap_or_default();
        if lockdown.contains("[confidentiality]") {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "kernel lockdown (confidentiality) forbids it",
            ));
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Tracefs { root })
    }

    /// A file, whole.
    ///
    /// # Errors
    /// It is not there, or the caller may not read it.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let file = openat(
            &self.root,
            path,
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let mut bytes = Vec::new();
        File::from(file).take(LARGEST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Writes a text into a file, after it was emptied. The kernel takes one word at a time from some files.
    ///
    /// # Errors
    /// The file is not there, the caller may not write it, or the kernel does not take the text.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = openat(&self.root, path, flags, Mode::empty())?;
        File::from(file).write_all(text.as_bytes())
    }

    /// Opens a file for reads that do not wait.
    ///
    /// # Errors
    /// It is not there, or the caller may not read it.
    pub fn open_ring(&self, path: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.root, path, flags, Mode::empty())?.into())
    }

    /// Makes a folder, which the kernel fills.
    ///
    /// # Errors
    /// It is there, or the caller may not make it.
    pub fn make(&self, path: &str) -> io::Result<()> {
        Ok(mkdirat(&self.root, path, Mode::RWXU)?)
    }

    /// Removes a folder that was made.
    ///
    /// # Errors
    /// It is not there, is in use, or the caller may not remove it.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        Ok(unlinkat(&self.root, path, AtFlags::REMOVEDIR)?)
    }

    /// The folder itself, which may be mounted at no place.
    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The folders in a folder, sorted.
    ///
    /// # Errors
    /// It is not there, or the caller may not read it.
    pub fn folders(&self, path: &str) -> io::Result<Vec<String>> {
        let folder = openat(
            &self.root,
            path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let mut names = Vec::new();
        for entry in Dir::new(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if entry.file_type().is_dir() && name != "." && name != ".." {
                names.push(name.into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// The fields of a tracepoint, without those that every one has.
    ///
    /// # Errors
    /// There is no such tracepoint, or the caller may not read it.
    pub fn fields(&self, category: &str, name: &str) -> io::Result<Vec<Field>> {
        let text = self.read(&format!("events/{category}/{name}/format"))?;
        Ok(own_fields(&text))
    }

    /// The number of a tracepoint, as perf events have it.
    ///
    /// # Errors
    /// There is no such tracepoint, or the caller may not read it.
    pub fn id(&self, category: &str, name: &str) -> io::Result<u64> {
        let text = self.read(&format!("events/{category}/{name}/id"))?;
        let number = text.trim().parse();
        number.map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the number of {category}:{name} is {text:?}"),
            )
        })
    }
}

/// The fields of an event, without those that every event has.
fn own_fields(format: &str) -> Vec<Field> {
    fields(format)
        .filter(|field| !field.name.starts_with("common_"))
        .collect()
}

/// The lines `field:unsigned long bytes; offset:8; size:8; signed:0;`, whose parts tabs separate.
fn fields(format: &str) -> impl Iterator<Item = Field> {
    format.lines().filter_map(|line| {
        let line = line.trim().strip_prefix("field:")?;
        let mut parts = line.split(';').map(str::trim);
        let declared = parts.next()?;
        let mut of = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
        let (offset, size) = (of("offset:")?, of("size:")?);
        let signed = of("signed:")? == 1;
        let (_, name) = declared.rsplit_once([' ', '*'])?;
        let mut kind = declared[..declared.len() - name.len()]
            .trim_end()
            .to_owned();
        let (name, array) = name.find('[').map_or((name, ""), |at| name.split_at(at));
        kind.push_str(array);
        Some(Field {
            name: name.to_owned(),
            kind,
            offset,
            size,
            signed,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_shapes_are_read() {
        let format = "name: x\nID: 316\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
             \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
             \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:const char * name;\toffset:32;\tsize:8;\tsigned:0;\n\
             \tfield:void *ptr;\toffset:40;\tsize:8;\tsigned:0;\n\
             \tfield:__data_loc char[] file;\toffset:48;\tsize:4;\tsigned:0;\n\
             \tfield:broken\n\nprint fmt: \"field:int x;\"\n";
        let all: Vec<Field> = fields(format).collect();
        let shown: Vec<String> = all
            .iter()
            .map(|f| {
                format!(
                    "{}|{}|{}|{}|{}|{}",
                    f.kind,
                    f.name,
                    f.offset,
                    f.size,
                    f.signed,
                    f.is_number()
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "unsigned short|common_type|0|2|false|true",
                "char[16]|prev_comm|8|16|false|false",
                "pid_t|prev_pid|24|4|true|true",
                "const char *|name|32|8|false|false",
                "void *|ptr|40|8|false|false",
                "__data_loc char[]|file|48|4|false|false",
            ]
        );
    }

    #[test]
    fn the_kernel_s_own_events_are_there_and_no_mount_stays() {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return;
        }
        let mounts = || std::fs::read_to_string("/proc/self/mounts").expect("mounts");
        let before = mounts();
        let tracefs = Tracefs::open().expect("tracefs, which is for root alone");
        assert!(
            tracefs
                .folders("events")
                .expect("events")
                .contains(&"sched".to_owned())
        );
        let fields = tracefs.fields("sched", "sched_switch").expect("fields");
        assert_eq!(fields[0].name, "prev_comm");
        assert!(tracefs.id("sched", "sched_switch").expect("a number") > 0);
        assert!(tracefs.fields("sched", "nothing").is_err());
        assert_eq!(mounts(), before);
    }
}
