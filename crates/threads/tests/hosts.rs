//! Kernel threads with loops of their own: guests run on E-stacks, wait, and are gone on with.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use nearcall_threads::{
    Forked, Guest, Host, Hosts, Local, Mutex, STACK_BYTES_MAX, Semaphore, block, fork,
    is_fastthread, is_hosted, report, run, sleep, yield_now,
};

const STACK_BYTES: usize = 192 << 10;

/// What guests have done, in order.
type Log = Rc<RefCell<Vec<String>>>;

struct Noted {
    number: u32,
    log: Log,
    body: Box<dyn Fn() -> u32>,
}

impl Noted {
    fn note(&self, what: &str) {
        self.log.borrow_mut().push(format!("{} {what}", self.number));
    }
}

impl Guest for Noted {
    type Output = u32;

    fn name(&self) -> &'static str {
        "guest"
    }

    fn run(&self) -> u32 {
        (self.body)()
    }

    fn resume(&self) {
        self.note("resumes");
    }

    fn suspend(&self) {
        self.note("waits");
    }

    fn finish(&self, output: u32) {
        self.note(&format!("finishes with {output}"));
    }
}

struct Loop {
    host: Host<Noted>,
    log: Log,
    begun: Cell<u32>,
}

impl Loop {
    fn with_estacks(hosts: &Arc<Hosts>, estacks_max: usize) -> Loop {
        let host = hosts.enter(estacks_max).expect("there is a place");
        Loop { host, log: Log::default(), begun: Cell::new(0) }
    }

    fn new() -> Loop {
        Loop::with_estacks(&Hosts::new(2, STACK_BYTES).unwrap(), 1000)
    }

    fn begin(&self, body: impl Fn() -> u32 + 'static) -> Option<u32> {
        self.begun.set(self.begun.get() + 1);
        let (number, log) = (self.begun.get(), Rc::clone(&self.log));
        self.host.begin(Noted { number, log, body: Box::new(body) })
    }

    /// Goes on until nothing is left, as a server processor does.
    fn finish(&self) {
        while self.host.is_busy() {
            if !self.host.run_ready(32, there_is_time) {
                self.host.sleep(8, |words, left| {
                    let word = words[0];
                    // Polls, so that the test needs no system call of its own.
                    while word.word.load(SeqCst) == word.expected && left.is_none() {
                        thread::yield_now();
                    }
                    false
                });
            }
        }
    }

    fn said(&self) -> Vec<String> {
        self.log.take()
    }
}

fn there_is_time() -> bool {
    true
}

fn time_is_up() -> bool {
    false
}

#[test]
fn a_guest_that_does_not_wait_gives_its_output_to_the_loop() {
    let on = Loop::new();
    assert!(!is_fastthread());
    assert_eq!(on.begin(|| u32::from(is_fastthread() && is_hosted())), Some(1));
    assert!(!is_fastthread());
    assert!(on.said().is_empty(), "nobody was told");
    assert!(!on.host.is_busy());
}

#[test]
fn a_guest_that_waits_leaves_the_loop_to_others_and_finishes_by_itself() {
    let on = Loop::new();
    assert_eq!(on.begin(|| (yield_now(), 7).1), None);
    assert_eq!(on.begin(|| 8), Some(8));
    assert!(on.host.is_busy());
    on.finish();
    assert_eq!(on.said(), ["1 waits", "1 resumes", "1 finishes with 7"]);
}

#[test]
fn an_estack_is_used_again_by_the_next_guest() {
    let on = Loop::new();
    for number in 0..100 {
        assert_eq!(on.begin(move || number), Some(number));
    }
    assert_eq!(on.host.counts(), (1, 1));
}

