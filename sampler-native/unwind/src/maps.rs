//! What a process has mapped.
use crate::Modules;
use std::io;

/// The mappings of one process generation (from one exec to the next).
#[derive(Debug)]
pub struct ProcessMaps {}

impl ProcessMaps {
    /// Reads the mappings of process `tgid`.
    ///
    /// # Errors
    /// What the kernel says about `/proc/TGID/maps`: the process is gone, or may not be looked at.
    pub fn read(_tgid: u32, _modules: &mut Modules) -> io::Result<ProcessMaps> {
        unimplemented!()
    }

    /// Reads them again; code made at run time keeps its module.
    ///
    /// # Errors
    /// As [`ProcessMaps::read`]; what was known stays.
    pub fn refresh(&mut self, _modules: &mut Modules) -> io::Result<()> {
        unimplemented!()
    }
}
