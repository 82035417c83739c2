//! Call a procedure in another process as if it were here.
//!
//! An interface file in OMG IDL becomes a client type and a server trait; a binding connects the
//! two over pairwise shared memory. A call costs about what moving a cache line between two
//! processors costs, and the caller always learns whether the procedure ran.
//!
//! ```text
//! client's process                               server's process
//!
//!  FilesClient::open(path)                        impl FilesServer for Disk { fn open … }
//!   └ raw::Client::claim   an A-stack              ▲
//!   └ raw::Call::put…      the arguments           │ raw::Entries::enter
//!   └ raw::Call::post ───▶ turn word ───▶ server::watch ─▶ server::run
//!   └ raw::Reply::get…  ◀─ turn word ◀───────────────────┘
//! ```
//!
//! With the feature `threads`, a call on a FastThread lets others run while it waits.
//!
//! # Calls and procedures that are awaited
//!
//! Every generated client has its operations as `async fn`, too: `client.awaiting()`. They wake
//! their task whatever executor it is of. One that is dropped gives its call up.
//!
//! A server whose procedures are to be awaited implements the trait `…AsyncServer` and exports its
//! `…AsyncEntries`. The domain's own processors poll them, outside of any executor. Timers, sockets
//! and tasks that need their runtime around them, as tokio's do, have it by [`Surroundings`], one
//! line where the server is exported. A procedure is dropped at what it awaits when its client ends
//! or breaks the protocol, or its domain is shut down (its client is told `CallFailed` then); what
//! waits for [`CurrentCall::ending`] may return before that. It goes on when its client gives the
//! call up, which [`CurrentCall::is_cancelled`] tells, and when its clerk is dropped, which
//! [`CurrentCall::is_ending`] tells, or has another policy: calls that run are finished. One that
//! panics is `Panicked`, for its client alone.
//!
//! One that opens a feed is given ends of it, and leaves them to a task: an [`Outlet`] that items
//! for the client are put into, an [`Inlet`] that the client's come out of, and an [`Answer`] to
//! those, if they go to the server only. No processor waits for either side.
//!
//! # What the runtime tells
//!
//! A client learns that results were refused, and not why; that, binds, refusals, and what peers do
//! wrong are events of `tracing`. A program without a subscriber for those is told nothing.
//!
//! Start at [`Domain`]; then [`Clerk::export`] or a generated client's `import`.

#![deny(unsafe_code)]
#![warn(missing_docs)]

mod audit;
mod batch;
mod binding;
mod client;
mod domain;
mod error;
mod housekeeping;
pub mod name;
mod passed;
#[allow(unsafe_code)]
pub mod raw;
mod region;
mod server;
mod spinning;
pub mod system_calls;
#[cfg(test)]
mod testing;
mod twin;
mod types;
mod wire;

pub use binding::{Binding, ImportOptions, Rebind, WhenExhausted};
pub use client::awaited_feed::{AwaitedFeed, AwaitedSink};
pub use client::call_all::{Outstanding, call_all};
pub use client::cancellation::Cancellation;
pub use client::feed::{Feed, Sink, Unbegun};
pub use client::lent::{Lent, OpaqueIn};
#[cfg(feature = "threads")]
pub use client::switching::urgently;
pub use domain::{Domain, DomainOptions};
pub use error::{
    BindError, CallError, Error, ExportError, NameError, NotExecuted, OutOfRange, OverBound, Ran,
    UsageError,
};
pub use nearcall_abi::{
    AStackClass, AppendableDescriptor, InterfaceDescriptor, ProcedureDescriptor, ProcedureName,
};
pub use nearcall_core::{PeerFault, Priority, WaitPolicy};
pub use nearcall_os::{DescriptorKind, WrongDescriptor};
pub use raw::{Opaque, OpaqueOut, Pending, PendingTwice, Refusal};
pub use server::clerk::{Admission, Clerk, ExportOptions, Policy};
pub use server::current::{CurrentCall, current_call};
pub use server::exchange::one_way::Answer;
pub use server::exchange::{GivenUp, Inlet, NotPut, Outlet};
pub use server::feeds::{Intake, Items, Taker};
pub use server::importer::Importer;
pub use server::limits::{BindingLimits, Limits, UserLimits};
pub use server::rules::{Rule, RuleError, Rules, Verdict, Who};
pub use server::surroundings::Surroundings;
pub use server::told::{Cancelled, Ending};
pub use spinning::spun;
pub use types::{Char, LongDouble};
