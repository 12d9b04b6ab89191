//! What a process has mapped where.

use crate::{
    End, HotSpot, ModuleId, ModuleKind, Modules, hotspot,
    mounts::{Device, Mounts},
};
use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

/// Most bytes read of `/proc/PID/maps`: a million mappings with names of ordinary length.
pub(crate) const MAPS_LIMIT: u64 = 128 << 20;
/// The vDSO is two or three pages.
const VDSO_LIMIT: u64 = 1 << 20;
/// A JVM that does not tell about itself (it is starting, or is not HotSpot) is asked so often.
const MAX_ATTEMPTS: u8 = 20;
/// `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`: CPython 3.12 and newer with `-X perf` makes one for each function, so that
/// it has an address; a mapping of them holds nothing else.
const TRAMPOLINE: [u8; 11] = [
    0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3,
];

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

/// The executable mappings of one process generation (from one exec to the next).
#[derive(Clone, Debug)]
pub struct ProcessMaps {
    tgid: u32,
    areas: Vec<Area>,
    jit: Option<ModuleId>,
    runtime: Runtime,
}

/// What makes code at run time there, as far as it changes how that code is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Runtime {
    Other,
    Python,
    /// Not known yet, after so many attempts.
    Jvm(u8),
    HotSpot(HotSpot),
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
    /// Trampolines of CPython.
    pub trampolines: bool,
}

impl Area {
    pub(crate) fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    pub(crate) fn offset(&self, address: u64) -> u64 {
        address.wrapping_add(self.delta)
    }
}

impl ProcessMaps {
    /// Reads the mappings of process `tgid`.
    ///
    /// # Errors
    /// What the kernel says about `/proc/TGID/maps`: the process is gone, or may not be looked at. Not found if it has
    /// no mappings: a zombie, a kernel thread.
    pub fn read(tgid: u32, modules: &mut Modules) -> io::Result<ProcessMaps> {
        let mut maps = ProcessMaps::empty(tgid);
        maps.refresh(modules)?;
        Ok(maps)
    }

    /// Those of a process that has mapped nothing yet: exec has just begun.
    pub fn empty(tgid: u32) -> ProcessMaps {
        ProcessMaps {
            tgid,
            areas: Vec::new(),
            jit: None,
            runtime: Runtime::Other,
        }
    }

    /// Reads those of process `tgid`, which is this one or a fork of it that goes its own way now.
    ///
    /// # Errors
    /// As [`ProcessMaps::read`].
    pub fn read_again(&self, tgid: u32, modules: &mut Modules) -> io::Result<ProcessMaps> {
        let mut maps = ProcessMaps {
            tgid,
            areas: Vec::new(),
            jit: self.jit.filter(|_| tgid == self.tgid),
            runtime: self.runtime.clone(),
        };
        maps.refresh(modules)?;
        Ok(maps)
    }

    /// Reads them again, of the same process generation: code made at run time keeps its module.
    ///
    /// # Errors
    /// As [`ProcessMaps::read`]; what was known stays.
    pub fn refresh(&mut self, modules: &mut Modules) -> io::Result<()> {
        let text = self.text()?;
        let mut areas = Vec::new();
        let mut mounts = Mounts::new(self.tgid);
        for line in text.split(|byte| *byte == b'\n').filter_map(Line::parse) {
            if line.executable && line.path != b"[vsyscall]" {
                self.see_runtime(line.path);
                areas.push(self.area(&line, None, modules, &mut mounts));
            }
        }
        adopt_remapped(&mut areas, modules);
        self.areas = areas;
        Ok(())
    }

