//! Hostile clients that are processes of their own.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process};

use super::super::hand::{self, HandClient};
use super::super::held::Held;
use super::super::player::{Player, Role};
use super::binds::ANSWERED;
use super::{Found, SETTLED, Script, Target};

pub const SCRIPTS: &[&Script] =
    &[&Script { name: "a socket that another process holds", run: held_by_another }];

/// Where a process may be in another time namespace.
pub const OF_ANOTHER_TIME: &[&Script] =
    &[&Script { name: "a client of another time", run: of_another_time }];

/// How long nothing of a server changes that has nobody left to let go.
const QUIET: Duration = Duration::from_millis(100);

/// Starts a program whose clocks are a day ahead.
const A_DAY_AHEAD: &[&str] =
    &["unshare", "--time", "--monotonic", "86400", "--boottime", "86400", "--fork"];

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
    let before = settled(target.pid).map_err(in_words)?;
    let mut client =
        Player::start(Role::Bequeath, target.directory(), target.name, "").map_err(in_words)?;
    let heir = client.line().map_err(in_words)?;
    let heir = heir.trim().parse().ok().and_then(Pid::from_raw);
    let heir = heir.ok_or("the client has not said who holds its socket")?;
    if before.again(target.pid, Duration::ZERO).is_ok() {
        return Err("what a binding takes is not seen".to_owned());
    }
    let status = client.kill().map_err(in_words)?;
    let ended = before.again(target.pid, ANSWERED);
    kill_process(heir, Signal::KILL).map_err(|error| format!("nobody held it: {error}"))?;
    // The heir had what it says, too.
    let died = client.told(status).map_err(in_words)?;
    match (ended, died.wrong(Some(Signal::KILL))) {
        (_, Some(wrong)) => Err(wrong),
        (Err(still), None) => Err(format!("of the server's {still}")),
        (Ok(()), None) => Ok(None),
    }
}

/// What the server holds once it holds the same for a while: clients of scripts before have gone.
fn settled(pid: u32) -> io::Result<Held> {
    let begin = Instant::now();
    let (mut held, mut since) = (Held::by(pid)?, begin);
    while since.elapsed() < QUIET && begin.elapsed() < SETTLED {
        std::thread::sleep(Duration::from_millis(1));
        let now = Held::by(pid)?;
        if now != held {
            (held, since) = (now, Instant::now());
        }
    }
    Ok(held)
}

/// Why there is no client of another time here.
pub fn obstacle() -> Option<String> {
    let output = Command::new(A_DAY_AHEAD[0]).args(&A_DAY_AHEAD[1..]).arg("true").output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Calls with deadlines, which cross as how long a call may take, not as when it is over.
fn of_another_time(target: &Target) -> Found {
    match said_of_another_time(target) {
        Ok(said) if said.contains("bound, add 5, echo 100") => Ok(None),
        Ok(said) => Err(format!("it is not served: {said:?}")),
        Err(error) => Err(error.to_string()),
    }
}

fn said_of_another_time(target: &Target) -> io::Result<String> {
    let (directory, name) = (target.directory(), target.name);
    let mut client = Player::start_under(A_DAY_AHEAD, Role::Suffer, directory, name, name)?;
    client.go()?;
    let ended = client.wait()?;
    ended.wrong(None).map_or(Ok(ended.said), |wrong| Err(io::Error::other(wrong)))
}
