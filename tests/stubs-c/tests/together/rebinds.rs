//! Servers end and others take their names: clients in C and C++ call again and bind again.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use nearcall::Clerk;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use stubs_c_tests::revived::again::*;

use crate::support::{RustServer, domain, in_both, serve_here};

/// Servers that a client ends, of which the last has no next life.
const LIVES: usize = 7;

pub struct Mortal;

fn own_pid() -> i32 {
    std::process::id() as i32
}

/// Ends in the middle of a call: nothing is said to its client.
fn end_if(pid: i32) {
    if pid == own_pid() {
        std::process::exit(0);
    }
}

impl AgainServer for Mortal {
    fn pid(&self) -> i32 {
        own_pid()
    }

    fn outlive(&self, pid: i32) -> i32 {
        end_if(pid);
        own_pid()
    }

    fn carry(
        &self,
        pid: i32,
        text: &str,
        _octets: &mut Vec<u8>,
    ) -> Result<String, AgainCarryException> {
        end_if(pid);
        match text {
            "" => Err(Gone { which: own_pid() }.into()),
            text => Ok(text.to_owned()),
        }
    }

    fn end(&self, pid: i32) -> i32 {
        end_if(pid);
        own_pid()
    }
}

/// Exports the server in Rust until standard input ends: this test program as another process.
#[test]
fn serve() {
    serve_here(|domain, name| Clerk::export(domain, name, AgainEntries::new(Mortal)));
}

/// A process that serves so.
pub fn mortal(name: &str, runtime: &Path) -> RustServer {
    RustServer::start(module_path!(), name, runtime)
}

/// The pidfd of a process that has ended.
fn ended() -> OwnedFd {
    let mut child = Command::new("true").spawn().expect("it starts");
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).expect("a child of ours");
    child.wait().expect("it ends");
    pidfd
}

/// Runs a client, whose server comes after it, and has another follow each one that it ends.
fn survive(program: &Path, runtime: &Path) {
    let client = domain(program, runtime)
        .arg("mortal")
        .stdin(ended())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut server = mortal("mortal", runtime);
    let following = std::thread::spawn({
        let runtime = runtime.to_owned();
        move || {
            for _ in 1..LIVES {
                server.wait();
                server = mortal("mortal", &runtime);
            }
            server.wait();
        }
    });
    let output = client.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} ended with {}:\n{said}", program.display(), output.status);
    following.join().expect("all servers ended well");
}

#[test]
fn clients_outlive_their_servers() {
    in_both("again.idl", ["survivor", "survivor_cpp"], survive);
}
