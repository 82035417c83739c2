//! Servers that export under every policy, and where they run.

use std::fs::Permissions;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use landlock::AccessFs;
use nearcall::{Clerk, Domain, ExportError, Policy, Rules};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::{Part, audit, landlocked, policies};
use crate::campaign::effects;
use crate::campaign::player::{self, Player, Role};
use crate::confined::{List, confine};

/// Where a server runs, and what it can see of importers from there.
pub struct Place {
    pub name: &'static str,
    starter: &'static [&'static str],
    part: Part,
    /// What the server takes from itself.
    bounds: &'static str,
    /// Which users have numbers there: root, or all.
    knows_users: bool,
    /// Whether it can tell the control group of an importer.
    pub knows_processes: bool,
    /// Whether it knows the number of an importer's process.
    pub knows_pids: bool,
    /// Whether importers run in the pid namespace that it is in.
    pub is_joined: bool,
    /// Whether anybody may open every socket.
    pub is_open_to_all: bool,
}

const HERE: Place = Place {
    name: "here",
    starter: &[],
    part: Part::Judge,
    bounds: "",
    knows_users: true,
    knows_processes: true,
    knows_pids: true,
    is_joined: false,
    is_open_to_all: false,
};

const PROCESSES: &[&str] = &["unshare", "--pid", "--fork", "--kill-child"];

/// All of them, the plainest first.
pub const PLACES: &[Place] = &[
    HERE,
    // A user namespace that has a number for root alone.
    Place {
        name: "apart",
        starter: &["unshare", "--user", "--map-root-user"],
        knows_users: false,
        ..HERE
    },
    Place { name: "activated", part: Part::Activate, is_open_to_all: true, ..HERE },
    Place { name: "under the list of system calls", bounds: "confined", ..HERE },
    Place { name: "under landlock", bounds: "landlocked", ..HERE },
    Place {
        name: "under landlock without /proc",
        bounds: "landlocked-blind",
        knows_processes: false,
        ..HERE
    },
    // A pid namespace of its own, whose processes have no number for importers.
    Place {
        name: "among other processes",
        starter: PROCESSES,
        knows_processes: false,
        knows_pids: false,
        ..HERE
    },
    // The same with importers in it: `/proc` is that of the namespace outside, and calls other
    // processes by their numbers.
    Place { name: "beside a foreign /proc", starter: PROCESSES, is_joined: true, ..HERE },
];

impl Place {
    /// Whether a user or group has a number there.
    pub fn knows_user(&self, number: u32) -> bool {
        policies::is_a_number(number) && (self.knows_users || number == 0)
    }

    pub fn is_under_landlock(&self) -> bool {
        self.bounds.starts_with("landlocked")
    }

    pub fn is_in_pid_namespace(&self) -> bool {
        self.starter == PROCESSES
    }

    /// A server there.
    pub fn start(&self, directory: &Path) -> io::Result<Player> {
        let role = Role::Policy(self.part);
        Player::start_under(self.starter, role, directory, "policies", self.bounds)
    }

    /// What an importer is started by, so that it runs where the server can see it.
    pub fn starter_of_importers(&self, judge: &Player) -> io::Result<Vec<String>> {
        if !self.is_joined {
            return Ok(Vec::new());
        }
        let pid = judge.pid();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        let server = children.split_whitespace().next();
        let server = server.ok_or_else(|| io::Error::other("unshare has started nothing"))?;
        Ok(["nsenter", "--target", server, "--pid", "--"].map(str::to_owned).to_vec())
    }
}

/// Exports all policies until its input ends; [`Part::Judge`].
pub fn judge(directory: &Path, bounds: &str) {
    audit::write_to(directory);
    let file = effects::open(directory).expect("the file of effects");
    let names = AccessFs::ReadDir | AccessFs::MakeSock | AccessFs::RemoveFile;
    let (names, proc) = ((directory, names), (Path::new("/proc"), AccessFs::ReadFile.into()));
    match bounds {
        "" => {}
        "confined" => confine(List::Binding),
        "landlocked" => landlocked::confine(&[names, proc]),
        "landlocked-blind" => landlocked::confine(&[names]),
        other => panic!("no server is {other}"),
    }
    let domain = Domain::new().expect("a domain");
    let export = |(name, rules): (&str, Option<Vec<_>>)| {
        let policy = rules.map_or(Policy::OwnerOnly, |rules| Policy::Rules(Rules { rules }));
        let file = file.try_clone().expect("a descriptor");
        effects::export_to(file, &domain, directory, name, policy)
    };
    let clerks: Result<Vec<Clerk>, ExportError> = policies::all().into_iter().map(export).collect();
    let clerks = clerks.expect("exports");
    println!("ready");
    io::stdin().read_to_end(&mut Vec::new()).expect("standard input");
    drop(clerks);
    domain.shut_down();
}

/// Listens where the policies are exported, as systemd does, and has this process replaced by one
/// that is handed the sockets; [`Part::Activate`]. Returns only if that fails.
pub fn activate(directory: &Path) -> io::Error {
    let sockets: io::Result<Vec<_>> =
        policies::names().map(|name| listen(directory, name)).collect();
    let sockets = match sockets {
        Ok(sockets) => sockets,
        Err(error) => return error,
    };
    // From 3 on; others that are among them are not sockets of these paths.
    let last = sockets.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(2);
    let mut command = match std::env::current_exe() {
        Ok(program) => Command::new(program),
        Err(error) => return error,
    };
    command.env("LISTEN_PID", std::process::id().to_string());
    command.env("LISTEN_FDS", (last - 2).to_string());
    player::play_instead(command, Role::Policy(Part::Judge), directory, "policies")
}

/// A socket that is handed down to the programs that this one starts.
fn listen(directory: &Path, name: &str) -> io::Result<OwnedFd> {
    let path = directory.join(format!("{name}.socket"));
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(&path)?)?;
    rustix::net::listen(&socket, 16)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o666))?;
    Ok(socket)
}
