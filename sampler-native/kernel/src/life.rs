//! Beginnings of processes, ends of tasks, and changes of process images: the object `task_life`.

use anyhow::{Context, Result};
use libbpf_rs::{
    Link, MapCore,
    skel::{OpenSkel, Skel, SkelBuilder},
};

use crate::{
    Settings, load,
    skeletons::{TaskLifeSkel, TaskLifeSkelBuilder},
    sys, target,
};

pub struct Life {
    /// Are dropped before the programs that they hold.
    _links: [Link; 4],
    skel: TaskLifeSkel<'static>,
}

impl Life {
    pub fn open(settings: &Settings) -> Result<Life> {
        load::patiently(|| {
            let mut open = TaskLifeSkelBuilder::default().open(load::place())?;
            target::aim!(open, "task_life", settings);
            let skel = open.load()?;
            target::set(&skel.maps.targets, &skel.maps.own, settings)?;
            let links = [
                skel.progs.task_fork.attach()?,
                skel.progs.task_exit.attach()?,
                skel.progs.task_exec.attach()?,
                skel.progs.task_free.attach()?,
            ];
            Ok(Life {
                _links: links,
                skel,
            })
        })
    }

    pub fn exclude(&self, tgid: u32) -> Result<()> {
        target::insert(&self.skel.maps.own, tgid)
    }

    pub fn readmit(&self, tgid: u32) -> Result<()> {
        target::remove(&self.skel.maps.own, tgid)
    }

    pub fn dropped(&self) -> u64 {
        self.skel
            .maps
            .bss_data
            .as_deref()
            .map_or(0, |bss| sys::read_shared(&bss.dropped))
    }

    pub fn ring(&self) -> &impl MapCore {
        &self.skel.maps.ring
    }

    pub fn object(&self) -> &libbpf_rs::Object {
        self.skel.object()
    }
}
