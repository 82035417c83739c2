//! Trust classes: importers that could interfere with each other anyway share one bell.
//!
//! A client can lose or forge bells of its own class, so by default there is a class per uid, and
//! one for importers whose uid the system does not tell. A policy may split them further, for
//! processes of one user that do not trust each other: those whom a rule admits that names a class
//! have that one of their user's. What a class costs others is time, never correctness.
//!
//! A class goes with its last member, once its user owes no time: it would be without debts if it
//! bound again. Whoever still sleeps at its gates, or rings them, has the old bell, and harms
//! nobody.

use std::fmt;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nearcall_abi::BellLine;
use nearcall_abi::bell::{
    GateLine, RELIEF_OFFSET_BYTES, ResidentGate, SEGMENT_BYTES, WATCH_OFFSET_BYTES,
};
use nearcall_core::hearing::{ClassNumber, Found};
use nearcall_core::quota::{OverLimit, Pace, User};
use nearcall_os::segment::{Sealing, Segment, SegmentError};

use super::limits::{self, Limits};
use super::quota::{Account, Quotas, Resource};

/// What a user is charged with for a look that one of its clients asked for and that found nothing:
/// so long, at a quarter of a processor for requests, that looks without end take less than a
/// fiftieth of one in housekeeping. What the watcher runs for them is charged as for a bell that
/// rings in vain (design note 0025).
const VAIN_LOOK_NS: u64 = 2_000_000;

/// Longest pause that such looks lead to: well below what a client waits for an answer to anything
/// else over its socket.
const LOOKS_PAUSE_NS_MAX: u64 = 2_000_000_000;

/// Which class somebody is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassName {
    /// `None`: the system does not tell.
    pub uid: User,
    /// What the rule says that has admitted it.
    pub split: Option<String>,
}

impl ClassName {
    pub fn of(uid: User, split: Option<String>) -> ClassName {
        ClassName { uid, split }
    }
}

/// Of the next class.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// One class: its bell, and what new members are given.
#[derive(Debug)]
pub(crate) struct TrustClass {
    pub name: ClassName,
    /// No other class of this process ever has it.
    pub number: ClassNumber,
    bell: Segment,
    /// Passed to each importer of the class.
    pub bell_descriptor: OwnedFd,
    /// How fast its members' requests to housekeeping are answered.
    pace: Mutex<Pace>,
    /// What its bells have cost that rang for nothing.
    rings: Mutex<Pace>,
    /// Calls that its bells have brought, a [`Found`].
    found: AtomicU32,
    member_count: AtomicU32,
}

/// The classes of a domain that have members, or whose users owe time.
#[derive(Debug, Default)]
pub(crate) struct TrustClasses(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    all: Vec<Arc<TrustClass>>,
    /// Of how many the server processors were told: those with members, and some whose last one
    /// has gone since.
    told_count: usize,
}

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
    /// A new member of the class of this name. `tell` is told all classes with members if that one
    /// had none; what it returns is dropped when nobody is kept waiting by that.
    pub fn join<T>(
        &self,
        name: ClassName,
        quotas: &Arc<Quotas>,
        tell: impl FnOnce(Vec<Arc<TrustClass>>) -> T,
    ) -> Result<Member, NoClass> {
        let mut known = self.known();
        let class = match known.all.iter().find(|class| class.name == name) {
            Some(class) => Arc::clone(class),
            None => {
                let class = Arc::new(TrustClass::charged(name, quotas)?);
                known.all.push(Arc::clone(&class));
                class
            }
        };
        let is_first = class.is_empty();
        let member = Member::of(class);
        let told = is_first.then(|| tell(known.with_members()));
        drop(known);
        drop(told);
        Ok(member)
    }

    /// Lets go of those without members whose users owe nothing, and tells `tell` those with
    /// members if some have none any more: nobody hears the bell of one that only owes. How long
    /// until a user that is kept for that owes nothing. What `tell` returns is dropped as in
    /// `join`.
    pub fn end_empty<T>(
        &self,
        now_ns: u64,
        tell: impl FnOnce(Vec<Arc<TrustClass>>) -> T,
    ) -> Option<u64> {
        let mut known = self.known();
        let is_over = |class: &mut Arc<TrustClass>| class.is_empty() && class.owed_ns(now_ns) == 0;
        let over: Vec<_> = known.all.extract_if(.., is_over).collect();
        let told_before = known.told_count;
        let with_members = known.with_members();
        let told = (with_members.len() < told_before).then(|| tell(with_members));
        let empty = known.all.iter().filter(|class| class.is_empty());
        let owed_ns = empty.map(|class| class.owed_ns(now_ns)).min();
        drop(known);
        drop((over, told));
        owed_ns
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Those that server processors are to be told of.
    fn with_members(&mut self) -> Vec<Arc<TrustClass>> {
        let classes = self.all.iter().filter(|class| !class.is_empty());
        let classes: Vec<_> = classes.cloned().collect();
        self.told_count = classes.len();
        classes
    }
}

