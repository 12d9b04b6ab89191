//! Names and source lines of frames: whom a frame's name is asked from, and the answers as records.

use std::{
    collections::{BTreeMap, HashSet},
    io, mem,
};

use flametop_runtimes::{Function, NameId, Names};
use flametop_stream::{self as stream, Call, Encoder, NameSource, Record};
use flametop_symbolize::{
    DebugFileCounts, MAX_FILES, PlaceQuery, Query, Source, Subject, Symbolizer,
};
use flametop_unwind::{Frame, ModuleId, ModuleKind, Modules, NAMED, Sign};

use super::{BUSY, files::Files, put_notice};
use crate::{
    budget::{Budget, Purse},
    jit::{self, Answer, JitNames, Nameless},
    os,
    stacks::Stacks,
    tasks::Tasks,
};

/// Frames whose names are asked for again in one go, when a debug file has come.
const MAX_AGAIN: usize = 512;
/// Units of work ([`Modules::allow`]) a second and CPU that the names of one file may cost, 10 ms at most.
const NAMING: u64 = 100_000;

/// A question that waits for the file of its frame to be opened.
struct Unopened {
    frame: u32,
    asked: Asked,
}

/// What is asked about a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Name,
    Place,
}

/// What names are of and go to.
pub struct Frames<'a> {
    /// The frames.
    pub stacks: &'a mut Stacks,
    /// Names of functions that runtimes told.
    pub names: &'a Names,
    /// Their modules.
    pub files: &'a mut Files,
    /// Where the answers go.
    pub out: &'a mut Encoder,
    /// Whose modules they are, and whom notices are of.
    pub tasks: &'a Tasks,
}

/// Asks for names and places, and takes the answers.
pub struct Naming {
    /// Names code of files and of the kernel.
    pub symbolizer: Symbolizer,
    /// Names code made at run time.
    pub jit: JitNames,
    /// How far debug files are, as the stream has it: none is done before its names are here.
    pub debug_files: DebugFileCounts,
    /// Frames that may have a name now, since a debug file came.
    again: Vec<u32>,
    /// Those of them whose answers are on their way.
    asked_again: HashSet<u32>,
    /// Modules that the symbolizer knows.
    subjects: HashSet<ModuleId>,
    /// How many files of them the symbolizer has open at a time.
    most_subjects: usize,
    unopened: Vec<Unopened>,
    /// The cost of finding where functions begin, by module.
    budget: Budget,
}

impl Naming {
    /// Nothing asked yet.
    pub fn new(symbolizer: Symbolizer, jit: JitNames, cpus: u64) -> Naming {
        Naming {
            symbolizer,
            jit,
            debug_files: DebugFileCounts::default(),
            again: Vec::new(),
            asked_again: HashSet::new(),
            subjects: HashSet::new(),
            most_subjects: MAX_FILES,
            unopened: Vec::new(),
            budget: Budget::new(NAMING * cpus, NAMING * cpus),
        }
    }

    /// Has no more files open at a time than these.
    pub fn keep_open(&mut self, files: usize) {
        self.symbolizer.keep_open(files);
        self.most_subjects = files;
    }

    /// Asks for the names of these frames.
    pub fn ask_names(&mut self, frames: &[u32], of: &mut Frames<'_>) {
        let mut queries = Vec::with_capacity(frames.len());
        let mut jit = Vec::new();
        let now = os::monotonic();
        for &frame in frames {
            let Some(&place) = of.stacks.place(frame) else {
                continue;
            };
            if let Some(function) = function_of(&of.files.modules, &place) {
                // An id has a name as long as a frame has the id.
                match of.names.get(function.name) {
                    Some(name) => put_name(of.out, frame, NameSource::Symbol, &name.function),
                    None => put_name(of.out, frame, NameSource::Unknown, UNREAD),
                }
                continue;
            }
            let module = of.files.modules.get(place.module);
            match module.kind() {
                ModuleKind::Jit => {
                    let tgid = module.tgid().unwrap_or(0);
                    of.stacks.asked(frame);
                    jit.push(jit::Ask { frame, tgid, place });
                }
                ModuleKind::Unknown => {
                    let (source, name) = name_of_sign(&of.files.modules, place);
                    put_name(of.out, frame, source, &name);
                }
                _ => queries.extend(self.query(frame, place, now, of)),
            }
        }
        self.symbolizer.ask(&queries);
        if !jit.is_empty() {
            self.jit.ask(jit);
        }
    }

