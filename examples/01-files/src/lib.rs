//! A file server behind one interface file.
//!
//! `files.idl` says what can be called. The build script compiles it to module [`file_server`]: a
//! client type, `FilesClient`, and a trait for the server, `FilesServer`. [`Disk`] implements the
//! trait over one directory.

#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/files.rs"));

mod disk;
mod open_files;
mod root;
mod trouble;

pub use disk::Disk;
