//! Brief calls whose A-stacks are kept no more, whose threads biases know by something else, and
//! whose time is not their client's.

use std::collections::HashSet;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use nearcall_abi::{AStackClass, InterfaceDescriptor};

use super::BriefCall;
use crate::client::binding::{ClientBinding, identity};
use crate::client::deadline::Deadline;
use crate::error::CallError;
use crate::raw::{Arguments, Client, Entries, Outcome};
use crate::server::current::{self, CurrentCall, current_call};
use crate::testing::{Null, TestServer, apart, null_interface};

/// A-stacks of the class.
const ASTACKS: usize = 4;

/// Calls after which a thread's A-stacks are kept for it.
const CALLS: usize = 2 * ASTACKS;

const HOUR: Duration = Duration::from_secs(3600);

static INTERFACE: InterfaceDescriptor =
    null_interface(&[AStackClass { block_bytes: 0, count: ASTACKS as u32 }]);

/// Sends the call that it serves.
struct Handing(Sender<CurrentCall>);

impl Entries for Handing {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, arguments: Arguments<'_>) -> Outcome {
        let _ = self.0.send(current_call().expect("a call is served"));
        arguments.results().reply(0)
    }
}

/// Panics.
struct Panicking;

impl Entries for Panicking {
    fn interface(&self) -> &'static InterfaceDescriptor {
        &INTERFACE
    }

    fn enter(&self, _procedure: usize, _arguments: Arguments<'_>) -> Outcome {
        panic!("as it is to")
    }
}

fn post(call: BriefCall<'_, 0>) -> Result<(), CallError> {
    call.post::<0, 0, _, _>(|_| Ok(()))
}

fn null(client: &Client) -> Result<(), CallError> {
    post(client.claim_brief::<0>(0)?)
}

/// A client, whose A-stacks are kept for this thread.
fn known(server: &TestServer) -> Client {
    let client = Client::new(server.import(), &INTERFACE);
    for _ in 0..CALLS {
        null(&client).unwrap();
    }
    client
}

/// Each A-stack can be claimed, and none twice.
fn expect_all(binding: &ClientBinding) {
    let claim = || binding.claim_at_once(0, 0, Deadline::default()).unwrap();
    let held: Vec<_> = std::iter::from_fn(claim).take(ASTACKS + 1).collect();
    let claimed: Vec<u32> = held.iter().map(|(held, _)| held.linkage().index).collect();
    assert_eq!(claimed.len(), ASTACKS, "{claimed:?}");
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), ASTACKS, "{claimed:?}");
}

/// Held by tests that ask whether calls are brief: while one of them is within a call, none is.
static ASKING: Mutex<()> = Mutex::new(());

fn asking() -> MutexGuard<'static, ()> {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether calls can be brief here at all.
fn can_be_brief(client: &Client) -> bool {
    client.numbers.is_some() && super::thread_pointer().is_some()
}

#[test]
fn what_is_claimed_while_its_bias_ends_is_listed_once() {
    let _asking = asking();
    let server = TestServer::new("brief-claimed", Null(&INTERFACE));
    let client = known(&server);
    let call = client.claim_brief::<0>(0).unwrap();
    assert_eq!(call.kept.is_some(), can_be_brief(&client));
    client.binding().inner().revoke_bias(0);
    post(call).unwrap();
    expect_all(client.binding().inner());
    assert!(client.claim_brief::<0>(0).unwrap().kept.is_none());
}

#[test]
fn what_is_read_while_its_bias_ends_is_listed_once() {
    let server = TestServer::new("brief-read", Null(&INTERFACE));
    let client = known(&server);
    let call = client.claim_brief::<0>(0).unwrap();
    let mut reads = 0;
    let read = call.post::<0, 0, _, CallError>(|_| {
        reads += 1;
        client.binding().inner().revoke_bias(0);
        Ok(())
    });
    read.unwrap();
    assert_eq!(reads, 1);
    expect_all(client.binding().inner());
}

#[test]
fn what_was_posted_while_its_bias_ends_is_listed_once() {
    let server = TestServer::new("brief-posted", Null(&INTERFACE));
    let client = known(&server);
    let posted: Vec<_> = (0..ASTACKS)
        .map(|_| {
            let call = client.claim_brief::<0>(0).unwrap();
            call.post_pending::<0, 0, (), CallError, _>(|_| Ok(())).unwrap()
        })
        .collect();
    client.binding().inner().revoke_bias(0);
    posted.into_iter().for_each(|pending| pending.collect().unwrap());
    expect_all(client.binding().inner());
}

