//! Trust classes: importers that could interfere with each other anyway share one bell.
//!
//! A client can lose or forge bells of its own class, so there is a class per uid, and one for
//! importers whose uid the system does not tell. What that costs is time, never correctness.
//!
//! A class goes with its last member, once its user owes no time: it would be without debts if it
//! bound again. Whoever still sleeps at its gates, or rings them, has the old bell, and harms
//! nobody.

use std::fmt;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_abi::BellLine;
use nearcall_abi::bell::{
    GateLine, RELIEF_OFFSET_BYTES, ResidentGate, SEGMENT_BYTES, WATCH_OFFSET_BYTES,
};
use nearcall_core::quota::{OverLimit, Pace};
use nearcall_os::segment::{self, Sealing, Segment, SegmentError};

use super::limits::Limits;
use super::quota::{Account, Quotas, Resource};

/// One class: its bell, and what new members are given.
#[derive(Debug)]
pub(crate) struct TrustClass {
    /// `None`: the system does not tell.
    pub uid: Option<u32>,
    bell: Segment,
    /// Passed to each importer of the class.
    pub bell_descriptor: OwnedFd,
    /// How fast its members' requests to housekeeping are answered.
    pace: Mutex<Pace>,
    /// What its bells have cost that rang for nothing.
    rings: Mutex<Pace>,
    member_count: AtomicU32,
}

/// The classes of a domain that have members, or had some just now.
#[derive(Debug, Default)]
pub(crate) struct TrustClasses(Mutex<Vec<Arc<TrustClass>>>);

/// One bind or binding of a class, until this is dropped.
#[derive(Debug)]
pub(crate) struct Member(Arc<TrustClass>);

/// Why there is no class for an importer. Nobody's fault.
#[derive(Debug)]
pub(crate) enum NoClass {
    /// Its user holds so much already that there is not even room for a bell.
    Over(Resource, OverLimit),
    /// The system's word.
    Segment(SegmentError),
}

impl TrustClasses {
    /// A new member of the class of `uid`. `tell` is told all classes if that is a new one.
    pub fn join(
        &self,
        uid: Option<u32>,
        quotas: &Arc<Quotas>,
        tell: impl FnOnce(Vec<Arc<TrustClass>>),
    ) -> Result<Member, NoClass> {
        let mut classes = self.classes();
        let known = classes.iter().find(|class| class.uid == uid);
        let class = match known {
            Some(class) => Arc::clone(class),
            None => {
                let class = Arc::new(TrustClass::charged(uid, quotas)?);
                classes.push(Arc::clone(&class));
                tell(classes.clone());
                class
            }
        };
        Ok(Member::of(class))
    }

    /// Lets go of those without members whose users owe nothing, and tells `tell` the others if
    /// there were any. False: some without members stay until they owe nothing.
    pub fn end_empty(&self, now_ns: u64, tell: impl FnOnce(Vec<Arc<TrustClass>>)) -> bool {
        let mut classes = self.classes();
        let count = classes.len();
        classes.retain(|class| !class.is_empty() || class.owes(now_ns));
        if classes.len() < count {
            tell(classes.clone());
        }
        !classes.iter().any(|class| class.is_empty())
    }

    fn classes(&self) -> MutexGuard<'_, Vec<Arc<TrustClass>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrustClass {
    /// A class without members.
    pub fn new(uid: Option<u32>) -> Result<TrustClass, SegmentError> {
        let (bell, bell_descriptor) =
            Segment::create("nearcall-bell", SEGMENT_BYTES, Sealing::BothWrite)?;
        let (pace, rings) = (Mutex::new(Pace::REQUESTS), Mutex::new(Pace::RINGS));
        let member_count = AtomicU32::new(0);
        Ok(TrustClass { uid, bell, bell_descriptor, pace, rings, member_count })
    }

    /// The same, whose user is charged with its bell until that is unmapped.
    fn charged(uid: Option<u32>, quotas: &Arc<Quotas>) -> Result<TrustClass, NoClass> {
        let account = Account::new(quotas, uid, Limits::default());
        let charge = |resource, amount| {
            account.charge(resource, amount).map_err(|over| NoClass::Over(resource, over))
        };
        let descriptor = charge(Resource::OpenDescriptors, 1)?;
        let mappings = charge(Resource::Mappings, segment::mapping_count(SEGMENT_BYTES))?;
        let class = TrustClass::new(uid).map_err(NoClass::Segment)?;
        Ok(TrustClass { bell: class.bell.keep([descriptor, mappings]), ..class })
    }

