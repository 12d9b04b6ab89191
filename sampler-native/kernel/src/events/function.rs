//! Functions as sources: probes of programs and of the kernel, many sites by one link where the kernel can (uprobe.multi since 6.6,
//! kprobe.multi since 5.18), else one by one.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use libbpf_rs::{KprobeMultiOpts, Link, UprobeMultiOpts, UprobeOpts};

use super::{Events, Hook, Links, Site, Source, SourceSpec, Weight};

/// More sites than these are attached only where one link has all of them: one by one they take seconds.
const MOST_ONE_BY_ONE: usize = 512;

/// Loads and attaches probes of a program or library.
pub fn attach(events: &mut Events, number: u32, spec: &SourceSpec) -> Result<Source> {
    let Hook::Function { file, sites, .. } = &spec.hook else {
        bail!("not a function");
    };
    check_sites(file, sites)?;
    let processes = events.processes().to_vec();
    let by_one_link = events
        .load(number, spec, Links::PerFile)
        .and_then(|mut source| {
            probe(&mut source, &processes, true)?;
            Ok(source)
        });
    let why = match by_one_link {
        Ok(source) => return Ok(source),
        Err(why) => why,
    };
    if sites.len() > MOST_ONE_BY_ONE {
        return Err(why.context(format!(
            "{} functions are too many to be probed one by one, which this kernel wants ({MOST_ONE_BY_ONE} at most): Linux 6.6 \
             probes all at once",
            sites.len()
        )));
    }
    let mut source = events.load(number, spec, Links::PerSite)?;
    probe(&mut source, &processes, false).map_err(|error| explain(error, file))?;
    Ok(source)
}

/// Attaches the programs of a source; returns first, so that no entry has none.
fn probe(source: &mut Source, processes: &[u32], by_one_link: bool) -> Result<()> {
    let Hook::Function {
        file,
        sites,
        returns,
    } = &source.spec.hook
    else {
        bail!("not a function");
    };
    // -1: every process that maps the file.
    let everybody = [-1];
    let processes: Vec<i32> = processes.iter().map(|pid| *pid as i32).collect();
    let processes = match processes.is_empty() {
        true => &everybody[..],
        false => &processes,
    };
    let progs = &source.skel.progs;
    let mut programs = Vec::new();
    match returns {
        true => programs.push((&progs.hit_return, true)),
        false => programs.push((&progs.hit_function, false)),
    }
    if source.spec.weight == Weight::Duration {
        programs.push((&progs.begin_call, false));
    }
    let mut links: Vec<Link> = Vec::new();
    for (program, returns) in programs {
        for pid in processes {
            if by_one_link {
                let options = UprobeMultiOpts {
                    offsets: sites.iter().map(|site| site.offset as usize).collect(),
                    retprobe: returns,
                    ..UprobeMultiOpts::default()
                };
                links.push(program.attach_uprobe_multi_with_opts(*pid, file, "", options)?);
                continue;
            }
            for site in sites {
                let options = UprobeOpts {
                    retprobe: returns,
                    ..UprobeOpts::default()
                };
                let offset = site.offset as usize;
                links.push(program.attach_uprobe_with_opts(*pid, file, offset, options)?);
            }
        }
    }
    for link in links {
        source.keep(link);
    }
    Ok(())
}

/// The five-byte instruction that does nothing.
const NOP5: [u8; 5] = [0x0f, 0x1f, 0x44, 0x00, 0x00];

/// Refuses sites that the kernel would harm. From 6.18 on it replaces a five-byte nop by a call, which overwrites what a function that calls
/// nobody has just below its stack pointer. Where a function begins, nothing is there yet.
fn check_sites(file: &Path, sites: &[Site]) -> Result<()> {
    let open = File::open(file).with_context(|| format!("{} cannot be read", file.display()))?;
    ensure!(
        open.metadata().is_ok_and(|facts| facts.is_file()),
        "{} is not a file",
        file.display()
    );
    for site in sites {
        let mut code = [0; NOP5.len()];
        let read = read_up_to(&open, &mut code, site.offset)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        ensure!(
            read > 0,
            "{} ends before offset {:#x}",
            file.display(),
            site.offset
        );
        if !site.entry && code == NOP5 {
            bail!(
                "{:#x} of {} is a five-byte nop within a function: this kernel may overwrite memory of that function; probe the \
                 function where it begins, or the instruction after it",
                site.offset,
                file.display()
            );
        }
    }
    Ok(())
}

