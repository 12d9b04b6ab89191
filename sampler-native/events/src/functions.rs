//! The functions of the kernel: which of them a user means, and which of them a probe may be put into.

use std::collections::{HashMap, HashSet};

use crate::{Tracefs, near::did_you_mean, pattern::Pattern};

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
#[derive(Debug)]
pub struct Functions {
    /// Those whose start the kernel can watch; none: the kernel does not tell them.
    traceable: Option<HashMap<String, usize>>,
    /// Those that the kernel keeps free of probes.
    forbidden: HashSet<String>,
}

impl Functions {
    /// Those of this kernel.
    pub fn read() -> Functions {
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

    /// All names, sorted, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names = match &self.traceable {
            Some(all) => all.keys().cloned().collect(),
            None => symbols(),
        };
        names.sort_unstable();
        names.dedup();
        names
    }

    fn is_of_probe_path(&self, name: &str) -> bool {
        self.forbidden.contains(name) || PROBE_PATH.iter().any(|begin| name.starts_with(begin))
    }

    /// Why the function with this name may not be probed; none: it may.
    pub fn why_not(&self, name: &str) -> Option<String> {
        if self.is_of_probe_path(name) {
            return Some(format!(
                "{name} is called while a probe is looked at, so a probe in it would not end; probe a function that calls it"
            ));
        }
        match self.traceable.as_ref().and_then(|all| all.get(name)) {
            Some(many @ 2..) => Some(format!(
                "the kernel has {many} functions called {name}, and tells a probe only of the first; probe a function that calls the \
                 one that you mean"
            )),
            _ => None,
        }
    }

    /// The names of the functions that are meant, sorted.
    ///
    /// # Errors
    /// There is none, or none that may be probed.
    pub fn meant(&self, pattern: &Pattern) -> Result<Vec<String>, String> {
        match pattern.name() {
            Some(name) => Ok(vec![self.one(name)?]),
            None => self.many(pattern),
        }
    }

    /// The one with this name.
    fn one(&self, name: &str) -> Result<String, String> {
        if let Some(why) = self.why_not(name) {
            return Err(why);
        }
        let traceable = self.traceable.as_ref();
        if !traceable.is_some_and(|all| all.contains_key(name)) {
            // The kernel cannot watch its start, but may set a probe into it.
            let symbols = symbols();
            if !symbols.iter().any(|symbol| symbol == name) {
                let near = did_you_mean(name, symbols.iter().map(String::as_str));
                return Err(format!("the kernel has no function {name}{near}"));
            }
        }
        Ok(name.to_owned())
    }

    /// Those that a pattern means and that may be probed.
    fn many(&self, pattern: &Pattern) -> Result<Vec<String>, String> {
        let all = self.traceable.as_ref().ok_or(
            "this kernel has no list of the functions that a pattern may mean; boot a kernel built with CONFIG_DYNAMIC_FTRACE=y, or \
             give one name",
        )?;
        let held = all.keys().filter(|name| pattern.holds(name.as_bytes()));
        let held: Vec<&String> = held.collect();
        if held.is_empty() {
            return Err(format!("the kernel has no function {pattern}"));
        }
        let may = held.iter().filter(|name| self.why_not(name).is_none());
        let mut found: Vec<String> = may.map(|name| (*name).clone()).collect();
        if found.is_empty() {
            return Err(format!(
                "{pattern} means {} functions of the kernel, none of which may be probed: a probe calls them itself, or several have the \
                 same name",
                held.len()
            ));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "vfs_read\nvfs_write\nvfs_show\nvfs_show\next4_show [ext4]\n_raw_spin_lock\nnmi_enter\n";
    const BLACK: &str = "0xffffffff81000000-0xffffffff81000040\tnmi_enter\n";

    fn meant(text: &str) -> Result<Vec<String>, String> {
        Functions::of(Some(LIST), BLACK).meant(&Pattern::parse(text).expect("a pattern"))
    }

    #[test]
    fn a_pattern_means_functions_of_one_name_that_a_probe_does_not_call() {
        assert_eq!(
            meant("vfs_*"),
            Ok(vec!["vfs_read".into(), "vfs_write".into()])
        );
        assert_eq!(meant("/^ext4_|spin|nmi/"), Ok(vec!["ext4_show".into()]));
        let why = meant("nmi_*").expect_err("forbidden");
        assert!(
            why.starts_with("nmi_* means 1 functions of the kernel, none of which may be probed"),
            "{why}"
        );
        assert_eq!(
            meant("nothing*"),
            Err("the kernel has no function nothing*".into())
        );
    }

    #[test]
    fn a_name_that_may_not_be_probed_or_is_of_several_is_refused() {
        assert_eq!(meant("ext4_show"), Ok(vec!["ext4_show".into()]));
        for (name, words) in [
            ("_raw_spin_lock", "called while a probe is looked at"),
            ("nmi_enter", "called while a probe is looked at"),
            ("vfs_show", "has 2 functions called vfs_show"),
            (
                "no_such_function",
                "the kernel has no function no_such_function",
            ),
        ] {
            let why = meant(name).expect_err(name);
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn each_name_is_listed_once_with_why_it_may_not_be_probed() {
        let all = Functions::of(Some(LIST), BLACK);
        let names = all.names();
        assert_eq!(
            names,
            [
                "_raw_spin_lock",
                "ext4_show",
                "nmi_enter",
                "vfs_read",
                "vfs_show",
                "vfs_write"
            ]
        );
        let may = names.iter().filter(|name| all.why_not(name).is_none());
        assert_eq!(
            may.collect::<Vec<_>>(),
            ["ext4_show", "vfs_read", "vfs_write"]
        );
    }
}
