//! A filesystem in user space, by the raw protocol of `/dev/fuse`, whose server stops answering when it is told to.
#![allow(unsafe_code)]

use std::{
    ffi::CString,
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The one file in it, and its second name, by which a process that maps it passes for a JVM.
pub const NAME: &str = "served";
const LIBJVM: &str = "libjvm.so";
/// `mov $0x10000, %eax; 1: dec %eax; jnz 1b; ret`: what the file holds, over and over.
const CODE: [u8; 16] = *b"\xb8\0\0\x01\0\xff\xc8\x75\xfc\xc3\xcc\xcc\xcc\xcc\xcc\xcc";
const SIZE: u64 = 64 << 10;
/// Nobody can mount or unmount for longer.
const TURN: Duration = Duration::from_millis(10);

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const OPEN: u32 = 14;
const READ: u32 = 15;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const RELEASEDIR: u32 = 29;
const ACCESS: u32 = 34;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

/// It is unmounted, and who waits for it gets an error, when this is dropped.
pub struct Served {
    folder: PathBuf,
    mute: Arc<AtomicBool>,
    unanswered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Served {
    /// Mounted at a folder that is made. `inode`: number of the file.
    pub fn mount(folder: &Path, inode: u64) -> Served {
        std::fs::create_dir_all(folder).expect("a folder");
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/fuse")
            .expect("/dev/fuse");
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0,allow_other",
            device.as_raw_fd()
        );
        mount("fuse", folder, &options);
        let mute = Arc::new(AtomicBool::new(false));
        let unanswered = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let server = {
            let (mute, unanswered, stop) = (
                Arc::clone(&mute),
                Arc::clone(&unanswered),
                Arc::clone(&stop),
            );
            thread::spawn(move || serve(device, inode, &mute, &unanswered, &stop))
        };
        Served {
            folder: folder.to_owned(),
            mute,
            unanswered,
            stop,
            server: Some(server),
        }
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// The file by its second name.
    pub fn libjvm(&self) -> PathBuf {
        self.folder.join(LIBJVM)
    }

    /// Answers nothing any more.
    pub fn fall_silent(&self) {
        self.mute.store(true, Ordering::SeqCst);
    }

    /// Questions of this process and of its prober that were not answered.
    pub fn unanswered(&self) -> usize {
        self.unanswered.load(Ordering::SeqCst)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // With the device closed nobody waits any more.
        let ended = self.server.take().map(JoinHandle::join);
        unmount(&self.folder);
        let _ = std::fs::remove_dir(&self.folder);
        assert!(ended.is_some_and(|ended| ended.is_ok()) || thread::panicking());
    }
}

/// A mount that ends when this is dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    /// One that has its files from these folders, for reading.
    pub fn overlay(folder: &Path, lower: &[&Path]) -> Mounted {
        std::fs::create_dir_all(folder).expect("a folder");
        let lower: Vec<String> = lower.iter().map(|l| l.display().to_string()).collect();
        mount("overlay", folder, &format!("lowerdir={}", lower.join(":")));
        Mounted(folder.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.0);
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path")
}

fn mount(kind: &str, folder: &Path, options: &str) {
    let (kind, options) = (CString::new(kind), CString::new(options));
    let (kind, options) = (kind.expect("a kind"), options.expect("options"));
    let folder = c(folder);
    // SAFETY: all strings live through the call.
    let failed = unsafe {
        libc::mount(
            kind.as_ptr(),
            folder.as_ptr(),
            kind.as_ptr(),
            libc::MS_NOSUID | libc::MS_NODEV,
            options.as_ptr().cast(),
        )
    };
    let why = std::io::Error::last_os_error();
    assert_eq!(failed, 0, "mount needs root: {why}");
}

fn unmount(folder: &Path) {
    let folder = c(folder);
    // SAFETY: the path lives through the call.
    unsafe { libc::umount2(folder.as_ptr(), libc::MNT_DETACH) };
}

fn serve(
    mut device: File,
    inode: u64,
    mute: &AtomicBool,
    unanswered: &AtomicUsize,
    stop: &AtomicBool,
) {
    let mut request = vec![0; 1 << 20];
    while !stop.load(Ordering::SeqCst) {
        let Ok(length) = device.read(&mut request) else {
            thread::sleep(TURN);
            continue;
        };
        let request = &request[..length];
        let u32_at = |at: usize| u32::from_le_bytes(request[at..at + 4].try_into().expect("4"));
        let u64_at = |at: usize| u64::from_le_bytes(request[at..at + 8].try_into().expect("8"));
        let (opcode, unique, node) = (u32_at(4), u64_at(8), u64_at(16));
        if [FORGET, BATCH_FORGET, INTERRUPT].contains(&opcode) {
            continue;
        }
        if mute.load(Ordering::SeqCst) {
            // Nobody waits for the answer to that it is closed.
            let own = opcode != RELEASE && is_own(u32_at(32));
            unanswered.fetch_add(usize::from(own), Ordering::SeqCst);
            continue;
        }
        let answer = match opcode {
            INIT => Ok(words(&[
                7,
                31,
                1 << 16,
                0,
                0,
                1 << 16,
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ])),
            LOOKUP
                if [NAME, LIBJVM]
                    .iter()
                    .any(|n| request[40..].starts_with(n.as_bytes())) =>
            {
                // Valid for no time at all: everybody who looks asks.
                Ok([words(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]), attributes(2, inode)].concat())
            }
            LOOKUP => Err(libc::ENOENT),
            GETATTR => Ok([words(&[0, 0, 0, 0]), attributes(node, inode)].concat()),
            OPEN | OPENDIR => Ok(words(&[0, 0, 0, 0])),
            READ => {
                let (offset, size) = (u64_at(48), u64::from(u32_at(56)));
                let end = (offset + size).min(SIZE);
                let bytes = (offset..end).map(|at| CODE[(at % 16) as usize]);
                Ok(bytes.collect())
            }
            // Names of 255 bytes.
            STATFS => Ok(words(&[
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4096, 255, 4096, 0, 0, 0, 0, 0, 0, 0,
            ])),
            RELEASE | RELEASEDIR | FLUSH | ACCESS => Ok(Vec::new()),
            _ => Err(libc::ENOSYS),
        };
        let error = answer.as_ref().map_or_else(|error| -*error, |_| 0);
        let body = answer.unwrap_or_default();
        let mut reply = words(&[16 + body.len() as u32, error as u32]);
        reply.extend(unique.to_le_bytes());
        reply.extend(body);
        // Who asked may be gone.
        let _ = device.write(&reply);
    }
}

/// Whether a thread is of this process or of its prober.
fn is_own(tid: u32) -> bool {
    let cmdline = fs::read_to_string(format!("/proc/{tid}/cmdline")).unwrap_or_default();
    Path::new(&format!("/proc/self/task/{tid}")).exists() || cmdline.ends_with("\0prober\0")
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A `struct fuse_attr`.
fn attributes(node: u64, inode: u64) -> Vec<u8> {
    let (number, mode, size) = match node {
        1 => (1, 0o40755, 0),
        _ => (inode, 0o100_755, SIZE),
    };
    let mut out: Vec<u8> = [number, size, size / 512, 1, 1, 1]
        .iter()
        .flat_map(|n: &u64| n.to_le_bytes())
        .collect();
    out.extend(words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0]));
    out
}
