//! Tests of which mappings a sample is walked by.

use flametop_kernel::{Mapping, MappingChange, MappingEvent};
use flametop_unwind::{Prober as Files, ProcessFolder, RuntimeKnown};

use super::{
    follow::MOST_FOLLOWED,
    told::tests::{lost, mapped},
    *,
};
use crate::tasks::tests::head;

fn mappings() -> Mappings {
    let prober = Prober::new(std::path::Path::new("/nonexistent")).expect("a prober");
    Mappings {
        told: Told::default(),
        ..Mappings::new(None, BootClock::default(), Arc::new(prober))
    }
}

#[test]
fn follow_others_mapped_too_much_same_count_of_pages_keeps_what_is_known() {
    let mut modules = Modules::new(1 << 20);
    let mut mappings = mappings();
    let met = head(7, 60);
    let empty = Arc::new(ProcessMaps::empty(met.tgid));
    let mut maps = Maps {
        history: Some(MapHistory::new(met.tgid, 10, empty)),
        synced: 20,
        read: met.ktime,
        ..Maps::default()
    };
    mappings.told.drained = 30;
    assert!(!mappings.follow(&met, &mut maps, &mut modules));
    assert_eq!((maps.synced, maps.exec_vm), (30, met.exec_vm));
    mappings.told.drained = 50;
    mappings.told.take(lost(3));
    assert!(!mappings.follow(&met, &mut maps, &mut modules));
    assert_eq!(maps.missed, None, "as many pages as before");
    let moved = Head { exec_vm: 11, ..met };
    assert!(!mappings.follow(&moved, &mut maps, &mut modules));
    assert_eq!(maps.missed, Some(31));
}

#[test]
fn meet_exec_then_more_mappings_than_are_followed_are_asked_for() {
    let own = std::process::id();
    let mut modules = Modules::new(1 << 20);
    for (count, read) in [(MOST_FOLLOWED, false), (MOST_FOLLOWED + 1, true)] {
        let mut mappings = mappings();
        let seen = Head {
            tgid: own,
            ..head(own, 60)
        };
        mappings.told.take(MappingEvent {
            time: 5_000_000_000,
            tgid: own,
            what: MappingChange::Exec,
        });
        for time in 1..=count as u64 {
            mappings.told.take(mapped(own, 5_000_000_000 + time));
        }
        mappings.told.drained = 6_000_000_000;
        let mut maps = Maps::default();
        let asked = mappings.meet(&seen, &mut maps, &mut modules);
        assert_eq!(
            (asked, maps.asked, maps.read() > 0),
            (read, read, read),
            "{count}"
        );
        assert_eq!(maps.history.is_some(), !read, "{count}");
    }
}

#[test]
fn advance_file_that_nobody_saw_is_asked_for_and_holds_only_later_samples_up() {
    let mut modules = Modules::asking(1 << 20);
    let mut mappings = mappings();
    let seen = Head {
        ktime: 50,
        ..head(7, 60)
    };
    let empty = Arc::new(ProcessMaps::empty(seen.tgid));
    let mut maps = Maps {
        history: Some(MapHistory::new(seen.tgid, 10, empty)),
        synced: 20,
        ..Maps::default()
    };
    let file = MappingEvent {
        time: 40,
        tgid: seen.tgid,
        what: MappingChange::Mapped(Mapping {
            start: 4096,
            end: 8192,
            inode: 7,
            ..Mapping::default()
        }),
    };
    mappings.told.take(mapped(seen.tgid, 30));
    mappings.told.take(file);
    mappings.told.drained = 60;
    assert!(mappings.advance(&seen, &mut maps, &mut modules));
    assert_eq!((maps.asked, maps.synced), (true, 30));
    let before = Head { ktime: 39, ..seen };
    assert!(!mappings.advance(&before, &mut maps, &mut modules));
    let history = maps.history.as_ref().expect("a history");
    assert!(history.at(39).expect("known").is_executable(8));
    mappings.told.see(seen.tgid, &[(40, 4096)], None);
    maps.asked = false;
    assert!(!mappings.advance(&seen, &mut maps, &mut modules));
    assert_eq!(maps.synced, 60);
}

#[test]
fn read_part_at_another_address_or_where_all_are_wanted_is_asked_for_anew() {
    let process = ProcessFolder::open(std::process::id()).expect("own folder");
    let head = head(7, 60);
    for (one, fits) in [(Some(0x10), true), (Some(0x20), false), (None, false)] {
        let part = Files::default().maps_at(&process, 0x10, RuntimeKnown::default());
        let part = part.expect("own mappings");
        let fits = fits || !part.is_part();
        let mut maps = Maps {
            asked_at: Some(0x10),
            come: Some(Ok((50, part))),
            ..Maps::default()
        };
        let read = mappings().read(&head, &mut maps, one);
        assert_eq!(matches!(read, Read::Come(_)), fits, "{one:?}");
        assert_eq!(matches!(read, Read::Asked), !fits, "{one:?}");
        assert_eq!(maps.asked_at, if fits { Some(0x10) } else { one });
    }
}

#[test]
fn read_who_has_had_its_lines_ends_at_the_limit_and_others_are_asked_for() {
    let mut mappings = mappings();
    let mut greedy = Maps::default();
    let of = |tgid, uid| Head {
        uid,
        ..head(tgid, 60)
    };
    let now = os::monotonic();
    mappings.lines.spend(&mut greedy.lines, 1, now, 10 * LINES);
    let read = mappings.read(&of(7, 1), &mut greedy, None);
    assert!(matches!(read, Read::No));
    assert_eq!(greedy.missing, Some(End::Limit));
    let read = mappings.read(&of(8, 1), &mut Maps::default(), None);
    assert!(matches!(read, Read::Asked), "another of that user");
    let lines = 10 * LINES_OF_USER;
    mappings.lines.spend(&mut Purse::default(), 1, now, lines);
    let read = mappings.read(&of(9, 1), &mut Maps::default(), None);
    assert!(matches!(read, Read::No));
    let read = mappings.read(&of(10, 2), &mut Maps::default(), None);
    assert!(matches!(read, Read::Asked), "another user");
}
