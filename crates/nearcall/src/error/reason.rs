//! Which of an error's reasons it was, as one number for languages that have no enums of ours, and
//! whether another try may help.
//!
//! The matches here have no arm for what they do not know: an error that is added has its reason
//! named before anything compiles.

use super::{BindError, CallError, Error, ExportError, NotExecuted, Ran, UsageError};

macro_rules! reasons {
    ($($name:ident = $number:literal,)+) => {
        /// Why nothing was bound, exported or run, where the kind of error alone does not say it:
        /// by the names that variants of [`BindError`], [`ExportError`], [`NotExecuted`] and
        /// [`UsageError`] have, of which some share one; and `Cancelled` of a call that was aborted
        /// by no deadline. Numbers stay as they are once they are released.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Reason {
            $(
                #[doc = concat!("A variant `", stringify!($name), "`.")]
                $name = $number,
            )+
        }

        impl Reason {
            /// Each of them.
            pub const ALL: &[Reason] = &[$(Reason::$name),+];
        }
    };
}

reasons! {
    Name = 1,
    NoSuchName = 2,
    NotAdmitted = 3,
    OtherInterface = 4,
    Hash = 5,
    Overloaded = 6,
    TimedOut = 7,
    NotReady = 8,
    NoIntroduction = 9,
    IntroductionOver = 10,
    Introduced = 11,
    Revoked = 12,
    Peer = 13,
    System = 14,
    ServerEnded = 15,
    Refused = 16,
    ArgumentsRefused = 17,
    NotPermitted = 18,
    NotProvided = 19,
    DeadlinePassed = 20,
    DescriptorsNotSent = 21,
    FeedOver = 22,
    AlreadyExported = 23,
    Policy = 24,
    OverBound = 25,
    OutOfRange = 26,
    Text = 27,
    Outstanding = 28,
    NoMemory = 29,
    LentElsewhere = 30,
    Forked = 31,
    WrongDescriptor = 32,
    Cancelled = 33,
    NoRoom = 34,
    TooManyFeeds = 35,
    ProcessEnded = 36,
}

impl Reason {
    /// What another domain may change by itself: it comes, ends, has room or time again. What this
    /// one has to change first is none of it: what it asks for, its time, its memory.
    pub fn may_pass(self) -> bool {
        match self {
            Reason::NoSuchName
            | Reason::Overloaded
            | Reason::TimedOut
            | Reason::NotReady
            | Reason::Revoked
            | Reason::Peer
            | Reason::ServerEnded
            | Reason::Refused
            | Reason::DescriptorsNotSent
            | Reason::AlreadyExported => true,
            Reason::Name
            | Reason::NotAdmitted
            | Reason::OtherInterface
            | Reason::Hash
            | Reason::NoIntroduction
            | Reason::IntroductionOver
            | Reason::Introduced
            | Reason::System
            | Reason::ArgumentsRefused
            | Reason::NotPermitted
            | Reason::NotProvided
            | Reason::DeadlinePassed
            | Reason::FeedOver
            | Reason::Policy
            | Reason::NoRoom
            | Reason::OverBound
            | Reason::OutOfRange
            | Reason::Text
            | Reason::Outstanding
            | Reason::NoMemory
            | Reason::LentElsewhere
            | Reason::Forked
            | Reason::WrongDescriptor
            | Reason::Cancelled
            | Reason::TooManyFeeds
            | Reason::ProcessEnded => false,
        }
    }
}

impl From<&BindError> for Reason {
    fn from(error: &BindError) -> Reason {
        match error {
            BindError::Name(_) => Reason::Name,
            BindError::NoSuchName { .. } => Reason::NoSuchName,
            BindError::NotAdmitted { .. } => Reason::NotAdmitted,
            BindError::OtherInterface { .. } => Reason::OtherInterface,
            BindError::Hash { .. } => Reason::Hash,
            BindError::Overloaded { .. } => Reason::Overloaded,
            BindError::TimedOut { .. } => Reason::TimedOut,
            BindError::NotReady { .. } => Reason::NotReady,
            BindError::ProcessEnded { .. } => Reason::ProcessEnded,
            BindError::WrongDescriptor { .. } => Reason::WrongDescriptor,
            BindError::NoIntroduction(_) => Reason::NoIntroduction,
            BindError::IntroductionOver { .. } => Reason::IntroductionOver,
            BindError::Introduced { .. } => Reason::Introduced,
            BindError::Revoked { .. } => Reason::Revoked,
            BindError::Peer { .. } => Reason::Peer,
            BindError::System { .. } => Reason::System,
        }
    }
}

