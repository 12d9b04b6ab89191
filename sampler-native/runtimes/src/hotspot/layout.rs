//! Where the code cache lies, and where in its objects each thing is.

use std::{io, ops::Range};

use serde::{Deserialize, Serialize};

use super::tables::Tables;
use crate::memory::{Pages, strange};

/// Most heaps; JDK 27 has four.
const MAX_HEAPS: u32 = 16;
/// Most bytes of all heaps together; HotSpot allows 2 GiB.
const MAX_CACHE: u64 = 4 << 30;

/// One heap of the code cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// Reserved addresses.
    pub range: Range<u64>,
    /// Where its map of segments lies, one byte each.
    pub segmap: u64,
    /// Bytes of a segment, as a power of two.
    pub shift: u32,
}

/// Where an address is told, of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    /// The field is the address.
    Pointer(u32),
    /// The field is the distance from the header.
    Header(u32),
    /// The field, of two bytes, is the distance from the first instruction.
    Code(u32),
    /// The field is the distance from what this other field points to.
    Behind(u32, u32),
    /// The field, of two bytes, is the distance from the end of the instructions.
    Data(u32),
}

/// Where each thing of an nmethod is that is needed beside its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    pub method: u32,
    pub number: u32,
    pub entry: At,
    pub deopt: At,
    pub deopt_slot: u32,
    pub pcs: Range<At>,
    pub scopes: At,
    pub metadata: At,
    /// Bytes that numbers of scopes never have: 1 from JDK 20 on.
    pub excluded: u8,
}

/// Where each thing of a piece of code is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    pub size: u32,
    pub name: u32,
    pub frame_size: u32,
    /// The offset from which the frame is complete, and whether it has two bytes instead of four.
    pub complete: (u32, bool),
    pub code: Range<At>,
}

/// Where each thing of a method is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Methods {
    pub const_method: u32,
    pub constants: u32,
    pub code_size: u32,
    pub name_index: u32,
    /// Bytes before the bytecodes, and before the entries of the constant pool.
    pub size: u32,
    pub pool_size: u32,
    pub pool_length: u32,
    pub pool_holder: u32,
    pub klass_name: u32,
    pub symbol_length: (u32, bool),
    pub symbol_body: u32,
    /// Where flags are, of two bytes at least, and which of them says that there is a table of lines; none: there is no telling.
    pub lines: Option<(u32, u16)>,
    /// Where the name of the source file is told.
    pub file: Option<SourceFile>,
}

/// Where the place of the name of a class's source file in its constant pool is, of two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceFile {
    /// In the constant pool itself.
    Pool(u32),
    /// In the class: up to JDK 14.
    Class(u32),
}

/// All of this, of one JVM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub heaps: Vec<Heap>,
    /// Bytes before the header of a piece of code.
    pub block: u32,
    pub blob: Blob,
    pub compiled: Compiled,
    pub methods: Methods,
    /// Distance from an interpreter's frame pointer to the method, the place in its bytecodes, and the caller's stack pointer.
    pub frame: [i64; 3],
    /// Where virtual threads return to from a frame whose callers are not on this stack.
    pub continued: Option<u64>,
}

const NMETHOD: [&str; 2] = ["nmethod", "CompiledMethod"];
const BLOB: [&str; 1] = ["CodeBlob"];

impl Layout {
    /// Reads where everything is.
    pub fn read(memory: &Pages<'_>, tables: &Tables) -> io::Result<Layout> {
        let major = tables
            .address(&["Abstract_VM_Version"], "_vm_major_version")
            .and_then(|at| memory.u32(at).ok());
        Ok(Layout {
            heaps: heaps(memory, tables)?,
            block: size(tables, "HeapBlock")?,
            blob: blob(tables)?,
            compiled: compiled(tables, major)?,
            methods: methods(tables)?,
            frame: frame(tables),
            continued: tables
                .address(&["ContinuationEntry"], "_return_pc")
                .and_then(|at| memory.u64(at).ok()),
        })
    }

    /// Whether code may lie at an address.
    pub fn has_code(&self, address: u64) -> bool {
        self.heap(address).is_some()
    }

    /// The heap that holds an address.
    pub fn heap(&self, address: u64) -> Option<&Heap> {
        self.heaps.iter().find(|heap| heap.range.contains(&address))
    }
}

