//! Free A-stacks: none is given to two threads, and nobody waits for one that is free.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::Arc;
use loom::thread;

use crate::astack_list::{AStackLists, Claimer, Waiting};
use crate::sync::AtomicU32;
use crate::world::{Futex, explore};

struct Client {
    lists: AStackLists,
    waiters: Futex,
    /// How often each A-stack was used, counted by whoever has it, without an order of its own.
    uses: [AtomicU32; 2],
}

impl Client {
    fn new(astack_count: u32) -> Arc<Client> {
        let lists = AStackLists::new(1, astack_count);
        for index in 0..astack_count {
            assert_eq!(lists.push(0, index), Waiting::NOBODY);
        }
        let uses = [AtomicU32::new(0), AtomicU32::new(0)];
        Arc::new(Client { lists, waiters: Futex::new(), uses })
    }

    fn claim(&self) -> u32 {
        let mut has_slept = false;
        loop {
            if let Some(index) = self.lists.pop(0) {
                if has_slept {
                    self.pass_wake_on();
                }
                return index;
            }
            if let Some(expected) = self.lists.prepare_wait(0, Claimer::Thread) {
                self.waiters.wait(self.lists.wakes(0), expected);
                has_slept = true;
            }
        }
    }

    fn pass_wake_on(&self) {
        if self.lists.pass_on(0, Claimer::Thread) {
            self.waiters.wake_first();
        }
    }

    fn release(&self, index: u32) {
        if self.lists.push(0, index).threads {
            self.waiters.wake_first();
        }
    }

    fn use_once(&self, index: u32) {
        let uses = &self.uses[index as usize];
        uses.store(uses.load(Relaxed) + 1, Relaxed);
    }

    fn claim_use_release(&self) {
        let index = self.claim();
        self.use_once(index);
        self.release(index);
    }

    fn uses(&self) -> u32 {
        self.uses[0].load(Relaxed) + self.uses[1].load(Relaxed)
    }
}

/// Two threads share the only A-stack, waiting for it by turns.
pub fn one_astack_two_threads() {
    explore(3, || {
        let client = Client::new(1);
        let other = {
            let client = Arc::clone(&client);
            thread::spawn(move || client.claim_use_release())
        };
        client.claim_use_release();
        other.join().unwrap();
        assert_eq!(client.uses(), 2);
    });
}

/// One thread is between load and compare-and-swap while the other one takes both A-stacks and
/// gives back the first: the tag tells.
pub fn two_astacks_two_threads() {
    explore(2, || {
        let client = Client::new(2);
        let other = {
            let client = Arc::clone(&client);
            thread::spawn(move || client.claim_use_release())
        };
        let (first, second) = (client.lists.pop(0), client.lists.pop(0));
        assert!(first.is_none() || first != second);
        let taken: Vec<_> = first.into_iter().chain(second).collect();
        for &index in &taken {
            client.use_once(index);
        }
        for &index in &taken {
            client.release(index);
        }
        other.join().unwrap();
        assert_eq!(client.uses(), 1 + taken.len() as u32);
        let left = [client.lists.pop(0), client.lists.pop(0), client.lists.pop(0)];
        assert!(left[0].is_some() && left[1].is_some() && left[0] != left[1]);
        assert_eq!(left[2], None);
    });
}

/// Two threads wait, or are about to, while both A-stacks are given back.
pub fn wait_against_push() {
    explore(2, || {
        let client = Client::new(2);
        let taken = [client.claim(), client.claim()];
        let waiter = || {
            let client = Arc::clone(&client);
            thread::spawn(move || {
                let index = client.claim();
                client.use_once(index);
            })
        };
        let waiters = [waiter(), waiter()];
        for index in taken {
            client.use_once(index);
            client.release(index);
        }
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert_eq!(client.uses(), 4);
    });
}

/// A thread that was woken wants no A-stack any more, and another one waits behind it.
pub fn give_up_against_push() {
    explore(2, || {
        let client = Client::new(1);
        let taken = client.claim();
        let gives_up = {
            let client = Arc::clone(&client);
            thread::spawn(move || {
                if let Some(expected) = client.lists.prepare_wait(0, Claimer::Thread) {
                    client.waiters.wait(client.lists.wakes(0), expected);
                    client.pass_wake_on();
                }
            })
        };
        let waiter = {
            let client = Arc::clone(&client);
            thread::spawn(move || client.claim_use_release())
        };
        client.use_once(taken);
        client.release(taken);
        gives_up.join().unwrap();
        waiter.join().unwrap();
        assert_eq!(client.uses(), 2);
    });
}
