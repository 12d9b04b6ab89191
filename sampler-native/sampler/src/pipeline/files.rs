//! The modules of all processes, and the files behind them.

use std::{collections::HashSet, sync::Arc};

use flametop_unwind::{ClosedFile, ModuleId, Modules, OpenFile};

use flametop_prober::Whom;

use crate::{prober::Prober, tasks::Tasks};

/// The modules. Few of their files stay open; the prober opens a closed one again when it is needed.
pub struct Files {
    /// The modules.
    pub modules: Modules,
    prober: Arc<Prober>,
    /// Modules whose files the prober is opening.
    opening: HashSet<ModuleId>,
}

impl Files {
    /// Files that this prober opens.
    pub fn new(modules: Modules, prober: Arc<Prober>) -> Files {
        Files {
            modules,
            prober,
            opening: HashSet::new(),
        }
    }

    /// Asks the prober for the files that were needed and are closed; returns their modules.
    pub fn ask_for_needed(&mut self) -> Vec<ModuleId> {
        let closed = self.modules.take_closed();
        let needed = closed.iter().map(|(id, _)| *id).collect();
        for (id, closed) in closed {
            if self.opening.contains(&id) {
                continue;
            }
            if self.prober.reopen(id, closed.clone()) {
                self.opening.insert(id);
            } else {
                self.modules.reopened(id, &closed, None);
            }
        }
        needed
    }

    /// The prober has answered for a module: its file, or none if the file cannot be opened.
    pub fn opened(&mut self, id: ModuleId, closed: &ClosedFile, file: Option<Arc<OpenFile>>) {
        self.opening.remove(&id);
        self.modules.reopened(id, closed, file);
    }

    /// A process whose root may have the debug file of a module: one that maps the module.
    pub fn mapper(&self, id: ModuleId, tasks: &Tasks) -> Option<Whom> {
        let tgid = self.modules.get(id).tgid()?;
        let key = tasks.mapper(tgid, id)?;
        Some(self.prober.process(key))
    }

    /// Whether a module's file is open, or cannot be opened. Asks the prober for a closed one.
    pub fn is_open(&mut self, id: ModuleId) -> bool {
        if self.modules.is_ready(id) {
            return true;
        }
        // The error is that the file is closed; the modules note that it was needed.
        let _ = self.modules.file(id);
        self.ask_for_needed();
        self.modules.is_ready(id)
    }
}
