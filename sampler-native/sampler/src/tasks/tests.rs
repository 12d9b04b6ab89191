//! Tests of who is who, by the records that the stream gets.

use std::fs;

use super::*;
use flametop_stream::{BATCH_HEADER, Reader, batch, file_header, rules::Rules, text::Line};

const SECOND: u64 = 1_000_000_000;

/// A task of the process with tid 100 that began 1 s after boot; sampling begins at 10 s.
pub(crate) fn head(tid: u32, time: u64) -> Head {
    Head {
        size: size_of::<Head>() as u32,
        kind: abi::FT_KIND_TASK as u16,
        state: abi::FT_STATE_SLEEP as u16,
        status: 0,
        cpu: 0,
        ktime: time * SECOND,
        tid,
        tgid: 100,
        start_boottime: SECOND + u64::from(tid),
        process_start_boottime: SECOND + 100,
        exec_vm: 10,
        cgroup: 0,
        nvcsw: 1,
        nivcsw: 0,
        run_ns: time * 10,
        wait_ns: time,
        blocked_ns: 0,
        self_exec_id: 1,
        uid: 1000,
        image: 1,
        former_tid: tid,
        parent: 0,
        unused: 0,
        comm: comm16(b"thread"),
        process_comm: comm16(b"program"),
    }
}

fn comm16(name: &[u8]) -> [u8; 16] {
    let mut comm = [0; 16];
    comm[..name.len()].copy_from_slice(name);
    comm
}

struct Log {
    tasks: Tasks,
    out: Encoder,
}

impl Log {
    fn new() -> Log {
        Log {
            tasks: Tasks::new(10 * SECOND, BootClock::default(), Cgroups::default()),
            out: Encoder::new(),
        }
    }

    fn see(&mut self, head: &Head) {
        self.tasks.see(head, 1, &mut self.out);
    }

    fn exit(&mut self, head: &Head) {
        self.tasks.exit(head);
        self.tasks.free(head, &mut self.out);
        self.tasks.drained(head.ktime, &mut self.out);
        self.tasks.drained(head.ktime, &mut self.out);
    }

    /// The records since the last call as a stream.
    fn stream(&mut self) -> Vec<u8> {
        let mut bytes = file_header([]);
        let mut framed = vec![0; BATCH_HEADER + self.out.bytes().len()];
        batch(&mut framed, 0, 0, 0, self.out.bytes());
        bytes.extend_from_slice(&framed);
        self.out.clear();
        bytes
    }

    /// Holds the records since the last call to the rules of the stream.
    fn check(&mut self, rules: &mut Rules) {
        let bytes = self.stream();
        let mut reader = Reader::new(bytes.as_slice()).expect("header");
        let batch = reader.next_batch().expect("batch").expect("one");
        for record in batch.records() {
            rules.read(&record.expect("record")).expect("by the rules");
        }
    }

    /// The records since the last call, each up to the fields that do not matter here.
    fn take(&mut self) -> Vec<String> {
        let bytes = self.stream();
        let mut reader = Reader::new(bytes.as_slice()).expect("header");
        let batch = reader.next_batch().expect("batch").expect("one");
        let line = |r| Line(&r).to_string();
        let records = batch.records().map(|r| line(r.expect("record")));
        records
            .map(
                |l| match l.split_once(" start=").or(l.split_once(" time=")) {
                    Some((front, rest)) => match rest.split_once(" exact=") {
                        Some((_, exact)) => format!("{front} exact={exact}"),
                        None => front.to_owned(),
                    },
                    None => l,
                },
            )
            .collect()
    }
}

#[test]
fn see_same_task_again_tells_nothing() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    assert_eq!(
        log.take(),
        ["process id=0 tgid=100", "task id=0 process=0 tid=100"]
    );
    log.see(&head(100, 12));
    assert!(log.take().is_empty());
    log.see(&Head {
        comm: comm16(b"renamed"),
        ..head(100, 13)
    });
    assert_eq!(log.take(), ["task id=0 process=0 tid=100"]);
}

#[test]
fn see_process_in_a_cgroup_tells_its_path_and_again_when_it_moved() {
    let mut log = Log::new();
    let own = std::process::id();
    let moved = |time, cgroup| Head {
        tgid: own,
        tid: own,
        cgroup,
        ..head(100, time)
    };
    let lines = fs::read_to_string("/proc/self/cgroup").expect("cgroups");
    let path = lines.lines().find_map(|l| l.strip_prefix("0::"));
    let path = path.expect("a group of version 2");
    for (time, cgroup, told) in [
        (11, 7, Some(path)),
        (12, 7, None),
        (13, 8, Some(path)),
        (14, 0, Some("")),
    ] {
        log.see(&moved(time, cgroup));
        let told = told.map(|path| format!("cgroup process=0 path={path:?}"));
        assert_eq!(
            log.take().into_iter().find(|l| l.starts_with("cgroup")),
            told,
            "{time}"
        );
    }
}

