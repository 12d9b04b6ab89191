//! Frames and stacks, each once, with dense ids.
//!
//! The tables grow with distinct places and stacks only, not with samples, and are bounded: above a bound the stacks that
//! were not seen for longest are forgotten, then the frames that are left without a stack, and the modules that are left without
//! a frame. A forgotten stack that comes again has another id.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
};

use flametop_runtimes::RuntimeKind;
use flametop_stream::{Encoder, End, ModuleKind, Record, Space};
use flametop_unwind::{Frame, ModuleId, Modules};
use hashbrown::HashTable;

use crate::ids::Ids;

/// How much the tables may hold.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    stacks: usize,
    frames: usize,
    /// Frames of all stacks.
    places: usize,
}

/// About 12 MiB in all. Two busy CPUs come to 70 new stacks a second: a stack is kept for some minutes after it was seen.
const BOUNDS: Bounds = Bounds {
    stacks: 1 << 15,
    frames: 1 << 17,
    places: 1 << 20,
};

impl Bounds {
    fn exceeded(&self, by: &Bounds) -> bool {
        by.stacks > self.stacks || by.frames > self.frames || by.places > self.places
    }
}

struct KnownFrame {
    frame: Frame,
    /// How many questions for its name are not answered yet.
    asked: u32,
    /// The frame has a name that no debug file can better.
    named: bool,
    live: bool,
}

#[derive(Default)]
struct KnownStack {
    /// End and number of user frames, then the frames; empty: no stack has this id.
    key: Box<[u32]>,
    /// The moment when the stack was seen last.
    used: u32,
}

/// The frames of a stack.
#[derive(Clone, Copy)]
pub struct Walked<'a> {
    /// Leaf first.
    pub user: &'a [Frame],
    /// Leaf first.
    pub kernel: &'a [Frame],
    /// Where the frames are.
    pub modules: &'a Modules,
}

/// The tables.
pub struct Stacks {
    bounds: Bounds,
    /// With more than these, stacks are forgotten. These are above the bounds while most stacks have to be kept.
    due: Bounds,
    moment: u32,
    hasher: RandomState,
    modules: HashMap<ModuleId, u32>,
    module_ids: Ids,
    frames: Vec<KnownFrame>,
    frame_ids: Ids,
    frame_table: HashTable<u32>,
    stacks: Vec<KnownStack>,
    stack_ids: Ids,
    stack_table: HashTable<u32>,
    places: usize,
    key: Vec<u32>,
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks::bounded(BOUNDS)
    }
}

impl Stacks {
    fn bounded(bounds: Bounds) -> Stacks {
        Stacks {
            bounds,
            due: bounds,
            moment: 0,
            hasher: RandomState::new(),
            modules: HashMap::new(),
            module_ids: Ids::default(),
            frames: Vec::new(),
            frame_ids: Ids::default(),
            frame_table: HashTable::new(),
            stacks: Vec::new(),
            stack_ids: Ids::default(),
            stack_table: HashTable::new(),
            places: 0,
            key: Vec::new(),
        }
    }

    /// Where a frame is.
    pub fn place(&self, frame: u32) -> Option<&Frame> {
        let known = self.frames.get(frame as usize)?;
        known.live.then_some(&known.frame)
    }

    /// The name of a frame was asked for: its id stays until the answer.
    pub fn asked(&mut self, frame: u32) {
        if let Some(known) = self.frames.get_mut(frame as usize) {
            known.asked += 1;
        }
    }

    /// An answer for this frame came.
    pub fn answered(&mut self, frame: u32) {
        if let Some(known) = self.frames.get_mut(frame as usize) {
            known.asked = known.asked.saturating_sub(1);
        }
    }

    /// Whether an answer for this frame is awaited.
    pub fn is_asked(&self, frame: u32) -> bool {
        self.frames
            .get(frame as usize)
            .is_some_and(|known| known.asked > 0)
    }

    /// The answer was the function's own name.
    pub fn named(&mut self, frame: u32) {
        if let Some(known) = self.frames.get_mut(frame as usize) {
            known.named = true;
        }
    }

