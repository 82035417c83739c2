//! Servers that are started when somebody calls: whoever starts them listens on the sockets of
//! their names and hands these down (systemd's socket activation).

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nearcall::{BindError, Binding, CallError, Domain};
use nearcall_abi::message::{Message, RefusalCode};
use nearcall_os::socket::Stream;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use tempfile::TempDir;
use testkit::campaign::hand::{Heard, hear};
use testkit::confined::was_caught;
use testkit::faults::faults::{FAULTS, FaultsClient};
use testkit::server::import_options;

const NAME: &str = "started";

/// Longest that a server may take to be started.
const STARTED: Duration = Duration::from_secs(20);

/// Hands the socket down that is its standard error, as the second of two descriptors. What the
/// server says of errors is heard where its lines are.
const HAND_DOWN: &str = "exec 3</dev/null 4<&2 2>&1;";

/// What systemd does with a `ListenSequentialPacket=`.
struct Activator {
    directory: TempDir,
    socket: OwnedFd,
}

/// A server that was started, until it is dropped.
struct Started {
    process: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Activator {
    fn new(kind: SocketType) -> Activator {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("{NAME}.socket"));
        let socket = rustix::net::socket(AddressFamily::UNIX, kind, None).unwrap();
        rustix::net::bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&socket, 1024).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        Activator { directory, socket }
    }

    /// Who hands this down instead.
    fn with(self, socket: OwnedFd) -> Activator {
        Activator { socket, ..self }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(format!("{NAME}.socket"))
    }

    /// Waits until somebody has called.
    fn await_caller(&self) {
        let mut polled = [PollFd::new(&self.socket, PollFlags::IN)];
        let longest = STARTED.try_into().unwrap();
        assert_eq!(poll(&mut polled, Some(&longest)).unwrap(), 1, "nobody has called");
    }

    fn start(&self, rest: &[&str]) -> Started {
        self.start_by("LISTEN_PID=$$ LISTEN_FDS=2", rest)
    }

    /// The same with these variables.
    fn start_by(&self, variables: &str, rest: &[&str]) -> Started {
        let hand_down = format!("{HAND_DOWN} {variables} exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &hand_down, env!("CARGO_BIN_EXE_testkit-server")]);
        command.arg(self.directory.path()).arg(NAME).args(rest);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(self.socket.try_clone().unwrap());
        let mut process = command.spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        Started { process, said }
    }

    fn import(&self, domain: &Domain) -> Result<FaultsClient, BindError> {
        let mut options = import_options(self.directory.path());
        options.timeout = STARTED;
        Binding::import_with(domain, NAME, &FAULTS, options).map(FaultsClient::new)
    }

    /// A client that calls before there is a server, which is started then.
    fn call(&self, domain: &Domain) -> (FaultsClient, Started) {
        std::thread::scope(|threads| {
            let client = threads.spawn(|| self.import(domain));
            self.await_caller();
            let server = self.start(&[]);
            (client.join().unwrap().expect("a server is started"), server)
        })
    }
}

