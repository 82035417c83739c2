//! What the author of a server is told of an item that its iterator has made, and that the
//! interface forbids (design note 0020): once, whatever its client does.

use nearcall::{Binding, CallError, Domain};
use testkit::judging::{export, name_of};
use testkit::judging_stubs::judging::{JUDGING, JudgingClient};
use testkit::records::Records;

#[test]
fn an_item_that_is_refused_is_told_of_once_by_feed_and_value_and_limit() {
    let records = Records::of_warnings();
    tracing::subscriber::set_global_default(records.clone()).expect("the only one");
    let directory = tempfile::tempdir().unwrap();
    let server = Domain::new().unwrap();
    let _clerk = export(&server, directory.path(), "told").unwrap();
    let domain = Domain::new().unwrap();
    let options = testkit::server::import_options(directory.path());
    let binding = Binding::import_with(&domain, &name_of("told"), &JUDGING, options).unwrap();
    let client = JudgingClient::new(binding);
    let mut told = Vec::new();
    for good in [0, 1, 2_000] {
        let last = client.digits_come(good).unwrap().last().unwrap();
        assert!(matches!(last, Err(CallError::ResultsRefused { .. })));
        told.push(
            "message=a feed made an item that is refused name=\"told-judging\" \
             procedure=the feed of digits_come refused=item is 10, allowed is 1 to 9 unsaid=0",
        );
        assert_eq!(records.all(), told);
    }
}
