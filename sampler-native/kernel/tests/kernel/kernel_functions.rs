//! Functions of the kernel as sources. Where a kernel has no probes of them, its words are tested.

use flametop_kernel::events::{Hook, SourceSpec, Weight};

use super::{
    events::{Scene, held, own, said},
    *,
};

fn hook(functions: &[&str], returns: bool) -> Hook {
    Hook::Kernel {
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        returns,
    }
}

/// Whether this kernel lets its functions be probed; if not, it is refused in words.
fn can_be_probed(scene: &mut Scene) -> bool {
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let words = if lockdown.contains("[confidentiality]") {
        "lockdown (confidentiality) forbids probes of kernel functions; boot with lockdown=integrity"
    } else if !Path::new("/sys/bus/event_source/devices/kprobe").exists() {
        "CONFIG_KPROBES=y"
    } else {
        return true;
    };
    let spec = SourceSpec {
        hook: hook(&["vfs_read"], false),
        weight: Weight::Each(1),
        filter: Vec::new(),
    };
    let why = scene.events().attach(0, spec).unwrap_err();
    assert!(format!("{why:#}").contains(words), "{why:#}");
    println!("refused: {why:#}");
    false
}

/// Start and end of a function of the kernel.
pub fn symbol(name: &str) -> std::ops::Range<u64> {
    let text = std::fs::read_to_string("/proc/kallsyms").unwrap();
    let mut all: Vec<(u64, &str)> = text
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_whitespace();
            let address = u64::from_str_radix(parts.next()?, 16).ok()?;
            Some((address, parts.nth(1)?))
        })
        .collect();
    all.sort_unstable();
    let at = all.iter().position(|(_, of)| *of == name).unwrap();
    let start = all[at].0;
    let next = all[at..].iter().find(|(address, _)| *address > start);
    start..next.unwrap().0
}

#[test]
fn kernel_function_s_calls_are_counted_to_the_digit_with_who_called_it() {
    let Some(_alone) = alone() else { return };
    let count = 3000;
    let mut scene = Scene::open(&["writes", &count.to_string()]);
    if !can_be_probed(&mut scene) {
        return;
    }
    let calls = scene.attach(hook(&["write_null"], false), Weight::Each(1));
    let bytes = scene.attach(hook(&["write_null"], false), Weight::Argument(2));
    let returned = scene.attach(hook(&["write_null"], true), Weight::Returned);
    let (lines, records) = scene.run();
    let sum = said(&lines, "sum");
    let totals = scene.totals(calls);
    assert_eq!((totals.hits, totals.weight), (count, count), "{totals:?}");
    assert_eq!(totals.passed_over, 0, "{totals:?}");
    for id in [bytes, returned] {
        let totals = scene.totals(id);
        assert_eq!((totals.hits, totals.weight), (count, sum), "{totals:?}");
    }
    let (caller, callee) = (symbol("vfs_write"), symbol("write_null"));
    for (number, at_entry) in [(calls.0, true), (returned.0, false)] {
        let of: Vec<_> = records
            .iter()
            .filter(|r| r.event.unwrap().source == number)
            .collect();
        assert!(of.len() > 100, "{}", of.len());
        for record in of {
            let stack = record.stack.as_ref().unwrap();
            let kernel = &stack.kernel;
            assert!(
                kernel.iter().any(|a| caller.contains(a)),
                "{number}: {kernel:x?}"
            );
            assert_eq!(
                at_entry,
                callee.contains(&kernel[0]),
                "{number}: {kernel:x?}"
            );
            assert!(kernel.len() > 2, "{number}: {kernel:x?}");
            // The user half is that of the call.
            assert!(!stack.user.is_empty() && record.head.status & FT_USER_MODE == 0);
        }
    }
}

#[test]
fn kernel_function_s_duration_is_within_the_program_s_own_clock_and_counts_once() {
    let Some(_alone) = alone() else { return };
    let (count, ns) = (40, 5_000_000);
    let mut scene = Scene::open(&["sleeps", &count.to_string(), &ns.to_string()]);
    if !can_be_probed(&mut scene) {
        return;
    }
    // The second calls the first.
    let sleeps = scene.attach(hook(&["hrtimer_nanosleep"], true), Weight::Duration);
    let nested = [
        "hrtimer_nanosleep",
        "do_nanosleep",
        "__x64_sys_clock_nanosleep",
    ];
    let nested = scene.attach(hook(&nested, true), Weight::Duration);
    let (lines, records) = scene.run();
    let own = said(&lines, "slept");
    for id in [sleeps, nested] {
        let totals = scene.totals(id);
        println!("{totals:?} of {own}");
        assert_eq!(totals.hits, count, "{totals:?}");
        assert!(
            (count * ns..=own).contains(&totals.weight),
            "{totals:?} of {own}"
        );
    }
    let function = symbol("__x64_sys_clock_nanosleep");
    let of = records
        .iter()
        .filter(|r| r.event.unwrap().source == nested.0);
    for record in of {
        let at = record.event.unwrap().function;
        assert!(function.contains(&at), "{at:x} of {function:x?}");
    }
}

#[test]
fn kernel_functions_by_the_dozen_are_one_link_and_leave_nothing() {
    let Some(_alone) = alone() else { return };
    let mut scene = Scene::open(&["writes", "100"]);
    if !can_be_probed(&mut scene) {
        return;
    }
    let tracefs = flametop_events::Tracefs::open().unwrap();
    let list = tracefs.read("available_filter_functions").unwrap();
    let mut names: Vec<&str> = list
        .lines()
        .filter(|name| name.starts_with("vfs_") && !name.contains(' '))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() > 20, "{names:?}");
    let traces = || {
        let enabled = tracefs.read("enabled_functions").unwrap_or_default();
        (tracefs.read("kprobe_events").unwrap_or_default(), enabled)
    };
    // The first source makes the map that all share.
    let warm = scene.attach(hook(&names[..1], false), Weight::Each(1));
    scene.events().detach(warm).unwrap();
    let before = (traces(), own());
    let id = scene.attach(hook(&names, false), Weight::Each(1));
    let links: Vec<_> = own()
        .difference(&before.1)
        .filter(|(kind, _)| *kind == "link_id")
        .copied()
        .collect();
    // Debian's 6.1 has no such links.
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap();
    let due = match symbols.contains(" register_fprobe_ips\n") {
        true => 1,
        false => names.len(),
    };
    assert_eq!(links.len(), due, "{links:?}");
    let of_source = own().difference(&before.1).copied().collect();
    scene.run();
    let totals = scene.totals(id);
    assert!(totals.hits > 100, "{totals:?}");
    scene.events().detach(id).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !held(&of_source).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(held(&of_source), [], "{links:?}");
    while traces() != before.0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(traces(), before.0);
}
