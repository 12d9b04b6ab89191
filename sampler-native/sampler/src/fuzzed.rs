//! Entry points of fuzzing: any bytes as a file that a process writes.

use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt, sync::Arc};

use flametop_unwind::OpenFile;

use crate::perf_map::PerfMap;

/// A perf map, which grows in the midst of a line.
pub fn perf_map(bytes: &[u8]) {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .open("/dev/shm");
    let Ok(mut file) = file else {
        return;
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut map: Option<PerfMap> = None;
    for part in [first, second] {
        let again = file.write_all(part).and_then(|()| file.try_clone());
        let Ok(again) = again.and_then(OpenFile::of) else {
            return;
        };
        map = PerfMap::of_file(map, Arc::new(again)).0;
        let Some(map) = &map else {
            return;
        };
        for address in (0..64).map(|shift| 0x1000_u64 << (shift % 40)) {
            map.name(address);
        }
        map.len();
    }
}
