//! The pid namespace of this process: the programs number tasks as this namespace does.

use std::{fs, os::unix::fs::MetadataExt, path::Path, sync::OnceLock};

use anyhow::{Context, Result};
use libbpf_rs::{
    ProgramInput,
    skel::{OpenSkel, SkelBuilder},
};

use crate::{
    load,
    skeletons::{PidLevelSkel, PidLevelSkelBuilder},
};

const OWN: &str = "/proc/self/ns/pid";
/// The inode of the initial pid namespace, the same on every kernel.
const INITIAL: u64 = 0xEFFF_FFFC;

/// A pid namespace, as the programs take it.
#[derive(Clone, Copy)]
pub struct Namespace {
    /// Levels below the initial one.
    pub level: u32,
    pub inode: u32,
}

/// Tells whether process numbers in this namespace are the kernel's own.
pub fn is_initial() -> bool {
    fs::metadata(OWN).is_ok_and(|ns| ns.ino() == INITIAL)
}

/// Tells whether `/proc` gives processes the numbers that this process sees.
pub fn has_own_proc() -> bool {
    let own = fs::read_link("/proc/self");
    own.is_ok_and(|own| own == Path::new(&std::process::id().to_string()))
}

/// The pid namespace of this process, which never changes.
pub fn own() -> Result<Namespace> {
    static KNOWN: OnceLock<Namespace> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(*known);
    }
    let inode = fs::metadata(OWN)
        .with_context(|| format!("{OWN} cannot be read"))?
        .ino();
    let level = if inode == INITIAL { 0 } else { level()? };
    let inode = u32::try_from(inode).context("the inode of the pid namespace")?;
    Ok(*KNOWN.get_or_init(|| Namespace { level, inode }))
}

fn level() -> Result<u32> {
    let loaded: PidLevelSkel<'_> = load::patiently(|| {
        let open = PidLevelSkelBuilder::default().open(load::place())?;
        Ok(open.load()?)
    })?;
    let run = loaded
        .progs
        .find_level
        .test_run(ProgramInput::default())
        .context("the level of the pid namespace is not to be had")?;
    Ok(run.return_value)
}
