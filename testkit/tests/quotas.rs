//! What importers may hold of a server, and how much of its housekeeping's time they may take.

use std::path::Path;

use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, DomainOptions, ImportOptions, NotExecuted, Ran,
};
use nearcall_os::socket::Stream;
use testkit::contract::{self, import_options};
use testkit::stubs::contract::{CONTRACT, ContractClient};

/// A server in this process, exported as `keeper`: its quotas are those of real importers.
struct Served {
    directory: tempfile::TempDir,
    _clerk: Clerk,
    client: Domain,
}

fn serve(options: DomainOptions) -> Served {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let domain = Domain::with_options(options).expect("a server's domain");
    let clerk = contract::export(&domain, directory.path(), "keeper").expect("an export");
    Served { directory, _clerk: clerk, client: Domain::new().expect("a client's domain") }
}

impl Served {
    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn import(&self) -> Result<ContractClient, BindError> {
        let options: ImportOptions = import_options(self.path());
        Binding::import_with(&self.client, "keeper", &CONTRACT, options).map(ContractClient::new)
    }
}

#[track_caller]
fn check_overloaded(outcome: Result<ContractClient, BindError>, says: &str) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, BindError::Overloaded { .. }), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn one_user_has_half_of_the_bindings_and_gets_them_back() {
    let mut options = DomainOptions::default();
    options.bindings_max = 6;
    let served = serve(options);
    let mut clients: Vec<_> = (0..3).map(|_| served.import().unwrap()).collect();
    check_overloaded(served.import(), "bindings: 4 is over its user's share, which is 3 now");
    clients[0].null().unwrap();
    drop(clients.pop());
    // The server hears of it when it does.
    while served.import().is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn half_open_binds_of_one_user_leave_room_for_others() {
    let mut options = DomainOptions::default();
    options.handshakes_max = 6;
    let served = serve(options);
    let bound = served.import().unwrap();
    let path = served.path().join("keeper.socket");
    let silent: Vec<_> = (0..3).map(|_| Stream::connect(&path).unwrap()).collect();
    check_overloaded(
        served.import(),
        "binds under way: 4 is over its user's share, which is 3 now",
    );
    bound.null().unwrap();
    drop(silent);
    while served.import().is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn arguments_over_the_share_are_refused_and_the_binding_lives() {
    let mut options = DomainOptions::default();
    options.mapped_bytes_max = 4 << 20;
    let served = serve(options);
    let client = served.import().unwrap();
    let error = client.echo(&vec![1; 3 << 20]).unwrap_err();
    let want = NotExecuted::Overloaded;
    assert!(matches!(error, CallError::NotExecuted { reason, .. } if reason == want), "{error}");
    assert_eq!(error.ran(), Ran::No);
    let error = client.binding().lend(3 << 20).unwrap_err();
    assert!(error.to_string().contains("no room for it now"), "{error}");
    assert!(!client.binding().is_revoked());
    assert_eq!(client.echo(&[7; 1 << 20]).unwrap(), [7; 1 << 20]);
}

#[test]
fn results_over_the_share_are_refused_and_the_binding_lives() {
    let mut options = DomainOptions::default();
    options.own_bytes_max = 3 << 20;
    let served = serve(options);
    let client = served.import().unwrap();
    let error = client.echo(&vec![1; 2 << 20]).unwrap_err();
    assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
    assert_eq!(client.echo(&[7; 1 << 20]).unwrap(), [7; 1 << 20]);
}

#[test]
fn a_client_that_lends_without_pause_is_answered_until_the_end() {
    let served = serve(DomainOptions::default());
    let client = served.import().unwrap();
    // Long enough that its user has to pause; a pause only delays it.
    for _ in 0..8 {
        let lent = client.binding().lend(64 << 20).unwrap();
        drop(lent);
    }
    client.null().unwrap();
}
