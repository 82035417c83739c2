//! What ends a process, or needs all of one: each in a process of its own, which is this program
//! once more.

use std::cell::Cell;
use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::panic::{catch_unwind, resume_unwind};
use std::process::{Command, Output};
use std::rc::Rc;
use std::time::Duration;

use nearcall_threads::{
    Awaited, Forked, Guest, Host, Hosts, Idle, Mutex, Policy, Ready, Setup, Word, block, fork,
    named, run, scope, sleep, wait_for, yield_now,
};

/// Tells this program that it is the child.
const VARIABLE: &str = "NEARCALL_THREADS_ENDING";

const SIGABRT: i32 = 6;

/// Runs the test of this name as a child.
fn child(test: &str) -> Output {
    command(test).output().expect("a run of this test")
}

fn command(test: &str) -> Command {
    // This program, also where a build beside it has put another one in its place.
    let mut command = Command::new("/proc/self/exe");
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1");
    command
}

/// Runs this in the child, and nothing after it.
fn in_child(main: impl FnOnce()) {
    if std::env::var_os(VARIABLE).is_some() {
        main();
        std::process::exit(0);
    }
}

#[track_caller]
fn aborts(test: &str, want: &str) {
    let output = child(test);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(SIGABRT), "{said}");
    assert!(said.contains(want), "{said}");
}

/// Needs a frame for each level.
fn deep(levels: u64) -> u64 {
    let frame = std::hint::black_box([levels; 64]);
    if levels == 0 { 0 } else { deep(levels - 1) + frame[0] }
}

#[test]
fn an_overflow_names_the_thread() {
    in_child(|| {
        let thread = || named("deep").fork(|| deep(u64::MAX)).unwrap().join();
        run(thread).unwrap().unwrap();
    });
    let want = "FastThread 2 `deep` has overflowed its stack of 196608 bytes: aborting";
    aborts("an_overflow_names_the_thread", want);
}

#[test]
fn an_overflow_of_a_thread_with_a_long_name_is_told_whole() {
    in_child(|| {
        let thread = || named(&"é".repeat(2000)).fork(|| deep(u64::MAX)).unwrap().join();
        run(thread).unwrap().unwrap();
    });
    let name = "é".repeat(96);
    let want = format!("FastThread 2 `{name}` has overflowed its stack of 196608 bytes: aborting");
    aborts("an_overflow_of_a_thread_with_a_long_name_is_told_whole", &want);
}

#[test]
fn a_fault_that_is_no_overflow_is_not_called_one() {
    in_child(|| {
        let fault = || {
            let nowhere = std::ptr::without_provenance::<u8>(4096);
            // SAFETY: not sound, on purpose: it is to fault, and in a process of its own.
            unsafe { nowhere.read_volatile() }
        };
        run(fault).unwrap();
    });
    let output = child("a_fault_that_is_no_overflow_is_not_called_one");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{said}");
    assert!(!said.contains("overflowed"), "{said}");
}

#[test]
fn a_wait_while_unwinding_is_refused() {
    struct LocksWhenDropped(std::sync::Arc<Mutex<()>>);
    impl Drop for LocksWhenDropped {
        fn drop(&mut self) {
            drop(self.0.lock());
        }
    }
    in_child(|| {
        let main = || {
            let mutex = std::sync::Arc::new(Mutex::new(()));
            let _guard = mutex.lock().unwrap();
            let theirs = LocksWhenDropped(std::sync::Arc::clone(&mutex));
            drop(named("unwinds").fork(move || {
                let _theirs = theirs;
                panic!("on purpose");
            }));
            yield_now();
        };
        run(main).unwrap();
    });
    let want = "FastThread 2 `unwinds` would wait for a mutex that FastThread 1 `main` has while \
                it unwinds: aborting";
    aborts("a_wait_while_unwinding_is_refused", want);
    let why = "Panics are counted for the kernel thread, so that no other FastThread can run there";
    aborts("a_wait_while_unwinding_is_refused", why);
}

