//! A processor that sleeps: on its inbox, and on what its threads await from outside.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use super::{Processor, SLEEP_MAX};
use crate::awaited::{Enders, Word};
use crate::kernel;
use crate::place::Place;
use crate::report::Waited;
use crate::thread::Thread;

/// A processor that has slept for so long gives all stacks back to the system that it does not
/// keep, before that one for each time that it sleeps: between two replies more would cost each
/// thread that ends a system call, and the next one a page.
const IDLES_FROM: Duration = Duration::from_millis(5);

impl Processor {
    /// Has `sleep` sleep until something is in the inbox or another processor has more than it can
    /// begin, at most so long. May wake for nothing.
    pub(super) fn sleep(&self, longest: Duration, sleep: impl FnOnce(Word<'_>, Duration)) {
        let Place { team, at } = self.place;
        let inbox = &self.place.member().inbox;
        if !self.has_idled.take() {
            self.stacks.trim_one(self.running.get());
        } else {
            while self.stacks.trim(self.running.get()) {
                if inbox.has_some() {
                    return;
                }
            }
        }
        // It wakes to give back what there is.
        let has_touched = self.stacks.has_touched();
        let longest = if has_touched { longest.min(IDLES_FROM) } else { longest };
        if !team.fall_asleep(at.into()) {
            return;
        }
        let rests = self.awaited.is_empty() && !self.waits_outside();
        if rests && team.rest() {
            self.place.wake_all();
        } else if !team.has_plenty_for(at.into())
            && let Some(expected) = inbox.prepare_wait()
        {
            let left = |until: Instant| until.saturating_duration_since(kernel::now());
            let left = self.sleepers.next().map_or(longest, left);
            let since = has_touched.then(kernel::now);
            let word = Word { word: inbox.wakes(), expected, is_own: true };
            let sleep = || sleep(word, left.min(longest));
            if self.is_alone() {
                self.watched.sleep(sleep)
            } else {
                sleep()
            }
            let slept = |since| kernel::now().saturating_duration_since(since);
            self.has_idled.set(since.is_some_and(|since| slept(since) >= IDLES_FROM));
        }
        team.wake_up(at.into(), rests);
    }

    /// Makes those ready whose time has come, unless somebody else has made them so.
    pub(super) fn wake_late(&self) {
        let now = kernel::now();
        while let Some(thread) = self.sleepers.pop(now) {
            let be_late = |waited: NonNull<dyn Waited>| {
                // SAFETY: the thread borrows what it waits for, on its own stack, until it goes on,
                // and it does so on this processor.
                unsafe { waited.as_ref() }.be_late(self, thread)
            };
            if thread.waits_for.get().is_some_and(be_late) {
                self.ready.push(thread);
            }
        }
    }

    /// See [`Idle::sleep`].
    pub fn sleep_for_awaited(
        &self,
        enders: Enders,
        sleep: impl FnOnce(&[Word<'_>], Duration) -> bool,
    ) -> bool {
        let mut is_late = false;
        let longest = self.awaited.look_again_in().unwrap_or(SLEEP_MAX);
        self.sleep(longest, |inbox, left| {
            is_late = self.sleep_on(enders, inbox, |words| sleep(words, left));
        });
        self.awaited.sweep(usize::MAX, |thread| self.wake_awaiting(thread));
        is_late
    }

    /// Has `sleep` sleep on the inbox and on what is awaited, unless some of it is there.
    fn sleep_on(
        &self,
        enders: Enders,
        inbox: Word<'_>,
        sleep: impl FnOnce(&[Word<'_>]) -> bool,
    ) -> bool {
        let threads = self.awaited.enders(enders);
        let fall_asleep = |thread: &&'static Thread| thread.awaited()?.fall_asleep();
        let mut words = vec![inbox];
        words.extend(threads.iter().map_while(fall_asleep));
        let asleep = words.len() - 1;
        let is_late = asleep == threads.len() && sleep(&words);
        for awaited in threads[..asleep].iter().filter_map(|thread| thread.awaited()) {
            awaited.wake_up(is_late);
        }
        is_late
    }

    /// See [`crate::Host::sleep`].
    pub fn sleep_hosted(
        &self,
        words_max: usize,
        sleep: impl FnOnce(&[Word<'_>], Option<Duration>) -> bool,
    ) {
        let inbox = &self.place.member().inbox;
        while self.stacks.trim(self.root) {
            if inbox.has_some() {
                return;
            }
        }
        if !inbox.fall_asleep() {
            return;
        }
        if let Some(expected) = inbox.prepare_wait() {
            let left = |until: Instant| until.saturating_duration_since(kernel::now());
            let left = self.sleepers.next().map(left);
            let left = left.into_iter().chain(self.awaited.look_again_in()).min();
            let word = Word { word: inbox.wakes(), expected, is_own: true };
            self.sleep_on(Enders::Oldest(words_max - 1), word, |words| sleep(words, left));
        }
        inbox.wake_up();
    }
}
