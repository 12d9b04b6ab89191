//! The places of a source in programs and libraries: functions and USDT probes, as the words of a user name them, for the kernel side to
//! attach to.

use std::{path::Path, sync::Arc};

use anyhow::{Result, bail};
use flametop_events::{Source, Spec, Weight, near};
use flametop_kernel::events::{
    self as kernel, Argument, ArgumentPlace, Hook, ProbedFile, Register, Site, SourceSpec,
};
use flametop_prober::Whom;
use flametop_symbolize::{self as symbolize, FindQuery, Finder, FoundSite, FoundSites, Wanted};

use super::{
    files::{Files, Origin, Program},
    limit::{check_number, most_probes},
    resolve,
};
use crate::prober::Prober;

/// Where most programs have setjmp and longjmp from.
const C_LIBRARY: &str = "libc.so.6";
/// The functions that fill a buffer by which a later call jumps: those that C's macros stand for.
const FILLS: &str = "/^(_setjmp|setjmp|__setjmp|sigsetjmp|__sigsetjmp)$/";
/// The functions that jump. Others of the C libraries have the same address or call these.
const JUMPS: &str = "/^(longjmp|__longjmp_chk)$/";
/// Looks for places, and waits for files meanwhile.
pub struct Finding {
    pub finder: Finder,
    pub files: Files,
}

impl Finding {
    /// `program`: path of `flametop-symbolizer`. `targets`: the processes that are sampled; none: any.
    pub fn new(program: &Path, prober: &Arc<Prober>, targets: &[u32]) -> Finding {
        let looks = Arc::clone(prober);
        let looker = Arc::new(move |whose: Option<Whom>, path: &[u8]| looks.ask_elf(whose, path));
        let finder = Finder::new(program, looker);
        Finding {
            files: Files::new(prober, targets, finder.process()),
            finder,
        }
    }

    /// The places of a source.
    pub fn resolve(&mut self, spec: &Spec, force: bool) -> Result<(Vec<SourceSpec>, Vec<Origin>)> {
        if let Source::Jumps { file } = &spec.source {
            return self.jumps(file.as_deref());
        }
        let argument = match spec.weight {
            Weight::Argument(number) => Some(number),
            _ => None,
        };
        let (file, wanted, what, returns) = match &spec.source {
            Source::Usdt {
                file,
                provider,
                name,
            } => (
                file.as_deref(),
                Wanted::Probes {
                    provider: provider.to_string(),
                    name: name.to_string(),
                    argument,
                },
                format!("probe {provider}:{name}"),
                false,
            ),
            Source::User {
                file,
                place,
                returns,
            } => (
                Some(file.as_str()),
                Wanted::Functions {
                    name: place.function.to_string(),
                    offset: place.offset,
                },
                format!("function {}", place.function),
                *returns,
            ),
            _ => bail!("{} is of no program", spec.text),
        };
        let weight = match (&spec.source, &spec.weight) {
            (Source::Usdt { .. }, Weight::Argument(_)) => kernel::Weight::Probe,
            (_, weight) => resolve::weight(weight)?,
        };
        let most = most_probes(force);
        let programs = match file {
            Some(name) => self.files.named(name)?,
            None => self.files.mapped()?,
        };
        let names = match &programs[..] {
            [one] => one.name(),
            _ => format!("no file of {}", self.files.whose()),
        };
        let one = programs.len() == 1;
        let (mut parts, mut origins, mut all) = (Vec::new(), Vec::new(), 0);
        let (mut near, mut why) = (Vec::new(), None);
        for program in programs {
            match self.find(&program, wanted.clone(), most) {
                Ok(found) => {
                    all += found.all;
                    near.extend(found.near);
                    let name = program.name();
                    if returns && found.sites.iter().any(|site| site.go) {
                        bail!(
                            "returns of Go's functions in {name} cannot be probed: Go moves its stacks, and a program whose return \
                             address was replaced would end; probe calls (uprobe:…) or an offset before a return"
                        );
                    }
                    if !found.sites.is_empty() {
                        origins.extend(program.origin());
                        parts.push(SourceSpec {
                            hook: Hook::User {
                                file: ProbedFile::new(program.file, name),
                                sites: found.sites.iter().map(site_of).collect(),
                                returns,
                            },
                            weight: weight.clone(),
                            filter: Vec::new(),
                        });
                    }
                }
                Err(words) => why = Some(format!("{} {words}", program.name())),
            }
        }
        if parts.is_empty() {
            if let Some(why) = why.as_ref().filter(|_| one) {
                bail!(why.clone());
            }
            let has = if one { "has no" } else { "has a" };
            let near = String::from_utf8_lossy(&near.join(&b'\n')).into_owned();
            let mut near: Vec<&str> = near.lines().collect();
            near.sort_unstable();
            near.dedup();
            near.truncate(3);
            let remedy = match (&near[..], why) {
                ([], Some(why)) => format!("; {why}"),
                ([], None) => "; flametop events -p PID lists what a process has".to_owned(),
                (near, _) => near::offered(near),
            };
            bail!("{names} {has} {what}{remedy}");
        }
        check_number(&what, all, force)?;
        Ok((parts, origins))
    }

