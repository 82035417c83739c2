//! What importers may hold of a server, and how much of its housekeeping's time they may take.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nearcall::name::Scope;
use nearcall::raw::Entries;
use nearcall::{
    BindError, Binding, CallError, Clerk, Domain, DomainOptions, ExportError, ExportOptions,
    ImportOptions, Limits, NotExecuted, Policy, Priority, Ran, Rule, Rules, UsageError, Verdict,
    WhenExhausted, Who,
};
use nearcall_os::socket::Stream;
use testkit::contract::{self, import_options};
use testkit::exchanges::exchanges::{EXCHANGING, ExchangingClient, ExchangingEntries};
use testkit::exchanging::Exchanger;
use testkit::faults::faults::{PASSING, PassingClient, PassingEntries};
use testkit::passing::Passer;
use testkit::stubs::contract::{CONTRACT, ContractClient};

/// A server in this process, exported as `keeper`: its quotas are those of real importers.
struct Served {
    directory: tempfile::TempDir,
    _clerk: Clerk,
    client: Domain,
}

fn serve(options: DomainOptions) -> Served {
    served(options, |domain, directory| contract::export(domain, directory, "keeper"))
}

/// A server with one rule, which admits everybody within these limits.
fn serve_within(limits: Limits) -> Served {
    served(DomainOptions::default(), |domain, directory| {
        export_within(domain, directory, contract::entries(domain, directory), limits)
    })
}

fn served(
    options: DomainOptions,
    export: impl FnOnce(&Domain, &Path) -> Result<Clerk, ExportError>,
) -> Served {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let domain = Domain::with_options(options).expect("a server's domain");
    let clerk = export(&domain, directory.path()).expect("an export");
    Served { directory, _clerk: clerk, client: Domain::new().expect("a client's domain") }
}

fn export_within(
    domain: &Domain,
    directory: &Path,
    entries: impl Entries,
    limits: Limits,
) -> Result<Clerk, ExportError> {
    let (who, verdict, priority) = (Who::default(), Verdict::Admit, Priority::default());
    let rule = Rule { id: "within".to_owned(), who, verdict, priority, limits, trust_class: None };
    let mut options = ExportOptions::default();
    options.scope = Some(Scope::Directory(directory.to_owned()));
    options.policy = Policy::Rules(Rules { rules: vec![rule] });
    Clerk::export_with(domain, "keeper", entries, options)
}

/// A-stacks that a binding to a keeper begins with.
fn first_astacks() -> u32 {
    CONTRACT.classes.iter().map(|class| class.count).sum()
}

fn is_overloaded<T>(outcome: &Result<T, CallError>) -> bool {
    let reason = NotExecuted::Overloaded;
    matches!(outcome, Err(CallError::NotExecuted { reason: found, .. }) if *found == reason)
}

impl Served {
    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn import(&self) -> Result<ContractClient, BindError> {
        let mut options: ImportOptions = import_options(self.path());
        options.when_exhausted = WhenExhausted::Grow;
        Binding::import_with(&self.client, "keeper", &CONTRACT, options).map(ContractClient::new)
    }

    /// Imports once the server has heard that there is room again.
    fn import_in_the_end(&self) -> ContractClient {
        loop {
            if let Ok(client) = self.import() {
                return client;
            }
            std::thread::yield_now();
        }
    }
}

/// After so many bindings the next is refused with these words, and there is room again once one
/// has gone.
fn check_bindings_bounded(served: &Served, count: usize, says: &str) {
    let mut clients: Vec<_> = (0..count).map(|_| served.import().unwrap()).collect();
    check_overloaded(served.import(), says);
    clients[0].null().unwrap();
    drop(clients.pop());
    served.import_in_the_end();
}

/// With these sockets open and silent the next bind is refused with these words, and there is room
/// again once they are closed.
fn check_handshakes_bounded(served: &Served, count: usize, says: &str) {
    let bound = served.import().unwrap();
    let path = served.path().join("keeper.socket");
    let silent: Vec<_> = (0..count).map(|_| Stream::connect(&path).unwrap()).collect();
    check_overloaded(served.import(), says);
    bound.null().unwrap();
    drop(silent);
    served.import_in_the_end();
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
    let says = "bindings: 4 is over its user's share, which is 3 now";
    check_bindings_bounded(&serve(options), 3, says);
}

