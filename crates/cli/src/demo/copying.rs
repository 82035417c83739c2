//! There and back: files read through calls into files of ours, and those written through calls.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::files::file_server::{OpenMode, PIECE_BYTES_MAX, Status};
use indicatif::ProgressBar;

use super::caller::{Caller, Refused};
use super::tree::{LeftOut, Tree};
use crate::failure::Failure;

/// What was copied.
#[derive(Debug, Default)]
pub struct Copied {
    /// Paths, with what each file was when it was opened.
    pub files: Vec<(String, Status)>,
    /// What was listed but could not be opened.
    pub left_out: LeftOut,
    bytes: u64,
}

/// How fast it was.
#[derive(Debug)]
pub struct Rate {
    /// What was done.
    pub what: &'static str,
    /// To how many files.
    pub files: u64,
    /// Of how many bytes.
    pub bytes: u64,
    /// With how many calls, if with calls.
    pub calls: Option<u64>,
    /// In which time.
    pub time: Duration,
}

impl Rate {
    /// Rounded down.
    pub fn bytes_per_second(&self) -> u64 {
        (self.bytes as f64 / self.time.as_secs_f64().max(1e-9)) as u64
    }
}

impl Copied {
    /// How fast all of it went.
    pub fn rate(&self, what: &'static str, calls: u64, started: Instant) -> Rate {
        let time = started.elapsed();
        Rate { what, files: self.count(), bytes: self.bytes, calls: Some(calls), time }
    }

    /// How many files.
    pub fn count(&self) -> u64 {
        self.files.len() as u64
    }
}

/// Reads every file of the tree into one below `copy`.
pub fn fetch(
    caller: &mut Caller,
    tree: &Tree,
    copy: &Path,
    bar: &ProgressBar,
) -> Result<Copied, Failure> {
    let mut copied = Copied::default();
    let mut piece = Vec::new();
    std::fs::create_dir_all(copy).map_err(Failure::doing("make directory", copy))?;
    for directory in &tree.directories {
        let made = copy.join(directory);
        std::fs::create_dir(&made).map_err(Failure::doing("make directory", &made))?;
    }
    for path in &tree.files {
        let (file, status) = match open(caller, path) {
            Ok(opened) => opened,
            Err(Refused::NotFound) => {
                copied.left_out.gone += 1;
                continue;
            }
            Err(Refused::Denied(_)) => {
                copied.left_out.denied += 1;
                continue;
            }
            Err(refused) => return Err(caller.failure("open", path, refused)),
        };
        let bytes = fetch_one(caller, path, file, &copy.join(path), &status, &mut piece)?;
        bar.inc(bytes);
        copied.bytes += bytes;
        copied.files.push((path.clone(), status));
    }
    Ok(copied)
}

fn open(caller: &mut Caller, path: &str) -> Result<(u32, Status), Refused> {
    let status = caller.stat(path)?;
    Ok((caller.open(path, OpenMode::Read)?, status))
}

/// Returns how many bytes it was.
fn fetch_one(
    caller: &mut Caller,
    path: &str,
    file: u32,
    target: &Path,
    status: &Status,
    piece: &mut Vec<u8>,
) -> Result<u64, Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(status.permissions & 0o777);
    let mut output = options.open(target).map_err(Failure::doing("make", target))?;
    let mut offset = 0;
    loop {
        let read = caller.read(file, offset, piece);
        read.map_err(|refused| caller.failure("read", path, refused))?;
        output.write_all(piece).map_err(Failure::doing("write", target))?;
        offset += piece.len() as u64;
        // Only the last one is shorter.
        if piece.len() < PIECE_BYTES_MAX as usize {
            break;
        }
    }
    caller.close(file).map_err(|refused| caller.failure("close", path, refused))?;
    Ok(offset)
}

/// Writes every file that was copied back, through calls.
pub fn give_back(
    caller: &mut Caller,
    tree: &Tree,
    copied: &Copied,
    copy: &Path,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    let mut piece = Vec::new();
    for path in &tree.directories {
        let made = caller.make_directory(path);
        made.map_err(|refused| caller.failure("make directory", path, refused))?;
    }
    for (path, _) in &copied.files {
        let bytes = give_one(caller, path, &copy.join(path), &mut piece)?;
        bar.inc(bytes);
    }
    Ok(())
}

/// Returns how many bytes it was.
fn give_one(
    caller: &mut Caller,
    path: &str,
    source: &Path,
    piece: &mut Vec<u8>,
) -> Result<u64, Failure> {
    let mut input = File::open(source).map_err(Failure::doing("read", source))?;
    let opened = caller.open(path, OpenMode::Write);
    let file = opened.map_err(|refused| caller.failure("open", path, refused))?;
    let mut offset = 0;
    loop {
        piece.clear();
        let read = (&mut input).take(PIECE_BYTES_MAX.into()).read_to_end(piece);
        if read.map_err(Failure::doing("read", source))? == 0 {
            break;
        }
        let written = caller.write(file, offset, piece);
        written.map_err(|refused| caller.failure("write", path, refused))?;
        offset += piece.len() as u64;
    }
    caller.close(file).map_err(|refused| caller.failure("close", path, refused))?;
    Ok(offset)
}

/// Has the system's `cp` copy the same files, and removes what it has copied; says why not if there
/// is no `cp`.
pub fn cp(copied: &Copied, copy: &Path, target: &Path) -> Result<Result<Rate, String>, Failure> {
    let started = Instant::now();
    let output = match Command::new("cp").arg("-r").arg("--").arg(copy).arg(target).output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Err("there is no cp on this machine".to_owned()));
        }
        Err(error) => return Ok(Err(format!("cp does not start: {error}"))),
    };
    let time = started.elapsed();
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let reason = text.lines().next().unwrap_or("it does not say why");
        return Err(Failure::at("run cp -r to", target, reason));
    }
    std::fs::remove_dir_all(target).map_err(Failure::doing("remove", target))?;
    let (files, bytes) = (copied.count(), copied.bytes);
    Ok(Ok(Rate { what: "cp -r of the copy", files, bytes, calls: None, time }))
}
