//! Who looks after posted calls sleeps once they are taken. Alone in its program, because the
//! threads are the process's.

use std::time::Duration;

use lacking::lacking;
use testkit::activity::{TOLD, activity, is_told};
use testkit::world::{Kind, in_world};

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

#[test]
fn a_client_whose_calls_are_taken_does_nothing() {
    if !is_told() {
        return lacking(TOLD);
    }
    in_world(Kind::Processes, SERVER, |world| {
        let server = world.serve("collected");
        let client = world.import(&server);
        let posting = client.posting();
        let house_switches = || {
            let threads = activity(std::process::id()).into_values();
            let house = threads.filter(|thread| thread.name.starts_with("nearcall-house"));
            house.map(|thread| thread.voluntary_switches).collect::<Vec<_>>()
        };
        let mut before = house_switches();
        let mut switches = 0;
        for number in 0..3 {
            assert_eq!(posting.add(number, 1).unwrap().collect().unwrap(), number + 1);
            // It looks for calls for a while, and then no more.
            loop {
                std::thread::sleep(Duration::from_millis(50));
                let now = house_switches();
                if now == before {
                    break;
                }
                switches += 1;
                before = now;
            }
        }
        assert!(switches >= 3, "it has not looked at all");
        // Nor is one looked after that has its reply, and one that runs.
        let is_at_rest = |_| {
            let replied = posting.add(1, 2).unwrap();
            let running = posting.doze(2_000).unwrap();
            std::thread::sleep(Duration::from_millis(500));
            let was_replied = replied.is_replied();
            let before = house_switches();
            std::thread::sleep(Duration::from_secs(1));
            let is_at_rest = was_replied && !running.is_replied() && house_switches() == before;
            assert_eq!(replied.collect().unwrap(), 3);
            assert!(running.collect().is_ok());
            is_at_rest
        };
        // Where the machine stands still meanwhile, who sleeps is woken by that.
        assert!((0..10).any(is_at_rest));
    });
}
