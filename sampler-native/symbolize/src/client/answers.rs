//! The name that a frame gets: by its symbol, or without one.

use crate::protocol::Found;
use crate::{Answer, Query, Source};

/// The name that `found` gives, unless it is only the nearest symbol below: the function begins
/// behind it.
pub fn answer(query: &Query, found: Found, label: &[u8], limited: bool) -> Answer {
    let covers = found.start <= query.offset
        && query
            .function_start
            .is_none_or(|start| start <= found.start);
    if found.name.is_empty() || !covers {
        return without_symbol(query, label, limited);
    }
    Answer {
        frame: query.frame,
        source: Source::Symbol,
        name: found.name,
    }
}

/// The name of a frame that has no symbol. `label` is the file's name, empty if the module is not
/// known. `limited`: the frame may have a symbol that is not read.
pub fn without_symbol(query: &Query, label: &[u8], limited: bool) -> Answer {
    let (source, place) = match (query.root, query.function_start) {
        (Some(root), _) => {
            return Answer {
                frame: query.frame,
                source: Source::Root,
                name: root.into(),
            };
        }
        (None, Some(start)) => (Source::FunctionStart, format!("fn@{start:#x}")),
        (None, None) => (Source::Unknown, format!("{:#x}", query.offset)),
    };
    let mut name = label.to_vec();
    if !label.is_empty() {
        name.push(b'+');
    }
    name.extend(place.into_bytes());
    let source = match limited || query.limited {
        true => Source::Limit,
        false => source,
    };
    Answer {
        frame: query.frame,
        source,
        name,
    }
}
