//! Errors in words, for people.
//!
//! What a user's `?` carries has the same words for [`fmt::Debug`], which `main() -> Result`,
//! `unwrap` and `expect` show: whoever runs the program is told what to do, and not the fields.
//! Programs look at fields by `match`.

use std::fmt;

use nearcall_abi::counted;

use super::{
    BindError, CallError, Error, ExportError, NameError, NotExecuted, OutOfRange, OverBound,
    UsageError,
};

/// What has room for more calls at once.
const MORE_ASTACKS: &str = "more come by `@astack(count = N)`, or by an import that grows";

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Usage(usage) => usage.fmt(f),
            CallError::NoAStack { procedure } => {
                write!(
                    f,
                    "no A-stack for {procedure} came free before the deadline: other calls have \
                     them, or aborted ones that still run; {MORE_ASTACKS}"
                )
            }
            // What has opened a feed has run, and items may have come or gone.
            CallError::NotExecuted { procedure, reason: NotExecuted::FeedOver }
                if procedure.carries_feed() =>
            {
                write!(f, "{procedure} is over")
            }
            CallError::NotExecuted { procedure, reason } if procedure.carries_feed() => {
                write!(f, "{procedure} broke off, at a call that was not executed: {reason}")
            }
            CallError::NotExecuted { procedure, reason } => {
                write!(f, "{procedure} was not executed: {reason}")
            }
            CallError::CallFailed { procedure, incarnation } => write!(
                f,
                "call failed: the server, in life {incarnation}, ended or gave up while it held \
                 {procedure}"
            ),
            CallError::CallAborted { procedure, deadline, was_cancelled: false, .. } => {
                write!(f, "call aborted: {procedure} did not return within {deadline:?}")
            }
            CallError::CallAborted { procedure, deadline, was_cancelled: true, .. } => {
                write!(f, "call aborted: {procedure} was cancelled after {deadline:?}")
            }
            CallError::Panicked { procedure } => {
                write!(f, "{procedure} panicked in the server, or was dropped there unfinished")
            }
            CallError::ResultsRefused { procedure } => {
                write!(
                    f,
                    "results of {procedure} are beyond a limit, or could not be made: its server \
                     is told why"
                )
            }
            CallError::Peer { procedure, fault } => {
                write!(f, "the server broke the protocol at {procedure}: {fault}")
            }
        }
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exception(exception) => write!(f, "raised {exception}"),
            Error::Call(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for NotExecuted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotExecuted::ServerEnded => "the server ended before it took the call",
            NotExecuted::Revoked => "the binding is revoked: rebind, or import again",
            NotExecuted::Refused => {
                "the server has given the binding up, as it ends or has another policy: rebind, or \
                 import again"
            }
            NotExecuted::ArgumentsRefused => "the server refused the arguments",
            NotExecuted::Overloaded => "the server has no room for its arguments now",
            NotExecuted::FeedOver => "it is over",
            NotExecuted::DescriptorsNotSent => "its descriptors could not be sent",
            NotExecuted::NotPermitted => "the server's policy does not permit it",
            NotExecuted::NotProvided => "the server's version of the interface does not have it",
            NotExecuted::DeadlinePassed => "its deadline passed before it was posted",
        })
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::OverBound(over) => over.fmt(f),
            UsageError::OutOfRange(beyond) => beyond.fmt(f),
            UsageError::Text { parameter, at } => {
                write!(f, "{parameter} is not UTF-8 at byte {at}")
            }
            UsageError::Outstanding { procedure, limit } => {
                write!(
                    f,
                    "no A-stack for {procedure}: this thread has all {limit} outstanding: it \
                     collects one first, or {MORE_ASTACKS}"
                )
            }
            UsageError::TooManyFeeds { procedure, open, limit } => write!(
                f,
                "no room for what {procedure} opens: this client has {} open over its binding, of \
                 {limit} that it may have (an exchange is two): it reads or ends one first, or \
                 gives one up",
                counted(u64::from(*open), "feed")
            ),
            UsageError::NoMemory { bytes, reason } => {
                write!(f, "no out-of-line memory for {}: {reason}", counted(*bytes, "byte"))
            }
            UsageError::WrongDescriptor { parameter, wrong } => write!(f, "{parameter}: {wrong}"),
            UsageError::LentElsewhere => f.write_str(
                "an argument is lent over another binding: lend it over the one that is called, \
                 after a rebind once more",
            ),
            UsageError::Forked { name, importer } => write!(
                f,
                "process {} was forked from {importer}, which has imported {name:?}: make a domain \
                 of its own, and import again",
                std::process::id()
            ),
        }
    }
}