fn read_up_to(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

fn explain(error: anyhow::Error, file: &Path) -> anyhow::Error {
    let kind = error
        .downcast_ref::<libbpf_rs::Error>()
        .map(libbpf_rs::Error::kind);
    let file = file.display();
    match kind {
        Some(libbpf_rs::ErrorKind::PermissionDenied) => anyhow!(
            "the kernel does not permit to probe {file}; run it as root (sudo), in a container add CAP_BPF and CAP_PERFMON"
        ),
        Some(libbpf_rs::ErrorKind::InvalidInput) => anyhow!(
            "the kernel cannot probe {file} there: it is of a file system whose files cannot be probed, or no instruction begins there"
        ),
        Some(libbpf_rs::ErrorKind::NotFound) => anyhow!(
            "this kernel has no probes of programs; boot a kernel built with CONFIG_UPROBE_EVENTS=y"
        ),
        _ => error.context(format!("{file} cannot be probed")),
    }
}

/// Loads and attaches probes of kernel functions.
pub fn attach_kernel(events: &mut Events, number: u32, spec: &SourceSpec) -> Result<Source> {
    let Hook::Kernel { functions, .. } = &spec.hook else {
        bail!("not a function of the kernel");
    };
    ensure!(!functions.is_empty(), "no function is given");
    check_kprobes()?;
    let by_one_link = events
        .load(number, spec, Links::Kernel)
        .and_then(|mut source| {
            let links = kernel_programs(&source)
                .map(|(program, returns)| {
                    let options = KprobeMultiOpts {
                        symbols: functions.clone(),
                        retprobe: returns,
                        ..KprobeMultiOpts::default()
                    };
                    Ok(program.attach_kprobe_multi_with_opts(options)?)
                })
                .collect::<Result<Vec<_>>>()?;
            links.into_iter().for_each(|link| source.keep(link));
            Ok(source)
        });
    let why = match by_one_link {
        Ok(source) => return Ok(source),
        Err(why) => why,
    };
    if functions.len() > MOST_ONE_BY_ONE {
        return Err(why.context(format!(
            "{} functions are too many to be probed one by one ({MOST_ONE_BY_ONE} at most)",
            functions.len()
        )));
    }
    let mut source = events.load(number, spec, Links::PerSite)?;
    let mut links = Vec::new();
    for (program, returns) in kernel_programs(&source) {
        for function in functions {
            let link = program.attach_kprobe(returns, function).with_context(|| {
                format!(
                    "the kernel cannot probe its function {function}: there is none of that name, it is on the list of those that \
                     must not be probed, or it was inlined"
                )
            })?;
            links.push(link);
        }
    }
    links.into_iter().for_each(|link| source.keep(link));
    Ok(source)
}

/// The programs of a source of kernel functions, and whether each is of returns; returns first.
fn kernel_programs(
    source: &Source,
) -> impl Iterator<Item = (&libbpf_rs::ProgramMut<'static>, bool)> {
    let progs = &source.skel.progs;
    let returns = matches!(source.spec.hook, Hook::Kernel { returns: true, .. });
    let hit = match returns {
        true => (&progs.hit_return, true),
        false => (&progs.hit_function, false),
    };
    let timed = source.spec.weight == Weight::Duration;
    [Some(hit), timed.then_some((&progs.begin_call, false))]
        .into_iter()
        .flatten()
}

/// Says why functions of this kernel cannot be probed, if so.
pub fn check_kprobes() -> Result<()> {
    const KPROBES: &str = "/sys/bus/event_source/devices/kprobe/type";
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        bail!(
            "kernel lockdown (confidentiality) forbids probes of kernel functions; boot with lockdown=integrity, or use tracepoints"
        );
    }
    ensure!(
        Path::new(KPROBES).exists(),
        "this kernel has no probes of its functions; boot a kernel built with CONFIG_KPROBES=y, as distributions ship, or use tracepoints"
    );
    Ok(())
}