#[test]
fn see_task_whose_time_in_d_is_counted_tells_it_when_it_has_grown() {
    let mut log = Log::new();
    let blocked = |time, blocked_ns| Head {
        blocked_ns,
        ..head(100, time)
    };
    log.see(&blocked(11, 7));
    assert_eq!(log.take().len(), 2, "not counted");
    log.tasks.counts_blocked = true;
    let worker = Head {
        status: abi::FT_KTHREAD,
        ..head(101, 11)
    };
    log.see(&worker);
    assert_eq!(log.take().len(), 1, "a kernel thread waits for work");
    // One of an earlier moment comes late.
    for (time, ns, told) in [
        (12, 7, Some(7)),
        (13, 7, None),
        (14, 9, Some(9)),
        (13, 8, None),
    ] {
        log.see(&blocked(time, ns));
        let told: Vec<String> = told
            .iter()
            .map(|ns| format!("blocked task=0 ns={ns}"))
            .collect();
        assert_eq!(log.take(), told, "{time}");
    }
    log.tasks.counts_blocked = false;
    log.see(&blocked(15, 9));
    assert_eq!(log.take(), ["blocked task=0 ns=none"]);
    log.tasks.counts_blocked = true;
    log.exit(&blocked(16, 10));
    assert_eq!(log.take(), ["blocked task=0 ns=10", "gone task=0 exact=1"]);
}

#[test]
fn see_same_number_of_another_task_is_a_new_one() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.exit(&head(100, 12));
    let again = Head {
        start_boottime: 13 * SECOND,
        process_start_boottime: 13 * SECOND,
        ..head(100, 14)
    };
    log.see(&again);
    let told = log.take();
    assert_eq!(
        told[3..],
        ["process id=1 tgid=100", "task id=1 process=1 tid=100"]
    );
}

#[test]
fn see_after_the_end_does_not_bring_it_back_unless_a_zombie() {
    let mut log = Log::new();
    log.see(&head(101, 11));
    log.exit(&head(101, 12));
    log.take();
    let mut out = Encoder::new();
    assert!(matches!(
        log.tasks.see(&head(101, 11), 1, &mut out),
        Sight::Ended(0)
    ));
    assert!(matches!(
        log.tasks.see(&head(101, 13), 1, &mut out),
        Sight::Ended(0)
    ));
    let zombie = Head {
        state: abi::FT_STATE_ZOMBIE as u16,
        ..head(101, 13)
    };
    log.see(&zombie);
    assert_eq!(log.take(), ["task id=1 process=0 tid=101"]);
    log.tasks.end_unmarked(2, 14 * SECOND, 15 * SECOND);
    log.tasks.drained(15 * SECOND, &mut log.out);
    assert!(log.take().is_empty(), "its exit record may be on its way");
    log.tasks.drained(16 * SECOND, &mut log.out);
    assert_eq!(log.take(), ["gone task=1 exact=0"]);
}

#[test]
fn exit_unknown_task_is_told_only_if_it_began_since() {
    let mut log = Log::new();
    log.exit(&head(101, 12));
    assert!(log.take().is_empty());
    let fresh = Head {
        start_boottime: 11 * SECOND,
        ..head(102, 12)
    };
    log.exit(&fresh);
    assert_eq!(
        log.take(),
        [
            "process id=0 tgid=100",
            "task id=0 process=0 tid=102",
            "gone task=0 exact=1"
        ]
    );
    log.exit(&fresh);
    assert!(log.take().is_empty());
}

#[test]
fn see_exec_of_a_lone_task_keeps_its_id() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.take();
    let after = Head {
        self_exec_id: 2,
        ..head(100, 12)
    };
    log.see(&after);
    assert_eq!(
        log.take(),
        [
            "process id=1 tgid=100",
            "parent process=1 parent=0",
            "task id=0 process=1 tid=100"
        ]
    );
    // A sample from before the exec that comes late changes nothing.
    log.see(&head(100, 11));
    assert!(log.take().is_empty());
    log.see(&after);
    assert!(log.take().is_empty());
}

