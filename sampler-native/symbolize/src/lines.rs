//! Inlined functions and source lines, by DWARF. In the helper process.

use std::borrow::Cow;
use std::fs::File;

use addr2line::Context;
use gimli::{Dwarf, DwarfSections, EndianSlice, LittleEndian, SectionId};
use object::read::{Object, ObjectSection};

use crate::debug::{self, Elf, Link, Look};
use crate::demangle::{bounded, shown_name};
use crate::protocol::{Ask, Place};
use crate::{CALLS_MAX, Call, TEXT_MAX, sys};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The sources of all offsets of `ask` in `file`; `fetched`: what is said to be its debug file.
pub fn places(ask: &Ask, file: &File, fetched: Option<File>, look: Look<'_>) -> Vec<Place> {
    let missing = match find(ask, file, fetched, look) {
        Ok(places) => return places,
        Err(missing) => missing,
    };
    let place = Place {
        calls: Vec::new(),
        missing: missing.into_bytes(),
    };
    vec![place; ask.offsets.len()]
}

fn find(
    ask: &Ask,
    file: &File,
    fetched: Option<File>,
    look: Look<'_>,
) -> Result<Vec<Place>, String> {
    if !file.metadata().is_ok_and(|file| file.is_file()) {
        return Err("it is no file".into());
    }
    let unreadable = |error: &dyn std::fmt::Display| format!("it cannot be read ({error})");
    let bytes = sys::map(file).map_err(|error| unreadable(&error))?;
    let elf = Elf::parse(&*bytes).map_err(|error| unreadable(&error))?;
    let link = Link::of(&elf);
    if has_lines(&elf) {
        return look_up(ask, &link, &elf, None, look);
    }
    let found = debug::find(&link, file, &ask.path, ask.process, look);
    let late = found.is_err();
    let (debug, root) = match found.ok().flatten() {
        Some((debug, root)) => (debug, Some(root)),
        None => match fetched.filter(|fetched| link.has_build_id_of(fetched)) {
            Some(fetched) => (fetched, None),
            None if late => return Err("its debug file did not come in time: ask again".into()),
            None => return Err(advice(ask, &link)),
        },
    };
    let bytes = sys::map(&debug).map_err(|error| unreadable(&error))?;
    let elf = Elf::parse(&*bytes).map_err(|error| unreadable(&error))?;
    if !has_lines(&elf) {
        return Err("its debug file has symbols only, no lines".into());
    }
    look_up(ask, &link, &elf, root, look)
}

/// What mends it.
fn advice(ask: &Ask, link: &Link) -> String {
    match link.places(&ask.path).first() {
        Some(place) => format!(
            "no debug information: install its debug package, which has {}",
            place.display()
        ),
        None => "no debug information, and no build id to find it by: compile it with -g".into(),
    }
}

fn has_lines(elf: &Elf<'_>) -> bool {
    [".debug_info", ".debug_line"].iter().all(|name| {
        elf.section_by_name(name)
            .is_some_and(|section| has_bytes(&section))
    })
}

fn has_bytes<'a>(section: &impl ObjectSection<'a>) -> bool {
    section.file_range().is_some_and(|(_, size)| size > 0)
}

fn look_up(
    ask: &Ask,
    link: &Link,
    elf: &Elf<'_>,
    root: Option<u32>,
    look: Look<'_>,
) -> Result<Vec<Place>, String> {
    let damaged = |error: gimli::Error| format!("its debug information is damaged ({error})");
    let sections = sections(elf);
    let shared = shared_debug_file(ask, elf, root, look);
    let shared_bytes = shared.as_ref().and_then(|file| sys::map(file).ok());
    let shared_elf = shared_bytes
        .as_ref()
        .and_then(|bytes| Elf::parse(&**bytes).ok());
    let shared_sections = shared_elf.as_ref().map(|elf| self::sections(elf));
    let mut dwarf: Dwarf<Slice<'_>> = sections.borrow(|bytes| slice(bytes));
    if let Some(shared) = &shared_sections {
        dwarf.set_sup(shared.borrow(|bytes| slice(bytes)));
    }
    let context = Context::from_dwarf(dwarf).map_err(damaged)?;
    let mut places = Vec::with_capacity(ask.offsets.len());
    for &offset in &ask.offsets {
        let calls = calls(&context, offset).map_err(damaged)?;
        let missing = if calls.is_empty() {
            let what = match link.build_id.is_empty() {
                true => "its debug information does not cover this place",
                false => {
                    "its debug information does not cover this place: assembly, or a part compiled without -g"
                }
            };
            what.as_bytes().to_vec()
        } else {
            Vec::new()
        };
        places.push(Place { calls, missing });
    }
    Ok(places)
}

fn sections<'a>(elf: &Elf<'a>) -> DwarfSections<Cow<'a, [u8]>> {
    let load = |id: SectionId| -> Result<Cow<'a, [u8]>, gimli::Error> {
        Ok(elf
            .section_by_name(id.name())
            .and_then(|section| section.uncompressed_data().ok())
            .unwrap_or_default())
    };
    // `load` never fails: what is not there, or damaged, is empty.
    DwarfSections::load(load).unwrap_or_default()
}

fn slice(bytes: &[u8]) -> Slice<'_> {
    EndianSlice::new(bytes, LittleEndian)
}

/// What several debug files have in common may be in one more file (`dwz -m`), known by a build id
/// of its own. Debian has it only where the link says, in a folder `.dwz`.
fn shared_debug_file(ask: &Ask, elf: &Elf<'_>, root: Option<u32>, look: Look<'_>) -> Option<File> {
    let (link, id) = elf.gnu_debugaltlink().ok().flatten()?;
    let paths: Vec<_> = [debug::build_id_path(id), debug::shared_path(link)]
        .into_iter()
        .flatten()
        .collect();
    let others = debug::roots(ask.process).filter(|other| Some(*other) != root);
    let fits = |file: &File| {
        let bytes = sys::map(file).ok()?;
        let elf = Elf::parse(&*bytes).ok()?;
        (elf.build_id().ok()? == Some(id)).then_some(())
    };
    root.into_iter()
        .chain(others)
        .flat_map(|root| paths.iter().filter_map(move |path| look(root, path).ok()))
        .find(|file| fits(file).is_some())
}

/// The chain of functions at `offset`, outermost first.
fn calls(context: &Context<Slice<'_>>, offset: u64) -> Result<Vec<Call>, gimli::Error> {
    let mut frames = context.find_frames(offset).skip_all_loads()?;
    let mut calls = Vec::new();
    while let Some(frame) = frames.next()? {
        let function = frame
            .function
            .as_ref()
            .and_then(|name| name.raw_name().ok());
        let (file, line) = frame
            .location
            .map_or((None, 0), |at| (at.file, at.line.unwrap_or(0)));
        if function.is_none() && file.is_none() {
            continue;
        }
        calls.push(Call {
            function: bounded(&shown_name(&function.unwrap_or_default()), TEXT_MAX),
            file: end_of(file.unwrap_or_default()),
            line,
        });
        if calls.len() == CALLS_MAX {
            break;
        }
    }
    calls.reverse();
    Ok(calls)
}

/// The end of a long path tells more than its start.
fn end_of(path: &str) -> Vec<u8> {
    let mut from = path.len().saturating_sub(TEXT_MAX);
    while !path.is_char_boundary(from) {
        from += 1;
    }
    path.as_bytes()[from..].to_vec()
}
