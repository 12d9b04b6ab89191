//! Messages between two processes by a socket that keeps their bounds, each with a descriptor if there is one to pass. A long message
//! goes as a file in memory that nobody can change.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
        unix::fs::FileExt,
    },
};

use nix::{
    cmsg_space,
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::{
        memfd::{MFdFlags, memfd_create},
        socket::{
            AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType,
            getsockopt, recvmsg, sendmsg, socketpair, sockopt,
        },
    },
};
use serde::{Serialize, de::DeserializeOwned};

/// Longest message that goes as a packet, bytes.
const PACKET_MAX: usize = 16 << 10;
/// Longest message at all.
const MESSAGE_MAX: u64 = 256 << 20;
/// The first byte of a packet: the message follows, or is in the file that comes with it.
const HERE: u8 = 0;
const IN_FILE: u8 = 1;

/// One end.
#[derive(Debug)]
pub(crate) struct Packets(OwnedFd);

impl Packets {
    /// Two connected ends, the second to be given to another process.
    pub fn pair() -> io::Result<(Packets, OwnedFd)> {
        let (ours, theirs) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )?;
        Ok((Packets(ours), theirs))
    }

    /// This end, if it is one.
    pub fn of(socket: OwnedFd) -> Option<Packets> {
        let kind = getsockopt(&socket, sockopt::SockType).ok()?;
        (kind == SockType::SeqPacket).then_some(Packets(socket))
    }

    /// Sends a message with that file. Would block: only where `wait` is not set.
    pub fn send(
        &self,
        message: &impl Serialize,
        file: Option<BorrowedFd<'_>>,
        wait: bool,
    ) -> io::Result<()> {
        let mut packet = vec![HERE];
        packet = postcard::to_extend(message, packet).map_err(io::Error::other)?;
        let mut payload = None;
        if packet.len() > PACKET_MAX {
            payload = Some(sealed(&packet[1..])?);
            packet = vec![IN_FILE];
        }
        let passed: Vec<RawFd> = match (&payload, file) {
            (Some(payload), None) => vec![payload.as_raw_fd()],
            (None, file) => file.iter().map(AsRawFd::as_raw_fd).collect(),
            (Some(_), Some(_)) => return Err(io::ErrorKind::FileTooLarge.into()),
        };
        let rights = [ControlMessage::ScmRights(&passed)];
        let rights: &[ControlMessage<'_>] = if passed.is_empty() { &[] } else { &rights };
        let mut flags = MsgFlags::MSG_NOSIGNAL;
        flags.set(MsgFlags::MSG_DONTWAIT, !wait);
        loop {
            let parts = [IoSlice::new(&packet)];
            match sendmsg::<()>(self.0.as_raw_fd(), &parts, rights, flags, None) {
                Err(nix::errno::Errno::EINTR) => {}
                sent => return Ok(sent.map(drop)?),
            }
        }
    }

    /// The message that has come, and its file if there was a descriptor left for that; none at the end of the connection. Would
    /// block: there is none.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut packet = vec![0; PACKET_MAX + 1];
        let mut room = cmsg_space!(RawFd);
        let flags = MsgFlags::MSG_CMSG_CLOEXEC | MsgFlags::MSG_DONTWAIT;
        let (length, passed, whole) = loop {
            let mut parts = [IoSliceMut::new(&mut packet)];
            let received = recvmsg::<()>(self.0.as_raw_fd(), &mut parts, Some(&mut room), flags);
            let received = match received {
                Err(nix::errno::Errno::EINTR) => continue,
                received => received?,
            };
            let mut passed = Vec::new();
            // An error: none was left.
            for control in received.cmsgs().into_iter().flatten() {
                if let ControlMessageOwned::ScmRights(descriptors) = control {
                    // SAFETY: the kernel has just given us these, and nobody else has them.
                    let owned = |fd| unsafe { OwnedFd::from_raw_fd(fd) };
                    passed.extend(descriptors.into_iter().map(owned));
                }
            }
            let cut = received.flags.contains(MsgFlags::MSG_TRUNC);
            break (received.bytes, passed, !cut);
        };
        let mut passed = passed.into_iter();
        let file = passed.next();
        let decode = |bytes: &[u8]| {
            let decoded = postcard::from_bytes(bytes);
            decoded.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        };
        match packet[..length].split_first() {
            None => Ok(None),
            Some((&HERE, message)) if whole => Ok(Some((decode(message)?, file))),
            Some((&IN_FILE, [])) if whole => {
                let file = file.ok_or(io::ErrorKind::InvalidData)?;
                Ok(Some((decode(&unsealed(file)?)?, None)))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

impl AsFd for Packets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn seals() -> SealFlag {
    SealFlag::F_SEAL_SEAL | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_WRITE
}

/// A file in memory that nobody can change.
fn sealed(bytes: &[u8]) -> io::Result<File> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let mut file = File::from(memfd_create(c"flametop", flags)?);
    file.write_all(bytes)?;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals()))?;
    Ok(file)
}