    /// The frames of these modules that have no name of their own, or whose names were not asked for.
    pub fn unnamed(&self, of: impl Fn(ModuleId) -> bool) -> Vec<u32> {
        let wanted = |known: &KnownFrame| known.live && !known.named && of(known.frame.module);
        (0..)
            .zip(&self.frames)
            .filter(|(_, known)| wanted(known))
            .map(|(id, _)| id)
            .collect()
    }

    /// From now on another frame is at the place of this one.
    pub fn renew(&mut self, frame: u32) {
        let Some(known) = self.frames.get(frame as usize).filter(|k| k.live) else {
            return;
        };
        let hash = self.hasher.hash_one(known.frame);
        if let Ok(entry) = self.frame_table.find_entry(hash, |of| *of == frame) {
            entry.remove();
        }
    }

    /// The id of a stack; a new stack is told of, with its frames and modules.
    pub fn id(&mut self, end: End, walked: Walked<'_>, out: &mut Encoder) -> u32 {
        let Walked {
            user,
            kernel,
            modules,
        } = walked;
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(u32::from(end.0) | (user.len() as u32) << 8);
        for frame in user.iter().rev().chain(kernel.iter().rev()) {
            key.push(self.frame(*frame, modules, out));
        }
        let hash = self.hasher.hash_one(&key[..]);
        let known = self
            .stack_table
            .find(hash, |id| *self.stacks[*id as usize].key == key[..]);
        let id = match known {
            Some(id) => *id,
            None => self.add(&key, hash, end, user.len(), out),
        };
        self.stacks[id as usize].used = self.moment;
        self.key = key;
        id
    }

    fn add(&mut self, key: &[u32], hash: u64, end: End, user: usize, out: &mut Encoder) -> u32 {
        let id = self.stack_ids.take();
        if id as usize == self.stacks.len() {
            self.stacks.push(KnownStack::default());
        }
        self.stacks[id as usize].key = key.into();
        self.places += key.len();
        let (stacks, hasher) = (&self.stacks, &self.hasher);
        self.stack_table.insert_unique(hash, id, |id| {
            hasher.hash_one(&stacks[*id as usize].key[..])
        });
        out.put(&Record::StackSeen {
            stack: id,
            end,
            user: user as u16,
            frames: key[1..].into(),
        });
        id
    }

    fn frame(&mut self, frame: Frame, modules: &Modules, out: &mut Encoder) -> u32 {
        let hash = self.hasher.hash_one(frame);
        let known = self
            .frame_table
            .find(hash, |id| self.frames[*id as usize].frame == frame);
        if let Some(id) = known {
            return *id;
        }
        let module = self.module(frame.module, modules, out);
        let id = self.frame_ids.take();
        let known = KnownFrame {
            frame,
            asked: 0,
            named: false,
            live: true,
        };
        match self.frames.get_mut(id as usize) {
            Some(slot) => *slot = known,
            None => self.frames.push(known),
        }
        let (frames, hasher) = (&self.frames, &self.hasher);
        self.frame_table
            .insert_unique(hash, id, |id| hasher.hash_one(frames[*id as usize].frame));
        out.put(&Record::FrameSeen {
            frame: id,
            module,
            offset: frame.offset,
            guessed: frame.guessed,
        });
        id
    }

    fn module(&mut self, id: ModuleId, modules: &Modules, out: &mut Encoder) -> u32 {
        if let Some(told) = self.modules.get(&id) {
            return *told;
        }
        let module = modules.get(id);
        let told = self.module_ids.take();
        out.put(&Record::ModuleSeen {
            module: told,
            kind: match module.kind() {
                flametop_unwind::ModuleKind::Kernel => ModuleKind::Kernel,
                flametop_unwind::ModuleKind::File => ModuleKind::File,
                flametop_unwind::ModuleKind::Vdso => ModuleKind::Vdso,
                flametop_unwind::ModuleKind::Jit => ModuleKind::Jit,
                flametop_unwind::ModuleKind::Interpreted(
                    RuntimeKind::HotSpot | RuntimeKind::V8,
                ) => ModuleKind::Jit,
                flametop_unwind::ModuleKind::Interpreted(RuntimeKind::Python) => ModuleKind::Python,
                flametop_unwind::ModuleKind::Interpreted(RuntimeKind::Php) => ModuleKind::Php,
                flametop_unwind::ModuleKind::Interpreted(RuntimeKind::Ruby) => ModuleKind::Ruby,
                flametop_unwind::ModuleKind::Unknown => ModuleKind::Unknown,
            },
            path: module.path(),
            build_id: module.build_id(),
        });
        self.modules.insert(id, told);
        told
    }

