//! Audit records: every bind, every refusal of one, every call that the policy does not let its
//! client make, and every end of a binding, as events of the target `nearcall::audit`. How they
//! are written, as lines of JSON or otherwise, is the subscriber's business. Records about one user
//! come in bursts and then at a pace; what is left out is counted in the next one. The first call
//! of each procedure that a client may not call is never left out, where its bind was not.

use std::sync::{Mutex, PoisonError};

use nearcall_core::RevokeReason;
use nearcall_core::quota::{Meters, User};
use nearcall_os::clock;
use tracing::Level;

use crate::server::importer::Importer;

/// The target of the events.
pub(crate) const TARGET: &str = "nearcall::audit";

/// What records call what no rule of a policy's has decided.
pub(crate) mod no_rule {
    /// A policy of rules of which none fits.
    pub const OTHERWISE: &str = "otherwise";
    /// Nobody but the server's own user.
    pub const OWNER: &str = "owner";
    /// No policy, in the system's scope.
    pub const DEFAULT: &str = "default";
    /// Everybody.
    pub const ANYONE: &str = "anyone";
    /// A function of the program's.
    pub const ASKED: &str = "asked";
    /// Whoever has introduced it.
    pub const INTRODUCED: &str = "introduced";
    /// It was not presented as an introduction is.
    pub const INTRODUCTION: &str = "introduction";
    /// It was no bind, or there was no room.
    pub const BIND: &str = "bind";

    pub const ALL: [&str; 8] =
        [OTHERWISE, OWNER, DEFAULT, ANYONE, ASKED, INTRODUCED, INTRODUCTION, BIND];
}

/// How much was written about whom.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    meters: Mutex<Meters>,
    /// The same of calls, which a client makes faster than it binds: no bind is left out for them.
    calls: Mutex<Meters>,
    /// The same of warnings that a peer can cause again and again, by [`Cause`].
    warnings: Mutex<[Meters; 2]>,
}

/// Whose doing it is what is warned of. They have a meter each: whatever clients send, the server's
/// author is told of what is their own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// A client, or want of room.
    Client,
    /// The procedures of the server.
    Server,
}

/// What a record is about.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'s> {
    /// The name that was imported.
    pub name: &'s str,
    pub interface: &'static str,
    pub importer: &'s Importer,
    /// Who has introduced it.
    pub giver: Option<&'s Importer>,
}

macro_rules! record {
    ($subject:expr, $dropped:expr, $event:literal, $($field:ident = $value:expr),*) => {{
        let Subject { name, interface, importer, giver } = $subject;
        let (uid, gid, pid) = (importer.uid(), importer.gid(), importer.pid());
        let (giver_uid, giver_pid) = (giver.and_then(Importer::uid), giver.and_then(Importer::pid));
        tracing::info!(
            target: TARGET,
            event = $event, name, interface, uid, gid, pid,
            // Asked only if somebody writes it.
            groups = importer.recorded_groups(), cgroup = importer.recorded_cgroup(),
            pidfd_inode = importer.recorded_inode(), label = importer.label(),
            giver_uid, giver_pid,
            $($field = $value,)* dropped = $dropped
        );
    }};
}

impl Audit {
    /// It was bound, by this rule. Whether that was not left out.
    pub fn bound(&self, subject: Subject<'_>, rule: &str) -> bool {
        let dropped = admit(&self.meters, subject.importer);
        if let Some(dropped) = dropped {
            record!(subject, dropped, "bound", rule = rule);
        }
        dropped.is_some()
    }

    /// It was not, by this rule or for another reason.
    pub fn refused(&self, subject: Subject<'_>, rule: &str, reason: &str) {
        if let Some(dropped) = admit(&self.meters, subject.importer) {
            record!(subject, dropped, "refused", rule = rule, reason = reason);
        }
    }

    /// It has called a procedure that its rule does not let it call, of this operation. The first
    /// such call is not left out for those before it: a client would hide one behind many others.
    pub fn not_permitted(&self, subject: Subject<'_>, operation: &str, is_first: bool) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (user, now_ns) = (subject.importer.uid(), clock::now_ns());
        let dropped = match is_first {
            true => Some(calls.write(user, now_ns)),
            false => calls.admit(user, now_ns),
        };
        drop(calls);
        if let Some(dropped) = dropped {
            record!(subject, dropped, "not_permitted", procedure = operation);
        }
    }

    /// Its binding has ended, after so many calls that were not permitted, if any.
    pub fn revoked(&self, subject: Subject<'_>, reason: RevokeReason, not_permitted: Option<u64>) {
        let reason = reason.to_string();
        if let Some(dropped) = admit(&self.meters, subject.importer) {
            let (reason, calls) = (reason.as_str(), not_permitted);
            record!(subject, dropped, "revoked", reason = reason, not_permitted = calls);
        }
    }

    /// Whether a warning about a user is written now, and then how many were not since the last
    /// one. Not of those that a peer causes once, with which its binding ends.
    pub fn may_warn(&self, cause: Cause, user: User) -> Option<u64> {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings[cause as usize].admit(user, clock::now_ns())
    }
}

/// Whether anybody listens to records.
pub(crate) fn is_heard() -> bool {
    tracing::enabled!(target: TARGET, Level::INFO)
}

fn admit(meters: &Mutex<Meters>, importer: &Importer) -> Option<u64> {
    let mut meters = meters.lock().unwrap_or_else(PoisonError::into_inner);
    meters.admit(importer.uid(), clock::now_ns())
}

#[cfg(test)]
mod tests {
    use nearcall_os::socket::Stream;

    use super::*;

    #[test]
    fn calls_that_are_not_permitted_leave_records_of_binds() {
        let (here, _there) = Stream::pair().unwrap();
        let (audit, importer) = (Audit::default(), Importer::of(&here).unwrap());
        while admit(&audit.calls, &importer).is_some() {}
        assert_eq!(admit(&audit.meters, &importer), Some(0));
        assert_eq!(audit.calls.lock().unwrap().write(importer.uid(), clock::now_ns()), 1);
    }

    #[test]
    fn what_clients_cause_leaves_a_warning_of_the_servers_own_doing() {
        let (audit, user) = (Audit::default(), Some(7));
        while audit.may_warn(Cause::Client, user).is_some() {}
        assert_eq!(audit.may_warn(Cause::Server, user), Some(0));
    }
}
