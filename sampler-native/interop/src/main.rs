//! Test only: has inferno read what flametop writes, and what flametop reads.
//!
//! - `flametop-interop FILE` draws folded stacks and prints `TOTAL FRAMES`: the total of the `all` frame and how many frames were drawn.
//! - `flametop-interop perf FILE` folds what `perf script` printed and prints `TOTAL STACKS`: the total and how many different stacks.
//!
//! # Errors
//! Exit code 1 with the reason if inferno refuses the file or ignores a line of it.

use anyhow::{Context, Result, bail};
use inferno::collapse::{Collapse, perf};
use inferno::flamegraph;
use std::ffi::OsStr;

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [path] => draw(path),
        [what, path] if what == "perf" => fold(path),
        _ => bail!("usage: flametop-interop [perf] FILE"),
    }
}

fn fold(path: &OsStr) -> Result<()> {
    let mut folded = Vec::new();
    perf::Folder::from(perf::Options::default())
        .collapse_file(Some(path), &mut folded)
        .context("inferno refuses the file")?;
    let folded = String::from_utf8(folded).context("inferno wrote no UTF-8")?;
    let mut total = 0_u64;
    for line in folded.lines() {
        let (_, count) = line.rsplit_once(' ').context("inferno wrote no number")?;
        total += count.parse::<u64>().context("inferno wrote no number")?;
    }
    println!("{total} {}", folded.lines().count());
    Ok(())
}

fn draw(path: &OsStr) -> Result<()> {
    let folded =
        std::fs::read_to_string(path).context("failed to read the folded file as UTF-8")?;
    let mut options = flamegraph::Options::default();
    options.min_width = 0.0;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut svg)
        .context("inferno refuses the file")?;
    let svg = String::from_utf8(svg).context("inferno wrote no UTF-8")?;
    // <title>all (1,234 samples, 100%)</title>
    let all = svg
        .split("<title>all (")
        .nth(1)
        .context("inferno drew no root frame")?;
    let total: String = all
        .split(' ')
        .next()
        .unwrap_or("")
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    if total.is_empty() {
        bail!("inferno drew no total");
    }
    println!("{total} {}", svg.matches("<title>").count());
    Ok(())
}
