//! The memory of a process that looks like a JVM of the layout of JDK 17: its library with tables, a heap of code, and methods.

use std::{collections::HashMap, io};

use flametop_runtimes::{Attached, Memory, Pages, RuntimeKind, attach};

pub const BASE: u64 = 0x7f00_0000_0000;
const SIZE: usize = 1 << 20;
const SEGMENT: u64 = 128;
/// Names of fields, the type of each, and its offset.
const FIELDS: [(&str, &str, u64); 59] = [
    ("CodeBlob", "_name", 96),
    ("CodeBlob", "_frame_complete_offset", 20),
    ("CodeBlob", "_frame_size", 28),
    ("CodeBlob", "_code_begin", 32),
    ("CodeBlob", "_code_end", 40),
    ("CodeHeap", "_memory", 8),
    ("CodeHeap", "_segmap", 120),
    ("CodeHeap", "_log2_segment_size", 256),
    ("CompiledMethod", "_method", 112),
    ("CompiledMethod", "_scopes_data_begin", 120),
    ("CompiledMethod", "_deopt_handler_begin", 128),
    ("ConstMethod", "_constants", 8),
    ("ConstMethod", "_code_size", 32),
    ("ConstMethod", "_name_index", 34),
    ("ConstMethod", "_flags", 38),
    ("ConstantPool", "_pool_holder", 24),
    ("ConstantPool", "_length", 60),
    ("ConstantPool", "_source_file_name_index", 56),
    ("GrowableArrayBase", "_len", 0),
    ("GrowableArray<int>", "_data", 8),
    ("JVMFlag", "_name", 8),
    ("JVMFlag", "_addr", 0),
    ("Klass", "_name", 24),
    ("Method", "_constMethod", 8),
    ("StubQueue", "_stub_buffer", 8),
    ("StubQueue", "_buffer_limit", 20),
    ("Symbol", "_length", 4),
    ("Symbol", "_body", 6),
    ("VirtualSpace", "_low_boundary", 0),
    ("VirtualSpace", "_high_boundary", 8),
    ("nmethod", "_compile_id", 304),
    ("nmethod", "_verified_entry_point", 224),
    ("nmethod", "_orig_pc_offset", 300),
    ("nmethod", "_scopes_pcs_offset", 268),
    ("nmethod", "_dependencies_offset", 272),
    ("nmethod", "_metadata_offset", 260),
    ("JavaThread", "_lock_stack", 64),
    ("JavaThread", "_monitor_owner_id", 56),
    ("JavaThread", "_next", 24),
    ("LockStack", "_base[0]", 8),
    ("LockStack", "_top", 0),
    ("OSThread", "_thread_id", 8),
    ("ObjectMonitor", "_object", 8),
    ("ObjectMonitor", "_owner", 16),
    ("Thread", "_current_pending_monitor", 48),
    ("Thread", "_osthread", 16),
    ("Thread", "_stack_base", 32),
    ("Thread", "_stack_size", 40),
    ("ThreadsList", "_length", 8),
    ("ThreadsList", "_threads", 0),
    // Static ones: their values are put where the table says.
    ("AbstractInterpreter", "_code", 0),
    ("Abstract_VM_Version", "_vm_major_version", 0),
    ("CodeCache", "_heaps", 0),
    ("JVMFlag", "flags", 0),
    ("JVMFlag", "numFlags", 0),
    ("StubRoutines", "_call_stub_return_address", 0),
    ("ContinuationEntry", "_return_pc", 0),
    ("Threads", "_thread_list", 0),
    ("ThreadsSMRSupport", "_java_thread_list", 0),
];
const FIRST_STATIC: usize = 50;
const SIZES: [(&str, u64); 5] = [
    ("JVMFlag", 24),
    ("HeapBlock", 16),
    ("nmethod", 352),
    ("ConstMethod", 48),
    ("ConstantPool", 72),
];

