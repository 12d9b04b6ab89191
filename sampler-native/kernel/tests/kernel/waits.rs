//! Waits as sources: who woke whom, who waits for locks of the kernel, stretches between two tracepoints.

use flametop_events::Tracefs;
use flametop_kernel::events::{Budget, EventTotals, Hook, SourceId, SourceSpec, Weight};

use super::*;

fn attach(kernel: &mut Kernel, hook: Hook) -> SourceId {
    let events = kernel.events().unwrap();
    let spec = SourceSpec {
        hook,
        weight: Weight::Duration,
        filter: Vec::new(),
    };
    let id = events.attach(5, spec).unwrap_or_else(|e| panic!("{e:#}"));
    events.set_most(id, 0);
    id
}

/// Reads the rings until all stacks of the source are there, and returns its totals.
fn drain(
    kernel: &mut Kernel,
    rings: &mut Rings,
    id: SourceId,
    records: &mut Vec<Kept>,
    each: usize,
) -> EventTotals {
    let begin = Instant::now();
    loop {
        rings
            .poll(Duration::from_millis(20), &mut |r| {
                records.push(Kept::new(r))
            })
            .unwrap();
        let totals = kernel.events().unwrap().totals(id).unwrap();
        let of = records.iter().filter(|r| r.event.is_some()).count() as u64;
        if of + each as u64 * totals.lost >= each as u64 * totals.taken {
            return totals;
        }
        assert!(begin.elapsed() < PATIENCE, "{of} records of {totals:?}");
    }
}

#[test]
fn waits_each_has_the_stacks_of_waker_and_waiter_and_all_add_up() {
    let Some(_alone) = alone() else { return };
    let words = "echo ready; read x; for i in 1 2 3 4 5; do sleep 0.1; done; echo done; read x";
    let mut subject = Subject::of(Command::new("sh").args(["-c", words]));
    wait_until(|| proc_state(subject.pid()) == Some('S'));
    let (mut kernel, mut rings) = open(Target::Processes(vec![subject.pid()]), 0);
    let id = attach(&mut kernel, Hook::Wake);
    let begin = Instant::now();
    subject.tell();
    subject.hear("done");
    let took = begin.elapsed().as_secs_f64() * 1e9;
    let mut records = Vec::new();
    let totals = drain(&mut kernel, &mut rings, id, &mut records, 2);
    assert_eq!((totals.lost, totals.missed), (0, 0), "{totals:?}");
    // The first wait began before it was told to begin.
    assert!(totals.hits >= 6, "{totals:?}");
    assert!(totals.weight as f64 > 0.45e9 && (totals.weight as f64) < took + 60e9);
    assert_eq!(totals.hits, totals.weights.iter().sum::<u64>());
    let of = |kind: u32| {
        let of_kind = records
            .iter()
            .filter(move |r| u32::from(r.head.kind) == kind);
        of_kind.map(|r| (r.event.unwrap(), r))
    };
    let mut joined = 0;
    for (event, waiter) in of(FT_KIND_EVENT) {
        assert_eq!((event.source, waiter.head.tgid), (5, subject.pid()));
        let stack = waiter.stack.as_ref().unwrap();
        assert!(!stack.user.is_empty() && stack.kernel.len() > 2);
        let wakers = of(FT_KIND_WAKER).filter(|(of, _)| of.wait == event.wait);
        let wakers: Vec<_> = wakers.collect();
        assert_eq!(wakers.len(), 1, "of wait {}", event.wait);
        let (of_waker, waker) = wakers[0];
        assert_eq!((of_waker.weight, of_waker.rate), (event.weight, event.rate));
        assert_ne!(waker.head.tid, subject.pid());
        assert!(!waker.stack.as_ref().unwrap().kernel.is_empty());
        joined += 1;
    }
    assert_eq!(joined, totals.taken);
    kernel.events().unwrap().detach(id).unwrap();
}

#[test]
fn waits_for_a_lock_of_the_kernel_are_timed_with_the_stack_that_waits() {
    let Some(_alone) = alone() else { return };
    let tracefs = Tracefs::open().unwrap();
    let number = |name: &str| tracefs.id("lock", name).unwrap();
    let mut scene = events::Scene::open(&["contention", "4", "3000"]);
    let (kernel, rings) = (&mut scene.kernel, &mut scene.rings);
    let id = attach(
        kernel,
        Hook::Lock {
            begin: number("contention_begin"),
            end: number("contention_end"),
        },
    );
    kernel.events().unwrap().set_rate(id, 0);
    let begin = Instant::now();
    scene.subject.tell();
    scene.subject.hear("done");
    let took = begin.elapsed().as_nanos() as u64;
    let mut records = Vec::new();
    let totals = drain(kernel, rings, id, &mut records, 1);
    println!("{totals:?} in {took} ns");
    assert!(totals.hits > 10, "{totals:?}");
    // Four threads, one of which has the lock.
    assert!(totals.weight < 4 * took, "{totals:?} in {took} ns");
    let with_stacks = records
        .iter()
        .filter_map(|r| Some((r.event?, r.stack.as_ref()?)));
    let mut long = 0;
    for (event, stack) in with_stacks {
        assert!(!stack.kernel.is_empty() && event.weight <= took);
        long += u64::from(event.weight > 1000);
    }
    assert!(long > 0);
}

#[test]
fn waits_stretches_between_two_tracepoints_are_timed_on_their_cpu() {
    let Some(_alone) = alone() else { return };
    let tracefs = Tracefs::open().unwrap();
    let number = |name: &str| tracefs.id("irq", name).unwrap();
    let busy = Subject::start(&["busy"]);
    let (mut kernel, mut rings) = open(Target::Processes(vec![busy.pid()]), 0);
    // Softirqs stand for interrupts that are off, which few kernels tell of.
    let id = attach(
        &mut kernel,
        Hook::Off {
            interrupts: Some([number("softirq_entry"), number("softirq_exit")]),
            preemption: None,
        },
    );
    let mut records = Vec::new();
    wait_until(|| {
        let totals = drain(&mut kernel, &mut rings, id, &mut records, 1);
        totals.hits > 20
    });
    let totals = kernel.events().unwrap().detach(id).unwrap();
    assert!(
        totals.weight > 0 && totals.weight < 60_000_000_000,
        "{totals:?}"
    );
    for record in records.iter().filter(|r| r.event.is_some()) {
        assert_eq!(record.head.tgid, busy.pid());
    }
}

#[test]
fn waits_in_a_storm_are_braked() {
    let Some(_alone) = alone() else { return };
    let mut scene = events::Scene::open(&["contention", "8", "6000"]);
    let (kernel, rings) = (&mut scene.kernel, &mut scene.rings);
    let id = attach(kernel, Hook::Wake);
    let budget = Budget {
        stacks: 200.0,
        share: 0.01,
    };
    let events = kernel.events().unwrap();
    let seen = events.all_totals();
    events.steer(&budget, &seen);
    scene.subject.tell();
    let mut records = Vec::new();
    let hear = || scene.subject.hear("done");
    std::thread::scope(|scope| {
        let heard = scope.spawn(hear);
        while !heard.is_finished() {
            rings
                .poll(Duration::from_millis(5), &mut |r| {
                    records.push(Kept::new(r))
                })
                .unwrap();
        }
        heard.join().unwrap()
    });
    let totals = drain(kernel, rings, id, &mut records, 2);
    println!("{totals:?}");
    assert_eq!(totals.hits, totals.taken + totals.limited + totals.missed);
    assert!(totals.taken < 200 + totals.hits / 10, "{totals:?}");
}