    /// The functions of setjmp and longjmp.
    fn jumps(&mut self, file: Option<&str>) -> Result<(Vec<SourceSpec>, Vec<Origin>)> {
        let programs = match file {
            Some(name) => self.files.named(name)?,
            None if self.files.has_no_target() => self.files.named(C_LIBRARY)?,
            None => self.files.mapped()?,
        };
        let (mut parts, mut origins, mut why) = (Vec::new(), Vec::new(), None);
        for program in programs {
            let mut functions = |name: &str| {
                let wanted = Wanted::Functions {
                    name: name.to_owned(),
                    offset: 0,
                };
                let found = self.find(&program, wanted, most_probes(false))?;
                Ok::<_, String>(found.sites.iter().map(site_of).collect::<Vec<_>>())
            };
            let found = functions(JUMPS).and_then(|jumps| Ok((functions(FILLS)?, jumps)));
            match found {
                Ok((fills, jumps)) if !fills.is_empty() && !jumps.is_empty() => {
                    origins.extend(program.origin());
                    let name = program.name();
                    parts.push(SourceSpec {
                        hook: Hook::Jumps {
                            file: ProbedFile::new(program.file, name),
                            fills,
                            jumps,
                        },
                        weight: kernel::Weight::Each(1),
                        filter: Vec::new(),
                    });
                }
                Ok(_) => why = Some(format!("{} has no longjmp", program.name())),
                Err(words) => why = Some(format!("{} {words}", program.name())),
            }
        }
        match (parts.is_empty(), file, why) {
            (false, ..) => Ok((parts, origins)),
            (true, Some(_), Some(why)) => bail!(why),
            (true, ..) => bail!(
                "no file of {} has longjmp; a program without symbols that brings its own cannot be watched",
                self.files.whose()
            ),
        }
    }

    /// Looks into one file.
    ///
    /// # Errors
    /// Words that go behind the name of the file.
    pub fn find(
        &mut self,
        program: &Program,
        wanted: Wanted,
        most: u32,
    ) -> Result<FoundSites, String> {
        self.finder.find(&FindQuery {
            file: &program.file,
            path: &program.path,
            process: program.process,
            wanted,
            most,
        })
    }
}

fn site_of(found: &FoundSite) -> Site {
    Site {
        offset: found.offset,
        entry: found.entry,
        nop5: found.nop5,
        semaphore: found.semaphore,
        argument: found.argument.map(argument_of),
    }
}

fn argument_of(found: symbolize::Argument) -> Argument {
    use symbolize::ArgumentPlace as Place;
    Argument {
        place: match found.place {
            Place::Constant(value) => ArgumentPlace::Constant(value),
            Place::Register(word) => ArgumentPlace::Register(Register(word)),
            Place::Memory(base, offset, index) => {
                let index = index.map(|(word, shift)| (Register(word), shift));
                ArgumentPlace::Memory(Register(base), offset, index)
            }
        },
        bytes: found.bytes,
        signed: found.signed,
    }
}
