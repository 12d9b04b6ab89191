//! One question to a helper process, and its answers.

use std::fs::File;
use std::os::fd::AsFd;

use super::answers::answer;
use super::modules::Module;
use super::queue::Batch;
use crate::process::{Death, Helper, Patience, Watched, number};
use crate::protocol::{Ask, PATH_MAX, Reply, Trouble, What};
use crate::{Answer, Source};

/// A helper process that can be asked.
pub struct Process<'a> {
    pub helper: &'a mut Helper,
    pub watched: &'a Watched,
    pub patience: Patience,
}

/// What remains to be done after all answers.
#[derive(Debug, Default)]
pub struct Remains {
    pub troubles: Vec<Trouble>,
    /// Frames without a symbol, of a file whose symbols were stripped.
    pub unnamed: usize,
    /// A debug file may be there that did not come in time.
    pub late: bool,
}

/// Asks `batch`, of `module` and its debug file, and hands over the answers as they come; queries that were answered are no longer in
/// the batch. `limited`: whether a frame without a symbol may have one that is not read.
pub fn exchange(
    batch: &mut Batch,
    module: &Module,
    debug: Option<&File>,
    process: Process<'_>,
    limited: impl Fn() -> bool,
    mut hand_over: impl FnMut(Vec<Answer>),
) -> Result<Remains, Death> {
    let path = module.path.get(..PATH_MAX).unwrap_or(&module.path);
    let ask = Ask {
        what: What::Names,
        kind: module.kind,
        module: module.serial,
        process: number(module.process),
        path: path.to_vec(),
        offsets: batch.queries.iter().map(|query| query.offset).collect(),
    };
    let files: Vec<_> = module.file.iter().chain(debug).map(File::as_fd).collect();
    process.helper.ask(&ask, &files)?;
    let mut waiting = process.patience.begin();
    let mut remains = Remains::default();
    let about = (module.process, path);
    while !batch.queries.is_empty() {
        match process
            .helper
            .answer(about, process.watched, &mut waiting)?
        {
            Reply::Names { stripped, found }
                if !found.is_empty() && found.len() <= batch.queries.len() =>
            {
                let limited = limited() || remains.troubles.iter().any(|t| t.is_limit());
                let answered = batch.queries.drain(..found.len());
                let answers: Vec<Answer> = answered
                    .zip(found)
                    .map(|(query, found)| answer(&query, found, &module.label, limited))
                    .collect();
                if stripped {
                    let without = |answer: &&Answer| answer.source != Source::Symbol;
                    remains.unnamed += answers.iter().filter(without).count();
                }
                hand_over(answers);
            }
            Reply::Trouble(trouble) => remains.troubles.push(trouble),
            _ => return Err(Death::Nonsense),
        }
    }
    remains.late = waiting.late();
    Ok(remains)
}
