//! Pieces of code in the code cache, by their headers.

use super::{header::Header, inlined::Inlined, layout::Layout, leaf, shape::Shape};
use crate::{Code, Kind, Name, memory::Pages};

/// Most bytes of one method's code that are looked at; larger ones are walked without what only their instructions tell.
const MAX_LOOKED: u64 = 1 << 20;
/// Most words of a frame.
const MAX_FRAME: u32 = 64 << 10;
const MAX_NAME: usize = 96;

impl Layout {
    /// The number of what was compiled to the code at an address.
    pub fn number(&self, memory: &Pages<'_>, pc: u64) -> Option<u64> {
        let header = self.header(memory, pc)?;
        let kind = kind(&memory.text(header.u64(self.blob.name)?, MAX_NAME));
        self.number_of(&header, kind)
    }

    fn number_of(&self, header: &Header<'_>, kind: Kind) -> Option<u64> {
        Some(match kind {
            // The same number twice would be another method.
            Kind::Compiled | Kind::Native => {
                u64::from(header.u32(self.compiled.number)?) << 32
                    | header.u64(self.compiled.method)? >> 3 & 0xffff_ffff
            }
            _ => u64::MAX,
        })
    }

    /// The code at an address.
    pub fn code(&self, memory: &Pages<'_>, pc: u64) -> Option<Code> {
        let header = self.header(memory, pc)?;
        let range = header.code()?;
        let heap = self.heap(pc)?;
        if !range.contains(&pc) || range.end > heap.range.end {
            return None;
        }
        let blob = &self.blob;
        let name = memory.text(header.u64(blob.name)?, MAX_NAME);
        if is_buffer(&name) {
            return None;
        }
        let kind = kind(&name);
        let complete = match blob.complete {
            (place, true) => u32::from(header.u16(place)?),
            (place, false) => header.u32(place)?,
        };
        // A stub without a frame that is known may have any size there, and -1.
        let frame = header
            .u32(blob.frame_size)
            .filter(|words| *words <= MAX_FRAME);
        let mut code = Code {
            begin: range.start,
            end: range.end,
            kind,
            number: self.number_of(&header, kind)?,
            frame: frame.unwrap_or(0),
            complete,
            pushed: 0,
            made: 0,
            exits: Box::default(),
            deopt: 0,
            deopt_slot: 0,
            stops: Box::default(),
            stop_scopes: Box::default(),
            scopes: Box::default(),
            leaves: Box::default(),
            names: [Name::of(&stub_name(&name))].into(),
        };
        if matches!(kind, Kind::Compiled | Kind::Native) {
            self.add_method(memory, &header, &mut code)?;
        }
        Some(code)
    }

    /// Adds what only code of a method has.
    fn add_method(&self, memory: &Pages<'_>, header: &Header<'_>, code: &mut Code) -> Option<()> {
        let compiled = &self.compiled;
        let method = header.u64(compiled.method)?;
        let name = self.method_name(memory, method).ok()?;
        code.deopt = header.address(compiled.deopt)?;
        code.deopt_slot = header.u32(compiled.deopt_slot)?;
        if code.frame == 0 {
            return None;
        }
        let entry = header.address(compiled.entry)?.checked_sub(code.begin)?;
        let size = code.end - code.begin;
        let looked = size.min(MAX_LOOKED) as usize;
        let bytes = memory.bytes(code.begin, looked).ok()?;
        let shape = Shape::of(&bytes, u32::try_from(entry).ok()?, code.complete);
        (code.pushed, code.made) = (shape.pushed, shape.made);
        let inlined = Inlined::read(self, memory, header, code.begin, &bytes, name);
        code.exits = shape.exits.into();
        code.leaves = leaf::runs(&bytes, &inlined.stops, &inlined.scopes).into();
        let (stops, scopes): (Vec<u32>, Vec<u16>) = inlined.stops.into_iter().unzip();
        (code.stops, code.stop_scopes) = (stops.into(), scopes.into());
        code.scopes = inlined.scopes.into();
        code.names = inlined.names.into();
        Some(())
    }
}

fn kind(name: &[u8]) -> Kind {
    match name {
        b"nmethod" => Kind::Compiled,
        b"native nmethod" => Kind::Native,
        b"Interpreter" => Kind::Interpreter,
        b"vtable chunks" | b"I2C/C2I adapters" => Kind::Frameless,
        _ if name.starts_with(b"StubRoutines (continuation") => Kind::Elsewhere,
        _ => Kind::Stub,
    }
}

/// Whether a blob of this name is a buffer of a compiler: no thread runs its code, and other code soon takes its place.
fn is_buffer(name: &[u8]) -> bool {
    name.ends_with(b"temporary CodeBuffer") || name.starts_with(b"Compile::")
}

/// The name of a stub as it is shown: of the kind `name`, without what differs between versions only.
fn stub_name(name: &[u8]) -> Vec<u8> {
    let name = name.strip_suffix(b"_blob").unwrap_or(name);
    let shown = name.iter().map(|byte| match byte {
        b';' | b'\n' => b'_',
        byte => *byte,
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_by_the_name_of_the_code() {
        assert_eq!(kind(b"nmethod"), Kind::Compiled);
        assert_eq!(kind(b"StubRoutines (continuationstubs)"), Kind::Elsewhere);
        assert_eq!(kind(b"StubRoutines (2)"), Kind::Stub);
        assert_eq!(
            stub_name(b"C1 Runtime monitorenter_blob"),
            b"C1 Runtime monitorenter"
        );
    }
}
