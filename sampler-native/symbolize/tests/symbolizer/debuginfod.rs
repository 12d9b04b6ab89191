//! Debug files of debuginfod: the real process that fetches them, the server of Debian's package
//! `debuginfod`, and servers that mean harm.

mod bounds;

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use flametop_symbolize::{
    Answer, DebugFileCounts, Debuginfod, PlaceQuery, Query, Source, Subject, Symbolizer,
};

use crate::support::*;

const SOURCE: &str = "__attribute__((noinline)) static int hidden(int x) { return x * x * 7; }\n\
     __attribute__((noinline)) static int other(int x) { return x * x * 9; }\n\
     int last(int x) { return hidden(x) + hidden(x + 1) + other(x); }\n";

/// A library without symbols, and its debug file.
struct Stripped {
    so: PathBuf,
    debug: PathBuf,
    build_id: String,
    hidden: u64,
    other: u64,
}

impl Stripped {
    fn new(scratch: &Scratch, name: &str) -> Stripped {
        let (c, so) = (scratch.path(&format!("{name}.c")), scratch.path(name));
        // Its own build id, by its name.
        let source = format!("{SOURCE}const char name[] = \"{name}\";\n");
        fs::write(&c, source).expect("source");
        let flags = ["-g", "-O1", "-shared", "-fPIC", "-w", "-Wl,--build-id"];
        let mut arguments = flags.to_vec();
        let (so_text, c_text) = (text(&so), text(&c));
        arguments.extend(["-o", &so_text, &c_text]);
        run("cc", &arguments);
        let known = symbols(&so, false);
        let notes = run("readelf", &["-n", &so_text]);
        let id = notes.split("Build ID: ").nth(1).expect("a build id");
        let folder = scratch.path(&format!("{name}.d"));
        fs::create_dir(&folder).expect("a folder");
        let debug = folder.join("debug");
        run("objcopy", &["--only-keep-debug", &so_text, &text(&debug)]);
        run("strip", &["--strip-all", &so_text]);
        Stripped {
            so,
            debug,
            build_id: id.split_whitespace().next().expect("an id").into(),
            hidden: known["hidden"],
            other: known["other"],
        }
    }

    fn id(&self) -> Vec<u8> {
        let digits = self.build_id.as_bytes().chunks(2);
        let byte = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        };
        digits.map(byte).collect()
    }

    fn subject(&self) -> Subject {
        Subject::File {
            file: File::open(&self.so).expect("the file"),
            path: text(&self.so).into_bytes(),
            process: None,
            build_id: self.id(),
        }
    }

    fn address(&self) -> String {
        format!("/buildid/{}/debuginfo", self.build_id)
    }

    /// Puts its debug file, or another, into a cache.
    fn cached(&self, cache: &Path) -> PathBuf {
        let folder = cache.join(&self.build_id);
        fs::create_dir_all(&folder).expect("a folder");
        folder.join("debuginfo")
    }
}

fn settings(scratch: &Scratch, servers: &[&str]) -> Debuginfod {
    Debuginfod {
        servers: servers.iter().map(|server| (*server).to_owned()).collect(),
        cache: Some(scratch.path("cache")),
        user: None,
        file_max: 4 << 20,
        total_max: 16 << 20,
        time_max: Duration::from_secs(4),
    }
}

fn started(settings: Debuginfod, files: &[&Stripped]) -> Symbolizer {
    let mut symbolizer = Symbolizer::start(Path::new(PROGRAM), settings, looker());
    for (module, file) in (1..).zip(files) {
        symbolizer.add_module(module, file.subject());
    }
    symbolizer
}

fn hidden(symbolizer: &mut Symbolizer, file: &Stripped) -> Answer {
    ask(symbolizer, &[query(0, 1, file.hidden)]).remove(0)
}

/// Waits until all debug files that are looked for are here or are not; how many came.
fn settled(symbolizer: &mut Symbolizer) -> (usize, DebugFileCounts) {
    let (mut come, mut counts) = (0, DebugFileCounts::default());
    until("all debug files", || {
        let now = symbolizer.take_debug_files();
        come += now.build_ids.len();
        counts = now.counts;
        let done = counts.cached + counts.fetched + counts.absent + counts.failed;
        counts.wanted > 0 && counts.wanted == done
    });
    (come, counts)
}

