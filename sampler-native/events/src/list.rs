//! The sources of this machine: those of the kernel, and those that it lacks, with the reason.

use std::{collections::HashMap, path::Path};

use libbpf_rs::btf::{Btf, BtfKind, BtfType, TypeId, types};

use crate::{
    functions::Functions,
    pattern::Pattern,
    spec::Counter,
    tracefs::{Field, Tracefs},
};

/// A source, or many of a kind that this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The text by which a user asks for the source.
    pub spec: String,
    /// Its arguments or fields, or one sentence.
    pub details: String,
    /// Why it cannot be had, and what mends that; empty: it can.
    pub missing: String,
}

/// Sources that were found: the first of them, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of the list.
    pub found: Vec<Listed>,
    /// All that are wanted, those that are not in `found` too.
    pub all: u64,
    most: usize,
}

impl Listing {
    /// An empty list, of so many sources at most.
    pub fn new(most: usize) -> Listing {
        Listing {
            most,
            ..Listing::default()
        }
    }

    /// Adds a source that is wanted; `make` is asked only where the list has room.
    pub fn add(&mut self, make: impl FnOnce() -> Listed) {
        self.all += 1;
        if self.found.len() < self.most {
            self.found.push(make());
        }
    }

    /// Adds sources that are wanted, and the number of others.
    pub fn add_all(&mut self, found: Vec<Listed>, others: u64) {
        found.into_iter().for_each(|listed| self.add(|| listed));
        self.all += others;
    }

    /// Adds a source if it is wanted.
    fn add_wanted(&mut self, listed: Listed, wanted: &Wanted) {
        if wanted.holds(&listed.spec) {
            self.add(|| listed);
        }
    }
}

/// Which sources are wanted: all, those whose text holds some words, or those that a glob or a regular expression holds.
#[derive(Clone, Debug)]
pub struct Wanted(Option<Pattern>);

impl Wanted {
    /// `None`: all. Plain text: in any place.
    ///
    /// # Errors
    /// Why it is no regular expression, in one line.
    pub fn parse(text: Option<&str>) -> Result<Wanted, String> {
        text.map(Pattern::parse).transpose().map(Wanted)
    }

    /// Whether the user asked for the source with this text.
    pub fn holds(&self, spec: &str) -> bool {
        match &self.0 {
            None => true,
            Some(Pattern::Name(part)) => spec.contains(part),
            Some(pattern) => pattern.holds(spec.as_bytes()),
        }
    }
}

/// Adds the sources that are the same on each machine: counters, and what joins several events.
pub fn add_common(listing: &mut Listing, wanted: &Wanted) {
    for listed in Counter::ALL.into_iter().map(counter).chain(joined()) {
        listing.add_wanted(listed, wanted);
    }
}

/// Adds the tracepoints of this kernel.
pub fn add_tracepoints(listing: &mut Listing, wanted: &Wanted) {
    let tracefs = match Tracefs::open() {
        Ok(tracefs) => tracefs,
        Err(error) => {
            return listing.add_wanted(lacks("tracepoint:*", &unreadable(&error)), wanted);
        }
    };
    for category in tracefs.folders("events").unwrap_or_default() {
        let names = tracefs.folders(&format!("events/{category}"));
        for name in names.unwrap_or_default() {
            let spec = format!("tracepoint:{category}:{name}");
            // Folders without a description of fields are no events.
            if wanted.holds(&spec)
                && let Ok(fields) = tracefs.fields(&category, &name)
            {
                let fields: Vec<String> = fields.iter().map(declared).collect();
                listing.add(|| Listed {
                    spec,
                    details: fields.join(", "),
                    missing: String::new(),
                });
            }
        }
    }
}

