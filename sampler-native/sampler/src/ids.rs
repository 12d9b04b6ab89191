//! Dense ids, which are used again once they are forgotten.

use flametop_stream::{Encoder, Record, Space};

/// Ids told in one record: the smallest batch holds several.
const MAX_TOLD: usize = 4096;

/// The ids of one space.
#[derive(Debug, Default)]
pub struct Ids {
    next: u32,
    free: Vec<u32>,
}

impl Ids {
    /// A free id.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Takes ids back, and says so.
    pub fn forget(&mut self, space: Space, ids: &[u32], out: &mut Encoder) {
        for part in ids.chunks(MAX_TOLD) {
            out.put(&Record::Forgotten {
                space,
                ids: part.into(),
            });
        }
        self.free.extend_from_slice(ids);
    }
}
