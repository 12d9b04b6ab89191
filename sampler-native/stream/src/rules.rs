//! The rules of ids, for tests and tools that read a stream: an id is introduced before it is named, ids are dense, and a forgotten id is
//! not named.

use crate::{NO_STACK, Record, Space};

/// The ids that are introduced and not forgotten, as far as a stream was read.
#[derive(Debug, Default)]
pub struct Rules {
    spaces: [Ids; 5],
    /// By frame: its module.
    module_of: Vec<u32>,
    /// By stack: its frames.
    frames_of: Vec<Vec<u32>>,
    /// By task: its process.
    process_of: Vec<u32>,
}

#[derive(Debug, Default)]
struct Ids {
    live: Vec<bool>,
    count: usize,
    /// By id: how many live things name the id.
    named: Vec<u32>,
}

impl Rules {
    /// How many ids of a space are introduced and not forgotten.
    pub fn live(&self, space: Space) -> usize {
        self.spaces[usize::from(space.0)].count
    }

    /// One more than the highest id of a space that was ever introduced.
    pub fn highest(&self, space: Space) -> usize {
        self.spaces[usize::from(space.0)].live.len()
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// The rule that the record breaks.
    pub fn read(&mut self, record: &Record<'_>) -> Result<(), String> {
        match record {
            Record::ProcessSeen { process, .. } => {
                self.introduce(Space::Process, *process)?;
            }
            Record::TaskSeen { task, process, .. } => {
                self.check(Space::Process, *process)?;
                if self.introduce(Space::Task, *task)? {
                    put(&mut self.process_of, *task, *process);
                } else {
                    let before = std::mem::replace(&mut self.process_of[*task as usize], *process);
                    self.name(Space::Process, before, -1);
                }
                self.name(Space::Process, *process, 1);
            }
            Record::ModuleSeen { module, .. } => {
                if !self.introduce(Space::Module, *module)? {
                    return Err(format!("module {module} is introduced twice"));
                }
            }
            Record::FrameSeen { frame, module, .. } => {
                self.check(Space::Module, *module)?;
                if !self.introduce(Space::Frame, *frame)? {
                    return Err(format!("frame {frame} is introduced twice"));
                }
                self.name(Space::Module, *module, 1);
                put(&mut self.module_of, *frame, *module);
            }
            Record::StackSeen { stack, frames, .. } => {
                frames
                    .iter()
                    .try_for_each(|f| self.check(Space::Frame, *f))?;
                if !self.introduce(Space::Stack, *stack)? {
                    return Err(format!("stack {stack} is introduced twice"));
                }
                frames.iter().for_each(|f| self.name(Space::Frame, *f, 1));
                put(&mut self.frames_of, *stack, frames.to_vec());
            }
            Record::Cgroup { process, .. }
            | Record::Notice {
                process: Some(process),
                ..
            } => self.check(Space::Process, *process)?,
            Record::Parent { process, parent } => {
                self.check(Space::Process, *process)?;
                self.check(Space::Process, *parent)?;
            }
            Record::TaskGone { task, .. } | Record::TaskBlocked { task, .. } => {
                self.check(Space::Task, *task)?
            }
            Record::TaskChanged(head) | Record::CpuSample(head) | Record::Event { head, .. } => {
                self.check(Space::Task, head.task)?;
                if let Some(stack) = head.stack.filter(|s| *s != NO_STACK) {
                    self.check(Space::Stack, stack)?;
                }
            }
            Record::Name { frame, .. } | Record::Place { frame, .. } => {
                self.check(Space::Frame, *frame)?
            }
            Record::Forgotten { space, ids } => {
                ids.iter().try_for_each(|id| self.forget(*space, *id))?;
            }
            Record::Counters(_)
            | Record::CpuUsage { .. }
            | Record::IdleState { .. }
            | Record::Notice { .. }
            | Record::HostUsage { .. }
            | Record::CpuCycles { .. }
            | Record::CpuChanged { .. }
            | Record::SourceSeen { .. }
            | Record::SourceTotals(_)
            | Record::OwnUsage { .. }
            | Record::Unknown { .. } => {}
        }
        Ok(())
    }

    /// Whether the id is a new one.
    fn introduce(&mut self, space: Space, id: u32) -> Result<bool, String> {
        let ids = &mut self.spaces[usize::from(space.0)];
        let at = id as usize;
        if at > ids.live.len() {
            let known = ids.live.len();
            return Err(format!("{space:?} {id} where at most {known} was due"));
        }
        if at == ids.live.len() {
            ids.live.push(false);
            ids.named.push(0);
        }
        let new = !std::mem::replace(&mut ids.live[at], true);
        ids.count += usize::from(new);
        Ok(new)
    }

    fn check(&self, space: Space, id: u32) -> Result<(), String> {
        match self.spaces[usize::from(space.0)].live.get(id as usize) {
            Some(true) => Ok(()),
            _ => Err(format!("{space:?} {id} is not introduced")),
        }
    }

    fn name(&mut self, space: Space, id: u32, more: i32) {
        let named = &mut self.spaces[usize::from(space.0)].named[id as usize];
        *named = named.wrapping_add_signed(more);
    }

    fn forget(&mut self, space: Space, id: u32) -> Result<(), String> {
        self.check(space, id)?;
        let ids = &mut self.spaces[usize::from(space.0)];
        if ids.named[id as usize] > 0 {
            return Err(format!("{space:?} {id} is forgotten before what names it"));
        }
        ids.live[id as usize] = false;
        ids.count -= 1;
        match space {
            Space::Process | Space::Module => {}
            Space::Task => self.name(Space::Process, self.process_of[id as usize], -1),
            Space::Frame => self.name(Space::Module, self.module_of[id as usize], -1),
            _ => {
                for frame in std::mem::take(&mut self.frames_of[id as usize]) {
                    self.name(Space::Frame, frame, -1);
                }
            }
        }
        Ok(())
    }
}

fn put<T>(table: &mut Vec<T>, id: u32, value: T) {
    match table.get_mut(id as usize) {
        Some(known) => *known = value,
        None => table.push(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, ModuleKind};

    fn module(module: u32) -> Record<'static> {
        Record::ModuleSeen {
            module,
            kind: ModuleKind::File,
            path: b"/bin/true",
            build_id: b"",
        }
    }

    fn frame(frame: u32, module: u32) -> Record<'static> {
        Record::FrameSeen {
            frame,
            module,
            offset: 0,
            guessed: false,
        }
    }

