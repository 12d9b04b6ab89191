//! What a HotSpot JVM runs with, read from its own memory.
//!
//! HotSpot exports tables for its debugger, the *VM structs*: where each field of each of its types is. They lead to the
//! table of its flags, which tells the truth however a flag was set (command line, environment, file, at run time), and
//! to its interpreter.
//! The JVM owns this memory: every read is bounded, and what makes no sense is an error.

use crate::ProcessFolder;
use serde::{Deserialize, Serialize};
use std::{fs::File, io, ops::Range, os::unix::fs::FileExt};

/// Most entries of each table; JDK 25 has about 3,000 fields and 1,500 flags.
const MAX_ENTRIES: u64 = 16 << 10;
/// Most symbols that libjvm exports; JDK 25 has about 1,000.
const MAX_SYMBOLS: u64 = 16 << 10;
const MAX_PROGRAM_HEADERS: u64 = 64;
const MAX_DYNAMIC: u64 = 256;
/// Longest name that is compared.
const MAX_NAME: usize = 48;

const PT_DYNAMIC: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const SYMBOL: u64 = 24;

/// What is known of one JVM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpot {
    /// Code of the interpreter, which always keeps frame pointers.
    pub interpreter: Range<u64>,
    /// Where Java returns to the C++ code that called it; there is a frame pointer, too.
    pub call_stub: u64,
    /// `PreserveFramePointer`: compiled methods keep frame pointers.
    pub preserve_frame_pointer: bool,
    /// `DisableAttachMechanism`: it answers no requests.
    pub disable_attach_mechanism: bool,
    /// `ReduceSignalUsage` (`-Xrs`): SIGQUIT is not its own.
    pub reduce_signal_usage: bool,
}

impl HotSpot {
    /// Reads what a process runs with that is a HotSpot JVM and has started.
    ///
    /// # Errors
    /// Not found: the process has no `libjvm.so`. Others: it has one of another kind, or may not be read.
    pub fn read_of(process: &ProcessFolder) -> io::Result<HotSpot> {
        let maps = process.read("maps", crate::line::MAPS_LIMIT)?;
        let base = maps
            .split(|b| *b == b'\n')
            .filter(|line| is_libjvm(line))
            .find_map(|line| std::str::from_utf8(line.split(|b| *b == b'-').next()?).ok())
            .and_then(|start| u64::from_str_radix(start, 16).ok())
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it has no libjvm.so"))?;
        let memory = Memory(process.file("mem")?);
        flags(&memory, base)
    }
}

/// The same of the memory in a file, from the library on.
#[cfg(fuzzing)]
pub(crate) fn of_memory(memory: File) -> io::Result<HotSpot> {
    flags(&Memory(memory), 0)
}

/// Whether a path is that of a JVM's library.
pub(crate) fn is_libjvm(path: &[u8]) -> bool {
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    path.ends_with(b"/libjvm.so")
}