impl Started {
    fn pid(&self) -> u32 {
        self.process.id()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn end(&mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let status = self.process.wait().unwrap();
        if was_caught(status) && !std::thread::panicking() {
            panic!("{}", std::io::read_to_string(&mut self.said).unwrap());
        }
    }
}

/// The processes that this one holds by pidfds.
fn held() -> Vec<u32> {
    let all = std::fs::read_dir("/proc/self/fdinfo").unwrap();
    let of =
        |text: String| text.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
    all.filter_map(|entry| of(std::fs::read_to_string(entry.ok()?.path()).ok()?)).collect()
}

#[test]
fn whoever_calls_first_is_served_by_the_process_that_this_starts() {
    let activator = Activator::new(SocketType::SEQPACKET);
    let domain = Domain::new().unwrap();
    for _ in 0..2 {
        let (client, server) = activator.call(&domain);
        assert_eq!(client.add(2, 3).unwrap(), 5);
        // Its end is that of the server, not of the activator, who is this process.
        assert!(held().contains(&server.pid()), "{:?} are held", held());
        drop(server);
        let begin = Instant::now();
        let ended = client.add(2, 3).unwrap_err();
        let is_ended =
            matches!(ended, CallError::NotExecuted { .. } | CallError::CallFailed { .. });
        assert!(is_ended && begin.elapsed() < STARTED, "{ended:?}");
    }
}

#[test]
fn whoever_calls_later_sees_the_server_too() {
    let activator = Activator::new(SocketType::SEQPACKET);
    let (_first, server) = activator.call(&Domain::new().unwrap());
    let domain = Domain::new().unwrap();
    let before = held().iter().filter(|pid| **pid == server.pid()).count();
    let client = activator.import(&domain).unwrap();
    client.null().unwrap();
    assert_eq!(held().iter().filter(|pid| **pid == server.pid()).count(), before + 1);
}

#[test]
fn hundreds_who_wait_are_told_to_call_again() {
    const CALLERS: usize = 600;
    let activator = Activator::new(SocketType::SEQPACKET);
    let early: Vec<_> = (0..CALLERS).map(|_| Stream::connect(&activator.path()).unwrap()).collect();
    let (client, _server) = activator.call(&Domain::new().unwrap());
    client.null().unwrap();
    for stream in &early {
        let mut packet = [0; 64];
        let received = stream.receive(&mut packet, 0, STARTED).unwrap();
        let told = Message::decode(&packet[..received.bytes]).unwrap();
        let is_early = matches!(told, Message::Refused { code: RefusalCode::Early, .. });
        assert!(is_early, "{told:?}");
    }
}

#[test]
fn the_socket_stays_the_activators() {
    let activator = Activator::new(SocketType::SEQPACKET);
    let domain = Domain::new().unwrap();
    let (client, mut server) = activator.call(&domain);
    client.null().unwrap();
    server.end();
    let mode = std::fs::symlink_metadata(activator.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let (client, _server) = activator.call(&domain);
    client.null().unwrap();
}

#[test]
fn it_is_taken_once_at_a_time() {
    let activator = Activator::new(SocketType::SEQPACKET);
    let mut server = activator.start(&["again"]);
    let exported = format!("exported {}", activator.path().display());
    assert_eq!(server.line(), exported);
    let refused = format!(r#""{NAME}" is already exported, by process {}"#, server.pid());
    assert_eq!(server.line(), refused);
    assert_eq!(server.line(), exported);
    activator.import(&Domain::new().unwrap()).unwrap().null().unwrap();
    server.end();
}

#[test]
fn who_takes_nothing_of_what_was_handed_down_is_told_by_which_variable() {
    for (variables, why) in [
        ("LISTEN_PID=1 LISTEN_FDS=2", r#"LISTEN_PID is "1", and this is process"#),
        ("LISTEN_PID=$$ LISTEN_FDS=two", r#"LISTEN_FDS is "two", which is no count"#),
    ] {
        let activator = Activator::new(SocketType::SEQPACKET);
        let mut server = activator.start_by(variables, &["again"]);
        let (line, own) = (server.line(), std::process::id());
        let exported = format!(r#""{NAME}" is already exported, by process {own}; "#);
        assert!(line.starts_with(&exported) && line.contains(why), "{line}");
    }
}

#[test]
fn a_socket_of_another_kind_is_refused_by_name() {
    let activator = Activator::new(SocketType::STREAM);
    let mut server = activator.start(&["again"]);
    let line = server.line();
    let path = activator.path();
    let wanted = format!("take over the socket that was handed down for {}", path.display());
    assert!(line.contains(&wanted) && line.contains("ListenSequentialPacket"), "{line}");
}

#[test]
fn an_end_of_a_connection_is_refused_by_name() {
    let activator = Activator::new(SocketType::SEQPACKET);
    let _caller = Stream::connect(&activator.path()).unwrap();
    let accepted = rustix::net::accept(&activator.socket).unwrap();
    let activator = activator.with(accepted);
    let mut server = activator.start(&["again"]);
    let line = server.line();
    assert!(line.contains("take over") && line.contains("ListenSequentialPacket"), "{line}");
}

#[test]
fn an_end_of_a_pair_is_left_alone() {
    let activator = Activator::new(SocketType::SEQPACKET);
    std::fs::remove_file(activator.path()).unwrap();
    let (handed_down, kept) = Stream::pair().unwrap();
    let activator = activator.with(handed_down.into());
    let mut server = activator.start(&["again"]);
    let exported = format!("exported {}", activator.path().display());
    assert_eq!(server.line(), exported);
    // It withdraws the first one, and whoever binds just then is cut off.
    assert!(server.line().contains("is already exported"));
    assert_eq!(server.line(), exported);
    assert_eq!(hear(&kept, Duration::ZERO), Heard::Nothing, "somebody is served over it");
    activator.import(&Domain::new().unwrap()).unwrap().null().unwrap();
}
