//! Writes the golden files: `cargo run -p flametop-stream --example golden -- stream/golden`.
//! They change only together with the version of the stream; files of older versions stay for good.

use std::{fs, path::Path};

use flametop_stream::{
    BATCH_HEADER, BATCH_MORE, BATCH_PASS, COUNTERS, Call, Encoder, End, Head, IdleFacts, Level,
    ModuleKind, NOT_COUNTED, NameSource, Record, SourceState, SourceTotals, Space, State, Unit,
    batch, file_header,
};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_default();
    let folder = Path::new(&folder);
    let file = file();
    let (text, result) = flametop_stream::text::dump(file.as_slice());
    result.expect("a whole stream");
    fs::write(folder.join("v2.flametop"), &file).expect("the stream is written");
    fs::write(folder.join("v2.txt"), text).expect("the text is written");
}

/// Every kind of record, with edge values.
pub fn file() -> Vec<u8> {
    let facts = [
        ("host", "web-1"),
        ("kernel", "6.18.0-1-amd64"),
        ("arch", "x86_64"),
        ("version", "0.1.0"),
        ("cpus", "0,1,5"),
        ("hz.pass", "19"),
        ("hz.cpu", "99"),
        ("target", "all"),
        ("time.monotonic", "81000000000000"),
        ("time.wall", "1760000000123456789"),
        ("time.boot_offset", "7200000000000"),
        ("own", "4321,4330"),
        ("idle.0.0", "POLL|0|0"),
        ("idle.0.1", "C1E, naïve|10|20"),
        (
            "idle.missing",
            "CPU 1 and 5: the kernel has no cpuidle driver",
        ),
        (
            "frequency.missing",
            "no frequencies: the kernel has no cpufreq driver",
        ),
        ("a.fact.of.later", "with = in it"),
    ];
    let mut file = file_header(facts);
    let mut sequence = 0;
    let mut push = |time, flags, records: &Encoder| {
        let mut out = vec![0; BATCH_HEADER + records.bytes().len()];
        batch(&mut out, time, sequence, flags, records.bytes());
        file.extend_from_slice(&out);
        sequence += 1;
    };
    push(81_000_000_000_000, BATCH_MORE, &first_part());
    push(81_000_000_000_000, BATCH_PASS, &second_part());
    push(81_000_250_000_000, 0, &Encoder::new());
    push(u64::MAX, BATCH_PASS, &edges());
    push(u64::MAX, 0, &later());
    file
}

fn first_part() -> Encoder {
    let mut e = Encoder::new();
    e.put(&Record::ProcessSeen {
        process: 0,
        tgid: 1234,
        start_boottime: 88_000_000_000_000,
        self_exec_id: 3,
        uid: 1000,
        cgroup: 5_210,
        kthread: false,
        comm: b"worker",
        cmdline: b"/usr/bin/worker\0--name\0a b\0",
    });
    e.put(&Record::ProcessSeen {
        process: 1,
        tgid: 2,
        start_boottime: 0,
        self_exec_id: 0,
        uid: 0,
        cgroup: 1,
        kthread: true,
        comm: b"kthreadd",
        cmdline: b"",
    });
    e.put(&Record::Cgroup {
        process: 0,
        path: b"/system.slice/web\x1b[2J.service/a b",
    });
    e.put(&Record::Cgroup {
        process: 1,
        path: b"/",
    });
    e.put(&Record::TaskSeen {
        task: 0,
        process: 0,
        tid: 1234,
        start: 80_800_000_000_000,
        fresh: false,
        comm: b"worker",
    });
    e.put(&Record::TaskSeen {
        task: 1,
        process: 0,
        tid: 1240,
        start: 80_999_999_999_999,
        fresh: true,
        comm: b"\x1b]0;owned\x07 \"q\\\n",
    });
    e.put(&Record::TaskSeen {
        task: 2,
        process: 1,
        tid: 2,
        start: 0,
        fresh: false,
        comm: b"",
    });
    for (module, kind, path, build_id) in [
        (0, ModuleKind::Kernel, &b"[kernel]"[..], &b""[..]),
        (
            1,
            ModuleKind::File,
            b"/usr/lib/x86_64-linux-gnu/libc.so.6",
            b"\x00\x1f\xfe\xff",
        ),
        (2, ModuleKind::Vdso, b"[vdso]", b"\x01"),
        (3, ModuleKind::Jit, b"[jit]", b""),
        (
            4,
            ModuleKind::Unknown,
            b"/srv/\xff\xfe\xc3(\xe2\x80\xae (deleted)",
            b"",
        ),
    ] {
        e.put(&Record::ModuleSeen {
            module,
            kind,
            path,
            build_id,
        });
    }
    for (frame, module, offset, guessed) in [
        (0, 1, 0x27249, false),
        (1, 1, 0xf9f10, true),
        (2, 0, 0xffff_ffff_8110_0000, false),
        (3, 3, 0x7fff_dead_b000, true),
        (4, 4, 0, false),
        (5, 2, 0x9af, false),
    ] {
        e.put(&Record::FrameSeen {
            frame,
            module,
            offset,
            guessed,
        });
    }
    for (stack, end, user, frames) in [
        (0, End::Root, 2, &[0, 1, 2][..]),
        (1, End::Jit, 1, &[3]),
        (2, End::MmBusy, 0, &[2]),
        (3, End::Limit, 0, &[]),
        (4, End::Root, 3, &[0, 0, 5]),
    ] {
        e.put(&Record::StackSeen {
            stack,
            end,
            user,
            frames: frames.into(),
        });
    }
    e
}

