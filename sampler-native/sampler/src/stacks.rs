//! Frames and stacks, each once, with dense ids.
//!
//! Both tables grow with distinct places and stacks only, not with samples. At their bounds every new stack becomes one
//! stack without frames that ends in *limit*.

use std::collections::HashMap;

use flametop_stream::{Encoder, End, ModuleKind, Record};
use flametop_unwind::{Frame, ModuleId, Modules};

/// Most frames and most stacks.
const MAX_FRAMES: usize = 1 << 20;
const MAX_STACKS: usize = 1 << 18;

/// The tables.
pub struct Stacks {
    most_frames: usize,
    most_stacks: usize,
    modules: u32,
    frames: HashMap<Frame, u32>,
    places: Vec<Frame>,
    stacks: HashMap<Box<[u32]>, u32>,
    limit: Option<u32>,
    key: Vec<u32>,
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks::bounded(MAX_FRAMES, MAX_STACKS)
    }
}

impl Stacks {
    fn bounded(most_frames: usize, most_stacks: usize) -> Stacks {
        Stacks {
            most_frames,
            most_stacks,
            modules: 0,
            frames: HashMap::new(),
            places: Vec::new(),
            stacks: HashMap::new(),
            limit: None,
            key: Vec::new(),
        }
    }

    /// Where a frame is.
    pub fn place(&self, frame: u32) -> Option<&Frame> {
        self.places.get(frame as usize)
    }

    /// What is seen at the place of this frame from now on is another frame.
    pub fn renew(&mut self, frame: u32) {
        if let Some(place) = self.places.get(frame as usize)
            && self.frames.get(place) == Some(&frame)
        {
            self.frames.remove(place);
        }
    }

    /// Whether the tables are full.
    pub fn full(&self) -> bool {
        self.limit.is_some()
    }

    /// The id of a stack, told with its frames and modules if it is new. `user` and `kernel` are leaf first.
    pub fn id(
        &mut self,
        end: End,
        user: &[Frame],
        kernel: &[Frame],
        modules: &Modules,
        out: &mut Encoder,
    ) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(end as u32 | (user.len() as u32) << 8);
        for frame in user.iter().rev().chain(kernel.iter().rev()) {
            match self.frame(*frame, modules, out) {
                Some(id) => key.push(id),
                None => return self.limit(out),
            }
        }
        let id = match self.stacks.get(&key[..]) {
            Some(id) => *id,
            None if self.stacks.len() >= self.most_stacks => self.limit(out),
            None => self.add(&key, end, user.len(), out),
        };
        self.key = key;
        id
    }

    fn add(&mut self, key: &[u32], end: End, user: usize, out: &mut Encoder) -> u32 {
        let id = self.stacks.len() as u32;
        self.stacks.insert(key.into(), id);
        out.put(&Record::StackSeen {
            stack: id,
            end,
            user: user as u16,
            frames: key[1..].into(),
        });
        id
    }

    fn limit(&mut self, out: &mut Encoder) -> u32 {
        if let Some(id) = self.limit {
            return id;
        }
        let key = [End::Limit as u32];
        let id = match self.stacks.get(&key[..]) {
            Some(id) => *id,
            None => self.add(&key, End::Limit, 0, out),
        };
        self.limit = Some(id);
        id
    }

    fn frame(&mut self, frame: Frame, modules: &Modules, out: &mut Encoder) -> Option<u32> {
        if let Some(id) = self.frames.get(&frame) {
            return Some(*id);
        }
        if self.places.len() >= self.most_frames {
            return None;
        }
        while self.modules <= frame.module.0 {
            let module = modules.get(ModuleId(self.modules));
            out.put(&Record::ModuleSeen {
                module: self.modules,
                kind: match module.kind() {
                    flametop_unwind::ModuleKind::Kernel => ModuleKind::Kernel,
                    flametop_unwind::ModuleKind::File => ModuleKind::File,
                    flametop_unwind::ModuleKind::Vdso => ModuleKind::Vdso,
                    flametop_unwind::ModuleKind::Jit => ModuleKind::Jit,
                    flametop_unwind::ModuleKind::Unknown => ModuleKind::Unknown,
                },
                path: module.path(),
                build_id: module.build_id(),
            });
            self.modules += 1;
        }
        let id = self.places.len() as u32;
        self.places.push(frame);
        self.frames.insert(frame, id);
        out.put(&Record::FrameSeen {
            frame: id,
            module: frame.module.0,
            offset: frame.offset,
            guessed: frame.guessed,
        });
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(modules: &mut Modules, offsets: impl IntoIterator<Item = u64>) -> Vec<Frame> {
        let module = modules.kernel();
        let frame = |offset| Frame {
            module,
            offset,
            guessed: false,
        };
        offsets.into_iter().map(frame).collect()
    }

    #[test]
    fn id_same_frames_is_the_same_unless_they_end_otherwise() {
        let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
        let mut stacks = Stacks::default();
        let f = frames(&mut modules, [1, 2]);
        let mut id = |end, user: &[Frame], kernel: &[Frame]| {
            stacks.id(end, user, kernel, &modules, &mut out)
        };
        assert_eq!(id(End::Root, &f, &[]), 0);
        assert_eq!(id(End::Root, &f, &[]), 0);
        assert_eq!(id(End::Truncated, &f, &[]), 1);
        assert_eq!(id(End::Root, &[], &f), 2);
        assert_eq!(id(End::Root, &f[..1], &f[1..]), 3);
        assert_eq!(id(End::Root, &f, &[]), 0);
    }

    #[test]
    fn id_after_renew_is_of_another_frame_at_the_same_place() {
        let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
        let mut stacks = Stacks::default();
        let f = frames(&mut modules, [1, 2]);
        let mut id = |stacks: &mut Stacks| stacks.id(End::Root, &f, &[], &modules, &mut out);
        assert_eq!(id(&mut stacks), 0);
        stacks.renew(0);
        assert_eq!((id(&mut stacks), id(&mut stacks)), (1, 1));
        assert_eq!(stacks.place(0), stacks.place(2));
    }

    #[test]
    fn id_at_either_bound_is_one_stack_that_ends_in_limit() {
        for (most_frames, most_stacks) in [(10, 1000), (1000, 10)] {
            let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
            let mut stacks = Stacks::bounded(most_frames, most_stacks);
            let mut ids = Vec::new();
            for offset in 0..20 {
                let f = frames(&mut modules, [offset]);
                ids.push(stacks.id(End::Root, &f, &[], &modules, &mut out));
            }
            assert!(stacks.full());
            assert_eq!(ids[..10], (0..10).collect::<Vec<_>>());
            assert_eq!(ids[10..], [10; 10]);
            let known = frames(&mut modules, [3]);
            assert_eq!(stacks.id(End::Root, &known, &[], &modules, &mut out), 3);
        }
    }
}
