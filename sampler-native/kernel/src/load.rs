//! Loading: the steps that all objects have in common.

use std::{
    collections::VecDeque,
    mem::MaybeUninit,
    os::fd::AsFd,
    slice,
    sync::{Mutex, Once},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use libbpf_rs::{AsRawLibbpf, OpenObject, PrintLevel};

use crate::{abi, sys};

/// The last lines that libbpf said; none of them reaches stderr.
static SAID: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
const LINES_KEPT: usize = 16;

/// An object is loaded again for so long while signals interrupt the loading.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps libbpf from writing to stderr, for the rest of this process's life.
pub fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, text| {
            let mut said = sys::locked(&SAID);
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                if said.len() == LINES_KEPT {
                    said.pop_front();
                }
                said.push_back(line.trim().to_owned());
            }
        })));
    });
    sys::locked(&SAID).clear();
}

/// Whether the last object was refused by the verifier, which found something in it that this kernel does not allow
/// anybody. Its error is the same as that of a privilege that is missing.
pub fn is_refused_by_verifier() -> bool {
    has_verdict(&sys::locked(&SAID))
}

/// The verifier's log ends in statistics.
const STATISTICS: &str = "processed ";

fn has_verdict(said: &VecDeque<String>) -> bool {
    said.iter().any(|line| line.starts_with(STATISTICS))
}

/// The reason that libbpf or the verifier gave, in one line.
pub fn reason() -> Option<String> {
    let said = sys::locked(&SAID);
    // the verdict is the line before the statistics
    let verdict = said.iter().rev().find(|line| {
        !line.starts_with(STATISTICS)
            && !line.starts_with("-- ")
            && !line.contains("failed to load object")
            && !line.contains("failed to load BPF skeleton")
            && !line.contains(": failed to load: ")
    });
    verdict.map(|line| line.trim_start_matches("libbpf: ").to_owned())
}

/// A place for an object that lives as long as its skeleton. libbpf-rs borrows the place for good; its few bytes are never freed.
pub fn place() -> &'static mut MaybeUninit<OpenObject> {
    Box::leak(Box::new(MaybeUninit::uninit()))
}

/// Calls `open` until no signal interrupts it. The kernel gives up checking a program when a signal comes, or the process is frozen
/// meanwhile; libbpf itself tries again five times only.
pub fn patiently<T>(mut open: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    loop {
        // lines about the object before
        sys::locked(&SAID).clear();
        match open() {
            Err(error) if is_interrupted(&error) && begun.elapsed() < PATIENCE => (),
            opened => return opened,
        }
    }
}

fn is_interrupted(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause
            .downcast_ref::<libbpf_rs::Error>()
            .map(libbpf_rs::Error::kind);
        kind == Some(libbpf_rs::ErrorKind::WouldBlock)
    })
}

/// Refuses an object that was made from another `flametop.h`.
pub fn check_abi(object: &str, found: u32) -> Result<()> {
    if found != abi::FT_ABI {
        bail!(
            "{object} speaks ABI {found}, this library {}: build both anew",
            abi::FT_ABI
        );
    }
    Ok(())
}

/// Undoes libbpf's rewrite of `bpf_probe_read_user` to `bpf_probe_read`.
///
/// Under lockdown *confidentiality* the kernel allows the former, but libbpf tries whether it exists with the variant
/// for kernel memory, is refused, and falls back to a call that is refused too. The programs never call
/// `bpf_probe_read` themselves, so every such call is one of these; on an open kernel there are none.
pub fn keep_probe_read_user(object: &OpenObject) -> Result<()> {
    const PROBE_READ: i32 = libbpf_sys::BPF_FUNC_probe_read as i32;
    const PROBE_READ_USER: i32 = libbpf_sys::BPF_FUNC_probe_read_user as i32;
    const CALL: u8 = (libbpf_sys::BPF_JMP | libbpf_sys::BPF_CALL) as u8;

    let object = object.as_libbpf_object().as_ptr();
    // SAFETY: the object is open and not yet loaded.
    let failed = unsafe { libbpf_sys::bpf_object__prepare(object) };
    if failed != 0 {
        return Err(std::io::Error::from_raw_os_error(-failed)).context("failed to prepare");
    }
    let mut program = std::ptr::null_mut();
    loop {
        // SAFETY: libbpf walks its own list; null starts and ends it.
        program = unsafe { libbpf_sys::bpf_object__next_program(object, program) };
        if program.is_null() {
            return Ok(());
        }
        // SAFETY: both describe the program's array of instructions, which lives until set_insns.
        let code = unsafe {
            slice::from_raw_parts(
                libbpf_sys::bpf_program__insns(program),
                libbpf_sys::bpf_program__insn_cnt(program) as usize,
            )
        };
        let rewritten =
            |i: &libbpf_sys::bpf_insn| i.code == CALL && i.src_reg() == 0 && i.imm == PROBE_READ;
        if !code.iter().any(rewritten) {
            continue;
        }
        let mut code = code.to_vec();
        code.iter_mut()
            .filter(|i| rewritten(i))
            .for_each(|i| i.imm = PROBE_READ_USER);
        // SAFETY: libbpf copies the instructions.
        let failed = unsafe {
            libbpf_sys::bpf_program__set_insns(
                program,
                code.as_mut_ptr(),
                code.len() as libbpf_sys::size_t,
            )
        };
        if failed != 0 {
            return Err(std::io::Error::from_raw_os_error(-failed))
                .context("failed to set instructions");
        }
    }
}

/// ns that the programs of an object ran; 0 unless the kernel counts it.
pub fn program_nanos(object: &libbpf_rs::Object) -> u64 {
    object
        .progs()
        .filter_map(|program| sys::program_nanos(program.as_fd()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_verdict_only_where_the_verifier_has_looked_at_the_program() {
        let said = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        assert!(has_verdict(&said(&[
            "libbpf: prog 'cpu_stacks': -- BEGIN PROG LOAD LOG --",
            "R2 unbounded memory access, make sure to bounds check any such access",
            "processed 3639 insns (limit 1000000) max_states_per_insn 9 total_states 72 peak_states 54 mark_read 3",
            "-- END PROG LOAD LOG --",
        ])));
        assert!(!has_verdict(&said(&[
            "libbpf: Error in bpf_object__probe_loading(): -EPERM. Couldn't load trivial BPF program.",
            "libbpf: failed to load object 'cpu_stacks_bpf'",
        ])));
    }
}
