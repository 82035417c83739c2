//! The server of talking.idl in Rust, which the tests of C, C++ and Python call.

use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use nearcall::{Inlet, NotPut, Outlet};

use crate::said::talking::*;

/// Each exchange on a thread of its own.
#[derive(Debug, Default)]
pub struct Talker {
    counts: Arc<Counts>,
    kept: Mutex<Vec<(Inlet<String>, Outlet<String>)>>,
}

#[derive(Debug, Default)]
struct Counts {
    alive: AtomicI32,
    given_up: AtomicU32,
    moved: AtomicU32,
}

impl Talker {
    fn spawn(&self, work: impl FnOnce(&Counts) -> Result<(), NotPut> + Send + 'static) {
        let counts = Arc::clone(&self.counts);
        counts.alive.fetch_add(2, SeqCst);
        std::thread::spawn(move || {
            if work(&counts).is_err() {
                counts.given_up.fetch_add(1, SeqCst);
            }
            counts.alive.fetch_sub(2, SeqCst);
        });
    }
}

fn refused(code: i32) -> TalkingTalkException {
    Refused { code, why: "not that".to_owned() }.into()
}

impl TalkingServer for Talker {
    fn talk(
        &self,
        room: &str,
        refused_number: u32,
        inlet: Inlet<Line>,
        mut outlet: Outlet<Line, TalkingTalkException>,
    ) -> Result<(), TalkingTalkException> {
        if room.is_empty() {
            return Err(refused(-1));
        }
        let room = room.to_owned();
        self.spawn(move |_| {
            for line in inlet {
                let Line { number, text } = line?;
                if number == refused_number {
                    if room == "last words" {
                        std::process::exit(0);
                    }
                    outlet.raise(refused(number as i32));
                    return Ok(());
                }
                outlet.put(Line { number, text: format!("{room}{text}") })?;
            }
            outlet.end();
            Ok(())
        });
        Ok(())
    }

    fn echo(&self, inlet: Inlet<String>, mut outlet: Outlet<String>) {
        self.spawn(move |_| {
            for word in inlet {
                outlet.put(word?)?;
            }
            outlet.end();
            Ok(())
        });
    }

    fn kept(&self, inlet: Inlet<String>, outlet: Outlet<String>) {
        self.counts.alive.fetch_add(2, SeqCst);
        self.kept.lock().expect("nobody panics with it").push((inlet, outlet));
    }

    fn sums(&self, inlet: Inlet<u32>, mut outlet: Outlet<u64>) {
        self.spawn(move |_| {
            let mut sum = 0;
            for number in inlet {
                sum += u64::from(number?);
                outlet.put(sum)?;
            }
            outlet.end();
            Ok(())
        });
    }

    fn deaf(&self, count: u32, inlet: Inlet<u8>, mut outlet: Outlet<u32>) {
        drop(inlet);
        self.spawn(move |counts| {
            for number in 0..count {
                outlet.put(number)?;
                counts.moved.fetch_add(1, SeqCst);
            }
            outlet.end();
            Ok(())
        });
    }

    fn mute(&self, count: u32, inlet: Inlet<u32>, outlet: Outlet<u8>) {
        self.spawn(move |counts| {
            for (number, at) in inlet.take(count as usize).zip(0..) {
                assert_eq!(number?, at);
                counts.moved.fetch_add(1, SeqCst);
            }
            outlet.end();
            Ok(())
        });
    }

    fn let_go(&self) -> u32 {
        let kept = std::mem::take(&mut *self.kept.lock().expect("nobody panics with it"));
        self.counts.alive.fetch_sub(2 * kept.len() as i32, SeqCst);
        kept.into_iter().map(|(_, outlet)| outlet.end()).count() as u32
    }

    fn alive(&self) -> i32 {
        self.counts.alive.load(SeqCst)
    }

    fn given_up(&self) -> u32 {
        self.counts.given_up.load(SeqCst)
    }

    fn moved(&self) -> u32 {
        self.counts.moved.load(SeqCst)
    }
}
