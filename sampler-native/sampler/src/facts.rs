//! The facts of the file header.

use std::fs;

use flametop_kernel::Kernel;
use flametop_stream::file_header;

use crate::{
    os,
    settings::{Settings, target_text},
};

/// The file header of a stream that begins now.
pub fn header(settings: &Settings, own: &[u32], kernel: &Kernel, boot_offset: u64) -> Vec<u8> {
    let one_line = |path: &str| {
        fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let own = own.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let cpus = flametop_kernel::online_cpus().unwrap_or_default();
    let cpus = cpus
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(",");
    let (monotonic, wall) = (os::monotonic(), os::realtime());
    let mut facts = vec![
        ("host".to_owned(), one_line("/proc/sys/kernel/hostname")),
        ("kernel".to_owned(), one_line("/proc/sys/kernel/osrelease")),
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
        ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("cpus".to_owned(), cpus),
        ("hz.pass".to_owned(), settings.pass_hz.to_string()),
        ("hz.cpu".to_owned(), settings.cpu_hz.to_string()),
        ("target".to_owned(), target_text(settings)),
        ("time.monotonic".to_owned(), monotonic.to_string()),
        ("time.wall".to_owned(), wall.to_string()),
        ("time.boot_offset".to_owned(), boot_offset.to_string()),
        ("own".to_owned(), own),
    ];
    let (states, missing) = kernel.idle_states();
    for s in states {
        let value = format!("{}|{}|{}", s.name, s.exit_latency_us, s.target_residency_us);
        facts.push((format!("idle.{}.{}", s.cpu, s.state), value));
    }
    facts.extend(missing.map(|why| ("idle.missing".to_owned(), why)));
    let (frequency, cycles) = kernel.cycles_missing();
    facts.extend(frequency.map(|why| ("frequency.missing".to_owned(), why)));
    facts.extend(cycles.map(|why| ("cycles.missing".to_owned(), why)));
    facts.extend(os::blocked_missing().map(|why| ("blocked.missing".to_owned(), why.to_owned())));
    file_header(facts.iter().map(|(k, v)| (k.as_str(), v.as_str())))
}
