//! The file that a socket is bound to.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// What stands at `path`, a link itself: whatever takes its place afterwards, this is what was
/// there. It can be looked at, and no more.
pub fn hold_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}
