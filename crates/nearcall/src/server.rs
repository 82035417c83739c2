//! The server's side: clerks that admit importers, and processors that run their calls.

mod asked;
mod awake;
pub(crate) mod binding;
pub(crate) mod clerk;
pub(crate) mod current;
pub(crate) mod deferred;
pub(crate) mod descriptors;
pub(crate) mod estacks;
pub(crate) mod exchange;
pub(crate) mod exported;
pub(crate) mod feeds;
pub(crate) mod handshake;
pub(crate) mod holding;
pub(crate) mod introductions;
pub(crate) mod limits;
mod named_socket;
pub(crate) mod processors;
pub(crate) mod quota;
pub(crate) mod requests;
pub(crate) mod residents;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod surroundings;
pub(crate) mod suspended;
pub(crate) mod table;
pub(crate) mod trust;
pub(crate) mod watch;
