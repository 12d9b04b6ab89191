//! The helper process: answers questions on its standard input, a socket, until that is closed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blazesym::inspect::{self, Inspector};
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use flametop_prober::rights::{self, Call, Kept};

use crate::debug::{self, Elf as Mapped, Link, Look};
use crate::demangle::{is_label, shown_name};
use crate::go::Functions;
use crate::kernel::Kernel;
use crate::protocol::{
    Ask, Find, Found, KERNEL, MESSAGE_MAX, PATH_MAX, Reply, Trouble, VERSION, What, looked,
};
use crate::readable::Readable;
use crate::{client, fetch, find, lines, places, sys};

/// Private memory that this process may have. Only damaged files want more: an index is 8 bytes a
/// symbol.
const DATA_MAX: u64 = 256 << 20;
/// The same of a process that looks for functions: it holds names.
const FIND_DATA_MAX: u64 = 512 << 20;
/// The same of a process that reads debug information, which may be packed.
const PLACES_DATA_MAX: u64 = 512 << 20;
/// The same of a process that is asked about one file alone, which killed another process.
const ALONE_DATA_MAX: u64 = 128 << 20;
/// Above this, files that were asked least recently are forgotten. Most of it is pages of mapped
/// symbol tables.
const RESIDENT_MAX: u64 = 24 << 20;
/// Above this, those too that were asked a moment ago: two large ones that are asked in turn are not read in turn.
const RESIDENT_MOST: u64 = 64 << 20;
const STAYS: Duration = Duration::from_secs(5);
/// Files that are kept mapped.
const FILES_MAX: usize = 64;
/// A symbol of a file without a size, as assembly has them, is not taken for code further behind
/// it.
const FUNCTION_MAX: usize = 4 << 10;
/// In larger files second names are not looked for: it takes an index of all names. libc has 2 MiB.
const ALIAS_FILE_MAX: u64 = 8 << 20;
const NICE: i32 = 5;

