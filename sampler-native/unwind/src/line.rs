//! Lines of `/proc/PID/maps`.

use crate::mounts::Device;

/// Most bytes read of `/proc/PID/maps`: a million mappings with names of ordinary length.
pub(crate) const MAPS_LIMIT: u64 = 128 << 20;

/// An executable mapping as the kernel told of it when it was made.
#[derive(Clone, Copy, Debug)]
pub struct NewMapping<'a> {
    /// Of the first byte.
    pub start: u64,
    /// Of the byte after the last one.
    pub end: u64,
    /// Of the first byte in the file.
    pub offset: u64,
    /// Of the file: major, minor.
    pub device: (u32, u32),
    /// Of the file; 0 for memory that is of no file.
    pub inode: u64,
    /// Tells files apart that had the same inode one after the other.
    pub generation: u64,
    /// Raw: hostile text.
    pub path: &'a [u8],
}

/// One line of `/proc/PID/maps`: `start-end perms offset device inode   path`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub start: u64,
    pub end: u64,
    pub executable: bool,
    pub offset: u64,
    pub device: Device,
    pub inode: u64,
    /// Anything but a newline, which the kernel writes as `\012`.
    pub path: &'a [u8],
}

impl<'a> From<&'a flametop_procmap::Mapping> for Line<'a> {
    fn from(mapping: &'a flametop_procmap::Mapping) -> Line<'a> {
        Line {
            start: mapping.start,
            end: mapping.end,
            executable: mapping.executable,
            offset: mapping.offset,
            device: mapping.device,
            inode: mapping.inode,
            path: &mapping.path,
        }
    }
}

/// The lines of code, by their addresses.
pub(crate) fn code_lines(text: &[u8]) -> Vec<Line<'_>> {
    let lines = text.split(|byte| *byte == b'\n').filter_map(Line::parse);
    let mut lines: Vec<Line<'_>> = lines.filter(|line| line.executable).collect();
    lines.sort_by_key(|line| line.start);
    lines
}

impl Line<'_> {
    /// None if the line is not of that form.
    pub(crate) fn parse(line: &[u8]) -> Option<Line<'_>> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let range = fields.next()?;
        let dash = range.iter().position(|byte| *byte == b'-')?;
        let (start, end) = (hex(&range[..dash])?, hex(&range[dash + 1..])?);
        let permissions = fields.next()?;
        let offset = hex(fields.next()?)?;
        let device = std::str::from_utf8(fields.next()?).ok()?.split_once(':')?;
        let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let path = fields.next().unwrap_or_default();
        let padding = path.iter().take_while(|byte| **byte == b' ').count();
        (start < end).then_some(Line {
            start,
            end,
            executable: permissions.get(2) == Some(&b'x'),
            offset,
            device: (
                hex(device.0.as_bytes())? as u32,
                hex(device.1.as_bytes())? as u32,
            ),
            inode,
            path: &path[padding..],
        })
    }
}

impl Line<'_> {
    /// Memory with a name rather than a file: of `memfd_create`, shared anonymous, System V. Its filesystem is
    /// mounted nowhere.
    pub(crate) fn is_memory(&self) -> bool {
        let names: [&[u8]; 4] = [
            b"/memfd:",
            b"/dev/zero (deleted)",
            b"/SYSV",
            b"/anon_hugepage",
        ];
        names.iter().any(|name| self.path.starts_with(name))
    }
}

fn hex(digits: &[u8]) -> Option<u64> {
    if digits.first() == Some(&b'+') {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Of these lines that which holds a mapping from its beginning.
pub(crate) fn line_of<'a, 'b>(lines: &'b [Line<'a>], new: &Line<'_>) -> Option<&'b Line<'a>> {
    let after = lines.partition_point(|line| line.start <= new.start);
    lines[..after].last().filter(|line| {
        new.start < line.end
            && (line.device, line.inode) == (new.device, new.inode)
            && line.offset.checked_add(new.start - line.start) == Some(new.offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[u8]) -> (u64, u64, bool, u64, u64, &[u8]) {
        let line = Line::parse(line).expect("a line");
        (
            line.start,
            line.end,
            line.executable,
            line.offset,
            line.inode,
            line.path,
        )
    }

    #[test]
    fn parse_ordinary_line_has_all_fields() {
        assert_eq!(
            parse(b"7f12a0000000-7f12a0001000 r-xp 00026000 fe:01 1234                       /usr/lib/libc.so.6"),
            (0x7f12_a000_0000, 0x7f12_a000_1000, true, 0x26000, 1234, &b"/usr/lib/libc.so.6"[..])
        );
        assert_eq!(
            parse(b"1000-2000 rw-p 00000000 00:00 0 "),
            (0x1000, 0x2000, false, 0, 0, &b""[..])
        );
        assert_eq!(
            parse(b"1000-2000 r-xp 00000000 00:00 0"),
            (0x1000, 0x2000, true, 0, 0, &b""[..])
        );
    }

    #[test]
    fn parse_hostile_path_is_kept_as_it_is() {
        for path in [
            &b"/tmp/a b  c"[..],
            b"/tmp/x (deleted)",
            b"/tmp/new\\012line",
            b"/tmp/\xff\xfe\x1b[31m",
            b"/tmp/1000-2000 r-xp 0 0:0 1 /etc",
        ] {
            let line = [b"1000-2000 --xp 00000000 08:01 77   ", path].concat();
            assert_eq!(parse(&line), (0x1000, 0x2000, true, 0, 77, path));
        }
    }

    #[test]
    fn parse_damaged_line_is_skipped() {
        for line in [
            &b""[..],
            b"garbage",
            b"1000 r-xp 0 0:0 0",
            b"2000-1000 r-xp 0 0:0 0",
            b"+1000-2000 r-xp 0 0:0 0",
            b"1000-2000 r-xp zz 0:0 0",
            b"1000-2000 r-xp 0 0:0 -1",
            b"1000-2000",
            b"10000000000000000-20000000000000000 r-xp 0 0:0 0",
        ] {
            assert_eq!(Line::parse(line), None, "{}", line.escape_ascii());
        }
    }
}
