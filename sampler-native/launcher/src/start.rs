//! `flametop`: starts the JVM and stays, so that the terminal is put right whatever becomes of the JVM.

use crate::command::needs;
use crate::host::{Status, check_jvm_can_start, check_privileges, check_proc};
use crate::install::Install;
use crate::jvm::{Told, arguments, start};
use crate::terminal::{Before, leave_screen};
use crate::wait::{Signals, told};
use crate::{Refusal, complain};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// How long a terminal may take nothing before it is left as it is.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same where whoever sent a TERM waits.
const PATIENCE_OF_TERM: Duration = Duration::from_secs(3);

const TERMINATED: u8 = 143;

/// With the arguments of the user; the exit code is that of the JVM, if it starts.
#[must_use]
pub fn main(arguments: &[OsString]) -> ExitCode {
    ExitCode::from(run(arguments).unwrap_or_else(|refusal| {
        complain(&refusal.text);
        refusal.code
    }))
}

fn run(user: &[OsString]) -> Result<u8, Refusal> {
    let needs = needs(user);
    let status = Status::own();
    if needs.privileges {
        check_proc(status.as_ref())?;
    }
    let install = Install::own()?;
    if install.is_bundle {
        check_proc(status.as_ref())?;
    }
    let status = status.unwrap_or_default();
    if needs.privileges {
        check_privileges(&status, &install.started())?;
    }
    check_jvm_can_start()?;

    let before = Before::now(needs.screen);
    let options = arguments(
        &install,
        &needs,
        &Told {
            arguments: user,
            terminal: before.as_ref().map(|before| before.settings.as_str()),
            locale: std::env::var_os("LC_ALL").unwrap_or_default(),
            launcher: std::process::id(),
        },
    );
    let failed =
        |what: &str, error: &dyn std::fmt::Display| Refusal::failed(format!("{what}: {error}"));
    let signals = Signals::take(needs.screen, &status)
        .map_err(|error| failed("signals cannot be had", &error.desc()))?;
    let jvm = start(&install, &needs, &options).map_err(|error| {
        let what = format!("{} cannot be started", install.program.display());
        failed(&what, &error)
    })?;
    let code = signals.pass_on_to(jvm.id());

    if let Some(before) = before {
        before.restore();
        if needs.screen && code > 128 {
            // The JVM had no time to.
            leave_screen(match code {
                TERMINATED => PATIENCE_OF_TERM,
                _ => PATIENCE,
            });
        }
    }
    // Else the code is that of the program that was started.
    if !needs.program
        && let Some(text) = told(code)
    {
        complain(&text);
    }
    Ok(code)
}
