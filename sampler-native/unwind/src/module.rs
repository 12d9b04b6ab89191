//! The files that processes map, each opened once.

use crate::{
    ClosedFile, End, ModuleId, OpenFile, Prober,
    cfi::{Failure, Kind, Registers, Row, Table},
    code::{self, Window},
    elf::{Image, Source, Symbol},
    go::Functions,
    mounts::Device,
    probe::{self, FileKey, Place, Program},
};
use gimli::UnwindContext;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io,
    sync::Arc,
};

/// Descriptors held open at a time.
const OPEN_LIMIT: usize = 256;
/// Most bytes of code searched for a system call.
const CODE_LIMIT: u64 = 4096;
/// `mov $15, %rax; syscall` and `mov $15, %eax; syscall`: how a signal handler returns.
pub(crate) const SIGRETURN: [&[u8]; 2] =
    [b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", b"\xb8\x0f\0\0\0\x0f\x05"];
/// `mov $60, %al; syscall` and `mov $60, %eax; syscall`: how a thread ends when its function has returned.
pub(crate) const EXIT: [&[u8]; 2] = [b"\xb0\x3c\x0f\x05", b"\xb8\x3c\0\0\0\x0f\x05"];
/// Bytes of code at the entry point of a file that call the rest of the program.
const ENTRY_SIZE: u64 = 64;
/// Modules that are no code, and stand in a stack for what is not there: that nothing called a fiber's function, and
/// that frames may be missing where the caller was guessed.
pub(crate) const FIBER_START: &[u8] = b"[fiber start]";
pub(crate) const GUESSED: &[u8] = b"[guessed]";
const PROCESS_START: &str = "[process start]";
const THREAD_START: &str = "[thread start]";

/// Instructions looked at in one walk at most, where there is no unwind information; reads of the file count as some.
const CODE_BUDGET: u32 = 32 << 10;
/// A read of the file takes as long as so many instructions, and one more for so many bytes.
const READ_COST: u32 = 16;
const BYTES_PER_COST: u64 = 128;
/// Starts below an address that are tried.
const STARTS: usize = 6;
/// Bytes that an instruction has at most, and one more.
const LONGEST_INSTRUCTION: u64 = 16;
/// Functions without a symbol that are followed one after another.
const FOLLOWED: usize = 64;
/// Functions, and single addresses, whose rows by their instructions are kept of a module.
const FUNCTIONS_KEPT: usize = 1024;
const ADDRESSES_KEPT: usize = 2048;

/// What a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    /// The kernel and its modules.
    Kernel,
    /// An ELF file.
    File,
    /// The code that the kernel maps into every process.
    Vdso,
    /// Code that a process made at run time: one module per process generation.
    Jit,
    /// Executable memory of a program that could not be read, or is of another machine.
    Unknown,
}

/// What a frame stands for that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Nothing called the frame below it.
    Root,
    /// The frame above it was guessed: between that and the one below it frames may be missing.
    Gap,
}

/// A file as the kernel tells of it when it is mapped: device, inode, generation.
type ToldFile = (Device, u64, u64);

/// The file of a module.
#[derive(Debug)]
struct Origin {
    key: FileKey,
    place: Place,
    /// Not there if it was closed, since others were used more.
    open: Option<Arc<OpenFile>>,
    /// Cannot be opened again before a process is seen to map it.
    lost: bool,
}

/// Unwind information of a module, in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    EhFrame,
    /// Go's functions are in no `.eh_frame`.
    Go,
    DebugFrame,
}

const KEPT: [Kept; 3] = [Kept::EhFrame, Kept::Go, Kept::DebugFrame];

/// One of them, in memory.
#[derive(Debug)]
enum Information {
    Frames(Table),
    Functions(Functions),
}

impl Information {
    fn read(kept: Kept, image: &Image, source: Source<'_>, limit: u64) -> io::Result<Information> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        match kept {
            Kept::EhFrame => {
                let section = image.eh_frame.ok_or_else(absent)?;
                Table::eh_frame(image, section, source, limit).map(Information::Frames)
            }
            Kept::Go => Functions::read(image, source, limit).map(Information::Functions),
            Kept::DebugFrame => {
                let section = image.debug_frame.ok_or_else(absent)?;
                Table::debug_frame(section, source, limit).map(Information::Frames)
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Information::Frames(table) => table.size(),
            Information::Functions(functions) => functions.size(),
        }
    }

    /// Whether it needs the file.
    fn is_piecewise(&self) -> bool {
        match self {
            Information::Frames(table) => table.is_piecewise(),
            Information::Functions(_) => true,
        }
    }

    fn function(&self, offset: u64, source: Source<'_>) -> Option<(u64, u64)> {
        match self {
            Information::Frames(table) => table.function(offset, source),
            Information::Functions(functions) => functions.function(offset),
        }
    }
}

#[derive(Debug, Default)]
enum Section {
    /// Not read, or given back.
    #[default]
    Out,
    In(Information),
    /// Not there, damaged or too large.
    Absent,
    /// Not to be had before a process is seen to map the file again.
    Unreadable,
}

