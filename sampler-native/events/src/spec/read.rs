//! Reads the text of a source, as a user writes it.

use std::str::FromStr;

use super::{Counter, Place, Source, Spec, SpecError, Unit, Weight};
use crate::{near::did_you_mean, pattern::Pattern};

const KINDS: [&str; 11] = [
    "usdt",
    "uprobe",
    "uretprobe",
    "longjmp",
    "kprobe",
    "kretprobe",
    "tracepoint",
    "graph",
    "wake",
    "irqsoff",
    "lock",
];
const OPTIONS: [&str; 3] = ["weight", "unit", "depth"];
/// Arguments of a USDT probe; a function has those that come in registers.
const USDT_ARGUMENTS: u8 = 12;
const FUNCTION_ARGUMENTS: u8 = 6;

/// A part of the text, and where it begins.
#[derive(Clone, Copy)]
struct Part<'a> {
    whole: &'a str,
    from: usize,
    to: usize,
}

impl<'a> Part<'a> {
    fn text(self) -> &'a str {
        &self.whole[self.from..self.to]
    }

    fn error(self, message: impl Into<String>) -> SpecError {
        SpecError {
            column: self.whole[..self.from].chars().count() + 1,
            message: message.into(),
        }
    }

    /// The part before this many bytes, and that from there on.
    fn split(self, at: usize) -> (Part<'a>, Part<'a>) {
        let middle = self.from + at;
        (
            Part { to: middle, ..self },
            Part {
                from: middle,
                ..self
            },
        )
    }

    /// What follows this many bytes.
    fn skip(self, bytes: usize) -> Part<'a> {
        self.split(bytes).1
    }

    /// The part before the first of these characters that no backslash precedes, and that behind it.
    fn cut(self, at: char) -> Option<(Part<'a>, Part<'a>)> {
        let text = self.text();
        let found = text
            .char_indices()
            .find(|(i, c)| *c == at && !text[..*i].ends_with('\\'))?;
        let (before, rest) = self.split(found.0);
        Some((before, rest.skip(at.len_utf8())))
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    /// Reads what a user wrote.
    ///
    /// # Errors
    /// The column that cannot be read, and why.
    fn from_str(text: &str) -> Result<Spec, SpecError> {
        let whole = Part {
            whole: text,
            from: 0,
            to: text.len(),
        };
        if let Some(at) = text.find(|c: char| c.is_control()) {
            return Err(whole.skip(at).error("control characters are in no name"));
        }
        let (body, options) = options(whole);
        let end = body
            .text()
            .find([':', '/', ','])
            .unwrap_or(body.text().len());
        let (kind, rest) = body.split(end);
        let counter = Counter::ALL
            .into_iter()
            .find(|counter| counter.name() == kind.text());
        let source = match (counter, kind.text()) {
            (Some(counter), _) => counter_source(counter, rest)?,
            (_, "usdt") => usdt(after_colon(rest, "PROVIDER:NAME or FILE:PROVIDER:NAME")?)?,
            (_, "uprobe") => user(after_colon(rest, "FILE:FUNCTION")?, false)?,
            (_, "uretprobe") => user(after_colon(rest, "FILE:FUNCTION")?, true)?,
            (_, "kprobe") => kernel(after_colon(rest, "FUNCTION")?, false)?,
            (_, "kretprobe") => kernel(after_colon(rest, "FUNCTION")?, true)?,
            (_, "tracepoint") => tracepoint(after_colon(rest, "CATEGORY:NAME")?)?,
            (_, "graph") => Source::Graph {
                function: pattern(after_colon(rest, "FUNCTION")?, "function")?,
                depth: None,
            },
            (_, "longjmp") => Source::Jumps {
                file: match rest.text() {
                    "" => None,
                    _ => Some(file(after_colon(rest, "FILE")?)?),
                },
            },
            (_, "wake") => alone(Source::Wake, rest)?,
            (_, "irqsoff") => alone(Source::IrqsOff, rest)?,
            (_, "lock") => alone(Source::Lock, rest)?,
            (_, "") => return Err(kind.error("a source is missing; flametop events lists them")),
            (_, other) => {
                let names = KINDS.into_iter().chain(Counter::ALL.map(Counter::name));
                let near = did_you_mean(other, names);
                return Err(kind.error(format!("no source is called {other}{near}")));
            }
        };
        finished(text, source, &options)
    }
}