    fn held(&self) -> Bounds {
        Bounds {
            stacks: self.stack_table.len(),
            frames: self.frame_table.len(),
            places: self.places,
        }
    }

    /// Whether it is time to [`Stacks::forget`]. Stacks that are seen from now on are newer than those that were seen before.
    pub fn due(&mut self) -> bool {
        self.moment += 1;
        self.due.exceeded(&self.held())
    }

    /// Forgets the half of the stacks that were not seen for longest, but none of `kept`, and the frames that are in no stack
    /// and have no open question.
    pub fn forget(&mut self, kept: &HashSet<u32>, out: &mut Encoder) {
        let mut old: Vec<u32> = self.stack_table.iter().copied().collect();
        let most = old.len() / 2;
        old.retain(|id| !kept.contains(id));
        if old.len() > most {
            old.select_nth_unstable_by_key(most, |id| self.stacks[*id as usize].used);
            old.truncate(most);
        }
        for id in &old {
            let key = std::mem::take(&mut self.stacks[*id as usize].key);
            self.places -= key.len();
            let hash = self.hasher.hash_one(&key[..]);
            if let Ok(entry) = self.stack_table.find_entry(hash, |known| known == id) {
                entry.remove();
            }
        }
        self.stack_ids.forget(Space::Stack, &old, out);
        let mut needed = vec![false; self.frames.len()];
        for stack in &self.stacks {
            for frame in stack.key.iter().skip(1) {
                needed[*frame as usize] = true;
            }
        }
        let mut unused = Vec::new();
        for (id, known) in self.frames.iter_mut().enumerate() {
            if known.live && !needed[id] && known.asked == 0 {
                known.live = false;
                unused.push(id as u32);
                let hash = self.hasher.hash_one(known.frame);
                if let Ok(entry) = self.frame_table.find_entry(hash, |of| *of == id as u32) {
                    entry.remove();
                }
            }
        }
        self.frame_ids.forget(Space::Frame, &unused, out);
        let held = self.held();
        // Less than twice as much, so that the tables come back to the bounds.
        let more = |held: usize| held + held / 2;
        self.due = Bounds {
            stacks: self.bounds.stacks.max(more(held.stacks)),
            frames: self.bounds.frames.max(more(held.frames)),
            places: self.bounds.places.max(more(held.places)),
        };
    }