impl Section {
    /// Whether nothing can be said without the file.
    fn needs_file(&self) -> bool {
        match self {
            Section::Out => true,
            Section::In(information) => information.is_piecewise(),
            Section::Absent | Section::Unreadable => false,
        }
    }

    fn size(&self) -> usize {
        if let Section::In(information) = self {
            information.size()
        } else {
            0
        }
    }
}

/// What is known of a module's code that no unwind information covers.
#[derive(Debug, Default)]
struct Uncovered {
    symbols: Vec<Symbol>,
    /// By their starts; none where the instructions say nothing.
    functions: BTreeMap<u64, Option<code::Function>>,
    /// By the address, and whether a call returns there.
    addresses: HashMap<(u64, bool), Option<Row>>,
    /// By where a function starts, which a call has told, and the address.
    parts: HashMap<(u64, u64), Option<Row>>,
    /// Where `main` starts.
    main: Option<u64>,
    /// Bytes of memory that the functions take.
    functions_size: usize,
}

impl Uncovered {
    fn size(&self) -> usize {
        const ADDRESS: usize = size_of::<((u64, bool), Option<Row>)>();
        size_of_val(self.symbols.as_slice())
            + self.functions_size
            + ADDRESS * (self.addresses.capacity() + self.parts.capacity())
    }
}

/// One module.
#[derive(Debug)]
pub struct Module {
    kind: ModuleKind,
    path: Vec<u8>,
    tgid: Option<u32>,
    /// Of [`ModuleKind::Unknown`]: how a walk ends there.
    end: End,
    image: Image,
    memory: Vec<u8>,
    file: Option<Origin>,
    information: [Section; 3],
    uncovered: Option<Box<Uncovered>>,
    used: u64,
}

impl Module {
    fn new(kind: ModuleKind, path: &[u8]) -> Module {
        Module {
            kind,
            path: path.to_vec(),
            tgid: None,
            end: End::Unreadable,
            image: Image::default(),
            memory: Vec::new(),
            file: None,
            information: Default::default(),
            uncovered: None,
            used: 0,
        }
    }

    /// What it is.
    pub fn kind(&self) -> ModuleKind {
        self.kind
    }

    /// As the kernel names it, raw: hostile text, with ` (deleted)` after the name of a deleted file.
    /// `[vdso]`, `[jit]` and `[kernel]` for those.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// GNU build id, empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        &self.image.build_id
    }

    /// The whole vDSO, an ELF file.
    pub fn image(&self) -> Option<&[u8]> {
        (self.kind == ModuleKind::Vdso).then_some(&self.memory)
    }

    /// Of [`ModuleKind::Jit`]: the process whose code it is. Of [`ModuleKind::File`]: the one last
    /// seen to map it, which may be gone.
    pub fn tgid(&self) -> Option<u32> {
        self.tgid
            .or_else(|| self.file.as_ref().map(|origin| origin.place.tgid))
    }

    /// What a frame in it stands for, if it is no code: `[fiber start]` where nothing called a fiber's function, `[guessed]`
    /// where frames may be missing. A root is nothing that went wrong.
    pub fn sign(&self) -> Option<Sign> {
        match &self.path[..] {
            _ if self.kind != ModuleKind::Unknown => None,
            FIBER_START => Some(Sign::Root),
            GUESSED => Some(Sign::Gap),
            _ => None,
        }
    }

    /// How a walk ends in it, if it cannot go on from there.
    pub(crate) fn end(&self) -> Option<End> {
        (self.kind == ModuleKind::Unknown).then_some(self.end)
    }

    pub(crate) fn delta(&self, start: u64, end: u64, offset: u64) -> Option<u64> {
        self.image.delta(start, end, offset)
    }

    pub(crate) fn is_code(&self, offset: u64) -> bool {
        self.image.is_code(offset)
    }

    fn source(&self) -> Option<Source<'_>> {
        if self.kind == ModuleKind::Vdso {
            return Some(Source::Memory(&self.memory));
        }
        let open = self.file.as_ref()?.open.as_ref()?;
        Some(Source::File(&open.file))
    }

    /// Nothing, where it is not open.
    fn read_from(&self) -> Source<'_> {
        self.source().unwrap_or(Source::Memory(&[]))
    }

    fn held(&self) -> usize {
        let information: usize = self.information.iter().map(Section::size).sum();
        information + self.uncovered.as_ref().map_or(0, |known| known.size())
    }
}

/// All modules seen, each once. What they hold in memory and open is bounded; least recently used goes first.
#[derive(Debug)]
pub struct Modules {
    list: Vec<Module>,
    /// Ids of modules that were forgotten; their places in the list are empty.
    free: Vec<ModuleId>,
    files: HashMap<FileKey, ModuleId>,
    told: HashMap<ToldFile, ModuleId>,
    unknown: HashMap<(Vec<u8>, End), ModuleId>,
    kernel: Option<ModuleId>,
    limit: usize,
    clock: u64,
    /// Instructions that this walk may still look at.
    budget: u32,
    prober: Arc<Prober>,
    /// Whether whoever uses this may wait for a file that is to be opened again.
    waits: bool,
    /// Files that were needed and are not open.
    closed: Vec<ModuleId>,
    vdso: Option<Option<ModuleId>>,
}

