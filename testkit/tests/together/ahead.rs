//! Calls that are posted ahead of whoever will ask what came of them (design note 0020): any thread
//! collects or drops them, and one A-stack is left to calls that somebody waits for.

use nearcall::raw::{Ahead, Client, Lead, in_haste};
use testkit::faults::faults::{FAULTS, FEEDING, FeedingClient};
use testkit::longer::is_so_beside;
use testkit::world::each_world;

const SERVER: &str = env!("CARGO_BIN_EXE_testkit-server");

/// More than a binding has A-stacks.
const ROUNDS: u32 = 100;

/// Longer than it takes until a server has another processor, mostly.
const LONG_MS: u32 = 100;

fn check(test: impl Fn(&Client, &FeedingClient)) {
    each_world(SERVER, |world| {
        let server = world.serve("ahead");
        let client = world.import_feeding(&server);
        test(&Client::new(client.binding().clone(), &FEEDING), &client);
    });
}

/// The procedure `open`, which returns how many feeds there are, and its class.
fn open() -> (u32, usize) {
    let index = FEEDING.procedures.iter().position(|one| one.name == "open").unwrap();
    (index as u32, FEEDING.procedures[index].class.into())
}

fn post<'b>(client: &'b Client, lead: Option<Lead<&'b Client>>) -> Ahead<'b> {
    let (procedure, class) = open();
    client.claim_of_class(class, procedure).unwrap().post_ahead(0, lead).unwrap()
}

fn collect(ahead: Ahead<'_>) -> u32 {
    ahead.collect().unwrap().get_u32::<0>()
}

fn wait_until_none_is_captured(client: &Client) {
    while client.binding().captured_count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn another_thread_collects_what_one_has_posted() {
    check(|raw, client| {
        for _ in 0..ROUNDS {
            let ahead = post(raw, None);
            let collected = std::thread::scope(|scope| {
                scope.spawn(|| (collect(ahead), client.open().unwrap())).join().unwrap()
            });
            assert_eq!(collected, (0, 0));
            assert_eq!(client.open().unwrap(), 0);
        }
        assert_eq!(raw.binding().captured_count(), 0);
    });
}

#[test]
fn what_another_thread_has_collected_has_one_owner() {
    check(|raw, client| {
        let (procedure, class) = open();
        // Kept for this thread from here on.
        assert_eq!(client.open().unwrap(), 0);
        let ahead = post(raw, None);
        std::thread::scope(|scope| scope.spawn(|| collect(ahead)).join().unwrap());
        let own = raw.claim_of_class(class, procedure).unwrap();
        // Whoever finds the list empty takes what is kept for others.
        let claim = || in_haste(|| raw.claim_of_class(class, procedure)).ok();
        let others = std::thread::scope(|scope| {
            let all = || std::iter::from_fn(claim).take(1_000).collect::<Vec<_>>().len();
            scope.spawn(all).join().unwrap()
        });
        assert_eq!(others as u32 + 1, FEEDING.classes[class].count);
        drop(own);
    });
}

#[test]
fn what_is_dropped_gives_its_astack_back_on_whichever_thread() {
    check(|raw, client| {
        for _ in 0..ROUNDS {
            drop(post(raw, None));
            let ahead = post(raw, None);
            std::thread::scope(|scope| scope.spawn(|| drop(ahead)).join().unwrap());
        }
        wait_until_none_is_captured(raw);
        assert_eq!(client.open().unwrap(), 0);
    });
}

/// Posts a call that takes so long.
fn doze(client: &Client, milliseconds: u32) -> Ahead<'_> {
    let index = FAULTS.procedures.iter().position(|one| one.name == "doze").unwrap();
    let class = FAULTS.procedures[index].class.into();
    let mut call = client.claim_of_class(class, index as u32).unwrap();
    call.put_bytes::<0>(&milliseconds.to_le_bytes());
    call.post_ahead(4, None).unwrap()
}

#[test]
fn one_that_another_thread_collects_keeps_no_other_from_being_served() {
    each_world(SERVER, |world| {
        let server = world.serve("ahead");
        let raw = Client::new(world.import(&server).binding().clone(), &FAULTS);
        let is_served_meanwhile = |milliseconds| {
            let (first, second) = (doze(&raw, milliseconds), doze(&raw, milliseconds / 10));
            let first = std::thread::scope(|scope| scope.spawn(|| collect(first)).join().unwrap());
            let is_replied = second.is_replied();
            // Each says how many there were: in which order they begin nobody promises.
            assert_eq!(first.abs_diff(collect(second)), 1);
            is_replied
        };
        assert!(is_so_beside(LONG_MS, is_served_meanwhile));
    });
}

#[test]
fn a_reply_that_is_there_is_told_without_waiting() {
    check(|raw, _| {
        let ahead = post(raw, None);
        while !ahead.is_replied() {
            std::thread::yield_now();
        }
        assert_eq!(collect(ahead), 0);
    });
}

#[test]
fn what_is_cancelled_gives_its_astack_and_its_lead_back_on_whichever_thread() {
    check(|raw, client| {
        let (procedure, _) = open();
        for _ in 0..ROUNDS {
            post(raw, Lead::of_procedure(raw, procedure)).cancel();
            let ahead = post(raw, None);
            std::thread::scope(|scope| scope.spawn(|| ahead.cancel()).join().unwrap());
        }
        wait_until_none_is_captured(raw);
        assert!(Lead::of_procedure(raw, procedure).is_some());
        assert_eq!(client.open().unwrap(), 0);
    });
}

#[test]
fn one_astack_is_left_to_calls_that_are_waited_for() {
    check(|raw, client| {
        let (procedure, class) = open();
        let count = FEEDING.classes[class].count;
        let leads: Vec<_> =
            std::iter::from_fn(|| Lead::of_procedure(raw, procedure)).take(1_000).collect();
        assert_eq!(leads.len() as u32, count - 1);
        let ahead: Vec<_> = leads.into_iter().map(|lead| post(raw, Some(lead))).collect();
        assert!(Lead::of_procedure(raw, procedure).is_none());
        for _ in 0..ROUNDS {
            assert_eq!(client.open().unwrap(), 0);
        }
        // What asks in haste takes the last one too, and is then told that there is none.
        let last = in_haste(|| raw.claim_of_class(class, procedure)).unwrap();
        assert!(in_haste(|| raw.claim_of_class(class, procedure)).is_err());
        drop(last);
        for ahead in ahead {
            assert_eq!(collect(ahead), 0);
            assert!(Lead::of_procedure(raw, procedure).is_some());
        }
    });
}
