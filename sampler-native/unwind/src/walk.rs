//! The walk.
use crate::{Frame, Input, Modules, Outcome, ProcessMaps};

/// Walks stacks; holds the unwind rows decoded so far.
#[derive(Debug, Default)]
pub struct Unwinder {}

impl Unwinder {
    /// An unwinder with an empty cache.
    pub fn new() -> Unwinder {
        Unwinder::default()
    }
    /// Walks one stack into `frames` (cleared first), leaf first.
    pub fn walk(
        &mut self,
        _maps: &ProcessMaps,
        _modules: &mut Modules,
        _input: &Input,
        _frames: &mut Vec<Frame>,
    ) -> Outcome {
        unimplemented!()
    }
}