/// A server on loopback: what it answers to a path, and the paths that it was asked for.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, paths) = (Arc::new(answer), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, paths) = (Arc::clone(&answer), Arc::clone(&paths));
                let mut stream = stream.expect("a connection");
                thread::spawn(move || {
                    let mut request = Vec::new();
                    let mut byte = [0];
                    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0
                    {
                        request.push(byte[0]);
                    }
                    let request = String::from_utf8_lossy(&request);
                    let path = request.split(' ').nth(1).unwrap_or_default();
                    paths.lock().expect("paths").push(path.to_owned());
                    answer(path, &mut stream);
                });
            }
        });
        Server { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("paths").clone()
    }
}

/// Sends what goes before the bytes, then the bytes. Who hangs up misses the rest.
fn send(stream: &mut TcpStream, head: &str, bytes: &[u8]) {
    let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes());
    let _ = stream.write_all(bytes);
}

fn send_file(stream: &mut TcpStream, path: &Path) {
    let bytes = fs::read(path).expect("a file");
    let head = format!("200 OK\r\nContent-Length: {}", bytes.len());
    send(stream, &head, &bytes);
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// A process of this test, gone afterwards.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ask_stripped_file_gets_its_names_from_the_server_of_debian() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libserved.so");
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr();
    let port = port.expect("an address").port();
    let server = Command::new("debuginfod")
        .args(["-F", "-p", &port.to_string(), "-d"])
        .args([scratch.path("database"), scratch.path("libserved.so.d")])
        .env("HOME", &scratch.0)
        .env_remove("DEBUGINFOD_URLS")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test needs the package debuginfod");
    let _server = Ended(server);
    let address = format!("http://127.0.0.1:{port}");
    until("it has read the folder", || {
        let url = format!("{address}{}", file.address());
        let curl = Command::new("curl")
            .args(["-sf", "-m", "5", "-o", "/dev/null", &url])
            .status();
        curl.expect("curl").success()
    });

    let mut symbolizer = started(settings(&scratch, &[&address]), &[&file]);
    let before = hidden(&mut symbolizer, &file);
    assert_eq!(before.source, Source::Unknown);
    let (come, counts) = settled(&mut symbolizer);
    assert_eq!((come, counts.fetched, counts.wanted), (1, 1, 1));
    assert_eq!(
        counts.bytes,
        fs::metadata(&file.debug).expect("a file").len()
    );
    assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
    assert_eq!(symbolizer.take_notices(), [""; 0]);

    // The lines too, and for the next one without a server.
    symbolizer.ask_places(PlaceQuery {
        file: File::open(&file.so).expect("the file"),
        path: text(&file.so).into_bytes(),
        process: None,
        build_id: file.id(),
        frames: vec![(7, file.hidden)],
    });
    let mut places = Vec::new();
    until("the line", || {
        places.extend(symbolizer.take_places());
        !places.is_empty()
    });
    assert_eq!(places[0].calls[0].line, 1, "{:?}", places[0]);
    let mut next = started(settings(&scratch, &[]), &[&file]);
    hidden(&mut next, &file);
    let (_, counts) = settled(&mut next);
    assert_eq!((counts.cached, counts.wanted), (1, 1));
    assert_eq!(name(&hidden(&mut next, &file)), "hidden");
    // Nobody's time but its own: what fetches ends when nothing is left to fetch.
    until("no process that fetches", || next.fetchers().is_empty());
}

/// What a server that means harm answers; all of them know `file`, whose debug file is at `right`.
fn harm(kind: &str, right: &Path, wrong: &Path, stream: &mut TcpStream) {
    let bytes = fs::read(right).expect("a file");
    let whole = format!("200 OK\r\nContent-Length: {}", bytes.len());
    match kind {
        "wrong build id" => send_file(stream, wrong),
        "no ELF file" => send(stream, "200 OK", b"<html>please log in</html>"),
        "half" => send(stream, &whole, &bytes[..bytes.len() / 2]),
        "half, without a length" => send(stream, "200 OK", &bytes[..bytes.len() / 2]),
        "huge" => send(stream, "200 OK\r\nContent-Length: 1099511627776", &bytes),
        "endless" => {
            send(stream, "200 OK", &bytes);
            while stream.write_all(&[0; 4096]).is_ok() {}
        }
        "slow" => {
            send(stream, &whole, &[]);
            for byte in bytes {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                sleep(Duration::from_millis(100));
            }
        }
        "silent" => sleep(Duration::from_secs(60)),
        "endless head" => while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {},
        "loop" => send(stream, "302 Found\r\nLocation: /again", b""),
        "leads to a file" => {
            let head = format!("302 Found\r\nLocation: file://{}", text(right));
            send(stream, &head, b"");
        }
        "broken" => send(stream, "500 Oops", b"oops"),
        other => panic!("{other}"),
    }
}

