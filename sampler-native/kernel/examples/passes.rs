//! Makes passes over all tasks (or those of one process) and prints what each found and what it cost.
//!
//! `passes [PASSES] [HZ] [PID]`, as root; by default 10 passes, 19 a second, all tasks.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use flametop_kernel::{Kernel, Settings, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let passes = numbers.next().transpose()?.unwrap_or(10);
    let hz = numbers.next().transpose()?.unwrap_or(19).max(1);
    let target = numbers
        .next()
        .transpose()?
        .map_or(Target::All, |pid| Target::Processes(vec![pid]));
    let (mut kernel, mut rings) = Kernel::open(&Settings {
        target,
        cpu_hz: 99,
        ..Settings::default()
    })?;
    for notice in kernel.notices() {
        println!("{notice}");
    }
    let start = Instant::now();
    for pass in 0..passes {
        let (mut records, mut bytes) = (0u64, 0u64);
        let began = Instant::now();
        let counts = kernel.pass(false, &mut |record| {
            records += 1;
            bytes += u64::from(record.head.size);
        })?;
        let took = began.elapsed();
        let each = took.as_nanos() / u128::from(counts.visited.max(1));
        println!("{took:?}, {each} ns a task, {records} records, {bytes} bytes: {counts:?}");
        sleep(
            (start + Duration::from_secs(1) * (pass + 1) / hz)
                .saturating_duration_since(Instant::now()),
        );
        let mut samples = 0;
        rings.poll(Duration::ZERO, &mut |_| samples += 1)?;
        println!("  {samples} from the rings");
    }
    println!("{:?}", kernel.counters());
    for cpu in kernel.cpus() {
        println!("{cpu:?}");
    }
    for state in kernel.idle() {
        println!("{state:?}");
    }
    Ok(())
}
