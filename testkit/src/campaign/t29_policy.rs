//! T29: who may bind. Every policy is asked about every importer, by a server in the importers' own
//! user namespace, by one in a namespace where only root has a number, and by one whose sockets
//! were handed down to it. What a policy must say is worked out here from what the importer is, not
//! from what the library makes of it.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nearcall::{Clerk, Domain, ExportError, Limits, Policy, Priority, Rule, Rules, Verdict, Who};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::Setup;
use super::effects;
use super::player::{self, Player, Role};
use super::report::{Report, Stopped};

/// An importer: its user, its group, and a further group.
#[derive(Clone, Copy, Debug)]
struct Importer {
    uid: u32,
    gid: u32,
    group: Option<u32>,
}

const IMPORTERS: &[Importer] = &[
    Importer { uid: 0, gid: 0, group: None },
    Importer { uid: 1000, gid: 1000, group: None },
    Importer { uid: 1000, gid: 1000, group: Some(2000) },
    Importer { uid: 1000, gid: 1001, group: None },
    Importer { uid: 1001, gid: 1000, group: Some(2000) },
    Importer { uid: 1001, gid: 2000, group: None },
    Importer { uid: 65534, gid: 65534, group: None },
    Importer { uid: 65534, gid: 1000, group: Some(2000) },
];

/// What the kernel shows for a user or a group that a namespace has no number for.
const UNKNOWN: u32 = 65534;

/// The policies, by the name that they are exported under: rules, or the owner alone.
fn policies() -> BTreeMap<&'static str, Option<Vec<Rule>>> {
    let any = Who::default;
    let uid = |uid| Who { uid: Some(uid), ..any() };
    let gid = |gid| Who { gid: Some(gid), ..any() };
    let group = |group| Who { group: Some(group), ..any() };
    let named = |name: &str| Who { interface: Some(name.to_owned()), ..any() };
    let rule = |who, verdict| {
        let (id, priority, limits) = ("r".to_owned(), Priority::default(), Limits::default());
        Rule { id, who, verdict, priority, limits }
    };
    let admit = |who| rule(who, Verdict::Admit);
    let refuse = |who| rule(who, Verdict::Refuse);
    BTreeMap::from([
        ("owner", None),
        ("nobody", Some(vec![])),
        ("anybody", Some(vec![admit(any())])),
        ("root", Some(vec![admit(uid(0))])),
        ("thousand", Some(vec![admit(uid(1000))])),
        ("unknown-user", Some(vec![admit(uid(UNKNOWN))])),
        ("own-group", Some(vec![admit(gid(1000))])),
        ("unknown-group", Some(vec![admit(gid(UNKNOWN))])),
        ("further-group", Some(vec![admit(group(2000))])),
        ("any-unknown-group", Some(vec![admit(group(UNKNOWN))])),
        ("both", Some(vec![admit(Who { gid: Some(1001), ..uid(1000) })])),
        ("user-and-group", Some(vec![admit(Who { group: Some(2000), ..uid(1001) })])),
        ("all-but-one", Some(vec![refuse(uid(1000)), admit(any())])),
        ("one-before-all", Some(vec![admit(uid(1001)), refuse(any())])),
        ("other-interface", Some(vec![admit(named("other::Other"))])),
        ("this-interface", Some(vec![admit(Who { uid: Some(0), ..named("effects::Effects") })])),
    ])
}

/// Exports all policies; what the player of [`Role::Judge`] does.
pub fn export(domain: &Domain, directory: &Path) -> Result<Vec<Clerk>, ExportError> {
    let export = |(name, rules): (&str, Option<Vec<Rule>>)| {
        let policy = rules.map_or(Policy::OwnerOnly, |rules| Policy::Rules(Rules { rules }));
        effects::export_to(domain, directory, name, policy)
    };
    policies().into_iter().map(export).collect()
}

