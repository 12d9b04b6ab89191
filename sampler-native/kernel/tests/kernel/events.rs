//! Sources of events: exact counts, and stacks that stand for all hits.

mod probes;

use flametop_events::Tracefs;
use flametop_kernel::events::{
    Argument, ArgumentPlace, Budget, Comparison, Counter, EventTotals, Events, Field, FieldKind,
    Hook, Next, Predicate, ProbedFile, Register, Site, SourceId, SourceSpec, Test, Weight,
};
use object::{Endianness, Object, ObjectSection, ObjectSegment, read::elf::ElfFile64};

use super::*;

/// The number that records of sources have, unless a test tells sources apart.
const NUMBER: u32 = 9;

/// The program of these tests, compiled.
fn program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        // A guest has no compiler: it brings the program along.
        let brought = PathBuf::from("/guest/events");
        if brought.exists() {
            return brought;
        }
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("events");
        let source = format!("{}/tests/programs/events.c", env!("CARGO_MANIFEST_DIR"));
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
        let status = compiler.arg(&program).arg(source).status();
        assert!(status.unwrap().success());
        program
    });
    program.clone()
}

/// The program, open.
fn probed() -> ProbedFile {
    ProbedFile::new(std::fs::File::open(program()).unwrap(), "events")
}

/// The places of the program's USDT probe, all of whose notes are of the same shape.
fn usdt() -> Hook {
    let bytes = std::fs::read(program()).unwrap();
    let elf = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let offset = |address: u64| {
        let holds = |s: &object::read::elf::ElfSegment64<'_, '_, Endianness>| {
            (s.address()..s.address() + s.file_range().1).contains(&address)
        };
        let segment = elf.segments().find(holds).unwrap();
        address - segment.address() + segment.file_range().0
    };
    let base = elf.section_by_name(".stapsdt.base").unwrap().address();
    let notes = elf.section_by_name(".note.stapsdt").unwrap();
    let notes = notes.data().unwrap();
    let owner = b"stapsdt\0";
    let begins = (0..notes.len()).filter(|at| notes[*at..].starts_with(owner));
    let sites = begins.map(|at| {
        let word = |index: usize| {
            let from = at + owner.len() + 8 * index;
            u64::from_le_bytes(notes[from..from + 8].try_into().unwrap())
        };
        let moved = base.wrapping_sub(word(1));
        Site {
            offset: offset(word(0).wrapping_add(moved)),
            semaphore: offset(word(2).wrapping_add(moved)),
            ..Site::default()
        }
    });
    Hook::User {
        file: probed(),
        sites: sites.collect(),
        returns: false,
    }
}

/// The program that does one thing, the places of its functions, and a kernel side that looks at nothing else.
pub struct Scene {
    pub subject: Subject,
    pub kernel: Kernel,
    pub rings: Rings,
}

impl Scene {
    pub fn open(words: &[&str]) -> Scene {
        let subject = Subject::of(Command::new(program()).args(words));
        wait_until(|| proc_state(subject.pid()) == Some('S'));
        let (kernel, rings) = open(Target::Processes(vec![subject.pid()]), 0);
        // Little of each stack, so that the ring has room for all of them.
        let reach = Reach {
            stack: 512,
            piece: 0,
            near: 0,
            follow: false,
            walk: false,
        };
        rings.reach(Whose::Process(subject.pid()), reach).unwrap();
        Scene {
            subject,
            kernel,
            rings,
        }
    }

    pub fn events(&mut self) -> &mut Events {
        self.kernel.events().unwrap()
    }

    /// Offset in the file and address of a function.
    fn place(&self, name: &str) -> (u64, u64) {
        let line = self
            .subject
            .said
            .iter()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let (offset, address) = line.unwrap().split_once(' ').unwrap();
        (offset.parse().unwrap(), address.parse().unwrap())
    }

    fn function(&self, name: &str, returns: bool) -> Hook {
        Hook::User {
            file: probed(),
            sites: vec![Site {
                offset: self.place(name).0,
                entry: true,
                ..Site::default()
            }],
            returns,
        }
    }

    pub fn attach(&mut self, hook: Hook, weight: Weight) -> SourceId {
        let spec = SourceSpec {
            hook,
            weight,
            filter: Vec::new(),
        };
        // As its id, while none is detached.
        let number = self.events().attached().count() as u32;
        let id = self
            .events()
            .attach(number, spec)
            .unwrap_or_else(|e| panic!("{e:#}"));
        self.events().set_most(id, 0);
        id
    }

