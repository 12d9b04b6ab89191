//! Names and lines of functions.

use std::io;

use super::layout::{
    CHARACTERS, CLASS, CLASS_NAME, FunctionKind, INSTRUCTION_SIZE, KIND, LENGTH, LINE, Layout, NAME,
};
use crate::{
    Method, Name,
    memory::{Pages, strange},
    names::{self, file_and_folder},
};

/// Most bytes of a name, and of a path.
const MOST_NAME: u64 = 256;
const MOST_PATH: u64 = 4096;
/// Most instructions that are looked at for their lines: 512 KiB of them.
const MOST_INSTRUCTIONS: u32 = 16 << 10;

/// How the name of a function begins that has none of its own. From 8.4 on the rest of the name says where the function is.
const CLOSURE: &str = "{closure";

/// The function at an address, as a method whose words are the addresses of its name and of its instructions: by these it is known
/// again, since each closure is a copy of its function, which lies elsewhere.
pub fn read(layout: &Layout, memory: &Pages<'_>, at: u64) -> io::Result<Method> {
    let word = |offset: u16| memory.u64(at.wrapping_add(offset.into()));
    let kind = FunctionKind::of(word(KIND)?).ok_or_else(|| strange("it is no function"))?;
    let (name, class) = (word(NAME)?, word(CLASS)?);
    let instructions = word(layout.instructions)?;
    let function = match name {
        0 => String::new(),
        name => text(memory, name, MOST_NAME)?,
    };
    let (mut path, mut lines) = (String::new(), Vec::new());
    let mut first_line = 0;
    if kind == FunctionKind::Written {
        path = text(memory, word(layout.file)?, MOST_PATH)?;
        first_line = memory.u32(at.wrapping_add(layout.first_line.into()))?;
        let count = memory.u32(at.wrapping_add(layout.count.into()))?;
        lines = lines_of(memory, instructions, count);
    }
    let class = match class {
        0 => None,
        class => Some(text(
            memory,
            memory.u64(class.wrapping_add(CLASS_NAME.into()))?,
            MOST_NAME,
        )?),
    };
    let shown = shown(&path, class.as_deref(), &function, first_line);
    Ok(Method {
        name: Name {
            function: names::cut(&shown),
            file: path.into_bytes().into(),
        },
        begin: name,
        end: instructions,
        start: 0,
        lines: lines.into(),
        is_native: kind == FunctionKind::Internal,
        is_by_words: true,
    })
}

/// A name as people write it: `Cart::total`, `strlen`; code that is no function by its file, and a closure by its file and first line.
fn shown(path: &str, class: Option<&str>, function: &str, line: u32) -> String {
    let file = file_and_folder(path);
    // The name of a class without name goes on with its file behind a 0.
    let class = class.map(|class| class.split('\0').next().unwrap_or_default());
    let name = match class {
        Some(class) if !function.is_empty() => format!("{class}::{function}"),
        _ => function.to_owned(),
    };
    if function.is_empty() {
        file.to_owned()
    } else if function.contains(CLOSURE) && !function.contains("{closure:") {
        format!("{name} ({file}:{line})")
    } else {
        name
    }
}

/// A text; one that is longer than `most` bytes is cut.
fn text(memory: &Pages<'_>, at: u64, most: u64) -> io::Result<String> {
    let length = memory.u64(at.wrapping_add(LENGTH.into()))?;
    let bytes = memory.bytes(
        at.wrapping_add(CHARACTERS.into()),
        length.min(most) as usize,
    )?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Numbers of instructions at which lines begin. Those that cannot be read have none.
fn lines_of(memory: &Pages<'_>, instructions: u64, count: u32) -> Vec<(u16, u16)> {
    let mut lines: Vec<(u16, u16)> = Vec::new();
    for index in 0..count.min(MOST_INSTRUCTIONS) {
        let at = instructions.wrapping_add(INSTRUCTION_SIZE * u64::from(index));
        let Ok(line) = memory.u32(at.wrapping_add(LINE.into())) else {
            break;
        };
        // Lines of more than 16 bits are not told.
        let line = u16::try_from(line).unwrap_or_default();
        if lines.last().is_none_or(|(_, last)| *last != line) {
            lines.push((index as u16, line));
        }
    }
    let end = u16::try_from(count.min(MOST_INSTRUCTIONS)).unwrap_or(u16::MAX);
    lines.push((end, 0));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::MOST_SHOWN;

    #[test]
    fn shown_names_class_and_function_and_code_without_a_name_by_its_file() {
        for (path, class, function, told) in [
            ("/srv/shop/cart.php", Some("Cart"), "total", "Cart::total"),
            (
                "/srv/shop/cart.php",
                Some(r"A\Cart"),
                "total",
                r"A\Cart::total",
            ),
            ("/srv/shop/cart.php", None, r"A\total", r"A\total"),
            ("/srv/shop/cart.php", None, "", "shop/cart.php"),
            ("", None, "strlen", "strlen"),
            ("/srv/a.php", None, "{closure}", "{closure} (srv/a.php:7)"),
            ("/a.php", Some("C"), "{closure}", "C::{closure} (a.php:7)"),
            ("/a.php", Some("C"), "{closure:f():3}", "C::{closure:f():3}"),
            (
                "/a.php",
                Some("class@anonymous\0/a.php:3$0"),
                "f",
                "class@anonymous::f",
            ),
            (
                "/srv/a.php(3) : eval()'d code",
                None,
                "",
                "srv/a.php(3) : eval()'d code",
            ),
            ("Standard input code", None, "", "Standard input code"),
            ("//", None, "", ""),
        ] {
            assert_eq!(shown(path, class, function, 7), told, "{path}");
        }
    }

    #[test]
    fn file_of_a_long_path_is_cut_at_a_character_from_the_left() {
        let long = "ä".repeat(MOST_SHOWN);
        assert_eq!(file_and_folder(&long).len(), MOST_SHOWN / 2);
        assert_eq!(
            file_and_folder(&format!("{long}x")).len(),
            MOST_SHOWN / 2 - 1
        );
    }
}
