//! The helper processes of flametop: one reads symbols (see the crate `flametop-symbolize`), another reads processes (see
//! `flametop-prober`).

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(flametop_prober::ARGUMENT) => flametop_prober::run(),
        _ => flametop_symbolize::run_helper(),
    }
}
