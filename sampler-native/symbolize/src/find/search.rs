//! Answers one question of [`Finder`](super::Finder). In the helper process.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;

use flametop_events::Pattern;
use flametop_events::list::Wanted as Listed;
use object::LittleEndian;
use object::elf::EM_X86_64;
use object::read::elf::FileHeader;
use object::read::{Object, ObjectSegment};

use super::arguments;
use super::functions::{Function, Functions, Names};
use super::notes::{self, Note};
use super::{Argument, FoundSite, FoundSites, Wanted};
use crate::debug::{self, Elf, Link, Look};
use crate::demangle::shown_name;
use crate::go;
use crate::protocol::{Find, Trouble};
use crate::{sys, weight};

const NOP5: [u8; 5] = [0x0f, 0x1f, 0x44, 0x00, 0x00];
/// Most segments of a program.
const SEGMENTS_MAX: usize = 1 << 10;

type Result<T> = std::result::Result<T, String>;

/// Looks into a file.
///
/// # Errors
/// Why there is nothing to be had, in words that go behind the name of the file.
pub fn search(find: &Find, file: &File, look: Look<'_>) -> Result<FoundSites> {
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return Err("is not a file".to_owned());
    }
    if let Some(trouble) = weight::trouble(file) {
        return Err(too_much(trouble).to_owned());
    }
    let bytes = sys::map(file).map_err(|error| format!("cannot be read ({error})"))?;
    let elf = Elf::parse(&*bytes).map_err(|_| "is no 64-bit ELF file".to_owned())?;
    if elf.elf_header().e_machine(LittleEndian) != EM_X86_64 {
        return Err("is of another kind of processor".to_owned());
    }
    let image = Image::of(&elf, &bytes);
    let most = find.most as usize;
    match &find.wanted {
        Wanted::Functions { name, offset } => {
            let names = Names::new(Pattern::parse(name)?);
            with_functions(find, file, &elf, look, |functions| {
                image.functions(functions, &names, *offset, most)
            })
        }
        Wanted::Probes {
            provider,
            name,
            argument,
        } => {
            let (provider, name) = (Pattern::parse(provider)?, Pattern::parse(name)?);
            image.probes(&elf, &provider, &name, *argument, most)
        }
        Wanted::Listed {
            pattern,
            file: shown,
        } => {
            let pattern = Some(pattern.as_str()).filter(|pattern| !pattern.is_empty());
            let wanted = Listed::parse(pattern)?;
            with_functions(find, file, &elf, look, |functions| {
                Ok(image.list(&elf, functions, &wanted, shown, most))
            })
        }
    }
}

/// The functions by the tables of the file, and of its debug file if the file has not all of them.
fn with_functions<T>(
    find: &Find,
    file: &File,
    elf: &Elf<'_>,
    look: Look<'_>,
    work: impl FnOnce(&Functions<'_>) -> Result<T>,
) -> Result<T> {
    let debug = match elf.section_by_name(".symtab") {
        Some(_) => None,
        None => debug::find(&Link::of(elf), file, &find.path, find.process, look)
            .ok()
            .flatten()
            .map(|(file, _)| file)
            .filter(|file| weight::trouble(file).is_none()),
    };
    let bytes = debug.as_ref().and_then(|file| sys::map(file).ok());
    let debug = bytes.as_ref().and_then(|bytes| Elf::parse(&**bytes).ok());
    work(&Functions {
        tables: [elf].into_iter().chain(&debug).collect(),
        go: go::Functions::of(elf),
    })
}

fn too_much(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Symbols => "has more symbols than are read of one file",
        Trouble::Packed => "has more packed symbols than are read of one file",
        _ => "has more sections than are read of one file",
    }
}

/// The bytes of a file, and where they are mapped.
struct Image<'a> {
    bytes: &'a [u8],
    /// Address, bytes in the file, and the place of them.
    segments: Vec<[u64; 3]>,
}