/// The flag of methods that have a table of lines.
const HAS_LINES: u16 = 8;
/// Bytes of the bytecodes of a method.
const BYTECODES: u64 = 100;
/// The table of each method: line 1000 at 0, then 1007 at 7 and 1050 at 50.
const LINES: [u8; 9] = [0xff, 0, 208, 28, 7 << 3 | 7, 0xff, 86, 86, 0];

/// The memory, and what is where.
#[derive(Clone)]
pub struct Jvm {
    pub bytes: Vec<u8>,
    next: u64,
    strings: HashMap<String, u64>,
    pub interpreter: u64,
    pub call_stub: u64,
    pub heap: u64,
    heap_next: u64,
    segmap: u64,
    pub methods: Vec<u64>,
    /// Where the tables, objects and code are that were written.
    pub written: Vec<u64>,
}

impl Memory for Jvm {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let at = address.checked_sub(BASE).ok_or(io::ErrorKind::NotFound)?;
        let there = self.bytes.get(at as usize..).unwrap_or_default();
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }
}

/// A compiled method that is put into the code cache.
pub struct Compiled<'a> {
    pub method: u64,
    pub code: &'a [u8],
    pub entry: u32,
    pub complete: u32,
    pub frame: u32,
    pub number: u32,
    /// Stops, each with the methods that are inlined there, the outermost first.
    pub stops: &'a [(u32, &'a [u64])],
}

impl Jvm {
    pub fn new() -> Jvm {
        let mut jvm = Jvm {
            bytes: vec![0; SIZE],
            next: BASE + 4096,
            strings: HashMap::new(),
            interpreter: 0,
            call_stub: 0,
            heap: 0,
            heap_next: 0,
            segmap: 0,
            methods: Vec::new(),
            written: Vec::new(),
        };
        jvm.heap = jvm.room(128 * 1024);
        jvm.heap_next = jvm.heap;
        jvm.segmap = jvm.room(1024);
        for segment in 0..1024 {
            jvm.put(jvm.segmap + segment, &[255]);
        }
        jvm.library();
        let stub = jvm.blob("StubRoutines (1)", 0, &[0x90; 64]);
        jvm.call_stub = stub + 32;
        jvm.interpreter = jvm.blob("Interpreter", 0, &[0x90; 4096]);
        jvm.statics();
        jvm
    }

    pub fn attach(&self) -> io::Result<Attached> {
        attach(RuntimeKind::HotSpot, &Pages::new(self, 4096), BASE)
    }

