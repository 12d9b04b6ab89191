//! Where the debug information of a file is that was taken out of it: by the file's build id, or
//! by its debug link, in our root and in that of a process that maps it.
//!
//! Both tell only where to look. What is found is believed if it has the same build id, or the
//! checksum that the link names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::read::Object;
use object::read::elf::ElfFile64;

use crate::sys;

/// An ELF file that is mapped.
pub type Elf<'a> = ElfFile64<'a, LittleEndian>;

const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// What a file says of its debug file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Empty: none.
    pub build_id: Vec<u8>,
    /// Name of the debug file and its checksum.
    pub debug_link: Option<(Vec<u8>, u32)>,
}

impl Link {
    /// Of a mapped file.
    pub fn of(elf: &Elf<'_>) -> Link {
        let debug_link = elf.gnu_debuglink().ok().flatten();
        Link {
            build_id: elf.build_id().ok().flatten().unwrap_or_default().to_vec(),
            debug_link: debug_link
                // It is a name, not a path: what looks like one is not followed.
                .filter(|(name, _)| !matches!(*name, b"" | b"." | b"..") && !name.contains(&b'/'))
                .map(|(name, crc)| (name.to_vec(), crc)),
        }
    }

    /// Where a debug file would be, seen from a root, for a file of this path.
    pub fn places(&self, path: &[u8]) -> Vec<PathBuf> {
        let mut places = Vec::from_iter(build_id_path(&self.build_id));
        let path = Path::new(OsStr::from_bytes(
            path.strip_suffix(b" (deleted)").unwrap_or(path),
        ));
        if let Some((name, _)) = &self.debug_link
            && let Some(folder) = path.parent().filter(|_| path.is_absolute())
        {
            let name = OsStr::from_bytes(name);
            places.push(folder.join(name));
            places.push(folder.join(".debug").join(name));
            let below = folder.strip_prefix("/").unwrap_or(folder);
            places.push(Path::new(DEBUG_FOLDER).join(below).join(name));
        }
        places
    }

    /// Whether `file` has the build id of the file itself.
    pub fn has_build_id_of(&self, file: &File) -> bool {
        let Ok(bytes) = sys::map(file) else {
            return false;
        };
        Elf::parse(&*bytes).is_ok_and(|elf| has_build_id(&elf, &self.build_id))
    }

    /// Whether `file` is the debug file.
    fn fits(&self, file: &File) -> bool {
        let Ok(bytes) = sys::map(file) else {
            return false;
        };
        let Ok(elf) = Elf::parse(&*bytes) else {
            return false;
        };
        match elf.build_id() {
            Ok(Some(id)) if !self.build_id.is_empty() => id == self.build_id,
            _ => self
                .debug_link
                .as_ref()
                .is_some_and(|(_, crc)| checksum(file) == Some(*crc)),
        }
    }
}

/// Whether this is a file of this build id, which is one.
pub fn has_build_id(elf: &Elf<'_>, build_id: &[u8]) -> bool {
    !build_id.is_empty() && elf.build_id().is_ok_and(|id| id == Some(build_id))
}

/// Whether this file has the symbols of all its functions, plain or packed.
pub fn has_symbols(elf: &Elf<'_>) -> bool {
    [".symtab", ".gnu_debugdata"]
        .iter()
        .any(|name| elf.section_by_name(name).is_some())
}

/// Where the debug file of this build id is.
pub fn build_id_path(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id
        .split_first()
        .filter(|(_, rest)| !rest.is_empty())?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!(
        "{DEBUG_FOLDER}/.build-id/{first:02x}/{rest}.debug"
    )))
}

/// Where a file is that debug files share, of which a link ends in `/.dwz/…`.
pub fn shared_path(link: &[u8]) -> Option<PathBuf> {
    let folder = b"/.dwz/";
    let at = link
        .windows(folder.len())
        .rposition(|part| part == folder)?;
    let name = OsStr::from_bytes(&link[at + 1..]);
    Some(Path::new(DEBUG_FOLDER).join(name))
}

/// A root directory that files are looked for in.
#[derive(Debug)]
pub struct Root {
    folder: File,
    /// Not ours: what is mounted there may be anything, and may never answer.
    foreign: bool,
}

impl Root {
    /// Ours, and that of `process` if it is another.
    pub fn of(process: u32) -> Vec<Root> {
        let mut roots = Vec::new();
        let places = [
            (true, "/".to_owned(), false),
            (process != 0, format!("/proc/{process}/root"), true),
        ];
        for (wanted, path, foreign) in places {
            if wanted && let Ok(folder) = sys::directory(&path) {
                roots.push(Root { folder, foreign });
            }
        }
        roots.dedup_by_key(|root| {
            root.folder
                .metadata()
                .map_or((0, 0), |folder| (folder.dev(), folder.ino()))
        });
        roots
    }

    /// The regular file `path` in it.
    pub fn open(&self, path: &Path) -> Option<File> {
        sys::open_below(&self.folder, path, self.foreign).ok()
    }
}

/// The debug file of `file`, and the root that it was found in.
pub fn find(link: &Link, file: &File, path: &[u8], process: u32) -> Option<(File, Root)> {
    let same = |other: &File| match (file.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    };
    let places = link.places(path);
    if places.is_empty() {
        return None;
    }
    Root::of(process).into_iter().find_map(|root| {
        places
            .iter()
            .filter_map(|place| root.open(place))
            .find(|found| !same(found) && link.fits(found))
            .map(|found| (found, root))
    })
}

/// CRC-32 of the whole file; read, not mapped, since all of it would stay in memory.
fn checksum(mut file: &File) -> Option<u32> {
    let mut crc = crc32fast::Hasher::new();
    let mut part = vec![0; 64 << 10];
    loop {
        match file.read(&mut part).ok()? {
            0 => return Some(crc.finalize()),
            length => crc.update(&part[..length]),
        }
    }
}