    pub(crate) fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        File::open(format!("/proc/{}/maps", self.tgid))?
            .take(MAPS_LIMIT)
            .read_to_end(&mut text)?;
        match text.is_empty() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(text),
        }
    }

    /// The modules that it names.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        let areas = self.areas.iter().map(|area| area.module);
        areas.chain(self.jit)
    }

    /// Whether a runtime in it has not told yet how it runs: it is asked when they are read again.
    pub fn is_starting(&self) -> bool {
        matches!(self.runtime, Runtime::Jvm(attempts) if attempts < MAX_ATTEMPTS)
    }

    /// How many areas they are.
    pub(crate) fn count(&self) -> usize {
        self.areas.len()
    }

    pub(crate) fn is_of(&self, tgid: u32) -> bool {
        self.tgid == tgid
    }

    /// Those of process `tgid`, which began with these: a fork.
    pub(crate) fn of_fork(mut self, tgid: u32) -> ProcessMaps {
        self.tgid = tgid;
        self.jit = None;
        self
    }

    /// The place of a new mapping of this process.
    pub(crate) fn place(
        &mut self,
        new: &NewMapping<'_>,
        modules: &mut Modules,
        mounts: &mut Mounts,
    ) -> Area {
        let line = Line {
            start: new.start,
            end: new.end,
            executable: true,
            offset: new.offset,
            device: new.device,
            inode: new.inode,
            path: new.path,
        };
        self.see_runtime(line.path);
        self.area(&line, Some(new.generation), modules, mounts)
    }

    /// The same where the mapping was cut since, so that the kernel has no link of that name any more: by that of these lines
    /// which has its beginning.
    pub(crate) fn place_in(
        &mut self,
        lines: &[Line<'_>],
        new: &NewMapping<'_>,
        modules: &mut Modules,
        mounts: &mut Mounts,
    ) -> Option<Area> {
        let after = lines.partition_point(|line| line.start <= new.start);
        let line = lines[..after].last().filter(|line| {
            new.start < line.end
                && (line.device, line.inode) == (new.device, new.inode)
                && line.offset.checked_add(new.start - line.start) == Some(new.offset)
        })?;
        let area = self.area(line, Some(new.generation), modules, mounts);
        Some(Area {
            start: new.start,
            end: new.end,
            ..area
        })
    }

    /// Whether something else is known where `area` is now, and whether it is more than that nothing is known (`blank`).
    pub(crate) fn is_replaced_by(&self, area: &Area, blank: ModuleId) -> (bool, bool) {
        let mut others = self
            .overlapping(area)
            .iter()
            .filter(|known| (known.module, known.delta) != (area.module, area.delta))
            .peekable();
        (
            others.peek().is_some(),
            others.any(|known| known.module != blank),
        )
    }

    /// Adds an area, in place of what is known there.
    pub(crate) fn insert(&mut self, area: Area, modules: &Modules) {
        let first = self.areas.partition_point(|known| known.end <= area.start);
        let known = self.overlapping(&area);
        let before = known.first().filter(|known| known.start < area.start);
        let before = before.map(|known| Area {
            end: area.start,
            ..*known
        });
        let after = known.last().filter(|known| known.end > area.end);
        let after = after.map(|known| Area {
            start: area.end,
            ..*known
        });
        let replaced = first..first + known.len();
        let parts = [before, Some(area), after];
        let count = parts.iter().flatten().count();
        self.areas.splice(replaced, parts.into_iter().flatten());
        let near = first.saturating_sub(1)..(first + count + 1).min(self.areas.len());
        adopt_remapped(&mut self.areas[near.clone()], modules);
        // As the kernel does, where code is made piece by piece.
        for next in near.skip(1).rev() {
            let (left, right) = (self.areas[next - 1], self.areas[next]);
            let whole = Area {
                end: right.end,
                ..left
            };
            if left.end == right.start
                && (Area {
                    start: left.start,
                    ..right
                }) == whole
            {
                self.areas[next - 1] = whole;
                self.areas.remove(next);
            }
        }
    }

    /// Makes of a range one of which nothing is known: something else was there at the moment that is asked for.
    pub fn blank(&mut self, start: u64, end: u64, modules: &mut Modules) {
        let area = Area {
            start,
            end,
            module: blank(modules),
            delta: 0,
            image: false,
            trampolines: false,
        };
        self.insert(area, modules);
    }

    /// Leaves what `other` has alike.
    pub(crate) fn agree(&mut self, other: &ProcessMaps) {
        let areas = self.areas.iter().flat_map(|area| {
            let alike = other.overlapping(area).iter();
            let alike =
                alike.filter(|known| (known.module, known.delta) == (area.module, area.delta));
            alike.map(|known| Area {
                start: area.start.max(known.start),
                end: area.end.min(known.end),
                ..*area
            })
        });
        self.areas = areas.collect();
    }

    fn overlapping(&self, area: &Area) -> &[Area] {
        let first = self.areas.partition_point(|known| known.end <= area.start);
        let last = self.areas.partition_point(|known| known.start < area.end);
        self.areas.get(first..last).unwrap_or_default()
    }

    /// Whether the code at `pc`, made at run time, may have used the frame pointer for something else: methods that a JVM
    /// compiled, unless it was told to keep frame pointers.
    pub(crate) fn doubts_frame_pointer(&self, pc: u64) -> bool {
        match &self.runtime {
            Runtime::Other | Runtime::Python => false,
            Runtime::Jvm(_) => true,
            Runtime::HotSpot(jvm) => {
                !jvm.preserve_frame_pointer
                    && !jvm.interpreter.contains(&pc)
                    && pc.wrapping_add(1) != jvm.call_stub
            }
        }
    }

    /// Takes note of a runtime by its library. A JVM that is still starting is asked again next time.
    fn see_runtime(&mut self, path: &[u8]) {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        if hotspot::is_libjvm(path) {
            let attempts = match self.runtime {
                Runtime::HotSpot(_) => return,
                Runtime::Jvm(attempts) => attempts,
                _ => 0,
            };
            if attempts < MAX_ATTEMPTS {
                self.runtime = match HotSpot::read(self.tgid) {
                    Ok(jvm) => Runtime::HotSpot(jvm),
                    Err(_) => Runtime::Jvm(attempts + 1),
                };
            }
        } else if self.runtime == Runtime::Other
            && (file.starts_with(b"python3") || file.starts_with(b"libpython3"))
        {
            self.runtime = Runtime::Python;
        }
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
        self.areas
            .get(after.checked_sub(1)?)
            .filter(|area| address < area.end)
    }

    /// `generation`: of the file, if the kernel told of the mapping, so that another may be there by now.
    fn area(
        &mut self,
        line: &Line<'_>,
        generation: Option<u64>,
        modules: &mut Modules,
        mounts: &mut Mounts,
    ) -> Area {
        let (start, end) = (line.start, line.end);
        let module = if line.path == b"[vdso]" && end <= u64::from(u32::MAX) {
            // That of a 32-bit process.
            Some(modules.unknown(line.path, End::Narrow))
        } else if line.path == b"[vdso]" {
            modules.vdso(end - start, || self.read_vdso(start, end))
        } else if line.inode == 0 {
            None
        } else if !mounts.answers(line.device) {
            (!line.is_memory()).then(|| modules.unknown(line.path, End::Unreadable))
        } else {
            let told = generation.map(|generation| (line.device, line.inode, generation));
            modules.mapped_file(self.tgid, start, end, line.inode, line.path, told)
        };
        if let Some(module) = module {
            if modules.get(module).kind() == ModuleKind::Unknown {
                return Area {
                    start,
                    end,
                    module,
                    delta: 0,
                    image: false,
                    trampolines: false,
                };
            }
            if let Some(delta) = modules.get(module).delta(start, end, line.offset) {
                return Area {
                    start,
                    end,
                    module,
                    delta,
                    image: true,
                    trampolines: false,
                };
            }
        }
        // Anonymous, or a file that is no program: code that was made at run time.
        let tgid = self.tgid;
        let module = *self.jit.get_or_insert_with(|| modules.jit(tgid));
        Area {
            start,
            end,
            module,
            delta: 0,
            image: false,
            trampolines: self.runtime == Runtime::Python
                && matches!(self.code_at(start), Ok(TRAMPOLINE)),
        }
    }

    fn code_at(&self, address: u64) -> io::Result<[u8; TRAMPOLINE.len()]> {
        let mut code = [0; TRAMPOLINE.len()];
        File::open(format!("/proc/{}/mem", self.tgid))?.read_exact_at(&mut code, address)?;
        Ok(code)
    }

    fn read_vdso(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let size = end - start;
        if size > VDSO_LIMIT {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the vDSO is too large",
            ));
        }
        let mut image = vec![0; size as usize];
        File::open(format!("/proc/{}/mem", self.tgid))?.read_exact_at(&mut image, start)?;
        Ok(image)
    }
}