/// In the child of the fork(2): what is refused there, as an exit code.
fn refused_in_child() -> i32 {
    let forked = fork(|| ());
    let is_refused = forked.is_err_and(|error| error.to_string().contains("child of a fork(2)"));
    let yielded = catch_unwind(yield_now);
    if is_refused && yielded.is_err() { 0 } else { 1 }
}

#[test]
fn threads_do_not_go_on_in_the_child_of_a_fork_of_the_process() {
    let code = run(|| {
        let other = fork(|| ()).unwrap();
        let code = in_copy(refused_in_child);
        other.join().unwrap();
        code
    });
    assert_eq!(code.unwrap(), Some(0));
}

#[test]
fn a_scope_does_not_end_well_in_the_child_of_a_fork_of_the_process() {
    let code = run(|| {
        let forks = || {
            scope(|scope| {
                drop(scope.fork(|| ()).unwrap());
                in_copy(|| resume_unwind(Box::new("out of the body, in the child")))
            })
        };
        let payload = match catch_unwind(forks) {
            Ok(code) => return code,
            Err(payload) => payload,
        };
        let said = payload.downcast_ref::<String>();
        let is_refused = said.is_some_and(|said| said.contains("child of a fork(2)"));
        // SAFETY: ends the child, which alone comes here, as above.
        unsafe { libc::_exit(if is_refused { 7 } else { 8 }) };
    });
    assert_eq!(code.unwrap(), Some(7));
}

/// What `main` comes to in the child of a fork(2) of this process; nothing if it does not end.
fn in_copy(main: impl Fn() -> i32) -> Option<i32> {
    // SAFETY: the child calls what allocates, which glibc allows after a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child if it waits for ever.
        unsafe { libc::alarm(10) };
        let code = main();
        // SAFETY: ends the child without what the parent would do at its end.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: waits for a child of ours.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
}

#[test]
fn a_run_in_the_child_of_a_fork_of_the_process_blocks_elsewhere() {
    in_child(|| {
        let blocks = || run(|| block(|| 7).unwrap()).unwrap();
        // A kernel thread stays that waits for the next call, here and not in the child.
        assert_eq!(blocks(), 7);
        println!("code: {:?}", in_copy(blocks));
    });
    let output = child("a_run_in_the_child_of_a_fork_of_the_process_blocks_elsewhere");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("code: Some(7)\n"), "{output:?}");
}

#[test]
fn a_guard_that_a_run_in_the_child_of_a_fork_returns_releases_its_lock() {
    static LOCK: Mutex<i32> = Mutex::new(7);
    in_child(|| {
        let lock = || run(|| LOCK.lock().unwrap()).unwrap();
        let locks = || {
            drop(lock());
            let guard = lock();
            run(move || drop(guard)).unwrap();
            if locks_when_its_loop_has_dropped_the_guard() { *lock() } else { 8 }
        };
        // Sees to it that a fork is noticed.
        assert_eq!(locks(), 7);
        println!("code: {:?}", in_copy(locks));
    });
    let output = child("a_guard_that_a_run_in_the_child_of_a_fork_returns_releases_its_lock");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("code: Some(7)\n"), "{output:?}");
}

#[test]
fn a_run_in_the_child_of_a_fork_of_the_process_finds_what_others_were_at() {
    in_child(|| {
        // Each has stacks of its own size, which are mapped while others are to keep off.
        let run_of = |steps: usize| Setup::default().stack_bytes((64 << 10) + steps * (8 << 10));
        // The first run of all sees to it that a fork is noticed.
        run_of(0).run(|| ()).unwrap();
        std::thread::spawn(move || {
            loop {
                (1..400).for_each(|steps| run_of(steps).run(|| ()).unwrap());
            }
        });
        let codes = (0..50).map(|_| in_copy(|| run_of(401).run(|| 7).unwrap()));
        println!("good: {}", codes.take_while(|code| *code == Some(7)).count());
    });
    let output = child("a_run_in_the_child_of_a_fork_of_the_process_finds_what_others_were_at");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("good: 50\n"), "{output:?}");
}