    /// Has the program do its thing; what it said, and the events meanwhile.
    pub fn run(&mut self) -> (Vec<String>, Vec<Kept>) {
        self.subject.tell();
        let mut records = Vec::new();
        let said = std::thread::scope(|scope| {
            let heard = scope.spawn(|| self.subject.hear("done"));
            while !heard.is_finished() {
                self.rings
                    .poll(Duration::from_millis(5), &mut |r| {
                        records.push(Kept::new(r))
                    })
                    .unwrap();
            }
            heard.join().unwrap()
        });
        loop {
            self.rings
                .poll(Duration::ZERO, &mut |r| records.push(Kept::new(r)))
                .unwrap();
            if !self.rings.left() {
                break;
            }
        }
        records.retain(|r| u32::from(r.head.kind) == FT_KIND_EVENT);
        (said, records)
    }

    /// The totals of a source, whose parts add up.
    pub fn totals(&mut self, id: SourceId) -> EventTotals {
        let totals = self.events().totals(id).unwrap();
        adds_up(&totals);
        totals
    }
}

fn adds_up(t: &EventTotals) {
    assert_eq!(t.hits, t.taken + t.limited + t.missed, "{t:?}");
    assert!(t.lost <= t.taken, "{t:?}");
}

/// The number behind a word that the program said.
pub fn said(lines: &[String], word: &str) -> u64 {
    let line = lines.iter().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("{word} in {lines:?}"))
        .trim()
        .parse()
        .unwrap()
}

fn counter(counter: Counter) -> Hook {
    Hook::Counter { counter, period: 1 }
}

/// How many of these records lie in a function of less than 64 bytes.
fn within(records: &[Kept], address: u64) -> impl Iterator<Item = &Kept> {
    records.iter().filter(move |r| {
        let ip = r.stack.as_ref().unwrap().regs[16];
        (address..address + 64).contains(&ip)
    })
}

#[test]
fn events_page_faults_of_two_functions_are_counted_to_the_digit() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["faults", "1000", "234"]);
    let id = scene.attach(counter(Counter::Faults), Weight::Each(1));
    let (_, records) = scene.run();
    let totals = scene.totals(id);
    assert_eq!(
        (totals.lost, totals.missed, totals.limited),
        (0, 0, 0),
        "{totals:?}"
    );
    assert_eq!((totals.hits, totals.weight), (totals.taken, totals.hits));
    assert_eq!(records.len() as u64, totals.taken);
    let (a, b) = (scene.place("touch_a").1, scene.place("touch_b").1);
    assert_eq!(within(&records, a).count(), 1000);
    assert_eq!(within(&records, b).count(), 234);
    for record in within(&records, a) {
        let event = record.event.unwrap();
        assert_eq!(
            (event.source, event.weight, event.rate, event.function),
            (id.0, 1, 0, 0)
        );
        let stack = record.stack.as_ref().unwrap();
        assert!(record.head.status & FT_USER_MODE != 0 && !stack.user.is_empty());
    }
    // The rest of the program: reading, printing.
    assert!(totals.hits < 1000 + 234 + 100, "{totals:?}");
}

#[test]
fn events_few_stacks_stand_for_all_hits_without_bias() {
    let Some(_alone) = alone() else { return };
    let (of_a, of_b) = (150_000, 50_000);
    let mut scene = Scene::open(&["faults", &of_a.to_string(), &of_b.to_string()]);
    let id = scene.attach(counter(Counter::Faults), Weight::Each(1));
    scene.events().set_rate(id, 40);
    let (_, records) = scene.run();
    let totals = scene.totals(id);
    assert!(totals.hits >= of_a + of_b && totals.lost == 0, "{totals:?}");
    let estimate = |address| {
        within(&records, address)
            .map(|r| {
                let event = r.event.unwrap();
                assert_eq!(event.rate, 40);
                1.0 / -(-1.0 / 40.0f64).exp_m1()
            })
            .sum::<f64>()
    };
    for (name, hits) in [("touch_a", of_a as f64), ("touch_b", of_b as f64)] {
        let estimate = estimate(scene.place(name).1);
        let error = (hits * 39.5).sqrt();
        println!("{name}: {estimate:.0} of {hits}, error {error:.0}");
        // Rarer than one of a million.
        assert!((estimate - hits).abs() < 5.0 * error, "{name}: {estimate}");
    }
}

