//! The sources of events that this machine has, for people who look for one.

use flametop_events::{
    Spec,
    list::{self, Listing, Wanted},
};

use crate::{OpenError, settings::Settings};

/// Lists the sources whose text fits to a pattern, none: all; at most so many of them. `settings`: as those of a session; a target that is
/// processes adds what can be probed in their files.
///
/// # Errors
/// The pattern is no regular expression (2), or a setting is not understood.
pub fn events(settings: &str, pattern: Option<&str>, most: usize) -> Result<Listing, OpenError> {
    Settings::parse(settings)?;
    let wanted = Wanted::parse(pattern).map_err(OpenError::usage)?;
    let mut listing = Listing::new(most);
    list::add_common(&mut listing, &wanted);
    list::add_tracepoints(&mut listing, &wanted);
    list::add_functions(&mut listing, &wanted);
    Ok(listing)
}

/// Refuses a text that is no spec of a source.
///
/// # Errors
/// The column that cannot be read, and why (2).
pub fn check_spec(text: &str) -> Result<(), OpenError> {
    text.parse::<Spec>()
        .map(drop)
        .map_err(|error| OpenError::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_that_cannot_be_read_is_wrong_usage_and_names_the_column() {
        assert_eq!(check_spec("fault,weight=bytes"), Ok(()));
        let error = check_spec("falt").expect_err("no source");
        assert_eq!(error.code, 2);
        assert_eq!(
            error.message,
            "column 1: no source is called falt; did you mean fault?"
        );
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_wrong_usage() {
        let error = events("", Some("/(/"), 1).expect_err("a broken pattern");
        assert_eq!((error.code, error.message.as_str()), (2, "unclosed group"));
        assert_eq!(
            events("colour=blue", None, 1).expect_err("nonsense").code,
            1
        );
        let found = events("", Some("/^(major-)?fault$/"), 1).expect("counters");
        assert_eq!((found.all, found.found.len()), (2, 1));
    }
}