    pub fn room(&mut self, size: u64) -> u64 {
        let at = self.next;
        self.next = (self.next + size).next_multiple_of(8);
        assert!((self.next - BASE) < SIZE as u64, "more memory is needed");
        at
    }

    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        let at = (address - BASE) as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.written.push(address);
    }

    pub fn put64(&mut self, address: u64, value: u64) {
        self.put(address, &value.to_le_bytes());
    }

    pub fn put32(&mut self, address: u64, value: u32) {
        self.put(address, &value.to_le_bytes());
    }

    fn string(&mut self, text: &str) -> u64 {
        if let Some(at) = self.strings.get(text) {
            return *at;
        }
        let at = self.room(text.len() as u64 + 1);
        self.put(at, text.as_bytes());
        self.strings.insert(text.to_owned(), at);
        at
    }

    fn library(&mut self) {
        let structs = self.room(48 * (FIELDS.len() as u64 + 1));
        for (index, (of, name, offset)) in (0..).zip(FIELDS) {
            let (row, of, name) = (structs + 48 * index, self.string(of), self.string(name));
            self.put64(row, of);
            self.put64(row + 8, name);
            self.put64(row + 32, offset);
            if index as usize >= FIRST_STATIC {
                let value = self.room(8);
                self.put64(row + 40, value);
            }
        }
        let types = self.room(40 * (SIZES.len() as u64 + 1));
        for (index, (name, size)) in (0..).zip(SIZES) {
            let name = self.string(name);
            self.put64(types + 40 * index, name);
            self.put64(types + 40 * index + 32, size);
        }
        let constants = self.room(2 * 16);
        let name = self.string("ConstMethod::_has_linenumber_table");
        self.put64(constants, name);
        self.put32(constants + 8, HAS_LINES.into());
        let variables = [
            ("gHotSpotVMStructs", structs),
            ("gHotSpotVMStructEntryArrayStride", 48),
            ("gHotSpotVMStructEntryTypeNameOffset", 0),
            ("gHotSpotVMStructEntryFieldNameOffset", 8),
            ("gHotSpotVMStructEntryOffsetOffset", 32),
            ("gHotSpotVMStructEntryAddressOffset", 40),
            ("gHotSpotVMTypes", types),
            ("gHotSpotVMTypeEntryArrayStride", 40),
            ("gHotSpotVMTypeEntryTypeNameOffset", 0),
            ("gHotSpotVMTypeEntrySizeOffset", 32),
            ("gHotSpotVMIntConstants", constants),
            ("gHotSpotVMIntConstantEntryArrayStride", 16),
            ("gHotSpotVMIntConstantEntryNameOffset", 0),
            ("gHotSpotVMIntConstantEntryValueOffset", 8),
        ];
        let symbols = self.room(24 * (variables.len() as u64 + 1));
        let strings = self.room(2048);
        let mut end = strings + 1;
        for (index, (name, value)) in (1..).zip(variables) {
            let variable = self.room(8);
            self.put64(variable, value);
            self.put(end, name.as_bytes());
            let symbol = symbols + 24 * index;
            self.put32(symbol, (end - strings) as u32);
            self.put(symbol + 6, &[1, 0]);
            self.put64(symbol + 8, variable - BASE);
            end += name.len() as u64 + 1;
        }
        self.put(BASE, b"\x7fELF");
        self.put64(BASE + 32, 64);
        self.put(BASE + 56, &[1, 0]);
        self.put32(BASE + 64, 2);
        self.put64(BASE + 64 + 16, 256);
        for (index, (tag, value)) in (0..).zip([(5, strings), (6, symbols), (0, 0)]) {
            self.put64(BASE + 256 + 16 * index, tag);
            self.put64(BASE + 256 + 16 * index + 8, value);
        }
    }

    fn row(&self, name: &str) -> u64 {
        let at = FIELDS.iter().position(|field| field.1 == name);
        BASE + 4096 + 128 * 1024 + 1024 + 48 * at.expect("a field") as u64
    }

    /// Where the value of a static field lies.
    pub fn variable(&self, name: &str) -> u64 {
        self.word(self.row(name) + 40)
    }

    /// The tables tell of another field in place of this one.
    pub fn hide(&mut self, name: &str) {
        let other = self.string("_hidden");
        self.put64(self.row(name) + 8, other);
    }

    pub fn word(&self, address: u64) -> u64 {
        let at = (address - BASE) as usize;
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("8 bytes"))
    }

    fn statics(&mut self) {
        let queue = self.room(48);
        self.put64(queue + 8, self.interpreter);
        self.put32(queue + 20, 4096);
        self.put64(self.variable("_code"), queue);
        self.put32(self.variable("_vm_major_version"), 17);
        self.put64(self.variable("_call_stub_return_address"), self.call_stub);
        let flags = self.room(72);
        let value = self.room(8);
        for (index, name) in (0..).zip(["DisableAttachMechanism", "PreserveFramePointer"]) {
            let name = self.string(name);
            self.put64(flags + 24 * index, value);
            self.put64(flags + 24 * index + 8, name);
        }
        self.put64(self.variable("flags"), flags);
        self.put64(self.variable("numFlags"), 2);
        let (list, data, heap) = (self.room(16), self.room(8), self.room(344));
        self.put64(self.variable("_heaps"), list);
        self.put32(list, 1);
        self.put64(list + 8, data);
        self.put64(data, heap);
        self.put64(heap + 8, self.heap);
        self.put64(heap + 16, self.heap + 128 * 1024);
        self.put64(heap + 120, self.segmap);
        self.put32(heap + 256, 7);
    }

    /// Puts code of this kind into the cache; returns where its instructions begin.
    pub fn blob(&mut self, kind: &str, frame: u32, code: &[u8]) -> u64 {
        let at = self.heap_next + 16;
        let begin = at + 352;
        let end = begin + code.len() as u64;
        let segments = (end - self.heap_next).div_ceil(SEGMENT);
        let first = (self.heap_next - self.heap) / SEGMENT;
        for segment in 0..segments {
            self.put(self.segmap + first + segment, &[segment.min(254) as u8]);
        }
        self.heap_next += segments * SEGMENT;
        let name = self.string(kind);
        self.put64(at + 96, name);
        self.put32(at + 28, frame);
        self.put64(at + 32, begin);
        self.put64(at + 40, end);
        self.put(begin, code);
        begin
    }

    /// A method of this class and name, with lines.
    pub fn method(&mut self, class: &str, name: &str) -> u64 {
        let mut symbol = |text: &str| {
            let at = self.room(6 + text.len() as u64);
            self.put(at + 4, &(text.len() as u16).to_le_bytes());
            self.put(at + 6, text.as_bytes());
            at
        };
        let file = class.split(['/', '$']).nth(1).expect("a package");
        let file = symbol(&format!("{file}.java"));
        let (class, name) = (symbol(class), symbol(name));
        let (klass, pool) = (self.room(208), self.room(72 + 24));
        self.put64(klass + 24, class);
        self.put64(pool + 24, klass);
        self.put(pool + 56, &[2, 0]);
        self.put32(pool + 60, 3);
        self.put64(pool + 72 + 8, name);
        self.put64(pool + 72 + 16, file);
        let (constant, method) = (self.room(48 + BYTECODES + 16), self.room(88));
        self.put64(constant + 8, pool);
        self.put(constant + 32, &[BYTECODES as u8, 0, 1, 0]);
        self.put(constant + 38, &HAS_LINES.to_le_bytes());
        self.put(constant + 48 + BYTECODES, &LINES);
        self.put64(method + 8, constant);
        self.methods.push(method);
        method
    }

    /// Where the bytecodes of a method begin.
    pub fn bytecodes(&self, method: u64) -> u64 {
        self.word(method + 8) + 48
    }

    /// Puts a compiled method into the cache; returns where its instructions begin.
    pub fn compiled(&mut self, what: &Compiled<'_>) -> u64 {
        let begin = self.blob("nmethod", what.frame, what.code);
        let at = begin - 352;
        let number = |number: usize| vec![number as u8];
        let (mut scopes, mut metadata) = (vec![0], Vec::new());
        let (pcs, all) = (self.room(16 * what.stops.len() as u64), what.stops);
        for (index, (stop, methods)) in (0..).zip(all) {
            let mut sender = 0;
            for method in *methods {
                metadata.push(*method);
                let place = scopes.len();
                scopes.extend(number(sender));
                scopes.extend(number(metadata.len()));
                // The outermost is at bytecode 50, those in it at 3.
                scopes.extend(number(if sender == 0 { 51 } else { 4 }));
                sender = place;
            }
            self.put32(pcs + 16 * index, *stop);
            self.put32(pcs + 16 * index + 4, sender as u32);
        }
        let (data, list) = (self.room(scopes.len() as u64), self.room(8 * 64));
        self.put(data, &scopes);
        for (index, method) in (0..).zip(metadata) {
            self.put64(list + 8 * index, method);
        }
        let from = |place: u64| place.wrapping_sub(at) as u32;
        self.put32(at + 20, what.complete);
        self.put64(at + 112, what.method);
        self.put64(at + 120, data);
        self.put64(at + 128, begin + what.code.len() as u64 - 1);
        self.put64(at + 224, begin + u64::from(what.entry));
        self.put32(at + 260, from(list));
        self.put32(at + 268, from(pcs));
        self.put32(at + 272, from(pcs + 16 * all.len() as u64));
        self.put32(at + 300, 0);
        self.put32(at + 304, what.number);
        begin
    }
}
