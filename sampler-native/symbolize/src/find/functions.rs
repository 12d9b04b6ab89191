//! The functions that a file has, by its tables of symbols, those of its debug file, or the table of Go's runtime.

use std::borrow::Cow;

use flametop_events::Pattern;
use object::SymbolFlags;
use object::elf::{STT_FUNC, STT_GNU_IFUNC};
use object::read::{Object, ObjectSymbol};

use crate::debug::Elf;
use crate::demangle::{is_label, shown_name};
use crate::go::Functions as Go;

/// What is near is looked for among names no longer than this.
const NEAR_MAX: usize = 256;

/// A function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Without a version.
    pub raw: Cow<'a, str>,
    pub address: u64,
    /// 0: not known.
    pub size: u64,
    /// The program chooses when it starts which function stands behind this name.
    pub chosen: bool,
    pub go: bool,
}

/// The functions of a file.
pub struct Functions<'a> {
    pub tables: Vec<&'a Elf<'a>>,
    pub go: Option<Go<'a>>,
}

impl<'a> Functions<'a> {
    /// All of them; some come twice.
    pub fn each(&self, visit: &mut dyn FnMut(&Function<'_>)) {
        for elf in &self.tables {
            for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
                let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
                    continue;
                };
                let kind = st_info.st_type();
                if ![STT_FUNC, STT_GNU_IFUNC].contains(&kind) || !symbol.is_definition() {
                    continue;
                }
                let Ok(name) = symbol.name_bytes() else {
                    continue;
                };
                let name = String::from_utf8_lossy(name);
                let raw = match name.find('@').filter(|at| *at > 0) {
                    Some(at) => Cow::Owned(name[..at].to_owned()),
                    None => name,
                };
                if raw.is_empty() || is_label(&raw) {
                    continue;
                }
                let address = symbol.address();
                visit(&Function {
                    go: self.go.as_ref().is_some_and(|go| go.has(address)),
                    raw,
                    address,
                    size: symbol.size(),
                    chosen: kind == STT_GNU_IFUNC,
                });
            }
        }
        for (code, name) in self.go.iter().flat_map(Go::all) {
            visit(&Function {
                raw: name,
                address: code.start,
                size: code.end.saturating_sub(code.start),
                chosen: false,
                go: true,
            });
        }
    }
}

/// Which names are meant.
pub struct Names {
    pattern: Pattern,
    /// Whatever is meant has this in its name, mangled or not; only names that are mangled as those of C++ and Rust are looked at this way.
    part: Option<String>,
}

impl Names {
    pub fn new(pattern: Pattern) -> Names {
        let part = pattern.name().and_then(part_of);
        Names { pattern, part }
    }

    /// Whether the function is meant.
    pub fn hold(&self, raw: &str) -> bool {
        if self.pattern.holds(raw.as_bytes()) {
            return true;
        }
        if raw.starts_with("_Z") || raw.starts_with("_R") {
            let part = self.part.as_deref().unwrap_or_default();
            // Demangling is dear. What is behind a branch that is seldom taken does not begin a function.
            if !raw.contains(part) || raw.contains(".cold") {
                return false;
            }
        }
        let shown = shown_name(raw);
        shown != raw
            && (self.pattern.holds(shown.as_bytes())
                || self.pattern.holds(without_types(&shown).as_bytes()))
    }

    /// The functions that a user may have meant.
    pub fn near(&self, functions: &Functions<'_>) -> Vec<Vec<u8>> {
        let Some(wanted) = self.pattern.name() else {
            return Vec::new();
        };
        let mut names: Vec<String> = Vec::new();
        let mut within: Vec<Vec<u8>> = Vec::new();
        functions.each(&mut |function| {
            let shown = match function.raw.len() <= NEAR_MAX {
                true => shown_name(&function.raw),
                false => return,
            };
            let plain = without_types(&shown);
            let inner = plain.strip_suffix(wanted).unwrap_or_default();
            if inner.ends_with("::") || inner.ends_with('.') {
                within.push(plain.as_bytes().to_vec());
            }
            names.push(plain.to_owned());
        });
        within.sort_unstable();
        within.dedup();
        within.truncate(3);
        if !within.is_empty() {
            return within;
        }
        let near = flametop_events::near::nearest(wanted, names.iter().map(String::as_str));
        near.into_iter()
            .map(|name| name.as_bytes().to_vec())
            .collect()
    }
}

/// The last word of a name before the types of the arguments: mangling leaves it as it is. None: an operator and the like.
fn part_of(name: &str) -> Option<String> {
    let plain = without_types(name);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let odd = plain.contains("operator") || plain.contains('~');
    let start = plain.trim_end_matches(is_word).len();
    let word = &plain[start..];
    (!odd && !word.is_empty()).then(|| word.to_owned())
}

/// `a::f` of `a::f(int) const`. Go's `main.(*T).Do` is as it is.
fn without_types(name: &str) -> &str {
    let Some(end) = name.rfind(')') else {
        return name;
    };
    if !name[end + 1..].is_empty() && !name[end + 1..].starts_with(' ') {
        return name;
    }
    let mut depth = 0u32;
    for (at, c) in name[..=end].char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return match at {
                0 => name,
                at => &name[..at],
            };
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pattern: &str, raw: &str) -> bool {
        Names::new(Pattern::parse(pattern).expect("a pattern")).hold(raw)
    }

    #[test]
    fn names_are_meant_mangled_demangled_and_without_types() {
        for (pattern, raw, meant) in [
            ("read", "read", true),
            ("read", "pread", false),
            ("_ZN5space3fooEii", "_ZN5space3fooEii", true),
            ("space::foo(int, int)", "_ZN5space3fooEii", true),
            ("space::foo", "_ZN5space3fooEii", true),
            ("space::fo", "_ZN5space3fooEii", false),
            ("foo", "_ZN5space3fooEii", false),
            ("space::*", "_ZN5space3fooEii", true),
            ("*::foo", "_ZN5space3fooEii", true),
            ("/^space::(foo|bar)\\(/", "_ZN5space3fooEii", true),
            ("foo", "_Z3fooi", true),
            ("foo", "_Z3fooi.cold", false),
            (
                "core::fmt::write",
                "_ZN4core3fmt5write17h0123456789abcdefE",
                true,
            ),
            ("mycrate::foo", "_RNvCs1234_7mycrate3foo", true),
            ("A::operator()", "_ZN1AclEi", true),
            ("A::~A", "_ZN1AD1Ev", true),
            ("main.(*T).Do", "main.(*T).Do", true),
        ] {
            assert_eq!(holds(pattern, raw), meant, "{pattern} {raw}");
        }
    }

    #[test]
    fn types_are_cut_off_at_the_bracket_that_opens_them() {
        for (name, plain) in [
            ("f", "f"),
            ("a::f(int) const", "a::f"),
            ("f(void (*)(int))", "f"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("A::operator()(int)", "A::operator()"),
            ("main.(*T).Do", "main.(*T).Do"),
            ("f(int) [clone .part.0]", "f"),
            ("(x)", "(x)"),
            ("x)", "x)"),
            ("", ""),
        ] {
            assert_eq!(without_types(name), plain, "{name}");
        }
    }
}