#[test]
fn an_export_by_whose_limits_nobody_could_bind_is_refused() {
    let refusal = |change: fn(&mut DomainOptions)| {
        let mut options = DomainOptions::default();
        change(&mut options);
        let domain = Domain::with_options(options).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let Err(error) = contract::export(&domain, directory.path(), "keeper") else {
            panic!("it is exported");
        };
        assert!(matches!(error, ExportError::NoRoom { .. }), "{error}");
        error.to_string()
    };
    let one = refusal(|options| options.bindings_max = 1);
    let half = "of which one user may have half";
    let takes = "and its first bind to contract::Contract takes";
    assert_eq!(one, format!("the domain limits bindings to 1, {half}, 0, {takes} 1"));
    let one = refusal(|options| options.handshakes_max = 1);
    assert!(one.starts_with("the domain limits binds under way to 1,"), "{one}");
    let few = refusal(|options| options.astacks_max = 9);
    assert!(few.starts_with(&format!("the domain limits A-stacks to 9, {half}, 4")), "{few}");
    let page = refusal(|options| options.own_bytes_max = 4096);
    assert!(page.starts_with("the domain limits bytes of the server's to 4096,"), "{page}");
}

/// A server of the least limit by which it can export.
fn serve_at_least(change: fn(&mut DomainOptions, u32)) -> Served {
    let at = |limit| {
        let mut options = DomainOptions::default();
        change(&mut options, limit);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let domain = Domain::with_options(options).expect("a server's domain");
        match contract::export(&domain, directory.path(), "keeper") {
            Ok(clerk) => {
                let client = Domain::new().expect("a client's domain");
                Some(Served { directory, _clerk: clerk, client })
            }
            Err(ExportError::NoRoom { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    };
    (0..1_000).find_map(at).expect("some limit lets it export")
}

#[test]
fn the_least_limits_of_an_export_let_one_bind() {
    serve_at_least(|options, limit| options.mappings_max = Some(limit)).import().unwrap();
    let descriptors = serve_at_least(|options, limit| options.open_descriptors_max = Some(limit));
    // With one more there would be room for this one, too.
    let silent = Stream::connect(&descriptors.path().join("keeper.socket")).unwrap();
    check_overloaded(descriptors.import(), "open descriptors");
    drop(silent);
    descriptors.import_in_the_end().null().unwrap();
}

#[test]
fn half_open_binds_of_one_user_leave_room_for_others() {
    let mut options = DomainOptions::default();
    options.handshakes_max = 6;
    let says = "binds under way: 4 is over its user's share, which is 3 now";
    check_handshakes_bounded(&serve(options), 3, says);
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
fn a_rule_bounds_the_bindings_of_a_user_who_gets_them_back() {
    let mut limits = Limits::default();
    limits.user.bindings_max = Some(2);
    let says = "bindings: 3 is over its user's limit, which is 2";
    check_bindings_bounded(&serve_within(limits), 2, says);
}

#[test]
fn a_rule_bounds_the_binds_under_way_of_a_user() {
    let mut limits = Limits::default();
    limits.user.handshakes_max = Some(1);
    let says = "binds under way: 2 is over its user's limit, which is 1";
    check_handshakes_bounded(&serve_within(limits), 1, says);
}

#[test]
fn a_rule_bounds_what_each_binding_maps() {
    let mut limits = Limits::default();
    limits.binding.mapped_bytes_max = Some(5 << 20);
    let served = serve_within(limits);
    let (one, other) = (served.import().unwrap(), served.import().unwrap());
    let outcome = one.echo(&vec![1; 6 << 20]);
    assert!(is_overloaded(&outcome), "{outcome:?}");
    // Together more than one of them may have.
    for client in [one, other] {
        assert_eq!(client.echo(&vec![7; 3 << 20]).unwrap(), vec![7; 3 << 20]);
        assert!(!client.binding().is_revoked());
    }
}

#[test]
fn a_rule_bounds_what_a_user_maps_over_all_its_bindings() {
    let mut limits = Limits::default();
    limits.user.mapped_bytes_max = Some(5 << 20);
    let served = serve_within(limits);
    let (one, other) = (served.import().unwrap(), served.import().unwrap());
    assert_eq!(one.echo(&vec![7; 3 << 20]).unwrap(), vec![7; 3 << 20]);
    let outcome = other.echo(&vec![1; 3 << 20]);
    assert!(is_overloaded(&outcome), "{outcome:?}");
    assert_eq!(other.echo(&[7; 100_000]).unwrap(), [7; 100_000]);
}

#[test]
fn a_rule_bounds_what_a_server_holds_for_a_binding() {
    let mut limits = Limits::default();
    limits.binding.own_bytes_max = Some(2 << 20);
    let served = serve_within(limits);
    let (one, other) = (served.import().unwrap(), served.import().unwrap());
    let error = one.echo(&vec![1; 3 << 20]).unwrap_err();
    assert!(matches!(error, CallError::ResultsRefused { .. }), "{error}");
    for client in [one, other] {
        assert_eq!(client.echo(&vec![7; 1 << 20]).unwrap(), vec![7; 1 << 20]);
    }
}

/// Calls with so many bytes until that is not refused any more: the server hears a moment later of
/// what its client lends no longer.
fn echoed_in_the_end(client: &ContractClient, bytes: usize) {
    let (data, begin) = (vec![7; bytes], Instant::now());
    loop {
        match client.echo(&data) {
            Ok(echoed) => break assert!(echoed == data),
            refused => assert!(is_overloaded(&refused), "{refused:?}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "it is refused for ever");
        std::thread::yield_now();
    }
}

/// A call of one binding is refused beside what another one lends, as often as it is made, and
/// goes on once that is given back.
fn check_told_of_room(served: &Served, lent_bytes: usize, bytes: usize) {
    let (one, other) = (served.import().unwrap(), served.import().unwrap());
    let lent = other.binding().lend(lent_bytes).unwrap();
    for _ in 0..3 {
        let outcome = one.echo(&vec![1; bytes]);
        assert!(is_overloaded(&outcome), "{outcome:?}");
    }
    // What is less is asked for all the same.
    drop(one.binding().lend(64 << 10).unwrap());
    drop(lent);
    echoed_in_the_end(&one, bytes);
}

#[test]
fn who_was_refused_learns_that_another_binding_has_given_its_memory_back() {
    let mut options = DomainOptions::default();
    options.mapped_bytes_max = 8 << 20;
    check_told_of_room(&serve(options), 2 << 20, 2 << 20);
    let mut limits = Limits::default();
    limits.user.mapped_bytes_max = Some(5 << 20);
    check_told_of_room(&serve_within(limits), 3 << 20, 3 << 20);
}

#[test]
fn who_was_refused_learns_that_it_has_given_its_own_memory_back() {
    let mut limits = Limits::default();
    limits.binding.mapped_bytes_max = Some(5 << 20);
    let served = serve_within(limits);
    let client = served.import().unwrap();
    let lent = client.binding().lend(3 << 20).unwrap();
    for _ in 0..3 {
        let outcome = client.echo(&vec![1; 3 << 20]);
        assert!(is_overloaded(&outcome), "{outcome:?}");
        let error = client.binding().lend(3 << 20).unwrap_err();
        assert!(error.to_string().contains("no room for it now"), "{error}");
    }
    drop(lent);
    echoed_in_the_end(&client, 3 << 20);
}

#[test]
fn a_longer_segment_is_asked_for_where_the_one_before_makes_room() {
    let mut limits = Limits::default();
    limits.binding.mapped_bytes_max = Some(5 << 20);
    let served = serve_within(limits);
    let client = served.import().unwrap();
    // Segments of 2 and of 4 MiB: they fit one after the other, not beside each other.
    let (short, long) = (vec![7; 1_900_000], vec![7; 3_900_000]);
    let pending = client.posting().echo(&short).unwrap();
    let outcome = client.echo(&long);
    assert!(is_overloaded(&outcome), "{outcome:?}");
    assert!(pending.collect().unwrap() == short);
    assert!(client.echo(&long).unwrap() == long);
}

/// Grows a binding as far as it may grow. How many A-stacks it has then.
fn grown(client: &ContractClient) -> u32 {
    let (posting, mut pending) = (client.posting(), Vec::new());
    loop {
        match posting.echo(&[7]) {
            Ok(posted) => pending.push(posted),
            Err(CallError::Usage(UsageError::Outstanding { .. })) => break,
            Err(error) => panic!("{error}"),
        }
    }
    for posted in pending {
        assert_eq!(posted.collect().unwrap(), [7]);
    }
    client.binding().astack_count()
}

#[test]
fn a_rule_bounds_growth_of_a_binding() {
    let (first, one_more) = (first_astacks(), astacks_of_growth());
    let mut limits = Limits::default();
    limits.binding.astacks_max = Some(first + one_more);
    let served = serve_within(limits);
    for client in [served.import().unwrap(), served.import().unwrap()] {
        assert_eq!(grown(&client), first + one_more);
        client.null().unwrap();
    }
}

#[test]
fn a_rule_bounds_growth_of_all_bindings_of_a_user() {
    let (first, one_more) = (first_astacks(), astacks_of_growth());
    let mut limits = Limits::default();
    limits.user.astacks_max = Some(2 * first + one_more);
    let served = serve_within(limits);
    let (one, other) = (served.import().unwrap(), served.import().unwrap());
    assert_eq!(grown(&one), first + one_more);
    assert_eq!(grown(&other), first);
}

/// How many A-stacks the class of `echo` grows by.
fn astacks_of_growth() -> u32 {
    let echo = CONTRACT.procedures.iter().find(|procedure| procedure.name == "echo").unwrap();
    CONTRACT.classes[usize::from(echo.class)].count
}

#[test]
fn a_rule_bounds_descriptors_of_calls_and_the_binding_lives() {
    let mut limits = Limits::default();
    limits.binding.descriptors_max = Some(1);
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let _clerk =
        export_within(&domain, directory.path(), PassingEntries::new(Passer), limits).unwrap();
    let binding = Binding::import_with(
        &Domain::new().unwrap(),
        "keeper",
        &PASSING,
        import_options(directory.path()),
    );
    let client = PassingClient::new(binding.unwrap());
    let (socket, file) = (UnixStream::pair().unwrap().0, tempfile::tempfile().unwrap());
    let error = client.swap(file.as_fd(), socket.as_fd()).unwrap_err();
    assert_eq!(error.ran(), Ran::No, "{error}");
    client.back(file.as_fd()).unwrap();
    assert!(!client.binding().is_revoked());
}

#[test]
fn batches_that_nobody_takes_are_their_clients() {
    let mut limits = Limits::default();
    limits.binding.own_bytes_max = Some(20 << 20);
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let entries = ExchangingEntries::new(Exchanger::default());
    let _clerk = export_within(&domain, directory.path(), entries, limits).unwrap();
    let (here, options) = (Domain::new().unwrap(), import_options(directory.path()));
    let binding = Binding::import_with(&here, "keeper", &EXCHANGING, options).unwrap();
    let client = ExchangingClient::new(binding).with_deadline(Duration::from_secs(20));
    let word = "w".repeat(8 << 20);
    let sends = || {
        let (sink, feed) = client.kept().unwrap();
        let mut sink = sink.begin();
        sink.put(word.clone()).and_then(|()| sink.end()).map(|()| feed)
    };
    let kept: Vec<_> = (0..2).map(|_| sends().unwrap()).collect();
    let refused = sends();
    assert!(is_overloaded(&refused), "{:?}", refused.err());
    // Who waits for an answer first is told as well.
    let (sink, feed) = client.echo().unwrap();
    let mut sink = sink.begin();
    sink.put(word.clone()).and_then(|()| sink.flush()).unwrap();
    let unanswered = feed.begin().next().unwrap().unwrap_err();
    assert!(matches!(unanswered, CallError::Panicked { .. }), "{unanswered}");
    // Of what was taken nothing is charged, though its exchange goes on. What comes back is charged
    // as well, for each A-stack that it came in.
    let mut open = Vec::new();
    for number in 0..24 {
        let (sink, feed) = client.echo().unwrap();
        let mut sink = sink.begin();
        let word = format!("{number:2}").repeat(50 << 10);
        sink.put(word.clone()).unwrap();
        sink.flush().unwrap();
        let came = feed.begin().next().unwrap().unwrap();
        assert!(came == word, "word {number} is another one");
        open.push(sink);
    }
    drop((kept, client.let_go().unwrap()));
    drop((0..2).map(|_| sends().unwrap()).collect::<Vec<_>>());
    assert!(!client.binding().is_revoked());
}

#[test]
fn a_rule_that_leaves_no_room_for_a_binding_exports_nothing() {
    let mut limits = Limits::default();
    limits.binding.astacks_max = Some(1);
    let directory = tempfile::tempdir().unwrap();
    let domain = Domain::new().unwrap();
    let entries = contract::entries(&domain, directory.path());
    let error = export_within(&domain, directory.path(), entries, limits).unwrap_err();
    let first = first_astacks();
    let want = format!(
        "rule \"within\" limits A-stacks to 1, and a binding of contract::Contract begins with \
         {first}"
    );
    assert_eq!(error.to_string(), want);
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