#[test]
fn as_many_estacks_as_guests_that_wait_and_most_of_them_are_reclaimed() {
    let on = Loop::new();
    for _ in 0..100 {
        assert_eq!(on.begin(|| (yield_now(), 0).1), None);
    }
    assert_eq!(on.host.counts(), (100, 0));
    on.finish();
    assert_eq!(on.host.counts(), (100, 100));
    on.host.sleep(8, |_, _| true);
    assert_eq!(on.host.counts(), (32, 32));
    for _ in 0..40 {
        assert_eq!(on.begin(|| (yield_now(), 0).1), None);
    }
    on.finish();
    assert_eq!(on.host.counts(), (40, 40), "numbers of those that have ended are used again");
}

#[test]
fn guests_over_the_limit_wait_for_an_estack() {
    let on = Loop::with_estacks(&Hosts::new(2, STACK_BYTES).unwrap(), 2);
    for number in 1..=5 {
        assert_eq!(on.begin(move || (yield_now(), number).1), None);
    }
    assert_eq!(on.host.counts(), (2, 0));
    on.finish();
    let expected = [1, 2, 3, 4, 5].map(|number| format!("{number} finishes with {number}"));
    assert_eq!(finished(&on), expected);
}

/// A host with two E-stacks, on each of which a guest waits, and so many more in its queue.
fn with_queue(count: u32) -> Loop {
    let on = Loop::with_estacks(&Hosts::new(2, STACK_BYTES).unwrap(), 2);
    for number in 1..=2 + count {
        assert_eq!(on.begin(move || (yield_now(), number).1), None);
    }
    assert_eq!(on.host.counts(), (2, 0));
    on
}

fn finished(on: &Loop) -> Vec<String> {
    let mut finished = on.said();
    finished.retain(|what| what.contains("finishes"));
    finished
}

#[test]
fn one_guest_runs_when_the_time_is_up_and_the_next_one_goes_on_behind_it() {
    let on = with_queue(3);
    for _ in 0..2 + 2 * 3 {
        on.said();
        assert!(on.host.run_ready(32, time_is_up));
        let resumed = on.said().iter().filter(|what| what.contains("resumes")).count();
        assert_eq!(resumed, 1);
    }
    assert!(
        !on.host.run_ready(32, time_is_up),
        "of five each has waited once, and three for an E-stack"
    );
    assert!(!on.host.is_busy());
}

#[test]
fn as_many_guests_run_as_may_those_that_are_queued_among_them() {
    let on = with_queue(30);
    assert!(on.host.run_ready(10, there_is_time));
    let resumed = on.said().iter().filter(|what| what.contains("resumes")).count();
    assert_eq!(resumed, 10);
    on.finish();
}

#[test]
fn guests_that_are_queued_begin_although_others_are_always_ready() {
    let on = Loop::with_estacks(&Hosts::new(2, STACK_BYTES).unwrap(), 2);
    let is_done = Rc::new(Cell::new(false));
    let is_over = Rc::clone(&is_done);
    on.begin(move || {
        while !is_over.get() {
            yield_now();
        }
        0
    });
    assert_eq!(on.begin(|| (yield_now(), 2).1), None);
    let is_begun = Rc::clone(&is_done);
    assert_eq!(on.begin(move || (is_begun.set(true), 3).1), None);
    for _ in 0..10 {
        on.host.run_ready(32, time_is_up);
    }
    assert!(is_done.get(), "the one that was queued has begun");
    on.finish();
}

#[test]
fn a_guest_does_not_begin_before_those_that_are_queued() {
    let on = with_queue(3);
    while on.host.counts().1 == 0 {
        on.host.run_ready(1, there_is_time);
    }
    assert_eq!(on.begin(|| (yield_now(), 6).1), None);
    on.finish();
    let expected = [1, 2, 3, 4, 5, 6].map(|number| format!("{number} finishes with {number}"));
    assert_eq!(finished(&on), expected);
}

