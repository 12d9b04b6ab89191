//! Functions and USDT probes of programs and libraries as sources: many sites by one link where the kernel can (uprobe.multi since 6.6),
//! else one by one.
//!
//! Nothing here reads the file. Whoever looked into the file says where the sites are, and the kernel is given the file by the descriptor
//! that was looked at: the path of the file may lead to another one by now, or to nothing.

use anyhow::{Result, anyhow, bail, ensure};
use libbpf_rs::{Link, MapCore, MapFlags, ProgramMut, UprobeMultiOpts, UprobeOpts};

use super::{
    Hook, ProbedFile, Site, Source, SourceSpec, Weight,
    loader::{Links, Loader, MOST_ONE_BY_ONE},
    source::Argument,
};
use crate::skeletons::EventsProgs;

/// Loads and attaches probes of a program or library.
pub fn attach(loader: &Loader, number: u32, spec: &SourceSpec) -> Result<Source> {
    let (file, sites) = match &spec.hook {
        Hook::User { file, sites, .. } => (file, sites.clone()),
        Hook::Jumps { file, fills, jumps } => (file, [&fills[..], jumps].concat()),
        _ => bail!("not a function of a program"),
    };
    check_sites(file, &sites)?;
    let processes = loader.processes().to_vec();
    let by_one_link = loader
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
            "{} places are too many to be probed one by one, which this kernel wants ({MOST_ONE_BY_ONE} at most): Linux 6.6 \
             probes all at once",
            sites.len()
        )));
    }
    let mut source = loader.load(number, spec, Links::PerSite)?;
    probe(&mut source, &processes, false).map_err(|error| explain(error, file))?;
    Ok(source)
}

/// A program, the places that it is attached to, and whether it runs at the returns from there.
type Probe<'a> = (&'a ProgramMut<'static>, &'a [Site], bool);

/// The programs of a source, in the order in which they are attached: returns first, so that no entry has none, and what fills a buffer
/// before what jumps by it.
fn probes<'a>(progs: &'a EventsProgs<'static>, spec: &'a SourceSpec) -> Result<Vec<Probe<'a>>> {
    Ok(match &spec.hook {
        Hook::User {
            sites,
            returns: true,
            ..
        } => {
            let mut probes: Vec<Probe<'_>> = vec![(&progs.hit_return, sites, true)];
            if spec.weight == Weight::Duration {
                probes.push((&progs.begin_call, sites, false));
            }
            probes
        }
        Hook::User { sites, .. } if spec.is_usdt() => vec![(&progs.hit_usdt, sites, false)],
        Hook::User { sites, .. } => vec![(&progs.hit_function, sites, false)],
        Hook::Jumps { fills, jumps, .. } => vec![
            (&progs.fill_jump_buffer, fills, false),
            (&progs.hit_jump, jumps, false),
        ],
        _ => bail!("not a function of a program"),
    })
}

/// Attaches the programs of a source.
fn probe(source: &mut Source, processes: &[u32], by_one_link: bool) -> Result<()> {
    let (Hook::User { file, .. } | Hook::Jumps { file, .. }) = &source.spec.hook else {
        bail!("not a function of a program");
    };
    // -1: every process that maps the file.
    let everybody = [-1];
    let processes: Vec<i32> = processes.iter().map(|pid| *pid as i32).collect();
    let processes = match processes.is_empty() {
        true => &everybody[..],
        false => &processes,
    };
    let cookies = place_arguments(source, source.spec.sites())?;
    let path = file.path();
    let mut links: Vec<Link> = Vec::new();
    for (program, sites, returns) in probes(&source.skel.progs, &source.spec)? {
        for pid in processes {
            if by_one_link {
                let options = UprobeMultiOpts {
                    offsets: sites.iter().map(|site| site.offset as usize).collect(),
                    ref_ctr_offsets: sites.iter().map(|site| site.semaphore as usize).collect(),
                    cookies: cookies.clone(),
                    retprobe: returns,
                    ..UprobeMultiOpts::default()
                };
                links.push(program.attach_uprobe_multi_with_opts(*pid, &path, "", options)?);
                continue;
            }
            for (at, site) in sites.iter().enumerate() {
                let options = UprobeOpts {
                    retprobe: returns,
                    ref_ctr_offset: site.semaphore as usize,
                    cookie: cookies.get(at).copied().unwrap_or(0),
                    ..UprobeOpts::default()
                };
                let offset = site.offset as usize;
                links.push(program.attach_uprobe_with_opts(*pid, &path, offset, options)?);
            }
        }
    }
    for link in links {
        source.keep(link);
    }
    Ok(())
}

/// Tells the programs where the argument that weighs is at each site: in the map of arguments, at the index that is the cookie of the site.
/// No cookies: no argument of a USDT probe weighs.
fn place_arguments(source: &Source, sites: &[Site]) -> Result<Vec<u64>> {
    let mut different: Vec<Argument> = Vec::new();
    let mut cookies = Vec::new();
    for argument in sites.iter().filter_map(|site| site.argument) {
        let known = different.iter().position(|other| *other == argument);
        let at = known.unwrap_or_else(|| {
            different.push(argument);
            different.len() - 1
        });
        cookies.push(at as u64);
    }
    for (at, argument) in (0u32..).zip(&different) {
        let (key, value) = (at.to_ne_bytes(), argument.bytes());
        source
            .skel
            .maps
            .arguments
            .update(&key, &value, MapFlags::ANY)?;
    }
    Ok(cookies)
}

/// Refuses sites that the kernel would harm. From 6.18 on it replaces a five-byte nop by a call, which overwrites what a function that calls
/// nobody has just below its stack pointer. Where a function begins, nothing is there yet.
fn check_sites(file: &ProbedFile, sites: &[Site]) -> Result<()> {
    ensure!(!sites.is_empty(), "no place in {file} is given");
    let harmed = sites.iter().find(|site| site.nop5 && !site.entry);
    if let Some(site) = harmed {
        bail!(
            "{:#x} of {file} is a five-byte nop within a function: this kernel may overwrite memory of that function; probe the \
             function where it begins, or the instruction after it; a USDT probe is safe if it was built with the sys/sdt.h of SystemTap",
            site.offset,
        );
    }
    Ok(())
}

fn explain(error: anyhow::Error, file: &ProbedFile) -> anyhow::Error {
    let kind = error
        .downcast_ref::<libbpf_rs::Error>()
        .map(libbpf_rs::Error::kind);
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
        _ => error.context(format!(
            "{file} cannot be probed; the kernel probes programs on disks and in memory"
        )),
    }
}
