//! Servers and importers that take rights from themselves by landlock, and which of those that are
//! documented (`docs/system-calls.md`) a server cannot do without.

use std::path::Path;
use std::sync::OnceLock;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nearcall::{Domain, ExportError, Policy};

use super::Part;
use crate::campaign::effects;
use crate::campaign::player::{Player, Role};
use crate::campaign::report::{Report, Stopped};

/// The newest that is known: whatever the kernel does not know of it, it leaves out.
const NEWEST: ABI = ABI::V10;

/// The directory of names, below the one that the rights are about.
const NAMES: &str = "names";

/// What the kernel has of it; `None`: nothing.
pub fn abi() -> Option<ABI> {
    static KNOWN: OnceLock<Option<ABI>> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        // It is told to whoever confines itself: a thread that ends then.
        let asked = std::thread::spawn(|| {
            let ruleset = Ruleset::default().handle_access(AccessFs::MakeBlock)?.create()?;
            ruleset.restrict_self()
        });
        match asked.join().expect("a thread").map(|status| status.landlock) {
            Ok(LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi),
            _ => None,
        }
    })
}

/// Whether a right is asked for to connect to a socket that has a path: since Linux 7.1.
pub fn bars_sockets() -> bool {
    abi().is_some_and(|abi| AccessFs::from_all(abi).contains(AccessFs::ResolveUnix))
}

/// From here on this thread, and whom it starts, have these rights and no others of all that the
/// kernel can take.
///
/// # Panics: it takes none.
pub fn confine(rights: &[(&Path, BitFlags<AccessFs>)]) {
    let handled = Ruleset::default().handle_access(AccessFs::from_all(NEWEST));
    let handled = handled.and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEWEST)));
    let handled = handled.and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)));
    let mut ruleset = handled.and_then(Ruleset::create).expect("a ruleset");
    for (path, rights) in rights {
        let path = PathFd::new(path).expect("a path");
        ruleset = ruleset.add_rule(PathBeneath::new(path, *rights)).expect("a rule");
    }
    let status = ruleset.restrict_self().expect("any process may confine itself");
    assert_ne!(status.ruleset, RulesetStatus::NotEnforced, "there is no landlock");
    let read = std::fs::read_dir("/").map(drop).map_err(|error| error.kind());
    assert_eq!(read, Err(std::io::ErrorKind::PermissionDenied), "landlock takes nothing");
}

/// The same with the right to connect to sockets in `directory`, where there is such a right.
pub fn confine_to_connecting(directory: &Path) {
    match bars_sockets() {
        true => confine(&[(directory, AccessFs::ResolveUnix.into())]),
        false => confine(&[]),
    }
}

const READ: (&str, AccessFs) = ("read_dir", AccessFs::ReadDir);
const SOCKET: (&str, AccessFs) = ("make_sock", AccessFs::MakeSock);
const REMOVE: (&str, AccessFs) = ("remove_file", AccessFs::RemoveFile);
const MAKE: (&str, AccessFs) = ("make_dir", AccessFs::MakeDir);

/// A server with some of the rights, what is there when it comes, and what it says.
struct Trial {
    rights: &'static [(&'static str, AccessFs)],
    finds: Finds,
    says: &'static str,
    leaves_file: bool,
}

/// What a server finds where names are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finds {
    Nothing,
    Directory,
    /// And the socket of one that has died.
    Stale,
}

const TRIALS: &[Trial] = &[
    Trial {
        rights: &[READ, SOCKET, REMOVE, MAKE],
        finds: Finds::Nothing,
        says: "exported",
        leaves_file: false,
    },
    Trial {
        rights: &[READ, SOCKET, REMOVE],
        finds: Finds::Nothing,
        says: "create",
        leaves_file: false,
    },
    Trial {
        rights: &[READ, SOCKET, REMOVE],
        finds: Finds::Directory,
        says: "exported",
        leaves_file: false,
    },
    Trial {
        rights: &[READ, SOCKET, REMOVE],
        finds: Finds::Stale,
        says: "exported",
        leaves_file: false,
    },
    Trial { rights: &[SOCKET, REMOVE], finds: Finds::Directory, says: "open", leaves_file: false },
    Trial { rights: &[READ, REMOVE], finds: Finds::Directory, says: "bind", leaves_file: false },
    Trial { rights: &[READ, SOCKET], finds: Finds::Directory, says: "exported", leaves_file: true },
    Trial { rights: &[READ, SOCKET], finds: Finds::Stale, says: "replace", leaves_file: true },
];

/// Servers that lack a right each.
pub fn run(report: &mut Report) -> Result<(), Stopped> {
    for trial in TRIALS {
        let directory = tempfile::tempdir()?;
        let names = directory.path().join(NAMES);
        if trial.finds != Finds::Nothing {
            std::fs::create_dir(&names)?;
        }
        let file = names.join("policies.socket");
        if trial.finds == Finds::Stale {
            drop(std::os::unix::net::UnixListener::bind(&file)?);
        }
        let rights: Vec<_> = trial.rights.iter().map(|(word, _)| *word).collect();
        let rights = rights.join(",");
        let role = Role::Policy(Part::Lack);
        let mut server = Player::start(role, directory.path(), "policies", &rights)?;
        let ended = server.wait()?;
        report.violations.extend(ended.wrong(None));
        let (said, is_left) = (ended.said.trim_end(), file.exists());
        report.count += 1;
        if said != trial.says || is_left != trial.leaves_file {
            let saw = format!("said {said:?} and left its file: {is_left}");
            report.violation(format!("a server with {rights} alone {saw}"));
        }
    }
    Ok(())
}

/// Exports with some rights, and says how that went; [`Part::Lack`].
pub fn lack(directory: &Path, rights: &str) {
    println!("ready");
    let file = effects::open(directory).expect("the file of effects");
    let all = [READ, SOCKET, REMOVE, MAKE];
    let named = all.into_iter().filter(|(word, _)| rights.split(',').any(|each| each == *word));
    let granted = named.fold(BitFlags::EMPTY, |granted, (_, right)| granted | right);
    confine(&[(directory, granted)]);
    let domain = Domain::new().expect("a domain");
    let names = directory.join(NAMES);
    match effects::export_to(file, &domain, &names, "policies", Policy::default()) {
        Ok(clerk) => {
            println!("exported");
            drop(clerk);
        }
        Err(ExportError::System { doing, .. }) => {
            println!("{}", doing.split(' ').next().unwrap_or_default());
        }
        Err(other) => println!("{other}"),
    }
}
