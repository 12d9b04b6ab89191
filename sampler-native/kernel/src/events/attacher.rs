//! Attaching sources. The kernel waits for all CPUs before it changes code, on some kernels for seconds; so any thread may do it, beside
//! passes.

use anyhow::Result;

use super::{
    Hook, Shared, Source, SourceSpec, counter, function,
    loader::{Links, Loader},
    rate::Budget,
    stretch, tracepoint, user, wake,
};

/// Attaches sources. All of its copies are the same.
#[derive(Clone)]
pub struct Attacher(Loader);

impl Attacher {
    pub(super) fn new(shared: Shared, most_stack: u64) -> Attacher {
        Attacher(Loader::new(shared, most_stack))
    }

    /// From now on, sources are braked by the kernel from their first hit on, as if they shared the budget with none.
    pub fn brake(&mut self, budget: &Budget) {
        self.0.brake(budget);
    }

    /// Attaches a source: from now on its hits are counted, and its records have this number. The stack of each hit is copied, until
    /// it is told otherwise ([`Events::steer`], [`Events::set_rate`]).
    ///
    /// # Errors
    /// Why this kernel, these privileges or the file do not allow it.
    ///
    /// [`Events::steer`]: super::Events::steer
    /// [`Events::set_rate`]: super::Events::set_rate
    pub fn attach(&self, number: u32, spec: SourceSpec) -> Result<Source> {
        spec.check()?;
        Ok(match &spec.hook {
            Hook::Counter { .. } => {
                let mut source = self.0.load(number, &spec, Links::PerSite)?;
                counter::attach(&mut source)?;
                source
            }
            Hook::Tracepoint { id } => {
                let mut source = self.0.load(number, &spec, Links::PerSite)?;
                tracepoint::attach(&mut source, *id)?;
                source
            }
            Hook::User { .. } | Hook::Jumps { .. } => user::attach(&self.0, number, &spec)?,
            Hook::Kernel { .. } => function::attach_kernel(&self.0, number, &spec)?,
            Hook::Lock { .. } | Hook::Off { .. } => {
                let mut source = self.0.load(number, &spec, Links::PerSite)?;
                stretch::attach(&mut source)?;
                source
            }
            Hook::Wake => {
                wake::check()?;
                let mut source = self.0.load(number, &spec, Links::PerSite)?;
                wake::attach(&mut source)?;
                source
            }
        })
    }
}
