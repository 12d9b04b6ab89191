//! The end of a process that is not waited for.

use std::{process::Child, thread};

/// Reaps a killed process whenever the process ends, which one that hangs in the kernel does late: a thread waits for the end. Without
/// it the process would be a zombie as long as this program runs.
pub fn reap_later(mut child: Child) {
    let waiting = thread::Builder::new()
        .name("flametop-reaper".into())
        .stack_size(64 << 10)
        .spawn(move || child.wait());
    // Without a thread the zombie stays.
    drop(waiting);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        path::Path,
        process::Command,
        time::{Duration, Instant},
    };

    #[test]
    fn reap_later_process_that_ends_after_a_while_is_no_zombie() {
        let child = Command::new("sleep").arg("0.2").spawn().expect("sleep");
        let process = format!("/proc/{}", child.id());
        let begin = Instant::now();
        reap_later(child);
        while Path::new(&process).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{process} stays");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
