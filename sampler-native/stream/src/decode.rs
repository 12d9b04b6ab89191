//! From bytes to a record. No length is trusted.

use crate::{
    COUNTERS, Call, End, FRAME_GUESSED, Head, IdleFacts, Kind, Level, ModuleKind, NO_PROCESS,
    NO_STACK, NameSource, Record, SAMPLE_USER, SourceState, SourceTotals, Space, State, Unit,
};

impl<'a> Record<'a> {
    /// The record of this kind in this body.
    ///
    /// # Errors
    /// The fault of the body.
    pub fn decode(kind: u16, body: &'a [u8]) -> Result<Record<'a>, &'static str> {
        let Some(kind) = Kind::of(kind) else {
            return Ok(Record::Unknown { kind, body });
        };
        let mut b = Body(body);
        Ok(match kind {
            Kind::Counters => {
                let mut totals = [0; COUNTERS];
                for i in 0..usize::from(b.u16()?) {
                    let total = b.u64()?;
                    if let Some(known) = totals.get_mut(i) {
                        *known = total;
                    }
                }
                Record::Counters(totals)
            }
            Kind::ProcessSeen => Record::ProcessSeen {
                process: b.u32()?,
                tgid: b.u32()?,
                start_boottime: b.u64()?,
                self_exec_id: b.u32()?,
                uid: b.u32()?,
                cgroup: b.u64()?,
                kthread: b.u8()? != 0,
                comm: b.str()?,
                cmdline: b.str()?,
            },
            Kind::TaskSeen => Record::TaskSeen {
                task: b.u32()?,
                process: b.u32()?,
                tid: b.u32()?,
                start: b.u64()?,
                fresh: b.u8()? != 0,
                comm: b.str()?,
            },
            Kind::TaskGone => Record::TaskGone {
                task: b.u32()?,
                time: b.u64()?,
                run: b.u64()?,
                wait: b.u64()?,
                exact: b.u8()? != 0,
            },
            Kind::TaskBlocked => Record::TaskBlocked {
                task: b.u32()?,
                ns: b.u64()?,
            },
            Kind::ModuleSeen => Record::ModuleSeen {
                module: b.u32()?,
                kind: ModuleKind(b.u8()?),
                path: b.str()?,
                build_id: b.str()?,
            },
            Kind::FrameSeen => Record::FrameSeen {
                frame: b.u32()?,
                module: b.u32()?,
                offset: b.u64()?,
                guessed: b.u8()? & FRAME_GUESSED != 0,
            },
            Kind::StackSeen => {
                let stack = b.u32()?;
                let end = End(b.u8()?);
                b.u8()?;
                let (user, kernel) = (b.u16()?, b.u16()?);
                Record::StackSeen {
                    stack,
                    end,
                    user,
                    frames: b.ids(usize::from(user) + usize::from(kernel))?.into(),
                }
            }
            Kind::TaskChanged => Record::TaskChanged(b.head()?),
            Kind::CpuSample => Record::CpuSample(b.head()?),
            Kind::CpuUsage => Record::CpuUsage {
                cpu: b.u32()?,
                idle: b.u64()?,
                elapsed: b.u64()?,
                wakeups: b.u64()?,
                own_wakeups: b.u64()?,
                ticks: [b.u64()?, b.u64()?, b.u64()?, b.u64()?, b.u64()?, b.u64()?],
            },
            Kind::IdleState => Record::IdleState {
                cpu: b.u32()?,
                state: b.u32()?,
                residency: b.u64()?,
                entries: b.u64()?,
                too_short: b.u64()?,
                too_long: b.u64()?,
            },
            Kind::Name => Record::Name {
                frame: b.u32()?,
                source: NameSource(b.u8()?),
                name: b.str()?,
            },
            Kind::Notice => Record::Notice {
                level: Level(b.u8()?),
                text: b.str()?,
                process: match b.0.is_empty() {
                    true => None,
                    false => Some(b.u32()?).filter(|p| *p != NO_PROCESS),
                },
            },
            Kind::HostUsage => Record::HostUsage {
                load: [b.u32()?, b.u32()?, b.u32()?],
                pass_hz: b.u32()?,
                cpu_hz: b.u32()?,
                own_cpu: b.u64()?,
            },
            Kind::Forgotten => {
                let space = Space(b.u8()?);
                if !space.is_known() {
                    let kind = kind as u16;
                    return Ok(Record::Unknown { kind, body });
                }
                b.take(3)?;
                let count = b.u32()? as usize;
                Record::Forgotten {
                    space,
                    ids: b.ids(count)?.into(),
                }
            }
            Kind::Place => {
                let frame = b.u32()?;
                let count = b.u16()?;
                let call = |b: &mut Body<'a>| {
                    Ok(Call {
                        function: b.str()?,
                        file: b.str()?,
                        line: b.u32()?,
                    })
                };
                let calls: Result<_, &'static str> = (0..count).map(|_| call(&mut b)).collect();
                Record::Place {
                    frame,
                    calls: calls?,
                    missing: b.str()?,
                }
            }
            Kind::CpuCycles => Record::CpuCycles {
                cpu: b.u32()?,
                frequency: b.u64()?,
                offered: b.u64()?,
                cycles: b.u64()?,
            },
            Kind::Cgroup => Record::Cgroup {
                process: b.u32()?,
                path: b.str()?,
            },
            Kind::Parent => Record::Parent {
                process: b.u32()?,
                parent: b.u32()?,
            },
            Kind::CpuChanged => {
                let (cpu, online) = (b.u32()?, b.u8()? != 0);
                let state = |b: &mut Body<'a>| {
                    Ok(IdleFacts {
                        state: b.u32()?,
                        name: b.str()?,
                        exit_latency: b.u64()?,
                        target_residency: b.u64()?,
                    })
                };
                let idle: Result<_, &'static str> = (0..b.u16()?).map(|_| state(&mut b)).collect();
                Record::CpuChanged {
                    cpu,
                    online,
                    idle: idle?,
                }
            }
            Kind::SourceSeen => {
                let source = b.u32()?;
                let (state, unit) = (SourceState(b.u8()?), Unit(b.u8()?));
                b.u16()?;
                Record::SourceSeen {
                    source,
                    state,
                    unit,
                    spec: b.str()?,
                    why: b.str()?,
                }
            }
            Kind::SourceTotals => Record::SourceTotals(SourceTotals {
                source: b.u32()?,
                hits: b.u64()?,
                weight: b.u64()?,
                taken: b.u64()?,
                lost: b.u64()?,
                missed: b.u64()?,
                rate: b.u64()?,
                nanos: b.u64()?,
                histogram: {
                    let count = b.u16()?;
                    (0..count).map(|_| b.u64()).collect::<Result<_, _>>()?
                },
            }),
            Kind::Event => Record::Event {
                head: b.head()?,
                source: b.u32()?,
                weight: b.u64()?,
                rate: b.u64()?,
            },
            Kind::OwnUsage => Record::OwnUsage {
                cpu: b.named()?,
                resident: b.named()?,
            },
        })
    }
}

