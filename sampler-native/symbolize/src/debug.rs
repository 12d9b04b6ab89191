//! Where the debug information of a file is that was taken out of it: by the file's build id, or
//! by its debug link, in our root and in that of a process that maps it.
//!
//! Both tell only where to look. What is found is believed if it has the same build id, or the
//! checksum that the link names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

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

/// Asks for the ELF file at a path in the root of a process, 0: of flametop. This process may open no files of others. An error of the
/// kind `TimedOut` says that the file may be there, and did not come in time.
pub type Look<'a> = &'a dyn Fn(u32, &Path) -> io::Result<File>;

/// In whose roots files are looked for: flametop's own, then that of a process.
pub fn roots(process: u32) -> impl Iterator<Item = u32> {
    [0].into_iter().chain((process != 0).then_some(process))
}

/// The debug file of `file`, and in whose root it is.
///
/// # Errors
/// There may be one that did not come in time.
pub fn find(
    link: &Link,
    file: &File,
    path: &[u8],
    process: u32,
    look: Look<'_>,
) -> io::Result<Option<(File, u32)>> {
    let same = |other: &File| match (file.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    };
    let places = link.places(path);
    let mut late = None;
    for root in roots(process) {
        for place in &places {
            match look(root, place) {
                Ok(found) if !same(&found) && link.fits(&found) => return Ok(Some((found, root))),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => late = Some(error),
                _ => {}
            }
        }
    }
    late.map_or(Ok(None), Err)
}

/// Whether the debug file of a file of this path may be at that place. The process that parses what others wrote gets no file of another
/// place.
pub fn is_place(place: &[u8], path: &[u8]) -> bool {
    let place = Path::new(OsStr::from_bytes(place));
    let plain = place.components().all(|part| part != Component::ParentDir);
    let beside = Path::new(OsStr::from_bytes(path)).parent();
    let folder = place.parent().filter(|_| plain && place.is_absolute());
    folder.is_some_and(|folder| {
        let beside = beside.filter(|beside| beside.is_absolute());
        folder.starts_with(DEBUG_FOLDER)
            || beside.is_some_and(|beside| folder == beside || folder == beside.join(".debug"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_place_all_that_are_looked_for_are_places() {
        let link = Link {
            build_id: vec![0xab, 0xcd, 0xef],
            debug_link: Some((b"lib.debug".to_vec(), 0)),
        };
        let paths: [&[u8]; 4] = [b"/usr/lib/lib.so", b"/lib.so", b"/a (deleted)", b"[vdso]"];
        for path in paths {
            let places = link.places(path);
            assert!(!places.is_empty());
            for place in places {
                let text = place.display();
                assert!(is_place(place.as_os_str().as_bytes(), path), "{text}");
            }
        }
        let shared = shared_path(b"../../.dwz/x86_64/pkg.debug").expect("a place");
        assert!(is_place(shared.as_os_str().as_bytes(), b"/usr/bin/x"));
    }

    #[test]
    fn is_place_nothing_else_is_one() {
        let places: [&[u8]; 10] = [
            b"",
            b"/",
            b"lib.debug",
            b"/etc/shadow",
            b"/usr/lib/other/lib.debug",
            b"/usr/lib/app/deeper/lib.debug",
            b"/usr/lib/app/.debug/deeper/lib.debug",
            b"/usr/lib/debugger/lib.debug",
            b"/usr/lib/debug/../../../etc/shadow",
            b"/usr/lib/app/../../../etc/shadow",
        ];
        for place in places {
            let text = String::from_utf8_lossy(place);
            assert!(!is_place(place, b"/usr/lib/app/lib.so"), "{text}");
        }
        // Beside a file without a folder there is nothing.
        assert!(!is_place(b"/etc/shadow", b"[vdso]"));
        assert!(!is_place(b"/etc/shadow", b""));
        assert!(!is_place(b"/shadow", b"lib.so"));
        let outside = shared_path(b"/.dwz/../../../../etc/shadow").expect("a place");
        assert!(!is_place(outside.as_os_str().as_bytes(), b"/usr/bin/x"));
    }
}
