//! The rules of evolution: what a change is called, and who breaks by it.
//!
//! Numbers are never reused. `E` breaks somebody, `N` is only noted. Who breaks because a bind is
//! refused does not stand here: that is looked up for each change, in the hashes of the procedures.

use crate::diagnostic::Rule;

/// Who breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// A client made from the old file, at a server made from the new one.
    OldClient,
    /// A client made from the new file, at a server made from the old one.
    NewClient,
    /// The source of a client, when stubs are made anew.
    ClientSource,
    /// The source of a server, when stubs are made anew.
    ServerSource,
}

/// A rule, and who breaks where it is broken whatever a bind says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvolutionRule {
    /// Its number and title.
    pub rule: Rule,
    /// Who breaks, beside those whose bind is refused.
    pub breaks: &'static [Party],
    /// What else there is to say.
    pub help: &'static str,
}

impl Party {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Party::OldClient => "old clients of a new server",
            Party::NewClient => "new clients of an old server",
            Party::ClientSource => "the source of clients",
            Party::ServerSource => "the source of servers",
        }
    }

    /// For programs.
    pub fn key(self) -> &'static str {
        match self {
            Party::OldClient => "old-client",
            Party::NewClient => "new-client",
            Party::ClientSource => "client-source",
            Party::ServerSource => "server-source",
        }
    }
}

const NOBODY: &[Party] = &[];
const OLD_CLIENT: &[Party] = &[Party::OldClient];
const NEW_CLIENT: &[Party] = &[Party::NewClient];
const CLIENT_SOURCE: &[Party] = &[Party::ClientSource];
const SOURCES: &[Party] = &[Party::ClientSource, Party::ServerSource];
const OLD_CLIENT_AND_SOURCES: &[Party] =
    &[Party::OldClient, Party::ClientSource, Party::ServerSource];

macro_rules! rules {
    ($($name:ident = $code:literal, $breaks:ident, $title:literal, $help:literal;)*) => {
        $(
            #[doc = $title]
            pub static $name: EvolutionRule = EvolutionRule {
                rule: Rule { code: $code, clause: "ours", title: $title },
                breaks: $breaks,
                help: $help,
            };
        )*
        /// Every rule, by number.
        pub static ALL: &[&EvolutionRule] = &[$(&$name),*];
    };
}

rules! {
    INTERFACE_GONE = "E0600", OLD_CLIENT_AND_SOURCES, "an interface stays under its name", "";
    OPERATION_GONE = "E0601", OLD_CLIENT_AND_SOURCES, "an operation stays",
        "an old client's call of it is not executed";
    OPERATION_RENAMED = "E0602", SOURCES, "an operation keeps its name", "";
    OPERATION_INSERTED = "E0603", NOBODY, "operations are added at the end", "";
    OPERATION_MOVED = "E0604", NOBODY, "operations keep their order", "";
    OPERATION_ADDED = "N0605", NOBODY, "an operation may be added at the end",
        "a new client's call of it to an old server is not executed; a server made from the new \
         file has to provide it";
    PARTS = "E0606", SOURCES, "no parameter, member or case is added or removed", "";
    PART_RENAMED = "E0607", SOURCES, "a member or case keeps its name", "";
    PARAMETER_RENAMED = "E0608", CLIENT_SOURCE, "a parameter keeps its name",
        "the source of clients only where a caller names its arguments, as in Python";
    ORDER = "E0609", SOURCES, "parameters, members, cases and enumerators keep their order", "";
    DIRECTION = "E0610", SOURCES, "a parameter keeps its direction", "";
    TYPE = "E0611", SOURCES, "a value keeps its type", "";
    BOUND = "E0612", NOBODY, "a bound stays as it is, neither wider nor narrower", "";
    RANGE = "E0613", NOBODY, "a range stays as it is, neither wider nor narrower", "";
    OPTIONAL = "E0614", SOURCES, "what is optional stays so, and nothing else becomes so", "";
    OPAQUE = "E0615", SOURCES, "what is opaque stays so, and nothing else becomes so", "";
    ONEWAY = "E0616", NOBODY, "an operation is answered as before", "";
    RAISES = "E0617", SOURCES, "an operation raises the same exceptions in the same order", "";
    IDEMPOTENT = "E0618", OLD_CLIENT, "what may run twice may go on doing so",
        "an old client makes a call once more when its server ends";
    ASTACK_LARGER = "E0619", NEW_CLIENT, "A-stacks do not become larger",
        "a new client is refused by an old server, whose A-stacks are smaller";
    ASTACK_SMALLER = "E0620", OLD_CLIENT, "A-stacks do not become smaller",
        "an old client is refused by a new server, whose A-stacks are smaller";
    DECLARATION_GONE = "E0621", SOURCES, "a type, exception or constant stays", "";
    ENUMERATORS = "E0622", SOURCES, "no enumerator, flag or bit field is added or removed", "";
    ENUMERATOR_RENAMED = "E0623", SOURCES, "an enumerator, flag or bit field keeps its name", "";
    ENUMERATOR_VALUE = "E0624", SOURCES, "an enumerator, flag or bit field keeps its value", "";
    BITS = "E0625", NOBODY, "an enum, bitmask or bitset stays as wide as it is", "";
    LABELS = "E0626", SOURCES, "a case is selected by the same labels", "";
    CONSTANT = "N0627", NOBODY, "a constant may change",
        "programs made from the old file keep the old value";
    MESSAGES = "E0628", NOBODY, "the messages of an operation stay as they are", "";
    MEMBER_ADDED = "N0629", NOBODY,
        "a member may be added at the end of an appendable struct, a field above all others of its \
         message, in a oneof or not",
        "who has the new file reads its default in what comes from the old one, who has the old \
         one leaves it out; a source in Rust that makes one has to give it, one in Python where it \
         has no `@default`, and one in C or C++ that does not sends zero or nothing, whatever its \
         `@default`";
    EXTENSIBILITY = "E0630", NOBODY,
        "an appendable struct or enum stays appendable, and no other becomes so", "";
    PREALLOC = "E0631", CLIENT_SOURCE, "who has the memory of a result goes on having it",
        "only in C, and in C++ where it is returned: it is declared as something else";
    ENUMERATOR_ADDED = "N0632", NOBODY,
        "an enumerator may be added at the end of an appendable enum, a value to one of a .proto \
         file",
        "who has the old file reads the default literal instead; a source in Rust whose match has \
         every enumerator has to have the new one";
    STREAMS = "E0633", SOURCES, "an operation streams what it did stream",
        "leave it as it is, and add an operation at the end of the interface";
    IDEMPOTENT_NOW = "N0634", NOBODY, "what has run once may run twice from now on",
        "a new client makes a call once more when its server ends, also one that was made from \
         the old file, which has to bear that";
    DESCRIPTOR = "E0635", SOURCES, "what a descriptor goes along with stays so, and its kind", "";
}
