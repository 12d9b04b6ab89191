//! Looks for functions and USDT probes in files of others. A helper process without any rights parses the file, as for names and lines:
//! an answer is numbers and names, and each question has a bound of time and memory.

mod arguments;
mod functions;
mod notes;
pub mod search;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use crate::found::{Argument, ArgumentPlace, FoundSite, Wanted};
use flametop_prober::Whom;

use crate::process::{Death, Helper, Looker, NoStart, Patience, Watched, number, why};
use crate::protocol::{Find, PATH_MAX, Reply};

/// The argument by which the helper process knows what it is for.
pub const ARGUMENT: &str = "find";
const PATIENCE: Patience = Patience {
    cpu: Duration::from_secs(10),
    wall: Duration::from_secs(30),
};

/// A question about one file.
#[derive(Debug)]
pub struct FindQuery<'a> {
    /// The file, open for reading.
    pub file: &'a File,
    /// Its path: a debug file may lie beside it.
    pub path: &'a [u8],
    /// The process in whose root the path is; without one, it is in that of flametop.
    pub process: Option<Whom>,
    /// What is looked for.
    pub wanted: Wanted,
    /// At most so many are told.
    pub most: u32,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSites {
    /// By their offset, or of a list as the file has them; the first of all.
    pub sites: Vec<FoundSite>,
    /// How many there are.
    pub all: u64,
    /// Where there are none: names that the user may have meant.
    pub near: Vec<Vec<u8>>,
}

/// Asks one file after the other. Blocks its caller: it is for a thread of its own.
pub struct Finder {
    helper: Helper,
    watched: Arc<Watched>,
}

/// The helper process of a [`Finder`], for other threads.
#[derive(Clone, Debug)]
pub struct FinderProcess(Arc<Watched>);

impl FinderProcess {
    /// The process that runs now.
    pub fn pid(&self) -> Option<u32> {
        self.0.pid()
    }

    /// Ends the process, and each question from now on.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Whether no more questions are answered.
    pub fn stops(&self) -> bool {
        self.0.stopping()
    }
}

impl Finder {
    /// `program`: the path of `flametop-symbolizer`; `looker`: opens debug files. Nothing is started before the first question.
    pub fn new(program: &Path, looker: Looker) -> Finder {
        Finder {
            helper: Helper::new(program.to_path_buf(), Some(ARGUMENT), PATIENCE, looker),
            watched: Arc::default(),
        }
    }

    /// The helper process, for other threads.
    pub fn process(&self) -> FinderProcess {
        FinderProcess(Arc::clone(&self.watched))
    }

    /// Looks into a file.
    ///
    /// # Errors
    /// Why the file cannot be looked into, in words that go behind its name.
    pub fn find(&mut self, query: &FindQuery<'_>) -> Result<FoundSites, String> {
        if self.watched.stopping() {
            return Err("is not looked into any more".to_owned());
        }
        self.helper
            .start(&self.watched)
            .map_err(|failure| match failure {
                NoStart::Spawn(error) => {
                    format!("cannot be looked into: the symbolizer does not start ({error})")
                }
                NoStart::Version(_) | NoStart::Stranger => {
                    "cannot be looked into: the symbolizer is of another build".to_owned()
                }
                NoStart::Death(death) => {
                    let status = self.helper.end(&self.watched);
                    format!(
                        "cannot be looked into: the symbolizer ended ({})",
                        why(&death, status)
                    )
                }
            })?;
        self.exchange(query).unwrap_or_else(|death| {
            let status = self.helper.end(&self.watched);
            Err(format!(
                "was too much for the process that looks into it ({}); is it damaged?",
                why(&death, status)
            ))
        })
    }

    /// Ends the helper process until the next question.
    pub fn rest(&mut self) {
        self.helper.end(&self.watched);
    }

    fn exchange(&mut self, query: &FindQuery<'_>) -> Result<Result<FoundSites, String>, Death> {
        let path = &query.path[..query.path.len().min(PATH_MAX)];
        let find = Find {
            process: number(query.process),
            path: path.to_vec(),
            most: query.most,
            wanted: query.wanted.clone(),
        };
        self.helper.send(&find.encode(), &[query.file.as_fd()])?;
        let mut waiting = self.helper.patience();
        let mut found = FoundSites::default();
        loop {
            let about = (query.process, path);
            let reply = self.helper.answer(about, &self.watched, &mut waiting)?;
            match reply {
                Reply::Sites(sites) => found.sites.extend(sites),
                Reply::Found { all, near } => {
                    found.all = all;
                    found.near = near;
                    return Ok(Ok(found));
                }
                Reply::NotFound(why) => {
                    return Ok(Err(String::from_utf8_lossy(&why).into_owned()));
                }
                _ => return Err(Death::Nonsense),
            }
            if found.sites.len() > query.most as usize {
                return Err(Death::Nonsense);
            }
        }
    }
}
