//! idl
