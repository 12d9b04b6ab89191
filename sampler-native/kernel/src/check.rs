//! What this kernel and these privileges allow.

use std::{fs, path::Path};

use crate::{
    CheckLine, OpenError, OpenErrorKind, Settings, Target, clock::Clock, cycles::Cycles, idle,
    idle::Idle, life::Life, load, namespace, passes::Passes,
};

/// The oldest kernel: iterators that may sleep, and copies from other tasks, came with it.
const OLDEST: (u32, u32) = (5, 18);
const BTF: &str = "/sys/kernel/btf/vmlinux";
const AS_ROOT: &str = "run it as root (sudo)";

/// Capabilities: bit, name, needed, what it is for.
const CAPABILITIES: [(u32, &str, bool, &str); 5] = [
    (39, "CAP_BPF", true, "to load the programs"),
    (38, "CAP_PERFMON", true, "to look at tasks and their stacks"),
    (
        CAP_SYS_PTRACE,
        "CAP_SYS_PTRACE",
        false,
        "to read the mappings of other users' processes",
    ),
    (
        CAP_DAC_READ_SEARCH,
        "CAP_DAC_READ_SEARCH",
        false,
        "to read the program files of other users' processes",
    ),
    (34, "CAP_SYSLOG", false, "to name kernel functions"),
];
const CAP_DAC_OVERRIDE: u32 = 1;
const CAP_DAC_READ_SEARCH: u32 = 2;
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;

fn line(what: &str, needed: bool, found: Result<String, (String, String)>) -> CheckLine {
    let ok = found.is_ok();
    let (detail, remedy) = found.map_or_else(|problem| problem, |detail| (detail, String::new()));
    CheckLine {
        ok,
        needed,
        what: what.to_owned(),
        detail,
        remedy,
    }
}

/// What this kernel and these privileges allow, by looking and by trying: one line each. The main job can run if every
/// needed line is ok.
pub fn check() -> Vec<CheckLine> {
    load::silence();
    let settings = Settings::default();
    let mut lines = vec![line("kernel", true, kernel()), line("BTF", true, btf())];
    lines.extend(capabilities());
    lines.push(line("/proc", true, own_proc()));
    lines.push(line("pid namespace", false, pid_namespace()));
    lines.push(line("lockdown", false, Ok(lockdown())));
    lines.push(line(
        "task iterator",
        true,
        tried(
            Passes::open(&settings).map(drop),
            "every task can be sampled",
        ),
    ));
    lines.push(line(
        "CPU clock",
        false,
        tried(
            Clock::open(&settings, None).map(drop),
            "running tasks can be sampled",
        ),
    ));
    lines.push(line(
        "exit and exec",
        false,
        tried(
            Life::open(&settings).map(drop),
            "short-lived tasks are known",
        ),
    ));
    let (states, none) = idle::states();
    lines.push(line(
        "idle time",
        false,
        tried(
            Idle::open(&states).map(drop),
            "counted exactly, by tracepoint",
        ),
    ));
    lines.push(line(
        "idle states",
        false,
        there(
            none,
            &format!("{} of all online CPUs together", states.len()),
        ),
    ));
    let (no_frequency, no_counter) = Cycles::open().missing();
    lines.push(line(
        "frequency",
        false,
        there(no_frequency, "of each CPU, by cpufreq"),
    ));
    lines.push(line(
        "cycles",
        false,
        there(no_counter, "counted by hardware"),
    ));
    lines.push(line("run queue time", false, run_queue_time()));
    lines.push(line("kernel symbols", false, kernel_symbols()));
    lines
}

/// The first needed thing that is missing, found before anything is loaded: libbpf's own words for it help nobody.
pub fn refuse_impossible() -> Result<(), OpenError> {
    let needed = [line("kernel", true, kernel()), line("BTF", true, btf())];
    match needed
        .into_iter()
        .chain(capabilities())
        .chain([line("/proc", true, own_proc())])
        .find(|line| line.needed && !line.ok)
    {
        Some(line) => Err(OpenError {
            kind: OpenErrorKind::NotPossible,
            message: format!("{}: {}; {}", line.what, line.detail, line.remedy),
        }),
        None => Ok(()),
    }
}