    fn stack(stack: u32, frames: &[u32]) -> Record<'_> {
        Record::StackSeen {
            stack,
            end: End::Root,
            user: 0,
            frames: frames.into(),
        }
    }

    fn forgotten(space: Space, ids: &[u32]) -> Record<'_> {
        Record::Forgotten {
            space,
            ids: ids.into(),
        }
    }

    #[test]
    fn read_what_names_a_thing_is_forgotten_before_it() {
        let mut rules = Rules::default();
        let mut read = |record: Record<'_>| rules.read(&record).is_ok();
        assert!(!read(frame(0, 0)), "no module yet");
        assert!(read(module(0)) && read(frame(0, 0)) && read(stack(0, &[0, 0])));
        assert!(!read(frame(2, 0)), "not dense");
        assert!(!read(forgotten(Space::Frame, &[0])), "the stack names it");
        assert!(read(forgotten(Space::Stack, &[0])));
        assert!(!read(forgotten(Space::Stack, &[0])), "twice");
        assert!(!read(forgotten(Space::Module, &[0])), "the frame names it");
        assert!(read(forgotten(Space::Frame, &[0])) && read(forgotten(Space::Module, &[0])));
        assert!(!read(frame(0, 0)), "the module is forgotten");
        assert!(read(module(0)) && read(frame(0, 0)) && read(stack(0, &[0])));
        assert_eq!(
            (rules.live(Space::Stack), rules.highest(Space::Stack)),
            (1, 1)
        );
    }
}
