//! Functions of the kernel as sources, many by one link where the kernel can (kprobe.multi since 5.18), else one by one.

use anyhow::{Context, Result, bail, ensure};
use libbpf_rs::KprobeMultiOpts;

use super::{
    Hook, Source, SourceSpec, Weight, kprobes,
    loader::{Links, Loader, MOST_ONE_BY_ONE},
};

/// Loads and attaches probes of kernel functions.
pub fn attach_kernel(loader: &Loader, number: u32, spec: &SourceSpec) -> Result<Source> {
    let Hook::Kernel { functions, .. } = &spec.hook else {
        bail!("not a function of the kernel");
    };
    ensure!(!functions.is_empty(), "no function is given");
    kprobes::check()?;
    let by_one_link = loader
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
    let mut source = loader.load(number, spec, Links::PerSite)?;
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
