//! Records of the kernel side as Rust sees them: views into the bytes that were read, nothing copied.
//!
//! `bpf/flametop.h` is the definition. Constants come from that file (module [`abi`]), and the layouts here
//! are checked against clang's layouts of it when this crate is compiled.

use std::{mem::size_of, ops::Range};

use crate::{abi, skeletons::layout};

/// The head of every record: `struct ft_head`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Bytes of the whole record, this head included.
    pub size: u32,
    /// `abi::FT_KIND_*`.
    pub kind: u16,
    /// `abi::FT_STATE_*`.
    pub state: u16,
    /// Bits `abi::FT_*` of `enum ft_status`.
    pub status: u32,
    /// CPU that the task is on, or was on last.
    pub cpu: u32,
    /// `CLOCK_MONOTONIC`, ns.
    pub ktime: u64,
    /// Thread, as flametop's pid namespace numbers it.
    pub tid: u32,
    /// Its process.
    pub tgid: u32,
    /// Start of the thread, `CLOCK_BOOTTIME`, ns.
    pub start_boottime: u64,
    /// Start of the process, `CLOCK_BOOTTIME`, ns.
    pub process_start_boottime: u64,
    /// Pages of executable mappings; moves when code is mapped or unmapped.
    pub exec_vm: u64,
    /// Id of its cgroup in the hierarchy that was asked for.
    pub cgroup: u64,
    /// Voluntary switches.
    pub nvcsw: u64,
    /// Involuntary switches.
    pub nivcsw: u64,
    /// ns on a CPU since the task began.
    pub run_ns: u64,
    /// ns waiting for a CPU since the task began; 0 where the kernel does not count it.
    pub wait_ns: u64,
    /// ns in uninterruptible sleep since the task began, a sleep that goes on included; counted while `kernel.sched_schedstats` is on.
    pub blocked_ns: u64,
    /// Generation of the process image: one more with each exec.
    pub self_exec_id: u32,
    /// Effective user, initial user namespace.
    pub uid: u32,
    /// Hash of the exec that made the address space: forks have that of their parent until they exec; 0: no address space.
    pub image: u32,
    /// Of an exec: the thread that called it; else the task's own.
    pub former_tid: u32,
    /// Of a fork, and of the first sight of a leader by a pass: process that the task is a child of; else 0.
    pub parent: u32,
    /// 0.
    pub unused: u32,
    /// Name of the thread, NUL-padded raw bytes.
    pub comm: [u8; abi::FT_COMM as usize],
    /// Name of the thread group's leader.
    pub process_comm: [u8; abi::FT_COMM as usize],
}

/// `struct ft_stack` as it lies in the record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RawStack {
    regs: [u64; abi::FT_REGS as usize],
    mapping_start: u64,
    mapping_end: u64,
    user_address: u64,
    piece_address: u64,
    kernel_bytes: u32,
    user_bytes: u32,
    piece_bytes: u32,
    holder_tid: u32,
    switches_after: u64,
    holder_comm: [u8; abi::FT_COMM as usize],
    chunk_bytes: u32,
    chunks: u32,
}

/// `struct ft_event`: why the record of an event was written.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source that was hit.
    pub source: u32,
    /// Of a wait for a lock of the kernel: bits of `enum ft_lock`; else 0.
    pub lock: u32,
    /// What the hit weighs, in the unit of its source.
    pub weight: u64,
    /// The stack was copied with probability 1 − exp(−weight / rate); 0: with certainty.
    pub rate: u64,
    /// Address of the function that has just returned to the top of the stack; 0: none has.
    pub function: u64,
    /// The stack pointer that a jump leads to, or [`abi::FT_CUT_UNKNOWN`]; 0: it is no jump.
    pub cut: u64,
    /// Number of the wait that ended: the records of waker and waiter have the same. 0: none did.
    pub wait: u64,
    /// Of a waiter: who woke its waker during the wait, who woke that one, and so on.
    pub wakers: [Waker; abi::FT_WAKERS as usize],
}

/// `struct ft_waker`: who woke a task.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waker {
    /// `CLOCK_MONOTONIC`, ns; 0: nobody did.
    pub time: u64,
    /// The thread as the kernel numbers it; 0: an interrupt.
    pub tid: u32,
    unused: u32,
    /// Name of the thread, NUL-padded raw bytes.
    pub comm: [u8; abi::FT_COMM as usize],
}

macro_rules! same_layout {
    ($rust:ty, $c:ty, $($field:ident),+) => {
        const _: () = {
            assert!(size_of::<$rust>() == size_of::<$c>());
            $(assert!(std::mem::offset_of!($rust, $field) == std::mem::offset_of!($c, $field));)+
        };
    };
}
same_layout!(
    Head,
    layout::ft_head,
    size,
    kind,
    state,
    status,
    cpu,
    ktime,
    tid,
    tgid,
    start_boottime,
    process_start_boottime,
    exec_vm,
    cgroup,
    nvcsw,
    nivcsw,
    run_ns,
    wait_ns,
    blocked_ns,
    self_exec_id,
    uid,
    image,
    former_tid,
    parent,
    unused,
    comm,
    process_comm
);
same_layout!(
    RawStack,
    layout::ft_stack,
    regs,
    mapping_start,
    mapping_end,
    user_address,
    piece_address,
    kernel_bytes,
    user_bytes,
    piece_bytes,
    holder_tid,
    switches_after,
    holder_comm,
    chunk_bytes,
    chunks
);

same_layout!(
    Event,
    layout::ft_event,
    source,
    lock,
    weight,
    rate,
    function,
    wait,
    wakers
);

same_layout!(Waker, layout::ft_waker, time, tid, unused, comm);