/// `,weight=arg2` and its like at the end, the first one first. Names of functions have commas too, but no equals sign after a word.
fn options(whole: Part<'_>) -> (Part<'_>, Vec<(Part<'_>, Part<'_>)>) {
    let mut body = whole;
    let mut found = Vec::new();
    while let Some(at) = body.text().rfind(',') {
        let (before, option) = body.split(at);
        let option = option.skip(1);
        let Some((key, value)) = option.cut('=') else {
            break;
        };
        if key.text().is_empty() || !key.text().bytes().all(|b| b.is_ascii_lowercase()) {
            break;
        }
        found.insert(0, (key, value));
        body = before;
    }
    (body, found)
}

fn after_colon<'a>(rest: Part<'a>, shape: &str) -> Result<Part<'a>, SpecError> {
    match rest.text().strip_prefix(':') {
        Some("") | None => Err(rest
            .skip(rest.text().len())
            .error(format!("{shape} is missing"))),
        Some(_) => Ok(rest.skip(1)),
    }
}

fn alone(source: Source, rest: Part<'_>) -> Result<Source, SpecError> {
    match rest.text() {
        "" => Ok(source),
        _ => Err(rest.error("this source has no further parts")),
    }
}

fn counter_source(counter: Counter, rest: Part<'_>) -> Result<Source, SpecError> {
    if rest.text().is_empty() {
        return Ok(Source::Counter {
            counter,
            period: None,
        });
    }
    let part = after_colon(rest, "a number of events between samples")?;
    Ok(Source::Counter {
        counter,
        period: Some(number(part)?),
    })
}

/// A number above 0, with `k`, `M` or `G` behind it.
fn number(part: Part<'_>) -> Result<u64, SpecError> {
    let text = part.text();
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let factor = match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    };
    let value = factor.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor));
    value
        .filter(|value| *value > 0)
        .ok_or_else(|| part.error(format!("{text} is no number above 0 (10000, 10k, 1M)")))
}

fn pattern(part: Part<'_>, what: &str) -> Result<Pattern, SpecError> {
    if part.text().is_empty() {
        return Err(part.error(format!("the name of the {what} is missing")));
    }
    Pattern::parse(part.text()).map_err(|why| part.error(why))
}

/// Takes the backslashes off that stand before colons.
fn file(part: Part<'_>) -> Result<String, SpecError> {
    match part.text() {
        "" => Err(part.error("the file is missing")),
        text => Ok(text.replace("\\:", ":")),
    }
}

fn usdt(part: Part<'_>) -> Result<Source, SpecError> {
    let missing = || {
        part.skip(part.text().len())
            .error("PROVIDER:NAME is missing")
    };
    let (first, rest) = part.cut(':').ok_or_else(missing)?;
    // Names have no slash: a third part tells a file.
    match rest.cut(':') {
        Some((provider, name)) => Ok(Source::Usdt {
            file: Some(file(first)?),
            provider: pattern(provider, "provider")?,
            name: pattern(name, "probe")?,
        }),
        None => Ok(Source::Usdt {
            file: None,
            provider: pattern(first, "provider")?,
            name: pattern(rest, "probe")?,
        }),
    }
}

fn user(part: Part<'_>, returns: bool) -> Result<Source, SpecError> {
    let missing = || {
        part.skip(part.text().len())
            .error("FUNCTION is missing: FILE:FUNCTION")
    };
    let (path, function) = part.cut(':').ok_or_else(missing)?;
    Ok(Source::User {
        file: file(path)?,
        place: place(function, returns)?,
        returns,
    })
}

fn kernel(part: Part<'_>, returns: bool) -> Result<Source, SpecError> {
    Ok(Source::Kernel {
        place: place(part, returns)?,
        returns,
    })
}

/// `FUNCTION`, or `FUNCTION+OFFSET`.
fn place(part: Part<'_>, returns: bool) -> Result<Place, SpecError> {
    let text = part.text();
    if !text.starts_with('/')
        && let Some(at) = text.rfind('+')
        && let Some(offset) = offset(&text[at + 1..])
    {
        let (name, plus) = part.split(at);
        let function = pattern(name, "function")?;
        if returns {
            return Err(plus.error("a return has no offset"));
        }
        if function.name().is_none() {
            return Err(plus.error("an offset is of one function; this names several"));
        }
        return Ok(Place { function, offset });
    }
    Ok(Place {
        function: pattern(part, "function")?,
        offset: 0,
    })
}