impl TrustClass {
    /// A class without members.
    pub fn new(name: ClassName) -> Result<TrustClass, SegmentError> {
        let (bell, bell_descriptor) =
            Segment::create("nearcall-bell", SEGMENT_BYTES, Sealing::BothWrite)?;
        let (pace, rings) = (Mutex::new(Pace::REQUESTS), Mutex::new(Pace::RINGS));
        let member_count = AtomicU32::new(0);
        // Relaxed: all that matters is that no two are alike.
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let found = AtomicU32::new(Found::default().as_u32());
        Ok(TrustClass { name, number, bell, bell_descriptor, pace, rings, found, member_count })
    }

    /// Whose it is: what is shared out among users is so whatever class they are in.
    #[inline]
    pub fn user(&self) -> User {
        self.name.uid
    }

    /// The same, whose user is charged with its bell until that is unmapped.
    fn charged(name: ClassName, quotas: &Arc<Quotas>) -> Result<TrustClass, NoClass> {
        let account = Account::new(quotas, name.uid, Limits::default());
        let charge = |(resource, amount)| {
            account.charge(resource, amount).map_err(|over| NoClass::Over(resource, over))
        };
        let [descriptor, mappings] = limits::of_class();
        let kept = [charge(descriptor)?, charge(mappings)?];
        let class = TrustClass::new(name).map_err(NoClass::Segment)?;
        Ok(TrustClass { bell: class.bell.keep(kept), ..class })
    }

    fn is_empty(&self) -> bool {
        // Relaxed: whoever joins does so under the lock under which this is asked.
        self.member_count.load(Ordering::Relaxed) == 0
    }

    /// How long its user would profit from another class without debts.
    fn owed_ns(&self, now_ns: u64) -> u64 {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        rings.owed_ns(now_ns).max(self.pace().owed_ns(now_ns))
    }

    /// How fast its members' requests to housekeeping are answered.
    pub fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of its clients has asked to be looked at, and nothing was there. Looks alone never have
    /// others of the user wait longer than they can.
    pub fn charge_vain_look(&self, now_ns: u64) {
        let mut pace = self.pace();
        if pace.pause_ns(now_ns) < LOOKS_PAUSE_NS_MAX {
            pace.spend(VAIN_LOOK_NS, now_ns);
        }
    }

    /// Its bells have brought a call, to whichever processor.
    ///
    /// # Cost: a load, if its bells have rung for calls alone; else a locked operation.
    #[inline]
    pub fn note_found(&self) {
        // Relaxed: a count that orders nothing.
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.found.fetch_update(set, fetch, |count| {
            Found::from_u32(count).with_call().map(Found::as_u32)
        });
    }

    /// Its bells rang for nothing, and that took `spent_ns` up to `now_ns`. How long they are not
    /// to be heard. Nobody is charged for as many as have brought calls: another processor has
    /// served those.
    pub fn charge_rings(&self, spent_ns: u64, now_ns: u64) -> u64 {
        // Relaxed: as above.
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let is_accounted_for = self.found.fetch_update(set, fetch, |count| {
            Found::from_u32(count).without_ring().map(Found::as_u32)
        });
        if is_accounted_for.is_ok() {
            return 0;
        }
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

    const A: User = Some(1);
    const B: User = Some(2);

    fn quotas() -> Arc<Quotas> {
        let mut options = DomainOptions::default();
        (options.mappings_max, options.open_descriptors_max) = (Some(4), Some(4));
        Arc::new(Quotas::new(&options))
    }

    fn of(uid: User) -> ClassName {
        ClassName::of(uid, None)
    }

    #[test]
    fn rings_in_vain_are_charged_but_for_as_many_as_have_brought_calls() {
        const SECOND_NS: u64 = 1_000_000_000;
        let class = TrustClass::new(of(A)).unwrap();
        class.note_found();
        class.note_found();
        assert_eq!([(); 2].map(|()| class.charge_rings(SECOND_NS, SECOND_NS)), [0, 0]);
        assert!(class.charge_rings(SECOND_NS, SECOND_NS) > 0);
    }

    fn join(classes: &TrustClasses, uid: User, quotas: &Arc<Quotas>) -> Member {
        classes.join(of(uid), quotas, drop).unwrap()
    }

    #[test]
    fn a_class_goes_with_its_last_member_and_its_user_gets_back_what_the_bell_took() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        for _ in 0..10 {
            let (first, second) = (join(&classes, A, &quotas), join(&classes, A, &quotas));
            assert!(Arc::ptr_eq(first.class(), second.class()));
            drop(first);
            assert_eq!(classes.end_empty(0, |_| unreachable!("one is left")), None);
            drop(second);
            let mut left = None;
            assert_eq!(classes.end_empty(0, |classes| left = Some(classes.len())), None);
            assert_eq!(left, Some(0));
        }
    }

