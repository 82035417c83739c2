//! Processes under a seccomp filter that lets system calls through which are listed: those of the
//! library's documented lists, and a few that players make themselves. Any other one is named on
//! the standard error, and ends the process (`tests/confining`).

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use nearcall::system_calls::{BINDING, CALLING};
use nix::sys::signal::Signal;

pub use confining::{CAUGHT, STRAYED};

/// What players do themselves, and the library does not.
const OF_PLAYERS: &[(&str, &str)] = &[
    ("getdents64", "a procedure says how many descriptors its process has"),
    ("landlock_add_rule", "servers and importers of row T29 take rights from themselves"),
    ("landlock_create_ruleset", "as above"),
    ("landlock_restrict_self", "as above"),
    ("newfstatat", "the C library looks at what it is to read as a directory, for those"),
    ("pipe", "a procedure hands out a descriptor that is of the wrong kind"),
    ("pwrite64", "a procedure writes into a file that it hands out"),
    ("readv", "what row T3 disturbs hears by a call of its own"),
    ("rt_sigreturn", "a fault goes back to the instruction that it is of, and ends the player"),
    ("seccomp", "row T29 has servers and importers that are left the documented calls alone"),
    ("tgkill", "a procedure ends its process, by abort"),
    ("writev", "what row T3 disturbs speaks, and writes effects down, by a call of its own"),
];

/// What children of fork(2) do themselves on top.
const OF_CHILDREN: &[(&str, &str)] = &[
    ("alarm", "a child that is not over in time is ended"),
    ("clone", "a child has one itself"),
    ("getppid", "it says whose child it is"),
    ("kill", "a parent kills itself"),
    ("pause", "a child waits until it is killed"),
    ("readlink", "it counts its sockets"),
    ("wait4", "it waits for its own child"),
];

/// Which system calls are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Those of bindings that are made.
    Calling,
    /// And those that make them.
    Binding,
    /// And what players do themselves.
    Playing,
    /// And what children of fork(2) do themselves.
    Forked,
}

impl List {
    /// The system calls on it.
    fn names(self) -> Vec<&'static str> {
        let own = |calls: &'static [(&'static str, &'static str)]| calls.iter().map(|call| call.0);
        let mut names = CALLING.to_vec();
        if self != List::Calling {
            names.extend(BINDING);
        }
        if matches!(self, List::Playing | List::Forked) {
            names.extend(own(OF_PLAYERS));
        }
        if self == List::Forked {
            names.extend(own(OF_CHILDREN));
        }
        names
    }
}

/// From here on this process, all its threads, makes no system call that is not on the list: one
/// that it tries is named on the standard error, and ends it. Its panics say no backtrace, which
/// takes calls of its own.
///
/// # Panics: the list names a call that there is not, or the system takes no filter.
pub fn confine(list: List) {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("<unnamed>");
        // Where nobody hears it, its end says so.
        let _ = writeln!(std::io::stderr(), "thread '{name}' {panic}");
    }));
    confining::confine(list.names());
}

/// Whether a process that this one has started has confined itself, and all its threads.
#[must_use]
pub fn is_confined(pid: u32) -> bool {
    let filters = |status: &str| {
        let count = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
        count.and_then(|count| count.trim().parse::<u32>().ok()).unwrap_or(0)
    };
    let ours = filters(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    // One that ends meanwhile says nothing.
    let mut said =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    let Some(first) = said.next() else { return false };
    filters(&first) > ours && said.all(|status| filters(&status) > ours)
}

/// Whether a process ended so because of a call that is not on its list. One that is made while
/// signals are blocked, as where the C library begins a thread, has the kernel end it unnamed.
#[must_use]
pub fn was_caught(status: ExitStatus) -> bool {
    status.code() == Some(CAUGHT) || status.signal() == Some(Signal::SIGSYS as i32)
}

/// Waits until a player has ended.
///
/// # Panics: it has made a system call that is not on its list.
pub fn wait(child: &mut Child) -> ExitStatus {
    let status = child.wait().expect("our own child");
    if was_caught(status) && !std::thread::panicking() {
        let mut said = String::new();
        if let Some(errors) = &mut child.stderr {
            errors.read_to_string(&mut said).expect("what it said");
        }
        panic!("a player ended by {status}: {said}");
    }
    status
}

/// The same of one that is killed, unless it has ended already.
///
/// # Panics: as above.
pub fn kill(child: &mut Child) -> ExitStatus {
    // It may have ended already.
    let _ = child.kill();
    wait(child)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_players_do_themselves_is_on_no_list_of_the_librarys_and_has_a_reason() {
        let listed: BTreeSet<_> = CALLING.iter().chain(BINDING).copied().collect();
        for (call, reason) in OF_PLAYERS.iter().chain(OF_CHILDREN) {
            assert!(!listed.contains(call), "{call} is listed anyway");
            assert!(!reason.is_empty(), "{call}");
        }
        let all = List::Forked.names();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "one is there twice");
    }

    #[test]
    fn whoever_is_caught_is_told_from_whoever_ends_otherwise() {
        let ended = |script: &str| Command::new("sh").args(["-c", script]).status().unwrap();
        assert!(was_caught(ended("kill -SYS $$")));
        assert!(was_caught(ended(&format!("exit {CAUGHT}"))));
        for script in ["exit 0", "exit 1", "kill -KILL $$", "kill -ABRT $$"] {
            assert!(!was_caught(ended(script)), "{script}");
        }
    }

    #[test]
    #[should_panic = "it says which"]
    fn whoever_waits_for_one_that_is_caught_panics_by_its_words() {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("echo it says which >&2; exit {CAUGHT}")]);
        wait(&mut command.stderr(Stdio::piped()).spawn().unwrap());
    }

    #[test]
    fn who_has_not_confined_itself_is_not_confined() {
        assert!(!is_confined(std::process::id()));
    }
}
