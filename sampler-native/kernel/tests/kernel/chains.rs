//! Tests of chains, which the program `chained.c` has: what is copied of one, and that nothing is where one leads into the kernel's memory.

use super::*;

/// The program, and what it has told: its thread, and of each node the address and that of its object.
struct Chained {
    subject: Subject,
    thread: u64,
    /// From the thread pointer to a word that has the address of the thread.
    own: u64,
    nodes: Vec<(u64, u64)>,
    /// Pointers that lead to an array, and two methods.
    context: u64,
    methods: [u64; 2],
}

/// An address of the kernel, as in `chained.c`.
const KERNEL: u64 = 0xffff_8880_0000_1000;

impl Chained {
    fn start(kind: &str, busy: bool) -> Chained {
        let source = format!("{}/tests/programs/chained.c", env!("CARGO_MANIFEST_DIR"));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chained");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
        assert!(compiler.arg(&path).arg(source).status().unwrap().success());
        let mut command = Command::new(path);
        command.arg(kind).args(busy.then_some("busy"));
        let subject = Subject::of(&mut command);
        let numbers = subject.said[0].split(' ').map(|n| n.parse().unwrap());
        let numbers: Vec<u64> = numbers.collect();
        assert_eq!(numbers[0], u64::from(subject.pid()));
        let [context, first, second] = *numbers.last_chunk().unwrap();
        let nodes = numbers[2..8].chunks(2).map(|pair| (pair[0], pair[1]));
        Chained {
            thread: numbers[1],
            own: numbers[8],
            nodes: nodes.collect(),
            context,
            methods: [first, second],
            subject,
        }
    }

    fn chain(&self, image: u32, tags: u16) -> Chain {
        Chain {
            tid: self.subject.pid(),
            image,
            thread: self.thread,
            lock: self.thread,
            identity: 0,
            first: 8,
            through: None,
            next: 8,
            object: 0,
            tags,
            flags: 16,
            place: 24,
            names: [8, 16],
            array: None,
        }
    }

    /// The chain of a kind, told of the thread or of its image.
    fn told(&self, kind: &str, image: u32, tags: u16) -> Chain {
        let chain = self.chain(image, tags);
        match kind {
            "own" => Chain {
                tid: Chain::OF_IMAGE,
                thread: self.own,
                ..chain
            },
            _ => chain,
        }
    }
}

impl Chained {
    /// The nodes as an array of Ruby's.
    fn array(&self, image: u32) -> Chain {
        let array = Array {
            stride: 40,
            environment: 32,
        };
        Chain {
            through: Some(16),
            array: Some(array),
            ..self.chain(image, 0)
        }
    }

    /// The words of the head. The first ones of the thread stand for a lock too, which passes copy.
    fn head(&self, first: [u64; 2], rest: u64, is_pass: bool) -> [u64; 6] {
        let lock = match is_pass {
            true => first,
            false => [0, 0],
        };
        [self.thread, first[0], first[1], rest, lock[0], lock[1]]
    }

    /// The words that a copy of the array must hold; up to the second node if that one's environment is not the program's.
    fn copied_array(&self, kind: &str, is_pass: bool) -> Vec<u64> {
        let [(first, one), (second, two), (third, _)] = self.nodes[..] else {
            panic!("three nodes");
        };
        let [block, method] = self.methods;
        let nodes = [
            // The environment of a block has the flags, the one around it the method.
            [first, one, 300, 200, 10, block],
            [second, two, 402, 201, 20, block],
            // A method stands for the object that is none.
            [third, method, 502, 202, 50, method],
        ];
        let (rest, count) = match kind {
            "environment" => (second, 1),
            _ => (0, 3),
        };
        let head = self.head([4711, self.context], rest, is_pass);
        let nodes = nodes[..count].iter().flatten();
        head.iter().chain(nodes).copied().collect()
    }
}

#[test]
fn array_is_copied_with_the_methods_of_its_environments_and_never_from_the_kernel() {
    let Some(_alone) = alone() else { return };
    for (kind, busy) in [
        ("array", true),
        ("environment", true),
        ("array", false),
        ("environment", false),
    ] {
        let chained = Chained::start(kind, busy);
        let tid = chained.subject.pid();
        let (mut kernel, mut rings) = open(Target::Threads(vec![tid]), 199);
        if !busy && !kernel.notices().is_empty() {
            println!("not run: under lockdown no chain is copied of a thread that sleeps");
            return;
        }
        let is_its = |r: &Kept| r.head.tid == tid && r.stack.is_some();
        let is_sample = |r: &Kept| is_its(r) && u32::from(r.head.kind) == FT_KIND_CPU;
        let first = match busy {
            true => poll_until(&mut rings, is_sample),
            false => pass_until(&mut kernel, is_its),
        };
        kernel.follow(&chained.array(first.head.image)).unwrap();
        let record = match busy {
            true => poll_until(&mut rings, |r| is_sample(r) && words(r).is_some()),
            false => pass_until(&mut kernel, |r| is_its(r) && words(r).is_some()),
        };
        let expected = chained.copied_array(kind, !busy);
        assert_eq!(words(&record).unwrap(), expected, "{kind} {busy}");
    }
}

