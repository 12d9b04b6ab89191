//! Whom the programs sample: the constants and maps of `target.h`.

use anyhow::{Context, Result};
use libbpf_rs::{MapCore, MapFlags};

use crate::{Hierarchy, Settings, Target};

/// Sets the constants of `target.h` and `kernel.h` in an open object, and gives all constants of the object.
macro_rules! aim {
    ($open:ident, $object:literal, $settings:expr) => {{
        let rodata = $open
            .maps
            .rodata_data
            .as_deref_mut()
            .context(concat!($object, " has no constants"))?;
        $crate::load::check_abi($object, rodata.abi)?;
        rodata.target_kind = $crate::target::kind(&$settings.target);
        rodata.target_cgroup = $crate::target::cgroup(&$settings.target);
        rodata.cgroup_hierarchy = $crate::target::hierarchy($settings.hierarchy);
        let numbers = $crate::namespace::own()?;
        rodata.pid_level = numbers.level;
        rodata.pid_namespace = numbers.inode;
        rodata
    }};
}
pub(crate) use aim;

/// The number that `target_kind` in `target.h` has for a target.
pub fn kind(target: &Target) -> u32 {
    match target {
        Target::All => 0,
        Target::Processes(_) => 1,
        Target::Threads(_) => 2,
        Target::Cgroup(_) => 3,
    }
}

/// The number that `target_cgroup` in `target.h` has for a target.
pub fn cgroup(target: &Target) -> u64 {
    match target {
        Target::Cgroup(id) => *id,
        _ => 0,
    }
}

/// The number that `cgroup_hierarchy` in `kernel.h` has for a hierarchy.
pub fn hierarchy(hierarchy: Hierarchy) -> u32 {
    match hierarchy {
        Hierarchy::Default => 0,
        Hierarchy::Memory => 1,
        Hierarchy::Pids => 2,
    }
}

/// Fills the maps of `target.h`.
pub fn set(targets: &impl MapCore, own: &impl MapCore, settings: &Settings) -> Result<()> {
    if let Target::Processes(ids) | Target::Threads(ids) = &settings.target {
        for id in ids {
            insert(targets, *id)?;
        }
    }
    settings.own.iter().try_for_each(|tgid| insert(own, *tgid))
}

/// Adds a member to a map that is a set of ids.
pub fn insert(set: &impl MapCore, id: u32) -> Result<()> {
    set.update(&id.to_ne_bytes(), &[1], MapFlags::ANY)
        .with_context(|| format!("failed to add {id} to a BPF map"))
}

/// Takes a member out of a map that is a set of ids.
pub fn remove(set: &impl MapCore, id: u32) -> Result<()> {
    set.delete(&id.to_ne_bytes())
        .with_context(|| format!("failed to take {id} out of a BPF map"))
}
