//! Names of functions.

use std::io;

use super::{
    integer, is_object,
    layout::{ELEMENTS, INTERPRETER_BYTECODE, Layout, MAP, SCRIPT_NAME, SHARED_DATA, TYPE},
};
use crate::{
    Method, Name,
    memory::{Pages, strange},
    names::{self, file_and_folder},
};

/// Most characters of a name and of a path.
const MOST_NAME: u64 = 256;
const MOST_PATH: u64 = 4096;
/// Most strings that a string is made of.
const MOST_PARTS: u32 = 16;

/// Types from here on are of no strings.
const STRINGS: u16 = 128;
/// Bits of the type of a string: how it is kept, and whether its characters are bytes.
const KEPT: u16 = 7;
const IN_PLACE: u16 = 0;
const JOINED: u16 = 1;
const SLICED: u16 = 3;
const THIN: u16 = 5;
const BYTES: u16 = 8;
/// In a string: its length, and its characters; or the string that it is, or is a part of; and the second part, or where the part begins.
const LENGTH: u64 = 12;
const CHARACTERS: u64 = 16;
const SECOND: u64 = 24;

/// Words of a scope behind its map: flags, the number of parameters, and the number of variables that closures use.
const VARIABLES: u64 = 2;
/// More variables than these have their names in a table.
const MOST_VARIABLES: u64 = 75;
/// Bits of the flags: the type of the scope; whether it has a word more for a class; whether it has a name; whether it has one that V8 made up.
const SCOPE_TYPE: u64 = 15;
const CLASS: u64 = 1 << 10;
const NAMED: u64 = 3 << 12;
const INFERRED: u64 = 1 << 14;

/// An object's type.
pub fn type_of(memory: &Pages<'_>, object: u64) -> io::Result<u16> {
    if !is_object(object) {
        return Err(strange("it is no object"));
    }
    let map = word(memory, object, MAP)?;
    if !is_object(map) {
        return Err(strange("it is no object"));
    }
    memory.u16(untagged(map).wrapping_add(TYPE))
}

fn untagged(object: u64) -> u64 {
    object.wrapping_sub(1)
}

/// A word of an object.
pub fn word(memory: &Pages<'_>, object: u64, offset: u64) -> io::Result<u64> {
    memory.u64(untagged(object).wrapping_add(offset))
}

/// An object that a word of another one leads to, if it has this type.
pub fn typed(memory: &Pages<'_>, object: u64, offset: u64, wanted: u16) -> io::Result<u64> {
    let found = word(memory, object, offset)?;
    match type_of(memory, found)? == wanted {
        true => Ok(found),
        false => Err(strange("it is of another type")),
    }
}

/// The function of a closure, as a method whose words are the address of its bytecode, and 0.
pub fn of_closure(layout: &Layout, memory: &Pages<'_>, closure: u64) -> io::Result<Method> {
    let (first, last) = layout.closures;
    if !(first..=last).contains(&type_of(memory, closure)?) {
        return Err(strange("it is no closure"));
    }
    let shared = typed(memory, closure, layout.closure_shared.into(), layout.shared)?;
    let data = word(memory, shared, SHARED_DATA)?;
    let is_of = |object: u64, wanted: u16| type_of(memory, object).is_ok_and(|it| it == wanted);
    // Code that was compiled bytecode by bytecode leads to the bytecode.
    let data = match is_of(data, layout.code) {
        true => word(memory, data, layout.origin.into())?,
        false => data,
    };
    let bytecode = match is_of(data, layout.interpreter_data) {
        true => word(memory, data, INTERPRETER_BYTECODE)?,
        false => data,
    };
    if !is_of(bytecode, layout.bytecode) {
        return Err(strange("it has no bytecode"));
    }
    Ok(Method {
        name: name(layout, memory, shared)?,
        begin: bytecode,
        end: 0,
        start: 0,
        lines: Box::default(),
        is_native: false,
        is_by_words: true,
    })
}

/// The name of a function, by what all its closures share.
pub fn name(layout: &Layout, memory: &Pages<'_>, shared: u64) -> io::Result<Name> {
    let script = typed(memory, shared, layout.shared_script.into(), layout.script)?;
    let path = string(memory, word(memory, script, SCRIPT_NAME)?, MOST_PATH).unwrap_or_default();
    let named = word(memory, shared, layout.shared_name.into())?;
    let (function, begin) = match type_of(memory, named)? {
        it if it == layout.scope => of_scope(layout, memory, named)?,
        _ => (string(memory, named, MOST_NAME)?, None),
    };
    let shown = shown(&path, &function, begin);
    Ok(Name {
        function: names::cut(&shown),
        file: path.into_bytes().into(),
    })
}