fn size(tables: &Tables, of: &str) -> io::Result<u32> {
    let size = tables.size(&[of]);
    let size = size.ok_or_else(|| strange(&format!("libjvm.so does not tell the size of {of}")))?;
    Ok(size as u32)
}

fn heaps(memory: &Pages<'_>, tables: &Tables) -> io::Result<Vec<Heap>> {
    let list = if let Some(list) = tables.address(&["CodeCache"], "_heaps") {
        let list = memory.u64(list)?;
        let length = tables.place(&["GrowableArrayBase", "GenericGrowableArray"], "_len")?;
        let length = memory.u32(list.wrapping_add(u64::from(length)))?;
        let data = tables.place(&["GrowableArray<int>"], "_data")?;
        let data = memory.u64(list.wrapping_add(u64::from(data)))?;
        let heaps = 0..u64::from(length.min(MAX_HEAPS));
        let heaps = heaps.map(|index| memory.u64(data.wrapping_add(8 * index)));
        heaps.collect::<io::Result<Vec<u64>>>()?
    } else {
        // JDK 8 has one.
        let heap = tables.address(&["CodeCache"], "_heap");
        let heap = heap.ok_or_else(|| strange("libjvm.so does not tell where its code is"))?;
        vec![memory.u64(heap)?]
    };
    let place = |of: &str, name: &str| tables.place(&[of], name).map(u64::from);
    let memory_at = place("CodeHeap", "_memory")?;
    let segmap_at = place("CodeHeap", "_segmap")?;
    let shift_at = place("CodeHeap", "_log2_segment_size")?;
    let low = place("VirtualSpace", "_low_boundary")?;
    let high = place("VirtualSpace", "_high_boundary")?;
    let mut heaps: Vec<Heap> = Vec::new();
    let mut all = 0;
    for heap in list {
        let at = |offset: u64| memory.u64(heap.wrapping_add(offset));
        let range = at(memory_at.wrapping_add(low))?..at(memory_at.wrapping_add(high))?;
        let shift = memory.u32(heap.wrapping_add(shift_at))?;
        let segmap = at(segmap_at.wrapping_add(low))?;
        let length = range.end.checked_sub(range.start);
        let length = length.filter(|length| (1..=MAX_CACHE).contains(length));
        all += length.ok_or_else(|| strange("its code cache makes no sense"))?;
        if !(4..=16).contains(&shift) || all > MAX_CACHE || segmap == 0 {
            return Err(strange("its code cache makes no sense"));
        }
        heaps.push(Heap {
            range,
            segmap,
            shift,
        });
    }
    if heaps.is_empty() {
        return Err(strange("the JVM is still starting"));
    }
    Ok(heaps)
}

fn blob(tables: &Tables) -> io::Result<Blob> {
    let begin = match tables.offset(&BLOB, "_code_begin") {
        Some(begin) => At::Pointer(begin),
        None => At::Header(tables.place(&BLOB, "_code_offset")?),
    };
    let end = match tables.offset(&BLOB, "_code_end") {
        Some(end) => At::Pointer(end),
        None => At::Header(tables.place(&BLOB, "_data_offset")?),
    };
    // From JDK 23 on the header is packed, and this has two bytes.
    let short = tables.offset(&NMETHOD, "_immutable_data").is_some();
    Ok(Blob {
        size: size(tables, "nmethod")?,
        name: tables.place(&BLOB, "_name")?,
        frame_size: tables.place(&BLOB, "_frame_size")?,
        complete: (tables.place(&BLOB, "_frame_complete_offset")?, short),
        code: begin..end,
    })
}