#[test]
fn events_field_of_a_tracepoint_is_the_weight_of_hits_that_the_filter_lets_through() {
    let Some(_alone) = alone() else { return };
    let tracefs = Tracefs::open().unwrap();
    let tracepoint = tracefs.id("syscalls", "sys_enter_write").unwrap();
    let fields = tracefs.fields("syscalls", "sys_enter_write").unwrap();
    let field = |name: &str| {
        let field = fields.iter().find(|field| field.name == name).unwrap();
        Field {
            offset: field.offset as u16,
            bytes: field.size as u8,
            kind: FieldKind::Unsigned,
        }
    };
    let count = 3000;
    let mut scene = Scene::open(&["writes", &count.to_string()]);
    let to_null = Predicate {
        field: field("fd"),
        test: Test::Number(Comparison::More, 2),
        yes: Next::Accept,
        no: Next::Reject,
    };
    let spec = |filter| SourceSpec {
        hook: Hook::Tracepoint { id: tracepoint },
        weight: Weight::Field(field("count")),
        filter,
    };
    let id = scene
        .events()
        .attach(NUMBER, spec(vec![to_null.clone()]))
        .unwrap();
    let none = Predicate {
        field: field("count"),
        test: Test::Number(Comparison::More, 65536),
        yes: Next::Accept,
        no: Next::Reject,
    };
    let both = Predicate {
        yes: Next::Test(1),
        ..to_null
    };
    let other = scene
        .events()
        .attach(NUMBER, spec(vec![both, none]))
        .unwrap();
    for id in [id, other] {
        scene.events().set_most(id, 0);
        scene.events().set_rate(id, 20_000);
    }
    let (lines, records) = scene.run();
    let sum = said(&lines, "sum");
    let totals = scene.totals(id);
    assert_eq!((totals.hits, totals.weight), (count, sum), "{totals:?}");
    assert_eq!(totals.weights.iter().sum::<u64>(), count);
    assert_eq!(totals.weights[17], count.div_ceil(7), "65536 has 17 bits");
    assert_eq!(scene.totals(other).hits, 0);
    let estimate: f64 = records
        .iter()
        .map(|r| {
            let event = r.event.unwrap();
            let w = event.weight as f64;
            assert!(r.stack.as_ref().unwrap().kernel.len() > 2);
            w / -(-w / event.rate as f64).exp_m1()
        })
        .sum();
    println!("{estimate:.0} of {sum}, {} of {count} stacks", totals.taken);
    assert!(totals.taken < count / 4, "{totals:?}");
    assert!(
        (estimate / sum as f64 - 1.0).abs() < 0.1,
        "{estimate} of {sum}"
    );
}

#[test]
fn events_what_this_machine_lacks_is_named_with_a_remedy_and_others_go_on() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["faults", "10", "10"]);
    let spec = |hook| SourceSpec {
        hook,
        weight: Weight::Each(1),
        filter: Vec::new(),
    };
    let faults = scene
        .events()
        .attach(NUMBER, spec(counter(Counter::Faults)))
        .unwrap();
    let kernel = Hook::Kernel {
        functions: vec!["vfs_read".to_owned()],
        returns: false,
    };
    for (hook, words) in [
        (counter(Counter::Cycles), "has no counter of cycles"),
        (kernel, "CONFIG_KPROBES=y"),
        (
            Hook::Tracepoint { id: 1 << 20 },
            "no tracepoint with number",
        ),
        (
            Hook::User {
                file: probed(),
                sites: vec![],
                returns: false,
            },
            "no place in events is given",
        ),
        (
            Hook::User {
                file: ProbedFile::new(
                    std::fs::File::open("/proc/version").unwrap(),
                    "/proc/version",
                ),
                sites: vec![Site::default()],
                returns: false,
            },
            "/proc/version cannot be probed",
        ),
    ] {
        match scene.events().attach(NUMBER, spec(hook.clone())) {
            Err(why) => {
                let why = format!("{why:#}");
                println!("{why}");
                assert!(why.contains(words), "{why}");
            }
            // Another machine may have it.
            Ok(id) => {
                assert!(matches!(hook, Hook::Counter { .. } | Hook::Kernel { .. }));
                scene.events().detach(id);
            }
        }
    }
    scene.run();
    assert!(scene.totals(faults).hits >= 20);
}

