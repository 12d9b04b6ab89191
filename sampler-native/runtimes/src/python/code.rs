//! Names of code objects.

use std::io;

use super::layout::Layout;
use crate::{
    Method, Name,
    memory::{Pages, strange},
};

/// Most characters of a name, and of a path.
const MOST_NAME: u64 = 256;
const MOST_PATH: u64 = 4096;
/// Most bytes of a name as it is shown.
const MOST_SHOWN: usize = 512;

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
    if word(8)? != code_type {
        return Err(strange("it is no code object"));
    }
    let (name, file) = (word(layout.name)?, word(layout.file)?);
    let path = text(layout, memory, file, MOST_PATH)?;
    let function = text(layout, memory, name, MOST_NAME)?;
    let shown = format!("{}:{function}", end_of(module(&path)));
    let cut = (0..=shown.len().min(MOST_SHOWN))
        .rev()
        .find(|at| shown.is_char_boundary(*at));
    Ok(Method {
        name: Name::of(&shown.as_bytes()[..cut.unwrap_or_default()]),
        begin: name,
        end: file,
        lines: Box::default(),
    })
}

/// At most half of what is shown, from the right: there the file is.
fn end_of(module: &str) -> &str {
    let from = module.len().saturating_sub(MOST_SHOWN / 2);
    let from = (from..module.len()).find(|at| module.is_char_boundary(*at));
    from.map_or(module, |from| &module[from..])
}

/// A text; one that is longer than `most` characters is cut.
fn text(layout: &Layout, memory: &Pages<'_>, at: u64, most: u64) -> io::Result<String> {
    let length = memory.u64(at.wrapping_add(16))?;
    let state = memory.u32(at.wrapping_add(32))?;
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

/// The part of a path that tells modules apart: from the library's folder on, else the file and its folder.
fn module(path: &str) -> &str {
    if !path.starts_with('/') {
        return path;
    }
    let mut at = 0;
    let mut from = None;
    let mut folders: [usize; 2] = [0, 0];
    for part in path.split('/') {
        folders = [folders[1], at];
        let after = (at + part.len() + 1).min(path.len());
        let version = part.strip_prefix("python3.").unwrap_or("x");
        if LIBRARIES.contains(&part) || version.bytes().all(|b| b.is_ascii_digit()) {
            from = Some(after);
        }
        at = after;
    }
    let from = from.filter(|from| *from < path.len());
    path.get(from.unwrap_or(folders[0])..)
        .unwrap_or(path)
        .trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_cuts_at_a_character_from_the_left() {
        assert_eq!(end_of("a.py"), "a.py");
        let long = "ä".repeat(MOST_SHOWN);
        assert_eq!(end_of(&long), "ä".repeat(MOST_SHOWN / 4));
        assert_eq!(end_of(&format!("{long}x")).len(), MOST_SHOWN / 2 - 1);
    }

    #[test]
    fn module_is_the_part_of_a_path_that_tells_modules_apart() {
        for (path, told) in [
            ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
            (
                "/srv/venv/lib/python3.12/site-packages/flask/app.py",
                "flask/app.py",
            ),
            ("/srv/mailer/send.py", "mailer/send.py"),
            ("/send.py", "send.py"),
            ("send.py", "send.py"),
            (
                "<frozen importlib._bootstrap>",
                "<frozen importlib._bootstrap>",
            ),
            ("", ""),
            ("/", ""),
            ("/usr/lib/python3.11/", "python3.11/"),
        ] {
            assert_eq!(module(path), told, "{path}");
        }
    }
}
