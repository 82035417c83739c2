//! Whom a server is bound to: a domain that imports, as the kernel knows it.
//!
//! Who it is, is asked once, as it was when it connected. Which process it is, is asked of its
//! socket whenever somebody wants to know, so that a server has one descriptor of each client, not
//! two (T21):
//!
//! ```text
//!   connects ──▶ the policy is asked ──▶ bound ───────────────────▶ gone
//!                the process is held     the socket tells, if asked  nobody tells
//! ```

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::{fmt, io};

use nearcall_os::peer::{self, Peer, Process};
use nearcall_os::socket::Stream;

use super::binding::ServerBinding;

/// Groups that a record names.
const RECORDED_GROUPS_MAX: usize = 64;

/// A domain that imports, as the kernel knows it.
pub struct Importer {
    peer: Peer,
    /// Its process, while the socket is nobody's to ask, and for good where that would tell only a
    /// number.
    held: OnceLock<Process>,
    /// The same while it stands for others, who hold it.
    shared: Mutex<Weak<Process>>,
    binding: Weak<ServerBinding>,
    /// Its control group, as it was looked at last.
    cgroup: Mutex<Option<String>>,
    /// What records call its process, once one was written.
    inode: OnceLock<Option<u64>>,
}

/// Who stands for an importer that the policy was not asked about.
#[derive(Clone)]
pub(crate) struct Introducer {
    /// Has introduced it.
    pub giver: Arc<Importer>,
    /// The policy has admitted this one: the giver, or whoever was first to introduce.
    pub admitted: Arc<Importer>,
    /// Of that one, whose own binding may go first.
    _process: Option<Arc<Process>>,
}

impl Introducer {
    pub fn of(giver: &Arc<Importer>, admitted: &Arc<Importer>) -> Introducer {
        let (giver, admitted) = (Arc::clone(giver), Arc::clone(admitted));
        Introducer { giver, _process: admitted.share(), admitted }
    }
}

impl Importer {
    /// The one at the other end of a socket that is no binding's yet. Its process is held.
    pub(crate) fn of(stream: &Stream) -> io::Result<Importer> {
        let (peer, process) = (Peer::of(stream)?, Process::of(stream)?);
        let (held, shared) = (OnceLock::from(process), Mutex::default());
        let (cgroup, inode) = (Mutex::default(), OnceLock::new());
        Ok(Importer { peer, held, shared, binding: Weak::new(), cgroup, inode })
    }

    /// The same, bound: from here on its process is asked for over the binding's socket.
    pub(crate) fn bound(mut self, binding: &Weak<ServerBinding>) -> Importer {
        let kept = self.held.take().filter(Process::is_by_number);
        let held = kept.map_or_else(OnceLock::new, OnceLock::from);
        Importer { held, binding: Weak::clone(binding), ..self }
    }

    /// Its process, one for all for whom it stands, for as long as they are there. `None`: it is
    /// not to be had, or its own is held anyway.
    fn share(&self) -> Option<Arc<Process>> {
        let mut shared = self.shared();
        if self.stays_held() {
            return None;
        }
        if let Some(process) = shared.upgrade() {
            return Some(process);
        }
        let process = Arc::new(self.asked().ok()?);
        *shared = Arc::downgrade(&process);
        Some(process)
    }

    fn shared(&self) -> MutexGuard<'_, Weak<Process>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its process stays held when it is bound.
    pub(crate) fn stays_held(&self) -> bool {
        self.held.get().is_some_and(Process::is_by_number)
    }

    /// As if the system said so: few machines have labels.
    #[cfg(test)]
    pub(crate) fn set_label(&mut self, label: Option<&str>) {
        self.peer.label = label.map(str::to_owned);
    }

    /// As if it were in these.
    #[cfg(test)]
    pub(crate) fn set_groups(&mut self, groups: Vec<u32>) {
        self.peer.groups = groups;
    }

    /// As if the system told nothing of it.
    #[cfg(test)]
    pub(crate) fn forget_identity(&mut self) {
        let groups = Vec::new();
        let (uid, gid, pid, label) = (None, None, None, None);
        self.peer = Peer { uid, gid, groups, are_groups_all: false, pid, label };
    }

    /// Its user; `None` if this namespace has no number for it.
    pub fn uid(&self) -> Option<u32> {
        self.peer.uid
    }

    /// Its group; `None` likewise.
    pub fn gid(&self) -> Option<u32> {
        self.peer.gid
    }

    /// Its number, for people: another process may have it by now.
    pub fn pid(&self) -> Option<u32> {
        self.peer.pid
    }

    /// Whether it is in this group, beside its own one.
    pub fn is_in_group(&self, group: u32) -> bool {
        self.peer.groups.contains(&group)
    }

    /// Whether all groups that it is in beside its own one have numbers here: where not, it may be
    /// in any.
    pub fn are_groups_all(&self) -> bool {
        self.peer.are_groups_all
    }

    /// Its control group, as a path; `None` if the system does not tell, or its binding has gone.
    ///
    /// # Cost: some system calls.
    pub fn cgroup(&self) -> Option<String> {
        self.peer.pid?;
        let cgroup = self.look(Process::cgroup).ok().flatten()?;
        self.last_cgroup().replace(cgroup.clone());
        Some(cgroup)
    }

    /// The same for a record: as the policy has looked at it last, or if that has not, as it is.
    ///
    /// # Cost: some system calls if nobody has looked, or it could not be told.
    pub(crate) fn recorded_cgroup(&self) -> Option<String> {
        let seen = self.last_cgroup().clone();
        seen.or_else(|| self.cgroup())
    }

