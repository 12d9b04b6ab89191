//! Which functions of the kernel a user means.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail, ensure};
use flametop_events::{Place, Tracefs, near::did_you_mean};

/// Most functions of one source.
const MOST_FUNCTIONS: usize = 10_000;
/// How names begin of functions that a program of a probe calls itself, or that run while the kernel calls it. Hits of them within a probe
/// are not counted, and some kernels hang there.
const PROBE_PATH: [&str; 26] = [
    "__bpf_",
    "__htab_",
    "__rcu_read_",
    "_raw_spin_",
    "array_map_",
    "bpf_get_",
    "bpf_map_",
    "bpf_probe_read",
    "bpf_prog_",
    "bpf_ringbuf_",
    "bpf_task_storage_",
    "bpf_trace_",
    "copy_from_kernel_nofault",
    "copy_from_user_nofault",
    "fprobe_",
    "ftrace_",
    "get_perf_callchain",
    "htab_",
    "irq_work_",
    "kprobe_",
    "ktime_get_",
    "migrate_disable",
    "migrate_enable",
    "perf_callchain_",
    "rethook_",
    "unwind_",
];
/// The functions that the kernel itself keeps free of probes, where its debug files are mounted.
const BLACKLIST: &str = "/sys/kernel/debug/kprobes/blacklist";

/// The functions that the kernel has, and how many have each name.
struct Functions {
    /// Those whose start the kernel can watch; none: the kernel does not tell them.
    traceable: Option<HashMap<String, usize>>,
    /// Those that the kernel keeps free of probes.
    forbidden: HashSet<String>,
}

impl Functions {
    fn read() -> Functions {
        let list = Tracefs::open().and_then(|tracefs| tracefs.read("available_filter_functions"));
        let list = list.ok().filter(|text| !text.is_empty());
        let forbidden = std::fs::read_to_string(BLACKLIST).unwrap_or_default();
        Functions::of(list.as_deref(), &forbidden)
    }

    /// By the kernel's two lists.
    fn of(traceable: Option<&str>, forbidden: &str) -> Functions {
        let names = |list: &str| {
            let mut names = HashMap::new();
            for name in list
                .lines()
                .filter_map(|line| line.split_whitespace().next())
            {
                *names.entry(name.to_owned()).or_insert(0) += 1;
            }
            names
        };
        let forbidden = forbidden.lines().filter_map(|line| line.split('\t').nth(1));
        Functions {
            traceable: traceable.map(names),
            forbidden: forbidden.map(str::to_owned).collect(),
        }
    }

    fn is_of_probe_path(&self, name: &str) -> bool {
        self.forbidden.contains(name) || PROBE_PATH.iter().any(|begin| name.starts_with(begin))
    }

    /// The one with this name.
    fn one(&self, name: &str) -> Result<String> {
        ensure!(
            !self.is_of_probe_path(name),
            "{name} is called while a probe is looked at, so a probe in it would not end; probe a function that calls it"
        );
        let count = self.traceable.as_ref().and_then(|all| all.get(name));
        match count {
            Some(1) => Ok(name.to_owned()),
            Some(many) => bail!(
                "the kernel has {many} functions called {name}, and tells a probe only of the first; probe a function that calls the \
                 one that you mean"
            ),
            // The kernel cannot watch its start, but may set a probe into it.
            None => {
                let symbols = symbols();
                let known = symbols.iter().any(|symbol| symbol == name);
                ensure!(
                    known,
                    "the kernel has no function {name}{}",
                    did_you_mean(name, symbols.iter().map(String::as_str))
                );
                Ok(name.to_owned())
            }
        }
    }

    /// Those that a pattern means and that can be probed, sorted.
    fn many(&self, place: &Place) -> Result<Vec<String>> {
        let pattern = &place.function;
        let all = self.traceable.as_ref().context(
            "this kernel has no list of the functions that a pattern may mean; boot a kernel built with CONFIG_DYNAMIC_FTRACE=y, or \
             give one name",
        )?;
        let held = all
            .iter()
            .filter(|(name, _)| pattern.holds(name.as_bytes()));
        let held: Vec<_> = held.collect();
        ensure!(!held.is_empty(), "the kernel has no function {pattern}");
        let mut found: Vec<String> = held
            .iter()
            .filter(|(name, count)| **count == 1 && !self.is_of_probe_path(name))
            .map(|(name, _)| (*name).clone())
            .collect();
        ensure!(
            !found.is_empty(),
            "{pattern} means {} functions of the kernel, none of which may be probed: a probe calls them itself, or several have the \
             same name",
            held.len()
        );
        ensure!(
            found.len() <= MOST_FUNCTIONS,
            "{pattern} means {} functions of the kernel; {MOST_FUNCTIONS} at most are attached at once",
            found.len()
        );
        found.sort_unstable();
        Ok(found)
    }
}

/// The names of all of the kernel's code.
fn symbols() -> Vec<String> {
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let functions = symbols.lines().filter_map(|line| {
        let mut parts = line.split_whitespace().skip(1);
        let kind = parts.next()?;
        parts
            .next()
            .filter(|_| matches!(kind, "t" | "T" | "w" | "W"))
    });
    functions.map(str::to_owned).collect()
}

/// The names of the kernel's functions that are meant.
///
/// # Errors
/// There is none, too many, or none that may be probed.
pub fn functions_of_kernel(place: &Place) -> Result<Vec<String>> {
    ensure!(
        place.offset == 0,
        "functions of the kernel are probed where they begin"
    );
    let all = Functions::read();
    match place.function.name() {
        Some(name) => Ok(vec![all.one(name)?]),
        None => all.many(place),
    }
}

#[cfg(test)]
mod tests {
    use flametop_events::Pattern;

    use super::*;

    const LIST: &str =
        "vfs_read\nvfs_write\nvfs_show\nvfs_show\next4_show [ext4]\n_raw_spin_lock\nnmi_enter\n";
    const BLACK: &str = "0xffffffff81000000-0xffffffff81000040\tnmi_enter\n";

    fn all() -> Functions {
        Functions::of(Some(LIST), BLACK)
    }

    fn many(text: &str) -> Result<Vec<String>, String> {
        let place = Place {
            function: Pattern::parse(text).expect("a pattern"),
            offset: 0,
        };
        all().many(&place).map_err(|why| why.to_string())
    }

    #[test]
    fn a_pattern_means_functions_of_one_name_that_a_probe_does_not_call() {
        assert_eq!(
            many("vfs_*"),
            Ok(vec!["vfs_read".into(), "vfs_write".into()])
        );
        assert_eq!(many("/^ext4_|spin|nmi/"), Ok(vec!["ext4_show".into()]));
        let why = many("nmi_*").expect_err("forbidden");
        assert!(
            why.starts_with("nmi_* means 1 functions of the kernel, none of which may be probed"),
            "{why}"
        );
        assert_eq!(
            many("nothing*"),
            Err("the kernel has no function nothing*".into())
        );
    }

    #[test]
    fn a_name_that_may_not_be_probed_or_is_of_several_is_refused() {
        assert_eq!(all().one("ext4_show").expect("it is there"), "ext4_show");
        for (name, words) in [
            ("_raw_spin_lock", "called while a probe is looked at"),
            ("nmi_enter", "called while a probe is looked at"),
            ("vfs_show", "has 2 functions called vfs_show"),
            (
                "no_such_function",
                "the kernel has no function no_such_function",
            ),
        ] {
            let why = all().one(name).expect_err(name).to_string();
            assert!(why.contains(words), "{why}");
        }
    }
}
