//! Names of Go functions, by the table that Go's runtime prints its stacks with. `strip` and
//! `-ldflags=-s` leave it in.

use std::borrow::Cow;
use std::ops::Range;

use flametop_gopclntab::{Entry, Header, Index, MODULE_TEXT, SECTIONS};
use object::LittleEndian;
use object::read::elf::FileHeader;
use object::read::{Object, ObjectSection};

use crate::NAME_MAX;
use crate::debug::Elf;
use crate::demangle::bounded;
use crate::protocol::Found;

/// What every Go program starts with.
const ENTRY: &[u8] = b"_rt0_";

/// The functions of one program.
#[derive(Debug)]
pub struct Functions<'a> {
    names: &'a [u8],
    /// The index, and records behind it.
    functions: &'a [u8],
    index: Index<'a>,
    /// Bytes of a function's entry.
    width: usize,
    text: u64,
}

impl<'a> Functions<'a> {
    /// Those of a mapped file, if it is a Go program whose table is understood.
    pub fn of(elf: &Elf<'a>) -> Option<Functions<'a>> {
        let table = SECTIONS
            .iter()
            .find_map(|name| elf.section_by_name(name))?
            .data()
            .ok()?;
        let entry: u64 = elf.elf_header().e_entry(LittleEndian);
        let mut functions = Functions::parse(table)?;
        if functions.width == size_of::<u64>() {
            // Its entries are addresses.
            return Some(functions);
        }
        let module = elf.section_by_name(".go.module");
        let module = module.as_ref().and_then(|module| module.data().ok());
        let stated = [
            word(table, Header::TEXT),
            module.and_then(|module| word(module, MODULE_TEXT as usize)),
        ];
        if let Some(text) = stated.into_iter().flatten().find(|text| *text != 0) {
            functions.text = text;
            return Some(functions);
        }
        // A program that can be moved has neither in its file. Where Go's own linker made it, it
        // begins with Go's own entry, which proves the guess.
        functions.text = elf.section_by_name(".text")?.address();
        let proof = functions.find(entry)?;
        (proof.start == entry && proof.name.starts_with(ENTRY)).then_some(functions)
    }

    fn parse(table: &'a [u8]) -> Option<Functions<'a>> {
        let header = Header::parse(table)?;
        let part = |offset: u64| table.get(usize::try_from(offset).ok()?..);
        let functions = part(header.functions)?;
        let index = functions.get(..usize::try_from(header.index_size()?).ok()?)?;
        (header.count > 0).then_some(Functions {
            names: part(header.names)?,
            functions,
            index: Index::new(index, header.width()),
            width: header.width(),
            text: 0,
        })
    }

    /// Whether a function covers `address`.
    pub fn has(&self, address: u64) -> bool {
        let place = address.checked_sub(self.text);
        place.is_some_and(|place| self.index.find(place).is_some())
    }

    /// All functions: addresses of the code, and names.
    pub fn all(&self) -> impl Iterator<Item = (Range<u64>, Cow<'a, str>)> {
        self.index.entries().filter_map(|entry| {
            let name = self.name(&entry)?;
            let address = |place: u64| self.text.wrapping_add(place);
            Some((address(entry.code.start)..address(entry.code.end), name))
        })
    }

    /// The function that covers `address`.
    pub fn find(&self, address: u64) -> Option<Found> {
        let place = address.checked_sub(self.text)?;
        let entry = self.index.find(place)?;
        let name = self.name(&entry)?;
        Some(Found {
            start: self.text.wrapping_add(entry.code.start),
            name: bounded(&name, NAME_MAX),
        })
    }

    fn name(&self, entry: &Entry) -> Option<Cow<'a, str>> {
        let record = usize::try_from(entry.record).ok()?;
        let name = record.checked_add(self.width)?;
        let name = self.functions.get(name..name.checked_add(4)?)?;
        let name = u32::from_le_bytes(name.try_into().ok()?) as usize;
        let name = self.names.get(name..)?;
        let name = &name[..name.len().min(NAME_MAX + 1)];
        let length = name
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(name.len());
        (length > 0).then(|| String::from_utf8_lossy(&name[..length]))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size_of::<u64>())?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
