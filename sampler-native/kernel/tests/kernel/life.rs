//! Ends of tasks, execs, and new mappings.

use super::*;

#[test]
fn life_killed_sleeper_gives_exit_records_with_its_final_sums() {
    let Some(_alone) = alone() else { return };
    let subject = Subject::start(&["threads", "3"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let (_, records) = pass(&mut kernel, false);
    let mut alive: HashMap<u32, Head> = records.iter().map(|r| (r.head.tid, r.head)).collect();
    assert_eq!(alive.len(), 4);
    subject.signal(libc::SIGKILL);
    let mut group_dead = 0;
    poll_until(&mut rings, |r| {
        // The first may be freed before the last has ended.
        if u32::from(r.head.kind) == FT_KIND_FREE {
            return false;
        }
        assert_eq!(u32::from(r.head.kind), FT_KIND_EXIT);
        let before = alive.remove(&r.head.tid).expect("each ends once");
        assert_eq!(before.start_boottime, r.head.start_boottime);
        assert!(r.head.run_ns >= before.run_ns);
        group_dead += u32::from(r.head.status & FT_GROUP_DEAD != 0);
        alive.is_empty()
    });
    assert!(group_dead >= 1);
    assert_eq!(kernel.counters().life_dropped, 0);
}

#[test]
fn life_exec_gives_a_record_with_the_next_generation() {
    let Some(_alone) = alone() else { return };
    let mut subject = Subject::start(&["exec", "/bin/sleep"]);
    let (mut kernel, mut rings) = open(Target::All, 0);
    let before = pass_until(&mut kernel, |r| r.head.tid == subject.pid());
    subject.tell();
    let pid = subject.pid();
    let exec = poll_until(&mut rings, |r| {
        u32::from(r.head.kind) == FT_KIND_EXEC && r.head.tid == pid
    });
    assert_eq!(&exec.head.comm[..6], b"sleep\0");
    assert_eq!(exec.head.self_exec_id, before.head.self_exec_id + 1);
    assert_eq!(
        exec.head.process_start_boottime,
        before.head.process_start_boottime
    );
}

fn drain(mappings: &mut Mappings) -> Vec<MappingEvent> {
    let mut events = VecDeque::new();
    mappings.drain(&mut events);
    events.into()
}

#[test]
fn mappings_exec_is_told_first_then_what_it_maps_with_file_and_time() {
    let Some(_alone) = alone() else { return };
    let mut mappings = Mappings::open().unwrap();
    let mut child = Command::new("/bin/sleep").arg("0").spawn().unwrap();
    child.wait().unwrap();
    let events = drain(&mut mappings);
    assert!(events.is_sorted_by_key(|event| event.time));
    let own: Vec<_> = events.iter().filter(|e| e.tgid == child.id()).collect();
    let exec = own.iter().position(|e| e.what == MappingChange::Exec);
    let (_, after) = own.split_at(exec.expect("an exec"));
    let file = std::fs::metadata("/bin/sleep").unwrap();
    let program = after.iter().find_map(|event| match &event.what {
        MappingChange::Mapped(mapping) if mapping.path.ends_with(b"/sleep") => Some(mapping),
        _ => None,
    });
    let program = program.unwrap_or_else(|| panic!("{after:?}"));
    assert_eq!(program.inode, file.ino());
    assert!(program.start < program.end && program.start % 4096 == 0);
    let vdso =
        |e: &&&MappingEvent| matches!(&e.what, MappingChange::Mapped(m) if &*m.path == b"[vdso]");
    assert_eq!(after.iter().filter(vdso).count(), 1);
    assert!(drain(&mut mappings).iter().all(|e| e.tgid != child.id()));
}

#[test]
fn mappings_more_than_the_ring_holds_are_counted_as_lost() {
    let Some(_alone) = alone() else { return };
    let mut mappings = Mappings::open().unwrap();
    let map = || {
        let (size, flags) = (4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping that nothing else uses, and its end.
        unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_EXEC,
                flags,
                -1,
                0,
            );
            assert_ne!(page, libc::MAP_FAILED);
            libc::munmap(page, size);
        }
    };
    const MAPPED: u64 = 20_000;
    (0..MAPPED).for_each(|_| map());
    let mut events = drain(&mut mappings);
    // The kernel tells of a loss beside what comes next on that CPU.
    let begin = Instant::now();
    let own = std::process::id();
    let sum = |events: &[MappingEvent]| -> u64 {
        let weigh = |event: &MappingEvent| match event.what {
            MappingChange::Lost(count) => count,
            MappingChange::Mapped(_) if event.tgid == own => 1,
            _ => 0,
        };
        events.iter().map(weigh).sum()
    };
    while sum(&events) < MAPPED {
        assert!(begin.elapsed() < PATIENCE, "{} of {MAPPED}", sum(&events));
        map();
        std::thread::sleep(Duration::from_millis(10));
        events.extend(drain(&mut mappings));
    }
    assert!(
        events
            .iter()
            .any(|e| matches!(e.what, MappingChange::Lost(count) if count > 0))
    );
}