/// As many threads as there is address space for stacks of 1 TiB, and why there was no further one.
fn fork_until_refused() -> (u32, String) {
    let mut threads = Vec::new();
    loop {
        match fork(|| 1_u32) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                let sum = threads.iter().map(|thread| thread.join().unwrap()).sum();
                return (sum, error.to_string());
            }
        }
    }
}

#[test]
fn memory_that_is_short_is_an_error_and_the_other_threads_go_on() {
    let test = "memory_that_is_short_is_an_error_and_the_other_threads_go_on";
    in_child(|| {
        let (sum, error) = Setup::default().stack_bytes(1 << 40).run(fork_until_refused).unwrap();
        // A process has 128 TiB of addresses on x86-64, and 256 on aarch64.
        assert!((1..257).contains(&sum), "{sum} threads");
        println!("refused: {error}");
    });
    let output = child(test);
    let said = String::from_utf8_lossy(&output.stdout);
    let want = "refused: no memory for a stack of 1099511627776 bytes: ";
    assert!(output.status.success() && said.contains(want), "{said}");
}

#[test]
fn a_processor_that_cannot_be_made_is_an_error_and_the_others_end() {
    let test = "a_processor_that_cannot_be_made_is_an_error_and_the_others_end";
    in_child(|| {
        // No room for the stacks of a thousand kernel threads; where one does not fit any more,
        // there is room for whatever else is allocated.
        let limit = libc::rlimit { rlim_cur: 512 << 20, rlim_max: 512 << 20 };
        // SAFETY: sets a limit of this process, from a struct of numbers.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let error = Setup::default().processors(1024).run(|| ()).unwrap_err();
        assert_eq!(Setup::default().processors(2).run(|| 7).unwrap(), 7);
        println!("refused: {error}");
    });
    let stack_bytes = (48 << 20).to_string();
    let output = command(test).env("RUST_MIN_STACK", stack_bytes).output().expect("a run");
    let said = String::from_utf8_lossy(&output.stdout);
    let want = "refused: no kernel thread for processor ";
    assert!(output.status.success() && said.contains(want), "{output:?}");
}

/// Memory of this process, in pages.
fn resident_pages() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Touches 100 KiB of a stack.
#[inline(never)]
fn touch() {
    std::hint::black_box([7_u8; 100 << 10]);
}

#[test]
fn an_idle_processor_gives_back_what_stacks_have_touched() {
    let test = "an_idle_processor_gives_back_what_stacks_have_touched";
    in_child(|| {
        let pages = run(|| {
            let threads: Vec<_> = (0..500).map(|_| fork(touch).unwrap()).collect();
            threads.iter().for_each(|thread| thread.join().unwrap());
            let touched = resident_pages();
            // Idle long enough to have had the time, on a machine that has others to do.
            (0..1000).for_each(|_| sleep(Duration::from_micros(100)));
            (touched, resident_pages())
        });
        let (touched, left) = pages.unwrap();
        // 500 stacks of 25 pages each; at most 32 are kept.
        assert!(touched - left >= 450 * 25, "{touched} pages, then {left}");
        println!("given back");
    });
    let output = child(test);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("given back"), "{output:?}");
}

#[test]
fn an_overflow_on_an_estack_names_its_guest() {
    struct Deep;
    impl Guest for Deep {
        type Output = u64;
        fn name(&self) -> &'static str {
            "descend"
        }
        fn run(&self) -> u64 {
            deep(u64::MAX)
        }
        fn resume(&self) {}
        fn suspend(&self) {}
        fn finish(&self, _output: u64) {}
    }
    in_child(|| {
        let hosts = Hosts::new(1, 192 << 10).unwrap();
        let host: Host<Deep> = hosts.enter(1).unwrap();
        host.begin(Deep);
    });
    let want = "FastThread 1, which runs `descend`, has overflowed its stack of 196608 bytes: \
                aborting";
    aborts("an_overflow_on_an_estack_names_its_guest", want);
}