/// Listens where the policies are exported, as systemd does, and has this process replaced by one
/// that is handed the sockets; what the player of [`Role::Activate`] does. Returns only if that
/// fails.
pub fn activate(directory: &Path) -> io::Error {
    let sockets: io::Result<Vec<_>> = names().map(|name| listen(directory, name)).collect();
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
    player::play_instead(command, Role::Judge, directory, "policies")
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

/// Names of the policies, for the player of [`Role::Ask`].
pub fn names() -> impl Iterator<Item = &'static str> {
    policies().into_keys()
}

/// Asks each server about each importer.
pub fn run(_: &Setup) -> Result<Report, Stopped> {
    if !is_able("setpriv", &["--reuid=1000", "--regid=1000", "--clear-groups", "true"]) {
        return Err(Stopped::Skipped("setpriv cannot become another user here".to_owned()));
    }
    if !is_able("unshare", &["--user", "--map-root-user", "true"]) {
        return Err(Stopped::Skipped("unshare makes no user namespace here".to_owned()));
    }
    let mut report = Report::of("decisions");
    let apart = &["unshare", "--user", "--map-root-user"][..];
    for (place, starter, role) in [
        ("here", &[][..], Role::Judge),
        ("apart", apart, Role::Judge),
        ("activated", &[], Role::Activate),
    ] {
        let directory = tempfile::tempdir()?;
        std::fs::set_permissions(directory.path(), Permissions::from_mode(0o755))?;
        let mut judge = Player::start_under(starter, role, directory.path(), "policies", "")?;
        let is_apart = place == "apart";
        for importer in IMPORTERS {
            for (name, verdict) in ask(directory.path(), *importer)? {
                let wanted =
                    if must_admit(&name, *importer, is_apart) { "admitted" } else { "refused" };
                report.count += 1;
                if verdict != wanted {
                    let asked = format!("{name} asked {place} about {importer:?}");
                    report.violation(format!("{asked} said {verdict}, {wanted} is right"));
                }
            }
        }
        judge.end()?;
    }
    Ok(report)
}

fn is_able(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// What each policy says to an importer.
fn ask(directory: &Path, importer: Importer) -> Result<Vec<(String, String)>, Stopped> {
    let Importer { uid, gid, group } = importer;
    let groups = match group {
        Some(group) => format!("--groups={group}"),
        None => "--clear-groups".to_owned(),
    };
    let (uid, gid) = (format!("--reuid={uid}"), format!("--regid={gid}"));
    let starter = ["setpriv", &uid, &gid, &groups];
    let mut player = Player::start_under(&starter, Role::Ask, directory, "policies", "")?;
    player.ended_in_time()?;
    let (said, complaints) = player.said()?;
    let verdict = |line: &str| {
        let (name, verdict) = line.split_once(' ')?;
        Some((name.to_owned(), verdict.to_owned()))
    };
    let verdicts: Vec<_> = said.lines().filter_map(verdict).collect();
    match verdicts.len() == policies().len() {
        true => Ok(verdicts),
        false => Err(format!("{importer:?} heard {said:?}, {complaints}").into()),
    }
}

/// Whether the policy called `name` is to admit an importer. A server apart has a number for root
/// and for nobody else.
fn must_admit(name: &str, importer: Importer, is_apart: bool) -> bool {
    let known = |number: u32| {
        let is_known = number != UNKNOWN && !(is_apart && number != 0);
        is_known.then_some(number)
    };
    let (uid, gid) = (known(importer.uid), known(importer.gid));
    let is_in = |group| gid == Some(group) || importer.group.and_then(known) == Some(group);
    match name {
        "anybody" => true,
        "owner" | "root" | "this-interface" => uid == Some(0),
        "thousand" => uid == Some(1000),
        "own-group" => gid == Some(1000),
        "further-group" => is_in(2000),
        "both" => (uid, gid) == (Some(1000), Some(1001)),
        "user-and-group" => uid == Some(1001) && is_in(2000),
        "all-but-one" => uid != Some(1000),
        "one-before-all" => uid == Some(1001),
        _ => false,
    }
}
