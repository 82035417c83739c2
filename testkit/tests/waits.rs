//! Waiting: who sleeps, who is woken, and who takes over from whom. Counts, not times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lacking::lacking;
use nearcall::Domain;
use nearcall_os::processor;
use testkit::activity::{TOLD, activity, is_told};
use testkit::campaign::hand::{self, HandClient};
use testkit::campaign::{effects, player};
use testkit::longer::is_so_beside;
use testkit::world::{Kind, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

#[test]
fn an_idle_server_does_nothing() {
    if !is_told() {
        return lacking(TOLD);
    }
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("idle");
        let client = world.import(&server);
        let other = world.import(&server);
        for _ in 0..1_000 {
            client.null().unwrap();
            other.null().unwrap();
        }
        let pid = server.pid().expect("a process of its own");
        // From the last call to sleep there is a spin, and for a second or two housekeeping asks
        // whether clients live; some time nothing moves any more.
        let is_at_rest = |_| {
            let before = activity(pid);
            assert!(before.len() >= 3, "{before:?}");
            std::thread::sleep(Duration::from_millis(3_500));
            activity(pid) == before
        };
        assert!((0..10).any(is_at_rest), "{:?}", activity(pid));
        // And it is there when it is called.
        assert_eq!(client.add(1, 2).unwrap(), 3);
    });
}

/// Voluntary switches of the server's residents, by thread.
fn resident_switches(pid: u32) -> Vec<u64> {
    let threads = activity(pid).into_values();
    let residents = threads.filter(|thread| thread.name.starts_with("nearcall-at-"));
    residents.map(|thread| thread.voluntary_switches).collect()
}

#[test]
fn a_sleeping_server_serves_where_its_caller_is_and_a_busy_one_elsewhere() {
    if !is_told() {
        return lacking(TOLD);
    }
    in_world(Kind::Processes, SERVER, |world| {
        let processors = processor::allowed();
        let server = world.serve("asleep");
        let client = world.import(&server);
        let pid = server.pid().expect("a process of its own");
        // Whoever runs a procedure that is no leaf is bound to no processor, nor is what it starts.
        let call_apart = || {
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(client.processors().unwrap() as usize, processors.len());
        };
        let calls = || {
            processor::pin(processors[0]).unwrap();
            (0..20).for_each(|_| call_apart());
            let residents = resident_switches(pid);
            if processors.len() == 1 {
                let others = residents.len();
                assert_eq!(others, 0, "on one processor the watcher is everybody's resident");
                return;
            }
            let [before] = residents[..] else { panic!("one for the processor: {residents:?}") };
            (0..20).for_each(|_| call_apart());
            let apart = resident_switches(pid)[0] - before;
            assert!(apart >= 10, "{apart} switches for 20 calls apart");
            // A leaf stays on the processor that it was called from.
            let stayed = (0..20).filter(|_| {
                std::thread::sleep(Duration::from_millis(20));
                client.leaf_processors().unwrap() == 1
            });
            assert!(stayed.count() >= 10, "leaves were not bound to their caller's processor");
            let before_row = resident_switches(pid)[0];
            for _ in 0..10_000 {
                client.null().unwrap();
            }
            let in_a_row = resident_switches(pid)[0] - before_row;
            // How many depends on who else wants the processors.
            assert!(in_a_row < 10_000, "the watcher was not hailed: {in_a_row} switches");
        };
        std::thread::scope(|threads| threads.spawn(calls).join().unwrap());
    });
}

#[test]
fn servers_of_one_processor_that_are_called_by_turns_let_each_other_have_it() {
    if !is_told() {
        return lacking(TOLD);
    }
    in_world(Kind::Processes, SERVER, |world| {
        let [here, there, ..] = processor::allowed()[..] else {
            return lacking("a second processor");
        };
        let calls = || {
            // Who is started from here stays where this thread is.
            processor::pin(there).unwrap();
            let servers = ["one", "other"].map(|name| world.serve(name));
            processor::pin(here).unwrap();
            let clients = servers.each_ref().map(|server| world.import(server));
            let sleeps = || {
                let pids = servers.iter().map(|server| server.pid().expect("a process"));
                let threads = pids.flat_map(|pid| activity(pid).into_values());
                threads.map(|thread| thread.voluntary_switches).sum::<u64>()
            };
            // Who polls on would have each call wait until it sleeps. Where somebody else wants the
            // processor, it may have to.
            let is_shared = || {
                let before = sleeps();
                for _ in 0..1_000 {
                    clients.iter().for_each(|client| client.null().unwrap());
                }
                sleeps() - before < 1_000
            };
            assert!((0..100).any(|_| is_shared()), "they sleep for each other");
        };
        std::thread::scope(|threads| threads.spawn(calls).join().unwrap());
    });
}

