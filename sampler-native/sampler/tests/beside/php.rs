//! Functions of PHP that nothing prepared, by a real interpreter on the real kernel: run as root. Where no PHP is, its tests are left out.

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::Command,
};

use flametop_stream::{End, ModuleKind};

use crate::{
    interpreted::{
        Shares, by_thread, copied, frames_of, installed, is_path, more_stacks, patiently,
        print_sleepers, record_tree, sample_more, stack_of, start, told,
    },
    model::{Model, Recording},
};

/// Processes of `sleepers.php`.
const SLEEPERS: usize = 19;

/// Every PHP from 8.0 to 8.4 that is there, and those that `FLAMETOP_PHPS` names, with `:` between them.
fn phps() -> Vec<PathBuf> {
    let usual = (0..5).map(|n| format!("/usr/bin/php8.{n}").into());
    let probe = "exit(PHP_ZTS || !function_exists('pcntl_fork') ? 1 : 0);";
    installed(usual, "FLAMETOP_PHPS", ["-r", probe], "PHP from 8.0 to 8.4")
}

/// The functions of PHP in a stack, without the file that stands behind a closure; none: not all of their names have come.
fn functions(model: &Model, stack: u32) -> Option<Vec<String>> {
    let frames = frames_of(model, stack, ModuleKind::Php).into_iter();
    let names = frames.map(|frame| Some(function(&model.names.get(&frame)?.1).to_owned()));
    names.collect()
}

fn function(name: &str) -> &str {
    match name.split_once("{closure} (") {
        Some((before, _)) => &name[..before.len() + "{closure}".len()],
        None => name,
    }
}

/// These functions, each with its line; 0: it is written in C.
fn places(model: &Model, stack: u32) -> Vec<String> {
    let frames = frames_of(model, stack, ModuleKind::Php).into_iter();
    let places = frames.map(|frame| {
        let name = function(&model.names[&frame].1);
        let (calls, _) = &model.places[&frame];
        let line = calls.first().and_then(|call| call.rsplit(':').next());
        format!("{name}:{}", line.unwrap_or("0"))
    });
    places.collect()
}

/// How many calls of the interpreter have no functions.
fn bare(model: &Model, stack: u32) -> usize {
    let names = model.names(stack);
    names.iter().filter(|n| n.starts_with("execute_ex")).count()
}

/// Processes that end with the test.
struct Forks(Vec<u32>);

impl Drop for Forks {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = Command::new("kill").arg(pid.to_string()).status();
        }
    }
}

#[test]
fn processes_that_sleep_have_the_functions_and_lines_that_they_tell() {
    for php in phps() {
        let file = std::env::temp_dir().join(format!("flametop-phps-{}", std::process::id()));
        let program = start(&php, &["sleepers.php", &file.to_string_lossy()]);
        let told = told(&php, &file, |text| by_thread(text, SLEEPERS));
        let _forks = Forks(
            told.keys()
                .copied()
                .filter(|p| *p != program.pid())
                .collect(),
        );
        let pids: Vec<String> = told.keys().map(u32::to_string).collect();
        let mut recording = Recording::open(&format!("target=pid {}", pids.join(",")));
        recording.run(19, 3000);
        recording.name_all();
        recording.place_all();
        let model = &recording.model;
        let (threads, mut frames) = (told.len(), 0);
        for (tid, names) in told {
            let stack = stack_of(model, tid);
            let all = model.names(stack);
            let (names, end) = copied(&names);
            assert_eq!(places(model, stack), names, "{php:?} {all:#?}");
            frames += names.len();
            assert_eq!(bare(model, stack), 0, "{php:?} {all:#?}");
            assert_eq!(model.stacks[stack as usize].end, end, "{php:?} {all:#?}");
        }
        print_sleepers(&php, threads, frames);
    }
}

#[test]
fn functions_on_a_cpu_are_those_that_called_one_another() {
    for php in phps() {
        let program = start(&php, &["tree.php"]);
        is_true(&php, program.pid());
    }
}

fn sample_tree(php: &Path, pid: u32) -> Shares {
    let mut recording = record_tree(php, pid, functions);
    // Closures and code of eval live shortly here, and are not all known at once.
    sample_more(&mut recording, pid, 2000);
    let stacks = more_stacks(&mut recording, pid);
    let model = &recording.model;
    let mut shares = Shares {
        samples: stacks.len(),
        ..Shares::default()
    };
    for stack in &stacks {
        let Some(found) = functions(model, *stack) else {
            continue;
        };
        let end = model.stacks[*stack as usize].end;
        let names = model.names(*stack);
        if found.is_empty() && !names.iter().any(|name| name == "execute_ex") {
            // What makes a fiber, before its first function.
            continue;
        }
        if found.is_empty() {
            let at = stacks.iter().position(|other| other == stack);
            println!("bare: {at:?} of {} {end:?} {names:?}", stacks.len());
            shares.bare += 1;
            continue;
        }
        let is_in_fiber = names.iter().any(|name| name == "[fiber start]");
        shares.whole += usize::from(end == End::Root);
        let main = (!is_in_fiber).then_some("programs/tree.php");
        if !is_path(&found, end, main) {
            println!("{end:?} {found:?} {names:?}");
            shares.wrong += 1;
        }
    }
    shares
}

