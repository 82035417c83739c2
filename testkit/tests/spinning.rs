//! Spinning is accounted. Alone in its program, because the account is the process's.

use lacking::lacking;
use nearcall_os::processor;
use testkit::world::{Kind, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

#[test]
fn what_a_wait_spins_is_accounted() {
    in_world(Kind::Processes, SERVER, |world| {
        if processor::count_allowed() == 1 {
            return lacking("a second processor");
        }
        let server = world.serve("slow");
        let client = world.import(&server);
        let before = nearcall::spun();
        // A wait for a server that happens to be on the same processor does not spin; calls in a
        // row bring it to another one, beside other work only after a while.
        let has_spun = (0..5_000).any(|_| {
            (0..1_000).for_each(|_| client.null().unwrap());
            client.doze(1).unwrap();
            nearcall::spun() > before
        });
        assert!(has_spun, "5,000 waits of a millisecond did not spin");
    });
}
