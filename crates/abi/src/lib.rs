//! What two domains and two compilers must agree on, and nothing else: the lines of an A-stack,
//! the layout of a binding's segments, the descriptors of an interface, the codes of a reply.
//!
//! Knows no system call and takes no decision. Every struct that lies in shared memory is all
//! atomics, has explicit widths, and asserts its layout where it is declared.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bell;
pub mod counted;
pub mod deadline;
pub mod descriptor;
pub mod head;
pub mod layout;
pub mod message;
pub mod procedure_name;
pub mod status;

pub use bell::BellLine;
pub use counted::counted;
pub use descriptor::{AStackClass, AppendableDescriptor, InterfaceDescriptor, ProcedureDescriptor};
pub use head::{AStackHead, ReplyLine, RequestLine};
pub use layout::{Extent, SegmentLayout};
pub use procedure_name::ProcedureName;
pub use status::Status;

/// Version of everything in this crate. Sent first at bind; two domains whose versions differ do
/// not bind.
pub const ABI_VERSION: u32 = 6;

/// Bytes in a cache line, the unit that a call moves between two processors.
pub const LINE_BYTES: u32 = 64;

/// Bytes of arguments or results that travel in the head line itself.
pub const INLINE_BYTES: u32 = 48;

/// Bytes in a page: every segment is a whole number of them.
pub const PAGE_BYTES: u32 = 4096;

/// The longest message, fixed and variable part together: 1 GiB. Longer arguments are refused
/// before anything is posted.
pub const MESSAGE_BYTES_MAX: u32 = 1 << 30;

/// In the length word of an `@opaque` argument: the bytes are lent. Their payload is the number of
/// the lent segment, a u32, and four zeros. No length reaches this bit.
pub const LENGTH_LENT: u32 = 1 << 31;

const _: () = assert!(MESSAGE_BYTES_MAX < LENGTH_LENT);

/// Most segments that a binding's client may have lent at a time.
pub const LENT_COUNT_MAX: u32 = 64;

/// Simultaneous calls a procedure starts with (L48).
pub const ASTACKS_PER_PROCEDURE: u32 = 5;

/// Bytes set aside for variable-size arguments when the interface says nothing: what one Ethernet
/// packet carries (L48).
pub const VARIABLE_BYTES: u32 = 1500;
