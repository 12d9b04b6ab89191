//! The debug files that are known, by build id.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most build ids that are known; while there are so many, others are not looked for.
const KNOWN_MAX: usize = 4096;
/// A build id without a file is forgotten after this time if there are too many, the time for which the cache
/// remembers it. Sooner, whoever invents build ids would have servers asked without end.
const WITHOUT_TIME: Duration = Duration::from_secs(600);

/// Totals of debug files: how many are wanted, and what became of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DebugFileCounts {
    /// Looked for: without a server only those that are in the cache.
    pub wanted: u64,
    /// Found in the cache.
    pub cached: u64,
    /// Fetched.
    pub fetched: u64,
    /// That no server has.
    pub absent: u64,
    /// That could not be fetched, or were not what was asked for.
    pub failed: u64,
    /// Bytes that came over the network.
    pub bytes: u64,
}

/// What has come since the last time.
#[derive(Debug, Default)]
pub struct DebugFilesCome {
    /// Build ids of the files whose frames may have a name now, or the reason that the debug file is too large.
    pub build_ids: Vec<Vec<u8>>,
    /// Totals.
    pub counts: DebugFileCounts,
}

/// What is known of the debug file of one build id.
#[derive(Debug)]
pub enum Standing {
    /// So many frames want it.
    Wanted(usize),
    Asked,
    Here(Arc<File>),
    /// There is none, or none that can be had: known since then.
    Without(Instant),
    /// The debug file has more bytes than are fetched: known since then.
    TooLarge(Instant),
    /// The file ended who read it.
    Refused,
}

impl Standing {
    /// From now on without a file.
    pub fn without() -> Standing {
        Standing::Without(Instant::now())
    }
}

/// All that is known.
#[derive(Debug, Default)]
pub struct State {
    pub files: HashMap<Vec<u8>, Standing>,
    pub held: usize,
    pub come: Vec<Vec<u8>>,
    pub counts: DebugFileCounts,
    pub notices: Vec<String>,
    /// Bytes that those who fetch may still fetch.
    pub promised: u64,
    pub failures: u32,
    pub told_refused: bool,
    pub told_full: bool,
    /// Nothing more is looked for.
    pub over: bool,
}

impl State {
    /// Whether one more build id may become known.
    pub fn has_room(&mut self, now: Instant) -> bool {
        if self.files.len() >= KNOWN_MAX {
            self.files.retain(|_, standing| match standing {
                Standing::Without(since) | Standing::TooLarge(since) => {
                    now.duration_since(*since) < WITHOUT_TIME
                }
                _ => true,
            });
        }
        self.files.len() < KNOWN_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_room_of_a_full_state_forgets_what_has_no_file_for_long() {
        let long_ago = Instant::now();
        let now = long_ago + WITHOUT_TIME;
        let id = |i: usize| i.to_le_bytes().to_vec();
        let files = (0..KNOWN_MAX)
            .map(|i| match i {
                0 => (id(i), Standing::Wanted(1)),
                1 => (id(i), Standing::Asked),
                2 => (id(i), Standing::Without(now)),
                3 => (id(i), Standing::Refused),
                _ => (id(i), Standing::Without(long_ago)),
            })
            .collect();
        let mut state = State {
            files,
            ..State::default()
        };
        assert!(!state.has_room(now - Duration::from_millis(1)));
        assert_eq!(state.files.len(), KNOWN_MAX);
        assert!(state.has_room(now));
        let mut left: Vec<_> = state.files.into_keys().collect();
        left.sort();
        assert_eq!(left, [id(0), id(1), id(2), id(3)]);
    }
}
