//! Steps: how the kernel side gets past frames of code that keeps no frame pointer, as walks have shown it.

use std::collections::{HashMap, HashSet};

use flametop_kernel::{Reach, Step, Whose, abi, record::Head};
use flametop_unwind::{CallersRbp, Hop, ModuleId, ModuleKind, Modules, ProcessMaps};

use super::KernelRequests;
use crate::tasks::Process;

/// Steps that were told are remembered up to this many.
const MOST_TOLD: usize = 1 << 14;
/// Steps that wait to be told; each takes up to 48 system calls.
const MOST_WAITING: usize = 512;
/// Names of processes with deep stacks are remembered up to this many.
const MOST_DEEP: usize = 256;
/// What the CPU clock copies of threads with deep stacks.
const DEEP: Reach = Reach {
    stack: abi::FT_CPU_STACK,
    piece: 0,
    near: 0,
    follow: false,
    walk: true,
};

/// What a walk has shown of a process.
pub struct Shown<'a> {
    /// The mappings of the process.
    pub maps: &'a ProcessMaps,
    /// The modules that these name.
    pub modules: &'a Modules,
    /// How the walk got from frame to frame.
    pub hops: &'a [Hop],
}

/// The steps that the kernel side knows.
#[derive(Default)]
pub struct Steps {
    /// The image, the address of the code, and its hop: told lately, so that they are not told with each sample.
    told: HashSet<(u32, u64, Hop)>,
    /// The hops of each file, of any process.
    of_files: HashMap<ModuleId, HashSet<Hop>>,
    /// Images that were told the hops of their files.
    images: HashSet<u32>,
    /// Names of processes whose stacks were deeper than what was copied.
    deep: HashSet<[u8; abi::FT_COMM as usize]>,
}

impl Steps {
    /// Whether to [`Steps::learn`] from a sample: its walk lacks a part of the stack, or it is the first of a process, and
    /// another process of that name had deep stacks.
    pub fn are_due(&self, head: &Head, process: &mut Process, lacks: bool) -> bool {
        let first = !std::mem::replace(&mut process.taught, true);
        lacks || first && self.deep.contains(&head.process_comm)
    }

    /// Tells the kernel side the steps past the frames of a walk that lacks a part of the stack, and to each new image the steps
    /// that are known of its files.
    pub fn learn(
        &mut self,
        head: &Head,
        process: &mut Process,
        lacks: bool,
        shown: &Shown<'_>,
        requests: &mut KernelRequests,
    ) {
        // The kernel side may have forgotten some: all are told again now and then.
        if self.told.len() > MOST_TOLD
            || self.images.len() > MOST_TOLD
            || self.deep.len() > MOST_DEEP
        {
            self.forget();
        }
        if lacks {
            self.deep.insert(head.process_comm);
        } else if process.reach.is_none() {
            process.reach = Some(DEEP);
            requests.reaches.push((Whose::Process(head.tgid), DEEP));
        }
        if self.images.insert(head.image) {
            let modules: HashSet<ModuleId> = shown.maps.modules().collect();
            let hops = modules.iter().filter_map(|id| self.of_files.get(id));
            for hop in hops.flatten().take(MOST_WAITING) {
                tell(&mut self.told, hop, head.image, shown.maps, requests);
            }
        }
        if lacks {
            for hop in shown.hops {
                if tell(&mut self.told, hop, head.image, shown.maps, requests)
                    && shown.modules.get(hop.module).kind() == ModuleKind::File
                {
                    let of_file = self.of_files.entry(hop.module).or_default();
                    of_file.insert(hop.clone());
                }
            }
        }
    }

    /// Forgets all that was told.
    pub fn forget(&mut self) {
        *self = Steps::default();
    }
}

/// Has the processes of an image told of a hop, and notes the hop in `told`, unless they were told or too many hops wait. Returns
/// whether the request is new. For a hop whose code is not mapped now there is no request: there is one once the code is mapped.
fn tell(
    told: &mut HashSet<(u32, u64, Hop)>,
    hop: &Hop,
    image: u32,
    maps: &ProcessMaps,
    requests: &mut KernelRequests,
) -> bool {
    if requests.steps.len() >= MOST_WAITING {
        return false;
    }
    let Some(address) = maps.address(hop.module, hop.code.start) else {
        return false;
    };
    let new = told.insert((image, address, hop.clone()));
    if new {
        requests.steps.push((image, step(hop, address)));
    }
    new
}

/// A hop as the kernel side takes it, of code at this address.
fn step(hop: &Hop, address: u64) -> Step {
    let size = hop.code.end - hop.code.start;
    let mut step = Step {
        from: address,
        to: address.saturating_add(size),
        flags: abi::FT_STEP_ROOT,
        bp: 0,
        cfa: 0,
        add: 0,
    };
    let Some(caller) = hop.caller else {
        return step;
    };
    let (saved, bp) = match caller.rbp {
        CallersRbp::Same => (0, 0),
        CallersRbp::Saved(offset) => (abi::FT_STEP_SAVED, offset),
        CallersRbp::SavedAt(offset) => (abi::FT_STEP_SAVED_AT, offset),
    };
    // An rbp that is saved farther away leads to no further frame.
    if let Ok(bp) = i16::try_from(bp) {
        (step.flags, step.bp) = (saved, bp);
    } else {
        step.flags = 0;
    }
    step.flags |= if caller.by_rbp { abi::FT_STEP_BP } else { 0 };
    step.cfa = caller.offset;
    if let Some(add) = caller.add {
        step.flags |= abi::FT_STEP_DEREF;
        step.add = add;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(module: ModuleId, start: u64) -> Hop {
        Hop {
            module,
            code: start..start + 1,
            caller: None,
        }
    }

    /// This process, and a module of it with the offset of code that is mapped.
    fn own() -> (ProcessMaps, ModuleId, u64) {
        let mut modules = Modules::new(1 << 20);
        let maps = ProcessMaps::read(std::process::id(), &mut modules).unwrap();
        let module = maps.modules().next().unwrap();
        let mapped = |page: &u64| maps.address(module, page * 4096).is_some();
        let page = (0..1 << 20).find(mapped).unwrap();
        (maps, module, page * 4096)
    }

    #[test]
    fn tell_code_that_is_mapped_later_is_told_then_and_once() {
        let (maps, module, start) = own();
        let (mut told, mut requests) = (HashSet::new(), KernelRequests::default());
        let empty = ProcessMaps::empty(std::process::id());
        let hop = hop(module, start);
        assert!(!tell(&mut told, &hop, 1, &empty, &mut requests));
        assert!(tell(&mut told, &hop, 1, &maps, &mut requests));
        assert!(!tell(&mut told, &hop, 1, &maps, &mut requests), "again");
        assert!(tell(&mut told, &hop, 2, &maps, &mut requests), "another");
        let images: Vec<u32> = requests.steps.iter().map(|(image, _)| *image).collect();
        assert_eq!(images, [1, 2]);
    }

    #[test]
    fn tell_more_than_may_wait_is_told_when_there_is_room() {
        let (maps, module, start) = own();
        let (mut told, mut requests) = (HashSet::new(), KernelRequests::default());
        for offset in 0..1000 {
            let hop = hop(module, start + offset);
            tell(&mut told, &hop, 1, &maps, &mut requests);
        }
        assert_eq!(requests.steps.len(), MOST_WAITING);
        requests.steps.clear();
        for offset in 0..1000 {
            let hop = hop(module, start + offset);
            tell(&mut told, &hop, 1, &maps, &mut requests);
        }
        assert_eq!(requests.steps.len(), 1000 - MOST_WAITING);
    }
}
