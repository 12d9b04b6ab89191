//! Kinds of modules.

use flametop_runtimes::RuntimeKind;

/// The kind of a module.
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
    /// Functions that the interpreter of such a runtime runs, of all processes: they have no code of their own.
    Interpreted(RuntimeKind),
    /// Executable memory of a program that could not be read, or is of another machine.
    Unknown,
}

/// The meaning of a frame that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Nothing called the frame below it.
    Root,
    /// Frames may be missing here, since the caller was guessed.
    Gap,
    /// A word of the writer of the stack: see [`super::Modules::word`].
    Word,
}
