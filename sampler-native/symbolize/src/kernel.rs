//! Names of the kernel's functions, from `/proc/kallsyms`. In the helper process.
//!
//! The kernel shows its addresses to a reader who had the right to see them when the file was opened. So the file is opened before
//! the process gives up that right, stays open, and is read again from its beginning for what the kernel loads later.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::time::{Duration, Instant};

use crate::demangle::{is_label, shown_name};
use crate::protocol::{Found, Trouble};
use crate::sys;

const KALLSYMS: &str = "/proc/kallsyms";
/// The symbols are read again, for modules and BPF programs that came later, at most this often.
const REREAD: Duration = Duration::from_secs(30);
/// No function of the kernel is as long: an address so far behind the nearest symbol lies in
/// something newer than the list.
const FUNCTION_MAX: u64 = 1 << 20;

/// The kernel's symbols, read when they are asked for first.
#[derive(Debug, Default)]
pub struct Kernel {
    file: Option<File>,
    table: Option<(Table, Instant)>,
    told: bool,
}

impl Kernel {
    /// To be called while this process may still see addresses of the kernel.
    pub fn open() -> Kernel {
        Kernel {
            file: File::open(KALLSYMS).ok(),
            ..Kernel::default()
        }
    }

    /// The symbol of each address; why there are no symbols, the first time that there are none.
    pub fn find(&mut self, addresses: &[u64]) -> (Vec<Found>, Option<Trouble>) {
        let old = |(_, read): &(Table, Instant)| read.elapsed() >= REREAD;
        let (table, mut trouble) = self.table();
        let mut found = table.find(addresses);
        let unnamed = found.iter().any(|found| found.name.is_empty());
        if unnamed && self.table.as_ref().is_some_and(old) {
            self.table = None;
            sys::trim();
            let (table, now) = self.table();
            found = table.find(addresses);
            trouble = trouble.or(now);
        }
        (found, trouble)
    }

    fn table(&mut self) -> (&Table, Option<Trouble>) {
        let mut trouble = None;
        let (table, _) = self.table.get_or_insert_with(|| {
            let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound.into());
            let read = file.and_then(|file| {
                file.rewind()?;
                Table::read(file)
            });
            trouble = match &read {
                Err(_) => Some(Trouble::KernelUnreadable),
                // Where addresses are hidden, each of them is 0.
                Ok(table) if table.symbols.is_empty() => Some(Trouble::KernelHidden),
                Ok(_) => None,
            };
            (read.unwrap_or_default(), Instant::now())
        });
        let told = self.told;
        self.told |= trouble.is_some();
        (table, trouble.filter(|_| !told))
    }
}

#[derive(Debug, Default)]
struct Table {
    /// In the order of their addresses; of one address in that of the file.
    symbols: Vec<Symbol>,
    /// All names, one behind the other.
    names: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    address: u64,
    /// Where the name begins in [`Table::names`], and how long it is.
    name: u32,
    length: u16,
}

