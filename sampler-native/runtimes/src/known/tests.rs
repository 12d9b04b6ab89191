use super::*;
use crate::{Kind, Name};

fn code(begin: u64, number: u64, name: &str) -> Found {
    let code = Code {
        begin,
        end: begin + 0x100,
        kind: Kind::Compiled,
        number,
        frame: 4,
        complete: 0,
        pushed: 0,
        made: 0,
        exits: Box::default(),
        deopt: 0,
        deopt_slot: 0,
        stops: Box::default(),
        stop_scopes: Box::default(),
        scopes: Box::default(),
        leaves: Box::default(),
        names: [Name::of(name.as_bytes())].into(),
    };
    Found::Code(begin, Some(Box::new(code)))
}

fn name(known: &mut Known, names: &Names, address: u64) -> Option<String> {
    match known.code(address) {
        Looked::There(piece) => {
            let name = names.get(piece.names[0]?)?;
            Some(String::from_utf8_lossy(&name.function).into_owned())
        }
        _ => None,
    }
}

#[test]
fn code_that_is_lacking_is_asked_for_once_and_known_when_it_came() {
    let (mut known, mut names) = (Known::default(), Names::default());
    known.begin(1);
    assert!(name(&mut known, &names, 0x1010).is_none() && known.is_lacking());
    let asks = known.take_asks();
    assert_eq!(asks, [Lack::Code(0x1010)]);
    known.begin(2);
    assert!(name(&mut known, &names, 0x1010).is_none() && known.is_lacking());
    assert!(known.take_asks().is_empty(), "it is on its way");
    known.come(&asks, Some(vec![code(0x1000, 1, "a.B.c")]), &mut names, 3);
    known.begin(4);
    assert_eq!(name(&mut known, &names, 0x10ff).as_deref(), Some("a.B.c"));
    assert!(!known.is_lacking());
    assert!(name(&mut known, &names, 0x1100).is_none() && known.is_lacking());
}

#[test]
fn code_where_nothing_is_is_not_asked_for_again_for_a_while() {
    let (mut known, mut names) = (Known::default(), Names::default());
    for (found, now, rest) in [
        (Some(vec![Found::Code(8, None)]), 10, NOTHING),
        (None, 10 + 2 * NOTHING, SILENT),
    ] {
        known.begin(now);
        assert!(matches!(known.code(8), Looked::Lacking));
        let asks = known.take_asks();
        known.come(&asks, found, &mut names, now);
        known.begin(now + rest - 1);
        assert!(matches!(known.code(8), Looked::Nothing) && !known.is_lacking());
    }
}

#[test]
fn code_that_is_used_is_read_again_and_replaced_by_what_lies_there_then() {
    let (mut known, mut names) = (Known::default(), Names::default());
    known.come(&[], Some(vec![code(0x1000, 1, "old")]), &mut names, 0);
    known.begin(AGAIN);
    assert_eq!(name(&mut known, &names, 0x1000).as_deref(), Some("old"));
    assert!(!known.is_lacking(), "no walk waits for it");
    let asks = known.take_asks();
    assert_eq!(asks, [Lack::Again(0x1000, 1)]);
    known.come(&asks, Some(vec![code(0xf80, 2, "new")]), &mut names, AGAIN);
    assert_eq!(name(&mut known, &names, 0x1000).as_deref(), Some("new"));
    assert_eq!(name(&mut known, &names, 0x1080), None);
    assert_eq!(known.codes.len(), 1);
}

#[test]
fn doubt_code_is_read_again_unless_it_was_read_just_now() {
    let (mut known, mut names) = (Known::default(), Names::default());
    known.come(&[], Some(vec![code(0x1000, 1, "old")]), &mut names, 10);
    known.begin(10 + DOUBTED - 1);
    assert!(!known.doubt(0x1080) && !known.is_lacking());
    known.begin(10 + DOUBTED);
    assert!(known.doubt(0x1080) && known.is_lacking());
    assert_eq!(known.take_asks(), [Lack::Code(0x1080)]);
    assert_eq!(name(&mut known, &names, 0x1000), None);
}

