//! Descriptors that go with a message, as either side judges those that come (design note 0019):
//! which are due, and whether each of those that may be absent is there.
//!
//! As many come as the procedure has, always: in the place of one that is absent its sender puts
//! what stands for it. Which are there says a byte of the message each.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nearcall_os::descriptor::{self, DescriptorKind, PeerDescriptor};

use crate::raw::Malformed;

/// What has to come with a message, in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due<'a> {
    pub kinds: &'a [DescriptorKind],
    /// Those that may be absent, each with the byte that says whether it is there, as its sender
    /// wrote it.
    pub optional: &'a [(DescriptorKind, u8)],
}

/// What came: what had to, and what may have been absent.
pub(crate) type Came = (Vec<OwnedFd>, Vec<Option<OwnedFd>>);

/// The descriptor, or what goes in its place.
pub(crate) fn or_stand_in(descriptor: Option<BorrowedFd<'_>>) -> io::Result<BorrowedFd<'_>> {
    match descriptor {
        Some(descriptor) => Ok(descriptor),
        None => descriptor::stand_in(),
    }
}

impl Due<'_> {
    /// Judges what came. All of it is judged before any of it is taken into use: what is refused,
    /// and what stands for one that is absent, is closed as what a peer sent.
    pub fn judge(&self, mut came: Vec<PeerDescriptor>) -> Result<Came, Malformed> {
        let (claimed, wanted) = (came.len(), self.kinds.len() + self.optional.len());
        if claimed != wanted {
            return Err(Malformed::Descriptors { claimed, wanted });
        }
        let optional = came.split_off(self.kinds.len());
        for (descriptor, kind) in came.iter().zip(self.kinds) {
            kind.check(descriptor.as_fd()).map_err(Malformed::Descriptor)?;
        }
        for (descriptor, (kind, is_there)) in optional.iter().zip(self.optional) {
            match *is_there {
                0 => {}
                1 => kind.check(descriptor.as_fd()).map_err(Malformed::Descriptor)?,
                claimed => return Err(Malformed::range(claimed)),
            }
        }
        let present = optional.into_iter().zip(self.optional);
        let present = present.map(|(one, (_, is_there))| (*is_there == 1).then(|| one.take()));
        Ok((came.into_iter().map(PeerDescriptor::take).collect(), present.collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const FILE: DescriptorKind = DescriptorKind::File;
    const SOCKET: DescriptorKind = DescriptorKind::Socket;

    fn opened(count: usize) -> Vec<PeerDescriptor> {
        let file = || OwnedFd::from(File::open("/proc/self/status").unwrap());
        (0..count).map(|_| PeerDescriptor::from(file())).collect()
    }

    /// How many are there of what had to be, and which of what may have been absent.
    fn judged(
        kinds: &[DescriptorKind],
        optional: &[(DescriptorKind, u8)],
        came: usize,
    ) -> Result<(usize, Vec<bool>), Malformed> {
        let (came, optional) = Due { kinds, optional }.judge(opened(came))?;
        Ok((came.len(), optional.iter().map(Option::is_some).collect()))
    }

    #[test]
    fn those_are_there_of_which_the_message_says_so() {
        assert_eq!(judged(&[FILE], &[(FILE, 0), (FILE, 1)], 3), Ok((1, vec![false, true])));
        assert_eq!(judged(&[], &[(FILE, 1)], 1), Ok((0, vec![true])));
    }

    #[test]
    fn of_what_is_absent_the_kind_is_not_asked() {
        assert_eq!(judged(&[], &[(SOCKET, 0)], 1), Ok((0, vec![false])));
        let wrong = judged(&[], &[(SOCKET, 1)], 1);
        assert!(matches!(wrong, Err(Malformed::Descriptor(wrong)) if wrong.wanted == SOCKET));
        let wrong = judged(&[SOCKET], &[(FILE, 0)], 2);
        assert!(matches!(wrong, Err(Malformed::Descriptor(wrong)) if wrong.wanted == SOCKET));
    }

    #[test]
    fn a_byte_that_is_neither_yes_nor_no_is_refused() {
        assert_eq!(judged(&[FILE], &[(FILE, 2)], 2), Err(Malformed::Range { claimed: 2 }));
        assert_eq!(judged(&[], &[(SOCKET, 255)], 1), Err(Malformed::Range { claimed: 255 }));
    }

    #[test]
    fn what_stands_for_one_that_is_absent_has_to_come() {
        let wrong = judged(&[FILE], &[(FILE, 0)], 1);
        assert_eq!(wrong, Err(Malformed::Descriptors { claimed: 1, wanted: 2 }));
        let wrong = judged(&[], &[(FILE, 0)], 2);
        assert_eq!(wrong, Err(Malformed::Descriptors { claimed: 2, wanted: 1 }));
    }
}
