//! The names that a user may have meant.

/// Most names that are offered.
const OFFERED: usize = 3;
/// Names that are less like the wanted one than this are not offered; 1 is equality.
const LEAST_LIKENESS: f64 = 0.7;

/// The names that are most like the wanted one, the likest first; at most three.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<(f64, &str)> = names
        .into_iter()
        // The rest cannot reach the least likeness, and there may be hundreds of thousands.
        .filter(|name| name.len() <= 2 * wanted.len() + 2 && wanted.len() <= 2 * name.len() + 2)
        .map(|name| (strsim::normalized_damerau_levenshtein(wanted, name), name))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    found.sort_unstable_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    found.dedup_by_key(|(_, name)| *name);
    found
        .into_iter()
        .take(OFFERED)
        .map(|(_, name)| name)
        .collect()
}

/// `; did you mean A, B or C?`, or nothing where no name is near.
pub fn did_you_mean<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    offered(&nearest(wanted, names))
}

/// `; did you mean A, B or C?` with these names, or nothing where there are none.
pub fn offered(near: &[&str]) -> String {
    match near.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, before)) => format!("; did you mean {} or {last}?", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let names = [
            "tcp_recvmsg",
            "tcp_sendmsg",
            "tcp_sendpage",
            "udp_sendmsg",
            "x",
        ];
        assert_eq!(
            nearest("tcp_sendmgs", names),
            ["tcp_sendmsg", "tcp_sendpage", "udp_sendmsg"]
        );
    }

    #[test]
    fn nothing_near_offers_nothing() {
        assert_eq!(did_you_mean("zzzz", ["tcp_sendmsg"]), "");
        assert_eq!(did_you_mean("faul", ["fault"]), "; did you mean fault?");
        assert_eq!(did_you_mean("ab", ["abc", "abd"]), "");
    }
}
