//! A watch that several bindings share: what a pass finds of theirs, and whom it serves (L35, L36;
//! design note 0024).

use std::sync::Arc;

use nearcall_core::fairness::user_quantum_ns;
use nearcall_core::quota::User;
use nearcall_core::turn::Look;
use nearcall_core::{Priority, Sequence};
use nearcall_os::{HeadWords, clock};

use super::Watch;
use super::hot::{Hot, PASS_NS_MAX, act_otherwise};
use super::tallies::Tally;
use crate::server::binding::ServerBinding;

/// Calls of one binding that a pass finds of what is owed: it would not serve more, and whoever has
/// posted ten thousand is not to have the others wait while they are counted.
const OWED_FOUND_MAX: usize = 64;

/// The same of all bindings together, of which each has some found: where there are hundreds, it is
/// they who would have the others wait.
const ALL_OWED_FOUND_MAX: usize = 1024;
const OWED_FOUND_MIN: usize = 2;

/// A binding that has calls posted which nobody rings for again.
#[derive(Debug)]
pub(super) struct Owed {
    binding: Arc<ServerBinding>,
    /// Behind the A-stack that was served last: the next look begins there.
    next: u32,
}

/// A call that a pass has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub place: Place,
    pub index: u32,
    pub call: (Sequence, HeadWords),
    /// Of its binding.
    pub key: u64,
    /// None before it is of the same binding.
    is_first: bool,
}

/// Where its binding is known from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Hot(usize),
    Tallied(usize),
    Owed(usize),
}

