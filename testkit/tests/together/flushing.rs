//! Before a client goes: what it has posted and nobody waits for is run, or counted.

use std::sync::Arc;
use std::time::Duration;

use nearcall_threads::{fork, run, yield_now};
use testkit::signal;
use testkit::world::{Kind, World, each_world, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// Calls that are under way at once: as many as there are A-stacks.
const NOTES: u32 = 5;

/// After so long a server sleeps.
const IDLE: Duration = Duration::from_millis(20);

#[test]
fn what_was_flushed_has_run() {
    each_world(SERVER, |world| {
        let server = world.serve("flushing");
        let staying = world.import(&server);
        for round in 1..=8_u32 {
            let leaving = world.import(&server);
            std::thread::sleep(IDLE * (round % 2));
            (0..NOTES).for_each(|_| leaving.note().unwrap());
            assert_eq!(leaving.binding().flush(LONG), 0);
            drop(leaving);
            assert_eq!(staying.runs().unwrap(), u64::from(round * NOTES));
        }
    });
}

#[test]
fn where_nothing_was_posted_nothing_is_left() {
    each_world(SERVER, |world| {
        let server = world.serve("flushing");
        let client = world.import(&server);
        assert_eq!(client.binding().flush(LONG), 0);
        client.null().unwrap();
        assert_eq!(client.binding().flush(Duration::ZERO), 0);
    });
}

#[test]
fn what_a_stopped_server_has_not_run_is_counted() {
    in_world(Kind::Processes, SERVER, |world: &World| {
        let server = world.serve("flushing");
        let client = world.import(&server);
        client.null().unwrap();
        let pid = server.pid().unwrap();
        signal::stop(pid);
        (0..3).for_each(|_| client.note().unwrap());
        assert_eq!(client.binding().flush(Duration::ZERO), 3);
        assert_eq!(client.binding().flush(IDLE), 3);
        signal::resume(pid);
        assert_eq!(client.binding().flush(LONG), 0);
        assert_eq!(client.runs().unwrap(), 3);
    });
}

#[test]
fn what_a_dead_server_has_not_run_is_counted_at_once() {
    in_world(Kind::Processes, SERVER, |world: &World| {
        let mut server = world.serve("flushing");
        let client = world.import(&server);
        client.null().unwrap();
        signal::stop(server.pid().unwrap());
        (0..2).for_each(|_| client.note().unwrap());
        server.kill();
        assert_eq!(client.binding().flush(LONG), 2);
        assert!(client.binding().is_revoked());
    });
}

#[test]
fn others_run_while_a_fastthread_flushes() {
    each_world(SERVER, |world| {
        let server = world.serve("flushing");
        let client = Arc::new(world.import(&server));
        let flushes = Arc::clone(&client);
        run(move || {
            drop(client.posting().work(1, 50, &[9]).unwrap());
            let flushed = fork(move || flushes.binding().flush(LONG)).unwrap();
            let mut turns = 0;
            while client.binding().captured_count() > 0 {
                yield_now();
                turns += 1;
            }
            assert!(turns > 1, "{turns} turns of another thread");
            assert_eq!(flushed.join().unwrap(), 0);
        })
        .unwrap();
    });
}
