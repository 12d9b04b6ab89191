//! Methods and their names.

use std::io;

use super::{
    layout::{Layout, SourceFile},
    lines::Lines,
};
use crate::{
    Method, Name,
    memory::{Pages, strange},
};

/// Most bytes of the name of a class or of a method; longer ones are cut.
const MAX_SYMBOL: usize = 400;

impl Layout {
    /// A method that is interpreted.
    pub fn method(&self, memory: &Pages<'_>, at: u64) -> io::Result<Method> {
        let of = &self.methods;
        let constant = memory.u64(at.wrapping_add(u64::from(of.const_method)))?;
        let name = self.method_name(memory, at)?;
        let size = memory.u16(constant.wrapping_add(u64::from(of.code_size)))?;
        let begin = constant.wrapping_add(u64::from(of.size));
        Ok(Method {
            name,
            begin,
            end: begin.wrapping_add(u64::from(size)),
            lines: self.lines(memory, constant).unwrap_or_default().into(),
            start: 0,
            is_native: size == 0,
            is_by_words: false,
        })
    }

    /// The table of lines of a method; empty: it has none.
    pub fn method_lines(&self, memory: &Pages<'_>, at: u64) -> io::Result<Lines> {
        let constant = at.wrapping_add(u64::from(self.methods.const_method));
        self.lines(memory, memory.u64(constant)?)
    }

    /// The name of a method, `java.util.HashMap.get`, and of the file that its class says it was compiled from.
    pub fn method_name(&self, memory: &Pages<'_>, at: u64) -> io::Result<Name> {
        let of = &self.methods;
        let field = |object: u64, place: u32| memory.u64(object.wrapping_add(u64::from(place)));
        if at == 0 || !at.is_multiple_of(8) {
            return Err(strange("no method is there"));
        }
        let constant = field(at, of.const_method)?;
        let pool = field(constant, of.constants)?;
        let index = memory.u16(constant.wrapping_add(u64::from(of.name_index)))?;
        let length = memory.u32(pool.wrapping_add(u64::from(of.pool_length)))?;
        if index == 0 || u32::from(index) >= length {
            return Err(strange("its method has no name"));
        }
        let symbol = |index: u16| {
            let slot = u64::from(of.pool_size) + 8 * u64::from(index);
            self.symbol(memory, memory.u64(pool.wrapping_add(slot))? & !1)
        };
        let name = symbol(index)?;
        let holder = field(pool, of.pool_holder)?;
        let class = self.symbol(memory, field(holder, of.klass_name)?)?;
        let mut full = class_name(&class);
        full.push(b'.');
        full.extend(clean(&name));
        let file = of.file.and_then(|file| {
            let at = match file {
                SourceFile::Pool(place) => pool.wrapping_add(u64::from(place)),
                SourceFile::Class(place) => holder.wrapping_add(u64::from(place)),
            };
            let index = memory.u16(at).ok()?;
            let is_there = index != 0 && u32::from(index) < length;
            symbol(index).ok().filter(|_| is_there)
        });
        let file = file.unwrap_or_default();
        Ok(Name {
            function: full.into(),
            file: clean(&file).collect(),
        })
    }

    fn symbol(&self, memory: &Pages<'_>, at: u64) -> io::Result<Vec<u8>> {
        let of = &self.methods;
        let length = match of.symbol_length {
            (place, false) => memory.u16(at.wrapping_add(u64::from(place)))?,
            (place, true) => (memory.u32(at.wrapping_add(u64::from(place)))? >> 16) as u16,
        };
        if length == 0 {
            return Err(strange("its name is empty"));
        }
        let body = at.wrapping_add(u64::from(of.symbol_body));
        memory.bytes(body, usize::from(length).min(MAX_SYMBOL))
    }
}

/// A name without bytes that no name of Java has, and that mean something in lists of frames.
fn clean(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().map(|byte| match byte {
        0..=b' ' | b';' | 0x7f => b'_',
        byte => *byte,
    })
}

/// The name of a class as people write it: with dots, and without the address or the number that makes a hidden class another one in
/// each run.
fn class_name(internal: &[u8]) -> Vec<u8> {
    let hidden = |mark: &[u8]| internal.windows(3).position(|part| part == mark);
    let end = hidden(b"+0x").or_else(|| hidden(b"/0x"));
    let name = &internal[..end.unwrap_or(internal.len())];
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let numbered = &name[..name.len() - digits];
    let name = match numbered.strip_suffix(b"$") {
        Some(lambda) if lambda.ends_with(b"$$Lambda") => lambda,
        _ => name,
    };
    let dotted = name.iter().map(|byte| match byte {
        b'/' => b'.',
        byte => *byte,
    });
    clean(&dotted.collect::<Vec<u8>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_name_is_as_people_write_it() {
        let name = |internal: &str| String::from_utf8(class_name(internal.as_bytes()));
        for (internal, expected) in [
            ("java/util/HashMap", "java.util.HashMap"),
            ("java/util/HashMap$Node", "java.util.HashMap$Node"),
            ("Main$$Lambda$14+0x0000000800c03000", "Main$$Lambda"),
            ("a/Main$$Lambda/0x0000000800c03000", "a.Main$$Lambda"),
            (
                "java/lang/invoke/LambdaForm$MH+0x0000000800c03000",
                "java.lang.invoke.LambdaForm$MH",
            ),
            ("a/Class$1", "a.Class$1"),
            ("a/B;\n C", "a.B___C"),
        ] {
            assert_eq!(name(internal).expect("text"), expected);
        }
    }
}