impl Table {
    fn read(kallsyms: impl Read) -> io::Result<Table> {
        let mut table = Table::default();
        let (mut reader, mut line) = (BufReader::with_capacity(64 << 10, kallsyms), Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0 {
            if let Some((address, name)) = symbol(&line) {
                table.symbols.push(Symbol {
                    address,
                    name: u32::try_from(table.names.len()).map_err(io::Error::other)?,
                    length: u16::try_from(name.len()).map_err(io::Error::other)?,
                });
                table.names.extend(name);
            }
            line.clear();
        }
        table.symbols.sort_by_key(|symbol| symbol.address);
        Ok(table)
    }

    fn find(&self, addresses: &[u64]) -> Vec<Found> {
        let found = |address: &u64| self.covering(*address).unwrap_or_default();
        addresses.iter().map(found).collect()
    }

    fn covering(&self, address: u64) -> Option<Found> {
        let below = self.symbols.partition_point(|s| s.address <= address);
        let start = self.symbols.get(below.checked_sub(1)?)?.address;
        // Of several names the first one, wherever in the function the address lies.
        let first = self.symbols.partition_point(|s| s.address < start);
        let symbol = self.symbols.get(first)?;
        let name = self.names.get(symbol.name as usize..)?;
        let name = std::str::from_utf8(name.get(..usize::from(symbol.length))?).ok()?;
        (address - start < FUNCTION_MAX && !is_label(name)).then(|| Found {
            start,
            name: shown_name(name).into_bytes(),
        })
    }
}

/// Address and name of a line, `ffffffff81000000 T _text` or `ffffffffc0000010 t probe  [driver]`.
fn symbol(line: &[u8]) -> Option<(u64, &[u8])> {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let address = std::str::from_utf8(words.next()?).ok()?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let name = words.nth(1)?;
    (address != 0).then_some((address, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(kallsyms: &str, addresses: &[u64]) -> Vec<String> {
        let table = Table::read(kallsyms.as_bytes()).expect("read");
        let found = table.find(addresses).into_iter();
        found
            .map(|found| String::from_utf8(found.name).expect("text"))
            .collect()
    }

    #[test]
    fn find_is_the_first_name_of_the_nearest_symbol_below_however_lines_are_sorted() {
        let kallsyms = "ffffffffc0000010 t probe\t[driver]\n\
                        ffffffff81000100 T second\n\
                        ffffffff81000000 T first\n\
                        ffffffff81000000 T alias\n\
                        ffffffffc0000f00 t bpf_prog_0123_count\t[bpf]\n";
        let addresses = [
            0xffff_ffff_8100_0000,
            0xffff_ffff_8100_00ff,
            0xffff_ffff_8100_0100,
            0xffff_ffff_c000_0011,
            0xffff_ffff_c000_0fff,
        ];
        assert_eq!(
            names(kallsyms, &addresses),
            ["first", "first", "second", "probe", "bpf_prog_0123_count"]
        );
    }

    #[test]
    fn find_below_all_far_behind_the_last_and_behind_a_label_is_nothing() {
        let kallsyms = "ffffffff81000000 T first\nffffffff82000000 t .Llocal\n";
        let addresses = [
            1,
            0xffff_ffff_8110_0000,
            0xffff_ffff_8200_0001,
            0xffff_ffff_ffff_f000,
        ];
        assert_eq!(names(kallsyms, &addresses), [""; 4]);
    }

    #[test]
    fn read_lines_without_address_or_name_are_left_out() {
        let kallsyms = "0000000000000000 T hidden\n\nffffffff81000000\nnothing at all\nffffffff81000000 T last";
        let table = Table::read(kallsyms.as_bytes()).expect("read");
        assert_eq!(table.symbols.len(), 1);
        assert_eq!(names(kallsyms, &[0xffff_ffff_8100_0001]), ["last"]);
    }

    #[test]
    fn find_says_once_why_there_are_no_symbols() {
        let mut kernel = Kernel::default();
        let unnamed = vec![Found::default()];
        assert_eq!(
            kernel.find(&[1]),
            (unnamed.clone(), Some(Trouble::KernelUnreadable))
        );
        assert_eq!(kernel.find(&[1]), (unnamed, None));
    }

    #[test]
    fn find_what_was_loaded_later_is_found_once_the_list_is_old() {
        let mut list = sys::memory_file(b"ffffffff81000000 T first\n").expect("a file");
        let mut kernel = Kernel {
            file: Some(list.try_clone().expect("a file")),
            ..Kernel::default()
        };
        let name = |kernel: &mut Kernel| {
            let (found, trouble) = kernel.find(&[0xffff_ffff_c000_0001]);
            assert_eq!(trouble, None);
            String::from_utf8(found[0].name.clone()).expect("text")
        };
        assert_eq!(name(&mut kernel), "");
        list.write_all(b"ffffffffc0000000 t later\t[driver]\n")
            .expect("written");
        assert_eq!(name(&mut kernel), "", "read a moment ago");
        let (_, read) = kernel.table.as_mut().expect("a table");
        *read = read.checked_sub(REREAD).expect("long after the start");
        assert_eq!(name(&mut kernel), "later");
    }
}
