//! Importers: who they are, what they take from themselves first, and what they hear.

use std::io;
use std::path::Path;

use nearcall::{BindError, Binding, Domain};

use super::{Part, landlocked, machine, policies};
use crate::campaign::player::{Player, Role};
use crate::campaign::report::Stopped;
use crate::confined::{List, confine};
use crate::effects::effects::{EFFECTS, EffectsClient};
use crate::server::import_options;

/// An importer: its user, its group, a further group, and how it goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Importer {
    pub uid: u32,
    pub gid: u32,
    pub group: Option<u32>,
    pub manner: Manner,
}

/// How an importer goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As it was started.
    Plain,
    /// In a control group that policies are about.
    Grouped,
    /// Under landlock, with no right but to connect to sockets in the directory of names, where
    /// the kernel has a right for that.
    Landlocked,
    /// Under landlock with no right at all.
    Rightless,
    /// Under the list of system calls.
    Confined,
    /// In a user namespace of its own, whose root it is.
    OwnRoot,
}

const fn plain(uid: u32, gid: u32, group: Option<u32>) -> Importer {
    Importer { uid, gid, group, manner: Manner::Plain }
}

const fn manner(manner: Manner) -> Importer {
    Importer { uid: 1000, gid: 1000, group: Some(2000), manner }
}

/// All of them.
pub const IMPORTERS: &[Importer] = &[
    plain(0, 0, None),
    plain(1000, 1000, None),
    plain(1000, 1000, Some(2000)),
    plain(1000, 1001, None),
    plain(1001, 1000, Some(2000)),
    plain(1001, 2000, None),
    plain(65534, 65534, None),
    plain(65534, 1000, Some(2000)),
    manner(Manner::Grouped),
    manner(Manner::Landlocked),
    manner(Manner::Rightless),
    manner(Manner::Confined),
    manner(Manner::OwnRoot),
];

/// What an importer heard.
pub struct Heard {
    /// Its number, as it knows it.
    pub pid: u32,
    /// Of each policy.
    pub verdicts: Vec<(String, String)>,
}

impl Manner {
    const ALL: [Manner; 6] = [
        Manner::Plain,
        Manner::Grouped,
        Manner::Landlocked,
        Manner::Rightless,
        Manner::Confined,
        Manner::OwnRoot,
    ];

    fn word(self) -> &'static str {
        match self {
            Manner::Plain => "plain",
            Manner::Grouped => "grouped",
            Manner::Landlocked => "landlocked",
            Manner::Rightless => "rightless",
            Manner::Confined => "confined",
            Manner::OwnRoot => "own-root",
        }
    }
}

impl Importer {
    /// Whether the kernel keeps it from connecting to anything.
    pub fn is_barred(self) -> bool {
        self.manner == Manner::Rightless && landlocked::bars_sockets()
    }

    /// What puts it into its control group; before anything else, where numbers mean something.
    fn grouping(self) -> Vec<String> {
        if self.manner != Manner::Grouped {
            return Vec::new();
        }
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", machine::group_path());
        vec!["sh".to_owned(), "-c".to_owned(), script, "sh".to_owned()]
    }

    /// What it is started by, so that it is who it is.
    fn identity(self) -> Vec<String> {
        let Importer { uid, gid, group, manner } = self;
        let groups = match group {
            Some(group) => format!("--groups={group}"),
            None => "--clear-groups".to_owned(),
        };
        let (uid, gid) = (format!("--reuid={uid}"), format!("--regid={gid}"));
        let mut words = vec!["setpriv".to_owned(), uid, gid, groups];
        if manner == Manner::OwnRoot {
            words.extend(["unshare", "--user", "--map-root-user"].map(str::to_owned));
        }
        words
    }

    /// A player that it is; `entering` starts it where it is to run.
    pub fn start(
        self,
        entering: &[String],
        part: Part,
        directory: &Path,
        rest: &str,
    ) -> io::Result<Player> {
        let words = [&self.grouping(), entering, &self.identity()].concat();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Player::start_under(&words, Role::Policy(part), directory, "policies", rest)
    }

    /// What each policy says to it.
    pub fn ask(self, entering: &[String], directory: &Path) -> Result<Heard, Stopped> {
        let mut player = self.start(entering, Part::Ask, directory, self.manner.word())?;
        let ended = player.wait()?;
        if let Some(wrong) = ended.wrong(None) {
            return Err(format!("{self:?}: {wrong}").into());
        }
        Heard::of(&ended.said).ok_or_else(|| format!("{self:?} heard {:?}", ended.said).into())
    }
}

impl Heard {
    fn of(said: &str) -> Option<Heard> {
        let mut lines = said.lines();
        let pid = lines.next()?.strip_prefix("pid ")?.parse().ok()?;
        let verdict = |line: &str| {
            let (name, verdict) = line.split_once(' ')?;
            Some((name.to_owned(), verdict.to_owned()))
        };
        let verdicts: Vec<_> = lines.filter_map(verdict).collect();
        (verdicts.len() == policies::all().len()).then_some(Heard { pid, verdicts })
    }
}

/// Asks each policy, and says what came of it; [`Part::Ask`].
pub fn ask(directory: &Path, manner: &str) {
    let manner = Manner::ALL.into_iter().find(|each| each.word() == manner).expect("a manner");
    match manner {
        Manner::Landlocked => landlocked::confine_to_connecting(directory),
        Manner::Rightless => landlocked::confine(&[]),
        Manner::Confined => confine(List::Binding),
        Manner::Plain | Manner::Grouped | Manner::OwnRoot => {}
    }
    println!("ready");
    println!("pid {}", std::process::id());
    let domain = Domain::new().expect("a domain");
    for name in policies::names() {
        let said = match Binding::import_with(&domain, name, &EFFECTS, import_options(directory)) {
            Ok(binding) => match EffectsClient::new(binding).add(2, 3) {
                Ok(5) => "admitted".to_owned(),
                other => format!("admitted, and 2 and 3 are {other:?}"),
            },
            // Of whoever may not open the socket, its path is all that is known.
            Err(BindError::NotAdmitted { reason, .. })
                if reason.starts_with(&*directory.to_string_lossy()) =>
            {
                "barred".to_owned()
            }
            Err(BindError::NotAdmitted { .. }) => "refused".to_owned(),
            Err(other) => other.to_string(),
        };
        println!("{name} {said}");
    }
}
