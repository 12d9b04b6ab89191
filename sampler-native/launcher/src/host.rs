//! Checks of this machine before the JVM starts: they find the obstacles that a JVM could not report itself.

use crate::Refusal;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

/// The least address space that flametop starts with, in kB.
const ADDRESSES_LEAST: u64 = 2_000_000;

const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// This process, as `/proc/self/status` describes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Status {
    capabilities: u64,
    ignored: u64,
}

impl Status {
    /// Of this process; none: `/proc` is not mounted.
    #[must_use]
    pub fn own() -> Option<Self> {
        let text = std::fs::read("/proc/self/status").ok()?;
        Some(Self::of(&String::from_utf8_lossy(&text)))
    }

    fn of(text: &str) -> Self {
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            u64::from_str_radix(value.unwrap_or("0").trim(), 16).unwrap_or(0)
        };
        Self {
            capabilities: field("CapEff:"),
            ignored: field("SigIgn:"),
        }
    }

    /// Whether this process ignored the signal of that number when it began.
    #[must_use]
    pub fn ignores(&self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.ignored >> (signal - 1) & 1 == 1
    }

    fn may_sample(&self) -> bool {
        let has = |capability: u32| self.capabilities >> capability & 1 == 1;
        has(CAP_SYS_ADMIN) || has(CAP_PERFMON) && has(CAP_BPF)
    }
}

/// Whether `/proc` is there; all that a bundle has, it finds through `/proc`.
pub fn check_proc(status: Option<&Status>) -> Result<(), Refusal> {
    match status {
        Some(_) => Ok(()),
        None => Err(Refusal::not_possible(
            "/proc is not mounted, and tasks are found there: mount -t proc proc /proc".into(),
        )),
    }
}

/// Whether the stacks of other processes may be read. `started`: how a user starts flametop.
pub fn check_privileges(status: &Status, started: &str) -> Result<(), Refusal> {
    match status.may_sample() {
        true => Ok(()),
        false => Err(Refusal::not_possible(format!(
            "reading the stacks of other processes needs root: sudo {started}"
        ))),
    }
}

/// Refuses to start where no JVM could start.
pub fn check_jvm_can_start() -> Result<(), Refusal> {
    // The kernel names a folder that is gone "(unreachable)" or not at all.
    match std::env::current_dir() {
        Ok(folder) if folder.is_absolute() => {}
        _ => {
            return Err(Refusal::failed(
                "the folder that it was started in is gone; go to another first (cd)".into(),
            ));
        }
    }
    let addresses = getrlimit(Resource::RLIMIT_AS).map_or(RLIM_INFINITY, |(soft, _)| soft);
    check_addresses(addresses)
}

fn check_addresses(bytes: u64) -> Result<(), Refusal> {
    let kb = bytes / 1024;
    match bytes == RLIM_INFINITY || kb >= ADDRESSES_LEAST {
        true => Ok(()),
        false => Err(Refusal::failed(format!(
            "a limit of {kb} kB of address space is too low (ulimit -v); it takes 2,000,000"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_capabilities_decides_who_may_sample() {
        let status = |mask: u64| Status::of(&format!("Name:\ta\nCapEff:\t{mask:016x}\n"));
        assert!(status(1 << 21).may_sample());
        assert!(status(1 << 38 | 1 << 39).may_sample());
        assert!(!status(1 << 38).may_sample());
        assert!(!status(1 << 39).may_sample());
        assert!(!status(0).may_sample());
        assert!(status(u64::MAX).may_sample());
    }

    #[test]
    fn status_without_the_fields_or_with_others_has_nothing() {
        for text in ["", "CapEff:", "CapEff:\tzz\nSigIgn:\t-1", "\0\u{fffd}"] {
            assert_eq!(Status::of(text), Status::default(), "{text:?}");
        }
    }

    #[test]
    fn ignores_the_signals_of_the_mask_only() {
        let status = Status::of("SigIgn:\t0000000000000003\nCapEff:\t0\n");
        assert!(status.ignores(1) && status.ignores(2) && !status.ignores(3));
        assert!(!status.ignores(0) && !status.ignores(-1) && !status.ignores(65));
    }

    #[test]
    fn check_privileges_without_them_names_the_remedy() {
        let refused = check_privileges(&Status::default(), "./flametop").expect_err("no rights");
        assert_eq!(refused.code, 3);
        assert!(
            refused.text.ends_with("sudo ./flametop"),
            "{}",
            refused.text
        );
    }

    #[test]
    fn check_proc_without_it_names_the_remedy() {
        let refused = check_proc(None).expect_err("no /proc");
        assert_eq!(refused.code, 3);
        assert!(refused.text.contains("mount -t proc"), "{}", refused.text);
        assert!(Status::own().is_some());
    }

    #[test]
    fn check_addresses_too_few_says_how_many() {
        assert!(check_addresses(RLIM_INFINITY).is_ok());
        assert!(check_addresses(2_000_000 * 1024).is_ok());
        let refused = check_addresses(1_000_000 * 1024).expect_err("too few");
        assert!(refused.text.contains("1000000 kB"), "{}", refused.text);
    }
}
