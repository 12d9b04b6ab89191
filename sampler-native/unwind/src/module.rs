//! The files that processes map, each opened once.

use crate::{
    ClosedFile, End, ModuleId, OpenFile, Prober,
    budget::{Begun, Work},
    elf::{Image, Source},
    file::{FileKey, Place, Program},
    mounts::Device,
    probe,
};
use flametop_runtimes::RuntimeKind;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io,
    sync::Arc,
    time::Instant,
};

mod kind;
mod tables;
mod text;
mod uncovered;

pub use kind::{ModuleKind, Sign};
use tables::Section;
use uncovered::Uncovered;

/// Descriptors held open at a time.
const OPEN_LIMIT: usize = 256;
/// Signs: modules without code, whose frames say in a stack that nothing called a fiber's function, or that frames may be missing
/// since the caller was guessed.
pub(crate) const FIBER_START: &[u8] = b"[fiber start]";
pub(crate) const GUESSED: &[u8] = b"[guessed]";

/// A file as the kernel tells of it when a process maps it: device, inode, generation.
type ToldFile = (Device, u64, u64);

/// The file of a module.
#[derive(Debug)]
struct Origin {
    key: FileKey,
    place: Place,
    /// None if the file was closed, since others were used more.
    open: Option<Arc<OpenFile>>,
    /// The file cannot be opened again before a process is seen to map it.
    lost: bool,
}

/// One module.
#[derive(Debug)]
pub struct Module {
    kind: ModuleKind,
    path: Vec<u8>,
    tgid: Option<u32>,
    /// See [`Modules::part`].
    part: Option<(u64, u64)>,
    /// Of [`ModuleKind::Unknown`]: how a walk ends there.
    end: End,
    image: Image,
    memory: Vec<u8>,
    file: Option<Origin>,
    information: [Section; 3],
    uncovered: Option<Box<Uncovered>>,
    used: u64,
    /// When a table of the module came into memory last.
    since: Option<Instant>,
    /// Until this time there is no room for its tables.
    put_off: Option<Instant>,
}

impl Module {
    fn new(kind: ModuleKind, path: &[u8]) -> Module {
        Module {
            part: None,
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
            since: None,
            put_off: None,
        }
    }

    /// The kind of the module.
    pub fn kind(&self) -> ModuleKind {
        self.kind
    }

    /// The file's path as the kernel has it, raw: hostile text, with ` (deleted)` after the name of a deleted file.
    /// `[vdso]`, `[jit]` and `[kernel]` for those.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// GNU build id; empty: none.
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

    /// The meaning of its frames, if the module is no code: `[fiber start]` where nothing called a fiber's function, `[guessed]`
    /// where frames may be missing.
    pub fn sign(&self) -> Option<Sign> {
        match &self.path[..] {
            _ if self.kind != ModuleKind::Unknown => None,
            FIBER_START => Some(Sign::Root),
            GUESSED => Some(Sign::Gap),
            _ if self.end == End::Root => Some(Sign::Word),
            _ => None,
        }
    }

    /// How a walk ends in the module, if it cannot go on from there.
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
        Some(Source::File(open.file().ok()?))
    }

    /// None if the file is not open.
    fn read_from(&self) -> Source<'_> {
        self.source().unwrap_or(Source::Memory(&[]))
    }

    fn held(&self) -> usize {
        let information: usize = self.information.iter().map(Section::size).sum();
        information + self.uncovered.as_ref().map_or(0, |known| known.size())
    }
}

/// All modules seen, each once. Their memory and open files are bounded; those least recently used go first.
#[derive(Debug)]
pub struct Modules {
    list: Vec<Module>,
    /// Ids of modules that were forgotten; their places in the list are empty.
    free: Vec<ModuleId>,
    files: HashMap<FileKey, ModuleId>,
    told: HashMap<ToldFile, ModuleId>,
    unknown: HashMap<(Vec<u8>, End), ModuleId>,
    /// See [`Modules::interpreted`].
    interpreted: BTreeMap<RuntimeKind, ModuleId>,
    kernel: Option<ModuleId>,
    limit: usize,
    clock: u64,
    work: Work,
    prober: Arc<Prober>,
    /// Files that are open at a time.
    open_limit: usize,
    /// Whether the user of this may wait for a file to be opened again.
    waits: bool,
    /// Files that were needed and are not open.
    closed: Vec<ModuleId>,
    vdso: Option<Option<ModuleId>>,
}

impl Modules {
    /// For a user that may wait for files. `limit`: bytes of unwind information to hold in memory.
    pub fn new(limit: usize) -> Modules {
        Modules {
            waits: true,
            ..Modules::asking(limit)
        }
    }

    /// For a user that never waits: a question that needs a closed file fails, and [`Modules::take_closed`] tells which file.
    pub fn asking(limit: usize) -> Modules {
        Modules {
            list: Vec::new(),
            free: Vec::new(),
            files: HashMap::new(),
            told: HashMap::new(),
            unknown: HashMap::new(),
            interpreted: BTreeMap::new(),
            kernel: None,
            limit,
            clock: 0,
            work: Work::default(),
            prober: Arc::default(),
            open_limit: OPEN_LIMIT,
            waits: false,
            closed: Vec::new(),
            vdso: None,
        }
    }