/// The name of the function of a scope, and where its text begins; empty: it has none.
fn of_scope(layout: &Layout, memory: &Pages<'_>, scope: u64) -> io::Result<(String, Option<u64>)> {
    let at = |index: u64| word(memory, scope, 8u64.wrapping_mul(index.wrapping_add(1)));
    let flags = at(0)?;
    // A small integer, or, in newer versions, the number itself.
    let flags = integer(flags).unwrap_or(flags & u64::from(u32::MAX));
    let variables = integer(at(VARIABLES)?).ok_or_else(|| strange("it is no scope"))?;
    let names = if variables < MOST_VARIABLES {
        variables
    } else {
        1
    };
    let is_module = flags & SCOPE_TYPE == u64::from(layout.module_scope);
    let mut index = u64::from(layout.scope_first)
        + u64::from(is_module)
        + names
        + variables
        + u64::from(flags & CLASS != 0);
    let mut name = String::new();
    if flags & NAMED != 0 {
        // Of a function without a name it is 0.
        let own = at(index)?;
        if is_object(own) {
            name = string(memory, own, MOST_NAME)?;
        }
        index += 2;
    }
    if flags & INFERRED != 0 {
        if name.is_empty() {
            name = string(memory, at(index)?, MOST_NAME).unwrap_or_default();
        }
        index += 1;
    }
    let begin = layout.scope_begin.map_or(index, u64::from);
    Ok((name, at(begin).ok().and_then(integer)))
}

/// A name as people write it, with its file, if it has one (code that was made of a text has none): the code of a file as a whole is named by
/// the file alone.
fn shown(path: &str, function: &str, begin: Option<u64>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let package = path.rsplit_once("/node_modules/");
    let file = match package {
        Some((_, file)) => file,
        None if path.starts_with("node:") => path,
        None => file_and_folder(path),
    };
    let function = match function {
        "" if begin == Some(0) && !file.is_empty() => return file.to_owned(),
        "" => "(anonymous)",
        _ => function,
    };
    match file {
        "" => function.to_owned(),
        _ => format!("{function} ({file})"),
    }
}

/// A string; one that is longer than `most` characters is cut.
fn string(memory: &Pages<'_>, at: u64, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let mut left = most;
    // Parts that come next, and of each where it begins.
    let mut parts = vec![(at, 0)];
    let mut count = 0;
    while let Some((at, from)) = parts.pop()
        && left > 0
    {
        count += 1;
        let kind = type_of(memory, at)?;
        if kind >= STRINGS || count > MOST_PARTS {
            return Err(strange("it is no string as names are"));
        }
        let length = memory.u32(untagged(at).wrapping_add(LENGTH))?;
        match kind & KEPT {
            IN_PLACE => {
                let count = u64::from(length).saturating_sub(from).min(left);
                let size = if kind & BYTES != 0 { 1 } else { 2 };
                let first = untagged(at)
                    .wrapping_add(CHARACTERS)
                    .wrapping_add(size * from);
                let bytes = memory.bytes(first, (size * count) as usize)?;
                match size {
                    1 => text.extend(bytes.into_iter().map(char::from)),
                    _ => {
                        let (units, _) = bytes.as_chunks::<2>();
                        let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
                        let characters = char::decode_utf16(units);
                        text.extend(characters.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
                    }
                }
                left -= count;
            }
            JOINED if from == 0 => {
                parts.push((word(memory, at, SECOND)?, 0));
                parts.push((word(memory, at, CHARACTERS)?, 0));
            }
            THIN => parts.push((word(memory, at, CHARACTERS)?, from)),
            SLICED => {
                let begin = integer(word(memory, at, SECOND)?);
                let begin = begin.ok_or_else(|| strange("it is no slice"))?;
                left = left.min(length.into());
                parts.push((word(memory, at, CHARACTERS)?, from + begin));
            }
            _ => return Err(strange("its characters lie elsewhere")),
        }
    }
    Ok(text)
}

/// The object that all closures of a function share, by the object that code of the function was made of.
pub fn shared_of(layout: &Layout, memory: &Pages<'_>, origin: u64) -> io::Result<u64> {
    let place = ELEMENTS + 8 * u64::from(layout.origin_shared);
    if !layout.is_wrapped {
        return typed(memory, origin, place, layout.shared);
    }
    let wrapper = word(memory, origin, place)?;
    if !is_object(wrapper) {
        return Err(strange("it is of no function"));
    }
    typed(memory, wrapper, super::layout::WRAPPED, layout.shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_has_the_file_of_a_function_and_of_a_package_the_path_in_it() {
        for (path, function, begin, told) in [
            (
                "/srv/shop/cart.js",
                "total",
                Some(7),
                "total (shop/cart.js)",
            ),
            (
                "/srv/shop/cart.js",
                "",
                Some(7),
                "(anonymous) (shop/cart.js)",
            ),
            ("/srv/shop/cart.js", "", Some(0), "shop/cart.js"),
            ("file:///srv/shop/cart.mjs", "f", None, "f (shop/cart.mjs)"),
            (
                "/srv/node_modules/a/node_modules/@b/c/lib/d.js",
                "f",
                None,
                "f (@b/c/lib/d.js)",
            ),
            (
                "node:internal/fs/utils",
                "f",
                None,
                "f (node:internal/fs/utils)",
            ),
            ("", "f", None, "f"),
            ("", "", Some(0), "(anonymous)"),
        ] {
            assert_eq!(shown(path, function, begin), told, "{path}");
        }
    }
}