#[test]
fn see_exec_beside_other_tasks_is_a_new_task() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.see(&head(101, 11));
    log.take();
    let after = |time| Head {
        self_exec_id: 2,
        ..head(100, time)
    };
    log.see(&after(12));
    assert!(
        log.take().is_empty(),
        "the record of the exec may still come"
    );
    log.see(&after(13));
    assert_eq!(
        log.take(),
        [
            "gone task=0 exact=0",
            "process id=1 tgid=100",
            "parent process=1 parent=0",
            "task id=2 process=1 tid=100"
        ]
    );
    // The end of the former leader comes late, and is not the end of its successor.
    log.exit(&head(100, 12));
    assert!(log.take().is_empty());
    log.exit(&head(101, 12));
    assert_eq!(log.take(), ["gone task=1 exact=1"]);
    assert_eq!(log.tasks.len(), 1);
}

#[test]
fn exec_by_another_thread_ends_it_and_the_leader_with_their_last_sums() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.see(&head(101, 11));
    log.take();
    log.tasks.exit(&head(100, 12));
    let exec = Head {
        kind: abi::FT_KIND_EXEC as u16,
        self_exec_id: 2,
        former_tid: 101,
        ..head(100, 13)
    };
    log.tasks.exec(&exec, &mut log.out);
    assert_eq!(
        log.take(),
        [
            "gone task=0 exact=1",
            "gone task=1 exact=1",
            "process id=1 tgid=100",
            "parent process=1 parent=0",
            "task id=2 process=1 tid=100"
        ]
    );
}

#[test]
fn free_after_the_exit_has_the_last_sums() {
    let mut log = Log::new();
    log.see(&head(101, 11));
    log.take();
    log.tasks.exit(&head(101, 12));
    log.tasks.drained(12 * SECOND, &mut log.out);
    log.tasks.drained(12 * SECOND, &mut log.out);
    assert!(log.take().is_empty(), "its last sums are on their way");
    assert_eq!(log.tasks.len(), 0);
    let last = Head {
        run_ns: 777,
        ..head(101, 13)
    };
    log.tasks.free(&last, &mut log.out);
    log.tasks.drained(12 * SECOND, &mut log.out);
    assert_eq!(log.take(), ["gone task=0 exact=1"]);
}

#[test]
fn end_unmarked_spares_what_began_after_the_pass() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.tasks.see(&head(101, 20), 0, &mut log.out);
    log.take();
    log.tasks.end_unmarked(2, 15 * SECOND, 16 * SECOND);
    log.tasks.drained(21 * SECOND, &mut log.out);
    assert_eq!(log.take(), ["gone task=0 exact=0"]);
    assert_eq!(log.tasks.len(), 1);
}

#[test]
fn forget_long_ended_processes_are_dropped() {
    let mut log = Log::new();
    log.see(&head(100, 11));
    log.exit(&head(100, 12));
    log.take();
    log.tasks.forget(13 * SECOND, &mut log.out);
    assert_eq!((log.tasks.processes.len(), log.tasks.gone.len()), (1, 1));
    log.tasks.forget(18 * SECOND, &mut log.out);
    assert_eq!((log.tasks.processes.len(), log.tasks.gone.len()), (0, 0));
    assert_eq!(
        log.take(),
        ["forgotten space=1 ids=0", "forgotten space=0 ids=0"]
    );
}

#[test]
fn forget_million_short_tasks_gives_their_ids_anew() {
    let mut log = Log::new();
    let mut rules = Rules::default();
    for n in 0..1_000_000u64 {
        let (time, tid) = (10 * SECOND + n * SECOND / 1000, 200 + (n % 30_000) as u32);
        let short = Head {
            ktime: time,
            tid,
            tgid: tid,
            start_boottime: time,
            process_start_boottime: time,
            ..head(tid, 0)
        };
        log.see(&short);
        if n % 3 > 0 {
            // The others are just not found again.
            log.exit(&Head {
                ktime: time + 1,
                ..short
            });
        }
        if n % 1000 == 0 {
            log.tasks.end_unmarked(2, time, time);
            log.tasks.drained(time + 1, &mut log.out);
            log.tasks.forget(time, &mut log.out);
            log.check(&mut rules);
            assert!(rules.live(Space::Task) <= 7000);
            assert!(rules.live(Space::Process) <= 7000);
        }
    }
    assert!(rules.highest(Space::Task) <= 8000);
    assert!(rules.highest(Space::Process) <= 8000);
}

