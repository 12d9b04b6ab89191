//! When the helper process of all files is started again after its death, and when frames are answered without it.

use std::time::{Duration, Instant};

const BACKOFF_MIN: Duration = Duration::from_millis(50);
pub const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// After so long without a death the next start comes quickly again.
const CALM: Duration = Duration::from_secs(60);
/// So many deaths in a row for no known reason, and frames are answered without the helper process while it is down.
pub const DEATHS_MAX: u32 = 3;

/// The past of the helper process, as far as it decides about the next start.
#[derive(Debug)]
pub struct Restarts {
    /// Deaths in a row for no known reason.
    deaths: u32,
    backoff: Duration,
    died_at: Option<Instant>,
    retry_at: Instant,
    /// The program cannot be used, and a notice has said so.
    going_without: bool,
}

impl Restarts {
    pub fn new() -> Restarts {
        Restarts {
            deaths: 0,
            backoff: BACKOFF_MIN,
            died_at: None,
            retry_at: Instant::now(),
            going_without: false,
        }
    }

    /// When the next start is due.
    pub fn retry_at(&self) -> Instant {
        self.retry_at
    }

    /// Whether frames are answered without a helper process while there is none.
    pub fn is_without(&self) -> bool {
        self.going_without || self.deaths >= DEATHS_MAX
    }

    /// The helper process runs.
    pub fn started(&mut self) {
        self.going_without = false;
    }

    /// The helper process answered a question.
    pub fn answered(&mut self) {
        self.deaths = 0;
    }

    /// The program is not what it should be; it is tried again later. Returns whether that is new.
    pub fn unusable(&mut self) -> bool {
        self.retry_at = Instant::now() + BACKOFF_MAX;
        !std::mem::replace(&mut self.going_without, true)
    }

    /// The helper process died. `paid`: it is known by whose file, for which its owner has paid; others have not to wait.
    pub fn died(&mut self, paid: bool) {
        let now = Instant::now();
        let calm = self.died_at.is_none_or(|died| now - died > CALM);
        self.backoff = if calm || paid {
            BACKOFF_MIN
        } else {
            (self.backoff * 2).min(BACKOFF_MAX)
        };
        self.died_at = Some(now);
        self.retry_at = now + self.backoff;
    }

    /// The death was for no known reason. Returns whether there were so many that people are to know.
    pub fn died_unexplained(&mut self) -> bool {
        self.deaths += 1;
        self.deaths == DEATHS_MAX
    }
}
