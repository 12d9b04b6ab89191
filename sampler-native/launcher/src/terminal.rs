//! The settings of a terminal, and how it is put right after a JVM that had no time to do so.

use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;
use nix::sys::termios::{ControlFlags, InputFlags, LocalFlags, OutputFlags};
use nix::sys::termios::{SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// The terminal of this process.
pub const DEVICE: &str = "/dev/tty";

/// Ends synchronized output; mouse off, pastes unmarked, colours off, cursor on, out of the alternate screen.
const RIGHT: &[u8] =
    b"\x1b[?2026l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";

/// The settings as one word of hexadecimal numbers with colons between: four kinds of flags, then the control characters.
pub fn save(terminal: BorrowedFd<'_>) -> io::Result<String> {
    let now = tcgetattr(terminal)?;
    let flags = [
        now.input_flags.bits(),
        now.output_flags.bits(),
        now.control_flags.bits(),
        now.local_flags.bits(),
    ];
    let numbers = flags.into_iter();
    let numbers = numbers.chain(now.control_chars.iter().map(|&c| u32::from(c)));
    let words: Vec<String> = numbers.map(|number| format!("{number:x}")).collect();
    Ok(words.join(":"))
}

/// Restores what [`save`] gave; waits for no output that the terminal does not take.
pub fn restore(terminal: BorrowedFd<'_>, saved: &str) -> io::Result<()> {
    let mut settings = tcgetattr(terminal)?;
    apply(&mut settings, saved)
        .ok_or_else(|| io::Error::other("these are no settings of a terminal"))?;
    Ok(tcsetattr(terminal, SetArg::TCSANOW, &settings)?)
}

fn apply(settings: &mut Termios, saved: &str) -> Option<()> {
    let numbers: Vec<u32> = saved
        .split(':')
        .map(|word| u32::from_str_radix(word, 16).ok())
        .collect::<Option<_>>()?;
    let (flags, characters) = numbers.split_first_chunk::<4>()?;
    if characters.len() != settings.control_chars.len() {
        return None;
    }
    settings.input_flags = InputFlags::from_bits_retain(flags[0]);
    settings.output_flags = OutputFlags::from_bits_retain(flags[1]);
    settings.control_flags = ControlFlags::from_bits_retain(flags[2]);
    settings.local_flags = LocalFlags::from_bits_retain(flags[3]);
    for (now, &then) in settings.control_chars.iter_mut().zip(characters) {
        *now = u8::try_from(then).ok()?;
    }
    Some(())
}

/// Switches echo, lines, signals by keys and flow control off: each key comes at once, as bytes.
pub fn raw(terminal: BorrowedFd<'_>) -> io::Result<()> {
    let mut settings = tcgetattr(terminal)?;
    settings.local_flags -=
        LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG | LocalFlags::IEXTEN;
    settings.input_flags -= InputFlags::IXON;
    settings.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
    settings.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
    Ok(tcsetattr(terminal, SetArg::TCSANOW, &settings)?)
}

/// Rows and columns; zeros where the terminal does not know them.
pub fn size(terminal: BorrowedFd<'_>) -> io::Result<(u16, u16)> {
    use std::os::fd::AsRawFd;
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes a winsize, and nothing keeps the pointer.
    let code = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    match code {
        0 => Ok((size.ws_row, size.ws_col)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A terminal as it was before the JVM started.
#[derive(Debug)]
pub struct Before {
    /// As of [`save`].
    pub settings: String,
}

impl Before {
    /// Of stdin, else, for a screen, of [`DEVICE`]: stdin may be a pipe with stacks while the keys come from the terminal.
    #[must_use]
    pub fn now(screen: bool) -> Option<Self> {
        let settings = save(io::stdin().as_fd()).ok().or_else(|| {
            let device = screen.then(|| device(DEVICE)).flatten()?;
            save(device.as_fd()).ok()
        })?;
        Some(Self { settings })
    }

    /// Restores the settings. Signals that a terminal sends to processes in the background have to be blocked.
    pub fn restore(&self) {
        let done =
            device(DEVICE).is_some_and(|device| restore(device.as_fd(), &self.settings).is_ok());
        if !done {
            // Where that is no terminal any more, nothing can be put right.
            let _ = restore(io::stdin().as_fd(), &self.settings);
        }
    }
}

/// Has a terminal that is stdout leave what a screen has switched on. A terminal that takes nothing is given up after a while.
pub fn leave_screen(patience: Duration) {
    // Opened anew, so that not to block does not become a property of what others have open too.
    if save(io::stdout().as_fd()).is_ok()
        && let Some(terminal) = device("/proc/self/fd/1")
    {
        write_patiently(&terminal, RIGHT, patience);
    }
}

fn device(path: &str) -> Option<OwnedFd> {
    let how = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    open(path, how, Mode::empty()).ok()
}

fn write_patiently(terminal: &OwnedFd, mut bytes: &[u8], patience: Duration) {
    let until = Instant::now() + patience;
    while !bytes.is_empty() {
        match nix::unistd::write(terminal, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(nix::errno::Errno::EINTR) => {}
            Err(nix::errno::Errno::EAGAIN) => {
                let left = until.saturating_duration_since(Instant::now());
                let mut ready = [PollFd::new(terminal.as_fd(), PollFlags::POLLOUT)];
                let wait = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
                if left.is_zero() || poll(&mut ready, wait).is_ok_and(|n| n == 0) {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;

    /// A terminal of its own: who owns it, and who uses it.
    fn terminal() -> (File, OwnedFd) {
        let how = OFlag::O_RDWR | OFlag::O_NOCTTY;
        let owner = nix::pty::posix_openpt(how).expect("a terminal");
        nix::pty::grantpt(&owner).expect("granted");
        nix::pty::unlockpt(&owner).expect("unlocked");
        let name = nix::pty::ptsname_r(&owner).expect("a name");
        let owner = File::from(owner.as_fd().try_clone_to_owned().expect("a copy"));
        (owner, device(&name).expect("its other side"))
    }

    #[test]
    fn restore_after_raw_gives_all_back() {
        let (_owner, used) = terminal();
        let before = save(used.as_fd()).expect("settings");
        raw(used.as_fd()).expect("raw");
        assert_ne!(save(used.as_fd()).expect("settings"), before);
        restore(used.as_fd(), &before).expect("restored");
        assert_eq!(save(used.as_fd()).expect("settings"), before);
    }

    #[test]
    fn restore_of_what_is_no_settings_fails_and_changes_nothing() {
        let (_owner, used) = terminal();
        let before = save(used.as_fd()).expect("settings");
        for saved in [
            "",
            ":",
            "zz",
            "1:2:3:4",
            &format!("{before}:1"),
            &before.replace(':', "::"),
        ] {
            assert!(restore(used.as_fd(), saved).is_err(), "{saved}");
        }
        assert_eq!(save(used.as_fd()).expect("settings"), before);
    }

    #[test]
    fn save_of_a_pipe_fails() {
        let (reader, _writer) = nix::unistd::pipe().expect("a pipe");
        assert!(save(reader.as_fd()).is_err());
        assert!(size(reader.as_fd()).is_err());
    }

    #[test]
    fn write_patiently_to_a_terminal_that_takes_nothing_ends() {
        let (_owner, used) = terminal();
        // More than the kernel keeps for whoever does not read.
        write_patiently(&used, &[b'x'; 1 << 20], Duration::from_millis(50));
    }

    #[test]
    fn write_patiently_writes_all() {
        let (mut owner, used) = terminal();
        write_patiently(&used, RIGHT, Duration::from_secs(10));
        let mut read = vec![0; RIGHT.len()];
        owner.read_exact(&mut read).expect("what was written");
        assert_eq!(read, RIGHT);
    }
}
