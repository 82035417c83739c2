//! What a call that passes descriptors leaves open in its own process: nothing. Alone in its file,
//! because no other test may open or close any meanwhile.

use std::os::fd::AsFd;
use std::time::Duration;

use testkit::passing::count;
use testkit::world::{World, each_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

#[test]
fn calls_leave_no_descriptor_open() {
    each_world(SERVER, |world: &World| {
        let server = world.serve("leaks");
        let client = world.import_passing(&server);
        let given = tempfile::tempfile().unwrap();
        let given = given.as_fd();
        let hasty = client.with_deadline(Duration::from_millis(2));
        let calls = || {
            for _ in 0..50 {
                drop(client.back(given).unwrap());
                client.choose(given, 1).unwrap_err();
                client.close(given).unwrap();
                drop(client.posting().back(given).unwrap());
                client.posting().later(given, 1).unwrap().cancel();
                // On a crowded machine its reply may be there before its client looks.
                drop(hasty.later(given, 4));
            }
            // Every A-stack is back, and a call that expects some has looked for what nobody did.
            while client.binding().captured_count() > 0 {
                std::thread::yield_now();
            }
            drop(client.back(given).unwrap());
        };
        calls();
        let before = count();
        calls();
        // A oneway call may still be under way.
        let closed = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            count() <= before
        });
        assert!(closed, "{} descriptors were open, now {}", before, count());
    });
}
