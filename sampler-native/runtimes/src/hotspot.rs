//! HotSpot, the JVM of OpenJDK: its compiled code, its interpreter and its stubs, by the tables that it exports for its debugger.
//!
//! The tables tell where each field of each type is, however the library was built ([`tables`]). They lead to the flags that the JVM
//! runs with, which tell the truth however a flag was set, to its interpreter, and to the *code cache* ([`layout`]): the heaps in which all
//! code lies that the JVM makes. Each piece of it ([`code`]) begins with a header that has its name and the size of its frame ([`header`]), and leads to
//! the method that it was compiled from ([`method`]) and to those that were inlined ([`inlined`]), each of which has its table of lines
//! ([`lines`]). A walk ([`step`]) needs no more than that
//! and the copied stack. Of a thread that is blocked on a monitor the tables tell who holds it ([`monitors`]).

mod code;
mod header;
mod inlined;
mod layout;
mod leaf;
mod lines;
mod method;
mod monitors;
mod shape;
mod step;
mod tables;

use std::{io, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    Blocked, Called, Found, Known, Lack, Name, Pages, Place, Runtime, Stack, Step, memory::strange,
};
use layout::Layout;
use monitors::Monitors;
use tables::{MAX_ENTRIES, MAX_NAME, Tables};

/// The types that flags had; "Flag" up to JDK 10.
const FLAG: [&str; 2] = ["JVMFlag", "Flag"];
/// Most code that is read for one question.
const MOST_LACKS: usize = 256;
/// Functions in which a thread sleeps of its own will: it is blocked on no monitor there.
const SLEEPS: [&[u8]; 8] = [
    b"jdk.internal.misc.Unsafe.park",
    b"sun.misc.Unsafe.park",
    b"java.lang.Object.wait",
    b"java.lang.Object.wait0",
    b"java.lang.Thread.sleep",
    b"java.lang.Thread.sleep0",
    b"java.lang.Thread.sleepNanos0",
    b"java.lang.ref.Reference.waitForReferencePendingList",
];

/// The tables and addresses of one JVM that walks need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpot {
    /// Code of the interpreter, which always keeps frame pointers.
    pub interpreter: Range<u64>,
    /// Where Java returns to the C++ code that called it; there is a frame pointer, too.
    pub call_stub: u64,
    /// `PreserveFramePointer`: compiled methods keep frame pointers.
    pub preserve_frame_pointer: bool,
    /// How its code cache is read; none: it does not tell.
    pub(crate) layout: Option<Layout>,
    /// How holders of monitors are read; none: it does not tell.
    pub(crate) monitors: Option<Monitors>,
}

impl Runtime for HotSpot {
    fn recognise(path: &[u8]) -> bool {
        let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
        path.ends_with(b"/libjvm.so")
    }

    fn attach(memory: &Pages<'_>, base: u64) -> io::Result<HotSpot> {
        let tables = Tables::read(memory, base)?;
        let mut hotspot = flags(memory, &tables)?;
        hotspot.layout = Layout::read(memory, &tables).ok();
        hotspot.monitors = Monitors::of(&tables);
        Ok(hotspot)
    }