    /// Has no more files open at a time than so many, where there are few descriptors.
    pub fn keep_open(&mut self, files: usize) {
        self.open_limit = files.min(OPEN_LIMIT);
    }

    /// Opens the files of these modules.
    pub fn prober(&self) -> Arc<Prober> {
        Arc::clone(&self.prober)
    }

    /// The files that were needed since the last call and are not open. All that was found without them is forgotten here; an
    /// [`Unwinder`](crate::Unwinder) has to forget it too.
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

    /// A file of [`Modules::take_closed`] was opened again, or cannot be (none).
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
        origin.open = file.filter(|file| file.is_open());
        origin.lost = origin.open.is_none();
        self.touch(id);
        self.close_least_used();
    }

    /// Whether questions about the module can be answered now, or never.
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
    /// Returns the forgotten ones.
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
            self.interpreted.retain(|_, interpreted| interpreted != id);
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

    /// A descriptor of the module's file, of its own; opens the file again if need be.
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
            Some(open) => open.file().and_then(File::try_clone),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the module is no file",
            )),
        }
    }

    /// From now on a walk may cost so many units, at most [`WALK_UNITS`](crate::WALK_UNITS); beyond that the walk ends in [`End::Limit`].
    /// Known rows cost nothing.
    pub fn allow(&mut self, units: u64) {
        self.work.allow(units);
        self.work.begin();
    }

    /// Units that were paid since the last call. They may be more than were allowed: the first walk that needs a table of a file pays
    /// for the table.
    pub fn take_spent(&mut self) -> u64 {
        self.work.take_spent()
    }

    /// Whether walks may cost anything now.
    pub fn affords(&self) -> bool {
        self.work.is_any()
    }

    /// See [`Work::begin_fill`].
    pub(crate) fn begin_fill(&self) -> Begun {
        self.work.begin_fill()
    }

    /// See [`Work::end_fill`].
    pub(crate) fn end_fill(&self, begun: Begun) {
        self.work.end_fill(begun);
    }

    /// Whether the walk, or what else was done since [`Modules::allow`], has cost too much.
    pub fn is_refused(&self) -> bool {
        self.work.is_refused()
    }

    /// Pays for something that the walk does.
    pub(crate) fn spend(&self, units: u64) -> bool {
        self.work.spend(units)
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

    /// The module of a file that the kernel told of, if the file was seen before and not written to since.
    pub(crate) fn told(&self, file: ToldFile) -> Option<ModuleId> {
        let known = self.told.get(&file).copied();
        known.filter(|id| self.is_unchanged(*id))
    }

    /// Notes that a file which the kernel told of is the file of module `id`.
    pub(crate) fn tell(&mut self, file: ToldFile, id: ModuleId) {
        self.told.insert(file, id);
    }

    /// Whether the module's file is open and was not written to since it was opened.
    fn is_unchanged(&self, id: ModuleId) -> bool {
        let Some(origin) = &self.get(id).file else {
            return false;
        };
        origin.open.as_ref().is_none_or(|open| {
            let now = open.file().and_then(File::metadata);
            now.is_ok_and(|now| FileKey::of(&now) == origin.key)
        })
    }

    /// The module of an open file, if that is an ELF file. `mapped`: by which process, from and to which address.
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
            let mut opened = false;
            if let Some(origin) = &mut module.file {
                origin.place = place;
                origin.lost = false;
                opened = origin.open.is_none() && file.is_open();
                if opened {
                    origin.open = Some(file);
                }
            }
            for section in &mut module.information {
                if matches!(section, Section::Unreadable) {
                    *section = Section::Out;
                }
            }
            self.touch(id);
            // A process with many mappings asks this for each.
            if opened {
                self.close_least_used();
            }
            return Some(id);
        }
        let mut module = Module::new(ModuleKind::File, path);
        module.image = Image::clone(image);
        let key = file.key;
        module.file = Some(Origin {
            key,
            place,
            open: Some(file).filter(|file| file.is_open()),
            lost: false,
        });
        let id = self.add(module);
        self.files.insert(key, id);
        self.touch(id);
        self.close_least_used();
        Some(id)
    }

    /// The vDSO, if it is as large as this process's own: every process has the same.
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

    /// The module for functions that the interpreter of such a runtime runs, of all processes.
    pub(crate) fn interpreted(&mut self, kind: RuntimeKind) -> ModuleId {
        if let Some(id) = self.interpreted.get(&kind) {
            return *id;
        }
        let path: &[u8] = match kind {
            RuntimeKind::HotSpot => b"[java]",
            RuntimeKind::Python => b"[python]",
            RuntimeKind::Php => b"[php]",
            RuntimeKind::Ruby => b"[ruby]",
            RuntimeKind::V8 => b"[node]",
        };
        let id = self.add(Module::new(ModuleKind::Interpreted(kind), path));
        self.interpreted.insert(kind, id);
        id
    }

    /// The module for executable memory of a file that cannot be read, or for a sign: a walk ends in the module
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

    /// The module for a word in a stack that stands for no code: the module's name.
    pub fn word(&mut self, text: &[u8]) -> ModuleId {
        self.unknown(text, End::Root)
    }

    /// A walk begins.
    pub(crate) fn begin(&mut self) {
        self.work.begin();
    }

    /// Opens the file of a module if it is closed; for a user that never waits, notes that the file was needed.
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
        if self.list.iter().filter(|module| open(module)).count() > self.open_limit
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