fn second_part() -> Encoder {
    let mut e = Encoder::new();
    let head = Head {
        time: 81_000_000_100_000,
        task: 0,
        stack: Some(0),
        run: 123_456_789,
        wait: 1_000,
        nvcsw: 42,
        nivcsw: 7,
        cpu: 1,
        state: State::Sleep,
        why: End::Root,
        user_mode: false,
    };
    e.put(&Record::TaskChanged(head));
    e.put(&Record::TaskChanged(Head {
        task: 1,
        stack: None,
        state: State::Run,
        ..head
    }));
    e.put(&Record::TaskChanged(Head {
        task: 2,
        stack: Some(3),
        state: State::IdleKthread,
        why: End::Limit,
        ..head
    }));
    for (state, why) in [
        (State::Queued, End::Truncated),
        (State::Disk, End::OtherStack),
        (State::Stopped, End::NoUnwindInfo),
        (State::Zombie, End::Exited),
        (State::Parked, End::Torn),
        (State::Sleep, End::Faulted),
    ] {
        e.put(&Record::TaskChanged(Head {
            task: 1,
            stack: None,
            state,
            why,
            ..head
        }));
    }
    e.put(&Record::CpuSample(Head {
        time: 81_000_000_200_000,
        task: 1,
        stack: Some(4),
        cpu: 5,
        state: State::Run,
        user_mode: true,
        ..head
    }));
    e.put(&Record::CpuSample(Head {
        stack: Some(1),
        state: State::Run,
        why: End::Jit,
        ..head
    }));
    e.put(&Record::CpuUsage {
        cpu: 0,
        idle: 900_000_000,
        elapsed: 1_000_000_000,
        wakeups: 251,
        own_wakeups: 99,
        ticks: [
            80_000_000,
            0,
            20_000_000,
            NOT_COUNTED,
            10_000_000,
            NOT_COUNTED,
        ],
    });
    e.put(&Record::IdleState {
        cpu: 0,
        state: 1,
        residency: 800_000_000,
        entries: 250,
        too_short: 12,
        too_long: 3,
    });
    for (frequency, offered, cycles) in [
        (2_400_000_000, 3_600_000_000, 900_000_000),
        (NOT_COUNTED, NOT_COUNTED, 900_000_000),
        (u64::MAX - 1, 0, NOT_COUNTED),
    ] {
        e.put(&Record::CpuCycles {
            cpu: 1,
            frequency,
            offered,
            cycles,
        });
    }
    let names: [(u32, NameSource, &[u8]); 6] = [
        (0, NameSource::Root, b"[process start]"),
        (1, NameSource::Symbol, b"clock_nanosleep"),
        (2, NameSource::Symbol, b"do_nanosleep"),
        (4, NameSource::Unknown, b"0x0"),
        (5, NameSource::FunctionStart, b"fn@0x940"),
        (4, NameSource::Limit, b"0x0"),
    ];
    for (frame, source, name) in names {
        e.put(&Record::Name {
            frame,
            source,
            name,
        });
    }
    e.put(&Record::Name {
        frame: 3,
        source: NameSource::Symbol,
        name: "Lcom/größe; void m(int, char const*)\x07".as_bytes(),
    });
    e.put(&Record::Place {
        frame: 3,
        calls: vec![
            Call {
                function: b"main",
                file: b"/src/main.c",
                line: 12,
            },
            Call {
                function: b"",
                file: "/src/größe.h".as_bytes(),
                line: 0,
            },
        ],
        missing: b"",
    });
    e.put(&Record::Place {
        frame: 5,
        calls: Vec::new(),
        missing: b"no debug information: compile it with -g",
    });
    e.put(&Record::Notice {
        level: Level::Told,
        text: b"the CPU clock wakes idle CPUs",
        process: None,
    });
    e.put(&Record::Notice {
        level: Level::Trouble,
        text: "no names of kernel frames: /proc/kallsyms shows no addresses; run as root"
            .as_bytes(),
        process: None,
    });
    e.put(&Record::TaskGone {
        task: 1,
        time: 81_000_000_300_000,
        run: 123_456_999,
        wait: 1_001,
        exact: true,
    });
    e.put(&Record::TaskGone {
        task: 2,
        time: 81_000_000_300_001,
        run: 0,
        wait: 0,
        exact: false,
    });
    e.put(&Record::TaskBlocked {
        task: 0,
        ns: 5_000_000_000,
    });
    e.put(&Record::TaskBlocked {
        task: 0,
        ns: NOT_COUNTED,
    });
    e.put(&Record::CpuChanged {
        cpu: 5,
        online: false,
        idle: Vec::new(),
    });
    let idle = |state, name, exit_latency, target_residency| IdleFacts {
        state,
        name,
        exit_latency,
        target_residency,
    };
    e.put(&Record::CpuChanged {
        cpu: 7,
        online: true,
        idle: vec![
            idle(0, &b"POLL"[..], 0, 0),
            idle(2, "C6 \"naïve".as_bytes(), 133, u64::MAX),
        ],
    });
    e.put(&Record::SourceSeen {
        source: 3,
        state: SourceState::On,
        unit: Unit::Bytes,
        spec: b"usdt:/usr/lib/libc.so.6:libc:memory_sbrk_more,weight=arg1,unit=bytes",
        why: b"",
    });
    e.put(&Record::SourceSeen {
        source: 4,
        state: SourceState::Missing,
        unit: Unit::Count,
        spec: b"cycles",
        why: b"no hardware counters here",
    });
    e.put(&Record::SourceTotals(SourceTotals {
        source: 3,
        hits: 12,
        weight: 40_960,
        taken: 7,
        lost: 1,
        missed: 0,
        rate: 4_096,
        nanos: 34_000,
        histogram: vec![0, 0, 0, 12],
    }));
    e.put(&Record::SourceTotals(SourceTotals {
        source: 4,
        missed: NOT_COUNTED,
        nanos: NOT_COUNTED,
        ..SourceTotals::default()
    }));
    e.put(&Record::Event {
        head: Head {
            time: 81_000_000_300_002,
            task: 0,
            stack: None,
            run: 123_456_789,
            wait: 1_000,
            nvcsw: 43,
            nivcsw: 7,
            cpu: 1,
            state: State::Run,
            why: End::Faulted,
            user_mode: true,
        },
        source: 3,
        weight: 4_096,
        rate: 0,
    });
    let mut totals = [0; COUNTERS];
    for (i, total) in totals.iter_mut().enumerate() {
        *total = 1_000 + i as u64;
    }
    e.put(&Record::Counters(totals));
    e.put(&Record::HostUsage {
        load: [12, 150, 10_001],
        pass_hz: 19,
        cpu_hz: 0,
        own_cpu: 5_000_000,
    });
    e.put(&Record::OwnUsage {
        cpu: vec![(b"passes", 4_000_000), (b"bpf cpu_idle", 1_000_000)],
        resident: vec![(b"java", 90 << 20), (b"odd \"\\", u64::MAX)],
    });
    e.put(&Record::OwnUsage {
        cpu: Vec::new(),
        resident: Vec::new(),
    });
    for (space, ids) in [
        (Space::Task, &[2, 1][..]),
        (Space::Process, &[1]),
        (Space::Stack, &[3, 4]),
        (Space::Frame, &[5]),
        (Space::Module, &[]),
    ] {
        e.put(&Record::Forgotten {
            space,
            ids: ids.into(),
        });
    }
    e.put(&Record::StackSeen {
        stack: 4,
        end: End::Truncated,
        user: 0,
        frames: [2][..].into(),
    });
    e
}

