//! Where frames of compiled methods stop, and the functions that are inlined there.

use std::collections::{BTreeMap, HashMap};

use super::{
    header::Header,
    layout::{At, Layout},
    lines::{self, Bytes, Lines},
};
use crate::{Name, OUTERMOST, Scope, UNKNOWN, memory::Pages};

/// Bytes of an entry that says which scope an instruction is in.
const PC_DESC: u64 = 16;
/// Most bytes of these entries of one method.
const MAX_PCS: u64 = 1 << 20;
/// Most places of one method that are kept.
const MAX_STOPS: usize = 16 << 10;
/// Most scopes in one another, and most of one method.
const MAX_DEPTH: usize = 64;
const MAX_SCOPES: usize = 4096;
/// Most methods that are named of one that they are inlined in.
const MAX_NAMES: usize = 512;
/// Most entries of the tables of lines of all these methods; those of further ones are not read.
const MAX_LINES: usize = 32 << 10;

/// Stops and scopes of a method, as in [`Code`](crate::Code).
pub struct Inlined<'a> {
    layout: &'a Layout,
    memory: &'a Pages<'a>,
    /// Where scopes and the methods that they name lie.
    data: Option<(u64, u64)>,
    /// Places where a frame may stop: the method may be asked for its variables, or calls; and the scope of each.
    pub stops: Vec<(u32, u16)>,
    pub scopes: Vec<Scope>,
    pub names: Vec<Name>,
    /// By place.
    known: HashMap<u32, u16>,
    /// By method: its name and its lines.
    methods: HashMap<u64, (u16, Lines)>,
    /// How many lines there are in all.
    lines: usize,
}

impl<'a> Inlined<'a> {
    /// Reads those of the method `name`.
    pub fn read(
        layout: &'a Layout,
        memory: &'a Pages<'a>,
        header: &Header<'_>,
        begin: u64,
        code: &[u8],
        name: Name,
    ) -> Inlined<'a> {
        let compiled = &layout.compiled;
        let at = |at: At| header.address(at);
        let data = at(compiled.scopes).zip(at(compiled.metadata));
        let mut inlined = Inlined {
            layout,
            memory,
            data,
            stops: Vec::new(),
            scopes: Vec::new(),
            names: vec![name],
            known: HashMap::new(),
            methods: HashMap::new(),
            lines: 0,
        };
        let mut stops: BTreeMap<u32, u16> = BTreeMap::new();
        for offset in leaf_calls(layout, begin, code) {
            stops.insert(offset, UNKNOWN);
        }
        let pcs = at(compiled.pcs.start).zip(at(compiled.pcs.end));
        let size = pcs.and_then(|(first, end)| end.checked_sub(first));
        if let (Some((first, _)), Some(size)) = (pcs, size.filter(|size| *size <= MAX_PCS)) {
            let entries = memory.bytes(first, (size - size % PC_DESC) as usize);
            for entry in entries.unwrap_or_default().chunks_exact(PC_DESC as usize) {
                let word = |at: usize| {
                    let bytes = entry[at..].first_chunk().copied().unwrap_or_default();
                    u32::from_le_bytes(bytes)
                };
                let (offset, scope) = (word(0), word(4));
                if (1..=code.len() as u32).contains(&offset) {
                    let scope = inlined.scope(scope, 0).unwrap_or(UNKNOWN);
                    stops.insert(offset, scope);
                }
            }
        }
        inlined.stops = stops.into_iter().take(MAX_STOPS).collect();
        inlined
    }

    /// The scope at a place.
    fn scope(&mut self, place: u32, depth: usize) -> Option<u16> {
        if let Some(known) = self.known.get(&place) {
            return Some(*known);
        }
        if depth >= MAX_DEPTH || self.scopes.len() >= MAX_SCOPES {
            return None;
        }
        let (scopes, metadata) = self.data?;
        let excluded = self.layout.compiled.excluded;
        let mut bytes = Bytes::at(self.memory, scopes.checked_add(u64::from(place))?);
        let mut number = || lines::number(excluded, || bytes.next());
        let (sender, method, bytecode) = (number()?, number()?, number());
        let method = u64::from(method.checked_sub(1)?);
        let method = self.memory.u64(metadata.checked_add(8 * method)?).ok()?;
        let (name, line) = self.method(method, bytecode)?;
        let sender = match sender {
            0 => OUTERMOST,
            // A scope is written behind the one that it is in.
            sender if sender < place => self.scope(sender, depth + 1)?,
            _ => return None,
        };
        self.scopes.push(Scope { name, sender, line });
        let scope = self.scopes.len() as u16 - 1;
        self.known.insert(place, scope);
        Some(scope)
    }

    /// The name of a method, and the line of its bytecode before this one; 0: that is not told.
    fn method(&mut self, method: u64, behind: Option<u32>) -> Option<(u16, u16)> {
        if !self.methods.contains_key(&method) {
            let named = self.named(method)?;
            self.methods.insert(method, named);
        }
        let (name, lines) = self.methods.get(&method)?;
        // 0 is the entry of a synchronized method, before its first bytecode.
        let bytecode = behind.and_then(|at| u16::try_from(at.saturating_sub(1)).ok());
        let line = bytecode.and_then(|at| lines::line(lines, at));
        Some((*name, line.unwrap_or(0)))
    }

    fn named(&mut self, method: u64) -> Option<(u16, Lines)> {
        if self.names.len() >= MAX_NAMES {
            return None;
        }
        let name = self.layout.method_name(self.memory, method).ok()?;
        let index = match self.names.iter().position(|known| *known == name) {
            Some(index) => index,
            None => {
                self.names.push(name);
                self.names.len() - 1
            }
        };
        let mut lines = Lines::new();
        if self.lines < MAX_LINES {
            match self.layout.method_lines(self.memory, method) {
                Ok(read) => lines = read,
                // Tables of a JVM can be read: this one lies, or its memory changes.
                Err(_) => self.lines = MAX_LINES,
            }
        }
        self.lines += lines.len();
        Some((index as u16, lines))
    }
}

/// Offsets that calls return to for which there is no scope, since they never stop: those of helpers. `call` to the code cache, or
/// `mov $address,%r10; call *%r10`.
fn leaf_calls<'a>(
    layout: &'a Layout,
    begin: u64,
    code: &'a [u8],
) -> impl Iterator<Item = u32> + 'a {
    code.windows(13)
        .enumerate()
        .filter_map(move |(at, bytes)| match bytes {
            [0xe8, rest @ ..] => {
                let distance = i32::from_le_bytes(*rest.first_chunk()?);
                let next = at as u64 + 5;
                let target = begin
                    .wrapping_add(next)
                    .wrapping_add_signed(i64::from(distance));
                layout.has_code(target).then_some(next as u32)
            }
            [0x49, 0xba, .., 0x41, 0xff, 0xd2] => Some(at as u32 + 13),
            _ => None,
        })
}