/// Runs the helper process: takes its standard input as the socket, answers until the client is
/// gone.
pub fn run() -> ExitCode {
    // The text of a panic would end on the terminal that flametop draws on.
    panic::set_hook(Box::new(|_| {}));
    let socket = io::stdin();
    if !sys::is_packet_socket(socket.as_fd()) {
        eprintln!("flametop-symbolizer: started by flametop to read symbols, not by hand");
        return ExitCode::from(2);
    }
    sys::stand_back(NICE);
    let argument = std::env::args().nth(1);
    let data = match argument.as_deref() {
        Some(places::ARGUMENT) => PLACES_DATA_MAX,
        Some(find::ARGUMENT) => FIND_DATA_MAX,
        Some(client::ALONE) => ALONE_DATA_MAX,
        _ => DATA_MAX,
    };
    let fetches = argument.as_deref() == Some(fetch::ARGUMENT);
    let kernel = match argument.as_deref() {
        Some(places::ARGUMENT | fetch::ARGUMENT | find::ARGUMENT) => Kernel::default(),
        _ => Kernel::open(),
    };
    let given_up = match fetches {
        true => become_fetcher(data),
        false => rights::give_up(&Kept {
            capabilities: &[],
            memory: data,
            real_time: 0,
            calls: &[Call::Open],
        }),
    };
    if given_up.is_err() {
        return ExitCode::FAILURE;
    }
    let served = match argument.as_deref() {
        Some(fetch::ARGUMENT) => fetch::serve(socket.as_fd()),
        Some(find::ARGUMENT) => serve_finder(socket.as_fd()),
        _ => serve(socket.as_fd(), kernel),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The process that fetches starts programs, as the user whose cache it is.
fn become_fetcher(data: u64) -> io::Result<()> {
    // The user comes first: with another user the kernel forgets that the parent's death ends this
    // process.
    if let Some((uid, gid)) = fetch::wanted_user() {
        sys::become_user(uid, gid)?;
    }
    sys::die_with_parent()?;
    sys::no_new_rights()?;
    sys::limit_memory(data)
}

fn say(socket: BorrowedFd<'_>, reply: &Reply) -> io::Result<()> {
    let messages = reply.encode();
    let mut messages = messages.iter();
    messages.try_for_each(|message| sys::send(socket, message, &[]))
}

/// Has the client open an ELF file.
fn look(socket: BorrowedFd<'_>, process: u32, path: &Path) -> io::Result<File> {
    let path = path.as_os_str().as_bytes().to_vec();
    if path.len() > PATH_MAX {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    say(socket, &Reply::Look { process, path })?;
    let mut answer = looked(false);
    let (_, passed) = sys::receive(socket, &mut answer)?;
    let file = passed.into_iter().next().map(File::from);
    file.ok_or_else(|| match answer == looked(true) {
        true => io::ErrorKind::NotFound.into(),
        // Or no descriptor was left for it.
        false => io::ErrorKind::TimedOut.into(),
    })
}

/// Looks for functions and probes.
fn serve_finder(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut buffer = vec![0; MESSAGE_MAX];
    say(socket, &Reply::Ready(VERSION))?;
    loop {
        let (length, passed) = sys::receive(socket, &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let find = Find::decode(&buffer[..length]).ok_or(io::ErrorKind::InvalidData)?;
        let file = passed.into_iter().next().map(File::from);
        let file = file.ok_or(io::ErrorKind::InvalidData)?;
        let look = |process: u32, path: &Path| look(socket, process, path);
        // The libraries that parse the file are not ours.
        let searched = catch_unwind(AssertUnwindSafe(|| {
            find::search::search(&find, &file, &look)
        }));
        let searched = searched.unwrap_or_else(|_| Err("is damaged".to_owned()));
        match searched {
            Ok(found) => {
                say(socket, &Reply::Sites(found.sites))?;
                let (all, near) = (found.all, found.near);
                say(socket, &Reply::Found { all, near })?;
            }
            Err(why) => say(socket, &Reply::NotFound(why.into_bytes()))?,
        }
        sys::trim();
    }
}

fn serve(socket: BorrowedFd<'_>, kernel: Kernel) -> io::Result<()> {
    let say = |reply: &Reply| say(socket, reply);
    let mut symbols = Symbols {
        kernel,
        ..Symbols::default()
    };
    let look = |process: u32, path: &Path| look(socket, process, path);
    let mut buffer = vec![0; MESSAGE_MAX];
    say(&Reply::Ready(VERSION))?;
    loop {
        // What was large a moment ago is given back when nobody asks on.
        while symbols.held.len() > 1
            && symbols.size() > RESIDENT_MAX
            && !sys::wait_readable(socket, Instant::now() + STAYS)?
        {
            symbols.shrink();
        }
        let (length, passed) = sys::receive(socket, &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let ask = Ask::decode(&buffer[..length]).ok_or(io::ErrorKind::InvalidData)?;
        let mut passed = passed.into_iter().map(File::from);
        let (file, fetched) = (passed.next(), passed.next());
        if ask.what == What::Places {
            let file = file.ok_or(io::ErrorKind::InvalidData)?;
            for place in lines::places(&ask, &file, fetched, &look) {
                say(&Reply::Place(place))?;
            }
            continue;
        }
        // A panic may leave the caches half made; the next question starts with new ones.
        let (stripped, found) = catch_unwind(AssertUnwindSafe(|| {
            symbols.find(&ask, file, fetched, &look)
        }))
        .unwrap_or_else(|_| {
            symbols = Symbols {
                kernel: take(&mut symbols.kernel),
                ..Symbols::default()
            };
            (false, vec![Found::default(); ask.offsets.len()])
        });
        if let Some(trouble) = symbols.trouble.take() {
            say(&Reply::Trouble(trouble))?;
        }
        say(&Reply::Names { stripped, found })?;
        symbols.shrink();
    }
}

/// One question of one file.
pub(crate) fn find_once(ask: &Ask, file: File) -> Vec<Found> {
    Symbols::default()
        .find(ask, Some(file), None, &|_, _| {
            Err(io::ErrorKind::NotFound.into())
        })
        .1
}

/// A file that is mapped.
struct Held {
    file: Readable,
    /// Its debug file, once it was looked for.
    debug: Option<Option<Readable>>,
    /// The debug file that was fetched.
    fetched: Option<Readable>,
    used: u64,
    asked: Instant,
}

/// The symbols of a file that really cover `offsets`.
fn symbols_of(file: &Readable, symbolizer: &Symbolizer, offsets: &[u64]) -> Option<Vec<Found>> {
    let mut elf = Elf::new(file.path());
    elf.debug_syms = false;
    let asked = Input::VirtOffset(offsets);
    let results = symbolizer.symbolize(&Source::Elf(elf), asked).ok()?;
    let found = results.into_iter().map(|result| match result {
        Symbolized::Sym(sym)
            if sym.offset < sym.size.unwrap_or(FUNCTION_MAX) && !is_label(&sym.name) =>
        {
            Found {
                start: sym.addr,
                name: shown_name(&sym.name).into_bytes(),
            }
        }
        _ => Found::default(),
    });
    Some(found.collect())
}

impl Held {
    /// Bytes of memory of copies.
    fn copied(&self) -> u64 {
        let debug = self.debug.iter().flatten();
        let files = [&self.file].into_iter().chain(debug).chain(&self.fetched);
        files.map(Readable::copied).sum()
    }
}

#[derive(Default)]
struct Symbols {
    kernel: Kernel,
    files: Option<Symbolizer>,
    held: HashMap<u32, Held>,
    /// Questions so far: the clock of `Held::used`.
    clock: u64,
    trouble: Option<Trouble>,
}

fn symbolizer() -> blazesym::symbolize::Builder {
    Symbolizer::builder()
        .enable_code_info(false)
        .enable_inlined_fns(false)
        .enable_demangling(false)
}

impl Symbols {
    /// One answer for each offset, and whether the file's symbols are elsewhere.
    fn find(
        &mut self,
        ask: &Ask,
        file: Option<File>,
        fetched: Option<File>,
        look: Look<'_>,
    ) -> (bool, Vec<Found>) {
        self.clock += 1;
        if ask.kind == KERNEL {
            let (found, trouble) = self.kernel.find(&ask.offsets);
            self.trouble = trouble;
            return (false, found);
        }
        let found = file.and_then(|file| self.find_in_file(ask, file, fetched, look));
        let (stripped, mut found) = found.unwrap_or_default();
        found.resize(ask.offsets.len(), Found::default());
        (stripped, found)
    }

    fn find_in_file(
        &mut self,
        ask: &Ask,
        file: File,
        fetched: Option<File>,
        look: Look<'_>,
    ) -> Option<(bool, Vec<Found>)> {
        let held = match self.held.entry(ask.module) {
            Entry::Occupied(held) => held.into_mut(),
            // Opening a FIFO or a device waits, or does something.
            Entry::Vacant(_) if !file.metadata().ok()?.is_file() => return None,
            Entry::Vacant(held) => {
                let file = match Readable::new(file) {
                    Ok(file) => file,
                    Err(trouble) => {
                        self.trouble = Some(trouble);
                        return None;
                    }
                };
                held.insert(Held {
                    file,
                    debug: None,
                    fetched: None,
                    used: 0,
                    asked: Instant::now(),
                })
            }
        };
        held.used = self.clock;
        held.asked = Instant::now();
        let files = self.files.get_or_insert_with(|| symbolizer().build());
        let mut found = symbols_of(&held.file, files, &ask.offsets).unwrap_or_default();
        found.resize(ask.offsets.len(), Found::default());
        prefer_plain_names(&held.file, &mut found);
        let unnamed = found.iter().any(|found| found.name.is_empty());
        let stripped = unnamed && {
            let trouble = &mut self.trouble;
            name_stripped(held, files, ask, fetched, look, &mut found, trouble)
        };
        Some((stripped, found))
    }

    /// Bytes of memory that this process has, those of copies included.
    fn size(&self) -> u64 {
        let held = self.held.values();
        sys::resident_bytes() + held.map(Held::copied).sum::<u64>()
    }

    /// Forgets files until this process is as small as it should be, but never the one asked last.
    fn shrink(&mut self) {
        let mut resident = self.size();
        loop {
            let Some(oldest) = self
                .held
                .iter()
                .min_by_key(|(_, held)| held.used)
                .filter(|(_, held)| {
                    let large = resident > RESIDENT_MOST
                        || resident > RESIDENT_MAX && held.asked.elapsed() >= STAYS;
                    self.held.len() > FILES_MAX || large && self.held.len() > 1
                })
                .map(|(&module, _)| module)
            else {
                return;
            };
            if let Some(held) = self.held.remove(&oldest)
                && let Some(files) = &mut self.files
            {
                let mapped = [Some(held.file), held.debug.flatten(), held.fetched];
                // Where it cannot be forgotten alone, all are.
                if mapped.into_iter().flatten().any(|file| {
                    let evict = blazesym::symbolize::evict::Elf::new(file.path());
                    files.evict(&evict.into()).is_err()
                }) {
                    self.files = None;
                    self.held.clear();
                }
            }
            sys::trim();
            resident = self.size();
        }
    }
}

/// Names what the file itself has no symbol of: by its debug file, which has them all, or by the
/// table of Go's runtime. Whether its symbols were taken out of it and are in no debug file here.
fn name_stripped(
    held: &mut Held,
    symbolizer: &Symbolizer,
    ask: &Ask,
    fetched: Option<File>,
    look: Look<'_>,
    found: &mut [Found],
    trouble: &mut Option<Trouble>,
) -> bool {
    let Ok(bytes) = sys::map(held.file.file()) else {
        return false;
    };
    let Ok(elf) = Mapped::parse(&*bytes) else {
        return false;
    };
    let mut readable = |file: File| {
        let readable = Readable::new(file).ok();
        if readable.is_none() {
            *trouble = Some(Trouble::DebugFile);
        }
        readable
    };
    if held.debug.is_none() {
        let link = Link::of(&elf);
        let found = debug::find(&link, held.file.file(), &ask.path, ask.process, look);
        // Without its debug file the file is stripped. One that was late is looked for again.
        held.debug = found
            .ok()
            .map(|found| found.and_then(|(file, _)| readable(file)));
    }
    let debug = held.debug.as_ref().and_then(Option::as_ref);
    if debug.is_none() && held.fetched.is_none() {
        held.fetched = fetched
            .filter(|file| Link::of(&elf).has_build_id_of(file))
            .and_then(readable);
    }
    let missing = |found: &[Found]| -> Vec<usize> {
        let unnamed = |index: &usize| found[*index].name.is_empty();
        (0..found.len()).filter(unnamed).collect()
    };
    if let Some(debug) = debug.or(held.fetched.as_ref()) {
        let places = missing(found);
        let offsets: Vec<u64> = places.iter().map(|place| ask.offsets[*place]).collect();
        let symbols = symbols_of(debug, symbolizer, &offsets).unwrap_or_default();
        for (place, symbol) in places.into_iter().zip(symbols) {
            found[place] = symbol;
        }
    }
    if let Some(functions) = Functions::of(&elf) {
        for place in missing(found) {
            found[place] = functions.find(ask.offsets[place]).unwrap_or_default();
        }
    }
    debug.is_none() && held.fetched.is_none() && !debug::has_symbols(&elf)
}

/// Where one function has several names, as many in libc have, blazesym takes any: `__poll` and
/// `__libc_free` become `poll` and `free`, if those are symbols of the same address.
fn prefer_plain_names(held: &Readable, found: &mut [Found]) {
    let mut marked: Vec<&mut Found> = found
        .iter_mut()
        .filter(|found| found.name.starts_with(b"__"))
        .collect();
    if marked.is_empty()
        || held
            .file()
            .metadata()
            .map_or(true, |file| file.len() > ALIAS_FILE_MAX)
    {
        return;
    }
    let mut elf = inspect::source::Elf::new(held.path());
    elf.debug_syms = false;
    let (source, inspector) = (inspect::source::Source::Elf(elf), Inspector::new());
    for found in &mut marked {
        let plain = std::str::from_utf8(&found.name)
            .map(plain_names)
            .unwrap_or_default();
        // Without an index of names the first name is as good.
        let Ok(symbols) = inspector.lookup(&source, &plain) else {
            return;
        };
        let same = symbols
            .iter()
            .position(|symbols| symbols.iter().any(|symbol| symbol.addr == found.start));
        if let Some(same) = same {
            found.name = plain[same].into();
        }
    }
}

/// What `__GI___libc_read` may also be called, the plainest first: `read`, `__libc_read`.
fn plain_names(name: &str) -> Vec<&str> {
    let inner = name.strip_prefix("__GI_").unwrap_or(name);
    let prefixes = ["__libc_", "__"];
    let mut names: Vec<&str> = prefixes
        .iter()
        .filter_map(|prefix| inner.strip_prefix(prefix))
        .collect();
    if inner != name {
        names.push(inner);
    }
    names.retain(|name| !name.is_empty());
    names
}
