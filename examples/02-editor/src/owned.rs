//! What a server has for its clients: each thing under a number that means something to the client
//! that has it and to no other.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use nearcall::Importer;

/// Most things that all clients together have.
const COUNT_MAX: usize = 64;

/// Things by their numbers.
#[derive(Debug)]
pub struct Owned<T> {
    things: BTreeMap<u32, (Weak<Importer>, T)>,
    last: u32,
}

impl<T> Default for Owned<T> {
    fn default() -> Owned<T> {
        Owned { things: BTreeMap::new(), last: 0 }
    }
}

/// Whoever made the call that this thread runs. Lives no longer than its binding.
fn client() -> Weak<Importer> {
    nearcall::current_call().map_or_else(Weak::new, |call| Arc::downgrade(call.importer()))
}

impl<T> Owned<T> {
    /// Takes one in for the client that calls. What clients had that are gone is dropped.
    pub fn insert(&mut self, thing: T) -> Result<u32, String> {
        self.things.retain(|_, (owner, _)| owner.strong_count() > 0);
        if self.things.len() >= COUNT_MAX {
            return Err(format!("{COUNT_MAX} are open, the most there may be"));
        }
        let free = |number: &u32| !self.things.contains_key(number);
        let number = (1..).map(|step| self.last.wrapping_add(step)).find(free);
        let number = number.expect("fewer than all numbers are taken");
        self.last = number;
        self.things.insert(number, (client(), thing));
        Ok(number)
    }

    /// The one of this number, of the client that calls.
    pub fn find(&mut self, number: u32) -> Result<&mut T, String> {
        match self.things.get_mut(&number) {
            Some((owner, thing)) if owner.ptr_eq(&client()) => Ok(thing),
            _ => Err(format!("this client has no number {number} open")),
        }
    }

    /// Takes it out.
    pub fn remove(&mut self, number: u32) -> Result<T, String> {
        self.find(number)?;
        Ok(self.things.remove(&number).expect("it was found").1)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.values().map(|(_, thing)| thing)
    }
}
