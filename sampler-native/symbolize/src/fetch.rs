//! The process that fetches debug files: it looks into the cache that all clients of debuginfod
//! share, and asks servers by way of curl, which has the certificates and proxies of the system.
//! It acts as the user whose cache that is, and ends with the work.
//!
//! What comes from the network or the cache is believed only with the build id that was asked for.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use object::read::{Object, ObjectSection};

use crate::debug::Elf;
use crate::protocol::{Ended, Fetch, MESSAGE_MAX, Reply, VERSION};
use crate::{debug, sys};

/// The argument by which the process knows what it is for.
pub const ARGUMENT: &str = "fetch";
/// Variables of the environment that tell it what to do.
pub const CACHE: &str = "FLAMETOP_CACHE";
pub const SERVERS: &str = "FLAMETOP_SERVERS";
pub const SECONDS: &str = "FLAMETOP_SECONDS";
pub const USER: &str = "FLAMETOP_USER";
/// Variables that it passes on to curl.
pub const PASSED_ON: [&str; 10] = [
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "CURL_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

const CURL: [&str; 3] = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"];
/// What a client of elfutils calls the file.
const NAME: &str = "debuginfo";
/// An empty file says for so long that no server has it, as elfutils' clients have it.
const MISS_TIME: Duration = Duration::from_secs(600);
/// So much of the file system stays free.
const FREE_MIN: u64 = 1 << 30;
const CONNECT_SECONDS: u64 = 10;
/// Slower than this for so many seconds is no transfer.
const SPEED_MIN: u64 = 4 << 10;
const SPEED_SECONDS: u64 = 20;
const REDIRECTS_MAX: u32 = 3;
/// User and group of curl where this process is root's, as on a root login: nobody.
const NOBODY: (u32, u32) = (65_534, 65_534);
/// A server that could not be reached so often is not asked again by this process.
const SILENCES_MAX: u32 = 2;

/// Answers questions on `socket` until that is closed.
pub fn serve(socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut fetcher = Fetcher::of_environment(socket);
    let mut buffer = vec![0; MESSAGE_MAX];
    fetcher.say(&Reply::Ready(VERSION), None)?;
    loop {
        let (length, _) = sys::receive(socket, &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let fetch = Fetch::decode(&buffer[..length]).ok_or(io::ErrorKind::InvalidData)?;
        let found = fetcher.find(&fetch)?;
        let reply = Reply::Fetched {
            ended: found.ended,
            bytes: found.bytes,
            why: found.why.into_bytes(),
        };
        fetcher.say(&reply, found.file.as_ref())?;
    }
}

/// The user that this process is to act as, if it is another.
pub fn wanted_user() -> Option<(u32, u32)> {
    let user = std::env::var(USER).ok()?;
    let (uid, gid) = user.split_once(':')?;
    Some((uid.parse().ok()?, gid.parse().ok()?))
}

struct Fetcher<'a> {
    socket: BorrowedFd<'a>,
    cache: PathBuf,
    servers: Vec<String>,
    seconds: u64,
    /// How often each server could not be reached, and why the last time.
    silences: HashMap<String, (u32, String)>,
}

/// What became of a question.
struct Search {
    ended: Ended,
    file: Option<File>,
    bytes: u64,
    why: String,
}

impl Search {
    fn ended(ended: Ended, why: impl Into<String>) -> Search {
        Search {
            ended,
            file: None,
            bytes: 0,
            why: why.into(),
        }
    }
}

/// What the cache says.
enum Kept {
    Here(File),
    /// No server had it a while ago.
    Missed,
    Nothing,
}

/// Why there is no file of a server.
struct Failure {
    ended: Ended,
    why: String,
}

impl Failure {
    fn new(ended: Ended, why: impl Into<String>) -> Failure {
        Failure {
            ended,
            why: why.into(),
        }
    }

    /// Something of our own, not of the server.
    fn local(error: &io::Error) -> Failure {
        Failure::new(Ended::Refused, format!("it cannot be kept ({error})"))
    }
}

impl<'a> Fetcher<'a> {
    fn of_environment(socket: BorrowedFd<'a>) -> Fetcher<'a> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let servers = variable(SERVERS);
        Fetcher {
            socket,
            cache: variable(CACHE).into(),
            servers: servers.split_whitespace().map(str::to_owned).collect(),
            seconds: variable(SECONDS).parse().unwrap_or(1),
            silences: HashMap::new(),
        }
    }

    fn say(&self, reply: &Reply, file: Option<&File>) -> io::Result<()> {
        let passed: Vec<BorrowedFd<'_>> = file.map(AsFd::as_fd).into_iter().collect();
        reply
            .encode()
            .iter()
            .try_for_each(|message| sys::send(self.socket, message, &passed))
    }

    fn find(&mut self, fetch: &Fetch) -> io::Result<Search> {
        let name: String = fetch.build_id.iter().map(|b| format!("{b:02x}")).collect();
        let cache = sys::directory(&self.cache);
        if let Ok(cache) = &cache {
            match kept(cache, &name, fetch) {
                Kept::Here(file) => {
                    return Ok(Search {
                        file: Some(file),
                        ..Search::ended(Ended::Cached, "")
                    });
                }
                Kept::Missed => return Ok(Search::ended(Ended::Absent, "")),
                Kept::Nothing => {}
            }
        }
        if self.servers.is_empty() {
            let ended = match cache {
                Ok(_) => Ended::NoServer,
                Err(_) => Ended::Nothing,
            };
            return Ok(Search::ended(ended, ""));
        }
        match self.folder(&name) {
            Ok(folder) => self.ask_servers(fetch, &name, &folder),
            Err(error) => {
                let why = format!("{}: {error}", self.cache.display());
                Ok(Search::ended(Ended::Refused, why))
            }
        }
    }

    /// The folder of one build id, made if it is not there.
    fn folder(&self, name: &str) -> io::Result<File> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.cache)?;
        let cache = sys::directory(&self.cache)?;
        sys::make_folder(&cache, name)?;
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        let folder = sys::open_plainly(&cache, Path::new(name), flags)?;
        if !is_ours(&folder) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(folder)
    }

    fn ask_servers(&mut self, fetch: &Fetch, name: &str, folder: &File) -> io::Result<Search> {
        let Some(curl) = CURL.iter().map(Path::new).find(|curl| curl.exists()) else {
            let why = "curl is not installed, which fetches them: apt install curl";
            return Ok(Search::ended(Ended::Unreachable, why));
        };
        let mut search = Search::ended(Ended::Unreachable, "");
        let mut all_answered = true;
        for server in self.servers.clone() {
            if let Some((silences, why)) = self.silences.get(&server)
                && *silences >= SILENCES_MAX
            {
                all_answered = false;
                if search.ended == Ended::Unreachable {
                    search.why.clone_from(why);
                }
                continue;
            }
            let url = format!("{server}/buildid/{name}/{NAME}");
            let (bytes, result) = self.fetch(curl, &url, fetch, folder)?;
            search.bytes += bytes;
            let failure = match result {
                Ok(file) => {
                    return Ok(Search {
                        file: Some(file),
                        ended: Ended::Fetched,
                        ..search
                    });
                }
                Err(failure) => failure,
            };
            let why = match failure.ended {
                Ended::Absent => String::new(),
                _ => format!("{}: {}", host(&server), failure.why),
            };
            if failure.ended == Ended::Unreachable {
                let silences = self.silences.get(&server).map_or(0, |(count, _)| *count);
                let silent = (silences + 1, why.clone());
                self.silences.insert(server.clone(), silent);
            }
            all_answered &= failure.ended == Ended::Absent;
            // What a server did wrong is told rather than that another has no such file.
            if rank(failure.ended) >= rank(search.ended) {
                search.ended = failure.ended;
                search.why = why;
            }
        }
        if all_answered {
            // Not to know it the next time is no error.
            let _ = remember_missed(folder);
        }
        Ok(search)
    }

    /// Asks one server; the bytes that came, and the file.
    fn fetch(
        &self,
        curl: &Path,
        url: &str,
        fetch: &Fetch,
        folder: &File,
    ) -> io::Result<(u64, Result<File, Failure>)> {
        if fetch.most == 0 {
            let why = "as much was fetched as may be";
            return Ok((0, Err(Failure::new(Ended::Refused, why))));
        }
        let free = sys::free_bytes(folder).unwrap_or(0);
        let most = fetch.most.min(free.saturating_sub(FREE_MIN));
        if most == 0 {
            let why = format!("less than {} MiB are free for it", FREE_MIN >> 20);
            return Ok((0, Err(Failure::new(Ended::Refused, why))));
        }
        let mut new = match NewFile::create(folder) {
            Ok(new) => new,
            Err(error) => return Ok((0, Err(Failure::local(&error)))),
        };
        let result = match self.download(curl, url, &new.file, most) {
            Ok(child) => self.watch(child, most)?,
            Err(error) => {
                let why = format!("curl cannot be started ({error})");
                Err(Failure::new(Ended::Refused, why))
            }
        };
        let bytes = new.file.metadata().map_or(0, |file| file.len());
        let kept = result.and_then(|()| {
            if !is_debug_file(&new.file, &fetch.build_id) {
                let why = "what it sent is not the debug file that was asked for";
                return Err(Failure::new(Ended::Refused, why));
            }
            new.keep().map_err(|error| Failure::local(&error))
        });
        Ok((bytes, kept))
    }

    fn download(&self, curl: &Path, url: &str, into: &File, most: u64) -> io::Result<Child> {
        // Where an address is encrypted, what it leads to is too.
        let schemes = match url.starts_with("https:") {
            true => "=https",
            false => "=http,https",
        };
        let mut command = Command::new(curl);
        // The address may hold a password: it is told by the standard input, which nobody else sees.
        command
            .args(["-q", "--silent", "--fail", "--globoff", "--location"])
            .args(["--config", "-", "--write-out", "%{stderr}%{http_code}"])
            .args(["--proto", "=http,https", "--proto-redir", schemes])
            .args([
                "--user-agent",
                concat!("flametop/", env!("CARGO_PKG_VERSION")),
            ]);
        let limits = [
            ("--max-redirs", u64::from(REDIRECTS_MAX)),
            ("--max-filesize", most),
            ("--max-time", self.seconds),
            ("--connect-timeout", CONNECT_SECONDS),
            ("--speed-limit", SPEED_MIN),
            ("--speed-time", SPEED_SECONDS),
        ];
        for (option, limit) in limits {
            command.args([option, &limit.to_string()]);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::from(into.try_clone()?))
            .stderr(Stdio::piped())
            .env_clear();
        for name in PASSED_ON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let nobody = Some(NOBODY).filter(|_| sys::user() == 0);
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(move || {
                // Before the next line: with another user the kernel forgets what that says.
                if let Some((uid, gid)) = nobody {
                    sys::become_user(uid, gid)?;
                }
                sys::die_with_parent()?;
                sys::limit_files(most)
            });
        }
        let mut child = command.spawn()?;
        let mut config = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // If curl is dead already, its end tells so.
        let _ = config.write_all(format!("url = \"{url}\"\n").as_bytes());
        Ok(child)
    }

    /// Waits for curl to end, which has its own clock; curl is killed if it does not, or on an error.
    fn watch(&self, mut child: Child, most: u64) -> io::Result<Result<(), Failure>> {
        let watched = self.watch_running(&mut child, most);
        if watched.is_err() {
            // These fail only if curl has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
        watched
    }

    fn watch_running(&self, child: &mut Child, most: u64) -> io::Result<Result<(), Failure>> {
        self.say(&Reply::Child(child.id()), None)?;
        let deadline = Instant::now() + Duration::from_secs(self.seconds + 5);
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    // It fails only if the process is dead already.
                    let _ = child.kill();
                    break child.wait()?;
                }
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        self.say(&Reply::Child(0), None)?;
        let mut said = String::new();
        if let Some(stderr) = child.stderr.take() {
            // The number of the answer; what is no text is none.
            let _ = stderr.take(256).read_to_string(&mut said);
        }
        Ok(outcome(status, said.trim(), most))
    }
}