    #[test]
    fn who_is_in_a_class_that_a_rule_names_shares_its_bell_and_no_other_of_its_users() {
        let mut options = DomainOptions::default();
        (options.mappings_max, options.open_descriptors_max) = (Some(40), Some(40));
        let (classes, quotas) = (TrustClasses::default(), Arc::new(Quotas::new(&options)));
        let join = |uid, split: Option<&str>| {
            let split = split.map(str::to_owned);
            classes.join(ClassName::of(uid, split), &quotas, drop).unwrap()
        };
        let members =
            [(A, None), (A, Some("x")), (A, Some("y")), (B, Some("x"))].map(|(a, b)| join(a, b));
        let numbers: std::collections::BTreeSet<_> =
            members.iter().map(|member| member.number).collect();
        assert_eq!(numbers.len(), members.len());
        assert_eq!(join(A, Some("x")).number, members[1].number);
        // All are their user's, who is charged with each.
        let of_a = members.iter().filter(|member| member.user() == A).count();
        assert_eq!(of_a, 3);
    }

    /// Says when it is dropped whether somebody else could join then.
    struct Told<'c>(&'c TrustClasses, &'c std::cell::Cell<u32>);

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.1.set(self.1.get() + u32::from(self.0.0.try_lock().is_ok()));
        }
    }

    #[test]
    fn what_goes_when_classes_come_or_go_keeps_nobody_from_joining() {
        let (classes, quotas, free) = (TrustClasses::default(), quotas(), Default::default());
        let member = classes.join(of(A), &quotas, |_| Told(&classes, &free)).unwrap();
        assert_eq!(free.get(), 1);
        drop(member);
        assert_eq!(classes.end_empty(0, |_| Told(&classes, &free)), None);
        assert_eq!(free.get(), 2);
    }

    #[test]
    fn a_class_whose_user_owes_time_stays_until_that_is_paid_and_is_not_heard_meanwhile() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        let member = join(&classes, A, &quotas);
        member.pace().spend(1_000, 0);
        drop(member);
        let mut told = None;
        assert_eq!(classes.end_empty(3_999, |classes| told = Some(classes.len())), Some(1));
        assert_eq!(told, Some(0));
        assert_eq!(classes.end_empty(3_999, |_| unreachable!("it is known")), Some(1));
        let again = classes.join(of(A), &quotas, |classes| told = Some(classes.len())).unwrap();
        assert_eq!((told, again.pace().owed_ns(3_999)), (Some(1), 1));
        drop(again);
        assert_eq!(classes.end_empty(4_000, |classes| assert!(classes.is_empty())), None);
    }

    #[test]
    fn looks_in_vain_have_their_user_pause_and_no_longer_than_the_longest() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        let member = join(&classes, A, &quotas);
        (0..10).for_each(|_| member.charge_vain_look(0));
        assert_eq!(member.pace().pause_ns(0), 10 * 4 * VAIN_LOOK_NS - 5_000_000);
        (0..10_000).for_each(|_| member.charge_vain_look(0));
        let pause_ns = member.pace().pause_ns(0);
        assert!((LOOKS_PAUSE_NS_MAX..LOOKS_PAUSE_NS_MAX + 4 * VAIN_LOOK_NS).contains(&pause_ns));
    }

    #[test]
    fn a_bell_is_charged_to_its_user_and_refused_over_its_share() {
        let (classes, quotas) = (TrustClasses::default(), quotas());
        let _first = join(&classes, A, &quotas);
        let _second = join(&classes, B, &quotas);
        let over = classes.join(of(None), &quotas, drop).unwrap_err().to_string();
        assert_eq!(over, "open descriptors: 1 is over its user's share, which is 0 now");
    }
}