#[test]
fn guests_wait_for_memory_and_the_loop_sleeps_meanwhile() {
    // So much address space each that there is no room for a few hundred.
    let on = Loop::with_estacks(&Hosts::new(2, STACK_BYTES_MAX).unwrap(), 1000);
    let is_open = Rc::new(Cell::new(false));
    for number in 0..300 {
        let is_open = Rc::clone(&is_open);
        let wait = move || {
            while !is_open.get() {
                sleep(Duration::from_secs(600));
            }
            number
        };
        assert_eq!(on.begin(wait), None);
    }
    let (made, free) = on.host.counts();
    assert!(made < 300 && free == 0, "{made} E-stacks, {free} of them free");
    // Where something else has the processor for long it is time to try again.
    let rests = |_| !on.host.run_ready(32, there_is_time) && !on.host.look();
    assert!((0..1000).any(rests), "nobody can go on or begin");
    let left = |_| {
        let slept = Cell::new(None);
        on.host.sleep(8, |_, left| (slept.set(Some(left)), true).1);
        on.host.run_ready(32, there_is_time);
        slept.get()
    };
    let left = (0..1000).find_map(left).expect("it sleeps");
    let is_soon = |left| left <= Duration::from_millis(10);
    assert!(left.is_some_and(is_soon), "it tries again: {left:?}");
    is_open.set(true);
}

#[test]
fn a_lock_is_shared_by_guests_of_two_kernel_threads() {
    let hosts = Hosts::new(2, STACK_BYTES).unwrap();
    let counter = Arc::new(Mutex::new(0));
    let add = |counter: &Arc<Mutex<u32>>| {
        let counter = Arc::clone(counter);
        move || {
            let mut count = counter.lock().unwrap();
            let before = *count;
            yield_now();
            *count = before + 1;
            before
        }
    };
    let serve = |hosts: &Arc<Hosts>, counter: &Arc<Mutex<u32>>| {
        let on = Loop::with_estacks(hosts, 1000);
        for _ in 0..500 {
            on.begin(add(counter));
            on.host.run_ready(1, there_is_time);
        }
        on.finish();
    };
    thread::scope(|threads| {
        threads.spawn(|| serve(&hosts, &counter));
        serve(&hosts, &counter);
    });
    let counter = Arc::try_unwrap(counter).unwrap();
    drop(hosts);
    // The run is over, so the lock is free for another one.
    assert_eq!(run(move || *counter.lock().unwrap()).unwrap(), 1000);
}

#[test]
fn a_guest_sleeps_blocks_and_forks() {
    let on = Loop::new();
    on.begin(|| (sleep(Duration::from_millis(5)), 1).1);
    on.begin(|| block(|| 2).unwrap());
    on.begin(|| fork(|| 3).unwrap().join().unwrap());
    on.finish();
    let mut finished = on.said();
    finished.retain(|what| what.contains("finishes"));
    finished.sort();
    assert_eq!(finished, ["1 finishes with 1", "2 finishes with 2", "3 finishes with 3"]);
}

#[test]
fn a_thread_that_a_guest_leaves_behind_keeps_the_host_busy() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    let on = Loop::new();
    let forked = on.begin(|| {
        drop(fork(|| {
            yield_now();
            ENDED.store(1, SeqCst);
        }));
        1
    });
    assert_eq!(forked, Some(1));
    assert!(on.host.is_busy());
    on.finish();
    assert_eq!(ENDED.load(SeqCst), 1);
}

#[test]
fn a_guest_finds_no_local_of_the_one_before_it() {
    /// Says when it is dropped, and by whom.
    struct Told(Cell<u32>, Cell<Option<Rc<Cell<u32>>>>);
    impl Drop for Told {
        fn drop(&mut self) {
            let dropped = self.1.take().expect("every guest sets it");
            dropped.set(dropped.get() + self.0.get());
            LATE.with(|late| late.set(self.0.get()));
        }
    }
    static TOLD: Local<Told> = Local::new(|| Told(Cell::new(0), Cell::new(None)));
    static LATE: Local<Cell<u32>> = Local::new(|| Cell::new(0));
    let on = Loop::new();
    let dropped = Rc::new(Cell::new(0));
    for (number, waits) in (1..).zip([false, true, false]) {
        let dropped = Rc::clone(&dropped);
        let output = on.begin(move || {
            assert_eq!(TOLD.with(|told| told.0.replace(number)), 0);
            assert_eq!(LATE.with(Cell::get), 0);
            TOLD.with(|told| told.1.set(Some(Rc::clone(&dropped))));
            if waits {
                yield_now();
            }
            TOLD.with(|told| told.0.get())
        });
        assert_eq!(output, (!waits).then_some(number));
        on.finish();
        assert_eq!(on.host.counts(), (1, 1), "one E-stack for all of them");
    }
    assert_eq!(dropped.get(), 1 + 2 + 3);
}

