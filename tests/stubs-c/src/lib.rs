//! Rust stubs of the interfaces that Rust and C call each other through.

#![forbid(unsafe_code)]

pub mod odd;
pub mod talker;

include!(concat!(env!("OUT_DIR"), "/cross.rs"));

/// What is passed beside messages.
pub mod passed {
    include!(concat!(env!("OUT_DIR"), "/vault.rs"));
}

/// What comes and goes item by item.
pub mod fed {
    include!(concat!(env!("OUT_DIR"), "/feeding.rs"));
}

/// What comes and goes at once.
pub mod said {
    include!(concat!(env!("OUT_DIR"), "/talking.rs"));
}

/// What is called again.
pub mod revived {
    include!(concat!(env!("OUT_DIR"), "/again.rs"));
}

/// What procedures learn of their calls.
pub mod witnessed {
    include!(concat!(env!("OUT_DIR"), "/witness.rs"));
}

/// What procedures know of their callers.
pub mod knowing {
    include!(concat!(env!("OUT_DIR"), "/known.rs"));
}

/// What procedures do that take as long as their server lives.
pub mod lasted {
    include!(concat!(env!("OUT_DIR"), "/lasting.rs"));
}

/// What procedures do that no interface declares.
pub mod thrown {
    include!(concat!(env!("OUT_DIR"), "/throwing.rs"));
}

/// What is posted and collected later.
pub mod posted {
    include!(concat!(env!("OUT_DIR"), "/posting.rs"));
}

/// What is lent to a server.
pub mod lent {
    include!(concat!(env!("OUT_DIR"), "/lending.rs"));
}

/// What comes to memory of a client's.
pub mod filled {
    include!(concat!(env!("OUT_DIR"), "/ready.rs"));
}

/// What procedures of a .proto file fail with.
pub mod failed {
    include!(concat!(env!("OUT_DIR"), "/statuses.rs"));
}

/// What holds a oneof.
pub mod heaped {
    include!(concat!(env!("OUT_DIR"), "/pieces.rs"));
}

/// The first version of an interface.
pub mod old {
    include!(concat!(env!("OUT_DIR"), "/old.rs"));
}

/// The second, which adds operations at its end.
pub mod new {
    include!(concat!(env!("OUT_DIR"), "/new.rs"));
}

/// Another one, which has another operation in their place.
pub mod other {
    include!(concat!(env!("OUT_DIR"), "/other.rs"));
}

/// The first version of an interface whose structs grow.
pub mod early {
    include!(concat!(env!("OUT_DIR"), "/early.rs"));
}

/// The second, whose structs have more members.
pub mod late {
    include!(concat!(env!("OUT_DIR"), "/late.rs"));
}

/// Another one, whose structs have a member before the first.
pub mod moved {
    include!(concat!(env!("OUT_DIR"), "/moved.rs"));
}

/// The first version of an interface whose values are of one type.
pub mod straight {
    include!(concat!(env!("OUT_DIR"), "/straight.rs"));
}

/// Another one, whose parameters have changed places.
pub mod turned {
    include!(concat!(env!("OUT_DIR"), "/turned.rs"));
}

/// Another one, whose members have changed places.
pub mod mirrored {
    include!(concat!(env!("OUT_DIR"), "/mirrored.rs"));
}

/// The first version of a .proto file whose messages grow.
pub mod planted {
    include!(concat!(env!("OUT_DIR"), "/planted.rs"));
}

/// The second, whose messages have more fields, and those that were there elsewhere.
pub mod grown {
    include!(concat!(env!("OUT_DIR"), "/grown.rs"));
}

/// Another one, of which a field is gone.
pub mod pruned {
    include!(concat!(env!("OUT_DIR"), "/pruned.rs"));
}

/// Calls that are brief.
pub mod short {
    include!(concat!(env!("OUT_DIR"), "/brief.rs"));
}

/// What waits on an E-stack.
pub mod waiting {
    include!(concat!(env!("OUT_DIR"), "/estacks.rs"));
}

/// Calls that are set aside.
pub mod deferred {
    include!(concat!(env!("OUT_DIR"), "/deferring.rs"));
}