/// How curl ended, and the number of the server's answer.
fn outcome(status: ExitStatus, answer: &str, most: u64) -> Result<(), Failure> {
    use Ended::{Absent, Refused, TooLarge, Unreachable};
    let too_large = || Failure::new(TooLarge, format!("larger than {} MiB", most >> 20));
    Err(match (status.code(), answer) {
        (Some(0), "200") => return Ok(()),
        (Some(22), "404" | "410") => Failure::new(Absent, ""),
        (Some(0 | 22), answer) => Failure::new(Unreachable, format!("it answers {answer}")),
        (Some(1), _) => Failure::new(Refused, "it leads to what is no address of the web"),
        (Some(47), _) => Failure::new(Refused, "it leads on without end"),
        (Some(63), _) => too_large(),
        (Some(18), _) => Failure::new(Refused, "its answer ended midway"),
        (Some(23), _) => Failure::new(Refused, "what it sends cannot be written"),
        (Some(5..=7), _) => Failure::new(Unreachable, "it cannot be reached"),
        (Some(28), _) => Failure::new(Unreachable, "it is too slow"),
        (Some(35 | 51 | 53..=54 | 58..=60 | 77 | 80 | 83 | 90 | 91), _) => Failure::new(
            Unreachable,
            "its certificate is not good, or it encrypts otherwise",
        ),
        (Some(code), _) => Failure::new(Unreachable, format!("curl ended with {code}")),
        (None, _) if status.signal() == Some(libc::SIGXFSZ) => too_large(),
        (None, _) => Failure::new(Unreachable, format!("curl ended ({status})")),
    })
}