#[test]
fn a_result_that_nobody_wants_may_wait_while_it_is_dropped() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Waits(Arc<Mutex<()>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            drop(self.0.lock());
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let on = Loop::new();
    on.begin(|| {
        let lock = Arc::new(Mutex::new(()));
        let result = Waits(Arc::clone(&lock));
        let _ours = lock.lock().unwrap();
        drop(fork(|| result));
        // It ends, and waits for the lock.
        yield_now();
        assert_eq!(DROPPED.load(SeqCst), 0);
        let threads = report();
        let waits = threads.threads()[1].waits_for.as_deref();
        assert_eq!(waits, Some("a mutex that FastThread 1 has"));
        1
    });
    on.finish();
    assert_eq!(DROPPED.load(SeqCst), 1);
}

#[test]
fn what_nobody_joins_is_dropped_when_that_is_known_and_not_with_the_last_host() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let on = Loop::new();
    let forked = Rc::new(Cell::new(None));
    for has_ended in [true, false] {
        let theirs = Rc::clone(&forked);
        on.begin(move || (theirs.set(Some(fork(|| Counts).unwrap())), 0).1);
        if has_ended {
            on.finish();
        }
        assert_eq!(DROPPED.load(SeqCst), 0);
        // By a kernel thread.
        drop(forked.take());
        on.finish();
        assert_eq!(DROPPED.swap(0, SeqCst), 1);
    }
}

#[test]
fn a_local_that_a_result_makes_while_it_is_dropped_is_not_the_next_thread_s() {
    static COUNT: Local<Cell<u32>> = Local::new(|| Cell::new(0));
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            COUNT.with(|count| count.set(5));
        }
    }
    let on = Loop::new();
    on.begin(|| {
        drop(fork(|| Uses));
        yield_now();
        // The stack that was used last is the next one's.
        fork(|| COUNT.with(Cell::get)).unwrap().join().unwrap()
    });
    on.finish();
    assert_eq!(finished(&on), ["1 finishes with 0"]);
}

#[test]
fn what_a_guest_s_own_end_makes_of_locals_is_not_the_next_one_s() {
    static COUNT: Local<Cell<u32>> = Local::new(|| Cell::new(0));
    struct Uses;
    impl Guest for Uses {
        type Output = u32;
        fn name(&self) -> &'static str {
            "guest"
        }
        fn run(&self) -> u32 {
            yield_now();
            COUNT.with(Cell::get)
        }
        fn resume(&self) {}
        fn suspend(&self) {}
        fn finish(&self, output: u32) {
            assert_eq!(output, 0);
            COUNT.with(|count| count.set(5));
        }
    }
    impl Drop for Uses {
        fn drop(&mut self) {
            COUNT.with(|count| count.set(count.get() + 1));
        }
    }
    let host = Hosts::new(2, STACK_BYTES).unwrap().enter(9).unwrap();
    for _ in 0..2 {
        assert_eq!(host.begin(Uses), None);
        assert!(host.run_ready(1, there_is_time));
    }
}

