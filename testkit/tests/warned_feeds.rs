//! What the author of a server is told of its feeds (design note 0020): of an item that an iterator
//! has made, and that the interface forbids, once, whatever its client does; of an outlet that was
//! left before its end. And both whatever clients send.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use nearcall::raw::Client;
use nearcall::{Binding, CallError, Clerk, Domain, ExportError, InterfaceDescriptor, NotExecuted};
use testkit::exchanges::exchanges::{EXCHANGING, ExchangingClient};
use testkit::judging_stubs::judging::{JUDGING, JudgingClient};
use testkit::records::Records;
use testkit::{exchanging, judging};

/// Warnings of all tests of this program.
static RECORDS: LazyLock<Records> = LazyLock::new(|| {
    let records = Records::of_warnings();
    tracing::subscriber::set_global_default(records.clone()).expect("the only one");
    records
});

/// More than are warned of at once.
const FLOOD: usize = 400;

/// What was said so far that says `name`.
fn told(name: &str) -> Vec<String> {
    RECORDS.all().into_iter().filter(|record| record.contains(name)).collect()
}

/// A client of what `export` exports in this process, and its server.
fn served(
    export: impl FnOnce(&Domain, &Path) -> Result<Clerk, ExportError>,
    (name, interface): (&str, &'static InterfaceDescriptor),
) -> (Domain, Clerk, Binding) {
    LazyLock::force(&RECORDS);
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let clerk = export(&server, directory.path()).unwrap();
    let options = testkit::server::import_options(directory.path());
    let domain = Domain::new().unwrap();
    let binding = Binding::import_with(&domain, name, interface, options).unwrap();
    (server, clerk, binding)
}

#[test]
fn an_item_that_is_refused_is_told_of_once_by_feed_and_value_and_limit() {
    let name = judging::name_of("told");
    let export = |domain: &Domain, directory: &Path| judging::export(domain, directory, "told");
    let (_server, _clerk, binding) = served(export, (&name, &JUDGING));
    let client = JudgingClient::new(binding);
    let mut wanted = Vec::new();
    for good in [0, 1, 2_000] {
        let last = client.digits_come(good).unwrap().last().unwrap();
        assert!(matches!(last, Err(CallError::ResultsRefused { .. })));
        wanted.push(
            "message=a feed made an item that is refused name=\"told-judging\" \
             procedure=the feed of digits_come refused=item is 10, allowed is 1 to 9 unsaid=0",
        );
        assert_eq!(told(&name), wanted);
    }
}

/// Has an outlet left before its end.
fn leave(client: &ExchangingClient) {
    let (sink, feed) = client.echo().unwrap();
    std::thread::scope(|scope| {
        // Whose reply is waited for is named as well: likely it is.
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            drop(sink);
        });
        let left = feed.begin().next().unwrap().unwrap_err();
        assert!(matches!(left, CallError::Panicked { .. }), "{left}");
    });
}

#[test]
fn an_outlet_that_is_left_before_its_end_is_told_of_by_its_feed() {
    let name = exchanging::name_of("left");
    let export = |domain: &Domain, directory: &Path| exchanging::export(domain, directory, "left");
    let (_server, _clerk, binding) = served(export, (&name, &EXCHANGING));
    let client = ExchangingClient::new(binding);
    leave(&client);
    let wanted = "message=a call was refused name=\"left-exchanging\" procedure=the feed of echo \
                  refusal=its outlet, or its answer, was dropped before it was ended or given \
                  unsaid=0";
    assert_eq!(told(&name), [wanted]);
}

/// Makes more calls that are refused than are warned of.
fn flood(binding: &Binding, interface: &'static InterfaceDescriptor, procedure: &str) {
    let client = Client::new(binding.clone(), interface);
    let index = interface.procedures.iter().position(|one| one.name == procedure).unwrap();
    let class = usize::from(interface.procedures[index].class);
    for _ in 0..FLOOD {
        // Of a feed that there is none.
        let call = client.claim_of_class(class, index as u32).unwrap();
        let said = *call.post(0).map(drop).unwrap_err();
        let want = NotExecuted::ArgumentsRefused;
        assert!(matches!(said, CallError::NotExecuted { reason, .. } if reason == want), "{said}");
    }
}

#[test]
fn whatever_clients_send_an_author_is_told_of_what_is_their_own() {
    let name = judging::name_of("loud");
    let export = |domain: &Domain, directory: &Path| judging::export(domain, directory, "loud");
    let (_server, _clerk, binding) = served(export, (&name, &JUDGING));
    flood(&binding, &JUDGING, "_next_digits_come");
    assert!(told(&name).len() < FLOOD, "all were warned of");
    let last = JudgingClient::new(binding).digits_come(0).unwrap().last().unwrap();
    assert!(matches!(last, Err(CallError::ResultsRefused { .. })));
    let words = told(&name).pop().unwrap();
    assert!(words.contains("a feed made an item") && words.contains("unsaid=0"), "{words}");

    let name = exchanging::name_of("loud");
    let export = |domain: &Domain, directory: &Path| exchanging::export(domain, directory, "loud");
    let (_server, _clerk, binding) = served(export, (&name, &EXCHANGING));
    flood(&binding, &EXCHANGING, "_next_echo");
    assert!(told(&name).len() < FLOOD, "all were warned of");
    leave(&ExchangingClient::new(binding));
    let words = told(&name).pop().unwrap();
    assert!(words.contains("its outlet, or its answer") && words.contains("unsaid=0"), "{words}");
}