/// Of several servers' answers the highest is told.
fn rank(ended: Ended) -> u8 {
    match ended {
        Ended::TooLarge => 3,
        Ended::Refused => 2,
        Ended::Absent => 1,
        _ => 0,
    }
}

/// The name of the server in an address, without the password that may stand before it.
fn host(server: &str) -> &str {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    host.rsplit('@').next().unwrap_or(host)
}

/// What somebody else owns is not the user's cache.
fn is_ours(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|file| file.uid() == sys::user() || file.uid() == 0)
}

fn kept(cache: &File, name: &str, fetch: &Fetch) -> Kept {
    let path = Path::new(name).join(NAME);
    let Ok(file) = sys::open_plainly(cache, &path, libc::O_RDONLY) else {
        return Kept::Nothing;
    };
    let Ok(data) = file
        .metadata()
        .map(|data| (data.is_file(), data.len(), data.modified()))
    else {
        return Kept::Nothing;
    };
    match data {
        (true, 0, Ok(missed)) => {
            let age = SystemTime::now().duration_since(missed);
            match age.is_ok_and(|age| age < MISS_TIME) {
                true => Kept::Missed,
                false => Kept::Nothing,
            }
        }
        (true, ..) if is_ours(&file) && is_debug_file(&file, &fetch.build_id) => Kept::Here(file),
        _ => Kept::Nothing,
    }
}

