//! The stream as text, for tests and for people; the crate's *Text* section is the format.

use std::{
    fmt::{self, Write},
    io::Read,
};

use crate::{Batch, Damage, Head, NOT_COUNTED, Reader, Record};

/// A whole stream as text. Damage ends the text; all that comes before the damage is in it.
pub fn dump(input: impl Read) -> (String, Result<(), Damage>) {
    let mut text = String::new();
    let result = Reader::new(input).and_then(|mut reader| {
        let header = reader.header();
        let _ = writeln!(text, "file version={}", header.version);
        for (key, value) in &header.facts {
            let _ = writeln!(text, "fact {key}={value}");
        }
        while let Some(batch) = reader.next_batch()? {
            let _ = writeln!(text, "{}", Line(&batch));
            for record in batch.records() {
                let _ = writeln!(text, "{}", Line(&record?));
            }
        }
        Ok(())
    });
    (text, result)
}

/// Displays a [`Batch`] or a [`Record`] as one line.
pub struct Line<'a, T>(pub &'a T);

impl fmt::Display for Line<'_, Batch<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = self.0;
        let (pass, more) = (u8::from(b.pass), u8::from(b.more));
        write!(
            f,
            "batch time={} sequence={} pass={pass} more={more}",
            b.time, b.sequence
        )
    }
}

impl fmt::Display for Line<'_, Record<'_>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Record::Counters(totals) => write!(f, "counters totals={}", List(totals)),
            Record::ProcessSeen {
                process,
                tgid,
                start_boottime,
                self_exec_id,
                uid,
                cgroup,
                kthread,
                comm,
                cmdline,
            } => write!(
                f,
                "process id={process} tgid={tgid} start={start_boottime} exec={self_exec_id} uid={uid} cgroup={cgroup} \
                 kthread={} comm={} cmdline={}",
                u8::from(*kthread),
                Quoted(comm),
                Quoted(cmdline)
            ),
            Record::TaskSeen {
                task,
                process,
                tid,
                start,
                fresh,
                comm,
            } => write!(
                f,
                "task id={task} process={process} tid={tid} start={start} fresh={} comm={}",
                u8::from(*fresh),
                Quoted(comm)
            ),
            Record::TaskGone {
                task,
                time,
                run,
                wait,
                exact,
            } => write!(
                f,
                "gone task={task} time={time} run={run} wait={wait} exact={}",
                u8::from(*exact)
            ),
            Record::ModuleSeen {
                module,
                kind,
                path,
                build_id,
            } => {
                write!(
                    f,
                    "module id={module} kind={} path={} build_id=",
                    kind.0,
                    Quoted(path)
                )?;
                build_id.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
            Record::FrameSeen {
                frame,
                module,
                offset,
                guessed,
            } => write!(
                f,
                "frame id={frame} module={module} offset={offset} guessed={}",
                u8::from(*guessed)
            ),
            Record::StackSeen {
                stack,
                end,
                user,
                frames,
            } => write!(
                f,
                "stack id={stack} end={} user={user} frames={}",
                end.0,
                List(frames)
            ),
            Record::TaskChanged(head) => write!(f, "changed {}", Fields(head)),
            Record::CpuSample(head) => {
                write!(
                    f,
                    "sample {} user={}",
                    Fields(head),
                    u8::from(head.user_mode)
                )
            }
            Record::CpuUsage {
                cpu,
                idle,
                elapsed,
                wakeups,
                own_wakeups,
                ticks,
            } => {
                write!(
                    f,
                    "cpu cpu={cpu} idle={idle} elapsed={elapsed} wakeups={wakeups} own_wakeups={own_wakeups}"
                )?;
                let names = ["user", "nice", "system", "irq", "softirq", "steal"];
                counted(f, names.iter().zip(ticks))
            }
            Record::IdleState {
                cpu,
                state,
                residency,
                entries,
                too_short,
                too_long,
            } => write!(
                f,
                "idle cpu={cpu} state={state} residency={residency} entries={entries} too_short={too_short} too_long={too_long}"
            ),
            Record::Name {
                frame,
                source,
                name,
            } => write!(
                f,
                "name frame={frame} source={} name={}",
                source.0,
                Quoted(name)
            ),
            Record::Notice {
                level,
                text,
                process,
            } => {
                write!(f, "notice level={} text={}", level.0, Quoted(text))?;
                process.map_or(Ok(()), |process| write!(f, " process={process}"))
            }
            Record::HostUsage {
                load: [load1, load5, load15],
                pass_hz,
                cpu_hz,
                own_cpu,
            } => write!(
                f,
                "host load1={load1} load5={load5} load15={load15} pass_hz={pass_hz} cpu_hz={cpu_hz} own_cpu={own_cpu}"
            ),
            Record::Forgotten { space, ids } => {
                write!(f, "forgotten space={} ids={}", space.0, List(ids))
            }
            Record::Place {
                frame,
                calls,
                missing,
            } => {
                write!(f, "place frame={frame} calls=")?;
                let mut separator = "";
                for call in calls {
                    let (function, file) = (Quoted(call.function), Quoted(call.file));
                    write!(f, "{separator}{function}@{file}:{}", call.line)?;
                    separator = ",";
                }
                write!(f, " missing={}", Quoted(missing))
            }
            Record::CpuCycles {
                cpu,
                frequency,
                offered,
                cycles,
            } => {
                write!(f, "cycles cpu={cpu}")?;
                let names = ["frequency", "offered", "cycles"];
                counted(f, names.iter().zip(&[*frequency, *offered, *cycles]))
            }
            Record::TaskBlocked { task, ns } => {
                write!(f, "blocked task={task}")?;
                counted(f, ["ns"].iter().zip(&[*ns]))
            }
            Record::Cgroup { process, path } => {
                write!(f, "cgroup process={process} path={}", Quoted(path))
            }
            Record::Parent { process, parent } => {
                write!(f, "parent process={process} parent={parent}")
            }
            Record::CpuChanged { cpu, online, idle } => {
                write!(f, "came cpu={cpu} online={} idle=", u8::from(*online))?;
                let mut separator = "";
                idle.iter().try_for_each(|s| {
                    let name = Quoted(s.name);
                    let (exit, target) = (s.exit_latency, s.target_residency);
                    write!(f, "{separator}{}:{name}:{exit}:{target}", s.state)?;
                    separator = ",";
                    Ok(())
                })
            }
            Record::SourceSeen {
                source,
                state,
                unit,
                spec,
                why,
            } => write!(
                f,
                "source id={source} state={} unit={} spec={} why={}",
                state.0,
                unit.0,
                Quoted(spec),
                Quoted(why)
            ),
            Record::SourceTotals(t) => {
                write!(f, "totals source={}", t.source)?;
                let names = ["hits", "weight", "taken", "lost", "missed", "rate", "nanos"];
                let figures = [t.hits, t.weight, t.taken, t.lost, t.missed, t.rate, t.nanos];
                counted(f, names.iter().zip(&figures))?;
                write!(f, " histogram={}", List(&t.histogram))
            }
            Record::Event {
                head,
                source,
                weight,
                rate,
            } => write!(
                f,
                "event {} user={} source={source} weight={weight} rate={rate}",
                Fields(head),
                u8::from(head.user_mode)
            ),
            Record::OwnUsage { cpu, resident } => {
                write!(f, "own cpu={} rss={}", Named(cpu), Named(resident))
            }
            Record::Unknown { kind, body } => {
                write!(f, "unknown kind={kind} bytes={}", body.len())
            }
        }
    }
}