#[test]
fn a_thread_that_biases_know_by_a_number_keeps_what_it_gives_back() {
    let _asking = asking();
    let server = TestServer::new("brief-numbered", Null(&INTERFACE));
    let client = Client::new(server.import(), &INTERFACE);
    let calls = client.clone();
    let seen = apart(move || {
        current::enter_domain(Weak::new(), 0);
        let client = calls;
        for _ in 0..CALLS {
            null(&client).unwrap();
        }
        let call = client.claim_brief::<0>(0).unwrap();
        let is_brief = call.kept.is_some();
        post(call).unwrap();
        let is_kept = client.binding().inner().biases[0].is_towards(identity());
        expect_all(client.binding().inner());
        (identity() % 2, is_kept, is_brief)
    });
    assert_eq!(seen.recv().unwrap(), (1, nearcall_os::fence::is_available(), false));
    expect_all(client.binding().inner());
}

#[test]
fn calls_that_fail_give_their_astacks_back() {
    let server = TestServer::new("brief-panicking", Panicking);
    let client = Client::new(server.import(), &INTERFACE);
    for _ in 0..CALLS {
        assert!(matches!(null(&client), Err(CallError::Panicked { .. })));
        let call = client.claim_brief::<0>(0).unwrap();
        let pending = call.post_pending::<0, 0, (), CallError, _>(|_| Ok(())).unwrap();
        assert!(matches!(pending.collect(), Err(CallError::Panicked { .. })));
    }
    expect_all(client.binding().inner());
}

/// L54: what goes on with a procedure elsewhere has no more time than its client waits.
#[test]
fn calls_within_a_call_on_any_thread_have_its_time() {
    let _asking = asking();
    let (hand, handed) = mpsc::channel();
    let server = TestServer::new("brief-within", Handing(hand));
    let client = known(&server);
    null(&client.with_deadline(HOUR)).unwrap();
    let call = handed.try_iter().find(|call| call.time_left().is_some()).unwrap();
    call.within(|| {
        let within = client.claim_brief::<0>(0).unwrap();
        assert!(within.kept.is_none());
        let ns = within.grip.linkage().deadline().ns;
        assert!((1..=HOUR.as_nanos() as u64).contains(&ns), "{ns}");
        post(within).unwrap();
    });
    let after = client.claim_brief::<0>(0).unwrap();
    assert_eq!(after.kept.is_some(), can_be_brief(&client));
    post(after).unwrap();
    expect_all(client.binding().inner());
}

#[test]
fn a_client_with_a_deadline_calls_as_briefly_and_one_without_any_time_does_not() {
    let _asking = asking();
    let (hand, handed) = mpsc::channel();
    let server = TestServer::new("brief-deadline", Handing(hand));
    let client = known(&server);
    assert!(handed.try_iter().all(|call| call.time_left().is_none()));
    let hasty = client.with_deadline(HOUR);
    let call = hasty.claim_brief::<0>(0).unwrap();
    assert_eq!(call.kept.is_some(), can_be_brief(&client));
    post(call).unwrap();
    let posted = hasty.claim_brief::<0>(0).unwrap();
    let linkage = posted.grip.linkage();
    let pending = posted.post_pending::<0, 0, (), CallError, _>(|_| Ok(())).unwrap();
    // It counts from the post.
    assert!(linkage.until_ns(linkage.sequence()).is_some());
    pending.collect().unwrap();
    let left: Vec<_> = handed.try_iter().map(|call| call.time_left()).collect();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(Option::is_some), "{left:?}");
    let late = client.with_deadline(Duration::ZERO);
    assert!(matches!(null(&late), Err(CallError::NotExecuted { .. })));
}

/// An A-stack that a FastThread has waited on is like any other once a kernel thread has waited on
/// it, or has posted ahead.
#[cfg(feature = "threads")]
#[test]
fn a_kernel_thread_that_waits_takes_back_that_calls_come_in_turn() {
    let _asking = asking();
    let server = TestServer::new("brief-flags", Null(&INTERFACE));
    let client = known(&server);
    let call = client.claim_brief::<0>(0).unwrap();
    let linkage = call.grip.linkage();
    linkage.allow_tally();
    assert_eq!(linkage.flags() != 0, can_be_brief(&client));
    post(call).unwrap();
    assert_eq!(linkage.flags(), 0);
}
