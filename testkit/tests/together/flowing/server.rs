//! A server of `Flowing`, whose feeds are tasks of an executor.

use std::future::Future;
use std::sync::atomic::AtomicU32;
// SeqCst: the tests compare what several threads counted.
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nearcall::{Answer, GivenUp, Inlet, NotPut, Outlet};
use smol::Timer;
use testkit::flowing::flowing::{
    FlowingAsyncServer, FlowingSumException, FlowingUntilException, Refused,
};

/// Serves `Flowing`.
#[derive(Default)]
pub struct Flow {
    pub counts: Arc<Counts>,
    kept: Arc<Mutex<Vec<Kept>>>,
}

#[derive(Default)]
pub struct Counts {
    pub open: AtomicU32,
    pub given_up: AtomicU32,
    pub moved: AtomicU32,
}

/// What nothing is done with.
enum Kept {
    ToClient(Outlet<u32>),
    FromClient(Inlet<u32>, Answer<u32>),
    Answered(Inlet<u32>),
}

/// Counts as open until it is dropped, also in a panic.
struct Open(Arc<Counts>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, SeqCst);
    }
}

impl Flow {
    fn opened(&self) -> Open {
        self.counts.open.fetch_add(1, SeqCst);
        Open(Arc::clone(&self.counts))
    }

    /// Works in a task, and counts how that ends.
    fn spawn<W>(&self, work: impl FnOnce(Arc<Counts>) -> W)
    where
        W: Future<Output = Result<(), NotPut>> + Send + 'static,
    {
        let (open, counts) = (self.opened(), Arc::clone(&self.counts));
        let work = work(Arc::clone(&counts));
        let task = smol::spawn(async move {
            let _open = open;
            if work.await == Err(NotPut::GivenUp) {
                counts.given_up.fetch_add(1, SeqCst);
            }
        });
        task.detach();
    }
}

fn keep(all: &Mutex<Vec<Kept>>, kept: Kept) {
    all.lock().expect("nobody panics with it").push(kept);
}

async fn put<T, E>(outlet: &mut Outlet<T, E>, item: T) -> Result<(), NotPut> {
    outlet.ready().await;
    outlet.put(item)
}

async fn next<T>(inlet: &mut Inlet<T>) -> Option<Result<T, GivenUp>> {
    inlet.ready().await;
    inlet.next()
}

/// Takes so many items; how many there were.
async fn take(inlet: &mut Inlet<u32>, count: u32) -> Result<u32, GivenUp> {
    let mut taken = 0;
    while taken < count {
        match next(inlet).await {
            Some(item) => item.map(|_| taken += 1)?,
            None => break,
        }
    }
    Ok(taken)
}

impl FlowingAsyncServer for Flow {
    async fn numbers(&self, count: u32, mut outlet: Outlet<u32>) {
        self.spawn(async move |counts| {
            for number in 0..count {
                put(&mut outlet, number).await?;
                counts.moved.fetch_add(1, SeqCst);
            }
            outlet.end();
            Ok(())
        });
    }

    async fn until(
        &self,
        count: u32,
        code: i32,
        mut outlet: Outlet<u32, FlowingUntilException>,
    ) -> Result<(), FlowingUntilException> {
        if code == 0 {
            Timer::after(Duration::from_millis(1)).await;
            return Err(Refused { code }.into());
        }
        self.spawn(async move |_| {
            for number in 0..count {
                put(&mut outlet, number).await?;
            }
            assert!(code != -1, "on purpose");
            outlet.raise(Refused { code }.into());
            Ok(())
        });
        Ok(())
    }

    async fn digits(&self, count: u32, mut outlet: Outlet<i32>) {
        self.spawn(async move |_| {
            for digit in 0..count {
                let refused = put(&mut outlet, 10).await.unwrap_err();
                assert_eq!(refused.to_string(), "item is 10, allowed is 1 to 9");
                put(&mut outlet, (digit % 9 + 1) as i32).await?;
            }
            outlet.end();
            Ok(())
        });
    }

