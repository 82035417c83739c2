//! Descriptors that go with a message (design note 0019): what is sent in the place of those that
//! are absent, and how either side judges what comes: which are due, and whether each of those that
//! may be absent is there.
//!
//! As many come as the procedure has, always: in the place of one that is absent its sender puts
//! what stands for it. Which are there says a byte of the message each.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_abi::message::CALL_DESCRIPTORS_MAX;
use nearcall_os::descriptor::{DescriptorKind, PeerDescriptor};

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

/// What goes over a binding, from one of its sides, in the place of those that are absent. It is
/// that binding's and that side's alone: whoever is sent it can change what it is called and when
/// it was written, and nobody else sees that.
#[derive(Debug, Default)]
pub(crate) struct StandIn(Mutex<Option<Arc<OwnedFd>>>);

impl StandIn {
    /// Has `send` send these, in the place of each that is absent what stands for it, which `make`
    /// makes the first time that one is.
    pub fn send<E: ToString>(
        &self,
        descriptors: &[Option<BorrowedFd<'_>>],
        make: impl FnOnce() -> Result<OwnedFd, String>,
        send: impl FnOnce(&[BorrowedFd<'_>]) -> Result<(), E>,
    ) -> Result<(), String> {
        let made = match descriptors.iter().all(Option::is_some) {
            true => None,
            false => Some(self.made(make)?),
        };
        let stand_in = made.as_deref().map(AsFd::as_fd);
        // One is made as soon as one is absent, so none is left out here.
        let passed: Vec<_> = descriptors.iter().filter_map(|one| one.or(stand_in)).collect();
        send(&passed).map_err(|error| error.to_string())
    }

    fn made(&self, make: impl FnOnce() -> Result<OwnedFd, String>) -> Result<Arc<OwnedFd>, String> {
        let mut kept = self.kept();
        let made = match kept.take() {
            Some(made) => made,
            None => Arc::new(make()?),
        };
        Ok(kept.insert(made).clone())
    }

    /// The binding is over: it is closed once nobody sends it any more.
    pub fn close(&self) {
        self.kept().take();
    }

    fn kept(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As many go one way as an interface may declare.
///
/// # Panics
///
/// If there are none, or more.
pub(crate) fn assert_count(count: usize) {
    let is_declared = (1..=CALL_DESCRIPTORS_MAX).contains(&count);
    assert!(is_declared, "no procedure passes {count} descriptors one way");
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
    use std::os::unix::fs::MetadataExt;

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

    fn make() -> Result<OwnedFd, String> {
        nearcall_os::descriptor::stand_in().map_err(|error| error.to_string())
    }

    fn inode(descriptor: BorrowedFd<'_>) -> u64 {
        File::from(descriptor.try_clone_to_owned().unwrap()).metadata().unwrap().ino()
    }

    /// The inodes of what goes.
    fn sent(stand_in: &StandIn, descriptors: &[Option<BorrowedFd<'_>>]) -> Vec<u64> {
        let mut inodes = Vec::new();
        let send = |passed: &[BorrowedFd<'_>]| {
            inodes.extend(passed.iter().map(AsFd::as_fd).map(inode));
            Ok::<_, String>(())
        };
        stand_in.send(descriptors, make, send).unwrap();
        inodes
    }

    #[test]
    fn one_binding_has_one_stand_in_and_another_has_another() {
        let (one, other) = (StandIn::default(), StandIn::default());
        let first = sent(&one, &[None, None]);
        assert_eq!(first[0], first[1]);
        assert_eq!(sent(&one, &[None]), first[..1]);
        assert_ne!(sent(&other, &[None]), first[..1]);
    }

    #[test]
    fn what_is_there_goes_in_its_place() {
        let file = File::open("/proc/self/status").unwrap();
        let stand_in = StandIn::default();
        let absent = sent(&stand_in, &[None])[0];
        let there = Some(file.as_fd());
        assert_eq!(sent(&stand_in, &[None, there, None]), [absent, inode(file.as_fd()), absent]);
    }

    #[test]
    fn none_is_made_where_none_is_absent() {
        let file = File::open("/proc/self/status").unwrap();
        let stand_in = StandIn::default();
        sent(&stand_in, &[Some(file.as_fd())]);
        assert!(stand_in.kept().is_none());
    }

    #[test]
    fn nothing_goes_where_none_can_be_made() {
        let said = StandIn::default().send(
            &[None],
            || Err("no room".to_owned()),
            |_| -> Result<(), String> { panic!("something went") },
        );
        assert_eq!(said, Err("no room".to_owned()));
    }

    #[test]
    fn one_to_eight_are_as_many_as_a_procedure_passes() {
        let is_refused = |count| std::panic::catch_unwind(|| assert_count(count)).is_err();
        let refused: Vec<_> = (0..=10).filter(|count| is_refused(*count)).collect();
        assert_eq!(refused, [0, 9, 10]);
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
