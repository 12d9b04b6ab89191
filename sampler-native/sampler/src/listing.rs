//! The sources of events that this machine has, for people who look for one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flametop_events::{
    Spec,
    list::{self, Listed, Listing, Wanted},
};
use flametop_kernel::Target;
use flametop_symbolize as symbolize;

use crate::{OpenError, prober::Prober, settings::Settings, sources::Finding};

/// The answers of the prober are taken this often.
const PACE: Duration = Duration::from_millis(50);

/// Lists the sources whose text fits to a pattern, none: all; at most so many of them. `settings`: as those of a session; a target that is
/// processes adds what can be probed in their files.
///
/// # Errors
/// The pattern is no regular expression (2), or a setting is not understood.
pub fn events(settings: &str, pattern: Option<&str>, most: usize) -> Result<Listing, OpenError> {
    let settings = Settings::parse(settings)?;
    let wanted = Wanted::parse(pattern).map_err(OpenError::usage)?;
    let mut listing = Listing::new(most);
    list::add_common(&mut listing, &wanted);
    let of_programs = match &settings.target {
        Target::Processes(processes) => of_programs(&settings, processes, pattern, most)?,
        _ => OfPrograms::default(),
    };
    listing.add_all(of_programs.probes, 0);
    list::add_tracepoints(&mut listing, &wanted);
    listing.add_all(of_programs.functions, of_programs.untold);
    let probes = flametop_kernel::events::check_functions();
    let graphs = flametop_kernel::graph::check();
    let words = |why| format!("{why:#}");
    let (probes, graphs) = (probes.map_err(words), graphs.map_err(words));
    list::add_functions(&mut listing, &wanted, &probes, &graphs);
    Ok(listing)
}

/// What can be probed in the files of processes.
#[derive(Default)]
struct OfPrograms {
    probes: Vec<Listed>,
    functions: Vec<Listed>,
    /// Those that have no room in the list.
    untold: u64,
}

fn of_programs(
    settings: &Settings,
    processes: &[u32],
    pattern: Option<&str>,
    most: usize,
) -> Result<OfPrograms, OpenError> {
    let prober = Prober::new(&settings.symbolizer).map_err(|error| {
        OpenError::failed(format!(
            "no descriptor or thread is left to read processes: {error}"
        ))
    })?;
    let prober = Arc::new(prober);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                prober.wait(Instant::now() + PACE);
                // All that is asked for here is told to whoever waits.
                prober.take();
            }
        });
        let mut finding = Finding::new(&settings.symbolizer, &prober, processes);
        let found = look_into(&mut finding, pattern.unwrap_or_default(), most);
        done.store(true, Ordering::Relaxed);
        found
    })
}

fn look_into(finding: &mut Finding, pattern: &str, most: usize) -> Result<OfPrograms, OpenError> {
    let mut of_programs = OfPrograms::default();
    let programs = finding.files.mapped();
    for program in programs.map_err(|why| OpenError::failed(format!("{why:#}")))? {
        let told = of_programs.probes.len() + of_programs.functions.len();
        let file = program.name().replace(':', "\\:");
        let wanted = symbolize::Wanted::Listed {
            pattern: pattern.to_owned(),
            file: file.clone(),
        };
        let room = most.saturating_sub(told).try_into().unwrap_or(u32::MAX);
        match finding.find(&program, wanted, room) {
            Ok(found) => {
                of_programs.untold += found.all.saturating_sub(found.sites.len() as u64);
                for site in found.sites {
                    let listed = listed(&site);
                    match listed.spec.starts_with("usdt:") {
                        true => of_programs.probes.push(listed),
                        false => of_programs.functions.push(listed),
                    }
                }
            }
            Err(why) => of_programs.functions.push(Listed {
                spec: format!("uprobe:{file}:*"),
                details: String::new(),
                missing: format!("{file} {why}"),
            }),
        }
    }
    Ok(of_programs)
}

fn listed(site: &symbolize::FoundSite) -> Listed {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let spec = text(&site.name);
    let missing = match site.go && spec.starts_with("uretprobe:") {
        true => "returns of Go's functions cannot be probed: Go moves its stacks",
        false => "",
    };
    Listed {
        spec,
        details: text(&site.details),
        missing: missing.to_owned(),
    }
}

/// Refuses a text that is no spec of a source.
///
/// # Errors
/// The column that cannot be read, and why (2).
pub fn check_spec(text: &str) -> Result<(), OpenError> {
    text.parse::<Spec>()
        .map(drop)
        .map_err(|error| OpenError::usage(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_that_cannot_be_read_is_wrong_usage_and_names_the_column() {
        assert_eq!(check_spec("fault,weight=bytes"), Ok(()));
        let error = check_spec("falt").expect_err("no source");
        assert_eq!(error.code, 2);
        assert_eq!(
            error.message,
            "column 1: no source is called falt; did you mean fault?"
        );
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_wrong_usage() {
        let error = events("", Some("/(/"), 1).expect_err("a broken pattern");
        assert_eq!((error.code, error.message.as_str()), (2, "unclosed group"));
        assert_eq!(
            events("colour=blue", None, 1).expect_err("nonsense").code,
            1
        );
        let found = events("", Some("/^(major-)?fault$/"), 1).expect("counters");
        assert_eq!((found.all, found.found.len()), (2, 1));
    }
}
