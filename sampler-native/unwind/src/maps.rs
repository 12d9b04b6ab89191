//! What a process has mapped where.

use crate::{ModuleId, ModuleKind, Modules};
use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

/// Most bytes read of `/proc/PID/maps`: a million mappings with names of ordinary length.
const MAPS_LIMIT: u64 = 128 << 20;
/// The vDSO is two or three pages.
const VDSO_LIMIT: u64 = 1 << 20;

/// The executable mappings of one process generation (from one exec to the next).
#[derive(Debug)]
pub struct ProcessMaps {
    tgid: u32,
    areas: Vec<Area>,
    jit: Option<ModuleId>,
}

/// One executable mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub start: u64,
    pub end: u64,
    pub module: ModuleId,
    /// What to add to an address to get the offset in the module.
    pub delta: u64,
    /// The module is an ELF file or the vDSO, so that code and unwind information can be asked for.
    pub image: bool,
}

impl Area {
    pub(crate) fn offset(&self, address: u64) -> u64 {
        address.wrapping_add(self.delta)
    }
}

impl ProcessMaps {
    /// Reads the mappings of process `tgid`. A zombie and a kernel thread have none.
    ///
    /// # Errors
    /// What the kernel says about `/proc/TGID/maps`: the process is gone, or may not be looked at.
    pub fn read(tgid: u32, modules: &mut Modules) -> io::Result<ProcessMaps> {
        let mut maps = ProcessMaps { tgid, areas: Vec::new(), jit: None };
        maps.refresh(modules)?;
        Ok(maps)
    }

    /// Reads them again, of the same process generation: code made at run time keeps its module.
    ///
    /// # Errors
    /// As [`ProcessMaps::read`]; what was known stays.
    pub fn refresh(&mut self, modules: &mut Modules) -> io::Result<()> {
        let mut text = Vec::new();
        File::open(format!("/proc/{}/maps", self.tgid))?.take(MAPS_LIMIT).read_to_end(&mut text)?;
        let mut areas = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter_map(Line::parse) {
            if line.executable && line.path != b"[vsyscall]" {
                areas.push(self.area(&line, modules));
            }
        }
        adopt_remapped(&mut areas, modules);
        self.areas = areas;
        Ok(())
    }

    /// Whether `address` lies in an executable mapping.
    pub fn is_executable(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// Address in this process of an offset in a module, if it is mapped executable.
    pub fn address(&self, module: ModuleId, offset: u64) -> Option<u64> {
        let areas = self.areas.iter().filter(|area| area.module == module);
        areas
            .map(|area| (area, offset.wrapping_sub(area.delta)))
            .find(|(area, address)| (area.start..area.end).contains(address))
            .map(|(_, address)| address)
    }

    pub(crate) fn find(&self, address: u64) -> Option<&Area> {
        let after = self.areas.partition_point(|area| area.start <= address);
        self.areas.get(after.checked_sub(1)?).filter(|area| address < area.end)
    }

    fn area(&mut self, line: &Line<'_>, modules: &mut Modules) -> Area {
        let (start, end) = (line.start, line.end);
        let module = if line.path == b"[vdso]" {
            modules.vdso(end - start, || self.read_vdso(start, end))
        } else if line.inode != 0 {
            modules.mapped_file(self.tgid, start, end, line.inode, line.path)
        } else {
            None
        };
        if let Some(module) = module {
            if modules.get(module).kind() == ModuleKind::Unknown {
                return Area { start, end, module, delta: 0, image: false };
            }
            if let Some(delta) = modules.get(module).delta(start, end, line.offset) {
                return Area { start, end, module, delta, image: true };
            }
        }
        // Anonymous, or a file that is no program: code that was made at run time.
        let tgid = self.tgid;
        let module = *self.jit.get_or_insert_with(|| modules.jit(tgid));
        Area { start, end, module, delta: 0, image: false }
    }

    fn read_vdso(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let size = end - start;
        if size > VDSO_LIMIT {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the vDSO is too large"));
        }
        let mut image = vec![0; size as usize];
        File::open(format!("/proc/{}/mem", self.tgid))?.read_exact_at(&mut image, start)?;
        Ok(image)
    }
}

/// Programs that move their text to huge pages leave an anonymous mapping where the file's was: it is the
/// file's code still, if a neighbour says where the file is loaded and the address is in its text.
fn adopt_remapped(areas: &mut [Area], modules: &Modules) {
    for index in 0..areas.len() {
        let area = areas[index];
        if area.image || modules.get(area.module).kind() != ModuleKind::Jit {
            continue;
        }
        let before = areas[..index].last().copied();
        let after = areas.get(index + 1).copied();
        let owner = [before, after].into_iter().flatten().find(|neighbour| {
            let module = modules.get(neighbour.module);
            neighbour.image
                && module.is_code(neighbour.offset(area.start))
                && module.is_code(neighbour.offset(area.end - 1))
        });
        if let Some(owner) = owner {
            areas[index] = Area { start: area.start, end: area.end, ..owner };
        }
    }
}

/// One line of `/proc/PID/maps`: `start-end perms offset device inode   path`.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    start: u64,
    end: u64,
    executable: bool,
    offset: u64,
    inode: u64,
    /// Anything but a newline, which the kernel writes as `\012`.
    path: &'a [u8],
}

impl Line<'_> {
    /// None if the line is not of that form.
    fn parse(line: &[u8]) -> Option<Line<'_>> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let range = fields.next()?;
        let dash = range.iter().position(|byte| *byte == b'-')?;
        let (start, end) = (hex(&range[..dash])?, hex(&range[dash + 1..])?);
        let permissions = fields.next()?;
        let offset = hex(fields.next()?)?;
        let _device = fields.next()?;
        let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let path = fields.next().unwrap_or_default();
        let padding = path.iter().take_while(|byte| **byte == b' ').count();
        (start < end).then_some(Line {
            start,
            end,
            executable: permissions.get(2) == Some(&b'x'),
            offset,
            inode,
            path: &path[padding..],
        })
    }
}

fn hex(digits: &[u8]) -> Option<u64> {
    if digits.first() == Some(&b'+') {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
