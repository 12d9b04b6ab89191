//! What is fetched stays within bounds, and is that of who asks.

use super::*;

#[test]
fn ask_files_with_most_frames_without_a_name_are_fetched_first() {
    let scratch = Scratch::new();
    let all = ["liba.so", "libb.so", "light.so", "heavy.so"].map(|n| Stripped::new(&scratch, n));
    let served: Vec<(String, PathBuf)> = all
        .iter()
        .map(|file| (file.address(), file.debug.clone()))
        .collect();
    // How many answers the server may still begin.
    let permits = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&permits);
    let server = Server::start(move |path, stream| {
        until("a permit", || {
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |permits| {
                permits.checked_sub(1)
            });
            taken.is_ok()
        });
        let (_, debug) = served
            .iter()
            .find(|(known, _)| known == path)
            .expect("a file");
        send_file(stream, debug);
    });
    let files: Vec<&Stripped> = all.iter().collect();
    let patient = Debuginfod {
        time_max: PATIENCE,
        ..settings(&scratch, &[&server.address])
    };
    let mut symbolizer = started(patient, &files);
    // Two are fetched at once.
    let first = [query(0, 1, all[0].hidden), query(1, 2, all[1].hidden)];
    ask(&mut symbolizer, &first);
    until("two are on their way", || server.asked().len() == 2);
    ask(&mut symbolizer, &[query(2, 3, all[2].hidden)]);
    let heavy = [query(3, 4, all[3].hidden), query(4, 4, all[3].other)];
    ask(&mut symbolizer, &heavy);
    until("all are wanted", || {
        symbolizer.take_debug_files().counts.wanted == 4
    });
    // One place gets free, hence one file is asked for: with two, the two requests may arrive in either order.
    permits.store(1, Ordering::Relaxed);
    until("a third is on its way", || server.asked().len() == 3);
    permits.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(settled(&mut symbolizer).1.fetched, 4);
    assert_eq!(server.asked()[2..], [all[3].address(), all[2].address()]);
}

#[test]
fn ask_what_is_fetched_stays_below_the_bounds() {
    let scratch = Scratch::new();
    let all = ["liba.so", "libb.so", "libc.so"].map(|n| Stripped::new(&scratch, n));
    let served: Vec<(String, PathBuf)> = all
        .iter()
        .map(|file| (file.address(), file.debug.clone()))
        .collect();
    let server = Server::start(move |path, stream| {
        let (_, debug) = served
            .iter()
            .find(|(known, _)| known == path)
            .expect("a file");
        send_file(stream, debug);
    });
    let size = fs::metadata(&all[0].debug).expect("a file").len();
    let files: Vec<&Stripped> = all.iter().collect();
    let bounded = Debuginfod {
        total_max: size + size / 2,
        ..settings(&scratch, &[&server.address])
    };
    let mut symbolizer = started(bounded, &files);
    for (module, file) in (1..).zip(&all) {
        ask(&mut symbolizer, &[query(0, module, file.hidden)]);
        settled(&mut symbolizer);
    }
    let (_, counts) = settled(&mut symbolizer);
    assert_eq!((counts.fetched, counts.failed), (1, 2), "{counts:?}");
    assert!(counts.bytes <= size + size / 2, "{counts:?}");
    let last = ask(&mut symbolizer, &[query(0, 3, all[2].hidden)]).remove(0);
    assert_eq!(last.source, Source::Limit);
}

#[test]
fn ask_two_files_at_once_near_the_bound_both_come() {
    let scratch = Scratch::new();
    let all = ["liba.so", "libb.so"].map(|n| Stripped::new(&scratch, n));
    let served: Vec<(String, PathBuf)> = all
        .iter()
        .map(|file| (file.address(), file.debug.clone()))
        .collect();
    let server = Server::start(move |path, stream| {
        // Long enough for the other to be asked for meanwhile.
        sleep(Duration::from_millis(300));
        let (_, debug) = served
            .iter()
            .find(|(known, _)| known == path)
            .expect("a file");
        send_file(stream, debug);
    });
    let files: Vec<&Stripped> = all.iter().collect();
    // One may use up all, until it is known how large it is.
    let bounded = Debuginfod {
        total_max: 4 << 20,
        ..settings(&scratch, &[&server.address])
    };
    let mut symbolizer = started(bounded, &files);
    let queries = [query(0, 1, all[0].hidden), query(1, 2, all[1].hidden)];
    ask(&mut symbolizer, &queries);
    until("both are wanted", || {
        symbolizer.take_debug_files().counts.wanted == 2
    });
    let (_, counts) = settled(&mut symbolizer);
    assert_eq!((counts.fetched, counts.failed), (2, 0), "{counts:?}");
}