    fn is_empty(&self) -> bool {
        // Relaxed: whoever joins does so under the lock under which this is asked.
        self.member_count.load(Ordering::Relaxed) == 0
    }

    /// Whether its user would profit from another class without debts.
    fn owes(&self, now_ns: u64) -> bool {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        !rings.is_paid(now_ns) || !self.pace().is_paid(now_ns)
    }

    /// How fast its members' requests to housekeeping are answered.
    pub fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its bells rang for nothing, and that took `spent_ns` up to `now_ns`. How long they are not
    /// to be heard.
    pub fn charge_rings(&self, spent_ns: u64, now_ns: u64) -> u64 {
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.spend(spent_ns, now_ns);
        rings.pause_ns(now_ns)
    }

    /// The line that the watching processor waits on, with the lanes.
    #[inline]
    pub fn watch(&self) -> &BellLine {
        self.line(WATCH_OFFSET_BYTES)
    }

    /// The line that relief processors wait on.
    pub fn relief(&self) -> &BellLine {
        self.line(RELIEF_OFFSET_BYTES)
    }

    /// The gate that the resident of this processor waits on.
    pub fn resident(&self, processor: u32) -> &AtomicU32 {
        let gate = ResidentGate::of(processor);
        let span = self.bell.span_mut().expect("the bell is mapped writable");
        let line: &GateLine = span.line(gate.line_offset).expect("a bell segment holds its gates");
        &line.gates[gate.index]
    }

    #[inline]
    fn line(&self, offset: usize) -> &BellLine {
        let span = self.bell.span_mut().expect("the bell is mapped writable");
        span.line(offset).expect("a bell segment holds its lines")
    }
}

impl Member {
    /// One more of a class that nobody lets go of meanwhile.
    pub fn of(class: Arc<TrustClass>) -> Member {
        // Relaxed: `end_empty` asks under the lock that is held where somebody joins.
        class.member_count.fetch_add(1, Ordering::Relaxed);
        Member(class)
    }

    /// Its class.
    pub fn class(&self) -> &Arc<TrustClass> {
        &self.0
    }
}

impl Deref for Member {
    type Target = TrustClass;

    fn deref(&self) -> &TrustClass {
        &self.0
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.member_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Display for NoClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoClass::Over(resource, over) => write!(f, "{resource}: {over}"),
            NoClass::Segment(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::DomainOptions;

    const A: Option<u32> = Some(1);
    const B: Option<u32> = Some(2);

    fn quotas() -> Arc<Quotas> {
        let mut options = DomainOptions::default();
        (options.mappings_max, options.open_descriptors_max) = (Some(4), Some(4));
        Arc::new(Quotas::new(&options))
    }

    fn join(classes: &TrustClasses, uid: Option<u32>, quotas: &Arc<Quotas>) -> Member {
        classes.join(uid, quotas, drop).unwrap()
    }

    #[test]
    fn a_class_goes_with_its_last_member_and_its_user_gets_back_what_the_bell_took() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        for _ in 0..10 {
            let (first, second) = (join(&classes, A, &quotas), join(&classes, A, &quotas));
            assert!(Arc::ptr_eq(first.class(), second.class()));
            drop(first);
            assert!(classes.end_empty(0, |_| unreachable!("one is left")));
            drop(second);
            let mut left = None;
            assert!(classes.end_empty(0, |classes| left = Some(classes.len())));
            assert_eq!(left, Some(0));
        }
    }

    #[test]
    fn a_class_whose_user_owes_time_stays_until_that_is_paid() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        let member = join(&classes, A, &quotas);
        member.pace().spend(1_000, 0);
        drop(member);
        assert!(!classes.end_empty(3_999, |_| unreachable!("it owes")));
        let again = join(&classes, A, &quotas);
        assert!(!again.pace().is_paid(3_999));
        drop(again);
        assert!(classes.end_empty(4_000, |classes| assert!(classes.is_empty())));
    }

    #[test]
    fn a_bell_is_charged_to_its_user_and_refused_over_its_share() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        let _first = join(&classes, A, &quotas);
        let _second = join(&classes, B, &quotas);
        let over = classes.join(None, &quotas, drop).unwrap_err().to_string();
        assert_eq!(over, "open descriptors: 1 is over its user's share, which is 0 now");
    }
}