/// The module of a place where something was that is not known.
pub(crate) fn blank(modules: &mut Modules) -> ModuleId {
    modules.unknown(b"[mapped anew]", End::Unreadable)
}

/// Programs that move their text to huge pages leave an anonymous mapping where the file's was: it is the
/// file's code still, if a neighbour says where the file is loaded and its text covers the address.
fn adopt_remapped(areas: &mut [Area], modules: &Modules) {
    for index in 0..areas.len() {
        let area = areas[index];
        if area.image || modules.get(area.module).kind() != ModuleKind::Jit {
            continue;
        }
        let before = areas[..index].last().copied();
        let after = areas.get(index + 1).copied();
        let owner = [before, after].into_iter().flatten().find(|neighbour| {
            neighbour.image
                && modules
                    .get(neighbour.module)
                    .is_code(neighbour.offset(area.start))
        });
        if let Some(owner) = owner {
            areas[index] = Area {
                start: area.start,
                end: area.end,
                ..owner
            };
        }
    }
}

/// One line of `/proc/PID/maps`: `start-end perms offset device inode   path`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    start: u64,
    end: u64,
    executable: bool,
    offset: u64,
    device: Device,
    inode: u64,
    /// Anything but a newline, which the kernel writes as `\012`.
    path: &'a [u8],
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
    fn parse(line: &[u8]) -> Option<Line<'_>> {
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
    fn is_memory(&self) -> bool {
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

    #[test]
    fn find_address_is_in_the_area_that_holds_it() {
        let area = |start, end| Area {
            start,
            end,
            module: ModuleId(0),
            delta: 0,
            image: false,
            trampolines: false,
        };
        let areas = vec![
            area(0x1000, 0x2000),
            area(0x2000, 0x3000),
            area(0x5000, 0x6000),
        ];
        let maps = ProcessMaps {
            tgid: 1,
            areas,
            jit: None,
            runtime: Runtime::Other,
        };
        for (address, start) in [
            (0xfff, None),
            (0x1000, Some(0x1000)),
            (0x2000, Some(0x2000)),
            (0x3000, None),
            (0x5fff, Some(0x5000)),
            (u64::MAX, None),
        ] {
            assert_eq!(maps.find(address).map(|area| area.start), start);
        }
    }

    #[test]
    fn read_own_process_names_own_code() {
        let mut modules = Modules::new(16 << 20);
        let maps = ProcessMaps::read(std::process::id(), &mut modules).expect("maps");
        let here = read_own_process_names_own_code as *const () as u64;
        let area = *maps.find(here).expect("own code");
        assert!(area.image);
        assert_eq!(
            modules.function_start(area.module, area.offset(here) + 1),
            Some(area.offset(here))
        );
        assert_eq!(maps.address(area.module, area.offset(here)), Some(here));
        let vdso = (0..modules.len())
            .map(|id| modules.get(ModuleId(id as u32)))
            .find(|m| m.image().is_some());
        assert_eq!(
            vdso.and_then(Module::image).map(|image| &image[..4]),
            Some(&b"\x7fELF"[..])
        );
    }

    use crate::Module;
}
