//! Prints what is known of the code at addresses of a JVM: `code PID [HEX_ADDRESS…]`; without addresses of all code that there is.

use std::{fs, io, os::unix::fs::FileExt};

use flametop_runtimes::{Found, Lack, Memory, Pages, attach, recognise};

struct Process(fs::File);

impl Memory for Process {
    fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(into, address)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
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
