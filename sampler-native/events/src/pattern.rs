//! Which names are meant: one name, a glob, or a regular expression.

use std::fmt;

use regex::bytes::Regex;

/// Names of functions, probes or tracepoints. Names are raw bytes: those of a program may be anything.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// This name alone.
    Name(String),
    /// All names that match it; the text is as the user wrote it.
    Match(String, Regex),
}

impl Pattern {
    /// A name, a glob (`tcp_*`, `?`, `[a-f]`), or a regular expression between slashes (`/^tcp_(send|recv)/`).
    ///
    /// # Errors
    /// Why it is no regular expression, in one line.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        if let Some(inner) = text.strip_prefix('/') {
            let inner = inner
                .strip_suffix('/')
                .ok_or("the regular expression has no slash at its end")?;
            return compiled(text, inner);
        }
        if text.contains(['*', '?', '[']) {
            return compiled(text, &of_glob(text));
        }
        Ok(Pattern::Name(text.to_owned()))
    }

    /// Whether this name fits to the pattern.
    pub fn holds(&self, name: &[u8]) -> bool {
        match self {
            Pattern::Name(only) => only.as_bytes() == name,
            // `to_string[abi:cxx11](int)` is a name, too.
            Pattern::Match(text, regex) => regex.is_match(name) || text.as_bytes() == name,
        }
    }

    /// The only name, if there is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Pattern::Name(name) => Some(name),
            Pattern::Match(..) => None,
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Name(text) | Pattern::Match(text, _) => f.write_str(text),
        }
    }
}

fn compiled(text: &str, expression: &str) -> Result<Pattern, String> {
    // The last line of a syntax error says what is wrong, those before draw where.
    let regex = Regex::new(expression).map_err(|e| {
        let text = e.to_string();
        let last = text.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").to_owned()
    })?;
    Ok(Pattern::Match(text.to_owned(), regex))
}

/// The regular expression of a glob.
fn of_glob(glob: &str) -> String {
    let mut regex = String::from("(?s-u)^");
    let mut rest = glob;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        // As in a shell, a bracket that nothing closes stands for itself.
        let set = (c == '[')
            .then(|| rest.find(']'))
            .flatten()
            .filter(|end| *end > 0);
        match (c, set) {
            ('*', _) => regex.push_str(".*"),
            ('?', _) => regex.push('.'),
            (_, Some(end)) => {
                let (inner, after) = rest.split_at(end);
                let (not, inner) = match inner.strip_prefix(['!', '^']) {
                    Some(inner) if !inner.is_empty() => ("^", inner),
                    _ => ("", inner),
                };
                regex.push('[');
                regex.push_str(not);
                for c in inner.chars() {
                    if c != '-' && !c.is_alphanumeric() {
                        regex.push('\\');
                    }
                    regex.push(c);
                }
                regex.push(']');
                rest = &after[1..];
            }
            _ => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pattern: &str, name: &str) -> bool {
        Pattern::parse(pattern)
            .expect(pattern)
            .holds(name.as_bytes())
    }

    #[test]
    fn a_name_is_itself_alone() {
        assert!(holds("tcp_sendmsg", "tcp_sendmsg"));
        assert!(!holds("tcp_sendmsg", "tcp_sendmsg_locked"));
        assert!(!holds("a.c", "abc"));
    }

    #[test]
    fn a_glob_is_of_the_whole_name() {
        for (glob, name, holds_it) in [
            ("tcp_*", "tcp_sendmsg", true),
            ("tcp_*", "my_tcp_sendmsg", false),
            ("*msg", "tcp_sendmsg", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("v[0-9]*", "v2_x", true),
            ("v[!0-9]*", "v2_x", false),
            ("v[!0-9]*", "vx", true),
            ("f[(]*", "f(int)", true),
            ("a.*", "abc", false),
            ("[", "[", true),
            ("x[]", "x[]", true),
            ("operator*", "operator*=(int)", true),
        ] {
            assert_eq!(holds(glob, name), holds_it, "{glob} {name}");
        }
    }

    #[test]
    fn a_glob_holds_names_that_are_not_utf_8() {
        assert!(Pattern::parse("a*z").expect("a glob").holds(b"a\xff\nz"));
    }

    #[test]
    fn a_regular_expression_is_of_any_part() {
        assert!(holds("/send|recv/", "tcp_sendmsg"));
        assert!(!holds("/^send/", "tcp_sendmsg"));
    }

    #[test]
    fn a_broken_regular_expression_says_why_in_a_line() {
        for (text, why) in [
            ("/(/", "unclosed group"),
            ("/a", "the regular expression has no slash at its end"),
            ("/", "the regular expression has no slash at its end"),
            (
                "[z-a]",
                "invalid character class range, the start must be <= the end",
            ),
        ] {
            assert_eq!(Pattern::parse(text).expect_err(text), why);
        }
    }
}