impl fmt::Display for OverBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OverBound { parameter, value, limit } = self;
        let value = counted(*value, "byte or element");
        write!(f, "{parameter} has {value}, its limit is {limit}")
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfRange { parameter, value, allowed } = self;
        write!(f, "{parameter} is {value}, allowed is {allowed}")
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::Name(name) => name.fmt(f),
            BindError::NoSuchName { name, tried } => {
                let tried: Vec<_> = tried.iter().map(|path| path.display().to_string()).collect();
                write!(f, "no domain exports {name:?}: looked for {}", tried.join(" and "))
            }
            BindError::NotAdmitted { name, reason } => {
                write!(f, "not admitted to {name:?}: {reason}")
            }
            BindError::OtherInterface { name, expected, exported } => {
                write!(f, "{name:?} is interface {exported}, not {expected}")
            }
            BindError::Hash { interface, difference } => {
                let more = "`nearcall diff` of both files tells more";
                write!(f, "the server has another version of {interface}: {difference}: {more}")
            }
            BindError::Overloaded { name, reason } => {
                write!(f, "{name:?} has no room for another binding now: {reason}")
            }
            BindError::TimedOut { name, waited } => {
                write!(f, "{name:?} did not answer within {waited:?}")
            }
            BindError::NotReady { name, limit, last } => {
                write!(f, "{name:?} was not ready within {limit:?}: {last}")
            }
            BindError::ProcessEnded { name, status, last } => {
                let how = status.map_or(String::new(), |status| format!(" ({status})"));
                let end = format!("the process that it waited for ended{how}");
                write!(f, "{name:?} was not ready when {end}: {last}")
            }
            BindError::WrongDescriptor { option, wanted } => write!(f, "{option} is no {wanted}"),
            BindError::NoIntroduction(reason) => write!(f, "no introduction: {reason}"),
            BindError::IntroductionOver { interface } => {
                write!(
                    f,
                    "the introduction to {interface} is over: it was used, waited too long, "
                )?;
                f.write_str("or whoever gave it, or the server, has gone")
            }
            BindError::Introduced { interface } => {
                write!(f, "the binding to {interface} was introduced: no name to rebind by")
            }
            BindError::Revoked { name } => {
                write!(f, "the binding to {name:?} is revoked: nobody is introduced to it")
            }
            BindError::Peer { name, reason } => {
                write!(f, "{name:?} did not complete the bind: {reason}")
            }
            BindError::System { doing, reason } => write!(f, "{doing}: {reason}"),
        }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Name(name) => name.fmt(f),
            ExportError::AlreadyExported { name, pid, not_taken } => {
                write!(f, "{name:?} is already exported")?;
                if let Some(pid) = pid {
                    write!(f, ", by process {pid}")?;
                }
                match not_taken {
                    Some(why) => write!(f, "; nothing is taken that was handed down: {why}"),
                    None => Ok(()),
                }
            }
            ExportError::Policy(wrong) => wrong.fmt(f),
            ExportError::NoRoom { what, limit, needed, interface } => {
                let share = limit / 2;
                let half = format!("of which one user may have half, {share}");
                let takes = format!("its first bind to {interface} takes {needed}");
                write!(f, "the domain limits {what} to {limit}, {half}, and {takes}")
            }
            ExportError::System { doing, reason } => write!(f, "{doing}: {reason}"),
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Empty => f.write_str("a name may not be empty"),
            NameError::Part { name, part } => write!(
                f,
                "name {name:?} has part {part:?}: parts are letters, digits, '.', '_' and '-', \
                 and neither empty nor '.' nor '..'"
            ),
            NameError::TooLong { name, path_bytes, limit } => write!(
                f,
                "name of {} makes a socket path of {path_bytes} bytes, the limit is {limit}",
                counted(name.len(), "byte")
            ),
            NameError::NoScope => f.write_str(
                "XDG_RUNTIME_DIR is not set to an absolute path, so that there is no place for \
                 names: set it to a directory of your own, for clients and servers alike",
            ),
        }
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An exception has no words of ours: its members are shown.
impl<E: fmt::Debug> fmt::Debug for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exception(exception) => f.debug_tuple("Exception").field(exception).finish(),
            Error::Call(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Debug for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CallError {}
impl<E: fmt::Debug + fmt::Display> std::error::Error for Error<E> {}
impl std::error::Error for UsageError {}
impl std::error::Error for OutOfRange {}
impl std::error::Error for BindError {}
impl std::error::Error for ExportError {}
impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_and_unwrap_show_says_what_to_do() {
        let way_out = "set it to a directory of your own";
        let (bind, export) =
            (BindError::Name(NameError::NoScope), ExportError::Name(NameError::NoScope));
        assert!(format!("{bind:?}").contains(way_out) && format!("{export:?}").contains(way_out));
        let forked = || UsageError::Forked { name: String::from("files"), importer: 7 };
        let shown = format!("{:?}", CallError::Usage(forked()));
        assert!(shown.ends_with("make a domain of its own, and import again"), "{shown}");
        assert_eq!(format!("{:?}", Error::<OverBound>::Call(CallError::Usage(forked()))), shown);
    }

    #[test]
    fn whatever_differs_the_way_to_learn_more_is_told() {
        let difference = "procedure 9 is `rest` here and `last` there".to_owned();
        let shown = BindError::Hash { interface: "up::Store", difference }.to_string();
        let want = "the server has another version of up::Store: procedure 9 is `rest` here and \
                    `last` there: `nearcall diff` of both files tells more";
        assert_eq!(shown, want);
    }

    #[test]
    fn what_a_call_lacks_is_told_with_where_it_is_had() {
        let procedure = nearcall_abi::ProcedureName::new("work");
        let more = "`@astack(count = N)`, or by an import that grows";
        let told = |error: CallError, end: &str| {
            let shown = error.to_string();
            assert!(shown.ends_with(end), "{shown}");
        };
        told(CallError::NoAStack { procedure }, more);
        let usage = UsageError::Outstanding { procedure, limit: 5 };
        told(CallError::Usage(usage), more);
        let reason = NotExecuted::Revoked;
        told(CallError::NotExecuted { procedure, reason }, "rebind, or import again");
        told(CallError::Usage(UsageError::LentElsewhere), "after a rebind once more");
    }

    #[test]
    fn an_exception_shows_its_members() {
        let exception = OverBound { parameter: "a", value: 2, limit: 1 };
        let shown = format!("Exception({exception:?})");
        assert_eq!(format!("{:?}", Error::Exception(exception)), shown);
    }
}