    async fn slow(&self, milliseconds: u32, mut outlet: Outlet<u32>) {
        let _open = self.opened();
        Timer::after(Duration::from_millis(milliseconds.into())).await;
        self.spawn(async move |_| {
            for number in 0.. {
                put(&mut outlet, number).await?;
            }
            Ok(())
        });
    }

    async fn kept(&self, outlet: Outlet<u32>) {
        keep(&self.kept, Kept::ToClient(outlet));
    }

    async fn watched(&self, mut outlet: Outlet<u32>) {
        self.spawn(async move |_| {
            outlet.given_up().await;
            Err(NotPut::GivenUp)
        });
    }

    async fn pondered(&self, inlet: Inlet<u32>, mut answer: Answer<u32>) {
        self.spawn(async move |_| {
            let _inlet = inlet;
            answer.given_up().await;
            Err(NotPut::GivenUp)
        });
    }

    async fn octets(&self, data: Vec<u8>, mut outlet: Outlet<u8>) {
        self.spawn(async move |_| {
            for octet in data {
                put(&mut outlet, octet).await?;
            }
            outlet.end();
            Ok(())
        });
    }

    async fn sum(
        &self,
        limit: u32,
        mut inlet: Inlet<u32>,
        answer: Answer<u64, FlowingSumException>,
    ) -> Result<(), FlowingSumException> {
        if limit == 0 {
            Timer::after(Duration::from_millis(1)).await;
            return Err(Refused { code: 0 }.into());
        }
        self.spawn(async move |_| {
            let mut sum = 0;
            while let Some(item) = next(&mut inlet).await {
                let item = item.inspect_err(|_| assert!(answer.is_given_up()))?;
                if item > limit {
                    answer.raise(Refused { code: item as i32 }.into());
                    return Ok(());
                }
                sum += u64::from(item);
            }
            assert!(!answer.is_given_up());
            answer.give(sum);
            Ok(())
        });
        Ok(())
    }

    async fn early(&self, count: u32, mut inlet: Inlet<u32>, answer: Answer<u32>) {
        let kept = Arc::clone(&self.kept);
        self.spawn(async move |_| {
            answer.give(take(&mut inlet, count).await?);
            keep(&kept, Kept::Answered(inlet));
            Ok(())
        });
    }

    async fn late(&self, count: u32, mut inlet: Inlet<u32>, answer: Answer<u32>) {
        self.spawn(async move |_| {
            let taken = take(&mut inlet, count).await?;
            drop(inlet);
            Timer::after(Duration::from_millis(20)).await;
            answer.give(taken);
            Ok(())
        });
    }

    async fn forgets(&self, count: u32, mut inlet: Inlet<u32>, answer: Answer<u32>) {
        self.spawn(async move |_| {
            let _forgotten = answer;
            take(&mut inlet, count).await?;
            Ok(())
        });
    }

    async fn held(&self, inlet: Inlet<u32>, answer: Answer<u32>) {
        keep(&self.kept, Kept::FromClient(inlet, answer));
    }

    async fn turned(&self, mut inlet: Inlet<u32>, mut outlet: Outlet<u32>) {
        Timer::after(Duration::from_millis(1)).await;
        self.spawn(async move |_| {
            while let Some(item) = next(&mut inlet).await {
                put(&mut outlet, item?).await?;
            }
            outlet.end();
            Ok(())
        });
    }

    async fn let_go(&self) -> u32 {
        let kept = std::mem::take(&mut *self.kept.lock().expect("nobody panics with it"));
        let count = kept.len() as u32;
        for kept in kept {
            match kept {
                Kept::ToClient(outlet) => outlet.end(),
                // It has ended.
                Kept::Answered(inlet) => {
                    self.counts.moved.fetch_add(inlet.flatten().count() as u32, SeqCst);
                }
                Kept::FromClient(inlet, answer) => {
                    drop(inlet);
                    answer.give(count);
                }
            }
        }
        count
    }

    async fn open(&self) -> u32 {
        self.counts.open.load(SeqCst)
    }

    async fn given_up(&self) -> u32 {
        self.counts.given_up.load(SeqCst)
    }

    async fn moved(&self) -> u32 {
        self.counts.moved.load(SeqCst)
    }
}
