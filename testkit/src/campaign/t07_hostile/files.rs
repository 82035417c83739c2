//! A file of a file system in user space, whose process does not answer when the server closes it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo, LockOwner,
    ReplyAttr, ReplyEmpty, ReplyEntry, Request,
};
use nearcall_abi::message::RefusalCode;
use rustix::mount::{UnmountFlags, unmount};

use super::super::hand::{self, HandClient};
use super::binds::{ANSWERED, heads_bytes, in_words, refused};
use super::{Found, Script, Target};

pub const SCRIPTS: &[&Script] =
    &[&Script { name: "a file whose close is not answered", run: unanswered }];

/// A directory with one file.
struct Silent(Held);

/// Answers that are owed.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Vec<ReplyEmpty>>>);

impl Held {
    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn hold(&self, reply: ReplyEmpty) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(reply);
    }

    fn answer(&self) {
        let held = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        held.into_iter().for_each(ReplyEmpty::ok);
    }
}

fn attributes(kind: FileType) -> FileAttr {
    let (ino, perm) = match kind {
        FileType::Directory => (INodeNo::ROOT, 0o755),
        _ => (INodeNo(2), 0o666),
    };
    FileAttr {
        ino,
        size: heads_bytes(),
        blocks: 1,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// Whether a thread of this process asks.
fn is_own(request: &Request) -> bool {
    Path::new(&format!("/proc/self/task/{}", request.pid())).exists()
}

impl Filesystem for Silent {
    fn lookup(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.entry(&ANSWERED, &attributes(FileType::RegularFile), Generation(0));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let is_root = ino == INodeNo::ROOT;
        let kind = if is_root { FileType::Directory } else { FileType::RegularFile };
        reply.attr(&ANSWERED, &attributes(kind));
    }

    fn flush(&self, by: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        if is_own(by) { reply.ok() } else { self.0.hold(reply) }
    }
}

/// Mounted until it is dropped.
fn mount(directory: &Path, held: &Held) -> io::Result<BackgroundSession> {
    fuser::spawn_mount(Silent(held.clone()), directory, &fuser::Config::default())
}

/// Why this process cannot have a file system of its own.
pub fn obstacle() -> Option<io::Error> {
    let directory = tempfile::tempdir().ok()?;
    let mounted = mount(directory.path(), &Held::default());
    mounted.and_then(BackgroundSession::umount_and_join).err()
}

/// The server refuses the file, and whatever closes it then, others bind and call meanwhile.
fn unanswered(target: &Target) -> Found {
    let directory = tempfile::tempdir().map_err(in_words)?;
    let held = Held::default();
    let session = mount(directory.path(), &held).map_err(in_words)?;
    let outcome = others_go_on(target, directory.path(), &held);
    held.answer();
    // It ends when the server has let go of the file.
    unmount(directory.path(), UnmountFlags::DETACH).map_err(in_words)?;
    let begin = Instant::now();
    while !session.guard.is_finished() {
        if begin.elapsed() > ANSWERED {
            return Err("the server still has the file".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    outcome
}

fn others_go_on(target: &Target, directory: &Path, held: &Held) -> Found {
    let file = File::options().read(true).write(true).open(directory.join("file"));
    let files = [file.map_err(in_words)?.into(), hand::requests().map_err(in_words)?];
    refused(target, &hand::packet(&hand::import_message()), &files, RefusalCode::Protocol)?;
    let begin = Instant::now();
    while held.count() == 0 {
        if begin.elapsed() > ANSWERED {
            return Err("the server has not closed the file".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    HandClient::bind(&target.path()).map_err(in_words)?;
    match held.count() {
        0 => Err("the close was answered before others had bound".to_owned()),
        _ => Ok(None),
    }
}