    fn last_cgroup(&self) -> MutexGuard<'_, Option<String>> {
        self.cgroup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its further groups for a record: their numbers, of which only the first ones if there are
    /// many; `None` if it is in none.
    pub(crate) fn recorded_groups(&self) -> Option<String> {
        let groups = &self.peer.groups;
        let mut words: Vec<_> =
            groups.iter().take(RECORDED_GROUPS_MAX).map(u32::to_string).collect();
        if let Some(more @ 1..) = groups.len().checked_sub(RECORDED_GROUPS_MAX) {
            words.push(format!("and {more} more"));
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// What no other process has that ever runs on this system, for a record; `None` if the system
    /// has no such number, or the first record was written when it was too late to ask.
    ///
    /// # Cost: some system calls, once.
    pub(crate) fn recorded_inode(&self) -> Option<u64> {
        *self.inode.get_or_init(|| self.look(Process::inode).ok().flatten())
    }

    /// Its security label, as it was when it connected; `None` if the system has none.
    pub fn label(&self) -> Option<&str> {
        self.peer.label.as_deref()
    }

    /// A pidfd, the caller's own: what identifies it, and says when it has ended.
    ///
    /// # Errors: its binding has gone; it ended so long ago that the kernel has nothing more to
    /// tell of it; or this process has no room for a descriptor.
    ///
    /// # Cost: up to three system calls.
    pub fn pidfd(&self) -> io::Result<OwnedFd> {
        self.look(|process| process.as_fd().try_clone_to_owned())?
    }

    /// Whether it has ended, as far as the system tells: it may only have hung up.
    pub(crate) fn has_ended(&self) -> bool {
        match self.look(Process::has_exited) {
            Ok(has_exited) => has_exited,
            Err(error) => peer::tells_of_an_end(&error),
        }
    }

    fn look<T>(&self, look: impl FnOnce(&Process) -> T) -> io::Result<T> {
        if let Some(process) = self.held.get() {
            return Ok(look(process));
        }
        let shared = self.shared().upgrade();
        match shared {
            Some(process) => Ok(look(&process)),
            None => self.asked().map(|process| look(&process)),
        }
    }

    /// Its process, by its binding's socket.
    fn asked(&self) -> io::Result<Process> {
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "its binding has gone");
        Process::of(self.binding.upgrade().ok_or_else(gone)?.socket.stream())
    }
}

/// Who it is, and nothing of how that is kept.
impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Peer { uid, gid, groups, pid, label, .. } = &self.peer;
        let mut shown = f.debug_struct("Importer");
        shown.field("uid", uid).field("gid", gid).field("groups", groups);
        shown.field("pid", pid).field("label", label).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_as_who_it_is() {
        let (here, _there) = Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        importer.set_groups(vec![27]);
        importer.set_label(Some("backup_t"));
        let Peer { uid, gid, pid, .. } = importer.peer;
        let want = format!(
            "Importer {{ uid: {uid:?}, gid: {gid:?}, groups: [27], pid: {pid:?}, \
             label: Some(\"backup_t\"), .. }}"
        );
        assert_eq!(format!("{importer:?}"), want);
    }

    #[test]
    fn the_process_is_told_while_the_policy_is_asked_and_not_once_the_binding_has_gone() {
        let (here, _there) = Stream::pair().unwrap();
        let importer = Importer::of(&here).unwrap();
        assert!(importer.pidfd().is_ok() && !importer.has_ended());
        let (stays_held, cgroup) = (importer.stays_held(), importer.cgroup());
        let gone = importer.bound(&Weak::new());
        assert!(!gone.has_ended());
        match gone.pidfd() {
            // Before Linux 6.5 a process is found by its number, once, and held from then on.
            Ok(_) => assert_eq!((stays_held, gone.cgroup()), (true, cgroup)),
            Err(error) => {
                assert_eq!((stays_held, gone.cgroup()), (false, None));
                assert_eq!(error.to_string(), "its binding has gone");
            }
        }
        assert_eq!(gone.uid(), Some(nearcall_os::peer::effective_uid()));
    }

    #[test]
    fn a_record_has_what_was_seen_before_the_binding_has_gone() {
        let (here, _there) = Stream::pair().unwrap();
        let importer = Importer::of(&here).unwrap();
        let (cgroup, inode) = (importer.cgroup(), importer.recorded_inode());
        let process = Process::current().unwrap();
        assert_eq!((&cgroup, inode), (&process.cgroup(), process.inode()));
        let stays_held = importer.stays_held();
        let gone = importer.bound(&Weak::new());
        assert_eq!((gone.recorded_cgroup(), gone.recorded_inode()), (cgroup, inode));
        assert_eq!(gone.cgroup().is_some(), stays_held && process.cgroup().is_some());
    }

    #[test]
    fn a_record_names_the_first_groups_and_says_how_many_more() {
        let (here, _there) = Stream::pair().unwrap();
        let mut importer = Importer::of(&here).unwrap();
        importer.set_groups(Vec::new());
        assert_eq!(importer.recorded_groups(), None);
        importer.set_groups(vec![2000, 7]);
        assert_eq!(importer.recorded_groups().as_deref(), Some("2000 7"));
        importer.set_groups((0..64).collect());
        assert!(importer.recorded_groups().unwrap().ends_with(" 62 63"));
        importer.set_groups((0..70).collect());
        assert!(importer.recorded_groups().unwrap().ends_with(" 63 and 6 more"));
    }
}