#[test]
fn a_posted_call_that_nobody_waits_for_does_not_wait_behind_a_slow_one() {
    each_world(SERVER, |world| {
        let server = world.serve("posted");
        let client = world.import(&server);
        let posting = client.posting();
        let is_before = |milliseconds| {
            let slow = posting.doze(milliseconds).unwrap();
            let quick = posting.add(1, 2).unwrap();
            while !quick.is_replied() {
                std::thread::yield_now();
            }
            let is_before = !slow.is_replied();
            assert_eq!(quick.collect().unwrap(), 3);
            slow.collect().unwrap();
            is_before
        };
        assert!(is_so_beside(2_000, is_before), "it came behind the one that takes long");
    });
}

#[test]
fn a_oneway_call_does_not_wait_behind_a_slow_one() {
    each_world(SERVER, |world| {
        let server = world.serve("oneway");
        let client = world.import(&server);
        let is_before = |milliseconds| {
            let before = client.runs().unwrap();
            std::thread::scope(|threads| {
                let slow = threads.spawn(|| client.doze(milliseconds));
                while client.runs().unwrap() == before {}
                // Now the processor that took over is stuck as well, and nobody who waits rings.
                let slower = threads.spawn(|| client.doze(milliseconds));
                std::thread::sleep(Duration::from_millis(20));
                client.note().unwrap();
                while client.binding().captured_count() > 0 {
                    std::thread::yield_now();
                }
                let is_before = !slow.is_finished() && !slower.is_finished();
                slow.join().unwrap().unwrap();
                slower.join().unwrap().unwrap();
                is_before
            })
        };
        assert!(is_so_beside(2_000, is_before));
    });
}

#[test]
fn calls_are_found_beside_bells_of_the_same_user_that_ring_for_nothing() {
    const CALLS: i32 = 200;
    /// Rings before the calls begin: the server has stopped hearing them by then.
    const RINGS: u64 = 100_000;

    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let _clerk = effects::export(&server, directory.path(), "rung").unwrap();
    let timeout = Duration::from_secs(60);
    let client = player::bind(directory.path(), "rung", timeout).unwrap();
    let client = client.with_deadline(timeout);
    let flooder = HandClient::bind(&hand::path_of(directory.path(), "rung")).unwrap();
    let rings = AtomicU64::new(0);
    std::thread::scope(|threads| {
        let calls = threads.spawn(|| {
            // Relaxed, here and below: a counter that orders nothing.
            while rings.load(Ordering::Relaxed) < RINGS {
                std::thread::yield_now();
            }
            for number in 0..CALLS {
                assert_eq!(client.add(number, 1).unwrap(), number + 1);
                // The server is to sleep before the next one.
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        while !calls.is_finished() {
            flooder.ring();
            // Relaxed: as above.
            rings.fetch_add(1, Ordering::Relaxed);
        }
    });
}

#[test]
fn a_wait_ends_when_it_is_interrupted() {
    use nearcall::CallError;
    use nearcall::raw::Interruptible;

    each_world(SERVER, |world| {
        let server = world.serve("interrupted");
        let client = world.import(&server);
        let interruptible = Interruptible::begin(|| true);
        // The A-stack is captured until the procedure returns, which may be before anybody looks.
        let is_captured = |milliseconds| {
            let aborted = client.doze(milliseconds).err();
            let is_aborted = matches!(aborted, Some(CallError::CallAborted { .. }) | None);
            assert!(is_aborted, "{aborted:?}");
            client.binding().captured_count() == 1
        };
        assert!(is_so_beside(300, is_captured));
        drop(interruptible);
        // Others are free.
        assert!(client.doze(10).unwrap() > 0);
    });
}