/// What is wrong with the target, in words.
pub fn refuse_missing_target(target: &Target) -> Result<(), OpenError> {
    let gone = |message: String| {
        Err(OpenError {
            kind: OpenErrorKind::TargetGone,
            message,
        })
    };
    match target {
        // A group may be empty for now.
        Target::All | Target::Cgroup(_) => Ok(()),
        Target::Processes(ids) if ids.is_empty() => {
            gone("no process is given; give one with -p PID".to_owned())
        }
        Target::Threads(ids) if ids.is_empty() => {
            gone("no thread is given; give one with -t TID".to_owned())
        }
        Target::Processes(ids) => ids.iter().try_for_each(|id| match process_of(*id) {
            Some(tgid) if tgid == *id => Ok(()),
            Some(tgid) => gone(format!(
                "{id} is a thread of process {tgid}, not a process; use -t {id} or -p {tgid}"
            )),
            None => gone(format!(
                "there is no process {id}; ps -e lists those there are"
            )),
        }),
        Target::Threads(ids) => ids.iter().try_for_each(|id| match process_of(*id) {
            Some(_) => Ok(()),
            None => gone(format!(
                "there is no thread {id}; ps -eL lists those there are"
            )),
        }),
    }
}

fn process_of(tid: u32) -> Option<u32> {
    status_field(&format!("/proc/{tid}/status"), "Tgid:")?
        .parse()
        .ok()
}

fn status_field(path: &str, name: &str) -> Option<String> {
    let status = fs::read(path).ok()?;
    let status = String::from_utf8_lossy(&status);
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(|value| value.trim().to_owned())
}

fn kernel() -> Result<String, (String, String)> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")
        .unwrap_or_default()
        .trim()
        .to_owned();
    match version(&release) {
        Some(found) if found < OLDEST => Err((
            format!("Linux {release} cannot copy stacks from a task iterator"),
            format!("boot Linux {}.{} or newer", OLDEST.0, OLDEST.1),
        )),
        _ => Ok(format!("Linux {release}")),
    }
}

/// `6.1.0-13-amd64` → 6, 1.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn btf() -> Result<String, (String, String)> {
    if Path::new(BTF).exists() {
        return Ok(BTF.to_owned());
    }
    Err((
        format!("{BTF} does not exist: this kernel does not describe its types"),
        "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions ship".to_owned(),
    ))
}

/// The capabilities of this process, a bit each.
fn effective() -> u64 {
    status_field("/proc/self/status", "CapEff:")
        .and_then(|hex| u64::from_str_radix(&hex, 16).ok())
        .unwrap_or(0)
}

fn has(effective: u64, capability: u32, needed: bool) -> bool {
    let bit = |bit: u32| effective & 1 << bit != 0;
    bit(capability)
        // the older capability includes the two of BPF, and a process that may write all files may read them
        || needed && bit(CAP_SYS_ADMIN)
        || capability == CAP_DAC_READ_SEARCH && bit(CAP_DAC_OVERRIDE)
}

fn capabilities() -> Vec<CheckLine> {
    let effective = effective();
    CAPABILITIES
        .iter()
        .map(|(bit, name, needed, purpose)| {
            let missing = || (format!("missing, needed {purpose}"), AS_ROOT.to_owned());
            line(
                name,
                *needed,
                has(effective, *bit, *needed)
                    .then(|| (*purpose).to_owned())
                    .ok_or_else(missing),
            )
        })
        .collect()
}

/// A line about the missing capabilities without which stacks are shorter than they could be, if there are
/// such. (The symbolizer tells of missing names of kernel functions.)
pub fn stacks_fall_short() -> Option<String> {
    fall_short(effective())
}

fn fall_short(effective: u64) -> Option<String> {
    let missing: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(bit, ..)| [CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH].contains(bit))
        .filter(|(bit, _, needed, _)| !has(effective, *bit, *needed))
        .map(|(_, name, ..)| *name)
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "other users' processes have no user frames or short ones: {} missing; {AS_ROOT}",
            missing.join(" and ")
        )
    })
}

/// Files of a process are found by its number: `/proc` must give processes the same numbers as the programs do.
fn own_proc() -> Result<String, (String, String)> {
    match namespace::has_own_proc() {
        true => Ok("of this pid namespace".to_owned()),
        false => Err((
            "it is of another pid namespace, and numbers processes otherwise".to_owned(),
            "mount it anew (mount -t proc proc /proc), as unshare --mount-proc does".to_owned(),
        )),
    }
}

fn pid_namespace() -> Result<String, (String, String)> {
    match namespace::is_initial() {
        true => Ok("the initial one: all tasks are seen".to_owned()),
        false => Err((
            "this is a container: only its own tasks are seen, by its own numbers".to_owned(),
            "run it on the host, or in a container with the host's pid namespace (--pid=host)"
                .to_owned(),
        )),
    }
}

fn lockdown() -> String {
    let modes = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let mode = modes
        .split('[')
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .unwrap_or("none");
    format!("{mode}; all modes allow what is needed")
}

fn tried(result: anyhow::Result<()>, detail: &str) -> Result<String, (String, String)> {
    result
        .map(|()| detail.to_owned())
        .map_err(|error| explain(&error))
}

