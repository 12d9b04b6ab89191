//! The rings of the CPU clock and of task ends, drained by one thread.

use std::{
    any::Any,
    ffi::{c_int, c_void},
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::{self, NonNull},
    slice,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use anyhow::{Context, Result};
use libbpf_rs::{MapCore, MapFlags};

use crate::{
    abi,
    clock::{Clock, Learned},
    record::{self, Record},
    sys,
};

/// Most records of one poll, so that the caller gets to do other things while records keep coming.
const MOST_RECORDS: usize = 8192;
/// Records that do not wake the reader wait no longer than this.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

const PAGE: u64 = 4096;
/// Most pages of one step; few functions are larger.
const MOST_PAGES: usize = 16;
/// Bytes of a `struct ft_step`.
const STEP_BYTES: usize = 16;
/// Slots of the map `pages`.
const PAGE_SLOTS: u64 = 16384;
const PAGE_STEPS: usize = abi::FT_PAGE_STEPS as usize;

/// How much the CPU clock copies of a thread's stack. At high rates it copies less of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Most bytes of the stack that the thread is on; with `piece` at most [`crate::abi::FT_CPU_STACK`].
    pub stack: u32,
    /// Most bytes of memory that the stack leads to: another stack, or this one beyond a frame larger than all copied bytes;
    /// 0: none.
    pub piece: u32,
    /// Where that memory began when it was looked at last: it is copied from here …
    pub near: u64,
    /// … unless frame pointers lead to another place within 4 GiB of here.
    pub follow: bool,
    /// Large frames are left out of `stack` where steps ([`Rings::learn`]) lead past them.
    pub walk: bool,
}

/// How some code leads to its caller's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Address of the first byte of the code, which is a few pages at most.
    pub from: u64,
    /// Address of the byte after the code.
    pub to: u64,
    /// Bits `abi::FT_STEP_*`.
    pub flags: u32,
    /// See `struct ft_step`.
    pub bp: i16,
    /// See `struct ft_step`.
    pub cfa: i32,
    /// See `struct ft_step`.
    pub add: i32,
}

/// The threads that the CPU clock is to copy more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This thread.
    Thread(u32),
    /// All threads of this process that have no reach of their own.
    Process(u32),
}

/// The rings of the CPU clock and of task ends. Lives on a thread of its own, and may outlive the
/// [`Kernel`](crate::Kernel), after which nothing more arrives.
pub struct Rings {
    ring: Option<NonNull<libbpf_sys::ring_buffer>>,
    /// The maps that libbpf polls; closed after `ring`.
    _maps: Vec<OwnedFd>,
    learned: Option<Learned>,
    /// The last poll left records.
    left: bool,
    /// The thread that polls changes the periods of this clock. The reference is weak, so that the clock ends with its owner.
    clock: Weak<Mutex<Clock>>,
}

// SAFETY: libbpf's ring reader is bound to no thread, and `poll` takes it mutably.
unsafe impl Send for Rings {}

/// The state of the callback in one poll.
struct Sink<'a> {
    on_record: &'a mut dyn FnMut(Record<'_>),
    records: usize,
    damaged: usize,
    panic: Option<Box<dyn Any + Send>>,
}

thread_local! {
    /// The sink of the poll that this thread is in. libbpf takes its context once for all polls.
    static SINK: std::cell::Cell<*mut c_void> = const { std::cell::Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn take(
    _context: *mut c_void,
    bytes: *mut c_void,
    size: libbpf_sys::size_t,
) -> c_int {
    let sink = SINK.get().cast::<Sink<'_>>();
    // SAFETY: `poll` sets it to its own sink, which nothing else touches, before it calls libbpf.
    let sink = unsafe { &mut *sink };
    // SAFETY: libbpf says where the record is and how long.
    let bytes = unsafe { slice::from_raw_parts(bytes.cast::<u8>(), size as usize) };
    match record::parse(bytes) {
        Some((record, _)) => {
            sink.records += 1;
            // no panic may cross libbpf
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (sink.on_record)(record))) {
                sink.panic = Some(panic);
                return -libc::ECANCELED;
            }
            if sink.records == MOST_RECORDS {
                return -libc::ECANCELED;
            }
        }
        None => sink.damaged += 1,
    }
    0
}