impl Modules {
    /// For one who may wait for files. `limit`: bytes of unwind information to hold in memory.
    pub fn new(limit: usize) -> Modules {
        Modules {
            waits: true,
            ..Modules::asking(limit)
        }
    }

    /// For one who waits for nobody: what needs a file that is not open fails, and [`Modules::take_closed`] tells which.
    pub fn asking(limit: usize) -> Modules {
        Modules {
            list: Vec::new(),
            free: Vec::new(),
            files: HashMap::new(),
            told: HashMap::new(),
            unknown: HashMap::new(),
            kernel: None,
            limit,
            clock: 0,
            budget: CODE_BUDGET,
            prober: Arc::default(),
            waits: false,
            closed: Vec::new(),
            vdso: None,
        }
    }

    /// Opens the files of these modules.
    pub fn prober(&self) -> Arc<Prober> {
        Arc::clone(&self.prober)
    }

    /// The files that were needed since the last call and are not open. What was found without them is forgotten here, and has to be
    /// by an [`Unwinder`](crate::Unwinder), too.
    pub fn take_closed(&mut self) -> Vec<(ModuleId, ClosedFile)> {
        let closed = std::mem::take(&mut self.closed);
        let closed = closed.into_iter().filter_map(|id| {
            let module = &mut self.list[id.0 as usize];
            module.uncovered = None;
            let origin = module.file.as_ref()?;
            let closed = ClosedFile {
                key: origin.key,
                place: origin.place.clone(),
            };
            Some((id, closed))
        });
        closed.collect()
    }

    /// What became of a file of [`Modules::take_closed`].
    pub fn reopened(&mut self, id: ModuleId, closed: &ClosedFile, file: Option<Arc<OpenFile>>) {
        let Some(origin) = self
            .list
            .get_mut(id.0 as usize)
            .and_then(|m| m.file.as_mut())
        else {
            return;
        };
        if origin.key != closed.key || origin.open.is_some() {
            return;
        }
        origin.lost = file.is_none();
        origin.open = file;
        self.touch(id);
        self.close_least_used();
    }

    /// Whether what it is asked of the module can be answered now, or never.
    pub fn is_ready(&self, id: ModuleId) -> bool {
        let closed = |origin: &Origin| origin.open.is_none() && !origin.lost;
        self.waits || !self.get(id).file.as_ref().is_some_and(closed)
    }

    /// The module of that id.
    ///
    /// # Panics
    /// If the id is not of these modules.
    pub fn get(&self, id: ModuleId) -> &Module {
        &self.list[id.0 as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets every module but the kernel's and those that `keep` tells, which must be all that a [`ProcessMaps`](crate::ProcessMaps)
    /// [has](crate::ProcessMaps::modules). Another may get the id: an [`Unwinder`](crate::Unwinder) that saw it must be
    /// [cleared](crate::Unwinder::clear).
    ///
    /// Returns which are forgotten.
    pub fn retain(&mut self, keep: impl Fn(ModuleId) -> bool) -> Vec<ModuleId> {
        let free: HashSet<ModuleId> = self.free.iter().copied().collect();
        let mut forgotten: Vec<ModuleId> = (0..self.list.len() as u32).map(ModuleId).collect();
        forgotten.retain(|id| Some(*id) != self.kernel && !free.contains(id) && !keep(*id));
        for id in &forgotten {
            let module = &mut self.list[id.0 as usize];
            if let Some(origin) = &module.file {
                self.files.remove(&origin.key);
            }
            let key = (std::mem::take(&mut module.path), module.end);
            if self.unknown.get(&key) == Some(id) {
                self.unknown.remove(&key);
            }
            *module = Module::new(ModuleKind::Unknown, b"");
        }
        let gone: HashSet<ModuleId> = forgotten.iter().copied().collect();
        self.told.retain(|_, id| !gone.contains(id));
        self.closed.retain(|id| !gone.contains(id));
        self.vdso = self
            .vdso
            .filter(|id| id.is_none_or(|id| !gone.contains(&id)));
        self.free.extend_from_slice(&forgotten);
        forgotten
    }

    /// Bytes of unwind information in memory.
    pub fn held(&self) -> usize {
        self.list.iter().map(Module::held).sum()
    }

    /// A descriptor of the module's file of its own, opened again if need be.
    ///
    /// # Errors
    /// The module is no file, or the last process seen to map it is gone.
    pub fn file(&mut self, id: ModuleId) -> io::Result<File> {
        self.open(id)?;
        match self
            .get(id)
            .file
            .as_ref()
            .and_then(|origin| origin.open.as_ref())
        {
            Some(open) => open.file.try_clone(),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the module is no file",
            )),
        }
    }

