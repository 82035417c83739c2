//! The thread that keeps house: binds importers, notices deaths, takes out-of-line segments and
//! growth requests. Nothing of a call waits for it (MECHANISMS 8: no instruction on the hot path).

mod concerned;
mod ending;
mod late;
pub(crate) mod lives;
mod unclaimed;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nearcall_core::RevokeReason;
use nearcall_os::clock;
use nearcall_os::peer::Process;
use nearcall_os::poll::{Poller, Ready, Waker};

use self::concerned::Concerned;
use self::late::{LateItems, TIMER};
use self::lives::Lives;
use self::unclaimed::{Captures, Unclaimed};
use crate::audit::Cause;
use crate::client::binding::ClientBinding;
use crate::domain::{DomainCore, system};
use crate::server::binding::ServerBinding;
use crate::server::clerk::ClerkCore;
use crate::server::handshake::{Handshake, Progress};
use crate::server::holding;
use crate::server::requests;
use crate::wire::Socket;

/// Token of the waker.
const WAKER: u64 = 0;

/// In a token: not the socket of a binding, but the process at its other end.
const DEATH: u64 = 1 << 63;

/// How long an importer may take between two messages of its bind.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(1);

/// Importers let in, and requests of one binding answered, before the others have their turn.
pub(crate) const BATCH: usize = 16;

/// How long server processors that sleep may keep what they know of bindings that have gone.
const STALE_TIME: Duration = Duration::from_millis(50);

/// How long it takes at most until debts of users without bindings are looked at again.
const DEBTS_LOOK_MAX: Duration = Duration::from_secs(60);

/// What a user is charged with for a look that one of its clients asks for, beside the time that
/// the message takes here: a server processor wakes up for it. One that finds nothing costs more
/// ([`TrustClass::charge_vain_look`](crate::server::trust::TrustClass::charge_vain_look)).
const LOOK_NS: u64 = 100_000;

/// How long nothing is read from a client of whose descriptors too many wait to be closed, before
/// it is looked whether they still do. Each look takes microseconds for each of its bindings, of
/// which there may be hundreds.
const BEHIND_NS: u64 = 50_000_000;

/// Of a table's room, what at least has to be in use: one in so many.
const SPARSE_SHARE: usize = 8;

/// How long to leave a poller alone that does not work.
const POLLER_PAUSE: Duration = Duration::from_millis(100);

/// What the thread watches, by token.
pub(crate) struct Housekeeping {
    poller: Poller,
    waker: Waker,
    watched: Mutex<HashMap<u64, Watched>>,
    handshakes: Mutex<HashMap<u64, UnderWay>>,
    /// Bindings whose users' requests have taken much time, or left much to be closed: until when
    /// nothing is read from them.
    paused: Mutex<Vec<(Instant, Arc<ServerBinding>)>>,
    /// Bindings by token, some of whose packets a server processor has read.
    again: Mutex<Vec<u64>>,
    unclaimed: Unclaimed,
    concerned: Concerned,
    late: LateItems,
    lives: Lives,
    /// Since when a binding is gone that server processors may still know, or a class.
    stale_since: Mutex<Option<Instant>>,
    /// When a user without bindings may have paid what it owes. The thread's own.
    debts_paid: Mutex<Option<Instant>>,
    has_ended: AtomicBool,
}

/// Why a descriptor is watched.
#[derive(Clone)]
enum Watched {
    /// A clerk's socket.
    Importers(Arc<ClerkCore>),
    /// The socket of a binding that we serve.
    Importer(Arc<ServerBinding>),
    /// The socket of a binding that we imported; with [`DEATH`] in the token, the process at its
    /// other end.
    Exporter(Weak<ClientBinding>, Arc<Process>),
}

/// When something is to be looked after that there is not always any of.
#[derive(Default)]
struct Rounds {
    /// `None`: there was none.
    due: Option<Instant>,
}

/// A bind that is not complete.
struct UnderWay {
    handshake: Handshake,
    deadline: Instant,
}