/// The empty file by which all clients know that no server has it. A file that another client has
/// put there meanwhile stays as it is: somebody may have it mapped.
fn remember_missed(folder: &File) -> io::Result<()> {
    let open = |flags| sys::open_plainly(folder, Path::new(NAME), flags | libc::O_WRONLY);
    let file = match open(libc::O_CREAT | libc::O_EXCL) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open(0)?,
        made => made?,
    };
    let data = file.metadata()?;
    if !data.is_file() || data.len() > 0 || !is_ours(&file) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    file.set_modified(SystemTime::now())
}

/// Whether all of `file` is there, and it is of this build id.
fn is_debug_file(file: &File, build_id: &[u8]) -> bool {
    let Ok(bytes) = sys::map(file) else {
        return false;
    };
    let whole = |elf: &Elf<'_>| {
        elf.sections().all(|section| {
            section.file_range().is_none_or(|(at, size)| {
                at.checked_add(size)
                    .is_some_and(|end| end <= bytes.len() as u64)
            })
        })
    };
    Elf::parse(&*bytes).is_ok_and(|elf| debug::has_build_id(&elf, build_id) && whole(&elf))
}

/// A file on its way into the cache. Others see all of it or nothing; if this process is killed,
/// nothing is left wherever the file system can do that.
struct NewFile<'a> {
    folder: &'a File,
    file: File,
    /// What it is called meanwhile.
    name: String,
    named: bool,
}

impl<'a> NewFile<'a> {
    fn create(folder: &'a File) -> io::Result<NewFile<'a>> {
        let name = format!(".flametop-{}", std::process::id());
        // One that a process of this number has left.
        let _ = sys::remove_in(folder, &name);
        let without = sys::open_plainly(folder, Path::new("."), libc::O_TMPFILE | libc::O_RDWR);
        let (file, named) = match without {
            Ok(file) => (file, false),
            Err(_) => {
                let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
                (sys::open_plainly(folder, Path::new(&name), flags)?, true)
            }
        };
        Ok(NewFile {
            folder,
            file,
            name,
            named,
        })
    }

    /// Puts it into its place; gives it for reading only.
    fn keep(&mut self) -> io::Result<File> {
        self.file.sync_data()?;
        self.file.rewind()?;
        if !self.named {
            sys::name_file(&self.file, self.folder, &self.name)?;
            self.named = true;
        }
        sys::rename_in(self.folder, &self.name, NAME)?;
        self.named = false;
        File::open(sys::path_of(&self.file))
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if self.named {
            // A file that cannot be removed stays, until a process of the same number removes it.
            let _ = sys::remove_in(self.folder, &self.name);
        }
    }
}