fn strange(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

struct Memory(File);

impl Memory {
    fn word(&self, address: u64) -> io::Result<u64> {
        let mut word = [0; 8];
        self.0.read_exact_at(&mut word, address)?;
        Ok(u64::from_le_bytes(word))
    }

    fn words<const N: usize>(&self, address: u64) -> io::Result<[u64; N]> {
        let mut bytes = vec![0; 8 * N];
        self.0.read_exact_at(&mut bytes, address)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        Ok(words)
    }

    /// The beginning of a string, up to its end or [`MAX_NAME`].
    fn name(&self, address: u64) -> Vec<u8> {
        let mut bytes = [0; MAX_NAME];
        let read = self.0.read_at(&mut bytes, address).unwrap_or(0);
        let name = bytes[..read].split(|b| *b == 0).next();
        name.unwrap_or_default().to_vec()
    }
}

/// Values of the exported variables with these names.
fn exported<const N: usize>(memory: &Memory, base: u64, names: [&str; N]) -> io::Result<[u64; N]> {
    if memory.word(base)? & 0xffff_ffff != u64::from(u32::from_le_bytes(*b"\x7fELF")) {
        return Err(strange("libjvm.so is no ELF file"));
    }
    let (table, count) = (memory.word(base + 32)?, memory.word(base + 56)? & 0xffff);
    // The table of symbols has no length of its own; that of their names lies behind it.
    let (mut symbols, mut strings) = (0, 0);
    for i in 0..count.min(MAX_PROGRAM_HEADERS) {
        let [kind, _, address] = memory.words(base.wrapping_add(table).wrapping_add(56 * i))?;
        if kind & 0xffff_ffff != PT_DYNAMIC {
            continue;
        }
        for j in 0..MAX_DYNAMIC {
            let [tag, value] = memory.words(base.wrapping_add(address).wrapping_add(16 * j))?;
            let value = if value < base { base + value } else { value };
            match tag {
                0 => break,
                DT_STRTAB => strings = value,
                DT_SYMTAB => symbols = value,
                _ => {}
            }
        }
    }
    if symbols == 0 || strings <= symbols {
        return Err(strange("libjvm.so has no symbols"));
    }
    let mut found = [0; N];
    for i in 0..((strings - symbols) / SYMBOL).min(MAX_SYMBOLS) {
        let [head, value] = memory.words(symbols + SYMBOL * i)?;
        if head >> 48 == 0 {
            continue;
        }
        let name = memory.name(strings.wrapping_add(head & 0xffff_ffff));
        if let Some(at) = names.iter().position(|n| n.as_bytes() == name) {
            found[at] = memory.word(base.wrapping_add(value))?;
        }
    }
    if found[0] == 0 {
        return Err(strange("libjvm.so is not HotSpot's"));
    }
    Ok(found)
}

fn flags(memory: &Memory, base: u64) -> io::Result<HotSpot> {
    let [
        structs,
        stride,
        type_name,
        field_name,
        offset,
        address,
        types,
        types_stride,
        types_name,
        types_size,
    ] = exported(
        memory,
        base,
        [
            "gHotSpotVMStructs",
            "gHotSpotVMStructEntryArrayStride",
            "gHotSpotVMStructEntryTypeNameOffset",
            "gHotSpotVMStructEntryFieldNameOffset",
            "gHotSpotVMStructEntryOffsetOffset",
            "gHotSpotVMStructEntryAddressOffset",
            "gHotSpotVMTypes",
            "gHotSpotVMTypeEntryArrayStride",
            "gHotSpotVMTypeEntryTypeNameOffset",
            "gHotSpotVMTypeEntrySizeOffset",
        ],
    )?;
    // "Flag" up to JDK 10.
    const FLAG: [&[u8]; 2] = [b"JVMFlag", b"Flag"];
    let is_flag = |name: u64| FLAG.contains(&&memory.name(name)[..]);
    let (mut list, mut count, mut name_at, mut value_at) = (None, None, None, None);
    let (mut queue, mut buffer_at, mut limit_at, mut call_stub) = (None, None, None, None);
    let mut kind = (0, Vec::new());
    for i in 0..MAX_ENTRIES {
        let entry = structs.wrapping_add(stride.wrapping_mul(i));
        let name = memory.word(entry.wrapping_add(type_name))?;
        if name == 0 {
            break;
        }
        // One type's fields follow one another and share its name.
        if name != kind.0 {
            kind = (name, memory.name(name));
        }
        let of_flag = FLAG.contains(&&kind.1[..]);
        let wanted: [&[u8]; 3] = [b"AbstractInterpreter", b"StubQueue", b"StubRoutines"];
        if !of_flag && !wanted.contains(&&kind.1[..]) {
            continue;
        }
        let field = memory.name(memory.word(entry.wrapping_add(field_name))?);
        let at = |place: u64| memory.word(entry.wrapping_add(place));
        let value = || memory.word(at(address)?);
        match (&kind.1[..], &field[..]) {
            (b"AbstractInterpreter", b"_code") => queue = Some(value()?),
            (b"StubQueue", b"_stub_buffer") => buffer_at = Some(at(offset)?),
            (b"StubQueue", b"_buffer_limit") => limit_at = Some(at(offset)?),
            (b"StubRoutines", b"_call_stub_return_address") => call_stub = Some(value()?),
            (_, b"flags") if of_flag => list = Some(value()?),
            (_, b"numFlags") if of_flag => count = Some(value()?),
            (_, b"_name") if of_flag => name_at = Some(at(offset)?),
            (_, b"_addr") if of_flag => value_at = Some(at(offset)?),
            _ => {}
        }
    }
    let mut size = None;
    for i in 0..MAX_ENTRIES {
        let entry = types.wrapping_add(types_stride.wrapping_mul(i));
        let name = memory.word(entry.wrapping_add(types_name))?;
        if name == 0 {
            break;
        }
        if is_flag(name) {
            size = Some(memory.word(entry.wrapping_add(types_size))?);
        }
    }
    let (Some(list), Some(count), Some(name_at), Some(value_at), Some(size)) =
        (list, count, name_at, value_at, size)
    else {
        return Err(strange("libjvm.so does not tell where its flags are"));
    };
    let (Some(queue), Some(buffer_at), Some(limit_at), Some(call_stub)) =
        (queue, buffer_at, limit_at, call_stub)
    else {
        return Err(strange("libjvm.so does not tell where its interpreter is"));
    };
    if queue == 0 || call_stub == 0 {
        return Err(strange("the JVM is still starting"));
    }
    let start = memory.word(queue.wrapping_add(buffer_at))?;
    let length = memory.word(queue.wrapping_add(limit_at))? & 0xffff_ffff;
    let mut flags = HotSpot {
        interpreter: start..start.wrapping_add(length),
        call_stub,
        preserve_frame_pointer: false,
        disable_attach_mechanism: false,
        reduce_signal_usage: false,
    };
    let mut known = 0;
    for i in 0..count.min(MAX_ENTRIES) {
        let flag = list.wrapping_add(size.wrapping_mul(i));
        let name = memory.word(flag.wrapping_add(name_at))?;
        if name == 0 {
            break;
        }
        let place = match &memory.name(name)[..] {
            b"PreserveFramePointer" => &mut flags.preserve_frame_pointer,
            b"DisableAttachMechanism" => &mut flags.disable_attach_mechanism,
            b"ReduceSignalUsage" => &mut flags.reduce_signal_usage,
            _ => continue,
        };
        *place = memory.word(memory.word(flag.wrapping_add(value_at))?)? & 0xff != 0;
        known += 1;
    }
    // PreserveFramePointer came with 8u60; the others are older.
    if known < 2 {
        return Err(strange("libjvm.so does not tell its flags"));
    }
    Ok(flags)
}
