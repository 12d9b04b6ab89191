//! How many places one source may be put into.

use anyhow::{Result, bail};

/// Most places of one source; more where the user insists.
const MOST_PROBES: u32 = 1_000;
const MOST_FORCED: u32 = 100_000;

/// Most places of one source. `force`: the user insists.
pub fn most_probes(force: bool) -> u32 {
    if force { MOST_FORCED } else { MOST_PROBES }
}

/// Refuses a source that means more places. `what`: the words of the user, as `function tcp_*`.
///
/// # Errors
/// It does, and what mends that.
pub fn check_number(what: &str, all: u64, force: bool) -> Result<()> {
    let most = most_probes(force);
    if all > u64::from(most) {
        let remedy = match force {
            true => "",
            false => ", or insist with --force-probes",
        };
        bail!("{what} means {all} places; {most} at most are probed at once: name fewer{remedy}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_thousand_places_are_refused_until_the_user_insists() {
        let refused =
            |all, force| check_number("function x*", all, force).map_err(|why| why.to_string());
        assert_eq!(refused(1_000, false), Ok(()));
        assert_eq!(
            refused(1_001, false),
            Err(
                "function x* means 1001 places; 1000 at most are probed at once: name fewer, or insist with --force-probes"
                    .to_owned()
            )
        );
        assert_eq!(refused(100_000, true), Ok(()));
        assert_eq!(
            refused(100_001, true),
            Err(
                "function x* means 100001 places; 100000 at most are probed at once: name fewer"
                    .to_owned()
            )
        );
    }
}