fn offset(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn tracepoint(part: Part<'_>) -> Result<Source, SpecError> {
    let missing = || {
        part.skip(part.text().len())
            .error("NAME is missing: CATEGORY:NAME")
    };
    let (names, filter) = match part.text().find('/') {
        None => (part, None),
        Some(at) => {
            let (names, slashed) = part.split(at);
            let inner = slashed.text()[1..].strip_suffix('/');
            let inner = inner.ok_or_else(|| slashed.error("the filter has no slash at its end"))?;
            if inner.trim().is_empty() {
                return Err(slashed.error("the filter is empty"));
            }
            (names, Some(inner.to_owned()))
        }
    };
    let (category, name) = names.cut(':').ok_or_else(missing)?;
    Ok(Source::Tracepoint {
        category: pattern(category, "category")?,
        name: pattern(name, "tracepoint")?,
        filter,
    })
}

/// Reads the options, which must fit to the source.
fn finished(
    text: &str,
    mut source: Source,
    options: &[(Part<'_>, Part<'_>)],
) -> Result<Spec, SpecError> {
    let (mut weight, mut unit) = (None, None);
    for (key, value) in options {
        let again = match key.text() {
            "weight" => weight.replace(read_weight(&source, *value)?).is_some(),
            "unit" => unit.replace(read_unit(*value)?).is_some(),
            "depth" => match &mut source {
                Source::Graph { depth, .. } => {
                    let most = u32::try_from(number(*value)?);
                    depth
                        .replace(most.map_err(|_| value.error("so deep is no stack"))?)
                        .is_some()
                }
                _ => return Err(key.error("depth is of the source graph alone")),
            },
            other => {
                let near = did_you_mean(other, OPTIONS);
                return Err(key.error(format!(
                    "no option is called {other}{near}; there are weight, unit and depth"
                )));
            }
        };
        if again {
            return Err(key.error(format!("{} is there twice", key.text())));
        }
    }
    let timed = matches!(
        source,
        Source::Wake | Source::IrqsOff | Source::Lock | Source::Graph { .. }
    );
    let weight = weight.unwrap_or(if timed {
        Weight::Duration
    } else {
        Weight::Hits
    });
    let unit = unit.unwrap_or_else(|| match source {
        Source::Wake => Unit::Waits,
        _ => natural_unit(&weight),
    });
    Ok(Spec {
        text: text.to_owned(),
        source,
        weight,
        unit,
    })
}

/// The unit of a weight whose unit the user did not say.
fn natural_unit(weight: &Weight) -> Unit {
    match weight {
        Weight::Duration => Unit::Nanos,
        Weight::Bytes => Unit::Bytes,
        Weight::Field(name) if name.contains("bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

fn read_unit(value: Part<'_>) -> Result<Unit, SpecError> {
    [Unit::Count, Unit::Bytes, Unit::Nanos]
        .into_iter()
        .find(|unit| unit.name() == value.text())
        .ok_or_else(|| value.error("a unit is events, bytes or ns"))
}

fn read_weight(source: &Source, value: Part<'_>) -> Result<Weight, SpecError> {
    let argument = value
        .text()
        .strip_prefix("arg")
        .and_then(|number| number.parse::<u8>().ok());
    let (known, weight) = match (source, value.text()) {
        (_, "") => return Err(value.error("the weight is missing")),
        (
            Source::Counter {
                counter: Counter::Fault,
                ..
            },
            "bytes",
        ) => ("", Some(Weight::Bytes)),
        (
            Source::Counter {
                counter: Counter::Fault,
                ..
            },
            _,
        ) => ("bytes", None),
        (Source::Counter { .. } | Source::Jumps { .. }, _) => {
            return Err(value.error("each event of this source weighs 1"));
        }
        (Source::Tracepoint { .. }, name) => {
            let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            (
                "its fields, whose names are of letters, digits and _",
                is_name.then(|| Weight::Field(name.to_owned())),
            )
        }
        (Source::Usdt { .. }, _) => {
            let argument = argument.filter(|number| *number < USDT_ARGUMENTS);
            ("arg0 to arg11", argument.map(Weight::Argument))
        }
        (Source::User { returns: true, .. } | Source::Kernel { returns: true, .. }, name) => (
            "dur (from call to return) or ret (what the function returned)",
            match name {
                "dur" => Some(Weight::Duration),
                "ret" => Some(Weight::Returned),
                _ => None,
            },
        ),
        (Source::User { .. } | Source::Kernel { .. }, _) => {
            let argument = argument.filter(|number| *number < FUNCTION_ARGUMENTS);
            (
                "arg0 to arg5 (dur and ret are of uretprobe and kretprobe)",
                argument.map(Weight::Argument),
            )
        }
        (Source::Graph { .. } | Source::Wake | Source::IrqsOff | Source::Lock, name) => {
            ("dur", (name == "dur").then_some(Weight::Duration))
        }
    };
    weight.ok_or_else(|| {
        value.error(format!(
            "{} is no weight of this source; it has {known}",
            value.text()
        ))
    })
}

#[cfg(test)]
mod tests;
