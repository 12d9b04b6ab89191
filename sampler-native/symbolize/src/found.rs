//! The words of questions to files of others, and of the answers.

/// What is looked for in a file. Names are patterns, as [`flametop_events::Pattern`] reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Functions.
    Functions {
        /// The name, mangled or not, with or without the types of the arguments.
        name: String,
        /// So many bytes behind where the function begins.
        offset: u64,
    },
    /// USDT probes.
    Probes {
        /// Who provides the probe.
        provider: String,
        /// The name of the probe.
        name: String,
        /// The place of this argument is wanted, too.
        argument: Option<u8>,
    },
    /// All functions and probes whose text fits, for a list: `uprobe:FILE:NAME` or `usdt:FILE:PROVIDER:NAME`.
    Listed {
        /// The pattern; empty: all.
        pattern: String,
        /// As `FILE` is written.
        file: String,
    },
}

/// A place in the code of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSite {
    /// Of a list: the text by which a user asks for the source.
    pub name: Vec<u8>,
    /// Of a list: the arguments of a probe.
    pub details: Vec<u8>,
    /// Offset in the file.
    pub offset: u64,
    /// A function begins there.
    pub entry: bool,
    /// A five-byte nop is there.
    pub nop5: bool,
    /// The function is one of Go, whose stacks move.
    pub go: bool,
    /// Offset in the file of the number that says how often the probe is watched; 0: there is none.
    pub semaphore: u64,
    /// Where the argument is that was asked for.
    pub argument: Option<Argument>,
}

/// Where an argument of a USDT probe is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// What kind of place it is.
    pub place: ArgumentPlace,
    /// Bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The number may be below 0.
    pub signed: bool,
}

/// A kind of place of an argument. Registers are told by their place in the kernel's `struct pt_regs`, in words of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentPlace {
    /// It is always this number.
    Constant(i64),
    /// In this register.
    Register(u8),
    /// In memory, so many bytes from the address in the register; perhaps another register, shifted by so many bits, is added.
    Memory(u8, i64, Option<(u8, u8)>),
}