#[test]
fn method_by_words_is_known_wherever_it_lies_and_read_again() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let method = |name: &str, begin: u64| Method {
        name: Name::of(name.as_bytes()),
        begin,
        end: 9,
        lines: Box::default(),
        is_native: false,
        start: 0,
        is_by_words: true,
    };
    let found = |at, name, begin| Found::Method(at, Some(Box::new(method(name, begin))));
    let name = |known: &mut Known, names: &Names, at, begin| match known.method_by(at, [begin, 9]) {
        Looked::There(method) => names.get(method.name?).map(|name| name.function.to_vec()),
        _ => None,
    };
    known.begin(1);
    assert_eq!(name(&mut known, &names, 0x100, 1), None);
    assert_eq!(known.take_asks(), [Lack::Method(0x100)]);
    // Another one lay there when it was read.
    let asks = [Lack::Method(0x100)];
    known.come(&asks, Some(vec![found(0x100, "other", 2)]), &mut names, 1);
    assert_eq!(name(&mut known, &names, 0x100, 1), None);
    known.come(&asks, Some(vec![found(0x100, "one", 1)]), &mut names, 1);
    assert_eq!(
        name(&mut known, &names, 0x300, 1).as_deref(),
        Some(&b"one"[..])
    );
    assert_eq!(
        name(&mut known, &names, 0x100, 2).as_deref(),
        Some(&b"other"[..])
    );
    known.begin(1 + NOTHING);
    assert_eq!(
        name(&mut known, &names, 0x300, 1).as_deref(),
        Some(&b"one"[..])
    );
    assert!(!known.is_lacking(), "no walk waits for it");
    assert_eq!(known.take_asks(), [Lack::Method(0x300)]);
    known.come(
        &[Lack::Method(0x300)],
        Some(vec![found(0x300, "new", 1)]),
        &mut names,
        2,
    );
    assert_eq!(
        name(&mut known, &names, 0x100, 1).as_deref(),
        Some(&b"new"[..])
    );
}

#[test]
fn come_more_lines_than_are_held_forgets_methods_that_are_not_used_or_leaves_lines_out() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let method = |at: u64| {
        let method = Method {
            name: Name::of(b"a.B.c"),
            begin: at,
            end: at + 1,
            lines: (0..4096).map(|at| (at, 1)).collect(),
            is_native: false,
            start: 0,
            is_by_words: false,
        };
        Found::Method(at, Some(Box::new(method)))
    };
    let lines = |known: &mut Known, at: u64| match known.method(at) {
        Looked::There(method) => Some(method.lines.len()),
        _ => None,
    };
    let full = MOST_LINES as u64 / 4096;
    let all = (0..=full).map(method).collect();
    known.come(&[], Some(all), &mut names, 1);
    assert_eq!(lines(&mut known, full - 1), Some(4096));
    assert_eq!(lines(&mut known, full), Some(0), "there is no room");
    known.begin(1 + NOTHING);
    assert_eq!(lines(&mut known, 0), Some(4096));
    known.come(&[], Some(vec![method(full)]), &mut names, 1 + NOTHING);
    assert_eq!(lines(&mut known, full), Some(4096));
    assert_eq!((known.methods.len(), known.lines), (2, 2 * 4096));
}

#[test]
fn come_more_code_than_is_held_forgets_what_was_not_used_for_longest() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let mut now = 0;
    for index in 0..60_000u64 {
        now += 1;
        let found = vec![code(0x1000 * (index + 1), index, "same")];
        known.come(&[], Some(found), &mut names, now);
        known.begin(now);
        assert!(
            matches!(known.code(0x1000), Looked::There(_)),
            "it is in use"
        );
        assert!(known.bytes() <= MOST_BYTES);
    }
    let held = known.codes.values().map(|entry| entry.piece.bytes());
    assert_eq!(held.sum::<usize>(), known.bytes());
    assert!(known.codes.len() > 10_000);
    assert_eq!(known.names().collect::<HashSet<_>>().len(), 1);
}