#[test]
fn a_destructor_that_waits_while_a_cancelled_thread_unwinds_is_refused() {
    struct SleepsWhenDropped;
    impl Drop for SleepsWhenDropped {
        fn drop(&mut self) {
            sleep(Duration::from_secs(3600));
        }
    }
    in_child(|| {
        let main = || {
            let thread = named("cancelled").fork(|| {
                let _sleeps = SleepsWhenDropped;
                sleep(Duration::from_secs(3600));
            });
            let thread = thread.unwrap();
            yield_now();
            thread.cancel().unwrap();
            thread.join()
        };
        drop(run(main).unwrap());
    });
    let test = "a_destructor_that_waits_while_a_cancelled_thread_unwinds_is_refused";
    aborts(test, "FastThread 2 `cancelled` would wait for a time in 35");
    aborts(test, " ms while it unwinds: aborting");
}

#[test]
fn a_processor_without_a_stack_for_the_news_says_so_and_tells_it_later() {
    let test = "a_processor_without_a_stack_for_the_news_says_so_and_tells_it_later";
    in_child(|| {
        let refused = Setup::default().stack_bytes(1 << 40).processors(2).run(|| {
            let begun = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let theirs = std::sync::Arc::clone(&begun);
            let thread = fork(move || {
                theirs.store(true, std::sync::atomic::Ordering::Relaxed);
                sleep(Duration::from_secs(3600));
            });
            let thread = thread.unwrap();
            // Does not yield, so that it begins elsewhere.
            while !begun.load(std::sync::atomic::Ordering::Relaxed) {}
            let mut others = Vec::new();
            while let Ok(other) = fork(|| ()) {
                others.push(other);
            }
            let refused = thread.cancel().unwrap_err();
            others.iter().for_each(|other| other.join().unwrap());
            thread.cancel().unwrap();
            (refused.to_string(), thread.join().unwrap_err().to_string())
        });
        println!("refused: {:?}", refused.unwrap());
    });
    let output = child(test);
    let said = String::from_utf8_lossy(&output.stdout);
    let is_refused = said.contains("refused: (\"no memory for a stack of 1099511627776 bytes: ");
    assert!(is_refused && said.contains("\"FastThread 3 was cancelled\""), "{output:?}");
}

struct Calls(Box<dyn Fn()>);

impl Guest for Calls {
    type Output = ();
    fn name(&self) -> &'static str {
        "guest"
    }
    fn run(&self) {
        (self.0)();
    }
    fn resume(&self) {}
    fn suspend(&self) {}
    fn finish(&self, (): ()) {}
}

/// Whether a guest locks what the one before it has locked, and the loop has released.
fn locks_when_its_loop_has_dropped_the_guard() -> bool {
    static LOCK: Mutex<()> = Mutex::new(());
    let host: Host<Calls> = Hosts::new(1, 192 << 10).unwrap().enter(1).unwrap();
    let taken = Rc::new(Cell::new(None));
    let lock = || {
        let taken_there = Rc::clone(&taken);
        host.begin(Calls(Box::new(move || taken_there.set(LOCK.try_lock()))));
        taken.take().is_some()
    };
    lock() && lock()
}

/// Two hosts, of which the second one ends before it has heard what the first one tells it: that a
/// thread is cancelled, which has ended. False: there was no stack.
fn end_before_the_news() -> bool {
    let hosts = Hosts::new(2, 1 << 40).unwrap();
    let [first, second]: [Host<Calls>; 2] = [9; 2].map(|estacks| hosts.enter(estacks).unwrap());
    let forked = Rc::new(Cell::new(None::<Forked<()>>));
    let theirs = Rc::clone(&forked);
    let forks = Calls(Box::new(move || theirs.set(fork(yield_now).ok())));
    let has_forked = second.begin(forks).is_some();
    second.run_ready(1, || true);
    let is_told = Rc::new(Cell::new(false));
    let theirs = Rc::clone(&is_told);
    let cancels = move || theirs.set(forked.take().is_some_and(|forked| forked.cancel().is_ok()));
    let has_cancelled = first.begin(Calls(Box::new(cancels))).is_some();
    second.run_ready(1, || true);
    has_forked && has_cancelled && is_told.get()
}