#[test]
fn ask_servers_that_mean_harm_gives_no_name_and_leaves_nothing() {
    let kinds = [
        "wrong build id",
        "no ELF file",
        "half",
        "half, without a length",
        "huge",
        "endless",
        "slow",
        "silent",
        "endless head",
        "loop",
        "leads to a file",
        "broken",
    ];
    let begun = kinds.map(|kind| {
        thread::spawn(move || {
            let scratch = Scratch::new();
            let file = Stripped::new(&scratch, "libharmed.so");
            let wrong = Stripped::new(&scratch, "libwrong.so").debug;
            let right = file.debug.clone();
            let server = Server::start(move |_, stream| harm(kind, &right, &wrong, stream));
            let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
            hidden(&mut symbolizer, &file);
            let (come, counts) = settled(&mut symbolizer);
            let too_large = ["huge", "endless"].contains(&kind);
            let expected = (usize::from(too_large), 1);
            assert_eq!((come, counts.failed), expected, "{kind}: {counts:?}");
            assert!(counts.bytes <= 4 << 20, "{kind}: {counts:?}");
            let answer = hidden(&mut symbolizer, &file);
            let source = match too_large {
                true => Source::Limit,
                false => Source::Unknown,
            };
            assert_eq!(answer.source, source, "{kind}");
            assert!(server.asked().len() <= 8, "{kind}: {:?}", server.asked());
            drop(symbolizer);
            assert_eq!(
                files(&scratch.path("cache")),
                [""; 0].map(PathBuf::from),
                "{kind}"
            );
        })
    });
    for thread in begun {
        thread.join().expect("no failure above");
    }
}

#[test]
fn ask_after_a_server_did_harm_the_next_one_is_asked() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libnext.so");
    let (right, wrong) = (
        file.debug.clone(),
        Stripped::new(&scratch, "libwrong.so").debug,
    );
    let bad = Server::start(move |_, stream| send_file(stream, &wrong));
    let good = Server::start(move |path, stream| match path.starts_with("/moved") {
        true => send_file(stream, &right),
        false => send(stream, "302 Found\r\nLocation: /moved", b""),
    });
    let servers = [bad.address.as_str(), &good.address];
    let mut symbolizer = started(settings(&scratch, &servers), &[&file]);
    hidden(&mut symbolizer, &file);
    assert_eq!(settled(&mut symbolizer).1.fetched, 1);
    assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
    assert_eq!(bad.asked(), [file.address()]);
}

#[test]
fn ask_what_no_server_has_is_remembered_for_a_while() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libabsent.so");
    let server = Server::start(|_, stream| send(stream, "404 Not Found", b"no"));
    for _ in 0..2 {
        let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
        hidden(&mut symbolizer, &file);
        assert_eq!(settled(&mut symbolizer).1.absent, 1);
        assert_eq!(symbolizer.take_notices(), [""; 0]);
    }
    assert_eq!(server.asked().len(), 1);
    // As elfutils' clients have it: empty. An old one counts no more.
    let missed = scratch.path("cache").join(&file.build_id).join("debuginfo");
    assert_eq!(fs::metadata(&missed).expect("a file").len(), 0);
    let old = OpenOptions::new()
        .write(true)
        .open(&missed)
        .expect("it opens");
    let hour = Duration::from_secs(3600);
    old.set_modified(std::time::SystemTime::now() - hour)
        .expect("a time");
    let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
    hidden(&mut symbolizer, &file);
    settled(&mut symbolizer);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn ask_what_no_server_has_leaves_what_another_client_fetched_meanwhile() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "librace.so");
    let (right, at) = (file.debug.clone(), file.cached(&scratch.path("cache")));
    let theirs = at.clone();
    let server = Server::start(move |_, stream| {
        fs::copy(&right, &theirs).expect("a copy");
        send(stream, "404 Not Found", b"no");
    });
    let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
    hidden(&mut symbolizer, &file);
    assert_eq!(settled(&mut symbolizer).1.absent, 1);
    assert_eq!(
        fs::read(&at).expect("a file"),
        fs::read(&file.debug).expect("a file")
    );
}