    /// The question to the symbolizer; none if the file has to be opened first.
    fn query(
        &mut self,
        frame: u32,
        Frame { module, offset, .. }: Frame,
        now: u64,
        of: &mut Frames<'_>,
    ) -> Option<Query> {
        if !self.subjects.contains(&module) {
            if !self.is_open(module, frame, Asked::Name, of) {
                return None;
            }
            if let Ok(subject) = subject(of, module) {
                // The symbolizer keeps so many files open; one that it may have closed is passed again.
                if self.subjects.len() >= self.most_subjects {
                    self.subjects.clear();
                }
                self.subjects.insert(module);
                self.symbolizer.add_module(module.0, subject);
            }
        }
        of.stacks.asked(frame);
        // A file whose entries are huge on purpose holds up its own names only.
        let modules = &mut of.files.modules;
        modules.allow(self.budget.left(Purse::default(), module.0, now));
        let (function_start, root) = (
            modules.function_start(module, offset),
            modules.root_name(module, offset),
        );
        let query = Query {
            frame,
            module: module.0,
            offset,
            function_start,
            limited: modules.is_refused(),
            root,
        };
        let spent = modules.take_spent();
        self.budget
            .spend(&mut Purse::default(), module.0, now, spent);
        Some(query)
    }

    /// Asks for inlined functions and source lines of frames: those of one file together.
    pub fn ask_places(&mut self, frames: &[u32], of: &mut Frames<'_>) {
        let mut of_files: BTreeMap<ModuleId, Vec<(u32, u64)>> = BTreeMap::new();
        for &frame in frames {
            let Some(&place) = of.stacks.place(frame) else {
                continue;
            };
            let Frame { module, offset, .. } = place;
            if let Some(function) = function_of(&of.files.modules, &place) {
                put_function(of.out, frame, function, of.names);
                continue;
            }
            let missing: &[u8] = match of.files.modules.get(module).kind() {
                ModuleKind::File => {
                    if self.is_open(module, frame, Asked::Place, of) {
                        of.stacks.asked(frame);
                        of_files.entry(module).or_default().push((frame, offset));
                    }
                    continue;
                }
                ModuleKind::Kernel => b"lines of the kernel are not looked for",
                ModuleKind::Vdso => b"the vDSO has no debug information",
                ModuleKind::Jit | ModuleKind::Interpreted(_) => {
                    b"code made at run time has no debug information"
                }
                ModuleKind::Unknown => b"its file cannot be read",
            };
            put_place(of.out, frame, &[], missing);
        }
        for (module, frames) in of_files {
            let process = of.files.mapper(module, of.tasks);
            let modules = &mut of.files.modules;
            let known = modules.get(module);
            let path = known.path().to_vec();
            let build_id = known.build_id().to_vec();
            match modules.file(module) {
                Ok(file) => self.symbolizer.ask_places(PlaceQuery {
                    file,
                    path,
                    process,
                    build_id,
                    frames,
                }),
                Err(error) => {
                    let missing = format!("its file cannot be opened any more ({error})");
                    for (frame, _) in frames {
                        of.stacks.answered(frame);
                        put_place(of.out, frame, &[], missing.as_bytes());
                    }
                }
            }
        }
    }

    /// Whether a module's file is open, or cannot be opened. If not, the question waits until it is.
    fn is_open(&mut self, module: ModuleId, frame: u32, asked: Asked, of: &mut Frames<'_>) -> bool {
        let open = of.files.is_open(module);
        if !open {
            of.stacks.asked(frame);
            self.unopened.push(Unopened { frame, asked });
        }
        open
    }

    /// Asks what waited for files to be opened.
    pub fn ask_unopened(&mut self, of: &mut Frames<'_>) {
        let unopened = mem::take(&mut self.unopened);
        let frames = |asked: Asked| {
            let those = unopened.iter().filter(|waits| waits.asked == asked);
            those.map(|waits| waits.frame).collect::<Vec<u32>>()
        };
        let (names, places) = (frames(Asked::Name), frames(Asked::Place));
        for waits in &unopened {
            of.stacks.answered(waits.frame);
        }
        self.ask_names(&names, of);
        self.ask_places(&places, of);
    }

    /// Takes the names and places that have come.
    pub fn take_answers(&mut self, of: &mut Frames<'_>) {
        let of_jit: Vec<Answer> = self.jit.answers().collect();
        for answer in of_jit {
            take_jit(answer, of);
        }
        self.ask_again(of);
        for answer in self.symbolizer.take_answers() {
            of.stacks.answered(answer.frame);
            self.asked_again.remove(&answer.frame);
            if matches!(answer.source, Source::Symbol | Source::Root) {
                of.stacks.named(answer.frame);
            }
            put_name(of.out, answer.frame, answer.source, &answer.name);
        }
        for answer in self.symbolizer.take_places() {
            of.stacks.answered(answer.frame);
            put_place(of.out, answer.frame, &answer.calls, &answer.missing);
        }
        for notice in self.symbolizer.take_notices() {
            put_notice(of.out, None, true, &notice);
        }
    }

