//! The server, as its client sees it. Dropping it ends it, and waits until it has ended.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{FAILED, KEEP, READY, names_in};
use crate::failure::Failure;

/// This program, even if its file has been replaced.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// How long the server may take to remove its workplace before it is killed.
const END_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that runs.
pub struct Server {
    process: Child,
    /// Closing it ends the server.
    pipe: Option<ChildStdin>,
    workplace: Option<PathBuf>,
}

impl Server {
    /// Starts one that exports `directory`, and waits until it does.
    pub fn start(directory: &Path, processor: u32) -> Result<Server, Failure> {
        let mut command = Command::new(THIS_PROGRAM);
        command.arg0("nearcall").arg("demo-server").arg("--").arg(directory);
        command.arg(processor.to_string()).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|e| format!("cannot start a server: {e}"))?;
        let (pipe, output) = (process.stdin.take(), process.stdout.take());
        let mut server = Server { process, pipe, workplace: None };
        let mut line = Vec::new();
        let mut output = BufReader::new(output.expect("it was asked for"));
        // A pipe that fails has ended: the line is short.
        let _ = output.read_until(b'\n', &mut line);
        let line = line.strip_suffix(b"\n").unwrap_or_default();
        if let Some(workplace) = line.strip_prefix(READY) {
            server.workplace = Some(OsString::from_vec(workplace.to_owned()).into());
            return Ok(server);
        }
        match line.strip_prefix(FAILED) {
            Some(reason) => Err(String::from_utf8_lossy(reason).into_owned().into()),
            None => Err("the server ended before it was ready".into()),
        }
    }

    /// The directory that it shares with its client.
    pub fn workplace(&self) -> &Path {
        self.workplace.as_ref().expect("a server that has started has one")
    }

    /// Where its names are.
    pub fn names(&self) -> PathBuf {
        names_in(self.workplace())
    }

    /// What is written through it.
    pub fn back(&self) -> PathBuf {
        self.workplace().join("back")
    }

    /// Ends it; fails if it does not end well.
    pub fn end(mut self, is_kept: bool) -> Result<(), Failure> {
        if is_kept && let Some(pipe) = &mut self.pipe {
            pipe.write_all(KEEP).map_err(|e| format!("the server has ended: {e}"))?;
            self.workplace = None;
        }
        self.stop();
        match self.process.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the server ended with {status}").into()),
            Err(error) => Err(format!("the server was lost: {error}").into()),
        }
    }

    /// Comes back when the process has ended and has been waited for.
    fn stop(&mut self) {
        self.pipe = None;
        let deadline = Instant::now() + END_TIMEOUT;
        while let Ok(None) = self.process.try_wait() {
            if Instant::now() > deadline {
                // Either it is killed or it has just ended by itself.
                let _ = self.process.kill();
                let _ = self.process.wait();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // Of a server that was killed.
        if let Some(workplace) = self.workplace.take() {
            let _ = std::fs::remove_dir_all(workplace);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