/// A process of one thread that began at `start` s, seen at `time` s in image `exec`.
fn process(tgid: u32, start: u64, exec: u32, time: u64) -> Head {
    Head {
        tgid,
        start_boottime: start * SECOND,
        process_start_boottime: start * SECOND,
        self_exec_id: exec,
        ..head(tgid, time)
    }
}

/// The fork that began that process.
fn fork(of: &Head, parent: u32) -> Head {
    Head {
        kind: abi::FT_KIND_FORK as u16,
        self_exec_id: 0,
        ktime: of.start_boottime,
        parent,
        ..*of
    }
}

impl Log {
    /// Who was told to have started whom since the last call, by tgid and exec generation.
    fn parents(
        &mut self,
        rules: &mut Rules,
        names: &mut HashMap<u32, (u32, u32)>,
    ) -> Vec<[(u32, u32); 2]> {
        let bytes = self.stream();
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let mut parents = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            for record in batch.records() {
                let record = record.unwrap();
                rules.read(&record).unwrap();
                match record {
                    Record::ProcessSeen {
                        process,
                        tgid,
                        self_exec_id,
                        ..
                    } => {
                        names.insert(process, (tgid, self_exec_id));
                    }
                    Record::Parent { process, parent } => {
                        parents.push([names[&process], names[&parent]]);
                    }
                    _ => {}
                }
            }
        }
        parents
    }
}

#[test]
fn parent_of_each_kind_is_told_once() {
    let (mut log, mut rules, mut names) = (Log::new(), Rules::default(), HashMap::new());
    let mut parents = |log: &mut Log| log.parents(&mut rules, &mut names);
    // Numbers wrap: the child is seen before its parent.
    let child = Head {
        parent: 300,
        ..process(200, 9, 1, 10)
    };
    log.see(&child);
    assert!(parents(&mut log).is_empty());
    log.see(&process(300, 8, 1, 10));
    assert_eq!(parents(&mut log), [[(200, 1), (300, 1)]]);
    // Another process took it over.
    log.see(&Head { parent: 1, ..child });
    assert!(parents(&mut log).is_empty());
    // A fork, then an exec in it.
    let forked = process(400, 11, 1, 11);
    log.tasks.fork(&fork(&forked, 300), &mut log.out);
    assert!(parents(&mut log).is_empty());
    log.see(&forked);
    assert_eq!(parents(&mut log), [[(400, 1), (300, 1)]]);
    log.see(&process(400, 11, 2, 12));
    assert_eq!(parents(&mut log), [[(400, 2), (400, 1)]]);
    // A sample that came before the fork.
    let sampled = process(500, 12, 1, 12);
    log.see(&sampled);
    assert!(parents(&mut log).is_empty());
    log.tasks.fork(&fork(&sampled, 400), &mut log.out);
    assert_eq!(parents(&mut log), [[(500, 1), (400, 2)]]);
}

#[test]
fn parent_that_ended_unseen_gives_way_to_its_own() {
    let (mut log, mut rules, mut names) = (Log::new(), Rules::default(), HashMap::new());
    log.see(&process(300, 8, 1, 10));
    let unseen = process(400, 11, 1, 11);
    let child = process(401, 11, 2, 11);
    log.tasks.fork(&fork(&unseen, 300), &mut log.out);
    log.tasks.fork(&fork(&child, 400), &mut log.out);
    // It was taken over before a pass saw it.
    log.see(&Head { parent: 1, ..child });
    assert_eq!(log.parents(&mut rules, &mut names), [[(401, 2), (300, 1)]]);
}

#[test]
fn parent_whose_number_went_to_a_later_process_is_not_that_one() {
    let (mut log, mut rules, mut names) = (Log::new(), Rules::default(), HashMap::new());
    log.see(&process(300, 12, 1, 12));
    let child = process(401, 11, 1, 12);
    log.tasks.fork(&fork(&child, 300), &mut log.out);
    log.see(&child);
    assert!(log.parents(&mut rules, &mut names).is_empty());
}

#[test]
fn parents_after_a_fork_storm_are_forgotten() {
    let mut log = Log::new();
    for i in 0..10_000 {
        let child = process(1_000 + i, 11, 1, 11);
        log.tasks.fork(&fork(&child, 999 - i % 7), &mut log.out);
        if i % 2 == 0 {
            log.see(&child);
            log.exit(&child);
        }
    }
    assert!(log.tasks.processes.parents_len() >= 10_000);
    log.tasks.forget(11 * SECOND + MEMORY, &mut log.out);
    assert_eq!(log.tasks.processes.parents_len(), 0);
}
