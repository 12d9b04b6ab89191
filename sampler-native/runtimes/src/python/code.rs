//! Names of code objects.

use std::io;

use super::{layout::Layout, lines};
use crate::{
    Method, Name,
    memory::{Pages, strange},
    names::{self, end_of},
};

/// Bytes of a pointer.
const POINTER: u16 = 8;

/// Most characters of a name, and of a path.
const MOST_NAME: u64 = 256;
const MOST_PATH: u64 = 4096;

/// From the header's end of a text to its state.
const STATE: u64 = 16;
/// Bits of the state of a text: bytes of a character, whether the characters lie behind the object, and whether all are ASCII.
const WIDTH_SHIFT: u32 = 2;
const WIDTH: u32 = 7;
const COMPACT: u32 = 1 << 5;
const ASCII: u32 = 1 << 6;

/// Folders in which packages begin: the path from there on is the name of a module.
const LIBRARIES: [&str; 2] = ["site-packages", "dist-packages"];

/// The code object at an address, as a method whose words are the addresses of the texts of its name and of its file: another
/// object at that address with the same two has the same name.
pub fn read(layout: &Layout, code_type: u64, memory: &Pages<'_>, at: u64) -> io::Result<Method> {
    let word = |offset: u16| memory.u64(at.wrapping_add(offset.into()));
    if word(layout.header - POINTER)? != code_type {
        return Err(strange("it is no code object"));
    }
    let (name, file) = (word(layout.name)?, word(layout.file)?);
    let path = text(layout, memory, file, MOST_PATH)?;
    let function = text(layout, memory, name, MOST_NAME)?;
    let shown = shown(&path, &function);
    Ok(Method {
        name: Name {
            function: names::cut(&shown),
            file: path.into_bytes().into(),
        },
        begin: name,
        end: file,
        start: 0,
        // A function without lines is still a function.
        lines: lines::read(layout, memory, at).unwrap_or_default().into(),
        is_native: false,
        is_by_words: false,
    })
}

/// A name as people write it: behind its module, `json.decoder.JSONDecoder.decode`, or, where the path does not tell the module, before
/// the file, `Cart.total (shop/views.py)`.
fn shown(path: &str, function: &str) -> String {
    let place = place(path);
    match module(place) {
        Some(module) => format!("{}.{function}", end_of(&module)),
        None => format!("{function} ({})", end_of(place.text())),
    }
}

/// A text; one that is longer than `most` characters is cut.
fn text(layout: &Layout, memory: &Pages<'_>, at: u64, most: u64) -> io::Result<String> {
    let fields = at.wrapping_add(layout.header.into());
    let length = memory.u64(fields)?;
    let state = memory.u32(fields.wrapping_add(STATE))?;
    if state & COMPACT == 0 {
        return Err(strange("it is no text as names are"));
    }
    let is_ascii = state & ASCII != 0;
    let start = if is_ascii { layout.ascii } else { layout.wide };
    let (width, length) = ((state >> WIDTH_SHIFT) & WIDTH, length.min(most));
    let bytes = |width: u64| memory.bytes(at.wrapping_add(start.into()), (length * width) as usize);
    let wide = |character: u32| char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
    Ok(match width {
        1 => bytes(1)?.into_iter().map(char::from).collect(),
        2 => {
            let bytes = bytes(2)?;
            let units = bytes.chunks_exact(2);
            units
                .map(|unit| wide(u16::from_le_bytes([unit[0], unit[1]]).into()))
                .collect()
        }
        4 => {
            let bytes = bytes(4)?;
            let units = bytes.chunks_exact(4);
            units
                .map(|u| wide(u32::from_le_bytes([u[0], u[1], u[2], u[3]])))
                .collect()
        }
        _ => return Err(strange("it is no text")),
    })
}

