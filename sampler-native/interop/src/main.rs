//! Test only: draws a folded file with inferno and prints what inferno counted.
//!
//! `flametop-interop FILE` prints `TOTAL FRAMES`: the total of the `all` frame and how many frames were drawn.
//!
//! # Errors
//! Exit code 1 with the reason if inferno refuses the file or ignores a line of it.

use anyhow::{Context, Result, bail};
use inferno::flamegraph;

fn main() -> Result<()> {
    let path = std::env::args_os()
        .nth(1)
        .context("usage: flametop-interop FILE")?;
    let folded =
        std::fs::read_to_string(&path).context("failed to read the folded file as UTF-8")?;
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