#[test]
fn events_quick_function_is_braked_at_once_and_steered_to_the_budget() {
    let Some(_alone) = alone() else { return };
    let count = 100_000u64;
    let mut scene = Scene::open(&["rate", &count.to_string()]);
    let hook = scene.function("quick", false);
    let id = scene.attach(hook, Weight::Each(1));
    scene.events().set_most(id, 4);
    let budget = Budget {
        stacks: 200.0,
        share: 1.0,
    };
    scene.subject.tell();
    let (begin, mut taken, mut events) = (Instant::now(), 0u64, 0.0);
    let mut steered = begin;
    while scene.totals(id).hits < count {
        assert!(begin.elapsed() < PATIENCE);
        scene
            .rings
            .poll(Duration::from_millis(100), &mut |r| {
                if let Some(event) = r.event {
                    taken += 1;
                    events += match event.rate {
                        0 => 1.0,
                        rate => 1.0 / -(-1.0 / rate as f64).exp_m1(),
                    };
                }
            })
            .unwrap();
        if steered.elapsed() > Duration::from_millis(500) {
            steered = Instant::now();
            let seen = scene.events().all_totals();
            scene.events().steer(&budget, &seen);
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let totals = scene.totals(id);
    println!("{seconds:.1} s: {totals:?}\n{events:.0} of {}", totals.hits);
    assert_eq!(totals.hits, count);
    // What the brake lets through before the first steering, and a few times the budget.
    assert!(
        (totals.taken as f64) < 400.0 + 800.0 * seconds,
        "{totals:?}"
    );
    let error = (events / count as f64 - 1.0).abs();
    assert!(error < 0.5, "{events} of {count}");
    assert!(taken > 20);
}

/// Numbers of the programs, maps and links that this process has a descriptor of.
pub fn own() -> HashSet<(&'static str, u32)> {
    let mut own = HashSet::new();
    for entry in std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        for kind in ["prog_id", "map_id", "link_id"] {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'));
            own.extend(line.map(|id| (kind, id.trim().parse().unwrap())));
        }
    }
    own
}

/// Those of them that the kernel still has.
pub fn held(ids: &HashSet<(&'static str, u32)>) -> Vec<(&'static str, u32)> {
    type Next = unsafe extern "C" fn(u32, *mut u32) -> i32;
    let there = |next: Next, id: u32| {
        let mut found = 0;
        // SAFETY: the kernel writes one number.
        let result = unsafe { next(id - 1, &mut found) };
        result == 0 && found == id
    };
    let there = |(kind, id): &&(&str, u32)| match *kind {
        "prog_id" => there(libbpf_sys::bpf_prog_get_next_id, *id),
        "map_id" => there(libbpf_sys::bpf_map_get_next_id, *id),
        _ => there(libbpf_sys::bpf_link_get_next_id, *id),
    };
    ids.iter().filter(there).copied().collect()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The text of the program as it is in memory of the process.
fn code(pid: u32, address: u64) -> [u8; 16] {
    use std::os::unix::fs::FileExt;
    let mut bytes = [0; 16];
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    memory.read_exact_at(&mut bytes, address).unwrap();
    bytes
}

#[test]
fn events_detached_source_leaves_nothing() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["usdt", "10", "10", "10"]);
    let first = scene.place("first").1;
    let tracefs = Tracefs::open().unwrap();
    let list = |name: &str| tracefs.read(name).unwrap();
    let tracepoint = tracefs.id("sched", "sched_switch").unwrap();
    let hooks = |scene: &Scene| {
        [
            counter(Counter::Faults),
            Hook::Tracepoint { id: tracepoint },
            scene.function("first", false),
            scene.function("second", true),
            usdt(),
        ]
    };
    // The first source makes the map that all share.
    let warm = scene.attach(counter(Counter::Faults), Weight::Each(1));
    scene.events().detach(warm).unwrap();
    let kept = own();
    let before = (
        descriptors(),
        code(scene.subject.pid(), first),
        list("uprobe_events"),
    );
    for _ in 0..3 {
        let hooks = hooks(&scene);
        let ids: Vec<_> = hooks
            .into_iter()
            .map(|hook| scene.attach(hook, Weight::Each(1)))
            .collect();
        assert_ne!(code(scene.subject.pid(), first), before.1, "it is probed");
        let of_sources: HashSet<_> = own().difference(&kept).copied().collect();
        assert!(held(&of_sources).len() >= 2 * ids.len(), "{of_sources:?}");
        for id in ids {
            adds_up(&scene.events().detach(id).unwrap());
            assert!(scene.events().totals(id).is_err());
        }
        // The kernel frees some of it a moment later.
        wait_until(|| held(&of_sources).is_empty());
    }
    let after = (
        descriptors(),
        code(scene.subject.pid(), first),
        list("uprobe_events"),
    );
    assert_eq!(after, before);
    assert_eq!(scene.kernel.counters().cpu_samples, 0);
}