impl From<&ExportError> for Reason {
    fn from(error: &ExportError) -> Reason {
        match error {
            ExportError::Name(_) => Reason::Name,
            ExportError::AlreadyExported { .. } => Reason::AlreadyExported,
            ExportError::Policy(_) => Reason::Policy,
            ExportError::NoRoom { .. } => Reason::NoRoom,
            ExportError::System { .. } => Reason::System,
        }
    }
}

impl From<NotExecuted> for Reason {
    fn from(reason: NotExecuted) -> Reason {
        match reason {
            NotExecuted::ServerEnded => Reason::ServerEnded,
            NotExecuted::Revoked => Reason::Revoked,
            NotExecuted::Refused => Reason::Refused,
            NotExecuted::ArgumentsRefused => Reason::ArgumentsRefused,
            NotExecuted::NotPermitted => Reason::NotPermitted,
            NotExecuted::NotProvided => Reason::NotProvided,
            NotExecuted::DeadlinePassed => Reason::DeadlinePassed,
            NotExecuted::Overloaded => Reason::Overloaded,
            NotExecuted::DescriptorsNotSent => Reason::DescriptorsNotSent,
            NotExecuted::FeedOver => Reason::FeedOver,
        }
    }
}

impl From<&UsageError> for Reason {
    fn from(error: &UsageError) -> Reason {
        match error {
            UsageError::OverBound(_) => Reason::OverBound,
            UsageError::OutOfRange(_) => Reason::OutOfRange,
            UsageError::Text { .. } => Reason::Text,
            UsageError::Outstanding { .. } => Reason::Outstanding,
            UsageError::TooManyFeeds { .. } => Reason::TooManyFeeds,
            UsageError::NoMemory { .. } => Reason::NoMemory,
            UsageError::LentElsewhere => Reason::LentElsewhere,
            UsageError::Forked { .. } => Reason::Forked,
            UsageError::WrongDescriptor { .. } => Reason::WrongDescriptor,
        }
    }
}

impl Reason {
    /// That of a call's error, if its kind alone does not say it.
    pub fn of_call(error: &CallError) -> Option<Reason> {
        match error {
            CallError::Usage(usage) => Some(usage.into()),
            CallError::NotExecuted { reason, .. } => Some((*reason).into()),
            CallError::CallAborted { was_cancelled: true, .. } => Some(Reason::Cancelled),
            CallError::NoAStack { .. }
            | CallError::CallFailed { .. }
            | CallError::CallAborted { was_cancelled: false, .. }
            | CallError::Panicked { .. }
            | CallError::ResultsRefused { .. }
            | CallError::Peer { .. } => None,
        }
    }
}

impl CallError {
    /// Whether it did not run, and another try may: later, and if the binding is revoked, over
    /// another one ([`Binding::rebind`](crate::Binding::rebind)). After [`Ran::Maybe`](super::Ran)
    /// it is the caller's to say what may run twice: of a feed that has failed, too, which whoever
    /// opens it again has run once more.
    pub fn may_retry(&self) -> bool {
        let may_pass = Reason::of_call(self).is_some_and(Reason::may_pass);
        let is_passing = may_pass || matches!(self, CallError::NoAStack { .. });
        is_passing && self.ran() == Ran::No
    }

    /// Which life of the server had the call, if one had: see
    /// [`Binding::incarnation`](crate::Binding::incarnation).
    pub fn incarnation(&self) -> Option<u64> {
        match self {
            CallError::CallFailed { incarnation, .. }
            | CallError::CallAborted { incarnation, .. } => Some(*incarnation),
            CallError::Usage(_)
            | CallError::NoAStack { .. }
            | CallError::NotExecuted { .. }
            | CallError::Panicked { .. }
            | CallError::ResultsRefused { .. }
            | CallError::Peer { .. } => None,
        }
    }
}