/// Adds the sources that are of a function of the kernel. `probes`, `graphs`: why this machine has none of that kind, if so.
pub fn add_functions(
    listing: &mut Listing,
    wanted: &Wanted,
    probes: &Result<(), String>,
    graphs: &Result<(), String>,
) {
    let mut kinds = Vec::new();
    for (kind, has) in [("kprobe", probes), ("kretprobe", probes), ("graph", graphs)] {
        match has {
            Ok(()) => kinds.push(kind),
            Err(why) => listing.add_wanted(lacks(&format!("{kind}:*"), why), wanted),
        }
    }
    if kinds.is_empty() {
        return;
    }
    let functions = Functions::read();
    let names = functions.names();
    let mut signatures = None;
    for kind in kinds {
        for name in &names {
            let spec = format!("{kind}:{name}");
            if !wanted.holds(&spec) {
                continue;
            }
            listing.add(|| {
                let signatures = signatures.get_or_insert_with(Signatures::open);
                let details = signatures.as_ref().and_then(|all| all.of(name));
                Listed {
                    details: details.unwrap_or_default(),
                    spec,
                    missing: functions.why_not(name).unwrap_or_default(),
                }
            });
        }
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!(
        "the kernel's list of events cannot be opened ({error}): run as root, without lockdown=confidentiality"
    )
}

fn lacks(spec: &str, why: &str) -> Listed {
    Listed {
        spec: spec.to_owned(),
        details: String::new(),
        missing: why.to_owned(),
    }
}

fn has_device(name: &str) -> bool {
    Path::new("/sys/bus/event_source/devices")
        .join(name)
        .exists()
}

fn counter(counter: Counter) -> Listed {
    let counts = !counter.is_of_hardware() || ["cpu", "cpu_core"].into_iter().any(has_device);
    Listed {
        spec: counter.name().to_owned(),
        details: counter.meaning().to_owned(),
        missing: match counts {
            true => String::new(),
            false => "no hardware counters here: a virtual machine has them if its host passes them on (vPMU)".to_owned(),
        },
    }
}

/// The sources that join several events.
fn joined() -> Vec<Listed> {
    let tracefs = Tracefs::open();
    let needs = |category: &str, name: &str, remedy: &str| match &tracefs {
        Err(error) => unreadable(error),
        Ok(tracefs) if tracefs.id(category, name).is_ok() => String::new(),
        Ok(_) => format!("this kernel has no tracepoint {category}:{name} ({remedy})"),
    };
    let listed = |spec: &str, details: &str, missing: String| Listed {
        spec: spec.to_owned(),
        details: details.to_owned(),
        missing,
    };
    vec![
        listed(
            "wake",
            "who wakes a sleeper, by the time that it waited",
            needs("sched", "sched_waking", "CONFIG_EVENT_TRACING"),
        ),
        listed(
            "lock",
            "waits for locks of the kernel",
            needs("lock", "contention_begin", "Linux 5.19 and later"),
        ),
        listed(
            "longjmp",
            "jumps out of functions by longjmp, and the functions that each jump leaves",
            String::new(),
        ),
        listed(
            "irqsoff",
            "stretches with interrupts or preemption off",
            needs("preemptirq", "irq_disable", "CONFIG_IRQSOFF_TRACER"),
        ),
    ]
}

/// As in C.
fn declared(field: &Field) -> String {
    let Field { kind, name, .. } = field;
    match kind.find('[') {
        Some(at) if !kind.starts_with("__data_loc") => {
            format!("{} {name}{}", &kind[..at], &kind[at..])
        }
        _ if kind.ends_with('*') => format!("{kind}{name}"),
        _ => format!("{kind} {name}"),
    }
}

/// The arguments of the kernel's functions, by its own description of its types.
struct Signatures {
    btf: Btf<'static>,
    functions: HashMap<String, TypeId>,
}

impl Signatures {
    fn open() -> Option<Signatures> {
        let btf = Btf::from_vmlinux().ok()?;
        let functions = btf
            .type_by_kind::<types::Func<'_>>()
            .filter_map(|func| Some((func.name()?.to_str()?.to_owned(), func.type_id())))
            .collect();
        Some(Signatures { btf, functions })
    }

    /// `int fd, const char *name`.
    fn of(&self, name: &str) -> Option<String> {
        let func: types::Func<'_> = self.btf.type_by_id(*self.functions.get(name)?)?;
        let prototype = types::FuncProto::try_from(func.next_type()?).ok()?;
        let arguments = prototype.iter().map(|argument| {
            let kind = self
                .btf
                .type_by_id::<BtfType<'_>>(argument.ty)
                .map_or_else(|| "...".to_owned(), |ty| type_name(ty, 8));
            let name = argument.name.unwrap_or_default().to_string_lossy();
            let space = if kind.ends_with('*') || name.is_empty() {
                ""
            } else {
                " "
            };
            format!("{kind}{space}{name}")
        });
        Some(arguments.collect::<Vec<_>>().join(", "))
    }
}

/// As in C. `depth`: pointers and the like that are followed.
fn type_name(ty: BtfType<'_>, depth: usize) -> String {
    let name = ty.name().map(|name| name.to_string_lossy().into_owned());
    let inner = || match (ty.next_type(), depth) {
        (Some(next), 1..) => type_name(next, depth - 1),
        (None, _) => "void".to_owned(),
        _ => "...".to_owned(),
    };
    match (ty.kind(), name) {
        (BtfKind::Ptr, _) => {
            let inner = inner();
            let space = if inner.ends_with('*') { "" } else { " " };
            format!("{inner}{space}*")
        }
        (BtfKind::Const, _) => format!("const {}", inner()),
        (BtfKind::Volatile, _) => format!("volatile {}", inner()),
        (BtfKind::Restrict | BtfKind::TypeTag, _) => inner(),
        (BtfKind::Void, _) => "void".to_owned(),
        (BtfKind::Struct, Some(name)) => format!("struct {name}"),
        (BtfKind::Union, Some(name)) => format!("union {name}"),
        (BtfKind::Enum | BtfKind::Enum64, Some(name)) => format!("enum {name}"),
        (BtfKind::Fwd, Some(name)) => format!("struct {name}"),
        (BtfKind::FuncProto, _) => "function".to_owned(),
        (_, Some(name)) => name,
        (_, None) => "...".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kernel(wanted: Option<&str>, most: usize) -> Listing {
        let wanted = Wanted::parse(wanted).expect("a pattern");
        let mut listing = Listing::new(most);
        add_common(&mut listing, &wanted);
        add_tracepoints(&mut listing, &wanted);
        add_functions(&mut listing, &wanted, &probes(), &Err(NO_GRAPHS.to_owned()));
        listing
    }

    const NO_PROBES: &str = "boot another kernel";
    const NO_GRAPHS: &str = "boot a newer kernel";

    fn probes() -> Result<(), String> {
        match has_device("kprobe") {
            true => Ok(()),
            false => Err(NO_PROBES.to_owned()),
        }
    }

    fn listed(wanted: &str) -> Vec<Listed> {
        of_kernel(Some(wanted), usize::MAX).found
    }

    fn may_run() -> bool {
        if std::env::var_os("FLAMETOP_NO_BPF").is_some() {
            println!("not run: FLAMETOP_NO_BPF is set");
            return false;
        }
        true
    }

    #[test]
    fn a_tracepoint_is_listed_with_its_fields() {
        if !may_run() {
            return;
        }
        let all = listed("sched_process_exit");
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!(one.spec, "tracepoint:sched:sched_process_exit");
        assert!(
            one.details
                .starts_with("char comm[16], pid_t pid, int prio"),
            "{}",
            one.details
        );
        assert_eq!(one.missing, "");
    }

    #[test]
    fn everything_that_is_listed_can_be_read_as_a_spec() {
        let all = of_kernel(None, usize::MAX).found;
        assert!(all.len() > 8);
        for listed in all {
            let spec = listed.spec.parse::<crate::Spec>();
            assert!(
                spec.is_ok(),
                "{}: {}",
                listed.spec,
                spec.expect_err("an error")
            );
            assert!(
                !listed.missing.is_empty()
                    || !listed.details.is_empty()
                    || listed.spec.contains(':'),
                "{}",
                listed.spec
            );
        }
    }

    #[test]
    fn a_list_that_is_full_still_counts() {
        let all = of_kernel(None, usize::MAX);
        let first = of_kernel(None, 3);
        assert_eq!(first.found[..], all.found[..3]);
        assert_eq!(first.all, all.all);
        assert_eq!(all.all, all.found.len() as u64);
    }

    #[test]
    fn what_cannot_be_had_says_why() {
        let all = listed("/^(cycles|kprobe:|graph:|fault$)/");
        let fault = all
            .iter()
            .find(|listed| listed.spec == "fault")
            .expect("fault");
        assert_eq!(fault.missing, "");
        if !has_device("cpu") && !has_device("cpu_core") {
            let cycles = all
                .iter()
                .find(|listed| listed.spec == "cycles")
                .expect("cycles");
            assert!(cycles.missing.starts_with("no hardware counters here: "));
        }
        let of = |spec: &str| {
            let mut held = all.iter().filter(|listed| listed.spec == spec);
            held.next().map(|listed| listed.missing.as_str())
        };
        assert_eq!(of("graph:*"), Some(NO_GRAPHS));
        let missing = probes().is_err().then_some(NO_PROBES);
        assert_eq!(of("kprobe:*"), missing);
    }

    #[test]
    fn functions_are_listed_by_their_kind_where_the_machine_has_it() {
        let wanted = Wanted::parse(Some("/^[a-z]+:vfs_read$/")).expect("a pattern");
        let none = || Err(NO_PROBES.to_owned());
        for (probes, graphs, found) in [
            (
                Ok(()),
                Ok(()),
                vec!["kprobe:vfs_read", "kretprobe:vfs_read", "graph:vfs_read"],
            ),
            (none(), Ok(()), vec!["graph:vfs_read"]),
            (none(), none(), vec![]),
        ] {
            let mut listing = Listing::new(10);
            add_functions(&mut listing, &wanted, &probes, &graphs);
            let specs: Vec<&str> = listing.found.iter().map(|l| l.spec.as_str()).collect();
            assert_eq!(specs, found);
            for listed in listing.found {
                assert!(listed.details.starts_with("struct file *file, char *buf"));
                assert_eq!(listed.missing, "");
            }
        }
    }

    #[test]
    fn arguments_of_a_kernel_function_are_as_in_c() {
        let signatures = Signatures::open().expect("the kernel's types");
        let of = signatures.of("vfs_read").expect("vfs_read");
        assert_eq!(
            of,
            "struct file *file, char *buf, size_t count, loff_t *pos"
        );
    }
}