    fn read(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Found> {
        let Some(layout) = &self.layout else {
            return Vec::new();
        };
        let lacks = &lacks[..lacks.len().min(MOST_LACKS)];
        let mut holders = self.holders(memory, lacks).into_iter();
        let found = lacks.iter().map(|lack| match *lack {
            Lack::Code(pc) => Found::Code(pc, layout.code(memory, pc).map(Box::new)),
            Lack::Again(pc, number) if layout.number(memory, pc) == Some(number) => Found::Same(pc),
            Lack::Again(pc, _) => Found::Code(pc, layout.code(memory, pc).map(Box::new)),
            Lack::MethodOf(..) => Found::Absent(*lack),
            Lack::Method(at) => Found::Method(at, layout.method(memory, at).ok().map(Box::new)),
            Lack::Thread(thread, _) => Found::Thread(thread, None),
            Lack::Holder(thread, _, switches) => {
                let blocked = holders.next().unwrap_or(Blocked::Unsure);
                Found::Holder(thread, switches, blocked)
            }
        });
        found.collect()
    }

    fn keeps_frame_pointer(&self, pc: u64) -> bool {
        self.preserve_frame_pointer
            || self.interpreter.contains(&pc)
            || pc.wrapping_add(1) == self.call_stub
    }

    fn step(&self, known: &mut Known, at: &Place, stack: &dyn Stack, called: &mut Called) -> Step {
        match &self.layout {
            Some(layout) => step::step(self, layout, known, at, stack, called),
            None => Step::Foreign,
        }
    }

    fn may_block(&self, innermost: &Name) -> bool {
        let may = !cfg!(feature = "unheld") && self.monitors.is_some();
        may && !SLEEPS.contains(&&*innermost.function)
    }

    fn glance(&self, known: &mut Known, word: u64) {
        if let Some(layout) = &self.layout
            && layout.has_code(word)
            && !self.interpreter.contains(&word)
        {
            known.lacks_code(word);
        }
    }
}

impl HotSpot {
    /// Answers all questions for holders among `lacks`, in their order: each answer says what the thread of the question is blocked on.
    fn holders(&self, memory: &Pages<'_>, lacks: &[Lack]) -> Vec<Blocked> {
        let asked = lacks.iter().filter_map(|lack| match *lack {
            Lack::Holder(_, own, _) => Some(own),
            _ => None,
        });
        let asked: Vec<u32> = asked.collect();
        match &self.monitors {
            Some(monitors) if asked.iter().any(|own| *own != 0) => monitors.holders(memory, &asked),
            _ => Vec::new(),
        }
    }
}

/// The flags that the JVM runs with, and the place of its interpreter.
fn flags(memory: &Pages<'_>, tables: &Tables) -> io::Result<HotSpot> {
    let value =
        |types: &[&str], name| -> Option<u64> { memory.u64(tables.address(types, name)?).ok() };
    let of_flag = || {
        Some((
            value(&FLAG, "flags")?,
            value(&FLAG, "numFlags")?,
            u64::from(tables.offset(&FLAG, "_name")?),
            u64::from(tables.offset(&FLAG, "_addr")?),
            tables.size(&FLAG)?,
        ))
    };
    let (list, count, name_at, value_at, size) =
        of_flag().ok_or_else(|| strange("libjvm.so does not tell where its flags are"))?;
    let of_interpreter = || {
        Some((
            value(&["AbstractInterpreter"], "_code")?,
            u64::from(tables.offset(&["StubQueue"], "_stub_buffer")?),
            u64::from(tables.offset(&["StubQueue"], "_buffer_limit")?),
            value(&["StubRoutines"], "_call_stub_return_address")?,
        ))
    };
    let (queue, buffer_at, limit_at, call_stub) = of_interpreter()
        .ok_or_else(|| strange("libjvm.so does not tell where its interpreter is"))?;
    if queue == 0 || call_stub == 0 {
        return Err(strange("the JVM is still starting"));
    }
    let start = memory.u64(queue.wrapping_add(buffer_at))?;
    let length = u64::from(memory.u32(queue.wrapping_add(limit_at))?);
    let mut flags = HotSpot {
        interpreter: start..start.wrapping_add(length),
        call_stub,
        ..HotSpot::default()
    };
    for i in 0..count.min(MAX_ENTRIES) {
        let flag = list.wrapping_add(size.wrapping_mul(i));
        let name = memory.u64(flag.wrapping_add(name_at))?;
        if name == 0 {
            break;
        }
        // It came with 8u60: before, there was no such thing.
        if memory.text(name, MAX_NAME) == b"PreserveFramePointer" {
            let value = memory.u64(flag.wrapping_add(value_at))?;
            flags.preserve_frame_pointer = memory.bytes(value, 1)? != [0];
            break;
        }
    }
    Ok(flags)
}