/// The part of a path that tells modules apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place<'a> {
    /// Behind a folder of libraries.
    Library(&'a str),
    /// The name of a module that is part of the interpreter.
    Frozen(&'a str),
    /// The file and its folder, or what stands in place of a path.
    File(&'a str),
}

impl<'a> Place<'a> {
    fn text(self) -> &'a str {
        match self {
            Place::Library(text) | Place::Frozen(text) | Place::File(text) => text,
        }
    }
}

fn place(path: &str) -> Place<'_> {
    let frozen = path.strip_prefix("<frozen ");
    if let Some(frozen) = frozen.and_then(|name| name.strip_suffix('>')) {
        return Place::Frozen(frozen);
    }
    if !path.starts_with('/') {
        return Place::File(path);
    }
    let mut at = 0;
    let mut from = None;
    let mut folders: [usize; 2] = [0, 0];
    for part in path.split('/') {
        folders = [folders[1], at];
        let after = (at + part.len() + 1).min(path.len());
        // A build without the global lock has python3.13t.
        let version = part.strip_prefix("python3.").unwrap_or("x");
        let version = version.strip_suffix('t').unwrap_or(version);
        if LIBRARIES.contains(&part) || version.bytes().all(|b| b.is_ascii_digit()) {
            from = Some(after);
        }
        at = after;
    }
    let from = from.filter(|from| *from < path.len());
    let part = |from: usize| path.get(from..).unwrap_or(path);
    match from {
        Some(from) => Place::Library(part(from).trim_start_matches('/')),
        None => Place::File(part(folders[0]).trim_start_matches('/')),
    }
}

/// The name by which the module is imported, if the path tells that.
fn module(place: Place<'_>) -> Option<String> {
    let path = match place {
        Place::Frozen(name) => return Some(name.to_owned()),
        Place::Library(path) => path.strip_suffix(".py")?,
        Place::File(_) => return None,
    };
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let is_name = |part: &str| {
        let mut characters = part.chars();
        let first = characters.next();
        first.is_some_and(|c| c.is_alphabetic() || c == '_')
            && characters.all(|c| c.is_alphanumeric() || c == '_')
    };
    path.split('/').all(is_name).then(|| path.replace('/', "."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::MOST_SHOWN;

    #[test]
    fn end_of_cuts_at_a_character_from_the_left() {
        assert_eq!(end_of("a.py"), "a.py");
        let long = "ä".repeat(MOST_SHOWN);
        assert_eq!(end_of(&long), "ä".repeat(MOST_SHOWN / 4));
        assert_eq!(end_of(&format!("{long}x")).len(), MOST_SHOWN / 2 - 1);
    }

    #[test]
    fn shown_names_the_module_where_the_path_tells_it_else_the_file() {
        for (path, told) in [
            ("/usr/lib/python3.11/json/decoder.py", "json.decoder.f"),
            ("/usr/lib/python3.11/json/__init__.py", "json.f"),
            ("/opt/lib/python3.14t/heapq.py", "heapq.f"),
            (
                "/srv/venv/lib/python3.12/site-packages/flask/app.py",
                "flask.app.f",
            ),
            ("/usr/lib/python3/dist-packages/größe/ä.py", "größe.ä.f"),
            ("<frozen importlib._bootstrap>", "importlib._bootstrap.f"),
            // No name by which it is imported.
            ("/usr/lib/python3/dist-packages/a-b/c.py", "f (a-b/c.py)"),
            ("/usr/lib/python3.11/x.egg/y.py", "f (x.egg/y.py)"),
            ("/usr/lib/python3.11/2to3.py", "f (2to3.py)"),
            ("/usr/lib/python3.11/x.pyx", "f (x.pyx)"),
            ("/usr/lib/python3.11/a//b.py", "f (a//b.py)"),
            ("/usr/lib/python3.11/.py", "f (.py)"),
            ("/usr/lib/python3.11/__init__.py", "__init__.f"),
            ("/usr/lib/python3.11/", "f (python3.11/)"),
            // No library.
            ("/srv/mailer/send.py", "f (mailer/send.py)"),
            ("/opt/python3.x/send.py", "f (python3.x/send.py)"),
            ("/send.py", "f (send.py)"),
            ("send.py", "f (send.py)"),
            ("<string>", "f (<string>)"),
            ("<frozen ", "f (<frozen )"),
            ("", "f ()"),
            ("/", "f ()"),
        ] {
            assert_eq!(shown(path, "f"), told, "{path}");
        }
    }
}
