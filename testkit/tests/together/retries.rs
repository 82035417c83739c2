//! Calls of `@idempotent` operations that are posted, or awaited, while their server ends: made
//! once more in its next life, and no others (docs/design/0015-failure.md).

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{join, join_all};
use nearcall::{Binding, CallError, Domain, PendingTwice, Ran, Rebind, call_all};
use testkit::contract::{KeeperProcess, import_options};
use testkit::signal;
use testkit::stubs::contract::{CONTRACT, ContractClient};

const KEEPER: &str = env!("CARGO_BIN_EXE_testkit-keeper");

const PATIENT: Rebind = Rebind::WaitForReady(Duration::from_secs(60));

/// A keeper, a client of it, and the file that its procedures count their runs in.
struct Kept {
    directory: tempfile::TempDir,
    keeper: KeeperProcess,
    client: ContractClient,
    file: PathBuf,
}

impl Kept {
    fn new(rebind: Rebind) -> Kept {
        let directory = tempfile::tempdir().unwrap();
        let keeper = KeeperProcess::start(KEEPER, directory.path(), "keeper");
        let mut options = import_options(directory.path());
        options.rebind = rebind;
        let domain = Domain::new().expect("a domain");
        let binding = Binding::import_with(&domain, "keeper", &CONTRACT, options).unwrap();
        let file = directory.path().join("ended");
        Kept { directory, keeper, client: ContractClient::new(binding), file }
    }

    fn file(&self) -> &str {
        self.file.to_str().expect("a path in UTF-8")
    }

    /// How often a procedure has run that was told the file.
    fn runs(&self) -> usize {
        std::fs::read(&self.file).expect("one has").len()
    }

    /// The keeper has ended, or is about to: the next one has its name.
    fn succeed(&mut self) {
        self.keeper.wait();
        self.keeper = start(self.directory.path());
    }

    /// The keeper has ended, and the client knows.
    fn end(&mut self) {
        self.keeper.kill();
        while !self.client.binding().is_revoked() {
            std::thread::yield_now();
        }
    }
}

fn start(directory: &Path) -> KeeperProcess {
    KeeperProcess::start(KEEPER, directory, "keeper")
}

/// Lets whoever else is ready run.
async fn pass() {
    let mut is_first = true;
    std::future::poll_fn(|context| match std::mem::take(&mut is_first) {
        true => {
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        }
        false => std::task::Poll::Ready(()),
    })
    .await;
}

fn expect_failed(error: &CallError, operation: &str) {
    assert!(
        matches!(error, CallError::CallFailed { procedure, .. }
            if procedure.operation() == operation),
        "{error}"
    );
}

#[test]
fn a_posted_call_is_made_once_more_in_the_next_life() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let pending = client.posting().end_once(kept.file()).unwrap();
    kept.succeed();
    assert_eq!(pending.collect().unwrap(), kept.keeper.pid());
    assert_eq!(kept.runs(), 2);
    assert!(client.binding().is_revoked());
}

#[test]
fn of_several_that_are_posted_each_is_made_once_more() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let posting = client.posting();
    signal::stop(kept.keeper.pid());
    let pending: Vec<_> = (0..3).map(|_| posting.pid().unwrap()).collect();
    kept.keeper.kill();
    kept.succeed();
    for pending in pending {
        assert_eq!(pending.collect().unwrap(), kept.keeper.pid());
    }
}

#[test]
fn a_posted_call_that_may_not_run_twice_is_made_once() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let pending = client.posting().end_once_for_good(kept.file()).unwrap();
    kept.succeed();
    expect_failed(&pending.collect().unwrap_err(), "end_once_for_good");
    assert_eq!(kept.runs(), 1);
    assert_eq!(client.posting().end_once_for_good(kept.file()).unwrap_err().ran(), Ran::No);
    assert_eq!(kept.runs(), 1);
}

