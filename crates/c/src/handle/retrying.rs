//! Whether another try may help after an error.

use nearcall::raw::Reason;

use super::records::{Environment, Outcome, RanWord};

/// Outcomes that have reasons.
const REASONED: [Outcome; 4] =
    [Outcome::Usage, Outcome::NotExecuted, Outcome::NotBound, Outcome::NotExported];

/// Whether nothing ran, and another try may help; false of what is no error.
///
/// # Safety
///
/// - H1 live: `environment`.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nearcall_may_retry(environment: *const Environment) -> bool {
    // SAFETY: H1.
    let environment = unsafe { &*environment };
    let is = |outcome: Outcome| environment.outcome == outcome as u32;
    // What has opened a feed has run, whatever became of the items.
    if environment.ran != RanWord::No as u32 {
        return false;
    }
    if !REASONED.into_iter().any(is) {
        return is(Outcome::NoAStack);
    }
    let reason = Reason::ALL.iter().find(|reason| **reason as u32 == environment.reason);
    reason.is_some_and(|reason| reason.may_pass())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nearcall::{CallError, NotExecuted, ProcedureName, UsageError};

    use super::super::records::NO_REASON;
    use super::*;

    fn may_retry(environment: &Environment) -> bool {
        // SAFETY: it lives.
        unsafe { nearcall_may_retry(environment) }
    }

    fn told(error: &CallError) -> Environment {
        let mut environment = Environment::nothing();
        // What stood there before says nothing of this error.
        (environment.reason, environment.incarnation) = (Reason::Overloaded as u32, 9);
        environment.fail_call(error);
        environment
    }

    #[test]
    fn c_is_told_what_rust_is() {
        let (procedure, incarnation) = (ProcedureName::new("work"), 7);
        let deadline = Duration::ZERO;
        let not_executed = |reason| CallError::NotExecuted { procedure, reason };
        for (error, reason, life) in [
            (CallError::Usage(UsageError::LentElsewhere), Reason::LentElsewhere as u32, 0),
            (CallError::NoAStack { procedure }, NO_REASON, 0),
            (not_executed(NotExecuted::Overloaded), Reason::Overloaded as u32, 0),
            (not_executed(NotExecuted::DeadlinePassed), Reason::DeadlinePassed as u32, 0),
            (CallError::CallFailed { procedure, incarnation }, NO_REASON, 7),
            (
                CallError::CallAborted { procedure, deadline, was_cancelled: false, incarnation },
                NO_REASON,
                7,
            ),
            (
                CallError::CallAborted { procedure, deadline, was_cancelled: true, incarnation },
                Reason::Cancelled as u32,
                7,
            ),
            (CallError::Panicked { procedure }, NO_REASON, 0),
        ] {
            let environment = told(&error);
            assert_eq!((environment.reason, environment.incarnation), (reason, life), "{error}");
            assert_eq!(may_retry(&environment), error.may_retry(), "{error}");
        }
    }

    #[test]
    fn what_returned_is_not_tried_again_whatever_went_before() {
        let procedure = ProcedureName::new("work");
        let mut environment =
            told(&CallError::NotExecuted { procedure, reason: NotExecuted::Overloaded });
        assert!(may_retry(&environment));
        environment.begin();
        assert!(!may_retry(&environment));
    }
}