    /// Asks anew for the names of frames whose debug files have come.
    fn ask_again(&mut self, of: &mut Frames<'_>) {
        let come = self.symbolizer.take_debug_files();
        if !come.build_ids.is_empty() {
            let modules = &of.files.modules;
            let frames = of.stacks.unnamed(|module| {
                let build_id = modules.get(module).build_id();
                come.build_ids.iter().any(|id| id == build_id)
            });
            self.again.extend(frames);
        }
        let tried = self.symbolizer.take_tried_again();
        if !tried.is_empty() {
            let frames = of.stacks.unnamed(|module| tried.contains(&module.0));
            self.again.extend(frames);
        }
        let rest = self.again.len().saturating_sub(MAX_AGAIN);
        let now = self.again.split_off(rest);
        if !now.is_empty() {
            self.asked_again.extend(&now);
            self.ask_names(&now, of);
            // A frame that is forgotten meanwhile is not asked for.
            let stacks = &of.stacks;
            self.asked_again.retain(|frame| stacks.is_asked(*frame));
        }
        let before = self.debug_files;
        self.debug_files = match self.again.is_empty() && self.asked_again.is_empty() {
            true => come.counts,
            false => DebugFileCounts {
                wanted: come.counts.wanted,
                bytes: come.counts.bytes,
                ..before
            },
        };
    }

    /// Forgets modules.
    pub fn forget(&mut self, gone: &[ModuleId]) {
        for id in gone {
            self.subjects.remove(id);
        }
        self.symbolizer
            .forget_modules(gone.iter().map(|id| id.0).collect());
    }
}

/// The name of a frame whose module is unknown: that of the sign which stands for it, or its address.
fn name_of_sign(modules: &Modules, frame: Frame) -> (NameSource, Vec<u8>) {
    let module = modules.get(frame.module);
    let source = match module.sign() {
        Some(Sign::Word) => NameSource::Unknown,
        _ if module.path().starts_with(BUSY) => NameSource::Reason,
        Some(Sign::Root) => NameSource::Root,
        Some(Sign::Gap) => NameSource::Reason,
        None => {
            let address = format!("{:#x}", frame.offset);
            return (NameSource::Unknown, address.into_bytes());
        }
    };
    (source, module.path().to_vec())
}

/// The function that a runtime told of a frame.
pub fn function_of(modules: &Modules, frame: &Frame) -> Option<Function> {
    let kind = modules.get(frame.module).kind();
    let told =
        frame.offset >= NAMED && matches!(kind, ModuleKind::Jit | ModuleKind::Interpreted(_));
    told.then_some(Function::of_number(frame.offset & !NAMED))
}

/// What stands for a function that was gone before its runtime told the name.
const UNREAD: &[u8] = b"[gone before it was named]";

fn take_jit(answer: Answer, of: &mut Frames<'_>) {
    match answer {
        Answer::Name {
            frame,
            place,
            name,
            asked,
        } => {
            if asked {
                of.stacks.answered(frame);
            } else if of.stacks.place(frame) != Some(&place) {
                // A better name comes unasked, when the id may mean another frame already.
                return;
            }
            match name {
                Ok(name) => put_name(of.out, frame, NameSource::Symbol, &name),
                // One name for all: else each instruction would be a function of its own.
                Err(Nameless::Absent) => put_name(of.out, frame, NameSource::Unknown, b"[jit]"),
                Err(Nameless::Limit) => put_name(of.out, frame, NameSource::Limit, b"[jit]"),
            }
        }
        Answer::Moved { frame, place } => {
            if of.stacks.place(frame) == Some(&place) {
                of.stacks.renew(frame);
            }
        }
        Answer::Notice {
            tgid,
            trouble,
            text,
        } => put_notice(of.out, of.tasks.id_of(tgid), trouble, &text),
    }
}

fn put_name(out: &mut Encoder, frame: u32, source: NameSource, name: &[u8]) {
    out.put(&Record::Name {
        frame,
        source,
        name: &name[..name.len().min(stream::MAX_NAME)],
    });
}

fn put_place(out: &mut Encoder, frame: u32, calls: &[flametop_symbolize::Call], missing: &[u8]) {
    let calls = calls.iter().map(|call| Call {
        function: &call.function,
        file: &call.file,
        line: call.line,
    });
    out.put(&Record::Place {
        frame,
        calls: calls.collect(),
        missing,
    });
}

/// The place of a function of a runtime, as far as the runtime told.
fn put_function(out: &mut Encoder, frame: u32, function: Function, names: &Names) {
    let name = names.get(function.name);
    let calls = name.filter(|name| !name.file.is_empty()).map(|name| Call {
        function: &name.function,
        file: &name.file,
        line: function.line.into(),
    });
    let missing: &[u8] = match calls {
        Some(_) => b"",
        None if function.name == NameId::UNREAD => b"it was gone before its file was read",
        None => b"its runtime tells no source file",
    };
    out.put(&Record::Place {
        frame,
        calls: calls.into_iter().collect(),
        missing,
    });
}

/// A module as the symbolizer takes it.
fn subject(of: &mut Frames<'_>, id: ModuleId) -> io::Result<Subject> {
    let process = of.files.mapper(id, of.tasks);
    let modules = &mut of.files.modules;
    let module = modules.get(id);
    Ok(match module.kind() {
        ModuleKind::Kernel => Subject::Kernel,
        ModuleKind::Vdso => Subject::Vdso {
            image: module.image().unwrap_or_default().to_vec(),
        },
        _ => {
            let path = module.path().to_vec();
            let build_id = module.build_id().to_vec();
            Subject::File {
                file: modules.file(id)?,
                path,
                process,
                build_id,
            }
        }
    })
}