impl Housekeeping {
    pub fn new() -> io::Result<Housekeeping> {
        let housekeeping = Housekeeping {
            poller: Poller::new().map_err(system("make an epoll set for housekeeping"))?,
            waker: Waker::new().map_err(system("make an eventfd that wakes housekeeping"))?,
            watched: Mutex::default(),
            handshakes: Mutex::default(),
            paused: Mutex::default(),
            again: Mutex::default(),
            unclaimed: Unclaimed::default(),
            concerned: Concerned::default(),
            late: LateItems::default(),
            lives: Lives::default(),
            stale_since: Mutex::default(),
            debts_paid: Mutex::default(),
            has_ended: AtomicBool::new(false),
        };
        let watched = housekeeping.poller.add(&housekeeping.waker, WAKER);
        watched.map_err(system("watch the eventfd that wakes housekeeping"))?;
        Ok(housekeeping)
    }

    /// What it waits with.
    pub fn poller(&self) -> &Poller {
        &self.poller
    }

    /// Ends the thread, and with it all that is watched.
    pub fn stop(&self) {
        // Relaxed: the wake follows, and the thread looks after it.
        self.has_ended.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Whether the thread has ended, or is about to.
    pub fn has_ended(&self) -> bool {
        // Relaxed: who has come to a lock of ours behind its last look sees what it saw.
        self.has_ended.load(Ordering::Relaxed)
    }

    /// A packet of this binding was read from its socket and is to be answered.
    pub fn attend_again(&self, token: u64) {
        self.again.lock().unwrap_or_else(PoisonError::into_inner).push(token);
        self.waker.wake();
    }

    fn take_again(&self) -> Vec<u64> {
        std::mem::take(&mut *self.again.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Watches for importers of a clerk.
    pub fn watch_clerk(&self, core: &DomainCore, clerk: &Arc<ClerkCore>) -> io::Result<u64> {
        let token = core.next_number();
        // Known first: the descriptor may be ready before `add` returns.
        self.watched().insert(token, Watched::Importers(Arc::clone(clerk)));
        let added = self.poller.add(clerk.listener(), token);
        added.map(|()| token).inspect_err(|_| self.forget_clerk(token))
    }

    /// Stops watching for importers.
    pub fn forget_clerk(&self, token: u64) {
        if let Some(Watched::Importers(clerk)) = self.take(token) {
            let _ = self.poller.remove(clerk.listener());
        }
    }

    /// Watches the server of a binding: its socket and its life.
    pub fn watch_exporter(&self, binding: &Arc<ClientBinding>) -> io::Result<()> {
        let (token, process) = (binding.token, Arc::clone(&binding.process));
        let entry = Watched::Exporter(Arc::downgrade(binding), process);
        self.watched().insert(token, entry);
        self.poller.add_hang_up(binding.control.socket(), token)?;
        self.poller.add(&*binding.process, token | DEATH)
    }

    /// Stops watching the server of a binding that is gone or is being dropped.
    pub fn forget_exporter(&self, gone: &ClientBinding) {
        self.take(gone.token);
        // What is refused has left the set already: so it is here and below.
        let _ = self.poller.remove(gone.control.socket());
        let _ = self.poller.remove(&*gone.process);
    }

    /// Watches a socket whose token nothing is known of yet.
    pub fn watch_socket(&self, socket: &Socket, token: u64) -> io::Result<()> {
        self.poller.add(socket, token)
    }

    /// Stops watching a socket that is over, whoever else has it open still.
    pub fn forget_socket(&self, socket: &Socket) {
        let _ = self.poller.remove(socket);
    }

    /// A binding that an importer has completed its half of. Its socket is watched already, and
    /// hangs up when the importer ends: its children have no part of it (`ClientBinding`).
    pub fn watch_importer(&self, binding: &Arc<ServerBinding>) {
        self.watched().insert(binding.token, Watched::Importer(Arc::clone(binding)));
        self.look_after_life(binding.token);
    }

    /// Forgets a binding that this domain served.
    fn forget_importer(&self, core: &DomainCore, gone: &ServerBinding) {
        core.processors.holding.note_gone(gone);
        core.table.remove(gone.key);
        holding::judge_again(core);
        self.stale_since().get_or_insert_with(Instant::now);
        core.introductions.forget(core, gone);
        gone.give_back();
        self.take(gone.token);
        self.forget_life(gone.token);
        let _ = self.poller.remove(&gone.socket);
    }

    /// A trust class may have lost its last member without having had a binding.
    pub fn look_after_classes(&self) {
        self.stale_since().get_or_insert_with(Instant::now);
        self.waker.wake();
    }

    /// Takes an entry out; whoever drops it does so outside of the lock.
    fn take(&self, token: u64) -> Option<Watched> {
        take_from(&mut self.watched(), token)
    }

    /// Stops watching everything.
    fn forget_all(&self) {
        let watched = std::mem::take(&mut *self.watched());
        for entry in watched.values() {
            let _ = match entry {
                Watched::Importers(clerk) => self.poller.remove(clerk.listener()),
                Watched::Importer(binding) => self.poller.remove(&binding.socket),
                Watched::Exporter(_, process) => self.poller.remove(&**process),
            };
        }
    }

    /// Answers what an importer has asked for, and pauses if its user has taken much of the time,
    /// or much that it sent has yet to be closed.
    fn attend_importer(&self, core: &DomainCore, binding: &Arc<ServerBinding>) -> bool {
        let begin_ns = clock::now_ns();
        let is_served = requests::attend(core, binding);
        let is_asked = binding.house.take_look();
        // Of a user that is held back nothing is begun, and its gate stays rung until it is let go.
        if is_asked && !core.processors.holding.holds(binding.class.user()) {
            core.processors.ask_to_look(binding);
        }
        let now_ns = clock::now_ns();
        let mut pace = binding.class.pace();
        pace.spend(now_ns - begin_ns + if is_asked { LOOK_NS } else { 0 }, now_ns);
        let mut pause_ns = pace.pause_ns(now_ns);
        drop(pace);
        if binding.is_behind() {
            pause_ns = pause_ns.max(BEHIND_NS);
        }
        if is_served && binding.has_queued() {
            self.attend_again(binding.token);
        }
        let leave = || self.poller.leave_packets(&binding.socket, binding.token);
        if is_served && pause_ns > 0 && leave().is_ok() {
            let until = Instant::now() + Duration::from_nanos(pause_ns);
            binding.house.set_paused(true);
            self.paused().push((until, Arc::clone(binding)));
        }
        is_served
    }

    /// Reads again from those whose pause is over. How long the next one lasts.
    fn end_pauses(&self) -> Option<Duration> {
        let now = Instant::now();
        let mut paused = self.paused();
        paused.retain(|(until, binding)| {
            // A binding that has gone meanwhile is watched no more.
            let is_over = *until <= now || !binding.state.is_open();
            if is_over && self.watched().contains_key(&binding.token) {
                binding.house.set_paused(false);
                let _ = self.poller.take_packets(&binding.socket, binding.token);
                if binding.has_queued() {
                    self.attend_again(binding.token);
                }
            }
            !is_over
        });
        paused.iter().map(|(until, _)| until.saturating_duration_since(now)).min()
    }

    fn paused(&self) -> MutexGuard<'_, Vec<(Instant, Arc<ServerBinding>)>> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the next handshake is over time.
    fn next_deadline(&self) -> Option<Duration> {
        let deadline = self.handshakes().values().map(|under_way| under_way.deadline).min();
        deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Ends handshakes that are over time.
    fn end_late_handshakes(&self) {
        let now = Instant::now();
        let is_late = |_: &u64, under_way: &mut UnderWay| under_way.deadline <= now;
        let late: Vec<_> = self.handshakes().extract_if(is_late).collect();
        for (_, under_way) in &late {
            // Whoever presented its socket may have kept a duplicate, which would stay in the set.
            let _ = self.poller.remove(under_way.handshake.socket());
        }
    }

    /// Has server processors that sleep let go of the bindings that have gone, many at once, and of
    /// the trust classes that have gone with them; and lets go of those whose users have paid what
    /// they owed. How long until it is time, if there is any.
    fn let_go_of_gone(&self, core: &DomainCore) -> Option<Duration> {
        let now = Instant::now();
        let gone = self.stale_since().map(|since| since + STALE_TIME);
        let due = gone.into_iter().chain(*self.debts_paid()).min()?;
        if due > now {
            return Some(due - now);
        }
        let owed = core.end_empty_classes();
        // Whoever was held back for others' sake may be alone now.
        holding::judge_again(core);
        let owed = owed.map(|owed| owed.clamp(STALE_TIME, DEBTS_LOOK_MAX));
        *self.debts_paid() = owed.map(|owed| now + owed);
        let left = gone.filter(|gone| *gone > now);
        if gone.is_some() && left.is_none() {
            *self.stale_since() = None;
            core.processors.announce();
        }
        left.map(|left| left - now).into_iter().chain(owed).min()
    }

    fn debts_paid(&self) -> MutexGuard<'_, Option<Instant>> {
        self.debts_paid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stale_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.stale_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<u64, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handshakes(&self) -> MutexGuard<'_, HashMap<u64, UnderWay>> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rounds {
    /// Has it looked after every `slice` while there is some: `look` is to say whether some is
    /// left. How long until the next time.
    fn look_after(
        &mut self,
        slice: Duration,
        has_some: impl FnOnce() -> bool,
        look: impl FnOnce() -> bool,
    ) -> Option<Duration> {
        let now = Instant::now();
        let is_left = match self.due {
            None => has_some(),
            Some(due) if due <= now => look(),
            Some(due) => return Some(due - now),
        };
        self.due = is_left.then(|| now + slice);
        is_left.then_some(slice)
    }
}

/// Takes an entry out of a table, which gives its memory back when it has become much too large:
/// thousands of clients that have gone are no reason to keep it.
fn take_from<T>(table: &mut HashMap<u64, T>, token: u64) -> Option<T> {
    let taken = table.remove(&token);
    if table.len() < table.capacity() / SPARSE_SHARE {
        table.shrink_to(2 * table.len());
    }
    taken
}

impl Watched {
    /// The binding that we imported, if that is what is watched.
    fn exporter(&self) -> Option<Arc<ClientBinding>> {
        match self {
            Watched::Exporter(binding, _) => binding.upgrade(),
            _ => None,
        }
    }
}

/// The life of the thread.
fn keep(core: &Arc<DomainCore>) {
    let house = &core.housekeeping;
    let mut ready = Vec::new();
    let mut captures = Captures::default();
    let [mut posted, mut cancelled, mut lives] = [(); 3].map(|()| Rounds::default());
    // Relaxed: see `stop`.
    while !house.has_ended() {
        // First: what it ends is let go of below.
        let until_ended = house.look_for_ended(core, &mut lives);
        let until_unclaimed = [captures.look_after(house), house.look_for_posted(&mut posted)];
        let until_cancelled = house.look_for_cancelled(&mut cancelled);
        let until_unpaused = house.end_pauses();
        let until_gone = house.let_go_of_gone(core);
        let until_late = [house.next_deadline(), core.introductions.next_deadline()];
        let untils = [until_unpaused, until_gone, until_cancelled, until_ended];
        let untils = untils.into_iter().chain(until_late).chain(until_unclaimed);
        let timeout = untils.flatten().min();
        if let Err(error) = house.poller.wait(&mut ready, timeout) {
            tracing::error!(%error, "housekeeping cannot wait");
            std::thread::sleep(POLLER_PAUSE);
        }
        if ready.iter().any(|ready| ready.token != WAKER) {
            house.note_stirred();
        }
        for ready in &ready {
            if ready.token == WAKER {
                house.waker.drain();
                for token in house.take_again() {
                    attend(core, Ready { token, is_readable: true, is_hung_up: false });
                }
            } else if ready.token == TIMER {
                house.send_late_items(core);
            } else {
                attend(core, *ready);
            }
        }
        house.end_late_handshakes();
        core.introductions.end_late(core);
    }
}

/// One descriptor is ready.
fn attend(core: &Arc<DomainCore>, ready: Ready) {
    let house = &core.housekeeping;
    let is_death = ready.token & DEATH != 0;
    let entry = house.watched().get(&(ready.token & !DEATH)).cloned();
    match entry {
        Some(Watched::Importers(clerk)) => accept(core, &clerk),
        Some(Watched::Importer(binding)) => {
            // In its pause nothing is read of it, and its end is noticed all the same.
            let is_served = binding.house.is_paused() || house.attend_importer(core, &binding);
            if !is_served || ready.is_hung_up {
                end_served(core, &binding);
            }
        }
        Some(Watched::Exporter(binding, _)) => {
            // One that is being dropped is forgotten by whoever drops it.
            if let Some(binding) = binding.upgrade() {
                house.forget_exporter(&binding);
                binding.revoke(match is_death {
                    true => RevokeReason::PeerDied,
                    false => RevokeReason::PeerHungUp,
                });
            }
        }
        None => step_handshake(core, ready.token),
    }
}

/// Lets importers in, as many as may be under way: half-open binds must not pile up (as in
/// CVE-2014-3639).
fn accept(core: &Arc<DomainCore>, clerk: &Arc<ClerkCore>) {
    for _ in 0..BATCH {
        let accepted = match core.quotas.has_no_descriptor() {
            // Whoever is refused may leave a socket that waits to be closed: none over that.
            true => Err("descriptors of importers wait to be closed".to_owned()),
            false => clerk.listener().accept().map_err(|error| error.to_string()),
        };
        let stream = match accepted {
            Ok(Some(stream)) => stream,
            Ok(None) => return,
            Err(error) => {
                // It may be so for long, and not by the importer's doing.
                if let Some(unsaid) = core.audit.may_warn(Cause::Client, None) {
                    tracing::warn!(%error, unsaid, "an importer was not let in");
                }
                // Descriptors may have run out: the next try must not come at once.
                std::thread::sleep(Duration::from_millis(1));
                return;
            }
        };
        let Some(handshake) = Handshake::begin(core, Arc::clone(clerk), stream) else {
            continue;
        };
        begin(core, handshake);
    }
}

/// A bind begins.
fn begin(core: &Arc<DomainCore>, handshake: Handshake) {
    if core.housekeeping.watch_socket(handshake.socket(), handshake.token()).is_ok() {
        let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
        // Mostly it has said already what it wants.
        step(core, UnderWay { handshake, deadline });
    }
}

/// An importer has said what it wants, or whoever was introduced has come; or they have gone.
fn step_handshake(core: &Arc<DomainCore>, token: u64) {
    let under_way = core.housekeeping.handshakes().remove(&token);
    if let Some(under_way) = under_way {
        step(core, under_way);
    } else if let Some(handshake) = core.introductions.attend(core, token) {
        begin(core, handshake);
    }
}

fn step(core: &Arc<DomainCore>, UnderWay { handshake, deadline }: UnderWay) {
    let house = &core.housekeeping;
    match handshake.step(core) {
        Progress::Waits(handshake) => {
            house.handshakes().insert(handshake.token(), UnderWay { handshake, deadline });
        }
        Progress::Over(socket) => {
            let _ = house.poller.remove(&socket);
        }
        Progress::Bound => {}
    }
}

/// An importer has gone: nothing more is taken from it, what runs is left to finish (L51, L54).
fn end_served(core: &Arc<DomainCore>, binding: &Arc<ServerBinding>) {
    let reason = match binding.importer.has_ended() {
        true => RevokeReason::PeerDied,
        false => RevokeReason::PeerHungUp,
    };
    binding.revoke(reason);
    core.housekeeping.forget_importer(core, binding);
}

impl fmt::Debug for Housekeeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Housekeeping").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_back_what_thousands_have_needed() {
        let mut table: HashMap<u64, u64> = (0..4_000).map(|token| (token, token)).collect();
        let most = table.capacity();
        for token in 0..3_990 {
            assert_eq!(take_from(&mut table, token), Some(token));
        }
        assert_eq!(take_from(&mut table, 0), None);
        assert!(table.capacity() < most / 50, "{} of {most}", table.capacity());
        assert!((3_990..4_000).all(|token| table.contains_key(&token)));
    }
}