/// Largest values, and what a later version may add: unknown kinds, longer bodies, more counters.
fn edges() -> Encoder {
    let mut e = Encoder::new();
    e.put(&Record::ProcessSeen {
        process: u32::MAX,
        tgid: u32::MAX,
        start_boottime: u64::MAX,
        self_exec_id: u32::MAX,
        uid: u32::MAX,
        cgroup: u64::MAX,
        kthread: false,
        comm: &[0xff; 15],
        cmdline: b"\0\0",
    });
    e.put(&Record::Cgroup {
        process: 0,
        path: b"",
    });
    e.put(&Record::Unknown {
        kind: 999,
        body: b"a kind of later",
    });
    e.put(&Record::Unknown {
        kind: 65_535,
        body: b"",
    });
    let mut frame = Vec::new();
    frame.extend_from_slice(&6u32.to_le_bytes());
    frame.extend_from_slice(&4u32.to_le_bytes());
    frame.extend_from_slice(&u64::MAX.to_le_bytes());
    frame.extend_from_slice(b"\x01 and a field of later");
    e.append(&raw(6, &frame));
    let mut counters = vec![25, 0];
    (0..25u64).for_each(|i| counters.extend_from_slice(&(u64::MAX - i).to_le_bytes()));
    e.append(&raw(1, &counters));
    e.append(&raw(1, &[1, 0, 7, 0, 0, 0, 0, 0, 0, 0]));
    let head = Head {
        time: u64::MAX,
        task: u32::MAX,
        stack: Some(u32::MAX - 1),
        run: u64::MAX,
        wait: u64::MAX,
        nvcsw: u64::MAX,
        nivcsw: u64::MAX,
        cpu: u32::MAX,
        state: State::IdleKthread,
        why: End::Limit,
        user_mode: false,
    };
    e.put(&Record::TaskChanged(head));
    e.put(&Record::CpuUsage {
        cpu: u32::MAX,
        idle: u64::MAX - 1,
        elapsed: u64::MAX - 1,
        wakeups: 0,
        own_wakeups: 0,
        ticks: [NOT_COUNTED; 6],
    });
    e.put(&Record::Name {
        frame: u32::MAX,
        source: NameSource::Symbol,
        name: &[b'x'; 1024],
    });
    e
}