#[test]
fn ask_servers_that_cannot_be_reached_are_given_up_and_told() {
    let scratch = Scratch::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr();
    let nobody = format!("http://user:secret@{}", port.expect("an address"));
    let names = ["liba.so", "libb.so", "libc.so", "libd.so", "libe.so"];
    let all = names.map(|name| Stripped::new(&scratch, name));
    let all: Vec<&Stripped> = all.iter().collect();
    let mut symbolizer = started(settings(&scratch, &[&nobody]), &all);
    let queries: Vec<Query> = (0..)
        .zip(&all)
        .map(|(frame, file)| query(frame, frame + 1, file.hidden))
        .collect();
    ask(&mut symbolizer, &queries);
    assert_eq!(settled(&mut symbolizer).1.failed, 5);
    let said = symbolizer.take_notices().join("\n");
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn ask_debug_file_of_too_many_symbols_costs_only_its_own_names_and_is_told() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libbomb.so");
    let at = file.cached(&scratch.path("cache"));
    fs::write(&at, with_many_symbols(&file.debug)).expect("a file");
    // Sparse: 40,000,000 symbols.
    let bomb = OpenOptions::new().write(true).open(&at).expect("it opens");
    bomb.set_len((1 << 20) + 24 * 40_000_000).expect("longer");
    let mut symbolizer = started(settings(&scratch, &[]), &[&file]);
    hidden(&mut symbolizer, &file);
    settled(&mut symbolizer);
    let known = symbols(&file.so, true);
    let queries = [query(0, 1, file.hidden), query(1, 1, known["last"])];
    let answers = ask(&mut symbolizer, &queries);
    assert_eq!(answers[0].source, Source::Limit);
    assert_eq!(name(&answers[1]), "last");
    let said = notice(&mut symbolizer);
    assert!(said.contains("the debug file of"), "{said}");
}

#[test]
fn ask_debug_file_over_which_the_helper_was_lost_is_not_used_again_and_is_told() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "liblost.so");
    let at = file.cached(&scratch.path("cache"));
    fs::copy(&file.debug, &at).expect("a file");
    let mut symbolizer = started(settings(&scratch, &[]), &[&file]);
    hidden(&mut symbolizer, &file);
    settled(&mut symbolizer);
    assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
    // As if the debug file took too long.
    signal(helper(&symbolizer), libc::SIGSTOP);
    assert_eq!(
        hidden(&mut symbolizer, &file).source,
        Source::Limit,
        "asked again without the debug file"
    );
    let said = notice(&mut symbolizer);
    assert!(
        said.contains("the debug file of") && said.contains("liblost.so is not used any more"),
        "{said}"
    );
    let known = symbols(&file.so, true);
    let queries = [query(0, 1, file.hidden), query(1, 1, known["last"])];
    let answers = ask(&mut symbolizer, &queries);
    assert_eq!(answers[0].source, Source::Limit);
    assert_eq!(name(&answers[1]), "last", "the file itself is asked still");
    assert_eq!(symbolizer.take_notices(), [""; 0]);
}

/// An ELF file whose table of symbols lies behind 1 MiB and has 40,000,000 entries.
fn with_many_symbols(path: &Path) -> Vec<u8> {
    let mut bytes = fs::read(path).expect("a file");
    let word = |bytes: &[u8], at: usize, length: usize| -> usize {
        let part = &bytes[at..at + length];
        part.iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let (table, count) = (word(&bytes, 0x28, 8), word(&bytes, 0x3c, 2));
    for header in (0..count).map(|i| table + 64 * i) {
        if word(&bytes, header + 4, 4) == 2 {
            bytes[header + 0x18..header + 0x20].copy_from_slice(&(1u64 << 20).to_le_bytes());
            bytes[header + 0x20..header + 0x28]
                .copy_from_slice(&(24u64 * 40_000_000).to_le_bytes());
        }
    }
    bytes
}

#[test]
fn drop_while_a_file_is_fetched_ends_all_processes() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libslow.so");
    let server = Server::start(|_, _| sleep(Duration::from_secs(60)));
    let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
    hidden(&mut symbolizer, &file);
    let mut pids = Vec::new();
    until("curl beside the process that fetches", || {
        pids = symbolizer.fetchers();
        pids.len() == 2
    });
    drop(symbolizer);
    until("all have ended", || {
        pids.iter()
            .all(|pid| !Path::new(&format!("/proc/{pid}/exe")).exists())
    });
    assert_eq!(files(&scratch.path("cache")), [""; 0].map(PathBuf::from));
}

#[test]
fn ask_without_cache_and_servers_starts_no_process() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libalone.so");
    let mut symbolizer = started(Debuginfod::default(), &[&file]);
    hidden(&mut symbolizer, &file);
    assert_eq!(symbolizer.fetchers(), [0; 0]);
    assert_eq!(
        symbolizer.take_debug_files().counts,
        DebugFileCounts::default()
    );
}
