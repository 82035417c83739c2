//! The server of exchanges: feeds that go both ways.

use std::path::Path;
use std::sync::atomic::AtomicU32;
// SeqCst: the tests compare what several threads counted.
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use nearcall::name::Scope;
use nearcall::{Clerk, Domain, ExportError, ExportOptions, Inlet, NotPut, Outlet};

use crate::exchanges::exchanges::{
    ExchangingEntries, ExchangingServer, ExchangingSumsException, Refused,
};

/// Serves `Exchanging`, each exchange on a thread of its own.
#[derive(Debug, Default)]
pub struct Exchanger {
    counts: Arc<Counts>,
    kept: Mutex<Vec<(Inlet<String>, Outlet<String>)>>,
}

#[derive(Debug, Default)]
struct Counts {
    open: AtomicU32,
    given_up: AtomicU32,
    moved: AtomicU32,
}

/// The name that a server exports `Exchanging` under, beside `Faults` under `name`.
pub fn name_of(name: &str) -> String {
    format!("{name}-exchanging")
}

/// Exports an exchanger beside what is exported under `name`, in the scope of `directory`.
pub fn export(domain: &Domain, directory: &Path, name: &str) -> Result<Clerk, ExportError> {
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    let entries = ExchangingEntries::new(Exchanger::default());
    Clerk::export_with(domain, &name_of(name), entries, options)
}

impl Exchanger {
    /// Works on a thread of its own, and counts how that ends.
    fn spawn(&self, work: impl FnOnce(&Counts) -> Result<(), NotPut> + Send + 'static) {
        let counts = Arc::clone(&self.counts);
        counts.open.fetch_add(1, SeqCst);
        std::thread::spawn(move || {
            if work(&counts).is_err() {
                counts.given_up.fetch_add(1, SeqCst);
            }
            counts.open.fetch_sub(1, SeqCst);
        });
    }
}

/// Ends its outlet where it is told that there is something in its inlet, and has whoever tells
/// it wait until its client may have been told of that.
struct Hasty(Mutex<Option<(Inlet<u32>, Outlet<u8>)>>);

impl Wake for Hasty {
    fn wake(self: Arc<Self>) {
        if let Some((_inlet, outlet)) = self.0.lock().expect("nobody panics with it").take() {
            outlet.end();
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl ExchangingServer for Exchanger {
    fn echo(&self, inlet: Inlet<String>, mut outlet: Outlet<String>) {
        self.spawn(move |counts| {
            for word in inlet {
                outlet.put(word?)?;
                counts.moved.fetch_add(1, SeqCst);
            }
            outlet.end();
            Ok(())
        });
    }

    fn sums(
        &self,
        limit: u32,
        inlet: Inlet<u32>,
        mut outlet: Outlet<u64, ExchangingSumsException>,
    ) -> Result<(), ExchangingSumsException> {
        if limit == 0 {
            return Err(Refused { code: 0 }.into());
        }
        self.spawn(move |_| {
            let mut sum = 0;
            for number in inlet {
                let number = number?;
                if number > limit {
                    outlet.raise(Refused { code: number as i32 }.into());
                    return Ok(());
                }
                sum += u64::from(number);
                outlet.put(sum)?;
            }
            outlet.end();
            Ok(())
        });
        Ok(())
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

    fn mute(&self, inlet: Inlet<u32>, outlet: Outlet<u8>) {
        outlet.end();
        self.spawn(move |counts| {
            for number in inlet {
                number?;
                counts.moved.fetch_add(1, SeqCst);
            }
            Ok(())
        });
    }

    fn hasty(&self, mut inlet: Inlet<u32>, outlet: Outlet<u8>) {
        let told = Arc::new(Hasty(Mutex::new(None)));
        let waker = Waker::from(Arc::clone(&told));
        let is_pending = inlet.poll_ready(&Context::from_waker(&waker)).is_pending();
        *told.0.lock().expect("nobody panics with it") = Some((inlet, outlet));
        assert!(is_pending, "nothing comes before it is open");
    }

    fn kept(&self, inlet: Inlet<String>, outlet: Outlet<String>) {
        self.kept.lock().expect("nobody panics with it").push((inlet, outlet));
    }

    fn let_go(&self) -> u32 {
        let kept = std::mem::take(&mut *self.kept.lock().expect("nobody panics with it"));
        kept.into_iter().map(|(_, outlet)| outlet.end()).count() as u32
    }

    fn open(&self) -> u32 {
        self.counts.open.load(SeqCst)
    }

    fn given_up(&self) -> u32 {
        self.counts.given_up.load(SeqCst)
    }

    fn moved(&self) -> u32 {
        self.counts.moved.load(SeqCst)
    }
}