    /// The kernel's module.
    pub fn kernel(&mut self) -> ModuleId {
        if let Some(id) = self.kernel {
            return id;
        }
        let id = self.add(Module::new(ModuleKind::Kernel, b"[kernel]"));
        self.kernel = Some(id);
        id
    }

    /// Where the function that holds `offset` starts, by its unwind information.
    pub fn function_start(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        self.function(id, offset).map(|(start, _)| start)
    }

    /// `[process start]` or `[thread start]` if unwind information says that nothing called this code: the
    /// file's entry point, or a function that makes system calls, as those do that start threads.
    pub fn root_name(&mut self, id: ModuleId, offset: u64) -> Option<&'static str> {
        let row = self.row(id, offset, &mut UnwindContext::new())?;
        if row.kind != Kind::Root {
            return None;
        }
        let Some((start, end)) = self.function(id, offset) else {
            return self.outermost(id, offset);
        };
        if (start..end).contains(&self.get(id).image.entry) {
            return Some(PROCESS_START);
        }
        let mut code = vec![0; end.saturating_sub(start).min(CODE_LIMIT) as usize];
        self.code(id, start, &mut code)?;
        code.windows(2)
            .any(|bytes| bytes == b"\x0f\x05")
            .then_some(THREAD_START)
    }

    /// The module of a file that the kernel told of, if it was seen before and nothing was written to it since.
    pub(crate) fn told(&self, file: ToldFile) -> Option<ModuleId> {
        let known = self.told.get(&file).copied();
        known.filter(|id| self.is_unchanged(*id))
    }

    /// A file that the kernel told of is that of module `id`.
    pub(crate) fn tell(&mut self, file: ToldFile, id: ModuleId) {
        self.told.insert(file, id);
    }

    /// Whether nothing was written to its file since it was opened, if it is open still.
    fn is_unchanged(&self, id: ModuleId) -> bool {
        let Some(origin) = &self.get(id).file else {
            return false;
        };
        origin.open.as_ref().is_none_or(|open| {
            let now = open.file.metadata();
            now.is_ok_and(|now| FileKey::of(&now) == origin.key)
        })
    }

    /// The module of a file that was found open, if it is an ELF file; `mapped` by that process from there to there.
    pub(crate) fn opened(
        &mut self,
        file: Arc<OpenFile>,
        mapped: (u32, u64, u64),
        path: &[u8],
    ) -> Option<ModuleId> {
        let Program::Elf(image) = &file.program else {
            return None;
        };
        let (tgid, start, end) = mapped;
        let place = Place::new(tgid, start, end, path);
        if let Some(id) = self.files.get(&file.key).copied() {
            let module = &mut self.list[id.0 as usize];
            if let Some(origin) = &mut module.file {
                origin.place = place;
                origin.lost = false;
                origin.open.get_or_insert(file);
            }
            for section in &mut module.information {
                if matches!(section, Section::Unreadable) {
                    *section = Section::Out;
                }
            }
            self.touch(id);
            self.close_least_used();
            return Some(id);
        }
        let mut module = Module::new(ModuleKind::File, path);
        module.image = Image::clone(image);
        let key = file.key;
        module.file = Some(Origin {
            key,
            place,
            open: Some(file),
            lost: false,
        });
        let id = self.add(module);
        self.files.insert(key, id);
        self.touch(id);
        self.close_least_used();
        Some(id)
    }

    /// The vDSO, if it is as large as that of this process, which every process has.
    pub(crate) fn own_vdso(&mut self, size: u64) -> Option<ModuleId> {
        let own = match self.vdso {
            Some(own) => own,
            None => {
                let image = probe::own_vdso();
                let size = image.as_ref().map_or(0, |image| image.len() as u64);
                let own = self.vdso(size, || image);
                *self.vdso.insert(own)
            }
        };
        own.filter(|id| self.get(*id).memory.len() as u64 == size)
    }

    /// The vDSO: every process has the same, so only the first is asked for its image.
    pub(crate) fn vdso(
        &mut self,
        size: u64,
        read: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> Option<ModuleId> {
        let known = self
            .list
            .iter()
            .position(|m| m.kind == ModuleKind::Vdso && m.memory.len() as u64 == size);
        if let Some(known) = known {
            return Some(ModuleId(known as u32));
        }
        let mut module = Module::new(ModuleKind::Vdso, b"[vdso]");
        module.memory = read().ok()?;
        module.image = Image::read(Source::Memory(&module.memory)).ok()?;
        Some(self.add(module))
    }

    /// A new module for what process `tgid` compiles.
    pub(crate) fn jit(&mut self, tgid: u32) -> ModuleId {
        let mut module = Module::new(ModuleKind::Jit, b"[jit]");
        module.tgid = Some(tgid);
        self.add(module)
    }

    /// The module for executable memory of a file that is not to be had, or for what is no code at all: a walk ends in it
    /// with `end`.
    pub fn unknown(&mut self, path: &[u8], end: End) -> ModuleId {
        let key = (path.to_vec(), end);
        if let Some(id) = self.unknown.get(&key) {
            return *id;
        }
        let mut module = Module::new(ModuleKind::Unknown, path);
        module.end = end;
        let id = self.add(module);
        self.unknown.insert(key, id);
        id
    }

    /// The row of an address; none if the file cannot be read now.
    pub(crate) fn row(
        &mut self,
        id: ModuleId,
        offset: u64,
        context: &mut UnwindContext<usize>,
    ) -> Option<Row> {
        let row = self
            .covering(id, offset, |module, information| match information {
                Information::Frames(table) => table.row(offset, module.read_from(), context),
                Information::Functions(go) => go.row(&module.image, module.source()?, offset),
            })
            .ok()?;
        Some(match row {
            Some(row) => row,
            None if self.outermost(id, offset).is_some() => Row {
                kind: Kind::Root,
                ..Row::UNCOVERED
            },
            None => Row::UNCOVERED,
        })
    }

    /// Whether the code at `offset`, which follows no call, begins a function or leads to no return: who returns there
    /// was called by nobody.
    pub(crate) fn is_trampoline(&mut self, id: ModuleId, offset: u64) -> bool {
        let starts = self.function_start(id, offset) == Some(offset)
            || self.uncovered(id).is_some_and(|known| {
                let symbols = &known.symbols;
                let at = symbols.binary_search_by_key(&offset, |symbol| symbol.address);
                at.is_ok_and(|at| symbols[at].is_function)
            });
        starts
            || self.function_start(id, offset).is_none()
                && self.budget > 0
                && self.get(id).is_code(offset)
                && self.code_exits(id, offset, false).is_none()
    }

    /// Whether the call that returns to `offset` names its target, which is code of this module.
    pub(crate) fn calls_directly(&mut self, id: ModuleId, offset: u64) -> bool {
        self.named_target(id, offset).is_some()
    }

    /// The target of the call that returns to `offset`, if the call names it.
    fn named_target(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let mut bytes = [0; 5];
        self.code(id, offset.wrapping_sub(5), &mut bytes)?;
        let [opcode, distance @ ..] = bytes;
        let target = offset.wrapping_add_signed(i64::from(i32::from_le_bytes(distance)));
        (opcode == 0xe8 && self.get(id).is_code(target)).then_some(target)
    }

    /// The last byte of the function that the call names which returns to `offset`, if unwind information covers that: there its
    /// frame is in place, if it jumps away at its end.
    pub(crate) fn end_of_called(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        let target = self.call_target(id, offset)?;
        let (start, end) = self.function(id, target)?;
        (start == target).then(|| end.wrapping_sub(1))
    }

    /// The same target, if this walk may still look at code.
    fn call_target(&mut self, id: ModuleId, offset: u64) -> Option<u64> {
        self.budget = self.budget.saturating_sub(READ_COST);
        (self.budget > 0)
            .then(|| self.named_target(id, offset))
            .flatten()
    }

    /// The row of `offset` by the instructions from where the call starts that returns to `to`.
    pub(crate) fn row_by_call(
        &mut self,
        id: ModuleId,
        to: u64,
        offset: u64,
        is_return: bool,
    ) -> Option<Row> {
        let target = self.call_target(id, to)?;
        self.row_from(id, target, offset, is_return)
    }

    /// The row of `offset` by the instructions from where `main` starts, if the entry point says where.
    pub(crate) fn row_of_main(
        &mut self,
        id: ModuleId,
        offset: u64,
        is_return: bool,
    ) -> Option<Row> {
        let main = self.uncovered(id)?.main?;
        self.row_from(id, main, offset, is_return)
    }

    /// The row of `offset` in the function that starts at `start`.
    fn row_from(&mut self, id: ModuleId, start: u64, offset: u64, is_return: bool) -> Option<Row> {
        let distance = offset.checked_sub(start)?;
        if distance >= code::WINDOW {
            return None;
        }
        let symbol = Symbol {
            address: start,
            size: 0,
            is_function: true,
        };
        let row = self
            .code_function(id, &symbol)?
            .and_then(|function| function.row(offset));
        if row.is_some() {
            return row;
        }
        if let Some(row) = self.uncovered(id)?.parts.get(&(start, offset)) {
            return *row;
        }
        // A call that does not come back seems to go on in whatever follows it: what lies behind this place is left out.
        let size = distance + if is_return { 1 } else { LONGEST_INSTRUCTION };
        let bytes = self.code_from(id, start, size);
        let window = Window {
            start,
            bytes: &bytes,
        };
        let mut left = self.budget;
        let function = code::function(&window, start, &mut left);
        self.budget = left;
        if left == 0 {
            return None;
        }
        let row = function.and_then(|function| function.row(offset));
        let known = self.uncovered(id)?;
        if known.parts.len() >= ADDRESSES_KEPT {
            known.parts.clear();
        }
        known.parts.insert((start, offset), row);
        self.give_back(id);
        row
    }

    /// A walk begins.
    pub(crate) fn begin(&mut self) {
        self.budget = CODE_BUDGET;
    }

    /// The row of an address that no unwind information covers, by the instructions there.
    pub(crate) fn code_row(&mut self, id: ModuleId, offset: u64, is_return: bool) -> Option<Row> {
        let known = self.uncovered(id)?;
        if let Some(row) = known.addresses.get(&(offset, is_return)) {
            return *row;
        }
        let starts = known.symbols.partition_point(|s| s.address <= offset);
        let starts = known.symbols[..starts].iter().rev().take(STARTS);
        let starts: Vec<Symbol> = starts
            .take_while(|symbol| offset - symbol.address < code::WINDOW)
            .copied()
            .collect();
        let mut row = None;
        for start in &starts {
            let holds = start.is_function && offset - start.address < u64::from(start.size);
            let function = self.code_function(id, start)?;
            row = function
                .filter(|function| function.returns || holds)
                .and_then(|function| function.row(offset));
            if row.is_some() || holds {
                break;
            }
        }
        if row.is_none() && self.budget > 0 {
            row = self.code_exits(id, offset, is_return);
        }
        if row.is_none()
            && let Some(start) = starts.first()
        {
            row = self.code_after(id, start, offset)?;
        }
        // It may have been cut short.
        if row.is_none() && self.budget == 0 {
            return None;
        }
        let known = self.uncovered(id)?;
        if known.addresses.len() >= ADDRESSES_KEPT {
            known.addresses.clear();
        }
        known.addresses.insert((offset, is_return), row);
        self.give_back(id);
        row
    }

    /// The row of a function that no symbol names, one of those that follow `start`; nothing if that is not to be known now.
    fn code_after(&mut self, id: ModuleId, start: &Symbol, offset: u64) -> Option<Option<Row>> {
        let mut start = *start;
        for _ in 0..FOLLOWED {
            let function = self.code_function(id, &start)?;
            let next = match function.and_then(|function| function.next) {
                Some(next) => next,
                // What is known of its size is known without its instructions.
                None if start.size > 0 => start.address.saturating_add(u64::from(start.size)),
                None => return Some(function.and_then(|function| function.row(offset))),
            };
            if next > offset {
                let row = function.and_then(|function| function.row(offset));
                return Some(row.filter(|_| start.size == 0));
            }
            start = Symbol {
                address: next,
                size: 0,
                is_function: true,
            };
        }
        Some(None)
    }

    /// The function that starts there, by its instructions; nothing if that is not to be known now.
    fn code_function(&mut self, id: ModuleId, start: &Symbol) -> Option<Option<&code::Function>> {
        if !self.uncovered(id)?.functions.contains_key(&start.address) {
            let size = match u64::from(start.size) {
                0 => code::WINDOW,
                size => size.min(code::WINDOW),
            };
            let bytes = self.code_from(id, start.address, size);
            let mut left = self.budget;
            if left == 0 {
                return None;
            }
            let window = Window {
                start: start.address,
                bytes: &bytes,
            };
            let function = code::function(&window, start.address, &mut left);
            self.budget = left;
            if left == 0 {
                return None;
            }
            let known = self.uncovered(id)?;
            if known.functions.len() >= FUNCTIONS_KEPT {
                known.functions.clear();
                known.functions_size = 0;
            }
            known.functions_size += function.as_ref().map_or(0, code::Function::size);
            known.functions.insert(start.address, function);
            self.give_back(id);
        }
        let functions = &self.list[id.0 as usize].uncovered.as_ref()?.functions;
        Some(functions.get(&start.address)?.as_ref())
    }

    fn code_exits(&mut self, id: ModuleId, offset: u64, is_return: bool) -> Option<Row> {
        let address = offset.wrapping_add(u64::from(is_return));
        let start = address.saturating_sub(code::WINDOW);
        let segment = self.get(id).image.segment_start(address)?;
        let start = start.max(segment);
        let bytes = self.code_from(id, start, address - start + code::WINDOW);
        let window = Window {
            start,
            bytes: &bytes,
        };
        let mut left = self.budget;
        let row = code::exits(&window, address, is_return, &mut left);
        self.budget = left;
        row
    }

    /// At most `size` bytes of code, if this walk may still look at code.
    fn code_from(&mut self, id: ModuleId, address: u64, size: u64) -> Vec<u8> {
        let size = size.min(self.get(id).image.code_left(address));
        let cost = u32::try_from(size / BYTES_PER_COST).unwrap_or(u32::MAX);
        let cost = cost.saturating_add(READ_COST);
        self.budget = self.budget.saturating_sub(cost);
        if self.budget == 0 {
            return Vec::new();
        }
        self.read_code(id, address, size)
    }

    /// At most `size` bytes of code.
    fn read_code(&mut self, id: ModuleId, address: u64, size: u64) -> Vec<u8> {
        let image = &self.get(id).image;
        let Some(place) = image.code_offset(address) else {
            return Vec::new();
        };
        let size = size.min(image.code_left(address)) as usize;
        let mut bytes = vec![0; size];
        let opened = self.open(id).is_ok();
        let source = self.get(id).source().filter(|_| opened);
        let read = source.map_or(0, |source| source.read_some(place, &mut bytes));
        bytes.truncate(read);
        bytes
    }

    fn uncovered(&mut self, id: ModuleId) -> Option<&mut Uncovered> {
        if self.get(id).uncovered.is_none() {
            self.open(id).ok()?;
            let module = self.get(id);
            let mut symbols = module.image.code_symbols(module.source()?);
            let entry = module.image.entry;
            let at = symbols.partition_point(|symbol| symbol.address < entry);
            if module.is_code(entry) && symbols.get(at).is_none_or(|s| s.address != entry) {
                let entry = Symbol {
                    address: entry,
                    size: 0,
                    is_function: true,
                };
                symbols.insert(at, entry);
            }
            let bytes = self.read_code(id, entry, ENTRY_SIZE);
            let window = Window {
                start: entry,
                bytes: &bytes,
            };
            let main = code::main(&window).filter(|main| self.get(id).is_code(*main));
            // Without them the ways to a return are left.
            let few = size_of_val(symbols.as_slice()) <= self.limit / 4;
            let known = Uncovered {
                symbols: if few { symbols } else { Vec::new() },
                functions: BTreeMap::new(),
                addresses: HashMap::new(),
                parts: HashMap::new(),
                main,
                functions_size: 0,
            };
            self.list[id.0 as usize].uncovered = Some(Box::new(known));
            self.touch(id);
            self.give_back(id);
        }
        self.list[id.0 as usize].uncovered.as_deref_mut()
    }

    /// Which root it is, of code without unwind information: it follows the entry point, or goes on to end the thread.
    fn outermost(&mut self, id: ModuleId, offset: u64) -> Option<&'static str> {
        let image = &self.get(id).image;
        if image.is_code(offset) && offset.wrapping_sub(image.entry) < ENTRY_SIZE {
            return Some(PROCESS_START);
        }
        self.ends_thread(id, offset).then_some(THREAD_START)
    }

    /// Whether the code just after `offset` ends the thread.
    pub(crate) fn ends_thread(&mut self, id: ModuleId, offset: u64) -> bool {
        let mut code = [0; 16];
        self.code(id, offset, &mut code).is_some()
            && EXIT
                .iter()
                .any(|pattern| code.windows(pattern.len()).any(|bytes| bytes == *pattern))
    }

    /// The caller's registers, by rules that do not fit into a row.
    pub(crate) fn evaluate(
        &mut self,
        id: ModuleId,
        offset: u64,
        context: &mut UnwindContext<usize>,
        registers: &Registers,
        read: &dyn Fn(u64) -> Result<u64, Failure>,
    ) -> Result<Registers, Failure> {
        let caller = self.covering(id, offset, |module, information| match information {
            Information::Frames(table) if table.function(offset, module.read_from()).is_some() => {
                Some(table.evaluate(offset, module.read_from(), context, registers, read))
            }
            _ => None,
        });
        caller.ok().flatten().unwrap_or(Err(Failure::Unusable))
    }

    /// Fills `bytes` with code of the file.
    pub(crate) fn code(&mut self, id: ModuleId, offset: u64, bytes: &mut [u8]) -> Option<()> {
        let place = self.get(id).image.code_offset(offset)?;
        self.open(id).ok()?;
        self.get(id).source()?.read_at(place, bytes).ok()
    }

    /// Whether the code at `offset` returns from a signal.
    pub(crate) fn is_sigreturn(&mut self, id: ModuleId, offset: u64) -> bool {
        SIGRETURN.iter().any(|pattern| {
            let mut bytes = [0; 9];
            let bytes = &mut bytes[..pattern.len()];
            self.code(id, offset, bytes).is_some() && bytes == *pattern
        })
    }

    /// Whether a direct call of `target` returns to `offset`.
    pub(crate) fn calls(&mut self, id: ModuleId, offset: u64, target: u64) -> bool {
        let mut bytes = [0; 5];
        let start = offset.wrapping_sub(5);
        let [opcode, distance @ ..] = match self.code(id, start, &mut bytes) {
            Some(()) => bytes,
            None => return false,
        };
        let distance = i64::from(i32::from_le_bytes(distance));
        opcode == 0xe8 && offset.wrapping_add_signed(distance) == target
    }

    /// Whether a call returns to `offset`.
    pub(crate) fn follows_call(&mut self, id: ModuleId, offset: u64) -> bool {
        let mut bytes = [0; 7];
        let Some(start) = offset.checked_sub(7) else {
            return false;
        };
        if self.code(id, start, &mut bytes).is_none() {
            return false;
        }
        let [_, _, opcode, distance @ ..] = bytes;
        if opcode == 0xe8 {
            let target = offset.wrapping_add_signed(i64::from(i32::from_le_bytes(distance)));
            if self.get(id).is_code(target) {
                return true;
            }
        }
        // Indirect: ff /2, of a length that its operand says.
        (2..=7).any(|length| {
            let [opcode, operand, rest @ ..] = &bytes[7 - length..] else {
                return false;
            };
            let (mode, register, memory) = (operand >> 6, operand >> 3 & 7, operand & 7);
            let scaled = (mode != 3 && memory == 4) as usize;
            let displacement = match mode {
                0 if memory == 5 => 4,
                0 if memory == 4 && rest.first().is_some_and(|scale| scale & 7 == 5) => 4,
                1 => 1,
                2 => 4,
                _ => 0,
            };
            *opcode == 0xff && register == 2 && length == 2 + scaled + displacement
        })
    }

    fn function(&mut self, id: ModuleId, offset: u64) -> Option<(u64, u64)> {
        self.covering(id, offset, |module, information| {
            information.function(offset, module.read_from())
        })
        .ok()
        .flatten()
    }

    /// What the first unwind information that covers an address has to say.
    fn covering<T>(
        &mut self,
        id: ModuleId,
        offset: u64,
        mut ask: impl FnMut(&Module, &Information) -> Option<T>,
    ) -> io::Result<Option<T>> {
        if !self.get(id).is_code(offset) {
            return Ok(None);
        }
        self.touch(id);
        for kept in KEPT {
            self.load(id, kept);
            let module = self.get(id);
            if !self.is_ready(id) && module.information[kept as usize].needs_file() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            match &module.information[kept as usize] {
                Section::In(information) => {
                    if let Some(answer) = ask(module, information) {
                        return Ok(Some(answer));
                    }
                    // Go's `.debug_frame` says the same, and is large.
                    if kept == Kept::Go {
                        break;
                    }
                }
                Section::Unreadable => return Err(io::ErrorKind::NotFound.into()),
                Section::Out | Section::Absent => {}
            }
        }
        Ok(None)
    }

    /// Brings unwind information into memory, if it is not known to be out of reach. What is read piece by piece
    /// needs the file open.
    fn load(&mut self, id: ModuleId, kept: Kept) {
        let piecewise = match &self.get(id).information[kept as usize] {
            Section::Out => false,
            Section::In(information) if information.is_piecewise() => true,
            _ => return,
        };
        let opened = self.open(id);
        if piecewise && opened.is_ok() || !self.is_ready(id) {
            return;
        }
        let limit = self.limit as u64;
        let module = &mut self.list[id.0 as usize];
        let information = module
            .source()
            .map(|source| Information::read(kept, &module.image, source, limit));
        module.information[kept as usize] = match information {
            _ if opened.is_err() => Section::Unreadable,
            Some(Ok(information)) if information.size() as u64 <= limit => Section::In(information),
            _ => Section::Absent,
        };
        self.give_back(id);
    }

    /// Gives memory back until the rest is within the limit; `keep` was just used and goes last.
    fn give_back(&mut self, keep: ModuleId) {
        let mut held = self.held();
        while held > self.limit {
            let Some(oldest) = (0..self.list.len())
                .filter(|index| *index != keep.0 as usize && self.list[*index].held() > 0)
                .min_by_key(|index| self.list[*index].used)
            else {
                break;
            };
            held -= self.list[oldest].held();
            self.list[oldest].information = Default::default();
            self.list[oldest].uncovered = None;
        }
        if held > self.limit {
            // An empty one, so that tables which do not fit are not read again at each walk.
            if let Some(known) = &mut self.list[keep.0 as usize].uncovered {
                **known = Uncovered::default();
            }
            let kept = &mut self.list[keep.0 as usize].information;
            kept[Kept::Go as usize] = Section::Absent;
            kept[Kept::DebugFrame as usize] = Section::Absent;
        }
    }

    /// Has the file of a module open, or tells who waits that it is not.
    fn open(&mut self, id: ModuleId) -> io::Result<()> {
        let Some(origin) = &mut self.list[id.0 as usize].file else {
            return Ok(());
        };
        if origin.open.is_some() {
            return Ok(());
        }
        if origin.lost {
            return Err(io::ErrorKind::NotFound.into());
        }
        if !self.waits {
            if !self.closed.contains(&id) {
                self.closed.push(id);
            }
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let closed = ClosedFile {
            key: origin.key,
            place: origin.place.clone(),
        };
        origin.open = Some(self.prober.reopen(&closed)?);
        self.touch(id);
        self.close_least_used();
        Ok(())
    }

    fn close_least_used(&mut self) {
        let open = |module: &Module| module.file.as_ref().is_some_and(|f| f.open.is_some());
        if self.list.iter().filter(|module| open(module)).count() > OPEN_LIMIT
            && let Some(oldest) = self
                .list
                .iter_mut()
                .filter(|module| open(module))
                .min_by_key(|module| module.used)
            && let Some(origin) = &mut oldest.file
        {
            origin.open = None;
        }
    }

    fn touch(&mut self, id: ModuleId) {
        self.clock += 1;
        self.list[id.0 as usize].used = self.clock;
    }

    fn add(&mut self, module: Module) -> ModuleId {
        if let Some(id) = self.free.pop() {
            self.list[id.0 as usize] = module;
            return id;
        }
        let id = ModuleId(self.list.len() as u32);
        self.list.push(module);
        id
    }
}
