//! Whether functions of the kernel can be probed.

use std::{fs, path::Path};

use anyhow::{Result, bail, ensure};

/// Whether functions of this kernel can be probed.
///
/// # Errors
/// Why not, and what mends that.
pub fn check() -> Result<()> {
    const KPROBES: &str = "/sys/bus/event_source/devices/kprobe/type";
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        bail!(
            "kernel lockdown (confidentiality) forbids probes of kernel functions; boot with lockdown=integrity, or use tracepoints"
        );
    }
    ensure!(
        Path::new(KPROBES).exists(),
        "this kernel has no probes of its functions; boot a kernel built with CONFIG_KPROBES=y, as distributions ship, or use tracepoints"
    );
    Ok(())
}
