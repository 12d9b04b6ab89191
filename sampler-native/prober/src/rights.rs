//! A process gives up all rights that its work does not need, for good.

use std::{collections::BTreeMap, io};

pub use caps::Capability;
use caps::{CapSet, CapsHashSet};
use nix::{
    sys::{
        prctl,
        resource::{Resource, getrlimit, setrlimit},
        signal::Signal,
    },
    unistd::{Gid, Uid, getpid, setgroups, setresgid, setresuid},
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Users from here on belong to nobody: neither distributions nor containers give them away. The number of the process is added, so
/// that no other process is that user, and none may send it signals but root.
const USERS: u32 = 0x7000_0000;
/// `PROCMAP_QUERY`, which asks `/proc/PID/maps` for one mapping.
const PROCMAP_QUERY: u64 = 0xc068_6611;

/// What the process keeps.
#[derive(Debug)]
pub struct Kept<'a> {
    /// Capabilities, as far as it has them.
    pub capabilities: &'a [Capability],
    /// Most bytes of private memory.
    pub memory: u64,
    /// Highest real-time priority of its threads.
    pub real_time: u64,
    /// System calls beside those that every program makes.
    pub calls: &'a [Call],
}

/// System calls that some programs make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Starts threads of its own process, and gives them priorities.
    Threads,
    /// Opens files for reading.
    Open,
    /// Opens files below a folder, as it says which links are followed.
    OpenBelow,
}

/// Becomes a user of its own, without capabilities beside those that are kept, without a way to get any, and with no other system
/// calls than it needs: others fail with EPERM. It dies with its parent. To be called before there are threads.
///
/// # Errors
/// Something of it is not to be had; the process should end.
pub fn give_up(kept: &Kept<'_>) -> io::Result<()> {
    let filters = filters(kept.calls)?;
    // Not allowed is not fatal: threads are then of ordinary priority.
    let _ = limit(Resource::RLIMIT_RTPRIO, kept.real_time);
    // Each file that flametop has open may be open here, too.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    drop_capabilities(kept.capabilities)?;
    limit(Resource::RLIMIT_DATA, kept.memory)?;
    limit(Resource::RLIMIT_CORE, 0)?;
    // After the user has changed, with which the kernel forgets these two.
    prctl::set_dumpable(false)?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    prctl::set_no_new_privs()?;
    let refused = |error| io::Error::other(format!("{error}"));
    filters
        .iter()
        .try_for_each(|filter| seccompiler::apply_filter(filter).map_err(refused))
}

/// Closes what this process inherited beside its first three descriptors. To be called before anything is opened.
pub fn close_inherited() {
    // SAFETY: takes numbers only, and nobody in this process has such a descriptor yet. It fails only where there is none.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// What is stricter already stays.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let most = match resource {
        Resource::RLIMIT_RTPRIO => most,
        _ => most.min(hard),
    };
    Ok(setrlimit(resource, most, most)?)
}

fn drop_capabilities(kept: &[Capability]) -> io::Result<()> {
    let failed = |error: caps::errors::CapsError| io::Error::other(error.to_string());
    let has = caps::read(None, CapSet::Effective).map_err(failed)?;
    let permitted = caps::read(None, CapSet::Permitted).map_err(failed)?;
    let kept: CapsHashSet = kept.iter().copied().collect();
    let kept: CapsHashSet = kept.intersection(&permitted).copied().collect();
    if has.contains(&Capability::CAP_SETPCAP) {
        for capability in caps::all() {
            // One that this kernel does not know.
            let _ = caps::drop(None, CapSet::Bounding, capability);
        }
    }
    let changes = [Capability::CAP_SETUID, Capability::CAP_SETGID];
    if changes.iter().all(|change| has.contains(change)) {
        let own = USERS + getpid().as_raw() as u32;
        let (user, group) = (Uid::from_raw(own), Gid::from_raw(own));
        prctl::set_keepcaps(true)?;
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
    }
    caps::clear(None, CapSet::Inheritable).map_err(failed)?;
    // The kernel wants what is effective to be permitted at any time.
    caps::clear(None, CapSet::Effective).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(failed)?;
    caps::set(None, CapSet::Effective, &kept).map_err(failed)
}

/// Filters of system calls, all of which apply.
fn filters(calls: &[Call]) -> io::Result<Vec<BpfProgram>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let always = [
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_fstatfs,
        libc::SYS_lseek,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_ppoll,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_tgkill,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_restart_syscall,
        libc::SYS_sendmsg,
        libc::SYS_recvmsg,
        libc::SYS_memfd_create,
        libc::SYS_ftruncate,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_readlinkat,
    ];
    rules.extend(always.map(|call| (call, Vec::new())));
    // Newer architectures have no calls of these names.
    #[cfg(target_arch = "x86_64")]
    rules.extend([libc::SYS_poll, libc::SYS_readlink].map(|call| (call, Vec::new())));
    let numbers = [
        libc::F_DUPFD_CLOEXEC,
        libc::F_GETFD,
        libc::F_SETFD,
        libc::F_GETFL,
        libc::F_ADD_SEALS,
        libc::F_GET_SEALS,
    ];
    let numbers = numbers.map(|number| argument(1, SeccompCmpOp::Eq, number as u64));
    rules.insert(
        libc::SYS_fcntl,
        numbers.into_iter().collect::<Result<_, _>>()?,
    );
    rules.insert(
        libc::SYS_ioctl,
        vec![argument(1, SeccompCmpOp::Eq, PROCMAP_QUERY)?],
    );
    if calls.contains(&Call::OpenBelow) {
        // Of `openat2` a filter does not see the flags: there the user counts, who owns nothing.
        rules.insert(libc::SYS_openat2, Vec::new());
    }
    if calls.contains(&Call::Open) {
        let writes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
        let reads = SeccompCmpOp::MaskedEq(writes as u64);
        rules.insert(libc::SYS_openat, vec![argument(2, reads.clone(), 0)?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![argument(1, reads, 0)?]);
    }
    if calls.contains(&Call::Threads) {
        for call in [
            libc::SYS_set_robust_list,
            libc::SYS_rseq,
            libc::SYS_sched_getaffinity,
            libc::SYS_sched_setscheduler,
            libc::SYS_setpriority,
            libc::SYS_clone3,
        ] {
            rules.insert(call, Vec::new());
        }
        let thread = libc::CLONE_THREAD as u64;
        let threads = argument(0, SeccompCmpOp::MaskedEq(thread), thread)?;
        rules.insert(libc::SYS_clone, vec![threads]);
        let named = argument(0, SeccompCmpOp::Eq, libc::PR_SET_NAME as u64)?;
        rules.insert(libc::SYS_prctl, vec![named]);
    }
    // What `clone3` makes is told in memory, which a filter does not see: the C library takes `clone` where there is none.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    Ok(vec![
        program(clone3, SeccompAction::Allow, absent)?,
        program(rules, refused, SeccompAction::Allow)?,
    ])
}

fn argument(index: u8, is: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, is, value)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(io::Error::other)
}

fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    these: SeccompAction,
) -> io::Result<BpfProgram> {
    TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|architecture| SeccompFilter::new(rules, others, these, architecture))
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)
}
