//! Files as blazesym wants them: it opens a path. A file that only its owner may read does not open once more, for a process that has its
//! descriptor and no right beside that; blazesym then gets a copy, in memory, of what is read for symbols.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::protocol::Trouble;
use crate::{sys, weight};

/// Most bytes of a copy. The symbols of Chromium have 140 MiB with all their names.
const COPY_MAX: u64 = 192 << 20;

/// A file that was weighed, and can be opened by its path.
pub struct Readable {
    /// Keeps its number taken, which is in `path` unless there is a copy.
    file: File,
    copy: Option<Copy>,
    path: PathBuf,
}

struct Copy {
    file: File,
    bytes: u64,
}

impl Readable {
    /// # Errors
    /// There is too much to read in the file.
    pub fn new(file: File) -> Result<Readable, Trouble> {
        weight::trouble(&file).map_or(Ok(()), Err)?;
        let path = sys::path_of(&file);
        let refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        let copy = match File::open(&path).is_err_and(refused) {
            true => copy(&file)?,
            false => None,
        };
        let path = copy.as_ref().map_or(path, |copy| sys::path_of(&copy.file));
        Ok(Readable {
            file,
            copy,
            path: path.into(),
        })
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// By this path its symbols are read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of memory of the copy.
    pub fn copied(&self) -> u64 {
        self.copy.as_ref().map_or(0, |copy| copy.bytes)
    }
}

/// A file of the same size, in memory, that has at the same places what is read for symbols. None: it is no ELF file, or damaged.
fn copy(file: &File) -> Result<Option<Copy>, Trouble> {
    let Ok(bytes) = sys::map(file) else {
        return Ok(None);
    };
    let Some(parts) = weight::parts_of_symbols(&bytes) else {
        return Ok(None);
    };
    let size: usize = parts.iter().map(|(_, part)| part.len()).sum();
    if size as u64 > COPY_MAX {
        return Err(Trouble::Symbols);
    }
    let copied = || -> io::Result<File> {
        let mut copy = sys::memory_file(&[])?;
        copy.set_len(bytes.len() as u64)?;
        for (place, part) in parts {
            copy.seek(SeekFrom::Start(place))?;
            copy.write_all(part)?;
        }
        Ok(copy)
    };
    // Without memory for it there are no names.
    let copied = copied().ok();
    Ok(copied.map(|file| Copy {
        file,
        bytes: size as u64,
    }))
}