impl Rings {
    pub(crate) fn open<'a>(
        maps: impl Iterator<Item = &'a dyn MapCore>,
        learned: Option<Learned>,
    ) -> Result<Rings> {
        let mut rings = Rings {
            ring: None,
            _maps: Vec::new(),
            learned,
            left: false,
            clock: Weak::new(),
        };
        for map in maps {
            let map = map
                .as_fd()
                .try_clone_to_owned()
                .context("failed to keep a ring")?;
            // SAFETY: the map is a ring and stays open as long as the reader; the callback needs no context.
            let failed = unsafe {
                match rings.ring {
                    Some(ring) => libbpf_sys::ring_buffer__add(
                        ring.as_ptr(),
                        map.as_raw_fd(),
                        Some(take),
                        ptr::null_mut(),
                    ),
                    None => {
                        rings.ring = NonNull::new(libbpf_sys::ring_buffer__new(
                            map.as_raw_fd(),
                            Some(take),
                            ptr::null_mut(),
                            ptr::null(),
                        ));
                        if rings.ring.is_none() {
                            -libc::ENOMEM
                        } else {
                            0
                        }
                    }
                }
            };
            if failed != 0 {
                return Err(std::io::Error::from_raw_os_error(-failed))
                    .context("failed to map a ring");
            }
            rings._maps.push(map);
        }
        Ok(rings)
    }

    /// Changes the periods of this clock from now on.
    pub(crate) fn vary(&mut self, clock: Option<&Arc<Mutex<Clock>>>) {
        self.clock = clock.map_or_else(Weak::new, Arc::downgrade);
    }

    /// The time until the clock of some CPU is due for another period.
    fn clock_due(&self) -> Duration {
        let due = self
            .clock
            .upgrade()
            .and_then(|clock| sys::locked(&clock).due());
        due.map_or(Duration::MAX, |due| {
            Duration::from_nanos(due.saturating_sub(sys::monotonic_nanos()))
        })
    }

    /// Makes `poll` wake when this event becomes readable, too. The caller reads the event.
    ///
    /// # Errors
    /// If the kernel cannot wait for it.
    pub fn wake_for(&self, event: BorrowedFd<'_>) -> Result<()> {
        let Some(ring) = self.ring else {
            return Ok(());
        };
        let mut wanted = libc::epoll_event {
            // Edge-triggered: the event of a CPU that goes offline would be ready for ever.
            events: (libc::EPOLLIN | libc::EPOLLET) as u32,
            u64: 0,
        };
        // SAFETY: the ring is open, and the kernel copies what it is told to wait for.
        let failed = unsafe {
            let epoll = libbpf_sys::ring_buffer__epoll_fd(ring.as_ptr());
            libc::epoll_ctl(
                epoll,
                libc::EPOLL_CTL_ADD,
                event.as_raw_fd(),
                &raw mut wanted,
            )
        };
        match failed {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()).context("failed to wait for an event"),
        }
    }

    /// Sleeps until a ring is a quarter full, a process is seen that was not seen before, or the CPU clock is to have another
    /// period, which it then gets; at most `timeout` and never longer than 100 ms. Then hands over the records that there are, 8,192 at
    /// most ([`Rings::left`]), and returns how many there were: first ends of tasks and execs, then samples of the CPU clock, each in the order of time.
    ///
    /// # Errors
    /// If the kernel refuses to wait, or wrote a record that makes no sense.
    pub fn poll(
        &mut self,
        timeout: Duration,
        on_record: &mut dyn FnMut(Record<'_>),
    ) -> Result<usize> {
        let timeout = timeout.min(LONGEST_WAIT).min(self.clock_due());
        let timeout = if self.left { Duration::ZERO } else { timeout };
        let Some(ring) = self.ring else {
            std::thread::sleep(timeout);
            return Ok(0);
        };
        // SAFETY: the ring is open, and so is its descriptor.
        let epoll = unsafe { libbpf_sys::ring_buffer__epoll_fd(ring.as_ptr()) };
        sys::wait_ready(epoll, timeout).context("failed to wait for a ring")?;
        if let Some(clock) = self.clock.upgrade() {
            sys::locked(&clock).vary();
        }
        let mut sink = Sink {
            on_record,
            records: 0,
            damaged: 0,
            panic: None,
        };
        SINK.set((&raw mut sink).cast());
        // SAFETY: the ring is open, and the callback's sink is this one. Not poll, which takes the rings in the order in which
        // they woke it.
        let result = unsafe { libbpf_sys::ring_buffer__consume(ring.as_ptr()) };
        SINK.set(ptr::null_mut());
        if let Some(panic) = sink.panic {
            resume_unwind(panic);
        }
        self.left = sink.records == MOST_RECORDS;
        if result < 0 && !self.left {
            return Err(std::io::Error::from_raw_os_error(-result))
                .context("failed to read the CPU clock's ring");
        }
        if sink.damaged > 0 {
            anyhow::bail!("the kernel wrote {} damaged records", sink.damaged);
        }
        Ok(sink.records)
    }

    /// Tells whether the last poll left records behind, since there were too many: ends of tasks may be among them.
    pub fn left(&self) -> bool {
        self.left
    }

    /// Sets how much the CPU clock copies from now on; without a reach it copies [`crate::abi::FT_CPU_FIRST`] bytes. Beyond 4,096
    /// reaches, the one whose threads were not sampled for longest is forgotten. Does nothing where there is no CPU clock.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn reach(&self, whose: Whose, reach: Reach) -> Result<()> {
        let Some(Learned { reaches, .. }) = &self.learned else {
            return Ok(());
        };
        let key = match whose {
            Whose::Thread(tid) => u64::from(tid),
            Whose::Process(tgid) => u64::from(tgid) << 32,
        };
        let mut value = [0; 32];
        value[..8].copy_from_slice(&reach.near.to_ne_bytes());
        value[8..12].copy_from_slice(&reach.stack.to_ne_bytes());
        value[12..16].copy_from_slice(&reach.piece.to_ne_bytes());
        value[16..20].copy_from_slice(&u32::from(reach.follow).to_ne_bytes());
        value[20..24].copy_from_slice(&u32::from(reach.walk).to_ne_bytes());
        reaches
            .update(&key.to_ne_bytes(), &value, MapFlags::ANY)
            .with_context(|| format!("failed to ask for more of the stacks of {whose:?}"))
    }

    /// Tells the CPU clock how to get from this code of processes of this image ([`crate::record::Head::image`]) to its
    /// caller. Of 4,096 pages of code, 16 steps each, those used last are kept.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn learn(&self, image: u32, step: &Step) -> Result<()> {
        let Some(Learned { steps, pages, .. }) = &self.learned else {
            return Ok(());
        };
        let last = step.to.saturating_sub(1).max(step.from) / PAGE;
        for page in (step.from / PAGE..=last).take(MOST_PAGES) {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&page.to_ne_bytes());
            key[8..12].copy_from_slice(&image.to_ne_bytes());
            let known = steps.lookup(&key, MapFlags::ANY)?;
            let mut value = known.unwrap_or_else(|| vec![0; STEP_BYTES * PAGE_STEPS]);
            let start = page * PAGE;
            let bytes = step.bytes(
                step.from.max(start) - start,
                step.to.min(start + PAGE) - start,
            );
            // Newest first: an older step of other code that was at this place is not reached any more.
            let places = value.chunks_exact(STEP_BYTES);
            let replaced = places
                .clone()
                .position(|place| place[..4] == bytes[..4] || place[2..4] == [0, 0])
                .unwrap_or(PAGE_STEPS - 1);
            if places.clone().next() == Some(&bytes[..]) {
                continue;
            }
            value.copy_within(..replaced * STEP_BYTES, STEP_BYTES);
            value[..STEP_BYTES].copy_from_slice(&bytes);
            let slot = (page % PAGE_SLOTS) as u32;
            steps
                .update(&key, &value, MapFlags::ANY)
                .and_then(|()| pages.update(&slot.to_ne_bytes(), &[1], MapFlags::ANY))
                .context("failed to tell the CPU clock of a step")?;
        }
        Ok(())
    }
}

impl Step {
    /// The step as a `struct ft_step`, for these offsets in a page.
    fn bytes(&self, from: u64, to: u64) -> [u8; STEP_BYTES] {
        let mut bytes = [0; STEP_BYTES];
        bytes[..2].copy_from_slice(&(from as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&(to as u16).to_ne_bytes());
        bytes[4..6].copy_from_slice(&(self.flags as u16).to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.bp.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.cfa.to_ne_bytes());
        bytes[12..].copy_from_slice(&self.add.to_ne_bytes());
        bytes
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        if let Some(ring) = self.ring {
            // SAFETY: opened by us, freed once.
            unsafe { libbpf_sys::ring_buffer__free(ring.as_ptr()) };
        }
    }
}
