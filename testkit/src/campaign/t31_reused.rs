//! T31: numbers of processes, given to another process as soon as they are free. Nobody takes the
//! other for the one that it knew: not a server that accepts an importer which has died, and not a
//! client whose server has.
//!
//! All of it in a pid namespace of its own, where `ns_last_pid` says which number comes next.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nearcall::{CallError, NotExecuted};
use nearcall_os::peer::{Process, tells_of_an_end};
use nearcall_os::socket::Listener;
use rustix::process::Signal;

use super::Setup;
use super::hand::path_of;
use super::player::{Player, Role, bind};
use super::report::{Report, Stopped};

const NAME: &str = "reused";

const TIMES: u64 = 1_000;
const TIMES_AT_NIGHT: u64 = 10_000;

/// One number in so many is that of a server which dies with a call on its hands.
const SERVER_SHARE: u64 = 10;

/// Starts whatever runs in a namespace of its own, and ends with it.
const APART: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

/// How far the numbers of one use are apart: what a process starts takes some, too.
const STEP: u32 = 64;
const FIRST: u32 = 1_000;
const USES: u32 = 400;

/// Runs [`reuse`] in a namespace of its own.
pub fn run(setup: &Setup) -> Result<Report, Stopped> {
    let tried = Command::new(APART[0]).args(&APART[1..]).arg("true").stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        return Err(Stopped::Lacking("a pid namespace".to_owned()));
    }
    let mut report = Report::of("numbers");
    let directory = tempfile::tempdir()?;
    let times = if setup.is_nightly { TIMES_AT_NIGHT } else { TIMES }.to_string();
    let mut player = Player::start_under(&APART, Role::Reuse, directory.path(), NAME, &times)?;
    player.go()?;
    let mut servers = 0;
    loop {
        match player.line()?.as_str() {
            "an importer" => report.count += 1,
            "a server" => {
                servers += 1;
                report.count += 1;
            }
            "" => break,
            other => report.violation(other),
        }
    }
    report.figure(format!("{servers} of them of servers that died in a call"));
    report.violations.extend(player.end()?.wrong(None));
    Ok(report)
}

/// Gives numbers away and judges what is made of them. In a namespace of its own.
pub fn reuse(directory: &Path, name: &str, times: u64) -> io::Result<()> {
    println!("ready");
    io::stdin().read_line(&mut String::new())?;
    let knocked = path_of(directory, &format!("{name}-knocked"));
    let listener = Listener::bind(&knocked).map_err(io::Error::other)?;
    for time in 0..times {
        let number = FIRST + STEP * (time % u64::from(USES)) as u32;
        let found = match time % SERVER_SHARE {
            0 => server_dies(directory, &format!("{name}-{time}"), number),
            _ => importer_dies(directory, name, &listener, number),
        };
        match found {
            Ok(what) => println!("{what}"),
            Err(error) => println!("number {number}: {error}"),
        }
        io::stdout().flush()?;
    }
    Ok(())
}

/// An importer dies before it is let in, and another process has its number when it is.
fn importer_dies(
    directory: &Path,
    name: &str,
    listener: &Listener,
    number: u32,
) -> io::Result<&'static str> {
    next_is(number)?;
    let importer = Player::start(Role::Knock, directory, &format!("{name}-knocked"), "")?;
    must_be(importer.pid(), number)?;
    killed(importer)?;
    let mut other = stranger(number)?;
    let stream = listener.accept().map_err(io::Error::other)?;
    let stream = stream.ok_or_else(|| io::Error::other("nobody has knocked"))?;
    let is_taken_for_another = match Process::of(&stream) {
        Ok(process) => !process.has_exited(),
        Err(error) if tells_of_an_end(&error) => false,
        Err(error) => return Err(error),
    };
    end(&mut other)?;
    match is_taken_for_another {
        true => Err(io::Error::other("a stranger is taken for an importer that has died")),
        false => Ok("an importer"),
    }
}

/// A server is killed that has not taken a call, and another process has its number when its
/// client looks what became of it.
fn server_dies(directory: &Path, name: &str, number: u32) -> io::Result<&'static str> {
    next_is(number)?;
    let server = Player::start(Role::Serve, directory, name, "")?;
    must_be(server.pid(), number)?;
    let client = bind(directory, name, Duration::from_secs(5))?;
    client.add(2, 3).map_err(io::Error::other)?;
    crate::signal::stop(number);
    // The server sees nothing of it.
    let posted = client.posting().add(2, 3).map_err(io::Error::other)?;
    killed(server)?;
    let mut other = stranger(number)?;
    let told = posted.collect();
    end(&mut other)?;
    match told {
        Err(CallError::NotExecuted { reason: NotExecuted::ServerEnded, .. }) => Ok("a server"),
        other => Err(io::Error::other(format!("a call that no server took: {other:?}"))),
    }
}

/// Kills a player that lives, and makes its number free.
fn killed(mut player: Player) -> io::Result<()> {
    let wrong = player.end_by_kill()?.wrong(Some(Signal::KILL));
    player.forget();
    wrong.map_or(Ok(()), |wrong| Err(io::Error::other(wrong)))
}

/// Has the next process get this number.
fn next_is(number: u32) -> io::Result<()> {
    fs::write(LAST_PID, (number - 1).to_string())
}

/// A process that has nothing to do with anybody, with this number.
fn stranger(number: u32) -> io::Result<Child> {
    next_is(number)?;
    let child = Command::new("sleep").arg("60").spawn()?;
    must_be(child.id(), number)?;
    Ok(child)
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

fn must_be(pid: u32, number: u32) -> io::Result<()> {
    match pid == number {
        true => Ok(()),
        false => Err(io::Error::other(format!("a process got the number {pid}"))),
    }
}