#[test]
fn what_the_loop_keeps_for_a_forked_thread_is_that_thread_s_alone() {
    thread_local! {
        static VALUE: Cell<u64> = const { Cell::new(0) };
    }
    struct Keeps(Log);
    impl Guest for Keeps {
        type Output = ();
        fn name(&self) -> &'static str {
            "guest"
        }
        fn run(&self) {
            let forked = [1, 2].map(|number| {
                let body = move || {
                    let begun_with = VALUE.replace(number);
                    yield_now();
                    // It ends with something that is kept for nobody.
                    (begun_with, VALUE.replace(number + 10))
                };
                fork(body).unwrap()
            });
            let told = forked.map(|thread| thread.join().unwrap());
            self.0.borrow_mut().push(format!("{told:?}"));
        }
        fn resume(&self) {}
        fn suspend(&self) {}
        fn finish(&self, (): ()) {}
        fn resume_forked(kept: u64) {
            VALUE.set(kept);
        }
        fn suspend_forked() -> u64 {
            VALUE.take()
        }
    }
    let host = Hosts::new(2, STACK_BYTES).unwrap().enter(9).unwrap();
    let log = Log::default();
    // The second time they have the records of threads that have ended.
    for _ in 0..2 {
        host.begin(Keeps(Rc::clone(&log)));
        while host.is_busy() {
            host.run_ready(1, there_is_time);
            assert_eq!(VALUE.get(), 0, "the loop has it");
        }
        assert_eq!(log.take(), ["[(0, 1), (0, 2)]"]);
    }
}

#[test]
fn a_place_is_taken_again_when_its_kernel_thread_has_left() {
    let hosts = Hosts::new(2, STACK_BYTES).unwrap();
    for _ in 0..10 {
        let (first, second) = (Loop::with_estacks(&hosts, 9), Loop::with_estacks(&hosts, 9));
        assert!(hosts.enter::<Noted>(9).is_none(), "there are two places");
        assert_eq!((first.begin(|| 1), second.begin(|| 2)), (Some(1), Some(2)));
    }
}

/// Two hosts of one kernel thread: a thread of the second one ends before that one hears that the
/// first one has cancelled it.
fn tell_late(hosts: &Arc<Hosts>) -> [Loop; 2] {
    let [first, second] = [9; 2].map(|estacks| Loop::with_estacks(hosts, estacks));
    let forked = Rc::new(Cell::new(None::<Forked<()>>));
    let theirs = Rc::clone(&forked);
    let forks = move || (theirs.set(Some(fork(yield_now).unwrap())), 0).1;
    assert_eq!(second.begin(forks), Some(0));
    assert!(second.host.run_ready(1, there_is_time), "it begins, and yields");
    let cancels = move || (forked.take().unwrap().cancel().unwrap(), 0).1;
    assert_eq!(first.begin(cancels), Some(0));
    assert!(second.host.run_ready(1, there_is_time), "it ends");
    [first, second]
}

#[test]
fn a_host_is_busy_until_it_has_heard_what_it_was_told() {
    let [first, second] = tell_late(&Hosts::new(2, STACK_BYTES).unwrap());
    assert!(!first.host.is_busy() && second.host.is_busy());
    second.finish();
    assert!(!second.host.is_busy());
}

#[test]
fn who_takes_a_place_hears_what_was_told_there_before() {
    let hosts = Hosts::new(2, STACK_BYTES).unwrap();
    drop(tell_late(&hosts));
    let on = [9; 2].map(|estacks| Loop::with_estacks(&hosts, estacks));
    assert!(on.iter().any(|on| on.host.is_busy()));
    on.iter().for_each(Loop::finish);
}

#[test]
fn what_a_semaphore_orders_goes_on_in_order() {
    let on = Loop::new();
    let semaphore = Rc::new(Semaphore::new(0));
    for number in 1..=3 {
        let semaphore = Rc::clone(&semaphore);
        assert_eq!(on.begin(move || (semaphore.acquire(), number).1), None);
    }
    let release = Rc::clone(&semaphore);
    let released = on.begin(move || {
        (0..3).for_each(|_| release.release());
        4
    });
    assert_eq!(released, Some(4));
    on.finish();
    let mut finished = on.said();
    finished.retain(|what| what.contains("finishes"));
    assert_eq!(finished, ["1 finishes with 1", "2 finishes with 2", "3 finishes with 3"]);
}

#[test]
#[should_panic(expected = "a stack has 65536 to 1099511627776 bytes, not 1")]
fn a_stack_that_is_too_small_is_refused() {
    panic!("{}", Hosts::new(2, 1).unwrap_err());
}