    /// The frames that have an id.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let frames = self.frames.iter().filter(|f| f.live);
        frames.map(|f| &f.frame)
    }

    /// The modules that frames are in.
    pub fn modules(&self) -> HashSet<ModuleId> {
        self.frames().map(|frame| frame.module).collect()
    }

    /// Forgets these modules, which have no frame.
    pub fn forget_modules(&mut self, gone: &[ModuleId], out: &mut Encoder) {
        let told: Vec<u32> = gone
            .iter()
            .filter_map(|id| self.modules.remove(id))
            .collect();
        self.module_ids.forget(Space::Module, &told, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flametop_stream::{BATCH_HEADER, Reader, batch, file_header, rules::Rules};

    fn walked<'a>(user: &'a [Frame], kernel: &'a [Frame], modules: &'a Modules) -> Walked<'a> {
        Walked {
            user,
            kernel,
            modules,
        }
    }

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
    fn unnamed_of_a_module_are_its_frames_without_a_name_of_their_own() {
        let mut modules = Modules::new(1 << 20);
        let (mut stacks, mut out) = (Stacks::default(), Encoder::new());
        let frames = frames(&mut modules, [1, 2, 3]);
        stacks.id(End::Root, walked(&[], &frames, &modules), &mut out);
        let kernel = modules.kernel();
        let ids = stacks.unnamed(|module| module == kernel);
        assert_eq!(ids.len(), 3);
        stacks.named(ids[1]);
        assert_eq!(stacks.unnamed(|module| module == kernel), [ids[0], ids[2]]);
        assert_eq!(stacks.unnamed(|_| false), [0; 0]);
        stacks.asked(ids[0]);
        assert!(stacks.is_asked(ids[0]) && !stacks.is_asked(ids[2]));
        stacks.answered(ids[0]);
        assert!(!stacks.is_asked(ids[0]));
    }

    /// Reads what was told, by the rules of the stream.
    fn check(rules: &mut Rules, out: &mut Encoder) {
        let mut bytes = file_header([]);
        let mut framed = vec![0; BATCH_HEADER + out.bytes().len()];
        batch(&mut framed, 0, 0, 0, out.bytes());
        bytes.extend_from_slice(&framed);
        out.clear();
        let mut reader = Reader::new(bytes.as_slice()).expect("header");
        let batch = reader.next_batch().expect("batch").expect("one");
        for record in batch.records() {
            rules.read(&record.expect("record")).expect("by the rules");
        }
    }

    #[test]
    fn id_same_frames_is_the_same_unless_they_end_otherwise() {
        let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
        let mut stacks = Stacks::default();
        let f = frames(&mut modules, [1, 2]);
        let mut id = |end, user: &[Frame], kernel: &[Frame]| {
            stacks.id(end, walked(user, kernel, &modules), &mut out)
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
        let mut id =
            |stacks: &mut Stacks| stacks.id(End::Root, walked(&f, &[], &modules), &mut out);
        assert_eq!(id(&mut stacks), 0);
        stacks.renew(0);
        assert_eq!((id(&mut stacks), id(&mut stacks)), (1, 1));
        assert_eq!(stacks.place(0), stacks.place(2));
    }

    #[test]
    fn forget_million_stacks_keeps_the_tables_bounded() {
        let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
        let bounds = Bounds {
            stacks: 1000,
            frames: 5000,
            places: 20_000,
        };
        let mut stacks = Stacks::bounded(bounds);
        let mut rules = Rules::default();
        let (held, asked) = (frames(&mut modules, [1, 2]), frames(&mut modules, [3]));
        let held = stacks.id(End::Root, walked(&held, &[], &modules), &mut out);
        let asked = stacks.id(End::Root, walked(&asked, &[], &modules), &mut out);
        let asked = stacks.stacks[asked as usize].key[1];
        stacks.asked(asked);
        let kept = HashSet::from([held]);
        let mut forgets = 0;
        for number in 0..1_000_000u64 {
            let often = frames(&mut modules, [10 + number % 7]);
            let often = stacks.id(End::Root, walked(&often, &[], &modules), &mut out);
            assert!(often < 2000);
            let new = [20, 1000 + number, 1000 + number / 3];
            let new = frames(
                &mut modules,
                new.into_iter().cycle().take(1 + number as usize % 9),
            );
            stacks.id(End::Root, walked(&new, &[], &modules), &mut out);
            if number % 100 == 0 {
                if stacks.due() {
                    forgets += 1;
                    stacks.forget(&kept, &mut out);
                }
                check(&mut rules, &mut out);
                assert_eq!(rules.live(Space::Stack), stacks.held().stacks);
                assert_eq!(rules.live(Space::Frame), stacks.held().frames);
                assert!(stacks.place(asked).is_some());
            }
        }
        assert!(forgets > 100);
        assert!(rules.highest(Space::Stack) <= 1200);
        assert!(rules.highest(Space::Frame) <= 5400);
        assert!(stacks.held().places <= 21_000);
        stacks.answered(asked);
        stacks.forget(&kept, &mut out);
        assert!(stacks.place(asked).is_none());
        let again = frames(&mut modules, [1, 2]);
        assert_eq!(
            stacks.id(End::Root, walked(&again, &[], &modules), &mut out),
            held
        );
    }

    #[test]
    fn forget_more_is_held_than_the_bound_goes_on() {
        let (mut modules, mut out) = (Modules::new(1 << 20), Encoder::new());
        let bounds = Bounds {
            stacks: 10,
            frames: 10,
            places: 100,
        };
        let mut stacks = Stacks::bounded(bounds);
        let mut kept = HashSet::new();
        let mut forgets = 0;
        for offset in 0..1000 {
            let new = frames(&mut modules, [offset]);
            kept.insert(stacks.id(End::Root, walked(&new, &[], &modules), &mut out));
            if stacks.due() {
                forgets += 1;
                stacks.forget(&kept, &mut out);
            }
        }
        assert_eq!((kept.len(), stacks.held().stacks), (1000, 1000));
        assert!(forgets < 20, "not each time: {forgets}");
    }
}