impl Watch<'_> {
    /// The binding has more posted than the call that it rang for, or is not the only one that
    /// rang: passes serve it.
    #[cold]
    #[inline(never)]
    pub(super) fn owe(&mut self, binding: &Arc<ServerBinding>) {
        if !self.owed.iter().any(|owed| Arc::ptr_eq(&owed.binding, binding)) {
            self.owed.push(Owed { binding: Arc::clone(binding), next: 0 });
        }
    }

    /// Serves what is owed, all of it: the watch is over, and nobody rings for it again.
    pub(super) fn serve_owed(&mut self) {
        for Owed { binding, .. } in std::mem::take(&mut self.owed) {
            for index in 0..binding.astack_count() {
                if self.holds(&binding) {
                    break;
                }
                self.look_at_one(&binding, index);
            }
        }
    }

    /// Whether calls of several bindings may be found at once, or some are owed.
    #[inline]
    pub(super) fn has_to_share(&self) -> bool {
        self.is_shared || self.is_slow || !self.owed.is_empty()
    }

    /// What is polled has changed.
    pub(super) fn note_sharing(&mut self) {
        let hot = self.hot.iter().map(Hot::binding);
        let mut bindings = hot.chain(self.tallies.iter().map(Tally::binding));
        let first = bindings.next();
        self.is_shared = first.is_some_and(|first| bindings.any(|one| !Arc::ptr_eq(one, first)));
    }

    /// One look at what is hot, at what tallies name and at what is owed. True if a call was run.
    #[inline(never)]
    pub(super) fn pass(&mut self) -> bool {
        let begin = clock::ticks();
        let mut found = std::mem::take(&mut self.found);
        self.find_hot(&mut found);
        self.find_tallied(&mut found);
        self.find_owed(&mut found);
        let first = self.turn % found.len().max(1);
        found.rotate_left(first);
        self.hands_over = self.is_to_hand_over(found.len());
        let is_contended = found.iter().any(|each| each.key != found[0].key);
        let has_served = if is_contended {
            // Of one binding's calls none is always the last.
            self.turn = self.turn.wrapping_add(1);
            self.serve_fairly(&found, clock::ns_since(begin))
        } else {
            self.serve_alone(&found)
        };
        found.clear();
        self.found = found;
        self.end_handing_over();
        if self.is_slow {
            self.weigh_handing(true);
        }
        has_served
    }

    /// Serves calls of one binding for a while; what that leaves is found again.
    fn serve_alone(&mut self, found: &[Found]) -> bool {
        if !found.is_empty() {
            self.rounds.iter_mut().for_each(|rounds| rounds.forgive(clock::ticks));
        }
        let is_timed = found.len() > 1 && !self.hands_over;
        let begin = if is_timed { clock::ticks() } else { 0 };
        let first = std::mem::take(&mut self.turn);
        let mut has_served = false;
        for (count, each) in (1..).zip(found) {
            has_served |= self.serve(each);
            if is_timed && clock::ns_since(begin) > PASS_NS_MAX {
                // The next one goes on behind it. What is owed does so by itself.
                if let Place::Hot(_) | Place::Tallied(_) = each.place {
                    self.turn = first.wrapping_add(count);
                }
                break;
            }
        }
        has_served
    }

    fn find_hot(&mut self, found: &mut Vec<Found>) {
        for (at, hot) in self.hot.iter().enumerate() {
            match hot.look() {
                (Look::Nothing, _) => {}
                (Look::Posted(sequence), words) => {
                    // Its line has to come again for the reply, with those of the others.
                    hot.ask_to_write();
                    let call = (sequence, words);
                    find(found, Place::Hot(at), (hot.binding(), hot.index), call);
                }
                (look, _) => act_otherwise(hot.binding(), hot.index, look),
            }
        }
    }

    fn find_tallied(&mut self, found: &mut Vec<Found>) {
        for at in 0..self.tallies.len() {
            let binding = Arc::clone(self.tallies[at].binding());
            for index in self.tallies[at].posted_indices() {
                match binding.look(index) {
                    (Look::Posted(sequence), words) => {
                        self.tallies[at].ask_to_write(index);
                        find(found, Place::Tallied(at), (&binding, index), (sequence, words));
                    }
                    (look, _) => self.act_on_tallied(at, index, look),
                }
            }
        }
    }

    fn find_owed(&mut self, found: &mut Vec<Found>) {
        let (mut at, hot_count) = (0, found.len());
        let found_max = ALL_OWED_FOUND_MAX / self.owed.len().max(1);
        let found_max = found_max.clamp(OWED_FOUND_MIN, OWED_FOUND_MAX);
        while at < self.owed.len() {
            if self.find_owed_at(at, (hot_count, found_max), found) {
                at += 1;
            } else {
                self.owed.swap_remove(at);
            }
        }
    }

    /// Looks at one binding's A-stacks, of which some may be hot by now and found, until so many
    /// have calls. True if there are calls beside those.
    fn find_owed_at(
        &self,
        at: usize,
        (hot_count, found_max): (usize, usize),
        found: &mut Vec<Found>,
    ) -> bool {
        let (Owed { binding, next }, before) = (&self.owed[at], found.len());
        let key = binding.key;
        let has_hot = found[..hot_count].iter().any(|hot| hot.key == key);
        for index in (*next..binding.astack_count()).chain(0..*next) {
            match binding.look(index) {
                (Look::Nothing, _) => {}
                (Look::Posted(sequence), words) => {
                    let is_it = |hot: &Found| hot.key == key && hot.index == index;
                    if has_hot && found[..hot_count].iter().any(is_it) {
                        continue;
                    }
                    if self.processors.backlog.has(key, index) {
                        continue;
                    }
                    let is_first = !has_hot && found.len() == before;
                    let call = (sequence, words);
                    found.push(Found { place: Place::Owed(at), index, call, key, is_first });
                    if found.len() - before == found_max {
                        break;
                    }
                }
                (look, _) => act_otherwise(binding, index, look),
            }
        }
        found.len() > before
    }

    /// The more urgent first, and of equals none more than its share of this round, which is the
    /// longer the longer it took to find them.
    fn serve_fairly(&mut self, found: &[Found], found_ns: u64) -> bool {
        let is_for_all = self.passes.is_for_all();
        let mut users = std::mem::take(&mut self.users);
        self.count_users(found, &mut users);
        let binding_count = users.iter().map(|user| user.1).sum();
        let whole_ns = user_quantum_ns(found_ns, users.len(), binding_count);
        let mut has_served = false;
        for priority in Priority::ALL {
            let quanta = found.iter().filter_map(|each| {
                let binding = self.binding(each).filter(|binding| binding.priority == priority)?;
                each.is_first.then(|| (&binding.deficit, quantum_ns(whole_ns, &users, binding)))
            });
            let mut rounds = self.rounds[priority as usize];
            rounds.begin(quanta);
            self.rounds[priority as usize] = rounds;
            for each in found {
                has_served |= self.serve_share(each, priority, (whole_ns, &users));
            }
            if has_served && !is_for_all {
                break;
            }
        }
        if self.hands_over {
            self.fill_up(found);
        }
        users.clear();
        self.users = users;
        has_served
    }

    /// Serves a call of this priority if its binding has something left.
    fn serve_share(
        &mut self,
        each: &Found,
        priority: Priority,
        (whole_ns, users): (u32, &[(User, u32)]),
    ) -> bool {
        let Some(binding) = self.binding(each).filter(|binding| binding.priority == priority)
        else {
            return false;
        };
        let quantum_ns = quantum_ns(whole_ns, users, binding);
        if !self.rounds[priority as usize].admit(&binding.deficit, quantum_ns) {
            return false;
        }
        let begin = clock::ticks();
        let has_served = self.serve(each);
        if let Some(binding) = self.binding(each) {
            // Of what was handed over it is not known yet.
            let later_ns = if self.hands_over { self.processors.backlog.run_ns() } else { 0 };
            binding.deficit.charge(clock::ns_since(begin) + u64::from(later_ns));
        }
        has_served
    }

    /// The next look at what is owed there begins behind this A-stack.
    pub(super) fn note_owed_served(&mut self, at: usize, index: u32) {
        self.owed[at].next = index + 1;
    }

    /// How many bindings each user has among those found.
    fn count_users(&self, found: &[Found], users: &mut Vec<(User, u32)>) {
        for first in found.iter().filter(|each| each.is_first) {
            let Some(binding) = self.binding(first) else {
                continue;
            };
            let user = binding.class.user();
            match users.iter_mut().find(|known| known.0 == user) {
                Some(known) => known.1 += 1,
                None => users.push((user, 1)),
            }
        }
    }

    #[inline]
    pub(super) fn binding(&self, found: &Found) -> Option<&Arc<ServerBinding>> {
        match found.place {
            // What is hot changes while calls are served, and whoever lets one go looks at it.
            Place::Hot(at) => {
                let hot = self.hot.get(at)?;
                (hot.binding().key == found.key && hot.index == found.index).then(|| hot.binding())
            }
            Place::Tallied(at) => {
                let tally = self.tallies.get(at)?;
                let is_it = tally.binding().key == found.key && tally.watches(found.index);
                is_it.then(|| tally.binding())
            }
            Place::Owed(at) => self.owed.get(at).map(|owed| &owed.binding),
        }
    }

    #[inline]
    fn serve(&mut self, found: &Found) -> bool {
        if self.hands_over {
            return self.hand_over(found);
        }
        self.serve_here(found)
    }

    #[inline]
    pub(super) fn serve_here(&mut self, found: &Found) -> bool {
        match (found.place, self.binding(found)) {
            (_, None) => false,
            (Place::Hot(at), Some(_)) => self.serve_hot(at, found.call),
            (Place::Tallied(at), Some(_)) => self.serve_tallied(at, found.index, found.call),
            (Place::Owed(at), Some(binding)) => {
                let binding = Arc::clone(binding);
                self.note_owed_served(at, found.index);
                let (sequence, words) = found.call;
                self.act(&binding, found.index, (Look::Posted(sequence), words))
            }
        }
    }
}

/// A call was found on an A-stack of a binding.
fn find(
    found: &mut Vec<Found>,
    place: Place,
    (binding, index): (&ServerBinding, u32),
    call: (Sequence, HeadWords),
) {
    let key = binding.key;
    let is_first = !found.iter().any(|before| before.key == key);
    found.push(Found { place, index, call, key, is_first });
}

/// What a binding has a round of which a user has so long, where as many bindings of each user want
/// something.
fn quantum_ns(whole_ns: u32, users: &[(User, u32)], binding: &ServerBinding) -> u32 {
    let known = users.iter().find(|known| known.0 == binding.class.user());
    (whole_ns / known.map_or(1, |known| known.1)).max(1)
}