fn holder() -> Holder {
    Holder {
        number: 8,
        name: (*b"main").into(),
    }
}

#[test]
fn holder_is_that_of_the_sleep_and_read_after_the_thread_was_seen() {
    let (mut known, mut names) = (Known::default(), Names::default());
    known.begin(10);
    assert!(known.holder(5, 3, 10).is_none() && known.is_lacking());
    assert!(known.take_asks().is_empty());
    let asks = known.take_holders();
    assert_eq!(asks, [Lack::Holder(5, 0, 3)]);
    let found = vec![Found::Holder(5, 3, Blocked::By(holder()))];
    known.come(&asks, Some(found), &mut names, 20);
    known.begin(30);
    assert_eq!(known.holder(5, 3, 10), Some(holder()));
    assert_eq!(known.holder(5, 3, 20), Some(holder()));
    assert!(!known.is_lacking());
    for (thread, switches, seen) in [(5, 3, 21), (5, 4, 10), (6, 3, 10)] {
        known.begin(30);
        assert_eq!(known.holder(thread, switches, seen), None);
        known.take_asks();
        let asks = [Lack::Holder(thread, 0, switches)];
        assert_eq!(known.take_holders(), asks);
    }
    known.begin(30);
    let found = vec![Found::Holder(6, 3, Blocked::Unsure)];
    known.come(&[Lack::Holder(6, 0, 3)], Some(found), &mut names, 40);
    assert!(known.holder(6, 3, 30).is_none() && !known.is_lacking());
}

#[test]
fn take_holders_has_those_of_all_threads_until_they_are_too_many() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let count = MOST_HOLDERS as u32 + 9;
    for thread in 1..=count {
        known.begin(10);
        known.code(0x1000);
        known.holder(thread, 3, 10);
        let code = known.take_asks();
        assert_eq!(code.len(), usize::from(thread == 1), "on its way");
        assert!(known.is_holder_awaited() && known.is_awaited());
    }
    let (first, second) = (known.take_holders(), known.take_holders());
    assert_eq!((first.len(), second.len()), (MOST_HOLDERS, 9));
    assert!(known.take_holders().is_empty());
    let all = [first.clone(), second].concat();
    assert!(
        all.into_iter()
            .eq((1..=count).map(|thread| Lack::Holder(thread, 0, 3)))
    );
    known.begin(20);
    known.holder(1, 3, 10);
    assert!(known.is_holder_awaited() && !known.is_awaited());
    // Refused: nobody waits.
    known.come(&first, None, &mut names, 20);
    known.begin(30);
    known.holder(1, 3, 10);
    assert!(!known.is_lacking() && !known.is_holder_awaited());
}

#[test]
fn may_be_blocked_thread_on_no_lock_is_false_until_it_has_run() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let of = |blocked| vec![Found::Holder(5, 3, blocked)];
    for (blocked, expected) in [
        (Blocked::Unsure, true),
        (Blocked::By(holder()), true),
        (Blocked::Not, false),
    ] {
        assert!(known.may_be_blocked(5, 3));
        known.come(&[], Some(of(blocked)), &mut names, 20);
        assert_eq!(known.may_be_blocked(5, 3), expected);
        assert!(known.may_be_blocked(5, 4) && known.may_be_blocked(6, 3));
    }
}

#[test]
fn number_of_an_address_that_another_thread_has_by_now_is_the_later_threads() {
    let (mut known, mut names) = (Known::default(), Names::default());
    let thread = |identity| Thread {
        address: 0x5000,
        identity,
        lock: 0,
        from_pointer: 0,
    };
    for number in 1..9 {
        known.begin(u64::from(number));
        let found = vec![Found::Thread(number, Some(thread(number.into())))];
        known.come(&[Lack::Thread(number, 0)], Some(found), &mut names, 10);
        assert_eq!(known.number_of(0x5000), Some(number));
    }
    assert!(known.known_thread(7).is_none() && known.known_thread(8).is_some());
    assert_eq!(known.number_of(0x5008), None);
}
