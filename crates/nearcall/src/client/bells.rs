//! The bells that a domain rings: each is mapped once, however many bindings to one server share
//! it. A server hands the same bell segment to all importers of a trust class.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use nearcall_abi::bell::SEGMENT_BYTES;
use nearcall_os::descriptor::PeerDescriptor;
use nearcall_os::segment::{FileId, Sealing, Segment, SegmentFault};

/// What is mapped, by the file that it is a mapping of.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    known: Mutex<Vec<(FileId, Weak<Segment>)>>,
}

impl Bells {
    /// The mapping of a bell segment that a server sent. A segment that is mapped already was
    /// judged when it was, and no file takes its number while it is.
    ///
    /// # Errors: see [`SegmentFault`].
    ///
    /// # Cost: one system call if it is mapped already, eight else.
    pub fn receive(
        &self,
        descriptor: impl Into<PeerDescriptor>,
    ) -> Result<Arc<Segment>, SegmentFault> {
        let descriptor = descriptor.into();
        let file = FileId::of(descriptor.as_fd())?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, bell)| bell.strong_count() > 0);
        let mapped = known.iter().find(|(other, _)| *other == file);
        if let Some(bell) = mapped.and_then(|(_, bell)| bell.upgrade()) {
            return Ok(bell);
        }
        let bell = Segment::receive(descriptor, SEGMENT_BYTES, Sealing::BothWrite)?;
        let bell = Arc::new(bell);
        known.push((file, Arc::downgrade(&bell)));
        Ok(bell)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    fn bell() -> (Segment, OwnedFd) {
        Segment::create("nearcall-bell", SEGMENT_BYTES, Sealing::BothWrite).unwrap()
    }

    #[test]
    fn a_bell_that_comes_again_is_not_mapped_again() {
        let bells = Bells::default();
        let ((_one, one), (_other, other)) = (bell(), bell());
        let first = bells.receive(one.try_clone().unwrap()).unwrap();
        let again = bells.receive(one).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert!(!Arc::ptr_eq(&first, &bells.receive(other).unwrap()));
    }

    #[test]
    fn a_bell_that_nobody_rings_any_more_is_unmapped_and_forgotten() {
        let bells = Bells::default();
        let ((_one, one), (_other, other)) = (bell(), bell());
        let first = Arc::downgrade(&bells.receive(one.try_clone().unwrap()).unwrap());
        assert!(first.upgrade().is_none());
        let kept = bells.receive(other).unwrap();
        assert_eq!(bells.known.lock().unwrap().len(), 1);
        let again = bells.receive(one).unwrap();
        assert!(!Arc::ptr_eq(&kept, &again));
    }

    #[test]
    fn what_is_no_bell_segment_is_refused_and_not_remembered() {
        let bells = Bells::default();
        let (_long, long) = Segment::create("long", 2 * SEGMENT_BYTES, Sealing::BothWrite).unwrap();
        let (_sealed, sealed) =
            Segment::create("sealed", SEGMENT_BYTES, Sealing::SingleWriter).unwrap();
        assert!(bells.receive(long).is_err());
        assert!(bells.receive(sealed).is_err());
        assert_eq!(bells.known.lock().unwrap().len(), 0);
    }
}