#[test]
fn ask_cache_that_lies_is_not_believed() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libcached.so");
    let wrong = Stripped::new(&scratch, "libwrong.so").debug;
    type Lie = fn(&Path, &Path, &Path);
    let lies: [Lie; 4] = [
        |at, _, wrong| {
            fs::copy(wrong, at).expect("a copy");
        },
        |at, right, _| symlink(right, at).expect("a link"),
        |at, _, _| {
            let path = CString::new(text(at)).expect("a path");
            // SAFETY: the path outlives the call.
            assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        },
        |at, right, _| {
            let bytes = fs::read(right).expect("a file");
            fs::write(at, &bytes[..bytes.len() / 2]).expect("a file");
        },
    ];
    for lie in lies {
        let at = file.cached(&scratch.path("cache"));
        lie(&at, &file.debug, &wrong);
        let right = file.debug.clone();
        let mut alone = started(settings(&scratch, &[]), &[&file]);
        hidden(&mut alone, &file);
        until("the process that looks", || !alone.fetchers().is_empty());
        until("it has looked", || alone.fetchers().is_empty());
        assert_eq!(alone.take_debug_files().counts, DebugFileCounts::default());
        // A server's file takes its place.
        let server = Server::start(move |_, stream| send_file(stream, &right));
        let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
        hidden(&mut symbolizer, &file);
        assert_eq!(settled(&mut symbolizer).1.fetched, 1);
        assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
        assert_eq!(
            fs::read(&at).expect("a file"),
            fs::read(&file.debug).expect("a file")
        );
        fs::remove_file(&at).expect("removed");
    }
}

const NOBODY: u32 = 65_534;

/// A server that has the debug file, and sends it slowly enough for a look at who fetches it.
fn slow_server(file: &Stripped) -> Server {
    let right = file.debug.clone();
    Server::start(move |_, stream| {
        sleep(Duration::from_millis(300));
        send_file(stream, &right);
    })
}

#[test]
fn ask_under_sudo_files_are_fetched_by_and_belong_to_the_caller() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "libtheirs.so");
    let server = slow_server(&file);
    let home = scratch.path("home");
    fs::create_dir(&home).expect("a folder");
    std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY)).expect("this test needs root");
    let theirs = Debuginfod {
        cache: Some(home.join("cache")),
        user: Some((NOBODY, NOBODY)),
        ..settings(&scratch, &[&server.address])
    };
    let mut symbolizer = started(theirs, &[&file]);
    hidden(&mut symbolizer, &file);
    let mut seen = Vec::new();
    until("curl beside the process that fetches", || {
        seen = symbolizer.fetchers();
        seen.len() == 2
    });
    for pid in seen {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let all = format!("Uid:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}");
        assert!(status.contains(&all), "{status}");
        assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    }
    assert_eq!(settled(&mut symbolizer).1.fetched, 1);
    assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
    let kept = files(&home);
    assert_eq!(kept, [file.cached(&home.join("cache"))]);
    let data = fs::metadata(&kept[0]).expect("a file");
    assert_eq!(
        (data.uid(), data.gid(), data.mode() & 0o777),
        (NOBODY, NOBODY, 0o600)
    );
}

#[test]
fn ask_as_root_without_sudo_curl_is_nobody() {
    let scratch = Scratch::new();
    let file = Stripped::new(&scratch, "librooted.so");
    let server = slow_server(&file);
    let mut symbolizer = started(settings(&scratch, &[&server.address]), &[&file]);
    hidden(&mut symbolizer, &file);
    let mut curl = None;
    until("curl beside the process that fetches", || {
        curl = symbolizer.fetchers().get(1).copied();
        curl.is_some()
    });
    let pid = curl.expect("a pid");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    for field in ["Uid", "Gid"] {
        let all = format!("{field}:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}");
        assert!(status.contains(&all), "this test needs root: {status}");
    }
    assert!(status.contains("CapPrm:\t0000000000000000"), "{status}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert_eq!(settled(&mut symbolizer).1.fetched, 1);
    assert_eq!(name(&hidden(&mut symbolizer, &file)), "hidden");
    let data = fs::metadata(file.cached(&scratch.path("cache"))).expect("a file");
    assert_eq!((data.uid(), data.mode() & 0o777), (0, 0o600));
}