/// The bytes of a record that are not read yet.
pub(crate) struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or("a record is shorter than its kind")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, &'static str> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16, &'static str> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, &'static str> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        self.array().map(u64::from_le_bytes)
    }

    fn str(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    fn ids(&mut self, count: usize) -> Result<Vec<u32>, &'static str> {
        let bytes = self.take(count.saturating_mul(4))?;
        let ids = bytes.chunks_exact(4);
        Ok(ids
            .map(|id| u32::from_le_bytes([id[0], id[1], id[2], id[3]]))
            .collect())
    }

    fn named(&mut self) -> Result<Vec<(&'a [u8], u64)>, &'static str> {
        (0..self.u16()?)
            .map(|_| Ok((self.str()?, self.u64()?)))
            .collect()
    }

    fn head(&mut self) -> Result<Head, &'static str> {
        Ok(Head {
            time: self.u64()?,
            task: self.u32()?,
            stack: Some(self.u32()?).filter(|s| *s != NO_STACK),
            run: self.u64()?,
            wait: self.u64()?,
            nvcsw: self.u64()?,
            nivcsw: self.u64()?,
            cpu: self.u32()?,
            state: State(self.u8()?),
            why: End(self.u8()?),
            user_mode: self.u16()? & SAMPLE_USER != 0,
        })
    }
}

impl Kind {
    /// The kind with this number in the stream.
    fn of(number: u16) -> Option<Kind> {
        use Kind::*;
        [
            Counters,
            ProcessSeen,
            TaskSeen,
            TaskGone,
            ModuleSeen,
            FrameSeen,
            StackSeen,
            TaskChanged,
            CpuSample,
            CpuUsage,
            IdleState,
            Name,
            Notice,
            HostUsage,
            Forgotten,
            OwnUsage,
            Place,
            CpuCycles,
            Cgroup,
            TaskBlocked,
            CpuChanged,
            SourceSeen,
            SourceTotals,
            Event,
            Parent,
        ]
        .into_iter()
        .find(|kind| *kind as u16 == number)
    }
}
