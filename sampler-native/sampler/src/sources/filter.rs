//! Filters of tracepoints: `prev_pid > 0 && (comm == "web" || !(flags & 4))`. The kernel side tests the fields one after the other, and
//! each test says which one comes next.

use std::fmt;

use flametop_events::{Field, near::did_you_mean};
use flametop_kernel::events::{self as kernel, Comparison, FieldKind, Next, Predicate, Test};

use super::field::field_of;

/// Why a text is no filter.
#[derive(Debug, PartialEq, Eq)]
pub struct FilterError {
    column: usize,
    message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

type Result<T> = std::result::Result<T, FilterError>;

/// A condition, as it is written.
enum Condition {
    Test(kernel::Field, Test),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

/// Most conditions inside each other.
const DEEPEST: usize = 32;

/// The tests of a filter, the first one first.
pub fn parse(text: &str, fields: &[Field]) -> Result<Vec<Predicate>> {
    let mut parser = Parser {
        text,
        at: 0,
        fields,
        depth: 0,
    };
    let condition = parser.any()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return parser.fail("&&, || or the end is due");
    }
    let mut tests = Vec::new();
    lay(&condition, Next::Accept, Next::Reject, &mut tests);
    // They were laid from the last one to the first.
    let last = tests.len().wrapping_sub(1);
    tests.reverse();
    let turned = |next: Next| match next {
        Next::Test(number) => Next::Test((last - usize::from(number)) as u8),
        verdict => verdict,
    };
    for test in &mut tests {
        test.yes = turned(test.yes);
        test.no = turned(test.no);
    }
    Ok(tests)
}

/// Lays the tests of a condition behind those that follow it; returns where the condition begins. Numbers count from the end.
fn lay(condition: &Condition, yes: Next, no: Next, tests: &mut Vec<Predicate>) -> Next {
    match condition {
        Condition::Test(field, test) => {
            tests.push(Predicate {
                field: *field,
                test: test.clone(),
                yes,
                no,
            });
            // More tests than numbers are more than the kernel side takes, too.
            Next::Test(u8::try_from(tests.len() - 1).unwrap_or(u8::MAX))
        }
        Condition::Not(inner) => lay(inner, no, yes, tests),
        Condition::And(first, second) => {
            let second = lay(second, yes, no, tests);
            lay(first, second, no, tests)
        }
        Condition::Or(first, second) => {
            let second = lay(second, yes, no, tests);
            lay(first, yes, second, tests)
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    fields: &'a [Field],
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(FilterError {
            column: self.text[..self.at].chars().count() + 1,
            message: message.into(),
        })
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let taken = self.rest().starts_with(word);
        self.at += if taken { word.len() } else { 0 };
        taken
    }

    fn any(&mut self) -> Result<Condition> {
        let mut condition = self.all()?;
        while self.take("||") {
            condition = Condition::Or(Box::new(condition), Box::new(self.all()?));
        }
        Ok(condition)
    }

    fn all(&mut self) -> Result<Condition> {
        let mut condition = self.one()?;
        while self.take("&&") {
            condition = Condition::And(Box::new(condition), Box::new(self.one()?));
        }
        Ok(condition)
    }

    fn one(&mut self) -> Result<Condition> {
        if self.depth == DEEPEST {
            return self.fail("too many conditions inside each other");
        }
        self.depth += 1;
        let condition = if self.take("!") {
            Condition::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return self.fail("a closing bracket is due");
            }
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn test(&mut self) -> Result<Condition> {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let name = &rest[..end];
        let Some(field) = self.fields.iter().find(|field| field.name == name) else {
            let near = did_you_mean(name, self.fields.iter().map(|field| field.name.as_str()));
            return match name {
                "" => self.fail("the name of a field is due"),
                _ => self.fail(format!("there is no field {name}{near}")),
            };
        };
        let Ok(field) = field_of(field) else {
            return self.fail(format!("the field {name} cannot be compared"));
        };
        self.at += end;
        let is_text = matches!(field.kind, FieldKind::Text | FieldKind::Dynamic);
        let how = self.comparison()?;
        if is_text {
            let equal = match how {
                Comparison::Equal => true,
                Comparison::Unequal => false,
                _ => return self.fail("texts are compared with == or !="),
            };
            return Ok(Condition::Test(field, Test::Text(equal, self.words()?)));
        }
        Ok(Condition::Test(field, Test::Number(how, self.number()?)))
    }

    fn comparison(&mut self) -> Result<Comparison> {
        for (sign, how) in [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ] {
            if self.take(sign) {
                return Ok(how);
            }
        }
        self.skip_blanks();
        if !self.rest().starts_with("&&") && self.take("&") {
            return Ok(Comparison::Bits);
        }
        self.fail("a comparison is due: == != < <= > >= &")
    }

    fn words(&mut self) -> Result<Vec<u8>> {
        if !self.take("\"") {
            return self.fail("a text in double quotes is due");
        }
        let Some(end) = self.rest().find('"') else {
            return self.fail("the text has no closing quote");
        };
        let words = &self.rest()[..end];
        if words.len() > 15 {
            return self.fail("a text of more than 15 bytes cannot be compared");
        }
        self.at += end + 1;
        Ok(words.as_bytes().to_vec())
    }

    fn number(&mut self) -> Result<i64> {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '-')
            .unwrap_or(rest.len());
        let word = &rest[..end];
        let (below, digits) = match word.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, word),
        };
        let number = match digits.strip_prefix("0x") {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
            None => digits.parse(),
        };
        match number {
            Ok(number) => {
                self.at += end;
                let number = number as i64;
                Ok(if below { number.wrapping_neg() } else { number })
            }
            Err(_) if word.is_empty() => self.fail("a number is due"),
            Err(_) => self.fail(format!("{word} is no number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Vec<Field> {
        let field = |name: &str, kind: &str, offset, size, signed| Field {
            name: name.to_owned(),
            kind: kind.to_owned(),
            offset,
            size,
            signed,
        };
        vec![
            field("pid", "int", 8, 4, true),
            field("flags", "unsigned long", 16, 8, false),
            field("comm", "char[16]", 24, 16, false),
            field("args", "unsigned long[6]", 40, 48, false),
        ]
    }

    /// What the tests say of a record with these fields.
    fn passes(tests: &[Predicate], pid: i64, flags: i64, comm: &[u8]) -> bool {
        let mut next = Next::Test(0);
        loop {
            let test = match next {
                Next::Accept => return true,
                Next::Reject => return false,
                Next::Test(number) => &tests[usize::from(number)],
            };
            let yes = match &test.test {
                Test::Text(equal, text) => (comm == text) == *equal,
                Test::Number(how, value) => {
                    let field = if test.field.offset == 8 { pid } else { flags };
                    match how {
                        Comparison::Equal => field == *value,
                        Comparison::Unequal => field != *value,
                        Comparison::Less => field < *value,
                        Comparison::AtMost => field <= *value,
                        Comparison::More => field > *value,
                        Comparison::AtLeast => field >= *value,
                        Comparison::Bits => field & *value != 0,
                    }
                }
            };
            let after = if yes { test.yes } else { test.no };
            // Forward only: the kernel side makes no more steps than there are tests.
            if let (Next::Test(from), Next::Test(to)) = (next, after) {
                assert!(to > from);
            }
            next = after;
        }
    }

    #[test]
    fn conditions_mean_what_they_say() {
        let fields = fields();
        for pid in [-1, 0, 7, 8] {
            for flags in [0, 4, 5] {
                for comm in [&b"web"[..], b"db"] {
                    let check = |text: &str, so: bool| {
                        let tests = parse(text, &fields).unwrap_or_else(|e| panic!("{text}: {e}"));
                        assert_eq!(
                            passes(&tests, pid, flags, comm),
                            so,
                            "{text}: {pid} {flags}"
                        );
                    };
                    let web = comm == b"web";
                    check("pid>0", pid > 0);
                    check("pid == -1", pid == -1);
                    check("!(flags & 4)", flags & 4 == 0);
                    check(
                        "pid >= 7 && comm == \"web\" || flags & 0x1",
                        pid >= 7 && web || flags & 1 != 0,
                    );
                    check(
                        "pid != 7 && (comm != \"web\" || flags == 5) && !(pid<0||flags<=0)",
                        pid != 7 && (!web || flags == 5) && !(pid < 0 || flags <= 0),
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_filter_is_named_with_its_column() {
        for (text, error) in [
            ("", "column 1: the name of a field is due"),
            (
                "flag > 3",
                "column 1: there is no field flag; did you mean flags?",
            ),
            ("pid", "column 4: a comparison is due: == != < <= > >= &"),
            ("pid > x", "column 7: x is no number"),
            ("pid > 3 flags == 1", "column 9: &&, || or the end is due"),
            ("(pid > 3", "column 9: a closing bracket is due"),
            ("comm == web", "column 9: a text in double quotes is due"),
            (
                "comm < \"web\"",
                "column 7: texts are compared with == or !=",
            ),
            ("args == 1", "column 1: the field args cannot be compared"),
            (
                "comm == \"0123456789abcdef\"",
                "column 10: a text of more than 15 bytes cannot be compared",
            ),
        ] {
            let found = parse(text, &fields()).unwrap_err().to_string();
            assert_eq!(found, error, "{text}");
        }
        assert!(parse(&"(".repeat(100), &fields()).is_err());
    }
}
