//! Pages that Debian's kernels wrote, beside what the same kernels say in their own words (`kernels/capture` took both).

use super::pages::{Format, Traced, What, read};

/// What a kernel wrote twice, and what is needed to compare it.
struct Captured {
    kernel: &'static str,
    page: &'static [u8],
    text: &'static str,
    begin: &'static str,
    end: &'static str,
    symbols: &'static str,
}

macro_rules! captured {
    ($kernel:literal) => {
        Captured {
            kernel: $kernel,
            page: include_bytes!(concat!("../../tests/captured/", $kernel, "/page")),
            text: include_str!(concat!("../../tests/captured/", $kernel, "/text")),
            begin: include_str!(concat!("../../tests/captured/", $kernel, "/entry")),
            end: include_str!(concat!("../../tests/captured/", $kernel, "/exit")),
            symbols: include_str!(concat!("../../tests/captured/", $kernel, "/symbols")),
        }
    };
}

const ALL: [Captured; 3] = [captured!("6.1"), captured!("6.12"), captured!("7.3")];

/// How the kernel's text shows a call: a call of nothing else has one line, others have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Alone,
    Opens,
    Closes,
}

/// A line of the kernel's text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// Seconds, with six digits behind the point.
    time: String,
    tid: u32,
    depth: u32,
    shown: Shown,
    name: String,
}

/// `  12.345678 |   0)  sh-71  |   0.220 us  |    rw_verify_area();`.
fn line(text: &str) -> Option<Line> {
    let [time, task, _, call] = text.splitn(4, '|').collect::<Vec<_>>()[..] else {
        return None;
    };
    let spaces = call.len() - call.trim_start().len();
    let call = call.trim();
    let (shown, name) = if let Some(name) = call.strip_suffix("();") {
        (Shown::Alone, name)
    } else if let Some(name) = call.strip_suffix("() {") {
        (Shown::Opens, name)
    } else {
        let name = call.strip_prefix("} /* ")?.strip_suffix(" */")?;
        (Shown::Closes, name)
    };
    Some(Line {
        time: time.trim().to_owned(),
        tid: task.trim().rsplit('-').next()?.parse().ok()?,
        depth: (spaces as u32).checked_sub(2)? / 2,
        shown,
        name: name.to_owned(),
    })
}

fn records(captured: &Captured) -> Vec<Traced> {
    let format = Format::parse(captured.begin, captured.end).expect(captured.kernel);
    let mut records = Vec::new();
    read(captured.page, &format, &mut |record| records.push(record)).expect(captured.kernel);
    records
}

/// The lines that the kernel would have written of these records.
fn shown(records: &[Traced], symbols: &str) -> Vec<Line> {
    let mut names: Vec<(u64, &str)> = symbols
        .lines()
        .map(|line| {
            let (address, name) = line.split_once(' ').expect("a symbol");
            (u64::from_str_radix(address, 16).expect("an address"), name)
        })
        .collect();
    names.sort_unstable();
    let name = |function: u64| {
        let behind = names.partition_point(|(address, _)| *address <= function);
        let (address, name) = names[behind.checked_sub(1).expect("a function")];
        assert!(function - address < 16, "{function:x} is not in {name}");
        name.to_owned()
    };
    let of = |record: &Traced, shown| Line {
        time: format!(
            "{}.{:06}",
            record.time / 1_000_000_000,
            record.time % 1_000_000_000 / 1000
        ),
        tid: record.tid,
        depth: record.depth,
        shown,
        name: name(record.function),
    };
    let same = |begin: &Traced, end: &Traced| {
        let of = |record: &Traced| (record.tid, record.function, record.depth);
        end.what == What::End && of(begin) == of(end)
    };
    let mut lines = Vec::new();
    let mut rest = records.iter().peekable();
    while let Some(record) = rest.next() {
        lines.push(match record.what {
            What::Begin if rest.next_if(|next| same(record, next)).is_some() => {
                of(record, Shown::Alone)
            }
            What::Begin => of(record, Shown::Opens),
            _ => of(record, Shown::Closes),
        });
    }
    lines
}

#[test]
fn what_kernels_wrote_reads_as_their_own_words() {
    for captured in &ALL {
        let kernel = captured.kernel;
        let told: Vec<Line> = captured.text.lines().filter_map(line).collect();
        let mut read = shown(&records(captured), captured.symbols);
        // A call whose return is on the next page would be one line in the text.
        if read.len() < told.len() {
            read.pop();
        }
        assert!(read.len() >= 10, "{kernel}: {read:?}");
        assert!(
            read.iter().any(|line| line.shown == Shown::Closes),
            "{kernel}"
        );
        assert!(read.iter().any(|line| line.depth > 0), "{kernel}");
        assert_eq!(read, told[..read.len()], "{kernel}");
    }
}

#[test]
fn a_format_without_a_field_or_number_is_refused() {
    let captured = &ALL[0];
    for (begin, end) in [
        (
            captured.begin.replace(" func;", " fun;"),
            captured.end.to_owned(),
        ),
        (
            captured.begin.to_owned(),
            captured.end.replace(" depth;", " deep;"),
        ),
        (
            captured.begin.replace("ID:", "IT:"),
            captured.end.to_owned(),
        ),
    ] {
        let why = Format::parse(&begin, &end)
            .expect_err("a field is missing")
            .to_string();
        assert!(
            why.starts_with("the kernel does not tell the format of funcgraph_"),
            "{why}"
        );
    }
}

/// Any byte of a page of a kernel may be another: reading ends, and what was before the damage is as it was.
#[test]
fn a_kernel_s_page_with_damage_is_read_up_to_the_damage() {
    for captured in &ALL {
        let format = Format::parse(captured.begin, captured.end).expect(captured.kernel);
        let all = |page: &[u8]| {
            let mut found = Vec::new();
            let _ = read(page, &format, &mut |record| found.push(record));
            found
        };
        for at in (16..captured.page.len()).step_by(3) {
            // As if nothing were behind the damage.
            let mut short = captured.page.to_vec();
            let whole = short[8..16].try_into().map_or(0, u64::from_le_bytes);
            let before = ((at as u64 - 16) & !3).min(whole);
            short[8..16].copy_from_slice(&before.to_le_bytes());
            let before = all(&short);
            for flip in [0x01, 0x1f, 0x80, 0xff] {
                let mut page = captured.page.to_vec();
                page[at] ^= flip;
                let found = all(&page);
                // No record is shorter than its head.
                assert!(found.len() <= page.len() / 4, "{}", found.len());
                assert!(found.starts_with(&before), "{} at {at}", captured.kernel);
            }
        }
    }
}