/// What is in such a file. Any other would have to be waited for, or could change while it is read.
fn unsealed(file: OwnedFd) -> io::Result<Vec<u8>> {
    let has = SealFlag::from_bits_truncate(fcntl(&file, FcntlArg::F_GET_SEALS)?);
    let file = File::from(file);
    let length = file.metadata()?.len();
    if !has.contains(seals()) || length > MESSAGE_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::resource::{Resource, setrlimit};

    fn ends() -> (Packets, Packets) {
        let (ours, theirs) = Packets::pair().expect("a pair");
        (ours, Packets::of(theirs).expect("a socket of packets"))
    }

    #[test]
    fn receive_what_was_sent_short_or_long_is_the_same() {
        let (ours, theirs) = ends();
        for length in [0, 1, PACKET_MAX, 5 << 20] {
            let message = vec![7u8; length];
            ours.send(&message, None, true).expect("sent");
            let (received, file) = theirs.receive::<Vec<u8>>().expect("received").expect("one");
            assert!(received == message && file.is_none(), "{length}");
        }
        let nothing = theirs.receive::<Vec<u8>>().expect_err("nothing");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        drop(ours);
        assert!(theirs.receive::<Vec<u8>>().expect("the end").is_none());
    }

    #[test]
    fn receive_a_file_without_a_descriptor_left_is_the_message_alone() {
        const NAME: &str =
            "wire::tests::receive_a_file_without_a_descriptor_left_is_the_message_alone";
        if std::env::var_os("FEW").is_none() {
            // The limit is that of a whole process.
            let own = std::env::current_exe().expect("own path");
            let child = std::process::Command::new(own)
                .args([NAME, "--exact"])
                .env("FEW", "1")
                .status();
            assert!(child.expect("it runs").success());
            return;
        }
        let (ours, theirs) = ends();
        let file = File::open("/dev/null").expect("a file");
        ours.send(&1, Some(file.as_fd()), true).expect("sent");
        ours.send(&2, Some(file.as_fd()), true).expect("sent");
        let next = file.as_raw_fd() as u64 + 1;
        setrlimit(Resource::RLIMIT_NOFILE, next, next).expect("a limit");
        assert!(matches!(theirs.receive::<i32>(), Ok(Some((1, None)))));
        drop(file);
        assert!(matches!(theirs.receive::<i32>(), Ok(Some((2, Some(_))))));
    }

    #[test]
    fn receive_a_message_in_a_file_that_could_change_is_refused() {
        let (ours, theirs) = ends();
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let file = memfd_create(c"test", flags).expect("memory");
        let parts = [IoSlice::new(&[IN_FILE])];
        let passed = [file.as_raw_fd()];
        let rights = [ControlMessage::ScmRights(&passed)];
        sendmsg::<()>(ours.0.as_raw_fd(), &parts, &rights, MsgFlags::empty(), None).expect("sent");
        let refused = theirs.receive::<Vec<u8>>().expect_err("refused");
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn send_nobody_receives_ends_at_once() {
        let (ours, _theirs) = ends();
        let message = vec![0u8; 8 << 10];
        let full = (0..10_000).find_map(|_| ours.send(&message, None, false).err());
        assert_eq!(
            full.map(|error| error.kind()),
            Some(io::ErrorKind::WouldBlock)
        );
    }
}
