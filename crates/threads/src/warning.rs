//! What a program is told without having asked: to `tracing`, as all of Nearcall does. A debug
//! build that listens to nothing there gets it on standard error.

use tracing::Level;

/// Tells of something that is most likely a mistake of the program's. Whoever listens is called on
/// a FastThread's stack, between two threads, or on a kernel thread that watches (`watch.rs`), and
/// may not wait for FastThreads.
#[cold]
pub fn warn(text: &str) {
    if tracing::enabled!(Level::WARN) {
        tracing::warn!("{text}");
    } else if cfg!(debug_assertions) {
        eprintln!("{text}");
    }
}
