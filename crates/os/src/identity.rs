//! What a descriptor's number named when it was taken.
//!
//! Some programs close all that they have open (`closefrom(3)`), descriptors of libraries among
//! them, and what they open next gets those numbers. Whoever rests a proof on a number, or ends
//! what it names, asks first whether it still names the same.

use std::os::fd::AsFd;

use rustix::io::Errno;

/// A file, as the kernel tells it from others. Before Linux 6.9 all pidfds, and with them eventfds
/// and epolls, are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(Option<(u64, u64)>);

impl Identity {
    /// What the number names now.
    ///
    /// # Cost: a system call.
    pub fn of(descriptor: impl AsFd) -> Identity {
        Identity(look(descriptor).ok())
    }

    /// Whether the number names the same still. So it is said where a filter of system calls lets
    /// nobody look.
    ///
    /// # Cost: a system call.
    pub fn is_of(self, descriptor: impl AsFd) -> bool {
        match (self.0, look(descriptor)) {
            (Some(kept), Ok(seen)) => kept == seen,
            (_, Err(Errno::BADF)) => false,
            (None, Ok(_)) | (_, Err(_)) => true,
        }
    }
}

fn look(descriptor: impl AsFd) -> Result<(u64, u64), Errno> {
    rustix::fs::fstat(descriptor).map(|status| (status.st_dev, status.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsRawFd, OwnedFd};

    use super::*;

    #[test]
    fn a_number_that_is_given_again_names_another_file() {
        let (one, other) = rustix::pipe::pipe().unwrap();
        let mut number = OwnedFd::from(File::open("/dev/null").unwrap());
        let kept = Identity::of(&number);
        assert!(kept.is_of(&number));
        for another in [&one, &other] {
            rustix::io::dup2(another, &mut number).unwrap();
            assert!(!kept.is_of(&number), "{}", number.as_raw_fd());
        }
        assert!(Identity::of(&one).is_of(one.try_clone().unwrap()));
    }
}
