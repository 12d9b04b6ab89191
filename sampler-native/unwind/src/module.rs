//! The files that processes map.
use crate::ModuleId;
use std::{fs::File, io};

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
    /// Executable memory of a file that could not be read.
    Unknown,
}

/// One module.
#[derive(Debug)]
pub struct Module {}

impl Module {
    /// What it is.
    pub fn kind(&self) -> ModuleKind {
        unimplemented!()
    }
    /// As the kernel names it, raw; `[vdso]`, `[jit]`, `[kernel]` for those.
    pub fn path(&self) -> &[u8] {
        unimplemented!()
    }
    /// GNU build id, empty if it has none.
    pub fn build_id(&self) -> &[u8] {
        unimplemented!()
    }
    /// The whole vDSO.
    pub fn image(&self) -> Option<&[u8]> {
        unimplemented!()
    }
    /// Of [`ModuleKind::Jit`]: the process.
    pub fn tgid(&self) -> Option<u32> {
        unimplemented!()
    }
}

/// All modules seen, each once.
#[derive(Debug)]
pub struct Modules {}

impl Modules {
    /// `limit`: bytes of unwind information to hold in memory; least recently used goes first.
    pub fn new(_limit: usize) -> Modules {
        unimplemented!()
    }
    /// The module of that id.
    pub fn get(&self, _id: ModuleId) -> &Module {
        unimplemented!()
    }
    /// How many there are; their ids are below.
    pub fn len(&self) -> usize {
        unimplemented!()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A descriptor of the module's file, opened again if need be.
    ///
    /// # Errors
    /// It is no file, or no longer mapped by any process known.
    pub fn file(&mut self, _id: ModuleId) -> io::Result<File> {
        unimplemented!()
    }
    /// The kernel's module.
    pub fn kernel(&mut self) -> ModuleId {
        unimplemented!()
    }
    /// Where the function that holds `offset` starts, by its unwind information.
    pub fn function_start(&mut self, _id: ModuleId, _offset: u64) -> Option<u64> {
        unimplemented!()
    }
    /// `[thread start]` or `[process start]`, if unwind information says that nothing called this code.
    pub fn root_name(&mut self, _id: ModuleId, _offset: u64) -> Option<&'static str> {
        unimplemented!()
    }
}
