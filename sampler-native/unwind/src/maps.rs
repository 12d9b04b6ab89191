//! What a process has mapped where.

use crate::{
    End, HotSpot, ModuleId, ModuleKind, Modules, hotspot,
    mounts::Device,
    probe::{ProbedArea, ProbedMaps, ProcessFolder, RuntimeKnown, Seen},
};
use serde::{Deserialize, Serialize};
use std::io;

/// Most bytes read of `/proc/PID/maps`: a million mappings with names of ordinary length.
pub(crate) const MAPS_LIMIT: u64 = 128 << 20;
/// A JVM that does not tell about itself (it is starting, or is not HotSpot) is asked so often.
const MAX_ATTEMPTS: u8 = 20;
/// `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`: CPython 3.12 and newer with `-X perf` makes one for each function, so that
/// it has an address; a mapping of them holds nothing else.
pub(crate) const TRAMPOLINE: [u8; 11] = [
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

impl NewMapping<'_> {
    /// Whether it is of CPython's code.
    pub fn is_python(&self) -> bool {
        Runtime::is_python(self.path)
    }

    /// What it holds, if that can be told without looking. `python`: see [`ProcessMaps::runs_python`].
    pub fn known(&self, python: bool, modules: &Modules) -> Option<Seen> {
        if self.path == b"[vdso]" {
            return Some(match self.end <= u64::from(u32::MAX) {
                true => Seen::Unknown(End::Narrow),
                false => Seen::Vdso,
            });
        }
        if self.inode == 0 {
            return (!python).then_some(Seen::Code { trampolines: false });
        }
        let module = modules.told((self.device, self.inode, self.generation))?;
        Some(Seen::Module(module))
    }
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Runtime {
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

impl Runtime {
    /// Takes note of a runtime by its library. `ask`: what a JVM tells; one that is still starting is asked again next time.
    pub(crate) fn see(&mut self, path: &[u8], ask: impl FnOnce() -> io::Result<HotSpot>) {
        if hotspot::is_libjvm(path) {
            let attempts = match self {
                Runtime::HotSpot(_) => return,
                Runtime::Jvm(attempts) => *attempts,
                _ => 0,
            };
            if attempts < MAX_ATTEMPTS {
                *self = match ask() {
                    Ok(jvm) => Runtime::HotSpot(jvm),
                    Err(_) => Runtime::Jvm(attempts + 1),
                };
            }
        } else if *self == Runtime::Other && Runtime::is_python(path) {
            *self = Runtime::Python;
        }
    }

    pub(crate) fn is_python(path: &[u8]) -> bool {
        let file = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
        file.starts_with(b"python3") || file.starts_with(b"libpython3")
    }
}

impl ProcessMaps {
    /// Reads the mappings of process `tgid`, for who may wait for that.
    ///
    /// # Errors
    /// What the kernel says about `/proc/TGID/maps`: the process is gone, or may not be looked at. Not found if it has
    /// no mappings: a zombie, a kernel thread.
    pub fn read(tgid: u32, modules: &mut Modules) -> io::Result<ProcessMaps> {
        let mut maps = ProcessMaps::empty(tgid);
        maps.refresh(modules)?;
        Ok(maps)
    }

    /// Reads them again, of the same process generation: code made at run time keeps its module.
    ///
    /// # Errors
    /// As [`ProcessMaps::read`]; what was known stays.
    pub fn refresh(&mut self, modules: &mut Modules) -> io::Result<()> {
        let process = ProcessFolder::open(self.tgid)?;
        let probed = modules.prober().maps(&process, self.runtime())?;
        *self = self.again(self.tgid, probed, modules);
        Ok(())
    }

    /// Those of process `tgid` as they were read.
    pub fn of(tgid: u32, probed: ProbedMaps, modules: &mut Modules) -> ProcessMaps {
        ProcessMaps::empty(tgid).again(tgid, probed, modules)
    }

    /// Those of process `tgid`, which is this one or a fork of it that goes its own way now, as they were read.
    #[must_use]
    pub fn again(&self, tgid: u32, probed: ProbedMaps, modules: &mut Modules) -> ProcessMaps {
        let begun = modules.begin_fill();
        let mut maps = ProcessMaps {
            tgid,
            areas: Vec::with_capacity(probed.areas.len()),
            jit: self.jit.filter(|_| tgid == self.tgid),
            runtime: probed.runtime,
        };
        for area in probed.areas {
            let area = maps.area(area, modules);
            maps.areas.push(area);
        }
        adopt_remapped(&mut maps.areas, modules);
        modules.end_fill(begun);
        maps
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

    /// What is known of the runtime in it.
    pub fn runtime(&self) -> RuntimeKnown {
        RuntimeKnown(self.runtime.clone())
    }

    /// Whether it is a process of CPython.
    pub fn runs_python(&self) -> bool {
        self.runtime == Runtime::Python
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
    pub fn count(&self) -> usize {
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

    /// The place of a new mapping of this process, which holds that.
    pub(crate) fn place(
        &mut self,
        new: &NewMapping<'_>,
        seen: Seen,
        modules: &mut Modules,
    ) -> Area {
        // A JVM that has just begun cannot tell of itself.
        self.runtime
            .see(new.path, || Err(io::ErrorKind::WouldBlock.into()));
        let told = matches!(seen, Seen::File(_));
        let area = ProbedArea {
            start: new.start,
            end: new.end,
            offset: new.offset,
            path: new.path.into(),
            seen,
        };
        let area = self.area(area, modules);
        if told && modules.get(area.module).kind() == ModuleKind::File {
            modules.tell((new.device, new.inode, new.generation), area.module);
        }
        area
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

    fn area(&mut self, probed: ProbedArea, modules: &mut Modules) -> Area {
        let ProbedArea {
            start,
            end,
            offset,
            path,
            seen,
        } = probed;
        let trampolines = matches!(seen, Seen::Code { trampolines: true });
        let module = match seen {
            Seen::Code { .. } => None,
            Seen::Unknown(reason) => Some(modules.unknown(&path, reason)),
            Seen::Vdso => modules.own_vdso(end - start),
            Seen::Module(module) => Some(module),
            Seen::File(file) => modules.opened(file, (self.tgid, start, end), &path),
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
            if let Some(delta) = modules.get(module).delta(start, end, offset) {
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
            trampolines,
        }
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
    pub start: u64,
    pub end: u64,
    pub executable: bool,
    pub offset: u64,
    pub device: Device,
    pub inode: u64,
    /// Anything but a newline, which the kernel writes as `\012`.
    pub path: &'a [u8],
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