/// The words of the chain in a record.
fn words(record: &Kept) -> Option<Vec<u64>> {
    let chunks = &record.stack.as_ref()?.chunks;
    let is_chain = |(address, _): &&(u64, Vec<u8>)| *address == u64::from(FT_CHAIN_ADDRESS);
    let (_, bytes) = chunks.iter().find(is_chain)?;
    let words = bytes.chunks_exact(8);
    Some(
        words
            .map(|w| u64::from_ne_bytes(w.try_into().unwrap()))
            .collect(),
    )
}

/// The words that a copy of a chain of `kind` must hold.
fn expected(chained: &Chained, kind: &str, is_pass: bool) -> Vec<u64> {
    let copied = if kind == "next" { 2 } else { 3 };
    let rest = if kind == "next" { KERNEL } else { 0 };
    let mut words = chained
        .head([4711, chained.nodes[0].0], rest, is_pass)
        .to_vec();
    if kind == "own" {
        words[0] |= u64::from(FT_CHAIN_OWN);
    }
    for (index, (node, object)) in chained.nodes[..copied].iter().enumerate() {
        let number = index as u64;
        let (object, names) = match (kind, index) {
            ("object", 1) => (KERNEL, [0, 0]),
            _ => (*object, [10 * (number + 1), 10 * (number + 1) + 1]),
        };
        words.extend([*node, object, 100 + number, 200 + number]);
        words.extend(names);
    }
    words
}

const KINDS: [(&str, u16); 5] = [
    ("whole", 0),
    ("next", 0),
    ("object", 0),
    ("tagged", 3),
    ("own", 0),
];

#[test]
fn pass_chain_is_copied_and_never_from_the_kernel() {
    let Some(_alone) = alone() else { return };
    for (kind, tags) in KINDS {
        let chained = Chained::start(kind, false);
        let tid = chained.subject.pid();
        let (mut kernel, _rings) = open(Target::Threads(vec![tid]), 0);
        if !kernel.notices().is_empty() {
            println!("not run: under lockdown no chain is copied of a thread that sleeps");
            return;
        }
        let first = pass_until(&mut kernel, |r| r.head.tid == tid && r.stack.is_some());
        assert_eq!(words(&first), None, "nobody has told of the chain");
        kernel
            .follow(&chained.told(kind, first.head.image, tags))
            .unwrap();
        let record = pass_until(&mut kernel, |r| r.head.tid == tid && words(r).is_some());
        assert_eq!(
            words(&record).unwrap(),
            expected(&chained, kind, true),
            "{kind}"
        );
    }
}

#[test]
fn clock_chain_is_copied_and_never_from_the_kernel() {
    let Some(_alone) = alone() else { return };
    for (kind, tags) in KINDS {
        let chained = Chained::start(kind, true);
        let tid = chained.subject.pid();
        let (kernel, mut rings) = open(Target::Threads(vec![tid]), 199);
        let is_sample = |r: &Kept| r.head.tid == tid && u32::from(r.head.kind) == FT_KIND_CPU;
        let first = poll_until(&mut rings, is_sample);
        kernel
            .follow(&chained.told(kind, first.head.image, tags))
            .unwrap();
        let record = poll_until(&mut rings, |r| is_sample(r) && words(r).is_some());
        assert_eq!(
            words(&record).unwrap(),
            expected(&chained, kind, false),
            "{kind}"
        );
    }
}

#[test]
fn chain_that_begins_in_the_kernel_is_none() {
    let Some(_alone) = alone() else { return };
    for busy in [false, true] {
        let chained = Chained::start("whole", busy);
        let tid = chained.subject.pid();
        let (mut kernel, mut rings) = open(Target::Threads(vec![tid]), 199);
        let is_its = |r: &Kept| r.head.tid == tid && r.stack.is_some();
        let mut next = |kernel: &mut Kernel| match busy {
            true => poll_until(&mut rings, |r| {
                is_its(r) && u32::from(r.head.kind) == FT_KIND_CPU
            }),
            false => pass_until(kernel, is_its),
        };
        let image = next(&mut kernel).head.image;
        let chain = Chain {
            thread: KERNEL,
            ..chained.chain(image, 0)
        };
        kernel.follow(&chain).unwrap();
        for _ in 0..20 {
            let record = next(&mut kernel);
            assert_eq!(words(&record), None, "{busy}");
            assert!(!record.stack.unwrap().user.is_empty());
        }
    }
}
