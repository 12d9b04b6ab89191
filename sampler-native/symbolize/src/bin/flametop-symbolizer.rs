//! The helper process that reads symbols for flametop; see the crate `flametop-symbolize`.

use std::process::ExitCode;

fn main() -> ExitCode {
    flametop_symbolize::run_helper()
}
