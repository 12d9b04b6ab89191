//! The settings that a session is opened with.

use std::path::PathBuf;

use flametop_kernel::Target;

use crate::OpenError;

/// Settings as the bridge passes them: lines of `key=value`.
#[derive(Debug)]
pub struct Settings {
    /// `target`: `all`, `pid 1,2`, `tid 3` or `cgroup 4 /its/path`.
    pub target: Target,
    /// Path of the cgroup that is the target, without control characters; for the header only.
    pub cgroup: String,
    /// `hz.pass`: passes a second, for the header only; the caller makes them.
    pub pass_hz: u32,
    /// `hz.cpu`: rate of the CPU clock, 0 = off.
    pub cpu_hz: u32,
    /// `symbolizer`: path of `flametop-symbolizer`.
    pub symbolizer: PathBuf,
    /// `debuginfod`: addresses of servers that have debug files, with spaces between them.
    pub debuginfod: String,
    /// `program.time`: `0` if the kernel need not count how long the BPF programs run.
    pub program_time: bool,
    /// `mappings.told`: `0` to read mappings when they may have changed, also where the kernel would tell of them.
    pub mappings_told: bool,
    /// `own`: processes of flametop beside this one.
    pub own: Vec<u32>,
}

impl Settings {
    /// Parses the lines. Unknown keys are an error: they would be ignored in silence.
    ///
    /// # Errors
    /// The line that cannot be understood.
    pub fn parse(text: &str) -> Result<Settings, OpenError> {
        let mut settings = Settings {
            target: Target::All,
            cgroup: String::new(),
            pass_hz: 19,
            cpu_hz: 99,
            symbolizer: PathBuf::new(),
            debuginfod: String::new(),
            program_time: true,
            mappings_told: true,
            own: Vec::new(),
        };
        for line in text.lines().filter(|l| !l.is_empty()) {
            let bad = || OpenError::failed(format!("setting not understood: `{line}`"));
            let (key, value) = line.split_once('=').ok_or_else(bad)?;
            match key {
                "target" => {
                    (settings.target, settings.cgroup) = target(value).ok_or_else(bad)?;
                }
                "hz.pass" => settings.pass_hz = value.parse().map_err(|_| bad())?,
                "hz.cpu" => settings.cpu_hz = value.parse().map_err(|_| bad())?,
                "symbolizer" => settings.symbolizer = PathBuf::from(value),
                "debuginfod" => settings.debuginfod = value.to_owned(),
                "program.time" => settings.program_time = flag(value).ok_or_else(bad)?,
                "mappings.told" => settings.mappings_told = flag(value).ok_or_else(bad)?,
                "own" => settings.own = numbers(value).ok_or_else(bad)?,
                _ => return Err(bad()),
            }
        }
        Ok(settings)
    }
}

/// `0` or `1`.
pub fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The target, and the path if it is a cgroup.
fn target(text: &str) -> Option<(Target, String)> {
    let target = match text.split_once(' ') {
        None if text == "all" => Target::All,
        Some(("pid", list)) => Target::Processes(numbers(list).filter(|l| !l.is_empty())?),
        Some(("tid", list)) => Target::Threads(numbers(list).filter(|l| !l.is_empty())?),
        Some(("cgroup", group)) => {
            let (id, path) = group.split_once(' ')?;
            return Some((Target::Cgroup(id.parse().ok()?), path.to_owned()));
        }
        _ => return None,
    };
    Some((target, String::new()))
}

/// Numbers with commas between them.
pub fn numbers(list: &str) -> Option<Vec<u32>> {
    let parts = list.split(',').map(str::trim).filter(|p| !p.is_empty());
    parts.map(|p| p.parse().ok()).collect()
}

/// The target as the facts have it: `all`, `pid 1,2`, `tid 3` or `cgroup /its/path`.
pub fn target_text(settings: &Settings) -> String {
    let list = |tids: &[u32]| {
        tids.iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    match &settings.target {
        Target::All => "all".to_owned(),
        Target::Processes(tgids) => format!("pid {}", list(tgids)),
        Target::Threads(tids) => format!("tid {}", list(tids)),
        Target::Cgroup(_) => format!("cgroup {}", settings.cgroup),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_all_keys_gives_settings() {
        let s = Settings::parse(
            "target=pid 1, 22\nhz.pass=49\nhz.cpu=0\nsymbolizer=/x=y/s\nown=7,8\ndebuginfod=http://a/?b=c http://d\n",
        )
        .expect("settings");
        assert_eq!(target_text(&s), "pid 1,22");
        assert_eq!((s.pass_hz, s.cpu_hz, s.own), (49, 0, vec![7, 8]));
        assert_eq!(s.symbolizer, PathBuf::from("/x=y/s"));
        assert_eq!(s.debuginfod, "http://a/?b=c http://d");
    }

    #[test]
    fn parse_cgroup_has_its_id_and_its_path() {
        let s = Settings::parse("target=cgroup 7 /a b/c=d").expect("settings");
        assert_eq!(s.target, Target::Cgroup(7));
        assert_eq!(target_text(&s), "cgroup /a b/c=d");
    }

    #[test]
    fn parse_bad_lines_names_the_line() {
        for line in [
            "target=",
            "target=pid",
            "target=pid x",
            "target=cgroup",
            "target=cgroup 1",
            "target=cgroup -1 /a",
            "tid=3",
            "hz.cpu=-1",
            "jvm.maps=1",
            "nonsense",
        ] {
            let error = Settings::parse(line).expect_err(line);
            assert_eq!(error.code, 1);
            assert!(error.message.contains(line), "{}", error.message);
        }
    }
}
