//! Names and lines of functions.

use std::io;

use super::{
    class,
    layout::{
        BASE_LABEL, BODY, DEFINED_BY, DEFINITION, FIRST_NAME, INSTRUCTIONS, LABEL, Layout, OWNER,
        PATH,
    },
    lines, object,
};
use crate::{
    Method, Name,
    memory::{Pages, strange},
    names,
};

/// Most bytes of a name, and of a path.
const MOST_NAME: u64 = 256;
const MOST_PATH: u64 = 4096;

/// Kinds of definitions, by their lowest bits: by an instruction sequence, and in C.
const DEFINITION_KIND: u32 = 0xf;
const BY_SEQUENCE: u32 = 0;
/// A function in C whose name cannot be read.
const NAMELESS: &str = "(C function)";

/// The instruction sequence at an address, or the method that is written in C, as a method whose words are the address of its body or
/// definition, and that of the method that it belongs to, `owner`; 0: to none.
pub fn read(
    layout: &Layout,
    symbols: u64,
    memory: &Pages<'_>,
    at: u64,
    owner: u64,
) -> io::Result<Method> {
    let body = memory.u64(at.wrapping_add(BODY.into()))?;
    let (shown, path, lines, start) = match object::internal(memory, at)? {
        object::SEQUENCE => {
            let text = |offset: u64, most: u64| {
                object::text(layout, memory, memory.u64(body.wrapping_add(offset))?, most)
            };
            let path = path(layout, memory, memory.u64(body.wrapping_add(PATH))?)?;
            let class = class_of(layout, symbols, memory, body, owner)?;
            let (label, base) = (text(LABEL, MOST_NAME)?, text(BASE_LABEL, MOST_NAME)?);
            (
                shown(&label, &base, class.as_deref(), &path),
                path,
                // A function without lines is still a function.
                lines::read(layout, memory, body).unwrap_or_default(),
                memory.u64(body.wrapping_add(INSTRUCTIONS))?,
            )
        }
        object::METHOD if at == owner => {
            let number = memory.u64(body.wrapping_add(FIRST_NAME))?;
            let name = object::symbol(layout, memory, symbols, number, MOST_NAME);
            let name = name.unwrap_or_else(|_| NAMELESS.to_owned());
            let class = memory.u64(at.wrapping_add(OWNER))?;
            let class = class::before_method(layout, symbols, memory, class);
            let class = class.ok().flatten().unwrap_or_default();
            (format!("{class}{name}"), String::new(), Vec::new(), 0)
        }
        _ => return Err(strange("it is no function")),
    };
    Ok(Method {
        name: Name {
            function: names::cut(&shown),
            file: path.into_bytes().into(),
        },
        begin: body,
        end: owner,
        start,
        lines: lines.into(),
        is_native: start == 0,
        is_by_words: true,
    })
}

/// The prefix that tells the class of a method, for the name of its instruction sequence, whose body is told. None: the method is defined by something
/// else, or its class has no name.
///
/// # Errors
/// The sequence is no part of the method: another one lies there now.
fn class_of(
    layout: &Layout,
    symbols: u64,
    memory: &Pages<'_>,
    body: u64,
    owner: u64,
) -> io::Result<Option<String>> {
    if owner == 0 {
        return Ok(None);
    }
    if object::internal(memory, owner)? != object::METHOD {
        return Err(strange("it is no method"));
    }
    let definition = memory.u64(owner.wrapping_add(DEFINITION))?;
    if memory.u32(definition)? & DEFINITION_KIND != BY_SEQUENCE {
        return Ok(None);
    }
    let outermost = memory.u64(body.wrapping_add(layout.outermost.into()))?;
    if memory.u64(definition.wrapping_add(DEFINED_BY))? != outermost {
        return Err(strange("it is of another method"));
    }
    let class = memory.u64(owner.wrapping_add(OWNER))?;
    let class = class::before_method(layout, symbols, memory, class);
    Ok(class.ok().flatten())
}

/// The path of a file: the whole one, if there are two.
fn path(layout: &Layout, memory: &Pages<'_>, at: u64) -> io::Result<String> {
    if let Ok(path) = object::text(layout, memory, at, MOST_PATH) {
        return Ok(path);
    }
    let path = |index: u64| {
        let path = object::element(layout, memory, at, index)?;
        object::text(layout, memory, path, MOST_PATH)
    };
    path(1).or_else(|_| path(0))
}

/// A name as people write it: `Cart#total`, `block in Cart#total`; code of no method by its file too: `<main> (shop/cart.rb)`.
fn shown(label: &str, base: &str, class: Option<&str>, path: &str) -> String {
    match (class, label.strip_suffix(base)) {
        (Some(class), Some(before)) => format!("{before}{class}{base}"),
        _ => format!("{label} ({})", place(path)),
    }
}

/// Where code is from: its file and folder. Code of `eval` has a path of its own, `(eval)` or `(eval at FILE:LINE)`.
fn place(path: &str) -> String {
    let of_eval = path
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    match of_eval.map(|text| (text, text.strip_prefix("eval at "))) {
        Some((_, Some(at))) => format!("eval at {}", names::file_and_folder(at)),
        Some((text, None)) => names::end_of(text).to_owned(),
        None => names::file_and_folder(path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_of_code_of_eval_is_told_without_a_second_pair_of_brackets() {
        for (path, told) in [
            ("/srv/shop/cart.rb", "shop/cart.rb"),
            ("(eval)", "eval"),
            ("(eval at /srv/shop/cart.rb:12)", "eval at shop/cart.rb:12"),
            ("<internal:kernel>", "<internal:kernel>"),
            ("", ""),
        ] {
            assert_eq!(place(path), told);
        }
    }

    #[test]
    fn shown_names_the_class_before_the_method_and_the_file_where_there_is_none() {
        for (label, base, class, told) in [
            ("total", "total", Some("Cart#"), "Cart#total"),
            ("total", "total", Some("Shop::Cart."), "Shop::Cart.total"),
            (
                "block (2 levels) in total",
                "total",
                Some("Cart#"),
                "block (2 levels) in Cart#total",
            ),
            (
                "rescue in total",
                "total",
                Some("Cart#"),
                "rescue in Cart#total",
            ),
            ("total", "total", None, "total (shop/cart.rb)"),
            ("<main>", "<main>", None, "<main> (shop/cart.rb)"),
            ("a", "b", Some("Cart#"), "a (shop/cart.rb)"),
        ] {
            assert_eq!(shown(label, base, class, "/srv/shop/cart.rb"), told);
        }
    }
}
