//! `flametop-helper subject`: a program that `flametop --self-test` starts and samples. Its functions have names in every build, by
//! which the stacks are judged; it turns on a CPU and sleeps by turns.
//!
//! ```text
//! flametop_subject ─► flametop_subject_turns                              on a CPU
//!                  ─► flametop_subject_rests ─► nanosleep                 asleep
//!                  ─► flametop_subject_calls                              for probes; holds the USDT probe flametop:turn
//! ```

use nix::unistd::getppid;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// It ends by itself: a flametop that was killed cannot end it.
const MOST: Duration = Duration::from_secs(20);

/// Either half of a round.
const HALF: Duration = Duration::from_millis(20);

/// Until its parent ends.
pub fn main() -> ExitCode {
    let parent = getppid();
    let until = Instant::now() + MOST;
    let mut rounds = 0;
    while Instant::now() < until && getppid() == parent {
        rounds = flametop_subject(rounds);
    }
    ExitCode::SUCCESS
}

/// A round. What each function does behind its call keeps it on the stack meanwhile.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn flametop_subject(round: u64) -> u64 {
    let turned = flametop_subject_turns(round);
    let rested = flametop_subject_rests(black_box(turned));
    flametop_subject_calls(black_box(rested)) + black_box(1)
}

/// Half of a round on a CPU.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn flametop_subject_turns(round: u64) -> u64 {
    let until = Instant::now() + HALF;
    let mut turns = round;
    while Instant::now() < until {
        // Long enough that the clock itself is hardly seen.
        for turn in 0..100_000_u64 {
            turns = black_box(turns.wrapping_mul(31) ^ turn);
        }
    }
    black_box(round)
}

/// Half of a round asleep.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn flametop_subject_rests(round: u64) -> u64 {
    std::thread::sleep(HALF);
    black_box(round)
}

/// Once in a round.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn flametop_subject_calls(round: u64) -> u64 {
    probe::probe!(flametop, turn, round);
    black_box(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flametop_subject_counts_rounds() {
        assert_eq!(flametop_subject(6), 7);
    }
}