impl<'a> Image<'a> {
    fn of(elf: &Elf<'_>, bytes: &'a [u8]) -> Image<'a> {
        let segments = elf.segments().take(SEGMENTS_MAX).map(|segment| {
            let (offset, size) = segment.file_range();
            [segment.address(), size, offset]
        });
        Image {
            bytes,
            segments: segments.collect(),
        }
    }

    /// The place in the file of what is mapped to an address.
    fn offset(&self, address: u64) -> Option<u64> {
        let within = |[start, size, _]: &&[u64; 3]| address.wrapping_sub(*start) < *size;
        let [start, _, offset] = self.segments.iter().find(within)?;
        let offset = offset.checked_add(address - start)?;
        (offset < self.bytes.len() as u64).then_some(offset)
    }

    fn site(&self, offset: u64, entry: bool) -> FoundSite {
        let code = self.bytes.get(offset as usize..).unwrap_or_default();
        FoundSite {
            offset,
            entry,
            nop5: code.starts_with(&NOP5),
            ..FoundSite::default()
        }
    }

    fn functions(
        &self,
        functions: &Functions<'_>,
        names: &Names,
        behind: u64,
        most: usize,
    ) -> Result<FoundSites> {
        let mut found = BTreeMap::new();
        let mut why = None;
        functions.each(&mut |function| {
            if !names.hold(&function.raw) {
                return;
            }
            let Function {
                raw, address, size, ..
            } = function;
            if function.chosen {
                why.get_or_insert_with(|| {
                    format!(
                        "has {raw} as a name only: which function stands behind that name is chosen when a program starts; *{raw}* may mean it"
                    )
                });
            } else if *size > 0 && behind >= *size {
                why.get_or_insert_with(|| {
                    format!("has no offset {behind} in {raw}, which has {size} bytes")
                });
            } else if let Some(mut offset) = self.offset(address.wrapping_add(behind)) {
                if function.go && behind == 0 {
                    offset += stack_check(self.bytes.get(offset as usize..).unwrap_or_default());
                }
                let site = found
                    .entry(offset)
                    .or_insert_with(|| self.site(offset, behind == 0));
                site.go |= function.go;
            }
        });
        match (found.is_empty(), why) {
            (true, Some(why)) => Err(why),
            (true, None) => Ok(FoundSites {
                near: names.near(functions),
                ..FoundSites::default()
            }),
            (false, _) => Ok(FoundSites {
                all: found.len() as u64,
                sites: found.into_values().take(most).collect(),
                near: Vec::new(),
            }),
        }
    }

    fn probes(
        &self,
        elf: &Elf<'_>,
        provider: &Pattern,
        name: &Pattern,
        argument: Option<u8>,
        most: usize,
    ) -> Result<FoundSites> {
        let notes = notes::of(elf);
        let is_meant = |note: &&Note<'_>| provider.holds(note.provider) && name.holds(note.name);
        let mut found = BTreeMap::new();
        for note in notes.iter().filter(is_meant) {
            let Some(offset) = self.offset(note.address) else {
                continue;
            };
            let argument = match argument {
                Some(number) => Some(argument_of(note, number)?),
                None => None,
            };
            let semaphore = match note.semaphore {
                0 => 0,
                address => self.offset(address).unwrap_or(0),
            };
            found.insert(
                offset,
                FoundSite {
                    semaphore,
                    argument,
                    ..self.site(offset, false)
                },
            );
        }
        let near = match found.is_empty() {
            true => near_probes(&notes, provider, name),
            false => Vec::new(),
        };
        Ok(FoundSites {
            all: found.len() as u64,
            sites: found.into_values().take(most).collect(),
            near,
        })
    }

    /// Probes, then functions and their returns.
    fn list(
        &self,
        elf: &Elf<'_>,
        functions: &Functions<'_>,
        wanted: &Listed,
        file: &str,
        most: usize,
    ) -> FoundSites {
        let mut found = FoundSites::default();
        let mut add = |name: String, details: String, go: bool| {
            found.all += 1;
            if found.sites.len() < most {
                found.sites.push(FoundSite {
                    name: name.into_bytes(),
                    details: details.into_bytes(),
                    go,
                    ..FoundSite::default()
                });
            }
        };
        let notes = notes::of(elf);
        let mut probes: BTreeMap<(&[u8], &[u8]), Vec<&Note<'_>>> = BTreeMap::new();
        for note in &notes {
            let of_name = probes.entry((note.provider, note.name)).or_default();
            of_name.push(note);
        }
        for ((provider, name), notes) in probes {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let spec = format!("usdt:{file}:{}:{}", text(provider), text(name));
            if wanted.holds(&spec) {
                add(spec, described(&notes), false);
            }
        }
        let mut known = HashSet::new();
        let mut all = Vec::new();
        functions.each(&mut |function| {
            let begins = self.offset(function.address).is_some();
            if function.chosen || !begins || function.raw.contains(".cold") {
                return;
            }
            // One function has several names, and one name may be that of several functions: of the latter one line is enough.
            let shown = shown_name(&function.raw);
            let spec = format!("uprobe:{file}:{shown}");
            let back = format!("uretprobe:{file}:{shown}");
            let raw = format!("uprobe:{file}:{}", function.raw);
            let (entry, exit) = (
                wanted.holds(&spec) || wanted.holds(&raw),
                wanted.holds(&back),
            );
            if (entry || exit) && known.insert(spec.clone()) {
                all.push((shown, function.go, entry, exit));
            }
        });
        all.sort_unstable();
        for (shown, go, entry, _) in &all {
            if *entry {
                add(format!("uprobe:{file}:{shown}"), String::new(), *go);
            }
        }
        for (shown, go, _, exit) in &all {
            if *exit {
                add(format!("uretprobe:{file}:{shown}"), String::new(), *go);
            }
        }
        found
    }
}

