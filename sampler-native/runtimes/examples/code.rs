//! Prints what is known of the code at addresses of a JVM: `code PID [HEX_ADDRESS…]`. `code --held PID`, with addresses in lines of its
//! input: what it takes to hold all of it.

use std::{fs, io, os::unix::fs::FileExt};

use flametop_runtimes::{Attached, Found, Known, Lack, Memory, Names, Pages, attach, recognise};

/// Addresses of one question.
const AT_ONCE: usize = 128;

struct Process(fs::File);

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(into, address)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let is_held = arguments.next_if(|argument| argument == "--held").is_some();
    let pid = arguments.next().ok_or("no process is named")?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let path = |line: &str| line.split_ascii_whitespace().nth(5).map(str::to_owned);
    let library = |line: &&str| path(line).is_some_and(|path| recognise(path.as_bytes()).is_some());
    let line = maps.lines().find(library).ok_or("no runtime is there")?;
    let base = u64::from_str_radix(line.split('-').next().unwrap_or_default(), 16)?;
    let process = Process(fs::File::open(format!("/proc/{pid}/mem"))?);
    let pages = Pages::new(&process, 4096);
    let path = path(line).unwrap_or_default();
    let kind = recognise(path.as_bytes()).ok_or("no runtime is there")?;
    let attached = attach(kind, &pages, base)?;
    if is_held {
        return held(&attached, &process);
    }
    println!("{attached:x?}");
    let addresses: Result<Vec<u64>, _> = arguments.map(|a| u64::from_str_radix(&a, 16)).collect();
    for address in addresses? {
        for found in attached.read(&pages, &[Lack::Code(address)]) {
            match found {
                Found::Code(_, Some(code)) => println!("{code:?}"),
                other => println!("{other:?}"),
            }
        }
    }
    Ok(())
}

fn held(attached: &Attached, process: &Process) -> Result<(), Box<dyn std::error::Error>> {
    let lines: io::Result<Vec<String>> = io::stdin().lines().collect();
    let addresses: Result<Vec<u64>, _> = lines?
        .iter()
        .map(|line| u64::from_str_radix(line, 16))
        .collect();
    let addresses = addresses?;
    let (mut known, mut names) = (Known::default(), Names::default());
    let before = resident()?;
    let (mut pieces, mut most, mut now) = (0, 0, 0);
    for addresses in addresses.chunks(AT_ONCE) {
        let asks: Vec<Lack> = addresses.iter().map(|at| Lack::Code(*at)).collect();
        let found = attached.read(&Pages::new(process, 16384), &asks);
        let is_code = |found: &&Found| matches!(found, Found::Code(_, Some(_)));
        pieces += found.iter().filter(is_code).count();
        now += 1;
        known.come(&asks, Some(found), &mut names, now);
        most = most.max(known.bytes());
    }
    println!(
        "{pieces} of {} pieces of code read; held {:.1} MiB, at most {:.1} MiB; {} names; resident {:.1} MiB more",
        addresses.len(),
        known.bytes() as f64 / 1048576.0,
        most as f64 / 1048576.0,
        names.len(),
        (resident()? - before) / 1024.0
    );
    Ok(())
}

/// KiB.
fn resident() -> io::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    Ok(number.unwrap_or(0.0))
}
