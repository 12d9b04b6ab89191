//! Probes of functions and of a program's own.

use super::*;

#[test]
fn events_durations_are_those_of_the_programs_own_clock_and_recursion_counts_once() {
    let Some(_alone) = alone() else { return };
    let count = 200;
    let mut scene = Scene::open(&["durations", &count.to_string()]);
    let nest = scene.function("nest", true);
    let nest = scene.attach(nest, Weight::Duration);
    let entries = scene.function("nest", false);
    let entries = scene.attach(entries, Weight::Argument(0));
    let outer = scene.function("outer", true);
    let outer = scene.attach(outer, Weight::Duration);
    let inner = scene.function("inner", true);
    let inner = scene.attach(inner, Weight::Duration);
    let leaves = scene.function("leaves", true);
    let leaves = scene.attach(leaves, Weight::Duration);
    let deep = scene.function("deep", true);
    let deep = scene.attach(deep, Weight::Duration);
    let deep_entries = scene.function("deep", false);
    let deep_entries = scene.attach(deep_entries, Weight::Each(1));
    let (lines, records) = scene.run();
    // Whatever else runs on the machine: not less than the calls spin, nor more than the program sees around them.
    let within =
        |ns: u64, spun: u64, own: u64| assert!((spun..=own).contains(&ns), "{spun} {ns} {own}");
    let totals = scene.totals(nest);
    assert_eq!(totals.hits, count, "{totals:?}");
    within(totals.weight, count * 10 * 100_000, said(&lines, "nest"));
    let totals = scene.totals(entries);
    assert_eq!((totals.hits, totals.weight), (10 * count, 45 * count));
    let totals = scene.totals(outer);
    assert_eq!(totals.hits, count);
    within(totals.weight, count * 2 * 200_000, said(&lines, "outer"));
    assert_eq!(scene.totals(inner).hits, 2 * count);
    // Each jump leaves one call, the next is deeper in the stack, and is timed all the same.
    let totals = scene.totals(leaves);
    assert_eq!(totals.hits, count, "{totals:?}");
    assert!(totals.weight >= count * 50_000, "{totals:?}");
    // Of calls that were left there is no return, so no duration: none is made up.
    assert_eq!(scene.totals(deep_entries).hits, 5 * count);
    let totals = scene.totals(deep);
    assert_eq!((totals.hits, totals.weight), (0, 0), "{totals:?}");
    let of_inner: Vec<_> = records
        .iter()
        .filter(|r| r.event.unwrap().source == inner.0)
        .collect();
    assert_eq!(of_inner.len() as u64, 2 * count);
    let (address, outer) = (scene.place("inner").1, scene.place("outer").1);
    let probed = trampoline(scene.subject.pid());
    for record in of_inner {
        assert_eq!(record.event.unwrap().function, address);
        let stack = record.stack.as_ref().unwrap();
        // It has returned to `outer`, whose return address is on the stack as if nobody probed it.
        assert!((outer..outer + 128).contains(&stack.regs[16]));
        let words = stack.user.chunks_exact(8);
        assert!(words.clone().all(|word| word != probed.to_ne_bytes()));
    }
}

#[test]
fn events_sleeper_whose_returns_are_probed_has_a_stack_without_probes() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["waits"]);
    let outside = scene.function("waits_outside", true);
    scene.attach(outside, Weight::Each(1));
    let inside = scene.function("waits_inside", true);
    scene.attach(inside, Weight::Each(1));
    scene.run();
    let pid = scene.subject.pid();
    wait_until(|| proc_state(pid) == Some('S'));
    let probed = trampoline(pid).to_ne_bytes();
    let outside = scene.place("waits_outside").1;
    let seen = pass_until(&mut scene.kernel, |r| {
        r.head.tid == pid && r.stack.as_ref().is_some_and(|s| !s.user.is_empty())
    });
    let stack = seen.stack.unwrap();
    let words: Vec<u64> = stack
        .user
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
        .collect();
    assert!(words.iter().all(|word| word.to_ne_bytes() != probed));
    let is_outside = |word: &&u64| (outside..outside + 128).contains(word);
    assert!(words.iter().any(|word| is_outside(&word)), "{words:x?}");
}

