//! Arguments that are copied by both sides at once.

use core::sync::atomic::Ordering::Relaxed;

use loom::sync::Arc;
use loom::thread;

use crate::progress::{advance, look};
use crate::sync::AtomicU32;
use crate::world::explore;

/// The server copies behind the client: what it is told is there, is there.
pub fn copy_behind_copy() {
    explore(3, || {
        let shared = Arc::new([0; 3].map(AtomicU32::new));
        let client = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let [progress, bytes @ ..] = &*shared;
                for (there, byte) in (1..).zip(bytes) {
                    byte.store(there, Relaxed);
                    advance(progress, there);
                }
            })
        };
        let [progress, bytes @ ..] = &*shared;
        let mut seen = 0;
        while seen < 2 {
            let there = look(progress, seen, 2).unwrap();
            for at in seen..there {
                assert_eq!(bytes[at as usize].load(Relaxed), at + 1);
            }
            if there == seen {
                thread::yield_now();
            }
            seen = there;
        }
        client.join().unwrap();
    });
}