/// A folder with `programs/tree.php`, which any user may read.
struct Site(PathBuf);

impl Site {
    fn new(name: &str) -> Site {
        let folder = std::env::temp_dir().join(format!("flametop-{name}-{}", std::process::id()));
        let programs = folder.join("programs");
        fs::create_dir_all(&programs).expect("a folder");
        let tree = format!("{}/tests/programs/tree.php", env!("CARGO_MANIFEST_DIR"));
        fs::copy(tree, programs.join("tree.php")).expect("a copy");
        Site(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first of these that is there, of the newest version.
fn newest(pattern: impl Fn(u32) -> String) -> Option<PathBuf> {
    let all = (0..5).rev().map(|minor| PathBuf::from(pattern(minor)));
    all.into_iter().find(|path| path.exists())
}

#[test]
fn functions_in_php_fpm_are_those_that_called_one_another() {
    let Some(fpm) = newest(|minor| format!("/usr/sbin/php-fpm8.{minor}")) else {
        eprintln!("skipped, no php-fpm is here");
        return;
    };
    let site = Site::new("fpm");
    let socket = site.0.join("socket");
    let settings = format!(
        "[global]\nerror_log=/dev/null\n[p]\nuser=root\nlisten={}\npm=static\npm.max_children=1\nphp_admin_value[max_execution_time]=300\n",
        socket.display()
    );
    let settings = site.write("settings", &settings);
    let server = start(&fpm, &["-n", "-F", "-R", "-y", &settings]);
    let mut asked = patiently(&fpm, || UnixStream::connect(&socket).ok());
    let script = site.0.join("programs/tree.php");
    let mut parameters = Vec::new();
    for (name, value) in [
        ("SCRIPT_FILENAME", &*script.to_string_lossy()),
        ("REQUEST_METHOD", "GET"),
    ] {
        parameters.extend([name.len() as u8, value.len() as u8]);
        parameters.extend(name.bytes().chain(value.bytes()));
    }
    // A request as a responder gets it: its beginning, its parameters, and nothing to read.
    for (kind, body) in [
        (1, &[0, 1, 0, 0, 0, 0, 0, 0][..]),
        (4, &parameters),
        (4, &[]),
        (5, &[]),
    ] {
        let length = body.len() as u16;
        let [high, low] = length.to_be_bytes();
        let record = [&[1, kind, 0, 1, high, low, 0, 0], body].concat();
        asked.write_all(&record).expect("it listens");
    }
    let children = format!("/proc/{0}/task/{0}/children", server.pid());
    let worker = patiently(&fpm, || {
        fs::read_to_string(&children).ok()?.trim().parse().ok()
    });
    // A worker outlives a server that is killed, and is replaced by a server that lives: the server ends first.
    let _both = (server, Forks(vec![worker]));
    is_true(&fpm, worker);
}

#[test]
fn functions_in_the_module_of_apache_are_those_that_called_one_another() {
    let module = newest(|minor| format!("/usr/lib/apache2/modules/libphp8.{minor}.so"));
    let Some(module) = module else {
        eprintln!("skipped, Apache has no module of PHP here");
        return;
    };
    let site = Site::new("apache");
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr();
    let address = port.expect("it is bound");
    let folder = site.0.display();
    let settings = format!(
        "ServerRoot {folder}\nPidFile {folder}/pid\nErrorLog /dev/null\nServerName localhost\nListen {address}\nUser www-data\nGroup www-data\n\
         LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so\n\
         LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n\
         LoadModule php_module {}\nDocumentRoot {folder}/programs\n\
         <FilesMatch \"php$\">\nSetHandler application/x-httpd-php\n</FilesMatch>\nphp_admin_value max_execution_time 300\n",
        module.display()
    );
    let settings = site.write("settings", &settings);
    let server = start(Path::new("/usr/sbin/apache2"), &["-X", "-f", &settings]);
    let mut asked = patiently(&module, || TcpStream::connect(address).ok());
    asked
        .write_all(b"GET /tree.php HTTP/1.0\r\n\r\n")
        .expect("it listens");
    is_true(&module, server.pid());
}

/// Nearly all stacks of a process that runs `tree.php` must be whole and true.
fn is_true(php: &Path, pid: u32) {
    let shares = sample_tree(php, pid);
    shares.print(php);
    let Shares {
        samples,
        bare,
        whole,
        wrong,
    } = shares;
    assert!(samples > 300 && whole * 20 >= samples * 19, "{shares}");
    assert!(bare * 50 <= samples && wrong * 200 <= whole, "{shares}");
}
