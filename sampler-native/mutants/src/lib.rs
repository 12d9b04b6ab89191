//! Feeds a reader of untrusted bytes with inputs and with mutants of these, without a build that counts coverage.
//!
//! The input that is read stands in a file, which is gone once all are read: whatever ends the process, a panic, a signal or the limit of
//! its memory or time, leaves the input that did so.
#![forbid(unsafe_code)]

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

mod mutate;

use mutate::{Random, mutant};

/// A target is a function that reads the bytes.
pub type Target = fn(&[u8]);

/// How much is read, beside the inputs themselves.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most mutants.
    pub mutants: usize,
    /// No further mutant is made after this time.
    pub time: Duration,
}

/// All files of some folders, in the order of their names: the same ones in each run.
///
/// # Errors
/// A folder or file that cannot be read, and folders that are all empty.
pub fn inputs(folders: &[PathBuf]) -> io::Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    for folder in folders {
        let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut files = files.collect::<io::Result<Vec<_>>>()?;
        files.sort();
        for file in files {
            inputs.push(fs::read(file)?);
        }
    }
    if inputs.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no input"));
    }
    Ok(inputs)
}

/// Reads the inputs and then their mutants, and says how many it were. `kept` is the file of the input that is read.
///
/// # Errors
/// The file `kept` cannot be written.
pub fn feed(target: Target, inputs: &[Vec<u8>], limits: Limits, kept: &Path) -> io::Result<usize> {
    let begin = Instant::now();
    let file = File::create(kept)?;
    let read = |input: &[u8]| {
        file.set_len(input.len() as u64)?;
        file.write_all_at(input, 0)?;
        target(input);
        io::Result::Ok(())
    };
    for input in inputs {
        read(input)?;
    }
    let mut random = Random(7);
    let mut mutants = 0;
    while mutants < limits.mutants && begin.elapsed() < limits.time {
        let [input, other] = [(); 2].map(|()| &inputs[random.below(inputs.len())]);
        read(&mutant(input, other, &mut random))?;
        mutants += 1;
    }
    fs::remove_file(kept)?;
    Ok(inputs.len() + mutants)
}

#[cfg(test)]
mod tests {
    use std::{env, panic, process};

    use super::*;

    const LIMITS: Limits = Limits {
        mutants: 1_000,
        time: Duration::MAX,
    };

    fn file(name: &str) -> PathBuf {
        env::temp_dir().join(format!("flametop-mutants-{}-{name}", process::id()))
    }

    /// Takes the length at the start for true.
    fn trusting(bytes: &[u8]) {
        if let Some((length, rest)) = bytes.split_first() {
            assert!(usize::from(*length) <= rest.len());
        }
    }

    #[test]
    fn feed_reader_that_trusts_a_length_keeps_the_mutant_that_ended_it() {
        let kept = file("trusting");
        let inputs = [vec![3, 1, 2, 3]];
        trusting(&inputs[0]);
        assert!(panic::catch_unwind(|| feed(trusting, &inputs, LIMITS, &kept)).is_err());
        let input = fs::read(&kept).expect("the input");
        fs::remove_file(&kept).expect("removed");
        assert!(panic::catch_unwind(|| trusting(&input)).is_err());
    }

    #[test]
    fn feed_reader_that_ends_well_counts_all_and_keeps_nothing() {
        let kept = file("careful");
        let inputs = [vec![3, 1, 2, 3], vec![]];
        let count = feed(|_| (), &inputs, LIMITS, &kept).expect("read");
        assert_eq!(count, 1_002);
        assert!(!kept.exists());
    }

    #[test]
    fn inputs_of_an_empty_folder_are_refused() {
        let folder = file("empty");
        fs::create_dir(&folder).expect("made");
        let found = inputs(std::slice::from_ref(&folder));
        fs::remove_dir(&folder).expect("removed");
        assert!(found.is_err());
    }
}
