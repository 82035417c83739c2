//! Tests that can run beside each other in one process: one program, so that it is linked once and
//! no processor waits for the longest test of each file. Whatever counts or changes something of
//! its process has a program of its own beside this folder.

mod absent;
mod activation;
mod ahead;
mod awaited_feeds;
mod awaiting;
mod binds;
mod calls;
mod cancellations;
mod carrying;
mod closing;
mod deadlines;
mod deferred;
mod documented;
mod endings;
mod estacks;
mod exchanges;
mod fastthreads;
mod feeds;
mod flowing;
mod flushing;
mod giving_up;
mod judging;
mod large;
mod nested;
mod pending;
mod policy_files;
mod quotas;
mod readiness;
mod rebinds;
mod retries;
mod side_by_side;
mod surrounded;
mod suspended;
mod waiting_feeds;
