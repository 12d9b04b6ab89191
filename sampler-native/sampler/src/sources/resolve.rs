//! Sources of the kernel: from the words of a user to places that the kernel side can attach to.

use anyhow::{Context, Result, anyhow, bail, ensure};
use flametop_events::{
    Counter, Pattern, Place, Source, Spec, Tracefs, Weight, functions::Functions,
    near::did_you_mean,
};
use flametop_kernel::events::{self as kernel, Hook, SourceSpec};

use super::{field::field_of, filter, limit::check_number};

/// Most tracepoints of one source: each has a program of its own.
const MOST_TRACEPOINTS: usize = 64;
/// Bytes that a page fault brings.
const PAGE: u64 = 4096;

/// What is to be attached for a spec: one part, or one for each tracepoint that a pattern means. `force`: the user insists on many probes.
///
/// # Errors
/// What does not exist, and the nearest names; or what this flametop cannot do.
pub fn resolve(spec: &Spec, force: bool) -> Result<Vec<SourceSpec>> {
    let one = |hook| -> Result<Vec<SourceSpec>> {
        Ok(vec![SourceSpec {
            hook,
            weight: weight(&spec.weight)?,
            filter: Vec::new(),
        }])
    };
    match &spec.source {
        Source::Counter { counter, period } => one(Hook::Counter {
            counter: of_kernel(*counter),
            period: period.unwrap_or_else(|| usual_period(*counter)),
        }),
        Source::Tracepoint {
            category,
            name,
            filter,
        } => tracepoints(spec, category, name, filter.as_deref()),
        // See `programs.rs` and `graph.rs`.
        Source::Usdt { .. } | Source::User { .. } | Source::Jumps { .. } | Source::Graph { .. } => {
            bail!("{} is no place of the kernel", spec.text)
        }
        Source::Kernel { place, returns } => one(Hook::Kernel {
            functions: functions(place, force)?,
            returns: *returns,
        }),
        Source::Wake => one(Hook::Wake),
        Source::Lock => {
            let [begin, end] = tracepoint_pair("lock", ["contention_begin", "contention_end"])?
                .context(
                    "this kernel does not tell of waits for its locks: boot Linux 5.19 or later",
                )?;
            one(Hook::Lock { begin, end })
        }
        Source::IrqsOff => {
            let interrupts = tracepoint_pair("preemptirq", ["irq_disable", "irq_enable"])?;
            let preemption = tracepoint_pair("preemptirq", ["preempt_disable", "preempt_enable"])?;
            ensure!(
                interrupts.is_some() || preemption.is_some(),
                "this kernel does not tell when interrupts or preemption are off: boot a kernel built with CONFIG_IRQSOFF_TRACER=y or \
                 CONFIG_PREEMPT_TRACER=y, which distributions do not ship"
            );
            one(Hook::Off {
                interrupts,
                preemption,
            })
        }
    }
}

fn functions(place: &Place, force: bool) -> Result<Vec<String>> {
    ensure!(
        place.offset == 0,
        "functions of the kernel are probed where they begin"
    );
    let meant = Functions::read().meant(&place.function);
    let meant = meant.map_err(anyhow::Error::msg)?;
    check_number(
        &format!("function {}", place.function),
        meant.len() as u64,
        force,
    )?;
    Ok(meant)
}

fn of_kernel(counter: Counter) -> kernel::Counter {
    match counter {
        Counter::Fault => kernel::Counter::Faults,
        Counter::MajorFault => kernel::Counter::MajorFaults,
        Counter::Switch => kernel::Counter::Switches,
        Counter::Migrate => kernel::Counter::Migrations,
        Counter::Cycles => kernel::Counter::Cycles,
        Counter::Instructions => kernel::Counter::Instructions,
        Counter::CacheMiss => kernel::Counter::CacheMisses,
        Counter::BranchMiss => kernel::Counter::BranchMisses,
    }
}

/// The kernel's counters are exact; those of the processor come some hundred times a second and CPU.
fn usual_period(counter: Counter) -> u64 {
    match counter {
        Counter::Fault | Counter::MajorFault | Counter::Switch | Counter::Migrate => 1,
        Counter::Cycles | Counter::Instructions => 10_000_019,
        Counter::CacheMiss | Counter::BranchMiss => 100_003,
    }
}

/// The weight of what has no fields.
pub fn weight(weight: &Weight) -> Result<kernel::Weight> {
    Ok(match weight {
        Weight::Hits => kernel::Weight::Each(1),
        Weight::Bytes => kernel::Weight::Each(PAGE),
        Weight::Argument(number) => kernel::Weight::Argument((*number).into()),
        Weight::Returned => kernel::Weight::Returned,
        Weight::Duration => kernel::Weight::Duration,
        Weight::Field(name) => bail!("only a tracepoint has a field {name}"),
    })
}

/// The numbers of two tracepoints; none where the kernel lacks them.
fn tracepoint_pair(category: &str, names: [&str; 2]) -> Result<Option<[u64; 2]>> {
    let tracefs = open_tracefs()?;
    let [first, second] = names.map(|name| tracefs.id(category, name).ok());
    Ok(first.zip(second).map(|(first, second)| [first, second]))
}

fn open_tracefs() -> Result<Tracefs> {
    Tracefs::open().context(
        "the kernel's list of tracepoints cannot be read; run it as root (sudo), or mount it (sudo mount -t tracefs tracefs \
         /sys/kernel/tracing)",
    )
}

fn tracepoints(
    spec: &Spec,
    category: &Pattern,
    name: &Pattern,
    filter: Option<&str>,
) -> Result<Vec<SourceSpec>> {
    let tracefs = open_tracefs()?;
    let all = |path: &str| tracefs.folders(path).unwrap_or_default();
    let categories = all("events");
    let mut found = Vec::new();
    let mut others = Vec::new();
    for folder in categories.iter().filter(|c| category.holds(c.as_bytes())) {
        for event in all(&format!("events/{folder}")) {
            match name.holds(event.as_bytes()) {
                true => found.push((folder.clone(), event)),
                false => others.push(event),
            }
        }
    }
    if found.is_empty() {
        let near = match others.is_empty() {
            true => did_you_mean(&category.to_string(), categories.iter().map(String::as_str)),
            false => did_you_mean(&name.to_string(), others.iter().map(String::as_str)),
        };
        bail!("there is no tracepoint {category}:{name}{near}");
    }
    ensure!(
        found.len() <= MOST_TRACEPOINTS,
        "{category}:{name} means {} tracepoints; {MOST_TRACEPOINTS} at most are attached at once",
        found.len()
    );
    let part = |(category, name): &(String, String)| {
        let fields = tracefs.fields(category, name)?;
        let names = || fields.iter().map(|field| field.name.as_str());
        let weight = match &spec.weight {
            Weight::Field(wanted) => {
                let field = fields.iter().find(|field| field.name == *wanted);
                let field = field.with_context(|| {
                    let near = did_you_mean(wanted, names());
                    format!("{category}:{name} has no field {wanted}{near}")
                })?;
                ensure!(
                    field.is_number(),
                    "the field {wanted} of {category}:{name} is no number: {}",
                    field.kind
                );
                kernel::Weight::Field(field_of(field)?)
            }
            other => weight(other)?,
        };
        let filter = match filter {
            Some(text) => filter::parse(text, &fields)
                .map_err(|error| anyhow!("filter of {category}:{name}: {error}"))?,
            None => Vec::new(),
        };
        Ok(SourceSpec {
            hook: Hook::Tracepoint {
                id: tracefs.id(category, name)?,
            },
            weight,
            filter,
        })
    };
    found.iter().map(part).collect()
}