/// Numbers that a later version may give a meaning.
fn later() -> Encoder {
    let mut e = Encoder::new();
    e.put(&Record::Parent {
        process: 0,
        parent: 0,
    });
    e.put(&Record::ModuleSeen {
        module: 5,
        kind: ModuleKind(9),
        path: b"[scripts]",
        build_id: b"",
    });
    e.put(&Record::FrameSeen {
        frame: 7,
        module: 5,
        offset: 12,
        guessed: false,
    });
    e.put(&Record::Name {
        frame: 7,
        source: NameSource(6),
        name: b"of a later source",
    });
    for (stack, end) in [(5, End(13)), (6, End(255))] {
        e.put(&Record::StackSeen {
            stack,
            end,
            user: 1,
            frames: [7][..].into(),
        });
    }
    let head = Head {
        time: 81_000_000_400_000,
        task: 0,
        stack: Some(5),
        run: 123_456_789,
        wait: 1_000,
        nvcsw: 43,
        nivcsw: 7,
        cpu: 1,
        state: State(8),
        why: End(13),
        user_mode: false,
    };
    e.put(&Record::TaskChanged(head));
    e.put(&Record::CpuSample(Head {
        stack: None,
        state: State(255),
        why: End(255),
        ..head
    }));
    e.put(&Record::SourceSeen {
        source: u32::MAX,
        state: SourceState(3),
        unit: Unit(255),
        spec: b"a kind of later",
        why: b"",
    });
    e.put(&Record::Notice {
        level: Level(7),
        text: b"a notice of a later level",
        process: Some(0),
    });
    e.put(&Record::Forgotten {
        space: Space(5),
        ids: [1, 2][..].into(),
    });
    e
}

fn raw(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut record = kind.to_le_bytes().to_vec();
    record.extend_from_slice(&[0, 0]);
    record.extend_from_slice(&(body.len() as u32).to_le_bytes());
    record.extend_from_slice(body);
    record
}
