//! Procedures that are awaited: one that has to wait leaves its processor to other calls (design
//! note 0022).

#[path = "suspended/ending.rs"]
mod ending;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, join_all, select};
use nearcall::name::Scope;
use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, DomainOptions, Error, ExportOptions,
    ImportOptions, WhenExhausted, current_call,
};
use smol::Timer;
use testkit::awaited::awaited::{
    AWAITED, AwaitedAsyncEntries, AwaitedAsyncServer, AwaitedChangedException, AwaitedClient,
    AwaitedMoreException, TooFew,
};
use testkit::longer::{aborted, is_late};

/// Much longer than anything takes.
const LONG: Duration = Duration::from_secs(600);

/// Longer than calls wait that return once something has happened.
const SOON: Duration = Duration::from_secs(60);

/// Calls of `meet` that wait for each other.
const MEETING: usize = 40;

struct Server {
    next: Option<AwaitedClient>,
    meeting: smol::lock::Barrier,
    /// Whether the first that goes on after a meeting keeps its processor, until nobody does.
    kept: Arc<AtomicU32>,
    dropped: Arc<AtomicU32>,
    /// The server's domain, where a test gives it, until it is shut down.
    own: Arc<OnceLock<Domain>>,
}

/// Counts its drop.
struct Guard(Arc<AtomicU32>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

async fn wait(milliseconds: u64) {
    Timer::after(Duration::from_millis(milliseconds)).await;
}

impl AwaitedAsyncServer for Server {
    async fn null(&self) {}

    async fn add(&self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }

    async fn later(&self, data: &[u8], milliseconds: u32) -> Vec<u8> {
        wait(milliseconds.into()).await;
        data.to_vec()
    }

    async fn more(&self, count: &mut i32) -> Result<(), AwaitedMoreException> {
        wait(1).await;
        if *count < 0 {
            return Err(TooFew { count: *count }.into());
        }
        *count += 1;
        Ok(())
    }

    async fn relay(&self, a: i32, b: i32) -> i32 {
        let next = self.next.as_ref().expect("there is a next server");
        next.awaiting().add(a, b).await.expect("the next server answers")
    }

    async fn panic(&self) {
        wait(1).await;
        panic!("on purpose");
    }

    async fn forever(&self) {
        let _guard = Guard(Arc::clone(&self.dropped));
        std::future::pending::<()>().await;
    }

    async fn dropped(&self) -> u32 {
        self.dropped.load(SeqCst)
    }

    async fn time_left(&self) -> i64 {
        wait(5).await;
        let call = current_call().expect("this is a procedure");
        call.time_left().map_or(-1, |left| left.as_nanos() as i64)
    }

    async fn is_cancelled(&self) -> bool {
        let call = current_call().expect("this is a procedure");
        let too_late = wait(LONG.as_millis() as u64);
        select(pin!(call.cancelled()), pin!(too_late)).await;
        self.dropped.fetch_add(u32::from(call.is_cancelled()), SeqCst);
        call.is_cancelled()
    }

    async fn last(&self) -> bool {
        let _guard = Guard(Arc::clone(&self.dropped));
        let call = current_call().expect("this is a procedure");
        call.ending().await;
        // Of the other nobody has been told.
        let mut cancelled = pin!(call.cancelled());
        let is_told = poll_fn(|context| Poll::Ready(cancelled.as_mut().poll(context).is_ready()));
        call.is_ending() && !is_told.await && !call.is_cancelled()
    }

    async fn keep(&self) {
        let _guard = Guard(Arc::clone(&self.dropped));
        let domain = self.own.get().expect("the test has given it");
        // What is shut down refuses to look for a name.
        while let Err(BindError::NoSuchName { .. }) = Binding::import(domain, "nobody", &AWAITED) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    async fn shut_down(&self) {
        self.own.get().expect("the test has given it").shut_down();
        std::thread::sleep(Duration::from_millis(50));
    }

    async fn sum(&self, data: Vec<u8>) -> u32 {
        wait(1).await;
        data.iter().map(|byte| u32::from(*byte)).sum()
    }

    async fn reversed(&self, mut data: Vec<u8>) -> Vec<u8> {
        wait(1).await;
        data.reverse();
        data
    }

    async fn changed(
        &self,
        data: &mut Vec<u8>,
        count: &mut i32,
    ) -> Result<(), AwaitedChangedException> {
        wait(1).await;
        data.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
        if *count < 0 {
            return Err(TooFew { count: *count }.into());
        }
        *count += data.len() as i32;
        Ok(())
    }

    async fn filled(&self, count: u32) -> (u32, Vec<u8>) {
        wait(1).await;
        (count, vec![7; count as usize])
    }

    async fn meet(&self) {
        let is_last = self.meeting.wait().await.is_leader();
        if !is_last && self.kept.compare_exchange(WANTED, KEPT, SeqCst, SeqCst).is_ok() {
            let begin = Instant::now();
            while self.kept.load(SeqCst) == KEPT && begin.elapsed() < KEPT_MAX {
                std::thread::sleep(Duration::from_millis(1));
            }
            // The meeting's last would find it kept.
            self.kept.store(NOBODY, SeqCst);
        }
    }

    async fn yields(&self, count: u32) -> u32 {
        for _ in 0..count {
            smol::future::yield_now().await;
        }
        count
    }
}

/// Nobody keeps its processor, the next one is to, somebody does.
const NOBODY: u32 = 0;
const WANTED: u32 = 1;
const KEPT: u32 = 2;

/// Longest that a procedure keeps its processor.
const KEPT_MAX: Duration = Duration::from_secs(60);

/// A server's domain, and a directory for its name.
struct Scene {
    directory: tempfile::TempDir,
    domain: Domain,
    clerk: Clerk,
    client: Domain,
    dropped: Arc<AtomicU32>,
    kept: Arc<AtomicU32>,
    /// The server's domain, where a test gives it, until it is shut down.
    own: Arc<OnceLock<Domain>>,
}

impl Scene {
    /// Until so many calls of `forever` wait. In which order calls are begun nobody promises.
    fn wait_until_begun(&self, count: usize) {
        // Each holds the counter, beside the server and us.
        while Arc::strong_count(&self.dropped) < 2 + count {
            std::thread::yield_now();
        }
    }

    /// `processors`: most that the server has.
    fn new(processors: u32, next: Option<AwaitedClient>) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let mut options = DomainOptions::default();
        options.processors_max = processors;
        let domain = Domain::with_options(options).unwrap();
        let dropped = Arc::new(AtomicU32::new(0));
        let meeting = smol::lock::Barrier::new(MEETING);
        let kept = Arc::new(AtomicU32::new(NOBODY));
        let own = Arc::default();
        let server = Server {
            next,
            meeting,
            dropped: Arc::clone(&dropped),
            kept: Arc::clone(&kept),
            own: Arc::clone(&own),
        };
        let mut options = ExportOptions::default();
        options.scope = Some(Scope::Directory(directory.path().to_owned()));
        let entries = AwaitedAsyncEntries::new(server);
        let clerk = Clerk::export_with(&domain, "awaited", entries, options).unwrap();
        Scene { directory, domain, clerk, client: Domain::new().unwrap(), dropped, kept, own }
    }

    fn import_options(&self) -> ImportOptions {
        let mut options = ImportOptions::default();
        options.scopes = Some(vec![Scope::Directory(self.directory.path().to_owned())]);
        options
    }

    /// A client over sealed segments.
    fn client(&self) -> AwaitedClient {
        let options = self.import_options();
        let binding = Binding::import_with(&self.client, "awaited", &AWAITED, options);
        AwaitedClient::new(binding.unwrap())
    }

    /// One over a twin of them on the heap.
    fn twin(&self) -> AwaitedClient {
        let options = self.import_options();
        let binding = Binding::import_twin(&self.client, &self.clerk, &AWAITED, options);
        AwaitedClient::new(binding.unwrap())
    }
}

fn check(test: impl Fn(&AwaitedClient)) {
    let scene = Scene::new(2, None);
    test(&scene.client());
    test(&scene.twin());
}

#[test]
fn procedures_that_do_not_wait_reply_at_once() {
    check(|client| {
        for number in 0..200 {
            client.null().unwrap();
            assert_eq!(client.add(number, 1).unwrap(), number + 1);
        }
        assert_eq!(client.sum(&[1, 2, 3][..]).unwrap(), 6);
    });
}

#[test]
fn procedures_that_wait_reply_later() {
    check(|client| {
        for bytes in [0, 5, 300, 70_000] {
            let data = vec![bytes as u8; bytes];
            assert!(client.later(&data, 3).unwrap() == data);
        }
        let mut count = 4;
        client.more(&mut count).unwrap();
        assert_eq!(count, 5);
        let mut count = -4;
        let raised = client.more(&mut count).unwrap_err();
        let Error::Exception(AwaitedMoreException::TooFew(TooFew { count })) = raised else {
            panic!("{raised}");
        };
        assert_eq!(count, -4);
    });
}

#[test]
fn bytes_that_others_are_lent_are_owned_by_one_that_waits() {
    check(|client| {
        for bytes in [0, 5, 300, 70_000] {
            let data: Vec<u8> = (0..bytes).map(|byte| byte as u8).collect();
            let sum: u32 = data.iter().map(|byte| u32::from(*byte)).sum();
            assert_eq!(client.sum(&data).unwrap(), sum);
            let reversed: Vec<u8> = data.iter().rev().copied().collect();
            assert!(client.reversed(&data).unwrap() == reversed);
            let (mut changed, mut count) = (data.clone(), 1);
            client.changed(&mut changed, &mut count).unwrap();
            assert!(changed.into_iter().eq(data.iter().map(|byte| byte.wrapping_add(1))));
            assert_eq!(count, 1 + bytes);
            let mut filled = Vec::new();
            assert_eq!(client.filled(bytes as u32, &mut filled).unwrap(), bytes as u32);
            assert!(filled == vec![7; bytes as usize]);
        }
    });
}

#[test]
fn bytes_of_lent_memory_are_owned_by_one_that_waits() {
    check(|client| {
        for bytes in [1, 300, 70_000] {
            let mut lent = client.binding().lend(bytes).unwrap();
            lent.fill(3);
            assert_eq!(client.sum(&lent).unwrap(), 3 * bytes as u32);
            assert_eq!(client.sum(lent.first(1)).unwrap(), 3);
            assert!(client.reversed(&lent).unwrap() == vec![3; bytes]);
        }
    });
}

#[test]
fn bytes_that_are_over_their_bound_or_behind_an_exception_do_not_come() {
    check(|client| {
        let (mut data, mut count) = (vec![1], -1);
        let raised = client.changed(&mut data, &mut count).unwrap_err();
        assert!(matches!(raised, Error::Exception(_)), "{raised}");
        assert_eq!((data, count), (vec![1], -1));
        let refused = client.filled(100_001, &mut Vec::new()).unwrap_err();
        assert!(matches!(refused, CallError::ResultsRefused { .. }), "{refused}");
        client.null().unwrap();
    });
}

#[test]
fn a_processor_takes_other_calls_while_a_procedure_waits() {
    check(|client| {
        let waiting = client.posting().later(&[7], 600_000).unwrap();
        for number in 0..1000 {
            assert_eq!(client.add(number, 1).unwrap(), number + 1);
        }
        assert!(!waiting.is_replied());
        waiting.cancel();
    });
}

#[test]
fn more_procedures_wait_at_once_than_there_are_processors() {
    check(|client| {
        let client = client.with_deadline(LONG);
        let calls = client.awaiting();
        let all = block_on(join_all((0..MEETING).map(|_| calls.meet())));
        all.into_iter().for_each(|met| met.unwrap());
    });
}

#[test]
fn calls_that_were_woken_do_not_wait_for_one_that_keeps_its_processor() {
    let scene = Scene::new(3, None);
    for client in [scene.client(), scene.twin()] {
        let client = client.with_deadline(LONG);
        let calls = client.awaiting();
        let met = AtomicU32::new(0);
        let meet = async || {
            calls.meet().await.unwrap();
            // All but the one that is kept.
            if met.fetch_add(1, SeqCst) + 2 == MEETING as u32 {
                let kept = scene.kept.swap(NOBODY, SeqCst);
                assert_eq!(kept, KEPT, "the others came after it");
            }
        };
        scene.kept.store(WANTED, SeqCst);
        block_on(join_all((0..MEETING).map(|_| meet())));
    }
}

/// More of them sleep than one sleep of their herald can wait for.
#[test]
fn of_400_sleeping_tasks_the_newest_are_woken_first() {
    let scene = Scene::new(2, None);
    let mut options = scene.import_options();
    options.when_exhausted = WhenExhausted::Grow;
    let binding = Binding::import_with(&scene.client, "awaited", &AWAITED, options);
    let client = AwaitedClient::new(binding.unwrap());
    let calls = client.awaiting();
    let call = async |number: u32, milliseconds| {
        let data = calls.later(&number.to_le_bytes(), milliseconds).await.unwrap();
        assert_eq!(data, number.to_le_bytes());
    };
    let old = join_all((0..200).map(|number| call(number, LONG.as_millis() as u32)));
    let new = join_all((200..400).map(|number| call(number, 20)));
    let (old, new) = (pin!(old), pin!(new));
    let woken = block_on(select(old, new));
    assert!(matches!(woken, Either::Right(_)), "the newest are not kept waiting by the oldest");
    assert!(client.binding().astack_count() >= 400);
}

#[test]
fn a_procedure_that_wakes_itself_goes_on() {
    check(|client| {
        let calls = client.awaiting();
        let all = block_on(join_all((0..300).map(|count| calls.yields(count))));
        assert!((0..).zip(all).all(|(count, yields)| yields.unwrap() == count));
    });
}

#[test]
fn a_nested_call_is_awaited() {
    let last = Scene::new(2, None);
    let scene = Scene::new(2, Some(last.client()));
    for client in [scene.client(), scene.twin()] {
        for number in 0..100 {
            assert_eq!(client.relay(number, 2).unwrap(), number + 2);
        }
        let calls = client.awaiting();
        let all = block_on(join_all((0..1000).map(|number| calls.relay(number, 1))));
        assert!((1..).zip(all).all(|(wanted, sum)| sum.unwrap() == wanted));
    }
}

#[test]
fn one_that_panics_after_a_wait_harms_no_other() {
    check(|client| {
        let panicked = client.panic().unwrap_err();
        assert!(matches!(panicked, CallError::Panicked { .. }), "{panicked}");
        client.null().unwrap();
    });
}

#[test]
fn a_deadline_is_seen_after_a_wait() {
    check(|client| {
        assert_eq!(client.time_left().unwrap(), -1);
        let left_ns = client.with_deadline(LONG).time_left().unwrap();
        let most = (LONG - Duration::from_millis(5)).as_nanos() as i64;
        assert!(left_ns > 0 && left_ns <= most, "{left_ns}");
        let hasty = client.with_deadline(Duration::from_millis(20));
        aborted(|| hasty.forever());
        client.null().unwrap();
    });
}

#[test]
fn a_procedure_sees_after_a_wait_that_its_client_has_given_up() {
    let scene = Scene::new(2, None);
    let client = scene.client();
    let hasty = client.with_deadline(Duration::from_millis(10));
    // Beside other work one may be given up before it was taken.
    let begin = Instant::now();
    while client.dropped().unwrap() == 0 {
        assert!(begin.elapsed() < SOON, "none is seen to be given up");
        let late = hasty.is_cancelled().unwrap_err();
        assert!(is_late(&late), "{late}");
        while client.binding().captured_count() > 0 {
            std::thread::yield_now();
        }
    }
    assert_eq!(client.dropped().unwrap(), 1);
}

#[test]
fn what_waits_is_dropped_when_its_client_has_gone() {
    let scene = Scene::new(2, None);
    for (round, client) in [scene.client(), scene.twin()].into_iter().enumerate() {
        let waiting: Vec<_> = (0..4).map(|_| client.posting().forever().unwrap()).collect();
        scene.wait_until_begun(4);
        assert_eq!(client.dropped().unwrap() as usize, 4 * round);
        drop(waiting);
        drop(client);
        while scene.dropped.load(SeqCst) as usize != 4 * (round + 1) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn what_waits_is_dropped_when_its_domain_ends() {
    let scene = Scene::new(2, None);
    let client = scene.client();
    let calls = client.awaiting();
    let mut waiting = Box::pin(join_all((0..4).map(|_| calls.forever())));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    scene.wait_until_begun(4);
    let Scene { clerk, domain, dropped, directory: _directory, client: _domain, .. } = scene;
    drop(clerk);
    drop(domain);
    for ended in block_on(waiting) {
        let ended = ended.unwrap_err();
        assert!(matches!(ended, CallError::CallFailed { .. }), "{ended}");
    }
    while dropped.load(SeqCst) != 4 {
        std::thread::yield_now();
    }
}