/// One record.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Identity, state and sums of the task.
    pub head: &'a Head,
    /// The event, if the record is of one.
    pub event: Option<Event>,
    /// The task's stack, if the record has one.
    pub stack: Option<StackPart<'a>>,
}

/// Registers and copied memory of one stack.
#[derive(Clone, Debug)]
pub struct StackPart<'a> {
    /// DWARF order: rax rdx rcx rbx rsi rdi rbp rsp r8…r15 rip. All 0 for a task without a user half.
    pub regs: &'a [u64; abi::FT_REGS as usize],
    /// The mapping that holds `rsp`; empty if it is not known.
    pub mapping: Range<u64>,
    /// Kernel return addresses, leaf first.
    pub kernel: &'a [u64],
    /// Address of the first byte of `user`.
    pub user_address: u64,
    /// User stack memory from `rsp` on.
    pub user: &'a [u8],
    /// Address of the first byte of `piece`.
    pub piece_address: u64,
    /// The piece that [`Kernel::want`](crate::Kernel::want) asked for, empty if none.
    pub piece: &'a [u8],
    /// Further memory of the same moment, beyond `user`.
    pub chunks: Chunks<'a>,
    /// nvcsw + nivcsw after the copy.
    pub switches_after: u64,
    /// `FT_MM_BUSY`: the task that holds mmap_lock for writing, if it is known.
    pub holder: Option<Holder<'a>>,
}

/// Pieces of user memory: address of the first byte, and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunks<'a>(&'a [u8]);

impl<'a> Iterator for Chunks<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        let (address, rest) = self.0.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let size = usize::try_from(u64::from_ne_bytes(*size)).ok()?;
        let (bytes, rest) = rest.split_at_checked(size)?;
        self.0 = rest;
        Some((u64::from_ne_bytes(*address), bytes))
    }
}

impl<'a> Chunks<'a> {
    /// The pieces in these bytes.
    pub fn of(bytes: &'a [u8]) -> Chunks<'a> {
        Chunks(bytes)
    }

    /// The bytes that hold the pieces.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> StackPart<'a> {
    /// The chunks that are memory of the process.
    pub fn memory_chunks(&self) -> impl Iterator<Item = (u64, &'a [u8])> + use<'a> {
        self.chunks
            .filter(|(address, _)| *address != u64::from(abi::FT_CHAIN_ADDRESS))
    }

    /// The copied chain of the thread: `struct ft_chain_head` and its nodes; empty if there is none.
    pub fn chain(&self) -> &'a [u8] {
        let is_chain = |(address, _): &(u64, &[u8])| *address == u64::from(abi::FT_CHAIN_ADDRESS);
        let mut chunks = self.chunks;
        chunks.find(is_chain).map_or(&[], |(_, bytes)| bytes)
    }
}

/// A task that holds the mmap_lock of another.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// Its thread, as flametop's pid namespace numbers it.
    pub tid: u32,
    /// Its name, NUL-padded raw bytes.
    pub comm: &'a [u8; abi::FT_COMM as usize],
}

/// The record at the front of `bytes`, and its size; nothing if the record is damaged or not aligned to 8.
pub(crate) fn parse(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let (head, rest) = split::<Head>(bytes)?;
    let size = head.size as usize;
    if size < size_of::<Head>() || !size.is_multiple_of(8) || size > bytes.len() {
        return None;
    }
    if head.status & abi::FT_HAS_STACK == 0 {
        let record = Record {
            head,
            event: None,
            stack: None,
        };
        return (size == size_of::<Head>()).then_some((record, size));
    }
    let rest = rest.get(..size - size_of::<Head>())?;
    let (event, rest) = match u32::from(head.kind) {
        abi::FT_KIND_EVENT | abi::FT_KIND_WAKER => {
            split::<Event>(rest).map(|(event, rest)| (Some(*event), rest))?
        }
        _ => (None, rest),
    };
    let (raw, memory) = split::<RawStack>(rest)?;
    let (kernel, memory) = memory.split_at_checked(raw.kernel_bytes as usize)?;
    let (user, memory) = memory.split_at_checked(raw.user_bytes as usize)?;
    let (chunks, piece) = memory.split_at_checked(raw.chunk_bytes as usize)?;
    let chunks = Chunks(chunks);
    if piece.len() != raw.piece_bytes as usize || chunks.count() != raw.chunks as usize {
        return None;
    }
    // SAFETY: every bit pattern is a u64.
    let (before, kernel, after) = unsafe { kernel.align_to::<u64>() };
    if !before.is_empty() || !after.is_empty() {
        return None;
    }
    let stack = StackPart {
        regs: &raw.regs,
        mapping: raw.mapping_start..raw.mapping_end,
        kernel,
        user_address: raw.user_address,
        user,
        piece_address: raw.piece_address,
        piece,
        chunks,
        switches_after: raw.switches_after,
        holder: (raw.holder_tid != 0).then_some(Holder {
            tid: raw.holder_tid,
            comm: &raw.holder_comm,
        }),
    };
    Some((
        Record {
            head,
            event,
            stack: Some(stack),
        },
        size,
    ))
}

/// A structure of plain integers at the front of `bytes`.
fn split<T: Plain>(bytes: &[u8]) -> Option<(&T, &[u8])> {
    let (front, rest) = bytes.split_at_checked(size_of::<T>())?;
    let front = front.as_ptr().cast::<T>();
    // SAFETY: long enough, aligned, and `Plain` says that every bit pattern is a value.
    front.is_aligned().then(|| (unsafe { &*front }, rest))
}

/// # Safety
/// Only integers, no padding.
unsafe trait Plain {}
// SAFETY: the C side asserts that there is no padding, and the layouts are compared above.
unsafe impl Plain for Head {}
// SAFETY: as above.
unsafe impl Plain for Event {}
// SAFETY: as above.
unsafe impl Plain for RawStack {}