fn counted<'a>(
    f: &mut fmt::Formatter<'_>,
    mut figures: impl Iterator<Item = (&'a &'static str, &'a u64)>,
) -> fmt::Result {
    figures.try_for_each(|(name, figure)| match *figure {
        NOT_COUNTED => write!(f, " {name}=none"),
        figure => write!(f, " {name}={figure}"),
    })
}

struct Fields<'a>(&'a Head);

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let h = self.0;
        write!(f, "time={} task={} stack=", h.time, h.task)?;
        match h.stack {
            Some(stack) => write!(f, "{stack}")?,
            None => f.write_str("none")?,
        }
        write!(
            f,
            " run={} wait={} nvcsw={} nivcsw={} cpu={} state={} why={}",
            h.run, h.wait, h.nvcsw, h.nivcsw, h.cpu, h.state.0, h.why.0
        )
    }
}

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        self.0.iter().try_for_each(|v| {
            write!(f, "{separator}{v}")?;
            separator = ",";
            Ok(())
        })
    }
}

struct Named<'a>(&'a [(&'a [u8], u64)]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        self.0.iter().try_for_each(|(name, figure)| {
            write!(f, "{separator}{}:{figure}", Quoted(name))?;
            separator = ",";
            Ok(())
        })
    }
}

struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        self.0.iter().try_for_each(|b| match b {
            b'"' | b'\\' => write!(f, "\\x{b:02x}"),
            0x20..=0x7e => f.write_char(char::from(*b)),
            _ => write!(f, "\\x{b:02x}"),
        })?;
        f.write_char('"')
    }
}