fn compiled(tables: &Tables, major: Option<u32>) -> io::Result<Compiled> {
    let place = |name: &str| tables.place(&NMETHOD, name);
    let offset = |name: &str| tables.offset(&NMETHOD, name);
    let entry = match (
        offset("_verified_entry_point"),
        offset("_verified_entry_offset"),
    ) {
        (Some(entry), _) => At::Pointer(entry),
        (None, Some(entry)) => At::Code(entry),
        (None, None) => {
            return Err(strange(
                "libjvm.so does not tell of nmethod::_verified_entry_point",
            ));
        }
    };
    let deopt = if let Some(deopt) = offset("_deopt_handler_begin") {
        At::Pointer(deopt)
    } else if let Some(deopt) = offset("_deopt_handler_entry_offset") {
        At::Header(deopt)
    } else if let Some(deopt) = offset("_deopt_handler_offset") {
        At::Header(deopt)
    } else {
        At::Header(place("_deoptimize_offset")?)
    };
    let (pcs, scopes, metadata);
    if let Some(immutable) = offset("_immutable_data") {
        let behind = |name: &str| Ok::<At, io::Error>(At::Behind(immutable, place(name)?));
        scopes = behind("_scopes_data_offset")?;
        pcs = behind("_scopes_pcs_offset")?..scopes;
        metadata = match tables.offset(&BLOB, "_mutable_data") {
            Some(data) => At::Behind(data, tables.place(&BLOB, "_relocation_size")?),
            None => At::Data(place("_metadata_offset")?),
        };
    } else {
        pcs = At::Header(place("_scopes_pcs_offset")?)..At::Header(place("_dependencies_offset")?);
        scopes = match offset("_scopes_data_begin") {
            Some(scopes) => At::Pointer(scopes),
            None => At::Header(place("_scopes_data_offset")?),
        };
        metadata = At::Header(place("_metadata_offset")?);
    }
    Ok(Compiled {
        method: place("_method")?,
        number: place("_compile_id")?,
        entry,
        deopt,
        deopt_slot: place("_orig_pc_offset")?,
        pcs,
        scopes,
        metadata,
        // Of JDK 8 this is the version of the VM, 25: it has no such field of its methods as newer ones.
        excluded: u8::from(
            major.is_some_and(|major| major >= 20)
                && tables.address(&["CodeCache"], "_heaps").is_some(),
        ),
    })
}

fn methods(tables: &Tables) -> io::Result<Methods> {
    let place = |of: &str, name: &str| tables.place(&[of], name);
    let length = match tables.offset(&["Symbol"], "_length") {
        Some(length) => (length, false),
        None => (place("Symbol", "_length_and_refcount")?, true),
    };
    Ok(Methods {
        const_method: place("Method", "_constMethod")?,
        constants: place("ConstMethod", "_constants")?,
        code_size: place("ConstMethod", "_code_size")?,
        name_index: place("ConstMethod", "_name_index")?,
        size: size(tables, "ConstMethod")?,
        pool_size: size(tables, "ConstantPool")?,
        pool_length: place("ConstantPool", "_length")?,
        pool_holder: place("ConstantPool", "_pool_holder")?,
        klass_name: place("Klass", "_name")?,
        symbol_length: length,
        symbol_body: match tables.offset(&["Symbol"], "_body") {
            Some(body) => body,
            None => place("Symbol", "_body[0]")?,
        },
        lines: lines(tables),
        file: match tables.offset(&["ConstantPool"], "_source_file_name_index") {
            Some(index) => Some(SourceFile::Pool(index)),
            None => tables
                .offset(&["InstanceKlass"], "_source_file_name_index")
                .map(SourceFile::Class),
        },
    })
}

/// The flags of a method, and that of its table of lines. From JDK 21 on the flags are an object of their own.
fn lines(tables: &Tables) -> Option<(u32, u16)> {
    let of = ["ConstMethod"];
    let flags = tables
        .offset(&of, "_flags")
        .or_else(|| tables.offset(&of, "_flags._flags"))?;
    let flag = tables
        .constant("ConstMethod::_has_linenumber_table")
        .or_else(|| tables.constant("ConstMethodFlags::_misc_has_linenumber_table"))?;
    let flag = u16::try_from(flag).ok()?;
    (flag != 0).then_some((flags, flag))
}

/// The frame of the interpreter. JDK 8 has one word less in it, and one heap for its code.
fn frame(tables: &Tables) -> [i64; 3] {
    let is_8 = tables.address(&["CodeCache"], "_heaps").is_none();
    let sender = tables.constant("frame::interpreter_frame_sender_sp_offset");
    let sender = sender
        .filter(|offset| (-16..0).contains(offset))
        .unwrap_or(-1);
    [sender - 2, sender - if is_8 { 6 } else { 7 }, sender].map(|words| 8 * words)
}