#[test]
fn what_ends_two_servers_is_not_tried_on_a_third() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let pending = client.posting().end_once(kept.file()).unwrap();
    kept.keeper.wait();
    // So that the next life ends, too.
    std::fs::remove_file(&kept.file).unwrap();
    kept.keeper = start(kept.directory.path());
    expect_failed(&pending.collect().unwrap_err(), "end_once");
    kept.succeed();
    assert_eq!(kept.runs(), 1);
    assert_eq!(client.pid().unwrap(), kept.keeper.pid());
}

#[test]
fn without_a_next_life_the_first_failure_of_a_posted_call_is_told() {
    let kept = Kept::new(Rebind::FailFast);
    let pending = kept.client.posting().end_once(kept.file()).unwrap();
    expect_failed(&pending.collect().unwrap_err(), "end_once");
    assert_eq!(kept.runs(), 1);
}

#[test]
fn what_is_posted_over_a_dead_binding_goes_to_the_next_life() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    kept.end();
    let posting = client.posting();
    let early = posting.pid().unwrap();
    kept.keeper = start(kept.directory.path());
    assert_eq!(early.collect().unwrap(), kept.keeper.pid());
    let all = call_all(0..20, |_| posting.pid());
    assert_eq!(all.len(), 20);
    for pid in all {
        assert_eq!(pid.unwrap(), kept.keeper.pid());
    }
}

#[test]
fn one_deadline_holds_for_both_tries_of_a_posted_call() {
    let mut kept = Kept::new(PATIENT);
    let hasty = kept.client.with_deadline(Duration::from_millis(50));
    kept.end();
    // It would wait for a minute else.
    let error = hasty.posting().pid().and_then(PendingTwice::collect).unwrap_err();
    assert_eq!(error.ran(), Ran::No, "{error}");
    let error = block_on(hasty.awaiting().pid()).unwrap_err();
    assert_eq!(error.ran(), Ran::No, "{error}");
}

#[test]
fn a_posted_call_that_is_given_up_is_not_made_once_more() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let (dropped, cancelled) = {
        let posting = client.posting();
        (posting.end_once(kept.file()).unwrap(), posting.pid().unwrap())
    };
    kept.succeed();
    drop(dropped);
    cancelled.cancel();
    assert_eq!(kept.runs(), 1);
}

#[test]
fn an_awaited_call_is_made_once_more_and_others_run_meanwhile() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let file = kept.file().to_owned();
    let call = client.awaiting().end_once(&file);
    // On the same thread: if the call blocked it there would be no next life.
    let next = async {
        pass().await;
        kept.keeper.wait();
        while !client.binding().is_revoked() {
            pass().await;
        }
        for _ in 0..3 {
            pass().await;
        }
        kept.succeed();
    };
    let (pid, ()) = block_on(join(call, next));
    assert_eq!(pid.unwrap(), kept.keeper.pid());
    assert_eq!(kept.runs(), 2);
}

#[test]
fn many_awaited_calls_share_the_next_life() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    kept.end();
    kept.keeper = start(kept.directory.path());
    let calls = (0..32).map(|_| client.awaiting().pid());
    for pid in block_on(join_all(calls)) {
        assert_eq!(pid.unwrap(), kept.keeper.pid());
    }
}

#[test]
fn an_awaited_call_that_may_not_run_twice_is_made_once() {
    let mut kept = Kept::new(PATIENT);
    let client = kept.client.clone();
    let error = block_on(client.awaiting().end_once_for_good(kept.file())).unwrap_err();
    kept.succeed();
    expect_failed(&error, "end_once_for_good");
    assert!(block_on(client.awaiting().null()).is_err());
    assert_eq!(kept.runs(), 1);
}

#[test]
fn awaited_calls_that_may_run_twice_go_to_any_thread() {
    fn sent<F: Send>(future: F) -> F {
        future
    }
    let kept = Kept::new(PATIENT);
    let pid = block_on(sent(kept.client.awaiting().pid())).unwrap();
    assert_eq!(pid, kept.keeper.pid());
}
