//! The client's side of a binding: import, A-stacks, waiting, out-of-line segments.

pub(crate) mod awaited_batch;
pub(crate) mod awaited_feed;
pub(crate) mod bell;
pub(crate) mod bells;
pub(crate) mod binding;
pub(crate) mod call_all;
pub(crate) mod cancellation;
pub(crate) mod claimants;
pub(crate) mod control;
pub(crate) mod deadline;
pub(crate) mod descriptors;
pub(crate) mod feed;
pub(crate) mod feed_room;
pub(crate) mod hasty;
pub(crate) mod herald;
pub(crate) mod import;
pub(crate) mod interrupt;
pub(crate) mod introductions;
pub(crate) mod lead;
pub(crate) mod lent;
pub(crate) mod linkage;
mod ready;
pub(crate) mod rebind;
pub(crate) mod switching;
pub(crate) mod version;
pub(crate) mod wait;
