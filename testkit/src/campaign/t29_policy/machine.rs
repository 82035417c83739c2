//! What this machine has of what the row asks about.

use std::path::Path;
use std::process::Command;

use super::importers::{Importer, Manner};
use super::places::Place;
use super::{landlocked, policies};
use crate::campaign::report::Report;

/// Where control groups of the unified hierarchy are.
const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

/// Who may look into processes of its user: 0, or no such file, is each of them.
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

const AS_USER: &[&str] = &["--reuid=1000", "--regid=1000", "--clear-groups"];

/// What there is.
pub struct Machine {
    has_landlock: bool,
    has_pid_namespaces: bool,
    has_user_namespaces: bool,
    /// Processes of one user may look into each other.
    pub lets_look: bool,
    group: Option<Group>,
}

/// The control group that some importers are in, until it is dropped.
struct Group;

impl Machine {
    /// Looks, and says what is not there. `None`: too little.
    pub fn look(report: &mut Report) -> Option<Machine> {
        let as_user = |rest: &[&str]| is_able("setpriv", &[AS_USER, rest].concat());
        let unshare = ["--user", "--map-root-user", "true"];
        if !as_user(&["true"]) || !is_able("unshare", &unshare) {
            return None;
        }
        let machine = Machine {
            has_landlock: landlocked::abi().is_some(),
            has_pid_namespaces: is_able("unshare", &["--pid", "--fork", "--kill-child", "true"])
                && is_able("nsenter", &["--version"]),
            has_user_namespaces: as_user(&[&["unshare"], &unshare[..]].concat()),
            lets_look: !Path::new(YAMA).exists()
                || std::fs::read_to_string(YAMA).is_ok_and(|scope| scope.trim() == "0"),
            group: Group::make(),
        };
        if let Some(abi) = landlocked::abi() {
            report.figure(format!("landlock {}", abi as i32));
        }
        for (is_there, what) in [
            (machine.has_landlock, "landlock"),
            (machine.has_pid_namespaces, "a pid namespace"),
            (machine.has_user_namespaces, "a user namespace of others than root"),
            (machine.lets_look, "the right to look into processes of the same user"),
            (machine.group.is_some() && policies::has_control_groups(), "a control group"),
        ] {
            if !is_there {
                report.lacks(what);
            }
        }
        if machine.has_landlock && !landlocked::bars_sockets() {
            // Nobody has such a kernel yet, CI neither.
            report.figure("NOT DONE: that landlock keeps importers out, since Linux 7.1");
        }
        Some(machine)
    }

    /// Whether there can be such an importer, or thief.
    pub fn has(&self, importer: &Importer) -> bool {
        match importer.manner {
            Manner::Plain | Manner::Confined => true,
            Manner::Grouped => self.group.is_some(),
            Manner::Landlocked | Manner::Rightless => self.has_landlock,
            Manner::OwnRoot => self.has_user_namespaces,
        }
    }

    /// Whether the answer of a policy to an importer shows what it is to show: not where nobody is
    /// in a control group, nor where the kernel keeps nobody from connecting.
    pub fn tells_by(&self, policy: &str, importer: &Importer) -> bool {
        (policies::has_control_groups() || !policies::is_about_control_groups(policy))
            && (landlocked::bars_sockets() || importer.manner != Manner::Rightless)
    }

    /// Whether there can be a server in such a place.
    pub fn has_place(&self, place: &Place) -> bool {
        (self.has_landlock || !place.is_under_landlock())
            && (self.has_pid_namespaces || !place.is_in_pid_namespace())
    }

    pub fn has_landlock(&self) -> bool {
        self.has_landlock
    }
}

fn is_able(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// The path of the control group that some importers are in.
pub fn group_path() -> String {
    let is_there = |hierarchy: &&str| Path::new(hierarchy).join("cgroup.procs").exists();
    let hierarchy = HIERARCHIES.into_iter().find(is_there).unwrap_or(HIERARCHIES[0]);
    format!("{hierarchy}{}", policies::GROUP)
}

impl Group {
    /// `None`: this process can make none.
    fn make() -> Option<Group> {
        let path = group_path();
        if !Path::new(&path).exists() {
            std::fs::create_dir(&path).ok()?;
        }
        Path::new(&path).join("cgroup.procs").exists().then_some(Group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Another run may be in it.
        let _ = std::fs::remove_dir(group_path());
    }
}
