//! A server that has no room, and a client that was refused.

use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::room::{NoRoom, look, tell};
use crate::sync::AtomicU32;
use crate::world::explore;

/// What the runtime keeps under one lock: whether the room is taken, and whether its client was
/// refused since anything was given back.
#[derive(Default)]
struct Pool {
    is_taken: bool,
    has_refused: bool,
}

/// Who was refused asks again, once what it was refused for has been given back.
pub fn refuse_against_give_back() {
    explore(3, || {
        let pool = Pool { is_taken: true, has_refused: false };
        let shared = Arc::new((Mutex::new(pool), AtomicU32::new(0)));
        let giver = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (pool, room) = &*shared;
                let mut pool = pool.lock().unwrap();
                pool.is_taken = false;
                let was_refused = core::mem::take(&mut pool.has_refused);
                drop(pool);
                if was_refused {
                    tell(room);
                }
            })
        };
        let (pool, room) = &*shared;
        let asked_at = look(room);
        let is_refused = {
            let mut pool = pool.lock().unwrap();
            pool.has_refused |= pool.is_taken;
            pool.is_taken
        };
        let mut known = NoRoom::default();
        if is_refused {
            known.note(asked_at, 1);
        }
        giver.join().unwrap();
        assert!(!known.is_known(look(room), 1), "refused for ever");
    });
}
