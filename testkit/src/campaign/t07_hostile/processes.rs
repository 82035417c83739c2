//! Hostile clients that are processes of their own.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process};

use super::super::hand::{self, HandClient};
use super::super::player::{Held, Player, Role};
use super::binds::ANSWERED;
use super::{Found, Script, Target};

pub const SCRIPTS: &[&Script] = &[
    &Script { name: "a socket that another process holds", run: held_by_another },
    &Script { name: "a client of another time", run: of_another_time },
];

/// Binds, and leaves its socket to a process that outlives it: the role of [`Role::Bequeath`].
pub fn bequeath(directory: &Path, name: &str) {
    let client = HandClient::bind(&hand::path_of(directory, name)).expect("a binding");
    rustix::io::fcntl_setfd(client.stream.as_fd(), FdFlags::empty()).expect("to be inherited");
    let mut heir = Command::new("sleep");
    let heir = heir.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    println!("ready\n{}", heir.spawn().expect("an heir").id());
    io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
}

/// The socket of a client that was killed is not hung up: its death alone has to end the binding.
fn held_by_another(target: &Target) -> Found {
    let in_words = |error: io::Error| error.to_string();
    let before = Held::by(target.pid);
    let mut client =
        Player::start(Role::Bequeath, target.directory(), target.name, "").map_err(in_words)?;
    let heir = client.line().map_err(in_words)?;
    let heir = heir.trim().parse().ok().and_then(Pid::from_raw);
    let heir = heir.ok_or("the client has not said who holds its socket")?;
    client.signal_kill().map_err(in_words)?;
    client.ended_in_time().map_err(in_words)?;
    let ended = before.again(target.pid, ANSWERED);
    kill_process(heir, Signal::KILL).map_err(|error| format!("nobody held it: {error}"))?;
    match ended {
        Ok(()) => Ok(None),
        Err(still) => Err(format!("the server holds {still:?}, {before:?} before")),
    }
}

/// One whose clocks are a day ahead: what crosses is how long a call may take, not until when.
fn of_another_time(target: &Target) -> Found {
    let starter = ["unshare", "--time", "--monotonic", "86400", "--boottime", "86400", "--fork"];
    let is_there = Command::new(starter[0]).args(&starter[1..]).arg("true").status();
    if !is_there.is_ok_and(|status| status.success()) {
        // Who may not make a namespace has nothing to forge here.
        return Ok(None);
    }
    let client = Player::start_under(&starter, Role::Hold, target.directory(), target.name, "");
    match client {
        Ok(mut client) => client.kill().map(|_| None).map_err(|error| error.to_string()),
        Err(error) => Err(format!("it is not served: {error}")),
    }
}
