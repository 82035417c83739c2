//! What a procedure is called: in a descriptor list, and to people.
//!
//! The compiler adds procedures that carry a feed's batches (design note 0020). Whoever has written
//! `@feed` or `stream` knows the operation and its feed, and is told of those.

use core::fmt;

/// Before the name of an operation: the procedure whose calls bring its items to the client. No
/// identifier of an interface file begins so.
pub const NEXT: &str = "_next_";
/// The same, of the calls that bring items to the server.
pub const PUT: &str = "_put_";
/// The same, of the call that says that there are no more.
pub const END: &str = "_end_";

/// A procedure, as whoever wrote the interface file knows it. Shown, it is the operation's name as
/// it is spelled there, or its feed: `rows`, `the feed of rows` that comes to a client, and
/// `the feed to load` that goes to a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ProcedureName<'n>(&'n str);

/// A procedure's name with its interface before the operation.
struct Within<'n> {
    interface: &'n str,
    procedure: ProcedureName<'n>,
}

impl<'n> ProcedureName<'n> {
    /// Of a name in a descriptor list.
    pub const fn new(name: &'n str) -> ProcedureName<'n> {
        ProcedureName(name)
    }

    /// The operation: the procedure itself, or that whose feed it carries.
    pub fn operation(self) -> &'n str {
        self.parts().1
    }

    /// The same with the interface's scoped name before that of the operation.
    pub fn within(self, interface: &'n str) -> impl fmt::Display + 'n {
        Within { interface, procedure: self }
    }

    /// Whether its calls bring the items of a feed to the client.
    pub fn brings_items(self) -> bool {
        self.0.starts_with(NEXT)
    }

    /// Whether its calls carry the items of a feed, either way, or end one: the operation that
    /// opened it has run.
    pub fn carries_feed(self) -> bool {
        !self.parts().0.is_empty()
    }

    /// What stands before the operation where it is shown, and the operation.
    fn parts(self) -> (&'static str, &'n str) {
        let shown = [(NEXT, "the feed of "), (PUT, "the feed to "), (END, "the feed to ")];
        let mut carriers = shown.into_iter();
        let carrier = carriers.find_map(|(prefix, before)| {
            self.0.strip_prefix(prefix).map(|operation| (before, operation))
        });
        carrier.unwrap_or(("", self.0))
    }
}

impl fmt::Display for ProcedureName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, operation) = self.parts();
        write!(f, "{before}{operation}")
    }
}

/// As it is shown: an error that nobody has caught is printed by its fields.
impl fmt::Debug for ProcedureName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, operation) = self.parts();
        write!(f, "\"{before}{operation}\"")
    }
}

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, operation) = self.procedure.parts();
        write!(f, "{before}{}::{operation}", self.interface)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    #[test]
    fn a_procedure_that_carries_a_feed_is_told_by_the_operation() {
        for (name, shown, operation) in [
            ("rows", "rows", "rows"),
            ("_next_rows", "the feed of rows", "rows"),
            ("_put_load", "the feed to load", "load"),
            ("_end_load", "the feed to load", "load"),
            ("_get_size", "_get_size", "_get_size"),
        ] {
            let told = ProcedureName::new(name);
            assert_eq!(told.operation(), operation);
            assert_eq!(told.brings_items(), name == "_next_rows");
            assert_eq!(told.carries_feed(), shown.starts_with("the feed"));
            assert_eq!(format!("{told}"), shown);
            assert_eq!(format!("{told:?}"), format!("\"{shown}\""));
        }
        let within = format!("{}", ProcedureName::new("_next_rows").within("bank::Ledger"));
        assert_eq!(within, "the feed of bank::Ledger::rows");
    }
}