/// Arguments of a probe at one place.
fn words<'a>(note: &Note<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let text = std::str::from_utf8(note.arguments).unwrap_or_default();
    text.split(' ').filter(|word| !word.is_empty())
}

fn argument_of(note: &Note<'_>, number: u8) -> Result<Argument> {
    let name = || {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        format!("{}:{}", text(note.provider), text(note.name))
    };
    let Some(word) = words(note).nth(number.into()) else {
        let count = words(note).count();
        return Err(format!(
            "has {count} arguments at its probe {}, and no arg{number}",
            name()
        ));
    };
    arguments::parse(word).ok_or_else(|| {
        format!(
            "has arg{number} of its probe {} in a place that cannot be read ({word}); without a weight its hits are counted",
            name()
        )
    })
}

/// `int32 arg0, uint64 arg1; 3 places`.
fn described(notes: &[&Note<'_>]) -> String {
    let kind = |word: &str| match arguments::parse(word) {
        Some(Argument { bytes, signed, .. }) => {
            let sign = if signed { "" } else { "u" };
            format!("{sign}int{}", 8 * u32::from(bytes))
        }
        None => "unreadable".to_owned(),
    };
    let first = notes.first().into_iter().flat_map(|note| words(note));
    let arguments: Vec<String> = first
        .enumerate()
        .map(|(number, word)| format!("{} arg{number}", kind(word)))
        .collect();
    let places = match notes.len() {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    };
    match arguments.is_empty() {
        true => places,
        false => format!("{}; {places}", arguments.join(", ")),
    }
}

/// Bytes of the code by which a function of Go asks whether its stack has room. Where it has none, and where the runtime wants the thread, the
/// function begins once more: a probe behind that code is hit once a call. The registers of the arguments are as before, and so is the stack.
fn stack_check(code: &[u8]) -> u64 {
    // lea of a large frame's end, of a short or a long distance; up to Go 1.16 the goroutine is behind fs.
    let (frame, compare): (usize, &[u8]) = match code {
        [0x4c, 0x8d, 0x64, 0x24, ..] => (5, &[0x4d, 0x3b, 0x66, 0x10]),
        [0x4c, 0x8d, 0xa4, 0x24, ..] => (8, &[0x4d, 0x3b, 0x66, 0x10]),
        [0x64, 0x48, 0x8b, 0x0c, 0x25, ..] => (9, &[0x48, 0x3b, 0x61, 0x10]),
        _ => (0, &[0x49, 0x3b, 0x66, 0x10]),
    };
    let rest = code
        .get(frame..)
        .and_then(|code| code.strip_prefix(compare));
    let jump = match rest {
        Some([0x76, ..]) => 2,
        Some([0x0f, 0x86, ..]) => 6,
        _ => return 0,
    };
    (frame + compare.len() + jump) as u64
}

fn near_probes(notes: &[Note<'_>], provider: &Pattern, name: &Pattern) -> Vec<Vec<u8>> {
    let text = |bytes| String::from_utf8_lossy(bytes);
    let names: HashSet<String> = notes
        .iter()
        .map(|note| format!("{}:{}", text(note.provider), text(note.name)))
        .collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    let wanted = format!("{provider}:{name}");
    let near = flametop_events::near::nearest(&wanted, names.iter().copied());
    // Few probes are told all.
    let near = match near.is_empty() && names.len() <= 3 {
        true => names,
        false => near,
    };
    near.into_iter()
        .map(|name| name.as_bytes().to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::stack_check;

    #[test]
    fn stack_checks_of_go_are_passed_over_and_nothing_else_is() {
        for (code, bytes) in [
            (&b"\x49\x3b\x66\x10\x76\x2a\x55"[..], 6),
            (b"\x49\x3b\x66\x10\x0f\x86\x01\x02\x03\x04\x55", 10),
            (b"\x4c\x8d\x64\x24\xa8\x4d\x3b\x66\x10\x76\x2a", 11),
            (
                b"\x4c\x8d\xa4\x24\xa8\xff\xff\xff\x4d\x3b\x66\x10\x0f\x86\0\0\0\0",
                18,
            ),
            (
                b"\x64\x48\x8b\x0c\x25\xf8\xff\xff\xff\x48\x3b\x61\x10\x76\x2a",
                15,
            ),
            (b"\x55\x48\x89\xe5", 0),
            (b"\x49\x3b\x66\x10\x77\x2a", 0),
            (b"\x49\x3b\x66\x10", 0),
            (b"\x4c\x8d\x64\x24", 0),
            (b"", 0),
        ] {
            assert_eq!(stack_check(code), bytes, "{code:x?}");
        }
    }
}