/// An error of an object, and the remedy.
pub fn explain(error: &anyhow::Error) -> (String, String) {
    let refused = error.chain().any(|cause| {
        let io = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        let bpf = cause
            .downcast_ref::<libbpf_rs::Error>()
            .map(libbpf_rs::Error::kind);
        io == Some(std::io::ErrorKind::PermissionDenied)
            || bpf == Some(libbpf_rs::ErrorKind::PermissionDenied)
    });
    if refused && !load::is_refused_by_verifier() {
        return (
            "the kernel does not permit it".to_owned(),
            "run it as root (sudo); in a container add CAP_BPF and CAP_PERFMON, and allow bpf and perf_event_open"
                .to_owned(),
        );
    }
    let said = load::reason()
        .map(|said| format!(" ({said})"))
        .unwrap_or_default();
    (
        format!("{error:#}{said}"),
        "flametop check tells what this kernel allows; a newer one may help".to_owned(),
    )
}

fn there(missing: Option<String>, detail: &str) -> Result<String, (String, String)> {
    match missing {
        Some(why) => Err((why, "nothing, on this machine".to_owned())),
        None => Ok(detail.to_owned()),
    }
}

/// The notice where time on the run queue is not counted.
pub fn no_run_queue_time() -> Option<String> {
    let (what, remedy) = run_queue_time().err()?;
    Some(format!("run queue time: {what}; {remedy}"))
}

fn run_queue_time() -> Result<String, (String, String)> {
    if Path::new("/proc/self/schedstat").exists() {
        return Ok("counted exactly, by the scheduler".to_owned());
    }
    Err((
        "the kernel does not count it: time on the run queue is sampled".to_owned(),
        "boot a kernel built with CONFIG_SCHED_INFO=y".to_owned(),
    ))
}

fn kernel_symbols() -> Result<String, (String, String)> {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let known = symbols.lines().take(100).any(|line| {
        line.split(' ')
            .next()
            .is_some_and(|a| a.bytes().any(|b| b != b'0'))
    });
    if known {
        return Ok("/proc/kallsyms shows addresses".to_owned());
    }
    Err((
        "/proc/kallsyms hides addresses: kernel frames have no names".to_owned(),
        "sudo sysctl kernel.kptr_restrict=1, and run it as root".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fall_short_each_capability_is_named_where_it_is_missing() {
        let all = !0_u64;
        let without = |bits: &[u32]| bits.iter().fold(all, |left, bit| left & !(1 << bit));
        assert_eq!(fall_short(all), None);
        let text = fall_short(without(&[CAP_SYS_PTRACE])).unwrap();
        assert!(text.contains(": CAP_SYS_PTRACE missing; "), "{text}");
        // a process that may write all files may read them
        assert_eq!(fall_short(without(&[CAP_DAC_READ_SEARCH])), None);
        let text = fall_short(1 << CAP_SYS_ADMIN).unwrap();
        assert!(
            text.contains("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"),
            "{text}"
        );
    }

    #[test]
    fn version_of_distribution_kernels() {
        assert_eq!(version("6.1.0-13-amd64"), Some((6, 1)));
        assert_eq!(version("5.10.0"), Some((5, 10)));
        assert_eq!(version("7.3-rc1"), Some((7, 3)));
        assert_eq!(version(""), None);
        assert!(version("5.10.0-8") < Some(OLDEST));
        assert!(version("5.18.1") >= Some(OLDEST));
    }

    #[test]
    fn refuse_missing_target_names_what_is_wrong() {
        let error = refuse_missing_target(&Target::Processes(vec![u32::MAX])).unwrap_err();
        assert_eq!(error.kind, OpenErrorKind::TargetGone);
        assert_eq!(
            error.message,
            "there is no process 4294967295; ps -e lists those there are"
        );
        let error = refuse_missing_target(&Target::Threads(vec![])).unwrap_err();
        assert_eq!(error.message, "no thread is given; give one with -t TID");
        assert!(refuse_missing_target(&Target::Threads(vec![std::process::id()])).is_ok());
    }

    #[test]
    fn refuse_missing_target_thread_given_as_process_names_its_process() {
        std::thread::spawn(|| {
            let tid = std::fs::read_link("/proc/thread-self").unwrap();
            let tid: u32 = tid.file_name().unwrap().to_str().unwrap().parse().unwrap();
            let error = refuse_missing_target(&Target::Processes(vec![tid])).unwrap_err();
            let process = std::process::id();
            assert_eq!(
                error.message,
                format!("{tid} is a thread of process {process}, not a process; use -t {tid} or -p {process}")
            );
        })
        .join()
        .unwrap();
    }
}
