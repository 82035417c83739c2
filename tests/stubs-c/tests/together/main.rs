//! Tests that can run beside each other in one process: one program, so that it is linked once and
//! no processor waits for the longest test of each file. Whatever counts or changes something of
//! its process has a program of its own beside this folder.

#![forbid(unsafe_code)]

#[path = "../support/mod.rs"]
mod support;

mod allocator;
mod boxing;
mod brief;
mod calls;
mod careless;
mod compiles;
mod confined;
mod deferring;
mod estacks;
mod feeding;
mod forking;
mod growing;
mod hostile;
mod install;
mod judging;
mod knowing;
mod lacking;
mod lending;
mod misfit;
mod moving;
mod pieces;
mod plants;
mod policies;
mod posting;
mod prealloc;
mod reading;
mod rebinds;
mod retrying;
mod saying;
mod sizes;
mod statuses;
mod talking;
mod throwing;
mod times;
mod versions;
mod witnessing;