#[test]
fn news_for_a_host_that_has_ended_keeps_no_stack() {
    in_child(|| {
        // There is address space for some hundred stacks.
        let rounds = (0..300).take_while(|_| end_before_the_news()).count();
        println!("rounds: {rounds}");
    });
    let output = child("news_for_a_host_that_has_ended_keeps_no_stack");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("rounds: 300"), "{output:?}");
}

#[test]
fn a_policy_that_panics_ends_the_process() {
    /// Whom it would unwind waits already, and is made ready or goes on all the same.
    #[derive(Default)]
    struct Panics(VecDeque<Ready>, u32);
    impl Policy for Panics {
        fn add(&mut self, thread: Ready) {
            self.0.push_back(thread);
        }
        fn next(&mut self) -> Option<Ready> {
            self.1 += 1;
            assert_ne!(self.1, 2, "on purpose");
            self.0.pop_front()
        }
    }
    in_child(|| {
        let outcome = Setup::default().policy(Panics::default).run(|| {
            drop(fork(|| ()));
            yield_now();
        });
        drop(outcome);
    });
    aborts("a_policy_that_panics_ends_the_process", "a processor of FastThreads panics");
}

#[test]
fn a_policy_that_forks_ends_the_process() {
    #[derive(Default)]
    struct Forks(VecDeque<Ready>);
    impl Policy for Forks {
        fn add(&mut self, thread: Ready) {
            self.0.push_back(thread);
            drop(fork(|| ()));
        }
        fn next(&mut self) -> Option<Ready> {
            self.0.pop_front()
        }
    }
    in_child(|| drop(Setup::default().policy(Forks::default).run(yield_now)));
    aborts("a_policy_that_forks_ends_the_process", "a policy forks, yields, waits or wakes");
}

#[test]
fn a_policy_that_gives_a_thread_of_another_run_ends_the_process() {
    thread_local! {
        static KEPT: Cell<Option<Ready>> = const { Cell::new(None) };
    }
    /// Keeps the thread that it was given last, and gives the one that it was given before.
    struct Keeps(Option<Ready>);
    impl Policy for Keeps {
        fn add(&mut self, thread: Ready) {
            self.0 = KEPT.replace(Some(thread));
        }
        fn next(&mut self) -> Option<Ready> {
            self.0.take()
        }
    }
    in_child(|| {
        for _ in 0..2 {
            drop(Setup::default().policy(|| Keeps(None)).run(|| ()));
        }
    });
    let test = "a_policy_that_gives_a_thread_of_another_run_ends_the_process";
    aborts(test, "a policy of run 2 gives FastThread 1 `main` of run 1");
}

#[test]
fn something_awaited_that_panics_ends_the_process() {
    struct Panics;
    impl Awaited for Panics {
        fn is_over(&self) -> bool {
            panic!("on purpose")
        }
        fn idle(&self, idle: &Idle<'_>) {
            idle.look();
        }
        fn fall_asleep(&self) -> Option<Word<'_>> {
            None
        }
        fn wake_up(&self, _is_late: bool) {}
        fn describe(&self) -> String {
            "what panics".to_owned()
        }
    }
    in_child(|| drop(run(|| wait_for(&Panics, None))));
    let test = "something_awaited_that_panics_ends_the_process";
    aborts(test, "a processor of FastThreads panics");
}

#[test]
fn a_loop_that_panics_ends_its_free_estacks_and_not_the_process() {
    in_child(|| {
        let caught = std::panic::catch_unwind(|| {
            let hosts = Hosts::new(2, 192 << 10).unwrap();
            let host: Host<Calls> = hosts.enter(1).unwrap();
            host.begin(Calls(Box::new(|| ())));
            panic!("on purpose");
        });
        println!("is caught: {}", caught.is_err());
    });
    let output = child("a_loop_that_panics_ends_its_free_estacks_and_not_the_process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("is caught: true"), "{output:?}");
}
