//! What the tests on real files have in common.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use flametop_prober::{Client, NoElf, Request, Told, Whom};
use flametop_symbolize::{Answer, Debuginfod, Looker, NAME_MAX, Query, Subject, Symbolizer};
use flametop_unwind::ProcessFolder;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_flametop-symbolizer");
/// Far beyond anything that works: a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub fn start() -> Symbolizer {
    Symbolizer::start(Path::new(PROGRAM), Debuginfod::default(), looker())
}

/// What opens debug files: the real prober, one for all tests of a program.
pub fn looker() -> Looker {
    static PROBER: LazyLock<Client<Sender<Option<File>>>> = LazyLock::new(|| {
        spawn(|| {
            loop {
                PROBER.wait(Instant::now() + PATIENCE);
                for (waits, told) in PROBER.take() {
                    let known = match told {
                        Told::Elf(Ok(passed)) => passed.file(),
                        Told::Elf(Err(NoElf::Absent | NoElf::Other | NoElf::Elsewhere)) => None,
                        late => {
                            assert!(matches!(late, Told::Elf(Err(NoElf::Late))), "{late:?}");
                            continue;
                        }
                    };
                    let _ = waits.send(known);
                }
            }
        });
        Client::start(Path::new(PROGRAM)).expect("a prober")
    });
    Arc::new(|whose, path| {
        let (sender, receiver) = channel();
        let whom = whose.unwrap_or_else(|| whom(id()));
        assert!(PROBER.ask(0, Request::Elf(whom, path.to_vec()), sender));
        receiver
    })
}

/// The process that has this number now.
pub fn whom(tgid: u32) -> Whom {
    let folder = ProcessFolder::open(tgid).expect("a process");
    let start = Some(folder.start().expect("its start"));
    Whom { tgid, start }
}

pub fn query(frame: u32, module: u32, offset: u64) -> Query {
    Query {
        frame,
        module,
        offset,
        function_start: None,
        limited: false,
        root: None,
    }
}

pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "never: {what}");
        sleep(Duration::from_millis(1));
    }
}

/// Answers to `queries`, in their order; each is answered once.
pub fn ask(symbolizer: &mut Symbolizer, queries: &[Query]) -> Vec<Answer> {
    symbolizer.ask(queries);
    collect(symbolizer, queries)
}

pub fn collect(symbolizer: &mut Symbolizer, queries: &[Query]) -> Vec<Answer> {
    let mut answers = HashMap::new();
    until("all answers", || {
        for answer in symbolizer.take_answers() {
            assert!(answer.name.len() <= NAME_MAX);
            assert_eq!(answers.insert(answer.frame, answer), None, "answered twice");
        }
        answers.len() >= queries.len()
    });
    queries
        .iter()
        .map(|query| {
            answers
                .remove(&query.frame)
                .expect("an answer to this frame")
        })
        .collect()
}

pub fn name(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.name).expect("UTF-8")
}

pub fn notice(symbolizer: &mut Symbolizer) -> String {
    let mut notices = Vec::new();
    until("a notice", || {
        notices.extend(symbolizer.take_notices());
        !notices.is_empty()
    });
    assert_eq!(notices.len(), 1, "{notices:?}");
    notices.remove(0)
}

pub fn helper(symbolizer: &Symbolizer) -> u32 {
    let mut pid = None;
    until("a helper process", || {
        pid = symbolizer.pids()[0];
        pid.is_some()
    });
    pid.expect("a pid")
}

pub fn signal(pid: u32, signal: i32) {
    // SAFETY: takes numbers only; `pid` is a process that this test started.
    assert_eq!(unsafe { libc::kill(pid as i32, signal) }, 0);
}

/// A directory of one test, gone afterwards.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let path = std::env::temp_dir().join(format!(
            "flametop-symbolize-{}-{}",
            id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir(&path).expect("a scratch directory");
        Scratch(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A shared object made of C.
    pub fn object(&self, name: &str, source: &str) -> PathBuf {
        let (c, so) = (self.path(&format!("{name}.c")), self.path(name));
        fs::write(&c, source).expect("source");
        run(
            "cc",
            &["-O1", "-shared", "-fPIC", "-w", "-o", &text(&so), &text(&c)],
        );
        so
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_string()
}

pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect(program);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Name → address by nm, without versions.
pub fn symbols(path: &Path, dynamic: bool) -> HashMap<String, u64> {
    let path = text(path);
    let arguments = if dynamic {
        vec!["-D", path.as_str()]
    } else {
        vec![path.as_str()]
    };
    let lines = run("nm", &arguments);
    let parts = lines
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|parts| parts.len() == 3);
    parts
        .map(|parts| {
            let name = parts[2].split('@').next().unwrap_or_default().to_string();
            (name, u64::from_str_radix(parts[0], 16).unwrap_or(0))
        })
        .collect()
}

pub fn file(path: &Path) -> Subject {
    Subject::File {
        file: File::open(path).expect("the file"),
        path: text(path).into_bytes(),
        process: None,
        build_id: Vec::new(),
    }
}

pub fn start_with(path: &Path) -> Symbolizer {
    let mut symbolizer = start();
    symbolizer.add_module(1, file(path));
    symbolizer
}

/// An ELF file whose symbol table is a hole of `table` bytes.
pub fn sparse_elf(path: &Path, table: u64) -> File {
    let mut bytes = vec![0; 0x300];
    bytes[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    bytes[16..20].copy_from_slice(&[3, 0, 62, 0]);
    bytes[40] = 64;
    bytes[52] = 64;
    bytes[58..64].copy_from_slice(&[64, 0, 4, 0, 3, 0]);
    let names = b"\0.symtab\0.strtab\0.shstrtab\0";
    bytes[0x200..0x200 + names.len()].copy_from_slice(names);
    let sections: [(u32, u32, u64, u64); 3] = [
        (1, 2, 0x1000, table),
        (9, 3, 0x280, 16),
        (17, 3, 0x200, names.len() as u64),
    ];
    for (i, (name, kind, offset, size)) in sections.into_iter().enumerate() {
        let at = 64 * (i + 2);
        bytes[at..at + 4].copy_from_slice(&name.to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&kind.to_le_bytes());
        bytes[at + 24..at + 32].copy_from_slice(&offset.to_le_bytes());
        bytes[at + 32..at + 40].copy_from_slice(&size.to_le_bytes());
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .expect("the file");
    file.write_all(&bytes).expect("headers");
    file.set_len(0x1000 + table).expect("a hole");
    file
}

/// A copy of a file whose symbols lie packed in a section, as distributions have them.
pub fn with_packed_symbols(scratch: &Scratch, so: &Path) -> PathBuf {
    let (packed, mini) = (scratch.path("symbols.xz"), scratch.path("libmini.so"));
    let mut encoder = xz2::write::XzEncoder::new(File::create(&packed).expect("a file"), 6);
    encoder
        .write_all(&fs::read(so).expect("the file"))
        .expect("packed");
    encoder.finish().expect("packed");
    let section = format!(".gnu_debugdata={}", text(&packed));
    let (from, to) = (text(so), text(&mini));
    run(
        "objcopy",
        &["--strip-all", "--add-section", &section, &from, &to],
    );
    mini
}
