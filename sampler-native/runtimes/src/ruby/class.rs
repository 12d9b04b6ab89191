//! Names of classes and modules.

use std::io;

use super::{
    layout::{ClassName, Layout},
    object::{self, CLASS, MODULE},
};
use crate::memory::{Pages, strange};

/// In any object: its class.
const CLASS_OF: u64 = 8;
/// In a class of versions in which its name is one of its variables: what leads to their table.
const REST: u64 = 24;
/// In such a table: how many entries it has room for, and where they are; in an entry: the number of a symbol, and a value.
const COUNT: u64 = 40;
const ENTRIES: u64 = 48;
const ENTRY: u64 = 24;
const KEY: u64 = 8;
const VALUE: u64 = 16;
/// Variables that are looked at: names of classes are set first.
const MOST_VARIABLES: u64 = 32;
const MOST_VARIABLE: u64 = 24;
const MOST_NAME: u64 = 256;

/// The prefix of a method's name that tells its class: `Cart#`, or `Cart.` if the method is one of the class itself. None: it has no name.
pub fn before_method(
    layout: &Layout,
    symbols: u64,
    memory: &Pages<'_>,
    class: u64,
) -> io::Result<Option<String>> {
    let kind = object::kind(memory, class)?;
    if kind != CLASS && kind != MODULE {
        return Err(strange("it is no class"));
    }
    let found = Found::read(layout, symbols, memory, class)?;
    if let Some(name) = text(layout, memory, found.name)? {
        return Ok(Some(format!("{name}#")));
    }
    // The class of one object has this object, which is of this class.
    let of = |at: u64| memory.u64(at.wrapping_add(CLASS_OF)).ok() == Some(class);
    let Some(object) = found.object.filter(|at| at % 8 == 0 && of(*at)) else {
        return Ok(None);
    };
    let kind = object::kind(memory, object)?;
    if kind != CLASS && kind != MODULE {
        return Ok(None);
    }
    let found = Found::read(layout, symbols, memory, object)?;
    let name = text(layout, memory, found.name)?;
    Ok(name.map(|name| format!("{name}.")))
}

fn text(layout: &Layout, memory: &Pages<'_>, at: Option<u64>) -> io::Result<Option<String>> {
    let at = at.filter(|at| *at != 0 && at % 8 == 0);
    let name = at.map(|at| object::text(layout, memory, at, MOST_NAME));
    Ok(name
        .transpose()
        .unwrap_or_default()
        .filter(|name| !name.is_empty()))
}

/// Where the name of a class is, and the object of a class of one.
#[derive(Default)]
struct Found {
    name: Option<u64>,
    object: Option<u64>,
}

impl Found {
    fn read(layout: &Layout, symbols: u64, memory: &Pages<'_>, class: u64) -> io::Result<Found> {
        let word = |address: u64, offset: u64| memory.u64(address.wrapping_add(offset));
        let table = match layout.class {
            ClassName::There(name, object) => {
                return Ok(Found {
                    name: Some(word(class, name.into())?),
                    object: Some(word(class, object.into())?),
                });
            }
            ClassName::Variable(table) => word(word(class, REST)?, table.into())?,
        };
        let mut found = Found::default();
        if table == 0 {
            return Ok(found);
        }
        let (count, entries) = (word(table, COUNT)?, word(table, ENTRIES)?);
        for index in 0..count.min(MOST_VARIABLES) {
            let entry = entries.wrapping_add(ENTRY * index);
            let number = word(entry, KEY)?;
            let name = object::symbol(layout, memory, symbols, number, MOST_VARIABLE);
            match name.as_deref() {
                Ok("__classpath__") => found.name = Some(word(entry, VALUE)?),
                Ok("__attached__") => found.object = Some(word(entry, VALUE)?),
                _ => {}
            }
        }
        Ok(found)
    }
}