impl<E> Error<E> {
    /// Whether another try may help: see [`CallError::may_retry`]. One that raised has run.
    pub fn may_retry(&self) -> bool {
        match self {
            Error::Exception(_) => false,
            Error::Call(error) => error.may_retry(),
        }
    }
}

impl BindError {
    /// Whether the same may succeed later: its server may come, or have room or time again.
    ///
    /// ```
    /// let absent = nearcall::BindError::NoSuchName { name: "files".into(), tried: Vec::new() };
    /// assert!(absent.may_retry());
    /// ```
    pub fn may_retry(&self) -> bool {
        Reason::from(self).may_pass()
    }
}

impl ExportError {
    /// Whether the same may succeed later: who exports the name may end.
    pub fn may_retry(&self) -> bool {
        Reason::from(self).may_pass()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nearcall_abi::ProcedureName;
    use nearcall_core::fault::PeerFault;

    use super::*;

    const PROCEDURE: ProcedureName<'static> = ProcedureName::new("work");

    /// One of each kind.
    fn call_errors() -> [CallError; 8] {
        let (procedure, reason, deadline) = (PROCEDURE, NotExecuted::Overloaded, Duration::ZERO);
        let (incarnation, was_cancelled) = (7, true);
        [
            CallError::Usage(UsageError::LentElsewhere),
            CallError::NoAStack { procedure },
            CallError::NotExecuted { procedure, reason },
            CallError::CallFailed { procedure, incarnation: 7 },
            CallError::CallAborted { procedure, deadline, was_cancelled, incarnation },
            CallError::Panicked { procedure },
            CallError::ResultsRefused { procedure },
            CallError::Peer { procedure, fault: PeerFault::Status { claimed: 9 } },
        ]
    }

    #[test]
    fn only_what_did_not_run_may_be_tried_again() {
        let may_retry = call_errors().map(|error| error.may_retry());
        assert_eq!(may_retry, [false, true, true, false, false, false, false, false]);
        for error in call_errors().iter().filter(|error| error.may_retry()) {
            assert_eq!(error.ran(), Ran::No, "{error}");
        }
        let [_, _, overloaded, ..] = call_errors();
        assert!(Error::<()>::Call(overloaded).may_retry() && !Error::Exception(()).may_retry());
    }

    #[test]
    fn a_feed_that_has_failed_is_not_tried_again() {
        for name in ["_next_rows", "_put_load", "_end_load"] {
            let procedure = ProcedureName::new(name);
            let not_executed = |reason| CallError::NotExecuted { procedure, reason };
            for error in [
                CallError::NoAStack { procedure },
                not_executed(NotExecuted::ServerEnded),
                not_executed(NotExecuted::Overloaded),
            ] {
                assert_eq!((error.ran(), error.may_retry()), (Ran::Maybe, false), "{error}");
            }
        }
    }

    #[test]
    fn a_life_of_the_server_is_known_of_calls_that_it_had() {
        let lives = call_errors().map(|error| error.incarnation());
        assert_eq!(lives, [None, None, None, Some(7), Some(7), None, None, None]);
    }

    #[test]
    fn a_bind_or_an_export_may_be_tried_again_when_others_may_change() {
        let (name, reason) = (|| "files".to_owned(), || "why".to_owned());
        let waited = Duration::ZERO;
        assert!(BindError::NoSuchName { name: name(), tried: Vec::new() }.may_retry());
        assert!(BindError::Overloaded { name: name(), reason: reason() }.may_retry());
        assert!(BindError::TimedOut { name: name(), waited }.may_retry());
        assert!(!BindError::NotAdmitted { name: name(), reason: reason() }.may_retry());
        assert!(!BindError::NoIntroduction(reason()).may_retry());
        let (pid, not_taken) = (None, None);
        assert!(ExportError::AlreadyExported { name: name(), pid, not_taken }.may_retry());
        let (what, interface) = (name(), "files::Files");
        assert!(!ExportError::NoRoom { what, limit: 1, needed: 1, interface }.may_retry());
    }
}
