//! libnearcall: what stubs generated in C and C++ call. The declarations, and who owns what, are
//! in `include/nearcall.h`.
//!
//! ```text
//!  C                                    Rust
//!  generated stub                       handle/client.rs, handle/server.rs
//!   fixed part, in private memory  ──▶  one copy into the A-stack
//!   payloads, where the caller has them ──▶ one copy each
//!   results, in private memory     ◀──  one copy out of the A-stack, then judged
//! ```
//!
//! C never sees a byte that a peer can write: it is given private copies, so that what its stubs
//! judge cannot change afterwards, and so that a sanitizer sees all that they touch. But for brief
//! calls, which lie in one line: `include/nearcall_brief.h`, `handle/brief.rs`.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod handle;