/// Where probed functions of a process return to.
fn trampoline(pid: u32) -> u64 {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let line = maps
        .lines()
        .find(|line| line.ends_with("[uprobes]"))
        .unwrap();
    u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap()
}

#[test]
fn events_usdt_probe_is_watched_by_its_semaphore_and_stands_for_each_of_three_places() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["usdt", "500", "300", "200"]);
    let ids: Vec<_> = (0..3)
        .map(|_| scene.attach(usdt(), Weight::Each(1)))
        .collect();
    let (lines, records) = scene.run();
    assert_eq!(said(&lines, "watched"), 3, "once for each place");
    for id in &ids {
        let totals = scene.totals(*id);
        assert_eq!((totals.hits, totals.weight), (1000, 1000), "{totals:?}");
    }
    let of: Vec<Kept> = records
        .into_iter()
        .filter(|r| r.event.unwrap().source == ids[0].0)
        .collect();
    for (name, hits) in [("first", 500), ("second", 300), ("third", 200)] {
        let address = scene.place(name).1;
        let count = of
            .iter()
            .filter(|r| (address..address + 16).contains(&r.stack.as_ref().unwrap().regs[16]))
            .count();
        assert_eq!(count, hits, "{name}");
    }
}

#[test]
fn events_argument_of_a_probe_is_read_where_each_site_says() {
    use ArgumentPlace::{Constant, Memory, Register as InRegister};
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["usdt", "500", "300", "200"]);
    let (di, sp) = (Register(14), Register(19));
    let sites = [
        ("first", Some(InRegister(di)), 8, true),
        ("second", Some(Constant(7)), 4, false),
        // The program calls it with numbers below 0 nowhere; the low byte of what is on the stack's top is the return address's.
        ("third", Some(Memory(sp, 0, None)), 1, false),
    ];
    let sites: Vec<Site> = sites
        .into_iter()
        .map(|(name, place, bytes, signed)| Site {
            offset: scene.place(name).0,
            entry: true,
            argument: place.map(|place| Argument {
                place,
                bytes,
                signed,
            }),
            ..Site::default()
        })
        .collect();
    let hook = |sites: &[Site]| Hook::User {
        file: probed(),
        sites: sites.to_vec(),
        returns: false,
    };
    let of = |scene: &mut Scene, at: usize| {
        let spec = hook(&sites[at..=at]);
        scene.attach(spec, Weight::Probe)
    };
    let ids = [of(&mut scene, 0), of(&mut scene, 1), of(&mut scene, 2)];
    let all = scene.attach(hook(&sites), Weight::Probe);
    scene.run();
    let totals = ids.map(|id| scene.totals(id));
    let sum = |n: u64| n * (n - 1) / 2;
    assert_eq!((totals[0].hits, totals[0].weight), (500, sum(500)));
    assert_eq!((totals[1].hits, totals[1].weight), (300, 300 * 7));
    assert_eq!(totals[2].hits, 200);
    assert_eq!(totals[2].weight % 200, 0, "each call has the same caller");
    assert!(totals[2].weight / 200 < 256, "one byte: {:?}", totals[2]);
    let weights: u64 = totals.iter().map(|totals| totals.weight).sum();
    assert_eq!(scene.totals(all).weight, weights);
    assert_eq!(scene.totals(all).hits, 1000);
}

#[test]
fn events_five_byte_nop_is_refused_within_a_function_and_safe_where_one_begins() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["nops", "10000"]);
    let spec = |offset, entry| SourceSpec {
        hook: Hook::User {
            file: probed(),
            sites: vec![Site {
                offset,
                entry,
                nop5: true,
                ..Site::default()
            }],
            returns: false,
        },
        weight: Weight::Each(1),
        filter: Vec::new(),
    };
    let (nop, entry) = (scene.place("leaf_nop").0, scene.place("entry_nop").0);
    let why = scene.events().attach(NUMBER, spec(nop, false)).unwrap_err();
    assert!(
        format!("{why:#}").contains("five-byte nop within a function"),
        "{why:#}"
    );
    let id = scene.events().attach(NUMBER, spec(entry, true)).unwrap();
    scene.events().set_rate(id, 1000);
    let (lines, _) = scene.run();
    assert_eq!(
        (said(&lines, "kept"), said(&lines, "same")),
        (10_000, 10_000)
    );
    assert_eq!(scene.totals(id).hits, 10_000);
}
