//! Entry points of fuzzing: any bytes as a file that a process has mapped, and as messages.

use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::find::{Wanted, search};
use crate::protocol::{Ask, FILE, Fetch, Find, Reply, What};
use crate::{demangle, helper, lines, sys};

/// Each message that is understood says the same again.
pub fn protocol(bytes: &[u8]) {
    if let Some(ask) = Ask::decode(bytes) {
        assert_eq!(Ask::decode(&ask.encode()), Some(ask));
    }
    if let Some(fetch) = Fetch::decode(bytes) {
        assert_eq!(Fetch::decode(&fetch.encode()), Some(fetch));
    }
    if let Some(find) = Find::decode(bytes) {
        assert_eq!(Find::decode(&find.encode()), Some(find));
    }
    if let Some(reply) = Reply::decode(bytes)
        && let [message] = &reply.encode()[..]
    {
        assert_eq!(Reply::decode(message), Some(reply));
    }
}

/// A file that is asked for names, for lines, and for functions and probes.
pub fn symbols(bytes: &[u8]) {
    let Ok(file) = sys::memory_file(bytes) else {
        return;
    };
    let step = (bytes.len() as u64 / 16).max(1);
    let mut ask = Ask {
        what: What::Names,
        kind: FILE,
        module: 1,
        process: 0,
        path: b"/nowhere/file".to_vec(),
        offsets: (0..16)
            .map(|index| index * step)
            .chain([0x1000, 0x40_1000])
            .collect(),
    };
    let Ok(again) = file.try_clone() else {
        return;
    };
    // As in the helper process a panic of the libraries costs a question; the hook of the fuzzer would end all at once.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| panic::set_hook(Box::new(|panic| eprintln!("{panic}"))));
    let _ = catch_unwind(AssertUnwindSafe(|| helper::find_once(&ask, file)));
    ask.what = What::Places;
    let _ = catch_unwind(AssertUnwindSafe(|| {
        lines::places(&ask, &again, None, &|_, _| {
            Err(io::ErrorKind::NotFound.into())
        })
    }));
    let name = || "/e/".to_owned();
    for wanted in [
        Wanted::Functions {
            name: "main".to_owned(),
            offset: 0,
        },
        Wanted::Probes {
            provider: name(),
            name: name(),
            argument: Some(1),
        },
        Wanted::Listed {
            pattern: String::new(),
            file: "/file".to_owned(),
        },
    ] {
        let find = Find {
            process: 0,
            path: b"/nowhere/file".to_vec(),
            most: 100,
            wanted,
        };
        let found = catch_unwind(AssertUnwindSafe(|| {
            search::search(&find, &again, &|_, _| Err(io::ErrorKind::NotFound.into()))
        }));
        if let Ok(Ok(found)) = found {
            assert!(found.sites.len() <= 100 && found.sites.len() as u64 <= found.all);
        }
    }
    demangle::shown_name(&String::from_utf8_lossy(bytes));
}
