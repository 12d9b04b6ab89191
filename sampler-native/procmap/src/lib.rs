//! One mapping of a process by an address in it, from Linux 6.11 on (`PROCMAP_QUERY`): its file need not be read line by line, which
//! of a process with 65,530 mappings takes 30 ms.

use std::{fs::File, io, os::fd::AsRawFd};

use nix::errno::Errno;

/// Longest path that is told.
const PATH: usize = 4096;
/// Of `flags`: it may be executed.
const EXECUTABLE: u64 = 4;

/// As the kernel has it.
#[repr(C)]
#[derive(Default)]
struct Query {
    size: u64,
    query_flags: u64,
    query_address: u64,
    start: u64,
    end: u64,
    flags: u64,
    page_size: u64,
    offset: u64,
    inode: u64,
    major: u32,
    minor: u32,
    name_size: u32,
    build_id_size: u32,
    name: u64,
    build_id: u64,
}

mod call {
    #![allow(missing_docs)]
    nix::ioctl_readwrite!(query, b'f', 17, super::Query);
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Of the first byte.
    pub start: u64,
    /// Of the byte after the last one.
    pub end: u64,
    /// It may be executed.
    pub executable: bool,
    /// Of the first byte in the file.
    pub offset: u64,
    /// Of the file: major, minor.
    pub device: (u32, u32),
    /// Of the file; 0 for memory that is of no file.
    pub inode: u64,
    /// Raw: hostile text.
    pub path: Vec<u8>,
}

/// The mapping that holds an address; `maps` is an open `/proc/PID/maps`. None: nothing is mapped there.
///
/// # Errors
/// The kernel is older, or the process is gone.
pub fn at(maps: &File, address: u64) -> io::Result<Option<Mapping>> {
    let mut path = vec![0u8; PATH];
    let mut query = Query {
        size: size_of::<Query>() as u64,
        query_address: address,
        name: path.as_mut_ptr() as u64,
        name_size: PATH as u32,
        ..Query::default()
    };
    // SAFETY: the structure has the size that it says, and the kernel writes a path of at most that size, which is there until the end.
    match unsafe { call::query(maps.as_raw_fd(), &raw mut query) } {
        Ok(_) => {}
        Err(Errno::ENOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    // With its NUL.
    path.truncate((query.name_size as usize).saturating_sub(1));
    Ok(Some(Mapping {
        start: query.start,
        end: query.end,
        executable: query.flags & EXECUTABLE != 0,
        offset: query.offset,
        device: (query.major, query.minor),
        inode: query.inode,
        path,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the kernel is as new as that.
    fn is_new() -> bool {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
        let mut numbers = release
            .split('.')
            .map_while(|part| part.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(6), Some(11))
    }

    #[test]
    fn at_each_own_mapping_of_a_file_is_what_its_line_says() {
        let maps = File::open("/proc/self/maps").expect("own mappings");
        if !is_new() {
            assert!(at(&maps, 0).is_err());
            println!("only an older kernel is here: all are read instead");
            return;
        }
        let text = std::fs::read_to_string("/proc/self/maps").expect("own mappings");
        let mut files = 0;
        for line in text.lines().filter(|line| line.contains(" /")) {
            let mut words = line.split_ascii_whitespace();
            let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
            let (start, end) = words
                .next()
                .and_then(|w| w.split_once('-'))
                .expect("a range");
            let mapping = at(&maps, number(end) - 1)
                .expect("an answer")
                .expect("a mapping");
            assert_eq!((mapping.start, mapping.end), (number(start), number(end)));
            let executable = words.next().is_some_and(|flags| flags.contains('x'));
            assert_eq!(mapping.executable, executable);
            assert_eq!(words.next().map(number), Some(mapping.offset));
            let (major, minor) = words
                .next()
                .and_then(|w| w.split_once(':'))
                .expect("a device");
            let device = (number(major) as u32, number(minor) as u32);
            assert_eq!(mapping.device, device);
            let inode = words.next().and_then(|w| w.parse().ok());
            assert_eq!(inode, Some(mapping.inode));
            assert!(line.ends_with(&*String::from_utf8_lossy(&mapping.path)));
            files += 1;
        }
        assert!(files > 3);
        assert_eq!(at(&maps, 0).expect("an answer"), None);
    }

    #[test]
    fn at_of_what_is_no_such_file_is_an_error() {
        let other = File::open("/proc/self/status").expect("a file");
        assert!(at(&other, 0).is_err());
    }
}
