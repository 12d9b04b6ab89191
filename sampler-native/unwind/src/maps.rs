//! The executable mappings of a process.

use crate::{
    End, ModuleId, ModuleKind, Modules,
    folder::ProcessFolder,
    line::NewMapping,
    probe::{ProbedArea, ProbedMaps, Seen},
    runtime::{Runtime, RuntimeKnown},
};
use flametop_runtimes::{Attached, Python, Runtime as _};
use std::io;

impl NewMapping<'_> {
    /// Whether it is of CPython's code.
    pub fn is_python(&self) -> bool {
        Python::recognise(self.path)
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

    /// The runtime in it that tells how its code is walked.
    pub fn attached(&self) -> Option<&Attached> {
        match &self.runtime {
            Runtime::Attached(attached) => Some(attached),
            _ => None,
        }
    }

    /// Why the functions of the runtime in it are not told, if its version is not known.
    pub fn unknown_runtime(&self) -> Option<&str> {
        match &self.runtime {
            Runtime::Unknown(_, why) => Some(why),
            _ => None,
        }
    }

    /// Whether it is a process of CPython.
    pub fn runs_python(&self) -> bool {
        self.runtime.is_python()
    }

    /// The modules that it names.
    pub fn modules(&self) -> impl Iterator<Item = ModuleId> {
        let areas = self.areas.iter().map(|area| area.module);
        areas.chain(self.jit)
    }

    /// Whether a runtime in it has not told yet how it runs: it is asked when they are read again.
    pub fn is_starting(&self) -> bool {
        self.runtime.is_starting()
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
        // A runtime that has just begun cannot tell of itself.
        self.runtime
            .see(new.path, |_| Err(io::ErrorKind::WouldBlock.into()));
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

    /// Whether the code at `pc`, made at run time, may have used the frame pointer for something else.
    pub(crate) fn doubts_frame_pointer(&self, pc: u64) -> bool {
        self.runtime.doubts_frame_pointer(pc)
    }

    /// Whether `address` lies in an executable mapping.
    pub fn is_executable(&self, address: u64) -> bool {
        self.find(address).is_some()
    }

    /// The end of the highest code.
    pub(crate) fn top(&self) -> u64 {
        self.areas.last().map_or(0, |area| area.end)
    }

    /// Address in this process of an offset in a module, if it is mapped executable.
    pub fn address(&self, module: ModuleId, offset: u64) -> Option<u64> {
        let areas = self.areas.iter().filter(|area| area.module == module);
        areas
            .map(|area| (area, offset.wrapping_sub(area.delta)))
            .find(|(area, address)| (area.start..area.end).contains(address))
            .map(|(_, address)| address)
    }

    /// The module that has code at this address in this process, and the offset in it.
    pub fn code_at(&self, address: u64) -> Option<(ModuleId, u64)> {
        let area = self.find(address)?;
        Some((area.module, area.offset(address)))
    }

    pub(crate) fn find(&self, address: u64) -> Option<&Area> {
        let after = self.areas.partition_point(|area| area.start <= address);
        self.areas
            .get(after.checked_sub(1)?)
            .filter(|area| address < area.end)
    }

    /// The place of a mapping of this process, as it was read.
    pub(crate) fn area(&mut self, probed: ProbedArea, modules: &mut Modules) -> Area {
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

#[cfg(test)]
mod tests {
    use super::*;

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
