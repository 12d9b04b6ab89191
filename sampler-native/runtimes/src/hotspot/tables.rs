//! The tables that HotSpot exports for its debugger, the *VM structs*: where each field of each of its types is.

use std::{collections::HashMap, io};

use crate::{
    elf,
    memory::{Pages, strange},
};

/// Most entries of each table; JDK 25 has about 3,000 fields and 1,500 flags.
pub const MAX_ENTRIES: u64 = 16 << 10;
/// How the constants begin that are kept.
const CONSTANTS: [&[u8]; 3] = [
    b"frame::",
    b"ConstMethod::_has_line",
    b"ConstMethodFlags::_misc_has_line",
];
/// Longest name that is compared.
pub const MAX_NAME: usize = 48;
/// Most bytes of an entry.
const MAX_STRIDE: u64 = 256;

/// Types whose fields are kept.
const TYPES: [&[u8]; 32] = [
    b"AbstractInterpreter",
    b"Abstract_VM_Version",
    b"CodeBlob",
    b"CodeCache",
    b"CodeHeap",
    b"CompiledMethod",
    b"ConstMethod",
    b"ConstantPool",
    b"ContinuationEntry",
    b"Flag",
    b"GenericGrowableArray",
    b"GrowableArray<int>",
    b"GrowableArrayBase",
    b"HeapBlock",
    b"InstanceKlass",
    b"JVMFlag",
    b"JavaThread",
    b"Klass",
    b"LockStack",
    b"Method",
    b"OSThread",
    b"ObjectMonitor",
    b"PcDesc",
    b"StubQueue",
    b"StubRoutines",
    b"Symbol",
    b"Thread",
    b"Threads",
    b"ThreadsList",
    b"ThreadsSMRSupport",
    b"VirtualSpace",
    b"nmethod",
];

/// A field: where it is in its object, or, of a static one, in memory.
#[derive(Clone, Copy, Debug)]
struct Field {
    offset: u64,
    address: u64,
}

/// What the tables say of the types that matter here.
#[derive(Debug, Default)]
pub struct Tables {
    fields: HashMap<(Vec<u8>, Vec<u8>), Field>,
    sizes: HashMap<Vec<u8>, u64>,
    constants: HashMap<Vec<u8>, i64>,
}

impl Tables {
    /// Reads the tables of the library that lies at `base`.
    pub fn read(memory: &Pages<'_>, base: u64) -> io::Result<Tables> {
        let exported = exported(memory, base)?;
        let value = |name: String| {
            let value = exported.get(name.as_bytes()).copied();
            value.ok_or_else(|| strange("libjvm.so is not HotSpot's"))
        };
        let mut tables = Tables::default();
        let rows = |table: &str, first: &str| -> io::Result<Vec<u64>> {
            let start = value(format!("gHotSpotVM{table}s"))?;
            let stride = value(format!("gHotSpotVM{table}EntryArrayStride"))?;
            let name = value(format!("gHotSpotVM{table}Entry{first}Offset"))?;
            if !(8..=MAX_STRIDE).contains(&stride) || name > MAX_STRIDE {
                return Err(strange("libjvm.so does not tell how its tables are read"));
            }
            let mut rows = Vec::new();
            for index in 0..MAX_ENTRIES {
                let row = start.wrapping_add(stride * index);
                if memory.u64(row.wrapping_add(name))? == 0 {
                    break;
                }
                rows.push(row);
            }
            Ok(rows)
        };
        let place = |table: &str, what: &str| value(format!("gHotSpotVM{table}Entry{what}Offset"));
        let name_at = |row: u64, place: u64| -> io::Result<Vec<u8>> {
            Ok(memory.text(memory.u64(row.wrapping_add(place))?, MAX_NAME))
        };

        let (of, name) = (place("Struct", "TypeName")?, place("Struct", "FieldName")?);
        let (offset, address) = (place("Struct", "Offset")?, place("Struct", "Address")?);
        for row in rows("Struct", "TypeName")? {
            let of = name_at(row, of)?;
            if TYPES.contains(&&of[..]) {
                let field = Field {
                    offset: memory.u64(row.wrapping_add(offset))?,
                    address: memory.u64(row.wrapping_add(address))?,
                };
                tables.fields.insert((of, name_at(row, name)?), field);
            }
        }
        let (name, size) = (place("Type", "TypeName")?, place("Type", "Size")?);
        for row in rows("Type", "TypeName")? {
            let name = name_at(row, name)?;
            if TYPES.contains(&&name[..]) {
                let size = memory.u64(row.wrapping_add(size))?;
                tables.sizes.insert(name, size);
            }
        }
        // Without these the frames are as they always were, and have no lines.
        let constants = rows("IntConstant", "Name").ok();
        let places = place("IntConstant", "Name").ok();
        let places = places.zip(place("IntConstant", "Value").ok());
        for (row, (name, number)) in constants
            .into_iter()
            .flatten()
            .zip(places.into_iter().cycle())
        {
            let name = name_at(row, name)?;
            if CONSTANTS.iter().any(|kept| name.starts_with(kept)) {
                let number = memory.u32(row.wrapping_add(number))? as i32;
                tables.constants.insert(name, i64::from(number));
            }
        }
        Ok(tables)
    }

    fn field(&self, types: &[&str], name: &str) -> Option<Field> {
        let of = |of: &&str| (of.as_bytes().to_vec(), name.as_bytes().to_vec());
        types.iter().find_map(|t| self.fields.get(&of(t))).copied()
    }

    /// Where a field of one of these types is in its object.
    pub fn offset(&self, types: &[&str], name: &str) -> Option<u32> {
        let offset = u32::try_from(self.field(types, name)?.offset).ok()?;
        (offset < 1 << 16).then_some(offset)
    }

    /// The same, of a field that must be there.
    pub fn place(&self, types: &[&str], name: &str) -> io::Result<u32> {
        let missing = || strange(&format!("libjvm.so does not tell of {}::{name}", types[0]));
        self.offset(types, name).ok_or_else(missing)
    }

    /// Where a static field of one of these types is.
    pub fn address(&self, types: &[&str], name: &str) -> Option<u64> {
        let field = self.field(types, name)?;
        Some(field.address).filter(|address| *address != 0)
    }

    /// The size of one of these types.
    pub fn size(&self, types: &[&str]) -> Option<u64> {
        let size = types.iter().find_map(|t| self.sizes.get(t.as_bytes()))?;
        (*size > 0 && *size < 1 << 16).then_some(*size)
    }

    /// A number by its name.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name.as_bytes()).copied()
    }
}

/// The values of the exported variables that lead to the tables.
fn exported(memory: &Pages<'_>, base: u64) -> io::Result<HashMap<Vec<u8>, u64>> {
    let mut places = Vec::new();
    elf::exported(memory, base, MAX_NAME, |name, symbol| {
        if name.starts_with(b"gHotSpotVM") {
            places.push((name.to_vec(), symbol.address));
        }
    })?;
    let value = |(name, address): (Vec<u8>, u64)| Ok((name, memory.u64(address)?));
    places.into_iter().map(value).collect()
}
